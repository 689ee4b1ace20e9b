"""The page of one room: its content as data, and the same content as HTML."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from latex2mathml.converter import convert

from posenc import __version__, evaluation, mistakes, spec
from posenc.bipe import Bipe
from posenc.explorer import fields, fonts, methods, palette, recipes
from posenc.explorer.fields import needs
from posenc.explorer.methods import METHODS
from posenc.explorer.rooms import ROOMS
from posenc.explorer.rooms.controls import GROUPS
from posenc.explorer.still import still
from posenc.mistakes import Mistake
from posenc.xpos import XPos

HERE = Path(__file__).parent


def room(name: str) -> dict[str, Any]:
    """Everything that a room says and offers, ready for JSON.

    Args:
        name: one of `rooms.ROOMS`.
    Returns:
        Strings, numbers, lists and dicts. `encodings` lists the kinds it shows.
    Raises:
        KeyError: there is no such room.
    Example:
        >>> room("waves")["title"]
        'Waves'
    """
    one = ROOMS[name]
    return {
        "name": name,
        "title": one.title,
        "question": one.question,
        "lead": one.lead,
        "first": one.first,
        "begins": dict(one.begins),
        "encodings": [kind for kind, method in METHODS.items() if one.shows(method.encoding)],
        "controls": list(one.controls),
        "pictures": [vars(picture) for picture in one.pictures],
        "notes": [{"title": title, "text": text} for title, text in one.notes],
        "python": dict(one.python),
        "answers": one.answer is not None,
        "asks": list(one.asks),
    }


def method(kind: str) -> dict[str, Any]:
    """Everything that the page says of an encoding and lets a visitor set, ready for JSON.

    Args:
        kind: one of `posenc.spec.ENCODINGS`.
    Returns:
        Strings, numbers, lists and dicts; formulas as MathML.
    Raises:
        KeyError: there is no such encoding.
    Example:
        >>> method("rotary")["title"]
        'Rotary embedding (RoPE)'
    """
    one = METHODS[kind]
    return {
        "kind": kind,
        "name": one.name,
        "title": one.title,
        "lead": one.lead,
        "formulas": [convert(line, display="block") for line in one.formulas],
        "aloud": one.aloud,
        "steps": [{"name": step, "acts": step == one.acts} for step in methods.STEPS],
        "notes": [{"title": title, "text": text} for title, text in one.notes],
        "facts": dict(zip(methods.QUESTIONS, one.facts, strict=True)),
        "data": spec.to_data(one.encoding),
        "tags": tags(one.encoding),
        "controls": [*fields.controls(kind), *_mistakes(one.encoding)],
    }


def tags(encoding: Any) -> list[str]:
    """What an encoding has, as controls and pictures ask for it in `needs`.

    Its family, and: "heads" where heads differ; "slopes" where each head has one number;
    "distance" where a bias depends on the distance alone; "grid" where positions are cells;
    "line" where a table can begin at any position; "plain" where positions are all it needs.

    Example:
        >>> from posenc import Alibi
        >>> tags(Alibi(heads=8))
        ['bias', 'heads', 'slopes', 'distance', 'plain']
    """
    found = recipes.recipe(encoding)
    grid = evaluation.axes(encoding) > 0
    holds = {
        found["family"]: True,
        "heads": found["heads"] > 1,
        "slopes": found["kind"] == "bias",
        "distance": found["kind"] in ("bias", "gaps"),
        "grid": grid,
        "line": found["family"] in ("absolute", "rotary") and not grid,
        "plain": not (grid or found["note"] or found["family"] == "term")
        and not isinstance(encoding, XPos | Bipe),
    }
    return [name for name, it in holds.items() if it]


def content(name: str) -> dict[str, Any]:
    """What the script of the page needs: the room, every encoding it shows, and the colours.

    Example:
        >>> list(content("bias")["methods"])[0]
        'alibi'
    """
    here = room(name)
    return {
        "room": here,
        "methods": {kind: _method(kind) for kind in here["encodings"]},
        "groups": GROUPS,
        "elsewhere": sorted({one["name"] for other in ROOMS.values() for one in other.controls}),
        "colours": {theme: palette.colours(theme) for theme in ("light", "dark")},
    }


@functools.cache
def render(name: str, *, lessons: bool = False) -> str:
    """The page of a room as HTML, with a link to `lessons` if there are; the front page for "".

    Example:
        >>> render("waves").splitlines()[0]
        '<!doctype html>'
    """
    return html(name, content(name) if name else {}, lessons=lessons)


@functools.cache
def font() -> bytes:
    """The font of every formula, as WOFF."""
    every = (formula for kind in METHODS for formula in _method(kind)["formulas"])
    return fonts.maths(fonts.signs(every))


def html(name: str, here: dict[str, Any], *, lessons: bool = False) -> str:
    """The page of a room with other content than its own; see `render` and `content`."""
    common = {
        "version": __version__,
        "lessons": lessons,
        "rooms": [{"name": other, **vars(ROOMS[other])} for other in ROOMS],
    }
    if not name:
        return _environment().get_template("front.html").render(common)
    first = here["methods"][here["room"]["first"]]
    styled = (HERE / "static" / f"{name}.css").exists()
    groups = {
        group: shown
        for group, kinds in methods.GROUPS.items()
        if (shown := [here["methods"][kind] for kind in kinds if kind in here["methods"]])
    }
    own = {
        "page": here,
        "first": first,
        "families": groups,
        "styled": styled,
        "still": still(METHODS[first["kind"]].encoding),
    }
    return _environment().get_template("page.html").render(common | here["room"] | own)


@functools.cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.policies["json.dumps_kwargs"] = {"sort_keys": False}  # order is what one sees
    return environment


_method = functools.cache(method)


def _mistakes(encoding: Any) -> list[dict[str, Any]]:
    known = [one for one in mistakes.MISTAKES if type(encoding) in one.kinds]
    if not known:
        return []
    none = {"value": "", "label": "none", "hint": "as the library computes it"}
    options = [
        {"value": one.name, "label": one.name, "hint": one.sentence} | _set_along(encoding, one)
        for one in known
    ]
    return [
        {
            "name": "mistake",
            "label": "Mistake",
            "group": "encoding",
            "default": "",
            "select": True,
            "options": [none, *options],
        }
    ]


def _set_along(encoding: Any, mistake: Mistake) -> dict[str, Any]:
    """What choosing a mistake changes that is not made in an encoding as it is at first.

    `sets` are names of settings, each with the value that is changed and the one it gets; `says`
    is the same in words.
    """
    kind = spec.to_data(encoding)["kind"]
    idle = mistake in needs.idle(encoding)
    changes = needs.needed(encoding, mistake) if idle else None
    if not changes:
        return {}
    first = {control["name"]: control["default"] for control in fields.controls(kind)}
    sets = [{"name": name, "from": first[name], "to": to} for name, to in changes.items()]
    return {"sets": sets, "says": needs.words(kind, changes)}
