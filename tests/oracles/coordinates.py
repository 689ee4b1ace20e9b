"""Fourier features, waves of box corners and trained MLPs against the models' own modules."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from oracles import Outcome, built, difference, modeling, read
from oracles.patches_own import outcome
from posenc.inspector import Use

NOT_YET: dict[str, str] = {
    "superglue": "Keypoints pass a trained MLP: no formula, only the widths of its layers.",
}


def use_of(model_type: str, kind: str, **changes: Any) -> Use:
    """The one use of this kind in a model's own settings."""
    (use,) = [use for use in read(model_type, **changes).parts[0].uses if use.kind == kind]
    return use


def sam(model_type: str, name: str, settings: str = "", **changes: Any) -> list[Outcome]:
    """The module's matrix, given to posenc; points that are not on a square grid."""
    outcomes = []
    points = torch.rand(1, 1, 12, 2, generator=torch.Generator().manual_seed(0))
    for change in {}, changes:
        config = built(model_type, **change)
        part = getattr(config, settings) if settings else config
        use = use_of(model_type, "Fourier features", **change)
        module = getattr(modeling(model_type), f"{name}PositionalEmbedding")(part)
        # Numbers as small as those of scale 1, or the float32 angles of the model are noise.
        matrix = (module.positional_embedding.detach() / module.scale).double()
        module.positional_embedding.data = matrix
        theirs = module(points.double() * torch.tensor([40.0, 30.0]), (30, 40))
        ours = use.encoding.encode(2 * points.double().numpy() - 1, matrix=matrix.T.numpy())
        how = "vectors of 12 points of a 30 x 40 image, with the module's matrix"
        outcomes += [
            outcome(use.kind, how, difference(ours, theirs.detach())),
            outcome(use.kind, "scale of its matrix", abs(use.encoding.scale - module.scale)),
        ]
    return outcomes


def sam_prompts(model_type: str, whole: str, name: str) -> list[Outcome]:
    """The prompt encoder alone: the shape that the default model gives its matrix."""
    use = use_of(model_type, "Fourier features")
    module = getattr(modeling(whole), f"{name}PositionalEmbedding")(built(whole).vision_config)
    shape = tuple(module.positional_embedding.T.shape)
    how = "shape of its matrix at default numbers"
    return [outcome(use.kind, how, difference(use.encoding.weights["matrix"], shape))]


def perceiver() -> list[Outcome]:
    """The bands that the remark tells of, as a matrix, on grids that are not square."""
    code = modeling("perceiver")
    outcomes = []
    for use in read("perceiver").parts[0].uses:
        if use.kind != "Fourier features":
            continue
        bands, sizes = (
            next(item.value for item in use.values if item.name == name)
            for name in ("bands", "resolution")
        )
        matrix = np.zeros((2 * bands, 2))
        for axis, size in enumerate(sizes):
            # In float32, as the model has them: a frequency of 248 is off by 1e-5 there.
            turns = torch.linspace(0.5, size / 4, bands)
            matrix[axis * bands : (axis + 1) * bands, axis] = turns
        worst = 0.0
        for grid in (3, 4), (5, 2):
            where = code.build_linear_positions(grid).reshape(1, -1, 2).double()
            theirs = code.generate_fourier_features(where, bands, sizes)[0]
            features = use.encoding.encode(where[0].numpy(), matrix=matrix)
            ours = np.concatenate([where[0].numpy(), features], axis=-1)
            worst = max(worst, difference(ours, theirs))
        how = f"vectors of grids of 3 x 4 and 5 x 2, bands for {sizes}"
        outcomes.append(outcome(use.kind, how, worst))
    return outcomes


