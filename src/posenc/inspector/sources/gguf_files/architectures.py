"""What llama.cpp knows about an architecture and its GGUF files do not say.

Pairs: ggml-org/llama.cpp, src/llama-model.cpp, llama_model_rope_type, at commit 00342301
(November 2025); for architectures added later, its state of July 2026. Layers and switches:
load_hparams there, load_arch_hparams and the graphs in src/models/*.cpp. Every name in gguf
0.19.0's MODEL_ARCH_NAMES has a row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Pairs = Literal["interleaved", "half", "contiguous axes", "interleaved axes"]
"""Which features are a pair; with axes (M-RoPE) it is "half", and pairs follow one axis each."""

_PAIRS: dict[Pairs, str] = {
    "interleaved": """
        llama llada llama4 deci baichuan internlm2 minicpm xverse command-r cohere2 olmo arctic
        deepseek deepseek2 deepseek2-ocr plm chatglm glm4 granite granitemoe granitehybrid
        chameleon bailingmoe neo-bert smollm3 arcee ernie4_5 ernie4_5-moe mistral3 mistral4
        llama-embed maincoder glm-dsa
    """,
    "half": """
        falcon falcon-h1 grok dbrx jina-bert-v3 modern-bert nomic-bert nomic-bert-moe eurobert
        stablelm bitnet qwen qwen2 dream qwen2moe qwen3 qwen3moe qwen3next llada-moe rnd1 olmo2
        olmoe phi2 phi3 phimoe plamo plamo2 plamo3 gemma gemma2 gemma3 gemma3n gemma4
        gemma-embedding starcoder2 openelm gptneox codeshell orion nemotron exaone exaone4
        exaone-moe minicpm3 bailingmoe2 dots1 hunyuan-moe hunyuan-dense hunyuan_vl jais2 gpt-oss
        lfm2 lfm2moe smallthinker seed_oss grovemoe apertus minimax-m2 cogvlm pangu-embedded
        afmoe mimo2 step35 glm4moe
    """,
    "contiguous axes": "qwen2vl paddleocr",
    "interleaved axes": "qwen3vl qwen3vlmoe qwen35 qwen35moe",
}

PAIRS: dict[str, Pairs] = {name: pairs for pairs, names in _PAIRS.items() for name in names.split()}
"""How each architecture that turns queries and keys pairs their features."""

AXES_IF_SECTIONS = {"glm4", "glm4moe", "hunyuan_vl"}
"""M-RoPE with contiguous sections where the file has sections, their row in PAIRS else."""

LEARNED = {"gpt2", "starcoder", "bert"}
"""A trained table, in the tensor position_embd.weight."""

ALIBI: dict[str, float | None] = {
    "bloom": 8.0, "refact": 8.0, "jina-bert-v2": 8.0, "mpt": None, "jais": None,
}  # fmt: skip
"""ALiBi, and its exponent; None where the file has it."""

ALIBI_DEPTHS = {"baichuan": 40}
"""Architectures that turn, but have ALiBi (exponent 8) at this number of layers: Baichuan 13B."""

T5 = {"t5", "t5encoder"}
"""Buckets of distances."""

BARE = {
    "mamba", "mamba2", "rwkv6", "rwkv6qwen2", "rwkv7", "arwkv7", "jamba", "nemotron_h",
    "nemotron_h_moe", "kimi-linear", "wavtokenizer-dec",
}  # fmt: skip
"""No position encoding: recurrences, convolutions, and attention beside them."""

NOT_MODELS = {"clip": "the image part of a model", "gptj": "an architecture llama.cpp cannot run"}

LATENT = {"deepseek2", "glm-dsa", "mistral4", "minicpm3", "plm"}
"""Latent attention: the last features of a head turn, its first ones never do."""

DEEPSEEK = {"deepseek2", "deepseek2-ocr", "glm-dsa", "mistral4"}
"""YaRN's log multiplier is stored as a tenth, and scales the softmax too."""

