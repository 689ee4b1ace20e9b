"""What happens at a number of tokens, for each use of an encoding."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from posenc import evaluation, spec as specs
from posenc.deberta import Deberta
from posenc.inspector.reading import Use
from posenc.inspector.report.biases import alike_from, block_of
from posenc.inspector.report.effect import Effect, number
from posenc.inspector.report.facts import unit
from posenc.inspector.report.narrow import distinct
from posenc.inspector.report.stretching import for_whom, new_angles, trained_length, window_of
from posenc.inspector.report.turning import base_of, looks_at_length, rotary_of
from posenc.longrope import LongRope

_FARTHEST = 64  # published scalings stretch no text further

Rows = Callable[[Use, int], Iterator[Effect]]


def at_length(use: Use, length: int) -> tuple[Effect, ...]:
    """What one use of an encoding does in a text of `length` tokens.

    Args:
        use: one encoding at work in one place.
        length: tokens in the whole text.
    Returns:
        A row for each thing to say; none where the number of tokens does not matter.
    Example:
        >>> from posenc import Learned
        >>> bert = Use(kind="learned", place="tokens", encoding=Learned(length=512, dim=768))
        >>> print(at_length(bert, 600)[0].sentence)
        too long: beyond 512 tokens there is no row, but an index error
    """
    if use.ends and length > (use.length or length):
        return (_end(use),)
    rows: list[Effect] = []
    on_text = not evaluation.axes(_of_text(use)) and not use.kind.endswith("grid")
    on_text = on_text and unit(use) == "tokens"
    if use.encoding is not None and on_text:
        rows += _ROWS.get(specs.to_data(use.encoding)["kind"], _nothing)(use, length)
    return (*rows, *_queries(use, length))


def _end(use: Use) -> Effect:
    return Effect(
        name="end",
        sentence=f"too long: there are numbers for {number(use.length or 0)} tokens only",
        data={"usable": use.length},
    )


def _of_text(use: Use) -> object:
    """The encoding that plain text meets: of M-RoPE the rotary one inside."""
    return rotary_of(use.encoding) or use.encoding


def _turning(use: Use, length: int) -> Iterator[Effect]:
    """Rotary pairs and waves: windows, the trained length, rules that look at the length."""
    window = window_of(use)
    if window is not None and window < length:
        yield Effect(
            name="window",
            sentence=f"no distance beyond {number(window - 1)}, however long the text is",
            data={"window": window},
        )
        return
    yield from _rule(use, length)
    trained = trained_length(use)
    if trained is None:
        return
    yield _beside(use, length, trained)
    angles = new_angles(use, length)
    yield angles
    spec = rotary_of(use.encoding)
    factor = math.ceil(length / trained)
    unscaled = spec is not None and spec.scaling is None
    if angles.data["pairs"] and unscaled and factor <= _FARTHEST:
        yield Effect(
            name="what if",
            sentence=f"--scaling yarn:factor={factor} shows what slowing them would change",
            data={"factor": factor},
        )
    yield Effect(
        name="positions",
        sentence=f"{number(distinct(length))} of {number(length)} would stay apart in bfloat16",
        data={"distinct_positions": distinct(length)},
    )


def _beside(use: Use, length: int, trained: int) -> Effect:
    """Whether so many tokens are within what the model was trained for, and stretched to."""
    made = max(use.length or 0, trained)
    if length <= trained:
        sentence = f"within the {for_whom(use, trained)}"
    elif length <= made:
        sentence = (
            f"beyond the {for_whom(use, trained)}, within the {number(made)} it is stretched to"
        )
    elif made > trained:
        sentence = (
            f"beyond the {number(made)} tokens it is stretched to ({number(length - made)} more)"
        )
    else:
        sentence = f"beyond the {for_whom(use, trained)} ({number(length - made)} more)"
    return Effect(
        name="length",
        sentence=sentence,
        data={"length": length, "for": made, "within": length <= made},
    )


def _rule(use: Use, length: int) -> Iterator[Effect]:
    """What a rule that looks at the length does here."""
    spec = rotary_of(use.encoding)
    if spec is None or spec.scaling is None or not looks_at_length(spec):
        return
    original = spec.scaling.original_length or 0
    base = base_of(spec, length)
    if isinstance(spec.scaling, LongRope):
        sentence = f"the short factors; from {number(original + 1)} tokens on the long ones"
        if length > original:
            sentence = f"the long factors, as from {number(original + 1)} tokens on"
    elif length <= original:
        sentence = f"nothing changes up to {number(original)} tokens"
    else:
        sentence = f"turns as with base {number(base or 0)} instead of {number(spec.base)}"
    yield Effect(
        name="scaling",
        sentence=sentence,
        data={"length": length, "original_length": original, "base": base},
    )
    if length > original:
        yield Effect(
            name="cache",
            sentence="keys cached while the text was shorter were turned otherwise: turn them anew",
            data={"original_length": original},
        )


def _table(use: Use, length: int) -> Iterator[Effect]:
    """A learned table has rows, or it has not."""
    rows = use.encoding.length - use.first_position
    fits = length <= rows
    yield Effect(
        name="table",
        sentence=f"fits: there are rows for {number(rows)} tokens"
        if fits
        else f"too long: beyond {number(rows)} tokens there is no row, but an index error",
        data={"length": length, "usable": rows, "fits": fits},
    )


def _penalty(use: Use, length: int) -> Iterator[Effect]:
    """What the farthest key loses."""
    slopes = use.encoding.slopes
    far = length - 1
    most, least = max(slopes) * far, min(slopes) * far
    trained = trained_length(use)
    beyond = trained is not None and length > trained
    yield Effect(
        name="penalty",
        sentence=f"the key {number(far)} tokens back loses {number(least)} in the flattest head, "
        f"{number(most)} in the steepest"
        + (f"; {number(trained or 0)} tokens were the most in training" if beyond else ""),
        data={"distance": far, "flattest": least, "steepest": most},
    )


def _buckets(use: Use, length: int) -> Iterator[Effect]:
    """Which distances share the last bucket."""
    last = use.encoding.edges[-1]
    yield _shared(
        last,
        length - 1,
        f"distances {number(last)} to {number(length - 1)} share the "
        "last bucket: farther off is not told from far",
    )


def _clipped(use: Use, length: int) -> Iterator[Effect]:
    """Which distances are taken for the largest one."""
    last, block = use.encoding.max_distance, block_of(use)
    if block is not None and block < length:
        sentence = f"none beyond {number(block - 1)}, however long the text is: "
        sentence += f"blocks of {number(block)} stand alone"
        yield Effect(name="distances", sentence=sentence, data={"farthest": block - 1})
        return
    if isinstance(use.encoding, Deberta):
        last = alike_from(use.encoding)
    yield _shared(last, length - 1, f"distances {number(last)} to {number(length - 1)} look alike")


def _reckoned(use: Use, length: int) -> Iterator[Effect]:
    """Whether distances go beyond those that an encoding is written for."""
    last, far = use.encoding.max_distance, length - 1
    beyond = f"farther than the {number(last)} that are reckoned here"
    within = f"within the {number(last)} that are reckoned here"
    yield Effect(
        name="distances",
        sentence=f"up to {number(far)}: {beyond if far > last else within}",
        data={"last": last, "farthest": far},
    )


def _shared(last: int, far: int, sentence: str) -> Effect:
    if far <= last:
        sentence = "no two distances are taken for the same because of the length"
    return Effect(name="distances", sentence=sentence, data={"last": last, "farthest": far})


def _nothing(use: Use, length: int) -> Iterator[Effect]:
    yield from ()


def _queries(use: Use, length: int) -> Iterator[Effect]:
    """How much the last query grows."""
    if use.query_scaling is None:
        return
    factor = float(use.query_scaling.scale(np.asarray([length - 1]), dtype=np.float64)[0])
    yield Effect(
        name="queries",
        sentence=f"the last one is multiplied by {number(factor)}",
        data={"position": length - 1, "factor": factor},
    )


_ROWS: dict[str, Rows] = {
    "rotary": _turning,
    "m_rotary": _turning,
    "sinusoidal": _turning,
    "learned": _table,
    "alibi": _penalty,
    "t5": _buckets,
    "shaw": _clipped,
    "deberta": _clipped,
    "transformer_xl": _reckoned,
}
