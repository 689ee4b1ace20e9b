"""One run: every case, then the errors; what is there when somebody stops it is kept."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from posenc import _checks
from posenc.bench import accuracy, cases, machine, measure
from posenc.bench.cases import Case
from posenc.bench.contestant import complaint
from posenc.bench.measure import Call, Spread
from posenc.bench.operations import OPERATIONS, Work
from posenc.bench.result import Accuracy, Result, Row, Timing

_VISIBLE = 1 << 22  # bytes: in less the peak of memory is lost among pages
_PEAKS = 3  # the least of them counts: an allocator may keep what a call has freed already


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What to measure, and how long.

    Args:
        quick: only what the bars are about, and briefly.
        only: measure cases whose name has each of these words; None for all.
        threads: how many threads PyTorch and posenc may use; None for PyTorch's choice.
        seconds: of rounds for each case; None for 0.5 if quick, else 2.
    Raises:
        TypeError: `threads` is no whole number.
        ValueError: `threads` is less than 1, or no case has the words.
    """

    quick: bool = False
    only: str | None = None
    threads: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        if self.threads is not None:
            _checks.integer("threads", self.threads, at_least=1)
        if not self.cases and not self.accuracy:
            raise ValueError(
                f"`only` must be words of a case such as {_every(self)[0].name!r}, one of "
                f"{', '.join(OPERATIONS)}, or accuracy; got {self.only!r}."
            )

    @property
    def cases(self) -> list[Case]:
        """Those to measure."""
        return [case for case in _every(self) if self._wanted(case.name)]

    @property
    def accuracy(self) -> bool:
        """Whether to look for errors too."""
        return self._wanted("accuracy")

    @property
    def time(self) -> float:
        """Seconds of rounds for each case."""
        return self.seconds if self.seconds is not None else 0.5 if self.quick else 2.0

    def _wanted(self, name: str) -> bool:
        words = (self.only or "").lower().replace(",", " ").split()
        return all(word in name.lower().replace(",", " ").split() for word in words)


def _every(settings: Settings) -> list[Case]:
    return list(cases.quick() if settings.quick else cases.full())


def run(
    settings: Settings,
    *,
    progress: Callable[[str], None] = lambda words: None,
    clock: Callable[[], float] = time.perf_counter,
) -> Result:
    """Measure.

    Args:
        settings: what.
        progress: is told in words what comes next.
        clock: gives the time in seconds.
    Returns:
        The result; if somebody stops it (Ctrl-C), what was measured until then.
    Raises:
        ModuleNotFoundError: PyTorch is not installed.
    """
    timings: list[Timing] = []
    errors: list[Accuracy] = []
    complete = False
    with _threads(settings.threads):
        about = machine.machine()
        try:
            for number, case in enumerate(settings.cases, 1):
                progress(f"{number} of {len(settings.cases)}: {case.name}")
                timings.append(time_case(case, seconds=settings.time, clock=clock))
            if settings.accuracy:
                progress("errors at far positions")
                for find in accuracy.measure():
                    errors.append(find())
            complete = True
        except KeyboardInterrupt:
            progress("stopped")
    return Result(
        machine=about,
        versions=machine.versions(),
        settings=dataclasses.asdict(settings) | {"seconds": settings.time},
        complete=complete,
        timings=tuple(timings),
        accuracy=tuple(errors),
        truth=accuracy.source(),
    )


def time_case(case: Case, *, seconds: float, clock: Callable[[], float]) -> Timing:
    """Everybody who can do it, in rounds, beside a copy of the same bytes."""
    work = OPERATIONS[case.operation].prepare(case)
    calls, failed = _ready(work)
    memory = {name: _memory(call, work.size) for name, call in calls.items()}
    work.copy()
    taken = measure.rounds({"": work.copy, **calls}, seconds=seconds, clock=clock)
    copies = taken.pop("")
    rows = tuple(
        Row(
            name=name,
            seconds=measure.spread(times),
            copies=_ratio(times, copies),
            rounds=len(times),
            memory=memory[name],
        )
        for name, times in taken.items()
    )
    return Timing(case=case, copy=measure.spread(copies), rows=rows, failed=failed)


def _ready(work: Work) -> tuple[dict[str, Call], dict[str, str]]:
    """Calls that ran once (compilers are done, caches are warm), and what went wrong in others.

    Other libraries change and break; the rest is still worth measuring.
    """
    calls, failed = {}, {}
    for name, prepare in work.ways.items():
        try:
            call = prepare()
            call()
        except Exception as error:
            failed[name] = complaint(error)
        else:
            calls[name] = call
    return calls, failed


def _memory(call: Call, size: int) -> float | None:
    if size < _VISIBLE:
        return None
    peaks = [measure.peak_memory(call) for _ in range(_PEAKS)]
    told = [peak for peak in peaks if peak is not None]
    return min(told) / size if told else None


def _ratio(times: list[float], copies: list[float]) -> Spread:
    return measure.spread(one / copy for one, copy in zip(times, copies, strict=True))


@contextmanager
def _threads(threads: int | None) -> Iterator[None]:
    try:
        import torch
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "posenc bench needs PyTorch: pip install 'posenc[torch]'"
        ) from error
    before = torch.get_num_threads()
    torch.set_num_threads(threads or before)
    try:
        yield
    finally:
        torch.set_num_threads(before)
