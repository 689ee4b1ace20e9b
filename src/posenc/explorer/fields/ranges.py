"""The ranges of numbers, and the places of their sliders."""

from __future__ import annotations

import math
from typing import Any

from posenc.explorer import recipes

DIM, HEADS = recipes.LARGEST["dim"], recipes.LARGEST["heads"]


def _whole(low: int, high: int, *, step: int = 1, unit: str = "") -> dict[str, Any]:
    """Whole numbers, each a place of the slider."""
    return {"min": low, "max": high, "step": step, "unit": unit}


def _grown(
    low: int, high: int, *, step: int = 1, stops: int | None = None, unit: str = ""
) -> dict[str, Any]:
    """Whole numbers, with about eight places of the slider to every doubling.

    Args:
        low: the smallest.
        high: the largest.
        step: between numbers that may be typed.
        stops: what all places of the slider but the ends are multiples of; `step` by default.
        unit: what is counted.
    """
    every = step if stops is None else stops
    places, at = [low], low // every * every
    while at < high:
        at += max(every, (1 << at.bit_length() >> 4) // every * every)
        places.append(min(at, high))
    return _whole(low, high, step=step, unit=unit) | {"stops": places}


def _real(
    low: float, high: float, *, stops: tuple[float, ...] = (), unit: str = ""
) -> dict[str, Any]:
    """Numbers with a fraction; the slider stops at round ones, twelve to every power of ten."""
    if not stops:
        powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        # From text, for 5 * 10 ** -1 is no 0.5 everywhere.
        every = (float(f"{digits}e{power}") for power in powers for digits in _ROUND)
        stops = (low, *(stop for stop in every if low < stop < high), high)
    return {"min": low, "max": high, "step": "any", "stops": list(stops), "unit": unit}


_ROUND = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9)
_LENGTH = _grown(16, 1_048_576, stops=16, unit="tokens")

RANGES: dict[str, dict[str, Any]] = {
    "dim": _grown(2, DIM, step=2, unit="features"),
    "sinusoidal.dim": _grown(2, DIM, stops=2, unit="features"),
    "learned.dim": _grown(1, DIM, stops=2, unit="features"),
    "sinusoidal_axes.dim": _grown(4, DIM, step=2, stops=4, unit="features"),
    "axial_rotary.dim": _grown(4, DIM, step=2, stops=4, unit="features"),
    "mixed_rotary.dim": _grown(4, DIM, step=4, unit="features"),
    "transformer_xl.dim": _grown(2, 512, step=2, unit="features"),
    "model_dim": _grown(2, DIM, step=2, unit="features"),
    "base": _real(1.0, 1e9),
    "heads": _whole(1, HEADS, unit="heads"),
    "offset": _whole(0, 64, unit="positions"),
    "scale_base": _real(1.0, 10_000.0),
    "fourier_features.scale": _real(0.01, 100.0),
    "axial_rotary.scale": _real(0.01, 100.0),
    "gamma": _real(0.01, 10.0),
    "center": _grown(0, 65_536, stops=64, unit="positions"),
    "octaves": _whole(1, 16, unit="octaves"),
    "length": _grown(1, 2048, unit="rows"),
    "factor": _real(1.0, 128.0),
    "exponent": _real(1.0, 16.0, stops=tuple(half / 2 for half in range(2, 33))),
    "buckets": _whole(4, 128, step=2, unit="buckets"),
    "max_distance": _grown(1, 1024, unit="positions"),
    "t5.max_distance": _grown(16, 1024, unit="positions"),
    "width": _grown(1, 64, unit="units"),
    "hidden": _grown(1, 1024, unit="units"),
    "threshold": _real(1.0, 8192.0, unit="positions"),
    "bias_factor": _real(1.0, 128.0),
    "original_length": _LENGTH,
    "beta_fast": _real(1.0, 128.0, unit="turns"),
    "beta_slow": _real(0.1, 32.0, unit="turns"),
    "low_frequency_factor": _real(0.1, 4.0, unit="turns"),
    "high_frequency_factor": _real(1.0, 128.0, unit="turns"),
    "mscale": _real(0.0, 2.0, stops=tuple(step / 20 for step in range(41))),
    "mscale_all_dim": _real(0.0, 2.0, stops=tuple(step / 20 for step in range(41))),
    "short_factors": _real(1.0, 128.0),
    "long_factors": _real(1.0, 128.0),
    "fraction": _real(0.0, 1.0, stops=tuple(step / 32 for step in range(33))),
}
"""By the keys of `Place`: what a picture can show, and a visitor may ask for."""
