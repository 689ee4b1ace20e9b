"""Keys that say something about positions, and that nothing looks at."""

from __future__ import annotations

import difflib
import functools
import itertools
from typing import Any

from posenc.inspector.settings.config import Config, facts

POSITIONAL = frozenset(
    {
        "alibi",
        "alibi_bias_max",
        "compress_rope_theta",
        "global_rope_theta",
        "layer_rope_theta",
        "local_rope_theta",
        "mrope_section",
        "no_rope_layer_interval",
        "no_rope_layers",
        "original_max_position_embeddings",
        "partial_rotary_factor",
        "qk_rope_head_dim",
        "relative_attention_max_distance",
        "relative_attention_num_buckets",
        "rope_interleave",
        "rope_local_base_freq",
        "rope_parameters",
        "rope_scaling",
        "rope_theta",
        "rotary_dim",
        "rotary_emb_base",
        "rotary_embedding_base",
        "rotary_pct",
        "xdrope_section",
    }
)
"""Keys by which model types of transformers say how they encode positions."""

MOST_KEYS = 1000
"""Keys of a part that are looked at; comparing spellings takes its time."""


def find(configs: list[Config]) -> None:
    """Put down every key of these parts that looks as if it meant something, and does not.

    Keys that the model's class has are left alone: saved files hold all of them. So are the parts
    of a model that could not be read, for nothing asked for their keys.
    """
    if not configs or any(finding.severity == "error" for finding in configs[0].findings):
        return
    known = _known()
    for config in configs:
        for key, value in itertools.islice(config.data.items(), MOST_KEYS):
            if value is None or config.at(key) in config.read or config.declares(key):
                continue
            if key in POSITIONAL:
                _dead(config, key, value)
            elif key not in known and (near := _near(key)):
                _misspelt(config, key, value, near)


@functools.cache
def _known() -> frozenset[str]:
    """Every key that some config class of transformers has."""
    return frozenset(key for entry in facts().values() for key in entry.get("defaults", ()))


def _near(key: str) -> str | None:
    return next(iter(difflib.get_close_matches(key, POSITIONAL, n=1, cutoff=0.9)), None)


def _dead(config: Config, key: str, value: Any) -> None:
    config.find(
        "warning",
        "unread-key",
        key,
        value,
        f"model type {config.model_type!r} never reads it, so it changes nothing.",
        "Delete it, or check whether the model type is the right one.",
    )


def _misspelt(config: Config, key: str, value: Any, meant: str) -> None:
    config.find(
        "warning",
        "unknown-key",
        key,
        value,
        "is read by no model type, so it changes nothing.",
        f"Perhaps `{meant}` was meant.",
    )
