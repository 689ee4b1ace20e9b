"""Work cut into parts that several threads share, without Python's lock from first to last.

A thread that waits for the lock sleeps, and waking it takes longer than turning 512 tokens of 40
heads: so what the threads call is compiled too, and counts the parts itself. Where PyTorch is
loaded the threads are its own: between two of its operations these keep a core busy for some
milliseconds, waiting for more, and threads beside them would have to wait. Elsewhere, and in a
forked child, whose copy of PyTorch's pool has no threads, they are plain Python threads.
"""

from __future__ import annotations

import ctypes
import os
import sys
from concurrent.futures import ThreadPoolExecutor, wait
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from llvmlite import ir
from numba import carray, njit, types  # pyright: ignore[reportPrivateImportUsage]
from numba.extending import intrinsic

from posenc.kernels.cores import cores

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


def fields(*names: tuple[Any, ...]) -> np.dtype:
    """The memory in which a loop finds its arguments, behind those that `next_part` needs."""
    return np.dtype([(name, np.int64) for name in ("next", "parts", "items")] + [*names])


def share(loop: Any, kind: np.dtype, arguments: tuple[Any, ...], items: int, threads: int) -> None:
    """Let so many threads run a loop side by side until all parts are done.

    Args:
        loop: compiled by numba.cfunc, void(voidptr): takes parts by `next_part`. It must not raise.
        kind: of `fields`, as what the loop reads the memory at the address that it gets.
        arguments: values of the fields that are its own.
        items: how many there are to be shared.
        threads: how many share them.
    """
    parts = min(threads * _PARTS_A_THREAD, items)
    job = np.array([(0, parts, items, *arguments)], dtype=kind)
    address = job.ctypes.data
    if threads == 1:
        loop.ctypes(address)
    elif (openmp := _openmp()) is not None and not _forked:
        openmp.GOMP_parallel(loop.address, address, threads, 0)
    else:
        others = [_workers().submit(loop.ctypes, address) for _ in range(threads - 1)]
        loop.ctypes(address)
        wait(others)


@njit
def next_part(job):
    """First and last + 1 of the items to do next; equal when none is left."""
    part = _count(job)
    _, parts, items = carray(job, 3, np.int64)
    return items * min(part, parts) // parts, items * min(part + 1, parts) // parts


_intrinsic: Any = intrinsic  # what it makes is called with one argument less than is declared


@_intrinsic
def _count(_context: Any, job: Any) -> Any:
    """The number at an address, which is one more for the next thread that asks."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        number = ir.IntType(64)
        place = builder.bitcast(arguments[0], number.as_pointer())
        return builder.atomic_rmw("add", place, number(1), "monotonic")

    return types.int64(job), generate


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
            *(ctypes.c_void_p, ctypes.c_void_p),
            *(ctypes.c_uint, ctypes.c_uint),
        )
        library.GOMP_parallel.restype = None
        return library
    return None


def _openmp() -> Any:
    torch = sys.modules.get("torch")
    return None if torch is None else _library(torch)


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
