"""Clock: every pair of numbers as the hand of a clock."""

from __future__ import annotations

from typing import Any

from posenc.explorer import recipes
from posenc.explorer.rooms.controls import COLUMN, COUNT, FROM, GRID, HEAD, POSITION, PYTHON
from posenc.explorer.rooms.room import Picture, Room

_SPEED: dict[str, Any] = {
    "name": "speed",
    "label": "Speed of play",
    "group": "room",
    "unit": "positions a second",
    "min": 1,
    "max": 30,
    "step": 1,
    "default": 4,
}
_TRAIL: dict[str, Any] = {
    "name": "trail",
    "label": "Trail",
    "group": "room",
    "unit": "positions back",
    "min": 0,
    "max": 24,
    "step": 1,
    "default": 6,
}

ROOM = Room(
    title="Clock",
    question="How do slow and fast numbers together tell where a token stands?",
    lead="Each pair of a sine and a cosine is the hand of a clock. It points to twelve where the "
    "angle is 0 and goes on by the same angle with every step: the fast pairs like a second hand, "
    "the slow ones slower than an hour hand. Play, or move the position.",
    first="sinusoidal",
    # What has no pairs of columns, as learned tables and biases, has no hands.
    shows=lambda encoding: bool(recipes.recipe(encoding).get("columns")),
    controls=(POSITION, COLUMN, HEAD, _SPEED, _TRAIL, COUNT, FROM, GRID),
    pictures=(
        Picture(
            view="clocks",
            title="All pairs",
            hint="Across is the sine, up the cosine. The first turn of a dial fills it; a full "
            "dial has finished it.",
        ),
        Picture(
            view="odometer",
            title="Odometer",
            hint="Tenths of a turn of some pairs, the slowest in front as in a mileage counter.",
        ),
        Picture(
            view="turns",
            title="When each pair finishes its first turn",
            hint="One dot a pair; each line across is ten times as far.",
        ),
    ),
    notes=(
        (
            "One hand is not enough",
            "A fast hand tells neighbours apart and is soon where it was before. A slow one never "
            "repeats and hardly moves from token to token. Together they do both, as the digits "
            "of a number do.",
        ),
        (
            "Hands that never come round",
            "A pair that has not finished a turn in the longest text of training has shown a model "
            "only a part of its dial. Beyond that length it points where it never did before: this "
            "is what methods for longer texts mend.",
        ),
        (
            "No carry",
            "In a mileage counter a wheel waits until the one behind it has gone round. Here "
            "all roll all the time, so every wheel says a little about every step.",
        ),
    ),
    python=PYTHON,
)
