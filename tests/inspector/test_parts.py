"""The networks of a model, found in its settings."""

from __future__ import annotations

import pytest

from posenc.inspector import read_settings


def names(settings: dict) -> list[str]:
    return [part.name for part in read_settings(settings).parts]


def test_parts_come_in_the_order_of_the_file() -> None:
    towers = {f"{letter}_config": {"model_type": "gpt2"} for letter in "fbdaec"}

    assert names({"model_type": "rag", **towers}) == list(towers)


def test_declared_parts_come_first_and_are_there_without_settings() -> None:
    found = names({"model_type": "llava", "draft": {"model_type": "llama"}})

    assert found == ["vision_config", "text_config", "draft"]


def test_text_beside_the_other_parts() -> None:
    flat = {"model_type": "qwen2_vl", "rope_theta": 5e5, "vision_config": {"depth": 2}}

    assert "" in names(flat)
    text = next(part for part in read_settings(flat).parts if part.name == "")
    assert text.uses[0].encoding.rotary.base == 5e5


def test_a_model_made_of_nothing() -> None:
    with pytest.raises(ValueError, match="'rag' is made of other models, and the settings name no"):
        read_settings({"model_type": "rag"})
