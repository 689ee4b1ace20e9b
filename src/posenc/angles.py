"""Position times frequency as an exact angle, with float64 or without it.

A product of a far position and a frequency has more digits than a float keeps, but only its
fraction of a turn matters. So the frequency is cut, once and in whole numbers, into pieces so
short that their products with a position (or with a slice of its digits, where there is only
float32) come out exact; whole turns are dropped from each product before anything is rounded.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from posenc import _arrays, _checks
from posenc._arrays import Array, Float, Num
from posenc.frequencies import Frequency

# 2**256 / (2 pi), rounded down: a turn in fixed point with 256 fractional bits.
_BITS = 256
_ONE = 1 << _BITS
_TURNS_PER_RADIAN = 0x28BE60DB9391054A7F09D5F47D4D377036D8A5664F10E4107F9458EAF7AEF158


class _Grid(NamedTuple):
    """How to cut so that products are exact: position digits a slice, frequency bits a piece."""

    shifts: tuple[int, ...]
    piece: int


# 31 digits of a position times 22 bits fill the 53 of float64; 11 times 12 fit the 24 of float32.
# Every slice but the last of a real position is a whole number, so whole turns may be dropped.
_FLOAT64_INTEGER = _Grid(shifts=(0,), piece=22)
_FLOAT64_REAL = _Grid(shifts=(0, -22), piece=22)
_FLOAT32_INTEGER = _Grid(shifts=(20, 10, 0), piece=12)
_FLOAT32_REAL = _Grid(shifts=(20, 10, 0, -11, -22), piece=12)


def angles(
    positions: Num[Array, "*tokens"], frequencies: Sequence[float] | Float[Array, " half"]
) -> Float[Array, "*tokens half"]:
    """The angle of each pair of features at each position, as a plain product.

    angle[..., k] = positions * frequencies[k], in radians

    For sines and cosines use `cos_sin`, which stays exact at far positions.

    Args:
        positions: where the tokens stand, any shape; integers or floats.
        frequencies: radians per position, one for each pair; or an array of learned ones.
    Returns:
        Shape of `positions` with one more axis, one entry a pair; float64 where the device
        has it, else float32.
    Raises:
        TypeError: `positions` is no array, or holds booleans or half-precision floats.
        ValueError: `frequencies` is empty, or a position lies beyond 2**31.
    Example:
        >>> import numpy as np
        >>> angles(np.asarray([0, 2]), (1.0, 0.5)).tolist()
        [[0.0, 0.0], [2.0, 1.0]]

    Source: Su et al. 2021, arXiv:2104.09864, section 3.2.2.
    """
    _checks.real_positions("positions", positions)
    xp = _arrays.namespace(positions)
    dtype = _arrays.widest_float(positions)
    if isinstance(frequencies, Sequence):
        _not_empty(frequencies)
        frequencies = _arrays.constant(list(frequencies), like=positions, dtype=dtype)
    return xp.astype(positions, dtype)[..., None] * xp.astype(frequencies, dtype)


def cos_sin(
    positions: Num[Array, "*tokens"], frequencies: Sequence[float], *, dtype: Any = None
) -> tuple[Float[Array, "*tokens half"], Float[Array, "*tokens half"]]:
    """Cosine and sine of position times frequency, exact for every position below 2**31.

    cos(positions * frequencies[k]),  sin(positions * frequencies[k])

    Args:
        positions: where the tokens stand, any shape; integers, float32 or float64. Where they
            cannot be looked at (traced, or on an accelerator) one beyond 2**31 gives NaN.
        frequencies: radians per position, one for each pair. Each is taken as the exact real
            number it is; a `Frequency` brings the digits that a float has no room for.
        dtype: of the result; float32 by default. The cast to it is the last step.
    Returns:
        Two arrays: the shape of `positions` with one more axis, one entry a pair. In float32
        at most 6e-8 from the true value, or 1.2e-7 where the device has no float64.
    Raises:
        TypeError: `positions` is no array, or holds booleans or half-precision floats.
        ValueError: `frequencies` is empty or not finite, or a position lies beyond 2**31.
    Example:
        >>> import numpy as np
        >>> cos, sin = cos_sin(np.asarray([10_000_000]), (1.0,))
        >>> float(cos[0, 0]), float(sin[0, 0])
        (-0.9072703719139099, 0.4205477833747864)

    Source: Su et al. 2021, arXiv:2104.09864, section 3.4.2.
    """
    positions = _arrays.signed(positions)
    _checks.real_positions("positions", positions)
    _not_empty(frequencies)
    xp = _arrays.namespace(positions)
    real = _arrays.is_floating(positions)
    if _arrays.has_float64(positions):
        grid = _FLOAT64_REAL if real else _FLOAT64_INTEGER
        coarse, fine, rest = _turn(positions, frequencies, grid, xp.float64)
        angle = (coarse + (fine - xp.round(fine)) + rest) * math.tau
        cos, sin = xp.cos(angle), xp.sin(angle)
    else:
        grid = _FLOAT32_REAL if real else _FLOAT32_INTEGER
        cos, sin = _cos_sin_of_turn(*_turn(positions, frequencies, grid, xp.float32))
    dtype = xp.float32 if dtype is None else dtype
    return xp.astype(cos, dtype, copy=False), xp.astype(sin, dtype, copy=False)


def turns(frequencies: Sequence[float]) -> list[tuple[float, float, float]]:
    """How far each pair turns in one position, cut so that products with positions are exact.

    With the three numbers of a pair and any whole position below 2**31, in float64:
    position times the first is exact, and its whole turns may be dropped; so is position times
    the second; the third is so small that its product need not be.

    Args:
        frequencies: radians per position, one for each pair.
    Returns:
        For each pair three Python floats, in turns: 22 bits, the next 22 bits, and the rest.
    Raises:
        ValueError: a frequency is not finite.
    Example:
        >>> first, second, third = turns((1.0,))[0]
        >>> first + second + third == 1 / math.tau
        True
    """
    return [_pieces(frequency, _FLOAT64_INTEGER)[0] for frequency in frequencies]


def fixed_point(frequencies: Sequence[float]) -> list[int]:
    """How far each pair turns in one position, in whole numbers of 2^-64 turns, rounded.

    A position times such a number, modulo 2^64, is the fraction of a turn; below 2^31 it is within
    2^-34 turns of the truth.

    Args:
        frequencies: radians per position, one for each pair.
    Returns:
        For each pair a whole number from 0 to 2^64 - 1.
    Raises:
        ValueError: a frequency is not finite.
    Example:
        >>> fixed_point((1.0,))
        [2935890503282001226]
    """
    short = _BITS - 64
    return [((_turns_of(w) + (1 << short - 1)) >> short) % (1 << 64) for w in frequencies]


def _not_empty(frequencies: Sequence[float]) -> None:
    if len(frequencies) == 0:
        raise ValueError("`frequencies` must hold at least one frequency; got none.")


def _turn(
    positions: Array, frequencies: Sequence[float], grid: _Grid, dtype: Any
) -> tuple[Array, Array, Array]:
    """Position times frequency as a fraction of a turn: an unevaluated sum of three arrays."""
    xp = _arrays.namespace(positions)
    table = [_pieces(frequency, grid) for frequency in frequencies]
    coarse = fine = rest = 0.0
    for i, digits in enumerate(_slices(positions, grid, dtype)):
        short, middle, long = (
            _arrays.constant([row[i][j] for row in table], like=positions, dtype=dtype)
            for j in range(3)
        )
        product = digits[..., None] * short
        coarse = coarse + (product - xp.round(product))
        fine = fine + digits[..., None] * middle
        rest = rest + digits[..., None] * long
    return coarse, fine, rest  # pyright: ignore[reportReturnType]


def _slices(positions: Array, grid: _Grid, dtype: Any) -> list[Array]:
    """The digits of each position, cut at the bits `grid.shifts`; NaN beyond the exact range."""
    xp = _arrays.namespace(positions)
    inside = (positions >= -_checks.LAST_POSITION) & (positions <= _checks.LAST_POSITION)
    slices = []
    if _arrays.is_integer(positions):
        rest = xp.astype(positions, xp.int32)
        for shift in grid.shifts[:-1]:
            slices.append(xp.astype(rest >> shift, dtype))
            rest = rest & ((1 << shift) - 1)
        slices.append(xp.astype(rest, dtype))  # no shift by 0: ONNX before opset 18 has none
    else:
        rest = xp.astype(positions, dtype)
        for shift in grid.shifts[:-1]:
            slices.append(xp.trunc(rest * 2.0**-shift))  # towards 0, so that the rest is exact
            rest = rest - slices[-1] * 2.0**shift
        slices.append(rest * 2.0 ** -grid.shifts[-1])
    return [xp.where(inside, digits, math.nan) for digits in slices]


def _pieces(frequency: float, grid: _Grid) -> list[tuple[float, float, float]]:
    """For each slice of a position: how far one unit of it turns, cut into three floats."""
    turns = _turns_of(frequency)
    pieces = []
    for shift in grid.shifts:
        turn = turns << shift if shift >= 0 else turns >> -shift
        left = _centred(turn, _ONE)
        short = left - _centred(left, _ONE >> grid.piece)
        left -= short
        middle = left - _centred(left, _ONE >> 2 * grid.piece)
        pieces.append((short / _ONE, middle / _ONE, (left - middle) / _ONE))
    return pieces


def _turns_of(frequency: float) -> int:
    """How far one position turns, in 2^-256 turns, with the digits that a float has no room for."""
    tail = _fixed_point(frequency.tail) if isinstance(frequency, Frequency) else 0
    return _fixed_point(frequency) + tail


def _fixed_point(frequency: float) -> int:
    try:
        # This also makes a plain number of what may be a symbol under torch.compile.
        numerator, denominator = float(frequency).as_integer_ratio()
    except (OverflowError, ValueError) as error:
        raise ValueError(f"`frequencies` must be finite; got {frequency}.") from error
    return numerator * _TURNS_PER_RADIAN // denominator


def _centred(value: int, modulus: int) -> int:
    """`value` modulo `modulus`, between minus and plus half of it."""
    return (value + modulus // 2) % modulus - modulus // 2


# 2 pi as the sum of two float32: the first has 12 bits, so its product with a slice is exact.
_TAU_HIGH = 6.28125
_TAU_LOW = math.tau - _TAU_HIGH


def _cos_sin_of_turn(coarse: Array, fine: Array, rest: Array) -> tuple[Array, Array]:
    """Cosine and sine of a fraction of a turn in float32: quadrants are counted off exactly."""
    xp = _arrays.namespace(coarse)
    moved = xp.round(rest * 2.0**24) * 2.0**-24
    fine, rest = fine + moved, rest - moved
    quadrants = xp.round(4 * coarse) + xp.round(4 * fine)
    turn = (coarse - xp.round(4 * coarse) / 4) + (fine - xp.round(4 * fine) / 4)
    quadrants = quadrants + xp.round(4 * turn)
    turn = turn - xp.round(4 * turn) / 4
    angle = turn * math.tau
    # What the product above lost: its exact value less what was kept, and the rest of the turn.
    high = xp.round(turn * 4096) / 4096
    low = turn - high
    lost = ((high * _TAU_HIGH - angle) + low * _TAU_HIGH) + turn * _TAU_LOW + rest * math.tau
    cos, sin = xp.cos(angle), xp.sin(angle)
    cos, sin = cos - lost * sin, sin + lost * cos
    quadrant = quadrants - 4 * xp.floor(quadrants / 4)
    swapped = (quadrant == 1) | (quadrant == 3)
    cos, sin = xp.where(swapped, sin, cos), xp.where(swapped, cos, sin)
    minus_cos = (quadrant == 1) | (quadrant == 2)
    return xp.where(minus_cos, -cos, cos), xp.where(quadrant >= 2, -sin, sin)
