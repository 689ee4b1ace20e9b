"""What is added to embeddings, as modules: summed in full precision, rounded once."""

from __future__ import annotations

from typing import Any, ClassVar

import torch

from posenc import _checks, axes, fourier, learned, sinusoidal
from posenc.torch.cache import Cache, copy_on_write
from posenc.torch.encoding import Encoding

_VECTORS = Cache(entries=4, size=64 << 20)
"""Vectors of the last few calls, for all modules: a model asks alike in each step of training."""


class Absolute(Encoding):
    """A vector for each position, added to the embedding of the token that stands there.

    Example:
        >>> code, x = Sinusoidal(dim=4), torch.zeros(2, 3, 4, dtype=torch.bfloat16)
        >>> code(x, torch.arange(3)).dtype
        torch.bfloat16
        >>> code(x[:, :1], torch.tensor([[3], [1]])).shape    # a decoding step of two texts
        torch.Size([2, 1, 4])
    """

    coordinates: ClassVar[bool] = False
    """Whether a position is a row of coordinates on one more axis, and no number."""

    def forward(self, x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        """Embeddings plus the vectors of their positions.

        x + encode(positions), summed in float32 or wider and rounded once

        Args:
            x: embeddings, (*batch, length, dim).
            positions: where the tokens stand: (length,) for all rows, or with all the axes of
                `x` before its features, each equal or 1, for rows of their own. Grids have
                coordinates on one more axis.
        Returns:
            Shape of `x` and its dtype; float32 for an `x` of integers. `x` stays as it is.
        Raises:
            TypeError: `positions` is no array of positions.
            ValueError: shapes do not fit, or a position lies outside a trained table.
        """
        _checks.features(x, self._dim)
        self._check_rows(positions, x)
        vectors = self._vectors(positions, torch.promote_types(x.dtype, torch.float32))
        return (x + vectors).to(x.dtype if x.is_floating_point() else vectors.dtype)

    def encode(self, positions: torch.Tensor, *, dtype: torch.dtype | None = None) -> torch.Tensor:
        """The vector of each position.

        Args:
            positions: any shape; see `forward`.
            dtype: of the result, in which it is rounded once; by default float32, or that of
                the trained table.
        Returns:
            Shape of `positions` with `dim` features on one more axis (on grids in place of the
            coordinates). Writing into it changes nobody else's.
        Raises:
            TypeError: `positions` is no array of positions.
            ValueError: a position lies outside a trained table, or beyond 2**31.
        Example:
            >>> Sinusoidal(dim=2).encode(torch.tensor([0, 1]))
            tensor([[0.0000, 1.0000],
                    [0.8415, 0.5403]])
        """
        return copy_on_write(self._vectors(positions, dtype))

    @property
    def _dim(self) -> int:
        return self.spec.dim

    def _vectors(self, positions: torch.Tensor, dtype: torch.dtype | None) -> torch.Tensor:
        """To be read only."""
        return self.spec.encode(positions, **self.trained, dtype=dtype)

    def _check_rows(self, positions: torch.Tensor, x: torch.Tensor) -> None:
        rows = tuple(positions.shape[:-1] if self.coordinates else positions.shape)
        tokens = tuple(x.shape[:-1])
        # No `in`: torch.compile answers it wrongly for sizes that are symbols.
        fits = len(rows) in (min(1, len(tokens)), len(tokens)) and all(
            one == 1 or one == other
            for one, other in zip(reversed(rows), reversed(tokens), strict=False)
        )
        if not fits:
            axis = ", axes" if self.coordinates else ""
            raise ValueError(
                f"`positions` must have shape (length{axis}) or (*batch, length{axis}), each axis "
                "equal to that of `x` or 1, so that no row lines up with the wrong axis; got "
                f"{tuple(positions.shape)} for x of shape {tuple(x.shape)}."
            )


class _Kept(Absolute):
    """Vectors that follow from settings and positions, and serve every step of training."""

    def _vectors(self, positions: torch.Tensor, dtype: torch.dtype | None) -> torch.Tensor:
        def make() -> tuple[torch.Tensor, ...]:
            return (self.spec.encode(positions, dtype=dtype),)

        (vectors,) = _VECTORS.get((self.spec, dtype), (positions,), make)
        return vectors


class Sinusoidal(_Kept):
    """Sinusoidal vectors as a module; arguments as `posenc.Sinusoidal` takes them.

    Example:
        >>> Sinusoidal(dim=4)(torch.zeros(1, 2, 4), torch.tensor([0, 1]))
        tensor([[[0.0000, 1.0000, 0.0000, 1.0000],
                 [0.8415, 0.5403, 0.0100, 0.9999]]])
    """

    kind = sinusoidal.Sinusoidal


class SinusoidalAxes(_Kept):
    """Sinusoidal vectors of grids as a module; arguments as `posenc.SinusoidalAxes` takes them.

    Example:
        >>> from posenc import positions
        >>> cells = positions.grid(2, 3, like=torch.zeros(0))
        >>> SinusoidalAxes(dim=8)(torch.zeros(1, 6, 8), cells).shape
        torch.Size([1, 6, 8])
    """

    kind = axes.SinusoidalAxes
    coordinates = True


class Nerf(Absolute):
    """NeRF's octaves as a module; arguments as `posenc.Nerf` takes them. Most use `encode`.

    Example:
        >>> Nerf(octaves=10).encode(torch.rand(5, 3)).shape
        torch.Size([5, 63])
    """

    kind = fourier.Nerf
    coordinates = True


class FourierFeatures(Absolute):
    """Random Fourier features as a module; arguments as `posenc.FourierFeatures` takes them.

    The matrix is drawn once: it is saved with the model, and no gradient reaches it.

    Example:
        >>> code = FourierFeatures(dim=8, axes=2)
        >>> code.encode(torch.rand(5, 2)).shape, code.matrix.requires_grad
        (torch.Size([5, 8]), False)
    """

    kind = fourier.FourierFeatures
    coordinates = True

    def __init__(self, **fields: Any) -> None:
        super().__init__(**fields)
        self.get_parameter("matrix").requires_grad_(False)


class Learned(Absolute):
    """A trained table as a module; arguments as `posenc.Learned` takes them.

    A position beyond the table is an error; compiled, or on an accelerator, where nobody looks at
    positions, its vector is NaN.

    Example:
        >>> code = Learned(length=512, dim=4, offset=2)
        >>> code.table.shape, code(torch.zeros(1, 3, 4), torch.arange(3)).shape
        (torch.Size([514, 4]), torch.Size([1, 3, 4]))
    """

    kind = learned.Learned


class LearnedAxes(Absolute):
    """Trained tables of grids as a module; arguments as `posenc.LearnedAxes` takes them.

    Example:
        >>> code = LearnedAxes(lengths=(2, 3), widths=(4, 4))
        >>> sorted(code.state_dict()), code.encode(torch.tensor([[1, 2]])).shape
        (['axis_0', 'axis_1'], torch.Size([1, 8]))
    """

    kind = axes.LearnedAxes
    coordinates = True
