"""Sinusoidal vectors of the distance, met by the query and by trained biases (Transformer-XL)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from posenc import _arrays, _checks, attention, distances
from posenc._arrays import Array, Float, Int
from posenc.sinusoidal import Sinusoidal


@dataclass(frozen=True, kw_only=True)
class TransformerXL:
    """Relative attention of Transformer-XL: queries meet sinusoidal vectors of the distance.

    logits[h, i, j] = ((queries[h, i] + content_bias[h]) . keys[h, j]
                       + (queries[h, i] + position_bias[h]) . (projection R)[h]) * scale
    R = sinusoidal vector, [sin | cos], of query position - key position
    scale = 1 / sqrt(dim)

    Each distance is looked up by its number, so there is no relative shift, and nothing above
    the diagonal is left to chance.

    Args:
        heads: attention heads.
        dim: width of a head.
        model_dim: width of R.
        max_distance: keys farther behind look as if they stood there (clamp_len). A text no
            longer than this notices nothing.
        ahead: the same for keys ahead of the query; `max_distance` by default. 0 does half the
            work where a causal mask hides them.
        base: geometric range of the wavelengths of R.
    Raises:
        TypeError: a field has the wrong type.
        ValueError: a field has no valid value.
    Example:
        >>> spec = TransformerXL(heads=2, dim=4, model_dim=8, max_distance=16)
        >>> spec.weights
        {'projection': (8, 8), 'content_bias': (2, 4), 'position_bias': (2, 4)}

    Source: Dai et al. 2019, arXiv:1901.02860, section 3.3; clamp_len: kimiyoung/transformer-xl,
    pytorch/mem_transformer.py; keys ahead: Yang et al. 2019 (XLNet), arXiv:1906.08237.
    """

    heads: int
    dim: int
    model_dim: int
    max_distance: int
    ahead: int | None = None
    base: float = 10_000.0
    sinusoidal: Sinusoidal = field(init=False, repr=False, compare=False)
    """What R is made with."""

    def __post_init__(self) -> None:
        _checks.integer("heads", self.heads, at_least=1)
        _checks.integer("dim", self.dim, at_least=1)
        _checks.even("model_dim", self.model_dim)
        _checks.integer("max_distance", self.max_distance, at_least=0)
        if self.ahead is not None:
            _checks.integer("ahead", self.ahead, at_least=0)
        _checks.positive("base", self.base)
        sinusoidal = Sinusoidal(dim=self.model_dim, base=self.base, layout="half")
        object.__setattr__(self, "sinusoidal", sinusoidal)

    @property
    def scale(self) -> float:
        """The multiplier of queries . keys that the score term goes with."""
        return 1.0 / math.sqrt(self.dim)

    @property
    def weights(self) -> dict[str, tuple[int, ...]]:
        """The trained arrays: name and shape. The paper calls them W_k,R, u and v."""
        return {
            "projection": (self.heads * self.dim, self.model_dim),
            "content_bias": (self.heads, self.dim),
            "position_bias": (self.heads, self.dim),
        }

    def initial_weights(self, seed: int = 0) -> dict[str, np.ndarray]:
        """Fresh arrays: normal with standard deviation 0.02.

        Args:
            seed: of the random numbers.
        Returns:
            The arrays of `weights`, float32.
        Example:
            >>> spec = TransformerXL(heads=2, dim=4, model_dim=8, max_distance=16)
            >>> spec.initial_weights()["projection"].shape
            (8, 8)

        Source: kimiyoung/transformer-xl, pytorch/train.py (init_std).
        """
        return attention.normal(self.weights, std=0.02, seed=seed)

    def score_term(
        self,
        queries: Float[Array, "*batch heads queries dim"],
        keys: Float[Array, "*batch heads keys dim"],
        query_positions: Int[Array, "*#batch queries"],
        key_positions: Int[Array, "*#batch keys"],
        *,
        projection: Float[Array, "width model_dim"],
        content_bias: Float[Array, "heads dim"],
        position_bias: Float[Array, "heads dim"],
        dtype: Any = None,
    ) -> Float[Array, "*batch heads queries keys"]:
        """What to add to queries @ keys^T * scale.

        term = (content_bias . keys + (queries + position_bias) . (projection R)) * scale

        Args:
            queries: features last.
            keys: features last, as many heads as queries.
            query_positions: where the queries stand, (queries,) or (*batch, queries).
            key_positions: where the keys stand, (keys,) or (*batch, keys), remembered ones
                included.
            projection: see `weights`; one a layer (r_net.weight).
            content_bias: see `weights`; shared by all layers in the paper (r_w_bias).
            position_bias: see `weights`; shared by all layers in the paper (r_r_bias).
            dtype: of the result; that of `queries` by default. The cast to it is the last step.
        Returns:
            (*batch, heads, queries, keys).
        Raises:
            TypeError: vectors or weights hold no floats, or positions no integers.
            ValueError: shapes do not fit each other.
        Example:
            >>> import numpy as np
            >>> spec = TransformerXL(heads=1, dim=4, model_dim=4, max_distance=3)
            >>> q, k = np.asarray([[[1.0, 2, 3, 4]]]), np.asarray([[[0.5, -1, 0, 2]]])
            >>> term = spec.score_term(
            ...     q, k, np.asarray([3]), np.asarray([0]), projection=np.eye(4),
            ...     content_bias=np.full((1, 4), 0.1), position_bias=np.full((1, 4), -0.1),
            ... )
            >>> round(float((q @ k.swapaxes(-1, -2) * spec.scale + term)[0, 0, 0]), 6)
            3.930633

        Source: Dai et al. 2019, arXiv:1901.02860, section 3.3.
        """
        given = {
            "projection": projection,
            "content_bias": content_bias,
            "position_bias": position_bias,
        }
        attention.check_vectors("queries", queries, query_positions, dim=self.dim, heads=self.heads)
        attention.check_vectors("keys", keys, key_positions, dim=self.dim, heads=self.heads)
        attention.check_weights(self.weights, given, like=queries)
        xp = _arrays.namespace(queries, keys)
        work = _arrays.working_dtype(queries)
        content = xp.astype(keys, work) * xp.astype(content_bias, work)[:, None, :]
        position = self._by_distance(
            xp.astype(queries, work) + xp.astype(position_bias, work)[:, None, :],
            distances.between(query_positions, key_positions),
            xp.astype(projection, work),
        )
        term = (xp.sum(content, axis=-1)[..., None, :] + position) * self.scale
        return xp.astype(term, queries.dtype if dtype is None else dtype)

    def _by_distance(self, queries: Array, distance: Array, projection: Array) -> Array:
        """Every query with the vector of every distance, then the distance of each pair."""
        xp = _arrays.namespace(queries)
        ahead = self.max_distance if self.ahead is None else self.ahead
        steps = xp.arange(-ahead, self.max_distance + 1, device=_arrays.device(queries))
        vectors = self.sinusoidal.encode(steps, dtype=queries.dtype)
        vectors = xp.matmul(projection, xp.matrix_transpose(vectors))
        vectors = xp.reshape(vectors, (self.heads, self.dim, steps.shape[0]))
        index = xp.clip(distance, -ahead, self.max_distance) + ahead
        return attention.pick(xp.matmul(queries, vectors), index[..., None, :, :])
