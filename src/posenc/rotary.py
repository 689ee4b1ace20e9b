"""Pairs of features turned by an angle that grows with position (RoPE), all of them or some."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from posenc import _arrays, _checks, angles, frequencies, kernels
from posenc._arrays import Array, Float, Num
from posenc.scaling import Scaling

Layout = Literal["half", "interleaved"]
Precision = Literal["exact", "float32"]


@dataclass(frozen=True, kw_only=True)
class Rotary:
    """Rotary position embedding of queries and keys (never of values).

    (a, c) -> (a cos(angle) - c sin(angle), c cos(angle) + a sin(angle))
    angle = position * frequency[k] for pair k; frequency[k] = base ** (-2 k / dim)

    Args:
        dim: width of a head.
        base: geometric range of the frequencies, which run from 1 towards 1 / base. Hugging Face
            calls it rope_theta.
        layout: which features are a pair: "half" (k and k + rotary_dim / 2: GPT-NeoX, Hugging
            Face Llama) or "interleaved" (2k and 2k + 1: RoFormer, GPT-J, Meta's Llama files).
            It must be the one that the weights were trained with.
        rotary_dim: how many leading features turn; all of them by default.
        exponent: the width in the exponent of the frequencies when only some features turn:
            "rotary" (rotary_dim: GPT-NeoX, Phi, GLM) or "head" (dim).
        scaling: a rule of `posenc.scaling` that slows the turning, or None.
    Raises:
        TypeError: a field has the wrong type.
        ValueError: a field has no valid value; an odd width names the nearest valid ones.
    Example:
        >>> import numpy as np
        >>> rope = Rotary(dim=4, layout="half")
        >>> rope.rotate(np.asarray([[1.0, 2.0, 3.0, 4.0]]), np.asarray([1])).round(6).tolist()
        [[-1.984111, 1.959901, 2.462378, 4.0198]]

    Source: Su et al. 2021, arXiv:2104.09864, section 3.2.2; partial turning: GPT-J.
    """

    dim: int
    base: float = 10_000.0
    layout: Layout = "half"
    rotary_dim: int | None = None
    exponent: Literal["rotary", "head"] = "rotary"
    scaling: Scaling | None = None
    unscaled: tuple[float, ...] = field(init=False, repr=False, compare=False)
    """Radians per position, one Python float for each pair, before any scaling."""
    frequencies: tuple[float, ...] = field(init=False, repr=False, compare=False)
    """The same with the scaling, for texts not beyond the original length."""

    def __post_init__(self) -> None:
        if self.rotary_dim is None:
            _checks.even("dim", self.dim)
        else:
            _checks.integer("dim", self.dim, at_least=2)
            _checks.even("rotary_dim", self.rotary_dim)
            if self.rotary_dim > self.dim:
                raise ValueError(
                    "`rotary_dim` must not exceed `dim`, because it counts features of a head; "
                    f"got rotary_dim={self.rotary_dim}, dim={self.dim}."
                )
        _checks.positive("base", self.base)
        _checks.one_of("layout", self.layout, ("half", "interleaved"))
        _checks.one_of("exponent", self.exponent, ("rotary", "head"))
        if self.scaling is not None and (
            isinstance(self.scaling, type) or not isinstance(self.scaling, Scaling)
        ):
            raise TypeError(
                "`scaling` must be a rule such as posenc.Linear(factor=4.0) or posenc.Yarn(...); "
                f"got {self.scaling!r}."
            )
        unscaled = frequencies.geometric(self.width, self.base)[: self.turned // 2]
        object.__setattr__(self, "unscaled", unscaled)
        object.__setattr__(self, "frequencies", self.frequencies_at(None))

    @property
    def turned(self) -> int:
        """How many leading features turn."""
        return self.dim if self.rotary_dim is None else self.rotary_dim

    @property
    def width(self) -> int:
        """The width in the exponent of the frequencies."""
        return self.turned if self.exponent == "rotary" else self.dim

    @property
    def attention_factor(self) -> float:
        """The multiplier that the scaling puts on cos and sin (`table_factor`); 1 without one."""
        return 1.0 if self.scaling is None else self.scaling.table_factor

    def frequencies_at(self, length: int | None) -> tuple[float, ...]:
        """Radians per position for a text of `length` tokens, where the scaling looks at it."""
        return _frequencies(self, length)

    def frequencies_for(self, positions: Array, *, length: int | None = None) -> tuple[float, ...]:
        """The same for these positions, refusing those that need a `length` and have none."""
        if length is None:
            _refuse_long_text(self, positions)
            return self.frequencies
        if not isinstance(length, bool | float):
            length = operator.index(length)  # of torch.compile's symbol, one plain number
        _checks.integer("length", length, at_least=0)
        return self.frequencies_at(length)

    def table(
        self,
        positions: Num[Array, "*tokens"],
        *,
        length: int | None = None,
        precision: Precision = "exact",
        dtype: Any = None,
    ) -> tuple[Float[Array, "*tokens half"], Float[Array, "*tokens half"]]:
        """Cosine and sine for each position and pair, times the attention factor.

        Args:
            positions: where the tokens stand, any shape; integers, float32 or float64.
            length: tokens in the whole text, cached ones included; only dynamic NTK and
                LongRoPE look at it. Without it they act as within the original length, and
                positions beyond that are refused where they can be looked at.
            precision: "exact", or "float32" for the arithmetic of Hugging Face transformers,
                operation for operation: wrong by up to 1e-2 at position 131,072, as there.
            dtype: of the result; float32 by default. The cast to it is the last step.
        Returns:
            Two arrays: shape of `positions` with one more axis, one entry a pair.
        Raises:
            TypeError: `positions` is no array of positions.
            ValueError: a position lies beyond 2**31, `precision` is unknown, or the scaling needs
                a `length` that is not given.
        Example:
            >>> import numpy as np
            >>> cos, sin = Rotary(dim=8).table(np.arange(6).reshape(2, 3))
            >>> cos.shape
            (2, 3, 4)

        Source: Su et al. 2021, arXiv:2104.09864, section 3.4.2.
        """
        _checks.one_of("precision", precision, ("exact", "float32"))
        turning = self.frequencies_for(positions, length=length)
        xp = _arrays.namespace(positions)
        if precision == "exact":
            cos, sin = angles.cos_sin(positions, turning, dtype=_arrays.widest_float(positions))
        else:
            cos, sin = self._table_float32(positions, length)
        dtype = xp.float32 if dtype is None else dtype
        factor = self.attention_factor
        return xp.astype(cos * factor, dtype, copy=False), xp.astype(
            sin * factor, dtype, copy=False
        )

    def rotate(
        self,
        x: Float[Array, "*batch dim"],
        positions: Num[Array, "*tokens"],
        *,
        length: int | None = None,
        precision: Precision = "exact",
        inverse: bool = False,
    ) -> Float[Array, "*batch dim"]:
        """Queries or keys, turned to their positions.

        Args:
            x: queries or keys, features last.
            positions: one for each token: shape (length,), or as many axes as `x` has before
                its features, each equal or 1: (batch, 1, length) for rows of their own in
                (batch, heads, length, dim), (1, length, 1) for (batch, length, heads, dim).
            length: see `table`.
            precision: see `table`.
            inverse: turn back, so that rotate(rotate(x), inverse=True) is x. A cached key moves
                by turning it back from its old position, then to its new one.
        Returns:
            Shape and dtype of `x`. bfloat16 and float16 are turned in float32, rounded once.
        Raises:
            TypeError: `x` is no floating-point array, or `positions` none of its library.
            ValueError: `x` has no `dim` features, or `positions` does not fit it.
        Example:
            >>> import numpy as np
            >>> x = np.ones((2, 3, 5, 8), dtype=np.float32)    # batch, heads, length, dim
            >>> rows = np.asarray([[0, 1, 2, 3, 4], [0, 0, 0, 1, 2]])    # padded on the left
            >>> Rotary(dim=8).rotate(x, rows[:, None, :]).shape
            (2, 3, 5, 8)

        Source: Su et al. 2021, arXiv:2104.09864, section 3.4.2.
        """
        _checks.features(x, self.dim)
        _checks.tokens_fit("positions", positions, x)
        cos, sin = self.table(
            positions, length=length, precision=precision, dtype=_arrays.working_dtype(x)
        )
        if inverse:
            square = self.attention_factor**2  # once for the factor in cos, once to undo it in x
            cos, sin = cos / square, -sin / square
        return rotate(x, cos, sin, layout=self.layout)

    def _table_float32(self, positions: Array, length: int | None) -> tuple[Array, Array]:
        xp = _arrays.namespace(positions)
        length = None if length is None else operator.index(length)
        turning = _frequencies_float32(self, length, _arrays.is_torch(positions))
        turning = _arrays.constant(turning, like=positions, dtype=xp.float32)
        angle = xp.astype(positions, xp.float32)[..., None] * turning
        return xp.cos(angle), xp.sin(angle)


# Functions, not methods: torch.compile then keeps an answer for the spec it was made for.
@_arrays.not_traced
def _frequencies(spec: Rotary, length: int | None) -> tuple[float, ...]:
    return _scaled(spec, spec.unscaled, length)


@_arrays.not_traced
def _frequencies_float32(spec: Rotary, length: int | None, torch_rounding: bool) -> list[float]:
    unscaled = frequencies.geometric_float32(
        spec.width, spec.base, pairs=spec.turned // 2, torch_rounding=torch_rounding
    )
    return [float(w) for w in _scaled(spec, unscaled, length)]


def _refuse_long_text(spec: Rotary, positions: Array) -> None:
    """Refuse positions beyond the original length where the turning depends on how far beyond."""
    limit = None if spec.scaling is None else spec.scaling.original_length
    if limit is None or math.prod(positions.shape) == 0 or not _arrays.readable(positions):
        return
    last = _arrays.namespace(positions).max(_arrays.signed(positions))
    if not _arrays.readable(last) or int(last) < limit:
        return
    if spec.frequencies_at(limit + 1) != spec.frequencies:
        raise ValueError(
            f"`length` must be given for positions beyond {limit - 1}, because "
            f"{type(spec.scaling).__name__} turns by the length of the whole text; got position "
            f"{int(last)} and no length."
        )


def _scaled(spec: Rotary, unscaled: Sequence[Any], length: int | None) -> tuple[Any, ...]:
    if spec.scaling is None:
        return tuple(unscaled)
    return spec.scaling.scale(unscaled, dim=spec.width, base=spec.base, length=length)


def rotate(
    x: Float[Array, "*batch dim"],
    cos: Float[Array, "*tokens half"],
    sin: Float[Array, "*tokens half"],
    *,
    layout: Layout,
) -> Float[Array, "*batch dim"]:
    """Turn pairs of features by angles given as cosine and sine; features beyond them stay.

    Args:
        x: features last.
        cos: cosine for each pair (once, where Hugging Face's tables hold it twice): shape
            (length, half), or as many axes as `x` has, each but the last equal or 1.
        sin: sine for each pair, the same shape.
        layout: "half" or "interleaved".
    Returns:
        Shape and dtype of `x`.
    Raises:
        TypeError: `x` is no floating-point array.
        ValueError: `cos` and `sin` do not fit each other or `x`, or `layout` is unknown.
    Example:
        >>> import numpy as np
        >>> rotate(np.asarray([1.0, 0.0, 7.0]), np.zeros(1), np.ones(1), layout="half").tolist()
        [0.0, 1.0, 7.0]

    Source: Su et al. 2021, arXiv:2104.09864, section 3.4.2.
    """
    _checks.one_of("layout", layout, ("half", "interleaved"))
    _checks.pairs_fit(x, cos, sin)
    if kernels.fits(x, cos, sin):
        return kernels.rotate(x, cos, sin, layout=layout)
    return turned(x, cos, sin, layout=layout)


def turned(x: Array, cos: Array, sin: Array, *, layout: Layout) -> Array:
    """`rotate` as a plain formula, of arguments that fit: the judge of the fused loops."""
    xp, half = _arrays.namespace(x), cos.shape[-1]
    work = _arrays.working_dtype(x)
    pairs, rest = xp.astype(x[..., : 2 * half], work, copy=False), x[..., 2 * half :]
    cos, sin = xp.astype(cos, work, copy=False), xp.astype(sin, work, copy=False)
    if layout == "half":
        one, other = pairs[..., :half], pairs[..., half:]
        pairs = xp.concat([one * cos - other * sin, other * cos + one * sin], axis=-1)
    else:
        one, other = pairs[..., 0::2], pairs[..., 1::2]
        pairs = xp.stack([one * cos - other * sin, other * cos + one * sin], axis=-1)
        pairs = xp.reshape(pairs, (*pairs.shape[:-2], 2 * half))
    pairs = xp.astype(pairs, x.dtype, copy=False)
    return pairs if rest.shape[-1] == 0 else xp.concat([pairs, rest], axis=-1)
