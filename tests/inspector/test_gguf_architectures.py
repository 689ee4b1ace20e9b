"""GGUF files: axes, kinds of layers, and what the architecture alone decides."""

from __future__ import annotations

import functools

import gguf
import numpy as np
import pytest
from gguf_files import YARN, codes, only, written

import posenc
from posenc.inspector.sources.gguf_files import architectures as facts, read_gguf


@pytest.fixture
def write(tmp_path):
    return functools.partial(written, tmp_path / "model.gguf")


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
