"""What is read of well-known models, against what anyone can look up or compute about them."""

from __future__ import annotations

import copy
import functools
import math
import operator

import mpmath
import numpy as np
import pytest
from published import SETTINGS

from posenc.inspector import Reading, Use, read_settings

SLIDING, FULL = "sliding_attention", "full_attention"
MISSING_BASES = {
    "Llama 2 7B": {"rope_theta"},
    "Falcon 7B": {"rope_theta"},
    "Gemma 3 4B": {"text_config.rope_theta", "text_config.rope_local_base_freq"},
}
"""Models whose files leave a base to their class, and the keys where it could stand."""


@functools.cache
def reading(name: str) -> Reading:
    return read_settings(SETTINGS[name])


def only(name: str, kind: str = "rotary", layer_type: str = "full_attention") -> Use:
    """The one use of its kind, and for its kind of layer where a model has several."""
    (found,) = [
        use for use in reading(name) if use.kind == kind and use.layer_type in ("", layer_type)
    ]
    return found


def divisors(use: Use) -> np.ndarray:
    """How many times slower each pair turns than without scaling."""
    rotary = use.encoding
    plain = rotary.base ** (-np.arange(0, rotary.turned, 2) / rotary.turned)
    return plain / np.asarray(rotary.frequencies)


def near(found, expected, digits: int = 4) -> None:
    """Equal to numbers that are written with so many digits after the point."""
    np.testing.assert_allclose(found, expected, rtol=0, atol=0.51 * 10.0**-digits)


def every(step: int, count: int, *, rest: bool = False) -> tuple[int, ...]:
    """The last of every `step` layers, or all the others."""
    return tuple(i for i in range(count) if ((i + 1) % step == 0) != rest)


# Which encodings there are, and whether anything is odd.

PLACES = {
    "rotary": "queries and keys",
    "M-RoPE": "queries and keys",
    "ALiBi": "attention scores",
    "none": "queries and keys",
}
KINDS = {
    **dict.fromkeys(SETTINGS, [("", "rotary")]),
    "Llama 4 Scout": [
        ("text_config", "rotary"),
        ("text_config", "none"),
        ("vision_config", "axial rotary"),
        ("vision_config", "learned grid"),
    ],
    "SmolLM3 3B": [("", "rotary"), ("", "none")],
    **dict.fromkeys(
        ("Gemma 2 9B", "ModernBERT base", "gpt-oss 20B"), [("", "rotary"), ("", "rotary")]
    ),
    "Gemma 3 4B": [
        ("text_config", "rotary"),
        ("text_config", "rotary"),
        ("vision_config", "learned grid"),
    ],
    **dict.fromkeys(
        ("Qwen2-VL 7B", "Qwen2.5-VL 7B"), [("vision_config", "axial rotary"), ("", "M-RoPE")]
    ),
    "Qwen3-VL 8B": [
        ("vision_config", "axial rotary"),
        ("vision_config", "learned grid"),
        ("text_config", "M-RoPE"),
    ],
    **dict.fromkeys(("Falcon RW 1B", "MPT 7B", "BLOOM 560M"), [("", "ALiBi")]),
    **dict.fromkeys(("BERT base", "RoBERTa base", "OPT 125M"), [("", "learned")]),
    "T5 small": [("", "T5 buckets"), ("", "T5 buckets")],
    "Whisper small": [("", "learned"), ("", "sinusoidal")],
    "Marian, OPUS-MT": [("", "sinusoidal")],
    "ViT base": [("", "learned grid")],
    "DINOv3 small": [("", "axial rotary")],
}
"""The encodings of each model, with the part of the settings where they stand."""


@pytest.mark.parametrize("name", sorted(SETTINGS.keys() - {"Gemma 4 E2B"}))
def test_the_encodings_of_a_model(name) -> None:
    found = [(part.name, use.kind) for part in reading(name).parts for use in part.uses]

    assert found == KINDS[name]
    for use in reading(name):
        assert use.place == PLACES.get(use.kind, use.place)


