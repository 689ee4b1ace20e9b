"""What a rule for longer texts does to each rotary pair, computed from the frequencies alone."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

from posenc.mrope import MRotary
from posenc.rotary import Rotary

_LARGEST_LOG = math.log(sys.float_info.max)  # of a base that is a number at all


class Run(NamedTuple):
    """Neighbouring pairs that are slowed alike, or more and more.

    Args:
        first: the first of them.
        last: the last.
        least: what the frequency of one end is divided by; infinite where it does not turn.
        most: the same of the other end.
    """

    first: int
    last: int
    least: float
    most: float


def rotary_of(encoding: Any) -> Rotary | None:
    """The plain rotary encoding that an encoding is, or has inside."""
    inner = encoding.rotary if isinstance(encoding, MRotary) else encoding
    return inner if isinstance(inner, Rotary) else None


def runs(spec: Rotary, length: int | None = None) -> list[Run]:
    """How much slower the pairs turn than without the rule, from the fastest pair on.

    Args:
        spec: a rotary encoding.
        length: tokens in the whole text, for rules that look at it.
    Example:
        >>> from posenc import Yarn
        >>> rule = Yarn(factor=4.0, original_length=32768)
        >>> [tuple(run)[:2] for run in runs(Rotary(dim=128, base=1e6, scaling=rule))]
        [(0, 23), (24, 39), (40, 63)]
    """
    joined: list[Run] = []
    for run in _alike(_divisors(spec, length)):
        if joined and not _flat(joined[-1]) and not _flat(run):
            run = Run(joined[-1].first, run.last, joined.pop().least, run.most)
        joined.append(run)
    return joined


def kept(run: Run) -> bool:
    """Whether a rule leaves these pairs as they are."""
    return run.least == run.most == 1


def base_of(spec: Rotary, length: int | None = None) -> float | None:
    """The base that alone would give the scaled frequencies; None where none would.

    Example:
        >>> from posenc import NTK
        >>> round(base_of(Rotary(dim=128, scaling=NTK(factor=4.0))), 4)
        40889.9424
    """
    scaled = spec.frequencies_at(length)
    if len(scaled) < 2 or not math.isclose(scaled[0], 1.0, rel_tol=1e-12) or scaled[-1] <= 0:
        return None
    last = len(scaled) - 1
    if abs(math.log(scaled[-1])) * spec.width / (2 * last) > _LARGEST_LOG:
        return None
    base = scaled[-1] ** (-spec.width / (2 * last))
    fits = all(
        math.isclose(w, base ** (-2 * k / spec.width), rel_tol=1e-9) for k, w in enumerate(scaled)
    )
    return base if fits else None


def looks_at_length(spec: Rotary) -> bool:
    """Whether the rule turns a text beyond the original length differently."""
    original = None if spec.scaling is None else spec.scaling.original_length
    return original is not None and spec.frequencies_at(original + 1) != spec.frequencies


def grows(spec: Rotary) -> bool:
    """Whether it does so more and more, the longer the text is."""
    original = None if spec.scaling is None else spec.scaling.original_length
    if original is None:
        return False
    return spec.frequencies_at(2 * original) != spec.frequencies_at(original + 1)


def unfinished(frequencies: Sequence[float], length: int) -> list[int]:
    """Pairs that turn, but not once around within so many tokens.

    Example:
        >>> unfinished((1.0, 0.01, 0.0), 600)
        [1]
    """
    return [k for k, w in enumerate(frequencies) if 0 < w * length < math.tau]


def unseen(
    scaled: Sequence[float], length: int, *, trained: Sequence[float], trained_length: int
) -> dict[int, float]:
    """Pairs that come to angles which training never showed, and how many times as far.

    A pair that went around once in training has seen every angle.

    Args:
        scaled: radians per token now.
        length: of the text now.
        trained: radians per token in training.
        trained_length: of the texts there.
    Example:
        >>> unseen((1.0, 0.01), 400, trained=(1.0, 0.01), trained_length=100)
        {1: 4.0}
    """
    times = {
        k: float(scaled[k] * length / (trained[k] * trained_length))
        for k in unfinished(trained, trained_length)
    }
    return {k: ratio for k, ratio in times.items() if ratio > 1 + 1e-9}


def _divisors(spec: Rotary, length: int | None) -> list[float]:
    """Of each pair; rounded where only float64 tells it from another."""
    divisors = []
    for before, after in zip(spec.unscaled, spec.frequencies_at(length), strict=True):
        divisor = float(before) / float(after) if after else math.inf
        divisors.append(float(f"{divisor:.12g}"))
    return divisors


def _alike(divisors: Sequence[float]) -> list[Run]:
    """Neighbours with the same divisor."""
    alike: list[Run] = []
    for k, divisor in enumerate(divisors):
        if alike and alike[-1].most == divisor:
            alike[-1] = alike[-1]._replace(last=k)
        else:
            alike.append(Run(k, k, divisor, divisor))
    return alike


def _flat(run: Run) -> bool:
    """Whether its pairs are slowed alike, and it is more than a step of a ramp."""
    return run.least == run.most and (run.last > run.first or run.least in (1.0, math.inf))
