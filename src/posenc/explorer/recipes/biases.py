"""Biases that a few numbers tell whole: straight lines, and one number a distance."""

from __future__ import annotations

from typing import Any

import numpy as np

from posenc import evaluation
from posenc.alibi import Alibi
from posenc.explorer.recipes import arrays, weights
from posenc.explorer.recipes.limits import ROWS
from posenc.explorer.recipes.spans import Span

REACH = ROWS - 1
"""The farthest distance of a query and a key in one picture."""


def line(code: Alibi, span: Span) -> dict[str, Any]:
    """A straight line a head, for any distance."""
    return {
        "kind": "bias",
        "slopes": list(code.slopes),
        "behind": [0.5 if code.direction == "asymmetric" else 0.0, -1.0],
        "ahead": None if code.direction == "causal" else [0.0, -1.0],
    }


def gaps(code: Any, span: Span) -> dict[str, Any]:
    """One number for each head and each distance from -REACH to REACH."""
    keys = np.arange(2 * REACH, -1, -1)
    found = evaluation.bias(code, np.asarray([REACH]), keys, weights.made_up(code))
    return {
        "kind": "gaps",
        "reach": REACH,
        "values": arrays.packed(found[:, 0]),
        "note": weights.note(code),
    }
