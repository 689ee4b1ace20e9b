"""Precision: what narrow number formats leave of positions and of tables."""

from __future__ import annotations

from typing import Any

from posenc.explorer.rooms.controls import COLUMN, HEAD
from posenc.explorer.rooms.precision.answer import AMONG, FARTHEST, LOOKED_AT, NEAR, answer, shown
from posenc.explorer.rooms.room import Picture, Room

_POSITION: dict[str, Any] = {
    "name": "position",
    "label": "Position or distance",
    "group": "look",
    "unit": "tokens from the beginning",
    "min": 0,
    "max": FARTHEST,
    "step": 1,
    "stops": [0, *(2**power + more for power in range(3, 25) for more in (-1, 0, 1)), FARTHEST],
    "default": 257,
}
_FORMAT: dict[str, Any] = {
    "name": "format",
    "label": "Format",
    "group": "room",
    "default": "bfloat16",
    "options": [
        {"value": "float64", "label": "float64", "hint": "53 binary digits"},
        {"value": "float32", "label": "float32", "hint": "24 binary digits"},
        {"value": "float16", "label": "float16", "hint": "11 binary digits, up to 65,504"},
        {"value": "bfloat16", "label": "bfloat16", "hint": "8 binary digits, as far as float32"},
    ],
}
_CAST: dict[str, Any] = {
    "name": "cast",
    "label": "What is cast to it",
    "group": "room",
    "default": "positions",
    "options": [
        {
            "value": "positions",
            "label": "positions",
            "hint": "before the product: everything after it is exact",
        },
        {
            "value": "rates",
            "label": "frequencies or slopes",
            "hint": "before the product: the error grows with the position",
        },
        {
            "value": "products",
            "label": "products",
            "hint": "angles before sine and cosine, or slope times distance",
        },
        {"value": "every", "label": "every step", "hint": "as if the whole module were cast"},
        {"value": "end", "label": "the result", "hint": "after the product, as the last step"},
    ],
}

_BEGINNING = """import numpy as np
import posenc
from posenc import precision

def narrow(numbers):
    return numbers if "{format}" == "float64" else precision.rounded(numbers, "{format}")

encoding = {encoding}
positions = np.arange({position}, {position} + 16)
"""
_PYTHON = {
    "absolute": _BEGINNING
    + """right = encoding.encode(positions, dtype=np.float64)
cast_first = encoding.encode(narrow(positions), dtype=np.float64)
cast_last = narrow(right)
""",
    "rotary": _BEGINNING
    + """def table(positions):
    waves = encoding.table(positions, length={position} + 16, dtype=np.float64)
    return np.concatenate(waves, axis=-1)

right, cast_first = table(positions), table(narrow(positions))
cast_last = narrow(right)
""",
    "bias": _BEGINNING
    + """key = np.asarray([0])
right = encoding.bias(positions, key, dtype=np.float64)
cast_first = encoding.bias(narrow(positions).astype(np.int64), key, dtype=np.float64)
cast_last = narrow(right)
""",
    "any": """import posenc
from posenc.explorer.rooms.precision import answer

left = answer({encoding})
print(left["counted"]["{format}"], left["far"]["{format}"]["{cast}"])
""",
}

ROOM = Room(
    title="Precision",
    question="What is left of positions in half precision?",
    lead="A format of eight binary digits holds every whole number up to 256 and beyond it only "
    "some. Choose a format and what is cast to it: positions before the product, or the finished "
    "numbers at the end. For waves the first ruins far tokens and the last costs a little "
    "everywhere.",
    first="rotary",
    shows=shown,
    controls=(
        _POSITION,
        COLUMN | {"needs": "line", "default": 0},
        HEAD | {"default": 0},
        _FORMAT,
        _CAST,
    ),
    pictures=(
        Picture(
            view="holds",
            title="Whole numbers that the format holds",
            hint="Those around the position; the others move to the nearest.",
        ),
        Picture(
            view="stairs",
            title="One column around it",
            hint="As it is, and with what is cast.",
        ),
        Picture(
            view="lost",
            title="What is left",
            hint=f"Of the first {AMONG:,} positions, and of the numbers made of them.",
        ),
        Picture(
            view="errors",
            title="Largest error",
            hint="Positions to the right on a scale of doublings, pairs or heads downwards; up to "
            f"{LOOKED_AT} positions of each stretch are looked at.",
        ),
        Picture(
            view="far",
            title="Far out",
            hint=f"The largest error of all pairs or heads, {NEAR} positions before each place.",
        ),
    ),
    notes=(
        (
            "Cast last",
            "A number between -1 and 1 loses a few digits when the finished table is cast, the "
            "same at every position. A position that is cast first loses whole tokens, and the "
            "farther out the more.",
        ),
        (
            "A line has no way out",
            "A bias that falls with the distance is itself as large as a position. Cast at the "
            "end, ALiBi loses as many distances in bfloat16 as positions do; far away that hardly "
            "matters to a softmax. Keep it in float32, or compute it where it is added.",
        ),
        (
            "Whole modules get cast",
            "Calling half() or to(bfloat16) on a model casts the frequencies it keeps as a buffer, "
            "and positions may follow. posenc holds frequencies as Python floats, so there is "
            "nothing to cast.",
        ),
        (
            "float32 is not exact either",
            "An angle of a million radians in float32 is off by up to 0.03, so at that position "
            "the fastest pair is no better. posenc drops whole turns before it rounds anything.",
        ),
    ),
    python=_PYTHON,
    answer=answer,
)
