"""Look-alikes: positions far apart whose rows lie near to each other."""

from __future__ import annotations

import bisect
from collections.abc import Mapping
from typing import Any

import numpy as np

from posenc.explorer.recipes import mistaken, numbers, spans

FARTHEST = 2048
"""The most positions among which look-alikes are sought."""

_TOLD = 3
"""How many look-alikes are named."""


def look_alikes(
    encoding: Any, *, below: str, head: str = "0", cells: str = "8", mistake: str = ""
) -> Mapping[str, Any]:
    """Which positions far apart have rows that lie near to each other.

    Args:
        encoding: any encoding; one that adds to scores has no rows.
        below: how many positions are compared, in words of an address as all that follows.
        head: which head, where heads differ.
        cells: cells in a row of a grid.
        mistake: the name of a mistake to make, or "".
    Returns:
        below     how many positions were compared; fewer where the encoding ends
        nearest   the least distance of two rows, for each distance of their positions from 1 on
        pairs     the nearest two where `nearest` dips: first, second, distance, and whether
                  every two that far apart are as near
    Raises:
        ValueError: a number is out of range.
    Example:
        >>> from posenc import Sinusoidal
        >>> found = look_alikes(Sinusoidal(dim=4), below="1024")["pairs"][0]
        >>> found["second"] - found["first"], round(found["distance"], 2), found["every"]
        (622, 0.07, True)
    """
    if not 3 <= int(below) <= FARTHEST:
        raise ValueError(f"`below` must lie between 3 and {FARTHEST}; got {below}.")
    if numbers.family(encoding) not in ("absolute", "rotary"):
        return {"below": 0, "nearest": [], "pairs": []}
    count, options = int(below), {"head": int(head), "grid": int(cells)}
    spans.span(encoding, 0, 1, **options)
    if not _reaches(encoding, count - 1, options):
        count = bisect.bisect_left(
            range(count), True, key=lambda at: not _reaches(encoding, at, options)
        )
    rows = _rows(encoding, 0, count, options, mistake)
    squares = _squares(rows)
    diagonals = [np.diagonal(squares, gap) for gap in range(1, len(rows))]
    nearest = np.asarray([np.sqrt(each.min()) for each in diagonals])
    dips = [
        at for at in range(1, len(nearest) - 1) if nearest[at - 1] > nearest[at] <= nearest[at + 1]
    ]
    dips = sorted(dips, key=nearest.__getitem__)[:_TOLD]
    return {
        "below": len(rows),
        "nearest": nearest.round(5).tolist(),
        "pairs": [_pair(rows, at + 1, diagonals[at]) for at in dips],
    }


def _reaches(encoding: Any, position: int, options: Mapping[str, int]) -> bool:
    try:
        _rows(encoding, position, 1, options, "")
    except ValueError:
        return False
    return True


def _rows(
    encoding: Any, start: int, count: int, options: Mapping[str, int], mistake: str
) -> np.ndarray:
    part = spans.Span(start=start, count=count, **options)
    wrong = mistaken.find(encoding, mistake or None)
    if wrong is None:
        return numbers.numbers(encoding, part).astype(np.float64)
    return mistaken.numbers(encoding, part, wrong).astype(np.float64)


def _squares(rows: np.ndarray) -> np.ndarray:
    """The squared distance of every two rows."""
    lengths = np.sum(rows**2, axis=-1)
    return np.maximum(lengths[:, None] + lengths - 2 * rows @ rows.T, 0.0)


def _pair(rows: np.ndarray, gap: int, squares: np.ndarray) -> dict[str, Any]:
    # Where all are equally near, the first of them is named and not the luckiest in rounding.
    rounding = 1e-6 * float(np.sum(rows[0] ** 2))
    first = int(np.flatnonzero(squares <= squares.min() + rounding)[0])
    return {
        "first": first,
        "second": first + gap,
        "distance": float(np.linalg.norm(rows[first] - rows[first + gap])),
        "every": bool(squares.max() - squares.min() <= rounding),
    }
