"""Trained tables of patches with a reader of their own, against the models' own modules."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from oracles import Outcome, built, difference, modeling, patch_runs as run, read
from oracles.patch_modules import cells, only_positions, rows_and_width, table_of
from oracles.patches import Group
from posenc import positions
from posenc.inspector import Use

NOT_YET: dict[str, str] = {}

_SMALL = {"image_size": 12, "patch_size": 4, "hidden_size": 48}


def uses(model_type: str, kind: str, **changes: Any) -> list[Use]:
    """All uses of a kind that posenc reads in a part's own settings."""
    return [use for use in read(model_type, **changes).parts[0].uses if use.kind == kind]


def outcome(kind: str, how: str, worst: float) -> Outcome:
    return Outcome(kind=kind, layout="", how=how, difference=worst)


def module_of(model_type: str, name: str, *arguments: Any, **changes: Any) -> torch.nn.Module:
    """A module of a model type that takes its config first."""
    return getattr(modeling(model_type), name)(built(model_type, **changes), *arguments).eval()


def shape(use: Use, table: torch.Tensor) -> Outcome:
    """Rows and width of a table at default numbers."""
    how = "rows and width of its table at default numbers"
    ours = use.encoding.weights["table"]
    return outcome(use.kind, how, difference(ours, rows_and_width(table)))


def random(*sizes: int, seed: int = 0) -> torch.Tensor:
    return 0.1 * torch.randn(sizes, generator=torch.Generator().manual_seed(seed))


