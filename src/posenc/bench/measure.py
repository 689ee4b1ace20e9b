"""Time and memory of calls: medians and spread, in rounds that a slow moment hits all alike."""

from __future__ import annotations

import ctypes
import gc
import statistics
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

Call = Callable[[], Any]

_SAMPLE = 0.002  # seconds: so long that neither the clock nor the loop around a call is seen


class Spread(NamedTuple):
    """The middle of many measurements: median, and the quartiles around it."""

    median: float
    low: float
    high: float


def spread(values: Iterable[float]) -> Spread:
    """Median and quartiles.

    Example:
        >>> spread([5.0, 1.0, 2.0, 4.0, 3.0])
        Spread(median=3.0, low=2.0, high=4.0)
    """
    values = list(values)
    if len(values) == 1:
        return Spread(*values * 3)
    low, median, high = statistics.quantiles(values, n=4, method="inclusive")
    return Spread(median, low, high)


def rounds(
    calls: Mapping[str, Call],
    *,
    seconds: float,
    at_least: int = 3,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, list[float]]:
    """Time all calls in turn, again and again: A B C, B C A, C A B, ...

    Whatever slows the machine for a while slows all of a round, so compare within rounds. Each
    round begins with the next call, so that none always finds what the same other left in the
    processor's cache.

    Args:
        calls: what to time, by name; each should have run before.
        seconds: after so many no new round begins.
        at_least: how many rounds to time however long they take.
        clock: gives the time in seconds.
    Returns:
        For each name the seconds that one call took, one number a round.
    """
    names = list(calls)
    repeats = {name: _repeats(call, clock) for name, call in calls.items()}
    taken: dict[str, list[float]] = {name: [] for name in names}
    collecting = gc.isenabled()
    gc.disable()
    try:
        end = clock() + seconds
        done = 0
        while done < at_least or clock() < end:
            first = done % len(names)
            for name in names[first:] + names[:first]:
                taken[name].append(_sample(calls[name], repeats[name], clock))
            done += 1
    finally:
        if collecting:
            gc.enable()
    return taken


def _repeats(call: Call, clock: Callable[[], float]) -> int:
    """How often to call for one sample."""
    repeats = 1
    while (once := _sample(call, repeats, clock)) * repeats < _SAMPLE / 2:
        repeats = max(2 * repeats, min(10 * repeats, int(_SAMPLE / max(once, 1e-9))))
    return max(1, round(_SAMPLE / once))


def _sample(call: Call, repeats: int, clock: Callable[[], float]) -> float:
    """Seconds for one call."""
    start = clock()
    for _ in range(repeats):
        call()
    return (clock() - start) / repeats


def peak_memory(call: Call) -> int | None:
    """How many bytes of memory a call needs at its peak beyond what was there before.

    What the process holds is counted, not what a library says of itself: temporaries of PyTorch,
    NumPy and compiled code alike. Only Linux tells: elsewhere None.
    """
    status, reset = Path("/proc/self/status"), Path("/proc/self/clear_refs")
    gc.collect()
    _give_back_freed_memory()
    try:
        reset.write_text("5", encoding="ascii")  # the peak starts anew from what is held now
        before = _highest(status)
        result = call()
        after = _highest(status)
    except OSError:
        return None
    del result
    return max(after - before, 0)


def _highest(status: Path) -> int:
    for line in status.read_text(encoding="ascii").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise OSError("no peak of memory is told here")


def _give_back_freed_memory() -> None:
    """Memory that was freed but kept would serve the next call unseen."""
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (AttributeError, OSError, TypeError):
        return  # not glibc
