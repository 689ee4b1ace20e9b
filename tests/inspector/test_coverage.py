"""No model type of the pinned transformers is left without a word."""

from __future__ import annotations

from pathlib import Path

import transformers
from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES

from oracles import coverage
from posenc.inspector.settings.config import facts

PAGE = Path(__file__).parent.parent.parent / "docs" / "models.md"


def test_the_defaults_are_those_of_the_pinned_release() -> None:
    assert facts()[""]["transformers"] == transformers.__version__
    assert set(CONFIG_MAPPING_NAMES) <= set(facts())


def test_every_model_type_is_compared_or_has_a_reason() -> None:
    left = [
        model_type
        for model_type in coverage.model_types()
        if model_type not in coverage.checks()
        and model_type not in coverage.reasons()
        and model_type not in coverage.WITHOUT_TOKENS
        and not coverage.made_of_others(model_type)
    ]

    assert left == []


def test_what_a_model_is_made_of_is_compared_too() -> None:
    known = coverage.checks().keys() | coverage.reasons().keys() | set(coverage.WITHOUT_TOKENS)
    for model_type in filter(coverage.made_of_others, coverage.model_types()):
        for part in coverage.parts(model_type):
            assert part in known or part not in facts() or coverage.parts(part), model_type


def test_the_page_of_the_documentation_holds_them_all() -> None:
    written = coverage.on_page(PAGE.read_text("utf-8"))

    missing = set(coverage.model_types()) - written - set(coverage.WITHOUT_TOKENS)
    assert missing == set(), "run `make models`"
    assert written <= set(coverage.model_types())


def test_a_missing_model_type_is_noticed() -> None:
    page = coverage.page({"llama": []})

    assert "llama" not in coverage.on_page(page)
    assert "llava" in coverage.on_page(page)