def silence(module: torch.nn.Module) -> None:
    """All parameters zero, so that only what is put in afterwards is heard."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.zero_()


def kimi() -> list[Outcome]:
    kind = "kimi_k25_vision"
    small = {"hidden_size": 48, "pos_emb_height": 3, "pos_emb_width": 3, "pos_emb_time": 4}
    (grid,), (waves,) = uses(kind, "learned grid", **small), uses(kind, "sinusoidal", **small)
    module = module_of(kind, "Kimi_K25VisionPositionEmbeddings", **small)
    table = only_positions(module)
    frames = waves.encoding.encode(np.arange(waves.length))
    worst = 0.0
    for count in 1, 4:
        for size in (3, 3), (3, 4), (5, 2):
            thw = torch.tensor([[count, *size]])
            theirs = module(torch.zeros(count * size[0] * size[1], 48), thw).detach()
            times = np.repeat(frames[:count] * (count > 1), size[0] * size[1], axis=0)
            ours = np.tile(cells(grid, table, size)[1], (count, 1)) + times
            worst = max(worst, difference(ours, theirs))
    with torch.device("meta"):
        default = module_of(kind, "Kimi_K25VisionPositionEmbeddings")
    how = "what its module adds to images and videos of 4 frames on grids of 3 x 3, 3 x 4, 5 x 2"
    return [
        shape(uses(kind, "learned grid")[0], default.position_embeddings),
        outcome(grid.kind, how, worst),
        outcome(waves.kind, how, worst),
    ]


def mllama() -> list[Outcome]:
    kind = "mllama_vision_model"
    small = _SMALL | {"supported_aspect_ratios": [[1, 1], [1, 2], [2, 1]], "max_num_tiles": 2}
    small |= {"image_size": 12}
    grid, by_row, before, after = read(kind, **small).parts[0].uses
    module = module_of(kind, "MllamaPrecomputedPositionEmbedding", **small)
    tile = module_of(kind, "MllamaPrecomputedAspectRatioEmbedding", **small)
    rows = grid.encoding.length
    weights = [
        random(*use.encoding.weights["table"], seed=i)
        for i, use in enumerate((grid, by_row, before))
    ]
    with torch.no_grad():
        module.gate.fill_(0.3)
        tile.gate.fill_(0.3)
        module.embedding.copy_(weights[0])
        module.tile_embedding.weight.copy_(weights[1].reshape(4, -1))
        tile.embedding.weight.copy_(weights[2].reshape(4, -1))
        ids = torch.tensor([3, 1])
        theirs = module(torch.zeros(2, 2, rows, 48), ids)
        theirs_tile = tile(torch.zeros(2, 2, rows, 48), ids)
    gate = np.tanh(np.float64(np.float32(0.3)))
    numbers = 2 * ids.numpy()[:, None] + np.arange(2)
    shared = grid.encoding.encode(np.arange(rows), table=weights[0].numpy())
    own = by_row.encoding.encode(numbers, table=weights[1].numpy()).reshape(2, 2, rows, 48)
    ours = (1 - gate) * shared + gate * own
    each = [
        gate * use.encoding.encode(numbers, table=weights[2].numpy())[:, :, None] + 0 * own
        for use in (before, after)
    ]
    with torch.device("meta"):
        config = built(kind)
        default = modeling(kind).MllamaPrecomputedPositionEmbedding(config)
        ratio = modeling(kind).MllamaPrecomputedAspectRatioEmbedding(config)
    first, second, *others = read(kind).parts[0].uses
    counted = [
        np.prod(second.encoding.weights["table"]) - default.tile_embedding.weight.numel(),
        *(
            np.prod(use.encoding.weights["table"]) - ratio.embedding.weight.numel()
            for use in others
        ),
    ]
    how = "what its module adds to two tiles of two aspect ratios, with copied weights"
    return [
        shape(first, default.embedding),
        outcome(
            second.kind, "numbers in its tables at default numbers", float(np.abs(counted).max())
        ),
        outcome(grid.kind, how, difference(ours, theirs)),
        outcome(before.kind, how, max(difference(item, theirs_tile) for item in each)),
    ]


def sam2_hiera() -> list[Outcome]:
    kind = "sam2_hiera_det_model"
    small = {
        "hidden_size": 48, "window_positional_embedding_background_size": [3, 2],
        "window_size_per_stage": [2, 2, 2, 2], "blocks_per_stage": [1, 1, 1, 1],
        "embed_dim_per_stage": [48, 96, 192, 384],
    }  # fmt: skip
    ours_both = uses(kind, "learned grid", **small)
    module = module_of(kind, "Sam2HieraDetModel", **small)
    tables = [random(48, 3, 2), random(48, 2, 2, seed=1)]
    worst = 0.0
    with torch.no_grad():
        module.pos_embed.copy_(tables[0])
        module.pos_embed_window.copy_(tables[1])
        for size in (6, 8), (10, 4):
            theirs = module._get_pos_embed(size).reshape(-1, 48)
            flat = [table.reshape(48, -1).T.numpy() for table in tables]
            ours = sum(cells(use, t, size)[1] for use, t in zip(ours_both, flat, strict=True))
            worst = max(worst, difference(ours, theirs))
    with torch.device("meta"):
        default = module_of(kind, "Sam2HieraDetModel")
    pairs = zip(
        uses(kind, "learned grid"), (default.pos_embed, default.pos_embed_window), strict=True
    )
    return [
        *(shape(use, table[0].permute(1, 2, 0)) for use, table in pairs),
        outcome("learned grid", "the sum of its tables on grids of 6 x 8 and 10 x 4", worst),
    ]


def videoprism() -> list[Outcome]:
    kind = "videoprism_vision_model"
    small = {"image_size": 12, "tubelet_size": [1, 4, 4], "num_frames": 4, "hidden_size": 48}
    place, time = uses(kind, "learned grid", **small)
    spatial = module_of(kind, "VideoPrismSpatialEmbeddings", **small)
    temporal = module_of(kind, "VideoPrismTemporalEmbeddings", **small)
    tables = only_positions(spatial), only_positions(temporal)
    worst = 0.0
    with torch.no_grad():
        for rows, columns in (3, 3), (3, 4), (5, 2):
            video = torch.zeros(1, 2, 3, 4 * rows, 4 * columns)
            theirs = spatial(video, interpolate_pos_encoding=True)
            ours = cells(place, tables[0], (rows, columns))[1]
            worst = max(worst, *(difference(ours, image) for image in theirs))
        for frames in 4, 3, 7:
            states = torch.zeros(frames, 6, 48)
            theirs = temporal(states, (1, frames, 3, 8, 12), interpolate_pos_encoding=True)
            ours = cells(time, tables[1], (frames,))[1]
            worst = max(worst, *(difference(ours, patch) for patch in theirs))
    with torch.device("meta"):
        names = "VideoPrismSpatialEmbeddings", "VideoPrismTemporalEmbeddings"
        defaults = [table_of(module_of(kind, name)) for name in names]
    pairs = zip(uses(kind, "learned grid"), defaults, strict=True)
    how = "what its modules add on grids of 3 x 3, 3 x 4, 5 x 2 and to 4, 3 and 7 frames"
    return [*(shape(use, table) for use, table in pairs), outcome("learned grid", how, worst)]


def yolos() -> list[Outcome]:
    kind = "yolos"
    small = {
        "image_size": [12, 20], "patch_size": 4, "hidden_size": 48, "num_detection_tokens": 4,
        "num_hidden_layers": 3,
    }  # fmt: skip
    first, later = uses(kind, "learned grid", **small)
    module = module_of(kind, "YolosEmbeddings", **small)
    middle = module_of(kind, "InterpolateMidPositionEmbeddings", **small)
    table = only_positions(module)
    tables = random(2, 1, later.encoding.length, 48)
    worst = 0.0
    with torch.no_grad():
        middle.mid_position_embeddings.copy_(tables)
        for size in (3, 5), (3, 4), (5, 2):
            ours = _yolos_rows(first, table, size)
            worst = max(worst, difference(ours, run.pixels(module, *size)[0]))
            theirs = middle((4 * size[0], 4 * size[1]))
            for i in range(2):
                ours = _yolos_rows(later, tables[i, 0].numpy(), size)
                worst = max(worst, difference(ours, theirs[i, 0]))
    with torch.device("meta"):
        default = table_of(module_of(kind, "YolosEmbeddings"))
        mid = module_of(kind, "InterpolateMidPositionEmbeddings").mid_position_embeddings
    one, two = uses(kind, "learned grid")
    how = "what its modules add on grids of 3 x 5, 3 x 4, 5 x 2, in all layers"
    return [
        shape(one, default),
        shape(two, mid[0]),
        outcome(
            "learned grid", "how many later layers have a table", abs(len(two.layers) - len(mid))
        ),
        outcome("learned grid", how, worst),
    ]


def _yolos_rows(use: Use, table: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    outer, inner = cells(use, table, size)
    return np.concatenate([outer[:1], inner, outer[1:]])


def pvt() -> list[Outcome]:
    kind = "pvt"
    small = {"image_size": 64, "hidden_sizes": [48, 32, 40, 64]}
    outcomes, worst = [], 0.0
    with torch.device("meta"):
        default = modeling(kind).PvtEncoder(built(kind)).patch_embeddings
    for use, stage in zip(uses(kind, "learned grid"), default, strict=True):
        outcomes.append(shape(use, stage.position_embeddings))
    encoder = modeling(kind).PvtEncoder(built(kind, **small)).eval()
    channels, side = 3, 64
    for use, stage in zip(
        uses(kind, "learned grid", **small), encoder.patch_embeddings, strict=True
    ):
        table = only_positions(stage)
        theirs, side, _ = stage(torch.zeros(1, channels, side, side))
        channels = theirs.shape[-1]
        ours = np.concatenate(cells(use, table, (side, side)))
        worst = max(worst, difference(ours, theirs[0].detach()))
    return [
        *outcomes,
        outcome("learned grid", "what its four stages add, with copied weights", worst),
    ]


def hiera() -> list[Outcome]:
    kind = "hiera"
    small = {
        "image_size": [64, 64],
        "embed_dim": 48,
        "decoder_hidden_size": 32,
        "decoder_depth": 1,
        "decoder_num_heads": 2,
    }
    encoder, decoder = uses(kind, "learned grid", **small)
    module = module_of(kind, "HieraEmbeddings", **small)
    table = only_positions(module)
    worst = 0.0
    with torch.no_grad():
        for rows, columns in (16, 16), (16, 24), (40, 8):
            theirs = run.pixels(module, rows, columns, interpolate_pos_encoding=True)[0]
            worst = max(worst, difference(cells(encoder, table, (rows, columns))[1], theirs))
    with torch.device("meta"):
        default = table_of(module_of(kind, "HieraEmbeddings"))
        later = module_of(kind, "HieraDecoder", **small).decoder_position_embeddings
    how = "what its module adds on grids of 16 x 16, 16 x 24, 40 x 8, with copied weights"
    return [
        shape(uses(kind, "learned grid")[0], default),
        shape(decoder, later),
        outcome("learned grid", how, worst),
    ]


def granite4() -> list[Outcome]:
    kind, rate = "granite4_vision", {"downsample_rate": "2/4"}
    ours = uses(kind, "learned grid", **rate)[0]
    with torch.device("meta"):
        module = module_of(kind, "Granite4VisionWindowQFormerDownsampler", **rate)
    return [shape(ours, module.image_positions)]


def mgp_str() -> list[Outcome]:
    kind = "mgp-str"
    small = _SMALL | {"image_size": [12, 20]}
    use = uses(kind, "learned grid", **small)[0]
    module = module_of(kind, "MgpstrEmbeddings", **small)
    table = only_positions(module)
    theirs = run.pixels(module, 3, 5)[0].detach()
    ours = np.concatenate(cells(use, table, (3, 5)))
    with torch.device("meta"):
        defaults = [module_of(kind, "MgpstrEmbeddings", distilled=two) for two in (False, True)]
    shapes = [
        shape(uses(kind, "learned grid", distilled=two)[0], table_of(default))
        for two, default in zip((False, True), defaults, strict=True)
    ]
    how = "what its module adds on a grid of 3 x 5, with copied weights"
    return [*shapes, outcome(use.kind, how, difference(ours, theirs))]


def too_many(model_type: str, name: str) -> list[Outcome]:
    """The table has a row too many, and the model cannot run with it, as the finding says."""
    on = {"use_absolute_embeddings": True}
    small = {"image_size": 16, "patch_size": 4, "embed_dim": 48}
    with torch.device("meta"):
        default = table_of(module_of(model_type, name, **on))
    module = module_of(model_type, name, **on, **small)
    codes = [finding.code for finding in read(model_type, **on, **small).findings]
    image = torch.zeros(1, 3, 16, 16)
    arguments = (image, False) if model_type == "maskformer-swin" else (image,)
    try:
        module(*arguments)
    except RuntimeError:
        runs = 0
    else:
        runs = 1
    wrong = runs + ("cannot-run" not in codes)
    return [
        shape(uses(model_type, "learned grid", **on)[0], default),
        outcome("learned grid", "that its module cannot add the table", wrong),
    ]


def by_id(model_type: str, name: str, length: str) -> list[Outcome]:
    small = {length: 9, "hidden_size": 48, "patch_embed_hidden_size": 6}
    kind = "learned rows and columns"
    use = uses(model_type, kind, **small)[0]
    module = module_of(model_type, name, **small)
    silence(module)
    tables = random(9, 48), random(9, 48, seed=1)
    with torch.no_grad():
        module.row_embedder.weight.copy_(tables[0])
        module.column_embedder.weight.copy_(tables[1])
        ids = torch.tensor(positions.grid(3, 4) + 1)
        patches = torch.cat([ids.float(), torch.zeros(12, 6)], dim=-1)
        theirs = module(patches[None])[0]
    ours = encoded(use, tables, ids)
    with torch.device("meta"):
        default = module_of(model_type, name)
    return [
        axes_shape(model_type, default.row_embedder.weight, default.column_embedder.weight),
        outcome(kind, "what its module adds on a grid of 3 x 4, with copied weights",
                difference(ours, theirs)),
    ]  # fmt: skip


def encoded(use: Use, tables: tuple[torch.Tensor, ...], ids: torch.Tensor) -> np.ndarray:
    """posenc's vectors of positions, with a table for each axis."""
    named = {f"axis_{axis}": table.numpy() for axis, table in enumerate(tables)}
    return use.encoding.encode(ids.numpy(), **named)


