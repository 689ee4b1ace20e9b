"""Rotary embeddings on grids: what a model's own module and apply function make of basis vectors.

Every vector of a basis is turned at every cell, by the model and by posenc: angles, direction,
pairs and the order of axes are compared at once. A vision tower is built small and runs up to its
rotary module, so the coordinates are its own; the module of the default settings gets the same.
All coordinates are small: transformers multiplies in float32, which at n is off by n / 2^24.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from transformers import PreTrainedModel

from oracles import Outcome, built, config_class, difference, modeling, read
from posenc import grids, positions
from posenc.inspector.reading import Use

NOT_YET: dict[str, str] = {
    "vjepa2": "Its formula is no rotation: the two features of a pair turn by different angles.",
    "esmfold2": "Its axes have two bases, and AxialRotary has one for all of them.",
}

_GRIDS = ((3, 4), (5, 2))
_BLOCK_GRIDS = ((4, 6), (6, 2))  # for patches in blocks of 2 x 2

# Each cell's basis vectors after turning: cells, basis, features.
Turned = torch.Tensor
# What one comparison needs: the reading, the model's result, and where the cells stand.
Compared = tuple[Use, Turned, np.ndarray]


def _uses(model_type: str, **changes: Any) -> list[Use]:
    """The encodings that the type has itself, not in the parts inside it."""
    (part,) = (part for part in read(model_type, **changes).parts if not part.name)
    return [use for use in part.uses if use.kind in ("axial rotary", "learned rotary")]


def _outcome(how: str, compared: list[Compared]) -> Outcome:
    return Outcome(
        kind=compared[0][0].kind,
        layout=compared[0][0].encoding.layout,
        how=how,
        difference=max(difference(_ours(use, cells), theirs) for use, theirs, cells in compared),
    )


def _ours(use: Use, cells: np.ndarray) -> np.ndarray:
    basis = np.eye(use.encoding.dim, dtype=np.float32)[:, None].repeat(len(cells), axis=1)
    return use.encoding.rotate(basis, cells).swapaxes(0, 1)


def _cells(use: Use, rows: int, columns: int) -> np.ndarray:
    return positions.grid(rows, columns) + use.first_position


def _block_cells(use: Use, rows: int, columns: int) -> np.ndarray:
    """The cells in blocks of 2 x 2."""
    cells = _cells(use, rows, columns).reshape(rows // 2, 2, columns // 2, 2, 2)
    return cells.swapaxes(1, 2).reshape(-1, 2)


# How each apply function wants its arguments. Queries and keys must come out the same.


def _basis(cells: int, dim: int) -> torch.Tensor:
    return torch.eye(dim).repeat(cells, 1, 1)


def _both(queries: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    assert torch.equal(queries, keys)
    return queries


def _heads_last(module: Any, table: Any, dim: int) -> Turned:
    """For queries of shape (cells, heads, features)."""
    basis = _basis(len(table[0]), dim)
    return _both(*module.apply_rotary_pos_emb_vision(basis, basis, *table))


def _heads_first(apply: Callable[..., Any], table: Any, dim: int, **options: Any) -> Turned:
    """For queries of shape (batch, heads, cells, features)."""
    basis = _basis(table[0].shape[-2], dim).transpose(0, 1)[None]
    return _both(*apply(basis, basis, *table, **options))[0].transpose(0, 1)


def _pixtral(module: Any, table: Any, dim: int) -> Turned:
    return _heads_first(module.apply_rotary_pos_emb, table, dim, unsqueeze_dim=0)


def _gemma4(module: Any, table: Any, dim: int) -> Turned:
    cells = table[0].shape[1]
    two_axes = torch.zeros(1, cells, 2)
    return module.apply_multidimensional_rope(_basis(cells, dim)[None], *table, two_axes)[0]


# Vision towers


class _Enough(Exception):
    """Raised where a network has shown what we wanted to see."""


def _rotary(network: torch.nn.Module) -> list[torch.nn.Module]:
    return [part for part in network.modules() if type(part).__name__.endswith("RotaryEmbedding")]


def _seen(network: torch.nn.Module, patches: torch.Tensor, others: dict) -> tuple[tuple, Any]:
    """What the rotary module of a tower was called with, and what it gave."""
    calls = []

    def show(_: Any, arguments: tuple, output: Any) -> None:
        calls.append((arguments, output))
        raise _Enough

    (rotary,) = _rotary(network)
    hook = rotary.register_forward_hook(show)
    with contextlib.suppress(_Enough):
        network(patches, **others)
    hook.remove()
    return calls[0]


_SMALL = {
    "hidden_size": 64,
    "embed_dim": 64,
    "adapter_in_dim": 64,
    "intermediate_size": 8,
    "num_heads": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
    "head_dim": 32,
    "depth": 1,
    "num_hidden_layers": 1,
}


def _small(model_type: str) -> dict[str, Any]:
    """Settings of a small tower, with another width of heads and another base than by default."""
    known = vars(built(model_type))
    changes = {key: value for key, value in _SMALL.items() if key in known}
    if model_type == "dots3_note_vision_encoder":
        changes["per_layer_config"] = {}  # by default it names layers that a small tower lacks
    return changes | {"rope_parameters": {"rope_theta": 300.0}}


def _tower(model_type: str, **changes: Any) -> torch.nn.Module:
    """The network of a model type that has a rotary module inside."""
    module, config = modeling(model_type), built(model_type, **changes)
    networks = (
        network(config)
        for network in vars(module).values()
        if inspect.isclass(network)
        and issubclass(network, PreTrainedModel)
        and network.__module__ == module.__name__
        and network.config_class is config_class(model_type)
    )
    return next(network for network in networks if _rotary(network))


def _flat(config: Any, rows: int, columns: int) -> tuple[torch.Tensor, dict]:
    """Flat patches, as most towers take them."""
    frames = getattr(config, "temporal_patch_size", getattr(config, "patch_temporal", 1))
    patches = torch.zeros(rows * columns, 3 * frames * config.patch_size**2)
    return patches, {"grid_thw": torch.tensor([[1, rows, columns]])}


def _with_merge_sizes(config: Any, rows: int, columns: int) -> tuple[torch.Tensor, dict]:
    patches, others = _flat(config, rows, columns)
    return patches, others | {"merge_sizes": torch.tensor([2])}


def _square(config: Any, rows: int, columns: int) -> tuple[torch.Tensor, dict]:
    """Patches as little images."""
    patches, others = _flat(config, rows, columns)
    return patches.reshape(-1, 3, config.patch_size, config.patch_size), others


def _square_batch(config: Any, rows: int, columns: int) -> tuple[torch.Tensor, dict]:
    patches, others = _square(config, rows, columns)
    return patches[None], others


def _image(config: Any, rows: int, columns: int) -> tuple[torch.Tensor, dict]:
    return torch.zeros(1, 3, rows * config.patch_size, columns * config.patch_size), {}


def _merged(config: Any, rows: int, columns: int) -> tuple[torch.Tensor, dict]:
    """An image for each block of 2 x 2 patches."""
    side = 2 * config.patch_size
    patches = torch.zeros(rows * columns // 4, side, side, 3)
    return patches, {"image_grid_thw": torch.tensor([[1, rows // 2, columns // 2]])}


def _located(config: Any, rows: int, columns: int) -> tuple[torch.Tensor, dict]:
    """Patches with their places, as Gemma 4's image processor gives them: (column, row)."""
    places = torch.from_numpy(positions.grid(rows, columns)[None, :, ::-1].copy())
    patches = torch.zeros(1, rows * columns, 3 * config.patch_size**2)
    return patches, {"pixel_position_ids": places}


