"""Trained tables of boxes on a page and paths in a document: the models' own vectors."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from oracles import Outcome, built, modeling
from oracles.token_tables import (
    Arrays,
    emptied,
    filled,
    given_to,
    looked_up,
    outcome,
    refuses,
    the_use,
)
from posenc import positions


def boxes(length: int) -> torch.Tensor:
    """Boxes of 40 tokens: left, top, right, bottom, the outermost numbers among them."""
    random = np.random.default_rng(5)
    corners = np.sort(random.integers(0, length, (1, 40, 2, 2)), axis=2).reshape(1, 40, 4)
    corners[0, 0] = (0, 0, length - 1, length - 1)
    corners[0, 1] = (length - 1, 0, length - 1, 0)
    return torch.as_tensor(corners)


def sides(box: torch.Tensor) -> np.ndarray:
    """A box as the axes that the reader names: its corners, then height and width."""
    left, top, right, bottom = np.moveaxis(box.numpy(), -1, 0)
    return np.stack([left, top, right, bottom, bottom - top, right - left], axis=-1)


def side_tables(owner: Any) -> dict[str, np.ndarray]:
    """The model's four tables, under the names of the six axes."""
    x, y, h, w = (
        filled(getattr(owner, f"{name}_position_embeddings").weight, seed)
        for seed, name in enumerate("xyhw")
    )
    return dict(zip((f"axis_{axis}" for axis in range(6)), (x, y, x, y, h, w), strict=True))


PAGE = {"max_2d_position_embeddings": 29}
OWN_SIDES = {**PAGE, "coordinate_size": 5, "shape_size": 7}
BOXES = "vectors of 40 boxes, to the edge of the page"


@outcome(BOXES, {}, {**PAGE, "hidden_size": 48}, kind="learned layout")
def layoutlm(**changes: Any) -> Arrays:
    use = the_use("layoutlm", "token embeddings", "learned layout", **changes)
    owner = modeling("layoutlm").LayoutLMEmbeddings(built("layoutlm", **changes)).eval()
    emptied(owner.word_embeddings, owner.position_embeddings, owner.token_type_embeddings)
    tables, box = side_tables(owner), boxes(use.length)
    ids = torch.zeros(1, 40, dtype=torch.long)
    yield (
        use.encoding.encode(sides(box), **tables),
        given_to(owner.LayerNorm, lambda: owner(ids, bbox=box)),
    )


@outcome(BOXES, {}, OWN_SIDES, kind="learned layout")
def joined(model_type: str, home: str, owner: str, method: str, **changes: Any) -> Arrays:
    use = the_use(model_type, "token embeddings", "learned layout", **changes)
    found = getattr(modeling(home), owner)(built(model_type, **changes))
    tables, box = side_tables(found), boxes(use.length)
    yield (
        use.encoding.encode(sides(box), **tables),
        getattr(found, method)(box).detach().numpy(),
    )


@outcome(
    BOXES + ", and its numbers for tokens",
    {},
    {"reading_order_config": {**OWN_SIDES, "max_position_embeddings": 37, "pad_token_id": 3}},
    kind="learned layout",
)
def pp_doclayout_v2(**changes: Any) -> Arrays:
    config = built("pp_doclayout_v2", **changes).reading_order_config
    owner = modeling("pp_doclayout_v2").PPDocLayoutV2TextEmbeddings(config)
    use = the_use("pp_doclayout_v2", "token embeddings", "learned layout", **changes)
    tables, box = side_tables(owner), boxes(use.length)
    yield (
        use.encoding.encode(sides(box), **tables),
        owner.calculate_spatial_position_embeddings(box).detach().numpy(),
    )
    words = the_use("pp_doclayout_v2", "token embeddings", **changes)
    table = filled(owner.position_embeddings.weight)
    ids = torch.full((1, words.length), 2)
    ids[0, [0, 4]] = config.pad_token_id
    stands = positions.from_mask(ids.ne(config.pad_token_id).numpy(), padding=-1)
    yield (
        words.encoding.encode(stands, table=table),
        looked_up(owner, "position_embeddings", lambda: owner(ids, bbox=ids[..., None] * 0)),
    )


