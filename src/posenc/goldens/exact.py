"""Cosine and sine in whole numbers, to 70 digits: slow, and the same on every machine.

A processor's own sine may differ from the next one's in the last bit; these never do.
"""

from __future__ import annotations

from fractions import Fraction

_BITS = 256
_ONE = 1 << _BITS


def cos_sin(position: int, frequency: float) -> tuple[Fraction, Fraction]:
    """Cosine and sine of position times frequency, wrong by less than 2 ** -200.

    Args:
        position: any integer within 2**31 of 0.
        frequency: radians per position, with the tail of a `frequencies.Frequency` if it has one.
    Returns:
        Two fractions. `float` rounds each to the nearest float64.
    Example:
        >>> cos, sin = cos_sin(2, 1.0)
        >>> float(cos), float(sin)
        (-0.4161468365471424, 0.9092974268256817)
    """
    angle = position * (Fraction(frequency) + Fraction(getattr(frequency, "tail", 0.0)))
    fixed = angle.numerator * _ONE // angle.denominator
    quarters = (2 * fixed + _PI // 2) // _PI
    cos, sin = _series(fixed - quarters * _PI // 2)
    for _ in range(quarters % 4):
        cos, sin = -sin, cos
    return Fraction(cos, _ONE), Fraction(sin, _ONE)


def _series(angle: int) -> tuple[int, int]:
    """Cosine and sine of an angle within an eighth of a turn, by their power series."""
    even_odd = [0, 0]
    term, k = _ONE, 0
    while term:
        even_odd[k % 2] += term if k % 4 < 2 else -term
        k += 1
        term = term * abs(angle) // (k * _ONE)
    return even_odd[0], even_odd[1] if angle >= 0 else -even_odd[1]


def _arctan_of_one_over(n: int) -> int:
    total, power, k = 0, _ONE // n, 1
    while power:
        total += power // k if k % 4 == 1 else -(power // k)
        power //= n * n
        k += 2
    return total


# Machin 1706: pi / 4 = 4 arctan(1 / 5) - arctan(1 / 239)
_PI = 4 * (4 * _arctan_of_one_over(5) - _arctan_of_one_over(239))
