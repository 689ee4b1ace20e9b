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


def steps(text: str, position: int) -> dict[str, Any]:
    """The example worked out step by step, as the library explains it."""
    return explain(spec.parse(text), position=position).to_data()


def _shown(encoding: Any, positions: Sequence[int], digits: int, mistake: Any) -> list[str]:
    """The digits of an example."""
    made = mistakes.numbers(encoding, positions, mistake)
    return [f"{number + 0.0:.{digits}f}" for number in np.ravel(made)]
