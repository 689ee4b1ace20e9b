"""How the page behaves: themes, paper, rest, no script, and how much there is to load."""

import gzip
import json

import numpy as np
import pytest
from browsing import differences, every_room, settings, settled, text, values
from playwright.sync_api import expect

from posenc import Sinusoidal, evaluation
from posenc.explorer import page, palette
from posenc.explorer.methods import METHODS
from posenc.explorer.rooms import ROOMS
from posenc.explorer.still import still

PHONE = {"width": 390, "height": 844}
STATIC = page.HERE / "static"


@pytest.mark.parametrize("path", ["/", "/waves"])
def test_theme(visit, path):
    tab = visit(path)
    paper = "getComputedStyle(document.body).backgroundColor"
    light = tab.evaluate(paper)
    tab.locator("input[value=dark]").check()
    dark = tab.evaluate(paper)
    assert dark != light
    tab.reload()
    assert tab.evaluate(paper) == dark
    expect(tab.locator("input[value=dark]")).to_be_checked()
    assert visit(path, theme="dark").evaluate(paper) == dark


@every_room
def test_paper(visit, room):
    """The pictures and what they say are printed, in light colours; the settings are not."""
    tab = visit.shown(room, theme="dark")
    tab.emulate_media(media="print")
    for gone in ("#settings", "nav", ".theme", ".tools", ".save"):
        assert not tab.locator(gone).first.is_visible()
    for twin in tab.locator("figure[data-view]:not([hidden]) figcaption").all():
        assert twin.is_visible()
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(250, 249, 246)"
    assert tab.evaluate("getComputedStyle(document.querySelector('h1')).color") == "rgb(29, 30, 35)"


def test_canvases_are_light_on_paper(visit):
    tab = visit(theme="dark")
    middles = tab.evaluate(
        """() => ["beforeprint", "afterprint"].map((event) => {
            dispatchEvent(new Event(event));
            const context = document.querySelector(".legend canvas").getContext("2d");
            return [...context.getImageData(0, 127, 1, 1).data].slice(0, 3);
        })"""
    )
    zeros = [palette.colours(theme)[127] for theme in ("light", "dark")]
    assert [f"#{bytes(middle).hex()}" for middle in middles] == zeros


@every_room
def test_nothing_moves_by_itself(visit, room):
    tab = visit.shown(room)
    frames = tab.evaluate(
        """async () => {
            let frames = 0;
            const request = window.requestAnimationFrame;
            window.requestAnimationFrame = (then) => (frames += 1, request(then));
            await new Promise((done) => setTimeout(done, 150));
            window.requestAnimationFrame = request;
            return [frames, document.getAnimations().length];
        }"""
    )
    assert frames == [0, 0]


@pytest.fixture(scope="module")
def scriptless(browser):
    with browser.new_context(
        java_script_enabled=False, viewport={"width": 390, "height": 844}
    ) as context:
        tab = context.new_page()
        tab.set_default_timeout(5000)
        yield tab


@every_room
def test_without_script(scriptless, address, room):
    tab = scriptless
    tab.goto(f"{address}/{room}")
    encoding = METHODS[ROOMS[room].first].encoding
    assert ROOMS[room].lead in text(tab, ".intro")
    assert tab.locator("math").first.is_visible()
    assert tab.locator("svg.still path").count() > 1
    box = tab.locator("svg.still").bounding_box()
    assert 300 < box["width"] <= 390
    rows = tab.locator(".numbers tbody tr")
    assert rows.count() == 8
    [first, *cells] = rows.nth(2).inner_text().split("\t")
    want = still(encoding)["numbers"][2]
    assert (first.strip(), [cell.strip() for cell in cells]) == ("2", want)
    for useless in ("#settings", ".theme", ".tools", "figure[data-view]"):
        assert not tab.locator(useless).first.is_visible()
    assert len(text(tab, ".notes")) > 200


@pytest.mark.parametrize("kind", METHODS)
def test_still_picture(kind):
    drawn = still(METHODS[kind].encoding)
    cells = sum(
        int(run.partition("h")[2])
        for path in drawn["shades"].values()
        for run in path.split("M")[1:]
    )
    assert 0 < cells <= drawn["rows"] * drawn["columns"]
    assert (cells < drawn["rows"] * drawn["columns"]) == drawn["masked"]
    if evaluation.family(METHODS[kind].encoding) in ("absolute", "rotary"):
        assert not drawn["masked"]
    assert len(json.dumps(drawn)) < 16_000


