"""Kinds of layers as the config classes of transformers lay them out."""

from __future__ import annotations

import pytest

from oracles import built, settings
from posenc.inspector.settings import layers
from posenc.inspector.settings.config import Config

FIXED = {"zamba2": 54}
"""Model types whose pattern only fits one number of layers."""


def theirs(model_type: str, **changes) -> list[str]:
    config = built(model_type, **changes)
    kinds = getattr(config, "layer_types", None)
    return list(kinds if kinds is not None else config.layers_block_type)


def ours(model_type: str, **changes) -> list[str]:
    return list(layers.layer_types(Config(settings(model_type, **changes), model_type=model_type)))


@pytest.mark.parametrize("model_type", sorted(layers.PATTERNS.keys() - {"lfm2_moe"}))
def test_kinds_as_the_class_makes_them(model_type) -> None:
    assert ours(model_type) == theirs(model_type)
    for count in () if model_type in FIXED else (12, 13, 31):
        changes = {"num_hidden_layers": count}

        assert ours(model_type, **changes) == theirs(model_type, **changes), count


@pytest.mark.parametrize(
    ("model_type", "changes"),
    [
        ("qwen2", {"use_sliding_window": True, "max_window_layers": 20}),
        ("qwen3", {"use_sliding_window": True, "sliding_window": 64, "max_window_layers": 3}),
        ("qwen2_moe", {"use_sliding_window": True, "max_window_layers": 9}),
        ("dots1", {"sliding_window": 64, "max_window_layers": 3}),
        ("gemma3_text", {"sliding_window_pattern": 4, "num_hidden_layers": 10}),
        ("cohere2", {"sliding_window_pattern": 3, "num_hidden_layers": 10}),
        ("modernbert", {"global_attn_every_n_layers": 5, "num_hidden_layers": 11}),
        ("afmoe", {"global_attn_every_n_layers": 3, "num_hidden_layers": 10}),
        ("exaone4", {"sliding_window": 4096, "sliding_window_pattern": 4}),
        ("bamba", {"attn_layer_indices": [9, 18]}),
        ("lfm2", {"full_attn_idxs": [1, 3], "num_hidden_layers": 5}),
        ("recurrent_gemma", {"block_types": ["attention", "recurrent"]}),
        ("qwen3_next", {"full_attention_interval": 3}),
        ("dots3_note_text", {"use_sliding_window": False}),
        ("dots3_note_text", {"use_dsa": False}),
        ("cohere2_moe", {"first_k_dense_replace": 2}),
        ("ultrabert", {"attention_windows": [0, 8, 0], "num_hidden_layers": 3}),
        ("gemma4_text", {"layer_types": ["sliding_attention"] * 3, "num_hidden_layers": 3}),
        ("zamba2", {"layers_block_type": ["mamba", "hybrid"], "num_hidden_layers": 2}),
        (
            "qwen3_5_text",
            {"layer_types": ["attention", "linear_attention"], "num_hidden_layers": 2},
        ),
    ],
)
def test_kinds_with_settings_of_their_own(model_type, changes) -> None:
    assert ours(model_type, **changes) == theirs(model_type, **changes)


def test_a_model_type_without_a_pattern_says_so() -> None:
    with pytest.raises(ValueError, match="`layer_types` is missing, and this model type has no"):
        ours("lfm2_moe")


def test_another_number_of_kinds_than_layers_is_an_error() -> None:
    with pytest.raises(ValueError, match="one word for each of the 4 layers"):
        ours("gemma3_text", num_hidden_layers=4, layer_types=["full_attention"] * 3)
