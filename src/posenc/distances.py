"""How far each query stands from each key, in whole tokens."""

from __future__ import annotations

import math
from typing import Literal

from posenc import _arrays, _checks
from posenc._arrays import Array, Float, Int

Direction = Literal["causal", "symmetric"]
"""Whether keys ahead of their query are hidden, or count like those behind."""


def between(
    query_positions: Int[Array, "*#batch queries"], key_positions: Int[Array, "*#batch keys"]
) -> Int[Array, "*batch queries keys"]:
    """The distance from every query back to every key.

    distance[..., i, j] = query_positions[..., i] - key_positions[..., j]

    Args:
        query_positions: where the queries stand, (*batch, queries). A decoding step has one.
        key_positions: where the keys stand, (*batch, keys). Batch axes broadcast, so plain
            (keys,) serves every row.
    Returns:
        (*batch, queries, keys), integers; see `relative`.
    Raises:
        TypeError: positions are no arrays of integers.
        ValueError: positions have no token axis, batch axes do not fit, or a position lies
            beyond 2**31.
    Example:
        >>> import numpy as np
        >>> between(np.asarray([2]), np.asarray([0, 1, 2, 3])).tolist()
        [[2, 1, 0, -1]]
    """
    check_axes(query_positions, key_positions)
    return relative(query_positions[..., :, None], key_positions[..., None, :])


def check_axes(query_positions: Array, key_positions: Array) -> None:
    """Refuse positions without an axis of tokens, and batch axes that do not fit each other."""
    _arrays.namespace(query_positions, key_positions)
    queries, keys = tuple(query_positions.shape), tuple(key_positions.shape)
    if not queries or not keys:
        raise ValueError(
            "`query_positions` and `key_positions` must have their tokens on the last axis; got "
            f"shapes {queries} and {keys}. One position alone is positions[None]."
        )
    rows = zip(reversed(queries[:-1]), reversed(keys[:-1]), strict=False)
    if any(one != other and 1 not in (one, other) for one, other in rows):
        raise ValueError(
            "`query_positions` and `key_positions` must agree in their axes before the last one, "
            f"because these count the rows of one batch; got shapes {queries} and {keys}."
        )


def relative(
    query_positions: Int[Array, "*#pairs"], key_positions: Int[Array, "*#pairs"]
) -> Int[Array, "*pairs"]:
    """Query position minus key position, element by element: above 0 where the key lies behind.

    Args:
        query_positions: integers, any shape.
        key_positions: integers, any shape that broadcasts with it.
    Returns:
        The broadcast shape, int64; int32 on JAX without x64, where the distance too must stay
        below 2**31.
    Raises:
        TypeError: positions are no arrays of integers.
        ValueError: a position lies beyond 2**31.
    Example:
        >>> import numpy as np
        >>> relative(np.asarray([3, 0]), np.asarray(1)).tolist()
        [2, -1]
    """
    _checks.integer_positions("query_positions", query_positions)
    _checks.integer_positions("key_positions", key_positions)
    # Widened first: 3 - 5 in uint8 would be 254.
    xp, wide = _arrays.namespace(query_positions), _arrays.widest_integer(query_positions)
    return xp.astype(query_positions, wide) - xp.astype(key_positions, wide)


def hide_ahead(
    bias: Float[Array, "*#pairs"], distance: Int[Array, "*#pairs"]
) -> Float[Array, "*pairs"]:
    """Minus infinity for keys ahead of their query, which softmax turns into 0.

    Args:
        bias: any shape.
        distance: query position minus key position, any shape that broadcasts with it.
    Returns:
        The broadcast shape, dtype of `bias`.
    Example:
        >>> import numpy as np
        >>> hide_ahead(np.asarray([-0.5, -0.5]), np.asarray([1, -1])).tolist()
        [-0.5, -inf]
    """
    return _arrays.namespace(bias, distance).where(distance < 0, -math.inf, bias)
