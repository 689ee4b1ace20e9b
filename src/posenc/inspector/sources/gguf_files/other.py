"""The position encodings of GGUF models that do not turn: tables, ALiBi, T5 buckets, none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from posenc.alibi import Alibi
from posenc.inspector.reading import Use
from posenc.inspector.settings.config import Config, Unfit
from posenc.inspector.sources.gguf_files.architectures import (
    ALIBI,
    ALIBI_DEPTHS,
    BARE,
    LEARNED,
    T5 as T5_NAMES,
)
from posenc.inspector.sources.gguf_files.layers import depth
from posenc.inspector.sources.gguf_files.sizes import head_count
from posenc.learned import Learned
from posenc.t5 import T5

POSITIONS = "position_embd.weight"
"""The tensor with a trained table."""


def uses(config: Config, tensors: Mapping[str, Any]) -> list[Use] | None:
    """What the model does, or None where its queries and keys turn."""
    architecture = config.path
    if architecture in BARE:
        return [Use(kind="none", place="tokens")]
    if architecture in LEARNED:
        return _tried("learned", config, lambda: [_learned(config, tensors)])
    if architecture in T5_NAMES:
        return _tried("T5 buckets", config, lambda: _t5(config))
    if architecture in ALIBI:
        exponent = ALIBI[architecture]
        return _tried("ALiBi", config, lambda: [_alibi(config, exponent)])
    deep = ALIBI_DEPTHS.get(architecture)
    if deep is not None and config.get("block_count") == deep:
        return _tried("ALiBi", config, lambda: [_alibi(config, 8.0)])
    return None


def _tried(kind: str, config: Config, made: Callable[[], list[Use]]) -> list[Use]:
    """The uses, or one without an encoding where the settings cannot mean anything."""
    try:
        return made()
    except Unfit as unfit:
        config.findings.append(unfit.finding)
    except (TypeError, ValueError) as error:  # what the encoding itself refuses
        config.find(
            "error", "absurd-value", "attention", None,
            f"keys do not fit each other: {error}", "Convert the model again.",
        )  # fmt: skip
    return [Use(kind=kind, place="tokens", values=tuple(config.taken))]


def _learned(config: Config, tensors: Mapping[str, Any]) -> Use:
    context = config.integer("context_length", name="length", required=True) or 0
    width = config.integer("embedding_length", name="dim", required=True) or 0
    rows, columns = tensors.get(POSITIONS, (context, width))
    if (rows, columns) != (context, width):
        config.find(
            "warning", "unfit-table", "context_length", context,
            f"and embedding_length {width} do not fit {POSITIONS}, {rows} x {columns}.",
            "Trust the tensor.",
        )  # fmt: skip
    return Use(
        kind="learned",
        place="token embeddings",
        encoding=Learned(length=int(rows), dim=int(columns)),
        length=int(rows),
        values=tuple(config.taken),
        remarks=("The table is the tensor position_embd.weight; its first row is position 0.",),
    )


def _alibi(config: Config, exponent: float | None) -> Use:
    if exponent is None:
        exponent = config.number(
            "attention.max_alibi_bias", name="exponent", above=0.0, required=True
        )
    causal = not config.has("attention.causal") or config.flag("attention.causal")
    return Use(
        kind="ALiBi",
        place="attention scores",
        encoding=Alibi(
            heads=head_count(config),
            exponent=exponent or 8.0,
            direction="causal" if causal else "symmetric",
        ),
        layers=tuple(range(depth(config))),
        length=config.integer("context_length", name="length"),
        values=tuple(config.taken),
    )


def _t5(config: Config) -> list[Use]:
    key = "attention.relative_buckets_count"
    buckets = config.integer(key, name="buckets", at_least=2, required=True) or 32
    heads = head_count(config)
    sides = ("encoder",) if config.path == "t5encoder" else ("encoder", "decoder")
    return [
        Use(
            kind="T5 buckets",
            place=f"{side} attention scores",
            encoding=T5(heads=heads, buckets=buckets, bidirectional=side == "encoder"),
            values=tuple(config.taken),
            remarks=("llama.cpp puts every distance from 128 on into the last bucket.",),
        )
        for side in sides
    ]
