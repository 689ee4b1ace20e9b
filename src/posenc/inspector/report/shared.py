"""Rows of a report that turning pairs and waves share: base, wavelengths, precision."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from posenc import frequencies
from posenc.inspector.reading import Use
from posenc.inspector.report import narrow
from posenc.inspector.report.effect import Effect, counted, number, ranges
from posenc.inspector.report.facts import unit as unit_of
from posenc.inspector.report.stretching import trained_length, window_of


def base(value: float, spacing: str = "paper") -> Effect:
    """What the frequencies are powers of."""
    ends = ", reached by the slowest wave" if spacing == "endpoint" else ""
    return Effect(name="base", sentence=f"{number(value)}{ends}", data={"base": value})


def shares(spec: Any) -> Effect:
    """How many features go with each axis of the positions."""
    told = ", ".join(
        f"{width} with axis {axis}" for axis, width in zip(spec.axes, spec.shares, strict=True)
    )
    return Effect(
        name="features",
        sentence=f"{told} (of {spec.dim})",
        data={"axes": list(spec.axes), "shares": list(spec.shares), "width": spec.dim},
    )


def wavelengths(turning: Sequence[float], unit: str) -> Effect:
    """How far the fastest and the slowest pair need for a turn."""
    waves = [wave for wave in frequencies.wavelengths(tuple(turning)) if math.isfinite(wave)]
    still = [k for k, w in enumerate(turning) if not w]
    if not waves:
        return Effect(name="wavelengths", sentence="no pair turns", data={"still": len(still)})
    sentence = f"one turn takes {_wave(waves[0])} to {_wave(waves[-1])} {unit}"
    if still:
        sentence += f"; pairs {ranges(still)} do not turn at all"
    return Effect(
        name="wavelengths",
        sentence=sentence,
        data={"first": waves[0], "last": waves[-1], "still": len(still)},
    )


def _wave(wave: float) -> str:
    return number(round(wave)) if wave >= 1000 else f"{wave:.4g}"


def narrowly(use: Use, turning: Sequence[float]) -> Iterator[Effect]:
    """What a port would lose that forms positions, frequencies or angles narrowly."""
    length = use.length or trained_length(use)
    if length is None:
        return
    apart, moved = narrow.distinct(length), narrow.position_error(length)
    # Scores know the distance alone, so a frequency that is off counts up to the window.
    errors = narrow.frequency_errors(turning, min(length, window_of(use) or length))
    lost, single = narrow.lost(errors), narrow.float32_error(turning, length)
    kept = f"all {number(length)} would stay apart"
    if moved:
        kept = f"{number(apart)} of {number(length)} would stay apart, up to "
        kept += f"{counted(moved, unit_of(use))} off"
    pairs = f"{lost} of {len(turning)} pairs" if lost else "no pair"
    yield Effect(
        name="in bfloat16",
        sentence=f"positions: {kept}; frequencies: {pairs} off by a quarter turn or more",
        data={
            "length": length,
            "distinct_positions": apart,
            "position_error": moved,
            "angle_error": _finite(max(errors, default=0.0)),
            "pairs_lost": lost,
        },
    )
    off = f"are off by up to {single:.1g} radians"
    if not math.isfinite(single):
        off = "are larger than any number it has"
    yield Effect(
        name="in float32",
        sentence=f"the last angles {off}",
        data={"length": length, "angle_error": _finite(single)},
    )


def _finite(error: float) -> float | None:
    return error if math.isfinite(error) else None
