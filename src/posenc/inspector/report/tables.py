"""Rows of a report on trained tables of positions, and on what has no rows of its own."""

from __future__ import annotations

from collections.abc import Iterator

from posenc import evaluation, spec as specs
from posenc.inspector.reading import Use
from posenc.inspector.report.effect import Effect, number


def learned(use: Use) -> Iterator[Effect]:
    """Rows of the table, and how many of them are for tokens."""
    spec = use.encoding
    rows = spec.length + spec.offset
    sentence = f"{number(rows)} rows of {number(spec.dim)} features"
    if spec.offset:
        sentence += f"; token 0 takes row {spec.offset}, so {number(spec.length)} tokens at most"
    elif not use.kind.endswith("grid"):
        sentence += ", one a token; a longer text has no row"
    yield Effect(
        name="table",
        sentence=sentence,
        data={"rows": rows, "usable": spec.length, "offset": spec.offset, "width": spec.dim},
    )


def learned_axes(use: Use) -> Iterator[Effect]:
    """A table an axis."""
    spec = use.encoding
    shapes = " and ".join(f"{number(rows)} x {number(dim)}" for rows, dim in spec.weights.values())
    how = "side by side" if spec.combine == "concatenate" else "added up"
    yield Effect(
        name="tables",
        sentence=f"one an axis, {shapes}, their rows {how}",
        data={"shapes": {name: list(shape) for name, shape in spec.weights.items()}},
    )


def other(use: Use) -> Iterator[Effect]:
    """An encoding as posenc writes it, and the shapes of its trained arrays."""
    yield Effect(
        name="encoding", sentence=specs.to_text(use.encoding), data=specs.to_data(use.encoding)
    )
    if shapes := evaluation.shapes(use.encoding):
        yield Effect(
            name="trained",
            sentence=", ".join(
                f"{name} {' x '.join(map(number, shape))}" for name, shape in shapes.items()
            ),
            data={name: list(shape) for name, shape in shapes.items()},
        )
