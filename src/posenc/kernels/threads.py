"""Work cut into equal parts, one a thread.

The loops are compiled without Python's lock, so plain Python threads run them side by side. (The
thread pools of OpenMP that Numba can use do not survive a fork, and its own is not safe to enter
from two threads.)
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait

_pool: ThreadPoolExecutor | None = None


def count() -> int:
    """How many threads may work: PyTorch's setting where it is loaded, else what the process has.

    PyTorch gives each DataLoader worker one, so that they do not get into each other's way.
    """
    if "torch" in sys.modules:
        return sys.modules["torch"].get_num_threads()
    given = os.environ.get("OMP_NUM_THREADS", "")
    if given.isdecimal() and int(given):
        return int(given)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def split(work: Callable[[int, int], None], items: int, *, threads: int) -> None:
    """Call work(start, stop) for parts of range(items), all but the first in other threads.

    Args:
        work: what to do with the items from `start` up to `stop`.
        items: how many there are.
        threads: how many parts at most.
    """
    parts = max(min(threads, items), 1)
    edges = [items * part // parts for part in range(parts + 1)]
    if parts == 1:
        return work(0, items)
    others = [_workers().submit(work, edges[i], edges[i + 1]) for i in range(1, parts)]
    try:
        work(edges[0], edges[1])
    finally:
        wait(others)  # whatever happens, nothing may write to the caller's memory after this
    for other in others:
        other.result()
    return None


def _workers() -> ThreadPoolExecutor:
    global _pool
    if _pool is None:
        _pool = ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="posenc")
    return _pool


def _forget() -> None:
    """After a fork the child has the pool, but none of its threads."""
    global _pool
    _pool = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
