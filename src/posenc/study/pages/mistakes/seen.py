"""How each room of the explorer shows a mistake, and the settings at which one sees it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import numpy as np

from posenc import evaluation, spec
from posenc.explorer import fields, recipes
from posenc.explorer.methods import METHODS
from posenc.explorer.rooms import ROOMS
from posenc.mistakes import Mistake
from posenc.study.pages.mistakes.smallest import written

_DIFFERS = 0.05  # what can be seen in a picture whose numbers lie around one
_COUNT = 64
_STARTS = (224, 2016, 16_352, 131_040)  # each a little before a power of two
_MANY = 288  # a bias is looked at whole, and bfloat16 has no distance of 257
_BIASES = ("alibi", "t5")


@dataclass(frozen=True, kw_only=True)
class Seen:
    """A mistake in a room.

    Args:
        room: the name of the room.
        title: its name on the page.
        state: the address that opens it there.
        words: what one sees.
    """

    room: str
    title: str
    state: str
    words: str


@dataclass(frozen=True, kw_only=True)
class _Place:
    """Where the tables of a room differ: the first row in which one sees it."""

    start: int
    row: int
    column: int
    right: np.ndarray
    wrong: np.ndarray

    @property
    def position(self) -> int:
        return self.start + self.row

    @property
    def both(self) -> str:
        """The two numbers, in words."""
        right, wrong = (table[self.row, self.column] for table in (self.right, self.wrong))
        return f"{written(float(wrong))} instead of {written(float(right))}"


def seen(mistake: Mistake, settings: Mapping[str, Any]) -> Iterator[Seen]:
    """The rooms that show a mistake, in the order of a visit.

    Args:
        mistake: the mistake.
        settings: of the encoding, where its usual ones do not have the mistake.
    """
    for name, words in _WORDS.items():
        kind = _kind(mistake, name)
        if kind and (place := _place(name, kind, mistake, settings)):
            state = _state(name, kind, mistake, settings, place)
            yield Seen(room=name, title=ROOMS[name].title, state=state, words=words(place))


def _kind(mistake: Mistake, room: str) -> str | None:
    """The first encoding with the mistake that a room shows."""
    for kind, method in METHODS.items():
        # What is added to scores has no rows whose likeness could be drawn.
        fits = room != "similarity" or evaluation.family(method.encoding) != "bias"
        if fits and type(method.encoding) in mistake.kinds and ROOMS[room].shows(method.encoding):
            return kind
    return None


def _place(room: str, kind: str, mistake: Mistake, settings: Mapping[str, Any]) -> _Place | None:
    """Where the right and the wrong table of a room differ, or None."""
    encoding = spec.from_data(fields.data(kind, settings))
    controls = {control["name"]: control for control in ROOMS[room].controls}
    head = controls["head"]["default"] if kind in _BIASES else 0
    for start, count in _spans(kind, controls):
        right, wrong = (
            recipes.table(encoding, start, count, head=head, mistake=name).astype(float)
            for name in (None, mistake.name)
        )
        differs = ~np.isclose(right, wrong, rtol=0, atol=_DIFFERS)
        if differs.any():
            row = int(differs.any(axis=1).argmax())
            apart = np.abs(
                np.nan_to_num(wrong[row], neginf=0) - np.nan_to_num(right[row], neginf=0)
            )
            column = int(apart.argmax())
            return _Place(start=start, row=row, column=column, right=right, wrong=wrong)
    return None


def _spans(kind: str, controls: Mapping[str, Any]) -> Iterator[tuple[int, int]]:
    """First positions and numbers of them at which a room is looked at, the nearest first."""
    yield 0, _COUNT
    if kind in _BIASES and controls["count"]["max"] >= _MANY:
        yield 0, _MANY
    elif kind not in _BIASES and "from" in controls:
        yield from ((start, _COUNT) for start in _STARTS)


def _state(
    room: str, kind: str, mistake: Mistake, settings: Mapping[str, Any], place: _Place
) -> str:
    controls = {control["name"] for control in ROOMS[room].controls}
    given = {"v": 1, "encoding": kind, **settings, "mistake": mistake.name}
    given |= {"position": place.position, "column": place.column, "count": len(place.right)}
    if place.start:
        given["from"] = place.start
    if room == "waves":
        given["waves"] = place.column
    known = {"v", "encoding", "mistake", "waves", *settings, *controls}
    text = "&".join(f"{name}={quote(str(given[name]))}" for name in given if name in known)
    return f"{room}#{text}"


def _waves(place: _Place) -> str:
    return f"Column {place.column} at position {place.position} is {place.both}."


def _table(place: _Place) -> str:
    cells = place.right.size
    count = cells - np.count_nonzero(np.isclose(place.right, place.wrong, rtol=0, atol=1e-4))
    return f"{count:,} of {cells:,} cells have another number, to four digits."


def _clock(place: _Place) -> str:
    return f"Go to position {place.position}, switch the mistake off and on, and watch a hand jump."


def _similarity(place: _Place) -> str:
    right, wrong = (table @ table.T for table in (place.right, place.wrong))
    if np.allclose(right, wrong, rtol=0, atol=1e-3):
        return "Nothing: no dot product of two positions changes, so this room cannot find it."
    if np.ptp(wrong) < _DIFFERS:
        return "One colour all over: no two positions can be told apart."
    spread = max(np.ptp(np.diagonal(wrong, gap)) for gap in range(len(wrong)))
    if spread > _DIFFERS:
        return (
            "The stripes break: the distance alone no longer decides how alike two positions are."
        )
    return "The stripes stay, with other numbers: the distance still decides, in another way."


def _rotation(place: _Place) -> str:
    return f"At position {place.position} the hands point elsewhere; switch the mistake off and on."


def _bias(place: _Place) -> str:
    return f"It adds {place.both} where query {place.position} meets key {place.column}."


def _bugs(place: _Place) -> str:
    return "Right, wrong and the difference side by side, with the laws that it breaks."


_WORDS: dict[str, Callable[[_Place], str]] = {
    "waves": _waves,
    "table": _table,
    "clock": _clock,
    "similarity": _similarity,
    "rotation": _rotation,
    "bias": _bias,
    "bugs": _bugs,
}
"""What the rooms that make mistakes say of one."""
