"""A room in a notebook: what goes there, how the kernel answers, and the frame in a browser."""

import base64
import json
import sys

import numpy as np
import pytest

import posenc
from posenc import Alibi, LongRope, Rotary, Sinusoidal
from posenc.explorer import notebook, recipes
from posenc.explorer.copies import bundle


@pytest.fixture(scope="module")
def widget():
    return posenc.widget(Rotary(dim=32, base=500.0), room="waves")


def test_what_goes_to_the_notebook(widget):
    state = widget.get_state()
    assert state["settings"] == "#v=1&encoding=rotary&dim=32&base=500.0"
    assert state["page"].startswith("<!doctype html>")
    assert "export default" in state["_esm"]
    assert "import " not in state["_esm"].replace("// ", "")
    assert len(state["page"]) < 500_000
    assert "http://" not in state["page"].replace("http://www.w3.org/", "")
    assert "https://" not in state["page"]


@pytest.mark.parametrize(
    ("encoding", "room", "settings"),
    [
        (Sinusoidal(dim=64), "table", "#v=1&encoding=sinusoidal"),
        ("sinusoidal:dim=4", "table", "#v=1&encoding=sinusoidal&dim=4"),
        (Alibi(heads=12, rule="plain"), "bias", "#v=1&encoding=alibi&heads=12&rule=plain"),
    ],
)
def test_settings_of_an_encoding(encoding, room, settings):
    assert posenc.widget(encoding, room).settings == settings


@pytest.mark.parametrize(
    ("encoding", "room", "error", "words"),
    [
        (
            Sinusoidal(dim=4),
            "nowhere",
            ValueError,
            "`room` must be one of waves, .*; got 'nowhere'",
        ),
        (Alibi(heads=8), "waves", ValueError, "the room 'waves' does not show Alibi; it shows"),
        ("sinusoidal:dim=7", "table", ValueError, "nearest valid values"),
        (object(), "table", TypeError, "object"),
        (Sinusoidal(dim=4096), "table", ValueError, "at most 1,024 features"),
    ],
)
def test_refused(encoding, room, error, words):
    with pytest.raises(error, match=words):
        posenc.widget(encoding, room)


def ask(widget, monkeypatch, content, buffers=()):
    sent = []
    monkeypatch.setattr(
        widget, "send", lambda content, buffers=None: sent.append((content, buffers))
    )
    widget._handle_custom_msg(content, list(buffers))
    return sent


def test_the_kernel_answers(widget, monkeypatch):
    query = {"spec": "sinusoidal:dim=4", "start": "2", "count": "3"}
    [(content, [body])] = ask(
        widget, monkeypatch, {"question": "a", "path": "/data/recipe", "query": query}
    )
    assert content == {"answers": "a", "status": 200}
    assert json.loads(body) == recipes.recipe(Sinusoidal(dim=4), start=2, count=3)
    [(content, [body])] = ask(
        widget, monkeypatch, {"question": "b", "path": "/data/table", "query": query}
    )
    wanted = Sinusoidal(dim=4).encode(np.arange(2, 5))
    np.testing.assert_array_equal(np.frombuffer(body, "<f4").reshape(3, 4), wanted)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"question": 1, "path": "/data/recipe", "query": {}}, "lacks `spec`"),
        ({"question": 1, "path": "/data/recipe"}, "lacks `spec`"),
        ({"question": 1, "path": "/data/recipe", "query": []}, "`query` must be"),
        ({"question": 1, "path": "/data/recipe", "query": {"spec": 7}}, "`query` must be"),
        ({"question": 1, "path": "/etc/passwd", "query": {}}, "there is nothing at /etc/passwd"),
        ({"question": 1, "path": None, "query": {}}, "there is nothing at None"),
        ({"question": 1, "path": "/data/answer/x", "query": {}}, "there are no answers"),
        ({"question": 1, "path": "/data/recipe", "query": {"spec": "[" * 100_000}}, ""),
        (
            {"question": 1, "path": "/data/recipe", "query": {"spec": "rotary:dim=9999999"}},
            "at most",
        ),
    ],
)
def test_the_kernel_refuses_in_words(widget, monkeypatch, content, words):
    [(answer, [body])] = ask(widget, monkeypatch, content)
    assert answer["status"] == 400
    assert words in body.decode()


