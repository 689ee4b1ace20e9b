"""What can be said of any encoding: its formula, and the numbers it gives."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from posenc import evaluation
from posenc.explanations import parts
from posenc.explanations.explanation import Explanation, Line, Step
from posenc.xpos import XPos

Position = int | Sequence[int]


def absolute(spec: Any, *, position: Position | None = None) -> Explanation:
    """The formula of an absolute encoding, and the vector of one position.

    Args:
        spec: the encoding.
        position: whose vector to give; on a grid, one number an axis.
    """
    place = _place(spec, position)
    vector = _row(spec, place)
    return _explanation(spec, place, [Line(f"vector of position {place}", "", (), vector)])


def rotary(
    spec: Any, *, position: Position | None = None, length: int | None = None
) -> Explanation:
    """The formula of an encoding that turns pairs, and the table of one position.

    Args:
        spec: the encoding.
        position: whose cosines and sines to give; on a grid, one number an axis.
        length: tokens in the whole text, for scalings that look at it.
    """
    place = _place(spec, position)
    options = {} if length is None else {"length": length}
    return _explanation(spec, place, _table("pairs", _row(spec, place, **options)))


def xpos(spec: XPos, *, position: int = 2) -> Explanation:
    """The formula of xPos, and its two tables at one position.

    Args:
        spec: the encoding.
        position: whose cosines and sines to give.
    """
    lines = []
    for role in ("query", "key"):
        lines += _table(f"{role} pairs", _row(spec, position, role=role))
    return _explanation(spec, position, lines)


def bias(
    spec: Any,
    *,
    position: Position | None = None,
    key: Position | None = None,
    heads: Sequence[int] | None = None,
) -> Explanation:
    """The formula of a bias, and what one query adds to its score with one key.

    Args:
        spec: the encoding.
        position: of the query; on a grid, one number an axis.
        key: of the key; 0 by default.
        heads: the heads to show; a few by default.
    """
    place = _place(spec, position)
    other = np.zeros_like(place) if key is None else np.asarray(key)
    trained = evaluation.weights(spec)
    biases = evaluation.bias(spec, np.asarray([place]), other[None], trained)
    shown = parts.chosen("heads", heads, len(biases))
    lines = [Line(f"head {head}", "", (), float(biases[head, 0, 0])) for head in shown]
    where = f"{place} for a key at {_shown(other)}"
    return _explanation(spec, where, lines, parts.left_out("head", shown, len(biases)))


def _place(spec: Any, position: Position | None) -> int | tuple[int, ...]:
    """The position asked for; else 2, or on a grid 1, 2, ... on its axes."""
    if position is not None:
        return position if isinstance(position, int) else tuple(position)
    return tuple(range(1, evaluation.axes(spec) + 1)) or 2


def _row(spec: Any, place: Any, **options: Any) -> tuple[float, ...]:
    """The numbers of one position, from trained arrays as they are before training."""
    rows = evaluation.rows(spec, np.asarray([place]), evaluation.weights(spec), **options)
    return tuple(rows[0].tolist())


def _table(name: str, row: tuple[float, ...]) -> list[Line]:
    half = len(row) // 2
    return [
        Line(f"cosines of the {name}", "", (), row[:half]),
        Line(f"sines of the {name}", "", (), row[half:]),
    ]


def _shown(place: np.ndarray) -> int | tuple[int, ...]:
    return tuple(place.tolist()) if place.ndim else int(place)


def _explanation(spec: Any, place: Any, answers: Iterable[Line], note: str = "") -> Explanation:
    if trained := ", ".join(evaluation.shapes(spec)):
        note = f"Trained arrays ({trained}) are as before any training. {note}".strip()
    return Explanation(
        title=f"What {type(spec).__name__} gives at position {place}",
        spec=spec,
        steps=(Step("The formula", _formula(spec), ()),),
        answers=tuple(answers),
        note=note,
    )


def _formula(spec: Any) -> str:
    """The second paragraph of the docstring: in this library, the formula in plain signs."""
    paragraphs = (inspect.getdoc(type(spec)) or "").split("\n\n")
    return paragraphs[1] if len(paragraphs) > 1 else ""
