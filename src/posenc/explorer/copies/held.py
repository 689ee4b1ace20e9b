"""Which settings a saved copy of the explorer holds.

A copy has no library to ask. So a few values of each control are chosen, the numbers for all of
them together are written down (`shelves`), and the page of the copy offers no others.
"""

from __future__ import annotations

import copy
import functools
import json
import operator
from collections.abc import Mapping, Sequence
from typing import Any

from posenc import mistakes
from posenc.explorer import asked, fields, page, recipes
from posenc.explorer.methods import METHODS
from posenc.explorer.rooms import ROOMS, bias

Control = dict[str, Any]
Values = dict[str, Sequence[Any]]

PAIRS = 24
"""Rows and columns of an array with a number for each query and key."""
FEW = 12
"""Rows of tables got wrong, and of rotary ones with an array a head."""
SOME = 32
"""Rows of most other arrays."""
_WHOLE = 64
"""Rows that can be compared with the library's of tables that a formula or few numbers give."""
_LONGEST = 100_000
"""Characters of an answer; a room leaves out an encoding for which it has a longer one."""

_MOST = {"table": 96, "array": 4, "answer": 2}  # settings of one encoding
_ROOM = {"stretch": 9}  # and in a room that is all about them

WRONG = ("bugs",)
"""Rooms of whose answers those are held, too, that depend on a mistake."""

_NUMBERS: dict[str, tuple[float, ...]] = {
    "dim": (16, 64),
    "base": (10_000.0, 500_000.0),
    "octaves": (4, 10),
    "scale": (1.0, 10.0),
    "heads": (4, 8, 12),
    "buckets": (16, 32),
}
"""Numbers that a copy lets a visitor choose from; all others stay as they are at first."""

_ORDER: dict[str, tuple[str, ...]] = {
    "rotary": ("scaling", "layout", "base", "dim"),
    "sinusoidal": ("layout", "spacing", "base", "dim"),
    "learned_axes": (),
    "fourier_features": ("axes",),
    "t5": ("bidirectional", "buckets"),
    "kerple": (),
    "sandwich": (),
    "swin": (),
    "swin_v2": (),
    "mixed_rotary": (),
    "m_rotary": (),
    "transformer_xl": (),
    "deberta": (),
    "decomposed": (),
}
"""Which controls vary, where it is not the first ones. In large arrays no number does."""

_FARTHER = "rotation"
"""A room that looks as far again beyond its table: of an array it shows the first half as such."""

_PLACES = ("count", "from", "cells")
_NEVER = {"encoding": []}  # a condition that no setting meets


def content(name: str) -> dict[str, Any]:
    """The content of a room's page in a copy: the same, with controls that offer what is held.

    Args:
        name: one of `rooms.ROOMS`.
    Returns:
        As `page.content` has it; `offline` is true.
    Example:
        >>> dim = content("waves")["methods"]["sinusoidal"]["controls"][0]
        >>> [option["label"] for option in dim["options"]]
        ['16', '64']
    """
    here = copy.deepcopy(page.content(name))
    kinds = [kind for kind in here["methods"] if shown(name, kind)]
    here["room"]["encodings"] = kinds
    here["methods"] = {kind: here["methods"][kind] for kind in kinds}
    first = values(name, here["room"]["first"])
    here["room"]["begins"] = {
        each: value
        for each, value in here["room"]["begins"].items()
        if value in first.get(each, ())
    }
    free = [kind for kind in kinds if _kind(kind) != "array"]
    here["room"]["controls"] = [
        _of_room(control, name, free) for control in here["room"]["controls"]
    ]
    here["room"]["notes"].append(_note())
    for kind, method in here["methods"].items():
        method["data"] = fields.data(kind, {})  # as the shelves have it
        chosen = values(name, kind)
        hidden = {"mistake"} & {*ROOMS[name].asks} if name not in WRONG else set()
        controls = [one for one in method["controls"] if one["name"] not in hidden]
        wrong = any(control["name"] == "mistake" for control in controls)
        method["controls"] = [_of_encoding(kind, one, chosen, wrong=wrong) for one in controls]
        if name == _FARTHER:
            first = recipes.recipe(METHODS[kind].encoding)
            method["held"] = {"right": rows(first, "") if kind not in free else 0, "wrong": FEW}
        if kind not in free:
            method["tags"] = [tag for tag in method["tags"] if tag != "line"]
    return here | {"offline": True}


@functools.cache
def shown(name: str, kind: str) -> bool:
    """Whether a copy of a room shows an encoding."""
    if not ROOMS[name].shows(METHODS[kind].encoding):
        return False
    if ROOMS[name].answer is None:
        return True
    return len(json.dumps(answer(name, page.method(kind)["data"], {}))) <= _LONGEST


