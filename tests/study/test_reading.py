"""The pages of the study site in a real browser: read, answered, printed."""

import html
import json
import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect
from starlette.testclient import TestClient

from posenc.explorer import server
from posenc.explorer.rooms import ROOMS
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


@pytest.mark.slow
def test_every_room_opens_as_it_was_written(read):
    """The page itself, which reads addresses in JavaScript, has nothing to mend in any of them."""
    written = "".join(site.built().pages.values())
    rooms = sorted(set(re.findall(r'(?:href|data-room)="\.\./(\w+#[^"]+)"', written)))
    rooms = [html.unescape(room) for room in rooms if room.split("#")[0] in ROOMS]
    assert len(rooms) > 100
    told = {}
    for room in rooms:
        tab = read(room)
        tab.evaluate("import('/static/main.js').then(({ settled }) => settled())")
        told[room] = tab.locator("#notice").inner_text()
        tab.goto("about:blank")  # as a new hash alone would open nothing anew
    assert {room: words for room, words in told.items() if words} == {}


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


def test_the_wrong_line_by_keyboard(read):
    tab = page_with(read, "line")
    [variant, *_], form = question_of(tab, "line")
    offered = form.locator(".options code")
    assert offered.all_text_contents() == variant["lines"]
    assert {*offered.evaluate_all("all => all.map((one) => getComputedStyle(one).whiteSpace)")} == {
        "pre-wrap"
    }
    form.get_by_role("button", name="Check").press("Enter")
    assert form.locator(".verdict").inner_text() == "Not yet. Nothing is chosen."
    form.locator("input").nth(variant["wrong"]).press("Space")
    tab.keyboard.press("Enter")
    assert "Right." in form.locator(".verdict").inner_text()
    assert "Nothing is chosen" not in form.locator(".verdict").inner_text()


def test_each_of_several_choices_has_its_reason(read):
    tab = page_with(read, "several")
    [variant, *_], form = question_of(tab, "several")
    for box in form.locator("input").all():
        box.press("Space")
    tab.keyboard.press("Enter")
    reasons = form.locator(".verdict li").evaluate_all("all => all.map((one) => one.innerHTML)")
    written = form.evaluate(
        """(form, options) => options.map(({ text, why }) => {
            const item = document.createElement("li");
            item.innerHTML = `${text}: ${why}`;
            return item.innerHTML;
        })""",
        variant["options"],
    )
    assert sorted(reasons) == sorted(written)


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
    form.get_by_text("Show the answer").press("Enter")
    assert form.locator(".verdict").inner_text().startswith("Answer.")
    form.locator("input").fill(str(variants[0]["answer"]))
    form.locator("input").press("Enter")
    assert "Right." in form.locator(".verdict").inner_text()
    assert not form.get_by_text("Show the answer").is_visible()
    if len(variants) > 1:
        before = form.locator(".asked").inner_text()
        form.get_by_text("Again").press("Enter")
        assert form.locator(".asked").inner_text() != before


def test_what_does_not_fit_is_named(read):
    tab = page_with(read, "match")
    [variant, *_], form = question_of(tab, "match")
    fields = form.locator("select").all()
    for field, (_, other) in zip(fields, variant["pairs"], strict=True):
        field.select_option(value=other)
    fields[1].select_option(value="")
    form.get_by_text("Check").press("Enter")
    told = form.locator(".verdict li").all_inner_texts()
    assert told == [form.locator("label").nth(1).inner_text()]
    fields[1].select_option(value=variant["pairs"][1][1])
    form.get_by_text("Check").press("Enter")
    assert "Right." in form.locator(".verdict").inner_text()


def drawn(tab_of):
    """A question that asks for a curve: its first variant, and its form."""
    tab = page_with(tab_of, "draw")
    [variant, *_], form = question_of(tab, "draw")
    return tab, variant, form


def test_a_curve_by_keyboard(read):
    tab, variant, form = drawn(read)
    low, high = min(variant["curve"]), max(variant["curve"])
    for at, height in enumerate(variant["curve"]):
        slider = form.get_by_role("slider").nth(at)
        slider.press("Home")
        steps = round((height - low) / (high - low) * float(slider.get_attribute("max")))
        for _ in range(steps):
            slider.press("ArrowUp")
    form.get_by_role("button", name="Check").press("Enter")
    assert form.locator(".verdict strong").inner_text() == "Right."
    form.get_by_role("slider").first.press("Home" if variant["curve"][0] == high else "End")
    form.get_by_role("button", name="Check").press("Enter")
    assert "Your largest miss is 100 % of the curve's height" in form.inner_text()


def test_a_curve_by_pointer(read):
    tab, variant, form = drawn(read)
    form.scroll_into_view_if_needed()
    box = form.locator(".drawn svg").bounding_box()
    right, half = box["x"] + box["width"] - 1, box["y"] + box["height"] / 2
    tab.mouse.move(box["x"] + 1, box["y"] + 1)
    tab.mouse.down()
    tab.mouse.move(right, box["y"] + 1, steps=len(variant["curve"]) * 3)
    tab.mouse.up()
    tab.mouse.move(box["x"] + 1, half)  # no button is held any more
    values = [slider.input_value() for slider in form.get_by_role("slider").all()]
    assert set(values) == {form.get_by_role("slider").first.get_attribute("max")}


def test_the_printed_key_is_that_of_the_variant_in_sight(read):
    tab = page_with(read, "numeric")
    data = json.loads(tab.locator(".quiz").get_attribute("data-questions"))
    at, question = next((at, one) for at, one in enumerate(data) if len(one["variants"]) > 1)
    key = tab.locator(".answers > ol > li").nth(at)
    form = tab.locator(f"[data-id='{question['id']}'] form")
    for variant in question["variants"][:2]:
        shown = key.evaluate(
            "(key, html) => { const other = key.cloneNode(); other.innerHTML = html;"
            " return key.innerHTML === other.innerHTML; }",
            variant["key"],
        )
        assert shown
        form.get_by_role("button", name="Check").press("Enter")
        form.get_by_text("Again").press("Enter")
    assert question["variants"][0]["key"] != question["variants"][1]["key"]


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
    tab.locator("figure.room").first.scroll_into_view_if_needed()
    frame = tab.frame_locator("figure.room iframe").first
    frame.locator("figure[data-view] figcaption").first.wait_for()
    expect(frame.locator("header.top")).to_be_hidden()
    expect(frame.locator("form.panel")).to_be_visible()
    assert not tab.locator("figure.room .still").first.is_visible()
    tab.emulate_media(media="print")
    assert tab.locator("figure.room .still").first.is_visible()
    assert not tab.locator("figure.room iframe").first.is_visible()


def test_without_script(browser, address):
    with browser.new_context(java_script_enabled=False) as context:
        tab = context.new_page()
        tab.goto(f"{address}/learn/sinusoidal")
        assert tab.locator(".quiz .key").first.is_visible()
        assert tab.locator("math").first.is_visible()