def test_the_encodings_of_gemma_4() -> None:
    kinds = {(part.name, use.kind) for part in reading("Gemma 4 E2B").parts for use in part.uses}

    assert {("text_config", "rotary"), ("vision_config", "axial rotary")} <= kinds


@pytest.mark.parametrize("name", SETTINGS)
def test_nothing_is_wrong_with_published_settings(name) -> None:
    findings = reading(name).findings

    assert [one for one in findings if one.severity != "note"] == []
    assert {one.key for one in findings} == MISSING_BASES.get(name, set())
    assert {one.code for one in findings} <= {"base-missing"}


@pytest.mark.parametrize("name", SETTINGS)
def test_what_is_said_to_stand_in_the_file_stands_there(name) -> None:
    for use in reading(name):
        for value in use.values:
            if value.origin == "file":
                found = functools.reduce(operator.getitem, value.key.split("."), SETTINGS[name])
                found = tuple(found) if isinstance(found, list) else found
                assert found == value.value, value


ORIGINS = {
    "Llama 2 7B": {
        "base": (10_000.0, "default", "rope_theta"),
        "head_dim": (128, "fallback", "hidden_size and num_attention_heads"),
        "hidden_size": (4096, "file", "hidden_size"),
        "layers": (32, "file", "num_hidden_layers"),
        "length": (4096, "file", "max_position_embeddings"),
        "num_attention_heads": (32, "file", "num_attention_heads"),
    },
    "GPT-J 6B": {
        "base": (10_000.0, "default", "rope_theta"),
        "head_dim": (256, "fallback", "hidden_size and num_attention_heads"),
        "hidden_size": (4096, "file", "n_embd"),
        "layers": (28, "file", "n_layer"),
        "length": (2048, "file", "n_positions"),
        "num_attention_heads": (16, "file", "n_head"),
        "rotary_dim": (64, "file", "rotary_dim"),
    },
    "Qwen3-VL 8B": {
        "base": (5e6, "file", "text_config.rope_theta"),
        "head_dim": (128, "file", "text_config.head_dim"),
        "layers": (36, "file", "text_config.num_hidden_layers"),
        "length": (262_144, "file", "text_config.max_position_embeddings"),
        "rope_type": ("default", "file", "text_config.rope_scaling.rope_type"),
        "sections": ((24, 20, 20), "file", "text_config.rope_scaling.mrope_section"),
    },
}


@pytest.mark.parametrize("name", ORIGINS)
def test_where_every_value_comes_from(name) -> None:
    use = next(use for use in reading(name) if use.kind in ("rotary", "M-RoPE"))

    found = {value.name: (value.value, value.origin, value.key) for value in use.values}
    assert found == ORIGINS[name]


# Turned queries and keys.

