"""A trained vector for each short distance, added to keys and to values (Shaw et al.)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from posenc import _arrays, _checks, attention, distances
from posenc._arrays import Array, Float, Int


@dataclass(frozen=True, kw_only=True)
class Shaw:
    """Relative position representations: trained vectors for distances, clipped far off.

    logits[h, i, j] = queries[h, i] . (keys[h, j] + key_table[c]) * scale
    outputs[h, i]   = sum over j of probabilities[h, i, j] * (values[h, j] + value_table[c])
    c = clip(key position - query position, -max_distance, ahead) + max_distance
    scale = 1 / sqrt(dim)

    All heads share the tables.

    Args:
        dim: width of a head.
        max_distance: keys farther behind than this look as if they stood there.
        ahead: the same for keys ahead of the query; `max_distance` by default. wav2vec2-BERT
            has 64 behind and 8 ahead.
        values: whether values have a table too. Later models leave it out.
    Raises:
        TypeError: a field has the wrong type.
        ValueError: a field has no valid value.
    Example:
        >>> import numpy as np
        >>> Shaw(dim=64, max_distance=2).index(np.arange(4), np.arange(4)).tolist()
        [[2, 3, 4, 4], [1, 2, 3, 4], [0, 1, 2, 3], [0, 0, 1, 2]]

    Source: Shaw et al. 2018, arXiv:1803.02155, sections 3.1 and 3.2; unequal sides: Hugging Face
    transformers, models/wav2vec2_bert.
    """

    dim: int
    max_distance: int
    ahead: int | None = None
    values: bool = True

    def __post_init__(self) -> None:
        _checks.integer("dim", self.dim, at_least=1)
        _checks.integer("max_distance", self.max_distance, at_least=0)
        if self.ahead is not None:
            _checks.integer("ahead", self.ahead, at_least=0)
        _checks.boolean("values", self.values)

    @property
    def scale(self) -> float:
        """The multiplier of queries . keys that the score term goes with."""
        return 1.0 / math.sqrt(self.dim)

    @property
    def weights(self) -> dict[str, tuple[int, ...]]:
        """The trained arrays: name and shape."""
        ahead = self.max_distance if self.ahead is None else self.ahead
        shape = (self.max_distance + ahead + 1, self.dim)
        return {"key_table": shape} | ({"value_table": shape} if self.values else {})

    def initial_weights(self, seed: int = 0) -> dict[str, np.ndarray]:
        """Fresh arrays: uniform within sqrt(6 / (rows + dim)) of 0 (Glorot).

        Args:
            seed: of the random numbers.
        Returns:
            The arrays of `weights`, float32.
        Example:
            >>> Shaw(dim=64, max_distance=2).initial_weights()["key_table"].shape
            (5, 64)

        Source: tensorflow/tensor2tensor, layers/common_attention.py, where the tables have no
        initialiser of their own, and TensorFlow's is this one.
        """
        draw = np.random.default_rng(seed)
        return {
            name: draw.uniform(-1, 1, shape).astype(np.float32)
            * np.float32((6 / sum(shape)) ** 0.5)
            for name, shape in self.weights.items()
        }

    def index(
        self,
        query_positions: Int[Array, "*#batch queries"],
        key_positions: Int[Array, "*#batch keys"],
    ) -> Int[Array, "*batch queries keys"]:
        """Which row of the tables each pair of a query and a key looks up.

        Args:
            query_positions: where the queries stand, (*batch, queries).
            key_positions: where the keys stand, (*batch, keys).
        Returns:
            (*batch, queries, keys), integers.
        Raises:
            TypeError: positions are no arrays of integers.
            ValueError: positions do not fit each other, or one lies beyond 2**31.
        """
        ahead = self.max_distance if self.ahead is None else self.ahead
        back = distances.between(query_positions, key_positions)
        xp = _arrays.namespace(back)
        return xp.clip(-back, -self.max_distance, ahead) + self.max_distance

    def score_term(
        self,
        queries: Float[Array, "*batch heads queries dim"],
        query_positions: Int[Array, "*#batch queries"],
        key_positions: Int[Array, "*#batch keys"],
        *,
        key_table: Float[Array, "rows dim"],
        dtype: Any = None,
    ) -> Float[Array, "*batch heads queries keys"]:
        """What to add to queries @ keys^T * scale.

        term[..., h, i, j] = queries[..., h, i] . key_table[c] * scale

        Args:
            queries: features last.
            query_positions: where they stand, (queries,) or (*batch, queries).
            key_positions: where the keys stand, (keys,) or (*batch, keys).
            key_table: see `weights`.
            dtype: of the result; that of `queries` by default. The cast to it is the last step.
        Returns:
            (*batch, heads, queries, keys).
        Raises:
            TypeError: `queries` or `key_table` holds no floats, positions no integers.
            ValueError: shapes do not fit each other.
        Example:
            >>> import numpy as np
            >>> spec = Shaw(dim=2, max_distance=2)
            >>> table = np.asarray([[0.1, 0], [0.2, 0], [0, 0], [0, 0.3], [0, 0.4]])
            >>> term = spec.score_term(
            ...     np.asarray([[[1.0, 2.0]]]), np.asarray([1]), np.arange(3), key_table=table
            ... )
            >>> term.round(4).tolist()
            [[[0.1414, 0.0, 0.4243]]]

        Source: Shaw et al. 2018, arXiv:1803.02155, section 3.3, equation 5.
        """
        attention.check_vectors("queries", queries, query_positions, dim=self.dim)
        attention.check_rows("`key_positions`", key_positions, like=queries)
        attention.check_weight("key_table", key_table, self.weights["key_table"], like=queries)
        xp = _arrays.namespace(queries)
        work = _arrays.working_dtype(queries)
        table = xp.astype(key_table, work) * self.scale
        scores = xp.matmul(xp.astype(queries, work), xp.matrix_transpose(table))
        index = self.index(query_positions, key_positions)
        term = attention.pick(scores, index[..., None, :, :])
        return xp.astype(term, queries.dtype if dtype is None else dtype)

    def value_term(
        self,
        probabilities: Float[Array, "*batch heads queries keys"],
        query_positions: Int[Array, "*#batch queries"],
        key_positions: Int[Array, "*#batch keys"],
        *,
        value_table: Float[Array, "rows dim"],
        dtype: Any = None,
    ) -> Float[Array, "*batch heads queries dim"]:
        """What to add to probabilities @ values.

        term[..., h, i] = sum over j of probabilities[..., h, i, j] * value_table[c]

        Args:
            probabilities: the softmax over keys.
            query_positions: where the queries stand, (queries,) or (*batch, queries).
            key_positions: where the keys stand, (keys,) or (*batch, keys).
            value_table: see `weights`.
            dtype: of the result; that of `probabilities` by default.
        Returns:
            (*batch, heads, queries, dim).
        Raises:
            TypeError: `probabilities` or `value_table` holds no floats, positions no integers.
            ValueError: shapes do not fit each other, or the spec has values=False.
        Example:
            >>> import numpy as np
            >>> spec = Shaw(dim=1, max_distance=1)
            >>> spec.value_term(
            ...     np.asarray([[[0.5, 0.5]]]), np.asarray([1]), np.asarray([0, 1]),
            ...     value_table=np.asarray([[4.0], [2.0], [9.0]]),
            ... ).tolist()
            [[[3.0]]]

        Source: Shaw et al. 2018, arXiv:1803.02155, section 3.1, equation 3.
        """
        if not self.values:
            raise ValueError("a spec with values=False has no value table, so no value term.")
        index = self.index(query_positions, key_positions)
        attention.check_vectors(
            "probabilities", probabilities, query_positions, dim=index.shape[-1]
        )
        attention.check_weight(
            "value_table", value_table, self.weights["value_table"], like=probabilities
        )
        xp = _arrays.namespace(probabilities)
        work = _arrays.working_dtype(probabilities)
        # Queries go first, so that the vectors of a query serve all its heads (section 3.3).
        vectors = attention.rows(xp.astype(value_table, work), index)
        heads_last = _arrays.moveaxis(xp.astype(probabilities, work), -3, -2)
        term = _arrays.moveaxis(xp.matmul(heads_last, vectors), -3, -2)
        return xp.astype(term, probabilities.dtype if dtype is None else dtype)
