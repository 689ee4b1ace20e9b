"""Trained tables of where a token lies on a page, or in the tree of a document."""

from __future__ import annotations

from dataclasses import replace

from posenc.axes import LearnedAxes
from posenc.inspector.families.shared import Reader, use
from posenc.inspector.families.tables.token_tables import AFTER_PADDING, Table, absurd, tables
from posenc.inspector.reading import Use
from posenc.inspector.settings.config import Config

_SIDES = (
    "A box is left, top, right, bottom, height, width: axes 0 to 5. Left and right share one "
    "table, top and bottom another."
)
_CUT = "Heights and widths are cut to 0 .. 1023, whatever the length of their tables."
_PROJECTED = "The six vectors side by side then pass a linear layer."
_READING_ORDER = {
    "hidden_size": 512,
    "max_position_embeddings": 514,
    "max_2d_position_embeddings": 1024,
    "pad_token_id": 1,
    "coordinate_size": 171,
    "shape_size": 170,
}


def _boxes(
    config: Config,
    *widths: int,
    remarks: tuple[str, ...],
    combine: str = "concatenate",
    place: str = "token embeddings",
) -> Use:
    """A table for each side of the box that a token fills on its page."""
    length = config.integer("max_2d_position_embeddings", name="length", required=True)
    encoding = LearnedAxes(
        lengths=(length,) * len(widths),
        widths=widths,
        axes=tuple(range(len(widths))),
        combine="add" if combine == "add" else "concatenate",
    )
    return use(config, "learned layout", encoding, place=place, length=length, remarks=remarks)


def _added_boxes(config: Config) -> list[Use]:
    dim = config.integer("hidden_size", name="dim", required=True)
    return [_boxes(config, *(dim,) * 6, combine="add", remarks=(_SIDES,))]


def _joined_boxes(*remarks: str) -> Reader:
    def read(config: Config) -> list[Use]:
        sides = config.integer("coordinate_size", required=True)
        sizes = config.integer("shape_size", required=True)
        return [_boxes(config, *(sides,) * 4, *(sizes,) * 2, remarks=(_SIDES, *remarks))]

    return read


def _lilt(config: Config) -> list[Use]:
    """Boxes go another way than words, and take the numbers of the words with them."""
    boxes, order = config.fresh(), config.fresh()
    width = boxes.integer("hidden_size", required=True)
    sixth = boxes.derive("width", width // 6, "hidden_size")
    shrink = order.integer("channel_shrink_ratio", required=True)
    if width < max(6, shrink):
        absurd(order, "hidden_size", width, f"leaves no features after division by 6 or {shrink}.")
    (words,) = tables(AFTER_PADDING, Table(place="box embeddings"))(order)
    dim = order.derive("dim", width // shrink, "hidden_size", "channel_shrink_ratio")
    return [
        _boxes(boxes, *(sixth,) * 6, remarks=(_SIDES, _PROJECTED), place="box embeddings"),
        replace(
            words,
            encoding=replace(words.encoding, dim=dim),
            values=(*words.values, *order.taken),
        ),
    ]


def _pp_doclayout_v2(config: Config) -> list[Use]:
    """The network that puts the regions of a page in reading order; its class has no type."""
    order = config.part("reading_order_config", "")
    words = tables(AFTER_PADDING, Table(assumed=_READING_ORDER))(order)
    order = order.assuming(**_READING_ORDER)
    return [*words, *_joined_boxes(_CUT, _PROJECTED)(order)]


def _udop(config: Config) -> list[Use]:
    dim = config.integer("hidden_size", name="dim", required=True)
    remarks = (
        "A box is left, top, right, bottom: axes 0 to 3. Left and right share one table, top and "
        "bottom another.",
        "Boxes come as parts of the page, 0 to 1, and are multiplied by the length less 1, rounded "
        "down.",
    )
    return [
        _boxes(
            config, *(dim,) * 4, combine="add", remarks=remarks, place="encoder token embeddings"
        )
    ]


def _markuplm(config: Config) -> list[Use]:
    """The way from the root of a page to a node: at each depth a tag, and which of its kind."""
    kinds = {
        "tags": "max_xpath_tag_unit_embeddings",
        "subscripts": "max_xpath_subs_unit_embeddings",
    }
    return [_path(config.fresh(), what, rows) for what, rows in kinds.items()]


def _path(config: Config, what: str, rows: str) -> Use:
    depth = config.integer("max_depth", required=True)
    length = config.integer(rows, name="length", required=True)
    encoding = LearnedAxes(
        lengths=(length,) * depth,
        widths=(config.integer("xpath_unit_hidden_size", required=True),) * depth,
        axes=tuple(range(depth)),
    )
    remark = (
        "Axis k is depth k of the XPath; tags and subscripts are summed, and pass two linear "
        "layers with a ReLU between."
    )
    return use(
        config, "learned layout", encoding, place=f"XPath {what}", length=length, remarks=(remark,)
    )


READERS: dict[str, Reader] = {
    **dict.fromkeys(("layoutlmv2", "layoutxlm"), _joined_boxes()),
    "layoutlm": _added_boxes,
    "layoutlmv3": _joined_boxes(_CUT),
    "lilt": _lilt,
    "markuplm": _markuplm,
    "pp_doclayout_v2": _pp_doclayout_v2,
    "udop": _udop,
}
