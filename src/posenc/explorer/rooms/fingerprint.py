"""Name that table: which encoding made a table, and whether a known mistake is in it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from posenc import mistakes
from posenc.alibi import Alibi
from posenc.explorer import naming
from posenc.explorer.rooms.controls import PYTHON
from posenc.explorer.rooms.room import Picture, Room
from posenc.rotary import Rotary
from posenc.sinusoidal import Sinusoidal

_ROWS = 40  # of the examples


def _rotary() -> np.ndarray:
    cosines, sines = Rotary(dim=16, base=500_000.0).table(np.arange(_ROWS))
    return np.concatenate([cosines, sines], axis=-1)


EXAMPLES: dict[str, Callable[[], np.ndarray]] = {
    "1": lambda: Sinusoidal(dim=16, base=500.0, layout="half").encode(np.arange(_ROWS)),
    "2": lambda: Alibi(heads=12).bias(np.arange(24), np.arange(24)),
    "3": _rotary,
    "4": lambda: mistakes.numbers(
        Sinusoidal(dim=16), np.arange(_ROWS), mistakes.named("cosine has its own exponent")
    ),
    "5": lambda: np.random.default_rng(0).standard_normal((_ROWS, 16)),
}
"""Tables to guess. The fourth has a mistake; the last is noise, as a trained table looks."""

_EXAMPLE: dict[str, Any] = {
    "name": "example",
    "label": "Example",
    "group": "room",
    "default": "",
    "silent": True,
    "options": [
        {"value": "", "label": "none"},
        *({"value": name, "label": f"table {name}"} for name in EXAMPLES),
    ],
}
_SHOWN: dict[str, Any] = {
    "name": "shown",
    "label": "Its name",
    "group": "room",
    "default": "no",
    "silent": True,
    "options": [{"value": "no", "label": "not yet"}, {"value": "yes", "label": "shown"}],
}
# A table that was given is none of the settings: its cursor is another one.
_PLACE: dict[str, Any] = {"group": "look", "min": 0, "max": naming.SHOWN - 1, "step": 1}
_ROW = _PLACE | {"name": "row", "label": "Row", "default": 10}
_COLUMN = _PLACE | {"name": "across", "label": "Column", "default": 4}


def answer(encoding: Any, *, example: str = "") -> Mapping[str, Any]:
    """An example and its name.

    Args:
        encoding: the one of the settings, which does not matter.
        example: one of `EXAMPLES`, or "" for none.
    Returns:
        See `naming.named`; and `source`, its name on the page. Nothing of no example.
    Raises:
        ValueError: there is no such example.
    Example:
        >>> answer(None, example="1")["best"]["text"]
        'sinusoidal:dim=16,base=500.0,layout=half'
    """
    if not example:
        return {}
    if example not in EXAMPLES:
        raise ValueError(f"`example` must be one of {', '.join(EXAMPLES)}; got {example[:30]!r}.")
    return _named(example)


@functools.cache
def _named(example: str) -> dict[str, Any]:
    return {"source": f"Table {example}"} | naming.named(EXAMPLES[example]())


ROOM = Room(
    title="Name that table",
    question="Which encoding made this table, and is there a mistake in it?",
    lead="Drop a .npy or CSV file, or paste rows of numbers: the library compares it with every "
    "encoding it knows and with every known mistake. Nothing leaves this machine. Without a file, "
    "guess the examples.",
    first="sinusoidal",
    shows=lambda encoding: bool(mistakes.of(encoding)),
    controls=(_ROW, _COLUMN, _EXAMPLE, _SHOWN),
    pictures=(
        Picture(
            view="handed",
            title="A table to name",
            hint="Position vectors, cosines and sines, biases, bucket numbers or frequencies.",
        ),
        Picture(view="given", title="What was given", hint="Its beginning, one cell a number."),
        Picture(view="named", title="Its name", hint="The best guess, and what it leaves over."),
    ),
    notes=(
        (
            "What is left over",
            "The part of the numbers' spread that the guess leaves unexplained: 0 is an equal "
            "table, rounding leaves a millionth, and above one part in twenty nothing is "
            "recognised.",
        ),
        (
            "A trained table has no name",
            "Learned vectors follow no formula, so the answer is that no known encoding fits. That "
            "is what it should be.",
        ),
        (
            "In your own tests",
            "posenc.identify takes an array or a file, and posenc identify table.npy does the same "
            "in a shell: its exit status is 1 where a mistake is found.",
        ),
    ),
    python={"any": PYTHON["any"] + "print(posenc.identify(table))\n"},
    answer=answer,
    asks=("example",),
)
