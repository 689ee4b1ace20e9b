"""Guesses about tables of sines and cosines: vectors and rotary tables."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from posenc import mistakes
from posenc.by_parts import Llama3, Yarn
from posenc.identification.forms import BASE, Form
from posenc.identification.identity import Guess, ranked
from posenc.identification.spectrum import Spectrum, spectrum
from posenc.identification.trial import Judged, Trial, compared, rounder, tidy
from posenc.mistakes import steps
from posenc.rotary import Rotary
from posenc.scaling import NTK, Linear
from posenc.sinusoidal import Sinusoidal

_FEWEST = 5  # rows: three numbers make a wave, and something must be left to be wrong about
_FITTED = 256  # rows in which bfloat16 positions are still whole, and plenty for a fit
_CLEAN = 1e-4  # a residual below this leaves no room for a mistake of precision
_FACTORS = (2.0, 4.0, 8.0, 16.0, 32.0, 40.0, 64.0)
_LENGTHS = tuple(2**k for k in range(10, 19))
_HIDDEN = ("layout", "pairing", "table")  # steps that come after the sines and cosines
_SETTING = "other spacing"  # a mistake which is a form of its own here


def guesses(table: np.ndarray, known: list[Form]) -> list[Guess]:
    """Guesses about one table, the best one first; none about a table without waves.

    Args:
        table: (positions, columns), float64. Rows of zeros, as fairseq has one for padding, are
            passed over.
        known: the forms it may have.
    """
    rows, width = np.flatnonzero(np.any(table != 0, axis=-1)), table.shape[1]
    if len(rows) < _FEWEST:
        return []
    found = spectrum(table[rows[:_FITTED]], rows[:_FITTED])
    start = _start(found, min(len(rows), _FITTED))
    offset = 0 if start == 1 else start  # a count that begins at 1 is a mistake with a name

    def judge(trials: Iterable[Trial], most: int) -> list[Judged]:
        some = spread(rows, max(most // width, 64))
        judged = []
        for trial in trials:
            numbers = trial.numbers(some + offset)
            if np.ptp(numbers) > 0:  # cosines of position 0 are all 1, which tells nothing
                judged.append(Judged(trial, *compared(table[some], numbers)))
        return ranked(judged)

    # From the plain to the odd, on a part of the rows; what is best there is judged on all.
    judged = judge(plain(known, found), 2**15)
    if (judged[0].residual > _CLEAN or judged[0].oddity) and is_flat(table):
        judged = ranked(judged + judge(odd(known, [one.trial for one in judged[:3]]), 2**15))
    if judged[0].residual > _CLEAN and is_flat(table):
        for form in _fit_fast(table[rows[:_FITTED]], rows[:_FITTED] + offset, known, found):
            judged = ranked(judged + judge(by_parts(form, found), 2**15))
    judged = judge([one.trial for one in judged[:8]], 2**21)
    best: dict[Any, Judged] = {}
    for one in judged:  # of several bases the best one
        best.setdefault((one.trial.form, one.trial.scaling, one.trial.mistake), one)
    return [_guess(one, offset) for one in list(best.values())[:3]]


def is_flat(table: np.ndarray) -> bool:
    """Whether no number stands out as it never does among waves, and does in trained tables."""
    return bool(np.abs(table).max() < 3.2 * np.sqrt(np.mean(table**2)))


def spread(rows: np.ndarray, most: int) -> np.ndarray:
    """At most `most` rows: half of them the first ones, the others spread over the rest.

    Example:
        >>> spread(np.arange(100), 8).tolist()
        [0, 1, 2, 3, 4, 35, 67, 99]
    """
    if len(rows) <= most:
        return rows
    rest = np.linspace(most // 2, len(rows) - 1, most // 2).astype(int)
    return rows[np.concatenate([np.arange(most // 2), rest])]


def _start(found: Spectrum, rows: int) -> int:
    """The position of row 0: the smallest one from which each wave is a sine or a cosine."""
    if not found.sure.any():
        return 0
    frequency, phase = found.frequency[found.sure], found.phase[found.sure]
    quarters = (phase - np.arange(4096)[:, None] * frequency) / (math.pi / 2)
    off = np.sqrt(np.mean((quarters - np.rint(quarters)) ** 2, axis=-1))
    noise = np.sqrt(np.mean(found.error[found.sure] ** 2)) * rows
    return int(np.argmax(off < 1e-3 + 4 * noise))


def plain(known: list[Form], found: Spectrum) -> Iterator[Trial]:
    """Every form with the usual base, and with the base and scale by which its columns turn."""
    for form in known:
        yield Trial(form)
        for base, factor in bases(form, found):
            for value in rounder(base):
                yield Trial(form, value)
                if isinstance(form.spec, Rotary) and factor > 1:
                    yield from (Trial(form, value, Linear(factor=f)) for f in rounder(factor))
            if isinstance(form.spec, Rotary) and base > BASE and form.spec.dim > 2:
                factor = (base / BASE) ** (1 - 2 / form.spec.dim)
                if math.isclose(factor, round(factor), rel_tol=1e-4) and factor > 1.5:
                    yield Trial(form, BASE, NTK(factor=float(round(factor))))


def bases(form: Form, found: Spectrum) -> list[tuple[float, float]]:
    """Base and factor with frequency = base ** -exponent / factor, from the columns one is sure of.

    The first has factor 1; a second one, if there is need, has a factor of its own.
    """
    exponents = form.columns(steps.exponents(form.spec))[found.sure]
    frequency, error = found.frequency[found.sure], found.error[found.sure]
    weight = frequency / (error + 1e-9 * frequency)
    if len(np.unique(exponents)) < 2:
        return []
    columns = np.stack([-exponents, -np.ones_like(exponents)], axis=-1) * weight[:, None]
    target = np.log(frequency) * weight
    (slope,), *_ = np.linalg.lstsq(columns[:, :1], target, rcond=None)
    (steep, level), *_ = np.linalg.lstsq(columns, target, rcond=None)
    pairs = [(slope, 0.0)] + ([(steep, level)] if abs(level) > 0.01 else [])
    return [(math.exp(a), math.exp(b)) for a, b in pairs if 0.01 < a < 60 and abs(b) < 60]


def odd(known: list[Form], best: list[Trial]) -> Iterator[Trial]:
    """Mistakes at the usual base and in the best trials."""
    for trial in [*map(Trial, known), *(trial for trial in best if trial.base != BASE)]:
        for mistake in mistakes.of(trial.spec):
            seen = mistake.step not in _HIDDEN and mistake.name != _SETTING
            if seen and mistake.severity == "wrong":
                yield dataclasses.replace(trial, mistake=mistake)


def _fast(found: Spectrum) -> Spectrum:
    """Sure of the fastest pairs alone."""
    return found._replace(sure=found.sure & (found.frequency > 0.25 * found.frequency.max()))


def _fit_fast(
    table: np.ndarray, positions: np.ndarray, known: list[Form], found: Spectrum
) -> Iterator[Form]:
    """The rotary forms that fit the columns of the fast pairs, whatever the slow ones do."""
    fast = _fast(found)
    for form in known:
        if isinstance(form.spec, Rotary):
            for base, factor in bases(form, fast)[-1:]:
                numbers = Trial(form, base, Linear(factor=max(factor, 1.0))).numbers(positions)
                if compared(table[:, fast.sure], numbers[:, fast.sure])[0] < 0.1:
                    yield form


def by_parts(form: Form, found: Spectrum) -> Iterator[Trial]:
    """Rules that keep the fast pairs: these tell the base; factor and length are tried.

    Where it is the fast pairs that are slowed, the slow ones may be kept by mistake.
    """
    for base, slowed in bases(form, _fast(found)):
        base = rounder(base)[0]
        factors, mistake = _FACTORS, None
        if slowed > 1:
            factors, mistake = (tidy(slowed),), mistakes.named("YaRN ramp reversed")
        for length, factor in itertools.product(_LENGTHS, factors):
            for truncate in (True, False):
                rule = Yarn(factor=factor, original_length=length, truncate=truncate)
                yield Trial(form, base, rule, mistake)
            if mistake is None:
                yield Trial(form, base, Llama3(factor=factor, original_length=length))


def _guess(one: Judged, offset: int) -> Guess:
    trial, residual, scale = one
    spec, mistake, note = trial.spec, trial.mistake, ""
    if isinstance(spec, Sinusoidal):
        spec = dataclasses.replace(spec, offset=offset)
        for mistaken in ("multiplied by sqrt(dim)", "divided by sqrt(dim)"):
            root = spec.dim ** (0.5 if mistaken.startswith("multiplied") else -0.5)
            if mistake is None and spec.dim > 1 and math.isclose(scale, root, rel_tol=2e-3):
                mistake, scale = mistakes.named(mistaken), 1.0
    elif offset:
        note = f"The first row is that of position {offset}."
    return Guess(
        spec=spec,
        form=trial.form.words,
        residual=residual,
        mistake=mistake,
        scale=scale,
        note=note,
        oddity=one.oddity,
    )
