"""Real configs with anything in any field: a reading or one clear error, and soon."""

from __future__ import annotations

import contextlib
import copy
import functools
import json
import signal
from pathlib import Path

import hypothesis
import hypothesis.strategies as st
import pytest
import transformers

from posenc.inspector import Reading, read

MODEL_TYPES = (
    "bert", "bloom", "clip", "deberta-v2", "deepseek_v3", "dinov3_vit", "esm", "falcon",
    "gemma3", "gpt2", "gpt_neox", "gpt_oss", "gptj", "llama", "llama4", "marian", "mistral",
    "modernbert", "mpt", "opt", "phi3", "qwen2_5_vl", "qwen3", "swin", "t5", "vit", "whisper",
    "xlnet",
)  # fmt: skip

SCALINGS = [
    {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768},
    {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
     "original_max_position_embeddings": 8192},
    {"type": "longrope", "short_factor": [1.0] * 48, "long_factor": [2.0] * 48},
    {"type": "dynamic", "factor": 2.0},
    {"type": "mrope", "mrope_section": [16, 24, 24]},
]  # fmt: skip

NUMBERS = st.one_of(
    st.integers(-3, 3),
    st.sampled_from([-1, 0, 1, 2**31, 2**63, -(2**63), 10**30, 10**400]),
    st.floats(),
    st.sampled_from([0.5, 1e-320, 1e308, float("nan"), float("inf"), float("-inf")]),
)
ANYTHING = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(max_size=8) | st.sampled_from(MODEL_TYPES),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=6,
)


@functools.cache
def written(model_type):
    """What a config.json of a model type holds when nothing was chosen."""
    config = transformers.AutoConfig.for_model(model_type)
    return json.loads(config.to_json_string(use_diff=True))


def places(value, path=()):
    """Where something can be put in the stead of something else: every field, at every depth."""
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value[:4])
        if isinstance(value, list)
        else ()
    )
    for key, inner in items:
        yield (*path, key)
        yield from places(inner, (*path, key))


def with_another(settings, path, value):
    changed = copy.deepcopy(settings)
    inner = changed
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return changed


@pytest.fixture(autouse=True)
def bounded_memory():
    """Two gigabytes more than now, so that a count of layers gone wild is a MemoryError."""
    resource = pytest.importorskip("resource")
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    before = resource.getrlimit(resource.RLIMIT_AS)
    most = pages * resource.getpagesize() + 2 * 2**30
    resource.setrlimit(resource.RLIMIT_AS, (most, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


@contextlib.contextmanager
def soon():
    """An error when something takes ten seconds, which stands for ever."""

    def stop(*_):
        raise AssertionError("reading hangs")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(10)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def check(settings):
    """One outcome of two, and neither has words that cannot be printed."""
    try:
        with soon():
            reading = read(settings)
    except ValueError as error:
        message = str(error)
        assert message
        assert "\n" not in message
        assert len(message) < 1000
        return
    assert isinstance(reading, Reading)
    json.dumps(reading.to_data(), allow_nan=False)


@pytest.mark.parametrize("model_type", MODEL_TYPES)
@hypothesis.given(data=st.data())
def test_anything_in_any_field(model_type, data):
    settings = written(model_type)
    path = data.draw(st.sampled_from(list(places(settings))))
    check(with_another(settings, path, data.draw(ANYTHING)))


@pytest.mark.parametrize("model_type", ["llama", "phi3", "qwen3", "gpt_oss", "deepseek_v3"])
@hypothesis.given(data=st.data())
def test_anything_in_any_field_of_a_scaling(model_type, data):
    settings = written(model_type)
    settings = {key: settings[key] for key in settings if key != "rope_parameters"}
    scaling = data.draw(st.sampled_from(SCALINGS))
    settings[data.draw(st.sampled_from(["rope_scaling", "rope_parameters"]))] = scaling
    path = data.draw(st.sampled_from([p for p in places(settings) if p[0].startswith("rope_")]))
    check(with_another(settings, path, data.draw(ANYTHING)))


KEYS = st.sampled_from(
    ("model_type", "text_config", "vision_config", "rope_scaling", "rope_parameters", "dim",
     "n_heads", "n_layers", "hidden_size", "num_attention_heads", "layer_types")
)  # fmt: skip


@hypothesis.given(settings=st.dictionaries(KEYS | st.text(max_size=8), ANYTHING))
def test_any_mapping(settings):
    check(settings)


@hypothesis.given(data=st.data())
def test_any_settings_of_meta(data):
    settings = {"dim": 4096, "n_layers": 4, "n_heads": 32, "n_kv_heads": 8, "rope_theta": 5e5,
                "use_scaled_rope": True, "nope_layer_interval": 2, "head_dim": 128,
                "attn_temperature_tuning": True, "floor_scale": 8192.0, "attn_scale": 0.1,
                "rope_scaling_factor": 16.0, "rope_high_freq_factor": 1.0}  # fmt: skip
    path = data.draw(st.sampled_from(list(places(settings))))
    check(with_another(settings, path, data.draw(ANYTHING)))
