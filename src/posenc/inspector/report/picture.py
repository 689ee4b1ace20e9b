"""The wavelengths of a model's pairs against the lengths it was made for, as a picture."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from posenc import evaluation
from posenc.frequencies import wavelengths
from posenc.inspector.reading import Reading, Use
from posenc.inspector.report.effect import number, printable
from posenc.inspector.report.stretching import trained_length
from posenc.inspector.report.turning import rotary_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Okabe and Ito's colours, dark enough on white, with a line style and a marker as further cues.
_LINES = (
    ("#0072B2", "-", "o"),
    ("#D55E00", "--", "s"),
    ("#009E73", "-.", "^"),
    ("#CC79A7", ":", "D"),
    ("#000000", (0, (5, 1)), "v"),
    ("#56B4E9", (0, (3, 1, 1, 1)), "P"),
)


_PATH = 40  # characters that a picture has room for


class _Curve(NamedTuple):
    """Wavelengths of one encoding, as it is and without its scaling, and what to call it."""

    label: str
    waves: Sequence[float]
    unscaled: Sequence[float]


def figure(*readings: Reading, context: int | None = None) -> Figure:
    """Draw how many tokens a turn of each pair takes, and the lengths to compare that with.

    Args:
        readings: what was read, one model or several beside each other.
        context: also show so many tokens.
    Returns:
        A matplotlib Figure; save it with `.savefig("name.png")` or "name.svg".
    Raises:
        ValueError: nothing in the models has pairs.
        ModuleNotFoundError: matplotlib is missing.
    """
    curves = _curves(readings)
    sources = [printable(_tail(reading.source)) for reading in readings]
    if not curves:
        raise ValueError(
            "--plot needs a model with pairs that turn (rotary or sinusoidal), and "
            f"{' and '.join(sources)} {'has' if len(sources) == 1 else 'have'} none."
        )
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError("--plot needs matplotlib: pip install 'posenc[plot]'") from error
    drawing = Figure(figsize=(8, 4.5), layout="constrained", dpi=150)
    axes = drawing.subplots()
    for curve, (colour, style, marker) in zip(curves, _LINES, strict=False):
        _draw(axes, curve, colour, style, marker)
    _draw_lengths(axes, _lengths(readings, context))
    axes.set(
        xlabel="pair",
        ylabel="tokens, or steps, that one turn takes",
        yscale="log",
    )
    legend = axes.legend(frameon=False, fontsize=8, loc="lower right")
    # A text is not to be read as a formula: names of files may hold dollar signs.
    title = "pairs above a line never finish a turn within that length"
    if len(sources) == 1:
        title = f"{sources[0]}: {title}"
    drawing.suptitle(title, fontsize=10)
    for words in (*drawing.texts, *legend.get_texts()):
        words.set_parse_math(False)
    return drawing


def _draw(axes: Any, curve: _Curve, colour: str, style: Any, marker: str) -> None:
    pairs = range(len(curve.waves))
    axes.plot(
        pairs,
        curve.waves,
        color=colour,
        linestyle=style,
        marker=marker,
        markersize=4,
        markevery=max(len(pairs) // 16, 1),
        label=curve.label,
    )
    if curve.unscaled != curve.waves:
        label = "  without its scaling"
        axes.plot(pairs, curve.unscaled, color=colour, linewidth=0.8, alpha=0.6, label=label)


def _curves(readings: Sequence[Reading]) -> list[_Curve]:
    """One for each different encoding; more than there are line styles cannot be told apart."""
    curves: dict[Any, _Curve] = {}
    for reading in readings:
        whose = f"{printable(_tail(reading.source))}, " if len(readings) > 1 else ""
        for part in reading.parts:
            for use in part.uses:
                waves = _waves(use)
                if waves and use.encoding not in curves:
                    where = " ".join(filter(None, (part.name, use.place, use.layer_type)))
                    label = f"{whose}{use.kind}: {printable(where)}"
                    curves[use.encoding] = _Curve(label, *waves)
    return list(curves.values())[: len(_LINES)]


def _tail(path: str) -> str:
    """The end of a path, which says most."""
    return path if len(path) <= _PATH else f"...{path[3 - _PATH :]}"


def _draw_lengths(axes: Any, lengths: Mapping[int, str]) -> None:
    """A line for each length and its name above it, or below where another line is close above."""
    rising = sorted(lengths)
    close = [after < 2 * length for length, after in zip(rising, rising[1:], strict=False)]
    for length, below, crowded in zip(rising, [*close, False], [False, *close], strict=True):
        axes.axhline(length, color="#555555", linewidth=0.8)
        axes.annotate(
            f"{lengths[length]} {number(length)}",
            (0.25 if below and crowded else 0, length),
            xycoords=("axes fraction", "data"),
            xytext=(4, -3 if below else 2),
            verticalalignment="top" if below else "baseline",
            textcoords="offset points",
            fontsize=8,
            color="#333333",
        )


def _waves(use: Use) -> tuple[Sequence[float], Sequence[float]] | None:
    """Wavelengths as they are, and without scaling; of axes the first one's; None without pairs."""
    spec = rotary_of(use.encoding)
    if spec is not None:
        return _shown(spec.frequencies_at(use.length)), _shown(spec.unscaled)
    turning = () if use.encoding is None else evaluation.frequencies(use.encoding)
    if turning and isinstance(turning[0], tuple):
        turning = turning[0]
    return (_shown(turning), _shown(turning)) if turning else None


def _shown(turning: Sequence[float]) -> list[float]:
    """Wavelengths; a pair that never turns leaves a gap."""
    return [wave if math.isfinite(wave) else math.nan for wave in wavelengths(tuple(turning))]


def _lengths(readings: Sequence[Reading], context: int | None) -> dict[int, str]:
    """The lengths that the uses name and the one that was asked for, each once."""
    lengths: dict[int, str] = {}
    for use in chain.from_iterable(readings):
        trained = trained_length(use)
        if _waves(use) is None or trained is None:
            continue
        lengths[trained] = "trained for"
        if use.length is not None and use.length > trained:
            lengths.setdefault(use.length, "stretched to")
    if context is not None:
        lengths.setdefault(context, "asked for")
    return lengths
