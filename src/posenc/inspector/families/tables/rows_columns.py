"""Images with one trained table for rows and one for columns, whose vectors are added or joined."""

from __future__ import annotations

from posenc import LearnedAxes
from posenc.inspector.families.shared import Reader, fitted, use
from posenc.inspector.reading import Use
from posenc.inspector.settings.config import Config


def _row_column(
    config: Config, lengths: tuple[str, str], widths: tuple[str, str], *remarks: str
) -> list[Use]:
    """A table for rows and one for columns, whose vectors are added."""
    encoding = LearnedAxes(
        lengths=(
            config.integer(lengths[0], required=True),
            config.integer(lengths[1], required=True),
        ),
        widths=(config.integer(widths[0], required=True), config.integer(widths[1], required=True)),
        combine="add",
    )
    return [
        use(config, "learned rows and columns", encoding, place="patch embeddings", remarks=remarks)
    ]


def _by_id(length: str) -> Reader:
    """Tables looked up by row and column numbers that come with the patches."""

    def read(config: Config) -> list[Use]:
        return _row_column(
            config,
            (length, length),
            ("hidden_size", "hidden_size"),
            "The first two numbers of each flattened patch are its row and column, counted from 1; "
            "0 is padding.",
        )

    return read


def _gemma4(length: str, width: str) -> Reader:
    """Tables looked up by (column, row)."""

    def read(config: Config) -> list[Use]:
        return _row_column(
            config,
            (length, length),
            (width, width),
            "Positions come as (column, row): axis_0 is the table of columns.",
            "Padding patches, at -1, get zeros.",
        )

    return read


def _tvp(config: Config) -> list[Use]:
    return _row_column(
        config,
        ("max_grid_row_position_embeddings", "max_grid_col_position_embeddings"),
        ("hidden_size", "hidden_size"),
        "Added to the mean of the frames, before a layer norm.",
        "Larger grids, when asked for with interpolate_pos_encoding=True: the sum is stretched by "
        "learned.resample(method='cubic').",
    )


def _florence2(config: Config) -> list[Use]:
    """Columns first, then rows, in the projector."""
    vision = config.part("vision_config", "florence_vision")
    length = vision.integer("max_position_embeddings", required=True)
    width = vision.integers("embed_dim", required=True)[-1]
    widths = width - width // 2, width // 2
    fields = {"lengths": (length, length), "widths": widths, "axes": (1, 0)}
    encoding = fitted(vision, "embed_dim", LearnedAxes, **fields)
    return [use(vision, "learned rows and columns", encoding, place="image features")]


READERS: dict[str, Reader] = {
    "florence2": _florence2,
    "gemma4_unified_vision": _gemma4("mm_posemb_size", "mm_embed_dim"),
    "gemma4_vision": _gemma4("position_embedding_size", "hidden_size"),
    "kosmos_2_5_vision_model": _by_id("max_num_patches"),
    "pix2struct_vision_model": _by_id("seq_len"),
    "tvp": _tvp,
}
