"""Pairs of features turned in one pass over memory: `posenc.rotary.rotate` as a fused loop.

The formula reads and writes its input several times and makes temporaries of its size. Here each
number is read once and written once. A tile of positions is turned for all heads before the next
tile, so that cosines and sines stay in the cache; nothing is allocated.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numba import carray, njit  # pyright: ignore[reportPrivateImportUsage]

from posenc.kernels import threads as _threads
from posenc.kernels.floats import at, load, store

# Positions turned for all heads before the next: cosines and sines of 1,024 stay in the second
# cache, and every head is read in long pieces. Fewer where threads would get none.
_LARGEST_TILE = 1024
_SMALLEST_TILE = 64
_NUMBERS_A_THREAD = 1 << 16  # waking a thread costs as much as turning some 50,000 numbers


class Plan(NamedTuple):
    """How to walk through the tokens: the axes of `x` before its features, put in order.

    walk     two rows: the axis along which positions vary most, and the axis (heads) along which
             they do not; of each how many, and the steps in x, in the result and in the table
    starts   where the walk begins in x, in the result and in the table, for all further axes
    """

    walk: np.ndarray
    starts: np.ndarray
    length: int
    """How many positions the first axis of a walk has."""
    tokens: int


@lru_cache(maxsize=1024)
def plan(
    shape: tuple[int, ...],
    x_steps: tuple[int, ...],
    out_steps: tuple[int, ...],
    table_shape: tuple[int, ...],
    table_steps: tuple[int, ...],
) -> Plan:
    """Order the loops by what varies along each axis, once for each kind of input.

    Args:
        shape: of `x` without its features.
        x_steps: how many numbers lie between neighbours along each axis of `x`.
        out_steps: the same for the result.
        table_shape: of cos without its pairs; each axis equal or 1, axes in front may lack.
        table_steps: how many numbers lie between neighbours along each axis of cos.
    Returns:
        The order.
    """
    lacking = (0,) * (len(shape) - len(table_shape))
    rows = [0 if n == 1 else step for n, step in zip(table_shape, table_steps, strict=True)]
    steps = zip(shape, x_steps, out_steps, (*lacking, *rows), strict=True)
    axes = [axis for axis in steps if axis[0] != 1]
    chosen = [_longest(axes, moving=True), _longest(axes, moving=False)]
    walk = [(1, 0, 0, 0) if i is None else axes[i] for i in chosen]
    starts = np.zeros((1, 3), dtype=np.int64)
    for i, (size, *step) in enumerate(axes):
        if i not in chosen:
            along = np.arange(size)[:, None] * np.asarray(step)
            starts = (starts[:, None] + along).reshape(-1, 3)
    return Plan(np.asarray(walk, dtype=np.int64), starts, walk[0][0], math.prod(shape))


def _longest(axes: list[tuple[int, ...]], *, moving: bool) -> int | None:
    found = [i for i, axis in enumerate(axes) if bool(axis[3]) == moving]
    return max(found, key=lambda i: axes[i][0], default=None)


def turn(
    x: int,
    out: int,
    cos: int,
    sin: int,
    order: Plan,
    *,
    like: Any,
    dim: int,
    half: int,
    interleaved: bool,
    threads: int,
) -> None:
    """Turn pairs of features by angles given as cosine and sine; features beyond them stay.

    Equal to `posenc.rotary.rotate` bit for bit. It reads and writes memory as it is told: whoever
    calls has checked that `order` and the addresses belong together.

    Args:
        x: the address of the first number; neighbouring features are neighbours in memory.
        out: likewise for the result; the same address turns in place, other memory must not
            overlap.
        cos: likewise for the cosines: float32, or float64 for float64.
        sin: likewise for the sines, with the steps of `cos`.
        order: how to walk.
        like: of `floats.BITS`, the kind of `x`.
        dim: features of a token.
        half: pairs of a token, which come first.
        interleaved: whether features 2k and 2k + 1 are a pair, else k and k + half.
        threads: how many may work at it.
    """
    walk, starts, length, tokens = order
    threads = min(threads, 1 + tokens * dim // _NUMBERS_A_THREAD)
    share = length * len(starts) // (2 * threads)
    tile = min(max(share, _SMALLEST_TILE), _LARGEST_TILE)
    items = -(-length // tile) * len(starts)
    if threads == 1:
        _turn(x, out, cos, sin, walk, starts, like, dim, half, interleaved, tile, 0, items)
        return

    def work(first: int, last: int) -> None:
        _turn(x, out, cos, sin, walk, starts, like, dim, half, interleaved, tile, first, last)

    _threads.split(work, items, threads=threads)


@njit(inline="always")
def _halves(one, other, first, second, cos, sin):
    for k in range(len(cos)):
        a, c = load(one[k]), load(other[k])
        first[k] = store(one[k], a * cos[k] - c * sin[k])
        second[k] = store(one[k], c * cos[k] + a * sin[k])


@njit(inline="always")
def _neighbours(row, turned, cos, sin):
    for k in range(len(cos)):
        a, c = load(row[2 * k]), load(row[2 * k + 1])
        turned[2 * k] = store(row[2 * k], a * cos[k] - c * sin[k])
        turned[2 * k + 1] = store(row[2 * k], c * cos[k] + a * sin[k])


@njit(inline="always")
def _token(x, out, c, s, dim, half, interleaved, in_place):
    # In place both sides must be one variable: only then can LLVM see that they do not overlap
    # by half a row, and use vector instructions.
    if interleaved:
        if in_place:
            _neighbours(x, x, c, s)
        else:
            _neighbours(x, out, c, s)
    else:
        one, other = x[:half], x[half : 2 * half]
        if in_place:
            _halves(one, other, one, other, c, s)
        else:
            _halves(one, other, out[:half], out[half : 2 * half], c, s)
    if not in_place:
        for k in range(2 * half, dim):
            out[k] = x[k]


@njit(nogil=True, cache=True)
def _turn(x, out, cos, sin, walk, starts, like, dim, half, interleaved, tile, first, last):
    length, x_step, out_step, table_step = walk[0]
    heads, x_head, out_head, _ = walk[1]
    tiles = -(-length // tile)
    one = load(like)  # of the kind of cosines
    for item in range(first, last):
        x_start, out_start, table_start = starts[item // tiles]
        begin = item % tiles * tile
        end = min(begin + tile, length)
        # In (batch, length, heads, dim) heads lie side by side in memory, so they come first.
        inner, outer = (heads, end - begin) if x_head < x_step else (end - begin, heads)
        for i in range(outer):
            for j in range(inner):
                p, h = (begin + i, j) if x_head < x_step else (begin + j, i)
                t = table_start + p * table_step
                _token(
                    carray(at(x, x_start + p * x_step + h * x_head, like), dim),
                    carray(at(out, out_start + p * out_step + h * out_head, like), dim),
                    carray(at(cos, t, one), half),
                    carray(at(sin, t, one), half),
                    dim,
                    half,
                    interleaved,
                    x == out,
                )
