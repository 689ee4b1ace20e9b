"""The rotary embedding that a GGUF file describes, one use for each kind of layer."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from posenc import spec
from posenc.by_parts import Llama3, Yarn
from posenc.inspector.reading import Use
from posenc.inspector.settings.config import Config, Unfit
from posenc.inspector.sources.gguf_files import divisors, layers, sizes
from posenc.inspector.sources.gguf_files.architectures import (
    AXES_IF_SECTIONS,
    DIVIDED_WHERE_FULL,
    LATENT,
    PAIRS,
    PERMUTED,
    Pairs,
)
from posenc.inspector.sources.gguf_files.layers import Alike
from posenc.inspector.sources.gguf_files.scaling import Stretch, stretch
from posenc.mrope import MRotary
from posenc.rotary import Rotary

DEFAULTS = {"rope.freq_base": 10_000.0}
"""What llama.cpp takes for keys that are missing."""

_PLACE = "queries and keys"


def uses(config: Config, tensors: Mapping[str, Any]) -> list[Use]:
    """What each kind of layer does with queries and keys."""
    try:
        alike = layers.groups(config)
    except Unfit as unfit:
        _put_down(config, unfit)
        return [Use(kind="rotary", place=_PLACE, values=tuple(config.taken))]
    return [_use(_fresh(config), group, tensors) for group in alike]


def _use(config: Config, alike: Alike, tensors: Mapping[str, Any]) -> Use:
    """One kind of layer; without an encoding where the settings cannot mean anything."""
    shared: dict[str, Any] = {
        "place": _PLACE, "layers": alike.layers, "layer_type": alike.name,
    }  # fmt: skip
    try:
        layers.depth(config)  # how many there are of all kinds
        head = sizes.head_dim(config, alike)
        if alike.turned:
            return _turned(config, alike, tensors, head=head, shared=shared)
        return Use(kind="none", **shared, head_dim=head, values=tuple(config.taken))
    except Unfit as unfit:
        _put_down(config, unfit)
    except (ArithmeticError, TypeError, ValueError) as error:  # what the encoding itself refuses
        config.find(
            "error", "absurd-value", "rope", None,
            f"keys do not fit each other: {error}",
            "Convert the model again.",
        )  # fmt: skip
    return Use(kind="rotary" if alike.turned else "none", **shared, values=tuple(config.taken))


def _turned(
    config: Config,
    alike: Alike,
    tensors: Mapping[str, Any],
    *,
    head: int,
    shared: Mapping[str, Any],
) -> Use:
    """Layers whose queries and keys turn."""
    context = config.integer("context_length", name="length")
    width, base = sizes.turning(config, alike, head), sizes.base(config, alike, head)
    how = _stretch(config, alike)
    if alike.sliding and config.path in DIVIDED_WHERE_FULL:
        tensors = {}
    rule = divisors.rule(config, how, tensors, width=width, base=base)
    latent, pairs = config.path in LATENT, _pairs(config)
    rotary = Rotary(
        dim=width if latent else head,
        rotary_dim=None if latent or width == head else width,
        base=base,
        layout="interleaved" if pairs == "interleaved" else "half",
        scaling=rule,
    )
    encoding = None if pairs is None else _with_axes(config, rotary, pairs)
    return Use(
        kind="M-RoPE" if isinstance(encoding, MRotary) else "rotary",
        encoding=encoding,
        **shared,
        head_dim=head,
        first=head - width if latent else 0,
        original_length=rule.original_length if isinstance(rule, Llama3) else how.original_length,
        length=context,
        softmax_factor=rule.softmax_factor if how.mscales and isinstance(rule, Yarn) else 1.0,
        values=tuple(config.taken),
        remarks=tuple(_remarks(config, rotary, encoding, tensors)),
    )


def _stretch(config: Config, alike: Alike) -> Stretch:
    """The scaling keys, where they act on these layers."""
    how = stretch(config)
    everywhere = alike.pattern is None or alike.pattern.scaled
    return how if everywhere or not alike.sliding else Stretch()


def _pairs(config: Config) -> Pairs | None:
    pairs = PAIRS.get(config.path)
    if config.path in AXES_IF_SECTIONS and any(_sections(config)):
        return "contiguous axes"
    return pairs


def _sections(config: Config) -> tuple[int, ...]:
    sections = config.integers("rope.dimension_sections", name="sections", at_least=0) or ()
    while sections and sections[-1] == 0:  # ggml has room for four axes
        sections = sections[:-1]
    return sections


def _with_axes(config: Config, rotary: Rotary, pairs: Pairs | None) -> Rotary | MRotary:
    if pairs not in ("contiguous axes", "interleaved axes"):
        return rotary
    sections, key = _sections(config), "rope.dimension_sections"
    turning = rotary.turned // 2
    if sum(sections) != turning or not all(sections):
        config.refuse(
            "unfit-sections", key, config.get(key),
            f"must share out the {turning} pairs that turn, so that each follows one axis; "
            f"these add up to {sum(sections)}.",
            "Convert the model again.",
        )  # fmt: skip
    order = "contiguous" if pairs == "contiguous axes" else "interleaved"
    return MRotary(rotary=rotary, sections=sections, order=order)


def _remarks(
    config: Config, rotary: Rotary, encoding: Rotary | MRotary | None, tensors: Mapping[str, Any]
) -> Iterator[str]:
    if encoding is None:
        half, neighbours = (
            spec.to_text(dataclasses.replace(rotary, layout=layout))
            for layout in ("half", "interleaved")
        )
        yield f"Nothing says which features are a pair: {half} or {neighbours}."
    if config.path in PERMUTED:
        yield (
            "llama.cpp's converter has reordered the rows of Q and K: here neighbours are a pair, "
            "in the same model's Hugging Face weights it is halves."
        )
    if divisors.LONG in tensors:
        yield (
            "llama.cpp picks the short or the long divisors by the context it is started with, "
            "not by the length of the text."
        )
    if isinstance(encoding, MRotary) and (beyond := _beyond(encoding)):
        yield (
            f"llama.cpp lets pairs {beyond} follow a fourth axis, which is 0 in text; in the "
            "original they follow time."
        )


def _beyond(encoding: MRotary) -> str:
    """Interleaved pairs whose turn comes when their axis has had its share."""
    axes = len(encoding.sections)
    shares = enumerate(encoding.pair_axes)
    if encoding.order == "contiguous":
        return ""
    return ", ".join(str(k) for k, axis in shares if k % axes != axis)


def _fresh(config: Config) -> Config:
    again = config.fresh()
    again.defaults = config.defaults
    return again


def _put_down(config: Config, unfit: Unfit) -> None:
    if unfit.finding not in config.findings:
        config.findings.append(unfit.finding)