def test_the_kernel_reads_files(widget, monkeypatch):
    question = {"question": "a", "path": "/data/name", "query": {"name": ""}}
    rows = str(Sinusoidal(dim=6).encode(np.arange(20)).tolist()).encode()
    [(content, [body])] = ask(widget, monkeypatch, question, [memoryview(rows)])
    assert content == {"answers": "a", "status": 200}
    assert json.loads(body)["best"]["text"] == "sinusoidal:dim=6"


def test_the_kernel_joins_the_parts_of_a_file(widget, monkeypatch):
    question = {"question": "b", "path": "/data/read", "query": {"name": "config.json"}}
    first, second = {"part": 0, "parts": 2}, {"part": 1, "parts": 2}
    # Parts can overtake one another.
    assert ask(widget, monkeypatch, question | second, [b'_type": "llama"}']) == []
    [(content, [body])] = ask(widget, monkeypatch, question | first, [b'{"model'])
    assert content == {"answers": "b", "status": 200}
    assert json.loads(body)["model"] == "llama"


@pytest.mark.parametrize("content", [None, [], "question", {}, {"settings": "#v=1"}])
def test_other_messages_are_left_alone(widget, monkeypatch, content):
    assert ask(widget, monkeypatch, content) == []


def test_without_the_extra(monkeypatch):
    monkeypatch.delitem(sys.modules, "posenc.explorer.notebook", raising=False)
    monkeypatch.delattr("posenc.explorer.notebook", raising=False)
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(
        ModuleNotFoundError, match=r"posenc\.widget needs anywidget: pip install 'posenc\[widget\]'"
    ):
        posenc.widget(Sinusoidal(dim=4))


def test_what_the_page_cannot_set():
    factors = (1.0, 3.0, *(1.0,) * 14)
    with pytest.raises(ValueError, match="the controls of the page do not reach"):
        posenc.widget(
            Rotary(
                dim=32,
                scaling=LongRope(
                    short_factors=factors, long_factors=factors, factor=2.0, original_length=64
                ),
            )
        )


NOTEBOOK = """
<!doctype html><html><body style="color: rgb(20, 20, 20)"><div id="cell"></div></body></html>
"""


@pytest.fixture
def cell(browser, widget):
    """The widget in a page that stands for a notebook, its kernel asked through the test."""
    # Without a theme of the test, frames follow the element around them as they do for visitors.
    with browser.new_context(
        viewport={"width": 1000, "height": 900}, color_scheme="null"
    ) as context:
        tab = context.new_page()
        tab.set_default_timeout(10_000)
        tab.complaints = []
        tab.on("console", lambda message: tab.complaints.append(message.text))
        tab.on("pageerror", lambda error: tab.complaints.append(str(error)))
        tab.requests = []
        tab.on("request", lambda request: tab.requests.append(request.url))
        tab.route(
            "http://notebook.test/*",
            lambda route: route.fulfill(body=NOTEBOOK, content_type="text/html"),
        )
        tab.asked = []

        def kernel(content):
            if not tab.alive:
                return None
            tab.asked.append(content["path"])
            status, body = notebook.reply(content["path"], content["query"])
            return [status, base64.b64encode(body).decode()]

        tab.alive = True
        tab.expose_function("kernel", kernel)
        tab.goto("http://notebook.test/")
        tab.evaluate(
            """async ([source, state]) => {
                const file = new Blob([source], { type: "text/javascript" });
                const module = await import(URL.createObjectURL(file));
                const heard = new Map();
                window.state = state;
                window.heard = heard;
                const model = {
                    get: (name) => state[name],
                    set: (name, value) => { state[name] = value; },
                    save_changes: () => { window.saved = (window.saved ?? 0) + 1; },
                    on: (name, action) => heard.set(name, action),
                    off: (name) => heard.delete(name),
                    send: async (content) => {
                        const answer = await kernel(content);
                        if (!answer) return;
                        const [status, text] = answer;
                        const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
                        const body = [new DataView(bytes.buffer)];
                        const reply = { answers: content.question, status };
                        heard.get("msg:custom")(reply, body);
                    },
                };
                window.show = () => {
                    const el = document.getElementById("cell");
                    window.end = module.default.render({ model, el });
                };
                window.show();
            }""",
            [
                (bundle.STATIC / "widget.js").read_text(),
                {"page": widget.page, "settings": widget.settings},
            ],
        )
        yield tab


