"""Settings of a rope type as one of posenc's scaling rules."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from posenc.by_parts import Llama3, Yarn
from posenc.inspector.settings.config import Config, facts
from posenc.longrope import LongRope
from posenc.scaling import NTK, DynamicNTK, Linear, Proportional, Scaling

if TYPE_CHECKING:
    from posenc.inspector.settings.rope import Settings


@dataclass(frozen=True, kw_only=True)
class Given:
    """What a rule is read from.

    Args:
        config: the settings of the whole part.
        settings: where the rotary ones stand.
        turned: how many features of a head turn.
        share: which share of the head that is.
    """

    config: Config
    settings: Settings
    turned: int
    share: float

    @property
    def inner(self) -> Config:
        """The rotary settings themselves."""
        return self.settings.inner


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
    rule, keys = RULES[kind]
    if kind in ("yarn", "dynamic", "longrope") and given.config.model_type in NULL_WIDTH:
        _null_width(given.config, kind)
    _unknown_keys(given.inner, kind, keys)
    return rule(given)


def _none(given: Given) -> None:
    return None


def _linear(given: Given) -> Linear:
    return Linear(factor=_factor(given))


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
    return DynamicNTK(original_length=length or 0, factor=_factor(given))


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
        factor=_factor(given),
        original_length=_original(given),
        low_frequency_factor=low,
        high_frequency_factor=high,
    )


def _yarn(given: Given) -> Yarn:
    inner = given.inner
    original = _original(given)
    factor = _stretch(given, original)
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
    _compare_lengths(given, factor, original)
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
    original = _original(given)
    factor = _stretch(given, original)
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


RULES: dict[str, tuple[Callable[[Given], Scaling | None], frozenset[str]]] = {
    "default": (_none, frozenset()),
    "axial": (_none, frozenset()),
    "linear": (_linear, frozenset({"factor"})),
    "dynamic": (_dynamic, frozenset({"factor", "alpha"})),
    "proportional": (_proportional, frozenset({"factor"})),
    "llama3": (
        _llama3,
        frozenset(
            {
                "factor",
                "original_max_position_embeddings",
                "low_freq_factor",
                "high_freq_factor",
            }
        ),
    ),
    "yarn": (
        _yarn,
        frozenset(
            {
                "factor",
                "original_max_position_embeddings",
                "attention_factor",
                "beta_fast",
                "beta_slow",
                "mscale",
                "mscale_all_dim",
                "truncate",
            }
        ),
    ),
    "longrope": (
        _longrope,
        frozenset(
            {
                "short_factor",
                "long_factor",
                "original_max_position_embeddings",
                "attention_factor",
                "factor",
            }
        ),
    ),
}
"""For each rope type, its rule and the keys that rule looks at."""

COMMON = frozenset({"rope_type", "type", "rope_theta", "partial_rotary_factor"})
"""Keys that any rope type may have beside its own."""

ELSEWHERE = frozenset(
    {
        "mrope_section",
        "mrope_interleaved",
        "xdrope_section",
        "llama_4_scaling_beta",
        "max_position_embeddings",
        "finetuned",
        "short_mscale",
        "long_mscale",
    }
)
"""Keys that other readers look at, or that say nothing about numbers."""

NULL_WIDTH = ("hunyuan_v1_dense", "hunyuan_v1_moe", "minimax", "ministral", "mixtral")
"""Model types whose class leaves head_dim null, where some rules of transformers need it."""

MEANT = {
    "attn_factor": "attention_factor",
    "mscale_factor": "mscale",
    "scale": "factor",
    "scaling_factor": "factor",
    "original_max_position_embedding": "original_max_position_embeddings",
    "original_context_length": "original_max_position_embeddings",
    "low_frequency_factor": "low_freq_factor",
    "high_frequency_factor": "high_freq_factor",
    "short_factors": "short_factor",
    "long_factors": "long_factor",
    "theta": "rope_theta",
    "base": "rope_theta",
}
"""Words of other programs, and the key that transformers reads instead."""


def _unknown_keys(inner: Config, kind: str, keys: frozenset[str]) -> None:
    """Put down every key inside the rotary settings that this rope type never looks at."""
    for key, value in inner.data.items():
        if key in COMMON | keys | ELSEWHERE or (key == "factor" and kind == "default"):
            continue  # a factor without a type has a finding of its own
        elsewhere = [name for name, (_, known) in RULES.items() if key in known]
        if key in MEANT:
            cure = f"Spell it `{MEANT[key]}`."
        elif elsewhere:
            cure = f"Delete it; it belongs to rope_type {' and '.join(elsewhere)}."
        else:
            cure = f"Delete it, or correct its spelling: {', '.join(sorted(keys)) or 'none'}."
        inner.find(
            "warning",
            "unknown-key",
            key,
            value,
            f"rope_type {kind!r} never reads it, so it changes nothing.",
            cure,
        )


def _null_width(config: Config, kind: str) -> None:
    if config.get("head_dim") is None:
        config.find(
            "warning",
            "missing-key",
            "head_dim",
            None,
            f"transformers {facts()['']['transformers']} cannot set up {kind} without it for this "
            "model type; the numbers here are those of hidden_size / num_attention_heads.",
            "Add `head_dim`.",
        )


def _factor(given: Given) -> float:
    factor = given.inner.number("factor", required=True, above=0.0)
    if factor < 1:
        given.inner.refuse(
            "absurd-value",
            "factor",
            factor,
            "must be at least 1: it says how many times longer the text may get.",
            f"Perhaps {1 / factor:g} was meant.",
        )
    return factor


def _stretch(given: Given, original: int) -> float:
    """The factor, or where it is missing the length it is meant for over the original one."""
    if given.inner.get("factor") is not None:
        return _factor(given)
    length = given.config.integer("max_position_embeddings", required=True)
    factor = length / original
    given.config.derive(
        "factor", factor, "max_position_embeddings", "original_max_position_embeddings"
    )
    return factor


def _original(given: Given) -> int:
    """The length the model was trained for, before any stretching."""
    key = "original_max_position_embeddings"
    config, inner = given.config, given.inner
    inside = inner.integer(key, name="original_length")
    beside = None
    if given.settings.flat:
        beside = config.integer(key, name="original_length")
    if inside is not None and beside is not None and inside != beside:
        inner.find(
            "warning",
            "doubled-key",
            key,
            inside,
            f"`{config.at(key)}` is {beside}"
            + ("" if config.has(key) else " by default")
            + ", and that one wins.",
            f"Write the length the model was trained for as `{config.at(key)}`.",
        )
    if (found := beside if beside is not None else inside) is not None:
        return found
    length = config.integer("max_position_embeddings", required=True)
    config.derive("original_length", length, "max_position_embeddings")
    inner.find(
        "warning",
        "missing-key",
        key,
        None,
        f"it is missing, so max_position_embeddings, {length}, stands in for it; if that is "
        "already the stretched length, it is scaled twice.",
        f"Add `{key}`, with the length the model was trained for.",
    )
    return length


def _compare_lengths(given: Given, factor: float, original: int) -> None:
    """A factor that is not the longest length over the original one deserves a word."""
    length = given.config.get("max_position_embeddings")
    if not isinstance(length, int) or length <= original:
        return
    if not math.isclose(length / original, factor, rel_tol=1e-9):
        given.inner.find(
            "warning",
            "factor-against-lengths",
            "factor",
            factor,
            f"max_position_embeddings over the original length is {length} / {original} = "
            f"{length / original:g}; the factor {factor:g} is what counts.",
            f"Make them agree: factor {length / original:g}, or a length of "
            f"{factor * original:.0f}.",
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
            "it is read beside the names of the layer types only, not inside them.",
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
        f"without `{other}` transformers leaves it out of cos and sin, unlike DeepSeek's own code.",
        "Give both, or `attention_factor`, which says the multiplier of cos and sin itself.",
    )
