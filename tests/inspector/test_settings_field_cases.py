"""What went wrong in other readers of settings, one small test a report.

The reports are public. Numbers come from the formulas, written out here in NumPy or math.
"""

from __future__ import annotations

import copy
import math

import numpy as np
import pytest

from posenc.inspector import Reading, Use, read_settings

LLAMA3 = {
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
    "rope_type": "llama3",
}
YARN = {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32_768}
SLIDING, FULL = "sliding_attention", "full_attention"


def read(model_type: str = "llama", **settings) -> Reading:
    """A reading of a model with heads of 128 features that says all but its scaling."""
    common = {
        "hidden_size": 512,
        "num_attention_heads": 4,
        "num_hidden_layers": 2,
        "max_position_embeddings": 131_072,
        "rope_theta": 10_000.0,
    }
    settings = {"model_type": model_type} | common | copy.deepcopy(settings)
    return read_settings({key: value for key, value in settings.items() if value != "absent"})


def only(reading: Reading) -> Use:
    (use,) = reading.uses
    return use


def divisors(use: Use) -> np.ndarray:
    """How many times slower each pair turns than without scaling."""
    rotary = use.encoding
    plain = rotary.base ** (-np.arange(0, rotary.turned, 2) / rotary.turned)
    return plain / np.asarray(rotary.frequencies)


def told(reading: Reading) -> list[tuple[str, str, str]]:
    return [(one.severity, one.code, one.key) for one in reading.findings]


def features(rotary) -> list[set[int]]:
    """The features into which each feature of a head is carried by turning."""
    turned = rotary.rotate(np.eye(rotary.dim), np.full(rotary.dim, 1000))
    return [set(np.flatnonzero(row).tolist()) for row in turned]


# How settings are spelt.


def test_llama3_scaling_has_five_keys():
    # meta-llama/llama3#299: refused, where exactly type and factor were allowed.
    reading = read(rope_theta=5e5, rope_scaling=LLAMA3)

    assert reading.findings == ()
    rule = only(reading).encoding.scaling
    assert (rule.factor, rule.original_length) == (8.0, 8192)
    assert (rule.low_frequency_factor, rule.high_frequency_factor) == (1.0, 4.0)


@pytest.mark.parametrize("key", ["factor", "low_freq_factor", "high_freq_factor"])
def test_a_missing_key_is_named(key):
    # meta-llama/llama3#299: missing keys raise by name.
    reading = read(rope_scaling={name: value for name, value in LLAMA3.items() if name != key})

    assert told(reading) == [("error", "missing-key", f"rope_scaling.{key}")]
    assert reading.uses == ()


@pytest.mark.parametrize(
    ("key", "cure"),
    [
        ("surprise", "correct its spelling"),
        ("beta_fast", "it belongs to rope_type yarn"),
        ("low_frequency_factor", "`low_freq_factor` is there too"),
    ],
)
def test_an_unknown_key_is_named(key, cure):
    # meta-llama/llama3#299: unknown keys warn.
    reading = read(rope_scaling={**LLAMA3, key: 2.0})

    assert told(reading) == [("warning", "unknown-key", f"rope_scaling.{key}")]
    assert cure in reading.findings[0].cure
    assert reading.uses == read(rope_scaling=LLAMA3).uses


def test_a_factor_against_the_lengths():
    # huggingface/transformers#38224: the factor of the file was replaced by 131072 / 32768.
    reading = read(rope_scaling={**YARN, "factor": 8.0})

    assert told(reading) == [("warning", "factor-against-lengths", "rope_scaling.factor")]
    assert "131,072 / 32,768 = 4" in reading.findings[0].why
    assert "factor 8 " in reading.findings[0].why
    assert only(reading).encoding.scaling.factor == 8.0
    np.testing.assert_allclose(divisors(only(reading))[60:], 8.0, rtol=1e-14)
    assert read(rope_scaling=YARN).findings == ()


@pytest.mark.parametrize("rule", [YARN, LLAMA3])
def test_the_original_length_is_missing(rule):
    # ROCm/aiter#4742: KeyError: 'original_max_position_embeddings'.
    key = "original_max_position_embeddings"
    reading = read(rope_scaling={name: value for name, value in rule.items() if name != key})

    assert told(reading) == [("warning", "missing-key", f"rope_scaling.{key}")]
    use = only(reading)
    assert use.original_length == use.encoding.scaling.original_length == 131_072
    (value,) = [value for value in use.values if value.name == "original_length"]
    assert (value.origin, value.key) == ("fallback", "max_position_embeddings")