def axes_shape(model_type: str, *tables: torch.Tensor) -> Outcome:
    """Rows and widths of both tables at default numbers; the table of axis 0 first."""
    kind = "learned rows and columns"
    weights = uses(model_type, kind)[0].encoding.weights
    ours = [weights[f"axis_{axis}"] for axis in range(len(tables))]
    how = "rows and widths of its tables at default numbers"
    return outcome(kind, how, difference(ours, [tuple(table.shape) for table in tables]))


def gemma4() -> list[Outcome]:
    model_type, kind = "gemma4_vision", "learned rows and columns"
    small = {"position_embedding_size": 9, "hidden_size": 48, "patch_size": 4}
    module = module_of(model_type, "Gemma4VisionPatchEmbedder", **small)
    silence(module)
    tables = random(9, 48), random(9, 48, seed=1)
    ids = torch.tensor(positions.grid(3, 4)).flip(-1)  # (column, row)
    with torch.no_grad():
        module.position_embedding_table.copy_(torch.stack(tables))
        theirs = module(torch.zeros(1, 12, 48), ids[None], torch.zeros(1, 12, dtype=torch.bool))
    ours = encoded(uses(model_type, kind, **small)[0], tables, ids)
    with torch.device("meta"):
        default = module_of(model_type, "Gemma4VisionPatchEmbedder").position_embedding_table
    how = "what its module adds at 3 x 4 pairs (column, row), with copied weights"
    return [axes_shape(model_type, *default), outcome(kind, how, difference(ours, theirs[0]))]


