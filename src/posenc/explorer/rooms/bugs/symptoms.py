"""How a mistake shows in numbers: where tables part, and which laws the wrong one breaks."""

from __future__ import annotations

from typing import Any

import numpy as np

from posenc import mistakes
from posenc.alibi import Alibi
from posenc.explorer.rooms.bugs import laws
from posenc.mistakes import Mistake
from posenc.rotary import Rotary
from posenc.sinusoidal import Sinusoidal
from posenc.t5 import T5

LOOKED = 320
"""Positions that are looked at; beyond 256 bfloat16 misses some of them."""

_MOST = 1 << 23  # numbers in the matrices of a rotary encoding, or in all heads of a bias
_FEWEST = 8  # positions
_GAPS = 64  # distances of the curve
_EXACT = 1e-9  # what float64 leaves of a law is below this


def both(encoding: Any, mistake: Mistake) -> tuple[np.ndarray, np.ndarray]:
    """The right and the wrong numbers of the first positions, as `mistakes.numbers` has them."""
    count = LOOKED
    if isinstance(encoding, Rotary):
        count = min(count, _MOST // encoding.dim**2)
    elif not isinstance(encoding, Sinusoidal):
        count = min(count, int((_MOST / encoding.heads) ** 0.5))
    positions = np.arange(max(count, _FEWEST))
    right, wrong = (mistakes.numbers(encoding, positions, each) for each in (None, mistake))
    return right, wrong


def apart(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """How far two tables of one shape are apart, cell by cell; masked in both is no difference."""
    hidden = one == other  # infinities too
    return np.abs(np.where(hidden, 0.0, one) - np.where(hidden, 0.0, other))


def where(encoding: Any, right: np.ndarray, wrong: np.ndarray) -> dict[str, Any]:
    """Where the tables of `both` part.

    Returns:
        looked       how many positions were looked at
        first        the first position or query whose numbers differ, or None
        cells, of    how many numbers differ, of how many; `what` they are
        most         the largest difference; None beside a number that is masked in one of the two
        shapes       of both, where they are not the same; then nothing else is said
    Example:
        >>> from posenc import Rotary
        >>> pair = both(Rotary(dim=8), mistakes.named("positions in bfloat16"))
        >>> where(Rotary(dim=8), *pair)["first"]
        257
    """
    if right.shape != wrong.shape:
        return {"shapes": [list(right.shape), list(wrong.shape)]}
    # Rotary has a matrix for each position, a bias a matrix for each head.
    heads_first = right.ndim == 3 and not isinstance(encoding, Rotary)
    rows = np.moveaxis(apart(right, wrong), 1 if heads_first else 0, 0)
    differs = rows > _EXACT
    places = np.flatnonzero(differs.reshape(len(rows), -1).any(axis=-1))
    return {
        "looked": len(rows),
        "first": int(places[0]) if places.size else None,
        "cells": int(differs.sum()),
        "of": right.size,
        "what": _NUMBERS[type(encoding)],
        "most": float(rows.max()) if np.isfinite(rows).all() else None,
    }


def measures(encoding: Any, right: np.ndarray, wrong: np.ndarray) -> list[dict[str, Any]]:
    """What a mistake does to the laws of an encoding.

    Args:
        encoding: one with known mistakes.
        right: see `both`.
        wrong: likewise.
    Returns:
        For each measure its `name`, its value in both tables as `right` and `wrong`, and whether
        it is a law that is `broken`. [] for tables of two shapes.
    Example:
        >>> sinusoidal = Sinusoidal(dim=8)
        >>> found = measures(sinusoidal, *both(sinusoidal, mistakes.named("sine only")))
        >>> [each["broken"] for each in found]
        [True, True, True, True, False, False]
    """
    if right.shape != wrong.shape:
        return []
    return [_measure(*each) for each in laws.of(encoding, right, wrong)]


def curve(encoding: Any, right: np.ndarray, wrong: np.ndarray, head: int) -> dict[str, Any] | None:
    """Likeness against distance: dot products, scores, a bias, or buckets.

    Returns:
        `name`, what is compared; by distance from 0 on `right`, and of all places so far apart
        the `low`, `mean` and `high` of the wrong table. None for tables of two shapes.
    """
    if right.shape != wrong.shape:
        return None
    name, likeness = _LIKENESS.get(type(encoding), _BIAS)
    before, after = (likeness(each, head) for each in (right, wrong))
    gaps = range(min(_GAPS, len(before)))
    spread = [np.diagonal(after, -gap) for gap in gaps]
    return {
        "name": name,
        "right": [float(np.diagonal(before, -gap).mean()) for gap in gaps],
        "low": [float(each.min()) for each in spread],
        "mean": [float(each.mean()) for each in spread],
        "high": [float(each.max()) for each in spread],
    }


_NUMBERS = {
    Sinusoidal: "numbers",
    Rotary: "entries of the matrices that turn",
    Alibi: "biases of all heads",
    T5: "bucket numbers",
}
_BIAS = ("bias of a key behind", lambda table, head: table[head])
_LIKENESS = {
    Sinusoidal: ("dot product of two places", lambda table, head: table @ table.T),
    Rotary: ("score of one query and one key", lambda table, head: laws.scores(table)),
    T5: ("bucket of a key behind", lambda table, head: table),
}


def _measure(name: str, right: float, wrong: float, law: bool) -> dict[str, Any]:
    right, wrong = (0.0 if abs(each) < _EXACT else float(each) for each in (right, wrong))
    return {
        "name": name,
        "right": right,
        "wrong": wrong,
        "broken": law and abs(right - wrong) > _EXACT * max(abs(right), 1.0),
    }
