"""Table: all numbers of an encoding at once, with cuts along a row and a column."""

from __future__ import annotations

from posenc.explorer.rooms.controls import PYTHON, TABLE
from posenc.explorer.rooms.room import Picture, Room

_ZOOM = {
    "name": "zoom",
    "label": "In sight",
    "group": "room",
    "default": "all",
    "options": [
        {"value": "all", "label": "all", "hint": "the whole table, a cell is whole pixels"},
        {"value": "64", "label": "64", "hint": "64 rows and columns around the cursor"},
        {"value": "16", "label": "16", "hint": "16 rows and columns around the cursor"},
    ],
}
_PIN = {
    "name": "pin",
    "label": "Pinned",
    "group": "room",
    "default": "",
    "most": 1000,
    "silent": True,
}

ROOM = Room(
    title="Table",
    question="What do all the numbers look like at once?",
    lead="One row for each position, one column for each number; of a bias, one row a query and "
    "one column a key. Move the cursor by slider or pointer and read the cuts beside it. Pin the "
    "settings, change them, and see in which cells the two tables differ.",
    first="sinusoidal",
    shows=lambda encoding: True,
    controls=(*TABLE, _ZOOM, _PIN),
    python=PYTHON,
    pictures=(
        Picture(view="matrix", title="The table", hint="Colour is the sign and size of a number."),
        Picture(view="vector", title="One row", hint="All numbers of the place under the cursor."),
        Picture(
            view="cut", title="One column", hint="The column under the cursor, from row to row."
        ),
        Picture(
            view="difference",
            title="Difference of two settings",
            hint="This table less the one that is pinned, cell by cell.",
        ),
    ),
    notes=(
        (
            "Stripes that are not there",
            "Where neighbouring columns alternate between sine and cosine, the eye makes stripes "
            "of them that no wave has. The half layout shows the same numbers without them. No "
            "cell is ever drawn narrower than its neighbour, so no stripe comes from the screen.",
        ),
    ),
)