@outcome(
    BOXES + " and their numbers",
    {},
    {**PAGE, "hidden_size": 48, "channel_shrink_ratio": 3, "pad_token_id": 2},
    kind="learned layout",
)
def lilt(**changes: Any) -> Arrays:
    config = built("lilt", **changes)
    owner = modeling("lilt").LiltLayoutEmbeddings(config)
    use = the_use("lilt", "box embeddings", "learned layout", **changes)
    tables, box = side_tables(owner), boxes(use.length)
    order = the_use("lilt", "box embeddings", **changes)
    table = filled(owner.box_position_embeddings.weight)
    stands = torch.arange(40)[None]
    run = functools.partial(owner, bbox=box, position_ids=stands + config.pad_token_id + 1)
    yield use.encoding.encode(sides(box), **tables), given_to(owner.box_linear_embeddings, run)
    yield (
        order.encoding.encode(stands.numpy(), table=table),
        looked_up(owner, "box_position_embeddings", run),
    )
    if not refuses(lambda: owner.box_position_embeddings(torch.tensor(table.shape[0]))):
        raise AssertionError("the table has more rows than its setting says")


@outcome(
    "sums for 40 boxes given as parts of the page",
    {},
    {**PAGE, "d_model": 48},
    kind="learned layout",
)
def udop(**changes: Any) -> Arrays:
    config = built("udop", **changes)
    owner = modeling("udop").UdopCellEmbeddings(
        config.max_2d_position_embeddings, config.hidden_size
    )
    use = the_use("udop", "encoder token embeddings", "learned layout", **changes)
    x, y = (
        filled(owner.x_position_embeddings.weight, 1),
        filled(owner.y_position_embeddings.weight, 2),
    )
    parts = torch.rand(1, 40, 4, generator=torch.Generator().manual_seed(3))
    parts[0, 0], parts[0, 1] = 0.0, 1.0
    cells = np.floor(parts.numpy() * np.float32(use.length - 1)).astype(np.int64)
    yield (
        use.encoding.encode(cells, axis_0=x, axis_1=y, axis_2=x, axis_3=y),
        owner(parts).detach().numpy(),
    )


@outcome(
    "tags and subscripts of 9 nodes",
    {},
    {
        "max_depth": 4,
        "xpath_unit_hidden_size": 6,
        "max_xpath_tag_unit_embeddings": 11,
        "max_xpath_subs_unit_embeddings": 13,
    },
    kind="learned layout",
)
def markuplm(**changes: Any) -> Arrays:
    owner = modeling("markuplm").XPathEmbeddings(built("markuplm", **changes)).eval()
    paths, ours = {}, 0.0
    for name, what in (("tag", "tags"), ("subs", "subscripts")):
        use = the_use("markuplm", f"XPath {what}", "learned layout", **changes)
        tables = {
            f"axis_{depth}": filled(table.weight, depth)
            for depth, table in enumerate(getattr(owner, f"xpath_{name}_sub_embeddings"))
        }
        path = np.random.default_rng(4).integers(0, use.length, (1, 9, len(tables)))
        path[0, 0] = use.length - 1
        ours = ours + use.encoding.encode(path, **tables)
        paths[what] = torch.as_tensor(path)
    run = functools.partial(owner, paths["tags"], paths["subscripts"])
    yield ours, given_to(owner.xpath_unitseq2_inner, run)


CHECKS: dict[str, Callable[[], list[Outcome]]] = {
    "layoutlm": layoutlm,
    **{
        model_type: functools.partial(
            joined,
            model_type,
            "layoutlmv2",
            "LayoutLMv2Embeddings",
            "_calc_spatial_position_embeddings",
        )
        for model_type in ("layoutlmv2", "layoutxlm")
    },
    "layoutlmv3": functools.partial(
        joined,
        "layoutlmv3",
        "layoutlmv3",
        "LayoutLMv3TextEmbeddings",
        "calculate_spatial_position_embeddings",
    ),
    "lilt": lilt,
    "markuplm": markuplm,
    "pp_doclayout_v2": pp_doclayout_v2,
    "udop": udop,
}
