"""How a table with a row for each patch of an image is read, and how it fits other images."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from posenc import Learned
from posenc.inspector.families import patch_grids
from posenc.inspector.families.shared import use
from posenc.inspector.reading import Use
from posenc.inspector.settings.config import Config

CLASS = "Row 0 is that of the class token."

RESIZED = {
    "fixed": "There is no rule for other sizes: images must be as large as the settings say.",
    "bicubic": "Other sizes: learned.resample(method='cubic').",
    "bicubic, antialiased": "Other sizes: learned.resample(method='cubic', antialias=True).",
    "bilinear": "Other sizes: learned.resample(method='linear').",
    "bilinear, antialiased": "Other sizes: learned.resample(method='linear', antialias=True).",
    "bilinear, corners aligned": (
        "Every size, by learned.resample(method='linear', corners='aligned')."
    ),
    "bilinear, zero border": (
        "Every size, by bilinear sampling at half-pixel centres where the cells beyond the border "
        "are zeros, so outer patches of larger images fade (grid_sample, padding_mode='zeros')."
    ),
    "bilinear, cropped": (
        "Other sizes: learned.resample(method='linear') to a square as long as the longer side, "
        "of which the upper left rectangle is kept, not squeezed."
    ),
    "nearest": (
        "Other sizes: cell i of n takes row or column floor(i * side / n) of the trained grid, "
        "and nothing is blended; at a few sizes float32 rounding picks a neighbour."
    ),
    "tiled": "Larger sizes: the trained grid is repeated like tiles, not stretched.",
    "bicubic, size + 0.1": (
        "Other sizes: bicubic with the scale factor (size + 0.1) / side, so each sampled place is "
        "a little off that of learned.resample."
    ),
    "bilinear, size + 0.1": (
        "Other sizes: bilinear with the scale factor (size + 0.1) / side along each axis that "
        "changes, so each sampled place is a little off that of learned.resample."
    ),
}
"""What each word for the resizing means."""

_ASKED = "That happens only when asked for with interpolate_pos_encoding=True."


@dataclass(frozen=True, kw_only=True)
class Table:
    """How some model types keep a row for each patch.

    Args:
        types: their names, with spaces between; none where a reader makes the table itself.
        resized: what happens at other image sizes: a key of the words above.
        grid: reads the grid of patches from the settings.
        prefix: rows before those of the patches; a word is the setting that says how many.
        suffix: rows after them, likewise.
        oblong: whether the trained grid may be resized when it is no square.
        asked: whether the table is resized only on request.
        switch: the setting that must be true for the table to exist.
        width: the setting with the features of a row.
        method: the setting whose word goes into the braces of `resized`.
        remarks: what else a port would get wrong.
    """

    types: str = ""
    resized: str = "fixed"
    grid: Callable[[Config], patch_grids.Grid] = patch_grids.over("image_size")
    prefix: int | str = 0
    suffix: int | str = 0
    oblong: bool = False
    asked: bool = False
    switch: str = ""
    width: str = "hidden_size"
    method: str = ""
    remarks: tuple[str, ...] = ()


def learned_grid(config: Config, table: Table, place: str = "patch embeddings") -> list[Use]:
    """The use of a table, or nothing where it is switched off."""
    if table.switch and not config.flag(table.switch):
        return []
    grid = table.grid(config)
    prefix = _rows(config, "prefix_rows", table.prefix)
    suffix = _rows(config, "suffix_rows", table.suffix)
    resized = _resizing(config, table)
    if resized != "fixed" and not table.oblong and len(set(grid)) > 1:
        config.find(
            "warning", "grid-not-square", "image_size", config.get("image_size"),
            f"makes a grid of {grid}, but the model resizes its table as if that were a square.",
            "Keep height and width equal, or all images as large as this.",
        )  # fmt: skip
    rows = prefix + math.prod(grid) + suffix
    asked = (_ASKED,) if table.asked else ()
    encoding = Learned(length=rows, dim=config.integer(table.width, required=True))
    remarks = (RESIZED[resized], *asked, *table.remarks)
    return [
        use(config, "learned grid", encoding, place=place, original_length=rows, remarks=remarks)
    ]


def _rows(config: Config, name: str, rows: int | str) -> int:
    """How many rows are not for patches, where the settings or the model's code say it."""
    if isinstance(rows, str):
        return config.integer(rows, name=name, at_least=0, required=True)
    return config.assume(name, rows)


def _resizing(config: Config, table: Table) -> str:
    """The word for what happens at other sizes."""
    resized = table.resized
    if table.method:
        resized = resized.format(config.word(table.method, required=True))
    if resized not in RESIZED:
        config.refuse(
            "absurd-value", table.method, config.get(table.method), "cannot resize a grid.",
            "Write bilinear or bicubic.",
        )  # fmt: skip
    return config.assume("resized", resized)
