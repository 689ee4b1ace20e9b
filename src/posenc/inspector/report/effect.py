"""One thing that an encoding does in a model, in words for a person and as data for a program."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sized
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Effect:
    """A row of a report.

    Args:
        name: what the row is about: "scaling".
        sentence: the answer in words.
        data: the numbers behind it, ready for JSON.
    """

    name: str
    sentence: str
    data: Mapping[str, Any]


def number(value: float) -> str:
    """A number as a person reads it: thousands apart, seven digits at most.

    Example:
        >>> number(131072), number(500000.0), number(1.1386294361), number(20582993.4)
        ('131,072', '500,000', '1.138629', '20,582,993')
    """
    if value == int(value) and abs(value) < 1e15 or 1e3 <= abs(value) < 1e15:
        return f"{round(value):,}"
    return f"{value:.7g}"


def counted(count: int, things: str) -> str:
    """A number of things, whose name ends in s where they are not one.

    Example:
        >>> counted(1, "tokens"), counted(2048, "tokens")
        ('1 token', '2,048 tokens')
    """
    return f"{number(count)} {things.removesuffix('s') if count == 1 else things}"


def ranges(indices: Iterable[int]) -> str:
    """Whole numbers in rising order, neighbours joined.

    Example:
        >>> ranges([0, 1, 2, 5, 7, 8])
        '0-2, 5, 7-8'
    """
    return ", ".join(
        f"{first}-{last}" if last > first else f"{first}" for first, last in _stretches(indices)
    )


def _stretches(indices: Iterable[int]) -> list[tuple[int, int]]:
    stretches: list[tuple[int, int]] = []
    for index in indices:
        if stretches and index == stretches[-1][1] + 1:
            stretches[-1] = (stretches[-1][0], index)
        else:
            stretches.append((index, index))
    return stretches


def shortened(value: Any, width: int = 40) -> str:
    """A setting as it would stand in JSON, cut where it is long.

    Example:
        >>> shortened(5e5), shortened("yarn"), shortened(None), shortened(True)
        ('500,000', '"yarn"', 'null', 'true')
        >>> shortened([1.5] * 100, width=20)
        '[1.5, 1.5, ... (100)'
    """
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300:
        return number(value)
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        text = repr(value)
    if len(text) <= width:
        return text
    size = f" ({len(value)})" if isinstance(value, Sized) and not isinstance(value, str) else ""
    return f"{text[: width - 4 - len(size)].rstrip()} ...{size}"


def printable(text: str, width: int = 200) -> str:
    """Text from a file that cannot play tricks on a terminal: escapes written out, long ones cut.

    Example:
        >>> printable("rope\\x1b[31m")
        'rope\\\\x1b[31m'
    """
    cut = text if len(text) <= width else f"{text[: width - 4]} ..."
    return "".join(
        sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in cut
    )
