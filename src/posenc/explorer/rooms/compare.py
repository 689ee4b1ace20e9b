"""Compare: several encodings side by side, and what each of them keeps."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from posenc import _checks, mistakes, properties
from posenc.explorer.recipes import FARTHEST
from posenc.explorer.rooms.controls import GRID, HEAD, POSITION, PYTHON, count_up_to
from posenc.explorer.rooms.room import Picture, Room

FIRST = ("sinusoidal", "learned", "rotary", "alibi")
"""What a visitor sees side by side before choosing."""

_MOST = 128
"""The most places of one picture; several of them are drawn at once."""

LOOKED_AT = {
    "bounded": "Do its numbers keep their size, however far?",
    "distinct": "Does every place have numbers of its own?",
    "shift is linear": "Does one matrix take each position to the next? Yes if what it leaves is "
    "below 0.000001 of the whole.",
    "relative": "Does a score depend on the distance alone? Yes if it differs by less than "
    "0.000001 of the largest.",
    "tells direction": "Does it tell keys behind from keys ahead? Yes if scores differ by more "
    "than 0.000001 of the largest.",
    "decays": "Does a farther key always count less?",
    "defined beyond": "Are there numbers beyond the trained length?",
    "finishes every turn": "Has every pair turned once within the trained length?",
    "base bounds context": "Is a like key favoured over a random one, as far as the model was "
    "trained?",
    "numbers in half": "Do neighbours stay apart when the finished numbers are cast to half "
    "precision?",
    "positions in half": "Do positions stay apart when they are cast before anything else?",
}
"""What each property asks, in words."""

# The column of these pictures is a place, as the row is.
_OTHER: dict[str, Any] = {
    "name": "column",
    "label": "Compared with",
    "group": "look",
    "bounds": {"size": "rows"},
    "default": 4,
}
_KINDS: dict[str, Any] = {
    "name": "kinds",
    "silent": True,
    "label": "Side by side",
    "group": "room",
    "most": 300,
    "default": ",".join(FIRST),
}
_DRAWN: dict[str, Any] = {
    "name": "drawn_as",
    "label": "Drawn",
    "group": "room",
    "default": "scores",
    "options": [
        {
            "value": "scores",
            "label": "scores",
            "hint": "what the places of a query and a key make of their score: the same axes for "
            "all",
        },
        {"value": "numbers", "label": "numbers", "hint": "each table as it is"},
    ],
}
_TRAINED: dict[str, Any] = {
    "name": "trained",
    "label": "Trained length",
    "group": "room",
    "unit": "tokens",
    "min": 1,
    "max": FARTHEST,
    "step": 1,
    "stops": [2**power for power in range(5, 21)],
    "default": 512,
}


@functools.lru_cache(maxsize=64)
def board(encoding: Any, *, trained: str = "512") -> Mapping[str, Any]:
    """What an encoding keeps, computed by `posenc.check`.

    Args:
        encoding: any encoding.
        trained: tokens of the texts that a model was trained on, in words of an address.
    Returns:
        `properties`, each with name, asked, holds (true, false, or null where it cannot be told),
        value and sentence; `mistakes`, how many are known of it.
    Raises:
        ValueError: `trained` is no number of tokens.
    Example:
        >>> from posenc import Alibi
        >>> found = board(Alibi(heads=8), trained="512")["properties"]
        >>> [row["name"] for row in found if row["holds"]]
        ['distinct', 'relative', 'tells direction', 'decays', 'defined beyond']
    """
    found = properties.check(encoding, length=_tokens(trained)).to_data()["properties"]
    rows = [{**row, "asked": LOOKED_AT[row["name"]]} for row in found]
    return {"properties": rows, "mistakes": len(mistakes.of(encoding))}


def _tokens(text: str) -> int:
    try:
        length = int(text)
    except ValueError:
        raise ValueError(f"`trained` must be a number of tokens; got {text[:30]!r}.") from None
    _checks.integer("trained", length, at_least=1)
    if length > FARTHEST:
        raise ValueError(f"`trained` must be at most {FARTHEST}; got {length}.")
    return length


_CHECKED = "print(posenc.check(encoding, length={trained}))\n"

ROOM = Room(
    title="Compare",
    question="What do encodings have in common, and what does each of them keep?",
    lead="Choose encodings and see them side by side: what they make of every query and key, what "
    "they keep, computed and not believed, and where they are used. The one in the form can be "
    "changed; the others stand as they are usually met.",
    first="sinusoidal",
    shows=lambda encoding: True,
    controls=(
        POSITION,
        _OTHER,
        HEAD,
        _KINDS,
        _DRAWN,
        _TRAINED,
        count_up_to(_MOST),
        GRID,
    ),
    pictures=(
        Picture(
            view="multiples",
            title="Side by side",
            hint="The same places for all, drawn alike; colours reach up to the largest number of "
            "each. Below, the row under the cursor.",
        ),
        Picture(
            view="board",
            title="What each keeps",
            hint="Computed by posenc.check with numbers in float64; trained numbers are taken as "
            "they are before training.",
        ),
        Picture(
            view="facts",
            title="Where each is used",
            hint="What the papers say, and what follows from the formula.",
        ),
    ),
    notes=(
        (
            "Nothing is taken on trust",
            "Each answer is computed: rows of 512 positions are compared, scores are moved along "
            "the text, a matrix is fitted. Where an encoding needs more than positions, the board "
            "says so.",
        ),
        (
            "No column of yes",
            "What always favours near keys makes a far one hard to reach, and what knows every "
            "position by heart ends with its table. A model gets what its encoding keeps.",
        ),
    ),
    python={
        "absolute": PYTHON["absolute"] + _CHECKED,
        "rotary": PYTHON["rotary"] + _CHECKED,
        "bias": PYTHON["bias"] + _CHECKED,
        "any": PYTHON["any"] + _CHECKED,
    },
    answer=board,
    asks=("trained",),
)
