"""Models whose type transformers does not have: read like their kin, or by the keys they have."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from posenc.inspector.reading import Part
from posenc.inspector.settings.config import Config, facts

Parts = Callable[[Config], Iterator[Part]]

KIN = {
    "RefinedWeb": "falcon",
    "RefinedWebModel": "falcon",
    "internlm2": "llama",
    "kimi_k2": "deepseek_v3",
    "stablelm_epoch": "stablelm",
}
"""Model types of other code, and the type of transformers whose networks they are."""

ROTARY_KEYS = ("rope_theta", "rope_scaling", "rope_parameters", "rotary_pct", "rotary_emb_base")
"""Keys that tell of rotary embedding, whatever the model type."""


def parts(config: Config, named: Any, of_type: Parts) -> tuple[Part, ...]:
    """The parts of a model of an unknown type.

    Args:
        config: its settings.
        named: what stands for its model type.
        of_type: reads the parts of settings whose model type is known.
    Raises:
        ValueError: nothing in the settings tells of positions.
    """
    if config.model_type in KIN:
        kin = KIN[config.model_type]
        config.find(
            "note",
            "unknown-model-type",
            "model_type",
            named,
            f"is unknown to transformers; its networks are those of {kin}, so it is read as {kin}.",
            "Check the result against the model's own code.",
        )
        return tuple(of_type(config.renamed(kin)))
    towers = [inside(config, key) for key in config.data]
    inner = [part for tower in towers if tower is not None for part in of_type(tower)]
    if inner:
        _unknown(config, named, "the parts of a known type are read, the rest is not")
        return tuple(inner)
    if any(key in config.data for key in ROTARY_KEYS):
        _unknown(config, named, "it is read like llama, with pairs in the half layout")
        return tuple(of_type(config.renamed("llama")))
    raise ValueError(f"{_nameless(named)}, and no other key tells of positions; {_WHOLE}")


_WHOLE = "give the config.json of a model of transformers, whole, or one with rope_theta."


def _nameless(named: Any) -> str:
    if not named:
        return "there is no model_type"
    if not isinstance(named, str):
        return "model_type is no word"
    return f"model_type is {reprlib.repr(named)}, which posenc does not know"


def inside(config: Config, key: str) -> Config | None:
    """A mapping among settings that names a model type transformers has, as settings of its own."""
    value = config.data[key]
    named = value.get("model_type") if isinstance(value, Mapping) else None
    known = isinstance(named, str) and named != "" and named in facts()
    return config.part(key, str(named)) if known else None


def _unknown(config: Config, named: Any, what: str) -> None:
    config.find(
        "warning",
        "unknown-model-type",
        "model_type",
        named or None,
        f"is a model type that posenc does not know: {what}.",
        "Check pairing, turned width and layers against the model's own code.",
    )
