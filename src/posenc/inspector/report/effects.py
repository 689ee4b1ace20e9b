"""What an encoding does in a model, row by row, computed from its spec."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from posenc import spec as specs
from posenc.inspector.reading import Use
from posenc.inspector.report import biases, pairs, tables, waves
from posenc.inspector.report.effect import Effect, number
from posenc.inspector.report.stretching import window_of
from posenc.query_scaling import LogN, Temperature
from posenc.sinusoidal import Sinusoidal

Rows = Callable[[Use], Iterator[Effect]]

_ROWS: dict[str, Rows] = {
    "rotary": pairs.rotary,
    "m_rotary": pairs.m_rotary,
    "axial_rotary": pairs.axial,
    "mixed_rotary": pairs.mixed,
    "xpos": pairs.xpos,
    "sinusoidal": waves.sinusoidal,
    "sinusoidal_axes": waves.sinusoidal_axes,
    "learned": tables.learned,
    "learned_axes": tables.learned_axes,
    "fourier_features": tables.fourier,
    "alibi": biases.alibi,
    "t5": biases.t5,
    "swin": biases.window,
    "swin_v2": biases.window,
    "decomposed": biases.decomposed,
    "shaw": biases.clipped,
    "deberta": biases.deberta,
    "transformer_xl": waves.transformer_xl,
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
    # Waves may count from elsewhere themselves; a learned table names its first row instead.
    start = use.first_position + (
        use.encoding.offset if isinstance(use.encoding, Sinusoidal) else 0
    )
    if start:
        yield Effect(
            name="start",
            sentence=f"the first position is {start}",
            data={"position": start},
        )
    if use.softmax_factor != 1:
        yield _softmax(use)
    if use.query_scaling is not None:
        yield Effect(
            name="queries",
            sentence=_growing(use.query_scaling),
            data=specs.to_data(use.query_scaling),
        )
    if (window := window_of(use)) is not None:
        yield Effect(
            name="window",
            sentence=f"{number(window)} tokens: no query sees a key farther back",
            data={"tokens": window},
        )


def _softmax(use: Use) -> Effect:
    """What scores are multiplied with; together with 1 / sqrt(head_dim) it is a kernel's scale."""
    factor = use.softmax_factor
    sentence = f"all scores x{number(factor)}, besides 1 / sqrt(head width)"
    data = {"factor": factor}
    if use.head_dim is not None:
        data["together"] = together = factor / math.sqrt(use.head_dim)
        sentence = f"all scores x{number(factor)}, besides 1 / sqrt({use.head_dim}): "
        sentence += f"x{number(together)} together"
    return Effect(name="softmax", sentence=sentence, data=data)


def _growing(rule: LogN | Temperature) -> str:
    if isinstance(rule, LogN):
        length = number(rule.original_length)
        return f"times ln(tokens so far) / ln({length}) beyond {length}"
    return (
        f"times 1 + {number(rule.strength)} ln(1 + steps), one step every "
        f"{number(rule.length)} tokens from position {number(rule.length - rule.offset)} on"
    )
