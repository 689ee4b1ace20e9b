"""What was measured, as plain data, and what follows from it: bars, and where others are faster."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from posenc.bench.cases import Case
from posenc.bench.measure import Spread

OURS = "posenc"
"""How the names of posenc's own ways begin."""

_OVERWRITING = ("posenc, in place", "posenc, into out")


@dataclass(frozen=True, kw_only=True)
class Row:
    """One contestant in one case.

    Args:
        name: the contestant.
        seconds: one call.
        copies: the same as a multiple of copying the same bytes, compared within rounds.
        rounds: how many.
        memory: the peak beyond what was there before, in multiples of the bytes; None if not told.
    """

    name: str
    seconds: Spread
    copies: Spread
    rounds: int
    memory: float | None = None


@dataclass(frozen=True, kw_only=True)
class Timing:
    """One case: how long a copy takes, and everybody's rows.

    Args:
        case: what.
        copy: seconds.
        rows: of those who ran.
        failed: of those who did not, what they said.
    """

    case: Case
    copy: Spread
    rows: tuple[Row, ...]
    failed: dict[str, str] = field(default_factory=dict)

    def copies(self, name: str) -> float | None:
        """The median of a contestant; None if it did not run."""
        return next((row.copies.median for row in self.rows if row.name == name), None)


# Length 4096, pairs in halves: what was promised, as (operation, ours, other, bound); ours takes at
# most `bound` copies, or is `bound` times as fast as the other.
_COPIES = (
    ("turn", "posenc, in place", 1.3),
    ("turn", "posenc, into out", 1.6),
    ("gradient", "posenc, in place", 1.3),
    ("gradient", "posenc, into out", 1.6),
)
_FASTER = (
    ("turn", 4096, "posenc, in place", "transformers", 8.0),
    ("turn", 4096, "posenc, in place", "transformers compiled", 4.0),
    ("gradient", 4096, "posenc, in place", "transformers", 8.0),
    ("gradient", 4096, "posenc, in place", "transformers compiled", 4.0),
    ("turn", 1, "posenc, in place", "transformers", 1.0),
    ("turn", 1, "posenc module", "transformers", 1.0),
    ("step", 1, "posenc module", "transformers", 1.0),
    ("table", 4096, "posenc module", "NumPy, float64", 5.0),
)


@dataclass(frozen=True, kw_only=True)
class Accuracy:
    """How far cosines and sines that a contestant turns by are from the truth.

    Args:
        name: the contestant.
        dtype: of what is turned.
        errors: the largest, for each position; None where it does not reach so far.
        failed: what it said if it broke.
    """

    name: str
    dtype: str
    errors: dict[int, float | None]
    failed: str | None = None


class Bar(NamedTuple):
    """A speed that was promised of two cores.

    case      where
    ours      which way of posenc
    other     copies of the same bytes, of which it takes at most `bound`; or whom it is to be
              `bound` times as fast as
    bound     the number that was promised
    got       the number that was measured
    reached   whether it is on the right side
    """

    case: Case
    ours: str
    other: str
    bound: float
    got: float
    reached: bool


class Faster(NamedTuple):
    """A case in which somebody else is faster than `ours`, so many times."""

    case: Case
    name: str
    ours: str
    times: float


@dataclass(frozen=True, kw_only=True)
class Result:
    """One run of the benchmark."""

    machine: dict[str, Any]
    versions: dict[str, str | None]
    settings: dict[str, Any]
    complete: bool
    timings: tuple[Timing, ...]
    accuracy: tuple[Accuracy, ...]
    truth: str
    """What errors are measured against."""

    def bars(self) -> list[Bar]:
        """What was promised of two cores, beside what was measured."""
        return [bar for timing in self.timings for bar in _bars(timing)]

    def faster(self) -> list[Faster]:
        """Where others are faster: than our fastest way, or than ours that gives new memory too."""
        return [row for timing in self.timings for row in _faster(timing)]

    def to_data(self) -> dict[str, Any]:
        """Plain data for JSON."""
        data = dataclasses.asdict(self)
        for timing in data["timings"]:
            timing["copy"] = timing["copy"]._asdict()
            for row in timing["rows"]:
                row.update(seconds=row["seconds"]._asdict(), copies=row["copies"]._asdict())
        data["bars"] = [
            bar._asdict() | {"case": dataclasses.asdict(bar.case)} for bar in self.bars()
        ]
        return data


def _bars(timing: Timing) -> list[Bar]:
    case, bars = timing.case, []
    if case.layout == "interleaved":
        return bars
    for operation, ours, bound in _COPIES:
        got = timing.copies(ours)
        if (operation, 4096) == (case.operation, case.length) and got is not None:
            bars.append(Bar(case, ours, "copies", bound, got, got <= bound))
    for operation, length, ours, other, bound in _FASTER:
        mine, theirs = timing.copies(ours), timing.copies(other)
        if (operation, length) == (case.operation, case.length) and mine and theirs:
            got = theirs / mine
            bars.append(Bar(case, ours, other, bound, got, got >= bound))
    return bars


def _faster(timing: Timing) -> list[Faster]:
    mine = [row for row in timing.rows if row.name.startswith(OURS)]
    others = [row for row in timing.rows if not row.name.startswith(OURS)]
    giving = [row for row in mine if row.name not in _OVERWRITING]
    best = {min(rows, key=_copies).name: min(rows, key=_copies) for rows in (mine, giving) if rows}
    return [
        Faster(timing.case, other.name, ours.name, _copies(ours) / _copies(other))
        for other in others
        for ours in best.values()
        if other.copies.high < ours.copies.low  # their middle halves do not even touch
    ]


def _copies(row: Row) -> float:
    return row.copies.median
