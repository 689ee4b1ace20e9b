"""Rooms in real notebooks: JupyterLab and marimo, each with its kernel, opened in a browser."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import numpy as np
import pytest

import posenc

pytestmark = pytest.mark.slow

BIN = Path(sys.executable).parent
PATIENCE = 90_000  # milliseconds: two cores that others use start a kernel slowly
FRAME = "iframe[title='posenc explorer']"
CELLS = (
    'import posenc\nwidget = posenc.widget("rotary:dim=64", room="waves")\nwidget',
    'posenc.widget("sinusoidal:dim=8", room="fingerprint")',
)
MARIMO = """
import marimo
app = marimo.App()

@app.cell
def _():
    import posenc
    widget = posenc.widget("rotary:dim=64", room="waves")
    widget
    return posenc, widget

@app.cell
def _(posenc):
    posenc.widget("sinusoidal:dim=8", room="fingerprint")
    return
"""


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home that nobody else uses, where notebooks look for nothing on the net."""
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    for name in ("CONFIG", "DATA", "RUNTIME"):
        monkeypatch.setenv(f"JUPYTER_{name}_DIR", str(tmp_path / name))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    settings = tmp_path / "CONFIG" / "labconfig" / "page_config.json"
    settings.parent.mkdir(parents=True)
    news = "@jupyterlab/apputils-extension:announcements"
    settings.write_text(json.dumps({"disabledExtensions": {news: True}}))
    return tmp_path


@pytest.fixture
def tab(browser):
    """A tab in which everything but this machine is out of reach."""
    # Without a theme of the test, frames follow the notebook around them as they do for visitors.
    with browser.new_context(
        viewport={"width": 1280, "height": 900}, color_scheme="null"
    ) as context:
        tab = context.new_page()
        tab.set_default_timeout(PATIENCE)
        tab.elsewhere = []

        def pass_on(route):
            host = route.request.url.partition("//")[2].partition(":")[0]
            if host == "127.0.0.1":
                return route.continue_()
            tab.elsewhere.append(route.request.url)
            return route.abort()

        context.route("http*://**", pass_on)
        tab.complaints = []
        tab.on("pageerror", lambda error: tab.complaints.append(error.stack))
        yield tab
        assert tab.complaints == []


@contextlib.contextmanager
def running(program, options, folder):
    """A program that serves on a free {port}; ended with all that it started."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [BIN / program, *options.format(port=port).split()]
    with (folder / "log").open("wb") as log:
        started = subprocess.Popen(
            command, cwd=folder, stdout=log, stderr=log, start_new_session=True
        )
    try:
        wait_for(f"http://127.0.0.1:{port}", started)
        yield f"http://127.0.0.1:{port}"
    finally:
        started.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            started.wait(10)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(started.pid, signal.SIGKILL)
        started.wait()


def wait_for(address, started):
    for _ in range(PATIENCE // 100):
        assert started.poll() is None, "it ended at once; its words stand in the file log"
        with contextlib.suppress(OSError):
            return urllib.request.urlopen(address, timeout=10).close()
        time.sleep(0.1)
    return pytest.fail("it never answered; its words stand in the file log")


def room(tab, at):
    """The page in a frame of the notebook, once it has drawn."""
    frame = tab.locator(FRAME).nth(at)
    frame.scroll_into_view_if_needed()
    page = frame.element_handle().content_frame()
    page.wait_for_function(
        """() => {
            const twins = document.querySelectorAll("figure[data-view]:not([hidden]) figcaption");
            return twins.length && [...twins].every((twin) => twin.textContent);
        }"""
    )
    return page


def notice(page):
    page.wait_for_function("() => document.getElementById('notice').textContent")
    return page.locator("#notice").inner_text()


def shown_and_answered(tab):
    """What a visitor of any notebook sees and does."""
    page = room(tab, 0)
    page.evaluate("() => document.querySelectorAll('details').forEach((one) => (one.open = true))")
    page.fill("#dim", "48")
    page.press("#dim", "Enter")
    page.wait_for_function("() => document.getElementById('text').textContent.includes('dim=48')")
    page.fill("#position", "20")
    page.press("#position", "Enter")
    cosine = f"{np.cos(20 * posenc.Rotary(dim=48).frequencies[4]):.4f}".replace("-", "−")
    page.wait_for_function(
        "(words) => document.getElementById('pictures').textContent.includes(words)",
        arg=f"position 20, column 4 (cosine of pair 4): {cosine}.",
    )
    page.click("#check")
    assert notice(page) == "3,072 numbers compared with the library's, bit by bit: all are equal."
    other = room(tab, 1)
    other.fill("#pasted", str(posenc.Sinusoidal(dim=6).encode(np.arange(20)).tolist()))
    other.click("#read")
    other.wait_for_selector("figcaption:has-text('The pasted text: 20 by 6 numbers.')")


def test_jupyterlab(home, tab):
    pytest.importorskip("jupyterlab")
    nbformat = pytest.importorskip("nbformat")
    cells = [nbformat.v4.new_code_cell(cell) for cell in CELLS]
    book = nbformat.v4.new_notebook(cells=cells)
    book.metadata.kernelspec = {"name": "python3", "display_name": "Python 3"}
    nbformat.write(book, home / "rooms.ipynb")
    options = (
        "--no-browser --allow-root --ip=127.0.0.1 --port={port} --port-retries=0 "
        "--IdentityProvider.token= --LabApp.extension_manager=readonly "
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"
    )
    with running("jupyter-lab", options, folder=home) as address:
        tab.goto(f"{address}/lab/tree/rooms.ipynb")
        tab.wait_for_selector("#jp-main-statusbar >> text=| Idle")  # else it asks for a kernel
        tab.click(".lm-MenuBar-item:has-text('Run')")
        tab.click(".lm-Menu-item:has-text('Run All Cells') >> nth=0")
        shown_and_answered(tab)
        tab.goto("about:blank")
    assert tab.elsewhere == []


def test_marimo(home, tab):
    pytest.importorskip("marimo")
    (home / "rooms.py").write_text(MARIMO)
    options = "run rooms.py --headless --no-token --host=127.0.0.1 --port={port}"
    with running("marimo", options, folder=home) as address:
        tab.goto(address)
        shown_and_answered(tab)
        tab.goto("about:blank")
    assert tab.elsewhere == []
