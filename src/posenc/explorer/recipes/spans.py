"""The part of an encoding that one picture shows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from posenc import _checks
from posenc.bipe import Bipe
from posenc.explorer.recipes.limits import FARTHEST, ROWS
from posenc.xpos import XPos

_LARGEST = math.log(1e37)  # times a feature it still is a float32


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
        first, last, says = drawable(encoding)
        if not first <= start <= start + 2 * count - 1 <= last:  # a query stands that far ahead
            raise ValueError(says)
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


def drawable(code: XPos) -> tuple[int, int, str]:
    """The positions at which float32 holds queries and keys of xPos, and what to say of others.

    Example:
        >>> drawable(XPos(dim=64))[:2]
        (0, 34819)
    """
    fastest = max(abs(math.log(decay)) for decay in code.decays)
    away = math.floor(_LARGEST / fastest * code.scale_base)
    first, last = max(code.center - away, 0), code.center + away
    return (
        first,
        last,
        f"float32 holds what xPos multiplies queries and keys with from position {first} to {last} "
        f"only: look there, set `center` nearer (center={code.center}), or raise `scale_base` "
        f"(scale_base={code.scale_base}).",
    )


def _within(name: str, value: int, lowest: int, highest: int) -> None:
    _checks.integer(name, value)
    if not lowest <= value <= highest:
        raise ValueError(f"`{name}` must lie between {lowest} and {highest}; got {name}={value}.")
