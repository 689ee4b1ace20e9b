"""Every model type of the pinned transformers, read by posenc and judged by its own modules."""

from __future__ import annotations

import importlib

import pytest

SCHEMES = (
    "convolution",
    "coordinates",
    "grids",
    "image_waves",
    "learned",
    "multimodal",
    "none",
    "patches",
    "relative",
    "rotary",
    "several_tables",
    "sinusoidal",
    "windows",
)
CHECKS = [
    pytest.param(check, id=f"{scheme}-{model_type}")
    for scheme in SCHEMES
    for model_type, check in importlib.import_module(f"oracles.{scheme}").CHECKS.items()
]


@pytest.mark.slow
@pytest.mark.parametrize("check", CHECKS)
def test_the_reading_is_what_the_model_does(check) -> None:
    outcomes = check()

    assert outcomes
    for outcome in outcomes:
        assert outcome.difference <= 1e-6, outcome
