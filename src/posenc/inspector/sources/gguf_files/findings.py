"""What is odd about the position keys of a GGUF file, seen as a whole."""

from __future__ import annotations

import dataclasses
import difflib
import math
from collections.abc import Mapping, Sequence
from typing import Any

from posenc.inspector.reading import Use, Value
from posenc.inspector.settings.config import Config
from posenc.inspector.sources.gguf_files.architectures import ALPHA, PAIRS, YARN_READ
from posenc.inspector.sources.gguf_files.divisors import LONG, WHOLE
from posenc.inspector.sources.gguf_files.layers import file_of

KNOWN = tuple(
    f"rope.{key}"
    for key in (
        "dimension_count", "dimension_count_swa", "dimension_sections", "freq_base",
        "freq_base_swa", "scale_linear", "scaling.type", "scaling.factor",
        "scaling.original_context_length", "scaling.finetuned", "scaling.attn_factor",
        "scaling.alpha", "scaling.yarn_log_multiplier", "scaling.yarn_ext_factor",
        "scaling.yarn_attn_factor", "scaling.yarn_beta_fast", "scaling.yarn_beta_slow",
    )
)  # fmt: skip
"""The rope keys of gguf 0.19.0, and scale_linear of 2023."""

_SWITCHES = {"yarn_beta_fast": 32.0, "yarn_beta_slow": 1.0, "yarn_ext_factor": 1.0}


def complete(
    config: Config, uses: Sequence[Use], tensors: Mapping[str, Any], *, whole: bool
) -> tuple[Use, ...]:
    """Put down what is odd; return the uses with every rope key among their values."""
    if not whole:
        file_of(config).find(
            "warning", "truncated-file", "general.architecture", config.path,
            "stands in a header that is whole, but the file ends before its last tensor.",
            "Download the file again before you run it.",
        )  # fmt: skip
    for key in _rope_keys(config):
        _not_read(config, key)
    turned = [use for use in uses if use.kind in ("rotary", "M-RoPE")]
    if not turned:
        return tuple(uses)
    _architecture(config)
    _type_and_factor(config, tensors)
    _lengths(config)
    _yarn(config)
    _lost_divisors(config, tensors)
    return tuple(_with_other_keys(config, use, uses) if use is turned[0] else use for use in uses)


def _rope_keys(config: Config) -> list[str]:
    return [key for key in config.data if key.startswith("rope.")]


def _with_other_keys(config: Config, use: Use, uses: Sequence[Use]) -> Use:
    """This use, with all rope keys that no use rests on: whoever looks finds every one."""
    shown = {value.key for one in uses for value in one.values}
    others = tuple(
        Value(name=key.removeprefix("rope."), value=config.data[key], origin="file", key=where)
        for key in _rope_keys(config)
        if (where := config.at(key)) not in shown
    )
    return dataclasses.replace(use, values=use.values + others)


def _not_read(config: Config, key: str) -> None:
    """A key that nothing reads: a slip, another program's, or one for other architectures."""
    value = config.data[key]
    if key not in KNOWN:
        near = difflib.get_close_matches(key, KNOWN, n=1)
        cure = f"Did you mean `{config.at(near[0])}`?" if near else "Remove it, or find its reader."
        why = "is no key of llama.cpp's, so it does nothing there."
        config.find("warning", "unknown-key", key, value, why, cure)
    elif key == "rope.scaling.alpha" and config.path not in ALPHA:
        why = f"does nothing for {config.path}: only Hunyuan's base grows by it."
        config.find("warning", "unread-key", key, value, why, "Write the larger freq_base.")
    elif config.at(key) not in config.read and key != "rope.scaling.finetuned":
        why = f"is not read for {config.path}."
        config.find("note", "unread-key", key, value, why, "Nothing, if the model runs well.")


def _architecture(config: Config) -> None:
    if config.path not in PAIRS:
        file_of(config).find(
            "warning", "unknown-architecture", "general.architecture", config.path,
            "is not among those that posenc knows, so nothing says which features are a pair.",
            "Look into llama_model_rope_type of the program that runs it, or update posenc.",
        )  # fmt: skip


