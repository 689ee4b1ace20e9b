"""Tiny networks to build: each model type whose layers differ, and many that are alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from oracles import tiny
from posenc.inspector.families.turning import (
    by_kind,
    latent,
    mixed_heads,
    multimodal,
    rotary,
    some_layers,
)
from posenc.inspector.settings.layers import PATTERNS

FULL, SLIDING, LINEAR = "full_attention", "sliding_attention", "linear_attention"
HEAVY, SPARSE = "heavily_compressed_attention", "compressed_sparse_attention"
MIXED = [FULL, SLIDING, FULL, SLIDING, FULL, SLIDING, SLIDING]
TOKENS = 9


@dataclass(frozen=True, kw_only=True)
class Case:
    """A tiny network, and how to run it.

    Args:
        changes: what differs from the tiny settings that all share.
        without: keys of those settings that this model type cannot have.
        network: the class, where transformers has none for the model type.
        inputs: what the network is given beside tokens and positions.
        stack: its layers, where they are not its outermost list of layers.
        prepare: what to do with the weights.
        scale: what multiplies the scores, where it is not 1 / sqrt(head_dim) or what posenc says.
    """

    changes: Mapping[str, Any] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    network: str = ""
    inputs: Callable[[], dict[str, Any]] = dict
    stack: Callable[[Any], Any] = tiny.decoder
    prepare: Callable[[Any], None] = lambda network: None
    scale: float | None = None


def plain(base: float = 10_000.0, **more: Any) -> dict[str, Any]:
    return {"rope_type": "default", "rope_theta": base, **more}


def yarn(**more: Any) -> dict[str, Any]:
    lengths = {"factor": 4.0, "original_max_position_embeddings": 64}
    return {"rope_type": "yarn", "rope_theta": 5_000.0, **lengths, **more}


LINEAR_SCALING = {"rope_type": "linear", "factor": 8.0}
OLD_YARN = {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64}
DEEP = {"mscale": 0.8, "mscale_all_dim": 1.2}
MANY_BASES = [100.0, 0.0, 500.0, 100.0, 0.0, 500.0, 7.0]
SECTIONS = {"rope_parameters": plain(mrope_section=[4, 2, 2])}
HALF_TURNS = plain(mrope_section=[2, 1, 1], partial_rotary_factor=0.5)


def no_cache() -> dict[str, Any]:
    return {"use_cache": False}


def looked_at(key: str) -> Callable[[], dict[str, Any]]:
    """States of another network, for cross attention."""
    return lambda: {key: torch.randn(1, 5, 64)}


def picture() -> dict[str, Any]:
    image = torch.randn(1, 1, 5, 64)
    return {
        "image_encoder_embeddings": image,
        "image_attention_mask": torch.ones(1, TOKENS, 1),
    }


def constant(*endings: str, value: float) -> Callable[[Any], None]:
    """Weights that act after turning, feature by feature, and that would hide it."""

    def prepare(network: Any) -> None:
        for name, parameter in network.named_parameters():
            if name.endswith(endings):
                parameter.data.fill_(value)

    return prepare


def both_attentions(network: Any) -> list[torch.nn.Module]:
    return [attention for layer in network.layers for attention in layer.self_attn]


IDEFICS = {
    "num_hidden_layers": 8,
    "cross_layer_interval": 2,
    "vision_config": {"embed_dim": 64, "num_attention_heads": 4, "num_hidden_layers": 1},
}
ZAMBA2 = {
    "num_hidden_layers": 4,
    "layers_block_type": ["mamba", "hybrid"] * 2,
    "use_mem_rope": True,
}
GEMMA3N = {"num_hidden_layers": 12, "num_kv_shared_layers": 2}
STEP = {
    "num_hidden_layers": 8,
    "layer_types": [FULL, SLIDING, SLIDING, SLIDING] * 2,
    "rope_theta": [5e6, 1e4, 1e4, 1e4] * 2,
    "partial_rotary_factors": [0.5, 1.0, 1.0, 1.0] * 2,
}
COMPRESSED = {
    "layer_types": [SLIDING, HEAVY, SPARSE, SLIDING, HEAVY, SPARSE, SLIDING],
    "head_dim": 32,
}
DOTS3 = {
    "num_key_value_heads": 4,
    "swa_num_attention_heads": 4,
    "swa_num_key_value_heads": 4,
    "swa_q_lora_rank": 24,
    "swa_kv_lora_rank": 16,
    "swa_v_head_dim": 12,
}
ZAYA = {"num_experts_per_tok": 1}
UNTRAINED = constant("alpha", "softmax_scaling.scale", value=0.0)
QWEN4 = {
    "rope_parameters": HALF_TURNS,
    "indexer_n_heads": 2,
    "indexer_kv_heads": 1,
    "indexer_head_dim": 16,
    "indexer_budget": 8,
    "indexer_compress_ratio": 4,
}

PROTEIN = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "vocab_size": 33}
VISION = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
SOUND = {
    "hidden_size": 32,
    "num_blocks": 1,
    "num_attention_heads": 2,
    "ext_pw_out_channel": 32,
    "nemo_conv_channels": 32,
}

OF_TYPE: dict[str, Case] = {
    "axk1": Case(changes={"n_routed_experts": 8, "n_group": 2}),
    "bamba": Case(changes={"attn_layer_indices": [1, 4]}),
    "cohere_compass_text": Case(
        changes={
            "layer_types": MIXED,
            "rope_parameters": {
                FULL: plain(mrope_section=[4, 2, 2]),
                SLIDING: plain(500.0, mrope_section=[4, 2, 2]),
            },
        }
    ),
    "deepseek_v4": Case(changes={**COMPRESSED, "partial_rotary_factor": 0.25}),
    "diffusion_gemma_text": Case(
        network="DiffusionGemmaEncoderTextModel", changes={"top_k_experts": 2}, scale=1.0
    ),
    "dory": Case(inputs=no_cache, prepare=constant("sqk", value=0.1)),
    "dots3_note_text": Case(changes=DOTS3),
    **dict.fromkeys(("embedding_gemma2_text", "gemma4_text", "gemma4_unified_text"), Case(scale=1)),
    "emu3_text_model": Case(network="Emu3TextModel"),
    "esmc": Case(changes={"num_key_value_heads": 4}),
    "evolla": Case(changes={"protein_encoder_config": PROTEIN, "resampler_depth": 1}),
    "falcon_h1": Case(changes={"mamba_d_ssm": 128}),
    **dict.fromkeys(("gemma2", "gemma3_text", "vaultgemma"), Case(scale=256**-0.5)),
    "gemma3n_text": Case(changes=GEMMA3N, scale=1.0),
    **dict.fromkeys(
        ("glm4v_text", "glm_ocr_text", "glm_image_text", "qwen2_vl_text", "qwen2_5_vl_text"),
        Case(changes=SECTIONS),
    ),
    "glm4v_moe_text": Case(
        changes={"rope_parameters": plain(mrope_section=[4, 2, 2], partial_rotary_factor=1.0)}
    ),
    "glm4_moe_lite": Case(without=("head_dim",)),
    **dict.fromkeys(
        ("granite", "granite_swa", "granitemoe", "granitemoe_swa", "granitemoeshared"),
        Case(scale=1.0),
    ),
    "granite4_vision_text": Case(network="Granite4VisionTextModel", scale=1.0),
    "granite_docling_text": Case(scale=1 / 64),
    "granitemoehybrid": Case(
        changes={"position_embedding_type": "rope", "layer_types": [LINEAR, FULL] * 3 + [LINEAR]},
        scale=1.0,
    ),
    "hunyuan_v1_dense": Case(prepare=constant("y_layernorm.weight", value=1.0)),
    "hunyuan_v1_moe": Case(prepare=constant("y_layernorm.weight", value=1.0)),
    "hy_v4_vl_text": Case(changes={"rope_parameters": plain(mrope_section=[2, 1, 1])}),
    "idefics": Case(changes=IDEFICS, without=("num_key_value_heads", "head_dim"), inputs=picture),
    "lfm2": Case(changes={"full_attn_idxs": [1, 4]}),
    "lfm2_moe": Case(changes={"layer_types": ["conv", FULL] * 3 + ["conv"]}),
    # The temperature does not follow position_ids: it has a test of its own.
    "llama4_text": Case(changes={"attn_temperature_tuning": False}),
    "longcat_flash": Case(
        changes={"num_layers": 3, "head_dim": 8, "num_key_value_heads": 4},
        without=("num_hidden_layers",),
        stack=both_attentions,
    ),
    "mistral_large4_text": Case(prepare=UNTRAINED),
    "mllama_text_model": Case(
        network="MllamaTextModel",
        changes={"cross_attention_layers": [1, 4]},
        inputs=looked_at("cross_attention_states"),
    ),
    **dict.fromkeys(
        ("qwen3_vl_text", "qwen3_vl_moe_text", "cosmos3_edge_text"), Case(changes=SECTIONS)
    ),
    **dict.fromkeys(
        ("qwen3_5_text", "qwen3_5_moe_text"), Case(changes={"rope_parameters": HALF_TURNS})
    ),
    "openai_privacy_filter": Case(scale=1.0),  # queries and keys are each divided beforehand
    "paddleocr_vl_text": Case(network="PaddleOCRTextModel", changes=SECTIONS),
    "phi4_multimodal": Case(changes={"vision_config": VISION, "audio_config": SOUND}),
    "qwen2_5_omni_text": Case(network="Qwen2_5OmniThinkerTextModel", changes=SECTIONS),
    "qwen3_omni_moe_text": Case(network="Qwen3OmniMoeThinkerTextModel", changes=SECTIONS),
    "unlimited_ocr_text": Case(network="UnlimitedOcrTextModel"),
    "qwen4_exp_text": Case(changes=QWEN4),
    "step3p5": Case(network="Step3p7TextModel", changes=STEP),
    "t5_gemma_module": Case(
        network="T5GemmaEncoder", changes={"dropout_rate": 0.0}, scale=256**-0.5
    ),
    "t5gemma2_text": Case(
        network="T5Gemma2TextEncoder", changes={"dropout_rate": 0.0}, scale=256**-0.5
    ),
    "t5gemma2_decoder": Case(
        network="T5Gemma2Decoder",
        changes={"dropout_rate": 0.0},
        inputs=looked_at("encoder_hidden_states"),
        scale=256**-0.5,
    ),
    "zamba2": Case(changes=ZAMBA2, without=("head_dim",), scale=(32 / 2) ** -0.5),
    "zaya": Case(changes=ZAYA),
}
"""How to build and run a model type, where more than the tiny settings is needed."""

CHANGED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("afmoe", {"global_attn_every_n_layers": 2}),
    ("afmoe", {"layer_types": MIXED}),
    ("bailing_hybrid", {"layer_group_size": 3}),
    ("bailing_hybrid", {"rope_parameters": yarn(**DEEP)}),
    ("beam", {"layer_types": MIXED}),
    ("beam", {"rope_parameters": {FULL: plain(77.0), SLIDING: None}}),
    ("cohere2", {"sliding_window_pattern": 2}),
    ("cohere2", {"layer_types": MIXED, "rope_scaling": LINEAR_SCALING}),
    (
        "cohere2_moe",
        {
            "first_k_dense_replace": 3,
            "prefix_dense_sliding_window_pattern": 2,
            "sliding_window_pattern": 3,
        },
    ),
    ("deepseek_v2", {"rope_parameters": yarn(**DEEP)}),
    ("deepseek_v2", {"rope_scaling": {"type": "linear", "factor": 4.0, "mscale_all_dim": 1.0}}),
    ("deepseek_v3", {"rope_interleave": False, "q_lora_rank": None}),
    ("deepseek_v3", {"rope_parameters": yarn(**DEEP)}),
    ("deepseek_v3", {"rope_scaling": {**OLD_YARN, "mscale_all_dim": 0}, "rope_theta": 500.0}),
    ("deepseek_v3", {"rope_scaling": {"type": "linear", "factor": 4.0, "mscale_all_dim": 1.0}}),
    ("deepseek_v4", {**COMPRESSED, "rope_scaling": OLD_YARN, "qk_rope_head_dim": 8}),
    ("dory", {"layer_types": MIXED, "rope_parameters": {FULL: yarn(), SLIDING: plain()}}),
    ("dots3_note_text", {**DOTS3, "use_sliding_window": False}),
    ("dots3_note_text", {**DOTS3, "use_dsa": False}),
    (
        "dots3_note_text",
        {**DOTS3, "swa_head_dim": 32, "swa_qk_nope_head_dim": 20, "swa_rope_theta": 77.0},
    ),
    ("exaone4", {"sliding_window": None, "layer_types": [FULL] * 7}),
    ("exaone4", {"layer_types": MIXED}),
    ("exaone_moe", {"layer_types": MIXED}),
    ("flint", {"layer_types": MIXED}),
    ("gemma3_text", {"sliding_window_pattern": 2, "rope_scaling": LINEAR_SCALING}),
    ("gemma3_text", {"layer_types": MIXED, "rope_theta": 5e5, "rope_local_base_freq": 500.0}),
    ("gemma3_text", {"rope_parameters": {FULL: plain(77.0), SLIDING: plain(99.0)}}),
    ("gemma3n_text", {**GEMMA3N, "layer_types": [FULL, SLIDING] * 6}),
    ("gemma4_text", {"layer_types": MIXED, "num_kv_shared_layers": 3}),
    ("gemma4_text", {"layer_types": [SLIDING] * 7}),
    ("gemma4_unified_text", {"rope_parameters": {FULL: plain(77.0), SLIDING: plain(99.0)}}),
    ("glm4_moe_lite", {"rope_parameters": yarn(**DEEP)}),
    ("glm_moe_dsa", {"rope_parameters": yarn(**DEEP)}),
    ("granite_swa", {"layer_rope_theta": MANY_BASES, "rope_scaling": LINEAR_SCALING}),
    ("granitemoe_swa", {"layer_rope_theta": MANY_BASES}),
    ("granitemoe_swa", {"layer_types": MIXED}),
    ("hy_v4", {"rope_parameters": yarn(**DEEP)}),
    ("hy_v4_vl_text", {"rope_parameters": yarn(**DEEP, mrope_section=[2, 1, 1])}),
    ("kolibri1", {"layer_types": MIXED}),
    (
        "laguna",
        {
            "layer_types": MIXED,
            "rope_parameters": {
                FULL: plain(77.0, partial_rotary_factor=0.5),
                SLIDING: plain(99.0, partial_rotary_factor=1.0),
            },
        },
    ),
    ("lara_mini", {"layer_types": [FULL, SLIDING, LINEAR, SLIDING, FULL, LINEAR, FULL]}),
    ("lfm3", {"layer_types": [FULL, SLIDING, "conv", SLIDING, FULL, "conv", FULL]}),
    ("llama4_text", {"attn_temperature_tuning": False, "no_rope_layer_interval": 3}),
    ("llama4_text", {"attn_temperature_tuning": False, "no_rope_layers": [0, 1, 1, 0, 0, 1, 1]}),
    ("longcat_flash", {**OF_TYPE["longcat_flash"].changes, "rope_parameters": yarn(**DEEP)}),
    ("mellum", {"layer_types": MIXED, "rope_parameters": {FULL: yarn(), SLIDING: plain(99.0)}}),
    ("mimo_v2_flash", {"layer_types": MIXED, "partial_rotary_factor": 0.5}),
    ("minicpm3", {"rope_parameters": yarn(**DEEP)}),
    ("minimax", {"layer_types": [LINEAR, FULL, FULL, LINEAR, FULL, LINEAR, FULL]}),
    ("ministral3", {"rope_parameters": yarn(llama_4_scaling_beta=0.2)}),
    (
        "ministral3",
        {
            "rope_parameters": yarn(llama_4_scaling_beta=0.2)
            | {"original_max_position_embeddings": 8}
        },
    ),
    (
        "mistral4",
        {
            "rope_parameters": yarn(llama_4_scaling_beta=0.2, partial_rotary_factor=8 / 18, **DEEP)
            | {"original_max_position_embeddings": 8}
        },
    ),
    ("mistral_large4_text", {"no_rope_layers": [0, 1, 1, 0, 0, 0, 1]}),
    ("mistral_large4_text", {"no_rope_layers": [1] * 7, "rope_parameters": yarn(**DEEP)}),
    ("mllama_text_model", {"cross_attention_layers": [0, 6]}),
    ("modernbert", {"global_attn_every_n_layers": 2, "rope_scaling": LINEAR_SCALING}),
    ("modernbert", {"layer_types": MIXED, "global_rope_theta": 500.0, "local_rope_theta": 50.0}),
    ("modernbert-decoder", {"global_rope_theta": 500.0, "local_rope_theta": 50.0}),
    ("molmo2_text", {"rope_scaling_layers": [1, 3], "rope_scaling": LINEAR_SCALING}),
    ("molmo2_text", {"rope_parameters": yarn()}),
    ("muse_glimmer_text", {"layer_rope_theta": MANY_BASES}),
    ("muse_spark_text", {"layer_rope_theta": MANY_BASES}),
    ("olmo3", {"layer_types": MIXED, "rope_scaling": OLD_YARN}),
    ("olmo3", {"rope_parameters": {FULL: yarn(), SLIDING: plain(99.0)}}),
    ("olmo_hybrid", {"layer_types": [FULL, LINEAR] * 3 + [FULL], "rope_parameters": plain(77.0)}),
    ("qwen3_next", {"full_attention_interval": 2}),
    ("recurrent_gemma", {"block_types": ["attention", "recurrent"]}),
    ("sarvam_mla", {"rope_parameters": yarn(mscale=1.0)}),
    ("smollm3", {"no_rope_layers": [0, 1, 1, 0, 0, 1, 1]}),
    ("smollm3", {"no_rope_layer_interval": 2}),
    ("t5gemma2_text", {"dropout_rate": 0.0, "layer_types": MIXED}),
    ("ultrabert", {"attention_windows": [0, 4, 0, 4, 4, 0, 4]}),
    ("youtu", {"rope_parameters": yarn(**DEEP)}),
    ("zaya", {**ZAYA, "layer_types": ["hybrid", "hybrid_sliding"] * 3 + ["hybrid"]}),
    # Files that transformers saved say mlp_layer_types: its dense layers turn whatever their kind.
    ("cohere2_moe", {"mlp_layer_types": ["dense"] * 3 + ["sparse"] * 4, "layer_types": [FULL] * 7}),
    ("cohere2_moe", {"first_k_dense_replace": 2, "prefix_dense_sliding_window_pattern": 1}),
    # The released files say compress_ratios: 0 is sliding, 4 sparse, 128 heavily compressed.
    ("deepseek_v4", {"head_dim": 32, "compress_ratios": [0, 128, 4, 0, 128, 4, 0]}),
    ("deepseek_v4", {"head_dim": 32, "layer_types": [HEAVY, SLIDING] * 4}),
    (
        "deepseek_v4",
        {
            **COMPRESSED,
            "rope_parameters": {
                "main": plain(partial_rotary_factor=0.25),
                "compress": plain(77.0, partial_rotary_factor=0.25),
            },
        },
    ),
    ("deepseek_v4", {"head_dim": 32, "layer_types": [HEAVY] * 7}),  # nothing turns by "main"
    ("molmo2_text", {"rope_scaling_layers": [], "rope_scaling": LINEAR_SCALING}),
    ("glm4_moe_lite", {"head_dim": 16}),  # wins over qk_rope_head_dim, as any alias does
    ("mistral_large4_text", {"rope_parameters": yarn(**DEEP)}),  # scores of unturned layers too
    ("olmo_hybrid", {"rope_theta": None}),
    ("olmo_hybrid", {"rope_parameters": plain() | {"rope_theta": None}}),
    ("sarvam_mla", {"rope_parameters": yarn(**DEEP)}),
    ("sarvam_mla", {"rope_scaling": {**OLD_YARN, **DEEP, "type": "deepseek_yarn"}}),
    ("longcat_flash", {"num_hidden_layers": 6, "head_dim": 8, "num_key_value_heads": 4}),
)
"""Model types with settings that move the layers which turn, or what turns in them."""

ALIKE = """
    apertus apertus1p5_text arcee aria_text bitnet cohere cwm diffllama doge dots1 ernie4_5
    ernie4_5_moe eurobert exaone flex_olmo gemma glm glm4 glm4_moe gpt_neox gpt_oss gte helium
    higgs_audio_v2 hrm_text hy_v3 hyperclovax internlm3 iquestcoder jais2 jetmoe
    jina_embeddings_v3 llama minimax_m2 minimax_m3_vl_text ministral ministral3 mistral mixtral
    moshi nanochat nemotron nomic_bert olmo olmo2 olmoe persimmon phi phi3 phimoe qwen2
    qwen2_moe qwen3 qwen3_moe sarvam_moe seed_oss solar_open stablelm starcoder2
