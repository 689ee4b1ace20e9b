"""A recipe of any encoding, and the same numbers by the library itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from posenc import evaluation, spec
from posenc.alibi import Alibi
from posenc.bipe import Bipe
from posenc.explorer.recipes import arrays, biases, mistaken, numbers, waves, weights
from posenc.explorer.recipes.constructor import constructor
from posenc.explorer.recipes.limits import check_size
from posenc.explorer.recipes.spans import Span, heads, span
from posenc.fourier import FourierFeatures, Nerf
from posenc.kerple import Kerple
from posenc.mistakes import Mistake
from posenc.mrope import MRotary
from posenc.rotary import Rotary
from posenc.sandwich import Sandwich
from posenc.sinusoidal import Sinusoidal
from posenc.t5 import T5
from posenc.xpos import XPos


def recipe(
    encoding: Any,
    *,
    start: int = 0,
    count: int = 64,
    head: int = 0,
    grid: int | None = None,
    mistake: str | None = None,
) -> dict[str, Any]:
    """The numbers behind every picture of an encoding, ready for JSON.

    kind "waves"   column c at position p: scale * growth * wave(turn), wave and pair being
                   columns[c]; turn = (p + offset) * sum(turns[pair]), in whole turns; growth is 1,
                   or where there are `rates` exp((p - center) * rates[pair]); `drawable`, if there,
                   is the first and the last position that can be drawn, and what to say of others
    kind "bias"    query i, key j, head h: slopes[h] * (start + step * |i - j|), start and step
                   being `behind` or, for keys after the query, `ahead`; where that is None,
                   minus infinity; 0 where i = j
    kind "gaps"    query i, key j, head h: values[h][reach + i - j], up to `reach` apart
    kind "array"   row r, column c: values[r][c], of `shape`

    Values are float32 in base64. Every recipe says:

    spec, text, python   the encoding as data, as short text, and the Python that makes it
    family               "absolute", "rotary", "bias" or "term": what its rows and columns are
    heads                how many heads have numbers of their own; 0 where all are alike
    axes                 what a row and a column is called
    depends              which of start, count, head and grid it was made for; it serves all others
    places               the coordinates of each row on a grid, or the sentence of each token of
                         BiPE; [] where rows are start, start + 1, ...
    mistake              what is said about the mistake in it, or None
    note                 a sentence that a visitor must know, or ""

    Args:
        encoding: any encoding of posenc.
        start: the first position, or cell in raster order.
        count: how many of them; a window may have fewer.
        head: which head, where there are heads.
        grid: cells in a row of a grid; where there is one, 8 by default.
        mistake: the name of one of `posenc.mistakes.of(encoding)`: the same picture, got wrong.
    Returns:
        A dict of strings, numbers, lists and None.
    Raises:
        TypeError: `encoding` is none of posenc's.
        ValueError: a number is out of range, `mistake` is not made in `encoding`, or a position
            lies beyond its table.
    Example:
        >>> recipe(Sinusoidal(dim=4))["columns"]
        [['sin', 0], ['cos', 0], ['sin', 1], ['cos', 1]]
    """
    check_size(encoding)
    part = span(encoding, start, count, head, grid)
    wrong = mistaken.find(encoding, mistake)
    return {
        "spec": spec.to_data(encoding),
        "text": spec.to_text(encoding),
        "python": constructor(encoding),
        "family": numbers.family(encoding),
        "heads": heads(encoding),
        "axes": _axes(encoding, wrong),
        "depends": [],
        "places": [],
        "note": "",
        "mistake": None if wrong is None else wrong.to_data(),
        **(_right(encoding, part) if wrong is None else _wrong(encoding, part, wrong)),
    }


def table(
    encoding: Any,
    start: int,
    count: int,
    *,
    head: int = 0,
    grid: int | None = None,
    mistake: str | None = None,
) -> np.ndarray:
    """The library's own numbers of a picture, for the page to compare its own with.

    Args:
        encoding: any encoding of posenc.
        start: the first position.
        count: how many positions.
        head: which head of a bias.
        grid: cells in a row of a grid.
        mistake: the name of a mistake to make.
    Returns:
        float32: (count, columns) of vectors or of [cos | sin]; (count, count) of what is added to
        scores.
    Raises:
        TypeError: `encoding` is none of posenc's.
        ValueError: see `recipe`.
    Example:
        >>> table(Sinusoidal(dim=4), 2, 1).round(4).tolist()
        [[0.9093000292778015, -0.41609999537467957, 0.019999999552965164, 0.9998000264167786]]
    """
    check_size(encoding)
    part = span(encoding, start, count, head, grid)
    wrong = mistaken.find(encoding, mistake)
    if wrong is not None:
        return mistaken.numbers(encoding, part, wrong)
    return numbers.numbers(encoding, part)


def _right(encoding: Any, part: Span) -> dict[str, Any]:
    return _MAKERS.get(type(encoding), arrays.array)(encoding, part)


def _wrong(encoding: Any, part: Span, mistake: Mistake) -> dict[str, Any]:
    depends = ["start", "count", *["head"] * bool(heads(encoding))]
    return {
        "depends": depends,
        "note": weights.note(encoding),
        **mistaken.array(encoding, part, mistake),
        **arrays.described(encoding),
    }


def _axes(encoding: Any, mistake: Mistake | None) -> dict[str, dict[str, str]]:
    """What a row and a column of the picture is called."""
    family = numbers.family(encoding)
    if family in ("bias", "term"):
        row, column = "query", "key"
    else:
        row, column = _row(encoding), "feature" if family == "absolute" else "column"
    if mistake is not None and mistake.name == "transposed":
        row, column = column, row
    return {"row": {"name": row}, "column": {"name": column}}


def _row(encoding: Any) -> str:
    if isinstance(encoding, FourierFeatures | Nerf):
        return "point"
    if isinstance(encoding, MRotary | Bipe):
        return "token"
    return "cell" if evaluation.axes(encoding) else "position"


_MAKERS: dict[type, Callable[[Any, Span], dict[str, Any]]] = {
    Sinusoidal: waves.sinusoidal,
    Rotary: waves.rotary,
    XPos: waves.xpos,
    Alibi: biases.line,
    T5: biases.gaps,
    Kerple: biases.gaps,
    Sandwich: biases.gaps,
}
"""Encodings that need no array of their own; all others are drawn from one."""