TURNING = [
    # name, kind of layer, layout, head, turned, base, layers, original length, length
    ("Llama 2 7B", "", "half", 128, 128, 1e4, range(32), 4096, 4096),
    ("Llama 3 8B", "", "half", 128, 128, 5e5, range(32), 8192, 8192),
    ("Llama 3.1 8B", "", "half", 128, 128, 5e5, range(32), 8192, 131_072),
    ("Llama 3.1 8B, as transformers 5 saves it", "", "half", 128, 128, 5e5, range(32), 8192, 2**17),
    ("Llama 3.2 1B", "", "half", 64, 64, 5e5, range(16), 8192, 131_072),
    ("Llama 4 Scout", "", "interleaved", 128, 128, 5e5, every(4, 48, rest=True), 8192, 10 * 2**20),
    ("Mistral 7B v0.1", "", "half", 128, 128, 1e4, range(32), 32_768, 32_768),
    ("Mistral Nemo", "", "half", 128, 128, 1e6, range(40), 131_072, 131_072),
    ("Qwen2 7B", "", "half", 128, 128, 1e6, range(28), 131_072, 131_072),
    ("Qwen2.5 7B with YaRN", "", "half", 128, 128, 1e6, range(28), 32_768, 131_072),
    ("Qwen3 8B", "", "half", 128, 128, 1e6, range(36), 40_960, 40_960),
    ("DeepSeek-V2-Lite", "", "interleaved", 192, 64, 1e4, range(27), 4096, 163_840),
    ("DeepSeek-V3", "", "interleaved", 192, 64, 1e4, range(61), 4096, 163_840),
    ("Phi-3 mini 128k, its lists made up", "", "half", 96, 96, 1e4, range(32), 4096, 131_072),
    ("Gemma 2 9B", SLIDING, "half", 256, 256, 1e4, range(0, 42, 2), 8192, 8192),
    ("Gemma 2 9B", FULL, "half", 256, 256, 1e4, range(1, 42, 2), 8192, 8192),
    ("Gemma 3 4B", SLIDING, "half", 256, 256, 1e4, every(6, 34, rest=True), 131_072, 131_072),
    ("Gemma 3 4B", FULL, "half", 256, 256, 1e6, every(6, 34), None, 131_072),
    ("Gemma 4 E2B", SLIDING, "half", 256, 256, 1e4, every(5, 35, rest=True), 131_072, 131_072),
    ("Gemma 4 E2B", FULL, "half", 512, 512, 1e6, every(5, 35), 131_072, 131_072),
    ("gpt-oss 20B", SLIDING, "half", 64, 64, 150_000.0, range(0, 24, 2), 4096, 131_072),
    ("gpt-oss 20B", FULL, "half", 64, 64, 150_000.0, range(1, 24, 2), 4096, 131_072),
    ("GLM-4 9B Chat", "", "interleaved", 128, 64, 5e6, range(40), 131_072, 131_072),
    ("GLM-4.5", "", "half", 128, 64, 1e6, range(92), 131_072, 131_072),
    ("Pythia 1B", "", "half", 256, 64, 1e4, range(16), 2048, 2048),
    ("GPT-J 6B", "", "interleaved", 256, 64, 1e4, range(28), 2048, 2048),
    ("Falcon 7B", "", "half", 64, 64, 1e4, range(32), 2048, 2048),
    ("ModernBERT base", FULL, "half", 64, 64, 160_000.0, range(0, 22, 3), 8192, 8192),
    ("ModernBERT base", SLIDING, "half", 64, 64, 1e4, set(range(22)) - set(range(0, 22, 3)), 8192,
     8192),
    ("ESM-2 8M", "", "half", 16, 16, 1e4, range(6), 1026, 1026),
    ("SmolLM3 3B", "", "half", 128, 128, 5e6, every(4, 36, rest=True), 65_536, 65_536),
]  # fmt: skip
SCALED = {"Llama 3.1 8B", "Llama 3.1 8B, as transformers 5 saves it", "Llama 3.2 1B",
          "Llama 4 Scout", "Qwen2.5 7B with YaRN", "DeepSeek-V2-Lite", "DeepSeek-V3",
          "Phi-3 mini 128k, its lists made up", "gpt-oss 20B"}  # fmt: skip
SCALED_KINDS = {("Gemma 3 4B", FULL), ("Gemma 4 E2B", FULL)}


@pytest.mark.parametrize("row", TURNING, ids=lambda row: f"{row[0]} {row[1]}")
def test_what_turns_and_how_fast(row) -> None:
    name, kind, layout, head, turned, base, layers, original, length = row
    use = only(name, layer_type=kind)
    rotary = use.encoding

    assert (rotary.layout, use.head_dim, rotary.turned, rotary.base) == (layout, head, turned, base)
    assert use.layers == tuple(sorted(layers))
    assert (use.original_length, use.length) == (original, length)
    assert (rotary.scaling is not None) == (name in SCALED or (name, kind) in SCALED_KINDS)
    if rotary.scaling is None:
        expected = base ** (-np.arange(0, turned, 2) / turned)
        np.testing.assert_allclose(rotary.frequencies, expected, rtol=1e-14)


