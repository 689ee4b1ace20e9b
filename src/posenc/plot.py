"""Pictures of an encoding: waves, matrix, similarity and decay, as matplotlib figures."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from posenc import _checks, evaluation, spec

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Picture = Literal["waves", "matrix", "similarity", "decay"]

_LONGEST = 4096  # beyond it no pixel is left for a position
# Both ends differ in lightness as well as in hue, so the sign survives print and colour blindness.
_SIGNED = "PuOr_r"
_UNSIGNED = "cividis"
# Okabe and Ito's colours, dark enough on white, with a line style each as a second cue.
_LINES = (
    ("#0072B2", "-"),
    ("#D55E00", "--"),
    ("#009E73", "-."),
    ("#CC79A7", ":"),
    ("#000000", (0, (5, 1))),
    ("#56B4E9", (0, (3, 1, 1, 1))),
    ("#E69F00", (0, (1, 1))),
    ("#555555", (0, (8, 2))),
)


def figure(encoding: Any, picture: Picture = "matrix", *, length: int = 128) -> Figure:
    """Draw one picture of an encoding.

    waves        features (or cosines of pairs, or the bias of heads) against position
    matrix       one row a position, one column a feature; of a bias, queries against keys
    similarity   dot product of any two positions; of a bias, the bias of the first heads
    decay        the same against the gap alone

    Args:
        encoding: any encoding that needs no trained weights.
        picture: "waves", "matrix", "similarity" or "decay".
        length: how many positions to draw, counted from 0.
    Returns:
        A matplotlib Figure; save it with `.savefig("name.png")` or "name.svg".
    Raises:
        ModuleNotFoundError: matplotlib is not installed.
        TypeError: `encoding` is no encoding, or needs trained weights.
        ValueError: `picture` is unknown, or `length` below 2 or too large to be drawn.
    Example:
        >>> from posenc import Sinusoidal
        >>> figure(Sinusoidal(dim=16), "waves", length=50).axes[0].get_xlabel()
        'position'
    """
    _checks.one_of("picture", picture, _DRAW)
    _checks.integer("length", length, at_least=2)
    if length > _LONGEST:
        raise ValueError(f"`length` must be at most {_LONGEST} to be drawn; got length={length}.")
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "posenc.plot needs matplotlib: pip install 'posenc[plot]'"
        ) from error
    drawing = Figure(figsize=(8, 4.5), layout="constrained", dpi=150)
    _DRAW[picture](drawing, encoding, length)
    drawing.suptitle(f"{_title(encoding)}: {picture}", fontsize=11)
    return drawing


def _waves(drawing: Figure, encoding: Any, length: int) -> None:
    axes = drawing.subplots()
    positions = np.arange(length)
    if evaluation.family(encoding) == "bias":
        _bias_curves(axes, encoding, length)
        return
    rows = evaluation.rows(encoding, positions)
    columns = np.unique(np.linspace(0, rows.shape[1] - 1, min(6, rows.shape[1])).astype(int))
    for column, (colour, style) in zip(columns, _LINES, strict=False):
        axes.plot(positions, rows[:, column], color=colour, linestyle=style, label=f"{column}")
    axes.set(xlabel="position", ylabel="value")
    axes.legend(title="feature", frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))


def _matrix(drawing: Figure, encoding: Any, length: int) -> None:
    if evaluation.family(encoding) == "bias":
        _similarity(drawing, encoding, length)
        return
    rows = evaluation.rows(encoding, np.arange(length))
    _heat(drawing, drawing.subplots(), rows, xlabel="feature", ylabel="position", label="value")


def _similarity(drawing: Figure, encoding: Any, length: int) -> None:
    positions = np.arange(length)
    if evaluation.family(encoding) == "bias":
        bias = evaluation.bias(encoding, positions, positions)
        heads = np.unique(np.linspace(0, len(bias) - 1, min(3, len(bias))).astype(int))
        for head, axes in zip(heads, np.atleast_1d(drawing.subplots(1, len(heads))), strict=True):
            axes.set_title(f"head {head}", fontsize=9)
            _heat(drawing, axes, bias[head], xlabel="key", ylabel="query", label="bias")
        return
    rows = evaluation.rows(encoding, positions)
    _heat(
        drawing,
        drawing.subplots(),
        rows @ rows.T,
        xlabel="position",
        ylabel="position",
        label="dot product",
    )


def _decay(drawing: Figure, encoding: Any, length: int) -> None:
    axes = drawing.subplots()
    if evaluation.family(encoding) == "bias":
        _bias_curves(axes, encoding, length)
        return
    # For both families rows(p) . rows(q) depends on p - q alone, so one row tells all.
    rows = evaluation.rows(encoding, np.arange(length))
    axes.plot(np.arange(length), rows @ rows[0], color=_LINES[0][0])
    axes.axhline(0, color="#999999", linewidth=0.8)
    axes.set(xlabel="gap between two positions", ylabel="dot product")


def _bias_curves(axes: Axes, encoding: Any, length: int) -> None:
    last = np.asarray([length - 1])  # this query sees every key
    bias = evaluation.bias(encoding, last, np.arange(length))[:, 0, ::-1]
    heads = np.unique(np.linspace(0, len(bias) - 1, min(len(_LINES), len(bias))).astype(int))
    for head, (colour, style) in zip(heads, _LINES, strict=False):
        axes.plot(np.arange(length), bias[head], color=colour, linestyle=style, label=f"{head}")
    axes.set(xlabel="how far back the key lies", ylabel="bias")
    axes.legend(title="head", frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))


def _heat(
    drawing: Figure, axes: Axes, values: np.ndarray, *, xlabel: str, ylabel: str, label: str
) -> None:
    shown = values[np.isfinite(values)]
    low, high = (float(shown.min()), float(shown.max())) if shown.size else (0.0, 1.0)
    if low < 0 < high:
        high = max(-low, high)
        low = -high
    image = axes.imshow(
        np.where(np.isfinite(values), values, math.nan),
        cmap=_SIGNED if low < 0 < high else _UNSIGNED,
        vmin=low,
        vmax=high,
        aspect="auto",
        interpolation="nearest",
    )
    axes.set(xlabel=xlabel, ylabel=ylabel)
    drawing.colorbar(image, ax=axes, label=label)


def _title(encoding: Any) -> str:
    text = spec.to_text(encoding)
    return text if len(text) <= 90 else text[:87] + "..."


_DRAW: dict[str, Callable[[Figure, Any, int], None]] = {
    "waves": _waves,
    "matrix": _matrix,
    "similarity": _similarity,
    "decay": _decay,
}
