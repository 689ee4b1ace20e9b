"""Fixtures for every test: each array library, a browser, and a server for it."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import threading

import hypothesis
import numpy as np
import pytest

from frameworks import Framework

hypothesis.settings.register_profile("posenc", deadline=None, derandomize=True, max_examples=30)
hypothesis.settings.load_profile("posenc")
os.environ.setdefault("JAX_PLATFORMS", "cpu")


FRAMEWORKS = ("numpy", "strict", "torch", "jax", pytest.param("jax64", marks=pytest.mark.slow))


@pytest.fixture(params=FRAMEWORKS)
def framework(request):
    name = request.param
    with contextlib.ExitStack() as stack:
        if name == "numpy":
            xp = np
        elif name == "strict":
            import array_api_strict as xp
        elif name == "torch":
            import torch as xp
        else:
            import jax
            import jax.numpy as xp

            stack.enter_context(jax.enable_x64(name == "jax64"))
        yield Framework(name, xp, 1.2e-7 if name == "jax" else 6e-8)


@pytest.fixture
def small(monkeypatch):
    """A benchmark so small that nobody waits for it: no long texts, nobody who compiles."""
    from posenc.bench import cases, contestants

    def every():
        for operation in ("turn", "gradient", "step", "numpy"):
            yield cases.Case(operation=operation, length=2, dtype="float32", layout="half")
        for operation in ("table", "alibi", "t5"):
            yield cases.Case(operation=operation, length=2)

    quickly = [kind for kind in contestants._ALL if kind.name != "transformers compiled"]
    monkeypatch.setattr(contestants, "_ALL", tuple(quickly))
    monkeypatch.setattr(cases, "full", every)


CHROMIUM = shutil.which("chromium")
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="module")
def browser():
    if CHROMIUM is None and "CI" not in os.environ:
        pytest.skip("the page is tested in Chromium: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield started
        started.close()


@pytest.fixture(scope="session")
def serve():
    """Serves an ASGI application on a free port of this machine as long as a block runs."""
    import uvicorn

    @contextlib.contextmanager
    def serving(application):
        with socket.create_server(("127.0.0.1", 0)) as listening:
            config = uvicorn.Config(
                application,
                log_level="warning",
                lifespan="off",
                ws="none",
                timeout_graceful_shutdown=1,  # connections held open by a browser may not hang us
            )
            running = uvicorn.Server(config)
            sockets = {"sockets": [listening]}
            thread = threading.Thread(target=running.run, kwargs=sockets, daemon=True)
            thread.start()
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
            running.should_exit = True
            thread.join(timeout=20)
            assert not thread.is_alive()

    return serving