def _towers_check(
    model_type: str,
    *,
    inputs: Callable[[Any, int, int], tuple[torch.Tensor, dict]] = _flat,
    apply: Callable[[Any, Any, int], Turned] = _heads_last,
    cells: Callable[[Use, int, int], np.ndarray] = _block_cells,
) -> list[Outcome]:
    module = modeling(model_type)
    changes = _small(model_type)
    network = _tower(model_type, **changes)
    by_default = type(_rotary(network)[0])(built(model_type))
    (small,), (default,) = _uses(model_type, **changes), _uses(model_type)
    compared = []
    for shape in _BLOCK_GRIDS if cells is not _cells else _GRIDS:
        arguments, table = _seen(network, *inputs(network.config, *shape))
        for use, own in (small, table), (default, by_default(*arguments)):
            turned = apply(module, own, use.encoding.dim)
            compared.append((use, turned, cells(use, *shape)))
    grid = "4 x 6 and 6 x 2" if cells is not _cells else "3 x 4 and 5 x 2"
    how = f"basis vectors turned at each cell of {grid} patches, in its own order"
    return [_outcome(how, compared)]


def _after_class_token(use: Use, rows: int, columns: int) -> np.ndarray:
    return np.concatenate([np.zeros((1, 2), int), _block_cells(use, rows, columns)])


