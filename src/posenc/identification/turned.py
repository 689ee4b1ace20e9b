"""Guesses about what a rotary function makes of unit vectors: layout, pairing and direction."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from posenc import mistakes
from posenc.identification.forms import BASE, Columns, Form
from posenc.identification.identity import Guess, ranked
from posenc.identification.spectrum import Spectrum, spectrum
from posenc.identification.trial import Trial, compared, rounder
from posenc.identification.waves import bases, spread
from posenc.rotary import Rotary

_MOST = 2**19  # numbers that are compared


def guesses(vectors: np.ndarray) -> list[Guess]:
    """The two best guesses about unit vectors turned to each position, or none.

    Args:
        vectors: (positions, dim, dim), [p, j] is unit vector j turned to position p.
    """
    length, dim, width = vectors.shape
    if length < 5 or dim != width or dim % 2:
        return []
    matrices = np.swapaxes(vectors, -1, -2)
    first = np.arange(min(length, 256))
    found = spectrum(np.diagonal(matrices, axis1=-2, axis2=-1)[first], first)
    positions = spread(np.arange(length), max(_MOST // dim**2, 16))
    judged = []
    for trial in _trials(dim, found):
        made = mistakes.numbers(trial.spec, positions, trial.mistake)
        residual, scale = compared(matrices[positions], made)
        guess = Guess(
            spec=trial.spec,
            form="turned unit vectors",
            residual=residual,
            mistake=trial.mistake,
            scale=scale,
            oddity=trial.oddity,
        )
        judged.append(guess)
    return ranked(judged)[:2]


def _trials(dim: int, found: Spectrum) -> Iterator[Trial]:
    for spec, repeat in (
        (Rotary(dim=dim, layout="half"), np.tile),
        (Rotary(dim=dim, layout="interleaved"), np.repeat),
    ):
        form = Form("turned unit vectors", spec, _diagonal(repeat))
        values = {BASE} | {value for base, _ in bases(form, found) for value in rounder(base)}
        for value in values:
            trial = Trial(form, value)
            yield trial
            for mistake in mistakes.of(trial.spec):
                yield dataclasses.replace(trial, mistake=mistake)


def _diagonal(repeat: Callable[[np.ndarray, Any], np.ndarray]) -> Columns:
    return lambda members: np.apply_along_axis(repeat, -1, members[..., 1], 2)
