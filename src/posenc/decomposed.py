"""A query-dependent bias by row plus one by column (MViTv2, ViTDet, SAM)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from posenc import _arrays, _checks, attention, cells
from posenc._arrays import Array, Float, Int


@dataclass(frozen=True, kw_only=True)
class Decomposed:
    """Decomposed relative position bias of grids: a vector a row offset, one a column offset.

    logits[h, i, j] = queries[h, i] . keys[h, j] / sqrt(dim)
                      + queries[h, i] . rows[r] + queries[h, i] . columns[c]
    r = (row of i) * S // Q + (K - 1 - row of j) * S // K, S = max(Q, K)
    for query grids of Q rows and key grids of K rows; c likewise, by columns

    The queries of the two added terms are not divided by sqrt(dim). All heads share the tables.

    Args:
        dim: width of a head.
        grid: (rows, columns) of the queries.
        key_grid: (rows, columns) of the keys, which may be pooled; `grid` by default.
    Raises:
        TypeError: a field has the wrong type.
        ValueError: a field has no valid value.
    Example:
        >>> Decomposed(dim=64, grid=(14, 14)).weights
        {'rows': (27, 64), 'columns': (27, 64)}

    Source: Li et al. 2022 (MViTv2), arXiv:2112.01526, section 4.1; grids of unequal size:
    facebookresearch/mvit, mvit/models/attention.py; Hugging Face transformers, models/sam.
    """

    dim: int
    grid: tuple[int, int]
    key_grid: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        _checks.integer("dim", self.dim, at_least=1)
        cells.check_size("grid", self.grid)
        if self.key_grid is not None:
            cells.check_size("key_grid", self.key_grid)

    @property
    def scale(self) -> float:
        """The multiplier of queries . keys that the score term goes with."""
        return 1.0 / math.sqrt(self.dim)

    @property
    def weights(self) -> dict[str, tuple[int, ...]]:
        """The trained arrays: name and shape. A table of another length: see `resize`."""
        longest = [2 * max(pair) - 1 for pair in self._sides()]
        return {"rows": (longest[0], self.dim), "columns": (longest[1], self.dim)}

    def initial_weights(self, seed: int = 0) -> dict[str, np.ndarray]:
        """Fresh arrays: zeros.

        Args:
            seed: taken as everywhere, and without effect.
        Returns:
            The arrays of `weights`, float32.
        Example:
            >>> Decomposed(dim=1, grid=(2, 2)).initial_weights()["rows"].tolist()
            [[0.0], [0.0], [0.0]]

        Source: facebookresearch/detectron2, modeling/backbone/vit.py (rel_pos_zero_init).
        """
        return {name: np.zeros(shape, np.float32) for name, shape in self.weights.items()}

    def score_term(
        self,
        queries: Float[Array, "*batch heads queries dim"],
        query_positions: Int[Array, "*#batch queries 2"],
        key_positions: Int[Array, "*#batch keys 2"],
        *,
        rows: Float[Array, "row_offsets dim"],
        columns: Float[Array, "column_offsets dim"],
        dtype: Any = None,
    ) -> Float[Array, "*batch heads queries keys"]:
        """What to add to queries @ keys^T * scale.

        term[..., h, i, j] = queries[..., h, i] . (rows[r] + columns[c])

        Args:
            queries: features last, not divided by sqrt(dim).
            query_positions: row and column of each query, (queries, 2) or (*batch, queries, 2);
                for a whole grid posenc.positions.grid(rows, columns).
            key_positions: row and column of each key, (keys, 2) or (*batch, keys, 2).
            rows: see `weights` (rel_pos_h).
            columns: see `weights` (rel_pos_w).
            dtype: of the result; that of `queries` by default. The cast to it is the last step.
        Returns:
            (*batch, heads, queries, keys); NaN where a cell lies outside its grid and positions
            could not be looked at (traced, or on an accelerator).
        Raises:
            TypeError: `queries` or a weight holds no floats, or positions no integers.
            ValueError: shapes do not fit each other, or a cell lies outside its grid.
        Example:
            >>> from posenc import positions
            >>> spec, tokens = Decomposed(dim=4, grid=(2, 5)), positions.grid(2, 5)
            >>> x = np.ones((3, 10, 4))
            >>> spec.score_term(x, tokens, tokens, **spec.initial_weights()).shape
            (3, 10, 10)

        Source: Li et al. 2022, arXiv:2112.01526, section 4.1.
        """
        given = {"rows": rows, "columns": columns}
        places = {"query_positions": query_positions, "key_positions": key_positions}
        for name, positions in places.items():
            cells.check_positions(name, positions)
            _checks.integer_positions(name, positions)
        attention.check_vectors("queries", queries, query_positions[..., 0], dim=self.dim)
        attention.check_rows("`key_positions`", key_positions[..., 0], like=queries)
        attention.check_weights(self.weights, given, like=queries)
        xp = _arrays.namespace(queries)
        work = _arrays.working_dtype(queries)
        queries_wide, term = xp.astype(queries, work), 0.0
        for axis, (table, sizes) in enumerate(zip(given.values(), self._sides(), strict=True)):
            index, inside = _along_one_side(
                query_positions[..., axis], key_positions[..., axis], sizes
            )
            scores = xp.matmul(queries_wide, xp.matrix_transpose(xp.astype(table, work)))
            picked = attention.pick(scores, index[..., None, :, :])
            term = term + xp.where(inside[..., None, :, :], picked, math.nan)
        return xp.astype(term, queries.dtype if dtype is None else dtype)

    def _sides(self) -> tuple[tuple[int, int], ...]:
        """Of rows, then of columns: how many the queries have, and how many the keys."""
        keys = self.grid if self.key_grid is None else self.key_grid
        return tuple(zip(self.grid, keys, strict=True))


def resize(table: Float[Array, "offsets dim"], length: int) -> Float[Array, "length dim"]:
    """A table of another length, for another grid: linear between the middles of its rows.

    result[i] lies at (i + 1/2) * offsets / length - 1/2 in `table`, held at both ends

    Args:
        table: one row an offset.
        length: how many rows the result has, 2 * side - 1 for the longer side of a grid.
    Returns:
        (length, dim), dtype of `table`. Interpolated in float32 or wider.
    Raises:
        TypeError: `table` holds no floats or `length` is no integer.
        ValueError: `table` is no table, or `length` below 1.
    Example:
        >>> import numpy as np
        >>> resize(np.asarray([[0.0], [1.0], [2.0]]), 6)[:, 0].tolist()
        [0.0, 0.25, 0.75, 1.25, 1.75, 2.0]

    Source: facebookresearch/mvit, mvit/models/attention.py, get_rel_pos; PyTorch's interpolate
    with mode="linear" and corners not aligned.
    """
    xp = _arrays.namespace(table)
    _checks.integer("length", length, at_least=1)
    if not _arrays.is_floating(table):
        raise TypeError(f"`table` must hold floating-point numbers; got {table.dtype}.")
    if table.ndim != 2 or table.shape[0] == 0:
        raise ValueError(f"`table` must have shape (offsets, dim); got {tuple(table.shape)}.")
    last = table.shape[0] - 1
    places = [(2 * i + 1) * table.shape[0] / (2 * length) - 0.5 for i in range(length)]
    places = [min(max(place, 0.0), float(last)) for place in places]
    below = [math.floor(place) for place in places]
    above = [math.ceil(place) for place in places]
    work = _arrays.working_dtype(table)
    share = [place - low for place, low in zip(places, below, strict=True)]
    share = _arrays.constant(share, like=table, dtype=work)[:, None]
    low, high = (
        attention.rows(table, _arrays.constant(index, like=table, dtype=xp.int32))
        for index in (below, above)
    )
    low, high = xp.astype(low, work), xp.astype(high, work)
    return xp.astype(low + share * (high - low), table.dtype)


def _along_one_side(queries: Array, keys: Array, sizes: tuple[int, int]) -> tuple[Array, Array]:
    """Which row of a table each pair looks up, and whether both stand on their grids."""
    longest = max(sizes)
    queries, keys = _arrays.signed(queries), _arrays.signed(keys)
    query_inside = _inside("query_positions", queries, sizes[0])
    key_inside = _inside("key_positions", keys, sizes[1])
    xp = _arrays.namespace(queries, keys)
    queries, keys = xp.where(query_inside, queries, 0), xp.where(key_inside, keys, 0)
    # In whole numbers: in float32 a stretched cell may fall just short of its own row.
    from_query = queries * longest // sizes[0]
    from_key = (sizes[1] - 1 - keys) * longest // sizes[1]
    index = from_query[..., :, None] + from_key[..., None, :]
    return index, query_inside[..., :, None] & key_inside[..., None, :]


def _inside(name: str, coordinates: Array, size: int) -> Array:
    inside = (coordinates >= 0) & (coordinates < size)
    cells.refuse_outside(inside, f"`{name}` must run from 0 to {size - 1} on this side of the grid")
    return inside
