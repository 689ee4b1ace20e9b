"""Coordinates as sines and cosines: random Fourier features, and the octaves of NeRF."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from posenc import _arrays, _checks, attention
from posenc._arrays import Array, Float, Num


@dataclass(frozen=True, kw_only=True)
class FourierFeatures:
    """Random Fourier features: how far a point lies along directions drawn once.

    turns[k] = matrix[k] . coordinates
    features = cos(2 pi turns), sin(2 pi turns)     first="cos"

    The matrix is drawn once and never trained, but it is saved with the model: without it the
    features mean nothing.

    Args:
        dim: features a vector has, half of them cosines.
        axes: coordinates a point has; they should lie between 0 and 1.
        scale: standard deviation of the matrix. Too small blurs, too large is noise.
        first: "cos" (the paper) or "sin" (its notebook, and SAM's prompt encoder).
    Raises:
        TypeError: a field has the wrong type.
        ValueError: a field has no valid value.
    Example:
        >>> FourierFeatures(dim=256, axes=2, scale=10.0).weights
        {'matrix': (128, 2)}

    Source: Tancik et al. 2020, arXiv:2006.10739, sections 5 and 6; first="sin":
    tancik/fourier-feature-networks, Demo.ipynb.
    """

    dim: int
    axes: int
    scale: float = 1.0
    first: Literal["cos", "sin"] = "cos"

    def __post_init__(self) -> None:
        _checks.even("dim", self.dim)
        _checks.integer("axes", self.axes, at_least=1)
        _checks.positive("scale", self.scale)
        _checks.one_of("first", self.first, ("cos", "sin"))

    @property
    def weights(self) -> dict[str, tuple[int, ...]]:
        """The frozen array: name and shape."""
        return {"matrix": (self.dim // 2, self.axes)}

    def initial_weights(self, seed: int = 0) -> dict[str, np.ndarray]:
        """The matrix: normal with standard deviation `scale`.

        Args:
            seed: of the random numbers.
        Returns:
            {"matrix": float32 of shape (dim / 2, axes)}.
        Example:
            >>> FourierFeatures(dim=256, axes=2).initial_weights()["matrix"].shape
            (128, 2)

        Source: Tancik et al. 2020, arXiv:2006.10739, section 5.
        """
        return attention.normal(self.weights, std=self.scale, seed=seed)

    def encode(
        self,
        coordinates: Num[Array, "*points axes"],
        *,
        matrix: Float[Array, "half axes"],
        dtype: Any = None,
    ) -> Float[Array, "*points dim"]:
        """The vector of each point.

        Args:
            coordinates: of each point, on the last axis; integers, float32 or float64.
            matrix: see `weights`.
            dtype: of the result; float32 by default. Turns are counted in float64 where the
                device has it. The cast is the last step.
        Returns:
            Shape of `coordinates` with `dim` features instead of its last axis.
        Raises:
            TypeError: `coordinates` are no real numbers, or `matrix` holds no floats.
            ValueError: shapes do not fit.
        Example:
            >>> import numpy as np
            >>> spec = FourierFeatures(dim=4, axes=2)
            >>> matrix = np.asarray([[1.0, 0.0], [0.5, -2.0]])
            >>> features = spec.encode(np.asarray([0.25, 0.5]), matrix=matrix)
            >>> [round(float(feature), 4) for feature in features]
            [0.0, 0.7071, 1.0, 0.7071]

        Source: Tancik et al. 2020, arXiv:2006.10739, sections 5 and 6.
        """
        _points(coordinates, self.axes)
        attention.check_weight("matrix", matrix, self.weights["matrix"], like=coordinates)
        xp = _arrays.namespace(coordinates)
        wide = _arrays.widest_float(coordinates)
        # A product and a sum, no matmul: an accelerator may round the coordinates of a matmul.
        turns = xp.astype(coordinates, wide)[..., None, :] * xp.astype(matrix, wide)
        turns = xp.sum(turns, axis=-1)
        angle = (turns - xp.round(turns)) * math.tau
        pair = [xp.cos(angle), xp.sin(angle)]
        features = xp.concat(pair if self.first == "cos" else pair[::-1], axis=-1)
        return xp.astype(features, xp.float32 if dtype is None else dtype)


@dataclass(frozen=True, kw_only=True)
class Nerf:
    """The positional encoding of NeRF: each coordinate at frequencies that double.

    x, sin(x), cos(x), sin(2 x), cos(2 x), sin(4 x), cos(4 x), ...

    Args:
        octaves: how many frequencies: 10 for places, 4 for directions.
        axes: coordinates a point has.
        pi: whether the frequencies are pi 2^k (the paper) instead of 2^k (the authors' code).
        include_input: whether the coordinates themselves come first (the code, not the paper).
        grouping: "frequency": all sines of a frequency, all its cosines, the next frequency (the
            code); "axis": all frequencies of a coordinate, the next coordinate (the paper).
    Raises:
        TypeError: a field has the wrong type.
        ValueError: a field has no valid value.
    Example:
        >>> Nerf(octaves=10).dim, Nerf(octaves=10, pi=True, include_input=False).dim
        (63, 60)

    Source: Mildenhall et al. 2020, arXiv:2003.08934, section 5.1; bmild/nerf,
    run_nerf_helpers.py.
    """

    octaves: int
    axes: int = 3
    pi: bool = False
    include_input: bool = True
    grouping: Literal["frequency", "axis"] = "frequency"

    def __post_init__(self) -> None:
        _checks.integer("octaves", self.octaves, at_least=1)
        _checks.integer("axes", self.axes, at_least=1)
        _checks.boolean("pi", self.pi)
        _checks.boolean("include_input", self.include_input)
        _checks.one_of("grouping", self.grouping, ("frequency", "axis"))

    @property
    def dim(self) -> int:
        """Features a vector has."""
        return self.axes * (2 * self.octaves + self.include_input)

    def encode(
        self, coordinates: Num[Array, "*points axes"], *, dtype: Any = None
    ) -> Float[Array, "*points dim"]:
        """The vector of each point.

        Args:
            coordinates: of each point, on the last axis; integers, float32 or float64.
            dtype: of the result; float32 by default. The cast to it is the last step.
        Returns:
            Shape of `coordinates` with `dim` features instead of its last axis.
        Raises:
            TypeError: `coordinates` are no real numbers.
            ValueError: there are not `axes` of them, or one lies beyond 2**31.
        Example:
            >>> import numpy as np
            >>> spec = Nerf(octaves=2, axes=1)
            >>> [round(float(feature), 4) for feature in spec.encode(np.asarray([0.1]))]
            [0.1, 0.0998, 0.995, 0.1987, 0.9801]

        Source: Mildenhall et al. 2020, arXiv:2003.08934, section 5.1, equation 4.
        """
        _points(coordinates, self.axes)
        xp = _arrays.namespace(coordinates)
        wide = _arrays.widest_float(coordinates)
        points = xp.astype(coordinates, wide)
        factors = [2.0**k for k in range(self.octaves)]
        factors = _arrays.constant(factors, like=points, dtype=wide)
        angle = points[..., None, :] * factors[:, None]  # doubling is exact
        if self.pi:
            # Whole turns go first: their product with pi would be rounded.
            angle = (angle - 2 * xp.round(angle / 2)) * math.pi
        waves = xp.stack([xp.sin(angle), xp.cos(angle)], axis=-1)  # (*points, octaves, axes, 2)
        if self.grouping == "frequency":
            waves = _arrays.moveaxis(waves, -1, -2)
        else:
            waves = _arrays.moveaxis(waves, -2, -3)
        features = xp.reshape(waves, (*points.shape[:-1], 2 * self.octaves * self.axes))
        if self.include_input:
            features = xp.concat([points, features], axis=-1)
        return xp.astype(features, xp.float32 if dtype is None else dtype)


def _points(coordinates: Array, axes: int) -> None:
    _checks.real_positions("coordinates", coordinates)
    if coordinates.ndim == 0 or coordinates.shape[-1] != axes:
        raise ValueError(
            f"`coordinates` must have its {axes} coordinates (`axes`) on the last axis; "
            f"got shape {tuple(coordinates.shape)}."
        )
