"""A model's defaults read the same whether its file leaves them out or transformers wrote them."""

from __future__ import annotations

import json

import pytest
from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES

from oracles import built, read
from posenc.inspector import Reading, read_settings

NEEDS_MORE = ("gemma4_assistant", "nougat", "rag")
"""Model types that transformers cannot build without settings."""

CHOSEN_BY_CODE = ("backbone_config", "decoder_config.backbone_config")
"""Parts whose type the class chooses when it is built, not by a default."""


def essence(reading: Reading) -> list[tuple]:
    return [
        (use.kind, use.place, use.encoding, use.layers, use.first, use.softmax_factor)
        for part in reading.parts
        if part.name not in CHOSEN_BY_CODE
        for use in part.uses
    ]


@pytest.mark.slow
@pytest.mark.parametrize("model_type", sorted(set(CONFIG_MAPPING_NAMES) - set(NEEDS_MORE)))
def test_defaults_written_out(model_type) -> None:
    written = json.loads(json.dumps(built(model_type).to_diff_dict(), default=str))

    bare, saved = read(model_type), read_settings(written)

    assert essence(saved) == essence(bare)
    unknown = [f for f in saved.findings if f.code in ("unread-key", "unknown-key")]
    assert unknown == []
