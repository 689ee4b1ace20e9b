"""Riddles: a number hides a mistake, a visitor names it, and `posenc.identify` is asked too."""

from __future__ import annotations

import functools
import random
from typing import Any

import numpy as np

import posenc
from posenc import mistakes, spec
from posenc.explorer.rooms.bugs import symptoms
from posenc.mistakes import Mistake
from posenc.rotary import Rotary

CASES = 9999
"""The largest number of a riddle."""

_SEEN = 64  # positions in which a hidden mistake shows
_PLAIN = 1e-3  # and by how much, as a part of the largest number
_WIDEST = 128  # features of rotary matrices that identify is given
_GIVEN = 16  # positions of these; of all else as many as are seen


def hidden(encoding: Any, case: int) -> Mistake | None:
    """The mistake of a riddle: one that shows in the first positions; None for case 0.

    Raises:
        ValueError: there is no such case.
    Example:
        >>> from posenc import Sinusoidal
        >>> hidden(Sinusoidal(dim=64), 17).name == hidden(Sinusoidal(dim=64), 17).name
        True
    """
    if not 0 <= case <= CASES:
        raise ValueError(f"`case` must lie between 0 and {CASES}; got {case}.")
    if not case:
        return None
    found = _showing(encoding)
    # Neighbouring cases share no mistake, and all mistakes have their turn.
    order = random.Random((case - 1) // len(found)).sample(found, len(found)) if found else [None]
    return order[(case - 1) % len(order)]


def judge(encoding: Any, truth: Mistake, guess: str) -> dict[str, Any] | None:
    """What to say of a guess.

    Args:
        encoding: in which the mistake is hidden.
        truth: the hidden mistake.
        guess: the name of another, or of the same.
    Returns:
        None for a name that no mistake of this encoding has, as when one turns to another; else
        right        whether the guess makes the same numbers
        mistake      what is said of the mistake that was guessed
        parts        where its numbers part from those in sight, see `symptoms.where`
    """
    told = next((one for one in mistakes.of(encoding) if one.name == guess), None)
    if told is None:
        return None
    (_, there), (_, here) = symptoms.both(encoding, told), symptoms.both(encoding, truth)
    parts = symptoms.where(encoding, there, here)
    return {"right": parts.get("cells") == 0, "mistake": told.to_data(), "parts": parts}


@functools.lru_cache(maxsize=64)
def identified(encoding: Any, mistake: Mistake) -> dict[str, Any] | None:
    """What `posenc.identify` says of the wrong numbers; None where it would take too long.

    Returns:
        `rows`, how many positions it was given, and of its answer: `known`; `text` and `mistake`
        (a name, or None) of the best guess.
    """
    rows = _SEEN
    if isinstance(encoding, Rotary):
        if encoding.dim > _WIDEST:
            return None
        rows = _GIVEN
    wrong = mistakes.numbers(encoding, np.arange(rows), mistake)
    if isinstance(encoding, Rotary):
        wrong = np.swapaxes(wrong, 1, 2)  # as a rotary function turns the rows of the identity
    found = posenc.identify(wrong)
    best = found.best
    return {
        "rows": rows,
        "known": found.known,
        "text": spec.to_text(best.spec) if best else "",
        "mistake": best.mistake.name if best and best.mistake else None,
    }


@functools.lru_cache(maxsize=64)
def _showing(encoding: Any) -> list[Mistake]:
    positions = np.arange(_SEEN)
    right = mistakes.numbers(encoding, positions)
    large = np.abs(right[np.isfinite(right)]).max()
    return [
        one
        for one in mistakes.of(encoding)
        if _shows(right, mistakes.numbers(encoding, positions, one), _PLAIN * large)
    ]


def _shows(right: np.ndarray, wrong: np.ndarray, plain: float) -> bool:
    return right.shape != wrong.shape or bool(symptoms.apart(right, wrong).max() > plain)
