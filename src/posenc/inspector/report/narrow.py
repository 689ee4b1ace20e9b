"""What is lost where positions, frequencies or angles are formed in narrow floats."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from posenc import precision

_MOST = 8192  # frequencies that are looked at; the first turn fastest and lose most
_DIGITS = precision.FORMATS["bfloat16"].digits


def distinct(length: int) -> int:
    """How many of the positions 0 ... length - 1 bfloat16 tells apart.

    Example:
        >>> distinct(256), distinct(600), distinct(131072)
        (256, 407, 1409)
    """
    last = int(precision.rounded(length - 1, "bfloat16"))
    exponent = last.bit_length() - 1
    if exponent < _DIGITS:
        return last + 1
    # 0 and all whole numbers below 2^digits, then 2^(digits - 1) numbers in each further octave.
    octaves = (exponent - _DIGITS) * 2 ** (_DIGITS - 1)
    return 2**_DIGITS + octaves + (last - 2**exponent) // 2 ** (exponent + 1 - _DIGITS) + 1


def position_error(length: int) -> int:
    """How far bfloat16 moves one of the positions 0 ... length - 1 at most, in tokens.

    Example:
        >>> position_error(257), position_error(600), position_error(131072)
        (0, 2, 256)
    """
    last = length - 1
    exponent = last.bit_length() - 1
    if exponent < _DIGITS:
        return 0
    # The last octave may end before the middle between two numbers of the format.
    half = 2 ** (exponent - _DIGITS)
    return max(half // 2, min(half, last - 2**exponent))


def frequency_errors(frequencies: Sequence[float], length: int) -> list[float]:
    """By how many radians each pair is off at the last position with frequencies in bfloat16.

    Example:
        >>> [round(error, 3) for error in frequency_errors((1.0, 0.1), 1001)]
        [0.0, 0.098]
    """
    exact = np.asarray(frequencies, dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        errors = np.abs(precision.rounded(exact, "bfloat16") - exact) * (length - 1)
    return np.nan_to_num(errors, nan=np.inf, posinf=np.inf).tolist()


def float32_error(frequencies: Sequence[float], length: int) -> float:
    """By how many radians angles formed in float32 are off at the last positions, at most.

    Example:
        >>> float32_error((1.0,), 4096), float32_error((0.1,), 131072) < 0.001
        (0.0, True)
    """
    exact = np.asarray(frequencies, dtype=np.float64)[:_MOST]
    positions = np.arange(max(length - 256, 0), length, dtype=np.float64)[:, None]
    with np.errstate(over="ignore", invalid="ignore"):
        single = positions.astype(np.float32) * exact.astype(np.float32)
        error = np.abs(single.astype(np.float64) - positions * exact)
    error = np.nan_to_num(error, nan=np.inf, posinf=np.inf)
    return float(np.max(error, initial=0.0))


def lost(errors: Sequence[float]) -> int:
    """How many pairs are off by a quarter turn or more, where nothing is left of the angle."""
    return sum(error >= math.pi / 2 for error in errors)
