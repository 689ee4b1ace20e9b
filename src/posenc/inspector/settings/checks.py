"""What a setting must be, before anything is made of it: plain checks of JSON values.

Each returns the value as Python has it, and raises TypeError for a value of the wrong type and
ValueError for one that no model has; the words of the error follow the key's name.
"""

from __future__ import annotations

import math
import re
from typing import Any

COUNTS = re.compile("dim|size|head|layer|channel|hidden|model|depth|width|embd")
"""Keys that count features, heads or layers: numbers that lists are made of."""

LARGEST = 65_536
"""The largest such count that is believed, so that a hostile file cannot fill the memory."""

LAYERS = re.compile("layer|depth|repeats")
"""Keys that count layers."""

MOST_LAYERS = 10_000
"""The most layers that are believed; a reading lists them one by one."""


def integer(key: str, value: Any, at_least: int) -> int:
    """A whole number; 4.0 passes, true does not."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError("must be a whole number")
    if value < at_least:
        raise ValueError(f"must be at least {at_least}")
    _believable(key, value)
    return value


def number(value: Any, above: float | None, at_least: float | None) -> float:
    """A finite number."""
    _finite(value)
    if above is not None and value <= above:
        raise ValueError(f"must be greater than {above:g}")
    if at_least is not None and value < at_least:
        raise ValueError(f"must be at least {at_least:g}")
    return float(value)


def word(value: Any) -> str:
    """A string."""
    if not isinstance(value, str):
        raise TypeError("must be a word")
    return value


def flag(value: Any) -> bool:
    """True or false, or 1 or 0."""
    if not isinstance(value, bool) and value not in (0, 1):
        raise TypeError("must be true or false")
    return bool(value)


def numbers(value: Any) -> tuple[float, ...]:
    """A list of finite numbers."""
    for item in _list(value):
        _finite(item)
    return tuple(float(item) for item in value)


def integers(key: str, value: Any, at_least: int) -> tuple[int, ...]:
    """A list of whole numbers."""
    for item in _list(value):
        if isinstance(item, bool) or not isinstance(item, int) or item < at_least:
            raise TypeError(f"must be a list of whole numbers, each at least {at_least}")
        _believable(key, item)
    return tuple(value)


def words(value: Any) -> tuple[str, ...]:
    """A list of strings."""
    if not all(isinstance(item, str) for item in _list(value)):
        raise TypeError("must be a list of words")
    return tuple(value)


def _believable(key: str, value: int) -> None:
    """Refuse a whole number that no model has, before something is made that many times."""
    if value >= 2**53:
        raise ValueError("must be below 2**53")
    most = MOST_LAYERS if LAYERS.search(key) else LARGEST
    if value > most and (COUNTS.search(key) or LAYERS.search(key)):
        raise ValueError(f"must be at most {most:,}, more than any model has")


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise TypeError("must be a list")
    return list(value)


def _finite(value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError("must be a number")
    try:
        finite = math.isfinite(value)
    except OverflowError:
        finite = False
    if not finite:
        raise ValueError("must be finite")
