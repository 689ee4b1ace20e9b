"""Numbers that no short formula gives: the library's own array, every bit of it."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from posenc.bipe import Bipe
from posenc.explorer.recipes import numbers, pairs, places, weights
from posenc.explorer.recipes.spans import Span, heads


def array(code: Any, span: Span) -> dict[str, Any]:
    """The picture of any encoding as an array, with what its rows and columns are."""
    depends = places.depends(code, rows_alone=numbers.family(code) == "term")
    return {
        "depends": [*depends, *["head"] * bool(heads(code))],
        "note": " ".join(filter(None, (places.note(code, span), weights.note(code)))),
        **of(numbers.numbers(code, span)),
        **described(code),
        "places": places.listed(code, span),
    }


def of(values: np.ndarray) -> dict[str, Any]:
    """Two-dimensional values as a recipe."""
    return {"kind": "array", "shape": list(values.shape), "values": packed(values)}


def described(code: Any) -> dict[str, Any]:
    """What the columns are, and what turns."""
    family = numbers.family(code)
    if family == "rotary":
        turning = pairs.turning(code.inter if isinstance(code, Bipe) else code)
        return turning | {"picks": pairs.picks(turning["columns"])}
    columns = pairs.columns(code) if family == "absolute" else []
    return {"columns": columns, "picks": pairs.picks(columns), **pairs.frequencies(code)}


def packed(values: np.ndarray) -> str:
    """float32 numbers, the last axis running fastest, as base64 of their little-endian bytes.

    Example:
        >>> packed(np.asarray([1.0, -np.inf]))
        'AACAPwAAgP8='
    """
    return base64.b64encode(values.astype("<f4").tobytes()).decode()