@pytest.mark.parametrize("row", TURNING, ids=lambda row: f"{row[0]} {row[1]}")
def test_which_features_are_a_pair(row) -> None:
    name, kind, layout, _, turned, *_ = row
    rotary = only(name, layer_type=kind).encoding
    partner = turned // 2 if layout == "half" else 1

    one = np.zeros(rotary.dim)
    one[0] = 1.0
    got = rotary.rotate(one, np.asarray(1))

    expected = np.zeros(rotary.dim)
    angle = rotary.frequencies[0]
    expected[[0, partner]] = np.cos(angle), np.sin(angle)
    np.testing.assert_allclose(got / rotary.attention_factor, expected, rtol=0, atol=1e-15)
    rest = np.eye(rotary.dim)[turned:]
    np.testing.assert_array_equal(rotary.rotate(rest, np.full(len(rest), 1000)), rest)


def test_latent_attention_turns_the_end_of_a_head() -> None:
    for name, written in ("DeepSeek-V2-Lite", None), ("DeepSeek-V3", "half"):
        use = only(name)

        assert (use.head_dim, use.first, use.encoding.dim) == (192, 128, 64)
        assert use.written == written


# Scaling. Numbers with four digits are those of the reports in meta-llama/llama3#299,
# felafax/felafax#59 and ggml-org/llama.cpp#8676, recomputed in float64.


@pytest.mark.parametrize("name", ["Llama 3.1 8B", "Llama 3.1 8B, as transformers 5 saves it"])
def test_llama_3_1_slows_half_of_the_pairs_eightfold(name) -> None:
    found = divisors(only(name))

    np.testing.assert_allclose(found[:29], 1.0, rtol=1e-14)
    near(found[29:35], [1.2075, 1.5534, 2.0263, 2.6945, 3.6843, 5.2573])
    np.testing.assert_allclose(found[35:], 8.0, rtol=1e-14)
    assert only(name).encoding.attention_factor == 1.0


def test_llama_3_2_slows_other_pairs() -> None:
    found = divisors(only("Llama 3.2 1B"))

    np.testing.assert_allclose(found[:15], 1.0, rtol=1e-14)
    near(found[15:18], [1.6513, 3.2923, 9.6667])
    np.testing.assert_allclose(found[18:], 32.0, rtol=1e-14)


def test_llama_4_scout_steps_from_kept_to_slowed() -> None:
    wavelengths = 2 * math.pi * 500_000.0 ** (np.arange(64) / 64)

    np.testing.assert_allclose(
        divisors(only("Llama 4 Scout")), np.where(wavelengths > 8192, 16.0, 1.0), rtol=1e-14
    )


def test_llama_4_grows_queries_where_nothing_turns() -> None:
    still = only("Llama 4 Scout", "none")

    assert still.layers == every(4, 48)
    got = still.query_scaling.scale(np.asarray([0, 8190, 8191, 16_382, 16_383, 81_919]))
    steps = np.asarray([0, 0, 1, 1, 2, 10])
    np.testing.assert_allclose(got, 1 + 0.1 * np.log(1 + steps), rtol=1e-7)


YARNS = {
    # name: base, width, original length, factor, kept up to, blended up to, truncated
    "Qwen2.5 7B with YaRN": (1e6, 128, 32_768, 4, 23, 39, True),
    "DeepSeek-V2-Lite": (1e4, 64, 4096, 40, 10, 22, True),
    "DeepSeek-V3": (1e4, 64, 4096, 40, 10, 22, True),
    "gpt-oss 20B": (150_000, 64, 4096, 32, 8, 17, False),
}


