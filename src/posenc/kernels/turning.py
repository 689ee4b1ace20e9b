"""Pairs of features turned in one pass over memory: `posenc.rotary.rotate` as a fused loop.

The formula reads and writes its input several times and makes temporaries of its size. Here each
number is read once and written once, as far as can be in the order of memory; a tile of positions
is turned for all heads before the next, so that cosines and sines stay in the cache. Nothing is
allocated.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numba import carray, cfunc, njit, types  # pyright: ignore[reportPrivateImportUsage]

from posenc.kernels import threads as _threads
from posenc.kernels.floats import at, load, store

# Positions turned for all heads before the next: cosines and sines of 4,096 stay in the last cache.
# (Those of 1,024 would stay in the second, but heads whose pieces lie a power of two apart get in
# each other's way there: a third slower in bfloat16.) Fewer where threads would get none.
_LARGEST_TILE = 4096
_SMALLEST_TILE = 64
_NUMBERS_A_THREAD = 1 << 16  # waking a thread costs as much as turning some 50,000 numbers


class Plan(NamedTuple):
    """How to walk through the tokens: the axes of `x` before its features, put in order.

    walk     two rows: the axis along which positions vary most, and the axis (heads) along which
             they do not; of each how many, and the steps in x, in the result and in the table
    starts   where the walk begins in x, in the result and in the table, for all further axes
    pieces   in how many pieces the heads of a tile are turned: one if they lie side by side
    length   how many positions the first axis of a walk has
    dim      features of a token
    half     pairs of a token, which come first
    threads  how many are worth waking
    """

    walk: np.ndarray
    starts: np.ndarray
    pieces: int
    length: int
    dim: int
    half: int
    threads: int


@lru_cache(maxsize=1024)
def plan(
    shape: tuple[int, ...],
    x_steps: tuple[int, ...],
    out_steps: tuple[int, ...],
    table: tuple[int, ...],
) -> Plan:
    """Order the loops by what varies along each axis, once for each kind of input.

    Args:
        shape: of `x`.
        x_steps: how many numbers lie between neighbours along each axis of `x`.
        out_steps: the same for the result.
        table: the shape of cos, whose rows follow each other in memory; each axis before the last
            equal or 1, axes in front may lack.
    Returns:
        The order.
    """
    *tokens, dim = shape
    *rows, half = table
    lacking = (0,) * (len(tokens) - len(rows))
    along = [0 if n == 1 else math.prod(table[i + 1 :]) for i, n in enumerate(rows)]
    steps = zip(tokens, x_steps[:-1], out_steps[:-1], (*lacking, *along), strict=True)
    axes = [axis for axis in steps if axis[0] != 1]
    chosen = [_longest(axes, moving=True), _longest(axes, moving=False)]
    walk = [(1, 0, 0, 0) if i is None else axes[i] for i in chosen]
    starts = np.zeros((1, 3), dtype=np.int64)
    for i, (size, *step) in enumerate(axes):
        if i not in chosen:
            along = np.arange(size)[:, None] * np.asarray(step)
            starts = (starts[:, None] + along).reshape(-1, 3)
    (length, x_step, *_), (heads, x_head, *_) = walk
    pieces = 1 if length == 1 or x_head < x_step else heads
    threads = 1 + math.prod(shape) // _NUMBERS_A_THREAD
    return Plan(np.asarray(walk, dtype=np.int64), starts, pieces, length, dim, half, threads)


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
        sin: likewise for the sines.
        order: how to walk.
        like: of `floats.BITS`, the kind of `x`.
        interleaved: whether features 2k and 2k + 1 are a pair, else k and k + half.
        threads: how many may work at it.
    """
    walk, starts, pieces, length, dim, half, most = order
    ways = len(starts) * pieces
    if threads <= 1 or most <= 1:
        tile = _LARGEST_TILE
        items = -(-length // tile) * ways
        _turn(x, out, cos, sin, walk, starts, pieces, like, dim, half, interleaved, tile, 0, items)
        return
    threads = min(threads, most)
    tile = min(max(length * ways // (4 * threads), _SMALLEST_TILE), _LARGEST_TILE)
    begin = (starts.ctypes.data, len(starts), pieces)
    arguments = (x, out, cos, sin, walk, *begin, dim, half, interleaved, tile)
    _threads.share(_shared(like), _JOB, arguments, -(-length // tile) * ways, threads)


_JOB = _threads.fields(
    *((name, np.int64) for name in ("x", "out", "cos", "sin")),
    ("walk", np.int64, (2, 4)),
    *((name, np.int64) for name in ("starts", "ways", "pieces")),
    *((name, np.int64) for name in ("dim", "half", "interleaved", "tile")),
)


@lru_cache(maxsize=4, typed=True)  # zeros of all kinds are equal
def _shared(like: Any) -> Any:
    """`_turn` for several threads."""

    @cfunc(types.void(types.voidptr), cache=True)
    def loop(address):
        job = carray(address, 1, _JOB)[0]
        starts = carray(at(job.starts, 0, np.int64(0)), (job.ways, 3))
        first, last = _threads.next_part(address)
        while first < last:
            _turn(
                job.x,
                job.out,
                job.cos,
                job.sin,
                job.walk,
                starts,
                job.pieces,
                like,
                job.dim,
                job.half,
                job.interleaved != 0,
                job.tile,
                first,
                last,
            )
            first, last = _threads.next_part(address)

    return loop


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
def _turn(x, out, cos, sin, walk, starts, pieces, like, dim, half, interleaved, tile, first, last):
    length, x_step, out_step, table_step = walk[0]
    heads, x_head, out_head, _ = walk[1]
    side_by_side = heads // pieces
    tiles = -(-length // tile)
    one = load(like)  # of the kind of cosines
    for item in range(first, last):
        x_start, out_start, table_start = starts[item // pieces // tiles]
        begin = item // pieces % tiles * tile
        tokens = min(tile, length - begin)
        head = item % pieces
        # The inner loop is the long one.
        inner, outer = (side_by_side, tokens) if side_by_side > 1 else (tokens, 1)
        for i in range(outer):
            for j in range(inner):
                p, h = (begin + i, j) if side_by_side > 1 else (begin + j, head)
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
