"""Rows of a report on trained tables of positions, and on what has no rows of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from posenc import evaluation, spec as specs
from posenc.inspector.reading import Use
from posenc.inspector.report.effect import Effect, counted, number
from posenc.inspector.report.facts import grid_rows, unit, value


def learned(use: Use) -> Iterator[Effect]:
    """Rows of the table, and how many of them are for tokens."""
    spec = use.encoding
    rows = spec.length + spec.offset
    sentence = f"{number(rows)} rows of {number(spec.dim)} features"
    shared = grid_rows(use, rows)
    if shared is not None:
        before, sides, after = shared
        first = f"{before} first, then " if before else ""
        last = f", then {after}" if after else ""
        sentence += f": {first}{_by(sides)} cells{last}"
    elif spec.offset:
        sentence += f"; token 0 takes row {spec.offset}, so {number(spec.length)} tokens at most"
    elif not use.kind.endswith("grid") and unit(use) in ("tokens", "characters"):
        sentence += f", one a {unit(use).removesuffix('s')}; a longer text has no row"
    yield Effect(
        name="table",
        sentence=sentence,
        data={"rows": rows, "usable": spec.length, "offset": spec.offset, "width": spec.dim}
        | ({} if shared is None else {"grid": list(shared[1])}),
    )


def learned_axes(use: Use) -> Iterator[Effect]:
    """A table an axis."""
    spec = use.encoding
    shapes = [_by(shape) for shape in spec.weights.values()]
    told = " and ".join(shapes) if len(set(shapes)) > 1 else f"{len(shapes)} of {shapes[0]}"
    how = "side by side" if spec.combine == "concatenate" else "added up"
    yield Effect(
        name="tables",
        sentence=f"{told}, one an axis, their rows {how}",
        data={"shapes": {name: list(shape) for name, shape in spec.weights.items()}},
    )


def fourier(use: Use) -> Iterator[Effect]:
    """Waves along directions that no setting says: random ones, or fixed by the model."""
    spec = use.encoding
    other = "cos" if spec.first == "sin" else "sin"
    yield Effect(
        name="layout",
        sentence=f"all {spec.first}, then all {other}; {number(spec.dim)} features of "
        f"{counted(spec.axes, 'coordinates')}",
        data={"first": spec.first, "width": spec.dim, "coordinates": spec.axes},
    )
    shape = spec.weights["matrix"]
    fixed = value(use, "bands") is not None
    origin = "fixed, as the remark says" if fixed else "saved with the model"
    yield Effect(
        name="matrix",
        sentence=f"{_by(shape)}, {origin}: turns for each coordinate",
        data={"shape": list(shape)} if fixed else {"shape": list(shape), "scale": spec.scale},
    )


def other(use: Use) -> Iterator[Effect]:
    """An encoding as posenc writes it, and the shapes of its trained arrays."""
    yield Effect(
        name="encoding", sentence=specs.to_text(use.encoding), data=specs.to_data(use.encoding)
    )
    if shapes := evaluation.shapes(use.encoding):
        yield Effect(
            name="trained",
            sentence=", ".join(f"{name} {_by(shape)}" for name, shape in shapes.items()),
            data={name: list(shape) for name, shape in shapes.items()},
        )


def _by(shape: Iterable[int]) -> str:
    return " x ".join(map(number, shape))
