"""Pairs of features turned by the coordinates of a grid: some by its rows, some by its columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, Literal

from posenc import _arrays, _checks, angles, frequencies, grids, rotary
from posenc._arrays import Array, Float, Num

Layout = Literal["half", "interleaved", "axis_half"]
Order = Literal["contiguous", "alternating"]
Spectrum = Literal["own", "dealt"]


@dataclass(frozen=True, kw_only=True)
class AxialRotary:
    """Rotary embedding of queries and keys on a grid: each pair turns with one coordinate.

    angle = scale * coordinate[axis] * frequency[k]; frequency[k] = base ** (-2 k / width of share)

    | as in | axes | base | layout | more | positions |
    | --- | --- | --- | --- | --- | --- |
    | Qwen2-VL vision and kin | (0, 1) | 1e4 | "half" | | grid |
    | RoPE-ViT axial | (1, 0) | 100 | "interleaved" | | grid |
    | EVA-02 | (0, 1) | 1e4 | "interleaved" | scale=old side / new side | grid |
    | Llama 4 vision | (1, 0) | 1e4 | "interleaved" | | grid + 1 |
    | Gemma 4 vision | (0, 1) | 100 | "axis_half" | | (column, row) |
    | Pixtral | (0, 1) | 1e4 | "interleaved" (Hugging Face: "half") | spectrum="dealt" | grid |
    | Kimi K2.5 vision | (1, 0) | 1e4 | "half" | order="alternating" | grid |
    | DINOv3 | (0, 1) | 100 | "half" | scale=2 pi | grids.centres |
    | Wan 2.1 | (0, 1, 2) | 1e4 | "interleaved" | rest="first" | (frame, row, column) |
    | FLUX.1 | (0, 1, 2) | 1e4 | "interleaved" | widths=(16, 56, 56) | (0, row, column) |
    | MiniMax M3 vision | (0, 1, 2) | 1e4 | "half" | rest="leave" | (frame, row, column) |

    A class token or a register stands at 0 on every axis, where nothing turns.

    Args:
        dim: width of a head; a multiple of 4 for two axes and of 6 for three, unless `rest` or
            `widths` say otherwise.
        axes: which axis of a position turns the first share of the features, the second, ...:
            (0, 1) is row then column, (1, 0) column then row. As many as positions have.
        base: Hugging Face calls it rope_theta.
        layout: which features are a pair: "half" (k and k + half of all that turn),
            "interleaved" (2k and 2k + 1), or "axis_half" (k and k + half of the axis' share).
        order: of the pairs: those of an axis side by side, "contiguous", or one of each axis in
            turn, "alternating".
        spectrum: every axis has its "own" frequencies, all the same; or those of the whole head
            are "dealt" out, the first to the first axis, the second to the second, ...
        scale: of the coordinates.
        widths: features of each share, in the order of `axes`; equal by default.
        rest: what equal shares leave over: "refuse" it, give it to the "first" share, or
            "leave" it unturned.
    Raises:
        TypeError: a field has the wrong type.
        ValueError: a field has no valid value; a `dim` that cannot be shared names the nearest.
    Example:
        >>> import numpy as np
        >>> from posenc import positions
        >>> q = np.ones((2, 8, 12, 64), dtype=np.float32)    # batch, heads, cells, dim
        >>> AxialRotary(dim=64, axes=(1, 0), base=100.0, layout="interleaved").rotate(
        ...     q, positions.grid(3, 4)).shape
        (2, 8, 12, 64)

    Source: Heo et al. 2024, arXiv:2403.13298, section 3.2, and naver-ai/rope-vit; the others:
    transformers 5.24.0, the models' modeling files.
    """

    dim: int
    axes: tuple[int, ...] = (0, 1)
    base: float = 10_000.0
    layout: Layout = "half"
    order: Order = "contiguous"
    spectrum: Spectrum = "own"
    scale: float = 1.0
    widths: tuple[int, ...] | None = None
    rest: Literal["refuse", "first", "leave"] = "refuse"
    shares: tuple[int, ...] = field(init=False, repr=False, compare=False)
    """Features of each axis, in the order of `axes`."""
    frequencies: tuple[tuple[float, ...], ...] = field(init=False, repr=False, compare=False)
    """Radians per step, `scale` included: for each axis, in the order of `axes`, one a pair."""

    def __post_init__(self) -> None:
        grids.check_axes(self.axes)
        _checks.positive("base", self.base)
        _checks.one_of("layout", self.layout, ("half", "interleaved", "axis_half"))
        _checks.one_of("order", self.order, ("contiguous", "alternating"))
        _checks.one_of("spectrum", self.spectrum, ("own", "dealt"))
        _checks.positive("scale", self.scale)
        _checks.one_of("rest", self.rest, ("refuse", "first", "leave"))
        shares = grids.split(self.dim, len(self.axes), rest=self.rest, widths=self.widths)
        for name, value in ("order", self.order), ("spectrum", self.spectrum):
            if value in ("alternating", "dealt") and len(set(shares)) > 1:
                raise ValueError(
                    f"`widths` must be equal for {name}={value!r}, because the axes take turns; "
                    f"got {shares}."
                )
        if self.layout == "axis_half" and self.order == "alternating":
            raise ValueError(
                "`order` must be 'contiguous' for layout='axis_half', because its pairs lie inside "
                "the block of an axis; got order='alternating'."
            )
        object.__setattr__(self, "shares", shares)
        object.__setattr__(self, "frequencies", self._spread(shares))

    def _spread(self, shares: tuple[int, ...]) -> tuple[tuple[float, ...], ...]:
        if self.spectrum == "own":
            spread = [frequencies.geometric(share, self.base) for share in shares]
        else:
            whole = frequencies.geometric(sum(shares), self.base)
            spread = [whole[start :: len(shares)] for start in range(len(shares))]
        # The frequencies are scaled, not the coordinates: these stay whole, and so exact.
        return tuple(
            tuple(frequencies.multiplied(w, self.scale) for w in turning) for turning in spread
        )

    def table(
        self, positions: Num[Array, "*tokens axes"], *, dtype: Any = None
    ) -> tuple[Float[Array, "*tokens half"], Float[Array, "*tokens half"]]:
        """Cosine and sine for each position and pair.

        Args:
            positions: coordinates, any shape with one for each axis on the last; integers,
                float32 or float64.
            dtype: of the result; float32 by default. The cast to it is the last step.
        Returns:
            Two arrays: shape of `positions` with one entry a pair in place of the coordinates,
            in the order in which the pairs lie in a head.
        Raises:
            TypeError: `positions` is no array of positions.
            ValueError: `positions` has another number of axes, or one lies beyond 2**31.
        Example:
            >>> from posenc import positions
            >>> cos, sin = AxialRotary(dim=8).table(positions.grid(2, 5))
            >>> cos.shape
            (10, 4)

        Source: Heo et al. 2024, arXiv:2403.13298, section 3.2.
        """
        grids.check_coordinates(positions, len(self.axes))
        cosines, sines = zip(
            *(
                angles.cos_sin(positions[..., axis], turning, dtype=dtype)
                for axis, turning in zip(self.axes, self.frequencies, strict=True)
            ),
            strict=True,
        )
        return self._in_order(cosines), self._in_order(sines)

    def rotate(
        self,
        x: Float[Array, "*batch dim"],
        positions: Num[Array, "*tokens axes"],
        *,
        inverse: bool = False,
    ) -> Float[Array, "*batch dim"]:
        """Queries or keys, turned to their place on the grid.

        Args:
            x: queries or keys, features last.
            positions: coordinates of each token: shape (length, axes), or with all the axes
                that `x` has before its features, each equal or 1: (batch, 1, length, axes) for
                images of their own in (batch, heads, length, dim).
            inverse: turn back, so that rotate(rotate(x), inverse=True) is x.
        Returns:
            Shape and dtype of `x`. bfloat16 and float16 are turned in float32, rounded once.
        Raises:
            TypeError: `x` is no floating-point array, or `positions` none of its library.
            ValueError: `x` has no `dim` features, or `positions` does not fit it.
        Example:
            >>> import numpy as np
            >>> from posenc import grids
            >>> kept = grids.unravel(np.asarray([0, 5, 11]), 3, 4)    # three patches of 3 x 4
            >>> AxialRotary(dim=8).rotate(np.ones((2, 3, 8)), kept).shape
            (2, 3, 8)

        Source: Heo et al. 2024, arXiv:2403.13298, section 3.2.
        """
        _checks.features(x, self.dim)
        grids.check_coordinates(positions, len(self.axes))
        _checks.tokens_fit("positions", positions[..., 0], x)
        cos, sin = self.table(positions, dtype=_arrays.working_dtype(x))
        if inverse:
            sin = -sin
        if self.layout != "axis_half":
            return rotary.rotate(x, cos, sin, layout=self.layout)
        blocks = []
        for share, end in zip(self.shares, accumulate(self.shares), strict=True):
            pairs = slice((end - share) // 2, end // 2)
            block = x[..., end - share : end]
            blocks.append(rotary.rotate(block, cos[..., pairs], sin[..., pairs], layout="half"))
        return _arrays.namespace(x).concat([*blocks, x[..., sum(self.shares) :]], axis=-1)

    def _in_order(self, blocks: tuple[Array, ...]) -> Array:
        """The pairs of all axes on one axis, in the order in which they lie in a head."""
        xp = _arrays.namespace(*blocks)
        if self.order == "contiguous":
            return xp.concat(blocks, axis=-1)
        pairs = xp.stack(blocks, axis=-1)
        return xp.reshape(pairs, (*pairs.shape[:-2], -1))
