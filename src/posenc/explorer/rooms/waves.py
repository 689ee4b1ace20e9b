"""Waves: columns of the table, each followed from position to position."""

from __future__ import annotations

from posenc import evaluation
from posenc.explorer.rooms.controls import PYTHON, TABLE
from posenc.explorer.rooms.room import Picture, Room

ROOM = Room(
    title="Waves",
    question="How does one number of the code change from token to token?",
    lead="Each strip follows one column of the table along the text. Fast columns tell neighbours "
    "apart, slow ones tell the beginning from the end.",
    first="sinusoidal",
    shows=lambda encoding: evaluation.family(encoding) in ("absolute", "rotary"),
    controls=TABLE,
    python=PYTHON,
    pictures=(
        Picture(
            view="waves",
            title="Waves",
            hint="Some columns, each followed from position to position.",
        ),
        Picture(view="vector", title="One row", hint="All numbers of the place under the cursor."),
        Picture(view="matrix", title="All rows", hint="One row a place, one column a number."),
    ),
)
