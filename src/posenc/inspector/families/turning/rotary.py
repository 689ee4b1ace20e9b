"""Queries and keys turned alike in every layer that turns at all: Llama and its many kin."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from posenc.inspector.families.shared import Reader
from posenc.inspector.families.turning.uses import HALF, INTERLEAVED, SHARE, unturned, use
from posenc.inspector.reading import Use
from posenc.inspector.settings import layers, rope, rope_spellings
from posenc.inspector.settings.config import Config
from posenc.inspector.settings.rope_spellings import Dialect
from posenc.longrope import LongRope
from posenc.query_scaling import Temperature

WINDOWED = """
    mistral ministral3 mixtral phi3 phi4_multimodal phimoe qwen3_moe starcoder2
""".split()
"""Model types whose layers all see a window only, where sliding_window says how wide it is."""

_LLAMAS = """
    apertus apertus1p5_text arcee aria_text bitnet chameleon csm csm_depth_decoder_model cwm dbrx
    deepseek_ocr2_encoder deepseek_ocr2_text dia_decoder dia_encoder diffllama doge dots1
    emu3_text_model esmc eurobert evolla EvollaModel exaone falcon_h1 flex_olmo gemma gemma2
    gpt_oss gradium_phonon_tts granite granite4_vision_text granite_docling_text granitemoe
    granitemoeshared gte higgs_audio_v2 idefics hunyuan_v1_dense hunyuan_v1_moe hy_v3 hyperclovax
    internlm3 iquestcoder jais2 jetmoe jina_embeddings_v3 kyutai_speech_to_text lasr_encoder lfm2
    lfm2_moe llama mimi mimi_decoder mimi_encoder minimax ministral mistral mixtral moshi
    muse_glimmer_assistant nomic_bert olmo olmo2 olmoe pocket_tts pocket_tts_audio_tokenizer
    pocket_tts_audio_tokenizer_decoder pocket_tts_audio_tokenizer_encoder qwen2 qwen2_moe qwen3
    qwen3_moe qwen3_omni_moe_talker_code_predictor Qwen3OmniMoeCode2WavConfig seed_oss starcoder2
    t5_gemma_module timesfm2_5 unlimited_ocr_text vaultgemma voxtral_realtime_encoder
    voxtral_realtime_text
""".split()

_INTERLEAVED = """
    blt_global_transformer blt_local_decoder blt_local_encoder blt_patcher cohere ernie4_5
    ernie4_5_moe helium openai_privacy_filter pe_audio_encoder pe_audio_video_encoder
    pe_video_encoder
""".split()

_SHARES = """
    bamba dots3_note_audio_encoder glm4_moe glmasr_encoder gpt_neox_japanese minimax_m3_vl_text
    nemotron nemotron3_5_transcribe_asr_audio nemotron3_5_transcribe_word_timestamp
    nemotron3_diarization_audio persimmon phi qwen3_next sarvam_moe solar_open stablelm
