"""A browser for the tests of the explorer, and the explorer for the browser."""

import pytest
from browsing import settled

from posenc.explorer import server


@pytest.fixture(scope="module")
def address(serve):
    with serve(server.application()) as address:
        yield address


@pytest.fixture(scope="module")
def window(browser, address):
    """The one tab of all tests, and what it complained of or asked for from elsewhere."""
    complaints = []
    with browser.new_context() as context:
        context.add_init_script(
            "addEventListener('securitypolicyviolation', "
            "(event) => console.error('policy', event.violatedDirective))"
        )
        tab = context.new_page()
        tab.set_default_timeout(10_000)
        tab.set_default_navigation_timeout(30_000)
        tab.on("console", lambda message: complaints.append(message.text))
        tab.on("pageerror", lambda error: complaints.append(str(error)))
        tab.on(
            "request",
            lambda request: (
                request.url.removeprefix("blob:").startswith(f"{address}/")
                or complaints.append(request.url)
            ),
        )
        yield tab, complaints


@pytest.fixture
def visit(window, address):
    """Opens a page afresh; in the end it must have complained of nothing."""
    tab, complaints = window

    def visit(path="/waves", *, theme="light", width=1280, height=900):
        tab.evaluate("try { localStorage.clear() } catch {}")
        tab.goto("about:blank")
        tab.emulate_media(media="screen", color_scheme=theme, reduced_motion="reduce")
        tab.set_viewport_size({"width": width, "height": height})
        tab.goto(address + path)
        if path != "/":
            settled(tab)
        return tab

    def shown(room, *, theme="light", width=1280, height=900):
        """A room as it begins, not loaded again where the test before only looked at it."""
        if tab.evaluate("window.standing") != room:
            visit(f"/{room}")
            tab.evaluate("(room) => { window.standing = room; }", room)
        tab.emulate_media(media="screen", color_scheme=theme, reduced_motion="reduce")
        tab.set_viewport_size({"width": width, "height": height})
        settled(tab)
        return tab

    def forgive(words):
        complaints[:] = [complaint for complaint in complaints if words not in complaint]

    visit.shown = shown
    visit.forgive = forgive
    yield visit
    tab.unroute_all(behavior="ignoreErrors")
    left = complaints.copy()
    complaints.clear()
    assert left == []
