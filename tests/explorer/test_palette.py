"""Colours keep their sign for every eye, on paper, and in the style sheet."""

import re

import numpy as np
import pytest

from posenc.explorer import palette
from posenc.explorer.page import HERE

STATIC = HERE / "static"

# Machado, Oliveira and Fernandes 2009, "A physiologically-based model for simulation of color
# vision deficiency", severity 1; acts on linear RGB.
SIGHT = {
    "full": np.eye(3),
    "protan": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deutan": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritan": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}


def _linear(colours):
    srgb = np.array([[int(c[i : i + 2], 16) / 255 for i in (1, 3, 5)] for c in colours])
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


def _oklab(linear):
    # Ottosson 2020, the matrices from linear sRGB.
    cones = np.cbrt(
        np.clip(linear, 0, 1)
        @ np.array(
            [
                [0.4122214708, 0.2119034982, 0.0883024619],
                [0.5363325363, 0.6806995451, 0.2817188376],
                [0.0514459929, 0.1073969566, 0.6299787005],
            ]
        )
    )
    return cones @ np.array(
        [
            [0.2104542553, 1.9779984951, 0.0259040371],
            [0.7936177850, -2.4285922050, 0.7827717662],
            [-0.0040720468, 0.4505937099, -0.8086757660],
        ]
    )


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("sight", SIGHT)
def test_sign_survives_colour_blindness(theme, sight):
    seen = _oklab(_linear(palette.colours(theme)) @ np.transpose(SIGHT[sight]))
    steps = np.arange(palette.STEPS // 4, palette.STEPS + 1)
    apart = np.linalg.norm(seen[palette.STEPS + steps] - seen[palette.STEPS - steps], axis=-1)
    assert apart.min() > 0.08  # four times what is just noticeable


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_sign_survives_grey(theme):
    colours = palette.colours(theme)
    assert len(colours) == 255
    assert all(re.fullmatch("#[0-9a-f]{6}", colour) for colour in colours)
    luminance = _linear(colours) @ [0.2126, 0.7152, 0.0722]
    lightness = 116 * np.cbrt(luminance) - 16
    assert lightness[-1] - lightness[0] > 25


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_style_sheet_has_the_ends_of_the_palette(theme):
    style = (STATIC / "style.css").read_text()
    colours = palette.colours(theme)
    blocks = re.findall(r":root(?:\[[^\]]*\])? \{([^}]*)\}", style)
    assert len(blocks) == 3  # light, dark by choice, dark by the system
    ours = blocks[:1] if theme == "light" else blocks[1:]
    assert all(f"--plus: {colours[-1]};" in b and f"--minus: {colours[0]};" in b for b in ours)
    assert blocks[1].split() == blocks[2].split()
