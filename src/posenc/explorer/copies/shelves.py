"""The numbers that a saved copy of the explorer holds."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from posenc import mistakes
from posenc.explorer import asked, fields, recipes
from posenc.explorer.copies import held
from posenc.explorer.methods import METHODS
from posenc.explorer.rooms import ROOMS

_USUAL = 64
"""Rows of a room's first table, where its settings do not say."""


def shelf(kind: str, rooms: Iterable[str]) -> dict[str, Any]:
    """All numbers of an encoding for copies of some rooms, ready for JSON.

    Args:
        kind: one of `posenc.spec.ENCODINGS`.
        rooms: names of the rooms that show it.
    Returns:
        recipes     spec, mistake, span (what a recipe was made for, where it serves no others),
                    recipe, rows, and sums: by head, or by "", the SHA-256 of the library's table
        answers     by room: spec, settings, answer
    """
    here = [name for name in rooms if held.shown(name, kind)]
    every = {text: one for name in here for text, one in _specs(name, kind)}
    encoding, first = METHODS[kind].encoding, fields.data(kind, {})
    right = (one for each in every.values() for one in _recipes(recipes.built(each), "", each))
    wrong = (one for each in _mistakes(kind) for one in _recipes(encoding, each, first))
    return {
        "recipes": [*right, *wrong],
        "answers": {
            name: list(_answers(name, kind)) for name in here if ROOMS[name].answer is not None
        },
    }


def first(name: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """What the page of a room asks for when it opens with an encoding, as a shelf.

    Args:
        name: one of `rooms.ROOMS`.
        data: the encoding, as the page describes it.
    Returns:
        As `shelf`; empty where the library refuses.
    """
    room = ROOMS[name]
    settings = {control["name"]: control["default"] for control in room.controls}
    span = {"start": 0, "count": settings.get("count", _USUAL), "head": settings.get("head", 0)}
    asks = {each: str(settings[each]) for each in room.asks if each in settings}
    try:
        recipe = recipes.recipe(recipes.built(data), **span)
        answer = None if room.answer is None else held.answer(name, data, asks)
    except asked.REFUSED:
        return {"recipes": [], "answers": {}}
    kept = {each: span[each] for each in recipe["depends"] if each in span}
    one = {"spec": data, "mistake": "", "span": kept, "recipe": recipe, "rows": 0, "sums": {}}
    found = [] if answer is None else [{"spec": data, "settings": asks, "answer": answer}]
    return {"recipes": [one], "answers": {name: found}}


def _specs(name: str, kind: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every encoding that the controls of a copy of a room describe, by its JSON."""
    chosen = held.values(name, kind)
    for combination in itertools.product(*chosen.values()):
        data = fields.data(kind, dict(zip(chosen, combination, strict=True)))
        try:
            recipes.built(data)
        except ValueError:
            continue  # two choices that exclude each other
        yield json.dumps(data), data


def _mistakes(kind: str) -> list[str]:
    """Names of the mistakes that are made in an encoding as it is at first."""
    return [one.name for one in mistakes.of(METHODS[kind].encoding)]


def _recipes(encoding: Any, mistake: str, data: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The recipe of an encoding; one for each head where each has an array of its own."""
    wrong = mistake or None
    found = recipes.recipe(encoding, mistake=wrong)
    rows, depends = held.rows(found, mistake), found["depends"]
    heads = range(found["heads"] or 1)
    for head in heads if "head" in depends else [0]:
        recipe = recipes.recipe(encoding, count=rows, head=head, mistake=wrong)
        span = {"start": 0, "count": rows, "head": head}
        checked = [head] if "head" in depends else heads
        sums = {str(each): _sum(encoding, rows, each, wrong) for each in checked}
        yield {
            "spec": data,
            "mistake": mistake,
            "span": {each: span[each] for each in span if depends and _bound(each, depends)},
            "recipe": recipe,
            "rows": rows,
            "sums": sums if found["heads"] else {"": sums["0"]},
        }


def _bound(name: str, depends: Sequence[str]) -> bool:
    """Whether an array serves one value alone of a part of the request."""
    return name != "head" or name in depends


def _sum(encoding: Any, rows: int, head: int, mistake: str | None) -> str:
    numbers = recipes.table(encoding, 0, rows, head=head, mistake=mistake)
    return hashlib.sha256(np.ascontiguousarray(numbers, "<f4").tobytes()).hexdigest()


def _answers(name: str, kind: str) -> Iterator[dict[str, Any]]:
    """What a room answers, for each encoding and setting that its copy holds."""
    every = held.asks(name)
    first = fields.data(kind, {})
    right = [(data, each) for _, data in _specs(name, kind) for each in _combinations(every)]
    wrong = _mistakes(kind) if name in held.WRONG else []
    made = [(first, next(_combinations(every)) | {"mistake": one}) for one in wrong]
    for data, settings in [*right, *made]:
        answer = held.answer(name, data, settings)
        yield {"spec": data, "settings": settings, "answer": answer}


def _combinations(every: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, str]]:
    for combination in itertools.product(*every.values()):
        yield {each: str(one) for each, one in zip(every, combination, strict=True)}