def gemma4_unified() -> list[Outcome]:
    model_type, kind = "gemma4_unified_vision", "learned rows and columns"
    small = {"mm_posemb_size": 9, "mm_embed_dim": 48}
    text = built("gemma4_unified_text", hidden_size=48)
    module = module_of(model_type, "Gemma4UnifiedVisionEmbedder", text, **small)
    silence(module)
    tables = random(9, 48), random(9, 48, seed=1)
    ids = torch.tensor(positions.grid(3, 4)).flip(-1)
    with torch.no_grad():
        module.pos_embedding.copy_(torch.stack(tables, dim=1))
        patches = torch.zeros(1, 12, module.patch_dense.in_features)
        theirs = run.entering(module.pos_norm, lambda: module(patches, ids[None]))
    ours = encoded(uses(model_type, kind, **small)[0], tables, ids)
    with torch.device("meta"):
        config = built(model_type)
        default = modeling(model_type).Gemma4UnifiedVisionEmbedder(config, text).pos_embedding
    how = "what its module adds at 3 x 4 pairs (column, row), with copied weights"
    return [
        axes_shape(model_type, default[:, 0], default[:, 1]),
        outcome(kind, how, difference(ours, theirs[0])),
    ]


def tvp() -> list[Outcome]:
    model_type, kind = "tvp", "learned rows and columns"
    small = {
        "hidden_size": 48, "max_grid_row_position_embeddings": 6,
        "max_grid_col_position_embeddings": 5,
    }  # fmt: skip
    use = uses(model_type, kind, **small)[0]
    module = module_of(model_type, "TvpVisualInputEmbedding", **small)
    tables = random(6, 48), random(5, 48, seed=1)
    worst = 0.0
    with torch.no_grad():
        module.row_position_embeddings.weight.copy_(tables[0])
        module.col_position_embeddings.weight.copy_(tables[1])
        for rows, columns in (3, 4), (5, 2):
            theirs = module.add_2d_positional_embeddings(torch.zeros(1, rows, columns, 48))
            ours = encoded(use, tables, torch.tensor(positions.grid(rows, columns)))
            worst = max(worst, difference(ours, theirs.reshape(-1, 48)))
    with torch.device("meta"):
        default = module_of(model_type, "TvpVisualInputEmbedding")
    rows, columns = default.row_position_embeddings, default.col_position_embeddings
    how = "what its module adds on grids of 3 x 4 and 5 x 2, with copied weights"
    return [axes_shape(model_type, rows.weight, columns.weight), outcome(kind, how, worst)]