@pytest.mark.parametrize(
    "settings",
    [
        {"rope_theta": 1e6},
        {"rope_theta": "absent", "rope_parameters": {"rope_type": "default", "rope_theta": 1e6}},
        {"rope_theta": "absent", "rope_parameters": {"rope_theta": 1e6}},
        {"rope_theta": 1e6, "rope_parameters": {"rope_type": "default"}},
        {"rope_theta": "absent", "rope_scaling": {"type": "default", "rope_theta": 1e6}},
    ],
)
def test_the_base_in_either_schema(settings):
    # deepspeedai/DeepSpeed#8345: 10000 instead of 1000000 once rope_theta had moved.
    # google/gemma.cpp#986: a base that is not 10000.
    reading = read(**settings)

    assert reading.findings == ()
    expected = 1e6 ** (-np.arange(64) / 64)
    np.testing.assert_allclose(only(reading).encoding.frequencies, expected, rtol=1e-14)


def test_a_base_that_was_lost():
    # deepspeedai/DeepSpeed#8345: never default silently.
    reading = read(rope_theta="absent", rope_parameters={"rope_type": "default"})

    assert told(reading) == [("warning", "base-missing", "rope_theta")]
    (base,) = [value for value in only(reading).values if value.name == "base"]
    assert (base.value, base.origin) == (10_000.0, "default")
    assert told(read(rope_theta="absent")) == [("note", "base-missing", "rope_theta")]


def test_two_bases_that_disagree():
    # deepspeedai/DeepSpeed#8345: rope_parameters first, then rope_theta.
    reading = read(rope_theta=1e6, rope_parameters={"rope_theta": 20_000.0})

    assert told(reading) == [("warning", "doubled-key", "rope_theta")]
    assert only(reading).encoding.base == 20_000.0
    assert read(rope_theta=1e6, rope_parameters={"rope_theta": 1e6}).findings == ()


def test_two_scalings_that_disagree():
    # deepspeedai/DeepSpeed#8345 again: both schemas in one file.
    linear = {"rope_type": "linear", "factor": 2.0, "rope_theta": 1e4}
    reading = read(rope_scaling=YARN, rope_parameters=linear)

    assert told(reading) == [("warning", "doubled-key", "rope_scaling")]
    assert only(reading).encoding.scaling.factor == 4.0


def test_two_original_lengths_that_disagree():
    # Phi-3 keeps it beside rope_scaling, and transformers lets that one win.
    lists = {"short_factor": [1.0] * 64, "long_factor": [2.0] * 64}
    inside = {"type": "longrope", "original_max_position_embeddings": 8192, **lists}
    reading = read("phi3", original_max_position_embeddings=4096, rope_scaling=inside)

    where = "rope_scaling.original_max_position_embeddings"
    assert told(reading) == [("warning", "doubled-key", where)]
    assert only(reading).original_length == 4096


@pytest.mark.parametrize(
    "scaling", [None, {}, {"rope_type": "default"}, {"type": "default"}, "absent"]
)
def test_no_scaling_in_every_spelling(scaling):
    # lightseekorg/TorchSpec#101: "Unknown RoPE scaling type default".
    reading = read(rope_scaling=scaling)

    assert reading.findings == ()
    assert only(reading).encoding == only(read()).encoding
    assert only(reading).encoding.scaling is None


def test_an_unknown_scaling_is_an_error():
    # lightseekorg/TorchSpec#101: the other way round, what is unknown is not taken for nothing.
    reading = read(rope_scaling={"rope_type": "ntk", "factor": 4.0})

    assert told(reading) == [("error", "unknown-rope-type", "rope_scaling.rope_type")]
    assert reading.uses == ()


def test_two_names_of_a_scaling_that_disagree():
    # lightseekorg/TorchSpec#101: "type" is the old name of "rope_type".
    reading = read(rope_scaling={**YARN, "type": "linear", "rope_type": "yarn"})

    assert told(reading) == [("warning", "doubled-key", "rope_scaling.type")]
    assert reading.uses[0].encoding == only(read(rope_scaling=YARN)).encoding