""".split()


def alike(dialect: Dialect) -> Reader:
    """A reader of models whose attention layers all turn alike."""

    def read(config: Config) -> list[Use]:
        return _alike(config, dialect)

    return read


def _alike(config: Config, dialect: Dialect, **more: Any) -> list[Use]:
    encoding = rope.rotary(config, rope_spellings.flat(config), dialect, rope.head_dim(config))
    kinds = layers.layer_types(config)
    more = {"written": dialect.written, **more}
    if not kinds:
        if config.model_type in WINDOWED and config.get("sliding_window") is not None:
            config.integer("sliding_window", name="window")
        return [use(config, encoding, layers=layers.every(config), **more)]
    turning = [kind for kind in dict.fromkeys(kinds) if kind not in layers.UNTURNED]
    found = [
        use(
            config.taking(config.taken),
            encoding,
            layers=layers.where(kinds, kind),
            layer_type=kind if len(turning) > 1 else "",
            **more,
        )
        for kind in turning
    ]
    return [*found, *unturned(config, kinds)]


def _switched(key: str, on: object, dialect: Dialect = HALF) -> Reader:
    """A reader of models that turn only where a key has a certain value."""

    def read(config: Config) -> list[Use]:
        return _alike(config, dialect) if config.get(key) == on else []

    return read


def _two_stacks(config: Config) -> list[Use]:
    """HRM: two stacks that take turns, each with its own layers."""
    found = _alike(config, HALF)
    each = config.integer("num_layers_per_stack") or layers.count(config)
    remark = "Two stacks, fast and slow, each with these layers; both turn alike."
    changed = {"layers": tuple(range(each)), "remarks": (remark,), "values": tuple(config.taken)}
    return [replace(one, **changed) for one in found]


def _falcon(config: Config) -> list[Use]:
    return [] if config.flag("alibi") else _alike(config, HALF)


def _olmo_hybrid(config: Config) -> list[Use]:
    inner = rope_spellings.chosen(config)
    where = inner if inner.has("rope_theta") else config
    if where.has("rope_theta") and where.get("rope_theta") is None:
        remark = "Its base is null, so nothing turns."
        turned = unturned(config, layers.layer_types(config))
        full = layers.where(layers.layer_types(config), layers.FULL)
        still = Use(kind="none", place="queries and keys", layers=full, remarks=(remark,))
        return [still, *turned]
    return _alike(config, HALF)


def _query_temperature(config: Config) -> list[Use]:
    """Ministral 3: queries grow a step every original_max_position_embeddings tokens."""
    grown = temperature(config)
    return [
        replace(one, query_scaling=grown) if one.kind == "rotary" else one
        for one in _alike(config, HALF)
    ]


def temperature(config: Config) -> Temperature | None:
    """What multiplies queries by their position, where llama_4_scaling_beta is given."""
    inner = rope_spellings.chosen(config)
    strength = inner.number("llama_4_scaling_beta", at_least=0.0)
    length = inner.integer("original_max_position_embeddings")
    if strength is None or length is None:
        return None
    return Temperature(length=length, strength=strength, offset=0)


def _phimoe(config: Config) -> list[Use]:
    """Phi-3.5-MoE: the short factors at every length; only the multiplier switches."""
    uses = _alike(config, HALF)
    found = uses[0]
    rule = getattr(found.encoding, "scaling", None)
    if rule is None:
        return uses
    inner = rope_spellings.chosen(config)
    short = inner.number("short_mscale", above=0.0, required=True)
    long = inner.number("long_mscale", above=0.0, required=True)
    if not isinstance(rule, LongRope):
        return uses
    rule = replace(rule, long_factors=rule.short_factors, attention_factor=short)
    remark = (
        "The short factors hold at every length; beyond the original length cos and sin are "
        f"multiplied by long_mscale, {long:g}, instead of short_mscale, {short:g}."
    )
    return [replace(found, encoding=replace(found.encoding, scaling=rule), remarks=(remark,))]


def _first_head(config: Config) -> list[Use]:
    """Qwen2.5-Omni's DiT: only the first head of queries and keys is turned."""
    return _alike(
        config,
        Dialect(layout="interleaved", written="half"),
        remarks=("Only the first head of queries and keys is turned.",),
    )


def _backwards(config: Config) -> list[Use]:
    return _alike(config, HALF, inverse=True)


def _zamba2(config: Config) -> list[Use]:
    """Zamba2's shared attention has heads of twice the usual width."""
    if not config.flag("use_mem_rope"):
        return []
    width = config.integer("attention_head_dim", name="head_dim")
    if width is None:
        hidden = config.integer("hidden_size", required=True)
        heads = config.integer("num_attention_heads", required=True)
        width = config.derive("head_dim", 2 * hidden // heads, "hidden_size", "num_attention_heads")
    encoding = rope.rotary(config, rope_spellings.flat(config), HALF, width)
    kinds = layers.layer_types(config)
    found = use(config, encoding, layers=layers.where(kinds, "hybrid"))
    return [found, *unturned(config, kinds)]


_PHI3 = Dialect(
    obeys_partial=True,
    names={"su": "longrope", "yarn": "longrope"},
    kinds=("default", "longrope"),
)
_NEOX = Dialect(obeys_partial=True, base="rotary_emb_base", partial="rotary_pct")

READERS: dict[str, Reader] = {
    **dict.fromkeys(_LLAMAS, alike(HALF)),
    **dict.fromkeys(("neucodec", "xcodec2"), alike(HALF)),
    **dict.fromkeys(_INTERLEAVED, alike(INTERLEAVED)),
    **dict.fromkeys(_SHARES, alike(SHARE)),
    **dict.fromkeys(
        ("glm", "glm4", "moonshine", "moonshine_streaming"),
        alike(Dialect(layout="interleaved", obeys_partial=True)),
    ),
    **dict.fromkeys(("gpt_neox", "gpt_neox_japanese"), alike(_NEOX)),
    **dict.fromkeys(("phi3", "phi4_multimodal"), alike(_PHI3)),
    "minimax_m2": alike(SHARE),
    "recurrent_gemma": alike(Dialect(obeys_partial=True, kinds=("default",))),
    "falcon": _falcon,
    "hrm_text": _two_stacks,
    "olmo_hybrid": _olmo_hybrid,
    "ministral3": _query_temperature,
    "phimoe": _phimoe,
    "nanochat": _backwards,
    "qwen2_5_omni_dit": _first_head,
    "zamba2": _zamba2,
    "granitemoehybrid": _switched("position_embedding_type", "rope"),
}
