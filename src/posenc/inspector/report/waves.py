"""Rows of a report on sine and cosine vectors, added to features or compared with queries."""

from __future__ import annotations

from collections.abc import Iterator

from posenc.frequencies import geometric
from posenc.inspector.reading import Use
from posenc.inspector.report import shared
from posenc.inspector.report.effect import Effect, number
from posenc.inspector.report.facts import unit
from posenc.inspector.report.stretching import stretched


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
    yield shared.base(spec.base, spec.spacing)
    yield shared.wavelengths(spec.frequencies, unit(use))
    yield from stretched(use)
    yield from shared.narrowly(use, spec.frequencies)


def sinusoidal_axes(use: Use) -> Iterator[Effect]:
    """Which features are waves along which coordinate."""
    spec = use.encoding
    yield Effect(
        name="layout",
        sentence=f"{spec.layout.replace('_', ' ')}; {number(spec.dim)} features",
        data={"layout": spec.layout, "width": spec.dim},
    )
    yield shared.shares(spec)
    yield shared.base(spec.base, spec.spacing)
    yield shared.wavelengths(spec.frequencies[0], "steps")


def transformer_xl(use: Use) -> Iterator[Effect]:
    """How far distances are reckoned, and the waves of their vectors."""
    spec = use.encoding
    ahead = spec.max_distance if spec.ahead is None else spec.ahead
    yield Effect(
        name="distances",
        sentence=f"a wave vector each, reckoned here up to {number(spec.max_distance)} behind and "
        f"{number(ahead)} ahead",
        data={"behind": spec.max_distance, "ahead": ahead},
    )
    yield shared.base(spec.base)
    yield shared.wavelengths(geometric(spec.model_dim, spec.base), unit(use))
