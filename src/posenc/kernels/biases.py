"""Biases that follow from distance, written in one pass: each number of the mask once.

The formulas make the distances, their conversion and the product one after another, all of the
size of the mask. Here a number is made where it goes. Equal to the formulas bit for bit.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import carray, njit  # pyright: ignore[reportPrivateImportUsage]

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
        query_positions: (batch, queries), int64.
        key_positions: (batch, keys), int64.
        slopes: (heads,), float64.
        out: the address of (batch, heads, queries, keys) numbers in a row.
        like: of `floats.BITS`, the kind of `out`; not float64.
        direction: of `DIRECTIONS`.
        threads: how many may work at it.
    """

    def work(first: int, last: int) -> None:
        _alibi(query_positions, key_positions, slopes, out, like, direction, first, last)

    _split(work, query_positions, key_positions, len(slopes), threads)


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

    def work(first: int, last: int) -> None:
        _by_distance(query_positions, key_positions, values, out, like, first, last)

    _split(work, query_positions, key_positions, len(values), threads)


def _split(work: Any, queries: np.ndarray, keys: np.ndarray, heads: int, threads: int) -> None:
    """Let threads share the rows of the mask: (batch, heads, queries) of them."""
    rows = queries.size * heads
    parts = 1 + rows * keys.shape[-1] // _NUMBERS_A_THREAD
    _threads.split(work, rows, threads=min(threads, parts))


@njit(inline="always")
def _place(row, queries, heads):
    """Batch, head and query of a row of the mask."""
    return row // queries // heads, row // queries % heads, row % queries


@njit(nogil=True, cache=True)
def _alibi(query_positions, key_positions, slopes, out, like, direction, first, last):
    queries, keys = query_positions.shape[1], key_positions.shape[1]
    for row in range(first, last):
        batch, head, query = _place(row, queries, len(slopes))
        mask = carray(at(out, row * keys, like), keys)
        at_query, at_key, slope = (
            query_positions[batch, query],
            key_positions[batch],
            slopes[head],
        )
        for k in range(keys):
            distance = at_query - at_key[k]
            near = np.float64(-abs(distance))
            if direction == 2 and distance > 0:
                near += 0.5
            number = np.float32(slope * near)
            if direction == 0 and distance < 0:
                number = np.float32(-math.inf)
            mask[k] = store(like, number)


@njit(nogil=True, cache=True)
def _by_distance(query_positions, key_positions, values, out, like, first, last):
    queries, keys = query_positions.shape[1], key_positions.shape[1]
    far = values.shape[1] // 2
    for row in range(first, last):
        batch, head, query = _place(row, queries, len(values))
        mask = carray(at(out, row * keys, like), keys)
        at_query, at_key, of_head = (
            query_positions[batch, query],
            key_positions[batch],
            values[head],
        )
        for k in range(keys):
            distance = at_query - at_key[k]
            mask[k] = of_head[min(max(distance, -far), far) + far]