@pytest.mark.parametrize("name", YARNS)
def test_yarn_keeps_blends_and_slows(name) -> None:
    base, width, original, factor, kept, blended, truncated = YARNS[name]
    found = divisors(only(name))

    np.testing.assert_allclose(found[: kept + 1], 1.0, rtol=1e-14)
    np.testing.assert_allclose(found[blended + 1 :], factor, rtol=1e-14)
    low, high = (
        width * mpmath.log(original / (turns * 2 * mpmath.pi)) / (2 * mpmath.log(base))
        for turns in (32, 1)
    )
    low, high = (mpmath.floor(low), mpmath.ceil(high)) if truncated else (low, high)
    expected = [
        1 / (1 - slow + slow / factor)
        for slow in ((k - low) / (high - low) for k in range(kept + 1, blended + 1))
    ]
    np.testing.assert_allclose(found[kept + 1 : blended + 1], np.float64(expected), rtol=1e-13)
    assert found[kept + 1] > 1
    assert found[blended] < factor


def test_the_factors_of_attention() -> None:
    factors = {
        name: (only(name).encoding.attention_factor, only(name).softmax_factor) for name in YARNS
    }

    near(factors.pop("Qwen2.5 7B with YaRN"), (1.138629, 1.0), digits=6)
    near(factors.pop("gpt-oss 20B"), (1.346574, 1.0), digits=6)
    near(factors.pop("DeepSeek-V3"), (1.0, 1.873854), digits=6)
    near(factors.pop("DeepSeek-V2-Lite"), (1.0, (0.0707 * math.log(40) + 1) ** 2), digits=12)
    assert factors == {}


def test_cosine_and_sine_have_the_factor_of_attention() -> None:
    cos, sin = only("Qwen2.5 7B with YaRN").encoding.table(np.asarray([0]))

    near(cos, np.full((1, 64), 1.138629), digits=6)
    assert not sin.any()


def test_longrope_changes_lists_after_the_original_length() -> None:
    use = only("Phi-3 mini 128k, its lists made up")
    lists = SETTINGS["Phi-3 mini 128k, its lists made up"]["rope_scaling"]
    plain = 10_000.0 ** (-np.arange(48) / 48)

    for length, key in (4095, "short"), (4096, "short"), (4097, "long"), (131_072, "long"):
        found = plain / use.encoding.frequencies_at(length)
        np.testing.assert_allclose(found, lists[f"{key}_factor"], rtol=1e-13)
    near(use.encoding.attention_factor, 1.190238, digits=6)  # sqrt(1 + ln 32 / ln 4096)


def test_gemma_3_slows_full_attention_only() -> None:
    np.testing.assert_allclose(divisors(only("Gemma 3 4B", layer_type=FULL)), 8.0, rtol=1e-14)


def test_gemma_4_turns_a_quarter_of_the_pairs_of_wide_heads() -> None:
    rotary = only("Gemma 4 E2B", layer_type=FULL).encoding

    expected = np.where(np.arange(256) < 64, 1e6 ** (-np.arange(256) / 256), 0.0)
    np.testing.assert_allclose(rotary.frequencies, expected, rtol=1e-14)


def test_smollm3_leaves_every_fourth_layer_alone() -> None:
    assert only("SmolLM3 3B", "none").layers == (3, 7, 11, 15, 19, 23, 27, 31, 35)


# Text with pictures in it, and pictures alone.

SECTIONS = {
    "Qwen2-VL 7B": (1e6, [0] * 16 + [1] * 24 + [2] * 24),
    "Qwen2.5-VL 7B": (1e6, [0] * 16 + [1] * 24 + [2] * 24),
    "Qwen3-VL 8B": (5e6, [0, 1, 2] * 20 + [0] * 4),
}


@pytest.mark.parametrize("name", SECTIONS)
def test_pairs_follow_time_row_and_column(name) -> None:
    base, axes = SECTIONS[name]
    place = np.asarray([5, 3, 7])

    cos, sin = only(name, "M-RoPE").encoding.table(place)

    angle = place[axes] * base ** (-np.arange(64) / 64)
    np.testing.assert_allclose(cos, np.cos(angle), rtol=0, atol=6e-8)
    np.testing.assert_allclose(sin, np.sin(angle), rtol=0, atol=6e-8)


