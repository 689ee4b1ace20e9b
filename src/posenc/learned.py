"""A trained table of vectors, one row a position: looked up, and resampled to another size."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from posenc import _arrays, _checks, attention
from posenc._arrays import Array, Float, Int

Method = Literal["linear", "cubic"]
Corners = Literal["half_pixel", "aligned"]


@dataclass(frozen=True, kw_only=True)
class Learned:
    """Learned absolute positions: a vector for each position, trained with the model.

    encode(position) = table[position + offset]

    Positions run from -offset to length - 1. Rows below `offset` are not for tokens: padding
    stands at -1 and takes row offset - 1, so `positions.from_mask(mask, padding=-1)` gives the
    rows that RoBERTa and OPT use.

    Args:
        length: how many tokens a text may have; beyond it nothing was learned.
        dim: features a vector has.
        offset: the row of the first token. RoBERTa, BART and OPT start at padding_idx + 1 = 2,
            so 512 tokens need 514 rows.
    Raises:
        TypeError: a field is no integer.
        ValueError: a field is too small.
    Example:
        >>> spec = Learned(length=512, dim=4, offset=2)
        >>> spec.weights
        {'table': (514, 4)}
        >>> spec.encode(np.asarray([0, 1]), table=spec.initial_weights()["table"]).shape
        (2, 4)

    Source: Gehring et al. 2017, arXiv:1705.03122, section 3.1; Devlin et al. 2018,
    arXiv:1810.04805, section 3; offset: fairseq, modules/learned_positional_embedding.py.
    """

    length: int
    dim: int
    offset: int = 0

    def __post_init__(self) -> None:
        _checks.integer("length", self.length, at_least=1)
        _checks.integer("dim", self.dim, at_least=1)
        _checks.integer("offset", self.offset, at_least=0)

    @property
    def weights(self) -> dict[str, tuple[int, ...]]:
        """The shape of each trained array."""
        return {"table": (self.length + self.offset, self.dim)}

    def initial_weights(self, seed: int = 0, *, std: float = 0.02) -> dict[str, np.ndarray]:
        """A table to start training from: normal, with zeros in the rows below `offset`.

        Args:
            seed: of the random numbers.
            std: their standard deviation: 0.02 in BERT, 0.01 in GPT-2, dim ** -0.5 in fairseq.
        Returns:
            {"table": float32 of shape (length + offset, dim)}.
        Example:
            >>> Learned(length=8, dim=2, offset=2).initial_weights()["table"][:2].tolist()
            [[0.0, 0.0], [0.0, 0.0]]

        Source: openai/gpt-2, src/model.py; fairseq, modules/positional_embedding.py.
        """
        shape = self.weights["table"]
        table = np.random.default_rng(seed).normal(0.0, std, shape).astype(np.float32)
        table[: self.offset] = 0
        return {"table": table}

    def encode(
        self,
        positions: Int[Array, "*tokens"],
        *,
        table: Float[Array, "rows dim"],
        dtype: Any = None,
    ) -> Float[Array, "*tokens dim"]:
        """The row of each position.

        Args:
            positions: where the tokens stand, any shape; integers from -offset to length - 1.
                Where they cannot be looked at (traced, or on an accelerator) others give NaN.
            table: the trained vectors.
            dtype: of the result; that of `table` by default.
        Returns:
            Shape of `positions` with one more axis of `dim` features.
        Raises:
            TypeError: `positions` holds no integers, or `table` no floats.
            ValueError: a position lies outside the table, or `table` has another shape.
        Example:
            >>> table = np.asarray([[0.0, 0.0], [0.0, 0.0], [0.1, 0.2], [0.3, 0.4]])
            >>> Learned(length=2, dim=2, offset=2).encode(np.asarray([1, 0]), table=table).tolist()
            [[0.3, 0.4], [0.1, 0.2]]

        Source: Devlin et al. 2018, arXiv:1810.04805, section 3.
        """
        attention.check_weight("table", table, self.weights["table"], like=positions)
        return look_up(positions, table, offset=self.offset, dtype=dtype)


def look_up(
    positions: Int[Array, "*tokens"],
    table: Float[Array, "rows dim"],
    *,
    offset: int = 0,
    dtype: Any = None,
    name: str = "positions",
) -> Float[Array, "*tokens dim"]:
    """Rows of a table, and never a wrong one: no row is counted from the end, none is repeated.

    Args:
        positions: any shape; integers from -offset to rows - offset - 1. Where they cannot be
            looked at (traced, or on an accelerator) others give NaN.
        table: one row a position.
        offset: the row of position 0.
        dtype: of the result; that of `table` by default.
        name: what an error calls `positions`.
    Returns:
        Shape of `positions` with one more axis.
    Raises:
        TypeError: `positions` holds no integers, or `table` no floats.
        ValueError: a position lies outside the table.
    Example:
        >>> look_up(np.asarray([2, 0]), np.asarray([[0.0], [0.5], [1.0]])).tolist()
        [[1.0], [0.0]]
    """
    xp = _arrays.namespace(positions, table)
    _checks.integer_positions(name, positions)
    if not _arrays.is_floating(table):
        raise TypeError(f"`table` must hold floating-point numbers; got {table.dtype}.")
    rows, positions = table.shape[0], _arrays.signed(positions)
    inside = (positions >= -offset) & (positions < rows - offset)
    looked_at = _arrays.readable(inside)
    if looked_at and not bool(xp.all(inside)):
        raise ValueError(
            f"`{name}` must lie within {-offset} .. {rows - offset - 1}, because the table has "
            f"{rows} rows and position 0 is row {offset}; got values from "
            f"{int(xp.min(positions))} to {int(xp.max(positions))}."
        )
    row = xp.astype(xp.where(inside, positions, 0), xp.int32) + offset
    vectors = attention.rows(table, row)
    if not looked_at:
        vectors = xp.where(inside[..., None], vectors, math.nan)
    return vectors if dtype is None else xp.astype(vectors, dtype)


def resample(
    table: Float[Array, "*batch cells dim"],
    *,
    old: tuple[int, ...],
    new: tuple[int, ...],
    method: Method,
    corners: Corners = "half_pixel",
    antialias: bool = False,
    prefix: int = 0,
) -> Float[Array, "*batch new_cells dim"]:
    """A trained table stretched or shrunk to another length, or to a grid of another size.

    new table = (matrix of axis 0) x (matrix of axis 1) x ... x table, one matrix an axis

    | as in | method | corners | antialias |
    | --- | --- | --- | --- |
    | MAE, DeiT, DINOv2, Hugging Face ViT | "cubic" | "half_pixel" | False |
    | timm | "cubic" | "half_pixel" | True |
    | SigLIP 2 | "linear" | "half_pixel" | True |
    | the original ViT, big_vision, Qwen3-VL | "linear" | "aligned" | False |

    Args:
        table: vectors of the cells in raster order, after those of the prefix.
        old: the sizes that `table` was trained for: (length,), (rows, columns), ...
        new: the sizes to have, as many; never a factor, which would have to be rounded.
        method: "linear" between two neighbours, or "cubic" among four (Keys' kernel with
            a = -0.75; with `antialias` a = -0.5, as in PyTorch and Pillow).
        corners: what stays in place: "half_pixel" the outer edges of the outer cells,
            "aligned" their centres.
        antialias: widen the kernel when shrinking, so that no old cell is passed over.
        prefix: leading vectors that belong to no cell (class token, registers); they are kept.
    Returns:
        `table` itself where `new` equals `old`. Else its dtype, computed in float32 or wider,
        and its shape with as many cells as `new` has.
    Raises:
        TypeError: a size is no integer, or `table` holds no floats.
        ValueError: the sizes do not fit `table` or each other, or an option is unknown.
    Example:
        >>> table = np.asarray([[0.0], [3.0]])
        >>> resample(table, old=(2,), new=(4,), method="linear").tolist()
        [[0.0], [0.75], [2.25], [3.0]]
        >>> resample(table, old=(2,), new=(5,), method="linear", corners="aligned").tolist()
        [[0.0], [0.75], [1.5], [2.25], [3.0]]

    Source: Dosovitskiy et al. 2020, arXiv:2010.11929, section 3.2; Keys 1981, "Cubic
    convolution interpolation for digital image processing"; PyTorch, nn.functional.interpolate.
    """
    _check_sizes(table, old, new, prefix)
    _checks.one_of("method", method, ("linear", "cubic"))
    _checks.one_of("corners", corners, ("half_pixel", "aligned"))
    _checks.boolean("antialias", antialias)
    if antialias and corners == "aligned":
        raise ValueError(
            "`antialias` must be False with corners='aligned', because a widened kernel reaches "
            "past the outer cells and no reference says what stands there."
        )
    if old == new:
        return table
    xp = _arrays.namespace(table)
    *batch, _, dim = table.shape
    cells = xp.astype(table[..., prefix:, :], _arrays.working_dtype(table))
    for axis, (before, after) in enumerate(zip(old, new, strict=True)):
        matrix = _matrix(before, after, method, corners, antialias)
        matrix = _arrays.constant(matrix, like=cells, dtype=cells.dtype)
        rest = math.prod(old[axis + 1 :]) * dim
        cells = xp.matmul(matrix, xp.reshape(cells, (-1, before, rest)))
    cells = xp.astype(xp.reshape(cells, (*batch, math.prod(new), dim)), table.dtype)
    return xp.concat([table[..., :prefix, :], cells], axis=-2)


def _check_sizes(table: Array, old: tuple[int, ...], new: tuple[int, ...], prefix: int) -> None:
    if not _arrays.is_floating(table):
        raise TypeError(f"`table` must hold floating-point numbers; got {table.dtype}.")
    for name, sizes in ("old", old), ("new", new):
        if not isinstance(sizes, tuple) or not sizes:
            raise TypeError(
                f"`{name}` must be a tuple with the size of each axis, for example (rows, "
                f"columns); got {sizes!r}."
            )
        for size in sizes:
            _checks.integer(name, size, at_least=1)
    if len(old) != len(new):
        raise ValueError(f"`new` must have as many axes as `old`; got old={old}, new={new}.")
    _checks.integer("prefix", prefix, at_least=0)
    if table.ndim < 2 or table.shape[-2] != prefix + math.prod(old):
        raise ValueError(
            f"`table` must have one row for each of {math.prod(old)} cells and {prefix} before "
            f"them on its last axis but one; got shape {tuple(table.shape)} with old={old}, "
            f"prefix={prefix}."
        )


@_arrays.not_traced
def _matrix(
    old: int, new: int, method: Method, corners: Corners, antialias: bool
) -> list[list[float]]:
    """How much of each old cell goes into each new one: `new` rows that sum to 1."""
    index = np.arange(new)
    if corners == "aligned":
        centre = index * (old - 1) / max(new - 1, 1)
    else:
        centre = (index + 0.5) * (old / new) - 0.5
    kernel, reach = _kernel(method, antialias)
    if antialias:
        stretch = max(old / new, 1.0)
        matrix = kernel((np.arange(old) - centre[:, None]) / stretch)
        matrix = matrix / matrix.sum(axis=1, keepdims=True)
    else:
        # Beyond the ends the outer cells are repeated: their weight is added up.
        taps = np.floor(centre)[:, None].astype(int) + np.arange(1 - reach, reach + 1)
        matrix = np.zeros((new, old))
        cells = np.clip(taps, 0, old - 1)
        np.add.at(matrix, (index[:, None], cells), kernel(taps - centre[:, None]))
    return matrix.tolist()


def _kernel(method: Method, antialias: bool) -> tuple[Callable[[np.ndarray], np.ndarray], int]:
    """The weight of a cell by its distance, and how many cells it reaches on each side."""
    if method == "linear":
        return lambda distance: np.maximum(1 - np.abs(distance), 0.0), 1
    a = -0.5 if antialias else -0.75

    def cubic(distance: np.ndarray) -> np.ndarray:
        x = np.abs(distance)
        near = ((a + 2) * x - (a + 3)) * x**2 + 1
        far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
        return np.where(x <= 1, near, np.where(x < 2, far, 0.0))

    return cubic, 2
