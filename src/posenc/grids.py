"""Coordinates of the cells of a grid, and how its axes share the features of a vector.

A position of several axes is a row of coordinates: arrays of shape (..., axes), for images (row,
column). `positions.grid(rows, columns)` makes whole ones in raster order; the functions here make
the other kinds.
"""

from __future__ import annotations

import math
from typing import Literal

from posenc import _arrays, _checks, positions
from posenc._arrays import Array, Bool, Float, Int, Num

Rest = Literal["refuse", "first", "leave", "trim"]


def unravel(cells: Int[Array, "*tokens"], *sizes: int) -> Int[Array, "*tokens axes"]:
    """Coordinates of cells that are known by their number in raster order.

    For two axes: row = cell // columns, column = cell % columns

    Args:
        cells: numbers of cells, any shape: patches that were kept, or places in a sequence that
            is folded into rows. The first axis has no end: number rows * columns is row `rows`.
        sizes: how many steps each axis has, the slowest first.
    Returns:
        Shape of `cells` with one more axis, integers.
    Raises:
        TypeError: `cells` holds no integers, or a size is none.
        ValueError: a size is below 1, or there is none.
    Example:
        >>> import numpy as np
        >>> unravel(np.asarray([0, 5, 11]), 3, 4).tolist()
        [[0, 0], [1, 1], [2, 3]]
    """
    _checks.integer_positions("cells", cells)
    _check_sizes(sizes)
    xp = _arrays.namespace(cells)
    cells = xp.astype(cells, _arrays.widest_integer(cells))
    coordinates = []
    for size in reversed(sizes[1:]):
        coordinates.append(cells % size)
        cells = cells // size
    return xp.stack([cells, *reversed(coordinates)], axis=-1)


def centres(*sizes: int, like: Array | None = None) -> Float[Array, "cells axes"]:
    """Coordinates of every cell's centre where each axis runs from -1 to 1, in raster order.

    coordinate = 2 (i + 1/2) / size - 1

    Args:
        sizes: how many steps each axis has, the slowest first.
        like: an array whose library and device the result takes; NumPy without it.
    Returns:
        Shape (product of sizes, number of axes); float64 where the device has it, else float32.
    Raises:
        TypeError: a size is no integer.
        ValueError: a size is below 1, or there is none.
    Example:
        >>> centres(1, 4).tolist()
        [[0.0, -0.75], [0.0, -0.25], [0.0, 0.25], [0.0, 0.75]]

    Source: Simeoni et al. 2025, arXiv:2508.10104; facebookresearch/dinov3,
    dinov3/layers/rope_position_encoding.py.
    """
    _check_sizes(sizes)
    steps = positions.grid(*sizes, like=like)
    xp, dtype = _arrays.namespace(steps), _arrays.widest_float(steps)
    size = _arrays.constant(sizes, like=steps, dtype=dtype)
    return (2 * xp.astype(steps, dtype) + 1) / size - 1


def from_mask(
    mask: Bool[Array, "*batch rows columns"] | Int[Array, "*batch rows columns"],
    *,
    scale: float | None = math.tau,
    shift: float = 0.0,
) -> Num[Array, "*batch rows columns 2"]:
    """Coordinates that count the cells of a padded image which belong to it, as DETR does.

    row = how many cells of the column are true down to this one; column likewise
    coordinate = (row + shift) / (last row + 1e-6) * scale          unless `scale` is None

    Args:
        mask: true or 1 where the image is, false or 0 at padding.
        scale: what the last cell of each row and column gets, about; None to keep the plain
            counts, which start at 1.
        shift: added before dividing; Deformable DETR has -0.5, the middle of a cell.
    Returns:
        Shape of `mask` with one more axis (row, column): integers for plain counts, else
        float64 where the device has it, or float32.
    Raises:
        TypeError: `mask` holds neither booleans nor integers, or `shift` is no number.
        ValueError: `mask` has fewer than two axes, `scale` is not positive, or `shift` is
            given where it would do nothing.
    Example:
        >>> import numpy as np
        >>> from_mask(np.asarray([[1, 1, 0], [1, 1, 0]]), scale=None)[1].tolist()
        [[2, 1], [2, 2], [0, 2]]

    Source: Carion et al. 2020, arXiv:2005.12872, appendix A.4; facebookresearch/detr,
    models/position_encoding.py; shift: Zhu et al. 2020, arXiv:2010.04159, and its code.
    """
    xp = _arrays.namespace(mask)
    if not (_arrays.is_bool(mask) or _arrays.is_integer(mask)):
        raise TypeError(f"`mask` must hold booleans or integers; got {mask.dtype}.")
    if mask.ndim < 2:
        raise ValueError(f"`mask` must have rows and columns; got shape {tuple(mask.shape)}.")
    _checks.number("shift", shift)
    if scale is not None:
        _checks.positive("scale", scale)
    elif shift:
        raise ValueError(f"`shift` must be 0 for plain counts (scale=None); got shift={shift}.")
    inside = mask if _arrays.is_bool(mask) else mask != 0
    inside = xp.astype(inside, _arrays.widest_integer(mask))
    rows = xp.matrix_transpose(_arrays.running_sum(xp.matrix_transpose(inside)))
    columns = _arrays.running_sum(inside)
    if scale is None:
        return xp.stack([rows, columns], axis=-1)
    dtype = _arrays.widest_float(mask)
    rows, columns = xp.astype(rows, dtype), xp.astype(columns, dtype)
    rows = (rows + shift) / (rows[..., -1:, :] + _DETR_EPSILON) * scale
    columns = (columns + shift) / (columns[..., :, -1:] + _DETR_EPSILON) * scale
    return xp.stack([rows, columns], axis=-1)


