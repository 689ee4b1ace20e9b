"""An encoding that a model uses, in words and numbers, and how the page can show it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from posenc import spec
from posenc.explorer import fields
from posenc.explorer.fields.ranges import RANGES
from posenc.explorer.rooms.stretch import LONGEST, effects
from posenc.inspector.reading import Part, Use, Value
from posenc.inspector.report.comparison import title
from posenc.inspector.report.effect import number, printable, shortened
from posenc.inspector.report.effects import effects as rows_of
from posenc.inspector.report.stack import layers
from posenc.inspector.report.stretching import trained_length
from posenc.inspector.report.turning import rotary_of
from posenc.longrope import LongRope
from posenc.mrope import MRotary
from posenc.rotary import Rotary

_ORIGINS = {"file": "in the file: ", "fallback": "made from ", "default": "default of the class: "}
_LONGER = 4  # times as long as in training, where a model asks for no longer text


def described(part: Part, use: Use) -> dict[str, Any]:
    """One encoding at work in one place, ready for JSON.

    Args:
        part: the network it stands in.
        use: the encoding.
    Returns:
        title, part, layers    what and where
        rows                   name and sentence of each thing that the inspector says of it
        values                 name, value and origin of each setting it rests on
        effect                 of its rule (`effects.effect`); None where nothing turns or no
                               length of training is known
        settings               what the page must be set to to show it; None where it cannot
        told                   what to know before doing that, or why it cannot be done
    """
    rows = [[row.name, row.sentence] for row in rows_of(use)]
    rotary = rotary_of(use.encoding)
    shown = {"effect": None, "settings": None, "told": []}
    return {
        "title": title(use),
        "part": printable(part.name),
        "layers": layers(part, use),
        "rows": rows + [["remark", remark] for remark in use.remarks],
        "values": [[value.name, shortened(value.value), _origin(value)] for value in use.values],
    } | (shown if rotary is None else _shown(use, rotary))


def _origin(value: Value) -> str:
    return _ORIGINS[value.origin] + printable(value.key) if value.key else "fixed by the class"


def _shown(use: Use, rotary: Rotary) -> dict[str, Any]:
    """How the page can show an encoding that turns, and what its rule does."""
    settings, told = _settings(use.encoding, rotary)
    trained = trained_length(use)
    if trained is None:
        told += ["Its files do not say how long the texts in training were."]
        return {"effect": None, "settings": settings, "told": told}
    length = use.length or trained
    if length <= trained:
        length = _LONGER * trained
        told += [
            f"It asks for no text longer than in training; {number(length)} tokens are looked at."
        ]
    if settings is not None:
        settings |= {"original_length": trained, "wanted": length}
        if trained > RANGES["original_length"]["max"] or length > LONGEST:
            settings, told = None, [f"The page goes up to {number(LONGEST)} tokens."]
    effect = effects.effect(rotary, trained=trained, wanted=length)
    return {"effect": effect, "settings": settings, "told": told}


def _settings(encoding: Any, rotary: Rotary) -> tuple[dict[str, Any] | None, list[str]]:
    """The settings under which the page shows an encoding or one that turns alike; what to know."""
    why = ""
    for other, instead in _alike(encoding, rotary):
        data = spec.to_data(other)
        try:
            found = {"encoding": data["kind"], **fields.values(data)}
        except ValueError as error:
            why = why or _why(rotary, error)
            continue
        return found, [why, instead] if instead else []
    return None, [why]


def _alike(encoding: Any, rotary: Rotary) -> Iterator[tuple[Any, str]]:
    """The encoding, then those that turn alike in some way, with the way in words."""
    yield encoding, ""
    if isinstance(encoding, MRotary):
        yield (
            rotary,
            "It is shown as it turns text, whose tokens have the same place on every axis.",
        )
    if rotary.rotary_dim is not None and rotary.exponent == "rotary":
        turned = rotary.rotary_dim
        alike = dataclasses.replace(rotary, dim=turned, rotary_dim=None)
        yield alike, f"It is shown as a head of {turned} features, whose pairs turn alike."


def _why(rotary: Rotary, error: ValueError) -> str:
    if isinstance(rotary.scaling, LongRope):
        return (
            "The form describes a list of LongRoPE by its two ends, and these lists follow no such "
            "rule; the picture here shows them as they are."
        )
    return printable(str(error), 300)
