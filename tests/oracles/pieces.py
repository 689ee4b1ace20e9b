"""Trained tables of object queries, frames, series, pixels and chunks, as the models use them."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from oracles import Outcome, built, modeling, read
from oracles.token_tables import (
    Arrays,
    emptied,
    filled,
    given_to,
    outcome,
    the_use,
)
from posenc import positions


def own_rows(use: Any, parameter: torch.Tensor, rows: slice = slice(None)) -> tuple[Any, Any]:
    """Every row that the model uses, from random numbers in the shape of its own table."""
    table = torch.randn(parameter.shape).numpy()
    return use.encoding.encode(positions.count(use.length), table=table), table[rows]


def weightless(model_type: str, owner: str, **changes: Any) -> Any:
    """A whole model whose arrays have shapes and no memory."""
    with torch.device("meta"), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Initializing zero-element tensors")
        return getattr(modeling(model_type), owner)(built(model_type, **changes))


QUERIES = {"num_queries": 17}
THIN = {"encoder_layers": 1, "decoder_layers": 1}
EYES: dict[str, dict[str, Any]] = dict.fromkeys(
    ("conditional_detr", "deformable_detr", "detr", "table-transformer"),
    {"use_timm_backbone": False, "backbone_config": {"model_type": "resnet"}},
)
"""Backbones for models whose own need another library."""


@outcome("shape of its own table", {}, {**QUERIES, "d_model": 64})
def queries(model_type: str, owner: str, **changes: Any) -> Arrays:
    model = weightless(model_type, owner, **{**THIN, **EYES.get(model_type, {}), **changes})
    use = the_use(model_type, "object queries", **changes)
    yield own_rows(use, model.query_position_embeddings.weight)


@outcome("shape of its own table", {}, {**QUERIES, "hidden_dim": 64})
def module_queries(model_type: str, owner: str, **changes: Any) -> Arrays:
    config = built(model_type, **changes)
    with torch.device("meta"):
        module = getattr(modeling(model_type), owner)(64, config)
    yield own_rows(the_use(model_type, "object queries", **changes), module.queries_embedder.weight)


@outcome(
    "shape of its own table",
    {},
    {"decoder_config": {"model_type": "detr", "num_queries": 17, "d_model": 64}},
)
def maskformer(**changes: Any) -> Arrays:
    config = built("maskformer", **changes)
    with torch.device("meta"):
        module = modeling("maskformer").MaskFormerTransformerModule(64, config)
    yield own_rows(
        the_use("maskformer", "object queries", **changes), module.queries_embedder.weight
    )


def no_queries(model_type: str, owner: str, **changes: Any) -> None:
    """With these settings the model has no table, and posenc reads none."""
    model = weightless(model_type, owner, **{**THIN, **EYES.get(model_type, {}), **changes})
    if getattr(model, "query_position_embeddings", None) is not None:
        raise AssertionError("the model has a table of queries")
    uses = read(model_type, **changes)
    if any(use.kind == "learned" and use.place == "object queries" for use in uses):
        raise AssertionError("posenc reads a table of queries")


def two_stages(model_type: str, owner: str, **switches: Any) -> list[Outcome]:
    no_queries(model_type, owner, **switches)
    return queries(model_type, owner)


@outcome("shape of its own table; the rows it uses", {}, {**QUERIES, "group_detr": 3})
def reference_points(model_type: str, owner: str, **changes: Any) -> Arrays:
    model = weightless(model_type, owner, decoder_layers=1, **changes)
    use = the_use(model_type, "reference points of object queries", **changes)
    yield own_rows(use, model.reference_point_embed.weight, slice(model.num_queries))


@outcome(
    "what its embeddings add to frames, as many and more than trained",
    {},
    {"num_frames": 5, "hidden_size": 24, "image_size": 32},
)
def timesformer(**changes: Any) -> Arrays:
    small = {"image_size": 48, **changes}
    use = the_use("timesformer", "frames", **small)
    config = built("timesformer", **small)
    owner = modeling("timesformer").TimesformerEmbeddings(config).eval()
    emptied(owner.patch_embeddings)
    table = filled(owner.time_embeddings)[0]
    for frames in (use.length, 3, 13):
        seen = owner(torch.zeros(1, frames, 3, small["image_size"], small["image_size"]))
        stands = positions.count(frames) * use.length // frames
        vectors = use.encoding.encode(stands, table=table)
        cells = (seen.shape[1] - 1) // frames
        yield np.tile(vectors, (cells, 1)), seen[0, 1:].detach().numpy()


@outcome("shape of its own table", {}, {"vision_config": {"num_frames": 5, "mit_hidden_size": 64}})
def xclip(**changes: Any) -> Arrays:
    model = weightless("xclip", "XCLIPModel", **changes)
    yield own_rows(the_use("xclip", "frames", **changes), model.mit.position_embedding[0])


@outcome(
    "shapes of its own vectors",
    {"num_image_with_embedding": 6},
    {"num_image_with_embedding": 2, "vision_config": {"hidden_size": 48}},
)
def git(**changes: Any) -> Arrays:
    model = weightless("git", "GitModel", num_hidden_layers=0, **changes)
    vectors = torch.cat([vector[0] for vector in model.img_temporal_embedding])
    yield own_rows(the_use("git", "frames", **changes), vectors)
    if any(use.place == "frames" for use in read("git")):
        raise AssertionError("one picture has no frames")


SERIES = {"positional_encoding_type": "random"}
PIECES = {**SERIES, "context_length": 43, "patch_length": 6, "patch_stride": 4, "d_model": 10}


@outcome("what it adds to each piece", SERIES, PIECES, {**PIECES, "use_cls_token": True})
def patchtst(**changes: Any) -> Arrays:
    config = built("patchtst", **changes)
    pieces = modeling("patchtst").PatchTSTPatchify(config).num_patches
    owner = modeling("patchtst").PatchTSTPositionalEncoding(config, pieces).eval()
    use = the_use("patchtst", "patches of a series", **changes)
    table = filled(owner.position_enc)
    offset = use.encoding.offset
    seen = owner(torch.zeros(1, config.num_input_channels, pieces, config.d_model))
    stands = positions.count(use.length + offset, offset=-offset)
    yield use.encoding.encode(stands, table=table), seen[0, 0].detach().numpy()


MIXER = {"use_positional_encoding": True}


@outcome("what it adds to each piece", {**MIXER, **SERIES}, {**MIXER, **PIECES})
def patchtsmixer(**changes: Any) -> Arrays:
    config = built("patchtsmixer", **changes)
    encoder = modeling("patchtsmixer").PatchTSMixerEncoder(config)
    owner = encoder.positional_encoder
    use = the_use("patchtsmixer", "patches of a series", **changes)
    table = filled(owner.position_enc)
    seen = owner(torch.zeros(1, 1, config.num_patches, config.d_model))
    vectors = use.encoding.encode(positions.count(use.length), table=table)
    yield vectors, seen[0, 0].detach().numpy()
    if any(use.kind == "learned" for use in read("patchtsmixer", **SERIES)):
        raise AssertionError("nothing is added without use_positional_encoding")


SHORT = {"num_blocks": 1, "num_self_attends_per_block": 1, "num_latents": 4}


@outcome(
    "vectors of its decoder queries and of its pixels",
    {},
    {"max_position_embeddings": 37, "d_model": 16, "image_size": 3},
)
def perceiver(**changes: Any) -> Arrays:
    heads = {"num_self_attention_heads": 8, "num_cross_attention_heads": 8}
    config = built("perceiver", **{**SHORT, **heads, **changes})
    asked = modeling("perceiver").PerceiverForMaskedLM(config).perceiver.decoder
    table = filled(asked.output_position_encodings.position_embeddings)
    use = the_use("perceiver", "decoder queries", **changes)
    yield (
        use.encoding.encode(positions.count(use.length), table=table),
        asked.output_position_encodings(1)[0].detach().numpy(),
    )
    owner = modeling("perceiver").PerceiverForImageClassificationLearned(config)
    owner = owner.perceiver.input_preprocessor
    owner.positions_projection = torch.nn.Identity()
    table = filled(owner.position_embeddings.position_embeddings)
    use = the_use("perceiver", "pixels", **changes)
    size = config.image_size
    pixels = torch.arange(size * size, dtype=torch.float32).reshape(1, size, size, 1)
    seen = owner._build_network_inputs(pixels)[0][0].detach().numpy()
    yield use.encoding.encode(seen[:, 0].astype(np.int64), table=table), seen[:, 1:]


DEEP = {"hidden_size": 32, "num_attention_heads": 2, "q_lora_rank": 8}
CHUNKS = {
    "compress_rates": {"heavily_compressed_attention": 6, "compressed_sparse_attention": 3},
    "head_dim": 16,
    "index_head_dim": 8,
    "num_hidden_layers": 5,
    "index_n_heads": 2,
}


@outcome("the sums that its gates weigh", {}, CHUNKS)
def deepseek_v4(**changes: Any) -> Arrays:
    config = built("deepseek_v4", **{**DEEP, **changes})
    file = modeling("deepseek_v4")
    owners = (file.DeepseekV4HCACompressor, file.DeepseekV4CSACompressor, file.DeepseekV4Indexer)
    uses = [use for use in read("deepseek_v4", **changes) if use.kind == "learned"]
    for use, owner in zip(uses, owners, strict=True):
        yield pooled(use, owner(config), config)
        theirs = tuple(i for i, kind in enumerate(config.layer_types) if kind == use.layer_type)
        yield np.asarray(use.layers), np.asarray(theirs)


def pooled(use: Any, owner: Any, config: Any) -> tuple[Any, Any]:
    """Three chunks: ours by the formula, theirs from the model, with gates of positions only."""
    emptied(owner.gate_proj)
    table = filled(owner.position_bias)
    tokens = 3 * use.length
    states = torch.randn(1, tokens, config.hidden_size)
    run = functools.partial(owner, states, None, torch.arange(tokens)[None], None, 0)
    gates = use.encoding.encode(positions.count(tokens) % use.length, table=table)
    values = owner.kv_proj(states)[0].detach().numpy()
    theirs = given_to(owner.kv_norm, run)[0]
    gates = gates.reshape(3, use.length, -1)
    values = values.reshape(3, use.length, -1)
    width = theirs.shape[-1]
    if values.shape[-1] == 2 * width:  # the first half of the chunk before, the second of this one
        gates, values = overlapped(gates, width, -np.inf), overlapped(values, width, 0.0)
    weights = np.exp(gates - gates.max(axis=1, keepdims=True))
    return (values * weights / weights.sum(axis=1, keepdims=True)).sum(axis=1), theirs


def overlapped(chunks: np.ndarray, width: int, missing: float) -> np.ndarray:
    before = np.full_like(chunks[..., :width], missing)
    before[1:] = chunks[:-1, :, :width]
    return np.concatenate([before, chunks[..., width:]], axis=1)


Check = Callable[[], list[Outcome]]
CHECKS: dict[str, Check] = {
    "conditional_detr": functools.partial(queries, "conditional_detr", "ConditionalDetrModel"),
    "deepseek_v4": deepseek_v4,
    "deformable_detr": functools.partial(
        two_stages,
        "deformable_detr",
        "DeformableDetrModel",
        two_stage=True,
        with_box_refine=True,
    ),
    "detr": functools.partial(queries, "detr", "DetrModel"),
    "git": git,
    "grounding-dino": functools.partial(
        two_stages, "grounding-dino", "GroundingDinoModel", embedding_init_target=False
    ),
    "lw_detr": functools.partial(reference_points, "lw_detr", "LwDetrModel"),
    "mask2former": functools.partial(module_queries, "mask2former", "Mask2FormerTransformerModule"),
    "maskformer": maskformer,
    "mm-grounding-dino": functools.partial(
        two_stages, "mm-grounding-dino", "MMGroundingDinoModel", embedding_init_target=False
    ),
    "oneformer": functools.partial(module_queries, "oneformer", "OneFormerTransformerModule"),
    "patchtsmixer": patchtsmixer,
    "patchtst": patchtst,
    "perceiver": perceiver,
    "rf_detr": functools.partial(reference_points, "rf_detr", "RfDetrModel"),
    "table-transformer": functools.partial(queries, "table-transformer", "TableTransformerModel"),
    "timesformer": timesformer,
    "xclip": xclip,
}
