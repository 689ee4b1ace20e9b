"""Results with known numbers."""

from __future__ import annotations

from posenc.bench.cases import Case
from posenc.bench.measure import Spread
from posenc.bench.result import Accuracy, Result, Row, Timing


def row(name: str, copies: float, *, around: float = 0.0, memory: float | None = None) -> Row:
    spread = Spread(copies, copies - around, copies + around)
    seconds = Spread(*(value * 1e-3 for value in spread))
    return Row(name=name, seconds=seconds, copies=spread, rounds=5, memory=memory)


def timing(operation: str, length: int, *rows: Row, dtype="float32", layout="half", failed=None):
    case = Case(operation=operation, length=length, dtype=dtype, layout=layout)
    return Timing(case=case, copy=Spread(1e-3, 1e-3, 1e-3), rows=rows, failed=failed or {})


def result(*timings: Timing, complete: bool = True, accuracy: tuple[Accuracy, ...] = ()) -> Result:
    machine = dict(processor="one of many", cores=2, threads=2, memory=8 << 30, load=0.1)
    return Result(
        machine=machine | dict(system="Linux x86_64", python="3.11.7", date="2026-01-31"),
        versions={"posenc": "0.1.0", "torch": "2.13.0", "timm": None},
        settings={"quick": False, "only": None, "threads": None, "seconds": 3.0},
        complete=complete,
        timings=timings,
        accuracy=accuracy,
        truth="mpmath",
    )