_DETR_EPSILON = 1e-6  # facebookresearch/detr, models/position_encoding.py


def split(
    dim: int, axes: int, *, rest: Rest = "refuse", widths: tuple[int, ...] | None = None
) -> tuple[int, ...]:
    """How many features each axis gets: an even number, because features come in pairs.

    dim // (2 axes) * 2 each; rounded up instead of down for rest="trim"

    Args:
        dim: features a vector has.
        axes: how many axes share them.
        rest: what equal shares leave over: "refuse" it, give it to the "first" axis, "leave" it
            without position, or "trim" the last axes' shares to `dim` after rounding up.
        widths: shares already decided, which then are only checked.
    Returns:
        A Python integer an axis.
    Raises:
        TypeError: `dim`, `axes` or a width is no integer.
        ValueError: `dim` cannot be shared so, or `widths` do not fit it.
    Example:
        >>> split(64, 2)
        (32, 32)
        >>> split(64, 3, rest="first"), split(64, 3, rest="leave"), split(8, 3, rest="trim")
        ((24, 20, 20), (20, 20, 20), (4, 4, 4))

    Source: "first": Wan 2.1 as in diffusers, models/transformers/transformer_wan.py; "leave":
    tensor2tensor, layers/common_attention.py, add_timing_signal_nd; "trim":
    tatp22/multidim-positional-encoding, positional_encodings/torch_encodings.py.
    """
    _checks.integer("axes", axes, at_least=1)
    _checks.one_of("rest", rest, ("refuse", "first", "leave", "trim"))
    _checks.integer("dim", dim, at_least=1)
    if widths is not None:
        return _checked_widths(dim, axes, rest, widths)
    pair = 2 * axes
    if rest == "trim":
        return (-(-dim // pair) * 2,) * axes
    if rest == "refuse":
        _checks.multiple("dim", dim, pair, why=f"each of {axes} axes takes an equal, even share")
    elif rest == "first":
        _checks.even("dim", dim, at_least=pair)
    else:
        _checks.integer("dim", dim, at_least=pair)
    share = dim // pair * 2
    first = dim - (axes - 1) * share if rest == "first" else share
    return (first, *(share,) * (axes - 1))


def _checked_widths(dim: int, axes: int, rest: Rest, widths: tuple[int, ...]) -> tuple[int, ...]:
    if not isinstance(widths, tuple) or len(widths) != axes:
        raise ValueError(f"`widths` must be a tuple of {axes} integers, one an axis; got {widths}.")
    for width in widths:
        _checks.even("widths", width)
    total = sum(widths)
    if (
        total != dim
        and not (total < dim and rest == "leave")
        and not (total > dim and rest == "trim")
    ):
        raise ValueError(
            f"`widths` must add up to dim={dim}, or to less with rest='leave', or more with "
            f"rest='trim'; got {widths}, which add up to {total}, and rest={rest!r}."
        )
    return widths


def check_axes(axes: tuple[int, ...]) -> None:
    """Refuse an order of axes that leaves one out or names one twice."""
    if not isinstance(axes, tuple) or sorted(axes) != list(range(len(axes))) or not axes:
        raise ValueError(
            "`axes` must be a tuple that names each axis of a position once, for images (0, 1) "
            f"for row then column or (1, 0) for column then row; got {axes!r}."
        )


def check_coordinates(positions: Array, axes: int) -> None:
    """Refuse positions that do not have one coordinate for each axis."""
    _checks.real_positions("positions", positions)
    if positions.ndim == 0 or positions.shape[-1] != axes:
        raise ValueError(
            f"`positions` must have {axes} coordinates on its last axis, one for each axis of "
            f"the grid, as posenc.positions.grid makes them; got shape {tuple(positions.shape)}."
        )


def _check_sizes(sizes: tuple[int, ...]) -> None:
    if not sizes:
        raise ValueError("`sizes` must name at least one axis, for example rows, columns.")
    for size in sizes:
        _checks.integer("sizes", size, at_least=1)
