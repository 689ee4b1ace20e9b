"""How fast each pair of features turns, in radians per position."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal, localcontext
from typing import Any, Literal

import numpy as np

from posenc import _checks

Spacing = Literal["paper", "endpoint"]

_DIGITS = 50  # enough for a float and its tail, 32 digits, and what a power loses


class Frequency(float):
    """A frequency that remembers what rounding to a Python float took away.

    The true value is `frequency + frequency.tail`, good to 32 digits. It is a float in every
    other way. At position 2^31 the tail is worth 1e-7 of a radian: more than float32 may lose.
    """

    __slots__ = ("tail",)
    tail: float

    def __new__(cls, value: float, tail: float = 0.0) -> Frequency:
        """A float, and the part of the true value that did not fit into it."""
        self = super().__new__(cls, value)
        self.tail = tail
        return self

    def __getnewargs__(self) -> tuple[float, float]:  # pyright: ignore[reportIncompatibleMethodOverride]
        return float(self), self.tail


class Float32Frequency(np.float32):
    """A frequency in float32 that remembers the power it is one over, and who took that power.

    Transformers scales some of its powers before it divides, which rounds differently. Arithmetic
    with a Python float gives a plain NumPy float32.
    """

    __slots__ = ("power", "torch_rounding")
    power: np.float32
    torch_rounding: bool

    def __new__(cls, power: np.float32, torch_rounding: bool = False) -> Float32Frequency:
        """1 / power, in float32."""
        self = super().__new__(cls, 1 / power)
        self.power, self.torch_rounding = power, torch_rounding
        return self


def geometric(dim: int, base: float = 10_000.0, *, spacing: Spacing = "paper") -> tuple[float, ...]:
    """Frequencies that fall by the same factor from pair to pair, the fastest one being 1.

    frequency[k] = base ** (-2 k / dim)              spacing="paper"
    frequency[k] = base ** (-k / (dim // 2 - 1))     spacing="endpoint"

    Args:
        dim: how many features the pairs fill. An odd `dim` has one more sine than cosines.
        base: the geometric range; Hugging Face calls it rope_theta.
        spacing: "paper" never reaches 1 / base; "endpoint" ends exactly there, as in
            tensor2tensor, fairseq and Whisper.
    Returns:
        (dim + 1) // 2 Python floats for "paper", dim // 2 for "endpoint", each the float
        nearest to the true value and carrying its remainder (`Frequency`).
    Raises:
        TypeError: `dim` is no integer or `base` no number.
        ValueError: `dim` < 1, `base` not positive and finite, or `spacing` unknown.
    Example:
        >>> geometric(8)
        (1.0, 0.1, 0.01, 0.001)
        >>> geometric(8, spacing="endpoint")[-1]
        0.0001

    Source: Vaswani et al. 2017, arXiv:1706.03762, section 3.5; "endpoint":
    tensor2tensor, layers/common_attention.py, get_timing_signal_1d.
    """
    _checks.integer("dim", dim, at_least=1)
    _checks.positive("base", base)
    _checks.one_of("spacing", spacing, ("paper", "endpoint"))
    if spacing == "paper":
        count, steps = (dim + 1) // 2, Decimal(dim) / 2
    else:
        # One pair alone has no second end: it keeps frequency 1, where fairseq divides by zero.
        count, steps = dim // 2, Decimal(max(dim // 2 - 1, 1))
    with localcontext(prec=_DIGITS):
        ratio = Decimal(base) ** (-1 / steps)
        return tuple(_nearest(ratio**k) for k in range(count))


def geometric_float32(
    dim: int, base: float, *, pairs: int | None = None, torch_rounding: bool = False
) -> tuple[Float32Frequency, ...]:
    """The frequencies of `geometric` as Hugging Face transformers rounds them.

    1 / base ** (2 k / dim), each operation in float32

    A power in float32 is not rounded alike everywhere: PyTorch's own differs from the nearest
    float32 by one unit in about one pair of 60.

    Args:
        dim: the width in the exponent.
        base: Hugging Face calls it rope_theta.
        pairs: how many to make, the fastest ones; all by default. PyTorch rounds the last few
            powers of an array differently, so it matters how many are taken at once.
        torch_rounding: let PyTorch take the power; without it, the nearest float32.
    Returns:
        dim / 2 NumPy float32 scalars. Arithmetic with Python floats keeps them float32.
    Example:
        >>> [float(w) for w in geometric_float32(4, 10_000.0)]
        [1.0, 0.009999999776482582]

    Source: transformers 5.24.0, models/llama/modeling_llama.py, LlamaRotaryEmbedding.
    """
    pairs = (dim + 1) // 2 if pairs is None else pairs
    exponents = np.arange(0, 2 * pairs, 2, dtype=np.float32) / np.float32(dim)
    if torch_rounding:
        powers = _torch_powers(base, exponents.tolist())
    else:
        powers = np.power(float(np.float32(base)), exponents.astype(np.float64)).tolist()
    return tuple(Float32Frequency(np.float32(power), torch_rounding) for power in powers)


def geometric_like(frequencies: Sequence[Any], *, dim: int, base: float) -> tuple[Any, ...]:
    """As many frequencies as are given, with another base and in the same arithmetic.

    Args:
        frequencies: of `geometric` or `geometric_float32`, or the first few of them.
        dim: the width in the exponent.
        base: the new one.
    Returns:
        What the function that made `frequencies` gives for `base`.
    Example:
        >>> geometric_like(geometric(8), dim=8, base=16.0)
        (1.0, 0.5, 0.25, 0.125)
    """
    first = frequencies[0]
    if isinstance(first, Float32Frequency):
        return geometric_float32(
            dim, base, pairs=len(frequencies), torch_rounding=first.torch_rounding
        )
    return geometric(dim, base)[: len(frequencies)]


def constant(number: float, *, like: Sequence[Any]) -> Any:
    """A number in the arithmetic of frequencies: NumPy float32, or a Python float."""
    return np.float32(number) if isinstance(like[0], Float32Frequency) else float(number)


def divided(frequency: Any, by: float, *, rounded_once: bool = False) -> Any:
    """A frequency over a number; a `Frequency` stays one and keeps its 32 digits.

    Args:
        frequency: a Python float, a `Frequency` or a `Float32Frequency`.
        by: the number.
        rounded_once: take 1 / (by * power) for a `Float32Frequency`, not (1 / power) / by.
    Example:
        >>> third = divided(geometric(4)[0], 3.0)
        >>> third, third.tail
        (0.3333333333333333, 1.850371707708594e-17)
    """
    if isinstance(frequency, Frequency):
        with localcontext(prec=_DIGITS):
            return _nearest((Decimal(frequency) + Decimal(frequency.tail)) / Decimal(by))
    if rounded_once and isinstance(frequency, Float32Frequency):
        return 1 / (by * frequency.power)
    return frequency / by


def multiplied(frequency: float, by: float) -> float:
    """A frequency times a number; a `Frequency` stays one and keeps its 32 digits."""
    if not isinstance(frequency, Frequency):
        return frequency * by
    with localcontext(prec=_DIGITS):
        return _nearest((Decimal(frequency) + Decimal(frequency.tail)) * Decimal(by))


def _torch_powers(base: float, exponents: list[float]) -> list[float]:
    import torch
    from torch.utils._python_dispatch import _disable_current_modes

    # torch.export and a default device would make stand-ins, whose values cannot be read.
    with _disable_current_modes():
        powers = base ** torch.tensor(exponents, dtype=torch.float32, device="cpu")
        return powers.tolist()


def _nearest(value: Decimal) -> Frequency:
    return Frequency(float(value), float(value - Decimal(float(value))))


def wavelengths(frequencies: tuple[float, ...]) -> tuple[float, ...]:
    """How many positions each pair needs for one full turn; infinite where it never turns.

    wavelength[k] = 2 pi / frequency[k]

    Args:
        frequencies: radians per position, one for each pair.
    Returns:
        One Python float a pair, in positions.
    Example:
        >>> [round(length, 4) for length in wavelengths(geometric(4))]
        [6.2832, 628.3185]
    """
    return tuple(math.tau / w if w else math.inf for w in frequencies)
