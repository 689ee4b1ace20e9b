"""Types without a position encoding of their own, and what tells them order instead."""

from __future__ import annotations

from posenc.inspector.families.shared import Reader, use
from posenc.inspector.reading import Use
from posenc.inspector.settings.config import Config

_CONVOLUTIONS = "It is built of convolutions, which meet each neighbour with weights of its own."
_CONVOLUTIONS_MEMORY = (
    "It is built of convolutions and an LSTM, which reads frames one after another."
)
_CONVOLUTIONS_ATTENTION = (
    "Attention looks at features without positions; only the convolutions around it know places."
)
_RECURRENT = "It reads tokens one after another, and what it remembers fades with each of them."
_HYBRID = (
    "Attention has no positions: order comes from the causal mask and the layers without attention."
)
_UNTURNED = f"{_HYBRID} The columns called qk_rope_head_dim are never turned."
_GIVEN = "Positions come in as an argument, made by the prompt or vision encoder."
_PLACED = "It takes states that carry positions already, and adds none."
_LATENTS = (
    "Its learned queries look at a set: what they read has no order but what it brings along."
)
_ALONE = "Each frame or patch is projected by itself; order is left to what reads it."
_TIMM = "timm builds this network by its name; its positions, if any, stand in no setting."

_PLACES: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "pictures": (
        "features of a picture",
        _CONVOLUTIONS,
        (
            "align_vision_model",
            "bit",
            "convnext",
            "convnextv2",
            "dinov3_convnext",
            "efficientnet",
            "flava_image_codebook",
            "focalnet",
            "glm_image_vqmodel",
            "hgnet_v2",
            "mobilenet_v1",
            "mobilenet_v2",
            "poolformer",
            "pp_lcnet",
            "pp_lcnet_v3",
            "pp_lcnet_v4",
            "regnet",
            "resnet",
            "rt_detr_resnet",
            "sapiens2_head",
            "superpoint",
            "textnet",
            "uvdoc_backbone",
        ),
    ),
    "sounds": (
        "features of a sound",
        _CONVOLUTIONS,
        (
            "dac",
            "fastspeech2_conformer_hifigan",
            "muse_spark_audio",
            "qwen2_5_omni_bigvgan",
            "speecht5_hifigan",
            "univnet",
            "vibevoice_acoustic_tokenizer",
            "vibevoice_acoustic_tokenizer_decoder",
            "vibevoice_acoustic_tokenizer_encoder",
        ),
    ),
    "sounds with a memory": (
        "features of a sound",
        _CONVOLUTIONS_MEMORY,
        ("encodec", "wavtokenizer_encoder"),
    ),
    "attention among convolutions": (
        "attention scores",
        _CONVOLUTIONS_ATTENTION,
        (
            "apertus1p5_vision_tokenizer",
            "chameleon_vqgan",
            "emu3_vqgan",
            "janus_vqgan",
            "mobilevit",
            "mobilevitv2",
            "moonshine_streaming_encoder",
            "swiftformer",
            "wavtokenizer",
        ),
    ),
    "recurrence": ("tokens", _RECURRENT, ("falcon_mamba", "mamba", "mamba2", "xlstm")),
    "attention among recurrence": (
        "attention scores",
        _HYBRID,
        ("jamba", "nemotron_h", "zamba"),
    ),
    "unturned columns": ("attention scores", _UNTURNED, ("glm5_next_text", "kimi_linear")),
    "given": (
        "queries and keys",
        _GIVEN,
        (
            "edgetam_mask_decoder",
            "edgetam_video_mask_decoder",
            "sam2_mask_decoder",
            "sam2_video_mask_decoder",
            "sam3_detr_encoder",
            "sam3_lite_text_detr_encoder",
            "sam3_tracker_mask_decoder",
            "sam3_tracker_video_mask_decoder",
            "sam_hq_mask_decoder",
            "sam_mask_decoder",
        ),
    ),
    "placed": (
        "attention scores",
        _PLACED,
        ("flava_multimodal_model", "sam3_lite_text_mask_decoder", "sam3_mask_decoder"),
    ),
    "latents": (
        "attention scores",
        _LATENTS,
        ("blip_2_qformer", "idefics2_perceiver", "idefics_perciever", "molmo2_adapter"),
    ),
    "alone": (
        "frames and patches",
        _ALONE,
        ("gemma4_unified_audio", "inkling_audio", "inkling_vision"),
    ),
    "codebooks": (
        "attention scores",
        "Each codebook has weights of its own, which tell its place; nothing is turned.",
        ("moshi_depth",),
    ),
}


def _plain(place: str, remark: str) -> Reader:
    """A reader of types for which no setting matters."""
    return lambda config: [Use(kind="none", place=place, remarks=(remark,))]


def _timm(key: str) -> Reader:
    """A reader of types that hide a network of the timm library."""

    def read(config: Config) -> list[Use]:
        config.word(key)
        return [use(config, "unknown", None, place="features", remarks=(_TIMM,))]

    return read


READERS: dict[str, Reader] = {
    **{
        model_type: _plain(place, remark)
        for place, remark, model_types in _PLACES.values()
        for model_type in model_types
    },
    "gemma3n_vision": _timm("architecture"),
    "timm_backbone": _timm("backbone"),
    "timm_wrapper": _timm("architecture"),
}