@pytest.mark.parametrize(
    ("given", "width"), [({"head_dim": 128}, 128), ({"head_dim": None}, 160), ({}, 160)]
)
def test_heads_that_are_not_hidden_over_heads(given, width):
    # huggingface/candle#2358: Mistral Nemo has 5120 / 32 = 160, but heads of 128.
    reading = read("mistral", hidden_size=5120, num_attention_heads=32, **given)

    use = only(reading)
    assert (use.head_dim, len(use.encoding.frequencies)) == (width, width // 2)
    (value,) = [value for value in use.values if value.name == "head_dim"]
    assert (value.value, value.origin) == (width, "file" if width == 128 else "fallback")


def test_a_length_is_not_stretched_twice():
    # vllm-project/vllm#53634: 32 times 1,048,576, where that was the stretched length already.
    for scaling in (
        {**YARN, "factor": 32.0},
        {"type": "linear", "factor": 32.0},
        {**LLAMA3, "factor": 128.0},
    ):
        reading = read(max_position_embeddings=1_048_576, rope_scaling=scaling)

        assert reading.findings == ()
        assert only(reading).length == 1_048_576


def test_a_length_that_may_be_stretched_twice():
    # vllm-project/vllm#53634: without the original length nobody can tell.
    reading = read(max_position_embeddings=1_048_576, rope_scaling={"type": "yarn", "factor": 32.0})

    assert "scaled twice" in reading.findings[0].why
    assert only(reading).length == 1_048_576


# What scaling does.


def test_the_blend_of_llama3():
    # ggml-org/llama.cpp#8676: parentheses were missing in (1 - s) / factor + s.
    found = divisors(only(read(rope_theta=5e5, rope_scaling=LLAMA3)))

    turns = 8192 * 500_000.0 ** (-31 / 64) / (2 * math.pi)
    smooth = (turns - 1) / (4 - 1)
    np.testing.assert_allclose(found[31], 1 / ((1 - smooth) / 8 + smooth), rtol=1e-13)
    np.testing.assert_allclose(found[31], 2.0263, atol=5e-5)
    np.testing.assert_array_equal(np.flatnonzero((found > 1.001) & (found < 7.999)), range(29, 35))


def test_llama3_scaling_is_not_ignored():
    # felafax/felafax#59: works on short texts only. Numbers of Llama 3.2 1B.
    scaling = {**LLAMA3, "factor": 32.0}
    found = divisors(only(read(head_dim=64, rope_theta=5e5, rope_scaling=scaling)))

    np.testing.assert_allclose(found[:15], 1.0, rtol=1e-14)
    np.testing.assert_allclose(found[15:18], [1.6513, 3.2923, 9.6667], atol=5e-5)
    np.testing.assert_allclose(found[18:], 32.0, rtol=1e-14)


def test_mscale_reaches_the_factor_of_attention():
    # vllm-project/vllm#48623: 27 percent too much, with both keys ignored.
    scaling = {**YARN, "factor": 16.0, "original_max_position_embeddings": 8192}
    both = {**scaling, "mscale": 1.0, "mscale_all_dim": 1.0}

    assert only(read(rope_scaling=both)).encoding.attention_factor == 1.0
    np.testing.assert_allclose(
        only(read(rope_scaling=scaling)).encoding.attention_factor, 1.277259, atol=5e-7
    )
    unequal = {**both, "mscale_all_dim": 0.5}
    np.testing.assert_allclose(
        only(read(rope_scaling=unequal)).encoding.attention_factor,
        (0.1 * math.log(16) + 1) / (0.05 * math.log(16) + 1),
        rtol=1e-14,
    )


@pytest.mark.parametrize("key", ["mscale", "mscale_all_dim"])
def test_one_mscale_alone_is_said_to_be_ignored(key):
    # vllm-project/vllm#48623, in transformers: one key without the other does nothing.
    reading = read(rope_scaling={**YARN, key: 0.7})

    assert told(reading) == [("warning", "unread-key", f"rope_scaling.{key}")]
    np.testing.assert_allclose(only(reading).encoding.attention_factor, 1.138629, atol=5e-7)


def test_attention_factor_and_what_is_not_its_name():
    # The keys of two programs: attention_factor multiplies cos and sin, attn_factor is not read.
    for extra, expected in ({}, 1.138629), ({"attention_factor": 1.25}, 1.25):
        reading = read(rope_scaling={**YARN, **extra, "attn_factor": 1.5})

        assert told(reading) == [("warning", "unknown-key", "rope_scaling.attn_factor")]
        meant = "is there too, and that one counts" if extra else "Spell it `attention_factor`."
        assert meant in reading.findings[0].cure
        np.testing.assert_allclose(only(reading).encoding.attention_factor, expected, atol=5e-7)


def test_swapped_betas_are_refused():
    # pytorch/torchtitan#3787: the ramp ran backwards.
    reading = read(rope_scaling={**YARN, "beta_fast": 1, "beta_slow": 32})

    assert told(reading) == [("error", "swapped-bounds", "rope_scaling.beta_fast")]
    assert reading.uses == ()
    swapped = {**LLAMA3, "low_freq_factor": 4.0, "high_freq_factor": 1.0}
    assert told(read(rope_scaling=swapped))[0][:2] == ("error", "swapped-bounds")


@pytest.mark.parametrize(("truncate", "low", "high"), [(True, 20, 46), (False, 20.9445, 45.0269)])
def test_where_the_ramp_begins_and_ends(truncate, low, high):
    # pytorch/torchtitan#3787 and keras-team/keras-hub#2981: heads of 128, base 10000, 4096 tokens.
    scaling = {**YARN, "original_max_position_embeddings": 4096, "truncate": truncate}
    found = divisors(only(read(max_position_embeddings=16_384, rope_scaling=scaling)))

    slow = np.clip((np.arange(64) - low) / (high - low), 0, 1)
    np.testing.assert_allclose(found, 1 / (1 - slow + slow / 4), rtol=0, atol=2e-5)


def test_the_ramp_may_end_beyond_the_last_pair():
    # keras-team/keras-hub#2981: cut at dim / 2 - 1 instead of dim - 1.
    scaling = {**YARN, "original_max_position_embeddings": 1_000_000}
    found = divisors(only(read(max_position_embeddings=4_000_000, rope_scaling=scaling)))

    low, high = (
        64 * math.log(1_000_000 / (turns * 2 * math.pi)) / math.log(10_000) for turns in (32, 1)
    )
    assert math.ceil(high) > 64
    slow = np.clip((np.arange(64) - math.floor(low)) / (math.ceil(high) - math.floor(low)), 0, 1)
    np.testing.assert_allclose(found, 1 / (1 - slow + slow / 4), rtol=1e-13)


def dynamic() -> Use:
    """Heads of 128, base 10000, 2048 tokens, factor 2."""
    scaling = {"type": "dynamic", "factor": 2.0}
    return only(read(max_position_embeddings=2048, rope_scaling=scaling))


@pytest.mark.parametrize(
    ("length", "base"),
    [(512, 1e4), (1024, 1e4), (2048, 1e4), (4096, 30_527.74), (8192, 72_195.86)],
)
def test_dynamic_scaling_begins_after_the_original_length(length, base):
    # vllm-project/vllm#5093: short prompts were changed as well.
    # vllm-project/vllm#52665: 2 * 512 / 2048 - 1 = -0.5, and NaN after the power.
    found = dynamic().encoding.frequencies_at(length)

    np.testing.assert_allclose(found, base ** (-np.arange(64) / 64), rtol=2e-7)


def test_dynamic_scaling_is_one_base_for_a_text():
    # huggingface/transformers#25104: cached keys had been turned by older bases.
    scaling = {"type": "dynamic", "factor": 2.0}
    use = only(read(head_dim=16, max_position_embeddings=16, rope_scaling=scaling))
    assert (use.original_length, use.length) == (16, 32)
    keys = np.random.default_rng(0).standard_normal((24, 16))

    whole = use.encoding.rotate(keys, np.arange(24), length=24)
    steps = [use.encoding.rotate(keys[p], np.asarray(p), length=24) for p in range(24)]
    np.testing.assert_allclose(steps, whole, rtol=0, atol=1e-15)
    older = use.encoding.rotate(keys[20], np.asarray(20), length=21)
    assert np.abs(older - whole[20]).max() > 0.1


@pytest.mark.parametrize("name", ["longrope", "su"])
def test_the_long_list_begins_after_the_original_length(name):
    # unslothai/unsloth#10681: 4096 tokens took it already.
    lists = {"short_factor": [1.0] * 64, "long_factor": [4.0] * 64}
    scaling = {"type": name, **lists}
    use = only(read("phi3", original_max_position_embeddings=4096, rope_scaling=scaling))

    plain = 10_000.0 ** (-np.arange(64) / 64)
    for length, divisor in (4095, 1.0), (4096, 1.0), (4097, 4.0):
        found = plain / use.encoding.frequencies_at(length)
        np.testing.assert_allclose(found, divisor, rtol=1e-14)


@pytest.mark.parametrize("key", ["short_factor", "long_factor"])
def test_a_list_of_the_wrong_length(key):
    # unslothai/unsloth#10681: also a crash.
    lists = {"short_factor": [1.0] * 64, "long_factor": [4.0] * 64}
    scaling = {"type": "longrope", **lists, key: [1.0] * 48}
    reading = read("phi3", original_max_position_embeddings=4096, rope_scaling=scaling)

    assert told(reading) == [("error", "wrong-length", f"rope_scaling.{key}")]
    assert "64 numbers" in reading.findings[0].why


@pytest.mark.parametrize("key", ["ext_factor", "yarn_ext_factor", "extrapolation_factor"])
def test_an_extrapolation_factor_changes_nothing(key):
    # ikawrakow/ik_llama.cpp#2003: the factor 64 had been copied into the mix weight.
    scaling = {**YARN, "factor": 64.0, "original_max_position_embeddings": 2048}
    reading = read(rope_scaling={**scaling, key: 64.0})

    assert told(reading) == [("warning", "unknown-key", f"rope_scaling.{key}")]
    assert only(reading).encoding == only(read(rope_scaling=scaling)).encoding


ABSURD = [math.nan, math.inf, -math.inf, -4.0, 0.0]


@pytest.mark.parametrize("value", ABSURD)
@pytest.mark.parametrize("key", ["factor", "original_max_position_embeddings", "attention_factor"])
def test_absurd_numbers_are_refused(key, value):
    # vllm-project/vllm#52665: NaN is found before it reaches a table.
    reading = read(rope_scaling={**YARN, key: value})

    assert reading.uses == ()
    assert [one[0::2] for one in told(reading)] == [("error", f"rope_scaling.{key}")]


@pytest.mark.parametrize("value", [*ABSURD, "1e6", True, [1e6], {}])
def test_absurd_bases_are_refused(value):
    # deepspeedai/DeepSpeed#8345: what cannot be a base is not replaced by a default.
    for settings in {"rope_theta": value}, {"rope_parameters": {"rope_theta": value}}:
        reading = read(**settings)

        assert reading.uses == ()
        assert reading.findings[0].severity == "error"
        assert reading.findings[0].key.endswith("rope_theta")


def test_an_odd_head_is_refused_by_name():
    # A head of 65 features has no last pair; transformers refuses it as well.
    reading = read(head_dim=65)

    assert reading.uses == ()
    assert [one[0::2] for one in told(reading)] == [("error", "head_dim")]


# Some features, some layers.


def test_a_share_that_turns_beside_axes():
    # AI-Hypercomputer/maxtext#4616: with M-RoPE all 256 features turned instead of 64.
    use = read(
        "qwen3_5_text",
        head_dim=256,
        num_hidden_layers=4,
        rope_theta="absent",
        rope_parameters={
            "rope_theta": 1e4,
            "partial_rotary_factor": 0.25,
            "mrope_section": [11, 11, 10],
        },
    ).uses[0]

    x = np.random.default_rng(0).standard_normal((5, 256))
    places = np.asarray([[0, 0, 0], [1, 1, 1], [2, 5, 3], [2, 4, 9], [1000, 1000, 1000]])
    got = use.encoding.rotate(x, places)
    np.testing.assert_array_equal(got[:, 64:], x[:, 64:])
    assert (np.abs(got - x)[1:, :64] > 0).all()


@pytest.mark.parametrize("model_type", ["glm4_moe", "gpt_neox"])
def test_pairs_of_a_share_lie_inside_it(model_type):
    # labscommunity/cascadia#69: tables agreed, but 112 of 128 features of queries were wrong.
    key = "rotary_pct" if model_type == "gpt_neox" else "partial_rotary_factor"
    base = {"rope_theta": "absent", "rotary_emb_base": 1e4} if model_type == "gpt_neox" else {}
    use = only(read(model_type, **{key: 0.25}, **base))

    pairs = features(use.encoding)
    assert pairs[:32] == [{k % 16, k % 16 + 16} for k in range(32)]
    assert pairs[32:] == [{k} for k in range(32, 128)]
    expected = 10_000.0 ** (-np.arange(16) / 16)
    np.testing.assert_allclose(use.encoding.frequencies, expected, rtol=1e-14)


def test_proportional_is_another_rule():
    # labscommunity/cascadia#69: default-type shares had been treated like proportional ones.
    kinds = {
        FULL: {"rope_type": "proportional", "partial_rotary_factor": 0.25, "rope_theta": 1e4},
        SLIDING: {"rope_type": "default", "rope_theta": 1e4},
    }
    reading = read(
        "gemma4_text",
        head_dim=128,
        global_head_dim=256,
        layer_types=[SLIDING, FULL],
        rope_theta="absent",
        rope_parameters=kinds,
    )
    rotary = reading.uses[1].encoding

    np.testing.assert_allclose(rotary.frequencies[1], 0.930572, atol=5e-7)
    np.testing.assert_allclose(rotary.frequencies[:32], 1e4 ** (-np.arange(32) / 128), rtol=1e-14)
    assert set(rotary.frequencies[32:]) == {0.0}
    pairs = features(rotary)
    assert pairs[:32] == [{k, k + 128} for k in range(32)]
    assert pairs[32:128] == [{k} for k in range(32, 128)]


def test_the_exponent_of_a_share():
    # Heads of 256, of which 64 features turn: base ** (-2k / 64), not base ** (-2k / 256).
    rotary = only(read("glm", head_dim=256, partial_rotary_factor=0.25)).encoding

    np.testing.assert_allclose(rotary.frequencies[1], 0.749894, atol=5e-7)
    np.testing.assert_allclose(rotary.frequencies[31], 1.3335e-4, atol=5e-9)


@pytest.mark.parametrize("share", [1.0, 0.5, 0.25])
def test_shares_of_gpt_neox_japanese(share):
    # huggingface/transformers#48652: any share but 1 crashed.
    use = only(read("gpt_neox_japanese", rotary_pct=share, rope_theta="absent"))

    assert use.encoding.turned == len(use.encoding.frequencies) * 2 == int(128 * share)


def test_a_share_that_makes_an_odd_width():
    # huggingface/transformers#48652: int(32 * 0.3) is 9; transformers turns ten features of it.
    reading = read("gpt_neox", hidden_size=128, rotary_pct=0.3, rotary_emb_base=1e4)

    assert ("warning", "odd-width", "rotary_pct") in told(reading)
    expected = 10_000.0 ** (-2 * np.arange(5) / 9)
    np.testing.assert_allclose(only(reading).encoding.frequencies, expected, rtol=1e-13)


@pytest.mark.parametrize(
    ("model_type", "layout"),
    [("glm", "interleaved"), ("glm4", "interleaved"), ("glm4_moe", "half")],
)
def test_half_of_the_features_of_glm(model_type, layout):
    # ml-explore/mlx-lm#1698: 128 features turned instead of 64.
    rotary = only(read(model_type, head_dim=128, partial_rotary_factor=0.5)).encoding

    assert (rotary.turned, rotary.layout) == (64, layout)


def test_a_share_that_nothing_obeys():
    # huggingface/transformers#48652, the other way round: Llama turns whole heads.
    reading = read(partial_rotary_factor=0.5)

    assert told(reading) == [("warning", "unread-key", "partial_rotary_factor")]
    assert only(reading).encoding.turned == 128


@pytest.mark.parametrize(
    "settings",
    [
        {"rope_theta": 1e6, "rope_local_base_freq": 1e4},
        {
            "rope_theta": "absent",
            "rope_parameters": {FULL: {"rope_theta": 1e6}, SLIDING: {"rope_theta": 1e4}},
        },
    ],
)
def test_each_kind_of_layer_has_its_base(settings):
    # vllm-project/vllm#29111: sliding layers had the base of the others, 1000000.
    reading = read("gemma3_text", layer_types=[SLIDING, FULL], head_dim=128, **settings)

    assert reading.findings == ()
    found = {use.layer_type: (use.encoding.base, use.layers) for use in reading.uses}
    assert found == {SLIDING: (1e4, (0,)), FULL: (1e6, (1,))}


def test_scaling_reaches_layers_with_full_attention_only():
    # vllm-project/vllm#29111: and Gemma 3 slows these alone.
    linear = {"rope_type": "linear", "factor": 8.0}
    reading = read("gemma3_text", layer_types=[SLIDING, FULL], rope_scaling=linear)

    found = {use.layer_type: divisors(use) for use in reading.uses}
    np.testing.assert_allclose(found[SLIDING], 1.0, rtol=1e-14)
    np.testing.assert_allclose(found[FULL], 8.0, rtol=1e-14)


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"no_rope_layer_interval": 4},
        {"no_rope_layers": None},
        {"no_rope_layers": [1, 1, 1, 0, 1, 1, 1, 0]},
        {"no_rope_layers": [1, 1, 1, 0, 1, 1, 1, 0], "no_rope_layer_interval": 4},
    ],
)
def test_smollm3_leaves_every_fourth_layer_unturned(given):
    # timtoole02/Camelid#535: all layers turned.
    reading = read("smollm3", num_hidden_layers=8, **given)

    assert reading.findings == ()
    found = {use.kind: use.layers for use in reading.uses}
    assert found == {"rotary": (0, 1, 2, 4, 5, 6), "none": (3, 7)}


