"""Weights beside the settings: what only they know, and what they know better."""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from safetensors.numpy import save_file
from safetensors.torch import save_file as save_torch
from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES

from posenc import Learned
from posenc.inspector import Finding, Part, Reading, Use, read
from posenc.inspector.settings.parts import read_settings
from posenc.inspector.sources import weights

BERT = {"model_type": "bert", "max_position_embeddings": 512, "hidden_size": 64}
TABLE = "bert.embeddings.position_embeddings.weight"


@pytest.fixture
def folder(tmp_path):
    """Put settings and tensors into a folder: one file, or one for each of several dicts."""

    def put(settings, *files):
        (tmp_path / "config.json").write_text(json.dumps(settings))
        if len(files) == 1:
            save_file(files[0], tmp_path / "model.safetensors")
            return tmp_path
        names = [f"model-{i + 1:05}-of-{len(files):05}.safetensors" for i in range(len(files))]
        for name, tensors in zip(names, files, strict=True):
            save_file(tensors, tmp_path / name)
        places = {key: name for name, tensors in zip(names, files, strict=True) for key in tensors}
        index = tmp_path / "model.safetensors.index.json"
        index.write_text(json.dumps({"metadata": {}, "weight_map": places}))
        return tmp_path

    return put


def zeros(*shape):
    return np.zeros(shape, np.float32)


def of_weights(reading):
    codes = ("table-shape", "stored-frequencies", "weights-not-read")
    return [finding for finding in reading.findings if finding.code in codes]


def test_a_table_of_the_right_shape_needs_no_word(folder):
    assert of_weights(read(folder(BERT, {TABLE: zeros(512, 64)}))) == []


@pytest.mark.parametrize(
    ("shape", "key", "value", "cure"),
    [
        ((1024, 64), "max_position_embeddings", 512, "Put 1,024 there"),
        ((512, 32), "hidden_size", 64, "Put 32 there"),
    ],
)
def test_a_table_of_another_shape_is_an_error(folder, shape, key, value, cure):
    (finding,) = of_weights(read(folder(BERT, {TABLE: zeros(*shape)})))

    assert (finding.severity, finding.code, finding.key, finding.value) == (
        "error",
        "table-shape",
        key,
        value,
    )
    assert finding.cure.startswith(cure)
    assert f"make a table of 512 x 64 for token embeddings, and `{TABLE}` in" in finding.why
    assert f"has {weights._by(shape)}, so transformers refuses to load it." in finding.why


def test_rows_below_the_first_token_are_not_counted_by_the_settings(folder):
    opt = {"model_type": "opt", "max_position_embeddings": 100, "word_embed_proj_dim": 64}
    name = "model.decoder.embed_positions.weight"
    opt["hidden_size"] = 64

    assert of_weights(read(folder(opt, {name: zeros(102, 64)}))) == []
    (finding,) = of_weights(read(folder(opt, {name: zeros(202, 64)})))
    assert (finding.key, finding.value) == ("max_position_embeddings", 100)
    assert finding.cure.startswith("Put 200 there")


def test_buckets_of_t5(folder):
    t5 = {"model_type": "t5", "num_heads": 4, "relative_attention_num_buckets": 32}
    name = "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"

    assert of_weights(read(folder(t5, {name: zeros(32, 4)}))) == []
    found = of_weights(read(folder(t5, {name: zeros(64, 4)})))
    assert {finding.key for finding in found} == {"relative_attention_num_buckets"}


def test_only_the_files_that_hold_positions_are_opened(folder):
    model = folder(BERT, {"a.weight": zeros(2, 2)}, {TABLE: zeros(1024, 64)})
    (model / "model-00001-of-00002.safetensors").write_bytes(b"damaged")

    (finding,) = of_weights(read(model))

    assert finding.code == "table-shape"


def test_weights_that_are_not_here_are_a_note(folder):
    model = folder(BERT, {"a.weight": zeros(2, 2)}, {TABLE: zeros(1024, 64)})
    (model / "model-00002-of-00002.safetensors").unlink()

    (finding,) = of_weights(read(model))

    assert (finding.severity, finding.key) == ("note", "model-00002-of-00002.safetensors")
    assert "not there, so its tables were not compared" in finding.why


