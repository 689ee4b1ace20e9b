"""Multiples of a copy against length, one panel a dtype and layout, as a matplotlib figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from posenc.bench.cases import DTYPES, LAYOUTS
from posenc.bench.result import OURS, Result

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Okabe and Ito's colours and four more, a marker each as a second cue; ours are whole lines, the
# others' are broken.
_COLOURS = (
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#56B4E9"),
    *("#E69F00", "#777777", "#7B3FB5", "#8B4513", "#7F7F00"),
)
_MARKERS = "os^DvPX*<>h"


def figure(result: Result) -> Figure:
    """Draw how long turning queries and keys takes beside copying them, at every length.

    Args:
        result: of a run.
    Returns:
        A matplotlib Figure; save it with `.savefig("name.png")` or "name.svg".
    Raises:
        ModuleNotFoundError: matplotlib is not installed.
        ValueError: nothing was turned in this run.
    """
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "a picture needs matplotlib: pip install 'posenc[plot]'"
        ) from error
    timings = [timing for timing in result.timings if timing.case.operation == "turn"]
    if not timings:
        raise ValueError("a picture needs a run in which queries and keys are turned.")
    dtypes = [d for d in DTYPES if any(timing.case.dtype == d for timing in timings)]
    layouts = [x for x in LAYOUTS if any(timing.case.layout == x for timing in timings)]
    drawing = Figure(figsize=(10, 1.2 + 3 * len(layouts)), layout="constrained", dpi=150)
    panels = drawing.subplots(len(layouts), len(dtypes), sharex=True, sharey=True, squeeze=False)
    names = list(dict.fromkeys(row.name for timing in timings for row in timing.rows))
    shown: dict[str, Any] = {}
    for panel_row, layout in zip(panels, layouts, strict=True):
        for axes, dtype in zip(panel_row, dtypes, strict=True):
            here = [t for t in timings if (t.case.layout, t.case.dtype) == (layout, dtype)]
            for number, name in enumerate(names):
                points = [(t.case.length, t.copies(name)) for t in here if t.copies(name)]
                if points:
                    shown[name] = _line(axes, points, name, number)
            axes.axhline(1.0, color="#999999", linewidth=0.8)
            axes.set(xscale="log", yscale="log", title=f"{dtype}, pairs {layout}")
    for axes in panels[-1]:
        lengths = sorted({timing.case.length for timing in timings})
        axes.set_xticks(lengths, labels=[f"{length:,}" for length in lengths])
        axes.set_xlabel("length")
        axes.xaxis.minorticks_off()
    for axes in panels[:, 0]:
        axes.yaxis.set_major_formatter("{x:g}")
    drawing.supylabel("copies of the same bytes")
    drawing.legend(
        shown.values(), shown.keys(), loc="outside lower center", ncols=4, frameon=False, fontsize=8
    )
    return drawing


def _line(axes: Any, points: list[tuple[int, float | None]], name: str, number: int) -> Any:
    lengths, copies = zip(*points, strict=True)
    (line,) = axes.plot(
        lengths,
        copies,
        color=_COLOURS[number % len(_COLOURS)],
        marker=_MARKERS[number % len(_MARKERS)],
        linestyle="-" if name.startswith(OURS) else "--",
        markersize=4,
    )
    return line
