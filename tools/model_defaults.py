"""Write src/posenc/inspector/settings/defaults.json: what each model type's config class assumes.

A saved config.json leaves out every key that has its class's default value, so a reader needs
those defaults. They are facts of one release of transformers, read here from its config classes:

    python tools/model_defaults.py
"""

from __future__ import annotations

import json
import logging
import re
import warnings
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import transformers
from huggingface_hub.errors import StrictDataclassError
from transformers.models.auto.configuration_auto import CONFIG_MAPPING, CONFIG_MAPPING_NAMES

ROOT = Path(__file__).parent.parent
TARGET = ROOT / "src/posenc/inspector/settings/defaults.json"
ABOUT_POSITIONS = re.compile(
    r"relative|spatial|temperature|qk_norm|conv_pos|^memory_encoder_output_"
)
"""Names of settings that are kept, whatever stands in the list below."""

OF_NO_INTEREST = re.compile(
    "|".join(
        (
            # tokens and what is done with them
            r"(?<!pad_)token_(id|index)|vocab|prefix_token|generation|beam|length_penalty",
            r"no_repeat|suppress|forced|temperature_|top_k|top_p|label|classifier|summary|problem",
            # training
            r"dropout|drop_|drop$|pdrop|_std$|eps$|epsilon|initializer|loss|coef|cost|matcher",
            r"jitter|gradient|mask_time|mask_feature|ctc|diversity|codevector|negatives|prun|quant",
            # layers that know no positions
            r"router|expert|moe|intermediate|ffn|(attention|qkv|mlp|conv|proj|head|use|enable)_bias$",
            r"_act$|activation|hidden_act|resid|layerscale|batch_norm|norm_|_norm|adapter",
            # how a model is run and saved
            r"cache|tie_|output_|return_|chunk_size_feed|threshold|task|dtype",
            r"transformers_version|architectures",
        )
    )
)
"""Names of settings that say nothing about positions, so that the file stays small."""


def main() -> None:
    """Collect the defaults of every model type and write them, one type a line."""
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    classes = {model_type: CONFIG_MAPPING[model_type] for model_type in CONFIG_MAPPING_NAMES}
    entries = {model_type: _entry(cls) for model_type, cls in classes.items()}
    nameless = [part for cls in classes.values() for part in _nameless(cls)]
    entries |= {cls.__name__: _entry(cls) for cls in nameless}
    # One type a line, so that a new release of transformers shows what it changed.
    lines = [f'"": {json.dumps({"transformers": transformers.__version__})}']
    for model_type, entry in entries.items():
        lines.append(f"{json.dumps(model_type)}: {json.dumps(entry, separators=(',', ':'))}")
    TARGET.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(f"wrote {len(lines) - 1} model types to {TARGET.name}")


def _entry(cls: type) -> dict[str, Any]:
    """What there is to know about a config class: see the docstring of settings.config.facts."""
    entry: dict[str, Any] = {"class": cls.__name__, "defaults": _defaults(cls)}
    if cls.attribute_map:
        entry["aliases"] = dict(cls.attribute_map)
    if cls.sub_configs_defaults:
        entry["parts"] = {key: _part(part) for key, part in cls.sub_configs_defaults.items()}
    if hasattr(cls, "rope_parameters") or "rope_parameters" in _names(cls):
        entry["theta"] = cls.default_theta
        share = _share(cls)
        if assumed := _assumed(cls, share):
            entry["rope"] = assumed
        if share is not None:
            entry["share"] = share
        if cls.default_rope_type != "default":
            entry["rope_type"] = cls.default_rope_type
    return entry


def _assumed(cls: type, share: float | None) -> dict[str, Any]:
    """The rotary settings of a config without any, where they are more than a base and a share.

    A base that gives way to `rope_theta` beside them is left out: it is the default of that key;
    so is the share of a head that is assumed beside settings that lack it.
    """
    assumed = _rotary_settings(cls)
    if share is not None and assumed.get("partial_rotary_factor") == share:
        del assumed["partial_rotary_factor"]
    other = _rotary_settings(cls, rope_theta=12_345.0)
    if other.get("rope_theta") == 12_345.0:
        assumed.pop("rope_theta", None)
    plain = {"rope_theta": cls.default_theta, "rope_type": cls.default_rope_type}
    if all(plain.get(key) == value for key, value in assumed.items()):
        return {}
    if all(isinstance(value, dict) for value in assumed.values()):  # from a set: in any order
        return dict(sorted(assumed.items()))
    return assumed


def _share(cls: type) -> float | None:
    """The share of a head that turns where rotary settings are given, but not that."""
    given = {"rope_type": "default", "rope_theta": 1e4}
    return _rotary_settings(cls, rope_parameters=given).get("partial_rotary_factor")


def _rotary_settings(cls: type, **settings: Any) -> dict[str, Any]:
    """What a config class makes of these settings; nothing where it refuses them."""
    try:
        return cls(**settings).rope_parameters or {}
    except (StrictDataclassError, TypeError, ValueError, LookupError, AttributeError):
        return {}


def _nameless(cls: type) -> list[type]:
    """The classes of parts that have no model type, so that their own name must do."""
    parts = [part.config_class for part in cls.sub_configs_defaults.values() if not part.model_type]
    return parts + [inner for part in parts for inner in _nameless(part)]


def _part(spec: Any) -> dict[str, Any]:
    """Which class a sub-config has: a fixed one, or the one its own model_type names."""
    by_name = not issubclass(spec.config_class, transformers.PreTrainedConfig)
    part: dict[str, Any] = {"type": spec.model_type or spec.config_class.__name__}
    if by_name:
        part["open"] = True
    if spec.optional:
        part["optional"] = True
    if spec.init_kwargs:
        part["given"] = {key: value for key, value in spec.init_kwargs.items() if _plain(value)}
    return part


def _names(cls: type) -> set[str]:
    """The names that a class and those above it declare."""
    return {name for base in cls.__mro__ for name in getattr(base, "__annotations__", {})}


def _defaults(cls: type) -> dict[str, Any]:
    """The fields of a config class that may matter and whose defaults JSON has a word for."""
    found: dict[str, Any] = {}
    for field in fields(cls):
        if field.name in cls.sub_configs_defaults:
            continue
        if OF_NO_INTEREST.search(field.name) and not ABOUT_POSITIONS.search(field.name):
            continue
        if field.default is not MISSING:
            value = field.default
        elif field.default_factory is not MISSING:
            value = field.default_factory()
        else:
            continue
        if _plain(value):
            found[field.name] = value
    return found


def _plain(value: Any) -> bool:
    """Whether JSON has a word for a value, and a short one."""
    if isinstance(value, dict):
        return all(isinstance(key, str) and _plain(item) for key, item in value.items())
    if isinstance(value, list | tuple):
        return len(value) <= 256 and all(map(_plain, value))
    return value is None or isinstance(value, bool | int | float | str)


if __name__ == "__main__":
    main()
