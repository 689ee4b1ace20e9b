"""transformers itself as the judge: a model type's own modules against what posenc read.

Each file that coverage.SCHEMES names checks the readers of the file of the same name in
posenc.inspector.families, and of files beside it: its CHECKS maps a model type to a function that
gives one outcome for each way in which it compared.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import logging
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import transformers
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
from transformers.models.auto.modeling_auto import MODEL_MAPPING

from posenc.inspector import Reading, read_settings

torch.set_num_threads(1)  # the comparisons are small, and tests run side by side
logging.getLogger("transformers").setLevel(logging.ERROR)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """One comparison of a model type: a row of the table of models.

    Args:
        kind: the scheme: `Use.kind`.
        layout: of pairs, where there are pairs; else "".
        how: what of transformers was compared, in a few words: "cos and sin of its module at 9
            positions to 131,071; pairs by basis vectors".
        difference: the largest difference of any number.
    """

    kind: str
    layout: str
    how: str
    difference: float


def settings(model_type: str, **changes: Any) -> dict[str, Any]:
    """A config.json of a model type that says only what differs from its class."""
    return {"model_type": model_type, **changes}


@functools.cache
def config_class(model_type: str) -> type[transformers.PreTrainedConfig]:
    """The config class that transformers has for a model type."""
    if model_type in NAMELESS:
        owner, key = NAMELESS[model_type]
        return CONFIG_MAPPING[owner].sub_configs[key]
    return CONFIG_MAPPING[model_type]


NAMELESS = {"Qwen3OmniMoeCode2WavConfig": ("qwen3_omni_moe", "code2wav_config")}
"""Classes of parts without a model type: of which model they are a part, and under which key."""


def built(model_type: str, **changes: Any) -> Any:
    """The same settings as an object of transformers."""
    return config_class(model_type)(**changes)


def modeling(model_type: str) -> Any:
    """The module of transformers that holds the networks of a model type."""
    cls = config_class(model_type)
    name = cls.__module__.replace("configuration_", "modeling_")
    if importlib.util.find_spec(name) is None:  # a type that borrows the networks of another
        name = MODEL_MAPPING[cls].__module__
    return importlib.import_module(name)


def read(model_type: str, **changes: Any) -> Reading:
    """What posenc reads in these settings."""
    return read_settings(settings(model_type, **changes))


def difference(ours: Any, theirs: Any) -> float:
    """The largest difference of two arrays, which must have the same shape."""
    ours, theirs = np.asarray(ours, np.float64), np.asarray(theirs, np.float64)
    if ours.shape != theirs.shape:
        raise AssertionError(f"posenc has shape {ours.shape}, transformers {theirs.shape}")
    return float(np.max(np.abs(ours - theirs), initial=0.0))