PERMUTED = {
    "llama", "deci", "baichuan", "internlm2", "minicpm", "xverse", "olmo", "arctic", "deepseek",
    "granite", "granitemoe", "granitehybrid", "chameleon", "bailingmoe", "llada", "smollm3",
    "arcee", "mistral3", "llama-embed",
}  # fmt: skip
"""The converter reorders rows of Q and K, from halves (Hugging Face) to neighbours."""

WHOLE_HEAD = {"llama", "deci", "falcon", "llama-embed"}
"""llama.cpp refuses to load these when rope.dimension_count is not the width of a head."""

SWITCHED = {"granite", "granitemoe", "granitehybrid"}
"""Here rope.scaling.finetuned = false switches RoPE off."""

ALPHA = {"hunyuan_vl", "hunyuan-dense"}
"""Here rope.scaling.alpha enlarges the base; elsewhere it does nothing."""

RECURRENT = {"qwen3next": 4, "qwen35": 4, "qwen35moe": 4}
"""Only every n-th layer has attention, where full_attention_interval does not say otherwise."""

BETA_FAST = {"grok": 8.0}

YARN_READ = {
    "grok": {"yarn_ext_factor", "yarn_beta_fast", "yarn_beta_slow"},
    "mistral3": {"yarn_beta_fast", "yarn_beta_slow"},
}
"""YaRN's own settings are read for these only; elsewhere llama.cpp runs with its defaults."""


@dataclass(frozen=True, kw_only=True)
class Pattern:
    """Layers of two kinds: sliding ones, and every `period`-th that sees everything.

    Args:
        period: None where the file has to list the layers.
        full_first: whether the full layers are 0, period, ... instead of period - 1, ...
        when: "always", or by attention.sliding_window: "given" (and above 0) or "not zero".
        depth: the only number of layers that has it; 0 for any.
        base: of sliding layers where rope.freq_base_swa is missing; None for that of the others.
        scaled: whether sliding layers are scaled like the others.
        turned: "all" layers, or only the "sliding" ones: the full ones have no position at all.
        sliding: what the layers that are not every `period`-th are called; "" for no name.
    """

    period: int | None
    full_first: bool = False
    when: Literal["always", "given", "not zero"] = "always"
    depth: int = 0
    base: float | None = None
    scaled: bool = True
    turned: Literal["all", "sliding"] = "all"
    sliding: str = "sliding"


PATTERNS: dict[str, Pattern] = {
    "gemma2": Pattern(period=2),
    "gpt-oss": Pattern(period=2),
    "gemma3": Pattern(period=6, base=10_000.0, scaled=False),
    "gemma-embedding": Pattern(period=6, base=10_000.0, scaled=False),
    "gemma3n": Pattern(period=5, base=10_000.0, scaled=False),
    "gemma4": Pattern(period=None, base=10_000.0, scaled=False),
    "mimo2": Pattern(period=None, base=10_000.0, scaled=False),
    "step35": Pattern(period=None, base=10_000.0, scaled=False),
    "plamo3": Pattern(period=8, when="given", base=10_000.0, scaled=False),
    "modern-bert": Pattern(period=3, full_first=True, when="given", base=10_000.0),
    "olmo2": Pattern(period=4, when="given", scaled=False),
    "cohere2": Pattern(period=4, turned="sliding"),
    "exaone4": Pattern(period=4, depth=64, turned="sliding"),
    "exaone-moe": Pattern(period=4, turned="sliding"),
    "afmoe": Pattern(period=4, turned="sliding"),
    "llama4": Pattern(period=4, when="not zero", turned="sliding"),
    "smallthinker": Pattern(period=4, full_first=True, when="given", turned="sliding"),
    "smollm3": Pattern(period=4, turned="sliding", sliding=""),
}

HALVED_WHERE_FULL = {"step35"}
"""Full layers turn half of rope.dimension_count."""

DIVIDED_WHERE_FULL = {"gemma4", "step35"}
"""Only full layers divide by rope_freqs.weight."""
