"""Pairs of features turned by a trained mix of row and column (RoPE-Mixed)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from posenc import _arrays, _checks, attention, grids, rotary
from posenc._arrays import Array, Float, Num


@dataclass(frozen=True, kw_only=True)
class MixedRotary:
    """Rotary embedding of queries and keys on a grid with trained frequencies for every head.

    angle = sum over axes of coordinate[axis] * frequencies[axis, head, k]

    A pair that turns with both axes tells directions apart which axial turning cannot. The
    frequencies are weights: leave them out of weight decay.

    Args:
        dim: width of a head; a multiple of 4.
        heads: how many heads, each with frequencies of its own.
        base: geometric range of the frequencies to start training from.
        axes: which axis of a position belongs to frequencies[0], and which to frequencies[1]:
            (1, 0), column then row, is RoPE-ViT's; (0, 1) row then column.
        layout: which features are a pair: "interleaved" (RoPE-ViT) or "half".
    Raises:
        TypeError: a field has the wrong type.
        ValueError: a field has no valid value.
    Example:
        >>> from posenc import positions
        >>> spec = MixedRotary(dim=8, heads=3)
        >>> spec.weights
        {'frequencies': (2, 3, 4)}
        >>> q = np.ones((5, 3, 12, 8), dtype=np.float32)    # batch, heads, cells, dim
        >>> spec.rotate(q, positions.grid(3, 4), **spec.initial_weights()).shape
        (5, 3, 12, 8)

    Source: Heo et al. 2024, arXiv:2403.13298, section 3.2; naver-ai/rope-vit,
    self-attn/rope_self_attn.py.
    """

    dim: int
    heads: int
    base: float = 10.0
    axes: tuple[int, ...] = (1, 0)
    layout: rotary.Layout = "interleaved"

    def __post_init__(self) -> None:
        grids.check_axes(self.axes)
        if len(self.axes) != 2:
            raise ValueError(f"`axes` must be (0, 1) or (1, 0); got {self.axes}.")
        grids.split(self.dim, 2)
        _checks.integer("heads", self.heads, at_least=1)
        _checks.positive("base", self.base)
        _checks.one_of("layout", self.layout, ("half", "interleaved"))

    @property
    def weights(self) -> dict[str, tuple[int, ...]]:
        """The shape of each trained array."""
        return {"frequencies": (2, self.heads, self.dim // 2)}

    def initial_weights(self, seed: int = 0) -> dict[str, np.ndarray]:
        """Frequencies to start training from: for each head two crossing directions, at random.

        size = base ** (-4 k / dim), k = 0 .. dim / 4 - 1; pairs k point along phi, pairs
        k + dim / 4 along phi + pi / 2

        Args:
            seed: of the random numbers.
        Returns:
            {"frequencies": float32 of shape (2, heads, dim / 2)}.
        Example:
            >>> column, row = MixedRotary(dim=4, heads=2).initial_weights()["frequencies"]
            >>> np.hypot(column, row).round(6).tolist()
            [[1.0, 1.0], [1.0, 1.0]]

        Source: naver-ai/rope-vit, self-attn/rope_self_attn.py, init_random_2d_freqs.
        """
        size = self.base ** (-4 * np.arange(self.dim // 4) / self.dim)
        phi = np.random.default_rng(seed).uniform(0, math.tau, (self.heads, 1))
        directions = [phi + np.zeros_like(size), phi + math.pi / 2 + np.zeros_like(size)]
        angle, size = np.concatenate(directions, axis=-1), np.tile(size, 2)
        frequencies = np.stack([size * np.cos(angle), size * np.sin(angle)])
        return {"frequencies": frequencies.astype(np.float32)}

    def table(
        self,
        positions: Num[Array, "*batch length axes"],
        *,
        frequencies: Float[Array, "axes heads half"],
        dtype: Any = None,
    ) -> tuple[Float[Array, "*batch heads length half"], Float[Array, "*batch heads length half"]]:
        """Cosine and sine for each head, position and pair.

        Args:
            positions: coordinates (row, column) of each token; integers, float32 or float64.
            frequencies: the trained ones, in radians per step.
            dtype: of the result; float32 by default. The cast to it is the last step.
        Returns:
            Two arrays of shape (*batch, heads, length, dim / 2).
        Raises:
            TypeError: `positions` is no array of positions, or `frequencies` holds no floats.
            ValueError: `positions` has no two coordinates, or `frequencies` another shape.
        Example:
            >>> spec = MixedRotary(dim=4, heads=1)
            >>> frequencies = np.asarray([[[1.0, 0.0]], [[0.0, 0.5]]])    # column, row
            >>> cos, sin = spec.table(np.asarray([[2, 1]]), frequencies=frequencies)
            >>> bool(np.allclose(sin, np.sin([1.0, 1.0])))
            True

        Source: Heo et al. 2024, arXiv:2403.13298, section 3.2.
        """
        grids.check_coordinates(positions, 2)
        attention.check_weights(self.weights, {"frequencies": frequencies}, like=positions)
        if positions.ndim < 2:
            raise ValueError(
                f"`positions` must have shape (*batch, length, 2); got {tuple(positions.shape)}."
            )
        xp, work = _arrays.namespace(positions), _arrays.widest_float(positions)
        steps = xp.astype(positions, work)[..., None, :, :]  # *batch, 1, length, axis
        turning = xp.astype(frequencies, work)
        one, other = (
            steps[..., axis, None] * turning[i, :, None, :] for i, axis in enumerate(self.axes)
        )
        dtype = xp.float32 if dtype is None else dtype
        return xp.astype(xp.cos(one + other), dtype), xp.astype(xp.sin(one + other), dtype)

    def rotate(
        self,
        x: Float[Array, "*batch heads length dim"],
        positions: Num[Array, "*rows length axes"],
        *,
        frequencies: Float[Array, "axes heads half"],
        inverse: bool = False,
    ) -> Float[Array, "*batch heads length dim"]:
        """Queries or keys, turned to their place on the grid.

        Args:
            x: queries or keys, heads before tokens, features last.
            positions: coordinates (row, column) of each token: shape (length, 2), or
                (*batch, length, 2) for images of their own.
            frequencies: the trained ones, in radians per step.
            inverse: turn back, so that rotate(rotate(x), inverse=True) is x.
        Returns:
            Shape and dtype of `x`. bfloat16 and float16 are turned in float32, rounded once.
        Raises:
            TypeError: `x` is no floating-point array, or `positions` none of its library.
            ValueError: an array has another shape than it must have.
        Example:
            >>> spec = MixedRotary(dim=4, heads=1)
            >>> x, corner = np.asarray([[[1.0, 2.0, 3.0, 4.0]]]), np.asarray([[0, 0]])
            >>> spec.rotate(x, corner, **spec.initial_weights()).tolist()
            [[[1.0, 2.0, 3.0, 4.0]]]

        Source: Heo et al. 2024, arXiv:2403.13298, section 3.2.
        """
        _checks.features(x, self.dim)
        if x.ndim < 3 or x.shape[-3] != self.heads:
            raise ValueError(
                f"`x` must have shape (*batch, {self.heads} heads, length, {self.dim}); "
                f"got {tuple(x.shape)}."
            )
        work = _arrays.working_dtype(x)
        cos, sin = self.table(positions, frequencies=frequencies, dtype=work)
        if cos.ndim == 3:  # one grid for the whole batch
            ones = (1,) * (x.ndim - 3)
            xp = _arrays.namespace(x, cos)
            cos, sin = xp.reshape(cos, (*ones, *cos.shape)), xp.reshape(sin, (*ones, *sin.shape))
        return rotary.rotate(x, cos, -sin if inverse else sin, layout=self.layout)
