"""Rooms of the explorer at some settings, read as the page itself reads its address.

What the page would mend with a notice, the site refuses when it is built: a lesson must open a room
exactly as it was written.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from posenc.explorer import fields, page, recipes
from posenc.explorer.fields.settings import active
from posenc.explorer.recipes.spans import heads
from posenc.explorer.rooms import ROOMS

VERSION = "1"
_LONGEST = 300  # characters of a teacher's question
_ALWAYS = ("v", "encoding", "waves", "hide", "ask")
_NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?", re.IGNORECASE)
_KINDS = {"any": "a number", 1: "a whole number", 2: "an even number"}

Control = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Opened:
    """A room that has been opened.

    Args:
        room: its name.
        kind: the encoding that it shows.
        values: every setting by its name.
        given: those that the address names, as texts.
    """

    room: str
    kind: str
    values: Mapping[str, Any]
    given: Mapping[str, str]

    @property
    def encoding(self) -> Any:
        """The encoding that the settings describe."""
        own = {control["name"] for control in fields.controls(self.kind)}
        chosen = {name: value for name, value in self.values.items() if name in own}
        return recipes.built(fields.data(self.kind, chosen))


def opened(target: str) -> Opened:
    """The room that an address opens, such as "waves#v=1&dim=8".

    Raises:
        LookupError: the room is not there, or a setting is not one that it has or can take; says
            which and what it takes.
    Example:
        >>> opened("waves#v=1&dim=8").values["dim"]
        8
    """
    name, _, text = target.partition("#")
    if name not in ROOMS:
        raise LookupError(f"there is no room {name!r}; there are {', '.join(ROOMS)}.")
    given = dict(parse_qsl(text, keep_blank_values=True))
    if given.get("v", VERSION) != VERSION:
        raise LookupError(f"v must be {VERSION}, not {given['v']!r}.")
    kind = given.get("encoding", ROOMS[name].first)
    if kind not in _content(name)["methods"]:
        raise LookupError(f"the room {name!r} does not show the encoding {kind!r}.")
    found = Opened(room=name, kind=kind, values=_values(name, kind, given), given=given)
    _check_always(found)
    _check_bounds(found)
    return found


def _values(name: str, kind: str, given: Mapping[str, str]) -> dict[str, Any]:
    """Every setting of a room, those of the address checked where their range stands alone."""
    controls = [*ROOMS[name].controls, *_content(name)["methods"][kind]["controls"]]
    values = {control["name"]: control["default"] for control in controls}
    if kind == ROOMS[name].first:
        values |= ROOMS[name].begins
    left = {one: text for one, text in given.items() if one not in _ALWAYS}
    # A setting can switch others on, so each round may find more to read.
    while ready := [one for one in _active(name, kind, values) if one["name"] in left]:
        control = next((one for one in ready if "bounds" not in one), ready[0])
        values[control["name"]] = _value(control, left.pop(control["name"]))
    if left:
        raise LookupError(f"the room {name!r} has no setting {', '.join(sorted(left))} here.")
    return values


def _active(name: str, kind: str, values: Mapping[str, Any]) -> list[Control]:
    """The controls that count for an encoding under the other settings."""
    method = _content(name)["methods"][kind]
    needed = {None, *method["tags"]}
    own = [one for one in ROOMS[name].controls if one.get("needs") in needed]
    return [one for one in (*own, *method["controls"]) if active(one, values)]


def _value(control: Control, text: str) -> Any:
    name = control["name"]
    if "options" in control:
        known = [option["value"] for option in control["options"]]
        if text not in known:
            raise LookupError(f"{name} must be one of {', '.join(map(repr, known))}; got {text!r}.")
        return text
    if "most" in control:
        if len(text) > control["most"]:
            raise LookupError(f"{name} must have at most {control['most']} characters.")
        return text
    if "bounds" in control:  # checked when all others are known
        return _number(control, text, 0, math.inf)
    return _number(control, text, control["min"], control["max"])


def _number(control: Control, text: str, low: float, high: float) -> float:
    step = control.get("step", 1)
    number = float(text) if _NUMBER.fullmatch(text) else math.nan
    if not (low <= number <= high and (step == "any" or _stands(number, low, step))):
        kind = _KINDS.get(step, f"a multiple of {step}")
        raise LookupError(f"{control['name']} must be {kind} from {low} to {high}; got {text!r}.")
    return int(number) if number.is_integer() else number


def _stands(number: float, low: float, step: float) -> bool:
    """Whether a number is one of those that the steps from the lowest on reach."""
    return low + round((number - low) / step) * step == number


def _check_always(found: Opened) -> None:
    """What every room takes beside its controls: columns, hidden fields, a question."""
    if len(found.given.get("ask", "")) > _LONGEST:
        raise LookupError(f"ask must have at most {_LONGEST} characters.")
    known = {"encoding", *found.values}
    hidden = found.given["hide"].split(",") if "hide" in found.given else []
    if unknown := sorted(set(hidden) - known):
        raise LookupError(f"the room {found.room!r} has no setting {', '.join(unknown)} to hide.")


def _check_bounds(found: Opened) -> None:
    """Settings that point into the table, which must reach so far."""
    pointing = [
        control
        for control in _active(found.room, found.kind, found.values)
        if "bounds" in control and control["name"] in found.given
    ]
    waves = [text for text in found.given.get("waves", "").split(",") if text]
    if not (pointing or waves):
        return
    sizes = _sizes(found)
    for control in pointing:
        bounds = control["bounds"]
        low = found.values.get(bounds.get("from"), 0)
        high = low + sizes.get(bounds["size"], math.inf) - 1
        _number(control, found.given[control["name"]], low, high)
    for wave in waves:
        _number({"name": "waves"}, wave, 0, sizes["columns"] - 1)


def _sizes(found: Opened) -> dict[str, int]:
    """How many rows, columns and heads the table of the room has."""
    values, encoding = found.values, found.encoding
    line = "line" in _content(found.room)["methods"][found.kind]["tags"]
    start, count = values.get("from", 0) if line else 0, values.get("count", 64)
    options = {"head": values.get("head", 0), "grid": values.get("cells", 8)}
    try:
        rows, columns = recipes.table(encoding, start, count, **options).shape
    except ValueError as error:
        raise LookupError(str(error)) from error
    return {"rows": rows, "columns": columns, "heads": heads(encoding)}


@functools.cache
def _content(name: str) -> dict[str, Any]:
    return page.content(name)
