"""Which kind of attention each layer of a model has, where a model has several kinds."""

from __future__ import annotations

from posenc.inspector.settings.config import Config
from posenc.inspector.settings.layer_patterns import (
    CONVOLUTION,
    FULL,
    INDEXED,
    LINEAR,
    PATTERNS,
    SLIDING,
)

RENAMED = {
    "attention": FULL,
    "mamba": LINEAR,
    "deepseek_sparse_attention": INDEXED,
    "qwen_sparse_attention": INDEXED,
}
"""Words of older files, and what they are called now."""

UNTURNED = (LINEAR, CONVOLUTION, "moe", "mlp")
"""Kinds of layers that know no rotation: recurrent ones, convolutions, networks without tokens."""

LAST_IS_FULL = (
    "gemma4_text",
    "gemma4_unified_text",
    "diffusion_gemma_text",
    "embedding_gemma2_text",
)
"""Model types whose last layer looks at the whole text, whatever the file says."""

MOST_KINDS = 32
"""The most kinds of layers that are believed."""


def count(config: Config) -> int:
    """How many layers there are."""
    return config.integer("num_hidden_layers", name="layers", at_least=0) or 0


def every(config: Config) -> tuple[int, ...]:
    """All layers, by number."""
    return tuple(range(count(config)))


def turning(config: Config, kinds: tuple[str, ...]) -> tuple[int, ...]:
    """The layers whose kind knows rotation: all of them where kinds are not told apart."""
    if not kinds:
        return every(config)
    return tuple(layer for layer, kind in enumerate(kinds) if kind not in UNTURNED)


def layer_types(config: Config) -> tuple[str, ...]:
    """The kind of attention of every layer: as the file says, else as its class would make it.

    Empty for a model type whose layers are all alike.
    """
    if config.model_type == "dory" and "mlp" in (config.get("layer_types") or ()):
        return _attention_of_dory(config)
    layers = count(config)
    kinds = _listed(config)
    if kinds is None:
        kinds = _made(config, layers)
    if kinds is None:
        return ()
    if config.model_type == "deepseek_v4":
        kinds = kinds[:layers]  # its class cuts a list that is too long
    _check(config, kinds, layers)
    if config.model_type in LAST_IS_FULL and kinds:
        kinds = (*kinds[:-1], FULL)
    if SLIDING in kinds and config.declares("sliding_window"):
        _check_window(config)
    return kinds


def _listed(config: Config) -> tuple[str, ...] | None:
    given = config.words("layer_types") or config.words("layers_block_type")
    return None if given is None else tuple(RENAMED.get(kind, kind) for kind in given)


def _made(config: Config, layers: int) -> tuple[str, ...] | None:
    if (pattern := PATTERNS.get(config.model_type)) is None:
        return None
    kinds = tuple(pattern(config, layers))
    config.derive("layer_types", list(dict.fromkeys(kinds)), "num_hidden_layers")
    return kinds


def _check(config: Config, kinds: tuple[str, ...], layers: int) -> None:
    if len(kinds) != layers:
        config.refuse(
            "wrong-length",
            "layer_types",
            f"{len(kinds)} words",
            f"must have one word for each of the {layers} layers (num_hidden_layers).",
            "Make the two agree.",
        )
    if len(set(kinds)) > MOST_KINDS:
        config.refuse(
            "absurd-value",
            "layer_types",
            f"{len(set(kinds))} kinds",
            f"must have at most {MOST_KINDS} kinds of layers, more than any model has.",
            "Give the list that came with the model.",
        )


def _check_window(config: Config) -> None:
    if config.get("sliding_window") is None:
        config.find(
            "warning",
            "missing-key",
            "sliding_window",
            None,
            "is missing, though some layers see a window only; transformers fails.",
            "Add `sliding_window`, or make all layers full_attention.",
        )


def _attention_of_dory(config: Config) -> tuple[str, ...]:
    """Older Dory files count attention and its network as two layers."""
    return (config.words("layer_types") or ())[::2]


def where(kinds: tuple[str, ...], kind: str) -> tuple[int, ...]:
    """The layers of one kind."""
    return tuple(layer for layer, other in enumerate(kinds) if other == kind)


def window_key(config: Config) -> str:
    """The key that says how far layers with a window see."""
    return "local_attention" if config.model_type.startswith("modernbert") else "sliding_window"


def own(config: Config, layer: int) -> Config:
    """What per_layer_config says of one layer; its keys are numbers, with zeros before or not."""
    every = config.inside("per_layer_config")
    named = (key for key in every.data if _numbers(key, layer))
    return every.inside(next(named, ""))


def _numbers(key: str, layer: int) -> bool:
    return key.isdecimal() and (key.lstrip("0") or "0") == str(layer)


def one_each(config: Config, key: str, given: tuple[float, ...]) -> None:
    """Refuse a list that has not one entry for each layer."""
    if len(given) != count(config):
        config.refuse(
            "wrong-length",
            key,
            f"{len(given)} numbers",
            f"must have one number for each of the {count(config)} layers (num_hidden_layers).",
            "Make the two agree.",
        )
