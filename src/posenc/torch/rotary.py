"""What turns queries and keys, as modules."""

from __future__ import annotations

from itertools import accumulate
from typing import Any, Literal

import torch
from torch import Tensor

import posenc
from posenc import _checks, kernels, rotary
from posenc.torch import shards, turning
from posenc.torch.cache import Cache
from posenc.torch.encoding import Encoding
from posenc.torch.loops import plain

_TABLES = Cache(entries=8, size=128 << 20)
"""Cosines and sines of the last few calls, for all modules: the layers of a model ask alike."""


class Turning(Encoding):
    """Queries and keys turned to their positions; nothing trained, nothing in the state_dict.

    Args:
        length_axis: where `x` has its tokens: -2 in (batch, heads, length, dim), -3 in (batch,
            length, heads, dim) and in the packed rows (tokens, heads, dim) of flash-attention.
        fields: those of the spec.
    Example:
        >>> rope = Rotary(dim=8, layout="half")
        >>> q, k = torch.ones(1, 4, 3, 8), torch.ones(1, 2, 3, 8)    # grouped-query heads
        >>> q, k = rope(q, k, torch.arange(3))
        >>> q, k = rope(q[:, :, :1], k[:, :, :1], torch.tensor([3]))    # a decoding step
        >>> q.shape, k.shape
        (torch.Size([1, 4, 1, 8]), torch.Size([1, 2, 1, 8]))
    """

    def __init__(self, *, length_axis: Literal[-2, -3] = -2, **fields: Any) -> None:
        _checks.one_of("length_axis", length_axis, (-2, -3))
        super().__init__(**fields)
        self.length_axis = length_axis

    def forward(
        self,
        q: Tensor,
        k: Tensor,
        positions: Tensor,
        *,
        key_positions: Tensor | None = None,
        **options: Any,
    ) -> tuple[Tensor, Tensor]:
        """Queries and keys, turned; values are never turned.

        Args:
            q: queries, features last.
            k: keys, with heads of their own number.
            positions: where the tokens stand: (length,), or (batch, length) for rows padded,
                packed or cached each in its own way; on grids with coordinates on one more axis.
                Or with all the axes of `q` before its features, each equal or 1.
            key_positions: where the keys stand, if elsewhere: for a cache of unturned keys.
            options: `length`, the number of tokens in the whole text, for scalings of `Rotary`
                and `MRotary` that look at it.
        Returns:
            Both, with their shapes and dtypes.
        Raises:
            TypeError: a tensor has the wrong kind of numbers.
            ValueError: shapes do not fit.
        """
        alike = (q.ndim, q.dtype) == (k.ndim, k.dtype) and not shards.distributed(q, k, positions)
        if key_positions is not None or not alike:
            keys_at = positions if key_positions is None else key_positions
            return self.rotate(q, positions, **options), self.rotate(k, keys_at, **options)
        self._has_features(k)
        table = self._table(q, positions, False, options)
        return self._turned(q, *table, None), self._turned(k, *table, None)

    def rotate(
        self,
        x: Tensor,
        positions: Tensor,
        *,
        inverse: bool = False,
        out: Tensor | None = None,
        **options: Any,
    ) -> Tensor:
        """Queries or keys, turned to their positions.

        Args:
            x: queries or keys, features last.
            positions: see `forward`.
            inverse: turn back. A cached key moves by turning it back from its old position, then
                to its new one.
            out: where the result goes, of shape and dtype of `x`; no gradient passes.
            options: see `forward`.
        Returns:
            `out`, or a new tensor of shape and dtype of `x`; bfloat16 and float16 are turned in
            float32 and rounded once.
        Raises:
            TypeError: a tensor has the wrong kind of numbers.
            ValueError: shapes do not fit.
        """
        if shards.distributed(x, positions):
            return shards.rotate(self, x, positions, inverse=inverse, out=out, options=options)
        return self._turned(x, *self._table(x, positions, inverse, options), out)

    def rotate_(
        self, x: Tensor, positions: Tensor, *, inverse: bool = False, **options: Any
    ) -> Tensor:
        """`rotate` in place: the fastest, because fresh memory costs more than the turning.

        Args:
            x: queries or keys, features last; changed. Gradients pass.
            positions: see `forward`.
            inverse: see `rotate`.
            options: see `forward`.
        Returns:
            `x`.
        Raises:
            TypeError: a tensor has the wrong kind of numbers.
            ValueError: shapes do not fit.
            RuntimeError: `x` is a leaf that wants a gradient.
        """
        if shards.distributed(x, positions):
            return shards.rotate_(self, x, positions, inverse=inverse, options=options)
        return self._turned_(x, *self._table(x, positions, inverse, options))

    def table(self, positions: Tensor, **options: Any) -> tuple[Tensor, Tensor]:
        """Cosine and sine of each position and pair, float32, in memory of their own.

        Args:
            positions: see `forward`.
            options: see `forward`.
        Returns:
            Two tensors: the shape of `positions` with one entry a pair on the last axis.
        """
        return self._make(positions, torch.float32, options)

    def _table(
        self, x: Tensor, positions: Tensor, inverse: bool, options: dict[str, Any]
    ) -> tuple[Tensor, Tensor]:
        """The table as `x` wants it, made once for all layers."""
        self._has_features(x)
        work = torch.promote_types(x.dtype, torch.float32)
        settings = (
            (self.spec, getattr(self, "precision", None), self.length_axis),
            (tuple(options.items()), work, inverse, x.ndim),
        )

        def make() -> tuple[Tensor, Tensor]:
            cos, sin = self._make(positions, work, options)
            if inverse:
                square = self._factor**2  # once for the factor in cos, once to undo it in x
                cos, sin = cos / square, -sin / square
            return self._aligned(cos, x.ndim), self._aligned(sin, x.ndim)

        cos, sin = _TABLES.get(settings, (positions, *self._parameters.values()), make)  # pyright: ignore[reportArgumentType]
        return cos, sin

    def _has_features(self, x: Tensor) -> None:
        if x.ndim == 0 or x.shape[-1] != self._dim:
            _checks.features(x, self._dim)

    def _aligned(self, part: Tensor, axes: int) -> Tensor:
        """Positions as (length,) or (batch, length) beside an `x` that has heads."""
        tokens = part.ndim - 1
        behind = -self.length_axis - 2
        if tokens == axes - 1 or tokens > 2 or (tokens == 1 and not behind):
            return part
        ahead = axes - 1 - tokens - behind
        first, last = part.shape[: tokens - 1], part.shape[tokens - 1 : -1]
        return part.reshape(*first, *[1] * ahead, *last, *[1] * behind, part.shape[-1])

    def _make(
        self, positions: Tensor, dtype: torch.dtype, options: dict[str, Any]
    ) -> tuple[Tensor, Tensor]:
        return self.spec.table(positions, dtype=dtype, **self.trained, **options)

    def _turned(self, x: Tensor, cos: Tensor, sin: Tensor, out: Tensor | None) -> Tensor:
        return turning.rotate(x, cos, sin, layout=self.spec.layout, out=out)

    def _turned_(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        return turning.rotate_(x, cos, sin, layout=self.spec.layout)

    @property
    def _dim(self) -> int:
        return self.spec.dim

    @property
    def _factor(self) -> float:
        """What multiplies cosines and sines."""
        return 1.0


class Scaled(Turning):
    """Rotary encodings that may have a scaling.

    Args:
        precision: "exact", or "float32" for the arithmetic of Hugging Face transformers, operation
            for operation, for models trained under it.
        fields: those of the spec, and `length_axis`.
    """

    def __init__(self, *, precision: rotary.Precision = "exact", **fields: Any) -> None:
        _checks.one_of("precision", precision, ("exact", "float32"))
        super().__init__(**fields)
        self.precision: rotary.Precision = precision

    def _make(
        self, positions: Tensor, dtype: torch.dtype, options: dict[str, Any]
    ) -> tuple[Tensor, Tensor]:
        return self.spec.table(positions, dtype=dtype, precision=self.precision, **options)


class Rotary(Scaled):
    """`posenc.Rotary` (RoPE) as a module: both pair layouts, partial turning, any scaling.

    On a CPU tables and turning are fused loops where numba is installed.

    Args:
        fields: those of `posenc.Rotary`, `precision`, and `length_axis`.
    Example:
        >>> rope = Rotary(dim=128, base=500_000.0, scaling=posenc.Linear(factor=4.0))
        >>> q, k = torch.ones(2, 8, 5, 128), torch.ones(2, 1, 5, 128)
        >>> rows = torch.tensor([[0, 1, 2, 3, 4], [0, 0, 0, 1, 2]])    # padded on the left
        >>> q, k = rope(q, k, rows)
        >>> rope.rotate_(q, rows, inverse=True).allclose(torch.ones(()))
        True
        >>> rope.state_dict()
        OrderedDict()

    Source: Su et al. 2021, arXiv:2104.09864, section 3.4.2.
    """

    kind = posenc.Rotary

    def _make(
        self, positions: Tensor, dtype: torch.dtype, options: dict[str, Any]
    ) -> tuple[Tensor, Tensor]:
        whole = not (positions.is_floating_point() or positions.is_complex())
        exact = (
            self.precision == "exact" and dtype == torch.float32 and positions.dtype != torch.bool
        )
        if not (whole and exact and plain(positions) and kernels.available()):
            return super()._make(positions, dtype, options)
        frequencies = self.spec.frequencies_for(positions, **options)
        parts = kernels.cos_sin(positions.numpy(), frequencies, factor=self._factor)
        cos, sin = map(torch.from_numpy, parts)
        return cos, sin

    @property
    def _factor(self) -> float:
        return self.spec.attention_factor


class MRotary(Scaled):
    """`posenc.MRotary` (M-RoPE) as a module; positions are (time, row, column).

    Args:
        fields: those of `posenc.MRotary`, `precision`, and `length_axis`.
    Example:
        >>> rope = MRotary(rotary=posenc.Rotary(dim=8), sections=(1, 1, 2))
        >>> q = k = torch.ones(1, 2, 5, 8)
        >>> q, k = rope(q, k, torch.zeros(1, 5, 3, dtype=torch.int64))

    Source: Wang et al. 2024, arXiv:2409.12191, section 2.1.
    """

    kind = posenc.MRotary

    def _turned(self, x: Tensor, cos: Tensor, sin: Tensor, out: Tensor | None) -> Tensor:
        return turning.rotate(x, cos, sin, layout=self.spec.rotary.layout, out=out)

    def _turned_(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        return turning.rotate_(x, cos, sin, layout=self.spec.rotary.layout)

    @property
    def _dim(self) -> int:
        return self.spec.rotary.dim

    @property
    def _factor(self) -> float:
        return self.spec.rotary.attention_factor


class AxialRotary(Turning):
    """`posenc.AxialRotary` as a module; positions are the coordinates of cells.

    Args:
        fields: those of `posenc.AxialRotary`, and `length_axis`.
    Example:
        >>> rope = AxialRotary(dim=8)
        >>> q = k = torch.ones(1, 2, 6, 8)
        >>> q, k = rope(q, k, posenc.positions.grid(2, 3, like=q))

    Source: Heo et al. 2024, arXiv:2403.13298, section 3.2.
    """

    kind = posenc.AxialRotary

    def _turned(self, x: Tensor, cos: Tensor, sin: Tensor, out: Tensor | None) -> Tensor:
        if self.spec.layout != "axis_half":
            return super()._turned(x, cos, sin, out)
        if out is not None and out is not x:
            return self._turned_(out.copy_(x), cos, sin)
        if out is not None:
            return self._turned_(x, cos, sin)
        blocks = [
            turning.rotate(x[..., block], cos[..., pairs], sin[..., pairs], layout="half")
            for block, pairs in self._blocks()
        ]
        return torch.cat([*blocks, x[..., sum(self.spec.shares) :]], dim=-1)

    def _turned_(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        if self.spec.layout != "axis_half":
            return super()._turned_(x, cos, sin)
        for block, pairs in self._blocks():
            turning.rotate_(x[..., block], cos[..., pairs], sin[..., pairs], layout="half")
        return x

    def _blocks(self) -> list[tuple[slice, slice]]:
        """The features and the pairs of each axis, whose halves are pairs."""
        shares = self.spec.shares
        ends = zip(shares, accumulate(shares), strict=True)
        return [(slice(e - n, e), slice((e - n) // 2, e // 2)) for n, e in ends]


class MixedRotary(Turning):
    """`posenc.MixedRotary` as a module: its frequencies are trained, so no table of them is kept.

    Queries and keys both have its number of heads.

    Args:
        fields: those of `posenc.MixedRotary`, `length_axis`, and `device` and `dtype` of the
            parameter.
    Example:
        >>> rope = MixedRotary(dim=8, heads=2)
        >>> q = k = torch.ones(1, 2, 6, 8)
        >>> q, k = rope(q, k, posenc.positions.grid(2, 3, like=q))
        >>> q.sum().backward()
        >>> rope.frequencies.grad.shape
        torch.Size([2, 2, 4])

    Source: Heo et al. 2024, arXiv:2403.13298, section 3.3.
    """

    kind = posenc.MixedRotary

    def _aligned(self, part: Tensor, axes: int) -> Tensor:
        part = part if self.length_axis == -2 else part.transpose(-3, -2)
        return part.reshape(*[1] * (axes - part.ndim), *part.shape)


class XPos(Turning):
    """`posenc.XPos` as a module: queries and keys are scaled against each other as they turn.

    Args:
        fields: those of `posenc.XPos`, and `length_axis`.
    Example:
        >>> q = k = torch.ones(1, 2, 6, 8)
        >>> q, k = XPos(dim=8)(q, k, torch.arange(6))

    Source: Sun et al. 2022, arXiv:2212.10554.
    """

    kind = posenc.XPos

    def forward(
        self,
        q: Tensor,
        k: Tensor,
        positions: Tensor,
        *,
        key_positions: Tensor | None = None,
        **options: Any,
    ) -> tuple[Tensor, Tensor]:
        """See `Turning.forward`; `rotate` and `rotate_` take `role`: "query" or "key"."""
        keys_at = positions if key_positions is None else key_positions
        return (
            self.rotate(q, positions, role="query", **options),
            self.rotate(k, keys_at, role="key", **options),
        )

    def _table(
        self, x: Tensor, positions: Tensor, inverse: bool, options: dict[str, Any]
    ) -> tuple[Tensor, Tensor]:
        if inverse:
            raise ValueError(
                "`inverse` must be False, because XPos also scales: turn anew from what was "
                "before; got inverse=True."
            )
        return super()._table(x, positions, inverse, options)
