"""Biases for the tokens of a window: one for each offset, trained (Swin) or from a network (V2)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from posenc import _arrays, _checks, attention, cells
from posenc._arrays import Array, Float, Int


@dataclass(frozen=True, kw_only=True)
class Swin:
    """Relative position bias of Swin: a trained number for each offset within a window.

    bias[h, i, j] = table[index[i, j], h]
    index = (rows of i - rows of j + R - 1) * (2 C - 1) + (columns of i - columns of j + C - 1)
    for a window of R rows and C columns

    Add it to scores that are already divided by sqrt(head width). For another window, stretch
    the table as a picture of (2 R - 1, 2 C - 1) pixels (the authors do so bicubically).

    Args:
        heads: attention heads.
        window: (rows, columns).
    Raises:
        TypeError: a field has the wrong type.
        ValueError: a field has no valid value.
    Example:
        >>> from posenc import positions
        >>> tokens = positions.grid(7, 7)
        >>> index = Swin(heads=3, window=(7, 7)).index(tokens, tokens)
        >>> index[0, :3].tolist(), index[:3, 0].tolist(), int(index[48, 0])
        ([84, 83, 82], [84, 85, 86], 168)

    Source: Liu et al. 2021, arXiv:2103.14030, section 3.2; microsoft/Swin-Transformer,
    models/swin_transformer.py.
    """

    heads: int
    window: tuple[int, int]

    def __post_init__(self) -> None:
        _checks.integer("heads", self.heads, at_least=1)
        cells.check_size("window", self.window)

    @property
    def weights(self) -> dict[str, tuple[int, ...]]:
        """The trained array: name and shape."""
        rows, columns = self.window
        return {"table": ((2 * rows - 1) * (2 * columns - 1), self.heads)}

    def initial_weights(self, seed: int = 0) -> dict[str, np.ndarray]:
        """A fresh table: normal with standard deviation 0.02.

        Args:
            seed: of the random numbers.
        Returns:
            {"table": float32 of shape ((2 rows - 1) (2 columns - 1), heads)}.
        Example:
            >>> Swin(heads=3, window=(2, 5)).initial_weights()["table"].shape
            (27, 3)

        Source: microsoft/Swin-Transformer, models/swin_transformer.py.
        """
        return attention.normal(self.weights, std=0.02, seed=seed)

    def index(
        self,
        query_positions: Int[Array, "*#batch queries 2"],
        key_positions: Int[Array, "*#batch keys 2"],
    ) -> Int[Array, "*batch queries keys"]:
        """Which row of the table each pair of a query and a key looks up.

        Args:
            query_positions: row and column of each query, (*batch, queries, 2); for a whole
                window posenc.positions.grid(rows, columns).
            key_positions: row and column of each key, (*batch, keys, 2).
        Returns:
            (*batch, queries, keys), integers; -1 where an offset leaves the window and the
            positions could not be looked at (traced, or on an accelerator).
        Raises:
            TypeError: positions are no arrays of integers.
            ValueError: positions do not fit each other, or an offset leaves the window.
        """
        return _offset_index(query_positions, key_positions, self.window)

    def bias(
        self,
        query_positions: Int[Array, "*#batch queries 2"],
        key_positions: Int[Array, "*#batch keys 2"],
        *,
        table: Float[Array, "rows heads"],
        dtype: Any = None,
    ) -> Float[Array, "*batch heads queries keys"]:
        """What to add to the scores.

        Args:
            query_positions: see `index`.
            key_positions: see `index`.
            table: see `weights`.
            dtype: of the result; float32 by default. The cast to it is the last step.
        Returns:
            (*batch, heads, queries, keys); NaN where `index` has -1.
        Raises:
            TypeError: positions are no arrays of integers, or `table` holds no floats.
            ValueError: shapes do not fit each other, or an offset leaves the window.
        Example:
            >>> from posenc import positions
            >>> spec, tokens = Swin(heads=3, window=(2, 5)), positions.grid(2, 5)
            >>> spec.bias(tokens, tokens, **spec.initial_weights()).shape
            (3, 10, 10)
        """
        attention.check_weight("table", table, self.weights["table"], like=query_positions)
        index = self.index(query_positions, key_positions)
        return _look_up(table, index, dtype)


@dataclass(frozen=True, kw_only=True)
class SwinV2:
    """Log-spaced continuous position bias of Swin V2: a small network of the offset.

    bias[h] = 16 sigmoid(output_weight[h] . relu(hidden_weight t + hidden_bias))
    t = sign(u) log2(1 + |u|) / 3, u = 8 * offset / (trained window - 1), by row and by column

    Add it to cosine similarities times exp(min(logit scale, ln 100)). The paper's own formula is
    sign(x) ln(1 + |x|) of the bare offset; the factor 8, the binary logarithm, the division by 3
    and the sigmoid are the authors' code, hence in every trained model.

    Args:
        heads: attention heads.
        window: (rows, columns).
        trained_window: the window that the network was trained for (pretrained_window_size);
            `window` by default.
        hidden: width of the network.
    Raises:
        TypeError: a field has the wrong type.
        ValueError: a field has no valid value.
    Example:
        >>> [round(t, 4) for t in SwinV2(heads=4, window=(4, 8)).coordinates[0]]
        [-1.0566, -0.8877, -0.6248, 0.0, 0.6248, 0.8877, 1.0566]

    Source: Liu et al. 2022, arXiv:2111.09883, section 3.3; microsoft/Swin-Transformer,
    models/swin_transformer_v2.py.
    """

    heads: int
    window: tuple[int, int]
    trained_window: tuple[int, int] | None = None
    hidden: int = 512
    coordinates: tuple[tuple[float, ...], tuple[float, ...]] = field(
        init=False, repr=False, compare=False
    )
    """t of each offset by row, then by column, from the most negative offset on."""

    def __post_init__(self) -> None:
        _checks.integer("heads", self.heads, at_least=1)
        cells.check_size("window", self.window)
        if self.trained_window is not None:
            cells.check_size("trained_window", self.trained_window)
        _checks.integer("hidden", self.hidden, at_least=1)
        trained = self.window if self.trained_window is None else self.trained_window
        sizes = zip(self.window, trained, strict=True)
        coordinates = tuple(log_spaced(size, trained=other) for size, other in sizes)
        object.__setattr__(self, "coordinates", coordinates)

    @property
    def weights(self) -> dict[str, tuple[int, ...]]:
        """The trained arrays: name and shape."""
        return {
            "hidden_weight": (self.hidden, 2),
            "hidden_bias": (self.hidden,),
            "output_weight": (self.heads, self.hidden),
        }

    def initial_weights(self, seed: int = 0) -> dict[str, np.ndarray]:
        """Fresh arrays: normal with standard deviation 0.02, the bias zero.

        Args:
            seed: of the random numbers.
        Returns:
            The arrays of `weights`, float32.
        Example:
            >>> SwinV2(heads=3, window=(2, 5)).initial_weights()["hidden_weight"].shape
            (512, 2)

        Source: microsoft/Swin-Transformer, models/swin_transformer_v2.py.
        """
        drawn = attention.normal(self.weights, std=0.02, seed=seed)
        return drawn | {"hidden_bias": np.zeros(self.hidden, np.float32)}

    def bias(
        self,
        query_positions: Int[Array, "*#batch queries 2"],
        key_positions: Int[Array, "*#batch keys 2"],
        *,
        hidden_weight: Float[Array, "hidden 2"],
        hidden_bias: Float[Array, " hidden"],
        output_weight: Float[Array, "heads hidden"],
        dtype: Any = None,
    ) -> Float[Array, "*batch heads queries keys"]:
        """What to add to the scores.

        Args:
            query_positions: row and column of each query, (*batch, queries, 2); for a whole
                window posenc.positions.grid(rows, columns).
            key_positions: row and column of each key, (*batch, keys, 2).
            hidden_weight: see `weights` (cpb_mlp.0.weight).
            hidden_bias: see `weights` (cpb_mlp.0.bias).
            output_weight: see `weights` (cpb_mlp.2.weight).
            dtype: of the result; float32 by default. The cast to it is the last step.
        Returns:
            (*batch, heads, queries, keys), from 0 to 16; NaN where an offset leaves the window
            and the positions could not be looked at (traced, or on an accelerator).
        Raises:
            TypeError: positions are no arrays of integers, or a weight holds no floats.
            ValueError: shapes do not fit each other, or an offset leaves the window.
        Example:
            >>> from posenc import positions
            >>> spec, tokens = SwinV2(heads=3, window=(2, 5)), positions.grid(2, 5)
            >>> spec.bias(tokens, tokens, **spec.initial_weights()).shape
            (3, 10, 10)
        """
        given = {
            "hidden_weight": hidden_weight,
            "hidden_bias": hidden_bias,
            "output_weight": output_weight,
        }
        attention.check_weights(self.weights, given, like=query_positions)
        xp = _arrays.namespace(query_positions)
        work = _arrays.working_dtype(hidden_weight)
        weight = xp.astype(hidden_weight, work)
        rows, columns = (
            _arrays.constant(t, like=query_positions, dtype=work) for t in self.coordinates
        )
        # Products, no matmul: an accelerator may round the coordinates of a matmul.
        hidden = rows[:, None, None] * weight[:, 0] + columns[None, :, None] * weight[:, 1]
        hidden = hidden + xp.astype(hidden_bias, work)
        hidden = xp.reshape(xp.where(hidden > 0, hidden, 0.0), (-1, self.hidden))
        output = xp.matmul(hidden, xp.matrix_transpose(xp.astype(output_weight, work)))
        table = 16 * attention.sigmoid(output)
        return _look_up(table, _offset_index(query_positions, key_positions, self.window), dtype)


def log_spaced(size: int, *, trained: int) -> tuple[float, ...]:
    """The log-spaced coordinate of each offset along one side of a window.

    sign(u) log2(1 + |u|) / 3, u = 8 * offset / (trained - 1)

    Args:
        size: how long the side is; offsets run from 1 - size to size - 1.
        trained: how long it was in training.
    Returns:
        2 * size - 1 Python floats.
    Example:
        >>> [round(t, 6) for t in log_spaced(2, trained=8)]
        [-0.366512, 0.0, 0.366512]

    Source: microsoft/Swin-Transformer, models/swin_transformer_v2.py, WindowAttention.
    """
    scaled = [8 * offset / max(trained - 1, 1) for offset in range(1 - size, size)]
    return tuple(math.copysign(math.log2(1 + abs(u)) / 3, u) for u in scaled)


def numbered(
    rows: Int[Array, "*pairs"], columns: Int[Array, "*pairs"], *, window: tuple[int, int]
) -> Int[Array, "*pairs"]:
    """The number of an offset among those within a window, in raster order.

    (rows + R - 1) * (2 C - 1) + columns + C - 1, for a window of R rows and C columns

    Args:
        rows: row of the query minus row of the key, any shape.
        columns: likewise.
        window: (rows, columns).
    Returns:
        The same shape; -1 for an offset that leaves the window.
    Example:
        >>> import numpy as np
        >>> numbered(np.asarray([0, -1, 7]), np.asarray([0, 0, 0]), window=(7, 7)).tolist()
        [84, 71, -1]

    Source: microsoft/Swin-Transformer, models/swin_transformer.py, WindowAttention.
    """
    xp = _arrays.namespace(rows, columns)
    high, wide = window
    inside = (xp.abs(rows) < high) & (xp.abs(columns) < wide)
    return xp.where(inside, (rows + high - 1) * (2 * wide - 1) + columns + wide - 1, -1)


def _offset_index(query_positions: Array, key_positions: Array, window: tuple[int, int]) -> Array:
    rows, columns = cells.offsets(query_positions, key_positions)
    index = numbered(rows, columns, window=window)
    cells.refuse_outside(
        index >= 0,
        f"every query must stand less than {window[0]} rows and {window[1]} columns from every key",
    )
    return index


def _look_up(table: Array, index: Array, dtype: Any) -> Array:
    xp = _arrays.namespace(table)
    found = attention.rows(table, xp.where(index < 0, 0, index))
    bias = _arrays.moveaxis(xp.where(index[..., None] < 0, math.nan, found), -1, -3)
    return xp.astype(bias, xp.float32 if dtype is None else dtype)
