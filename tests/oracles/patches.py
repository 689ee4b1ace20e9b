"""Learned tables over patches: the model's own embedding module against what posenc read."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from oracles import Outcome, built, difference, modeling, patch_runs as run
from oracles.patch_modules import cells, default_shape, only_positions, use_of

NOT_YET: dict[str, str] = {}

Run = Callable[[torch.nn.Module, int, int], torch.Tensor]
_SMALL = {"image_size": 12, "patch_size": 4, "hidden_size": 48}
_FREE = (3, 3), (3, 4), (5, 2)
_FIXED = ((3, 3),)


def _joined(outer: np.ndarray, inner: np.ndarray) -> np.ndarray:
    return np.concatenate([outer, inner])


def _inner(outer: np.ndarray, inner: np.ndarray) -> np.ndarray:
    return inner


def _outer_last(outer: np.ndarray, inner: np.ndarray) -> np.ndarray:
    return np.concatenate([inner, outer])


def _summed(outer: np.ndarray, inner: np.ndarray) -> np.ndarray:
    return inner + outer


def _registers(outer: np.ndarray, inner: np.ndarray) -> np.ndarray:
    return np.concatenate([outer, np.zeros((2, inner.shape[1])), inner])


def _silent(outer: np.ndarray, inner: np.ndarray) -> np.ndarray:
    """Three tokens before the patches have no position."""
    return np.concatenate([np.zeros((3, inner.shape[1])), inner])


@dataclass(frozen=True, kw_only=True)
class Group:
    """Model types that are checked alike.

    Args:
        types: "model_type:Class" with spaces between; the class that holds the table.
        run: calls the module for an image of so many rows and columns of patches.
        small: settings of a small model.
        grids: rows and columns of the images.
        expected: puts rows outside the grid and cells together as the model does.
        default: settings of the default model that are needed to switch the table on.
    """

    types: str
    run: Run = run.pixels
    small: dict[str, Any] = field(default_factory=lambda: _SMALL)
    grids: tuple[tuple[int, ...], ...] = _FREE
    expected: Callable[[np.ndarray, np.ndarray], np.ndarray] = _joined
    default: dict[str, Any] = field(default_factory=dict)

    def checks(self) -> dict[str, Callable[[], list[Outcome]]]:
        pairs = (item.split(":") for item in self.types.split())
        return {name: functools.partial(_check, self, name, cls) for name, cls in pairs}


def _check(group: Group, model_type: str, name: str) -> list[Outcome]:
    code = _CODE.get(model_type)
    home = importlib.import_module(f"transformers.models.{code}") if code else modeling(model_type)
    cls = getattr(home, name)
    use = use_of(model_type, **group.small)
    module = cls(built(model_type, **group.small))
    table = only_positions(module)
    worst = 0.0
    with torch.no_grad():
        for grid in group.grids:
            theirs = group.run(module, *grid[-2:])
            ours = group.expected(*cells(use, table, grid))
            worst = max(worst, difference(ours, theirs.reshape(-1, theirs.shape[-1])))
    sizes = ", ".join(" x ".join(map(str, grid)) for grid in group.grids)
    return [
        default_shape(model_type, cls, **group.default),
        Outcome(
            kind=use.kind,
            layout="",
            how=f"what its module adds to patches, with copied weights, on grids of {sizes}",
            difference=worst,
        ),
    ]


_CODE = {"idefics_vision": "idefics.vision", "pp_chart2table_vision": "got_ocr2.modeling_got_ocr2"}
"""Where the code of a model type stands, if not beside its config class."""

_ONE_LAYER = _SMALL | {"num_hidden_layers": 1, "num_attention_heads": 2, "depth": 1, "num_heads": 2}

_GROUPS = (
    Group(
        types="altclip_vision_model:AltCLIPVisionEmbeddings "
        "blip_2_vision_model:Blip2VisionEmbeddings blip_vision_model:BlipVisionEmbeddings "
        "bridgetower_vision_model:BridgeTowerVisionEmbeddings "
        "chinese_clip_vision_model:ChineseCLIPVisionEmbeddings "
        "clip_vision_model:CLIPVisionEmbeddings flava_image_model:FlavaImageEmbeddings "
        "git_vision_model:GitVisionEmbeddings "
        "instructblip_vision_model:InstructBlipVisionEmbeddings "
        "instructblipvideo_vision_model:InstructBlipVideoVisionEmbeddings "
        "kosmos_2_vision_model:Kosmos2VisionEmbeddings "
        "metaclip_2_vision_model:MetaClip2VisionEmbeddings "
        "owlv2_vision_model:Owlv2VisionEmbeddings owlvit_vision_model:OwlViTVisionEmbeddings "
        "vit:ViTEmbeddings vit_msn:ViTMSNEmbeddings xclip_vision_model:XCLIPVisionEmbeddings "
        "deit:DeiTEmbeddings granite_docling_vision:GraniteDoclingVisionEmbeddings "
        "groupvit_vision_model:GroupViTVisionEmbeddings ijepa:IJepaEmbeddings "
        "janus_vision_model:JanusVisionEmbeddings siglip_vision_model:SiglipVisionEmbeddings "
        "step3p5_vision:Step3p7VisionEmbeddings idefics_vision:IdeficsVisionEmbeddings",
        run=run.asked,
    ),
    Group(
        types="clipseg_vision_model:CLIPSegVisionEmbeddings dinov2:Dinov2Embeddings "
        "dpt:DPTViTEmbeddings",
    ),
    Group(types="unlimited_ocr_vision_encoder:UnlimitedOcrVisionEmbeddings", run=run.features),
    Group(types="rf_detr_dinov2:RfDetrDinov2Embeddings", small=_SMALL | {"num_windows": 1}),
    Group(types="pixio:PixioEmbeddings", small=_SMALL | {"n_cls_tokens": 3}),
    Group(
        types="beit:BeitEmbeddings data2vec-vision:Data2VecVisionEmbeddings "
        "internvl_vision:InternVLVisionEmbeddings qianfan_ocr_vision:QianfanOCRVisionEmbeddings",
        small=_SMALL | {"use_absolute_position_embeddings": True},
        default={"use_absolute_position_embeddings": True},
    ),
    Group(
        types="swin:SwinEmbeddings",
        run=run.asked,
        small={
            "image_size": 12,
            "patch_size": 4,
            "embed_dim": 48,
            "use_absolute_embeddings": True,
        },
        default={"use_absolute_embeddings": True},
    ),  # fmt: skip
    Group(
        types="dinov2_with_registers:Dinov2WithRegistersEmbeddings "
        "tipsv2_vision_model:Tipsv2VisionEmbeddings",
        small=_SMALL | {"num_register_tokens": 2},
        expected=_registers,
    ),
    Group(
        types="vitdet:VitDetEmbeddings lw_detr_vit:LwDetrViTEmbeddings",
        run=run.channels_first,
        small=_SMALL | {"image_size": 64, "pretrain_image_size": 12},
        expected=_inner,
    ),
    Group(
        types="seggpt:SegGptEmbeddings",
        run=run.prompted,
        small=_SMALL | {"image_size": [12, 20], "pretrain_image_size": 16},
        grids=((3, 5),),
        expected=_inner,
    ),
    Group(
        types="sam3_vit_model:Sam3ViTEmbeddings",
        small=_SMALL | {"image_size": 40, "pretrain_image_size": 12},
        grids=((3, 3), (3, 4), (5, 2), (7, 3)),
    ),
    Group(
        types="glm4v_moe_vision:Glm4vMoeVisionEmbeddings glm4v_vision:Glm4vVisionEmbeddings "
        "glm_image_vision:GlmImageVisionEmbeddings",
        run=run.coordinates,
    ),
    Group(
        types="muse_glimmer_vision:MuseGlimmerVisionPatchEmbedder "
        "muse_spark_vision:MuseSparkVisionPatchEmbedder",
        run=run.grid_wide,
        small={"patch_size": 4, "hidden_size": 48, "pos_emb_height": 3, "pos_emb_width": 3},
    ),
    Group(
        types="cosmos3_edge_vision:Cosmos3EdgeVisionEmbeddings",
        run=run.grid,
        small={"patch_size": 4, "hidden_size": 48, "num_patches": 9, "spatial_merge_size": 1},
    ),
    Group(
        types="siglip2_vision_model:Siglip2VisionEmbeddings",
        run=run.shapes,
        small={"patch_size": 4, "hidden_size": 48, "num_patches": 9},
    ),
    Group(types="paddleocr_vl_vision:PaddleOCRVisionEmbeddings", run=run.patches),
    Group(
        types="idefics2_vision:Idefics2VisionEmbeddings idefics3_vision:Idefics3VisionEmbeddings "
        "smolvlm_vision:SmolVLMVisionEmbeddings "
        "phi4_multimodal_vision:Phi4MultimodalVisionEmbeddings",
        run=run.masked,
    ),
    Group(
        types="minicpm_ocr_vision:MiniCPMOcrVisionEmbeddings "
        "minicpmv4_6_vision:MiniCPMV4_6VisionEmbeddings "
        "minicpmv4_7_vision:MiniCPMV4_7VisionEmbeddings",
        run=run.targets,
    ),
    Group(
        types="hunyuan_vl_vision:HunYuanVLVisionPatchEmbed hy_v4_vl_vision:HYV4VLVisionPatchEmbed",
        run=run.grid_list,
        small={"patch_size": 4, "hidden_size": 48, "max_image_size": 12},
        expected=_inner,
    ),
    Group(
        types="deepseek_ocr2_sam_vision_model:DeepseekOcr2SamVisionEncoder "
        "unlimited_ocr_sam_vision_model:UnlimitedOcrSamVisionEncoder",
        run=run.encoder,
        small=_ONE_LAYER,
    ),
    Group(
        types="got_ocr2_vision:GotOcr2VisionEncoder pp_chart2table_vision:GotOcr2VisionEncoder "
        "pp_formulanet_vision:PPFormulaNetVisionModel sam_hq_vision_model:SamHQVisionEncoder "
        "sam_vision_model:SamVisionEncoder slanext_vision:SLANeXtVisionEncoder",
        run=run.encoder,
        small=_ONE_LAYER,
        grids=_FIXED,
    ),
    Group(
        types="eomt:EomtEmbeddings videomt:VideomtEmbeddings",
        small=_SMALL | {"num_register_tokens": 2},
        grids=_FIXED,
        expected=_silent,
    ),
    Group(
        types="radio:RadioPatchEmbeddings",
        run=run.cropping,
        small={"patch_size": 4, "hidden_size": 48, "max_img_size": 12},
    ),
    Group(
        types="audio-spectrogram-transformer:ASTEmbeddings",
        run=run.spectrogram,
        small={
            "patch_size": 4,
            "hidden_size": 48,
            "num_mel_bins": 8,
            "frequency_stride": 2,
            "max_length": 14,
            "time_stride": 5,
        },
        grids=((3, 3),),
    ),
    Group(types="timesformer:TimesformerEmbeddings", run=run.frame),
    Group(types="vilt:ViltEmbeddings", run=run.visible),
    Group(
        types="vivit:VivitEmbeddings",
        run=run.frames,
        small={
            "image_size": 12,
            "tubelet_size": [2, 4, 4],
            "num_frames": 4,
            "hidden_size": 48,
        },
        grids=((2, 3, 3),),
    ),
    Group(
        types="inkling2_vision:Inkling2VisionEmbeddings",
        run=run.blocks_of_one,
        small={
            "patch_size": 4,
            "hidden_size": 48,
            "posemb_grid_size": 3,
            "spatial_merge_size": 1,
        },
    ),
    Group(
        types="llama4_vision_model:Llama4VisionModel",
        run=run.before_layers,
        small=_ONE_LAYER,
        grids=_FIXED,
        expected=_outer_last,
    ),
    Group(
        types="molmo2_vision:Molmo2VisionModel",
        run=run.flat_encoder,
        small=_ONE_LAYER | {"image_size": [12, 20], "num_key_value_heads": 2, "head_dim": 24},
        grids=((3, 5),),
    ),
    Group(
        types="layoutlmv3:LayoutLMv3Model",
        run=run.visual_tokens,
        small={
            "input_size": 12,
            "patch_size": 4,
            "hidden_size": 48,
            "num_hidden_layers": 1,
            "text_embed": False,
        },
        grids=_FIXED,
        default={"text_embed": False},
    ),
    Group(types="ovis2_vision:Ovis2VisionEmbeddings", grids=_FIXED),
    Group(
        types="vitpose_backbone:VitPoseBackboneEmbeddings",
        run=run.padded,
        small={"image_size": [48, 32], "patch_size": [16, 16], "hidden_size": 48},
        grids=((3, 2),),
        expected=_summed,
    ),
    Group(
        types="cohere_compass_vision:CohereCompassVisionModel "
        "qwen3_5_moe_vision:Qwen3_5MoeVisionModel qwen3_5_vision:Qwen3_5VisionModel "
        "qwen3_omni_moe_vision_encoder:Qwen3OmniMoeVisionEncoder "
        "qwen3_vl_moe_vision:Qwen3VLMoeVisionModel qwen3_vl_vision:Qwen3VLVisionModel "
        "qwen4_exp_vision:Qwen4ExpVisionModel",
        run=run.merged,
        small={
            "patch_size": 4,
            "hidden_size": 48,
            "num_position_embeddings": 9,
            "depth": 1,
            "num_heads": 2,
            "spatial_merge_size": 1,
            "deepstack_visual_indexes": [0],
        },
    ),  # fmt: skip
)

CHECKS: dict[str, Callable[[], list[Outcome]]] = {}
for _group in _GROUPS:
    CHECKS |= _group.checks()