""".split()
"""Model types whose layers all turn alike, as far as they run on text alone."""

NOT_BUILT = {
    **dict.fromkeys(
        ("deepseek_ocr2_encoder", "qwen2_5_omni_talker", "qwen3_omni_moe_talker_code_predictor"),
        "it is a network inside another, without an entrance for tokens",
    ),
    "muse_glimmer_assistant": "it runs on noise and on states of another network",
}
"""Model types with kinds of layers that no tiny network stands for."""


def cases() -> Iterator[tuple[str, str, Case]]:
    """A name, a model type and how to run it, for every tiny network."""
    kinds = PATTERNS.keys() & {**rotary.READERS, **multimodal.READERS}
    differing = {*by_kind.READERS, *latent.READERS, *mixed_heads.READERS, *some_layers.READERS}
    types = {*differing, *kinds, *OF_TYPE, *ALIKE} - NOT_BUILT.keys()
    for model_type in sorted(types):
        yield model_type, model_type, OF_TYPE.get(model_type, Case())
    own_width = {**ZAMBA2, "attention_head_dim": 16}
    yield "zamba2-own-width", "zamba2", Case(changes=own_width, scale=(16 / 2) ** -0.5)
    for number, (model_type, changes) in enumerate(CHANGED):
        case = OF_TYPE.get(model_type, Case())
        without = tuple(key for key in case.without if key not in changes)
        yield f"{model_type}-{number}", model_type, replace(case, changes=changes, without=without)


CASES = {name: (model_type, case) for name, model_type, case in cases()}
