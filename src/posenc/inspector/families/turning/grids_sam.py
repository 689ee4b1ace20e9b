"""Grids of SAM 2 and 3: windows and the whole image, and the frames of a video remembered."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from posenc.axial import AxialRotary
from posenc.inspector.families import patch_grids
from posenc.inspector.families.shared import Reader, head_dim
from posenc.inspector.families.turning import grids_settings
from posenc.inspector.reading import Use
from posenc.inspector.settings.config import Config


def _tower(config: Config) -> list[Use]:
    """SAM 3: most layers turn within a window, the others over an image shrunk to one."""
    layers = range(config.integer("num_hidden_layers", required=True))
    wide = config.integers("global_attn_indexes", at_least=0)
    if wide is None:
        wide = config.assume("global_attn_indexes", _GLOBAL_LAYERS, "global_attn_indexes")
    window = config.integer("window_size", required=True)
    shared = config.taken.copy()
    config.derive("grid", (window, window), "window_size")
    windowed = _use(
        config, 1.0, f"Coordinates are those within a window of {window} x {window} patches."
    )
    config.taken = shared
    # A size of two numbers is (width, height) here.
    rows, columns = patch_grids.over("image_size", width_first=True)(config)
    scale = config.derive("scale", window / columns, "window_size", "image_size", "patch_size")
    whole = _use(config, scale, f"The grid has {rows} rows and {columns} columns.")
    kinds = {
        "windowed": (windowed, tuple(n for n in layers if n not in wide)),
        "global": (whole, tuple(n for n in layers if n in wide)),
    }
    return [
        replace(use, layers=chosen, layer_type=layer_type)
        for layer_type, (use, chosen) in kinds.items()
        if chosen
    ]


_GLOBAL_LAYERS = (7, 15, 23, 31)  # transformers, Sam3ViTConfig


def _use(config: Config, scale: float, remark: str) -> Use:
    dim = head_dim(config, own="head_dim")
    grids_settings.check_width(config, dim, 4, "hidden_size")
    encoding = AxialRotary(
        dim=dim,
        axes=(1, 0),
        base=grids_settings.base(config),
        layout="interleaved",
        scale=scale,
    )
    return grids_settings.use(config, encoding, head_dim=dim, remarks=(remark,))


def _memory(config: Config, *, remarks: tuple[str, ...]) -> list[Use]:
    """The attention of a video's frame to itself and to the frames remembered."""
    keys = tuple(
        f"memory_attention_{key}"
        for key in ("hidden_size", "downsample_rate", "num_attention_heads")
    )
    width, rate, heads = (config.integer(key, required=True) for key in keys)
    dim = config.derive("head_dim", width // (rate * heads), *keys)
    grids_settings.check_width(config, dim, 4, keys[0])
    # The older spelling wins, because the class sets it last.
    older = config.number("memory_attention_rope_theta", name="base", above=0)
    encoding = AxialRotary(
        dim=dim, axes=(1, 0), base=older or grids_settings.base(config), layout="interleaved"
    )
    _memory_grid(config)
    place = "queries and keys of the memory attention"
    return [grids_settings.use(config, encoding, place=place, head_dim=dim, remarks=remarks)]


def _memory_grid(config: Config) -> None:
    key = "memory_attention_rope_feat_sizes"
    if config.get(key) is None:
        columns, rows = config.assume(key, (64, 64), key)
    else:
        columns, rows = patch_grids.sides(config, key)
    config.derive("grid", (rows, columns), key)


_POINTERS = "Object pointers, which are the last keys, are not turned."
_SAME_GRID = (
    "The grid has memory_attention_rope_feat_sizes columns and rows; each remembered frame turns "
    "as the present one does.",
    _POINTERS,
)
_TWO_GRIDS = (
    "The grid has memory_attention_rope_feat_sizes columns and rows, but remembered frames have "
    "memory_attention_rope_k_sizes, counted from 0 and not stretched to match.",
    "Of each remembered frame only the last keys, its grid, are turned.",
    _POINTERS,
)


READERS: dict[str, Reader] = {
    "edgetam_video": partial(_memory, remarks=_TWO_GRIDS),
    **dict.fromkeys(("sam2_video", "sam3_tracker_video"), partial(_memory, remarks=_SAME_GRID)),
    "sam3_vit_model": _tower,
}
