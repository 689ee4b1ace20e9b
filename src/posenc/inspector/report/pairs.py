"""Rows of a report on encodings that turn pairs of features of queries and keys."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from posenc.inspector.reading import Use
from posenc.inspector.report import shared
from posenc.inspector.report.effect import Effect, number, ranges
from posenc.inspector.report.facts import grid, unit
from posenc.inspector.report.stretching import scaling, stretched
from posenc.inspector.report.turning import rotary_of, unfinished
from posenc.rotary import Rotary

_PAIRED = {
    "half": "feature k turns with k + {half}",
    "interleaved": "features 2k and 2k + 1 turn together",
    "axis_half": "feature k turns with k + half of its axis' share",
}


def rotary(use: Use) -> Iterator[Effect]:
    """Pairing, head, base, scaling, wavelengths, lengths and precision of a rotary encoding."""
    spec = _plain(use)
    yield _pairing(use, spec.layout, spec.turned)
    yield _head(use, spec.dim, spec.turned, spec.width)
    yield shared.base(spec.base)
    yield from scaling(use)
    now = spec.frequencies_at(use.length)
    yield shared.wavelengths(now, unit(use))
    yield from stretched(use)
    yield from shared.narrowly(use, now)


def m_rotary(use: Use) -> Iterator[Effect]:
    """Which pairs follow time, rows and columns, and then as for text."""
    spec = use.encoding
    pairs = [
        [k for k, axis in enumerate(spec.pair_axes) if axis == own]
        for own in range(len(spec.sections))
    ]
    yield Effect(
        name="axes",
        sentence=f"{_sections(pairs, spec.order)} ({spec.order.replace('_', ' ')})",
        data={"sections": list(spec.sections), "order": spec.order, "pairs": pairs},
    )
    yield from rotary(use)


def axial(use: Use) -> Iterator[Effect]:
    """Which features turn with which coordinate, and how far round the grid takes them."""
    spec = use.encoding
    turned = sum(spec.shares)
    yield _pairing(use, spec.layout, turned)
    yield _head(use, spec.dim, turned)
    yield shared.shares(spec)
    yield shared.base(spec.base)
    if spec.scale != 1:
        yield Effect(
            name="coordinates",
            sentence=f"times {number(spec.scale)}",
            data={"scale": spec.scale},
        )
    unit = "steps" if spec.scale == 1 else "of the coordinate's own units"
    yield shared.wavelengths(sorted(spec.frequencies[0], reverse=True), unit)
    if spec.scale == 1:
        yield from _slow_on_grid(use, spec.frequencies[0])


def mixed(use: Use) -> Iterator[Effect]:
    """Pairs that turn with all coordinates, by trained frequencies."""
    spec = use.encoding
    yield _pairing(use, spec.layout, spec.dim)
    shape = spec.weights["frequencies"]
    yield Effect(
        name="frequencies",
        sentence=f"trained, {' x '.join(map(number, shape))}: axes, heads, pairs",
        data={"shape": list(shape)},
    )


def xpos(use: Use) -> Iterator[Effect]:
    """Pairing, base and fading."""
    spec = use.encoding
    yield _pairing(use, spec.layout, spec.dim)
    yield shared.base(spec.base)
    yield Effect(
        name="fading",
        sentence=f"pairs keep {number(min(spec.decay))} to {number(max(spec.decay))} of a score "
        f"over {number(spec.scale_base)} tokens",
        data={"scale_base": spec.scale_base, "decay": [min(spec.decay), max(spec.decay)]},
    )
    yield shared.wavelengths(spec.frequencies, "tokens")


def _plain(use: Use) -> Rotary:
    spec = rotary_of(use.encoding)
    if spec is None:
        raise TypeError(f"`use` must have a rotary encoding; got {use.encoding!r}.")
    return spec


def _pairing(use: Use, layout: str, turned: int) -> Effect:
    sentence = f"{layout.replace('_', ' ')}: {_PAIRED[layout].format(half=turned // 2)}"
    if use.written is not None and use.written != layout:
        sentence += f"; written back as {use.written.replace('_', ' ')}"
    if use.inverse:
        sentence += "; turned backwards"
    return Effect(
        name="pairing",
        sentence=sentence,
        data={"layout": layout, "written": use.written or layout, "inverse": use.inverse},
    )


def _head(use: Use, dim: int, turned: int, exponent: int | None = None) -> Effect:
    """How much of a head turns, and the width that its frequencies are made for."""
    width = use.head_dim or dim
    if turned == width:
        sentence = f"{width} wide, all of it turns: {turned // 2} pairs"
    else:
        last = use.first + turned - 1
        sentence = f"{width} wide, features {use.first}-{last} turn: {turned // 2} pairs"
    data = {"width": width, "first": use.first, "turned": turned}
    if exponent is not None:
        data["exponent"] = exponent
    if exponent not in (None, turned):
        sentence += f"; frequencies as for {exponent} features"
    return Effect(name="head", sentence=sentence, data=data)


def _slow_on_grid(use: Use, turning: Sequence[float]) -> Iterator[Effect]:
    """How many pairs of an axis never finish a turn along the longest side of the grid."""
    side = max(grid(use), default=None)
    if side is None:
        return
    slow = len(unfinished(turning, side))
    told = "none: every pair finishes a turn"
    if slow:
        told = f"{slow} of the {len(turning)} of an axis never finish{'es' * (slow == 1)} a turn"
    yield Effect(
        name="slow pairs",
        sentence=f"{told} within {number(side)} cells, the longest side",
        data={"pairs": slow, "of": len(turning), "cells": side},
    )


def _sections(pairs: Sequence[Sequence[int]], order: str) -> str:
    """Which pairs follow which axis; how many, where they are dealt out in turn."""
    names = _axes(len(pairs))
    if order == "contiguous":
        told = [f"{ranges(own)} for {name}" for own, name in zip(pairs, names, strict=True) if own]
        return f"pairs {', '.join(told)}"
    first, *rest = (f"{len(own)} for {name}" for own, name in zip(pairs, names, strict=True))
    return ", ".join([first.replace(" ", " pairs ", 1), *rest])


def _axes(count: int) -> tuple[str, ...]:
    if count == 3:
        return ("time", "rows", "columns")
    return tuple(f"axis {axis}" for axis in range(count))
