"""Encodings that are waves of a plain position: the page evaluates them anywhere."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain, zip_longest
from typing import Any

from posenc import _checks, angles
from posenc.explorer.recipes import pairs
from posenc.explorer.recipes.limits import FARTHEST
from posenc.explorer.recipes.spans import Span, drawable
from posenc.longrope import LongRope
from posenc.rotary import Rotary
from posenc.sinusoidal import Sinusoidal
from posenc.xpos import XPos


def sinusoidal(code: Sinusoidal, span: Span) -> dict[str, Any]:
    """Vectors: sine and cosine of each pair, in the order of the layout."""
    ones = [[code.first, pair] for pair in range(len(code.frequencies))]
    second = "cos" if code.first == "sin" else "sin"
    others = [[second, pair] for pair in range(code.dim // 2)]
    if code.layout == "half":
        columns = ones + others
    else:
        columns = [column for column in chain(*zip_longest(ones, others)) if column]
    columns += [["zero", 0]] * (code.dim - len(columns))
    return _waves(code.frequencies, columns) | {"offset": code.offset}


def rotary(code: Rotary, span: Span) -> dict[str, Any]:
    """[cos | sin] of each pair, and which features the pairs are."""
    if code.frequencies_at(FARTHEST) == code.frequencies:  # however long the text is
        return _turning(code, code.frequencies)
    length = span.start + span.count
    note = f"Drawn for a text of {length:,} tokens.{_list(code.scaling, length)}"
    depends = {"depends": ["start", "count"], "note": note}
    return _turning(code, code.frequencies_at(length)) | depends


def _list(rule: Any, length: int) -> str:
    """Which list of LongRoPE counts; "" for other rules."""
    if not isinstance(rule, LongRope):
        return ""
    original = _checks.trained_length(rule)
    which = "long" if length > original else "short"
    return f" The {which} list of LongRoPE counts; beyond {original:,} tokens it is the long one."


def xpos(code: XPos, span: Span) -> dict[str, Any]:
    """The same for queries, which grow or shrink with the position besides.

    Those of queries shrink and stay drawable; what keys have is the inverse.
    """
    return _turning(code, code.frequencies) | {
        "rates": [math.log(decay) / code.scale_base for decay in code.decays],
        "center": code.center,
        "drawable": [*drawable(code)],
        "note": "These are the numbers of queries; keys are turned alike, and grow where queries "
        "shrink.",
    }


def _turning(code: Rotary | XPos, frequencies: Sequence[float]) -> dict[str, Any]:
    turning = pairs.turning(code)
    return turning | _waves(frequencies, turning["columns"]) | {"scale": turning["scale"]}


def _waves(frequencies: Sequence[float], columns: list[list[Any]]) -> dict[str, Any]:
    return {
        "kind": "waves",
        "offset": 0,
        "scale": 1.0,
        "frequencies": [float(frequency) for frequency in frequencies],
        # A plain product of position and frequency is off by 3e-11 radians at position 2^18,
        # enough to move one float32 in 8,000. With the pieces of `angles` none moves.
        "turns": [list(pieces) for pieces in angles.turns(frequencies)],
        "columns": columns,
        "picks": pairs.picks(columns),
    }
