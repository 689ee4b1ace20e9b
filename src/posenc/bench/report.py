"""A result in words and tables: for a terminal, and as a page of Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

from posenc._text import filled
from posenc.bench.cases import Case
from posenc.bench.operations import OPERATIONS
from posenc.bench.result import Result, Row, Timing

_LEGEND = (
    "A number says how many times as long as a copy of the same bytes into memory that is there: "
    "the median of rounds, ± half of the range that the middle half of them spans. memory: the "
    "peak of a call beyond what was there before, the least of three, in the same unit, at the "
    "greatest length."
)
_JUDGED = "Those who turn by the cosines and sines of another are not shown."
_STOPPED = "Stopped before the end: this is what was measured until then."


_SHORT = (
    (9.995, 1, "", 2),
    (99.95, 1, "", 1),
    (999.5, 1, "", 0),
    (9_950, 1_000, "k", 1),
    (999_500, 1_000, "k", 0),
)
"""How numbers below a bound are written: in which unit, and with how many decimals."""


class _Table(NamedTuple):
    """Words in rows; the first of each row names it."""

    title: str
    head: tuple[str, ...]
    rows: list[tuple[str, ...]]
    notes: tuple[str, ...] = ()


def text(result: Result) -> str:
    """The whole result for a terminal of 80 columns."""
    parts = [_machine(result)]
    if not result.complete:
        parts.append(_STOPPED)
    if result.timings:
        parts.append(_LEGEND)
    paragraphs = [filled(part) for part in parts]
    return "\n\n".join([*paragraphs, *(_plain(table) for table in _tables(result))])


def markdown(result: Result, *, picture: str | None = None) -> str:
    """The whole result as a page: what `make bench` leaves in the documentation.

    Args:
        result: of a run.
        picture: where a picture of it lies, seen from the page.
    Returns:
        The page.
    """
    parts = [
        "# How fast posenc is",
        "`make bench` measures and writes this page; nothing in it is written by hand.",
        _machine(result),
    ]
    if not result.complete:
        parts.append(_STOPPED)
    parts.append(_LEGEND)
    if picture is not None:
        parts.append(f"![how long turning takes beside copying, at every length]({picture})")
    return "\n\n".join([*parts, *(_marked(table) for table in _tables(result))]) + "\n"


def _machine(result: Result) -> str:
    about, settings = result.machine, result.settings
    memory = "" if about["memory"] is None else f", {about['memory'] / 2**30:.0f} GiB"
    versions = ", ".join(f"{name} {v}" for name, v in result.versions.items() if v)
    absent = ", ".join(name for name, v in result.versions.items() if not v)
    lines = [
        f"{about['processor']}, {about['cores']} cores, {about['threads']} threads{memory}; "
        f"{about['system']}, Python {about['python']}; {about['date']}.",
        f"{versions}." + (f" Not installed: {absent}." if absent else ""),
    ]
    if about["load"] is not None and about["load"] > about["cores"] / 4:
        lines.append(
            f"Other programs were busy (load {about['load']:.1f} before the start): numbers wobble."
        )
    if settings["quick"] or settings["only"]:
        lines.append("A part of the benchmark only.")
    return " ".join(lines)


def _tables(result: Result) -> Iterator[_Table]:
    if bars := result.bars():
        yield _bars(result)
    yield from _timings(result)
    if result.accuracy:
        yield from _accuracy(result)
    if failed := _failed(result):
        yield _Table("could not be measured", (), [], failed)
    if bars and result.complete:
        yield _faster(result)


def _bars(result: Result) -> _Table:
    rows = [
        (
            _case(bar.case),
            bar.ours.removeprefix("posenc").lstrip(", "),
            f"{'at most ' if bar.other == 'copies' else ''}{bar.bound:g} "
            f"{'' if bar.other == 'copies' else 'x '}{bar.other}",
            f"{bar.got:.3g}",
            "reached" if bar.reached else "missed",
        )
        for bar in result.bars()
    ]
    return _Table("promised of two cores", ("", "posenc", "promised", "got", ""), rows)


def _timings(result: Result) -> Iterator[_Table]:
    """One table for each operation, dtype and layout; lengths side by side."""

    def kind(timing: Timing) -> tuple[str, str, str | None]:
        return timing.case.operation, timing.case.dtype, timing.case.layout

    for (operation, dtype, layout), group in groupby(result.timings, kind):
        timings = list(group)
        words = [OPERATIONS[operation].title, dtype, f"pairs {layout}" if layout else ""]
        lengths = tuple(f"{timing.case.length:,}" for timing in timings)
        names = dict.fromkeys(row.name for timing in timings for row in timing.rows)
        rows = [
            (name, *(_copies(_row(t, name)) for t in timings), _memory(_row(timings[-1], name)))
            for name in names
        ]
        rows.append(("one copy", *(_duration(timing.copy.median) for timing in timings), ""))
        title = ", ".join(word for word in words if word)
        yield _without_empty_end(_Table(title, ("length", *lengths, "memory"), rows))


def _without_empty_end(table: _Table) -> _Table:
    if any(row[-1] for row in table.rows):
        return table
    return table._replace(head=table.head[:-1], rows=[row[:-1] for row in table.rows])


def _accuracy(result: Result) -> Iterator[_Table]:
    for dtype, group in groupby(result.accuracy, lambda row: row.dtype):
        rows = list(group)
        positions = tuple(f"{position:.0e}".replace("e+0", "e") for position in rows[0].errors)
        body = [(row.name, *map(_error, row.errors.values())) for row in rows]
        title = f"largest error of a turned pair (1, 0), {dtype}, against {result.truth}"
        yield _Table(title, ("position", *positions), body, (_JUDGED,))


def _failed(result: Result) -> tuple[str, ...]:
    """What each who broke said, once, and where."""
    places: dict[tuple[str, str], list[str]] = {}
    for timing in result.timings:
        for name, said in timing.failed.items():
            places.setdefault((name, said), []).append(_case(timing.case))
    for row in result.accuracy:
        if row.failed:
            places.setdefault((row.name, row.failed), []).append(f"accuracy {row.dtype}")
    return tuple(
        f"{name}: {said} ({at[0]}{f' and {len(at) - 1} more' if at[1:] else ''})"
        for (name, said), at in places.items()
    )


def _faster(result: Result) -> _Table:
    notes = tuple(
        f"{_case(row.case)}: {row.name} is {row.times:.3g} x as fast as {row.ours}"
        for row in result.faster()
    )
    return _Table("where others are faster", (), [], notes or ("nowhere in this run",))


def _case(case: Case) -> str:
    """In a few words; pairs in halves, as most models have them, need none."""
    words = [case.operation, case.dtype, f"{case.length:,}"]
    return " ".join([*words, "interleaved"] if case.layout == "interleaved" else words)


def _row(timing: Timing, name: str) -> Row | None:
    return next((row for row in timing.rows if row.name == name), None)


def _copies(row: Row | None) -> str:
    if row is None:
        return "-"
    median, low, high = row.copies
    return f"{_number(median)} ±{_number((high - low) / 2)}"


def _number(value: float) -> str:
    """In four characters, as long as it is below a million."""
    for below, size, sign, digits in _SHORT:
        if value < below:
            return f"{value / size:.{digits}f}{sign}"
    return f"{value:.0e}"


def _memory(row: Row | None) -> str:
    return "" if row is None or row.memory is None else f"{row.memory:.2f}"


def _error(value: float | None) -> str:
    return "-" if value is None else f"{value:.1e}"


def _duration(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def _plain(table: _Table) -> str:
    """The first column to the left, the others to the right."""
    lines = [filled(table.title, rest="  ")]
    whole = [table.head, *table.rows] if table.rows else []
    widths = [max(map(len, column)) for column in zip(*whole, strict=True)]
    for row in whole:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        lines.append(("  " + "  ".join(cells)).rstrip())
    lines += [filled(note, first="  ", rest="    ") for note in table.notes]
    return "\n".join(lines)


def _marked(table: _Table) -> str:
    parts = [f"## {table.title[0].upper()}{table.title[1:]}"]
    if table.rows:
        lines = [table.head, ("---", *("---:" for _ in table.head[1:])), *table.rows]
        parts.append("\n".join(f"| {' | '.join(line)} |" for line in lines))
    if table.notes:
        parts.append("\n".join(f"- {note}" for note in table.notes))
    return "\n\n".join(parts)