def _frames(use: Use, rows: int, columns: int) -> np.ndarray:
    """The cells of two frames, in blocks, with the number of their frame first."""
    cells = _block_cells(use, rows, columns)
    return np.concatenate([np.insert(cells, 0, frame, axis=1) for frame in (0, 1)])


def _video(config: Any, rows: int, columns: int) -> tuple[torch.Tensor, dict]:
    patches, _ = _flat(config, rows, columns)
    return patches.repeat(2, 1), {"grid_thw": torch.tensor([[2, rows, columns]])}


_TOWERS: dict[str, dict[str, Any]] = {
    "cohere_compass_vision": {},
    "dots3_note_vision_encoder": {},
    "ernie4_5_vl_moe_vision": {},
    "exaone4_5_vision": {},
    "gemma4_vision": {"inputs": _located, "apply": _gemma4, "cells": _cells},
    "glm4v_moe_vision": {},
    "glm4v_vision": {},
    "glm5_next_vision": {},
    "glm_ocr_vision": {},
    "inkling2_vision": {"inputs": _merged, "cells": _after_class_token},
    "kimi_k25_vision": {"inputs": _square, "cells": _cells},
    "lfm3_vl_vision": {},
    "minimax_m3_vl_vision": {"inputs": _video, "cells": _frames},
    "mlcd": {"inputs": _image, "cells": _cells},
    "mlcd_vision_model": {"inputs": _image, "cells": _cells},
    "muse_glimmer_vision": {"cells": _cells},
    "muse_spark_vision": {"cells": _cells},
    "paddleocr_vl_vision": {"inputs": _square_batch, "cells": _cells},
    "pixtral": {"inputs": _image, "apply": _pixtral, "cells": _cells},
    "qwen2_5_omni_vision_encoder": {},
    "qwen2_5_vl_vision": {},
    "qwen2_vl_vision": {},
    "qwen3_5_moe_vision": {},
    "qwen3_5_vision": {},
    "qwen3_omni_moe_vision_encoder": {},
    "qwen3_vl_moe_vision": {},
    "qwen3_vl_vision": {},
    "qwen4_exp_vision": {},
    "step3p5_vision": {"inputs": _image, "cells": _cells},
    "video_llama_3_vision": {"inputs": _with_merge_sizes},
}


# Model types with a reader of their own


def _class(model_type: str, ending: str) -> Any:
    """The class of a model type's modeling file whose name ends so."""
    found = vars(modeling(model_type)).items()
    return next(value for name, value in found if name.endswith(ending))


def _llama4() -> list[Outcome]:
    compared = []
    for changes in (
        {"image_size": 56, "hidden_size": 64, "num_attention_heads": 2, "rope_theta": 300.0},
        {"image_size": 56},
    ):
        (use,) = _uses("llama4_vision_model", **changes)
        module = modeling("llama4_vision_model")
        table = module.Llama4VisionRotaryEmbedding(built("llama4_vision_model", **changes))(
            torch.zeros(1)
        )
        basis = _basis(17, use.encoding.dim)[None]
        turned = _both(*module.vision_apply_rotary_emb(basis, basis, table))[0]
        cells = np.concatenate([_cells(use, 4, 4), np.zeros((1, 2), int)])
        compared.append((use, turned, cells))
    how = "basis vectors turned at each cell of 4 x 4 patches (it must be square), and behind them"
    return [_outcome(how, compared)]


