"""Tokens in another order through attention without positions, in its own modules."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

import torch

from oracles import built, modeling

TOKENS, WIDTH = 7, 32
ORDER = torch.tensor([3, 0, 6, 1, 5, 2, 4])

HEADS = {"hidden_size": WIDTH, "num_attention_heads": 4, "num_key_value_heads": 4}
LAYERS = {"hidden_size": WIDTH, "num_attention_heads": 4, "num_hidden_layers": 2}

Call = Callable[[torch.Tensor], torch.Tensor]


def small(model_type: str, **changes: Any) -> Any:
    """Settings with plain attention, which takes float64 and no mask."""
    config = built(model_type, **changes)
    config._attn_implementation = "eager"
    return config


def module(model_type: str, name: str, *arguments: Any) -> Any:
    """A module of a type in float64, with weights that are neither empty nor all alike."""
    made = getattr(modeling(model_type), name)(*arguments).double().eval()
    return filled(made)


def filled(made: Any) -> Any:
    """A module whose weights are random: some classes leave them empty."""
    torch.manual_seed(0)
    for weight in made.parameters():
        torch.nn.init.normal_(weight.data, std=0.15)
    return made


def first(result: Any) -> torch.Tensor:
    """The states, without what else a module returns."""
    return result if isinstance(result, torch.Tensor) else result[0]


def states(tokens: int = TOKENS) -> torch.Tensor:
    """Random tokens of one text."""
    return torch.randn(1, tokens, WIDTH, dtype=torch.float64)


def gap(ours: torch.Tensor, theirs: torch.Tensor) -> float:
    """The largest difference."""
    return float((ours - theirs).detach().abs().max())


def follows(call: Call) -> float:
    """Permuted tokens come out permuted; and they do not come out all alike."""
    tokens = states()
    there, back = call(tokens), call(tokens[:, ORDER])
    return gap(there[:, ORDER], back) if gap(there, back) > 1e-3 else 1.0


def ignores(call: Call) -> float:
    """Permuted tokens change nothing; other tokens do."""
    tokens = states()
    there = call(tokens)
    return gap(there, call(tokens[:, ORDER])) if gap(there, call(tokens.flip(-1))) > 1e-3 else 1.0


def columns(call: Call) -> Call:
    """A call for tokens that stand in the second column of a picture of one row."""
    return lambda tokens: call(tokens.transpose(1, 2)[:, :, None])[:, :, 0].transpose(1, 2)


def attention(model_type: str, name: str, *more: Any, **changes: Any) -> float:
    """An attention module that takes tokens and nothing else of matter."""
    attend = module(model_type, name, small(model_type, **{**HEADS, **changes}), 0)
    return follows(lambda tokens: first(attend(tokens, *more)))


def zamba() -> float:
    """Attention over states and embeddings side by side."""
    attend = module("zamba", "ZambaAttention", small("zamba", **HEADS), 0)
    return follows(lambda tokens: first(attend(torch.cat([tokens, tokens], dim=-1), 0, None)))


def glm5_next_text() -> float:
    """Latent attention to all keys, as if the layer before had chosen them."""
    config = small("glm5_next_text", **HEADS)
    config.indexer_types[3] = "shared"
    attend = module("glm5_next_text", "Glm5NextTextAttention", config, 3)
    chosen = torch.arange(TOKENS).expand(1, TOKENS, TOKENS)
    return follows(lambda tokens: first(attend(tokens, None, prev_topk_indices=chosen)))


def moshi_depth() -> float:
    """Attention whose tokens all take the weights of the first codebook."""
    config = small("moshi_depth", **HEADS, head_dim=8, num_codebooks=TOKENS)
    attend = module("moshi_depth", "MoshiAttention", config, 0, True, False)
    same = torch.zeros(TOKENS, dtype=torch.long)
    return follows(lambda tokens: first(attend(tokens, codebook_idx=same)))


def square_attention(model_type: str, name: str) -> float:
    """Attention over the pixels of a picture."""
    return follows(columns(module(model_type, name, WIDTH)))


def emu3_vqgan() -> float:
    """Attention over the pixels of a picture."""
    config = small("emu3_vqgan", hidden_size=WIDTH, num_attention_heads=4)
    attend = module("emu3_vqgan", "Emu3VQVAEAttentionBlock", config)
    return follows(lambda tokens: first(attend(tokens)))


def mobilevit() -> float:
    """Two layers over the patches of a picture."""
    return follows(module("mobilevit", "MobileViTTransformer", small("mobilevit"), WIDTH, 2))


def mobilevitv2() -> float:
    """Linear attention over the patches of a picture."""
    config = small("mobilevitv2")
    return follows(columns(module("mobilevitv2", "MobileViTV2LinearSelfAttention", config, WIDTH)))


def swiftformer() -> float:
    """Additive attention over the patches of a picture."""
    name = "SwiftFormerEfficientAdditiveAttention"
    return follows(module("swiftformer", name, small("swiftformer"), WIDTH))


def wavtokenizer() -> float:
    """Attention over the frames of a sound."""
    config = small("wavtokenizer", decoder_hidden_size=WIDTH, decoder_attention_num_groups=4)
    attend = module("wavtokenizer", "WavTokenizerVocosAttention", config)
    return follows(lambda tokens: attend(tokens.transpose(1, 2)).transpose(1, 2))


def blip_2_qformer() -> float:
    """Queries in another order, and what they read in another order."""
    config = small("blip_2_qformer", **LAYERS, intermediate_size=8, encoder_hidden_size=WIDTH)
    model = module("blip_2_qformer", "Blip2QFormerModel", config)
    queries, read = states(3), states()
    return max(
        follows(lambda tokens: model(tokens, encoder_hidden_states=read)[0]),
        ignores(lambda tokens: model(queries, encoder_hidden_states=tokens)[0]),
    )


def flava_multimodal_model() -> float:
    """Two layers over states, behind a class token."""
    config = small("flava_multimodal_model", **LAYERS, intermediate_size=8)
    model = module("flava_multimodal_model", "FlavaMultimodalModel", config)
    return follows(lambda tokens: model(tokens)[0][:, 1:])


def idefics2_perceiver() -> float:
    """Latents that read states in another order."""
    config = small(
        "idefics2_perceiver",
        hidden_size=WIDTH,
        resampler_n_latents=5,
        resampler_n_heads=4,
        resampler_head_dim=8,
        num_key_value_heads=2,
    )
    resample = module("idefics2_perceiver", "Idefics2PerceiverResampler", config)
    return ignores(lambda tokens: first(resample(tokens, torch.ones(1, TOKENS))))


def idefics_perciever() -> float:
    """Latents that read states in another order."""
    perceiver = importlib.import_module("transformers.models.idefics.perceiver")
    config = built("idefics", vision_config={"embed_dim": WIDTH})
    return ignores(filled(perceiver.IdeficsPerceiverResampler(config, WIDTH, 2, 4, 8, 5).double()))


def molmo2_adapter() -> float:
    """A query that reads the patches of its pool in another order."""
    config = small("molmo2_adapter", **HEADS, head_dim=8)
    attend = module("molmo2_adapter", "Molmo2VisionAttention", config, WIDTH)
    query = states(1)
    return ignores(lambda tokens: first(attend(query, tokens)))


def two_ways(model_type: str, name: str) -> float:
    """Patches in another order together with the positions that are given for them."""
    config = small(model_type, hidden_size=WIDTH, num_attention_heads=4, mlp_dim=8)
    attend = module(model_type, name, config)
    points = states(3)[:, None]
    picture, positions = (torch.randn(1, WIDTH, 1, TOKENS, dtype=torch.float64) for _ in range(2))
    there = attend(points, picture, positions, None)
    back = attend(points, picture[..., ORDER], positions[..., ORDER], None)
    left = attend(points, picture[..., ORDER], positions, None)
    if gap(there[0], left[0]) < 1e-3:
        return 1.0
    return max(gap(there[0], back[0]), gap(there[1][:, :, ORDER], back[1]))


def detr_encoder(model_type: str, name: str) -> float:
    """Patches in another order together with the positions that are given for them."""
    config = small(model_type, hidden_size=WIDTH, num_attention_heads=4, intermediate_size=8)
    layer = module(model_type, name, config)
    picture, prompt, positions = states(), states(3), states()
    there = first(layer(picture, prompt, positions))
    back = first(layer(picture[:, ORDER], prompt, positions[:, ORDER]))
    left = first(layer(picture[:, ORDER], prompt, positions))
    return gap(there[:, ORDER], back) if gap(there[:, ORDER], left) > 1e-3 else 1.0


def gemma4_unified_audio() -> float:
    """Frames projected one by one."""
    config, text = built("gemma4_unified_audio", output_proj_dims=WIDTH), "gemma4_unified_text"
    name = "Gemma4UnifiedMultimodalEmbedder"
    return follows(module("gemma4_unified_audio", name, config, built(text, hidden_size=WIDTH)))


_TWO_WAYS = {
    "edgetam_mask_decoder": "EdgeTamTwoWayTransformer",
    "edgetam_video_mask_decoder": "EdgeTamVideoTwoWayTransformer",
    "sam2_mask_decoder": "Sam2TwoWayTransformer",
    "sam2_video_mask_decoder": "Sam2VideoTwoWayTransformer",
    "sam3_tracker_mask_decoder": "Sam3TrackerTwoWayTransformer",
    "sam3_tracker_video_mask_decoder": "Sam3TrackerVideoTwoWayTransformer",
    "sam_hq_mask_decoder": "SamHQTwoWayTransformer",
    "sam_mask_decoder": "SamTwoWayTransformer",
}

PERMUTED: dict[str, Callable[[], float]] = {
    **{
        model_type: functools.partial(two_ways, model_type, name)
        for model_type, name in _TWO_WAYS.items()
    },
    "apertus1p5_vision_tokenizer": functools.partial(
        square_attention, "apertus1p5_vision_tokenizer", "Apertus1p5VisionTokenizerAttnBlock"
    ),
    "blip_2_qformer": blip_2_qformer,
    "chameleon_vqgan": functools.partial(
        square_attention, "chameleon_vqgan", "ChameleonVQVAEEncoderAttnBlock"
    ),
    "emu3_vqgan": emu3_vqgan,
    "flava_multimodal_model": flava_multimodal_model,
    "gemma4_unified_audio": gemma4_unified_audio,
    "glm5_next_text": glm5_next_text,
    "idefics2_perceiver": idefics2_perceiver,
    "idefics_perciever": idefics_perciever,
    "jamba": functools.partial(attention, "jamba", "JambaAttention"),
    "janus_vqgan": functools.partial(square_attention, "janus_vqgan", "JanusVQVAEAttnBlock"),
    "kimi_linear": functools.partial(attention, "kimi_linear", "KimiLinearAttention", None),
    "mobilevit": mobilevit,
    "mobilevitv2": mobilevitv2,
    "molmo2_adapter": molmo2_adapter,
    "moonshine_streaming_encoder": functools.partial(
        attention,
        "moonshine_streaming_encoder",
        "MoonshineStreamingEncoderAttention",
        head_dim=8,
    ),
    "moshi_depth": moshi_depth,
    "nemotron_h": functools.partial(attention, "nemotron_h", "NemotronHAttention", head_dim=8),
    "sam3_detr_encoder": functools.partial(
        detr_encoder, "sam3_detr_encoder", "Sam3DetrEncoderLayer"
    ),
    "sam3_lite_text_detr_encoder": functools.partial(
        detr_encoder, "sam3_lite_text_detr_encoder", "Sam3LiteTextDetrEncoderLayer"
    ),
    "swiftformer": swiftformer,
    "wavtokenizer": wavtokenizer,
    "zamba": zamba,
}
"""For each type the largest difference that the order of tokens makes where it should make none."""
