"""Worked examples that no known mistake would pass.

An example shows the numbers of an encoding at some positions, to some decimals. Each mistake that
`posenc.mistakes` knows of the encoding must change at least one of the digits shown; where one
cannot (bfloat16 loses nothing at position 3), the page names it and says why.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from posenc import explain, mistakes, spec


def faults(
    text: str, positions: Sequence[int], *, digits: int = 4, blind: Mapping[str, str] | None = None
) -> list[str]:
    """What an example would not catch.

    Args:
        text: the encoding as short text.
        positions: where it is worked out.
        digits: decimals shown.
        blind: mistakes that it cannot show, each with the reason.
    Returns:
        One line for each wrong mistake whose digits are the right ones, and for each name in
        `blind` that is none, or is shown after all.
    Example:
        >>> faults("sinusoidal:dim=4", [0])[0]
        "the example would pass with the mistake 'cosine has its own exponent'."
    """
    encoding = spec.parse(text)
    known = {one.name: one for one in mistakes.of(encoding) if one.severity == "wrong"}
    right = _shown(encoding, positions, digits, None)
    passing = [
        name for name, one in known.items() if _shown(encoding, positions, digits, one) == right
    ]
    blind = blind or {}
    found = [
        f"the example would pass with the mistake {name!r}."
        for name in passing
        if name not in blind
    ]
    found += [
        f"the example is said to be blind for {name!r}, but it is not."
        for name in blind
        if name not in passing
    ]
    return found + [f"{name!r}: say why it is not shown." for name, why in blind.items() if not why]


def confused(
    right: Any, others: Mapping[str, Any], *, by_hand: Any = None, digits: int = 4
) -> list[str]:
    """What an example shows no better than another answer would.

    Args:
        right: the numbers of the library.
        others: numbers that a mistake leads to, by its name.
        by_hand: the same numbers by plain arithmetic, if they were worked out.
        digits: decimals shown.
    Returns:
        One line for each mistake whose digits are the right ones, and one if the arithmetic leads
        to others.
    Example:
        >>> confused([0.25], {"the root forgotten": [0.250001]})
        ["the example would pass with the mistake 'the root forgotten'."]
    """
    shown = written(right, digits)
    found = [
        f"the example would pass with the mistake {name!r}."
        for name, other in others.items()
        if written(other, digits) == shown
    ]
    if by_hand is not None and written(by_hand, digits) != shown:
        found.append(f"by hand it is {written(by_hand, digits)}, by the library {shown}.")
    return found


def written(values: Any, digits: int) -> list[str]:
    """Numbers as an example shows them."""
    return [f"{number + 0.0:.{digits}f}" for number in np.ravel(np.asarray(values, dtype=float))]


def steps(text: str, position: int) -> dict[str, Any]:
    """The example worked out step by step, as the library explains it."""
    return explain(spec.parse(text), position=position).to_data()


def _shown(encoding: Any, positions: Sequence[int], digits: int, mistake: Any) -> list[str]:
    """The digits of an example."""
    return written(mistakes.numbers(encoding, positions, mistake), digits)
