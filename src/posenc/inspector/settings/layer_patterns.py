"""How model types lay out kinds of layers when the file does not say."""

from __future__ import annotations

from collections.abc import Callable

from posenc.inspector.settings.config import Config

FULL, SLIDING, LINEAR = "full_attention", "sliding_attention", "linear_attention"
INDEXED, HYBRID, CONVOLUTION = "indexed_attention", "hybrid", "conv"

Pattern = Callable[[Config, int], list[str]]
"""The kind of each layer, from the settings and the number of layers."""


def _last_of(key: str, every: int, *, other: str = SLIDING, full: str = FULL) -> Pattern:
    """The last of every so many layers is of its own kind."""

    def pattern(config: Config, layers: int) -> list[str]:
        step = _step(config, key, every)
        return [other if step == 0 or (i + 1) % step else full for i in range(layers)]

    return pattern


def _first_of(key: str, every: int) -> Pattern:
    """The first of every so many layers looks at the whole text."""

    def pattern(config: Config, layers: int) -> list[str]:
        step = _step(config, key, every)
        return [SLIDING if i % step else FULL for i in range(layers)]

    return pattern


def _step(config: Config, key: str, every: int) -> int:
    if not key:
        return every
    step = config.integer(key, at_least=0)
    if step is None:
        config.assume(key, every, key)
    return every if step is None else step


def _all(kind: str) -> Pattern:
    return lambda config, layers: [kind] * layers


def _chosen(choose: Callable[[int, int], str]) -> Pattern:
    """A kind for each layer from its number and how many there are."""
    return lambda config, layers: [choose(i, layers) for i in range(layers)]


def _exaone(config: Config, layers: int) -> list[str]:
    if config.integer("sliding_window") is None:
        return [FULL] * layers
    step = config.integer("sliding_window_pattern", at_least=0) or 0
    return [SLIDING if step and (i + 1) % step else FULL for i in range(layers)]


def _cohere_moe(config: Config, layers: int) -> list[str]:
    prefix = config.integer("first_k_dense_replace", at_least=0) or 0
    own = config.integer("prefix_dense_sliding_window_pattern", required=True)
    rest = config.integer("sliding_window_pattern", required=True)
    counted = [(i, own) for i in range(prefix)] + [(i, rest) for i in range(layers - prefix)]
    return [SLIDING if (i + 1) % step else FULL for i, step in counted]


def _olmo_hybrid(config: Config, layers: int) -> list[str]:
    kinds = [FULL if i % 4 == 3 else LINEAR for i in range(layers)]
    return kinds if FULL in kinds or not kinds else [*kinds[:-1], FULL]


def _bamba(config: Config, layers: int) -> list[str]:
    attention = config.integers("attn_layer_indices", at_least=0) or ()
    return [FULL if i in attention else LINEAR for i in range(layers)]


def _lfm2(config: Config, layers: int) -> list[str]:
    attention = config.integers("full_attn_idxs", at_least=0)
    return [FULL if attention is None or i in attention else CONVOLUTION for i in range(layers)]