def _centred(model_type: str, **changes: Any) -> list[Outcome]:
    module = modeling(model_type)
    ending = "RotaryEmbedding" if model_type == "eomt_dinov3" else "RopePositionEmbedding"
    compared = []
    for chosen in changes, {}:
        (use,) = _uses(model_type, **chosen)
        config = built(model_type, **chosen)
        rotary = _class(model_type, ending)(config).eval()
        for rows, columns in _GRIDS:
            side = config.patch_size
            table = rotary(torch.zeros(1, 3, rows * side, columns * side))
            # A class token and a register before the patches.
            basis = _basis(2 + rows * columns, use.encoding.dim).transpose(0, 1)[None]
            turned = _both(*module.apply_rotary_pos_emb(basis, basis, *table))[0].transpose(0, 1)
            cells = np.concatenate([np.zeros((2, 2)), grids.centres(rows, columns)])
            compared.append((use, turned, cells))
    how = "basis vectors turned at each cell of 3 x 4 and 5 x 2 patches, behind two other tokens"
    return [_outcome(how, compared)]


def _sam3() -> list[Outcome]:
    # Width before height: 4 columns, 3 rows.
    small = {
        "hidden_size": 64,
        "num_attention_heads": 2,
        "num_hidden_layers": 2,
        "intermediate_size": 8,
        "global_attn_indexes": [1],
        "image_size": [56, 42],
        "window_size": 3,
        "rope_parameters": {"rope_theta": 300.0},
    }
    compared = []
    for changes, sides in (
        (small, {"windowed": (3, 3), "global": (3, 4)}),
        (
            {},
            {"windowed": (24, 24), "global": (72, 72)},
        ),
    ):
        config = built("sam3_vit_model", **changes)
        for use in _uses("sam3_vit_model", **changes):
            compared.append(_sam3_compared(config, use, sides[use.layer_type]))
    how = "basis vectors turned in windows of 3 x 3, and in an image of 3 x 4"
    return [_outcome(how, compared)]


def _sam3_compared(config: Any, use: Use, sides: tuple[int, int]) -> Compared:
    module = modeling("sam3_vit_model")
    windowed = use.layer_type == "windowed"
    for layer in use.layers:
        assert windowed == (layer not in config.global_attn_indexes)
    own = module.Sam3ViTLayer.precompute_positions(config, config.window_size * windowed)
    cells = positions.grid(*sides)
    near = (cells < 5).all(axis=1)
    table = module.Sam3ViTRotaryEmbedding(config)(torch.zeros(1), own[near])
    turned = _heads_first(module.apply_rotary_pos_emb_2d, table, use.encoding.dim)
    return use, turned, cells[near]


def _memory(model_type: str) -> list[Outcome]:
    """Queries on a grid of 3 x 4; two remembered frames, and a pointer, as keys."""
    compared = []
    for changes in _MEMORY_CHANGES:
        (use,) = _uses(model_type, **changes)
        config = built(model_type, **changes)
        config.memory_attention_rope_feat_sizes = [4, 3]
        own = _class(model_type, "MemoryAttention").precompute_positions(config)
        table = _class(model_type, "VisionRotaryEmbedding")(config)(torch.zeros(1), own)
        basis = _basis(12, use.encoding.dim).transpose(0, 1)[None]
        keys = torch.cat([basis, basis, basis[..., :1, :]], dim=-2)
        queries, keys = modeling(model_type).apply_rotary_pos_emb_2d(
            basis, keys, *table, num_k_exclude_rope=1, repeat_freqs_k=True
        )
        cells = _cells(use, 3, 4)
        pointer = np.zeros((1, 2), int)
        compared.append((use, queries[0].transpose(0, 1), cells))
        compared.append((use, keys[0].transpose(0, 1), np.concatenate([cells, cells, pointer])))
    return [_outcome("basis vectors turned at each cell of 3 x 4, as queries and keys", compared)]


