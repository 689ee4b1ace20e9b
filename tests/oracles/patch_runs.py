"""Calls of the models' own embedding modules, each for an image of so many patches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch


def pixels(module: torch.nn.Module, rows: int, columns: int, **options: Any) -> torch.Tensor:
    """The module called with an image of so many patches of 4 x 4."""
    out = module(torch.zeros(1, 3, 4 * rows, 4 * columns), **options)
    out = getattr(out, "last_hidden_states", out)
    return out[0] if isinstance(out, tuple) else out


def features(module: torch.nn.Module, rows: int, columns: int) -> torch.Tensor:
    return module(torch.zeros(1, module.embed_dim, rows, columns))


def spectrogram(module: torch.nn.Module, rows: int, columns: int) -> torch.Tensor:
    return module(torch.zeros(1, 14, 8))


def padded(module: torch.nn.Module, rows: int, columns: int) -> torch.Tensor:
    return module(torch.zeros(1, 3, 16 * rows, 16 * columns))


def cropping(module: torch.nn.Module, rows: int, columns: int) -> torch.Tensor:
    return module._interpolate_position_embedding((rows, columns), torch.float32)


def asked(module: torch.nn.Module, rows: int, columns: int) -> torch.Tensor:
    return pixels(module, rows, columns, interpolate_pos_encoding=True)


class _Reached(Exception):
    """The layers were reached; what they got is in `args`."""


def entering(layers: torch.nn.Module, run: Callable[[], Any]) -> torch.Tensor:
    """What enters the first layer of an encoder; nothing behind it is run."""

    def stop(module: Any, given: Any, named: dict[str, Any]) -> None:
        raise _Reached(given[0] if given else named["hidden_states"])

    handle = layers.register_forward_pre_hook(stop, with_kwargs=True)
    try:
        run()
    except _Reached as reached:
        return reached.args[0]
    finally:
        handle.remove()
    raise AssertionError("the layers were not reached")


def encoder(module: torch.nn.Module, rows: int, columns: int) -> torch.Tensor:
    return entering(module.layers[0], lambda: pixels(module, rows, columns))


def channels_first(module: torch.nn.Module, rows: int, columns: int) -> torch.Tensor:
    return pixels(module, rows, columns).permute(0, 2, 3, 1)


def prompted(module: torch.nn.Module, rows: int, columns: int) -> torch.Tensor:
    image = torch.zeros(1, 3, 4 * rows, 4 * columns)
    return module(image, image, torch.zeros(1, rows * columns))[0]


def coordinates(module: torch.nn.Module, rows: int, columns: int) -> torch.Tensor:
    row, column = torch.meshgrid(torch.arange(rows), torch.arange(columns), indexing="ij")
    width = module.position_embedding.weight.shape[1]
    return module(
        torch.zeros(rows * columns, width),
        [rows * columns],
        torch.tensor([[1, rows, columns]]),
        row.flatten().float(),
        column.flatten().float(),
    )


def flat(module: torch.nn.Module, rows: int, columns: int, **options: Any) -> torch.Tensor:
    """The module called with flattened patches and a grid of one frame."""
    features = module.patch_embedding.weight[0].numel()
    return module(torch.zeros(rows * columns, features), **options)


def grid(module: torch.nn.Module, rows: int, columns: int) -> torch.Tensor:
    return flat(module, rows, columns, grid_thw=torch.tensor([[1, rows, columns]]))


def grid_list(module: torch.nn.Module, rows: int, columns: int) -> torch.Tensor:
    return flat(module, rows, columns, grid_thw=[[1, rows, columns]])


def grid_wide(module: torch.nn.Module, rows: int, columns: int) -> torch.Tensor:
    return flat(module, rows, columns, grid_thw=torch.tensor([[1, columns, rows]]))


def patches(module: torch.nn.Module, rows: int, columns: int) -> torch.Tensor:
    patches = torch.zeros(1, rows * columns, 3, 4, 4)
    return module(patches, grid_thw=torch.tensor([[1, rows, columns]]))


def shapes(module: torch.nn.Module, rows: int, columns: int) -> torch.Tensor:
    patches = torch.zeros(1, rows * columns, module.patch_embedding.in_features)
    return module(patches, torch.tensor([[rows, columns]]))


def masked(module: torch.nn.Module, rows: int, columns: int) -> torch.Tensor:
    image = torch.zeros(1, 3, 4 * rows, 4 * columns)
    return module(image, torch.ones(1, rows, columns, dtype=torch.bool))


def targets(module: torch.nn.Module, rows: int, columns: int) -> torch.Tensor:
    image = torch.zeros(1, 3, 4, 4 * rows * columns)
    return module(image, target_sizes=torch.tensor([[rows, columns]], dtype=torch.int32))


def merged(module: torch.nn.Module, rows: int, columns: int) -> torch.Tensor:
    """A model that takes patches in blocks of spatial_merge_size; here it is 1: row by row."""
    patches = torch.zeros(rows * columns, module.patch_embed.proj.weight[0].numel())
    grid = torch.tensor([[1, rows, columns]])
    return entering(module.blocks[0], lambda: module(patches, grid))


def blocks_of_one(module: torch.nn.Module, rows: int, columns: int) -> torch.Tensor:
    """Patches of one image, with no class token put between them."""
    cells, side = rows * columns, module.patch_size
    patches = torch.zeros(cells, side, side, 3)
    return module(patches, torch.tensor([[1, rows, columns]]), torch.arange(cells))[:cells]


def before_layers(module: torch.nn.Module, rows: int, columns: int) -> torch.Tensor:
    """Llama 4: what is normalised before the layers."""
    return entering(module.layernorm_pre, lambda: pixels(module, rows, columns))


def flat_encoder(module: torch.nn.Module, rows: int, columns: int) -> torch.Tensor:
    """Molmo 2: flattened patches in, no size told."""
    patches = torch.zeros(1, rows * columns, module.patch_embedding.in_features)
    return entering(module.layers[0], lambda: module(patches))


def visual_tokens(module: torch.nn.Module, rows: int, columns: int) -> torch.Tensor:
    """LayoutLMv3: what enters the norm behind the table."""
    image = torch.zeros(1, 3, 4 * rows, 4 * columns)
    return entering(module.norm, lambda: module.forward_image(image))


def frame(module: torch.nn.Module, rows: int, columns: int) -> torch.Tensor:
    """A video of one frame."""
    return module(torch.zeros(1, 1, 3, 4 * rows, 4 * columns))


def frames(module: torch.nn.Module, rows: int, columns: int) -> torch.Tensor:
    """A video of four frames."""
    return module(torch.zeros(1, 4, 3, 4 * rows, 4 * columns))


def visible(module: torch.nn.Module, rows: int, columns: int) -> torch.Tensor:
    """ViLT: an image in the corner of a padded one; its patches come in an order drawn anew."""
    mask = torch.zeros(1, 4 * rows + 8, 4 * columns + 4, dtype=torch.long)
    mask[:, : 4 * rows, : 4 * columns] = 1
    image = torch.zeros(1, 3, *mask.shape[1:])
    out, _, (index, _) = module.visual_embed(image, mask, max_image_length=rows * columns)
    places = index[0, :, 0] * columns + index[0, :, 1]
    return torch.cat([out[0, :1], out[0, 1:][places.argsort()]])
