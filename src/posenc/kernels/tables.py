"""Cosines and sines made fast: `posenc.angles.cos_sin` as a fused loop, as exact.

The turn of a pair in one position is a whole number of 2^-64 turns, so that a position times it,
modulo 2^64, is the fraction of a turn without any rounding. Quadrants are its two highest bits;
what remains is at most an eighth of a turn, where a short polynomial in float64 is enough.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from numba import carray, cfunc, njit, types  # pyright: ignore[reportPrivateImportUsage]

from posenc.kernels import threads as _threads
from posenc.kernels.floats import at

_ANGLES_A_THREAD = 1 << 13
_RADIANS = math.tau / 2**64

# Taylor series: up to pi / 4 what is left out is below 7e-12, a thousandth of what float32 shows.
_SIN = tuple((-1) ** k / math.factorial(2 * k + 1) for k in range(6))
_COS = tuple((-1) ** k / math.factorial(2 * k) for k in range(7))


def cos_sin(
    positions: np.ndarray, turns: np.ndarray, factor: float, *, threads: int
) -> tuple[np.ndarray, np.ndarray]:
    """Cosine and sine of position times frequency, times `factor`.

    Args:
        positions: whole numbers below 2^31, int64, one axis.
        turns: how far each pair turns in one position, in 2^-64 turns, uint64.
        factor: the attention factor.
        threads: how many may work at it.
    Returns:
        Two float32 arrays, one row a position and one entry a pair, within 3.1e-8 times `factor`
        of the true value.
    """
    cos = np.empty((len(positions), len(turns)), dtype=np.float32)
    sin = np.empty_like(cos)
    places = (array.ctypes.data for array in (positions, turns, cos, sin))
    arguments = (*places, *cos.shape, factor)
    threads = min(threads, 1 + cos.size // _ANGLES_A_THREAD)
    if cos.size:
        _threads.share(_shared(), _JOB, arguments, len(positions), threads)
    return cos, sin


_JOB = _threads.fields(
    *((name, np.int64) for name in ("positions", "turns", "cos", "sin", "tokens", "pairs")),
    ("factor", np.float64),
)


@lru_cache(maxsize=1)
def _shared() -> Any:
    """`_cos_sin` for several threads."""

    @cfunc(types.void(types.voidptr), cache=True)
    def loop(address):
        job = carray(address, 1, _JOB)[0]
        positions = carray(at(job.positions, 0, np.int64(0)), job.tokens)
        turns = carray(at(job.turns, 0, np.uint64(0)), job.pairs)
        shape = (job.tokens, job.pairs)
        cos = carray(at(job.cos, 0, np.float32(0)), shape)
        sin = carray(at(job.sin, 0, np.float32(0)), shape)
        first, last = _threads.next_part(address)
        while first < last:
            _cos_sin(positions, turns, job.factor, cos, sin, first, last)
            first, last = _threads.next_part(address)

    return loop


@njit(fastmath={"contract"})
def _cos_sin(positions, turns, factor, cos, sin, first, last):
    s1, s3, s5, s7, s9, s11 = _SIN
    c0, c2, c4, c6, c8, c10, c12 = _COS
    for p in range(first, last):
        position = np.uint64(positions[p])
        cos_row, sin_row = cos[p], sin[p]
        for k in range(len(turns)):
            turn = position * turns[k]
            quadrant = (turn + np.uint64(1 << 61)) >> np.uint64(62)
            rest = np.int64(turn - (quadrant << np.uint64(62)))
            x = np.float64(rest) * _RADIANS
            y = x * x
            s = x * (s1 + y * (s3 + y * (s5 + y * (s7 + y * (s9 + y * s11)))))
            c = c0 + y * (c2 + y * (c4 + y * (c6 + y * (c8 + y * (c10 + y * c12)))))
            swapped = quadrant & np.uint64(1)
            one, other = (s, c) if swapped else (c, s)
            minus_one = ((quadrant + np.uint64(1)) & np.uint64(2)) != np.uint64(0)
            minus_other = (quadrant & np.uint64(2)) != np.uint64(0)
            cos_row[k] = np.float32(factor * (-one if minus_one else one))
            sin_row[k] = np.float32(factor * (-other if minus_other else other))
