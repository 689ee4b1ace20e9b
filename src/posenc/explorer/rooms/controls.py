"""The settings that rooms share: where to look, and how much of it.

A control is a dict. `name` is its key in the address, `label` what the page calls it, `group` the
heading it stands under, `default` its first value. A number has `min`, `max` and `step`, or
`bounds` made of other settings; `stops` are the places of a slider whose values are not evenly
spaced. A choice has `options`, a text `most` characters; what is `silent` has no field in the form.
`needs` names what an encoding must have for it (`posenc.explorer.page.tags`); `axis` says that its
label is the name of the table's row or column.
"""

from __future__ import annotations

from typing import Any

from posenc.explorer import recipes

GROUPS = {
    "look": "Where to look",
    "room": "This room",
    "encoding": "The encoding",
    "table": "The table",
}

_ROWS = [8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, recipes.ROWS]

POSITION: dict[str, Any] = {
    "name": "position",
    "label": "Position",
    "axis": "row",
    "group": "look",
    "bounds": {"from": "from", "size": "rows"},
    "default": 10,
}
COLUMN: dict[str, Any] = {
    "name": "column",
    "label": "Column",
    "axis": "column",
    "group": "look",
    "bounds": {"size": "columns"},
    "default": 4,
}
HEAD: dict[str, Any] = {
    "name": "head",
    "label": "Head",
    "group": "look",
    "needs": "heads",
    "bounds": {"size": "heads"},
    "default": 3,
}
GAP: dict[str, Any] = {
    "name": "gap",
    "label": "Distance to query",
    "group": "look",
    "unit": "positions",
    "min": 0,
    "max": recipes.ROWS,
    "step": 1,
    "default": 5,
}
COUNT: dict[str, Any] = {
    "name": "count",
    "label": "Positions shown",
    "group": "table",
    "unit": "rows",
    "min": 1,
    "max": recipes.ROWS,
    "step": 1,
    "stops": _ROWS,
    "default": 64,
}


def count_up_to(most: int) -> dict[str, Any]:
    """How many positions are shown, in a room that draws fewer of them than others.

    Example:
        >>> count_up_to(16)["stops"]
        [8, 12, 16]
    """
    return COUNT | {"max": most, "stops": [stop for stop in _ROWS if stop <= most]}


FROM: dict[str, Any] = {
    "name": "from",
    "label": "First position",
    "group": "table",
    "needs": "line",
    "min": 0,
    "max": recipes.FARTHEST,
    "step": 1,
    "stops": [0, *(2**power for power in range(6, 31)), recipes.FARTHEST],
    "default": 0,
}
GRID: dict[str, Any] = {
    "name": "cells",
    "label": "Cells in a row",
    "group": "table",
    "needs": "grid",
    "min": 1,
    "max": 64,
    "step": 1,
    "default": 8,
}
TABLE = (POSITION, COLUMN, HEAD, COUNT, FROM, GRID)
"""What a room needs that shows one table."""

_BEGINNING = "import numpy as np\nimport posenc\n\nencoding = {encoding}\n"
_ANY = """import posenc
from posenc.explorer import recipes

encoding = {encoding}
table = recipes.table(encoding, {start}, {count}, head={head}, grid={grid}, mistake={mistake})
"""
PYTHON = {
    "absolute": _BEGINNING + "table = encoding.encode(np.arange({start}, {start} + {count}))\n",
    "rotary": _BEGINNING
    + """positions = np.arange({start}, {start} + {count})
cos, sin = encoding.table(positions, length={start} + {count})
table = np.concatenate([cos, sin], axis=-1)
""",
    "bias": _BEGINNING + "table = encoding.bias(np.arange({count}), np.arange({count}))[{head}]\n",
    "any": _ANY,
}
"""The Python of a room that shows one table; "any" also knows weights, grids and mistakes."""
