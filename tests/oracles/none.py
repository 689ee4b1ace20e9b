"""Types without positions: no part is named after any, and permuted tokens stay permuted."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import re
import textwrap
from collections.abc import Callable

import torch
from transformers import AutoModel

from oracles import Outcome, built, modeling, read
from oracles.permutations import PERMUTED
from posenc.inspector.families.none import READERS
from posenc.inspector.reading import Use

POSITIONS = re.compile(
    r"pos(ition)?(al)?_?(conv|emb|enc|bias|table)|rotar|rotate_|rope|relative|alibi|sinus|inv_freq"
    r"|^sin$|^cos$|bias_table|time_?step",
    re.IGNORECASE,
)
ATTENTION = re.compile(r"attn|attention", re.IGNORECASE)
NEIGHBOURS = re.compile(r"conv|pool", re.IGNORECASE)
STEPS = re.compile(r"mixer|lstm|deltaattention|textlinearattention", re.IGNORECASE)

NETWORKS = {
    "align_vision_model": "AlignVisionModel",
    "apertus1p5_vision_tokenizer": "Apertus1p5VisionTokenizerModel",
    "chameleon_vqgan": "ChameleonVQVAE",
    "edgetam_mask_decoder": "EdgeTamMaskDecoder",
    "edgetam_video_mask_decoder": "EdgeTamVideoMaskDecoder",
    "emu3_vqgan": "Emu3VQVAE",
    "fastspeech2_conformer_hifigan": "FastSpeech2ConformerHifiGan",
    "flava_image_codebook": "FlavaImageCodebook",
    "flava_multimodal_model": "FlavaMultimodalModel",
    "idefics2_perceiver": "Idefics2PerceiverResampler",
    "inkling_audio": "InklingAudioModel",
    "inkling_vision": "InklingVisionModel",
    "janus_vqgan": "JanusVQVAE",
    "molmo2_adapter": "Molmo2Adapter",
    "moonshine_streaming_encoder": "MoonshineStreamingEncoder",
    "moshi_depth": "MoshiDepthDecoder",
    "pp_lcnet": "PPLCNetBackbone",
    "pp_lcnet_v3": "PPLCNetV3Backbone",
    "pp_lcnet_v4": "PPLCNetV4Backbone",
    "qwen2_5_omni_bigvgan": "Qwen2_5OmniToken2WavBigVGANModel",
    "rt_detr_resnet": "RTDetrResNetBackbone",
    "sam2_mask_decoder": "Sam2MaskDecoder",
    "sam2_video_mask_decoder": "Sam2VideoMaskDecoder",
    "sam3_detr_encoder": "Sam3DetrEncoder",
    "sam3_lite_text_detr_encoder": "Sam3LiteTextDetrEncoder",
    "sam3_lite_text_mask_decoder": "Sam3LiteTextMaskDecoder",
    "sam3_mask_decoder": "Sam3MaskDecoder",
    "sam3_tracker_mask_decoder": "Sam3TrackerMaskDecoder",
    "sam3_tracker_video_mask_decoder": "Sam3TrackerVideoMaskDecoder",
    "sam_hq_mask_decoder": "SamHQMaskDecoder",
    "sam_mask_decoder": "SamMaskDecoder",
    "speecht5_hifigan": "SpeechT5HifiGan",
    "superpoint": "SuperPointForKeypointDetection",
    "uvdoc_backbone": "UVDocBackbone",
}
"""Classes of networks that AutoModel does not know."""

INNOCENT = {
    "dac": {"sin"},  # the snake activation
    "qwen2_5_omni_bigvgan": {"sin"},
    # Rotation is built into its attention, and switched off; see the permutation below.
    "moshi_depth": {"MoshiRotaryEmbedding", "apply_rotary_pos_emb", "rotary_emb"},
}
"""Calls that sound like positions and are none."""


def network(model_type: str) -> torch.nn.Module:
    """A network of default size without numbers."""
    with torch.device("meta"):
        if model_type == "gemma4_unified_audio":
            text = built("gemma4_unified_text")
            embedder = modeling(model_type).Gemma4UnifiedMultimodalEmbedder
            return embedder(built(model_type), text)
        if model_type == "idefics_perciever":
            perceiver = importlib.import_module("transformers.models.idefics.perceiver")
            return perceiver.IdeficsPerceiverResampler(built("idefics"), 32, 2, 4, 8, 5)
        if model_type == "sapiens2_head":
            head = built(model_type, upsample_out_channels=[8], conv_out_channels=[8])
            return modeling(model_type).Sapiens2Head(built("sapiens2", head_config=head))
        if model_type in NETWORKS:
            return getattr(modeling(model_type), NETWORKS[model_type])(built(model_type))
        return AutoModel.from_config(built(model_type))


def named_after_positions(model: torch.nn.Module) -> set[str]:
    """Modules, weights and buffers that sound like positions."""
    names = {name for name, _ in model.named_modules()}
    names |= {name for name, _ in (*model.named_parameters(), *model.named_buffers())}
    classes = {type(module).__name__ for module in model.modules()}
    last = {name.rsplit(".", 1)[-1] for name in names}
    return {name for name in last | classes if POSITIONS.search(name)}


def called_after_positions(model: torch.nn.Module) -> set[str]:
    """Functions that sound like positions and that classes of the network call."""
    calls = set()
    for kind in {type(module) for module in model.modules()}:
        if not kind.__module__.startswith("transformers.models"):
            continue
        tree = ast.parse(textwrap.dedent(inspect.getsource(kind)))
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            name = getattr(call.func, "id", getattr(call.func, "attr", ""))
            calls |= {name} if POSITIONS.search(name) else set()
    return calls


def made_of(use: Use, model: torch.nn.Module) -> float:
    """0 if a network is made of what the remark says, else 1."""
    classes = [type(module).__name__ for module in model.modules()]
    attention = any(ATTENTION.search(name) and not STEPS.search(name) for name in classes)
    neighbours = any(NEIGHBOURS.search(name) for name in classes)
    steps = any(STEPS.search(name) for name in classes)
    (remark,) = use.remarks
    wanted = {
        "It is built of convolutions,": neighbours and not attention and not steps,
        "It is built of convolutions and": neighbours and not attention and steps,
        "Attention looks at features": neighbours and attention,
        "It reads tokens one after": steps and not attention,
        "Attention has no positions": steps and attention,
        "Each frame or patch": not neighbours and not attention,
    }
    return float(
        not next((so for start, so in wanted.items() if remark.startswith(start)), attention)
    )


def unnamed(model_type: str) -> Outcome:
    """How many parts of the network sound like positions, or belie what posenc says of it."""
    (use,) = read(model_type).uses[:1]
    model = network(model_type)
    found = named_after_positions(model) | called_after_positions(model)
    found -= INNOCENT.get(model_type, set())
    return Outcome(
        kind=use.kind,
        layout="",
        how="no module, weight or call of its network is named after positions",
        difference=len(found) + made_of(use, model),
    )


def check(model_type: str) -> list[Outcome]:
    """Nothing is named after positions, and permuted tokens stay permuted where they can be."""
    outcomes = [unnamed(model_type)]
    if model_type in PERMUTED:
        how = "its own attention or projection, small: permuted tokens come out permuted"
        gap = PERMUTED[model_type]()
        outcomes.append(Outcome(kind="none", layout="", how=how, difference=gap))
    return outcomes


NOT_YET = dict.fromkeys(
    ("gemma3n_vision", "timm_backbone", "timm_wrapper"),
    "the timm library builds it by its name, and no setting tells its positions",
)

CHECKS: dict[str, Callable[[], list[Outcome]]] = {
    model_type: functools.partial(check, model_type)
    for model_type in READERS
    if model_type not in NOT_YET
}
