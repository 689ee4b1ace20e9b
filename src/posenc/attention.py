"""Queries, keys and trained tables: checked, looked up, and one score picked for each pair."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from posenc import _arrays
from posenc._arrays import Array, Float, Int, Num


def pick(
    scores: Float[Array, "*batch heads queries rows"], index: Int[Array, "*rows queries keys"]
) -> Float[Array, "*batch heads queries keys"]:
    """One of the scores of each query for each key: no table a pair is ever made.

    result[..., h, i, j] = scores[..., h, i, index[..., i, j]]

    Args:
        scores: of every query with every row of a table.
        index: which row belongs to the pair; alike for all heads, or with heads of its own.
            Batch axes broadcast.
    Returns:
        (*batch, heads, queries, keys), dtype of `scores`.
    Example:
        >>> pick(np.asarray([[[5.0, 6.0, 7.0]]]), np.asarray([[2, 0, 0, 1]])).tolist()
        [[[7.0, 5.0, 5.0, 6.0]]]
    """
    xp = _arrays.namespace(scores, index)
    index = xp.broadcast_to(whole(index), (*scores.shape[:-1], index.shape[-1]))
    if _arrays.is_torch(scores):
        # take_along_dim would hold torch.export to the lengths of its example.
        return xp.gather(scores, -1, index)
    return xp.take_along_axis(scores, index, axis=-1)


def rows(table: Num[Array, " rows *width"], index: Int[Array, "*pairs"]) -> Array:
    """The rows of a table that an array of indices names.

    Args:
        table: rows on the first axis.
        index: any shape, each from 0 to the number of rows less one.
    Returns:
        Shape of `index` with the axes of one row behind.
    Example:
        >>> rows(np.asarray([[1.0], [2.0]]), np.asarray([[1, 1, 0]])).tolist()
        [[[2.0], [2.0], [1.0]]]
    """
    xp = _arrays.namespace(table, index)
    flat = xp.take(table, xp.reshape(index, (-1,)), axis=0)
    return xp.reshape(flat, (*index.shape, *table.shape[1:]))


def whole(x: Array) -> Int[Array, "*shape"]:
    """Whole numbers or booleans as integers that can look up.

    Example:
        >>> whole(np.asarray([2.0])).tolist()
        [2]
    """
    return _arrays.namespace(x).astype(x, _arrays.widest_integer(x))


def sigmoid(x: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    """1 / (1 + exp(-x)), written so that nothing overflows.

    Example:
        >>> sigmoid(np.asarray([-1000.0, 0.0])).tolist()
        [0.0, 0.5]
    """
    return 0.5 + 0.5 * _arrays.namespace(x).tanh(0.5 * x)


def normal(
    shapes: Mapping[str, tuple[int, ...]], *, std: float, seed: int
) -> dict[str, np.ndarray]:
    """Float32 arrays from the normal distribution around 0, all of one stream of random numbers.

    Args:
        shapes: by the name of the array.
        std: standard deviation.
        seed: of the random numbers.
    Returns:
        An array for each name.
    Example:
        >>> normal({"table": (2, 3)}, std=0.02, seed=0)["table"].shape
        (2, 3)
    """
    random = np.random.default_rng(seed)
    draws = {name: std * random.standard_normal(shape) for name, shape in shapes.items()}
    return {name: draw.astype(np.float32) for name, draw in draws.items()}


def check_vectors(name: str, x: Any, positions: Any, *, dim: int, heads: int | None = None) -> None:
    """Refuse queries or keys that are no (*batch, heads, tokens, dim) or miss their positions."""
    _arrays.namespace(x, positions)
    if not _arrays.is_floating(x):
        raise TypeError(f"`{name}` must hold floating-point numbers; got {x.dtype}.")
    shape = tuple(x.shape)
    if len(shape) < 3 or shape[-1] != dim or heads not in (None, shape[-3]):
        axes = f"(*batch, {heads or 'heads'}, tokens, {dim})"
        raise ValueError(f"`{name}` must have shape {axes}; got {shape}.")
    if tuple(positions.shape[-1:]) != shape[-2:-1]:
        raise ValueError(
            f"`{name}` must have one position for each of its {shape[-2]} tokens; got positions "
            f"of shape {tuple(positions.shape)}."
        )
    check_rows(f"positions of `{name}`", positions, like=x)


def check_rows(name: str, positions: Any, *, like: Any) -> None:
    """Refuse positions whose batch axes could line up with the wrong axes of `like`."""
    rows, batch = tuple(positions.shape[:-1]), tuple(like.shape[:-3])
    padded = (1,) * (len(batch) - len(rows)) + rows
    if len(rows) > len(batch) or any(p != 1 and p != b for p, b in zip(padded, batch, strict=True)):
        raise ValueError(
            f"{name} must have one row of tokens for all, or one for each of the batch {batch}; "
            f"got shape {tuple(positions.shape)}."
        )


def check_weight(name: str, weight: Any, shape: tuple[int, ...], *, like: Any) -> None:
    """Refuse a trained array that is not of the library of `like` or not as `weights` tells."""
    if weight is None:
        raise TypeError(f"`{name}` must be given: a trained array of shape {shape}; got None.")
    _arrays.namespace(like, weight)
    if not _arrays.is_floating(weight):
        raise TypeError(f"`{name}` must hold floating-point numbers; got {weight.dtype}.")
    if tuple(weight.shape) != shape:
        raise ValueError(
            f"`{name}` must have shape {shape}, as `weights` tells; got {tuple(weight.shape)}."
        )


def check_weights(
    shapes: Mapping[str, tuple[int, ...]], given: Mapping[str, Any], *, like: Any
) -> None:
    """The same for each name of `weights`."""
    for name, shape in shapes.items():
        check_weight(name, given[name], shape, like=like)