def drawn(frame):
    frame.wait_for_function(
        """() => {
            const figures = [...document.querySelectorAll("figure[data-view]")];
            const shown = figures.filter((figure) => !figure.hidden);
            const twins = shown.map((figure) => figure.querySelector("figcaption").textContent);
            return twins.length && twins.every(Boolean);
        }"""
    )


def frame_of(tab):
    return tab.locator("iframe").element_handle().content_frame()


def test_the_room_opens_with_what_was_saved(cell):
    cell.alive = False
    frame = frame_of(cell)
    drawn(frame)
    assert frame.locator("#encoding").input_value() == "rotary"
    assert frame.locator("#dim").input_value() == "32"
    assert not frame.locator("nav").is_visible()
    assert frame.locator("#notice").inner_text() == ""
    height = cell.evaluate("document.querySelector('iframe').clientHeight")
    assert height == min(frame.evaluate("document.body.scrollHeight"), 35 * 16)
    assert [
        url for url in cell.requests if url.startswith("http") and "notebook.test" not in url
    ] == []
    assert cell.complaints == []


def test_every_setting_works_while_the_kernel_lives(cell):
    frame = frame_of(cell)
    drawn(frame)
    frame.locator("#dim").fill("48")
    frame.locator("#dim").press("Enter")
    cell.wait_for_function("() => window.state.settings.includes('dim=48')")
    frame.wait_for_function("() => document.getElementById('text').textContent.includes('dim=48')")
    assert "/data/recipe" in cell.asked
    frame.evaluate("() => document.getElementById('check').click()")
    frame.wait_for_function("() => document.getElementById('notice').textContent")
    assert frame.locator("#notice").inner_text() == (
        "3,072 numbers compared with the library's, bit by bit: all are equal."
    )
    assert cell.evaluate("window.saved") >= 1
    assert cell.complaints == []


def test_python_can_set_the_settings(cell):
    frame = frame_of(cell)
    drawn(frame)
    cell.evaluate(
        """() => {
            window.state.settings = "#v=1&encoding=rotary&dim=32&position=7";
            window.heard.get("change:settings")();
        }"""
    )
    frame.wait_for_function("() => document.getElementById('position').value === '7'")
    frame.evaluate("() => document.getElementById('copy').click()")
    frame.wait_for_function("() => document.getElementById('notice').textContent")
    # The test's Chromium keeps the clipboard closed.
    assert frame.locator("#shown").input_value().splitlines() == [
        "import posenc",
        "",
        'widget = posenc.widget("rotary:dim=32", room="waves")',
        'widget.settings = "#v=1&encoding=rotary&position=7&dim=32"',
        "widget",
    ]
    assert cell.complaints == []


@pytest.mark.slow
def test_refusals_of_the_kernel_are_shown(cell):
    frame = frame_of(cell)
    drawn(frame)
    frame.evaluate(
        """() => {
            const field = document.getElementById("encoding");
            field.value = "sinusoidal";
            field.dispatchEvent(new Event("change"));
        }"""
    )
    frame.wait_for_function(
        "() => document.getElementById('text').textContent.includes('sinusoidal')"
    )
    frame.locator("#dim").fill("7")
    frame.locator("#dim").press("Enter")
    frame.wait_for_function("() => document.getElementById('notice').textContent")
    assert "nearest valid values" in frame.locator("#notice").inner_text()


@pytest.mark.slow
def test_shown_again_it_takes_theme_and_settings_of_the_notebook(cell):
    ground = "() => getComputedStyle(document.body).backgroundColor"
    frame = frame_of(cell)
    drawn(frame)
    light = frame.evaluate(ground)
    cell.evaluate(
        """() => {
            window.end();
            document.getElementById("cell").replaceChildren();
            document.body.style.color = "rgb(240, 240, 240)";
            window.state.settings = "#v=1&encoding=rotary&dim=32&base=500.0&position=5";
        }"""
    )
    assert cell.evaluate("window.heard.size") == 0
    cell.evaluate("window.show()")
    frame = frame_of(cell)
    drawn(frame)
    assert frame.locator("#position").input_value() == "5"
    assert frame.evaluate(ground) != light
