"""T5 buckets: a trained number for each range of distances, and what each model sorts into them."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from posenc.inspector.families.shared import assuming, fitted, layers, use, whole
from posenc.inspector.reading import Use
from posenc.inspector.settings.config import Config
from posenc.sinusoidal import Sinusoidal
from posenc.t5 import T5

Reader = Callable[[Config], list[Use]]

_NO_SCALE = (
    "Scores are not divided by the square root of the head's width: a fused kernel needs scale=1."
)
_NO_CROSS = "Attention from decoder to encoder has no positions."
_ONE_TABLE = "All layers share one table."
_FIRST_OWNS = "The first layer of the stack owns the table, and the others add the same bias."
_EACH_OWNS = "Every layer has a table of its own."
_DIVIDED = "The bias is divided by the square root of the head's width."
_T5_KEYS = "relative_attention_num_buckets", "relative_attention_max_distance"


def _bias(
    config: Config,
    place: str,
    remarks: Iterable[str],
    *,
    keys: tuple[str, str] = _T5_KEYS,
    depth: tuple[str, ...] = (),
    heads: str = "num_attention_heads",
    bidirectional: bool = True,
    unscaled: bool = False,
) -> Use:
    """One table of buckets; `keys` hold how many there are and the distance where they end."""
    encoding = fitted(
        config,
        keys[0],
        T5,
        heads=whole(config, heads, name="heads"),
        buckets=whole(config, keys[0], name="buckets"),
        max_distance=whole(config, keys[1], name="max_distance"),
        bidirectional=bidirectional,
    )
    fields = _unscaled(config) if unscaled else {}
    fields |= {"place": place, "layers": layers(config, *depth), "remarks": remarks}
    return use(config, "T5 buckets", encoding, **fields)


def _unscaled(config: Config) -> dict[str, Any]:
    """T5 never divides scores by the square root of the head's width."""
    width = whole(config, "d_kv", name="head_dim")
    return {"head_dim": width, "softmax_factor": math.sqrt(width)}


def _encoder_decoder(config: Config, *, owner: str = _FIRST_OWNS) -> list[Use]:
    """T5 and those who took its attention over: a table for the encoder, one for the decoder."""
    return [
        _bias(config.fresh(), "encoder attention scores", (_NO_SCALE, owner), unscaled=True),
        _decoder(config, owner=owner),
    ]


def _decoder(config: Config, *, place: str = "decoder ", owner: str = _FIRST_OWNS) -> Use:
    return _bias(
        config.fresh(),
        f"{place}attention scores",
        (_NO_SCALE, owner, _NO_CROSS),
        depth=("num_decoder_layers", "num_hidden_layers"),
        bidirectional=False,
        unscaled=True,
    )


def _pix2struct(config: Config) -> list[Use]:
    return [_decoder(config, place="")]


def _longt5(config: Config) -> list[Use]:
    kind = config.word("encoder_attention_type", required=True)
    if kind not in ("local", "transient-global"):
        why = "must be local or transient-global."
        cure = "Put the model's own value there."
        config.refuse("absurd-value", "encoder_attention_type", kind, why, cure)
    near = f"Keys more than {whole(config, 'local_radius')} tokens away are not seen."
    remarks = (_NO_SCALE, _FIRST_OWNS, near)
    encoder = _bias(config, "encoder attention scores", remarks, unscaled=True)
    uses = [encoder, _decoder(config)]
    if kind == "transient-global":
        uses.append(_global_tokens(config.fresh()))
    return uses


def _global_tokens(config: Config) -> Use:
    remarks = (
        _NO_SCALE,
        "Positions are the numbers of blocks, of the query's and of the one that the key sums up: "
        f"{whole(config, 'global_block_size')} tokens each, and what is left at the end counts to "
        "the last full one.",
        "This table is global_relative_attention_bias.",
    )
    return _bias(config, "encoder scores of global tokens", remarks, unscaled=True)


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
    return [*encoder, _decoder(config)]


def _udop_bias(config: Config, number: int, given: Mapping[str, Any]) -> Use:
    path = f"{config.at('relative_bias_args')}[{number}]"
    own = Config(given, path=path, findings=config.findings, read=config.read)
    own.taken = config.taken
    kind = own.word("type", required=True) or ""
    if kind not in _UDOP:
        why, cure = f"must be one of {', '.join(_UDOP)}.", "Put the model's own value there."
        own.refuse("absurd-value", "type", kind, why, cure)
    heads = whole(config, "num_attention_heads", name="heads")
    assuming(own, relative_attention_num_buckets=32, bidirectional=True, **_UDOP[kind])
    encoding = fitted(
        own,
        "max_distance",
        T5,
        heads=heads,
        buckets=whole(own, "relative_attention_num_buckets", name="buckets"),
        max_distance=whole(own, "max_distance", name="max_distance"),
        bidirectional=own.flag("bidirectional", name="bidirectional"),
    )
    remarks = [_NO_SCALE, "The biases of the encoder are added up once, for all its layers."]
    place = "encoder attention scores"
    if kind != "1d":
        place += f", {kind}"
        remarks.append(
            f"The distance is that of the middles of the boxes, in pages, times "
            f"{own.number('scaling_factor'):g}, cut to a whole number."
        )
    fields = {"place": place, "layers": layers(config), "remarks": remarks}
    return use(own, "T5 buckets", encoding, **_unscaled(config), **fields)


