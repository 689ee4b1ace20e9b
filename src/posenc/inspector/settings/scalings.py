"""Settings of a rope type as one of posenc's scaling rules."""

from __future__ import annotations

import math
from collections.abc import Callable

from posenc.by_parts import Llama3, Yarn
from posenc.inspector.settings import lengths, rope_keys
from posenc.inspector.settings.config import Config, facts
from posenc.inspector.settings.rope_spellings import Given
from posenc.longrope import LongRope
from posenc.scaling import NTK, DynamicNTK, Linear, Proportional, Scaling


def read(kind: str, given: Given) -> Scaling | None:
    """The rule that a rope type names, with its numbers; None for those that scale nothing."""
    if kind not in RULES:
        given.inner.refuse(
            "unknown-rope-type",
            "rope_type" if given.inner.has("rope_type") else "type",
            kind,
            f"must be one of {', '.join(RULES)}.",
            "Spell it as one of these; other names belong to other programs.",
        )
    if kind in ("yarn", "dynamic", "longrope") and given.config.model_type in NULL_WIDTH:
        _null_width(given.config, kind)
    rope_keys.find(given.inner, kind)
    return RULES[kind](given)


def _none(given: Given) -> None:
    return None


def _linear(given: Given) -> Linear:
    return Linear(factor=lengths.factor(given))


def _dynamic(given: Given) -> Scaling:
    alpha = given.inner.number("alpha", at_least=1.0) if given.inner.get("alpha") else None
    if alpha is not None and given.config.model_type.startswith("hunyuan"):
        return NTK(factor=alpha)
    length = given.config.integer("max_position_embeddings", name="original_length", required=True)
    if given.turned == 2:
        given.config.refuse(
            "absurd-value",
            "head_dim",
            2,
            "must let more than one pair turn, because dynamic scaling divides by pairs - 1.",
            "Take another rope_type.",
        )
    return DynamicNTK(original_length=length or 0, factor=lengths.factor(given))


def _proportional(given: Given) -> Proportional:
    factor = given.inner.number("factor", at_least=1.0)
    return Proportional(fraction=given.share, factor=1.0 if factor is None else factor)


def _llama3(given: Given) -> Llama3:
    inner = given.inner
    low = inner.number("low_freq_factor", required=True, above=0.0)
    high = inner.number("high_freq_factor", required=True, above=0.0)
    if high < low:
        inner.refuse(
            "swapped-bounds",
            "high_freq_factor",
            high,
            f"must not be below low_freq_factor, which is {low:g}.",
            "Exchange the two.",
        )
    return Llama3(
        factor=lengths.factor(given),
        original_length=lengths.original_length(given),
        low_frequency_factor=low,
        high_frequency_factor=high,
    )


def _yarn(given: Given) -> Yarn:
    inner = given.inner
    original = lengths.original_length(given)
    factor = lengths.stretch(given, original)
    fast = inner.number("beta_fast", at_least=0.0) or 32.0
    slow = inner.number("beta_slow", at_least=0.0) or 1.0
    if fast < slow:
        inner.refuse(
            "swapped-bounds",
            "beta_fast",
            fast,
            f"must not be below beta_slow, which is {slow:g}; the ramp would run backwards.",
            "Exchange the two; usual values are beta_fast=32, beta_slow=1.",
        )
    lengths.compare(given, factor, original)
    if original < math.tau * slow:
        inner.refuse(
            "absurd-value",
            "original_max_position_embeddings",
            original,
            f"must be at least {math.tau * slow:.0f}, or not even the fastest pair makes "
            f"{slow:g} turns (beta_slow) within it.",
            "Give the length the model was trained for.",
        )
    weight, shared = inner.number("mscale"), inner.number("mscale_all_dim")
    if bool(weight) != bool(shared):
        _lone_mscale(inner, "mscale" if weight else "mscale_all_dim", weight or shared)
        weight = shared = None
    return Yarn(
        factor=factor,
        original_length=original,
        beta_fast=fast,
        beta_slow=slow,
        truncate=_truncate(given),
        attention_factor=_attention_factor(inner),
        mscale=weight or 1.0,
        mscale_all_dim=shared or 0.0,
    )


def _longrope(given: Given) -> LongRope:
    inner = given.inner
    original = lengths.original_length(given)
    factor = lengths.stretch(given, original)
    pairs = given.turned // 2
    lists = {}
    for key in ("short_factor", "long_factor"):
        lists[key] = inner.numbers(key, required=True)
        if len(lists[key]) != pairs:
            inner.refuse(
                "wrong-length",
                key,
                f"{len(lists[key])} numbers",
                f"must have {pairs} numbers, one for each pair that turns.",
                "Take the list that was searched for this head width.",
            )
        if min(lists[key]) <= 0:
            inner.refuse("absurd-value", key, min(lists[key]), "must be above 0.", "Mend the list.")
    return LongRope(
        short_factors=lists["short_factor"],
        long_factors=lists["long_factor"],
        original_length=original,
        factor=max(factor, 1.0),
        attention_factor=_attention_factor(inner),
    )


RULES: dict[str, Callable[[Given], Scaling | None]] = {
    "default": _none,
    "axial": _none,
    "linear": _linear,
    "dynamic": _dynamic,
    "proportional": _proportional,
    "llama3": _llama3,
    "yarn": _yarn,
    "longrope": _longrope,
}
"""For each rope type, what reads its rule."""

NULL_WIDTH = ("hunyuan_v1_dense", "hunyuan_v1_moe", "minimax", "ministral", "mixtral")
"""Model types whose class leaves head_dim null, where some rules of transformers need it."""


def _null_width(config: Config, kind: str) -> None:
    if config.get("head_dim") is None:
        config.find(
            "warning",
            "missing-key",
            "head_dim",
            None,
            f"is missing, and transformers {facts()['']['transformers']} cannot set up {kind} "
            "without it for this model type; the numbers here are those of hidden_size / "
            "num_attention_heads.",
            "Add `head_dim`.",
        )


def _attention_factor(inner: Config) -> float | None:
    value = inner.number("attention_factor", at_least=0.0)
    if value == 0:
        inner.refuse(
            "absurd-value",
            "attention_factor",
            value,
            "must be above 0: it multiplies cos and sin, so nothing would be left of them.",
            "Delete it, and the published formula takes its place.",
        )
    return value


def _truncate(given: Given) -> bool:
    """Whether the ramp starts and ends at whole pairs; read from the outermost settings only."""
    outer, inner = given.settings.outer, given.inner
    if outer is not inner and inner.get("truncate") is False:
        inner.find(
            "warning",
            "unread-key",
            "truncate",
            False,
            "is read beside the names of the layer types only, not inside them.",
            "Know that the ramp starts and ends at whole pairs all the same.",
        )
    return True if outer.get("truncate") is None else outer.flag("truncate")


def _lone_mscale(inner: Config, key: str, value: float | None) -> None:
    other = "mscale_all_dim" if key == "mscale" else "mscale"
    inner.find(
        "warning",
        "unread-key",
        key,
        value,
        f"is left out of cos and sin without `{other}`, unlike in DeepSeek's own code.",
        "Give both, or `attention_factor`, which says the multiplier of cos and sin itself.",
    )
