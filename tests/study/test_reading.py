"""The pages of the study site in a real browser: read, answered, printed."""

import json

import pytest
from axe_playwright_python.sync_playwright import Axe
from starlette.testclient import TestClient

from posenc.explorer import server
from posenc.study import served, site

PAGES = sorted(site.built().pages)
SOME = ["learn/", "learn/sinusoidal", "learn/rotary", "formulas/rotary", "mistakes/", "cards/"]


def violations(tab):
    found = Axe().run(tab).response["violations"]
    return [(each["id"], [node["html"][:120] for node in each["nodes"][:3]]) for each in found]


@pytest.fixture(scope="module")
def client():
    application = server.application(served.routes())
    with TestClient(application, base_url="http://127.0.0.1:8765") as client:
        yield client


def test_every_page_is_served(client):
    for address, text in site.built().pages.items():
        answer = client.get(f"/{address}")
        assert (answer.status_code, answer.text) == (200, text)
    assert client.get("/cards/posenc.txt").content == site.built().files["cards/posenc.txt"]
    assert client.get("/waves").status_code == 200
    assert client.get("/learn/nothing").status_code == 404
    assert client.get("/nothing/").status_code == 404
    assert client.get("/study/study.css").status_code == 200


@pytest.mark.parametrize("page", SOME)
def test_accessibility(read, page):
    theme = ("light", "dark")[SOME.index(page) % 2]
    assert violations(read(page, theme=theme)) == []


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_accessibility_of_every_page(read, theme):
    found = {page: violations(read(page, theme=theme)) for page in PAGES}
    assert {page: faults for page, faults in found.items() if faults} == {}


@pytest.mark.slow
def test_no_sideways_scrolling(read):
    for page in PAGES:
        tab = read(page, width=320)
        assert tab.evaluate("document.documentElement.scrollWidth") <= 320, page


def question_of(tab, kind):
    """A question of a kind as the page holds it: its data, and the form."""
    data = json.loads(tab.locator(".quiz").get_attribute("data-questions"))
    question = next((each for each in data if each["kind"] == kind), None)
    if question is None:
        return None, None
    return question["variants"], tab.locator(f"[data-id='{question['id']}'] form")


def page_with(tab_of, kind):
    for page in PAGES:
        if (
            page.startswith("learn/")
            and f"&#34;kind&#34;: &#34;{kind}&#34;" in site.built().pages[page]
        ):
            return tab_of(page)
    pytest.fail(f"no lesson has a question of the kind {kind!r}")
    return None


def test_a_choice_by_keyboard(read):
    tab = page_with(read, "choice")
    [variant, *_], form = question_of(tab, "choice")
    [text] = [option["text"] for option in variant["options"] if option["right"]]
    right = form.evaluate(
        """(form, text) => {
            const words = document.createElement("span");
            words.innerHTML = text;
            const offered = [...form.querySelectorAll(".options label")];
            return offered.findIndex((label) => label.textContent === words.textContent);
        }""",
        text,
    )
    form.locator("input").first.focus()
    for _ in range(right):
        tab.keyboard.press("ArrowDown")
    if right == 0:
        tab.keyboard.press("Space")
    tab.keyboard.press("Enter")
    assert form.locator(".verdict strong").inner_text() == "Right."
    assert "1 of" in tab.locator(".quiz").locator("xpath=preceding-sibling::p[1]").inner_text()
    tab.reload()
    assert "1 of" in tab.locator(".quiz").locator("xpath=preceding-sibling::p[1]").inner_text()


def test_answers_are_forgotten(read):
    tab = page_with(read, "numeric")
    variants, form = question_of(tab, "numeric")
    form.locator("input").fill(str(variants[0]["answer"]))
    form.get_by_role("button", name="Check").click()
    progress = tab.locator(".quiz").locator("xpath=preceding-sibling::p[1]")
    assert progress.inner_text().startswith("1 of")
    with tab.expect_navigation():
        tab.get_by_role("button", name="Forget my answers").press("Enter")
    assert progress.inner_text().startswith("0 of")


def test_a_number_by_keyboard(read):
    tab = page_with(read, "numeric")
    variants, form = question_of(tab, "numeric")
    form.locator("input").focus()
    tab.keyboard.type("nonsense")
    tab.keyboard.press("Enter")
    assert "Write a number" in form.locator(".verdict").inner_text()
    if wrong := variants[0]["wrong"]:
        form.locator("input").fill(str(wrong[0]["answer"]))
        tab.keyboard.press("Enter")
        assert "Not yet." in form.locator(".verdict").inner_text()
        assert "No known mistake" not in form.locator(".verdict").inner_text()
    form.locator("input").fill(str(variants[0]["answer"]))
    tab.keyboard.press("Enter")
    assert "Right." in form.locator(".verdict").inner_text()
    if len(variants) > 1:
        before = form.locator(".asked").inner_text()
        form.get_by_text("Again").press("Enter")
        assert form.locator(".asked").inner_text() != before


def test_a_card_by_keyboard(read):
    tab = read("cards/")
    front = tab.locator(".card .front").inner_text()
    tab.get_by_role("button", name="Turn").press("Enter")
    assert tab.locator(".card .back").inner_text()
    tab.get_by_role("button", name="I knew it").press("Enter")
    assert tab.locator(".card .front").inner_text() != front
    tab.reload()
    assert tab.locator(".card .front").inner_text() != front


def test_print(read):
    tab = page_with(read, "choice")
    tab.emulate_media(media="print")
    assert not tab.locator(".quiz form button").first.is_visible()
    assert tab.locator(".quiz .asked").first.is_visible()
    assert tab.locator(".answers").is_visible()
    assert len(tab.pdf()) > 10_000


def test_a_room_inside_a_page(read):
    tab = read("learn/sinusoidal")
    tab.locator("figure.room button").first.click()
    frame = tab.frame_locator("figure.room iframe").first
    frame.locator("figure[data-view] figcaption").first.wait_for()


def test_without_script(browser, address):
    with browser.new_context(java_script_enabled=False) as context:
        tab = context.new_page()
        tab.goto(f"{address}/learn/sinusoidal")
        assert tab.locator(".quiz .key").first.is_visible()
        assert tab.locator("math").first.is_visible()
