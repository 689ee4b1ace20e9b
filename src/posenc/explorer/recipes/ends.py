"""Lists of LongRoPE that are given by their two ends, as the form of the page gives them.

A real list was found by search and follows no formula. A list between two ends is a stand-in that
a few numbers describe: {"first": 1.0, "last": 32.0} instead of one number a pair.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from posenc import _checks

LISTS = ("short_factors", "long_factors")


def spread(data: Any) -> Any:
    """The data of an encoding with whole lists in the place of their ends.

    Each number is the one before times the same factor, rounded to six digits.

    Raises:
        TypeError: an end is no number.
        ValueError: an end is not positive.
    Example:
        >>> ends = {"first": 1.0, "last": 4.0}
        >>> rule = {"kind": "longrope", "short_factors": ends, "long_factors": ends}
        >>> spread({"kind": "rotary", "dim": 6, "scaling": rule})["scaling"]["long_factors"]
        [1.0, 2.0, 4.0]
    """
    if not isinstance(data, dict):
        return data
    made = {name: spread(value) for name, value in data.items()}
    width = data.get("rotary_dim") or data.get("dim")
    if _is_searched(data.get("scaling")) and isinstance(width, int):
        rule = {name: _list(name, held, width // 2) for name, held in data["scaling"].items()}
        made["scaling"] = rule
    return made


def ends(data: Any) -> Any:
    """The data of an encoding with the two ends in the place of whole lists."""
    if not isinstance(data, dict):
        return data
    made = {name: ends(value) for name, value in data.items()}
    if _is_searched(data):
        made |= {name: {"first": data[name][0], "last": data[name][-1]} for name in LISTS}
    return made


def _is_searched(rule: Any) -> bool:
    return isinstance(rule, dict) and rule.get("kind") == "longrope"


def _list(name: str, held: Any, pairs: int) -> Any:
    if name not in LISTS or not isinstance(held, dict):
        return held
    if set(held) != {"first", "last"}:
        raise ValueError(
            f"`{name}` must be a list with a number a pair, or the two ends of one, first and "
            f"last; got {', '.join(held) or 'neither'}."
        )
    for end, factor in held.items():
        _checks.positive(f"{name}.{end}", factor)
    every = np.geomspace(held["first"], held["last"], max(pairs, 0))
    return [float(f"{factor:.6g}") for factor in every]