@pytest.mark.parametrize(
    ("name", "width"), [("Qwen2-VL 7B", 80), ("Qwen2.5-VL 7B", 80), ("Qwen3-VL 8B", 72)]
)
def test_patches_of_qwen_turn_by_row_then_column(name, width) -> None:
    cos, _ = only(name, "axial rotary").encoding.table(np.asarray([[2, 5]]))

    frequencies = 10_000.0 ** (-np.arange(width // 4) / (width // 4))
    expected = np.cos(np.concatenate([2 * frequencies, 5 * frequencies]))
    np.testing.assert_allclose(cos[0], expected, rtol=0, atol=6e-8)


def test_patches_of_llama_4_turn_by_column_then_row_counted_from_one() -> None:
    use = only("Llama 4 Scout", "axial rotary")
    one = np.zeros((2, 88))
    one[0, 2] = one[1, 46] = 1.0

    got = use.encoding.rotate(one, use.first_position + np.asarray([[2, 5], [2, 5]]))

    expected = np.zeros((2, 88))
    second = 10_000.0 ** (-1 / 22)
    expected[0, [2, 3]] = np.cos(6 * second), np.sin(6 * second)
    expected[1, [46, 47]] = np.cos(3 * second), np.sin(3 * second)
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-15)


def test_patches_of_dinov3_turn_by_where_they_lie_in_the_picture() -> None:
    rows, columns = 3, 4
    centres = [
        ((2 * row + 1) / rows - 1, (2 * column + 1) / columns - 1)
        for row in range(rows)
        for column in range(columns)
    ]
    _, sin = only("DINOv3 small", "axial rotary").encoding.table(np.asarray(centres))

    frequencies = 100.0 ** (-np.arange(16) / 16)
    angle = [
        [2 * math.pi * y * w for w in frequencies] + [2 * math.pi * x * w for w in frequencies]
        for y, x in centres
    ]
    np.testing.assert_allclose(sin, np.sin(angle), rtol=0, atol=6e-8)


def test_patches_of_gemma_4_turn_by_column_then_row() -> None:
    """Each half of the head has its own axis, and its pairs in itself: 16 apart."""
    rotary = only("Gemma 4 E2B", "axial rotary").encoding
    one = np.zeros((2, 64))
    one[0, 0] = one[1, 32] = 1.0

    got = rotary.rotate(one, np.asarray([[1, 2], [1, 2]]))

    expected = np.zeros((2, 64))
    expected[0, [0, 16]] = np.cos(2), np.sin(2)
    expected[1, [32, 48]] = np.cos(1), np.sin(1)
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-15)


@pytest.mark.parametrize(
    ("name", "rows", "width"),
    [
        ("ViT base", 1 + 14 * 14, 768),
        ("Llama 4 Scout", 24 * 24 + 1, 1408),
        ("Gemma 3 4B", 64 * 64, 1152),
        ("Qwen3-VL 8B", 48 * 48, 1152),
    ],
)
def test_rows_for_patches(name, rows, width) -> None:
    assert only(name, "learned grid").encoding.weights == {"table": (rows, width)}


# Vectors for tokens.


@pytest.mark.parametrize(
    ("name", "rows", "length", "width"),
    [
        ("BERT base", 512, 512, 768),
        ("RoBERTa base", 514, 512, 768),
        ("OPT 125M", 2050, 2048, 768),
        ("Whisper small", 448, 448, 768),
    ],
)
def test_rows_for_tokens(name, rows, length, width) -> None:
    use = only(name, "learned")
    table = np.arange(rows * width, dtype=np.float32).reshape(rows, width)

    assert use.length == length
    assert use.encoding.weights == {"table": (rows, width)}
    got = use.encoding.encode(np.arange(length), table=table)
    np.testing.assert_array_equal(got, table[rows - length :])


def test_waves_of_whisper() -> None:
    use = only("Whisper small", "sinusoidal")
    angle = np.arange(1500)[:, None] * np.exp(-math.log(10_000) / 383 * np.arange(384))

    assert (use.place, use.original_length) == ("encoder frame embeddings", 1500)
    expected = np.concatenate([np.sin(angle), np.cos(angle)], axis=1)
    np.testing.assert_allclose(use.encoding.encode(np.arange(1500)), expected, rtol=0, atol=6e-8)


