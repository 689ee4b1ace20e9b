"""Similarity: how alike two positions are, and whether their distance alone decides it."""

from __future__ import annotations

from typing import Any

from posenc.explorer.rooms.controls import GRID, HEAD, POSITION, PYTHON, count_up_to
from posenc.explorer.rooms.room import Picture, Room
from posenc.explorer.rooms.similarity.alikes import FARTHEST, look_alikes

__all__ = ["MOST", "ROOM", "look_alikes"]

MOST = 256
"""The most places that are compared with each other in the picture."""

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


_BEGINNING = (
    "import numpy as np\nimport posenc\n\nencoding = {encoding}\nplaces = np.arange({count})\n"
)

# A rotary encoding got wrong is a matrix for each position.
_ANY = (
    PYTHON["any"]
    + """
mistake, family = {mistake}, recipes.recipe(encoding)["family"]
if family == "absolute":
    import numpy as np

    if "{measure}" == "cosine":
        lengths = np.linalg.norm(table, axis=-1, keepdims=True)
        table /= np.where(lengths > 0, lengths, 1)
    similarity = table @ table.T
elif family == "rotary" and mistake is not None:
    import numpy as np
    from posenc import mistakes

    matrices = mistakes.numbers(encoding, np.arange({count}), mistakes.named(mistake))
    contents = np.ones((2, encoding.dim), np.float32)
    if "{content}" == "example":
        contents = np.random.default_rng(0).standard_normal(contents.shape).astype(np.float32)
    query, key = (matrices @ one for one in contents)
    similarity = query @ key.T
elif family != "rotary":
    similarity = table
"""
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
        count_up_to(MOST),
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
            "distance, so each diagonal is constant up to rounding. With two speeds in a pair, or "
            "with sines alone, it is not: try the mistakes.",
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
query, key = (
    encoding.rotate(np.tile(one, (len(places), 1)), places, length={count}) for one in contents
)
similarity = query @ key.T
""",
        "bias": _BEGINNING + "similarity = encoding.bias(places, places)[{head}]\n",
        "any": _ANY,
    },
    answer=look_alikes,
    asks=("below", "head", "cells", "mistake"),
)
