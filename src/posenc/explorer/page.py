"""The page of one method: its content as data, and the same content as HTML."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from latex2mathml.converter import convert

from posenc import __version__, spec
from posenc.explorer import methods, palette, recipes
from posenc.explorer.methods import METHODS

HERE = Path(__file__).parent

_ROWS = [8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, recipes.ROWS]


def page(kind: str) -> dict[str, Any]:
    """Everything that the page of a method says and offers.

    Args:
        kind: one of `methods.METHODS`.
    Returns:
        Strings, numbers, lists and dicts, ready for JSON and for the template.
    Raises:
        KeyError: there is no such method.
    Example:
        >>> page("rotary")["title"]
        'Rotary embedding (RoPE)'
    """
    method = METHODS[kind]
    first = spec.to_data(method.encoding) | method.defaults
    controls = [{"field": False} | _CONTROLS[name] | {"name": name} for name in method.controls]
    return {
        "kind": kind,
        "version": __version__,
        "title": method.title,
        "lead": method.lead,
        "formulas": [convert(line, display="block") for line in method.formulas],
        "aloud": method.aloud,
        "steps": [{"name": step, "acts": step == method.acts} for step in methods.STEPS],
        "controls": [control | _start(control, first) for control in controls],
        "groups": _GROUPS,
        "axes": method.axes,
        "pictures": [
            {"view": view, "title": title, "hint": hint} for view, title, hint in method.pictures
        ],
        "notes": [{"title": title, "text": text} for title, text in method.notes],
        "others": [
            {"kind": other, "name": METHODS[other].name, "title": METHODS[other].title}
            for other in METHODS
        ],
        "questions": [
            {"question": question, "answers": [METHODS[other].facts[i] for other in METHODS]}
            for i, question in enumerate(methods.QUESTIONS)
        ],
        "colours": {theme: palette.colours(theme) for theme in ("light", "dark")},
    }


@functools.cache
def render(kind: str) -> str:
    """The page of a method as HTML."""
    environment = Environment(
        loader=FileSystemLoader(HERE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html").render(page(kind))


def _start(control: dict[str, Any], first: dict[str, Any]) -> dict[str, Any]:
    name = control["name"]
    return {"default": first[name]} if name in first else {}


def _grown(low: int, high: int, *, step: int) -> list[int]:
    """Multiples of `step` from `low` to `high` with about eight stops to every doubling."""
    stops, at = [low], low
    while at < high:
        at += max(step, 2 ** (at.bit_length() - 4) // step * step)
        stops.append(min(at, high))
    return stops


_GROUPS = {"look": "Where to look", "encoding": "The encoding", "table": "The table"}

_POSITION = {
    "label": "Position",
    "group": "look",
    "unit": "",
    "bounds": {"from": "start", "size": "count"},
    "default": 10,
}
_FEATURE = {
    "label": "Feature",
    "group": "look",
    "unit": "",
    "bounds": {"from": None, "size": "dim"},
    "default": 4,
}

# `stops` are the places of a slider whose values are not evenly spaced; `bounds` makes a range
# out of other settings; `field` says that a setting is a field of the encoding.
_CONTROLS: dict[str, dict[str, Any]] = {
    "position": _POSITION,
    "feature": _FEATURE,
    "column": _FEATURE | {"label": "Column"},
    "query": _POSITION | {"label": "Query", "bounds": {"from": None, "size": "count"}},
    "key": _POSITION | {"label": "Key", "bounds": {"from": None, "size": "count"}},
    "head": _FEATURE | {"label": "Head", "bounds": {"from": None, "size": "heads"}, "default": 3},
    "gap": {
        "label": "Distance to query",
        "group": "look",
        "unit": "positions",
        "min": 0,
        "max": recipes.ROWS,
        "step": 1,
        "default": 5,
    },
    "dim": {
        "label": "Features",
        "group": "encoding",
        "unit": "features",
        "field": True,
        "min": 2,
        "max": recipes.LARGEST["dim"],
        "step": 2,
        "stops": _grown(2, recipes.LARGEST["dim"], step=2),
    },
    "base": {
        "label": "Base",
        "group": "encoding",
        "unit": "",
        "field": True,
        "min": 1,
        "max": 1e9,
        "step": "any",
        "stops": [float(f"{10 ** (1 + place / 50):.3g}") for place in range(301)],
    },
    "layout": {
        "label": "Layout",
        "group": "encoding",
        "field": True,
        "options": [
            {"value": "interleaved", "label": "interleaved", "hint": "a pair side by side"},
            {"value": "half", "label": "half", "hint": "first members, then second members"},
        ],
    },
    "spacing": {
        "label": "Spacing",
        "group": "encoding",
        "field": True,
        "options": [
            {"value": "paper", "label": "paper", "hint": "the slowest pair stops short of 1/b"},
            {"value": "endpoint", "label": "endpoint", "hint": "the slowest pair is exactly 1/b"},
        ],
    },
    "heads": {
        "label": "Heads",
        "group": "encoding",
        "unit": "heads",
        "field": True,
        "min": 1,
        "max": recipes.LARGEST["heads"],
        "step": 1,
    },
    "rule": {
        "label": "Rule",
        "group": "encoding",
        "field": True,
        "options": [
            {"value": "paper", "label": "paper", "hint": "as in the authors' code"},
            {"value": "plain", "label": "plain", "hint": "one formula for any number of heads"},
        ],
    },
    "direction": {
        "label": "Direction",
        "group": "encoding",
        "field": True,
        "options": [
            {"value": "causal", "label": "causal", "hint": "keys ahead are masked"},
            {"value": "symmetric", "label": "symmetric", "hint": "both sides alike"},
            {"value": "asymmetric", "label": "asymmetric", "hint": "behind is half a token nearer"},
        ],
    },
    "count": {
        "label": "Positions shown",
        "group": "table",
        "unit": "rows",
        "min": 1,
        "max": recipes.ROWS,
        "step": 1,
        "stops": _ROWS,
        "default": 64,
    },
    "start": {
        "label": "First position",
        "group": "table",
        "unit": "",
        "min": 0,
        "max": recipes.FARTHEST,
        "step": 1,
        "stops": [0, *(2**power for power in range(6, 31)), recipes.FARTHEST],
        "default": 0,
    },
}
