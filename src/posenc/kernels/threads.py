"""Work cut into parts that several threads share.

The loops are compiled without Python's lock, so threads run them side by side. Where PyTorch is
loaded they are its own threads: between two of its operations these keep a core busy for some
milliseconds, waiting for more, and threads beside them would have to wait. (Measured: turning
4,096 tokens of 40 heads in bfloat16 right after a copy took twice as long.) Elsewhere, and in a
forked child, whose copy of PyTorch's pool has no threads, they are plain Python threads.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from functools import lru_cache
from pathlib import Path
from typing import Any

_PARTS_A_THREAD = 4  # so that a thread that was held up leaves the rest to the others

_pool: ThreadPoolExecutor | None = None
_forked = False


def count() -> int:
    """How many threads may work: PyTorch's setting where it is loaded, else what the process has.

    PyTorch gives each DataLoader worker one, so that they do not get into each other's way.
    """
    if "torch" in sys.modules:
        return sys.modules["torch"].get_num_threads()
    given = os.environ.get("OMP_NUM_THREADS", "")
    if given.isdecimal() and int(given):
        return int(given)
    return cores()


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def split(work: Callable[[int, int], None], items: int, *, threads: int) -> None:
    """Call work(start, stop) for parts of range(items), side by side in so many threads.

    Args:
        work: what to do with the items from `start` up to `stop`.
        items: how many there are.
        threads: how many share them.
    Raises:
        BaseException: what `work` raised first, after all threads have stopped.
    """
    if threads <= 1 or items <= 1:
        return work(0, items)
    parts = min(threads * _PARTS_A_THREAD, items)
    edges = iter([(items * i // parts, items * (i + 1) // parts) for i in range(parts)])
    errors: list[BaseException] = []

    def share() -> None:
        _take_parts(work, edges, errors)

    threads = min(threads, parts)
    if (openmp := _openmp()) is not None and not _forked:
        openmp.GOMP_parallel(_CALLBACK(lambda _: share()), None, threads, 0)
    else:
        _side_by_side(share, threads)
    if errors:
        raise errors[0]
    return None


def _take_parts(
    work: Callable[[int, int], None], edges: Iterator[tuple[int, int]], errors: list[BaseException]
) -> None:
    """What one thread does: take a part as long as there are some and nothing has failed."""
    try:
        for start, stop in edges:  # Python's lock hands each part out once
            if errors:
                return
            work(start, stop)
    except BaseException as error:  # no exception may leave a thread of OpenMP
        errors.append(error)


_CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


@lru_cache(maxsize=1)
def _library(torch: Any) -> Any:
    """The OpenMP library of GNU that this PyTorch has loaded; None where it has another one."""
    if not hasattr(os, "RTLD_NOLOAD"):
        return None
    home = Path(torch.__file__).parent
    for file in sorted([*home.glob("lib/libgomp*.so*"), *home.glob("../torch.libs/libgomp*.so*")]):
        try:
            library = ctypes.CDLL(str(file), mode=os.RTLD_NOLOAD)
        except OSError:
            continue
        library.GOMP_parallel.argtypes = (
            *(_CALLBACK, ctypes.c_void_p),
            *(ctypes.c_uint, ctypes.c_uint),
        )
        library.GOMP_parallel.restype = None
        return library
    return None


def _openmp() -> Any:
    torch = sys.modules.get("torch")
    return None if torch is None else _library(torch)


def _side_by_side(share: Callable[[], None], threads: int) -> None:
    others = [_workers().submit(share) for _ in range(threads - 1)]
    share()
    wait(others)


def _workers() -> ThreadPoolExecutor:
    global _pool
    if _pool is None:
        _pool = ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="posenc")
    return _pool


def _after_fork() -> None:
    """The child has both pools, but none of their threads."""
    global _pool, _forked
    _pool, _forked = None, True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
