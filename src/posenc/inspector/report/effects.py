"""What an encoding does in a model, row by row, computed from its spec."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from posenc import spec as specs
from posenc.inspector.reading import Use
from posenc.inspector.report import biases, pairs, tables
from posenc.inspector.report.effect import Effect, number
from posenc.inspector.report.stretching import window_of

Rows = Callable[[Use], Iterator[Effect]]

_ROWS: dict[str, Rows] = {
    "rotary": pairs.rotary,
    "m_rotary": pairs.m_rotary,
    "axial_rotary": pairs.axial,
    "xpos": pairs.xpos,
    "sinusoidal": pairs.sinusoidal,
    "sinusoidal_axes": pairs.sinusoidal_axes,
    "learned": tables.learned,
    "learned_axes": tables.learned_axes,
    "alibi": biases.alibi,
    "t5": biases.t5,
    "swin": biases.window,
    "swin_v2": biases.window,
    "shaw": biases.clipped,
    "deberta": biases.deberta,
    "transformer_xl": biases.clipped,
}


def effects(use: Use) -> tuple[Effect, ...]:
    """What one use of an encoding does, in the order in which it is printed.

    Args:
        use: one encoding at work in one place.
    Returns:
        A row for each thing to say; every number in it follows from the encoding.
    Example:
        >>> from posenc import Alibi
        >>> bloom = Use(kind="ALiBi", place="attention scores", encoding=Alibi(heads=32))
        >>> print(effects(bloom)[0].sentence)
        0.8408964 in head 0, 0.00390625 in head 31: taken off for each token of distance
    """
    rows: list[Effect] = []
    if use.encoding is not None:
        rows += _ROWS.get(specs.to_data(use.encoding)["kind"], tables.other)(use)
    return (*rows, *_beside(use))


def _beside(use: Use) -> Iterator[Effect]:
    """What stands beside the encoding, whatever it is."""
    if use.first_position:
        yield Effect(
            name="first token",
            sentence=f"stands at position {use.first_position}",
            data={"position": use.first_position},
        )
    if use.softmax_factor != 1:
        yield Effect(
            name="softmax",
            sentence=f"all scores x{number(use.softmax_factor)}, besides 1 / sqrt(head width)",
            data={"factor": use.softmax_factor},
        )
    if use.query_scaling is not None:
        yield Effect(
            name="queries",
            sentence=f"grow with their position: {specs.to_text(use.query_scaling)}",
            data=specs.to_data(use.query_scaling),
        )
    if (window := window_of(use)) is not None:
        yield Effect(
            name="window",
            sentence=f"{number(window)} tokens: no query sees a key farther back",
            data={"tokens": window},
        )
