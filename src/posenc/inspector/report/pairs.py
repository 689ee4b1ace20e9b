"""Rows of a report on encodings whose pairs of features turn, or whose waves are added."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from posenc import frequencies
from posenc.inspector.reading import Use
from posenc.inspector.report import narrow
from posenc.inspector.report.effect import Effect, number, ranges
from posenc.inspector.report.stretching import scaling, stretched, trained_length
from posenc.inspector.report.turning import rotary_of
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
    yield _head(use, spec)
    yield _base(spec.base)
    yield from scaling(use)
    now = spec.frequencies_at(use.length)
    yield _wavelengths(now, "tokens")
    yield from stretched(use)
    yield from _narrow(now, use.length or trained_length(use))


def m_rotary(use: Use) -> Iterator[Effect]:
    """Which pairs follow time, rows and columns, and then as for text."""
    spec = use.encoding
    shares = ", ".join(
        f"{count} for {name}"
        for count, name in zip(spec.sections, _axes(len(spec.sections)), strict=True)
    )
    yield Effect(
        name="axes",
        sentence=f"pairs: {shares}; {spec.order.replace('_', ' ')}",
        data={"sections": list(spec.sections), "order": spec.order},
    )
    yield from rotary(use)


def axial(use: Use) -> Iterator[Effect]:
    """Which features turn with which coordinate."""
    spec = use.encoding
    yield _pairing(use, spec.layout, sum(spec.shares))
    yield _shares(spec)
    yield _base(spec.base)
    if spec.scale != 1:
        yield Effect(
            name="coordinates",
            sentence=f"times {number(spec.scale)}",
            data={"scale": spec.scale},
        )
    yield _wavelengths(sorted(spec.frequencies[0], reverse=True), "steps")


def xpos(use: Use) -> Iterator[Effect]:
    """Pairing, base and fading."""
    spec = use.encoding
    yield _pairing(use, spec.layout, spec.dim)
    yield _base(spec.base)
    yield Effect(
        name="fading",
        sentence=f"pairs keep {number(min(spec.decay))} to {number(max(spec.decay))} of a score "
        f"over {number(spec.scale_base)} tokens",
        data={"scale_base": spec.scale_base, "decay": [min(spec.decay), max(spec.decay)]},
    )
    yield _wavelengths(spec.frequencies, "tokens")


def sinusoidal(use: Use) -> Iterator[Effect]:
    """Layout, wavelengths and precision of sine and cosine vectors."""
    spec = use.encoding
    other = "cos" if spec.first == "sin" else "sin"
    order = (
        f"{spec.first}, {other}, {spec.first}, ..."
        if spec.layout == "interleaved"
        else f"all {spec.first}, then all {other}"
    )
    yield Effect(
        name="layout",
        sentence=f"{spec.layout}: {order}; {number(spec.dim)} features",
        data={"layout": spec.layout, "first": spec.first, "width": spec.dim},
    )
    yield _base(spec.base, spec.spacing)
    if spec.offset:
        yield Effect(
            name="first token",
            sentence=f"counts as position {spec.offset}",
            data={"offset": spec.offset},
        )
    yield _wavelengths(spec.frequencies, "tokens")
    yield from stretched(use)
    yield from _narrow(spec.frequencies, use.length or trained_length(use))


def sinusoidal_axes(use: Use) -> Iterator[Effect]:
    """Which features are waves along which coordinate."""
    spec = use.encoding
    yield Effect(
        name="layout",
        sentence=f"{spec.layout.replace('_', ' ')}; {number(spec.dim)} features",
        data={"layout": spec.layout, "width": spec.dim},
    )
    yield _shares(spec)
    yield _base(spec.base, spec.spacing)
    yield _wavelengths(spec.frequencies[0], "steps")


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


def _head(use: Use, spec: Rotary) -> Effect:
    width = use.head_dim or spec.dim
    turned = spec.turned
    if turned == width:
        sentence = f"{width} wide, all of it turns: {turned // 2} pairs"
    else:
        last = use.first + turned - 1
        sentence = f"{width} wide, features {use.first}-{last} turn: {turned // 2} pairs"
    if spec.width != turned:
        sentence += f"; frequencies as for {spec.width} features"
    return Effect(
        name="head",
        sentence=sentence,
        data={"width": width, "first": use.first, "turned": turned, "exponent": spec.width},
    )


def _base(base: float, spacing: str = "paper") -> Effect:
    ends = ", reached by the slowest wave" if spacing == "endpoint" else ""
    return Effect(name="base", sentence=f"{number(base)}{ends}", data={"base": base})


def _shares(spec: Any) -> Effect:
    shares = ", ".join(
        f"{width} with axis {axis}" for axis, width in zip(spec.axes, spec.shares, strict=True)
    )
    return Effect(
        name="features",
        sentence=f"{shares} (of {spec.dim})",
        data={"axes": list(spec.axes), "shares": list(spec.shares), "width": spec.dim},
    )


def _wavelengths(turning: Sequence[float], unit: str) -> Effect:
    waves = [wave for wave in frequencies.wavelengths(tuple(turning)) if math.isfinite(wave)]
    still = [k for k, w in enumerate(turning) if not w]
    if not waves:
        return Effect(name="wavelengths", sentence="no pair turns", data={"still": len(still)})
    sentence = f"one turn takes {_wave(waves[0])} to {_wave(waves[-1])} {unit}"
    if still:
        sentence += f"; pairs {ranges(still)} do not turn at all"
    return Effect(
        name="wavelengths",
        sentence=sentence,
        data={"first": waves[0], "last": waves[-1], "still": len(still)},
    )


def _wave(wave: float) -> str:
    return number(round(wave)) if wave >= 1000 else f"{wave:.4g}"


def _narrow(turning: Sequence[float], length: int | None) -> Iterator[Effect]:
    """What a port loses at this length that forms positions, frequencies or angles narrowly."""
    if length is None:
        return
    apart, moved = narrow.distinct(length), narrow.position_error(length)
    errors = narrow.frequency_errors(turning, length)
    lost, single = narrow.lost(errors), narrow.float32_error(turning, length)
    kept = f"{number(apart)} of {number(length)} stay apart, moved by up to {number(moved)} tokens"
    yield Effect(
        name="in bfloat16",
        sentence=f"positions: {kept if moved else f'all {number(length)} stay apart'}; "
        f"frequencies: {lost} of {len(turning)} pairs end a quarter turn or more off",
        data={
            "length": length,
            "distinct_positions": apart,
            "position_error": moved,
            "angle_error": max(errors, default=0.0),
            "pairs_lost": lost,
        },
    )
    yield Effect(
        name="in float32",
        sentence=f"the last angles are off by up to {single:.1g} radians",
        data={"length": length, "angle_error": single},
    )


def _axes(count: int) -> tuple[str, ...]:
    if count == 3:
        return ("time", "rows", "columns")
    return tuple(f"axis {axis}" for axis in range(count))
