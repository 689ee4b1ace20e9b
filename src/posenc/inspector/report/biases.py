"""Rows of a report on what depends on distances: slopes, buckets, windows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from posenc.deberta import Deberta
from posenc.inspector.reading import Use
from posenc.inspector.report.effect import Effect, number
from posenc.inspector.report.facts import value


def alibi(use: Use) -> Iterator[Effect]:
    """Slopes and direction."""
    spec = use.encoding
    first, last, flattest = spec.slopes[0], spec.slopes[-1], min(spec.slopes)
    sentence = f"{number(first)} in head 0, {number(last)} in head {spec.heads - 1}"
    if flattest < last:
        sentence += f", {number(flattest)} in head {spec.slopes.index(flattest)}"
    yield Effect(
        name="slopes",
        sentence=f"{sentence}: taken off for each token of distance",
        data={
            "heads": spec.heads,
            "first": first,
            "last": last,
            "flattest": flattest,
            "all": list(spec.slopes),
        },
    )
    yield Effect(
        name="keys ahead",
        sentence={
            "causal": "hidden",
            "symmetric": "as far off as those behind",
            "asymmetric": "half a token farther off than those behind",
        }[spec.direction],
        data={"direction": spec.direction},
    )


def t5(use: Use) -> Iterator[Effect]:
    """Which distances share a bucket."""
    spec = use.encoding
    sides = "each side" if spec.bidirectional else "keys behind"
    single = next(
        (a for a, b in zip(spec.edges, spec.edges[1:], strict=False) if b - a > 1), spec.edges[-1]
    )
    last = spec.edges[-1]
    yield Effect(
        name="buckets",
        sentence=f"{len(spec.edges)} for {sides}: distances below {single} have one each, all "
        f"from {number(last)} on share the last",
        data={
            "buckets": spec.buckets,
            "bidirectional": spec.bidirectional,
            "first_distances": list(spec.edges),
        },
    )
    yield Effect(
        name="table",
        sentence=f"{spec.buckets} x {spec.heads}: a trained number a bucket and head",
        data={"rows": spec.buckets, "heads": spec.heads},
    )


def clipped(use: Use) -> Iterator[Effect]:
    """Where distances stop to count."""
    spec = use.encoding
    ahead = spec.max_distance if spec.ahead is None else spec.ahead
    block = block_of(use)
    farther = "farther keys look as if they stood there"
    if block is not None:
        farther = f"blocks of {number(block)} hold none beyond {number(block - 1)}"
    yield Effect(
        name="distances",
        sentence=f"told apart up to {number(spec.max_distance)} behind and {number(ahead)} ahead; "
        + farther,
        data={"behind": spec.max_distance, "ahead": ahead}
        | ({} if block is None else {"farthest": block - 1}),
    )


def deberta(use: Use) -> Iterator[Effect]:
    """Where distances stop to count, and which terms they enter."""
    spec = use.encoding
    told = "one row each" if spec.buckets is None else f"in {spec.buckets} buckets a side"
    alike = alike_from(spec)
    yield Effect(
        name="distances",
        sentence=f"{told}; all from {number(alike)} behind on look alike",
        data={
            "max_distance": spec.max_distance,
            "buckets": spec.buckets,
            "alike_from": alike,
        },
    )
    yield Effect(name="terms", sentence=", ".join(spec.terms), data={"terms": list(spec.terms)})


def decomposed(use: Use) -> Iterator[Effect]:
    """The cells, and a table for distances along each axis."""
    spec = use.encoding
    grids = [spec.grid, spec.key_grid or spec.grid]
    queries, keys = (f"{rows} x {columns}" for rows, columns in grids)
    yield Effect(
        name="cells",
        sentence=f"{queries} queries and keys"
        if queries == keys
        else f"{queries} queries, {keys} keys",
        data={"queries": list(grids[0]), "keys": list(grids[1])},
    )
    shapes = spec.weights
    shown = ", ".join(f"{name} {rows} x {width}" for name, (rows, width) in shapes.items())
    yield Effect(
        name="tables",
        sentence=f"a row a distance: {shown}",
        data={name: list(shape) for name, shape in shapes.items()},
    )


def block_of(use: Use) -> int | None:
    """How many tokens see each other and nothing else, where its reader took a block down."""
    block = value(use, "block")
    return block if isinstance(block, int) else None


def alike_from(spec: Deberta) -> int:
    """The nearest key behind that is told from none farther behind."""
    queries = np.arange(spec.max_distance + 1)
    rows = spec.index(queries, np.zeros(1, dtype=np.int64))[:, 0]
    return int(np.argmax(rows == rows[-1]))


def window(use: Use) -> Iterator[Effect]:
    """The window of cells, and its table or network."""
    rows, columns = use.encoding.window
    yield Effect(
        name="cells",
        sentence=f"windows of {rows} x {columns}, {use.encoding.heads} heads",
        data={"window": [rows, columns], "heads": use.encoding.heads},
    )
    yield Effect(
        name="trained",
        sentence=", ".join(
            f"{name} {' x '.join(map(number, shape))}"
            for name, shape in use.encoding.weights.items()
        ),
        data={name: list(shape) for name, shape in use.encoding.weights.items()},
    )
