"""Distances sorted into buckets, one trained bias for each bucket and head (T5)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from posenc import _arrays, _checks, attention, distances
from posenc._arrays import Array, Float, Int


@dataclass(frozen=True, kw_only=True)
class T5:
    """A trained bias that depends on how far the key lies behind or ahead, more coarsely far off.

    bias[h, i, j] = table[bucket(position of query i - position of key j), h]

    On each side the first half of the buckets hold one distance each; the others widen
    geometrically towards `max_distance`, and the last one holds all that is further.
    T5 adds it to scores that are not divided by the square root of the head's width: with a
    fused kernel give scale=1. The layers of a stack share one table; encoder and decoder have
    one each, and attention from decoder to encoder has none.

    Args:
        heads: how many query heads.
        buckets: rows of the table.
        max_distance: where buckets end: every distance from here on shares the last one.
        bidirectional: whether half the buckets are for keys ahead (encoders). Without it (decoders)
            a key ahead counts as distance 0 and needs a causal mask besides.
    Raises:
        TypeError: a field has the wrong type.
        ValueError: a field has no valid value.
    Example:
        >>> import numpy as np
        >>> code = T5(heads=1)
        >>> code.bucket(np.asarray([100]), np.asarray([0, 90, 99, 100, 101])).tolist()
        [[15, 8, 1, 0, 17]]
        >>> code.edges
        (0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91)

    Source: Raffel et al. 2019, arXiv:1910.10683, section 2.1; tensorflow/mesh,
    mesh_tensorflow/transformer/transformer_layers.py, _relative_position_bucket. Edges are
    those of the formula in whole numbers. Its float32 arithmetic puts one distance into a
    neighbouring bucket in 19 of 50,282 pairs of `buckets` and `max_distance` tried (2 to 160
    a side, up to 3000), and in none that a published model uses.
    """

    heads: int
    buckets: int = 32
    max_distance: int = 128
    bidirectional: bool = True
    edges: tuple[int, ...] = field(init=False, repr=False, compare=False)
    """The smallest distance of each bucket of one side."""

    def __post_init__(self) -> None:
        _checks.integer("heads", self.heads, at_least=1)
        _checks.boolean("bidirectional", self.bidirectional)
        if self.bidirectional:
            _checks.integer("buckets", self.buckets, at_least=4)
            _checks.multiple("buckets", self.buckets, 2, why="half of them are for keys ahead")
        else:
            _checks.integer("buckets", self.buckets, at_least=2)
        _checks.integer("max_distance", self.max_distance)
        side = self.buckets // 2 if self.bidirectional else self.buckets
        if self.max_distance <= side // 2:
            raise ValueError(
                f"`max_distance` must be greater than {side // 2}, because as many buckets hold "
                f"one distance each; got max_distance={self.max_distance}."
            )
        object.__setattr__(self, "edges", edges(side, self.max_distance))

    @property
    def weights(self) -> dict[str, tuple[int, ...]]:
        """The trained arrays: `table`, one row a bucket, one column a head."""
        return {"table": (self.buckets, self.heads)}

    def initial_weights(self, seed: int = 0) -> dict[str, np.ndarray]:
        """Arrays to start training from: uniform with variance 2 / (buckets + heads).

        Args:
            seed: of the random numbers.
        Returns:
            `table`, float32.
        Example:
            >>> T5(heads=8).initial_weights()["table"].shape
            (32, 8)

        Source: google-research/t5x, t5x/examples/t5/network.py.
        """
        bound = (6 / (self.buckets + self.heads)) ** 0.5
        table = np.random.default_rng(seed).uniform(-bound, bound, self.weights["table"])
        return {"table": table.astype(np.float32)}

    def bucket(
        self,
        query_positions: Int[Array, "*#batch queries"],
        key_positions: Int[Array, "*#batch keys"],
    ) -> Int[Array, "*batch queries keys"]:
        """The row of the table for every query and key.

        Args:
            query_positions: where the queries stand, (*batch, queries).
            key_positions: where the keys stand, (*batch, keys).
        Returns:
            (*batch, queries, keys), integers below `buckets`.
        Raises:
            TypeError: positions are no arrays of integers.
            ValueError: positions do not fit each other, or one lies beyond 2**31.
        Example:
            >>> import numpy as np
            >>> T5(heads=1, bidirectional=False).bucket(np.arange(3), np.arange(3)).tolist()
            [[0, 0, 0], [1, 0, 0], [2, 1, 0]]
        """
        distance = distances.between(query_positions, key_positions)
        return bucket(distance, self.edges, bidirectional=self.bidirectional)

    def bias(
        self,
        query_positions: Int[Array, "*#batch queries"],
        key_positions: Int[Array, "*#batch keys"],
        *,
        table: Float[Array, "buckets heads"],
        dtype: Any = None,
    ) -> Float[Array, "*batch heads queries keys"]:
        """What is added to the scores of every query, key and head.

        Args:
            query_positions: where the queries stand, (*batch, queries). A decoding step has one.
            key_positions: where the keys stand, (*batch, keys), cached ones first.
            table: the trained biases, (buckets, heads). Hugging Face calls it
                relative_attention_bias.weight.
            dtype: of the result; float32 by default.
        Returns:
            (*batch, heads, queries, keys).
        Raises:
            TypeError: positions are no arrays of integers, or `table` holds no floats.
            ValueError: shapes do not fit, or a position lies beyond 2**31.
        Example:
            >>> import numpy as np
            >>> code = T5(heads=4)
            >>> code.bias(np.arange(5), np.arange(7), **code.initial_weights()).shape
            (4, 5, 7)
        """
        xp = _arrays.namespace(query_positions, key_positions, table)
        attention.check_weight("table", table, self.weights["table"], like=query_positions)
        rows = self.bucket(query_positions, key_positions)
        values = xp.take(table.T, xp.reshape(rows, (-1,)), axis=1)
        values = _arrays.moveaxis(xp.reshape(values, (self.heads, *rows.shape)), 0, -3)
        return xp.astype(values, xp.float32 if dtype is None else dtype)

    def score(
        self,
        query_positions: Int[Array, "*#pairs"],
        key_positions: Int[Array, "*#pairs"],
        head: Int[Array, "*#pairs"],
        *,
        table: Float[Array, "buckets heads"],
    ) -> Float[Array, "*pairs"]:
        """The same, element by element, for use in a fused kernel.

        PyTorch's flex_attention takes lambda score, b, h, q, k: score + code.score(q, k, h,
        table=table), and scale=1.

        Args:
            query_positions: integers, any shape.
            key_positions: integers, any shape that broadcasts with it.
            head: the number of the head from 0, any shape that broadcasts with both.
            table: the trained biases, (buckets, heads).
        Returns:
            The broadcast shape, float32.
        Raises:
            TypeError: positions or `head` are no arrays of integers, or `table` holds no floats.
            ValueError: `table` has the wrong shape, a position lies beyond 2**31, or there is
                no such head.
        Example:
            >>> import numpy as np
            >>> table = np.arange(64.0).reshape(32, 2)
            >>> int(T5(heads=2).score(np.asarray(9), np.asarray(6), np.asarray(1), table=table))
            7
        """
        xp = _arrays.namespace(query_positions, key_positions, head, table)
        attention.check_weight("table", table, self.weights["table"], like=query_positions)
        _checks.head(head, self.heads)
        head = _arrays.signed(head)  # PyTorch takes uint8 for a mask
        distance = distances.relative(query_positions, key_positions)
        rows = bucket(distance, self.edges, bidirectional=self.bidirectional, fused=True)
        return xp.astype(table[rows, head], xp.float32)


def edges(side: int, max_distance: int) -> tuple[int, ...]:
    """The smallest distance of each bucket of one side, in whole numbers.

    bucket b of the wider ones starts at the first integer not below
    exact * (max_distance / exact) ** ((b - exact) / (side - exact)), exact = side // 2

    Args:
        side: how many buckets there are for keys behind, or for keys ahead.
        max_distance: where the last bucket would end.
    Returns:
        `side` integers, never falling.
    Example:
        >>> edges(8, 20)
        (0, 1, 2, 3, 4, 6, 9, 14)

    Source: tensorflow/mesh, mesh_tensorflow/transformer/transformer_layers.py,
    _relative_position_bucket.
    """
    exact = side // 2
    wide = side - exact
    far = range(exact, max_distance)
    # Both sides of the comparison to the power of `wide`, which makes them integers.
    powers = (exact ** (wide - step) * max_distance**step for step in range(wide))
    firsts = (exact + bisect_left(far, power, key=lambda n: n**wide) for power in powers)
    return (*range(exact), *firsts)


def bucket(
    distance: Int[Array, "*pairs"],
    edges: tuple[int, ...],
    *,
    bidirectional: bool,
    fused: bool = False,
) -> Int[Array, "*pairs"]:
    """Sort distances into buckets, exact at any distance.

    Args:
        distance: query position minus key position, any shape.
        edges: the smallest distance of each bucket of one side.
        bidirectional: whether keys ahead have buckets of their own, after those for keys behind.
        fused: compare with one edge after the other instead of looking the bucket up: slower,
            except in a fused kernel, which can hold numbers but no array.
    Returns:
        Shape of `distance`, integers.
    Example:
        >>> import numpy as np
        >>> bucket(np.asarray([5, 0, -5]), (0, 1, 2, 4), bidirectional=True).tolist()
        [3, 0, 7]
    """
    xp = _arrays.namespace(distance)
    far = xp.abs(distance) if bidirectional else xp.where(distance > 0, distance, 0)
    if fused:
        found = sum(xp.astype(far >= edge, far.dtype) for edge in edges)
    elif edges[-1] < _LISTED:  # faster than a search, which ONNX does not know
        counts = _arrays.constant(_counts(edges), like=far, dtype=far.dtype)
        near = xp.where(far < edges[-1], far, edges[-1])
        found = xp.reshape(xp.take(counts, xp.reshape(near, (-1,)), axis=0), far.shape)
    else:
        limits = _arrays.constant(edges, like=far, dtype=far.dtype)
        found = xp.searchsorted(limits, xp.reshape(far, (-1,)), side="right")
        found = xp.reshape(found, far.shape)
    ahead = len(edges) if bidirectional else 0
    return xp.where(distance < 0, found + (ahead - 1), found - 1)


_LISTED = 1 << 12
"""Last edges below this have a list of buckets for all distances; mostly it is 128."""


@_arrays.not_traced
def _counts(edges: tuple[int, ...]) -> list[int]:
    """How many edges each distance up to the last edge has reached."""
    return [bisect_right(edges, n) for n in range(edges[-1] + 1)]