_MEMORY_CHANGES = (
    {"memory_attention_hidden_size": 64, "memory_attention_rope_theta": 300.0},
    {"memory_attention_num_attention_heads": 2, "memory_attention_downsample_rate": 2},
    {},
)


def _edgetam() -> list[Outcome]:
    """Queries on a grid of 3 x 4; two remembered frames of 5 x 2, and a pointer, as keys."""
    module = modeling("edgetam_video")
    compared = []
    for changes in _MEMORY_CHANGES:
        (use,) = _uses("edgetam_video", **changes)
        config = built("edgetam_video", **changes)
        config.memory_attention_rope_feat_sizes = [4, 3]
        config.memory_attention_rope_k_sizes = [2, 5]
        own, own_keys = (
            module.EdgeTamVideoMemoryAttention.precompute_positions(config, is_key=is_key)
            for is_key in (False, True)
        )
        rotary = module.EdgeTamVideoVisionRotaryEmbedding(config)
        table, key_table = rotary(torch.zeros(1), own), rotary(torch.zeros(1), own_keys)
        basis = _basis(12, use.encoding.dim).transpose(0, 1)[None]
        # Each frame has one key without a place before its grid.
        keys = basis[..., :1, :].repeat(1, 1, 2 * 11 + 1, 1)
        queries, keys = module.apply_rotary_pos_emb_2d_cross_attn(
            basis, keys, *table, *key_table, num_k_exclude_rope=1, repeat_freqs_k=2
        )
        own = _both(*module.apply_rotary_pos_emb_2d_self_attn(basis, basis, *table))
        cells, nowhere = _cells(use, 3, 4), np.zeros((1, 2), int)
        frame = np.concatenate([nowhere, _cells(use, 5, 2)])
        compared += [
            (use, queries[0].transpose(0, 1), cells),
            (use, own[0].transpose(0, 1), cells),
            (use, keys[0].transpose(0, 1), np.concatenate([frame, frame, nowhere])),
        ]
    how = "basis vectors turned at each cell of 3 x 4 (queries) and 5 x 2 (keys)"
    return [_outcome(how, compared)]


def _neomme() -> list[Outcome]:
    compared = []
    for changes in (
        {},
        {"rope_theta": 300.0, "head_dim": 32},
        {
            "num_hidden_layers": 3,
            "layer_types": ["full_attention", "sliding_attention", "full_attention"],
            "rope_parameters": {
                "full_attention": {"rope_theta": 50.0, "partial_rotary_factor": 0.5}
            },
        },
    ):
        config = built("neomme", **changes)
        module = modeling("neomme")
        rotary = module.NeoMMERotaryEmbedding(config)
        for use in _uses("neomme", **changes):
            assert all(config.layer_types[layer] == use.layer_type for layer in use.layers)
            assert len(use.layers) == config.layer_types.count(use.layer_type)
            for shape in _GRIDS:
                cells = _cells(use, *shape)
                own = torch.from_numpy(cells.T[:, None].copy())
                table = rotary(torch.zeros(1), own, use.layer_type)
                turned = _heads_first(module.apply_rotary_pos_emb, table, use.encoding.dim)
                compared.append((use, turned, cells))
    how = "basis vectors turned at each cell of 3 x 4 and 5 x 2, in both kinds of layer"
    return [_outcome(how, compared)]


def _loftr() -> list[Outcome]:
    module = modeling("efficientloftr")
    compared = []
    for changes in (
        {"rope_theta": 300.0, "partial_rotary_factor": 2.0, "num_attention_heads": 4},
        {"hidden_size": 64, "out_features": [16, 16, 32, 64]},
        {},
    ):
        (use,) = _uses("efficientloftr", **changes)
        config = built("efficientloftr", **changes)
        for rows, columns in _GRIDS:
            features = torch.zeros(1, 1, 4 * rows, 4 * columns)
            table = module.EfficientLoFTRRotaryEmbedding(config)(features)
            dim = use.encoding.dim
            table = tuple(part.reshape(1, rows * columns, dim) for part in table)
            basis = _basis(rows * columns, dim)[None]
            turned = _both(*module.apply_rotary_pos_emb(basis, basis, *table, unsqueeze_dim=2))[0]
            compared.append((use, turned, _cells(use, rows, columns)))
    how = "basis vectors turned at each cell of 3 x 4 and 5 x 2 aggregated features"
    return [_outcome(how, compared)]


