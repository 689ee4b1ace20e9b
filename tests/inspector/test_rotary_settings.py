"""Rotary settings in every spelling: either posenc turns as transformers does, or both refuse."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import pytest

from oracles import built, read, rotary
from oracles.rotary import compare

YARN = {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 4096}
LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 2048,
}
NEW_YARN = {
    "rope_type": "yarn",
    "rope_theta": 77_777.0,
    "factor": 4.0,
    "original_max_position_embeddings": 4096,
    "truncate": False,
    "beta_fast": 16.0,
    "mscale": 1.0,
    "mscale_all_dim": 0.7,
}
SPELLINGS: dict[str, dict[str, Any]] = {
    "old base": {"rope_theta": 12_345.0},
    "old linear": {"rope_theta": 54_321.0, "rope_scaling": {"type": "linear", "factor": 4.0}},
    "old dynamic": {"rope_scaling": {"type": "dynamic", "factor": 2.0}},
    "old yarn": {"max_position_embeddings": 16_384, "rope_scaling": YARN},
    "old llama3": {"rope_theta": 500_000.0, "rope_scaling": LLAMA3},
    "new yarn": {"max_position_embeddings": 16_384, "rope_parameters": NEW_YARN},
    "new default": {"rope_parameters": {"rope_type": "default", "rope_theta": 5e5}},
    "new by kind": {
        "rope_parameters": {
            "full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 2e6},
            "sliding_attention": {"rope_type": "default", "rope_theta": 20_000.0},
        }
    },
    "null": {"rope_scaling": None},
    "empty": {"rope_scaling": {}},
}


FAILS_LATER = ("mistral4",)
"""Model types whose module makes tables of a width that their attention then cannot use."""


def outcome(model_type: str, changes: dict[str, Any]) -> float | str:
    """The largest difference, or who refused these settings."""
    warnings.simplefilter("ignore")
    objected = not read(model_type, **changes).sound
    turning = any(use.kind == "rotary" for use in read(model_type, **changes))
    try:
        if not turning:
            rotary.rotary_module(model_type, built(model_type, **copy.deepcopy(changes)))
            return "both refuse" if model_type in FAILS_LATER else "posenc refuses alone"
        outcomes = compare(model_type, near=False, **copy.deepcopy(changes))
    except Exception as error:  # whatever it is that transformers raises
        return "both refuse" if objected else f"transformers refuses: {type(error).__name__}"
    return max(one.difference for one in outcomes)


@pytest.mark.slow
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_every_model_type_reads_a_spelling_as_transformers_does(spelling) -> None:
    differing = {}
    for model_type in rotary.TYPES:
        changes = rotary.SWITCHES.get(model_type, {}) | SPELLINGS[spelling]
        found = outcome(model_type, changes)
        if found != "both refuse" and not (isinstance(found, float) and found <= 1e-6):
            differing[model_type] = found

    assert differing == {}


def longrope(model_type: str) -> dict[str, Any]:
    """Settings with lists of divisors that fit the pairs of a model type."""
    use = next(use for use in read(model_type, **rotary.SWITCHES.get(model_type, {})))
    pairs = use.encoding.turned // 2
    scaling = {
        "rope_type": "longrope",
        "short_factor": [1.0 + 0.01 * k for k in range(pairs)],
        "long_factor": [1.0 + 0.5 * k for k in range(pairs)],
        "factor": 4.0,
        "original_max_position_embeddings": 512,
    }
    lengths = {"max_position_embeddings": 2048, "original_max_position_embeddings": 512}
    return {**lengths, "rope_scaling": scaling}


@pytest.mark.slow
@pytest.mark.parametrize(
    "model_type",
    ["phi3", "phi4_multimodal", "llama", "qwen2", "minicpm3", "glm", "cohere", "olmo2", "stablelm"],
)
def test_short_and_long_divisors_around_the_original_length(model_type) -> None:
    outcomes = compare(model_type, **longrope(model_type))

    assert [one.kind for one in outcomes] == ["rotary, LongRope"]
    assert "11 positions to 2,047" in outcomes[0].how  # 510, 511 and 512 are among them
    assert outcomes[0].difference <= 1e-6


@pytest.mark.slow
def test_the_divisors_of_phi_moe_never_switch() -> None:
    changes = longrope("phimoe")
    changes["rope_scaling"] |= {"short_mscale": 1.2, "long_mscale": 1.2}

    assert compare("phimoe", **changes)[0].difference <= 1e-6
