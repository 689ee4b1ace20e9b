"""What every explanation needs: which parts to show, exact products, valid positions."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from posenc import _checks


def chosen(name: str, parts: Sequence[int] | None, count: int) -> tuple[int, ...]:
    """The pairs or heads to show: those asked for, or all where they are few, or a few of many.

    Args:
        name: of the argument, for the error.
        parts: the indices asked for, or None.
        count: how many there are.
    Returns:
        Indices below `count`.
    Raises:
        TypeError: an index is no integer.
        ValueError: there is no such index, or `parts` is empty.
    Example:
        >>> chosen("pairs", None, 3), chosen("pairs", None, 64)
        ((0, 1, 2), (0, 1, 32, 63))
    """
    if parts is None:
        return tuple(range(count)) if count <= 4 else (0, 1, count // 2, count - 1)
    if isinstance(parts, int):
        raise TypeError(f"`{name}` must be a list of integers, for example [0, 1]; got {parts}.")
    if len(parts) == 0:
        raise ValueError(f"`{name}` must name at least one of 0 to {count - 1}; got none.")
    for part in parts:
        _checks.integer(name, part)
        if not 0 <= part < count:
            raise ValueError(f"`{name}` must lie between 0 and {count - 1}; got {part}.")
    return tuple(parts)


def left_out(kind: str, shown: Sequence[int], count: int) -> str:
    """What an explanation does not show, as a sentence; "" if it shows everything.

    Example:
        >>> left_out("pair", (0, 1, 32, 63), 64)
        'Shown are 4 of 64 pairs: 0, 1, 32, 63. The other 60 follow the same formulas.'
    """
    rest = count - len(set(shown))
    if rest == 0:
        return ""
    return (
        f"Shown are {count - rest} of {count} {kind}s: {', '.join(map(str, shown))}. "
        f"The other {rest} follow the same formulas."
    )


def true(frequency: float) -> Fraction:
    """A frequency as the exact number it stands for, with the tail that a float cannot hold."""
    return Fraction(frequency) + Fraction(getattr(frequency, "tail", 0.0))


def moved(position: int, steps: int) -> int:
    """A position `steps` further on, or as much before where that would be too far out.

    Example:
        >>> moved(3, 100), moved(2**31 - 1, 100)
        (103, 2147483547)
    """
    return position + steps if position + steps <= _checks.LAST_POSITION else position - steps