# Several axes.


@pytest.mark.parametrize("key", ["rope_scaling", "rope_parameters"])
@pytest.mark.parametrize(
    ("model_type", "sections", "axes"),
    [
        ("qwen2_vl_text", [16, 24, 24], [0] * 16 + [1] * 24 + [2] * 24),
        ("qwen2_5_vl_text", [24, 20, 20], [0] * 24 + [1] * 20 + [2] * 20),
        ("qwen3_vl_text", [24, 20, 20], [0, 1, 2] * 20 + [0] * 4),
        ("qwen3_vl_text", [32, 16, 16], [0, 1, 2] * 16 + [0] * 16),
    ],
)
def test_sections_under_either_key(key, model_type, sections, axes):
    # kekzl/imp#1174: not found where the other schema keeps them.
    scaling = {"rope_type": "default", "mrope_section": sections}
    reading = read(model_type, head_dim=128, **{key: scaling})

    assert reading.findings == ()
    cos, sin = only(reading).encoding.table(np.asarray([5, 3, 7]))
    angle = np.asarray([5, 3, 7])[axes] * 10_000.0 ** (-np.arange(64) / 64)
    np.testing.assert_allclose(cos, np.cos(angle), rtol=0, atol=6e-8)
    np.testing.assert_allclose(sin, np.sin(angle), rtol=0, atol=6e-8)


