"""GGUF files: settings that cannot be meant, and files that are broken."""

from __future__ import annotations

import functools
import math
import struct
import sys

import numpy as np
import pytest
from gguf_files import LIGHT, YARN, codes, llama3_divisors, written
from hypothesis import given, settings, strategies as st

from posenc.inspector.sources.gguf_files import read_gguf
from posenc.inspector.sources.gguf_files.findings import KNOWN


@pytest.fixture
def write(tmp_path):
    return functools.partial(written, tmp_path / "model.gguf")


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

    with pytest.raises(ModuleNotFoundError, match=r"pip install 'posenc\[gguf\]'"):
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
