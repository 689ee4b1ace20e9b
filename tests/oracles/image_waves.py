"""Sines and cosines of rows, columns and boxes: the models' functions and what posenc read."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from oracles import Outcome, built, difference, modeling, read
from oracles.patches_own import encoded, outcome, random
from posenc import grids, positions
from posenc.inspector import Use

NOT_YET: dict[str, str] = {}

_GRIDS = (3, 4), (5, 2), (1, 7), (23, 17)
_HOW = "whole vectors on grids of 3 x 4, 5 x 2, 1 x 7, 23 x 17"


def uses(model_type: str, **changes: Any) -> list[Use]:
    """All waves that posenc reads in a model's own settings."""
    parts = [part for part in read(model_type, **changes).parts if part.model_type == model_type]
    return [use for use in parts[0].uses if use.kind.startswith("sinusoidal")]


def masks() -> list[torch.Tensor]:
    """Whole images, and one with padding to the right and below."""
    padded = torch.zeros(1, 5, 6, dtype=torch.long)
    padded[:, :3, :4] = 1
    return [*(torch.ones(1, *grid, dtype=torch.long) for grid in _GRIDS), padded]


def grid(use: Use, module: torch.nn.Module, call: str, shift: float = 0.0) -> Outcome:
    """A module that makes vectors for a whole map against one use."""
    worst = 0.0
    for mask in masks():
        where = grids.from_mask(mask.numpy(), shift=shift)
        if call == "mask":  # the module counts in float32, and so must we
            theirs, where = (
                module(torch.zeros(1, 3, *mask.shape[1:]), mask),
                where.astype("float32"),
            )
        else:
            shape = torch.Size((1, 3, *mask.shape[1:]))
            theirs = module(shape, "cpu", torch.float64, mask)
        ours, theirs = use.encoding.encode(where), theirs.permute(0, 2, 3, 1)
        if shift:  # divides by nothing where a whole row is padding: noise that is never looked at
            ours, theirs = ours[mask.numpy() == 1], theirs[mask == 1]
        worst = max(worst, difference(ours, theirs))
    return outcome(use.kind, f"{_HOW}, and with padding", worst)


def points(use: Use, function: Callable[[torch.Tensor], torch.Tensor]) -> Outcome:
    """A function of boxes against one use."""
    sides = len(use.encoding.axes)
    where = torch.rand(2, 9, sides, generator=torch.Generator().manual_seed(0))
    ours = use.encoding.encode(where.numpy().astype(np.float64) * 2 * np.pi)
    how = "vectors of 18 random boxes" if sides == 4 else "vectors of 18 random centres"
    return outcome(use.kind, how, difference(ours, function(where)))


def learned(model_type: str, make: Callable[[Any], torch.nn.Module], call: str) -> Outcome:
    """The trained rows and columns that another setting switches on."""
    on = {"position_embedding_type": "learned", "d_model": 48}
    (use,) = [
        use
        for use in read(model_type, **on).parts[0].uses
        if use.kind == "learned rows and columns"
    ]
    module = make(built(model_type, **on))
    tables = random(50, 24), random(50, 24, seed=1)
    worst = 0.0
    with torch.no_grad():
        module.row_embeddings.weight.copy_(tables[0])
        module.column_embeddings.weight.copy_(tables[1])
        for rows, columns in (3, 4), (5, 2):
            shape = torch.Size((1, 3, rows, columns))
            theirs = (
                module(torch.zeros(shape))
                if call == "mask"
                else module(shape, "cpu", torch.float32)
            )
            ours = encoded(use, tables, torch.tensor(positions.grid(rows, columns)))
            worst = max(worst, difference(ours, theirs[0].permute(1, 2, 0).reshape(-1, 48)))
    how = "its trained vectors on grids of 3 x 4 and 5 x 2, with copied weights"
    return outcome(use.kind, how, worst)