def florence2() -> list[Outcome]:
    model_type, kind = "florence2", "learned rows and columns"
    small = {"vision_config": {"model_type": "florence_vision", "max_position_embeddings": 7}}
    use = uses(model_type, kind, **small)[0]
    name = "Florence2VisionLearnedAbsolutePositionEmbedding2D"
    module = module_of(model_type, name, **small)
    tables = random(7, 512), random(7, 512, seed=1)
    worst = 0.0
    with torch.no_grad():
        module.row_embeddings.weight.copy_(tables[0])
        module.column_embeddings.weight.copy_(tables[1])
        for rows, columns in (3, 4), (5, 2):
            theirs = module(torch.zeros(1, 3, rows, columns))[0].permute(1, 2, 0)
            ours = encoded(use, tables, torch.tensor(positions.grid(rows, columns)))
            worst = max(worst, difference(ours, theirs.reshape(-1, 1024)))
    with torch.device("meta"):
        default = module_of(model_type, name)
    shapes = default.row_embeddings.weight, default.column_embeddings.weight
    how = "its vectors on grids of 3 x 4 and 5 x 2, with copied weights"
    return [axes_shape(model_type, *shapes), outcome(kind, how, worst)]


CHECKS: dict[str, Callable[[], list[Outcome]]] = {
    "florence2": florence2,
    "gemma4_unified_vision": gemma4_unified,
    "gemma4_vision": gemma4,
    "granite4_vision": granite4,
    "hiera": hiera,
    "kimi_k25_vision": kimi,
    "kosmos_2_5_vision_model": functools.partial(
        by_id, "kosmos_2_5_vision_model", "Kosmos2_5VisionEmbeddings", "max_num_patches"
    ),
    "mgp-str": mgp_str,
    "mllama_vision_model": mllama,
    "pix2struct_vision_model": functools.partial(
        by_id, "pix2struct_vision_model", "Pix2StructVisionEmbeddings", "seq_len"
    ),
    "pvt": pvt,
    "sam2_hiera_det_model": sam2_hiera,
    "tvp": tvp,
    "videoprism_vision_model": videoprism,
    "yolos": yolos,
}
CHECKS |= Group(types="aimv2_vision_model:Aimv2VisionEmbeddings", grids=((3, 3),)).checks()
for _pair in (
    ("donut-swin", "DonutSwinEmbeddings"),
    ("maskformer-swin", "MaskFormerSwinEmbeddings"),
    ("swin2sr", "Swin2SREmbeddings"),
    ("swinv2", "Swinv2Embeddings"),
):
    CHECKS[_pair[0]] = functools.partial(too_many, *_pair)
