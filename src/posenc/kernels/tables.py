"""Cosines and sines made fast: `posenc.angles.cos_sin` as a fused loop, as exact.

The turn of a pair in one position is a whole number of 2^-64 turns, so that a position times it,
modulo 2^64, is the fraction of a turn without any rounding. Quadrants are its two highest bits;
what remains is at most an eighth of a turn, where a short polynomial in float64 is enough.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from posenc.kernels import threads as _threads

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

    def work(first: int, last: int) -> None:
        _cos_sin(positions, turns, factor, cos, sin, first, last)

    parts = 1 + cos.size // _ANGLES_A_THREAD
    _threads.split(work, len(positions), threads=min(threads, parts))
    return cos, sin


@njit(nogil=True, cache=True, fastmath={"contract"})
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