def detr(model_type: str, name: str, *, shift: float = 0.0) -> list[Outcome]:
    """Those whose modules take a width and say `normalize`."""
    code = modeling(model_type)
    sine = getattr(code, f"{name}SinePositionEmbedding")
    call = "mask" if model_type == "table-transformer" else "shape"
    outcomes = []
    for width in 256, 48:
        use, *others = uses(model_type, d_model=width)
        module = sine(built(model_type, d_model=width).d_model // 2, normalize=True)
        outcomes.append(grid(use, module, call, shift))
        if others:
            boxes = functools.partial(
                code.encode_sinusoidal_position_embedding, num_pos_feats=width // 2
            )
            outcomes.append(points(others[0], boxes))
    trained = getattr(code, f"{name}LearnedPositionEmbedding")
    outcomes.append(learned(model_type, lambda config: trained(config.d_model // 2), call))
    return outcomes


def deformable_detr() -> list[Outcome]:
    model_type = "deformable_detr"
    outcomes = detr(model_type, "DeformableDetr", shift=-0.5)
    on = {"two_stage": True, "with_box_refine": True, "d_model": 48}
    boxes = uses(model_type, **on)[1]
    model = modeling(model_type).DeformableDetrModel
    where = torch.rand(2, 9, 4, generator=torch.Generator().manual_seed(0))
    config = built(model_type, **on)

    class Bare:
        """Only the settings: the function asks for nothing else."""

    bare = Bare()
    bare.config = config
    theirs = model.get_proposal_pos_embed(bare, torch.logit(where))
    ours = boxes.encoding.encode(where.numpy().astype(np.float64) * 2 * np.pi)
    return [*outcomes, outcome(boxes.kind, "vectors of 18 random boxes", difference(ours, theirs))]


def grounding_dino(model_type: str, name: str) -> list[Outcome]:
    code = modeling(model_type)
    outcomes = []
    for changes in {}, {"d_model": 48, "positional_embedding_temperature": 100, "query_dim": 2}:
        config = built(model_type, **changes)
        use, boxes = uses(model_type, **changes)
        sine = getattr(code, f"{name}SinePositionEmbedding")(config)
        outcomes.append(grid(use, sine, "mask"))
        function = functools.partial(
            code.encode_sinusoidal_position_embedding, num_pos_feats=config.d_model // 2
        )
        outcomes.append(points(boxes, function))
    trained = getattr(code, f"{name}LearnedPositionEmbedding")
    return [*outcomes, learned(model_type, trained, "mask")]


def dab_detr() -> list[Outcome]:
    model_type = "dab-detr"
    code = modeling(model_type)
    use, boxes = uses(model_type)
    function = functools.partial(code.encode_sinusoidal_position_embedding, num_pos_feats=128)
    outcomes = [
        grid(use, code.DabDetrSinePositionEmbedding(built(model_type)), "mask"),
        points(boxes, function),
    ]
    apart = {"hidden_size": 48, "temperature_height": 30, "temperature_width": 1000}
    row, column, _ = uses(model_type, **apart)
    module = code.DabDetrSinePositionEmbedding(built(model_type, **apart))
    worst = 0.0
    for mask in masks():
        where = grids.from_mask(mask.numpy()).astype(np.float32)
        halves = row.encoding.encode(where[..., 0]), column.encoding.encode(where[..., 1])
        theirs = module(torch.zeros(1, 3, *mask.shape[1:]), mask).permute(0, 2, 3, 1)
        worst = max(worst, difference(np.concatenate(halves, axis=-1), theirs))
    return [*outcomes, outcome(row.kind, f"{_HOW}, with a temperature for each axis", worst)]


def fixed(model_type: str, module: str, **widths: int) -> list[Outcome]:
    """Those that make a module for each of their uses, of the width in a setting."""
    cls = getattr(modeling(model_type), module)
    outcomes = []
    for changes in {}, widths:
        config = built(model_type, **changes)
        for use, key in zip(uses(model_type, **changes), widths, strict=True):
            sine = cls(num_position_features=getattr(config, key) // 2, normalize=True)
            outcomes.append(grid(use, sine, "shape"))
    return outcomes


def maskformer() -> list[Outcome]:
    model_type = "maskformer"
    sine = modeling(model_type).MaskFormerSinePositionEmbedding
    small = {"decoder_config": {"model_type": "detr", "d_model": 48}}
    outcomes = []
    for changes, width in ({}, 256), (small, 48):
        (use,) = uses(model_type, **changes)
        outcomes.append(grid(use, sine(num_position_features=width // 2, normalize=True), "shape"))
    return outcomes


def box_function(model_type: str) -> list[Outcome]:
    function = modeling(model_type).encode_sinusoidal_position_embedding
    return [
        points(use, functools.partial(function, num_pos_feats=width // 2))
        for width in (256, 48)
        for use in uses(model_type, d_model=width)
    ]


def sam3(model_type: str, name: str) -> list[Outcome]:
    """Boxes of the decoder, centres of the geometry encoder."""
    cls = getattr(modeling(model_type), f"{name}SinePositionEmbedding")
    outcomes = []
    for width in 256, 48:
        (use,) = uses(model_type, hidden_size=width)
        module = cls(num_position_features=width // 2, normalize=False)
        outcomes.append(points(use, functools.partial(_sam3_vectors, module)))
    return outcomes


def _sam3_vectors(module: torch.nn.Module, where: torch.Tensor) -> torch.Tensor:
    if where.shape[-1] == 4:
        return module.encode_boxes(where)
    x, y = module.encode_1d_positions(where[..., 0].flatten(), where[..., 1].flatten())
    return torch.cat([y, x], dim=-1).reshape(*where.shape[:-1], -1)


def rt_detr(model_type: str, name: str) -> list[Outcome]:
    code = modeling(model_type)
    worst = 0.0
    small = {"encoder_hidden_dim": 48, "positional_encoding_temperature": 300}
    for changes in {}, small:
        (use,) = uses(model_type, **changes)
        config = built(model_type, **changes)
        module = getattr(code, f"{name}SinePositionEmbedding")(
            embed_dim=config.encoder_hidden_dim, temperature=config.positional_encoding_temperature
        )
        for rows, columns in _GRIDS:
            cpu = torch.device("cpu")
            theirs = module(width=columns, height=rows, device=cpu, dtype=torch.float32)[0]
            ours = use.encoding.encode(positions.grid(rows, columns))
            worst = max(worst, difference(ours, theirs))
    return [outcome(use.kind, _HOW, worst)]


def omdet_turbo() -> list[Outcome]:
    model_type, worst = "omdet-turbo", 0.0
    function = modeling(model_type).OmDetTurboHybridEncoder.build_2d_sincos_position_embedding
    small = {"encoder_hidden_dim": 48, "positional_encoding_temperature": 300}
    for changes in {}, small:
        (use,) = uses(model_type, **changes)
        config = built(model_type, **changes)
        for rows, columns in _GRIDS:
            theirs = function(
                columns, rows, config.encoder_hidden_dim, config.positional_encoding_temperature,
                dtype=torch.float64,
            )[0]  # fmt: skip
            number = np.arange(rows * columns)
            ours = use.encoding.encode(np.stack([number % rows, number // rows], axis=-1))
            worst = max(worst, difference(ours, theirs))
    return [outcome(use.kind, _HOW, worst)]


def aimv2() -> list[Outcome]:
    model_type, worst = "aimv2_vision_model", 0.0
    small = {"is_native": True, "patch_size": 4, "hidden_size": 48}
    (use,) = uses(model_type, **small)
    module = modeling(model_type).Aimv2VisionEmbeddings(built(model_type, **small))
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.zero_()
        for rows, columns in _GRIDS:
            theirs = module(torch.zeros(1, 3, 4 * rows, 4 * columns))[0]
            worst = max(
                worst, difference(use.encoding.encode(positions.grid(rows, columns)), theirs)
            )
    return [outcome(use.kind, f"what its module adds to patches; {_HOW}", worst)]


def vit_mae() -> list[Outcome]:
    model_type, outcomes = "vit_mae", []
    code = modeling(model_type)
    small = {
        "image_size": 20, "patch_size": 4, "hidden_size": 48, "decoder_hidden_size": 32,
        "decoder_num_hidden_layers": 1, "decoder_num_attention_heads": 2,
    }  # fmt: skip
    for changes in {"decoder_num_hidden_layers": 1}, small:
        config = built(model_type, **changes)
        encoder = code.ViTMAEEmbeddings(config)
        encoder.initialize_weights()
        side = config.image_size // config.patch_size
        decoder = code.ViTMAEDecoder(config, num_patches=side**2)
        tables = encoder.position_embeddings[0], decoder.decoder_pos_embed[0]
        for use, table in zip(uses(model_type, **changes), tables, strict=True):
            vectors = use.encoding.encode(positions.grid(side, side))
            ours = np.concatenate([np.zeros((1, vectors.shape[1])), vectors])
            how = f"the whole table it starts with, {side} x {side} cells"
            outcomes.append(outcome(use.kind, how, difference(ours, table)))
    return outcomes


def granite_docling() -> list[Outcome]:
    model_type, outcomes = "granite_docling_vision", []
    code = modeling(model_type)
    small = {"out_hidden_size": 48, "image_size": 64, "scale_factor": 2}
    for changes in {}, small:
        config = built(model_type, **changes)
        found = uses(model_type, **changes)
        for use, factor in zip(found, (config.scale_factor, config.scale_factor // 2), strict=True):
            with torch.device("meta"):
                path = code.GraniteDoclingConnectorPath(config, factor)
            side = path.pos_embed.grid_size
            theirs = code.GraniteDoclingPositionEmbedding(config.out_hidden_size, side).pos_embed
            told = next(item.value for item in use.values if item.name == "side")
            ours = use.encoding.encode(positions.grid(told, told))
            how = f"its whole table of {side} x {side} cells"
            outcomes.append(outcome(use.kind, how, difference(ours, theirs)))
    return outcomes


_ORACLE = functools.partial

CHECKS: dict[str, Callable[[], list[Outcome]]] = {
    "aimv2_vision_model": aimv2,
    "conditional_detr": _ORACLE(detr, "conditional_detr", "ConditionalDetr"),
    "dab-detr": dab_detr,
    "deformable_detr": deformable_detr,
    "detr": _ORACLE(detr, "detr", "Detr"),
    "edgetam_video": _ORACLE(
        fixed,
        "edgetam_video",
        "EdgeTamVideoPositionEmbeddingSine",
        memory_encoder_output_channels=48,
        perceiver_resampler_hidden_size=32,
    ),
    "edgetam_vision_model": _ORACLE(
        fixed, "edgetam_vision_model", "EdgeTamSinePositionEmbedding", fpn_hidden_size=48
    ),
    "granite_docling_vision": granite_docling,
    "grounding-dino": _ORACLE(grounding_dino, "grounding-dino", "GroundingDino"),
    "lw_detr": _ORACLE(box_function, "lw_detr"),
    "mask2former": _ORACLE(
        fixed, "mask2former", "Mask2FormerSinePositionEmbedding", feature_size=48, hidden_dim=32
    ),
    "maskformer": maskformer,
    "mm-grounding-dino": _ORACLE(grounding_dino, "mm-grounding-dino", "MMGroundingDino"),
    "omdet-turbo": omdet_turbo,
    "oneformer": _ORACLE(
        fixed, "oneformer", "OneFormerSinePositionEmbedding", conv_dim=48, hidden_dim=32
    ),
    "rf_detr": _ORACLE(box_function, "rf_detr"),
    "sam2_video": _ORACLE(
        fixed, "sam2_video", "Sam2VideoPositionEmbeddingSine", memory_encoder_output_channels=48
    ),
    "sam2_vision_model": _ORACLE(
        fixed, "sam2_vision_model", "Sam2SinePositionEmbedding", fpn_hidden_size=48
    ),
    "sam3_tracker_video": _ORACLE(
        fixed,
        "sam3_tracker_video",
        "Sam3TrackerVideoPositionEmbeddingSine",
        memory_encoder_output_channels=48,
    ),
    "sam3_vision_model": _ORACLE(
        fixed, "sam3_vision_model", "Sam3SinePositionEmbedding", fpn_hidden_size=48
    ),
    "table-transformer": _ORACLE(detr, "table-transformer", "TableTransformer"),
    "vit_mae": vit_mae,
}
for _name, _prefix in (
    ("d_fine", "DFine"),
    ("deimv2", "Deimv2"),
    ("pp_doclayout_v2", "PPDocLayoutV2"),
    ("pp_doclayout_v3", "PPDocLayoutV3"),
    ("pp_doclayout_v4", "PPDocLayoutV4"),
    ("rt_detr", "RTDetr"),
    ("rt_detr_v2", "RTDetrV2"),
):
    CHECKS[_name] = functools.partial(rt_detr, _name, _prefix)
for _name, _prefix in (
    ("sam3_detr_decoder", "Sam3"),
    ("sam3_geometry_encoder", "Sam3"),
    ("sam3_lite_text_detr_decoder", "Sam3LiteText"),
    ("sam3_lite_text_geometry_encoder", "Sam3LiteText"),
):
    CHECKS[_name] = functools.partial(sam3, _name, _prefix)