def _lightglue() -> list[Outcome]:
    module = modeling("lightglue")
    largest = 0.0
    for changes in {"descriptor_dim": 64, "num_attention_heads": 2}, {}:
        (use,) = _uses("lightglue", **changes)
        torch.manual_seed(0)
        encoder = module.LightGluePositionalEncoder(built("lightglue", **changes))
        keypoints = 2 * torch.rand(1, 7, 2) - 1  # (x, y)
        with torch.no_grad():
            (table,) = encoder(keypoints)
            dim, heads = use.encoding.dim, use.encoding.heads
            theirs = _heads_first(module.apply_rotary_pos_emb, table, dim)
            weight = encoder.projector.weight.numpy()
        basis = np.eye(dim, dtype=np.float32)[:, None, None].repeat(heads, 1).repeat(7, 2)
        ours = use.encoding.rotate(
            basis,
            keypoints[0].numpy()[:, ::-1].copy(),
            frequencies=weight.T[:, None].repeat(heads, axis=1),
        )
        for head in range(heads):
            largest = max(largest, difference(ours[:, head].swapaxes(0, 1), theirs))
    how = "basis vectors turned at 7 keypoints, with the weight of its own projection"
    return [Outcome(kind=use.kind, layout=use.encoding.layout, how=how, difference=largest)]


def _music() -> list[Outcome]:
    """Two stretches of sound, of which the second starts three windows in."""
    module = modeling("musicflamingo")
    compared = []
    for changes in (
        {
            "rope_theta": 40.0,
            "audio_config": {"model_type": "audioflamingo3_encoder", "hidden_size": 80},
        },
        {"rope_parameters": {"rope_theta": 60.0, "partial_rotary_factor": 0.5}},
        {},
    ):
        (use,) = _uses("musicflamingo", **changes)
        config = built("musicflamingo", **changes)
        length = 4
        step = 4 * config.audio_frame_step
        seconds = step * (torch.arange(length) + torch.tensor([[0], [3 * length]]))
        table = module.MusicFlamingoRotaryEmbedding(config)(seconds, seq_len=length)
        windows = zip((0, 3), seconds.numpy(), *table, strict=True)
        for window, start, *own in windows:
            at = -math.tau * start / use.encoding.base
            cells = np.stack([at * window, at * math.tau * np.arange(length)], axis=-1)
            basis = _basis(length, use.encoding.dim).transpose(0, 1)
            turned = module.apply_rotary_time_emb(basis, *own).transpose(0, 1)
            compared.append((use, turned, cells))
    return [_outcome("basis vectors turned at each feature of two windows of sound", compared)]


_OWN: dict[str, Callable[[], list[Outcome]]] = {
    "llama4_vision_model": _llama4,
    "dinov3_vit": functools.partial(
        _centred, "dinov3_vit", hidden_size=96, num_attention_heads=2, rope_theta=50.0
    ),
    "sapiens2": functools.partial(
        _centred, "sapiens2", hidden_size=96, num_attention_heads=2, rope_theta=50.0
    ),
    "eomt_dinov3": functools.partial(
        _centred,
        "eomt_dinov3",
        hidden_size=96,
        num_attention_heads=2,
        rope_parameters={"rope_theta": 50.0},
    ),
    "sam3_vit_model": _sam3,
    "sam2_video": functools.partial(_memory, "sam2_video"),
    "sam3_tracker_video": functools.partial(_memory, "sam3_tracker_video"),
    "edgetam_video": _edgetam,
    "neomme": _neomme,
    "efficientloftr": _loftr,
    "lightglue": _lightglue,
    "musicflamingo": _music,
}

CHECKS: dict[str, Callable[[], list[Outcome]]] = {
    **{
        model_type: functools.partial(_towers_check, model_type, **options)
        for model_type, options in _TOWERS.items()
    },
    **_OWN,
}
