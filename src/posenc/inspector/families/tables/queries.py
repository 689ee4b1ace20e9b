"""Trained tables of object queries, and of the boxes that they start from."""

from __future__ import annotations

from dataclasses import replace

from posenc.inspector.families.shared import Reader, use
from posenc.inspector.families.tables.token_tables import ROWS, Table, tables
from posenc.inspector.reading import Use
from posenc.inspector.settings.config import Config
from posenc.learned import Learned

QUERIES = Table(place="object queries", rows="num_queries")


def _deformable_detr(config: Config) -> list[Use]:
    """Position and content of a query in one row; with two stages both come from the encoder."""
    if config.flag("two_stage"):
        return []
    length = config.integer("num_queries", name="length", required=True)
    dim = config.derive("dim", 2 * config.integer("hidden_size", required=True), "d_model")
    remark = "The first half of a vector is the position of the query, the second its content."
    encoding = Learned(length=length, dim=dim)
    return [
        use(config, "learned", encoding, place="object queries", length=length, remarks=(remark,))
    ]


def _grounding_dino(config: Config) -> list[Use]:
    """Queries start from the table, unless two stages take them from what the encoder found."""
    if config.flag("two_stage") and not config.flag("embedding_init_target"):
        return []
    remark = "The queries start as these vectors; their positions are made from their boxes."
    (found,) = tables(ROWS, replace(QUERIES, remarks=(remark,)))(config)
    return [replace(found, values=(*found.values, *config.taken))]


def _reference_points(config: Config) -> list[Use]:
    """A box for each query, in as many groups as train side by side."""
    length = config.integer("num_queries", name="length", required=True)
    rows = config.derive(
        "rows", length * config.integer("group_detr", required=True), "num_queries", "group_detr"
    )
    remarks = (
        "A vector is x, y, width, height: how the box that the encoder proposed is moved.",
        "All groups of queries train; only the first num_queries rows are used after that.",
    )
    encoding = Learned(length=rows, dim=4)
    return [
        use(
            config,
            "learned",
            encoding,
            place="reference points of object queries",
            length=length,
            remarks=remarks,
        )
    ]


READERS: dict[str, Reader] = {
    **dict.fromkeys(
        ("conditional_detr", "detr", "mask2former", "table-transformer"), tables(ROWS, QUERIES)
    ),
    **dict.fromkeys(("grounding-dino", "mm-grounding-dino"), _grounding_dino),
    **dict.fromkeys(("lw_detr", "rf_detr"), _reference_points),
    "deformable_detr": _deformable_detr,
    "oneformer": tables(
        ROWS, replace(QUERIES, remarks=("The last query is the place of the task token.",))
    ),
}