def _recurrent_gemma(config: Config, layers: int) -> list[str]:
    blocks = config.words("block_types") or ("recurrent", "recurrent", "attention")
    kinds = [LINEAR if block == "recurrent" else SLIDING for block in blocks]
    return (kinds * (layers // len(kinds) + 1))[:layers]


def _ultrabert(config: Config, layers: int) -> list[str]:
    windows = config.integers("attention_windows", at_least=0)
    if windows is not None:
        return [SLIDING if window else FULL for window in windows]
    return [SLIDING if (i + 1) % 3 else FULL for i in range(layers)]


def _qwen2(config: Config, layers: int) -> list[str]:
    """Layers from max_window_layers on see a window, if there is one and it is to be used."""
    windowed = config.get("sliding_window") is not None
    if config.declares("use_sliding_window"):
        windowed = windowed and config.flag("use_sliding_window")
    if not windowed:
        return [FULL] * layers
    first = config.integer("max_window_layers", at_least=0, required=True)
    return [SLIDING if i >= first else FULL for i in range(layers)]


def _qwen2_moe(config: Config, layers: int) -> list[str]:
    """Every other layer before max_window_layers sees a window, if windows are to be used."""
    if not config.flag("use_sliding_window"):
        return [FULL] * layers
    first = config.integer("max_window_layers", at_least=0, required=True)
    return [SLIDING if (i + 1) % 2 and i < first else FULL for i in range(layers)]


def _dots3(config: Config, layers: int) -> list[str]:
    full = FULL if config.get("use_dsa") is False else INDEXED
    far = config.get("use_sliding_window") is False
    return [full if far or i < 2 or i % 4 == 1 else SLIDING for i in range(layers)]


def _required(config: Config, layers: int) -> list[str]:
    config.refuse(
        "missing-key",
        "layer_types",
        None,
        "is missing, and this model type has no pattern of its own.",
        "Say for each layer whether it is full_attention or conv.",
    )


def _compressed(config: Config, layers: int) -> list[str]:
    first, second = "heavily_compressed_attention", "compressed_sparse_attention"
    ratios = config.integers("compress_ratios", at_least=0)
    if ratios is not None:
        return [{0: SLIDING, 4: second, 128: first}.get(ratio, "") for ratio in ratios]
    kinds = [first] * 2 + [second if i % 2 else first for i in range(layers)]
    return kinds[:layers]


def _zamba2(config: Config, layers: int) -> list[str]:
    hybrid = (6, 12, 18, 24, 30, 36, 42, 47, 51)
    return [HYBRID if i in hybrid else LINEAR for i in range(54)]


_LARA = (LINEAR, SLIDING, LINEAR, FULL, SLIDING)

PATTERNS: dict[str, Pattern] = {
    **dict.fromkeys(("gemma2", "t5_gemma_module", "vaultgemma", "gpt_oss"), _last_of("", 2)),
    **dict.fromkeys(
        ("gemma3_text", "embedding_gemma2_text"), _last_of("sliding_window_pattern", 6)
    ),
    **dict.fromkeys(("t5gemma2_text", "t5gemma2_decoder"), _last_of("sliding_window_pattern", 6)),
    **dict.fromkeys(("gemma4_text", "gemma4_unified_text"), _last_of("", 6)),
    "diffusion_gemma_text": _last_of("", 6),
    **dict.fromkeys(
        ("beam", "neomme"), _chosen(lambda i, n: SLIDING if (i + 1) % 6 and i < n - 1 else FULL)
    ),
    **dict.fromkeys(("gemma3n_text", "kolibri1"), _last_of("", 5)),
    **dict.fromkeys(("olmo3", "dory"), _last_of("", 4)),
    "cohere2": _last_of("sliding_window_pattern", 4),
    "cohere2_moe": _cohere_moe,
    "afmoe": _last_of("global_attn_every_n_layers", 4),
    **dict.fromkeys(("exaone4", "exaone_moe"), _exaone),
    **dict.fromkeys(("granite_swa", "granitemoe_swa", "cwm"), _first_of("", 4)),
    **dict.fromkeys(
        ("modernbert", "modernbert-decoder"), _first_of("global_attn_every_n_layers", 3)
    ),
    **dict.fromkeys(
        ("muse_glimmer_text", "muse_spark_text"),
        _chosen(lambda i, n: SLIDING if (n - 1 - i) % 4 else FULL),
    ),
    "muse_glimmer_assistant": _all(SLIDING),
    "flint": _chosen(lambda i, n: FULL if i < 2 or i % 4 == 1 or i == n - 1 else SLIDING),
    "mimo_v2_flash": _chosen(lambda i, n: FULL if i == 0 or (i + 1) % 6 == 0 else SLIDING),
    **dict.fromkeys(
        (
            "deepseek_ocr2_encoder",
            "dots1",
            "qwen2",
            "qwen2_5_omni_talker",
            "qwen2_5_omni_text",
            "qwen2_5_vl_text",
            "qwen2_vl_text",
            "qwen3",
            "qwen3_omni_moe_talker_code_predictor",
        ),
        _qwen2,
    ),
    "qwen2_moe": _qwen2_moe,
    "lara_mini": _chosen(lambda i, n: _LARA[i % 5]),
    "lfm3": _chosen(
        lambda i, n: FULL if i % 4 == 2 else SLIDING if i % 4 == 0 and i > 0 else CONVOLUTION
    ),
    "dots3_note_text": _dots3,
    "ultrabert": _ultrabert,
    "deepseek_v4": _compressed,
    "zaya": _all(HYBRID),
    **dict.fromkeys(("laguna", "mellum", "step3p5"), _all(FULL)),
    **dict.fromkeys(
        ("qwen3_next", "qwen3_5_text", "qwen3_5_moe_text"),
        _last_of("full_attention_interval", 4, other=LINEAR),
    ),
    "qwen4_exp_text": _last_of("full_attention_interval", 4, other=LINEAR, full=INDEXED),
    "bailing_hybrid": _last_of("layer_group_size", 1, other=LINEAR),
    "minimax": _chosen(lambda i, n: LINEAR if (i + 1) % 2 == 0 else FULL),
    "olmo_hybrid": _olmo_hybrid,
    "bamba": _bamba,
    "falcon_h1": _all(HYBRID),
    "lfm2": _lfm2,
    "lfm2_moe": _required,
    "recurrent_gemma": _recurrent_gemma,
    "zamba2": _zamba2,
    "granitemoehybrid": _all(LINEAR),
}
"""For each model type whose layers differ, what lays them out."""
