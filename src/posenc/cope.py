"""Positions that count only the tokens a query cares for (CoPE)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from posenc import _arrays, _checks, attention, distances
from posenc._arrays import Array, Bool, Float, Int


@dataclass(frozen=True, kw_only=True)
class Cope:
    """Contextual position encoding: it counts the keys that a query lets count, by gates.

    gate[i, j]     = sigmoid(queries[i] . keys[j] * scale) where i sees j, else 0
    position[i, j] = min(sum of gate[i, t] over t from j to i, length - 1)
    logits[i, j]   = (queries[i] . (keys[j] + embeddings[position[i, j]])) * scale
    scale = 1 / sqrt(dim)

    Between two whole positions queries . embeddings is interpolated. Heads count apart and share
    the embeddings.

    Args:
        dim: width of a head.
        length: how many embeddings there are; a count beyond the last one stays there.
        gate: what the sigmoid takes: "scaled" logits (the authors' code) or "raw" ones (the text
            of the paper).
    Raises:
        TypeError: a field has the wrong type.
        ValueError: a field has no valid value.
    Example:
        >>> Cope(dim=64, length=128).weights
        {'embeddings': (128, 64)}

    Source: Golovneva et al. 2024, arXiv:2405.18719, section 4; "scaled" and where the scale
    goes: facebookresearch/RAM, projects/cope/src/cope/context_position.py.
    """

    dim: int
    length: int
    gate: Literal["scaled", "raw"] = "scaled"

    def __post_init__(self) -> None:
        _checks.integer("dim", self.dim, at_least=1)
        _checks.integer("length", self.length, at_least=1)
        _checks.one_of("gate", self.gate, ("scaled", "raw"))

    @property
    def scale(self) -> float:
        """The multiplier of queries . keys that the score term goes with."""
        return 1.0 / math.sqrt(self.dim)

    @property
    def weights(self) -> dict[str, tuple[int, ...]]:
        """The trained array: name and shape."""
        return {"embeddings": (self.length, self.dim)}

    def initial_weights(self, seed: int = 0) -> dict[str, np.ndarray]:
        """Fresh arrays: zeros.

        Args:
            seed: taken as everywhere, and without effect.
        Returns:
            {"embeddings": float32 of shape (length, dim)}.
        Example:
            >>> Cope(dim=1, length=3).initial_weights()["embeddings"].tolist()
            [[0.0], [0.0], [0.0]]

        Source: facebookresearch/RAM, projects/cope/src/cope/context_position.py.
        """
        return {name: np.zeros(shape, np.float32) for name, shape in self.weights.items()}

    def count(
        self,
        queries: Float[Array, "*batch heads queries dim"],
        keys: Float[Array, "*batch heads keys dim"],
        query_positions: Int[Array, "*#batch queries"],
        key_positions: Int[Array, "*#batch keys"],
        *,
        mask: Bool[Array, "*pairs"] | None = None,
    ) -> Float[Array, "*batch heads queries keys"]:
        """How many tokens each query counts from each key up to itself.

        position[i, j] = min(sum of gate[i, t] over visible t from j on, length - 1)

        Args:
            queries: features last.
            keys: features last, as many heads as queries, in the order of their positions.
            query_positions: where the queries stand, (queries,) or (*batch, queries). A query
                sees no key beyond.
            key_positions: where the keys stand, (keys,) or (*batch, keys).
            mask: true where a query may see a key, broadcastable to the result: padding and
                other documents must not be counted.
        Returns:
            (*batch, heads, queries, keys); never half precision, which cannot count.
        Raises:
            TypeError: vectors hold no floats, positions no integers or `mask` no booleans.
            ValueError: shapes do not fit each other.
        Example:
            >>> import numpy as np
            >>> spec = Cope(dim=1, length=9)
            >>> zero, at = np.zeros((1, 3, 1)), np.arange(3)
            >>> spec.count(zero, zero, at, at).tolist()
            [[[0.5, 0.0, 0.0], [1.0, 0.5, 0.0], [1.5, 1.0, 0.5]]]

        Source: Golovneva et al. 2024, arXiv:2405.18719, section 4.
        """
        attention.check_vectors("queries", queries, query_positions, dim=self.dim)
        attention.check_vectors("keys", keys, key_positions, dim=self.dim)
        xp = _arrays.namespace(queries, keys)
        work = _arrays.working_dtype(queries)
        visible = (distances.between(query_positions, key_positions) >= 0)[..., None, :, :]
        if mask is not None:
            if not _arrays.is_bool(mask):
                raise TypeError(f"`mask` must hold booleans; got {mask.dtype}.")
            visible = visible & mask
        logits = xp.matmul(xp.astype(queries, work), xp.matrix_transpose(xp.astype(keys, work)))
        logits = xp.astype(logits, work)  # autocast gives half precision, and that cannot count
        gates = attention.sigmoid(logits * self.scale if self.gate == "scaled" else logits)
        gates = xp.where(visible, gates, 0.0)
        counts = xp.flip(_arrays.running_sum(xp.flip(gates, axis=-1)), axis=-1)
        return xp.clip(counts, None, self.length - 1)

    def score_term(
        self,
        queries: Float[Array, "*batch heads queries dim"],
        keys: Float[Array, "*batch heads keys dim"],
        query_positions: Int[Array, "*#batch queries"],
        key_positions: Int[Array, "*#batch keys"],
        *,
        embeddings: Float[Array, "length dim"],
        mask: Bool[Array, "*pairs"] | None = None,
        dtype: Any = None,
    ) -> Float[Array, "*batch heads queries keys"]:
        """What to add to queries @ keys^T * scale. The causal mask is still to be applied.

        term[..., h, i, j] = queries[..., h, i] . embeddings[position[..., h, i, j]] * scale

        Args:
            queries: see `count`.
            keys: see `count`.
            query_positions: see `count`.
            key_positions: see `count`.
            embeddings: see `weights`.
            mask: see `count`.
            dtype: of the result; that of `queries` by default. The cast to it is the last step.
        Returns:
            (*batch, heads, queries, keys).
        Raises:
            TypeError: vectors or weights hold no floats, positions no integers or `mask` no
                booleans.
            ValueError: shapes do not fit each other.
        Example:
            >>> import numpy as np
            >>> spec = Cope(dim=1, length=9)
            >>> x, at = np.ones((1, 2, 1)), np.arange(2)
            >>> ramp = np.arange(9.0)[:, None]    # then the term is the count itself
            >>> spec.score_term(x, x, at, at, embeddings=ramp).round(4).tolist()
            [[[0.7311, 0.0], [1.4621, 0.7311]]]

        Source: Golovneva et al. 2024, arXiv:2405.18719, section 4.
        """
        attention.check_weight("embeddings", embeddings, self.weights["embeddings"], like=queries)
        count = self.count(queries, keys, query_positions, key_positions, mask=mask)
        xp = _arrays.namespace(queries)
        table = xp.matrix_transpose(xp.astype(embeddings, count.dtype))
        scores = xp.matmul(xp.astype(queries, count.dtype), table) * self.scale
        below = xp.floor(count)
        low = attention.pick(scores, attention.whole(below))
        high = attention.pick(scores, attention.whole(xp.ceil(count)))
        term = low + (count - below) * (high - low)
        return xp.astype(term, queries.dtype if dtype is None else dtype)
