"""Everything a user may hold in hand, and everything a stranger may have put there."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import types

import pytest

from posenc import Learned
from posenc.inspector import Reading, read

GPT2 = {"model_type": "gpt2", "n_positions": 512, "n_embd": 64}


def put(path, settings):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(settings))
    return path


def learned(reading):
    return [use.encoding for use in reading if isinstance(use.encoding, Learned)]


@pytest.fixture
def config(tmp_path):
    return put(tmp_path / "model" / "config.json", GPT2)


def test_a_path_a_folder_and_a_mapping_read_alike(config):
    readings = [read(config), read(str(config)), read(config.parent), read(GPT2)]

    assert [learned(reading) for reading in readings] == [[Learned(length=512, dim=64)]] * 4
    assert [reading.source for reading in readings] == [str(config)] * 3 + ["settings"]


def test_standard_input(monkeypatch):
    text = io.BytesIO(json.dumps(GPT2).encode())
    monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=text))

    reading = read("-")

    assert reading.source == "standard input"
    assert learned(reading) == [Learned(length=512, dim=64)]


def test_a_config_object_says_what_its_file_would_say(tmp_path):
    from transformers import CLIPConfig, GPT2Config

    for config in (GPT2Config(n_positions=512, n_embd=64), CLIPConfig()):
        config.save_pretrained(tmp_path)
        assert read(config).parts == read(tmp_path).parts


def test_old_and_new_spelling_are_read_alike_from_everything(tmp_path):
    from transformers import LlamaConfig

    numbers = {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
               "original_max_position_embeddings": 8192}  # fmt: skip
    old = {"model_type": "llama", "rope_theta": 5e5, "rope_scaling": {"type": "llama3", **numbers}}
    rope = {"rope_type": "llama3", "rope_theta": 5e5, **numbers}
    new = {"model_type": "llama", "rope_parameters": rope}
    config = LlamaConfig(rope_parameters=dict(rope))
    config.save_pretrained(tmp_path)
    sources = [old, new, config, tmp_path, put(tmp_path / "old" / "config.json", old)]

    (first, *others) = [[(use.encoding, use.layers) for use in read(source)] for source in sources]

    assert first[0][0].base == 5e5
    assert first[0][0].scaling.original_length == 8192
    assert others == [first] * 4


def test_ten_megabytes(tmp_path):
    labels = {str(i): "x" * 90 for i in range(100_000)}
    path = put(tmp_path / "config.json", {**GPT2, "id2label": labels})
    assert path.stat().st_size > 10_000_000

    assert learned(read(path)) == [Learned(length=512, dim=64)]


def test_code_beside_a_config_is_never_run(tmp_path):
    code = "import pathlib; pathlib.Path(__file__).with_name('ran').touch()"
    for name in ("configuration_evil", "modeling_evil"):
        (tmp_path / f"{name}.py").write_text(code)
    evil = {
        "model_type": "evil",
        "rope_theta": 5e5,
        "auto_map": {"AutoConfig": "configuration_evil.C", "AutoModel": "modeling_evil.M"},
        "trust_remote_code": True,
        "custom_pipelines": {"evil": {"impl": "modeling_evil.P"}},
    }
    put(tmp_path / "config.json", evil)
    code = (
        "import sys; before = set(sys.modules); from posenc import read; read('.')\n"
        "print([m for m in set(sys.modules) - before if 'evil' in m or 'transformers' in m])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path
    )

    assert done.stdout.strip() == "[]"
    assert not (tmp_path / "ran").exists()


def test_a_reading_is_pleasant_to_look_at():
    shown = []
    reading = read({"model_type": "gpt2", "rope_theta": 5e5})
    reading._repr_pretty_(types.SimpleNamespace(text=shown.append), cycle=False)

    assert repr(reading) == "<Reading of settings: gpt2, 1 encoding, 1 finding>"
    assert str(reading).startswith("settings: gpt2\n")
    assert "learned on token embeddings" in str(reading)
    assert shown == [str(reading)]
    assert str(reading.findings[0]).startswith("warning: rope_theta model type 'gpt2' never reads")


def test_the_encodings_of_one_layer():
    reading = read({"model_type": "llama4_text", "num_hidden_layers": 8})

    assert [use.kind for use in reading.in_layer(2)] == ["rotary"]
    assert [use.kind for use in reading.in_layer(3)] == ["none"]
    assert reading.in_layer(8) == ()


def test_numbers_of_numpy_and_tuples_are_numbers_and_lists():
    import numpy as np

    settings = types.MappingProxyType({**GPT2, "n_positions": np.int64(512), "unused": (1, 2)})

    assert learned(read(settings)) == [Learned(length=512, dim=64)]


@pytest.mark.parametrize("source", [None, 5, b"config.json", ["config.json"], dict])
def test_other_things_are_no_source(source):
    with pytest.raises(TypeError, match="`source` must be a path, a name on the hub, settings"):
        read(source)


def test_the_class_of_a_config_is_no_config():
    from transformers import GPT2Config

    with pytest.raises(TypeError, match="got type"):
        read(GPT2Config)


def test_a_path_wins_over_a_name_on_the_hub(tmp_path, monkeypatch):
    put(tmp_path / "openai" / "gpt2" / "config.json", GPT2)
    monkeypatch.chdir(tmp_path)

    assert read("openai/gpt2").source == "openai/gpt2/config.json"


@pytest.mark.parametrize("name", ["./model", "a/b/c", "config.json", "a/model.gguf", "a b", ""])
def test_what_is_neither_path_nor_name(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    with pytest.raises(FileNotFoundError, match="no file or folder here, and cannot be a name"):
        read(name)


def test_json_is_no_name():
    with pytest.raises(ValueError, match="from a file or, as `-`, from standard input"):
        read('{"model_type": "gpt2"}')


def test_gguf_is_known_by_its_first_bytes(tmp_path, monkeypatch):
    said = Reading(source="a", model_type="llama", parts=())
    module = types.SimpleNamespace(read_gguf=lambda path: said)
    monkeypatch.setitem(sys.modules, "posenc.inspector.sources.gguf_files", module)
    monkeypatch.setattr("posenc.inspector.sources.gguf_files", module, raising=False)
    (tmp_path / "blob").write_bytes(b"GGUF\x03\0\0\0")

    assert read(tmp_path / "blob") is said


def test_a_folder_of_gguf_files(tmp_path, monkeypatch):
    module = types.SimpleNamespace(read_gguf=lambda path: path.name)
    monkeypatch.setitem(sys.modules, "posenc.inspector.sources.gguf_files", module)
    monkeypatch.setattr("posenc.inspector.sources.gguf_files", module, raising=False)
    for part in (1, 2):
        (tmp_path / f"m-0000{part}-of-00002.gguf").write_bytes(b"GGUF")
    assert read(tmp_path) == "m-00001-of-00002.gguf"

    (tmp_path / "mmproj.gguf").write_bytes(b"GGUF")
    with pytest.raises(ValueError, match=r"several GGUF files; give one of them: m-0.*, mmproj"):
        read(tmp_path)


def test_an_empty_folder(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"holds no config\.json, no params\.json and no"):
        read(tmp_path)


def test_an_adapter(tmp_path):
    put(tmp_path / "adapter_config.json", {"base_model_name_or_path": "org/name"})

    with pytest.raises(ValueError, match="the positions of its base model"):
        read(tmp_path)


def test_weights_are_no_settings(tmp_path):
    (tmp_path / "model.safetensors").write_bytes(b"\2\0\0\0\0\0\0\0{}")

    with pytest.raises(ValueError, match="holds weights and no settings; give the folder"):
        read(tmp_path / "model.safetensors")


def test_a_loop_of_links(tmp_path):
    (tmp_path / "config.json").symlink_to(tmp_path / "other")
    (tmp_path / "other").symlink_to(tmp_path / "config.json")

    for source in (tmp_path, tmp_path / "config.json"):
        with pytest.raises(OSError, match="Too many levels of symbolic links"):
            read(source)


def test_a_link_to_nothing(tmp_path):
    (tmp_path / "config.json").symlink_to(tmp_path / "gone")

    with pytest.raises(FileNotFoundError, match=r"config\.json"):
        read(tmp_path)


def test_a_folder_where_the_file_should_be(tmp_path):
    (tmp_path / "config.json").mkdir()

    with pytest.raises(ValueError, match=r"config\.json is a folder, and a file was looked for"):
        read(tmp_path)


def test_a_pipe_and_a_device_do_not_block(tmp_path):
    os.mkfifo(tmp_path / "config.json")

    for source in (tmp_path, tmp_path / "config.json", "/dev/zero"):
        with pytest.raises(ValueError, match="is a pipe or a device, and a file was looked for"):
            read(source)


def test_permission_denied(tmp_path, config):
    config.chmod(0)
    if os.access(config, os.R_OK):
        pytest.skip("the superuser may read everything")

    with pytest.raises(PermissionError):
        read(config)


@pytest.mark.parametrize("length", [300, 5000])
def test_a_name_too_long_for_the_disk(length):
    with pytest.raises(FileNotFoundError, match="no file or folder here"):
        read("/" + "a" * length)


def test_a_name_with_a_zero_byte():
    with pytest.raises(FileNotFoundError, match="no file or folder here"):
        read("a\0b/c")


def test_nothing_heavy_is_imported(config):
    code = (
        f"import sys; from posenc import read; read({str(config)!r}); "
        "print([name for name in ('torch', 'transformers', 'jax', 'typer', 'rich', 'gguf', "
        "'huggingface_hub', 'safetensors', 'matplotlib', 'posenc.identification') "
        "if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"
