"""The controls of an encoding, made from the fields of its dataclass.

A new encoding has its controls by itself, as far as its fields are choices, switches, and numbers
that `ranges.RANGES` knows. What has no such form (a tuple, a number that may be None) has its
options in `options.CHOICES`, or no control if it is in `words.HIDDEN`.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
import typing
from collections.abc import Iterator
from typing import Any, Literal

from posenc import spec
from posenc.explorer.fields import options, words
from posenc.explorer.fields.place import Place
from posenc.explorer.fields.ranges import RANGES
from posenc.explorer.methods import METHODS
from posenc.explorer.recipes import ends

Control = dict[str, Any]
When = dict[str, list[str]]

_SHOWN_AT_ONCE = 5
"""Options that the page shows side by side; more go into a list to open."""


def controls(kind: str) -> list[Control]:
    """One control for each field of an encoding that a visitor may change, ready for JSON.

    name      its key in the address, unique for an encoding
    path      where its value goes in the data of the spec
    default   what it shows first
    when      the other settings under which it counts: a name, and values one of which that
              setting must have; left out where it always counts
    options   of a choice: `value` in the address, `label`, `hint`, and `data`, what goes to `path`;
              `select` is true where there are many
    min, max, step, stops, unit       of a number; `stops` are the places of its slider

    Args:
        kind: one of `posenc.spec.ENCODINGS`.
    Returns:
        In the order of the fields.
    Raises:
        KeyError: there is no such encoding.
    Example:
        >>> [control["name"] for control in controls("alibi")]
        ['heads', 'rule', 'direction', 'factor', 'exponent']
    """
    return copy.deepcopy(made(kind))


@functools.cache
def made(kind: str) -> list[Control]:
    """The same list each time, for those who only read it."""
    first = spec.to_data(METHODS[kind].encoding)
    return [_finished(control, _first(control, first)) for control in _of(kind, (), kind, {})]


def _finished(control: Control, default: Any) -> Control:
    finished = {"group": "encoding", **control, "default": default}
    if "stops" in control:
        finished["stops"] = sorted({*control["stops"], default})
    if len(control.get("options", ())) > _SHOWN_AT_ONCE:
        finished["select"] = True
    return finished


def _of(top: str, path: tuple[str, ...], kind: str, when: When) -> Iterator[Control]:
    """The controls of a kind of encoding or rule, which stands at `path` inside of `top`."""
    cls = (spec.ENCODINGS | spec.SCALINGS)[kind]
    types = typing.get_type_hints(cls)
    for field in dataclasses.fields(cls):
        place = Place(top, (*path, field.name), kind)
        if field.init and not words.hidden(place):
            yield from _made(place, types[field.name], when)


def _made(place: Place, annotation: Any, when: When) -> Iterator[Control]:
    control = {"name": words.name(place), "label": words.label(place), "path": list(place.path)}
    if when := when | (place.find(words.WHEN) or {}):
        control["when"] = when
    if kinds := place.find(words.KINDS):
        yield control | {"options": options.of_kinds(place, kinds)}
        yield from _of_kinds(place, kinds, when)
    elif place.field in spec.ENCODINGS:
        yield from _of(place.top, place.path, place.field, when)
    elif place.field == "sections":
        yield from _sections(control)
    elif place.field in ends.LISTS:
        yield from _ends(place, control)
    elif choices := options.of(place, _choices(annotation)):
        yield control | {"options": choices}
    elif (numbers := place.find(RANGES)) is not None:
        yield control | numbers
    else:
        raise LookupError(f"no table says how a visitor could change {place.keys[0]}")


def _of_kinds(place: Place, kinds: tuple[str, ...], when: When) -> list[Control]:
    """The controls of every kind that a field may hold; one that several have comes once."""
    name = words.name(place)
    found: dict[str, Control] = {}
    for kind in kinds:
        if kind == words.NONE:
            continue
        for control in _of(place.top, place.path, kind, when | {name: [kind]}):
            known = found.setdefault(control["name"], control)
            if known is not control:
                known["when"] = known["when"] | {name: [*known["when"][name], kind]}
    return list(found.values())


def _sections(control: Control) -> Iterator[Control]:
    """Sections add up to the pairs of the head, so every width has options of its own."""
    for dim, (name, choices) in options.SECTIONS.items():
        yield control | {"name": name, "when": {"dim": [dim]}, "options": choices}


def _ends(place: Place, control: Control) -> Iterator[Control]:
    """A list with a number a pair is described by the first and the last; see `recipes.ends`."""
    for end in ("first", "last"):
        one = Place(place.top, (*place.path, end), place.field)
        named = {"name": words.name(one), "label": words.label(one), "path": list(one.path)}
        yield control | named | RANGES[place.field]


def _choices(annotation: Any) -> tuple[Any, ...]:
    """What a field may hold, where its type says so; () for numbers and all else."""
    if annotation is bool:
        return (True, False)
    every = typing.get_args(annotation)
    if typing.get_origin(annotation) is Literal:
        return every
    # Alibi's direction is the Literal of all biases, or one more.
    parts = [_choices(part) for part in every]
    return tuple(choice for part in parts for choice in part) if all(parts) else ()


def _first(control: Control, first: dict[str, Any]) -> Any:
    """The value of a control for an encoding as data."""
    found: Any = first
    for name in control["path"]:
        if not isinstance(found, dict) or name not in found:
            return words.FIRST[control["name"]]
        found = found[name]
    if "options" not in control:
        return found
    fitting = [one["value"] for one in control["options"] if options.means(one, found)]
    return fitting[0] if fitting else control["options"][0]["value"]
