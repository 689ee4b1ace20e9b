"""Bug lab: known mistakes as switches, and riddles of which mistake was made."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np

from posenc import mistakes, spec
from posenc.explorer.fields import needs
from posenc.explorer.recipes import arrays, made, mistaken
from posenc.explorer.rooms.bugs import riddles, symptoms
from posenc.explorer.rooms.controls import COLUMN, COUNT, FROM, HEAD, POSITION
from posenc.explorer.rooms.room import Picture, Room

_CASE: dict[str, Any] = {
    "name": "case",
    "label": "Case (0 is none)",
    "group": "room",
    "min": 0,
    "max": riddles.CASES,
    "step": 1,
    "default": 0,
}
_GUESS: dict[str, Any] = {
    "name": "guess",
    "label": "Diagnosis",
    "group": "room",
    "most": 60,
    "default": "",
    "silent": True,
}
_TOLD: dict[str, Any] = {
    "name": "told",
    "label": "The answer",
    "group": "room",
    "default": "no",
    "silent": True,
    "options": [{"value": "no", "label": "hidden"}, {"value": "yes", "label": "told"}],
}


def answer(
    encoding: Any,
    *,
    mistake: str = "",
    case: str = "0",
    guess: str = "",
    told: str = "no",
    start: str = "0",
    count: str = "64",
    head: str = "0",
) -> Mapping[str, Any]:
    """What there is to know of the mistakes of an encoding, and of one of them.

    Args:
        encoding: one with known mistakes.
        mistake: the name of the one that is looked at, or "".
        case: the number of a riddle, in words of an address as all that follows; 0 for none.
        guess: the name that a visitor believes to be the hidden one.
        told: "yes" to be told.
        start: the first position in sight.
        count: how many.
        head: which head, where heads differ.
    Returns:
        choices     every mistake that is made in this encoding, as `Mistake.to_data` gives it
        others      those that are made in it with other settings: besides, `settings` that do, and
                    `sets`, the same in words
        rooms       names of the other rooms that show this encoding
        mistake     what is said of the mistake; None without one, and while a riddle hides it
        where       see `symptoms.where`; None without a mistake, as is the curve
        measures    see `symptoms.measures`; [] without a mistake
        curve       see `symptoms.curve`
        identity    what `posenc.identify` says of it, see `riddles.identified`; None while hidden
        table       the numbers of a riddle, as a recipe; None outside of riddles
        judged      of a guess, see `riddles.judge`; None without one
    Raises:
        ValueError: `mistake` is not made in this encoding, or a number is out of range.
    Example:
        >>> from posenc import T5
        >>> found = answer(T5(heads=8), mistake="one direction")
        >>> [one["name"] for one in found["choices"]], found["mistake"]["severity"]
        (['directions swapped', 'one direction'], 'wrong')
    """
    riddle = None if mistake else riddles.hidden(encoding, int(case))
    wrong = mistaken.find(encoding, mistake or None) or riddle
    judged = riddles.judge(encoding, riddle, guess) if riddle and guess else None
    found = {
        "choices": [one.to_data() for one in mistakes.of(encoding)],
        "others": _others(encoding),
        "rooms": _rooms(encoding),
        "judged": judged,
        **dict.fromkeys(("mistake", "where", "curve", "identity", "table")),
        "measures": [],
    }
    if wrong is None:
        return found
    pair = symptoms.both(encoding, wrong)
    found |= {
        "where": symptoms.where(encoding, *pair),
        "measures": symptoms.measures(encoding, *pair),
        "curve": symptoms.curve(encoding, *pair, head=int(head)),
    }
    if riddle:
        seen = made.table(encoding, int(start), int(count), head=int(head), mistake=riddle.name)
        found["table"] = arrays.of(seen)
    if not riddle or told == "yes" or (judged and judged["right"]):
        found["mistake"] = wrong.to_data()
        found["identity"] = riddles.identified(encoding, wrong)
    return found


def tables(
    encoding: Any, *, start: int, count: int, head: int, mistake: str | None = None, case: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """The right table of the room and the wrong one, float32.

    Example:
        >>> from posenc import Sinusoidal
        >>> right, wrong = tables(Sinusoidal(dim=2), start=1, count=1, head=0, mistake="degrees")
        >>> [round(float(table[0, 0]), 4) for table in (right, wrong)]
        [0.8415, 0.0175]
    """
    wrong = mistaken.find(encoding, mistake) or riddles.hidden(encoding, case)
    name = wrong.name if wrong else None
    right, other = (
        made.table(encoding, start, count, head=head, mistake=each) for each in (None, name)
    )
    return right, other


@functools.lru_cache(maxsize=64)
def _others(encoding: Any) -> list[dict[str, Any]]:
    """The mistakes that need other settings than the present ones."""
    kind = spec.to_data(encoding)["kind"]
    cures = [(one, needs.needed(encoding, one)) for one in needs.idle(encoding)]
    return [
        {**one.to_data(), "settings": changes, "sets": needs.words(kind, changes)}
        for one, changes in cures
        if changes
    ]


def _rooms(encoding: Any) -> list[str]:
    from posenc.explorer.rooms import ROOMS  # which holds this room too

    draws = ("waves", "table", "similarity", "rotation", "bias")
    return [name for name in draws if name in ROOMS and ROOMS[name].shows(encoding)]


_PYTHON = """import posenc
from posenc.explorer.rooms import bugs

encoding = {encoding}
span = dict(start={start}, count={count}, head={head})
right, wrong = bugs.tables(encoding, **span, mistake={mistake}, case={case})
"""

ROOM = Room(
    title="Bug lab",
    question="What does a table look like that somebody got wrong, and how is it told?",
    lead="Mistakes that are made in code again and again, many of them with a public report. "
    "Switch one on and see it beside the right table, here and in the other rooms; or have one "
    "hidden and name it by its symptoms.",
    first="sinusoidal",
    shows=lambda encoding: bool(mistakes.of(encoding)),
    controls=(
        POSITION,
        COLUMN,
        HEAD,
        _CASE,
        _GUESS,
        _TOLD,
        COUNT,
        FROM,
    ),
    pictures=(
        Picture(
            view="catalogue",
            title="Mistakes",
            hint="Choose one: what is wrong, and what to do instead.",
        ),
        Picture(
            view="riddle",
            title="Diagnose",
            hint="A mistake is hidden, and a link shows the same one to everybody.",
        ),
        Picture(view="right", title="Right", hint="As the library computes it."),
        Picture(view="wrong", title="Wrong", hint="With the mistake, in the same colours."),
        Picture(view="astray", title="Difference", hint="Wrong less right, in colours of its own."),
        Picture(
            view="symptom",
            title="Symptoms",
            hint="What the mistake does to the laws that the right numbers keep.",
        ),
    ),
    notes=(
        (
            "Harmless is not the same as right",
            "A permutation of features changes no dot product, so a model trained with it loses "
            "nothing. Weights that were trained without it do not fit any more.",
        ),
        (
            "Some show only far out",
            "Positions in bfloat16 are exact up to 256. Move the first position, or read in the "
            "symptoms where the first difference lies.",
        ),
        (
            "The same test finds them in your code",
            "posenc.identify(table) names the encoding and the mistake of an array, and the room "
            "Name that table does so with a file.",
        ),
    ),
    python={"any": _PYTHON},
    answer=answer,
    asks=("mistake", "case", "guess", "told", "start", "count", "head"),
)
