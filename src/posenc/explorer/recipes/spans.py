"""The part of an encoding that one picture shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from posenc import _checks
from posenc.bipe import Bipe
from posenc.explorer.recipes.limits import FARTHEST, ROWS


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
        ValueError: `start`, `count`, `head` or `grid` is out of range.
    """
    _within("start", start, 0, FARTHEST)
    _within("count", count, 1, ROWS)
    if heads(encoding):
        _within("head", head, 0, heads(encoding) - 1)
    if grid is not None:
        _within("grid", grid, 1, ROWS)
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
