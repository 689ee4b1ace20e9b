"""The study site in a browser."""

import pytest

from posenc.explorer import server
from posenc.study import served


@pytest.fixture(scope="module")
def address(serve):
    with serve(server.application(served.routes())) as address:
        yield address


@pytest.fixture
def read(browser, address):
    """Opens a page of the site; in the end it must have complained of nothing."""
    complaints = []
    with browser.new_context(reduced_motion="reduce") as context:
        tab = context.new_page()
        tab.set_default_timeout(10_000)
        tab.on("console", lambda message: complaints.append(message.text))
        tab.on("pageerror", lambda error: complaints.append(str(error)))
        tab.on(
            "request",
            lambda request: request.url.startswith(f"{address}/") or complaints.append(request.url),
        )

        def read(path, *, theme="light", width=1280):
            tab.emulate_media(media="screen", color_scheme=theme)
            tab.set_viewport_size({"width": width, "height": 900})
            tab.goto(f"{address}/{path}")
            return tab

        yield read
    assert complaints == []
