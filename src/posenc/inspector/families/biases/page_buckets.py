"""Biases by where words lie on a page: buckets of their edges and middles, waves of their sizes."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from posenc.inspector.families.biases.buckets import (
    DIVIDED,
    NO_SCALE,
    ONE_TABLE,
    bias,
    decoder,
    t5_scale,
)
from posenc.inspector.families.shared import Reader, fitted, layers, use
from posenc.inspector.reading import Use
from posenc.inspector.settings.config import Config
from posenc.sinusoidal import Sinusoidal
from posenc.t5 import T5

_UDOP: Mapping[str, dict[str, Any]] = {
    "1d": {"max_distance": 128, "scaling_factor": 1},
    "horizontal": {"max_distance": 100, "scaling_factor": 100},
    "vertical": {"max_distance": 100, "scaling_factor": 100},
}
"""The biases of UDOP's encoder, and what the class of each assumes."""


def _udop(config: Config) -> list[Use]:
    given = config.get("relative_bias_args")
    given = [{"type": name} for name in _UDOP] if given is None else given
    if not isinstance(given, list | tuple) or not all(isinstance(one, Mapping) for one in given):
        why, cure = "must be a list of mappings.", "Put the model's own list there."
        config.refuse("wrong-type", "relative_bias_args", given, why, cure)
    encoder = [_udop_bias(config.fresh(), number, one) for number, one in enumerate(given)]
    return [*encoder, decoder(config)]


def _udop_bias(config: Config, number: int, given: Mapping[str, Any]) -> Use:
    path = f"{config.at('relative_bias_args')}[{number}]"
    own = Config(given, path=path, findings=config.findings, read=config.read)
    own.taken = config.taken
    kind = own.word("type", required=True)
    if kind not in _UDOP:
        why, cure = f"must be one of {', '.join(_UDOP)}.", "Put the model's own value there."
        own.refuse("absurd-value", "type", kind, why, cure)
    heads = config.integer("num_attention_heads", name="heads", required=True)
    own = own.assuming(relative_attention_num_buckets=32, bidirectional=True, **_UDOP[kind])
    encoding = fitted(
        own,
        "max_distance",
        T5,
        heads=heads,
        buckets=own.integer("relative_attention_num_buckets", name="buckets", required=True),
        max_distance=own.integer("max_distance", name="max_distance", required=True),
        bidirectional=own.flag("bidirectional", name="bidirectional"),
    )
    remarks = [NO_SCALE, "The biases of the encoder are added up once, for all its layers."]
    place = "encoder attention scores"
    if kind != "1d":
        place += f", {kind}"
        remarks.append(
            f"The distance is that of the middles of the boxes, in pages, times "
            f"{own.number('scaling_factor'):g}, cut to a whole number."
        )
    fields = {"place": place, "layers": layers(config), "remarks": remarks}
    return use(own, "T5 buckets", encoding, **t5_scale(config), **fields)


def _layout(config: Config, *, third: bool) -> list[Use]:
    """LayoutLM 2 and 3: the distance in the text, and those of the boxes' left and lower edges."""
    config = config.assuming(has_relative_attention_bias=True, has_spatial_attention_bias=True)
    text = config.flag("has_relative_attention_bias")
    boxes = config.flag("has_spatial_attention_bias") and (text or not third)
    remarks = [ONE_TABLE, *([DIVIDED] if third else [])]
    wanted = {"attention scores": ("rel_pos_bins", "max_rel_pos")} if text else {}
    for edge in ("left", "lower") if boxes else ():
        wanted[f"attention scores, {edge} edges"] = "rel_2d_pos_bins", "max_rel_2d_pos"
    return [bias(config.fresh(), place, remarks, keys=keys) for place, keys in wanted.items()]


_READING_ORDER: Mapping[str, Any] = {
    "hidden_size": 512,
    "num_attention_heads": 8,
    "num_hidden_layers": 6,
    "has_relative_attention_bias": False,
    "has_spatial_attention_bias": True,
    "rel_pos_bins": 32,
    "max_rel_pos": 128,
    "relation_bias_embed_dim": 16,
    "relation_bias_theta": 10000,
    "relation_bias_scale": 100,
}
"""What the config class of PP-DocLayoutV2's reading order assumes; it has no model type."""


def _reading_order(config: Config) -> list[Use]:
    inner = config.inside("reading_order_config").assuming(**_READING_ORDER)
    place = "reading order scores"
    if inner.flag("has_spatial_attention_bias"):
        return [_box_relation(inner, place)]
    if not inner.flag("has_relative_attention_bias"):
        return []
    return [bias(inner, place, (ONE_TABLE, DIVIDED), keys=("rel_pos_bins", "max_rel_pos"))]


def _box_relation(config: Config, place: str) -> Use:
    theta = config.number("relation_bias_theta", name="base", above=0, required=True)
    scale = config.number("relation_bias_scale", name="scale", required=True)
    encoding = fitted(
        config,
        "relation_bias_embed_dim",
        Sinusoidal,
        dim=config.integer("relation_bias_embed_dim", name="dim", required=True),
        base=theta * theta,
        layout="half",
    )
    remarks = (
        "Encoded are four numbers of each pair of boxes: ln(1 + |distance of the middles| / width "
        "of the query's box), the same with heights, ln of the ratio of the widths, and of the "
        "heights.",
        f"Each is multiplied by {scale:g} first; a 1x1 convolution (pos_proj) makes one number a "
        "head of the four vectors.",
        "Exponents run to twice the usual end, so the base here is the square of the one set.",
    )
    numbers = layers(config)
    return use(config, "box relation", encoding, place=place, layers=numbers, remarks=remarks)


READERS: dict[str, Reader] = {
    **dict.fromkeys(("layoutlmv2", "layoutxlm"), functools.partial(_layout, third=False)),
    "layoutlmv3": functools.partial(_layout, third=True),
    "pp_doclayout_v2": _reading_order,
    "udop": _udop,
}
