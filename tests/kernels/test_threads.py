"""Parts of the work in several threads: all of it, once, safe after a fork and inside threads."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from numba import carray, cfunc, types

from posenc import kernels
from posenc.kernels import threads
from posenc.kernels.floats import at


@pytest.fixture(params=["openmp", "python"])
def pool(request, monkeypatch):
    """PyTorch's own threads, and those of Python where there are no such."""
    import torch  # noqa: F401

    if request.param == "python":
        monkeypatch.setattr(threads, "_openmp", lambda: None)
    elif threads._openmp() is None:
        pytest.skip("this PyTorch brings another OpenMP than GNU's")
    return request.param


KIND = threads.fields(("seen", np.int64))


@cfunc(types.void(types.voidptr))
def mark(address):
    """Add one for each item that this thread was given."""
    job = carray(address, 1, KIND)[0]
    seen = carray(at(job.seen, 0, np.int64(0)), job.items)
    first, last = threads.next_part(address)
    while first < last:
        seen[first:last] += 1
        first, last = threads.next_part(address)


@pytest.mark.usefixtures("pool")
@pytest.mark.parametrize("count", [1, 2, 3, 8])
@pytest.mark.parametrize("items", [1, 2, 7, 8, 9, 1000])
def test_every_item_once(items, count):
    seen = np.zeros(items, dtype=np.int64)
    threads.share(mark, KIND, (seen.ctypes.data,), items, count)
    np.testing.assert_array_equal(seen, np.ones(items))


def test_follows_pytorch():
    import torch

    before = torch.get_num_threads()
    try:
        torch.set_num_threads(3)
        assert threads.count() == 3
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize(("given", "want"), [("3", 3), ("0", None), ("", None), ("x", None)])
def test_without_pytorch_follows_the_environment(given, want, monkeypatch):
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", given)
    assert threads.count() == (want or len(os.sched_getaffinity(0)))


def turned(seed):
    x = np.random.default_rng(seed).standard_normal((4, 3000, 64)).astype(np.float32)
    angle = np.arange(3000)[:, None] * np.linspace(0.1, 1, 32)
    cos, sin = np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)
    return kernels.rotate(x, cos, sin, layout="half")


@pytest.mark.usefixtures("pool")
def test_from_many_threads_at_once(monkeypatch):
    monkeypatch.setattr(threads, "count", lambda: 3)
    want = [turned(seed) for seed in range(8)]
    got = [None] * 8

    def run(seed):
        got[seed] = turned(seed)

    workers = [threading.Thread(target=run, args=(seed,)) for seed in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for one, other in zip(got, want, strict=True):
        np.testing.assert_array_equal(one, other)


AFTER_FORK = """
import os, sys, numpy as np
if "torch" in sys.argv: import torch
from posenc import kernels
from posenc.kernels import threads
threads.count = lambda: 2
x = np.ones((8, 4096, 64), np.float32)
cos, sin = np.full((4096, 32), 0.6, np.float32), np.full((4096, 32), 0.8, np.float32)
want = kernels.rotate(x, cos, sin, layout="half")
child = os.fork()
if child == 0:
    os._exit(0 if (kernels.rotate(x, cos, sin, layout="half") == want).all() else 1)
assert os.waitpid(child, 0)[1] == 0
assert (kernels.rotate(x, cos, sin, layout="half") == want).all()
print("right")
"""


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_after_a_fork(library):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", AFTER_FORK, library],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout == "right\n", done.stderr


IMPORTS = """
import sys, posenc, posenc.kernels, posenc.torch
rope = posenc.torch.Rotary(dim=8)
assert "numba" not in sys.modules
"""


def test_numba_is_loaded_only_when_used():
    subprocess.run([sys.executable, "-c", IMPORTS], check=True, timeout=60)
