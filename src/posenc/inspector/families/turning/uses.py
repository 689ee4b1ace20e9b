"""Uses of rotary encodings, and layers without one: what the readers of this folder are made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from posenc import _checks
from posenc.by_parts import Yarn
from posenc.inspector.families.shared import Reader
from posenc.inspector.reading import Use
from posenc.inspector.settings import layers
from posenc.inspector.settings.config import Config
from posenc.inspector.settings.rope_spellings import Dialect
from posenc.longrope import LongRope
from posenc.rotary import Rotary
from posenc.scaling import DynamicNTK, Scaling

HALF = Dialect()
INTERLEAVED = Dialect(layout="interleaved")
SHARE = Dialect(obeys_partial=True)

DECAYING = ("minimax",)
"""Model types whose recurrent layers have an encoding of their own: a decay."""

_HEADS_AS_POSITIONS = (
    "The decoder gives the numbers of the heads, 0 to heads - 1, as positions, so every token "
    "turns alike and no order comes from it."
)

_REMARKS: Mapping[str, tuple[str, ...]] = {
    "dbrx": ("attn_config.rope_theta is stored but never read.",),
    "esm": ("inv_freq is saved with the weights and wins over the formula.",),
    "evolla": ("inv_freq is saved with the weights and wins over the formula.",),
    **dict.fromkeys(
        ("hunyuan_v1_dense", "hunyuan_v1_moe"),
        ("Queries and keys are normalised after turning, with a weight for each feature.",),
    ),
    "dory": ("Queries are multiplied feature by feature after turning.",),
    "timesfm2_5": ("Positions count from the first patch that is not masked.",),
    "idefics": ("Cross attention does not turn.",),
    "moonshine": ("Cross attention does not turn.",),
    "moonshine_streaming": ("Cross attention does not turn.",),
    "gpt_oss": ("Cosine and sine have head_dim / 2 columns.",),
    "neucodec": (_HEADS_AS_POSITIONS,),
    "xcodec2": (_HEADS_AS_POSITIONS,),
}


def use(config: Config, encoding: Rotary, **more: Any) -> Use:
    """A use of a rotary encoding, with the lengths that its settings tell of."""
    length = config.integer("max_position_embeddings", name="length")
    if more.get("layer_type") == layers.SLIDING:
        config.integer(layers.window_key(config), name="window")
    original, length = _lengths(config, encoding.scaling, length)
    fields = {
        "kind": "rotary",
        "place": "queries and keys",
        "encoding": encoding,
        "head_dim": encoding.dim,
        "original_length": original,
        "length": length,
        "remarks": _REMARKS.get(config.model_type, ()),
        "values": tuple(config.taken),
    }
    return Use(**{**fields, **more})


def _lengths(
    config: Config, rule: Scaling | None, length: int | None
) -> tuple[int | None, int | None]:
    """The length before any stretching, and the one that a rule stretches it to."""
    if isinstance(rule, DynamicNTK) and length is not None:
        return length, int(length * rule.factor)
    if isinstance(rule, Yarn | LongRope):
        original = _checks.trained_length(rule)
        stretched = int(original * rule.factor)
        given = any(v.name == "original_length" and v.origin != "fallback" for v in config.taken)
        if length is not None and given and stretched > length:
            length = config.derive("length", stretched, "factor", "original length")
        return original, length
    if rule is not None and getattr(rule, "factor", 1.0) > 1:
        return rule.original_length, length
    return length, length


def unturned(config: Config, kinds: tuple[str, ...]) -> list[Use]:
    """The layers that know no rotation, one use for each kind of them."""
    if config.model_type in DECAYING:
        return []
    return [
        Use(
            kind="none",
            place="queries and keys" if "attention" in kind else "tokens",
            layers=layers.where(kinds, kind),
            layer_type=kind,
            remarks=(_order_from(kind),),
        )
        for kind in dict.fromkeys(kinds)
        if kind in layers.UNTURNED
    ]


def still(where: tuple[int, ...], kind: str, why: str) -> Use:
    """Layers whose queries and keys do not turn (NoPE)."""
    return Use(
        kind="none",
        place="queries and keys",
        layers=where,
        layer_type=kind,
        remarks=(why,),
    )


def with_layers(reader: Reader) -> Reader:
    """The same reader without uses that no layer has."""
    return lambda config: [use for use in reader(config) if use.layers]


def _order_from(kind: str) -> str:
    where = "the convolution" if kind == "conv" else "the recurrence"
    return f"Order comes from {where} itself."
