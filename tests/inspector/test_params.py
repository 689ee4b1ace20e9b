"""params.json against the rotation that Meta's own code makes, written out in float64."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from posenc import Temperature
from posenc.inspector import read

LLAMA3 = {"dim": 4096, "n_layers": 32, "n_heads": 32, "n_kv_heads": 8, "vocab_size": 128256,
          "multiple_of": 1024, "norm_eps": 1e-5, "rope_theta": 500000.0}  # fmt: skip
SCALED = LLAMA3 | {"use_scaled_rope": True}
LLAMA4 = {"dim": 5120, "n_layers": 48, "n_heads": 40, "rope_theta": 500000.0,
          "nope_layer_interval": 4, "use_scaled_rope": True, "moe_args": {}}  # fmt: skip
MISTRAL = {"dim": 5120, "n_layers": 40, "head_dim": 128, "n_heads": 32, "rope_theta": 1e6}


def slowed(frequency, factor, high):
    """One frequency under use_scaled_rope, for a model trained with 8,192 tokens."""
    wavelength = 2 * math.pi / frequency
    if wavelength < 8192 / high:
        return frequency
    if wavelength > 8192:
        return frequency / factor
    kept = (8192 / wavelength - 1) / (high - 1)
    return (1 - kept) * frequency / factor + kept * frequency


@pytest.mark.parametrize(
    ("settings", "rule"),
    [
        (LLAMA3, None),
        (MISTRAL, None),
        (SCALED, (8, 4)),
        (LLAMA4, (16, 1)),
        (LLAMA4 | {"rope_scaling_factor": 8, "rope_high_freq_factor": 4}, (8, 4)),
    ],
)
def test_frequencies_and_pairs(settings, rule):
    use = read(settings).uses[0]

    expected = [settings["rope_theta"] ** (-2 * k / 128) for k in range(64)]
    if rule:
        expected = [slowed(frequency, *rule) for frequency in expected]
    np.testing.assert_allclose(use.encoding.frequencies, expected, rtol=1e-14)
    turned = use.encoding.rotate(np.eye(128)[:1], np.asarray([1]))
    assert set(np.flatnonzero(turned)) == {0, 1}


def test_layers_without_rotation_and_their_query_scaling():
    rotary, none = read(LLAMA4 | {"attn_temperature_tuning": True, "floor_scale": 4096}).uses

    assert none.layers == tuple(range(3, 48, 4))
    assert sorted(rotary.layers + none.layers) == list(range(48))
    assert none.query_scaling == Temperature(length=4096, strength=0.1)
    assert read(LLAMA4).uses[1].query_scaling is None


def test_without_a_base(tmp_path):
    (tmp_path / "params.json").write_text('{"dim": 4096, "n_layers": 32, "n_heads": 32}')

    reading = read(tmp_path)

    assert reading.source == str(tmp_path / "params.json")
    assert reading.uses[0].encoding.base == 10_000.0
    (finding,) = reading.findings
    assert (finding.severity, finding.code, finding.key) == ("warning", "missing-key", "rope_theta")
    (base,) = [value for value in reading.uses[0].values if value.name == "base"]
    assert (base.value, base.origin) == (10_000.0, "default")


def test_the_factor_that_is_not_in_the_file():
    (finding,) = read(SCALED).findings

    assert (finding.severity, finding.key) == ("note", "use_scaled_rope")
    assert read(SCALED | {"rope_scaling_factor": 32}).uses[0].encoding.scaling.factor == 32
    assert read(SCALED | {"rope_scaling_factor": 32}).findings == ()
    assert read(LLAMA3).findings == ()


@pytest.mark.parametrize("key", ["yarn", "vision_encoder", "llama_4_scaling", "vision_args"])
def test_what_is_not_read_is_said(key):
    (finding,) = read(MISTRAL | {key: {"factor": 16}}).findings

    assert (finding.severity, finding.code, finding.key) == ("warning", "not-read", key)


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"n_heads": 0}, "n_heads"),
        ({"n_heads": 33}, "dim"),
        ({"n_heads": 4096}, "head_dim"),
        ({"head_dim": 65}, "head_dim"),
        ({"dim": "4096"}, "dim"),
        ({"n_layers": 10**12}, "n_layers"),
        ({"rope_theta": math.nan}, "rope_theta"),
        ({"rope_theta": -1}, "rope_theta"),
        ({"use_scaled_rope": "yes"}, "use_scaled_rope"),
        ({"use_scaled_rope": True, "rope_scaling_factor": 0}, "rope_scaling_factor"),
    ],
)
def test_settings_that_cannot_be(changes, key):
    reading = read(LLAMA3 | changes)

    assert reading.uses == ()
    assert (reading.findings[0].severity, reading.findings[0].key) == ("error", key)


def test_a_config_json_wins_over_params_json(tmp_path):
    (tmp_path / "params.json").write_text(json.dumps(LLAMA3))
    (tmp_path / "config.json").write_text('{"model_type": "llama"}')

    assert read(tmp_path).uses[0].encoding.layout == "half"