def _type_and_factor(config: Config, tensors: Mapping[str, Any]) -> None:
    """Scaling that is said by halves."""
    kind, factor = config.get("rope.scaling.type"), _scaling_factor(config)
    key, where = "rope.scaling.type", "rope.scaling.factor"
    if kind is None and factor is not None and factor != 1:
        why = "is missing beside a factor, and llama.cpp takes it for linear."
        config.find("warning", "missing-key", key, None, why, "Write linear or yarn.")
    if kind in ("linear", "yarn") and factor is None:
        why = f"is missing beside the type {kind}, so nothing is scaled."
        config.find("warning", "missing-key", where, None, why, "Write the model's factor.")
    if kind == "none" and factor is not None and factor != 1:
        why = "does nothing, because the type is none."
        config.find("note", "unread-key", where, factor, why, "Remove it, or write the type.")
    if kind == "longrope" and LONG not in tensors:
        why = f"is longrope, but the file has no tensor {LONG}, so nothing is scaled."
        config.find("warning", "lost-divisors", key, kind, why, "Convert the model again.")
    if kind != "none" and factor is not None and factor < 1:
        why = "below 1 makes pairs turn faster, or stands for 1 where it is 0."
        config.find("warning", "absurd-value", where, factor, why, "Check for 1 / factor.")


def _lengths(config: Config) -> None:
    """The factor against the two lengths."""
    original = config.get("rope.scaling.original_context_length")
    context, factor = config.get("context_length"), _scaling_factor(config)
    kind = config.get("rope.scaling.type")
    if context is None:
        why = "is missing, and llama.cpp refuses to load a file without it."
        config.find(
            "warning", "missing-key", "context_length", None, why, "Convert the model again."
        )
    if not (_is_length(original) and _is_length(context)) or kind == "none":
        return
    original, context = int(original or 0), int(context or 0)
    if kind in ("linear", "yarn") and factor is not None and factor > 1:
        reached = factor * original
        if context == original:
            config.find(
                "note", "not-stretched", "context_length", context,
                f"is the length before scaling by {factor:g}; with it the model reaches "
                f"{reached:.0f} tokens.",
                "Start llama.cpp with the context you need.",
            )  # fmt: skip
        elif not math.isclose(context, reached, rel_tol=0.01):
            config.find(
                "warning", "factor-mismatch", "rope.scaling.factor", factor,
                f"does not lead from {original} to the context of {context} tokens: that would "
                f"be {context / original:g}.",
                "Compare factor, original length and max_position_embeddings of the original.",
            )  # fmt: skip


def _yarn(config: Config) -> None:
    """YaRN's own settings: a weight that is a factor, and keys that llama.cpp does not read."""
    key, kind = "rope.scaling.yarn_ext_factor", config.get("rope.scaling.type")
    weight = config.get(key)
    if isinstance(weight, int | float) and weight > 1:
        same = " It equals the scaling factor." if weight == _scaling_factor(config) else ""
        config.find(
            "warning", "factor-as-weight", key, weight,
            "is no factor but the weight of YaRN's ramp, from 0 to 1: a larger one speeds up the "
            f"fast pairs.{same}",
            "Write 1, or leave it out.",
        )  # fmt: skip
    elif isinstance(weight, int | float) and weight > 0 and kind != "yarn":
        why = f"switches YaRN on, although the type is {kind}."
        config.find("warning", "factor-as-weight", key, weight, why, "Write the type yarn.")
    for name, default in _SWITCHES.items():
        key = f"rope.scaling.{name}"
        value = config.get(key)
        if value not in (None, default) and name not in YARN_READ.get(config.path, ()):
            config.find(
                "note", "reader-unsure", key, value,
                f"is not read for {config.path} by llama.cpp of early 2026, which takes "
                f"{default:g}; the model wants the value in the file.",
                f"Start llama.cpp with --{name.replace('_', '-')} {value}.",
            )  # fmt: skip


def _lost_divisors(config: Config, tensors: Mapping[str, Any]) -> None:
    """Llama 3.1 and later scale by a tensor; converters of 2024 lost it."""
    marks = {"rope.freq_base": 500_000.0, "context_length": 131_072}
    plain = _scaling_factor(config) in (None, 1.0) and WHOLE not in tensors
    if config.path == "llama" and plain and all(config.get(k) == v for k, v in marks.items()):
        file_of(config).find(
            "warning", "lost-divisors", WHOLE, None,
            "is missing among the tensors, though base and context are those of Llama 3.1 to 3.3, "
            "which divide their slow pairs by 8 or 32.",
            "Convert the model again with a current llama.cpp.",
        )  # fmt: skip


def _scaling_factor(config: Config) -> float | None:
    for key in ("rope.scaling.factor", "rope.scale_linear"):
        factor = config.get(key)
        if isinstance(factor, int | float) and not isinstance(factor, bool):
            return factor
    return None


def _is_length(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0
