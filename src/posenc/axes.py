"""Vectors for positions of several axes: sinusoidal ones, and learned ones with a table an axis.

A position is a row of coordinates: arrays of shape (..., axes), for images (row, column).
`positions.grid` and `grids` make them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from posenc import _arrays, _checks, attention, frequencies, grids, learned, sinusoidal
from posenc._arrays import Array, Float, Int, Num

Layout = Literal["half", "interleaved", "axis_half"]
Combine = Literal["concatenate", "add"]


@dataclass(frozen=True, kw_only=True)
class SinusoidalAxes:
    """Sinusoidal position vectors of grids: each axis fills its share of the features.

    angle = coordinate[axis] * frequency[k]; frequency[k] = base ** (-2 k / width of the share)

    | as in | axes | layout | spacing | rest | positions |
    | --- | --- | --- | --- | --- | --- |
    | MAE, MoCo v3, AIMv2 | (1, 0) | "axis_half" | "paper" | | grid |
    | big_vision, SimpleViT | (1, 0) | "axis_half" | "endpoint" | | grid |
    | RT-DETR, D-FINE | (0, 1) | "axis_half" | "paper" | | grid |
    | timm build_sincos2d_pos_embed | (0, 1) | "half" | "paper" | | grid |
    | tensor2tensor, any axes | (0, 1, ...) | "axis_half" | "endpoint" | "leave" | grid |
    | positional-encodings package | (0, 1, ...) | "interleaved" | "paper" | "trim" | grid |
    | DETR, Mask2Former, SAM 2 | (0, 1) | "interleaved" | "paper" | | grids.from_mask(mask) |
    | Deformable DETR | as DETR | | | | grids.from_mask(mask, shift=-0.5) |

    Args:
        dim: features a vector has; a multiple of 4 for two axes and of 6 for three, unless
            `rest` or `widths` say otherwise.
        axes: which axis of a position fills the first share, the second, ...: (0, 1) is row
            then column, (1, 0) column then row. There are as many as positions have.
        base: geometric range of the wavelengths; Hugging Face calls it temperature.
        layout: "axis_half" is [sin | cos] inside each share, "half" all sines and then all
            cosines, "interleaved" sin, cos, sin, cos, ...
        spacing: of the frequencies of a share: "paper" or "endpoint".
        widths: features of each share, in the order of `axes`; equal by default.
        rest: what equal shares leave over: "refuse" it, give it to the "first" share, "leave"
            zeros at the end, or round the shares up and "trim" the vector to `dim`.
    Raises:
        TypeError: a field has the wrong type.
        ValueError: a field has no valid value; a `dim` that cannot be shared names the nearest.
    Example:
        >>> from posenc import positions
        >>> mae = SinusoidalAxes(dim=8, axes=(1, 0))
        >>> last = mae.encode(positions.grid(2, 3))[5]    # row 1, column 2
        >>> [round(float(value), 3) for value in last]
        [0.909, 0.02, -0.416, 1.0, 0.841, 0.01, 0.54, 1.0]

    Source: He et al. 2021, arXiv:2111.06377, and facebookresearch/mae, util/pos_embed.py;
    Carion et al. 2020, arXiv:2005.12872, appendix A.4.
    """

    dim: int
    axes: tuple[int, ...] = (0, 1)
    base: float = 10_000.0
    layout: Layout = "axis_half"
    spacing: frequencies.Spacing = "paper"
    widths: tuple[int, ...] | None = None
    rest: grids.Rest = "refuse"
    shares: tuple[int, ...] = field(init=False, repr=False, compare=False)
    """Features of each axis, in the order of `axes`."""
    frequencies: tuple[tuple[float, ...], ...] = field(init=False, repr=False, compare=False)
    """Radians per step, a tuple for each axis in the order of `axes`, one a pair."""

    def __post_init__(self) -> None:
        grids.check_axes(self.axes)
        _checks.positive("base", self.base)
        _checks.one_of("layout", self.layout, ("half", "interleaved", "axis_half"))
        _checks.one_of("spacing", self.spacing, ("paper", "endpoint"))
        shares = grids.split(self.dim, len(self.axes), rest=self.rest, widths=self.widths)
        turning = tuple(
            frequencies.geometric(share, self.base, spacing=self.spacing) for share in shares
        )
        object.__setattr__(self, "shares", shares)
        object.__setattr__(self, "frequencies", turning)

    def encode(
        self, positions: Num[Array, "*tokens axes"], *, dtype: Any = None
    ) -> Float[Array, "*tokens dim"]:
        """The vector of each position.

        Args:
            positions: coordinates, any shape with one for each axis on the last; integers,
                float32 or float64.
            dtype: of the result; float32 by default. The cast to it is the last step.
        Returns:
            Shape of `positions` with `dim` features in place of the coordinates.
        Raises:
            TypeError: `positions` is no array of positions.
            ValueError: `positions` has another number of axes, or one lies beyond 2**31.
        Example:
            >>> from posenc import positions
            >>> SinusoidalAxes(dim=12, axes=(0, 1, 2)).encode(positions.grid(2, 3, 4)).shape
            (24, 12)

        Source: facebookresearch/mae, util/pos_embed.py.
        """
        grids.check_coordinates(positions, len(self.axes))
        xp = _arrays.namespace(positions)
        shares = [
            sinusoidal.encode(
                positions[..., axis],
                turning,
                width=share,
                layout="interleaved" if self.layout == "interleaved" else "half",
                dtype=dtype,
            )
            for axis, turning, share in zip(self.axes, self.frequencies, self.shares, strict=True)
        ]
        if self.layout == "half":
            sines = [share[..., : share.shape[-1] // 2] for share in shares]
            cosines = [share[..., share.shape[-1] // 2 :] for share in shares]
            shares = sines + cosines
        vectors = xp.concat(shares, axis=-1)[..., : self.dim]
        missing = self.dim - vectors.shape[-1]
        if not missing:
            return vectors
        zeros = xp.zeros_like(vectors[..., :1])
        return xp.concat([vectors, *[zeros] * missing], axis=-1)


@dataclass(frozen=True, kw_only=True)
class LearnedAxes:
    """Learned positions of grids: a small table for each axis instead of one row a cell.

    encode(i, j) = [table_0[i] | table_1[j]]    combine="concatenate"
    encode(i, j) = table_0[i] + table_1[j]      combine="add"

    | as in | axes | combine | positions |
    | --- | --- | --- | --- |
    | Reformer | (0, 1) | "concatenate" | grids.unravel(positions, *lengths) |
    | DETR, learned | (1, 0) | "concatenate" | positions.grid(rows, columns) |
    | Gemma 4 vision | (0, 1) | "add" | (column, row) |

    Args:
        lengths: how many steps each axis may have, in the order of `axes`.
        widths: features of each table, in the order of `axes`; all the same to "add".
        axes: which axis of a position looks up the first table, the second, ...
        combine: "concatenate" the vectors of the axes or "add" them.
    Raises:
        TypeError: a field has the wrong type.
        ValueError: a field has no valid value.
    Example:
        >>> spec = LearnedAxes(lengths=(64, 64), widths=(256, 768))
        >>> spec.weights, spec.dim
        ({'axis_0': (64, 256), 'axis_1': (64, 768)}, 1024)

    Source: Kitaev et al. 2020, arXiv:2001.04451, and transformers,
    models/reformer/modeling_reformer.py; Carion et al. 2020, facebookresearch/detr,
    models/position_encoding.py.
    """

    lengths: tuple[int, ...]
    widths: tuple[int, ...]
    axes: tuple[int, ...] = (0, 1)
    combine: Combine = "concatenate"

    def __post_init__(self) -> None:
        grids.check_axes(self.axes)
        for name, values in ("lengths", self.lengths), ("widths", self.widths):
            if not isinstance(values, tuple) or len(values) != len(self.axes):
                raise ValueError(
                    f"`{name}` must be a tuple of {len(self.axes)} integers, one for each of "
                    f"axes={self.axes}; got {values!r}."
                )
            for value in values:
                _checks.integer(name, value, at_least=1)
        _checks.one_of("combine", self.combine, ("concatenate", "add"))
        if self.combine == "add" and len(set(self.widths)) > 1:
            raise ValueError(
                f"`widths` must be equal for combine='add', because vectors of different widths "
                f"have no sum; got {self.widths}."
            )

    @property
    def dim(self) -> int:
        """Features a vector has."""
        return sum(self.widths) if self.combine == "concatenate" else self.widths[0]

    @property
    def weights(self) -> dict[str, tuple[int, ...]]:
        """The shape of each trained array, named by the axis that looks it up."""
        shapes = zip(self.axes, self.lengths, self.widths, strict=True)
        return {f"axis_{axis}": (length, width) for axis, length, width in shapes}

    def initial_weights(self, seed: int = 0, *, std: float = 1.0) -> dict[str, np.ndarray]:
        """Tables to start training from, normal as in Reformer. (DETR draws from 0 to 1.)

        Args:
            seed: of the random numbers.
            std: their standard deviation.
        Returns:
            A float32 array for each name of `weights`.
        Example:
            >>> tables = LearnedAxes(lengths=(2, 3), widths=(4, 8)).initial_weights()
            >>> tables["axis_1"].shape
            (3, 8)

        Source: transformers, models/reformer/configuration_reformer.py, axial_norm_std.
        """
        random = np.random.default_rng(seed)
        return {
            name: random.normal(0.0, std, shape).astype(np.float32)
            for name, shape in self.weights.items()
        }

    def encode(
        self,
        positions: Int[Array, "*tokens axes"],
        *,
        dtype: Any = None,
        **tables: Float[Array, "_length _width"],
    ) -> Float[Array, "*tokens dim"]:
        """The vector of each position.

        Args:
            positions: coordinates, any shape with one for each axis on the last; integers from
                0. Where they cannot be looked at (traced, or on an accelerator) others give NaN.
            dtype: of the result; that of the tables by default.
            tables: the trained arrays, named as in `weights`: axis_0=..., axis_1=...
        Returns:
            Shape of `positions` with `dim` features in place of the coordinates.
        Raises:
            TypeError: `positions` holds no integers, or a table is missing or not known.
            ValueError: a coordinate lies outside its table, or a table has another shape.
        Example:
            >>> spec = LearnedAxes(lengths=(2, 3), widths=(1, 1))
            >>> rows, columns = np.asarray([[0.0], [0.1]]), np.asarray([[7.0], [8.0], [9.0]])
            >>> spec.encode(np.asarray([[1, 2], [0, 1]]), axis_0=rows, axis_1=columns).tolist()
            [[0.1, 9.0], [0.0, 8.0]]

        Source: transformers, models/reformer/modeling_reformer.py, AxialPositionEmbeddings.
        """
        grids.check_coordinates(positions, len(self.axes))
        shapes = self.weights
        if tables.keys() != shapes.keys():
            raise TypeError(
                f"encode needs the tables {', '.join(shapes)}; got {', '.join(tables) or 'none'}."
            )
        vectors = []
        for axis, (name, shape) in zip(self.axes, shapes.items(), strict=True):
            attention.check_weight(name, tables[name], shape, like=positions)
            coordinates = positions[..., axis]
            where = f"positions[..., {axis}]"
            vectors.append(learned.look_up(coordinates, tables[name], dtype=dtype, name=where))
        if self.combine == "add":
            return sum(vectors[1:], start=vectors[0])
        return _arrays.namespace(positions).concat(vectors, axis=-1)