def test_an_index_leads_nowhere_else(folder):
    model = folder(BERT, {TABLE: zeros(1024, 64)}, {"b": zeros(1)})
    roundabout = f"../{model.name}/model-00001-of-00002.safetensors"
    index = model / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": {TABLE: roundabout}}))
    assert of_weights(read(model)) == []

    for places in ({TABLE: 5}, {TABLE: None}, [1], "a"):
        index.write_text(json.dumps({"weight_map": places}))
        assert {finding.severity for finding in of_weights(read(model))} <= {"note"}


HEADERS = {
    "nothing": b"",
    "a length alone": b"\x08\0\0\0\0\0\0\0",
    "a length of 2^63": b"\xff" * 7 + b"\x7f" + b"{}",
    "a length of 1 TB": (2**40).to_bytes(8, "little") + b"{}",
    "no JSON": b"\x02\0\0\0\0\0\0\0[[",
    "deep": (200_000).to_bytes(8, "little") + b"[" * 200_000,
    "tensors beyond the end": (lambda text: len(text).to_bytes(8, "little") + text)(
        b'{"wpe.weight":{"dtype":"F32","shape":[1099511627776,2],"data_offsets":[0,8796093022208]}}'
    ),
}


@pytest.mark.parametrize("name", HEADERS)
def test_a_header_that_cannot_be_is_an_error_and_no_crash(folder, name):
    model = folder(BERT, {TABLE: zeros(512, 64)})
    (model / "model.safetensors").write_bytes(HEADERS[name])

    (finding,) = of_weights(read(model))

    assert (finding.severity, finding.code) == ("error", "weights-not-read")
    assert finding.key == "model.safetensors"
    assert "It cannot be read" in finding.why


def test_a_pointer_of_git_lfs_is_a_note(folder):
    model = folder(BERT, {TABLE: zeros(512, 64)})
    (model / "model.safetensors").write_text("version https://git-lfs.github.com/spec/v1\noid")

    (finding,) = of_weights(read(model))

    assert (finding.severity, finding.cure) == ("note", "Run `git lfs pull`.")


def test_the_extra_is_missing(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "safetensors", None)

    (finding,) = of_weights(read(folder(BERT, {TABLE: zeros(1024, 64)})))

    assert (finding.severity, finding.cure) == ("note", "pip install 'posenc[safetensors]'")


def test_an_index_that_cannot_be_read_spoils_no_settings(folder):
    model = folder(BERT, {TABLE: zeros(1024, 64)}, {"b": zeros(1)})
    index = model / "model.safetensors.index.json"
    for text, severity in (("{", "error"), ("version https://git-lfs.github.com/spec/v1", "note")):
        index.write_text(text)

        (finding,) = of_weights(read(model))

        assert (finding.severity, finding.key) == (severity, index.name)


def test_weights_that_may_not_be_opened_are_a_note(folder, monkeypatch):
    import safetensors

    def denied(*args, **kwargs):
        raise PermissionError("[Errno 13] Permission denied")

    monkeypatch.setattr(safetensors, "safe_open", denied)

    (finding,) = of_weights(read(folder(BERT, {TABLE: zeros(512, 64)})))

    assert (finding.severity, finding.why) == ("note", "It may not be opened here.")


def test_a_pipe_among_the_weights_does_not_block(folder):
    import os

    model = folder(BERT, {TABLE: zeros(512, 64)})
    (model / "model.safetensors").unlink()
    os.mkfifo(model / "model.safetensors")

    (finding,) = of_weights(read(model))

    assert finding.severity == "note"


LLAMA = {"model_type": "llama", "hidden_size": 64, "num_attention_heads": 2, "rope_theta": 1e6}
ESM = {"model_type": "esm", "hidden_size": 64, "num_attention_heads": 2,
       "position_embedding_type": "rotary", "vocab_size": 33, "mask_token_id": 32,
       "pad_token_id": 1}  # fmt: skip
NAME = "layers.0.rotary_emb.inv_freq"


def frequencies(base):
    return base ** (-np.arange(0, 32, 2) / 32)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize(
    ("settings", "base", "severity"),
    [(LLAMA, 1e6, "note"), (LLAMA, 1e4, "warning"), (ESM, 500.0, "warning")],
)
def test_frequencies_in_the_weights(folder, dtype, settings, base, severity):
    model = folder(settings, {"a": zeros(1)})
    row = torch.tensor(frequencies(base)).to(dtype)
    save_torch({NAME: row, NAME.replace("0", "1"): row.clone()}, model / "model.safetensors")

    (finding,) = of_weights(read(model))

    assert (finding.severity, finding.code, finding.key) == (severity, "stored-frequencies", NAME)
    assert "2 times" in finding.why


