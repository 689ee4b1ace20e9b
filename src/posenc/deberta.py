"""Content and position of both tokens met crosswise (DeBERTa's disentangled attention)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from posenc import _arrays, _checks, attention, distances
from posenc._arrays import Array, Float, Int


@dataclass(frozen=True, kw_only=True)
class Deberta:
    """Disentangled attention: content meets content, and each content meets distance.

    logits[h, i, j] = (queries[h, i] . keys[h, j]
                       + queries[h, i] . position_keys[h, D(i, j)]
                       + keys[h, j] . position_queries[h, D(i, j)]) * scale
    D(i, j) = clip(i - j + max_distance, 0, 2 max_distance - 1)      without buckets
    D(i, j) = bucket(i - j) + buckets                               with buckets
    scale = 1 / sqrt(dim * (1 + number of terms))

    Buckets hold one distance each up to buckets / 2 and widen as a logarithm from there to
    max_distance - 1, where all farther keys join the last one.

    Args:
        heads: attention heads.
        dim: width of a head.
        max_distance: from here on keys look alike (max_relative_positions).
        buckets: how many distances to each side are told apart (position_buckets: 256 over 512
            in versions 2 and 3); None for one row a distance, as in the first version.
        terms: "c2p" (content to position), "p2c" (position to content), or both.
        p2c_index: row of the third term: "code" (D(i, j), as in microsoft/DeBERTa and Hugging
            Face transformers, so as in every trained model) or "paper" (D(j, i)).
    Raises:
        TypeError: a field has the wrong type.
        ValueError: a field has no valid value.
    Example:
        >>> import numpy as np
        >>> spec = Deberta(heads=2, dim=8, max_distance=4)
        >>> spec.index(np.asarray([6]), np.arange(13)).tolist()
        [[7, 7, 7, 7, 6, 5, 4, 3, 2, 1, 0, 0, 0]]

    Source: He et al. 2020, arXiv:2006.03654, section 3.1; buckets and p2c_index="code":
    microsoft/DeBERTa, DeBERTa/deberta/da_utils.py and disentangled_attention.py.
    """

    heads: int
    dim: int
    max_distance: int = 512
    buckets: int | None = None
    terms: tuple[str, ...] = ("c2p", "p2c")
    p2c_index: Literal["code", "paper"] = "code"
    row_of: tuple[int, ...] = field(init=False, repr=False, compare=False)
    """The row of each distance, from -max_distance to max_distance."""

    def __post_init__(self) -> None:
        _checks.integer("heads", self.heads, at_least=1)
        _checks.integer("dim", self.dim, at_least=1)
        _checks.integer("max_distance", self.max_distance, at_least=1)
        if self.buckets is not None:
            _checks.multiple("buckets", self.buckets, 2, why="half of them hold one distance each")
            if self.buckets >= 2 * self.max_distance - 2:
                raise ValueError(
                    "`buckets` must be less than 2 * max_distance - 2, because half of them hold "
                    "one distance each and the rest reach max_distance - 1; got "
                    f"buckets={self.buckets}, max_distance={self.max_distance}."
                )
        _checks.one_of("terms", self.terms, (("c2p", "p2c"), ("c2p",), ("p2c",)))
        _checks.one_of("p2c_index", self.p2c_index, ("code", "paper"))
        last = self.max_distance
        row_of = tuple(self._row(distance) for distance in range(-last, last + 1))
        object.__setattr__(self, "row_of", row_of)

    @property
    def scale(self) -> float:
        """The multiplier of queries . keys that the score term goes with."""
        return 1.0 / math.sqrt(self.dim * (1 + len(self.terms)))

    @property
    def weights(self) -> dict[str, tuple[int, ...]]:
        """The trained arrays: name and shape; one array a term.

        In the published models both are projections of one table of relative embeddings that
        all layers share; versions 2 and 3 project it with the weights of keys and queries.
        """
        rows = 2 * (self.max_distance if self.buckets is None else self.buckets)
        names = {"c2p": "position_keys", "p2c": "position_queries"}
        return {names[term]: (self.heads, rows, self.dim) for term in self.terms}

    def initial_weights(self, seed: int = 0) -> dict[str, np.ndarray]:
        """Fresh arrays: normal with standard deviation 0.02, as the relative embeddings have.

        Args:
            seed: of the random numbers.
        Returns:
            The arrays of `weights`, float32.
        Example:
            >>> spec = Deberta(heads=2, dim=8, max_distance=4)
            >>> spec.initial_weights()["position_keys"].shape
            (2, 8, 8)

        Source: Hugging Face transformers, models/deberta_v2 (initializer_range).
        """
        return attention.normal(self.weights, std=0.02, seed=seed)

    def index(
        self,
        query_positions: Int[Array, "*#batch queries"],
        key_positions: Int[Array, "*#batch keys"],
    ) -> Int[Array, "*batch queries keys"]:
        """D(i, j): which row each pair of a query and a key looks up.

        Args:
            query_positions: where the queries stand, (*batch, queries).
            key_positions: where the keys stand, (*batch, keys).
        Returns:
            (*batch, queries, keys), integers.
        Raises:
            TypeError: positions are no arrays of integers.
            ValueError: positions do not fit each other, or one lies beyond 2**31.
        """
        return self._look_up(distances.between(query_positions, key_positions))

    def score_term(
        self,
        queries: Float[Array, "*batch heads queries dim"],
        keys: Float[Array, "*batch heads keys dim"],
        query_positions: Int[Array, "*#batch queries"],
        key_positions: Int[Array, "*#batch keys"],
        *,
        position_keys: Float[Array, "heads rows dim"] | None = None,
        position_queries: Float[Array, "heads rows dim"] | None = None,
        dtype: Any = None,
    ) -> Float[Array, "*batch heads queries keys"]:
        """What to add to queries @ keys^T * scale; mind that `scale` counts the terms.

        Args:
            queries: features last.
            keys: features last, as many heads as queries.
            query_positions: where the queries stand, (queries,) or (*batch, queries).
            key_positions: where the keys stand, (keys,) or (*batch, keys).
            position_keys: relative embeddings projected to keys and cut into heads; needed for
                "c2p".
            position_queries: relative embeddings projected to queries and cut into heads; needed
                for "p2c".
            dtype: of the result; that of `queries` by default. The cast to it is the last step.
        Returns:
            (*batch, heads, queries, keys).
        Raises:
            TypeError: vectors or weights hold no floats or are missing, or positions no integers.
            ValueError: shapes do not fit each other.
        Example:
            >>> import numpy as np
            >>> spec = Deberta(heads=1, dim=4, max_distance=4)
            >>> x, at = np.ones((1, 3, 4)), np.arange(3)
            >>> spec.score_term(x, x, at, at, **spec.initial_weights()).shape
            (1, 3, 3)

        Source: He et al. 2020, arXiv:2006.03654, section 3.1, equation 4.
        """
        given = {"position_keys": position_keys, "position_queries": position_queries}
        attention.check_vectors("queries", queries, query_positions, dim=self.dim, heads=self.heads)
        attention.check_vectors("keys", keys, key_positions, dim=self.dim, heads=self.heads)
        attention.check_weights(self.weights, given, like=queries)
        xp = _arrays.namespace(queries, keys)
        work = _arrays.working_dtype(queries)
        back = distances.between(query_positions, key_positions)
        parts = []
        if "c2p" in self.terms:
            scores = _scores(xp.astype(queries, work), position_keys)
            parts.append(attention.pick(scores, self._look_up(back)[..., None, :, :]))
        if "p2c" in self.terms:
            scores = _scores(xp.astype(keys, work), position_queries)
            index = self._look_up(back if self.p2c_index == "code" else -back)
            index = xp.matrix_transpose(index)[..., None, :, :]
            parts.append(xp.matrix_transpose(attention.pick(scores, index)))
        return xp.astype(sum(parts) * self.scale, queries.dtype if dtype is None else dtype)

    def _row(self, distance: int) -> int:
        if self.buckets is None:
            return min(distance + self.max_distance, 2 * self.max_distance - 1)
        return self.buckets + bucket(distance, buckets=self.buckets, max_distance=self.max_distance)

    def _look_up(self, distance: Int[Array, "*pairs"]) -> Int[Array, "*pairs"]:
        xp = _arrays.namespace(distance)
        rows = _arrays.constant(self.row_of, like=distance, dtype=distance.dtype)
        last = self.max_distance
        return attention.rows(rows, xp.clip(distance, -last, last) + last)


def bucket(distance: int, *, buckets: int, max_distance: int) -> int:
    """The bucket of a distance: itself when near, a logarithm when far, its sign kept.

    r                                                                         |r| <= middle
    sign(r) (middle + ceil(ln(|r| / middle) / ln(last / middle) (middle - 1)))   beyond
    middle = buckets / 2, last = max_distance - 1, and |r| at most `last`

    Hugging Face transformers does not stop at `last`: there keys `max_distance` or more ahead
    look up a row that no training text of that length ever reached.

    Args:
        distance: query position minus key position.
        buckets: how many distances to each side are told apart.
        max_distance: from here on distances share the last bucket.
    Returns:
        An integer from 1 - buckets to buckets - 1.
    Example:
        >>> [bucket(r, buckets=256, max_distance=512) for r in (128, 129, 200, 300, -512)]
        [128, 129, 169, 207, -255]

    Source: microsoft/DeBERTa, DeBERTa/deberta/da_utils.py, make_log_bucket_position.
    """
    middle, last = buckets // 2, max_distance - 1
    if abs(distance) <= middle:
        return distance
    share = math.log(min(abs(distance), last) / middle) / math.log(last / middle)
    size = middle + math.ceil(share * (middle - 1))
    return size if distance > 0 else -size


def _scores(vectors: Array, table: Array | None) -> Array:
    xp = _arrays.namespace(vectors)
    return xp.matmul(vectors, xp.matrix_transpose(xp.astype(table, vectors.dtype)))