def test_waves_of_marian() -> None:
    use = only("Marian, OPUS-MT", "sinusoidal")
    angle = np.arange(512)[:, None] / 10_000.0 ** (2 * np.arange(256) / 512)

    assert use.original_length == 512
    expected = np.concatenate([np.sin(angle), np.cos(angle)], axis=1)
    np.testing.assert_allclose(use.encoding.encode(np.arange(512)), expected, rtol=0, atol=6e-8)


# Biases of attention scores.


@pytest.mark.parametrize(
    ("name", "heads", "layers", "root"),
    [("BLOOM 560M", 16, 24, 1), ("MPT 7B", 32, 32, 1), ("Falcon RW 1B", 32, 24, 8)],
)
def test_slopes(name, heads, layers, root) -> None:
    use = only(name, "ALiBi")

    assert use.layers == tuple(range(layers))
    got = use.encoding.bias(np.asarray([1000]), np.arange(1001), dtype=np.float64)
    slopes = 2.0 ** (-8 * np.arange(1, heads + 1) / heads) / root
    expected = -slopes[:, None, None] * np.arange(1000, -1, -1)
    np.testing.assert_allclose(got, expected, rtol=1e-14)


def test_buckets_of_t5() -> None:
    encoder, decoder = reading("T5 small").uses

    assert [encoder.place, decoder.place] == [f"{side} attention scores" for side in SIDES]
    assert encoder.encoding.weights == decoder.encoding.weights == {"table": (32, 8)}
    for use, exact, steps, ratio in (encoder, 8, 8, 16), (decoder, 16, 16, 8):
        got = use.encoding.bucket(np.asarray([300]), np.arange(301))[0][::-1]
        assert got.tolist() == [bucket(gap, exact, steps, ratio) for gap in range(301)]
    ahead = np.arange(1, 301)
    both = encoder.encoding.bucket(np.asarray([0]), ahead)[0]
    assert both.tolist() == [16 + bucket(gap, 8, 8, 16) for gap in range(1, 301)]
    assert not decoder.encoding.bucket(np.asarray([0]), ahead).any()


SIDES = ("encoder", "decoder")


def bucket(gap: int, exact: int, steps: int, ratio: int) -> int:
    """floor(steps * log(gap / exact) / log(ratio)) beyond the exact ones, in whole numbers."""
    if gap < exact:
        return gap
    return exact - 1 + sum(gap**steps >= exact**steps * ratio**step for step in range(steps))


# The same model in the old spelling and in the new one.


def old_and_new(model_type: str, kind: str, numbers: dict, **rest) -> list[dict]:
    """Settings with the base beside the scaling, and with all of it in one place."""
    common = {"model_type": model_type, "max_position_embeddings": 131_072, **rest}
    return [
        {**common, "rope_theta": 20_000.0, "rope_scaling": {"type": kind, **numbers}},
        {**common, "rope_parameters": {"rope_type": kind, "rope_theta": 20_000.0, **numbers}},
    ]


def by_kind(model_type: str, old: dict, full: dict, sliding: dict) -> list[dict]:
    """Settings in an old spelling, and with a place for each kind of layer."""
    common = {"model_type": model_type, "num_hidden_layers": 12}
    return [{**common, **old}, {**common, "rope_parameters": {FULL: full, SLIDING: sliding}}]


