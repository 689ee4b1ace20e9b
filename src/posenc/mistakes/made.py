"""Mistakes at work: those of an encoding, and the numbers that they make."""

from __future__ import annotations

from typing import Any

import numpy as np

from posenc.mistakes import steps
from posenc.mistakes.catalogue import MISTAKES
from posenc.mistakes.mistake import Mistake


def numbers(encoding: Any, positions: Any, mistake: Mistake | None = None) -> np.ndarray:
    """What an encoding makes of positions, in float64, with a mistake in it if asked.

    Steps of Sinusoidal and Rotary: base, exponents, frequencies, positions, angles, waves,
    layout, for Rotary pairing, table. Of Alibi: slopes, positions, distances, table. Of T5:
    positions, distances, ahead, table.

    Args:
        encoding: one of these four.
        positions: where the tokens stand, (length,); of a bias both the queries and the keys.
        mistake: one that is made in this encoding, or None for the right numbers.
    Returns:
        Sinusoidal: (length, dim). Rotary: (length, dim, dim), the matrices that turn a query or
        key. Alibi: (heads, length, length). T5: (length, length), numbers of buckets.
    Raises:
        TypeError: there is no recipe for `encoding`.
        ValueError: `mistake` is not made in it.
    Example:
        >>> from posenc import Sinusoidal
        >>> numbers(Sinusoidal(dim=4), [1], named("sine only")).round(4).tolist()
        [[0.8415, 0.8415, 0.01, 0.01]]
    """
    if type(encoding) not in steps.RECIPES:
        raise TypeError(
            f"`encoding` must be a {', '.join(cls.__name__ for cls in steps.RECIPES)}, the "
            f"encodings with known mistakes; got {type(encoding).__name__}."
        )
    changed = steps.unchanged if mistake is None else change(mistake, encoding)
    positions = np.asarray(positions, dtype=np.float64)
    return changed("table", steps.RECIPES[type(encoding)](encoding, positions, changed))


def change(mistake: Mistake, encoding: Any) -> steps.Change:
    """A mistake as the change that a recipe takes.

    Raises:
        ValueError: it is not made in this encoding.
    """
    if mistake not in of(encoding):
        raise ValueError(f"{mistake.name!r} is no mistake that is made in {encoding!r}.")
    return lambda step, value: mistake.wrong(value, encoding) if step == mistake.step else value


def of(encoding: Any) -> tuple[Mistake, ...]:
    """The mistakes that are made in an encoding.

    Example:
        >>> from posenc.t5 import T5
        >>> [mistake.name for mistake in of(T5(heads=1))]
        ['directions swapped', 'one direction']
    """
    return tuple(
        mistake
        for mistake in MISTAKES
        if type(encoding) in mistake.kinds and mistake.needs(encoding)
    )


def named(name: str) -> Mistake:
    """The mistake of this name.

    Raises:
        ValueError: there is none.
    """
    known = {mistake.name: mistake for mistake in MISTAKES}
    if name not in known:
        raise ValueError(f"`name` must be one of {', '.join(map(repr, known))}; got {name!r}.")
    return known[name]
