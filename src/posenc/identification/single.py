"""Guesses about one row of numbers: frequencies of pairs, or ALiBi's slopes."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator

import numpy as np

from posenc import mistakes
from posenc.alibi import Alibi
from posenc.identification.forms import Form
from posenc.identification.identity import Guess, ranked
from posenc.identification.spectrum import Spectrum
from posenc.identification.trial import Judged, Trial, tidy
from posenc.identification.waves import by_parts, odd, plain
from posenc.rotary import Rotary
from posenc.sinusoidal import Sinusoidal


def guesses(values: np.ndarray) -> list[Guess]:
    """Guesses about a row of numbers, the best one first.

    Args:
        values: (pairs,) or (heads,), two or more.
    """
    if len(values) < 2 or np.isinf(values).any() or np.min(np.sign(values) * values[0]) <= 0:
        return []
    return ranked([*_frequencies(values), *_slopes(values)])


def _frequencies(values: np.ndarray) -> Iterator[Guess]:
    pairs = len(values)
    if pairs < 4 or values[0] < 0 or np.any(np.diff(values) > 0):
        return  # base and factor fit any three numbers more or less
    specs = [Rotary(dim=2 * pairs), Sinusoidal(dim=2 * pairs, spacing="endpoint")]
    known = [
        Form("frequencies, one a pair", spec, lambda members: members[..., 1]) for spec in specs
    ]
    everywhere = np.ones(pairs, dtype=bool)
    found = Spectrum(values, 1e-8 * values, np.zeros(pairs), everywhere)

    def judge(trial: Trial) -> Judged:
        made = trial.frequencies()[:, 1]
        return Judged(trial, float(np.sqrt(np.mean((made / values - 1) ** 2))), 1.0)

    judged = ranked(map(judge, plain(known, found)))
    best = [one.trial for one in judged[:3]]
    turning = ("base", "exponents", "frequencies")
    trials = [trial for trial in odd(known, best) if getattr(trial.mistake, "step", "") in turning]
    judged += [judge(trial) for trial in (*trials, *by_parts(known[0], found))]
    for one in ranked(judged)[:2]:
        yield Guess(
            spec=one.trial.spec,
            form=one.trial.form.words,
            residual=one.residual,
            mistake=one.trial.mistake,
            oddity=one.oddity,
        )


def _slopes(values: np.ndarray) -> Iterator[Guess]:
    encoding = Alibi(heads=len(values))
    slopes = np.asarray(encoding.slopes)
    sign = mistakes.named("sign of the bias")
    known = [m for m in mistakes.of(encoding) if m.step == "slopes" and m != sign]
    for mistake in [sign] if values[0] < 0 else [None, *known]:
        ratio = values / (slopes if mistake is None else mistake.wrong(slopes, encoding))
        scale = float(np.mean(ratio))
        residual = float(np.std(ratio / scale))
        scale = 1.0 if math.isclose(scale, 1, rel_tol=2e-3) else scale
        yield alibi_guess(encoding, "slopes, one a head", residual, mistake, scale)


def alibi_guess(
    encoding: Alibi, form: str, residual: float, mistake: mistakes.Mistake | None, scale: float
) -> Guess:
    """A guess about ALiBi: slopes that are all smaller are divided by a factor."""
    note, oddity = "", int(mistake is not None)
    if encoding.heads == 1:
        note, scale = f"Of one head, whose slope is {tidy(scale * encoding.slopes[0])}.", 1.0
    elif scale < 1:
        encoding, scale = dataclasses.replace(encoding, factor=tidy(1 / scale)), 1.0
        oddity += 1
    return Guess(
        spec=encoding,
        form=form,
        residual=residual,
        mistake=mistake,
        scale=scale,
        note=note,
        oddity=oddity + (2 if scale > 1 else 0),
    )
