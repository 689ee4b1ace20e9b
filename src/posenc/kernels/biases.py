"""Biases that follow from distance, written in one pass: each number of the mask once.

The formulas make the distances, their conversion and the product one after another, all of the
size of the mask. Here a number is made where it goes. Equal to the formulas bit for bit.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from numba import carray, cfunc, njit, types  # pyright: ignore[reportPrivateImportUsage]

from posenc.kernels import threads as _threads
from posenc.kernels.floats import at, store

_NUMBERS_A_THREAD = 1 << 15

DIRECTIONS = {"causal": 0, "symmetric": 1, "asymmetric": 2}
"""The directions of `posenc.Alibi`, as `alibi` takes them."""


def alibi(
    query_positions: np.ndarray,
    key_positions: np.ndarray,
    slopes: np.ndarray,
    out: int,
    *,
    like: Any,
    direction: int,
    threads: int,
) -> None:
    """`posenc.Alibi.bias`: minus the slope of each head times the distance.

    Args:
        query_positions: (batch, queries), whole numbers in float64.
        key_positions: (batch, keys), likewise.
        slopes: (heads,), float64.
        out: the address of (batch, heads, queries, keys) numbers in a row.
        like: of `floats.BITS`, the kind of `out`; not float64.
        direction: of `DIRECTIONS`.
        threads: how many may work at it.
    """
    sizes = (*query_positions.shape, key_positions.shape[1], len(slopes), direction)
    arrays = (query_positions, key_positions, slopes)
    _run(_alibi_shared(like), arrays, out, sizes, threads)


def by_distance(
    query_positions: np.ndarray,
    key_positions: np.ndarray,
    values: np.ndarray,
    out: int,
    *,
    like: Any,
    threads: int,
) -> None:
    """A trained number for each head and distance; far ones share the last of their side.

    Args:
        query_positions: (batch, queries), int64.
        key_positions: (batch, keys), int64.
        values: (heads, 2 far + 1), bits of the kind `like`: distances from -far to far.
        out: the address of (batch, heads, queries, keys) numbers in a row.
        like: of `floats.BITS`.
        threads: how many may work at it.
    """
    sizes = (*query_positions.shape, key_positions.shape[1], *values.shape)
    arrays = (query_positions, key_positions, values)
    _run(_by_distance_shared(like), arrays, out, sizes, threads)


_JOB = _threads.fields(
    *((name, np.int64) for name in ("query_positions", "key_positions", "weights", "out")),
    *((name, np.int64) for name in ("batch", "queries", "keys", "heads", "option")),
)


def _run(
    loop: Any, arrays: tuple[np.ndarray, ...], out: int, sizes: tuple[int, ...], threads: int
) -> None:
    """Let threads share the rows of the mask: (batch, heads, queries) of them."""
    batch, queries, keys, heads, _ = sizes
    rows = batch * heads * queries
    threads = min(threads, 1 + rows * keys // _NUMBERS_A_THREAD)
    places = (array.ctypes.data for array in arrays)
    if rows:
        _threads.share(loop, _JOB, (*places, out, *sizes), rows, threads)


@njit(inline="always")
def _place(row, queries, heads):
    """Batch, head and query of a row of the mask."""
    return row // queries // heads, row // queries % heads, row % queries


@lru_cache(maxsize=4, typed=True)  # zeros of all kinds are equal
def _alibi_shared(like: Any) -> Any:
    """ALiBi's mask of numbers of the kind `like`."""

    @cfunc(types.void(types.voidptr), cache=True)
    def loop(address):
        job = carray(address, 1, _JOB)[0]
        queries, keys, heads, direction = job.queries, job.keys, job.heads, job.option
        slopes = carray(at(job.weights, 0, 0.0), heads)
        first, last = _threads.next_part(address)
        while first < last:
            for row in range(first, last):
                batch, head, query = _place(row, queries, heads)
                at_query = carray(at(job.query_positions, batch * queries, 0.0), queries)[query]
                at_key = carray(at(job.key_positions, batch * keys, 0.0), keys)
                mask = carray(at(job.out, row * keys, like), keys)
                _alibi_row(mask, at_query, at_key, slopes[head], like, direction)
            first, last = _threads.next_part(address)

    return loop


@njit(inline="always")
def _alibi_row(mask, at_query, at_key, slope, like, direction):
    for k in range(len(mask)):
        distance = at_query - at_key[k]
        near = 0.0 - abs(distance)  # not -abs(...), which would give -0.0 for the token itself
        if direction == 2 and distance > 0:
            near += 0.5
        number = np.float32(slope * near)
        if direction == 0 and distance < 0:
            number = np.float32(-math.inf)
        mask[k] = store(like, number)


@lru_cache(maxsize=4, typed=True)
def _by_distance_shared(like: Any) -> Any:
    """A mask looked up, of numbers of the kind `like`."""

    @cfunc(types.void(types.voidptr), cache=True)
    def loop(address):
        job = carray(address, 1, _JOB)[0]
        queries, keys, heads, width = job.queries, job.keys, job.heads, job.option
        first, last = _threads.next_part(address)
        while first < last:
            for row in range(first, last):
                batch, head, query = _place(row, queries, heads)
                at_query = carray(at(job.query_positions, batch * queries, 0), queries)[query]
                at_key = carray(at(job.key_positions, batch * keys, 0), keys)
                mask = carray(at(job.out, row * keys, like), keys)
                _looked_up(
                    mask, at_query, at_key, carray(at(job.weights, head * width, like), width)
                )
            first, last = _threads.next_part(address)

    return loop


@njit(inline="always")
def _looked_up(mask, at_query, at_key, values):
    far = len(values) // 2
    for k in range(len(mask)):
        distance = at_query - at_key[k]
        mask[k] = values[min(max(distance, -far), far) + far]
