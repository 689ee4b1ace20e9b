"""Rotation: a query and a key, turned by their positions."""

from __future__ import annotations

from typing import Any

from posenc.explorer.recipes import numbers
from posenc.explorer.rooms.controls import (
    COLUMN,
    FROM,
    GAP,
    GRID,
    HEAD,
    POSITION,
    PYTHON,
    count_up_to,
)
from posenc.explorer.rooms.room import Picture, Room

_MOST = 256
"""The most positions of a key; the query stands up to as many further on."""

_GAP: dict[str, Any] = {
    "name": "gap",
    "label": GAP["label"],
    "group": "look",
    "unit": GAP["unit"],
    "bounds": {"size": "rows"},
    "default": GAP["default"],
}

_ROTARY = """import numpy as np
import posenc

encoding = {encoding}
query, key = np.random.default_rng(0).standard_normal((2, 1, encoding.dim)).astype(np.float32)
length = {start} + {count}
turned_key = encoding.rotate(key, np.asarray([{position}]), length=length)
turned_query = encoding.rotate(query, np.asarray([{position} + {gap}]), length=length)
score = float(turned_query[0] @ turned_key[0])
"""

# A rotary encoding got wrong is a matrix for each position.
_ANY = (
    PYTHON["any"]
    + """
mistake = {mistake}
if mistake is not None:
    import numpy as np
    from posenc import mistakes

    positions = np.arange({start}, {start} + 2 * {count})
    matrices = mistakes.numbers(encoding, positions, mistakes.named(mistake))
    query, key = np.random.default_rng(0).standard_normal((2, encoding.dim)).astype(np.float32)
    at = {position} - {start}
    score = float((matrices[at + {gap}] @ query) @ (matrices[at] @ key))
"""
)

ROOM = Room(
    title="Rotation",
    question="How does turning queries and keys make a score depend on distance alone?",
    lead="Each pair of numbers of a query and a key is a hand on a dial. Move the position: both "
    "hands turn alike, and the angle between them stays. Change the distance, and it does not.",
    first="rotary",
    shows=lambda encoding: numbers.family(encoding) == "rotary",
    controls=(
        POSITION,
        _GAP,
        COLUMN,
        HEAD,
        count_up_to(_MOST),
        FROM,
        GRID,
    ),
    pictures=(
        Picture(
            view="hands",
            title="A query and a key, turned",
            hint="One dial a pair, of many pairs only some; the one under the cursor is marked.",
        ),
        Picture(
            view="shares",
            title="What each pair adds",
            hint="A pair adds most when its two hands point the same way.",
        ),
        Picture(
            view="shifts",
            title="Both move, or one",
            hint="Only the distance counts if the score stays while both tokens move.",
        ),
        Picture(
            view="threads",
            title="Two pairings",
            hint="From each feature to the one that has its part in the other pairing.",
        ),
        Picture(
            view="mixed",
            title="Weights of one pairing run with the other",
            hint="The first token is right; from the second on, scores drift.",
        ),
        Picture(
            view="value",
            title="Values are not turned",
            hint="Only scores need positions; what is handed on stays as it is.",
        ),
    ),
    notes=(
        (
            "Why a pair does not care where it stands",
            "Turning both hands by the same angle leaves the angle between them, and with it the "
            "product. A query at m and a key at n differ by m − n steps of turning, whatever m "
            "and n are.",
        ),
        (
            "Moving weights between libraries",
            "The two pairings hold the same numbers in another order. The rows of the weights that "
            "make queries and keys are moved along the threads, once; values and outputs stay. "
            "posenc.convert does it.",
        ),
    ),
    python={"rotary": _ROTARY, "any": _ANY},
)
