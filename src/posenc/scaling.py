"""Rules that slow the turning of rotary pairs, so that longer texts stay in familiar angles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from posenc import _checks


class Scaling(Protocol):
    """What every rule offers: new frequencies from old ones, and a factor for the scores."""

    @property
    def attention_factor(self) -> float:
        """The multiplier of cos and sin."""
        ...

    @property
    def original_length(self) -> int | None:
        """The length the model was trained for, where the rule needs one."""
        ...

    def scale(
        self, frequencies: Sequence[Any], *, dim: int, base: float, length: int | None = None
    ) -> tuple[Any, ...]:
        """The frequencies under this rule, for a text of `length` tokens."""
        ...


@dataclass(frozen=True, kw_only=True)
class Linear:
    """Position interpolation: every pair turns `factor` times slower.

    Args:
        factor: how many times longer the text may get.
    Raises:
        ValueError: `factor` is below 1.
    Example:
        >>> Linear(factor=4.0).scale((1.0, 0.5), dim=4, base=4.0)
        (0.25, 0.125)

    Source: Chen et al. 2023, arXiv:2306.15595, section 2.3.
    """

    factor: float

    attention_factor = 1.0
    original_length = None

    def __post_init__(self) -> None:
        _checks.at_least("factor", self.factor, 1.0)

    def scale(
        self, frequencies: Sequence[Any], *, dim: int, base: float, length: int | None = None
    ) -> tuple[Any, ...]:
        """Every frequency divided by `factor`."""
        return linear(frequencies, factor=self.factor)


def linear(frequencies: Sequence[Any], *, factor: float) -> tuple[Any, ...]:
    """Divide every frequency by `factor`.

    Example:
        >>> linear((1.0, 0.5), factor=2.0)
        (0.5, 0.25)

    Source: Chen et al. 2023, arXiv:2306.15595, section 2.3.
    """
    return tuple(frequency / factor for frequency in frequencies)
