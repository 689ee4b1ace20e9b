"""Divisors of rotary pairs among the tensors of a GGUF file, and the rules they were made by."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from posenc.by_parts import Llama3, yarn_range
from posenc.frequencies import geometric
from posenc.inspector.settings.config import Config
from posenc.inspector.sources.gguf_files.architectures import HALVED_WHERE_FULL
from posenc.inspector.sources.gguf_files.layers import file_of
from posenc.inspector.sources.gguf_files.scaling import Stretch, named
from posenc.longrope import LongRope
from posenc.scaling import Proportional

WHOLE = "rope_freqs.weight"
SHORT, LONG = "rope_factors_short.weight", "rope_factors_long.weight"

_STILL = 1e20  # Gemma 4 divides the pairs that do not turn by 1e30
_LLAMA3_LENGTH = 8192  # of Llama 3.1 to 4 and of Apertus, whose files do not say it
_LLAMA3_LIMITS = ((1.0, 4.0), (1.0, 1.0))  # of Llama 3 and Apertus, and of Llama 4 Scout
# The converter computes in float32; an original length of 8191 already differs by 3e-4.
_ROUNDING = 1e-5


def rule(
    config: Config, how: Stretch, tensors: Mapping[str, Any], *, width: int, base: float
) -> Any:
    """The rule of posenc that slows pairs as the file does; None where nothing is slowed."""
    pairs = width // 2
    whole = _read(config, tensors, WHOLE, pairs)
    short, long = _read(config, tensors, SHORT, pairs), _read(config, tensors, LONG, pairs)
    if whole is None and short is not None and long is not None:
        return _longrope(config, how, short, long)
    if whole is None:
        if how.factor == 1 and how.table_factor == 1:
            return None
        known = named(how)
    else:
        known = recognised(whole, how, width=width, base=base)
    if known is not None:
        return known
    slowed = _slowed(how, whole or (1.0,) * pairs, width=width, base=base)
    length = max(config.integer("context_length") or 2, 2)
    return LongRope(
        short_factors=slowed, long_factors=slowed, original_length=length,
        factor=1.0, attention_factor=how.table_factor,
    )  # fmt: skip


def recognised(
    divisors: tuple[float, ...], how: Stretch, *, width: int, base: float
) -> Llama3 | Proportional | None:
    """The rule that divisors were computed by, if float32 rounding is all that differs.

    A person understands "Llama 3's rule by 8", not 64 numbers; and it is what the model was
    trained with, where the file has its rounding.
    """
    if how.factor != 1 or how.table_factor != 1:
        return None
    turning = sum(divisor == 1 for divisor in divisors)
    if all(divisor >= _STILL for divisor in divisors[turning:]):
        fraction = turning / len(divisors)
        return Proportional(fraction=fraction) if fraction * width // 2 == turning else None
    plain = geometric(width, base)
    for low, high in _LLAMA3_LIMITS:
        guess = Llama3(
            factor=max(*divisors, 1.0),
            original_length=how.original_length or _LLAMA3_LENGTH,
            low_frequency_factor=low,
            high_frequency_factor=high,
        )
        scaled = guess.scale(plain, dim=width, base=base)
        made = (float(w) / float(s) for w, s in zip(plain, scaled, strict=True))
        if all(math.isclose(a, b, rel_tol=_ROUNDING) for a, b in zip(divisors, made, strict=True)):
            return guess
    return None


def _read(
    config: Config, tensors: Mapping[str, Any], name: str, pairs: int
) -> tuple[float, ...] | None:
    """One divisor a pair, or None where the file has no such tensor, or only ones in it."""
    divisors = tensors.get(name)
    if divisors is None:
        return None
    at_fault = [divisor for divisor in divisors if not (math.isfinite(divisor) and divisor > 0)]
    if at_fault:
        file_of(config).refuse(
            "absurd-value", name, at_fault[0],
            "is among the divisors, which must be finite and above 0.",
            "Convert the model again.",
        )  # fmt: skip
    if config.path in HALVED_WHERE_FULL:  # one tensor for both kinds of layers
        divisors = divisors[:pairs]
    if len(divisors) != pairs:
        file_of(config).refuse(
            "wrong-length", name, len(divisors),
            f"divisors stand there for {pairs} pairs.",
            "Check rope.dimension_count, or convert the model again.",
        )  # fmt: skip
    return None if set(divisors) == {1.0} else divisors


def _longrope(
    config: Config, how: Stretch, short: tuple[float, ...], long: tuple[float, ...]
) -> LongRope:
    context = config.integer("context_length", name="length", at_least=2, required=True) or 2
    key = "rope.scaling.original_context_length"
    if how.original_length is None:
        config.refuse(
            "missing-key", key, None,
            "is missing, so nothing says from which length on the long divisors count.",
            "Write the length that the model was trained for.",
        )  # fmt: skip
    if not config.has("rope.scaling.attn_factor"):
        config.find(
            "warning", "missing-key", "rope.scaling.attn_factor", None,
            "is missing, so llama.cpp leaves out LongRoPE's factor for cos and sin.",
            "Write sqrt(1 + ln(context / original) / ln(original)).",
        )  # fmt: skip
    if how.factor != 1:
        config.find(
            "warning", "scaled-twice", "rope.scaling.factor", how.factor,
            "divides all pairs once more, besides the divisors of LongRoPE.",
            "Remove the key.",
        )  # fmt: skip
    return LongRope(
        short_factors=tuple(divisor * how.factor for divisor in short),
        long_factors=tuple(divisor * how.factor for divisor in long),
        original_length=how.original_length,
        factor=max(context / how.original_length, 1.0),
        attention_factor=how.table_factor,
    )


def _slowed(
    how: Stretch, divisors: tuple[float, ...], *, width: int, base: float
) -> tuple[float, ...]:
    """What each pair is divided by in the end: any settings, as ggml's rope_yarn takes them.

    speed = (1 - mix) / (divisor * factor) + mix / divisor, mix = extrapolation * (1 - ramp)
    """
    if how.extrapolation == 0:
        return tuple(divisor * how.factor for divisor in divisors)
    low, high = yarn_range(
        dim=width, base=base, original_length=how.original_length or 2,
        beta_fast=how.beta_fast, beta_slow=how.beta_slow,
    )  # fmt: skip
    slowed = []
    for pair, divisor in enumerate(divisors):
        ramp = min(max((pair - low) / max(high - low, 0.001), 0.0), 1.0)
        mix = how.extrapolation * (1 - ramp)
        slowed.append(divisor / ((1 - mix) / how.factor + mix))
    return tuple(slowed)
