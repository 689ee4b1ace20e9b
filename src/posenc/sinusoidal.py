"""Sine and cosine vectors of many wavelengths, added to embeddings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from posenc import _arrays, _checks, angles, frequencies
from posenc._arrays import Array, Float, Num

Layout = Literal["interleaved", "half"]
First = Literal["sin", "cos"]
Odd = Literal["refuse", "trim", "pad"]


@dataclass(frozen=True, kw_only=True)
class Sinusoidal:
    """Sinusoidal position vectors: sine and cosine of position times frequency, in pairs.

    angle = (position + offset) * frequency[k]
    features 2k and 2k + 1         = sin(angle), cos(angle)     layout="interleaved"
    features k  and k + dim // 2   = sin(angle), cos(angle)     layout="half"

    Args:
        dim: features a vector has.
        base: geometric range of the wavelengths, which run from 2 pi towards 2 pi base.
        layout: "interleaved" (the 2017 paper) or "half" (tensor2tensor's [sin | cos]).
        spacing: of the frequencies: "paper" (exponent 2k / dim) or "endpoint" (k / (dim/2 - 1):
            tensor2tensor, fairseq, Whisper).
        first: which of the two comes first in a pair, "sin" or "cos".
        offset: added to every position. fairseq's first token stands at padding_idx + 1.
        odd: what an odd `dim` does: "refuse" it, "trim" the last cosine (Marian), or "pad" with
            a zero at the end (tensor2tensor, fairseq).
    Raises:
        TypeError: a field has the wrong type.
        ValueError: a field has no valid value; an odd `dim` names the nearest valid ones.
    Example:
        >>> import numpy as np
        >>> vectors = Sinusoidal(dim=4).encode(np.asarray([2]))
        >>> [round(float(value), 4) for value in vectors[0]]
        [0.9093, -0.4161, 0.02, 0.9998]

    Source: Vaswani et al. 2017, arXiv:1706.03762, section 3.5.
    """

    dim: int
    base: float = 10_000.0
    layout: Layout = "interleaved"
    spacing: frequencies.Spacing = "paper"
    first: First = "sin"
    offset: int = 0
    odd: Odd = "refuse"
    frequencies: tuple[float, ...] = field(init=False, repr=False, compare=False)
    """Radians per position, one Python float for each pair."""

    def __post_init__(self) -> None:
        _checks.one_of("odd", self.odd, ("refuse", "trim", "pad"))
        if self.odd == "refuse":
            _checks.even("dim", self.dim)
        else:
            _checks.integer("dim", self.dim, at_least=2 if self.odd == "pad" else 1)
        _checks.positive("base", self.base)
        _checks.one_of("layout", self.layout, ("interleaved", "half"))
        _checks.one_of("spacing", self.spacing, ("paper", "endpoint"))
        _checks.one_of("first", self.first, ("sin", "cos"))
        _checks.integer("offset", self.offset)
        if abs(self.offset) > _checks.LAST_POSITION:
            raise ValueError(
                "`offset` must lie within 2**31 of 0, the range of positions; "
                f"got offset={self.offset}."
            )
        if self.dim % 2 and self.odd == "trim" and self.spacing == "endpoint":
            raise ValueError(
                "an odd `dim` with spacing='endpoint' must be padded (odd='pad'), because its "
                f"frequencies are spread over dim // 2 pairs; got dim={self.dim}, odd='trim'."
            )
        dim = self.dim - self.dim % 2 if self.odd == "pad" else self.dim
        turning = frequencies.geometric(dim, self.base, spacing=self.spacing)
        object.__setattr__(self, "frequencies", turning)

    def encode(
        self, positions: Num[Array, "*tokens"], *, dtype: Any = None
    ) -> Float[Array, "*tokens dim"]:
        """The vector of each position.

        Args:
            positions: where the tokens stand, any shape; integers, float32 or float64.
            dtype: of the result; float32 by default. The cast to it is the last step.
        Returns:
            Shape of `positions` with one more axis of `dim` features.
        Raises:
            TypeError: `positions` is no array of positions.
            ValueError: a position lies beyond 2**31, or does once `offset` is added.
        Example:
            >>> import numpy as np
            >>> Sinusoidal(dim=4, layout="half").encode(np.arange(8).reshape(2, 4)).shape
            (2, 4, 4)
        """
        _checks.real_positions("positions", positions)
        return encode(
            _moved(positions, self.offset) if self.offset else positions,
            self.frequencies,
            width=self.dim,
            layout=self.layout,
            first=self.first,
            dtype=dtype,
        )

    def shift(
        self, steps: Num[Array, "*steps"], *, dtype: Any = None
    ) -> Float[Array, "*steps dim dim"]:
        """The matrix M with encode(p + steps) = M encode(p) for every position p.

        M turns each pair by steps * frequency[k]; it is orthogonal, and M(a) M(b) = M(a + b).

        Args:
            steps: by how much to move, any shape.
            dtype: of the result; float32 by default.
        Returns:
            Shape of `steps` with two more axes of `dim`.
        Raises:
            ValueError: `dim` is odd and trimmed: a sine without its cosine cannot be moved.
        Example:
            >>> import numpy as np
            >>> code = Sinusoidal(dim=8)
            >>> moved = code.shift(np.asarray(5)) @ code.encode(np.asarray(37))
            >>> bool(np.abs(moved - code.encode(np.asarray(42))).max() < 1e-6)
            True

        Source: Vaswani et al. 2017, arXiv:1706.03762, section 3.5.
        """
        if self.dim % 2 and self.odd == "trim":
            raise ValueError(
                f"`dim` must be even to move a position, because a sine without its cosine does "
                f"not say which way it is going; got dim={self.dim} with odd='trim'."
            )
        cos, sin = angles.cos_sin(steps, self.frequencies, dtype=dtype)
        if self.first == "cos":
            sin = -sin
        return _turns(cos, sin, width=self.dim, layout=self.layout)

    def similarity(self, gap: Num[Array, "*gaps"], *, dtype: Any = None) -> Float[Array, "*gaps"]:
        """The dot product of two position vectors, which depends only on how far apart they are.

        encode(p) . encode(p + gap) = sum over k of cos(gap * frequency[k])

        Args:
            gap: difference of two positions, any shape; its sign does not matter.
            dtype: of the result; float32 by default.
        Returns:
            Shape of `gap`; dim / 2 at gap 0.
        Raises:
            ValueError: `dim` is odd and trimmed: the product then depends on the position too.
        Example:
            >>> import numpy as np
            >>> round(float(Sinusoidal(dim=8).similarity(np.asarray(1))), 4)
            3.5353

        Source: Vaswani et al. 2017, arXiv:1706.03762, section 3.5.
        """
        if self.dim % 2 and self.odd == "trim":
            raise ValueError(
                "`dim` must be even for a product that depends on the gap only; "
                f"got dim={self.dim} with odd='trim'."
            )
        xp = _arrays.namespace(gap)
        cos, _ = angles.cos_sin(gap, self.frequencies, dtype=_arrays.widest_float(gap))
        return xp.astype(xp.sum(cos, axis=-1), xp.float32 if dtype is None else dtype)


def encode(
    positions: Num[Array, "*tokens"],
    frequencies: Sequence[float],
    *,
    width: int,
    layout: Layout,
    first: First = "sin",
    dtype: Any = None,
) -> Float[Array, "*tokens width"]:
    """Sines and cosines of position times frequency, side by side.

    Args:
        positions: where the tokens stand, any shape.
        frequencies: radians per position, one for each pair.
        width: features a vector has: as many as the pairs fill, one less (the last one is
            dropped) or one more (a zero at the end).
        layout: "interleaved" or "half".
        first: which of the two comes first, "sin" or "cos".
        dtype: of the result; float32 by default.
    Returns:
        Shape of `positions` with one more axis of `width` features.
    Raises:
        TypeError: `positions` is no array of positions.
        ValueError: a position lies beyond 2**31, the frequencies do not fill `width`, or
            `layout` or `first` is unknown.
    Example:
        >>> import numpy as np
        >>> encode(np.asarray([0]), (1.0, 0.5), width=4, layout="half").tolist()
        [[0.0, 0.0, 1.0, 1.0]]

    Source: Vaswani et al. 2017, arXiv:1706.03762, section 3.5; widths one off: Hugging Face
    transformers, models/marian (drops), tensor2tensor, layers/common_attention.py (pads).
    """
    _checks.one_of("layout", layout, ("interleaved", "half"))
    _checks.one_of("first", first, ("sin", "cos"))
    full = 2 * len(frequencies)
    _checks.one_of("width", width, (full - 1, full, full + 1))
    xp = _arrays.namespace(positions)
    cos, sin = angles.cos_sin(positions, frequencies, dtype=dtype)
    one, other = (sin, cos) if first == "sin" else (cos, sin)
    vectors = _join(one, other[..., : width // 2], layout)
    if vectors.shape[-1] < width:
        vectors = xp.concat([vectors, xp.zeros_like(vectors[..., :1])], axis=-1)
    return vectors


def _moved(positions: Array, offset: int) -> Array:
    """Positions plus `offset`: beyond 2**31 refused, or where that cannot be seen NaN later."""
    xp, last = _arrays.namespace(positions), _checks.LAST_POSITION
    floating = _arrays.is_floating(positions)
    # Widened first: 255 + 2 in uint8 would be 1.
    wide = _arrays.widest_float(positions) if floating else _arrays.widest_integer(positions)
    positions = xp.astype(_arrays.signed(positions), wide)
    low, high = max(-last, -last - offset), min(last, last - offset)
    inside = (positions >= low) & (positions <= high)
    if _arrays.readable(inside) and not bool(xp.all(inside)):
        raise ValueError(
            f"`positions` must lie within {low} .. {high}, because with offset={offset} they "
            "would leave the range in which results are exact; got values from "
            f"{int(xp.min(positions))} to {int(xp.max(positions))}."
        )
    return xp.where(inside, positions + offset, -last - 1)


def _join(one: Array, other: Array, layout: Layout) -> Array:
    """Lay out the two members of each pair; the last pair may lack its second one."""
    xp = _arrays.namespace(one)
    if layout == "half":
        return xp.concat([one, other], axis=-1)
    full = other.shape[-1]
    pairs = xp.stack([one[..., :full], other], axis=-1)
    pairs = xp.reshape(pairs, (*one.shape[:-1], 2 * full))
    return xp.concat([pairs, one[..., full:]], axis=-1)


def _turns(cos: Array, sin: Array, *, width: int, layout: Layout) -> Array:
    """The matrix that turns each pair, as two diagonals: a feature itself, and its partner."""
    xp = _arrays.namespace(cos)
    own, cross = _join(cos, cos, layout), _join(sin, -sin, layout)
    if own.shape[-1] < width:  # the padded zero stays where it is
        own = xp.concat([own, xp.ones_like(own[..., :1])], axis=-1)
        cross = xp.concat([cross, xp.zeros_like(cross[..., :1])], axis=-1)
    pairs = width // 2
    partners = np.arange(width)
    if layout == "half":
        partners[: 2 * pairs] = np.roll(partners[: 2 * pairs], pairs)
    else:
        partners[: 2 * pairs] ^= 1
    itself = _arrays.constant(np.eye(width), like=cos, dtype=cos.dtype)
    partner = _arrays.constant(np.eye(width)[partners], like=cos, dtype=cos.dtype)
    return own[..., None] * itself + cross[..., None] * partner