def bros() -> list[Outcome]:
    model_type, outcomes = "bros", []
    for changes in {}, {"hidden_size": 128, "dim_bbox": 4, "num_attention_heads": 4}:
        config = built(model_type, **changes)
        use = use_of(model_type, "sinusoidal boxes", **changes)
        module = modeling(model_type).BrosBboxEmbeddings(config)
        module.bbox_projection = torch.nn.Identity()
        random = torch.Generator().manual_seed(0)
        # Of a page of 0 to 1 a third, or the float32 frequencies of the model are off by more.
        boxes = torch.rand(1, 5, config.dim_bbox, generator=random, dtype=torch.float64) / 3
        theirs = module.double()(boxes * config.bbox_scale)[:, :, 0]
        gaps = (boxes[0][None] - boxes[0][:, None]).numpy() * config.bbox_scale
        how = "vectors of all pairs of 5 boxes, query by key, before its projection"
        outcomes.append(outcome(use.kind, how, difference(use.encoding.encode(gaps), theirs)))
    return outcomes


def layers(
    model_type: str, make: Callable[[Any], torch.nn.Module], **changes: Any
) -> list[Outcome]:
    """Widths of a trained MLP: there is nothing else to compare."""
    outcomes = []
    for change in {}, changes:
        use = use_of(model_type, "coordinate MLP", **change)
        told = next(item.value for item in use.values if item.name == "layers")
        with torch.device("meta"):
            module = make(built(model_type, **change))
        linear = [item for item in module.modules() if isinstance(item, torch.nn.Linear)]
        theirs = [linear[0].in_features, *(item.out_features for item in linear)]
        outcomes.append(outcome(use.kind, "widths of its layers", difference(told, theirs)))
    return outcomes


def _head(model_type: str, decoder: str) -> Callable[[Any], torch.nn.Module]:
    """The MLP of a whole decoder, which is built without memory."""

    def make(config: Any) -> torch.nn.Module:
        module = getattr(modeling(model_type), decoder)(config)
        found = "query_pos_head" if hasattr(module, "query_pos_head") else "query_position_head"
        return getattr(module, found)

    return make


CHECKS: dict[str, Callable[[], list[Outcome]]] = {
    "bros": bros,
    "perceiver": perceiver,
    "sam": functools.partial(
        sam, "sam", "Sam", "vision_config",
        vision_config={"hidden_size": 96, "num_pos_feats": 24},
    ),
    "sam_hq": functools.partial(
        sam, "sam_hq", "SamHQ", "vision_config",
        vision_config={"hidden_size": 96, "num_pos_feats": 24},
    ),
    "sam_hq_prompt_encoder": functools.partial(
        sam_prompts, "sam_hq_prompt_encoder", "sam_hq", "SamHQ"
    ),
    "sam_prompt_encoder": functools.partial(sam_prompts, "sam_prompt_encoder", "sam", "Sam"),
    "superglue": functools.partial(
        layers,
        "superglue",
        lambda config: modeling("superglue").SuperGlueKeypointEncoder(config),
        keypoint_encoder_sizes=[16, 48], hidden_size=64,
    ),
}  # fmt: skip
for _type, _name in (
    ("edgetam_prompt_encoder", "EdgeTam"),
    ("edgetam_video_prompt_encoder", "EdgeTamVideo"),
    ("sam2_prompt_encoder", "Sam2"),
    ("sam2_video_prompt_encoder", "Sam2Video"),
    ("sam3_tracker_prompt_encoder", "Sam3Tracker"),
    ("sam3_tracker_video_prompt_encoder", "Sam3TrackerVideo"),
):
    CHECKS[_type] = functools.partial(sam, _type, _name, hidden_size=48, scale=3)
for _type, _name in (
    ("d_fine", "DFineDecoder"),
    ("deimv2", "Deimv2Decoder"),
    ("omdet-turbo", "OmDetTurboDecoder"),
    ("pp_doclayout_v2", "PPDocLayoutV2Decoder"),
    ("pp_doclayout_v3", "PPDocLayoutV3Decoder"),
    ("pp_doclayout_v4", "PPDocLayoutV4Decoder"),
    ("rt_detr", "RTDetrDecoder"),
    ("rt_detr_v2", "RTDetrV2Decoder"),
):
    _changes = {"decoder_hidden_dim" if _type == "omdet-turbo" else "d_model": 64}
    CHECKS[_type] = functools.partial(layers, _type, _head(_type, _name), **_changes)