def values(name: str, kind: str) -> Values:
    """The values of each control of an encoding that a copy of a room holds.

    Args:
        name: one of `rooms.ROOMS`.
        kind: an encoding that the room shows.
    Returns:
        Values by the name of the control; those left out stay as they are at first.
    Example:
        >>> values("table", "t5")
        {'bidirectional': ['true', 'false'], 'buckets': [16, 32]}
    """
    large = _kind(kind) == "array"
    most = _MOST["array" if large else "table"]
    if ROOMS[name].answer is not None:
        most = min(most, _ROOM.get(name, _MOST["answer"]))
    controls = {control["name"]: control for control in fields.controls(kind)}
    chosen: Values = {}
    settings = 1
    for each in _ORDER.get(kind, controls):
        offered = () if large and "options" not in controls[each] else _offered(controls[each])
        if len(offered) > 1 and settings * len(offered) <= most:
            chosen[each] = offered
            settings *= len(offered)
    return chosen


def rows(recipe: Mapping[str, Any], mistake: str) -> int:
    """How many rows of a table a copy holds, or can compare where the table has no end."""
    if recipe["kind"] != "array":
        return _WHOLE
    if mistake or (recipe["family"] == "rotary" and recipe["heads"]):
        return FEW
    return PAIRS if recipe["family"] in ("bias", "term") else SOME


def asks(name: str) -> dict[str, Sequence[Any]]:
    """The values of each setting that a copy of a room asks its answers for.

    Example:
        >>> asks("stretch")
        {'original_length': [4096], 'wanted': [16384]}
    """
    own = {control["name"]: control for control in ROOMS[name].controls}
    found = {
        each: _values(_of_room(own[each], name, [])) for each in ROOMS[name].asks if each in own
    }
    return found | ({"mistake": [""]} if "mistake" in ROOMS[name].asks else {})


def answer(name: str, data: Mapping[str, Any], settings: Mapping[str, str]) -> Any:
    """What a room answers; settings that are not given are as they are at first."""
    if name == "bias" and _kind(data["kind"]) == "array":
        return bias.example_scores(recipes.built(data), most=PAIRS)
    usual = {
        control["name"]: str(control["default"])
        for control in ROOMS[name].controls
        if control["name"] in ROOMS[name].asks
    }
    return asked.answer(name, {"spec": json.dumps(data), **usual, **settings})


def _kind(kind: str) -> str:
    return recipes.recipe(METHODS[kind].encoding)["kind"]


def _offered(control: Control) -> Sequence[Any]:
    """What a copy offers of a control, if it varies it."""
    if "options" in control:
        return [option["value"] for option in control["options"]]
    some = _NUMBERS.get(control["name"], ())
    fitting = [value for value in some if control["min"] <= value <= control["max"]]
    return fitting if control["default"] in fitting else []


def _of_encoding(kind: str, control: Control, chosen: Values, *, wrong: bool) -> Control:
    if control["name"] == "mistake":
        made = {"", *(one.name for one in mistakes.of(METHODS[kind].encoding))}
        return control | {"options": [one for one in control["options"] if one["value"] in made]}
    when = control.get("when", {})
    if control["name"] not in chosen:
        return control | {"when": when | _NEVER}
    if wrong:  # a mistake is held for the encoding as it is at first
        when = when | {"mistake": [""]}
    limited = _limited(control, chosen[control["name"]])
    for option in limited["options"]:
        # With the fields inside, whose own controls are gone.
        if isinstance(option["data"], dict):
            whole = fields.data(kind, {control["name"]: option["value"]})
            option["data"] = functools.reduce(operator.getitem, control["path"], whole)
    return limited | {"when": when}


def _of_room(control: Control, name: str, free: list[str]) -> Control:
    when, asks = control.get("when", {}), ROOMS[name].asks
    if control["name"] == "count" and "count" in asks:
        rows = FEW if "mistake" in asks else PAIRS
        return control | {"default": rows, "when": when | _NEVER}
    if control["name"] in _PLACES:
        kinds = [] if control["name"] in asks else free
        # Mistakes are held from position 0 on, in one size.
        return control | {"when": when | {"encoding": kinds, "mistake": [""]}}
    if control["name"] not in asks:
        return control
    offered = _offered(control)
    if len(offered) > 1:
        return _limited(control, offered)
    return control | {"when": when | _NEVER}


def _values(control: Control) -> Sequence[Any]:
    """The values that a control of a room has in a copy."""
    if control.get("when", {}).get("encoding") == []:
        return [control["default"]]
    return _offered(control) or [control["default"]]


def _limited(control: Control, offered: Sequence[Any]) -> Control:
    """A control that offers no other values. A number of an encoding becomes a choice."""
    if "options" in control:
        return control | {"options": [one for one in control["options"] if one["value"] in offered]}
    if "path" not in control:
        low, high = offered  # of a room, where numbers must stay numbers
        return control | {"min": low, "max": high, "step": high - low, "stops": [low, high]}
    kept = {key: control[key] for key in ("name", "label", "path", "group")}
    options = [{"value": f"{one:.0f}", "label": f"{one:,.0f}", "data": one} for one in offered]
    return kept | {"options": options, "default": f"{control['default']:.0f}"}


def _note() -> dict[str, str]:
    return {
        "title": "A saved copy",
        "text": "This copy of the explorer holds a few values of each setting, and mistakes and "
        "trained tables in one size. All settings, and what reads files of yours, need the "
        "library: pip install 'posenc[explore]', then posenc explore.",
    }
