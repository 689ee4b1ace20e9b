"""The part of an encoding that one picture shows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from posenc import _checks
from posenc.bipe import Bipe
from posenc.explorer.recipes.limits import FARTHEST, ROWS
from posenc.xpos import XPos

_LONGEST = math.log(1e37)  # and their products with a feature stay within float32


@dataclass(frozen=True, kw_only=True)
class Span:
    """Which positions, which head, and how wide a grid is.

    Args:
        start: the first position.
        count: how many positions.
        head: which head, where there are heads.
        grid: cells in a row of a grid; None lets the encoding choose.
    """

    start: int
    count: int
    head: int
    grid: int | None


def span(encoding: Any, start: int, count: int, head: int, grid: int | None) -> Span:
    """A checked `Span` of an encoding.

    Raises:
        TypeError: a number is no integer.
        ValueError: `start`, `count`, `head` or `grid` is out of range, or so far from the center
            of xPos that float32 does not hold its numbers.
    """
    _within("start", start, 0, FARTHEST)
    _within("count", count, 1, ROWS)
    if heads(encoding):
        _within("head", head, 0, heads(encoding) - 1)
    if grid is not None:
        _within("grid", grid, 1, ROWS)
    if isinstance(encoding, XPos):
        _drawable(encoding, start, start + 2 * count - 1)
    return Span(start=start, count=count, head=head, grid=grid)


def heads(encoding: Any) -> int:
    """How many heads have numbers of their own; 0 where all heads are alike.

    Example:
        >>> from posenc import Alibi, Rotary
        >>> heads(Alibi(heads=8)), heads(Rotary(dim=8))
        (8, 0)
    """
    between = encoding.inter if isinstance(encoding, Bipe) else encoding
    return getattr(between, "heads", 0)


def _within(name: str, value: int, lowest: int, highest: int) -> None:
    _checks.integer(name, value)
    if not lowest <= value <= highest:
        raise ValueError(f"`{name}` must lie between {lowest} and {highest}; got {name}={value}.")


def _drawable(code: XPos, first: int, last: int) -> None:
    """Refuse positions at which queries or keys, whose scales are inverse, leave float32."""
    away = max(abs(first - code.center), abs(last - code.center))
    grown = away / code.scale_base * max(abs(math.log(decay)) for decay in code.decays)
    if grown > _LONGEST:
        raise ValueError(
            f"xPos multiplies queries or keys by 1e{grown / math.log(10):.0f} at the positions "
            f"from {first} to {last}, and float32 ends at 3e38. Bring them and `center` together "
            f"(center={code.center}), or raise `scale_base` (scale_base={code.scale_base})."
        )
