"""A picture and a table of numbers for browsers that run no script."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from posenc.explorer import palette, recipes

_SIDE = 32  # rows and columns of the picture, at most
_STEPS = 8  # steps from zero to the largest number, each way
_FEW = 8  # rows and columns of the table, at most


def still(encoding: Any) -> dict[str, Any]:
    """The beginning of an encoding's table, as still.html draws and writes it.

    Args:
        encoding: any encoding of posenc.
    Returns:
        `text`, `note` and the names `row` and `column` from its recipe; `rows` and `columns` of
        the picture, whose `shades` map a colour to an SVG path; `lowest`, `highest` and
        `numbers` as text; whether something is `masked`.
    Example:
        >>> from posenc import Sinusoidal
        >>> still(Sinusoidal(dim=4))["numbers"][2]
        ['0.9093', '−0.4161', '0.0200', '0.9998']
    """
    recipe = recipes.recipe(encoding)
    values = recipes.table(encoding, 0, _SIDE)[:, :_SIDE]
    seen = values[np.isfinite(values)]
    return {
        "text": recipe["text"],
        "note": recipe["note"],
        **{axis: recipe["axes"][axis]["name"] for axis in ("row", "column")},
        "rows": values.shape[0],
        "columns": values.shape[1],
        "shades": _shades(values, float(np.abs(seen).max(initial=0.0)) or 1.0),
        "lowest": _decimal(float(seen.min(initial=0.0))),
        "highest": _decimal(float(seen.max(initial=0.0))),
        "masked": seen.size < values.size,
        "numbers": [[_decimal(one) for one in line] for line in values[:_FEW, :_FEW].tolist()],
    }


def _shades(values: np.ndarray, largest: float) -> dict[str, str]:
    """One path for each colour, with a stroke along every run of cells that have it."""
    colours = palette.colours("light")
    middle = len(colours) // 2
    strokes: dict[int, list[str]] = {}
    for row, line in enumerate(values):
        for column, width, shade in _runs(line, largest):
            strokes.setdefault(shade, []).append(f"M{column} {row}.5h{width}")
    return {
        colours[middle + shade * middle // _STEPS]: "".join(parts)
        for shade, parts in sorted(strokes.items())
    }


def _runs(line: np.ndarray, largest: float) -> list[tuple[int, int, int]]:
    """(first column, columns, shade) of neighbours that look alike; what is masked is left out."""
    runs: list[tuple[int, int, int]] = []
    for column, value in enumerate(line.tolist()):
        if not math.isfinite(value):
            continue
        shade = round(value / largest * _STEPS)
        if runs and runs[-1][2] == shade and sum(runs[-1][:2]) == column:
            runs[-1] = (runs[-1][0], runs[-1][1] + 1, shade)
        else:
            runs.append((column, 1, shade))
    return runs


def _decimal(value: float) -> str:
    """As the page writes it: four decimals, or three digits of a small number."""
    if value == -math.inf:
        return "masked"
    small = value != 0 and abs(value) < 0.01
    # Adding zero makes a zero of minus zero.
    return (f"{value:.3g}" if small else f"{value + 0.0:.4f}").replace("-", "\N{MINUS SIGN}")
