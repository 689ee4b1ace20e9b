"""What `posenc inspect` says: a report, a comparison or a what-if, as lines and as data."""

from __future__ import annotations

from typing import Any, NamedTuple

from posenc import _text
from posenc.inspector.reading import Reading
from posenc.inspector.report import lines as report
from posenc.inspector.report.comparison import compare
from posenc.inspector.report.lines import Line
from posenc.inspector.report.what_if import rescaled


class Answer(NamedTuple):
    """An answer in lines for a person and in data for a program.

    Args:
        lines: what is printed.
        data: what --json prints.
        sound: whether all is well.
        readings: the models that it speaks about, for a picture of them.
    """

    lines: list[Line]
    data: dict[str, Any]
    sound: bool
    readings: tuple[Reading, ...]


def about(reading: Reading, *, context: int | None = None, every_value: bool = False) -> Answer:
    """What a model does with positions.

    Args:
        reading: what was read.
        context: also say what happens at so many tokens.
        every_value: show where each value came from.
    """
    lines = report.lines(reading, context=context, every_value=every_value)
    return Answer(lines, report.data(reading, context=context), reading.sound, (reading,))


def with_scaling(reading: Reading, scaling: str, *, context: int | None = None) -> Answer:
    """What another scaling would change.

    Args:
        reading: what was read.
        scaling: a rule in the short text of the command; see `what_if.rescaled`.
        context: also compare what happens at so many tokens.
    Raises:
        ValueError: `scaling` cannot be read, or no encoding of the model can take it.
        TypeError: a field of it has the wrong type.
    """
    changed, filled = rescaled(reading, scaling)
    comparison = compare(reading, changed, context=context)
    told = [Line("")] if filled else []
    told += [Line(line) for sentence in filled for line in _text.filled(sentence).splitlines()]
    lines = [*report.compared(comparison), *told, Line(""), *report.found(reading.findings)]
    data = {
        "filled": list(filled),
        "comparison": comparison.to_data(),
        "before": report.data(reading, context=context),
        "after": report.data(changed, context=context),
    }
    return Answer(lines, data, reading.sound, (reading, changed))


def beside(one: Reading, other: Reading, *, context: int | None = None) -> Answer:
    """What two models do differently; all is well where they do the same.

    Args:
        one: the first.
        other: the second.
        context: also compare what happens at so many tokens.
    """
    comparison = compare(one, other, context=context)
    data = {
        "comparison": comparison.to_data(),
        "one": report.data(one, context=context),
        "other": report.data(other, context=context),
    }
    return Answer(report.compared(comparison), data, comparison.same, (one, other))
