"""Where the types with sinusoidal tables keep them, and settings that make the rest small."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Case:
    """Where a type keeps its tables.

    Args:
        network: the class that builds them.
        paths: for each table how the place of its use starts, and where it stands in the network.
        shallow: settings that leave the tables as they are by default, and the rest small.
        small: settings that change the tables.
        exact: whether the class makes its angles in float64.
    """

    network: str
    paths: tuple[tuple[str, str], ...]
    shallow: dict[str, Any]
    small: dict[str, Any]
    exact: bool = False


_LAYER = {
    "encoder_layers": 1,
    "decoder_layers": 1,
    "encoder_attention_heads": 1,
    "decoder_attention_heads": 1,
    "encoder_ffn_dim": 8,
    "decoder_ffn_dim": 8,
    "vocab_size": 50,
}
_SERIES = {**_LAYER, "prediction_length": 12, "context_length": 30}
_DECODER = {
    "num_hidden_layers": 1,
    "num_attention_heads": 1,
    "num_key_value_heads": 1,
    "ffn_dim": 8,
    "intermediate_size": 8,
    "vocab_size": 50,
}
_KOSMOS = {"layers": 1, "attention_heads": 1, "ffn_dim": 8, "vocab_size": 50, "pad_token_id": 1}
_UNITS = {f"t2u_{name}": number for name, number in _LAYER.items()}
_SEAMLESS = {**_LAYER, **_UNITS, "unit_hifi_gan_vocab_size": 50, "char_vocab_size": 40}
_BOTH = (("encoder and", "encoder.embed_positions"),)


def _moved(number: int) -> dict[str, Any]:
    return {"max_position_embeddings": 40, "pad_token_id": number}


PADDED = {
    "fsmt": Case(
        network="FSMTModel",
        paths=_BOTH,
        shallow={**_LAYER, "src_vocab_size": 50, "tgt_vocab_size": 50, "langs": ["a", "b"]},
        small={**_moved(5), "d_model": 15},
    ),
    "kosmos_2_text_model": Case(
        network="Kosmos2TextModel",
        paths=(("token", "model.embed_positions"),),
        shallow=_KOSMOS,
        small={**_moved(5), "embed_dim": 15},
    ),
    "kosmos_2_5_text_model": Case(
        network="Kosmos2_5TextModel",
        paths=(("token", "model.embed_positions"),),
        shallow=_KOSMOS,
        small={**_moved(5), "embed_dim": 15},
    ),
    "m2m_100": Case(
        network="M2M100Model",
        paths=(*_BOTH, ("encoder and", "decoder.embed_positions")),
        shallow=_LAYER,
        small={**_moved(5), "d_model": 15},
    ),
    "nllb-moe": Case(
        network="NllbMoeModel",
        paths=(*_BOTH, ("encoder and", "decoder.embed_positions")),
        shallow={**_LAYER, "num_experts": 2},
        small={**_moved(5), "d_model": 15},
    ),
    "seamless_m4t": Case(
        network="SeamlessM4TForTextToSpeech",
        paths=(
            ("text encoder", "text_encoder.embed_positions"),
            ("text", "text_decoder.embed_positions"),
            ("unit", "t2u_model.model.decoder.embed_positions"),
        ),
        shallow=_SEAMLESS,
        small={**_moved(5), "hidden_size": 18, "t2u_pad_token_id": 3},
    ),
    "seamless_m4t_v2": Case(
        network="SeamlessM4Tv2ForTextToSpeech",
        paths=(
            ("text encoder", "text_encoder.embed_positions"),
            ("text", "text_decoder.embed_positions"),
            ("unit", "t2u_model.model.decoder.embed_positions"),
            ("unit decoder", "t2u_model.model.decoder.embed_char_positions"),
        ),
        shallow=_SEAMLESS,
        small={**_moved(5), "hidden_size": 18, "t2u_pad_token_id": 3},
    ),
    "speech_to_text": Case(
        network="Speech2TextModel",
        paths=(("encoder", "encoder.embed_positions"), ("decoder", "decoder.embed_positions")),
        shallow={**_LAYER, "conv_channels": 8},
        small={
            "d_model": 18,
            "max_source_positions": 40,
            "max_target_positions": 30,
            "pad_token_id": 4,
        },
    ),
    "trocr": Case(
        network="TrOCRForCausalLM",
        paths=(("decoder", "model.decoder.embed_positions"),),
        shallow={**_LAYER, "use_learned_position_embeddings": False},
        small={**_moved(5), "d_model": 15},
    ),
}
"""Types that count over what is not padding; their tables grow when they must."""

TABLES = {
    "ctrl": Case(
        network="CTRLModel",
        paths=(("token", "pos_encoding"),),
        shallow={"n_layer": 1, "n_head": 1, "dff": 8, "vocab_size": 50},
        small={"n_embd": 15, "n_positions": 40},
    ),
    "marian": Case(
        network="MarianModel",
        paths=(*_BOTH, ("encoder and", "decoder.embed_positions")),
        shallow={**_LAYER, "pad_token_id": 1},
        small={"d_model": 15, "max_position_embeddings": 40},
        exact=True,
    ),
    "pegasus": Case(
        network="PegasusModel",
        paths=(*_BOTH, ("encoder and", "decoder.embed_positions")),
        shallow=_LAYER,
        small={"d_model": 15, "max_position_embeddings": 40},
        exact=True,
    ),
    "videoprism_text_model": Case(
        network="VideoPrismTextModel",
        paths=(("token", "embeddings.position_embedding"),),
        shallow=_DECODER,
        small={"hidden_size": 18, "max_position_embeddings": 40},
    ),
    "autoformer": Case(
        network="AutoformerModel",
        paths=(("encoder", "encoder.embed_positions"), ("decoder", "decoder.embed_positions")),
        shallow=_SERIES,
        small={"d_model": 15, "context_length": None},
        exact=True,
    ),
    "informer": Case(
        network="InformerModel",
        paths=(("encoder", "encoder.embed_positions"), ("decoder", "decoder.embed_positions")),
        shallow=_SERIES,
        small={"d_model": 15, "context_length": 0},
        exact=True,
    ),
    "time_series_transformer": Case(
        network="TimeSeriesTransformerModel",
        paths=(("encoder", "encoder.embed_positions"), ("decoder", "decoder.embed_positions")),
        shallow=_SERIES,
        small={"d_model": 15, "context_length": None},
        exact=True,
    ),
    "tipsv2_text_model": Case(
        network="Tipsv2TextModel",
        paths=(("token", "embeddings.position_embedding"),),
        shallow=_DECODER,
        small={"hidden_size": 15, "max_position_embeddings": 40},
    ),
    "whisper": Case(
        network="WhisperModel",
        paths=(("encoder", "encoder.embed_positions"),),
        shallow={**_LAYER, "pad_token_id": 1},
        small={"d_model": 18, "max_source_positions": 40},
    ),
    "qwen2_5_omni_audio_encoder": Case(
        network="Qwen2_5OmniAudioEncoder",
        paths=(("frame", "positional_embedding"),),
        shallow={**_LAYER, "output_dim": 8},
        small={"d_model": 18, "max_source_positions": 40},
    ),
    "qwen3_omni_moe_audio_encoder": Case(
        network="Qwen3OmniMoeAudioEncoder",
        paths=(("frame", "positional_embedding"),),
        shallow={**_LAYER, "output_dim": 8},
        small={"d_model": 18, "max_source_positions": 40},
    ),
    "qwen3_asr_encoder": Case(
        network="Qwen3ASREncoder",
        paths=(("frame", "positional_embedding"),),
        shallow={**_LAYER, "output_dim": 8},
        small={"d_model": 18, "max_position_embeddings": 40},
    ),
    "fun_asr_nano_encoder": Case(
        network="FunAsrNanoEncoder",
        paths=(("stacked", "position_embeddings"),),
        shallow={**_DECODER, "num_hidden_layers": 2, "num_timestamp_prediction_layers": 1},
        small={"num_mel_bins": 6, "num_stacked_frames": 3, "max_position_embeddings": 40},
    ),
    "musicgen_decoder": Case(
        network="MusicgenModel",
        paths=(("token", "decoder.embed_positions"),),
        shallow=_DECODER,
        small={"hidden_size": 15, "max_position_embeddings": 40},
    ),
    "musicgen_melody_decoder": Case(
        network="MusicgenMelodyModel",
        paths=(("token", "decoder.embed_positions"),),
        shallow=_DECODER,
        small={"hidden_size": 15, "max_position_embeddings": 40},
    ),
    "distilbert": Case(
        network="DistilBertModel",
        paths=(("token", "embeddings.position_embeddings"),),
        shallow={"sinusoidal_pos_embds": True, "n_layers": 1, "n_heads": 1, "vocab_size": 50},
        small={"dim": 15, "max_position_embeddings": 40},
        exact=True,
    ),
    "flaubert": Case(
        network="FlaubertModel",
        paths=(("token", "position_embeddings"),),
        shallow={"sinusoidal_embeddings": True, "n_layers": 1, "n_heads": 1, "n_words": 50},
        small={"emb_dim": 15, "max_position_embeddings": 40},
        exact=True,
    ),
    "xlm": Case(
        network="XLMModel",
        paths=(("token", "position_embeddings"),),
        shallow={"sinusoidal_embeddings": True, "n_layers": 1, "n_heads": 1, "n_words": 50},
        small={"emb_dim": 15, "max_position_embeddings": 40},
        exact=True,
    ),
    "patchtst": Case(
        network="PatchTSTModel",
        paths=(("patch", "encoder.positional_encoder"),),
        shallow={"num_hidden_layers": 1, "num_attention_heads": 1, "ffn_dim": 8},
        small={
            "d_model": 18,
            "context_length": 21,
            "patch_length": 4,
            "patch_stride": 3,
            "use_cls_token": True,
        },
    ),
    "patchtsmixer": Case(
        network="PatchTSMixerModel",
        paths=(("patch", "encoder.positional_encoder"),),
        shallow={"num_layers": 1, "use_positional_encoding": True},
        small={"d_model": 18, "context_length": 21, "patch_length": 4, "patch_stride": 3},
    ),
    "videomae": Case(
        network="VideoMAEForPreTraining",
        paths=(
            ("tubelet", "videomae.embeddings.position_embeddings"),
            ("pre-training", "position_embeddings"),
        ),
        shallow={**_DECODER, "decoder_num_hidden_layers": 1, "decoder_num_attention_heads": 1},
        small={"hidden_size": 15, "decoder_hidden_size": 9, "image_size": 48, "num_frames": 6},
        exact=True,
    ),
}
"""Types whose table starts with the first token's vector."""
