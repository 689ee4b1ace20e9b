"""Guesses about tables whose rows or columns stand in another order."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from posenc import mistakes
from posenc.identification.forms import Form
from posenc.identification.identity import Guess
from posenc.identification.trial import Trial, compared
from posenc.sinusoidal import Sinusoidal

_MOST = 256  # rows that are put in order
_FEWEST = 8  # columns; fewer numbers lie near to those of some position whatever they are
_FURTHEST = 4096  # positions among which they are looked for


def guesses(table: np.ndarray, known: list[Form]) -> list[Guess]:
    """Guesses about a table under the usual base, in no order.

    Args:
        table: (positions, columns), float64.
        known: the forms it may have.
    """
    if table.shape[1] < _FEWEST:
        return []
    end = min(2 * len(table), _FURTHEST)
    return [*_rows(table[:_MOST], known, end), *_columns(table[:_MOST], known)]


def _rows(table: np.ndarray, known: list[Form], end: int) -> Iterator[Guess]:
    """Each row is taken for the position whose numbers lie nearest to it."""
    for form in known:
        numbers = Trial(form).numbers(np.arange(end))
        positions = _nearest(table, numbers)
        residual, scale = compared(table, numbers[positions])
        starts = np.flatnonzero(np.diff(positions) != 1) + 1
        if len(starts) == 0:
            continue
        first = int(starts[0])
        name = "rows in another order"
        if positions[first] == positions[0]:
            name = "offset lost in a cache"
        yield Guess(
            spec=form.spec,
            form=form.words,
            residual=residual,
            mistake=mistakes.named(name),
            scale=scale,
            note=f"Row {first} is that of position {positions[first]}.",
            oddity=1,
        )


def _columns(table: np.ndarray, known: list[Form]) -> Iterator[Guess]:
    """Each column is taken for the feature whose numbers lie nearest to it, none of them twice."""
    for form in known:
        spec = form.spec
        if not isinstance(spec, Sinusoidal) or (spec.layout, spec.first) != ("interleaved", "sin"):
            continue  # the other orders are among those that are found
        numbers = Trial(form).numbers(np.arange(len(table)))
        distance = _distances(table.T, numbers.T)
        features = np.empty(table.shape[1], dtype=int)
        for column in np.argsort(distance.min(axis=1)):
            features[column] = distance[column].argmin()
            distance[:, features[column]] = np.inf
        residual, scale = compared(table, numbers[:, features])
        yield Guess(
            spec=form.spec,
            form=form.words,
            residual=residual,
            mistake=mistakes.named("features in another order"),
            scale=scale,
            note=f"The first columns are features {', '.join(map(str, features[:8]))}, ...",
            oddity=1,
        )


def _nearest(rows: np.ndarray, known: np.ndarray) -> np.ndarray:
    return _distances(rows, known).argmin(axis=1)


def _distances(rows: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Squared distances of each row to each known one, less what is the same for all of these."""
    return np.sum(known**2, axis=1) - 2 * rows @ known.T
