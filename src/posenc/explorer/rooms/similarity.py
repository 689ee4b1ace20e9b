"""Similarity: how alike two positions are, and whether their distance alone decides it."""

from __future__ import annotations

import bisect
from collections.abc import Mapping
from typing import Any

import numpy as np

from posenc.explorer.recipes import mistaken, numbers, spans
from posenc.explorer.rooms.controls import COUNT, GRID, HEAD, POSITION, PYTHON
from posenc.explorer.rooms.room import Picture, Room

MOST = 256
"""The most places that are compared with each other in the picture."""

FARTHEST = 2048
"""The most positions among which look-alikes are sought."""

_TOLD = 3
"""How many look-alikes are named."""

# The column of this room's table is a place, as the row is.
_OTHER: dict[str, Any] = {
    "name": "column",
    "label": "Compared with",
    "group": "look",
    "bounds": {"size": "rows"},
    "default": 4,
}
_MEASURE: dict[str, Any] = {
    "name": "measure",
    "label": "Alike by",
    "group": "room",
    "needs": "absolute",
    "default": "dot",
    "options": [
        {"value": "dot", "label": "dot product", "hint": "as attention compares"},
        {"value": "cosine", "label": "cosine", "hint": "of the angle, whatever the lengths"},
    ],
}
_CONTENT: dict[str, Any] = {
    "name": "content",
    "label": "Query and key",
    "group": "room",
    "needs": "rotary",
    "default": "alike",
    "options": [
        {"value": "alike", "label": "all ones", "hint": "every pair weighs the same"},
        {"value": "example", "label": "made up", "hint": "numbers as a model might have them"},
    ],
}
_GUESS: dict[str, Any] = {
    "name": "guess",
    "label": "The curve",
    "group": "room",
    "default": "no",
    "options": [
        {"value": "no", "label": "show it", "hint": "without a guess"},
        {"value": "draw", "label": "guess first", "hint": "draw it, then reveal"},
        {"value": "shown", "label": "compare", "hint": "your guess and the truth"},
    ],
}
_DRAWN: dict[str, Any] = {
    "name": "drawn",
    "label": "Your guess, from -100 to 100",
    "group": "room",
    "when": {"guess": ["draw", "shown"]},
    "most": 60,
    "default": "",
}
_BELOW: dict[str, Any] = {
    "name": "below",
    "label": "Look-alikes among the first",
    "group": "room",
    "unit": "positions",
    "min": 3,
    "max": FARTHEST,
    "step": 1,
    "stops": [16, 32, 64, 128, 256, 512, 1024, FARTHEST],
    "default": 1024,
}


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


_BEGINNING = (
    "import numpy as np\nimport posenc\n\nencoding = {encoding}\nplaces = np.arange({count})\n"
)

ROOM = Room(
    title="Similarity",
    question="How alike are two positions, and does their distance alone decide it?",
    lead="Every row of the table is compared with every row. Stripes along the diagonal say that "
    "only the distance counts; what breaks them is a defect, or the content speaking. Guess the "
    "curve before you look.",
    first="sinusoidal",
    shows=lambda encoding: True,
    controls=(
        POSITION,
        _OTHER,
        HEAD,
        _GUESS,
        _DRAWN,
        _MEASURE,
        _CONTENT,
        _BELOW,
        COUNT | {"max": MOST, "stops": [stop for stop in COUNT["stops"] if stop <= MOST]},
        GRID,
    ),
    pictures=(
        Picture(
            view="likeness",
            title="Against distance",
            hint="The place under the cursor, and all places at once.",
        ),
        Picture(view="gram", title="Every two places", hint="One row and one column a place."),
        Picture(
            view="alikes",
            title="Look-alikes",
            hint="How near the nearest two rows lie, for each distance; dips are places that are "
            "easy to confuse.",
        ),
    ),
    notes=(
        (
            "A table is tested by its stripes",
            "For sinusoidal vectors the dot product of two positions is a sum of cosines of their "
            "distance, so each diagonal is constant up to rounding. With a wrong exponent or with "
            "sines alone it is not: try the mistakes.",
        ),
        (
            "Near is not always more alike",
            "The curve falls at first and then goes up and down: fast pairs come round again. "
            "Where many come round at once, two places far apart look alike.",
        ),
    ),
    python={
        "absolute": _BEGINNING
        + """table = encoding.encode(places)
if "{measure}" == "cosine":
    table /= np.linalg.norm(table, axis=-1, keepdims=True)
similarity = table @ table.T
""",
        "rotary": _BEGINNING
        + """contents = np.ones((2, encoding.dim), np.float32)
if "{content}" == "example":
    contents = np.random.default_rng(0).standard_normal(contents.shape).astype(np.float32)
query, key = (encoding.rotate(np.tile(one, (len(places), 1)), places) for one in contents)
similarity = query @ key.T
""",
        "bias": _BEGINNING + "similarity = encoding.bias(places, places)[{head}]\n",
        "any": PYTHON["any"] + "# Of rows that are vectors: table @ table.T\n",
    },
    answer=look_alikes,
    asks=("below", "head", "cells", "mistake"),
)
