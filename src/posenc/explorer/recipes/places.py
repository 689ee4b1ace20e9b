"""Where the tokens of one picture stand: in a row, on a grid, in segments, in a text with an image.

A row of a picture is the token or cell of the same number in raster order; on a grid `span.grid`
cells make a row.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from posenc import evaluation, grids, positions
from posenc.bipe import Bipe
from posenc.decomposed import Decomposed
from posenc.explorer.recipes.spans import Span
from posenc.fourier import FourierFeatures, Nerf
from posenc.mrope import MRotary, positions_of
from posenc.swin import Swin, SwinV2

WIDTH = 8
"""Cells in a row of a grid unless told otherwise."""

SENTENCES = (7, 4, 9, 5, 12)
"""Tokens in the sentences of the example text of BiPE, over and over."""


def places(code: Any, span: Span) -> np.ndarray:
    """Positions as the encoding takes them.

    Returns:
        (count,) whole numbers, or (count, axes) coordinates; fewer where a window has fewer cells.
    """
    if isinstance(code, Bipe):
        return segments(np.arange(span.start, span.start + span.count))
    if isinstance(code, Swin | SwinV2):
        return window(code.window, span)
    if isinstance(code, FourierFeatures | Nerf):
        return _points(code.axes, span)
    if _is_text_with_image(code):
        return positions_of(_parts(span), start=span.start)[: span.count]
    tokens = np.arange(span.start, span.start + span.count)
    axes = evaluation.axes(code)
    return grids.unravel(tokens, *[_width(span)] * axes) if axes else tokens


def window(sizes: tuple[int, int], span: Span) -> np.ndarray:
    """The first `count` cells of a window, or all where it has fewer."""
    return positions.grid(*sizes)[: span.count]


def segments(tokens: np.ndarray) -> np.ndarray:
    """The number of the sentence of each token, in a text whose first one begins at token 0.

    Example:
        >>> segments(np.asarray([0, 6, 7, 11, 37])).tolist()
        [0, 0, 1, 2, 5]
    """
    ends = np.cumsum(SENTENCES)
    rounds, within = np.divmod(tokens, ends[-1])
    return rounds * len(SENTENCES) + np.searchsorted(ends, within, side="right")


def listed(code: Any, span: Span) -> list[Any]:
    """The places as lists of coordinates; [] where a position is one plain number."""
    if not evaluation.axes(code) and not isinstance(code, Bipe):
        return []
    found = window(code.grid, span) if isinstance(code, Decomposed) else places(code, span)
    return found.reshape(len(found), -1).tolist()


def depends(code: Any, *, rows_alone: bool) -> list[str]:
    """Which parts of a span the places depend on.

    Args:
        code: the encoding.
        rows_alone: whether only the number of a token counts, not where it stands.
    """
    if rows_alone or isinstance(code, Swin | SwinV2):
        return ["count"]
    if isinstance(code, FourierFeatures | Nerf):
        return ["count", "grid"]
    return ["start", "count", *["grid"] * bool(evaluation.axes(code))]


def note(code: Any, span: Span) -> str:
    """How the tokens of the picture stand, where a visitor cannot guess it; else ""."""
    if isinstance(code, Bipe):
        lengths = ", ".join(map(str, SENTENCES))
        return (
            f"A text in sentences of {lengths} tokens, over and over; drawn is what lies between "
            "sentences."
        )
    if _is_text_with_image(code):
        before, (rows, columns), after = _parts(span)
        return f"{before} tokens of text, an image of {rows} × {columns} cells, {after} of text."
    if isinstance(code, FourierFeatures | Nerf):
        return "Points lie in the middle of the cells of a grid that runs from 0 to 1."
    if isinstance(code, Swin | SwinV2):
        return "Queries and keys are the cells of one window, row by row."
    return ""


def _width(span: Span) -> int:
    return WIDTH if span.grid is None else span.grid


def _points(axes: int, span: Span) -> np.ndarray:
    """Centres of cells between 0 and 1, every axis but the first with as many as a row has."""
    across = [_width(span)] * (axes - 1)
    sizes = [math.ceil(span.count / math.prod(across)), *across]
    return (grids.unravel(np.arange(span.count), *sizes) + 0.5) / sizes


def _is_text_with_image(code: Any) -> bool:
    return isinstance(code, MRotary) and len(code.sections) == 3


def _parts(span: Span) -> tuple[int, tuple[int, int], int]:
    """A quarter of text, an image of about a half, and the rest in text again."""
    before, columns = span.count // 4, min(_width(span), span.count)
    rows = max(span.count // 2 // columns, 1)
    return before, (rows, columns), max(span.count - before - rows * columns, 0)
