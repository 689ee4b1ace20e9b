"""Settings looked up: in the file, under aliases, among the defaults of a model's class."""

from __future__ import annotations

import pytest

from posenc.inspector import Value, read_settings
from posenc.inspector.settings.config import Config, Unfit


def taken(config: Config) -> list[tuple]:
    return [(value.name, value.value, value.origin, value.key) for value in config.taken]


def test_the_file_wins_over_the_class_and_null_hides_it() -> None:
    config = Config({"num_attention_heads": 4, "head_dim": None}, model_type="gemma")

    assert config.integer("num_attention_heads", name="heads") == 4
    assert config.integer("num_hidden_layers") == 28
    assert config.integer("head_dim") is None  # the class says 256
    assert taken(config) == [
        ("heads", 4, "file", "num_attention_heads"),
        ("num_hidden_layers", 28, "default", "num_hidden_layers"),
    ]


@pytest.mark.parametrize("settings", [{"n_embd": 64}, {"hidden_size": 64}])
def test_both_names_of_a_key(settings) -> None:
    config = Config(settings, model_type="gpt2")

    assert config.integer("hidden_size") == 64
    assert taken(config) == [("hidden_size", 64, "file", next(iter(settings)))]


def test_an_alias_wins_as_it_does_in_transformers() -> None:
    config = Config({"n_embd": 32, "hidden_size": 64}, model_type="gpt2")

    assert config.integer("hidden_size") == 64


def test_where_a_nested_value_stands() -> None:
    config = Config({"rope_scaling": {"factor": 4}}, path="text_config")
    inner = config.inside("rope_scaling")

    assert inner.number("factor") == 4.0
    assert taken(config) == [("factor", 4.0, "file", "text_config.rope_scaling.factor")]


def test_values_laid_over_settings_keep_their_origin() -> None:
    config = Config({"rope_theta": 1e4})
    layer = Value(name="rope_theta", value=2e4, origin="file", key="layer_rope_theta")

    assert config.overlaid(layer).number("rope_theta", name="base") == 2e4
    assert taken(config) == [("base", 2e4, "file", "layer_rope_theta")]

    uses = read_settings({"model_type": "granite_swa", "layer_rope_theta": [0, 1e4, 2e4],
                          "num_hidden_layers": 3}).uses  # fmt: skip
    bases = {
        use.layers: [value for value in use.values if value.name == "base"]
        for use in uses
        if use.kind == "rotary"
    }
    assert bases[(1,)] == [Value(name="base", value=1e4, origin="file", key="layer_rope_theta")]
    assert bases[(2,)] == [Value(name="base", value=2e4, origin="file", key="layer_rope_theta")]


def test_fewer_keys_and_more_assumptions() -> None:
    config = Config({"a": 1, "b": 2})

    assert config.without("a").integer("a") is None
    assert config.without("a").integer("b") == 2
    assert config.assuming(c=3, a=9).integer("c") == 3
    assert config.assuming(c=3, a=9).integer("a") == 1
    assert config.get("c") is None


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("7", "must be a whole number"),
        (True, "must be a whole number"),
        (0, "must be at least 1"),
        (2**60, r"must be below 2\*\*53"),
        (10**6, "must be at most 65,536"),
    ],
)
def test_a_width_that_cannot_be(value, why) -> None:
    with pytest.raises(Unfit, match=why):
        Config({"head_dim": value}).integer("head_dim")
