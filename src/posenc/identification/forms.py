"""The forms in which tables of sines and cosines are kept, and the encodings behind them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from posenc import rotary, sinusoidal
from posenc.frequencies import Spacing
from posenc.mistakes import steps
from posenc.rotary import Rotary
from posenc.sinusoidal import First, Odd, Sinusoidal

BASE = 10_000.0
"""The base of every form until a better one is found."""

Columns = Callable[[np.ndarray], np.ndarray]


class Form(NamedTuple):
    """A way to lay out sines and cosines as the columns of a table.

    Args:
        words: what the table holds.
        spec: the encoding behind it, with base 10,000.
        columns: takes (..., pairs, 2), sine before cosine, and gives (..., columns).
        oddity: how seldom it is met.
    """

    words: str
    spec: Sinusoidal | Rotary
    columns: Columns
    oddity: int = 0


def forms(width: int) -> list[Form]:
    """Every form that has `width` columns; those that are met more often come first.

    Example:
        >>> sorted({form.words for form in forms(3)})
        ['cosines, one a pair', 'sines, one a pair', 'vectors']
    """
    return [*_vectors(width), *rotary_forms(width)]


def _vectors(width: int) -> Iterator[Form]:
    ways: list[tuple[Spacing, Odd]] = [("paper", "trim"), ("paper", "pad"), ("endpoint", "pad")]
    if width % 2 == 0:
        ways = [("paper", "refuse"), ("endpoint", "refuse")]
    layouts: tuple[sinusoidal.Layout, ...] = ("interleaved", "half")
    firsts: tuple[First, ...] = ("sin", "cos")
    if width < 4:  # endpoints need two pairs
        ways = ways[:-1]
    for (spacing, odd), layout, first in itertools.product(ways, layouts, firsts):
        if width > 1:
            spec = Sinusoidal(dim=width, layout=layout, spacing=spacing, first=first, odd=odd)
            yield Form("vectors", spec, _vector_columns(spec))


def _vector_columns(spec: Sinusoidal) -> Columns:
    return lambda members: steps.laid_out(members, spec, spec.layout)


def rotary_forms(width: int) -> list[Form]:
    """Those of them that hold the cosines and sines of a rotary encoding."""
    return list(_tables(width))


_Repeat = tuple[str, int, rotary.Layout, Columns]
_REPEATS: tuple[_Repeat, ...] = (
    ("one a pair", 1, "half", lambda x: x),
    ("repeated by halves", 2, "half", lambda x: np.concatenate([x, x], axis=-1)),
    ("repeated side by side", 2, "interleaved", lambda x: np.repeat(x, 2, axis=-1)),
)
_MEMBERS = {"cosines": (1,), "sines": (0,), "cosines, then sines": (1, 0)}


def _tables(width: int) -> Iterator[Form]:
    for (words, times, layout, repeat), members in itertools.product(_REPEATS, _MEMBERS):
        share = _MEMBERS[members]
        pairs, rest = divmod(width, times * len(share))
        if rest == 0 and pairs > 0:
            spec = Rotary(dim=2 * pairs, layout=layout)
            # Sines alone, one a feature, are likelier vectors that lack their cosines.
            oddity = 2 if members == "sines" and times == 2 else 0
            yield Form(f"{members}, {words}", spec, _table_columns(share, repeat), oddity)


def _table_columns(share: tuple[int, ...], repeat: Columns) -> Columns:
    return lambda members: np.concatenate([repeat(members[..., i]) for i in share], axis=-1)