def _mpnet(config: Config) -> list[Use]:
    heads = whole(config, "num_attention_heads", name="heads")
    rows = whole(config, "relative_attention_num_buckets", name="rows")
    if rows != 32:
        why = "only sizes the table: the model sorts distances into 32 buckets whatever it says."
        severity = "error" if rows < 32 else "warning"
        config.find(
            severity, "unread-key", "relative_attention_num_buckets", rows, why, "Put 32 there."
        )
    remarks = (_ONE_TABLE, "32 buckets and the distance 128 are fixed in the model's code.")
    return [use(config, "T5 buckets", T5(heads=heads), layers=layers(config), remarks=remarks)]


def _wavlm(config: Config) -> list[Use]:
    remarks = (
        "The first layer owns the table.",
        "Every layer multiplies the bias by a gate that it makes for each query and head from its "
        "own input (gru_rel_pos_linear, gru_rel_pos_const).",
    )
    keys = "num_buckets", "max_bucket_distance"
    return [_bias(config, "attention scores", remarks, keys=keys)]


def _cpmant(config: Config) -> list[Use]:
    kinds = whole(config, "segment_types")
    remarks = (
        _ONE_TABLE,
        f"{kinds * kinds} more rows follow: a key of another segment looks up row buckets + "
        f"{kinds} * (segment of the query) + (segment of the key), near or far.",
        "Distances are those of the indices, whatever positions are handed in.",
    )
    keys = "position_bias_num_buckets", "position_bias_max_distance"
    return [_bias(config, "attention scores", remarks, keys=keys)]


def _prophetnet(config: Config) -> list[Use]:
    remarks = (
        "There is no table: each layer makes the numbers of all buckets anew from its input at "
        "the query (relative_pos_embeddings), buckets first, then heads.",
        "In the streams that predict, the keys of the main stream stand one position lower.",
        _NO_CROSS,
    )
    return [
        _bias(
            config,
            "decoder attention scores",
            remarks,
            keys=("num_buckets", "relative_max_distance"),
            depth=("num_decoder_layers",),
            heads="num_decoder_attention_heads",
            bidirectional=False,
        )
    ]


def _layout(config: Config, *, third: bool) -> list[Use]:
    """LayoutLM 2 and 3: the distance in the text, and those of the boxes' left and lower edges."""
    assuming(config, has_relative_attention_bias=True, has_spatial_attention_bias=True)
    text = config.flag("has_relative_attention_bias")
    boxes = config.flag("has_spatial_attention_bias") and (text or not third)
    remarks = [_ONE_TABLE, *([_DIVIDED] if third else [])]
    wanted = {"attention scores": ("rel_pos_bins", "max_rel_pos")} if text else {}
    for edge in ("left", "lower") if boxes else ():
        wanted[f"attention scores, {edge} edges"] = "rel_2d_pos_bins", "max_rel_2d_pos"
    return [_bias(config.fresh(), place, remarks, keys=keys) for place, keys in wanted.items()]


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
    inner = assuming(config.inside("reading_order_config"), **_READING_ORDER)
    place = "reading order scores"
    if inner.flag("has_spatial_attention_bias"):
        return [_box_relation(inner, place)]
    if not inner.flag("has_relative_attention_bias"):
        return []
    return [_bias(inner, place, (_ONE_TABLE, _DIVIDED), keys=("rel_pos_bins", "max_rel_pos"))]


def _box_relation(config: Config, place: str) -> Use:
    theta = config.number("relation_bias_theta", name="base", above=0, required=True) or 1.0
    scale = config.number("relation_bias_scale", name="scale", required=True)
    encoding = fitted(
        config,
        "relation_bias_embed_dim",
        Sinusoidal,
        dim=whole(config, "relation_bias_embed_dim", name="dim"),
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
    **dict.fromkeys(("t5", "mt5", "switch_transformers", "pop2piano"), _encoder_decoder),
    "umt5": functools.partial(_encoder_decoder, owner=_EACH_OWNS),
    "longt5": _longt5,
    "pix2struct_text_model": _pix2struct,
    "udop": _udop,
    "mpnet": _mpnet,
    "wavlm": _wavlm,
    "cpmant": _cpmant,
    "prophetnet": _prophetnet,
    **dict.fromkeys(("layoutlmv2", "layoutxlm"), functools.partial(_layout, third=False)),
    "layoutlmv3": functools.partial(_layout, third=True),
    "pp_doclayout_v2": _reading_order,
}
"""The model types that sort distances into buckets."""
