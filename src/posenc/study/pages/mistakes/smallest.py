"""The smallest example of a mistake: the first setting and place where right and wrong differ."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from posenc import mistakes
from posenc.alibi import Alibi
from posenc.by_parts import Yarn
from posenc.explorer.recipes.constructor import constructor
from posenc.mistakes import Mistake
from posenc.rotary import Rotary
from posenc.scaling import Linear
from posenc.sinusoidal import Sinusoidal
from posenc.t5 import T5

DIGITS = 4
"""Decimals that an example shows."""

_DIFFERS = 10.0**-DIGITS  # at least this far apart: then the digits shown differ too
_NEAR = 8  # up to so many positions the whole text is shown to the mistake
_FAR = 2100  # beyond 2048, where float16 begins to lose whole numbers
_SIZES = (2, 4, 6, 8)

_SETTINGS: dict[type, tuple[Any, ...]] = {
    Sinusoidal: tuple(Sinusoidal(dim=dim) for dim in _SIZES),
    Rotary: (
        *(Rotary(dim=dim) for dim in _SIZES),
        Rotary(dim=2, scaling=Linear(factor=2.0)),
        Rotary(dim=2, scaling=Yarn(factor=2.0, original_length=256)),
    ),
    Alibi: tuple(Alibi(heads=heads) for heads in range(1, 9)),
    T5: (T5(heads=1),),
}


@dataclass(frozen=True, kw_only=True)
class Smallest:
    """Where a mistake is first seen.

    Args:
        mistake: the mistake.
        encoding: the smallest encoding in which it shows.
        positions: the tokens of the text.
        place: which part of `mistakes.numbers` is shown: a token, or a head and a token.
        right: the numbers there as they should be.
        wrong: the same with the mistake.
    """

    mistake: Mistake
    encoding: Any
    positions: tuple[int, ...]
    place: tuple[int, ...]
    right: tuple[float, ...]
    wrong: tuple[float, ...]

    @property
    def differs(self) -> tuple[bool, ...]:
        """For each number, whether its digits differ."""
        return tuple(
            written(one) != written(other)
            for one, other in zip(self.right, self.wrong, strict=True)
        )

    @property
    def made(self) -> str:
        """The Python that makes the encoding."""
        return constructor(self.encoding)

    @property
    def counted(self) -> str:
        """The Python that makes the positions."""
        if self.positions == tuple(range(len(self.positions))):
            return f"np.arange({len(self.positions)})"
        return f"np.asarray({list(self.positions)})"


def written(number: float) -> str:
    """A number as an example shows it.

    Example:
        >>> written(-0.00001), written(-2.5)
        ('0.0000', '−2.5000')
    """
    if np.isinf(number):
        return "masked"
    return f"{round(number, DIGITS) + 0.0:.{DIGITS}f}".replace("-", "\u2212")


@functools.cache
def smallest(mistake: Mistake) -> Smallest:
    """The smallest example of a mistake: least width or heads first, then the nearest position.

    Raises:
        ValueError: none of the small settings shows it.
    Example:
        >>> found = smallest(mistakes.named("sine only"))
        >>> found.made, found.positions, found.right, found.wrong
        ('posenc.Sinusoidal(dim=2)', (0,), (0.0, 1.0), (0.0, 0.0))
    """
    for encoding in _SETTINGS[mistake.kinds[0]]:
        for positions in _texts(encoding, mistake) if mistake in mistakes.of(encoding) else ():
            right = shown(encoding, positions)
            wrong = shown(encoding, positions, mistake)
            if right.shape == wrong.shape and (place := _first(right, wrong)):
                return Smallest(
                    mistake=mistake,
                    encoding=encoding,
                    positions=positions,
                    place=place,
                    right=tuple(right[place].tolist()),
                    wrong=tuple(wrong[place].tolist()),
                )
    raise ValueError(f"no small setting shows the mistake {mistake.name!r}.")


def shown(encoding: Any, positions: tuple[int, ...], mistake: Mistake | None = None) -> np.ndarray:
    """The numbers of a text; of a rotary encoding, what becomes of vectors of ones."""
    numbers = mistakes.numbers(encoding, positions, mistake)
    return numbers @ np.ones(encoding.dim) if isinstance(encoding, Rotary) else numbers


def _texts(encoding: Any, mistake: Mistake) -> Iterator[tuple[int, ...]]:
    """Short texts, then the first token of a long text with the first one that it gets wrong."""
    yield from (tuple(range(length)) for length in range(1, _NEAR + 1))
    everywhere = tuple(range(_FAR))
    right, wrong = (shown(encoding, everywhere, each) for each in (None, mistake))
    if right.shape == wrong.shape and (place := _first(right, wrong)):
        yield 0, place[-1]


def _first(right: np.ndarray, wrong: np.ndarray) -> tuple[int, ...]:
    """The first token, with its head where there are some, whose numbers differ; else ()."""
    same = np.isclose(right, wrong, rtol=0, atol=_DIFFERS)
    rows = np.argwhere(~same.all(axis=-1))
    return tuple(rows[0].tolist()) if len(rows) else ()
