"""What is left of a number in a narrower floating-point format, from float32 down to float8."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from posenc import _checks


class Format(NamedTuple):
    """A binary floating-point format.

    Args:
        digits: binary digits a number keeps, the leading one included.
        smallest: exponent of the smallest number that keeps all of them.
        largest: the largest finite number.
    """

    digits: int
    smallest: int
    largest: float


FORMATS = {
    "float32": Format(24, -126, (2 - 2.0**-23) * 2.0**127),
    "float16": Format(11, -14, 65_504.0),
    "bfloat16": Format(8, -126, (2 - 2.0**-7) * 2.0**127),
    "float8_e4m3fn": Format(4, -6, 448.0),
    "float8_e5m2": Format(3, -14, 57_344.0),
}
"""Formats by the name that PyTorch and JAX give them, the one with most digits first."""


def rounded(x: Any, name: str) -> np.ndarray:
    """The numbers nearest to `x` that a format holds, ties to even.

    Args:
        x: real numbers, any shape.
        name: one of `FORMATS`.
    Returns:
        Shape of `x`, float64; infinite where the format overflows.
    Raises:
        ValueError: the format is unknown.
    Example:
        >>> rounded([257.0, 0.1], "bfloat16").tolist()
        [256.0, 0.10009765625]

    Source: IEEE 754-2019; float8: Micikevicius et al. 2022, arXiv:2209.05433, section 3.
    """
    _checks.one_of("name", name, FORMATS)
    digits, smallest, largest = FORMATS[name]
    x = np.asarray(x, dtype=np.float64)
    _, exponent = np.frexp(x)
    step = np.ldexp(1.0, np.maximum(exponent, smallest + 1) - digits)
    near = np.rint(x / step) * step
    return np.where(np.abs(near) > largest, np.copysign(np.inf, x), near)
