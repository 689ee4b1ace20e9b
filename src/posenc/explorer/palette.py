"""Colours for numbers from minus one to one, whose sign survives colour blindness and print."""

from __future__ import annotations

from typing import Literal

import numpy as np

Theme = Literal["light", "dark"]

STEPS = 127
"""Colours on each side of zero."""

# OKLab lightness, green to red, blue to yellow, at -1, -1/2, 0, 1/2 and 1. The positive end is
# the lighter one by a quarter of the whole scale: a grey copy still tells it from the negative.
_ANCHORS: dict[Theme, list[tuple[float, float, float]]] = {
    "light": [
        (0.36, 0.020, -0.130),
        (0.66, -0.005, -0.085),
        (0.965, 0.000, 0.004),
        (0.80, 0.060, 0.105),
        (0.62, 0.105, 0.125),
    ],
    "dark": [
        (0.62, -0.020, -0.150),
        (0.44, -0.005, -0.095),
        (0.235, 0.000, -0.006),
        (0.58, 0.060, 0.085),
        (0.90, 0.035, 0.125),
    ],
}


def colours(theme: Theme) -> list[str]:
    """The colours of -1 to 1 in 255 steps, as the page's canvas takes them.

    colours[round(127 * value) + 127]

    Args:
        theme: "light" or "dark".
    Returns:
        255 texts of the form "#rrggbb"; number 127 is zero.
    Example:
        >>> len(colours("light")), colours("light")[127]
        (255, '#f4f3f0')
    """
    anchors = np.asarray(_ANCHORS[theme])
    at = np.linspace(0, len(anchors) - 1, 2 * STEPS + 1)
    lab = [np.interp(at, range(len(anchors)), channel) for channel in anchors.T]
    rgb = np.round(255 * _srgb(np.stack(lab, axis=-1))).astype(int)
    return [f"#{r:02x}{g:02x}{b:02x}" for r, g, b in rgb.tolist()]


def _srgb(lab: np.ndarray) -> np.ndarray:
    """OKLab as sRGB between 0 and 1. Source: Ottosson 2020, "A perceptual color space"."""
    cones = lab @ np.asarray(
        [
            [1.0, 1.0, 1.0],
            [0.3963377774, -0.1055613458, -0.0894841775],
            [0.2158037573, -0.0638541728, -1.2914855480],
        ]
    )
    linear = cones**3 @ np.asarray(
        [
            [4.0767416621, -1.2684380046, -0.0041960863],
            [-3.3077115913, 2.6097574011, -0.7034186147],
            [0.2309699292, -0.3413193965, 1.7076147010],
        ]
    )
    linear = np.clip(linear, 0, 1)
    return np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
