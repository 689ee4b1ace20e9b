"""A reading as a person reads it, in lines of at most 80 columns, and as data for a program."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, Literal, NamedTuple

from posenc import _text
from posenc.inspector.reading import Finding, Part, Reading, Use, Value
from posenc.inspector.report.comparison import Comparison, Match, title
from posenc.inspector.report.context import at_length
from posenc.inspector.report.effect import Effect, number, printable, shortened
from posenc.inspector.report.effects import effects
from posenc.inspector.report.stack import in_words, layers

Role = Literal["", "title", "error", "warning", "note", "one", "other"]

_LEAD = 14  # columns before a sentence
_NOTHING = {
    True: "no encoding of positions was found",
    False: "these settings give no encoding, because of what is wrong below",
}
_MANY = 3  # uses of one kind in a row, layer by layer; of more only the ends are shown
_LONGEST = 2000  # characters of a paragraph: a hostile file must not flood the terminal


class Line(NamedTuple):
    """A line of text and what it is, for whoever wants to colour it."""

    text: str
    role: Role = ""


def lines(reading: Reading, *, context: int | None = None, every_value: bool = False) -> list[Line]:
    """What a model does with positions, and what is odd about its settings.

    Args:
        reading: what was read.
        context: also say what happens at so many tokens.
        every_value: show where each value came from, not only those that stand in no file.
    """
    shown = [*_lines(f"{reading.source}: {reading.model_type or 'no model type'}", role="title")]
    for part in reading.parts:
        if part.name:
            shown += [Line(""), *_lines(f"{part.name}: {part.model_type}", role="title")]
        above: tuple[str, ...] | None = None
        for use, between in _summed_up(part.uses):
            if between:
                layers_between = [layer for other in between for layer in other.layers]
                shown += [Line(""), *_lines(_unshown(len(between), layers_between))]
            remarks = ("as above",) if use.remarks and use.remarks == above else use.remarks
            shown += [Line(""), *_use(part, use, remarks, context, every_value)]
            above = use.remarks
    if not reading.parts:
        shown += [Line(""), Line(_NOTHING[reading.sound])]
    return [*shown, Line(""), *found(reading.findings)]


def text(reading: Reading, *, context: int | None = None, every_value: bool = False) -> str:
    """The same as one text."""
    shown = lines(reading, context=context, every_value=every_value)
    return "\n".join(line.text for line in shown)


def data(reading: Reading, *, context: int | None = None) -> dict[str, Any]:
    """The reading as plain data, with what follows from it for each use, ready for JSON."""
    written = reading.to_data()
    for part, plain in zip(reading.parts, written["parts"], strict=True):
        for use, of_use in zip(part.uses, plain["uses"], strict=True):
            of_use["effects"] = _data(effects(use))
            if context is not None:
                of_use["context"] = {"length": context, "effects": _data(at_length(use, context))}
    return written | {"sound": reading.sound}


def compared(comparison: Comparison) -> list[Line]:
    """Two models beside each other: rows of the first after a minus, of the other after a plus."""
    shown = [
        *_lines(comparison.one, role="one", sign="- "),
        *_lines(comparison.other, role="other", sign="+ "),
    ]
    for match in comparison.matches:
        shown += [Line(""), *_lines(match.title, role="title"), *_match(match)]
    return shown


def found(findings: Iterable[Finding]) -> list[Line]:
    """Findings with how many there are of each kind."""
    findings = list(findings)
    if not findings:
        return [Line("nothing odd was found")]
    counts = [
        f"{count} {name}{'s' * (count > 1)}"
        for name in ("error", "warning", "note")
        if (count := sum(finding.severity == name for finding in findings))
    ]
    shown = [Line(", ".join(counts), "title")]
    for finding in findings:
        shown += _finding(finding)
    return shown


def _summed_up(uses: Sequence[Use]) -> Iterator[tuple[Use, Sequence[Use]]]:
    """Each use to show and those left out before it: all but the ends of a long row of one kind."""
    for _, alike in groupby(uses, key=lambda use: (title(use), type(use.encoding))):
        row = list(alike)
        if len(row) <= _MANY:
            yield from ((use, ()) for use in row)
        else:
            yield row[0], ()
            yield row[-1], row[1:-1]


def _unshown(count: int, of_layers: Sequence[int]) -> str:
    where = f", layers {in_words(of_layers, None)}" if of_layers else ""
    return f"... and {count} more like it{where}: --json has every number"


def _use(
    part: Part, use: Use, remarks: Iterable[str], context: int | None, every_value: bool
) -> Iterator[Line]:
    yield from _lines(title(use), role="title")
    if use.layers:
        yield from _row("layers", layers(part, use))
    for row in effects(use):
        yield from _row(row.name, row.sentence + _source(use, row))
    for remark in remarks:
        yield from _row("remark", remark)
    yield from _values(use, every_value)
    if context is not None and (there := at_length(use, context)):
        yield Line(f"  at {number(context)} tokens")
        yield from _rows(there, indent=4)


def _rows(rows: Iterable[Effect], *, indent: int = 2) -> Iterator[Line]:
    for row in rows:
        yield from _row(row.name, row.sentence, indent=indent)


_ORIGINS = {"file": "", "fallback": "made from ", "default": "default of "}
_FIXED = "fixed by the class"  # no setting changes it, so it has no key


def _origin(value: Value) -> str:
    return _ORIGINS[value.origin] + value.key if value.key else _FIXED


def _source(use: Use, row: Effect) -> str:
    """Where a base came from: whether it was read at all is what people ask first."""
    value = next((value for value in use.values if value.name == row.name == "base"), None)
    return "" if value is None else f" ({_origin(value)})"


def _values(use: Use, every: bool) -> Iterator[Line]:
    """Where the values came from: those that stand in no file, or every one."""
    values = {(value.name, value.key): value for value in use.values}.values()
    if every:
        told = [f"{value.name} = {shortened(value.value)} ({_origin(value)})" for value in values]
        for name, sentence in zip(["values", *[""] * len(told)], told, strict=False):
            yield from _row(name, sentence)
        return
    stated = sum(value.origin == "file" for value in values)
    told = [f"{stated} from the file"] if stated else []
    told += [
        f"{_equation(value)} from {value.key}" for value in values if value.origin == "fallback"
    ]
    assumed = [value for value in values if value.origin == "default"]
    for introduced, chosen in (
        ("defaults of the class", [value for value in assumed if value.key]),
        (_FIXED, [value for value in assumed if not value.key]),
    ):
        if chosen:
            told.append(f"{introduced}: {', '.join(map(_equation, chosen))}")
    if told:
        yield from _row("values", "; ".join(told))


def _equation(value: Value) -> str:
    return f"{value.name}={shortened(value.value, 24)}"


def _finding(finding: Finding) -> Iterator[Line]:
    value = "" if finding.value is None else f" = {shortened(finding.value)}"
    yield from _row(finding.severity, f"{printable(finding.key)}{value}", role=finding.severity)
    yield from _row("", finding.why)
    yield from _row("", finding.cure)


def _match(match: Match) -> Iterator[Line]:
    if match.same:
        yield from _row("", "the same")
        return
    if match.differences[0].name != "only here":
        yield from _row("encodings", "equal" if match.equal else "not equal")
    if match.frequencies:
        yield from _row("frequencies", match.frequencies)
    for row in match.differences:
        yield from _row(row.name, row.one or "none", role="one", sign="- ")
        yield from _row("", row.other or "none", role="other", sign="+ ")


def _row(
    name: str, sentence: str, *, role: Role = "", indent: int = 2, sign: str = ""
) -> Iterator[Line]:
    """A name and, beside it or below where it is long, a sentence; its lines hang after a sign."""
    lead = f"{' ' * indent}{name} ".ljust(_LEAD)
    if len(lead) > _LEAD:
        yield Line(lead.rstrip(), role)
        lead = " " * _LEAD
    rest = " " * (_LEAD + len(sign))
    filled = _text.filled(printable(sentence, _LONGEST), first=lead + sign, rest=rest)
    yield from (Line(line, role) for line in filled.splitlines())


def _lines(sentence: str, *, role: Role = "", sign: str = "") -> Iterator[Line]:
    """A sentence from the left edge; a long path stays beside its sign."""
    width = 80 - len(sign)
    filled = _text.filled(printable(sentence, _LONGEST), width=width, rest="  "[len(sign) :])
    first, *rest = filled.splitlines()
    yield Line(sign + first, role)
    yield from (Line(" " * len(sign) + line, role) for line in rest)


def _data(rows: Iterable[Effect]) -> dict[str, Any]:
    return {row.name: dict(row.data) for row in rows}