@pytest.mark.parametrize("sections", [[16, 24, 23], [16, 24, 25], [16, 48], [0, 32, 32]])
def test_sections_that_are_not_the_pairs(sections):
    # kekzl/imp#1174: 63 for 64 pairs must not pass.
    reading = read("qwen2_vl_text", rope_scaling={"type": "mrope", "mrope_section": sections})

    if sections == [16, 48]:
        assert only(reading).encoding.sections == (16, 48)
    else:
        assert reading.uses == ()
        assert reading.findings[0].severity == "error"
        assert reading.findings[0].key.endswith("mrope_section")


def test_where_the_sections_stand():
    # kekzl/imp#1174: the finding says where to mend.
    scaling = {"type": "mrope", "mrope_section": [16, 24, 23]}
    reading = read("qwen2_vl_text", rope_scaling=scaling)

    assert reading.findings[0].key == "rope_scaling.mrope_section"


def test_sections_where_nothing_reads_them():
    # kekzl/imp#1174: beside rope_scaling they change nothing.
    reading = read("qwen2_vl_text", mrope_section=[8, 28, 28])

    assert only(reading).encoding.sections == (16, 24, 24)
    assert told(reading) == [("warning", "unread-key", "mrope_section")]


@pytest.mark.parametrize("model_type", ["qwen2_vl_text", "qwen3_vl_text"])
def test_text_alone_cannot_tell_sections(model_type):
    # kekzl/imp#1174: text has the same position on every axis.
    scaling = {"rope_type": "default", "mrope_section": [24, 20, 20]}
    use = only(read(model_type, head_dim=128, rope_scaling=scaling))

    text = np.repeat(np.arange(50)[:, None], 3, axis=1)
    for ours, plain in zip(
        use.encoding.table(text), only(read()).encoding.table(np.arange(50)), strict=True
    ):
        np.testing.assert_array_equal(ours, plain)