def test_frequencies_that_a_model_loads_and_that_fit_need_no_word(folder):
    model = folder(ESM, {NAME: frequencies(1e4).astype(np.float32)})
    assert of_weights(read(model)) == []

    rounded = torch.tensor(frequencies(1e4)).to(torch.bfloat16)
    save_torch({NAME: rounded}, model / "model.safetensors")
    (finding,) = of_weights(read(model))
    assert (finding.severity, finding.why.endswith("this model turns by them.")) == (
        "warning",
        True,
    )


@pytest.mark.parametrize(
    ("tensor", "severity"),
    [
        (torch.zeros(0), "note"),
        (torch.tensor(1.0), "note"),
        (torch.zeros(2, 3), "note"),
        (torch.zeros(12), "note"),
        (torch.full((16,), float("nan")), "error"),
        (torch.zeros(16, dtype=torch.float8_e4m3fn), "error"),
        (torch.zeros(16, dtype=torch.bool), "warning"),
        (torch.zeros(16, dtype=torch.complex64), "warning"),
    ],
    ids=str,
)
def test_frequencies_that_cannot_be(tmp_path, tensor, severity):
    (tmp_path / "config.json").write_text(json.dumps(LLAMA))
    save_torch({NAME: tensor}, tmp_path / "model.safetensors")

    (finding,) = of_weights(read(tmp_path))

    assert finding.severity == severity
    assert finding.why.endswith(".")


def test_frequencies_from_before_the_scaling_are_no_contradiction(folder):
    scaled = LLAMA | {"rope_scaling": {"rope_type": "linear", "factor": 4.0}}

    (finding,) = of_weights(read(folder(scaled, {NAME: frequencies(1e6).astype(np.float32)})))

    assert finding.severity == "note"


def test_findings_are_sorted_with_the_others(tmp_path):
    note = Finding(severity="note", code="a", key="a", value=1, why="", cure="")
    use = Use(kind="learned", place="token embeddings", encoding=Learned(length=4, dim=2))
    parts = (Part(name="", model_type="gpt2", uses=(use,)),)
    reading = Reading(source="a", model_type="gpt2", parts=parts, findings=(note,))
    save_file({"wpe.weight": zeros(5, 2)}, tmp_path / "model.safetensors")

    found = weights.compared(reading, tmp_path).findings

    assert [finding.code for finding in found] == ["table-shape", "a"]


def shapes(model_type):
    """The tensors of a model of transformers with the settings of its class; none are made."""
    config = transformers.AutoConfig.for_model(model_type)
    with torch.device("meta"):
        model = transformers.AutoModel.from_config(config)
    return [
        weights.Tensor(Path("model"), name, tuple(tensor.shape), "F32")
        for name, tensor in model.state_dict().items()
    ]


def against(uses, tensors):
    return [
        finding
        for family, pattern in weights._TABLES.items()
        for finding in weights._against(
            [use for use in uses if isinstance(use.encoding, family)],
            [tensor for tensor in tensors if pattern.search(tensor.name)],
        )
    ]


def longer(use):
    field = "length" if isinstance(use.encoding, Learned) else "buckets"
    spec = dataclasses.replace(use.encoding, **{field: getattr(use.encoding, field) + 2})
    return dataclasses.replace(use, encoding=spec)


@pytest.mark.parametrize(
    "model_type", ["bert", "roberta", "gpt2", "opt", "bart", "clip", "vit", "t5", "mpnet", "sam"]
)
def test_models_of_transformers(model_type):
    tensors = shapes(model_type)
    uses = [
        use for use in read_settings({"model_type": model_type}) if type(use.encoding) in
        weights._TABLES
    ]  # fmt: skip

    assert uses
    assert against(uses, tensors) == []
    assert against([longer(use) for use in uses], tensors) != []


@pytest.mark.slow
def test_no_model_of_transformers_contradicts_its_own_class():
    checked = 0
    for model_type in set(CONFIG_MAPPING_NAMES) - {"rag"}:  # it names no parts by itself
        uses = read_settings({"model_type": model_type}).uses
        if not any(type(use.encoding) in weights._TABLES for use in uses):
            continue
        try:
            tensors = shapes(model_type)
        except Exception:  # parts have no model of their own, and some need other packages
            continue
        assert against(uses, tensors) == [], model_type
        checked += 1
    assert checked > 150
