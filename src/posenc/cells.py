"""Queries and keys that are cells of a grid: how far apart, and whether inside."""

from __future__ import annotations

from typing import Any

from posenc import _arrays, distances
from posenc._arrays import Array, Bool, Int


def offsets(
    query_positions: Int[Array, "*#batch queries 2"], key_positions: Int[Array, "*#batch keys 2"]
) -> tuple[Int[Array, "*batch queries keys"], Int[Array, "*batch queries keys"]]:
    """How many rows and how many columns each query stands beyond each key.

    Args:
        query_positions: row and column of each query, (*batch, queries, 2).
        key_positions: row and column of each key, (*batch, keys, 2).
    Returns:
        Two arrays of (*batch, queries, keys), integers.
    Raises:
        TypeError: positions are no arrays of integers.
        ValueError: positions have no rows and columns, or do not fit each other.
    Example:
        >>> import numpy as np
        >>> rows, columns = offsets(np.asarray([[1, 2]]), np.asarray([[0, 0], [3, 2]]))
        >>> rows.tolist(), columns.tolist()
        ([[1, -2]], [[2, 0]])
    """
    check_positions("query_positions", query_positions)
    check_positions("key_positions", key_positions)
    rows, columns = (
        distances.between(query_positions[..., axis], key_positions[..., axis]) for axis in (0, 1)
    )
    return rows, columns


def check_size(name: str, grid: Any) -> None:
    """Refuse what is no (rows, columns)."""
    if (
        not isinstance(grid, tuple)
        or len(grid) != 2
        or any(isinstance(size, bool) or not isinstance(size, int) for size in grid)
    ):
        raise TypeError(f"`{name}` must be a tuple of two integers (rows, columns); got {grid!r}.")
    if min(grid) < 1:
        raise ValueError(f"`{name}` must have at least one row and one column; got {grid}.")


def check_positions(name: str, positions: Any) -> None:
    """Refuse positions that are no (..., tokens, 2): row and column of each token."""
    _arrays.namespace(positions)
    if positions.ndim < 2 or positions.shape[-1] != 2:
        raise ValueError(
            f"`{name}` must give row and column of each token, shape (..., tokens, 2), as "
            f"posenc.positions.grid makes them; got {tuple(positions.shape)}."
        )


def refuse_outside(inside: Bool[Array, "*pairs"], why: str) -> None:
    """Refuse positions that are not all inside, where they can be looked at.

    Where they cannot (traced, or on an accelerator) the caller turns them into NaN.
    """
    xp = _arrays.namespace(inside)
    if _arrays.readable(inside) and not bool(xp.all(inside)):
        raise ValueError(f"{why}; {int(xp.sum(xp.astype(~inside, xp.int32)))} do not.")
