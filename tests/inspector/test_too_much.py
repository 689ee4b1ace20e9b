"""Settings that are well formed and far too many: an end, soon, and words that have an end."""

from __future__ import annotations

import pytest

from posenc.inspector import read
from posenc.inspector.report import answer

MANY = 100_000
LLAMA = {"model_type": "llama", "rope_theta": 5e5}
LINEAR = {"rope_type": "linear", "factor": 2.0}


@pytest.mark.parametrize(
    "settings",
    [
        LLAMA | {f"key_{i}": 1 for i in range(MANY)},
        LLAMA | {f"rope_theta{i}": 1 for i in range(MANY)},
        {"model_type": "llama", "rope_parameters": LINEAR | {f"k{i}": 1 for i in range(MANY)}},
        {"model_type": "gemma3_text", "num_hidden_layers": 10_000},
        {
            "model_type": "gemma3_text",
            "num_hidden_layers": 5000,
            "layer_types": [f"kind {i}" for i in range(5000)],
        },
        {"model_type": "gemma3_text", "num_hidden_layers": 2**18},
        {"model_type": "swin2sr", "depths": [6, 6, 2**63, 6, 6, 6]},
        {"model_type": "funnel", "block_repeats": [2**31, 1, 1]},
        {"model_type": "conditional_detr", "hidden_size": 2**18},
        {"model_type": "musicflamingo", "audio_config": {"model_type": {}}},
        {"model_type": "camembert", "hidden_size": 10**400},
    ],
    ids=lambda settings: f"{settings['model_type']}-{len(settings)}",
)
def test_a_report_all_the_same(settings):
    reading = read(settings)

    assert len(reading.findings) <= 100
    assert len(answer.about(reading, context=40_000).lines) < 1000


@pytest.mark.parametrize("model_type", ["llava", "of my own"])
def test_a_model_of_a_thousand_networks(model_type):
    towers = {f"tower_{i}": LLAMA for i in range(1000)}

    with pytest.raises(ValueError, match="the settings name more than 100 networks"):
        read({"model_type": model_type, **towers})


def test_a_long_model_type_is_shortened():
    with pytest.raises(ValueError, match=r"^model_type is 'x+\.\.\.x+', which posenc") as raised:
        read({"model_type": "x" * 10**6})
    assert len(str(raised.value)) < 300
