"""Trying an encoding, a base and a mistake against a table of sines and cosines."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from posenc import mistakes
from posenc.identification.forms import BASE, Form
from posenc.mistakes import Mistake, steps
from posenc.rotary import Rotary


@dataclass(frozen=True)
class Trial:
    """A form, and what else it takes to make the numbers of a table."""

    form: Form
    base: float = BASE
    scaling: Any = None
    mistake: Mistake | None = None

    @cached_property
    def spec(self) -> Any:
        """The encoding with its base and scaling."""
        scaled = {} if self.scaling is None else {"scaling": self.scaling}
        return dataclasses.replace(self.form.spec, base=self.base, **scaled)

    @property
    def oddity(self) -> int:
        """How much there is to explain: of trials that fit alike the least odd one is believed."""
        digits = significant(self.base)
        if self.base == BASE or (isinstance(self.form.spec, Rotary) and digits <= 2):
            odd = significant(getattr(self.scaling, "factor", 1.0)) > 3
            return self.form.oddity + (3 if odd else 0) + (1 if self.mistake else 0)
        if self.mistake:
            return 8
        endpoint = getattr(self.form.spec, "spacing", "paper") == "endpoint"
        return (2 if digits <= 2 else 4 if digits <= 6 else 6) + endpoint

    def frequencies(self) -> np.ndarray:
        """Radians per position, (pairs, 2)."""
        return steps.frequencies(self.form.spec, self._change)

    def numbers(self, positions: np.ndarray) -> np.ndarray:
        """The table that it makes."""
        waves = steps.waves(self.form.spec, positions.astype(np.float64), self._change)
        return self.form.columns(waves * getattr(self.scaling, "table_factor", 1.0))

    @cached_property
    def _change(self) -> steps.Change:
        """Base and scaling are put in here: an encoding for each that is tried would take long."""
        wrong = steps.unchanged
        if self.mistake is not None:
            wrong = mistakes.change(self.mistake, self.spec if self.scaling else self.form.spec)

        def change(step: str, value: Any) -> Any:
            if step == "base":
                value = self.base
            if step == "frequencies" and self.scaling is not None:
                dim = 2 * len(value)
                value = steps.scaled(value, self.scaling, dim=dim, base=self.base)
            return wrong(step, value)

        return change


class Judged(NamedTuple):
    """A trial, what part of the table it leaves unexplained, and its scale."""

    trial: Trial
    residual: float
    scale: float

    @property
    def oddity(self) -> int:
        """Of the trial."""
        return self.trial.oddity


def compared(table: np.ndarray, numbers: np.ndarray) -> tuple[float, float]:
    """The part of a table that numbers leave when scaled to fit it, and by how much to scale.

    It is a part of what the table spreads around its mean, so that no constant fits a table of
    numbers that are nearly alike. The scale is never below 0; one that rounding to bfloat16 may
    have moved away from 1 is 1.

    Example:
        >>> compared(np.asarray([3.0, 4.0]), np.asarray([6.0, 8.0]))
        (0.0, 0.5)
    """
    scale = max(float(np.sum(numbers * table) / (np.sum(numbers**2) or 1.0)), 0.0)
    scale = 1.0 if math.isclose(scale, 1, rel_tol=2e-3) else scale
    left, spread = np.sum((table - scale * numbers) ** 2), np.sum((table - np.mean(table)) ** 2)
    return float(np.sqrt(left / spread)) if spread > 0 else 1.0, scale


def significant(number: float) -> int:
    """How many digits of a number count.

    Example:
        >>> significant(150_000.0), significant(777.7)
        (2, 4)
    """
    return next(count for count in range(1, 18) if float(f"{number:.{count - 1}e}") == number)


def rounder(number: float) -> list[float]:
    """What a fitted number may have meant: with 1, 2 and 6 digits, and itself if that differs.

    Example:
        >>> rounder(499_999.9998), rounder(777.7000004), rounder(13_459.603228)
        ([500000.0], [800.0, 780.0, 777.7], [13000.0, 13459.6, 13459.603228])
    """
    values = [float(f"{number:.{count - 1}e}") for count in (1, 2, 6)] + [number]
    kept: list[float] = []
    for value in values:
        near = math.isclose(value, number, rel_tol=0.05)
        if near and not any(math.isclose(value, other, rel_tol=1e-8) for other in kept):
            kept.append(value)
    return kept


def tidy(number: float) -> float:
    """A fitted number to six digits.

    Example:
        >>> tidy(8.0000000007)
        8.0
    """
    return float(f"{number:.6g}")
