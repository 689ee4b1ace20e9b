"""How many rows and columns of patches a model's settings make of an image."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar

from posenc.inspector.settings.config import Config, Unfit, keep

Grid = tuple[int, ...]
Cells = TypeVar("Cells", bound=Grid)


def sides(config: Config, key: str) -> tuple[int, int]:
    """Height and width from a setting that is one number for both or a pair."""
    if not isinstance(config.get(key), list | tuple):
        side = config.integer(key, required=True)
        return side, side
    pair = config.integers(key, required=True)
    if len(pair) != 2:
        config.refuse(
            "wrong-type", key, list(pair), "must be one number or a height and a width.",
            "Write one number, or two in square brackets.",
        )  # fmt: skip
    return pair[0], pair[1]


def over(
    key: str, patch: str = "patch_size", *, width_first: bool = False
) -> Callable[[Config], tuple[int, int]]:
    """The grid of whole patches in an image whose size stands under `key`."""

    def grid(config: Config) -> tuple[int, int]:
        (height, width), (rows, columns) = sides(config, key), sides(config, patch)
        down, across = height // rows, width // columns
        cells = (across, down) if width_first else (down, across)
        return _cells(config, cells, key, patch)

    return grid


def stated(config: Config) -> None:
    """Remember the grid of images as large as the settings say, for a model that takes others too.

    A size that leaves no patch is an error in the settings, but takes nothing from its encoding.
    """
    if config.get("image_size") is None or config.get("patch_size") is None:
        return
    try:
        over("image_size")(config)
    except Unfit as unfit:
        keep(config.findings, unfit.finding)


def root(key: str) -> Callable[[Config], Grid]:
    """The square grid of so many cells."""

    def grid(config: Config) -> Grid:
        rows = config.integer(key, required=True)
        side = math.isqrt(rows)
        if side * side != rows:
            config.refuse(
                "absurd-value", key, rows, "must be a square number.",
                "Put the model's own value there, the square of a whole number.",
            )  # fmt: skip
        return config.derive("grid", (side, side), key)

    return grid


def square(key: str) -> Callable[[Config], Grid]:
    """The square grid with so many cells on a side."""

    def grid(config: Config) -> Grid:
        side = config.integer(key, required=True)
        return config.derive("grid", (side, side), key)

    return grid


def height_width(config: Config) -> Grid:
    """The grid whose height and width are settings of their own."""
    keys = "pos_emb_height", "pos_emb_width"
    grid = tuple(config.integer(key, required=True) for key in keys)
    if len(set(grid)) > 1:
        config.find(
            "warning", "grid-not-square", keys[1], grid[1],
            f"differs from `{keys[0]}`, which the model takes for both sides when it resizes.",
            f"Make it equal to `{keys[0]}`.",
        )  # fmt: skip
    return config.derive("grid", grid, *keys)


def spectrogram(config: Config) -> Grid:
    """Overlapping patches of a spectrogram: frequencies x times."""
    patch = config.integer("patch_size", required=True)
    axes = ("num_mel_bins", "frequency_stride"), ("max_length", "time_stride")
    grid = tuple(_overlapping(config, size, stride, patch) for size, stride in axes)
    keys = [key for axis in axes for key in axis]
    return _cells(config, grid, "patch_size", *keys)


def _overlapping(config: Config, size: str, stride: str, patch: int) -> int:
    room = config.integer(size, required=True) - patch
    return room // config.integer(stride, required=True) + 1


def tubelets(config: Config) -> Grid:
    """Frames x rows x columns of tubelets."""
    sizes = config.integer("num_frames", required=True), *sides(config, "image_size")
    parts = tubelet(config)
    grid = tuple(size // part for size, part in zip(sizes, parts, strict=True))
    return _cells(config, grid, "tubelet_size", "num_frames", "image_size")


def tubelet(config: Config) -> tuple[int, ...]:
    """Frames, height and width of a tubelet."""
    parts = config.integers("tubelet_size", required=True)
    if len(parts) != 3:
        config.refuse(
            "wrong-type", "tubelet_size", list(parts), "must be three whole numbers.",
            "Write frames, height and width in square brackets.",
        )  # fmt: skip
    return parts


def _cells(config: Config, grid: Cells, *keys: str) -> Cells:
    """A grid, unless there is nothing in it."""
    if any(cells < 1 for cells in grid):
        config.refuse(
            "absurd-value", keys[0], config.get(keys[0]),
            f"leaves no whole patch, together with {', '.join(keys[1:])}.",
            "Put the model's own value there.",
        )  # fmt: skip
    return config.derive("grid", grid, *keys)


def molmo2(config: Config) -> Grid:
    """Its number of rows follows from the image size unless it is given."""
    rows = config.integer("num_position_embeddings")
    if rows is not None:
        return config.derive("grid", (rows,), "num_position_embeddings")
    if config.get("image_size") is not None:
        return over("image_size")(config)
    side = config.assume("image_size", 378) // config.integer("patch_size", required=True)
    return _cells(config, (side, side), "patch_size", "image_size")