def test_still_numbers():
    numbers = still(Sinusoidal(dim=64))["numbers"]
    assert numbers[3][:2] == ["0.1411", "−0.9900"]  # sin 3 and cos 3
    assert still(METHODS["alibi"].encoding)["numbers"][1][:3] == ["−0.5000", "0.0000", "masked"]


@every_room
def test_weight(visit, room):
    """What a visit loads: scripts as they are, the content as it is sent, in gzip."""
    tab = visit.shown(room)
    loaded = tab.evaluate("performance.getEntriesByType('resource').map(({ name }) => name)")
    scripts = {url.rpartition("/static/")[2] for url in loaded if url.endswith(".js")}
    assert {f"rooms/{room}.js", "main.js", "worker.js"} <= scripts
    assert [script for script in scripts if script.startswith("rooms/")] == [f"rooms/{room}.js"]
    assert sum((STATIC / script).stat().st_size for script in scripts) <= 150_000
    assert len(gzip.compress(json.dumps(page.content(room)).encode())) <= 40_000


@pytest.mark.parametrize(
    ("hash", "along"),
    [
        ("", "encoding=sinusoidal"),
        ("#v=1&encoding=rotary&dim=32&position=5", "encoding=rotary&position=5&dim=32"),
        ("#v=1&column=999", "encoding=sinusoidal&column=63"),  # the last one that there is
    ],
)
def test_links_carry_the_settings_from_the_first_picture_on(visit, hash, along):
    tab = visit(f"/waves{hash}")
    links = tab.locator("nav a").evaluate_all(
        "(all) => all.map(({ pathname, hash }) => pathname + hash)"
    )
    assert links == [f"/{room}#v=1&{along}" if room != "waves" else "/waves" for room in ROOMS]


def test_links_follow_a_slider_that_is_still_held(visit):
    tab = visit("/waves")
    tab.locator("#position-slider").evaluate(
        "(slider) => { slider.value = 7; slider.dispatchEvent(new Event('input')); }"
    )
    assert tab.locator("nav a[href^='/table']").get_attribute("href").endswith("&position=7")
    settled(tab)


def test_numbers_opened_before_there_are_any(visit):
    """Whoever is fast finds the list empty, and then full."""
    tab = visit("/waves")
    found = tab.evaluate(
        """async () => {
            const { create } = await import("/static/views/numbers.js");
            const { current } = await import("/static/main.js");
            const { element, show } = create();
            document.body.append(element);
            const opened = new Promise((done) => element.addEventListener("toggle", done));
            element.open = true;
            await opened;
            const before = element.querySelectorAll("td").length;
            const { recipe, ...table } = current();
            show({ ...table, recipe, axes: recipe.axes, row: 0, column: 0 });
            return [before, element.querySelectorAll("td.here").length];
        }"""
    )
    assert found == [0, 1]


def test_cards_are_not_read_aloud_whenever_the_cursor_moves(visit):
    tab = visit.shown("compare")
    assert tab.locator(".multiples-list .value").first.inner_text()
    assert tab.locator("#pictures :is(output, [aria-live], [role=status], [role=log])").count() == 0


@pytest.mark.slow
def test_frame_times(visit, capsys):
    """How smooth dragging is: reported, and red only where it takes twice a frame of 60 a second.

    Other tests run beside this one, so a drag that took longer is tried again.
    """
    tab = visit("/waves#v=1&dim=1024&count=512")
    drag = """async ([name, from, to]) => {
        const slider = document.getElementById(`${name}-slider`);
        const { current, settled } = await import("/static/main.js");
        const tables = new Set();
        const times = [];
        for (let frame = 0; frame < 180; frame += 1) {
            slider.value = Math.round(slider.max * (from + ((to - from) * frame) / 179));
            slider.dispatchEvent(new Event("input"));
            times.push(await new Promise(requestAnimationFrame));
            tables.add(current().values);
        }
        await settled();
        const gaps = times.slice(1).map((time, at) => time - times[at]).sort((a, b) => a - b);
        return [gaps[89], gaps[170], tables.size];
    }"""
    for moved in [("position", 0, 1), ("base", 0.2, 0.8), ("dim", 0, 1)]:
        for _ in range(10):
            median, late, tables = tab.evaluate(drag, moved)
            with capsys.disabled():
                print(
                    f"\n{moved[0]}: frame {median:.1f} ms median, {late:.1f} ms at 95 %, "
                    f"{tables} tables in 180 frames",
                    end="",
                )
            if median <= 2 * 16.7:
                break
        else:
            pytest.fail(f"dragging {moved[0]} took {median:.1f} ms a frame")
    base = settings(tab)["base"]
    settled(tab)
    want = Sinusoidal(dim=1024, base=base).encode(np.arange(512))
    assert differences(values(tab), want) == 0
