"""A searched divisor for each rotary pair, one list for short texts and one for long (LongRoPE)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from posenc import _checks
from posenc.frequencies import divided


@dataclass(frozen=True, kw_only=True)
class LongRope:
    """LongRoPE: each pair is divided by a number of its own, found by search.

    frequency[k] / short_factors[k]     up to the original length
    frequency[k] / long_factors[k]      beyond it

    table_factor = sqrt(1 + ln(factor) / ln(original_length)), at every length

    Args:
        short_factors: one number a pair.
        long_factors: one number a pair.
        original_length: the length the model was trained for; a text of just this length is
            still short. See `scaling.Scaling`.
        factor: how many times longer the text may get: max_position_embeddings over
            original_max_position_embeddings in configs that lack it.
        attention_factor: `table_factor` itself, where a config gives one.
        dynamic: let the numbers of long texts grow from 1 at the original length to
            `long_factors` at `factor` times it, as a variant in Microsoft's code does.
    Raises:
        TypeError: a field has the wrong type; the factors must be tuples of numbers.
        ValueError: a number is not positive, the two tuples differ in length, or do not fit the
            number of pairs.
    Example:
        >>> rule = LongRope(
        ...     short_factors=(1.0, 1.0), long_factors=(1.0, 4.0), original_length=4096, factor=8.0
        ... )
        >>> rule.scale((1.0, 0.01), dim=4, base=10_000.0, length=4096)
        (1.0, 0.01)
        >>> rule.scale((1.0, 0.01), dim=4, base=10_000.0, length=4097)
        (1.0, 0.0025)
        >>> round(rule.table_factor, 6)
        1.118034

    Source: Ding et al. 2024, arXiv:2402.13753; microsoft/LongRoPE, rope/longrope.py; the switch:
    transformers 5.24.0, modeling_rope_utils.py, longrope_frequency_update.
    """

    short_factors: tuple[float, ...]
    long_factors: tuple[float, ...]
    original_length: int | None = None
    factor: float
    attention_factor: float | None = None
    dynamic: bool = False

    def __post_init__(self) -> None:
        if self.original_length is not None:
            _checks.integer("original_length", self.original_length, at_least=2)
        _checks.at_least("factor", self.factor, 1.0)
        if self.attention_factor is not None:
            _checks.positive("attention_factor", self.attention_factor)
        _checks.boolean("dynamic", self.dynamic)
        for name in ("short_factors", "long_factors"):
            factors = getattr(self, name)
            if not isinstance(factors, tuple):
                raise TypeError(f"`{name}` must be a tuple of numbers; got {factors!r}.")
            for k, number in enumerate(factors):
                _checks.positive(f"{name}[{k}]", number)
        if len(self.short_factors) != len(self.long_factors):
            raise ValueError(
                "`short_factors` and `long_factors` must both have one number a pair; got "
                f"{len(self.short_factors)} and {len(self.long_factors)}."
            )
        if self.dynamic and self.factor == 1:
            raise ValueError(
                "`factor` must be greater than 1 with dynamic=True, because `long_factors` are "
                f"reached at `factor` times the original length; got factor={self.factor}."
            )

    @property
    def table_factor(self) -> float:
        """The multiplier of cos and sin, the same for short texts and long ones."""
        if self.attention_factor is not None:
            return self.attention_factor
        return math.sqrt(1 + math.log(self.factor) / math.log(_checks.trained_length(self)))

    def scale(
        self, frequencies: Sequence[Any], *, dim: int, base: float, length: int | None = None
    ) -> tuple[Any, ...]:
        """The frequencies divided by the short or the long factors."""
        factors, original = self.short_factors, _checks.trained_length(self)
        if length is not None:
            _checks.integer("length", length, at_least=0)
        if length is not None and length > original:
            factors = self.long_factors
            if self.dynamic:
                share = (length / original - 1) / (self.factor - 1)
                factors = tuple(1 + (factor - 1) * share for factor in factors)
        return longrope(frequencies, factors=factors)


def longrope(frequencies: Sequence[Any], *, factors: Sequence[float]) -> tuple[Any, ...]:
    """Divide each frequency by its own factor.

    Args:
        frequencies: one a pair; see `Scaling.scale`.
        factors: one number a pair.
    Returns:
        As many numbers, of the same kind.
    Raises:
        TypeError: a factor is no number.
        ValueError: there are more or fewer factors than frequencies, or one is not above 0.
    Example:
        >>> longrope((1.0, 0.5), factors=(1.0, 4.0))
        (1.0, 0.125)

    Source: Ding et al. 2024, arXiv:2402.13753, section 3.1.
    """
    if len(factors) != len(frequencies):
        raise ValueError(
            "`factors` must have one number a pair, so that each finds its own; got "
            f"{len(factors)} for {len(frequencies)} pairs."
        )
    for k, factor in enumerate(factors):
        _checks.positive(f"factors[{k}]", factor)
    return tuple(
        divided(w, factor, rounded_once=True)
        for w, factor in zip(frequencies, factors, strict=True)
    )