LISTS = {"short_factor": [1.0 + k / 64 for k in range(48)], "long_factor": [2.0] * 48}
SIZES = {"hidden_size": 3584, "num_attention_heads": 28, "num_hidden_layers": 28}
THIRDS = {"mrope_section": [20, 22, 22]}
DEFAULT = {"type": "default", "rope_type": "default"}
TEXTS = [
    {**SIZES, "rope_theta": 2e6, "rope_scaling": {"type": "mrope", **THIRDS}},
    {**SIZES, "rope_theta": 2e6, "rope_scaling": {**DEFAULT, **THIRDS}},
    {**SIZES, "rope_parameters": {"rope_type": "default", "rope_theta": 2e6, **THIRDS}},
]
SPELLINGS = {
    "llama3": [
        SETTINGS["Llama 3.1 8B"],
        SETTINGS["Llama 3.1 8B, as transformers 5 saves it"],
    ],
    "yarn": old_and_new(
        "qwen2", "yarn", {"factor": 4.0, "original_max_position_embeddings": 32_768}
    ),
    "linear": old_and_new("llama", "linear", {"factor": 4.0}),
    "dynamic": old_and_new("llama", "dynamic", {"factor": 2.0}),
    "longrope": [
        *old_and_new("phi3", "longrope", LISTS, original_max_position_embeddings=4096),
        *old_and_new("phi3", "su", LISTS, original_max_position_embeddings=4096),
    ],
    "gemma3": by_kind(
        "gemma3_text",
        {
            "rope_theta": 2e6,
            "rope_local_base_freq": 20_000.0,
            "rope_scaling": {"factor": 8.0, "rope_type": "linear"},
        },
        {"rope_type": "linear", "factor": 8.0, "rope_theta": 2e6},
        {"rope_type": "default", "rope_theta": 20_000.0},
    ),
    "modernbert": by_kind(
        "modernbert",
        {"global_rope_theta": 80_000.0, "local_rope_theta": 20_000.0},
        {"rope_type": "default", "rope_theta": 80_000.0},
        {"rope_type": "default", "rope_theta": 20_000.0},
    ),
    "qwen2_vl": [
        *({"model_type": "qwen2_vl", **text} for text in TEXTS),
        *({"model_type": "qwen2_vl", "text_config": text} for text in TEXTS),
    ],
    "gpt_neox": [
        {"model_type": "gpt_neox", "rotary_pct": 0.5, "rotary_emb_base": 20_000},
        {
            "model_type": "gpt_neox",
            "rope_parameters": {"rope_theta": 20_000.0, "partial_rotary_factor": 0.5},
        },
    ],
}
"""Files that say the same. No number is the one that the class assumes."""


@pytest.mark.parametrize("name", SPELLINGS)
def test_every_spelling_of_a_model_is_the_same_encoding(name) -> None:
    readings = [read_settings(copy.deepcopy(settings)) for settings in SPELLINGS[name]]

    first, *others = [
        [(use.encoding, use.layers, use.original_length, use.length) for use in reading]
        for reading in readings
    ]
    assert first
    for other in others:
        assert other == first
    for one in readings:
        assert one.findings == ()


# Transformers itself.

MODELS = sorted({row[0] for row in TURNING} | SECTIONS.keys())


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_the_same_as_in_transformers(name) -> None:
    from oracles import multimodal, rotary

    kind, compare = (
        ("M-RoPE", multimodal.compare) if name in SECTIONS else ("rotary", rotary.compare)
    )
    (part,) = [part for part in reading(name).parts if kind in {use.kind for use in part.uses}]
    settings = copy.deepcopy(SETTINGS[name].get("text_config", SETTINGS[name]))
    for key in settings.keys() & {"model_type", "vision_config"}:
        del settings[key]

    for outcome in compare(part.model_type, **settings):
        assert outcome.difference <= 1e-6, outcome


@pytest.mark.slow
@pytest.mark.parametrize("name", ["DeepSeek-V2-Lite", "DeepSeek-V3"])
def test_the_factor_of_the_softmax_in_transformers(name) -> None:
    from oracles import built, modeling

    settings = copy.deepcopy(SETTINGS[name])
    model_type = settings.pop("model_type")
    scaling = built(model_type, **settings).rope_parameters

    theirs = modeling(model_type).yarn_apply_mscale(scaling, 1.0)
    np.testing.assert_allclose(only(name).softmax_factor, theirs, rtol=1e-14)
