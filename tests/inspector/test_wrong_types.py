"""Every model type with anything in any field: a reading or one clear error, and soon."""

from __future__ import annotations

import contextlib
import copy
import functools
import json
import re
import signal
from pathlib import Path

import hypothesis
import hypothesis.strategies as st
import pytest

from posenc import spec
from posenc.inspector import Reading, read
from posenc.inspector.report import answer
from posenc.inspector.settings.config import facts
from posenc.inspector.settings.unread import POSITIONAL

MODEL_TYPES = tuple(model_type for model_type in facts() if model_type)
WITHOUT_OBJECT = ("gemma4_assistant", "nougat", "rag")
"""Model types that transformers cannot build without settings."""

SCALINGS = [
    {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768},
    {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
     "original_max_position_embeddings": 8192},
    {"type": "longrope", "short_factor": [1.0] * 48, "long_factor": [2.0] * 48},
    {"type": "dynamic", "factor": 2.0},
    {"type": "mrope", "mrope_section": [16, 24, 24]},
    {"full_attention": {"rope_type": "linear", "factor": 8.0},
     "sliding_attention": {"rope_theta": 1e4}},
]  # fmt: skip

NUMBERS = st.one_of(
    st.integers(-3, 3),
    st.sampled_from([-1, 0, 1, 2**31, 2**63, -(2**63), 10**30, 10**400]),
    st.floats(),
    st.sampled_from([0.5, 1e-320, 1e308, float("nan"), float("inf"), float("-inf")]),
)
WORDS = st.one_of(
    st.text(max_size=8),
    st.sampled_from(MODEL_TYPES),
    st.sampled_from(["full_attention", "sliding_attention", "conv", "rotary", "relative_key"]),
    st.sampled_from(["x" * 3000, "\ud800", "\x1b[31m", "9" * 5000, "\u00b2", "0"]),
)
KEYS = st.sampled_from(
    sorted(POSITIONAL | {key for entry in facts().values() for key in entry.get("defaults", ())})
)
ANYTHING = st.recursive(
    st.none() | st.booleans() | NUMBERS | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS | WORDS, inner, max_size=3),
    max_leaves=6,
)
OF_KEY = {
    "rope_parameters": st.sampled_from(SCALINGS),
    "rope_scaling": st.sampled_from(SCALINGS),
    "layer_types": st.lists(WORDS, max_size=40),
    "per_layer_config": st.dictionaries(WORDS, st.dictionaries(KEYS, ANYTHING, max_size=2)),
    "text_config": st.fixed_dictionaries({"model_type": st.sampled_from(MODEL_TYPES)}),
    "vision_config": st.fixed_dictionaries({"model_type": st.sampled_from(MODEL_TYPES)}),
}
NO_SENTENCE = re.compile(r"\bNone\b|NoneType|<class|object at 0x|\bTrue\b|\bFalse\b|  |\n|\.\.$")


def bare(model_type):
    return {"model_type": model_type}


def assumed(model_type):
    """Everything that the class of a model type assumes, written out."""
    return {"model_type": model_type, **copy.deepcopy(facts()[model_type].get("defaults", {}))}


@functools.cache
def written(model_type):
    """What a config.json of a model type holds when nothing was chosen."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING, CONFIG_MAPPING_NAMES

    if model_type not in CONFIG_MAPPING_NAMES or model_type in WITHOUT_OBJECT:
        return bare(model_type)
    return json.loads(json.dumps(CONFIG_MAPPING[model_type]().to_diff_dict(), default=str))


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


def is_sentence(text):
    return text.endswith(".") and len(text) < 1000 and not NO_SENTENCE.search(text)


def check(settings):
    """One outcome of two, and neither has words that cannot be printed."""
    with soon():
        try:
            reading = read(settings)
        except ValueError as error:
            refused = str(error)
        else:
            refused = ""
        if refused:
            assert is_sentence(refused)
            return
        assert isinstance(reading, Reading)
        json.dumps(reading.to_data(), allow_nan=False)
        for finding in reading.findings:
            assert finding.key
            assert is_sentence(finding.why), finding
            assert is_sentence(finding.cure), finding
        for use in reading:
            for encoding in filter(None, (use.encoding, use.query_scaling)):
                assert spec.from_json(spec.to_json(encoding)) == encoding
        said = answer.about(reading, context=40_000, every_value=True)
        "\n".join(line.text for line in said.lines).encode()
        json.dumps(said.data, allow_nan=False)


def put_anything(data, settings):
    """One field changed, or one more."""
    of_type = facts()[settings["model_type"]]
    paths = [path for path in places(settings) if path != ("model_type",)]
    own = [(key,) for field in ("defaults", "aliases", "parts") for key in of_type.get(field, {})]
    path = data.draw(st.sampled_from([*paths, *own, *((key,) for key in OF_KEY)]))
    value = data.draw(OF_KEY.get(path[-1], ANYTHING) | ANYTHING)
    return with_another(settings, path, value)


@hypothesis.settings(max_examples=300)
@hypothesis.given(data=st.data(), model_type=st.sampled_from(MODEL_TYPES))
def test_anything_in_any_field(data, model_type):
    check(put_anything(data, data.draw(st.sampled_from([bare, assumed]))(model_type)))


@pytest.mark.slow
@hypothesis.settings(max_examples=1000, suppress_health_check=list(hypothesis.HealthCheck))
@hypothesis.given(data=st.data(), model_type=st.sampled_from(MODEL_TYPES))
def test_anything_in_any_two_fields_of_what_transformers_writes(data, model_type):
    settings = put_anything(data, written(model_type))
    check(put_anything(data, settings))


@hypothesis.given(data=st.data(), scaling=st.sampled_from(SCALINGS))
def test_anything_in_any_field_of_a_scaling(data, scaling):
    model_type = data.draw(st.sampled_from(["llama", "phi3", "qwen3", "gpt_oss", "gemma3_text"]))
    key = data.draw(st.sampled_from(["rope_scaling", "rope_parameters"]))
    settings = {"model_type": model_type, key: scaling}
    path = data.draw(st.sampled_from([path for path in places(settings) if path[0] == key]))
    check(with_another(settings, path, data.draw(ANYTHING)))


NAMES = st.sampled_from(
    ("model_type", "text_config", "vision_config", "rope_scaling", "rope_parameters", "dim",
     "n_heads", "n_layers", "hidden_size", "num_attention_heads", "layer_types")
)  # fmt: skip


@hypothesis.given(settings=st.dictionaries(NAMES | st.text(max_size=8), ANYTHING))
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
