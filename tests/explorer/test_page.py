"""The page in a real browser: its numbers, its colours, its manners."""

import base64
import itertools
import os
import shutil
import socket
import threading

import numpy as np
import pytest
import uvicorn

from posenc import Rotary, Sinusoidal
from posenc.alibi import Alibi
from posenc.explorer import methods, page, palette, recipes, server

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
KINDS = list(methods.METHODS)


@pytest.fixture(scope="module")
def browser():
    if CHROMIUM is None and "CI" not in os.environ:
        pytest.skip("the page is tested in Chromium: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield started
        started.close()


@pytest.fixture(scope="module")
def address():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        config = uvicorn.Config(
            server.application(), log_level="warning", lifespan="off", ws="none"
        )
        running = uvicorn.Server(config)
        thread = threading.Thread(target=running.run, kwargs={"sockets": [listening]})
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        running.should_exit = True
        thread.join()


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
        tab.set_default_timeout(5000)
        tab.on("console", lambda message: complaints.append(message.text))
        tab.on("pageerror", lambda error: complaints.append(str(error)))
        tab.on(
            "request",
            lambda request: request.url.startswith(f"{address}/") or complaints.append(request.url),
        )
        yield tab, complaints


@pytest.fixture
def visit(window, address):
    """Opens a page afresh; in the end it must have complained of nothing."""
    tab, complaints = window

    def visit(path="/", *, theme="light", width=1280, height=900):
        tab.evaluate("try { localStorage.clear() } catch {}")
        tab.goto("about:blank")
        tab.emulate_media(media="screen", color_scheme=theme, reduced_motion="reduce")
        tab.set_viewport_size({"width": width, "height": height})
        tab.goto(address + path)
        settled(tab)
        return tab

    def forgive(words):
        complaints[:] = [complaint for complaint in complaints if words not in complaint]

    visit.forgive = forgive
    yield visit
    left = complaints.copy()
    complaints.clear()
    assert left == []


def settled(tab):
    """Waits until the pictures show the settings; a page that never rests fails."""
    tab.evaluate(
        """async () => {
            const { settled } = await import("/static/main.js");
            const late = new Promise((_, failed) => setTimeout(failed, 10000, "never rests"));
            await Promise.race([settled(), late]);
        }"""
    )


def follow(tab, hash):
    """The page at other settings."""
    tab.evaluate(
        """(hash) => new Promise((done) => {
            addEventListener("hashchange", done, { once: true });
            location.hash = hash;
        })""",
        hash,
    )
    settled(tab)


def settings(tab):
    return tab.evaluate("import('/static/main.js').then((main) => main.current().settings)")


def values(tab):
    """The table that the page holds, bit for bit."""
    text, rows, columns = tab.evaluate(
        """async () => {
            const { current } = await import("/static/main.js");
            const { values, rows, columns } = current();
            const bytes = new Uint8Array(values.buffer);
            let text = "";
            for (let at = 0; at < bytes.length; at += 32768) {
                text += String.fromCharCode(...bytes.subarray(at, at + 32768));
            }
            return [btoa(text), rows, columns];
        }"""
    )
    return np.frombuffer(base64.b64decode(text), dtype="<f4").reshape(rows, columns)


def differences(got, want):
    assert got.shape == want.shape
    assert want.dtype == np.float32
    return int((got.view(np.uint32) != want.view(np.uint32)).sum())


def text(tab, selector):
    return tab.locator(selector).inner_text()


# Numbers


@pytest.mark.parametrize("start", [0, 2**18 - 512, recipes.FARTHEST])
def test_sinusoidal_numbers(visit, start):
    tab = visit()
    positions = np.arange(start, start + 512)
    for dim, fields in [
        (4, {}),
        (64, {"base": 500_000, "layout": "half"}),
        (64, {"spacing": "endpoint"}),
        (1024, {}),
    ]:
        extra = "".join(f"&{name}={value}" for name, value in fields.items())
        follow(tab, f"v=1&dim={dim}&start={start}&count=512{extra}")
        want = Sinusoidal(dim=dim, **fields).encode(positions)
        assert differences(values(tab), want) == 0


@pytest.mark.parametrize("start", [0, 2**18 - 512, recipes.FARTHEST])
def test_rotary_numbers(visit, start):
    tab = visit("/rotary")
    positions = np.arange(start, start + 512)
    for dim, base in [(4, 10_000), (64, 10_000), (128, 500_000)]:
        follow(tab, f"v=1&dim={dim}&base={base}&start={start}&count=512")
        want = np.concatenate(Rotary(dim=dim, base=base).table(positions), axis=-1)
        assert differences(values(tab), want) == 0


@pytest.mark.parametrize("layout", ["half", "interleaved"])
def test_turned_queries_and_keys(visit, layout):
    tab = visit(f"/rotary#v=1&dim=64&layout={layout}")
    positions = [0, 1, 5, 1000, 131_072, 2**18, 2**31 - 1]
    vector, turned = tab.evaluate(
        """async (positions) => {
            const { current } = await import("/static/main.js");
            const { rotate } = await import("/static/kernel.js");
            const { recipe } = current();
            const { query } = recipe.example;
            return [query, positions.map((position) => [...rotate(recipe, query, position)])];
        }""",
        positions,
    )
    vector = np.asarray(vector, dtype=np.float32)
    want = Rotary(dim=64, layout=layout).rotate(
        np.tile(vector, (len(positions), 1)), np.asarray(positions)
    )
    assert differences(np.asarray(turned, dtype=np.float32), want) == 0


@pytest.mark.parametrize("heads", [8, 12])
@pytest.mark.parametrize("direction", ["causal", "symmetric", "asymmetric"])
def test_alibi_numbers(visit, heads, direction):
    tab = visit("/alibi")
    bias = Alibi(heads=heads, direction=direction).bias(np.arange(64), np.arange(64))
    for head in range(heads):
        follow(tab, f"v=1&heads={heads}&direction={direction}&head={head}")
        assert differences(values(tab), bias[head]) == 0


def test_fields_that_no_slider_sets(visit):
    tab = visit()
    for code in [
        Sinusoidal(dim=6, offset=2, first="cos"),
        Sinusoidal(dim=7, odd="pad", layout="half"),
        Sinusoidal(dim=7, odd="trim"),
    ]:
        got = tab.evaluate(
            """async (recipe) => {
                const { table, wave } = await import("/static/kernel.js");
                const { values, columns } = table(recipe, { start: 5, count: 9, head: 0 });
                const curves = values.map((_, cell) =>
                    wave(recipe, cell % columns, 5 + Math.floor(cell / columns)));
                return [[...values], [...curves]];
            }""",
            recipes.recipe(code),
        )
        want = code.encode(np.arange(5, 14))
        for numbers in got:
            numbers = np.asarray(numbers, dtype=np.float32).reshape(want.shape)
            assert differences(numbers, want) == 0


def test_the_page_compares_its_own_numbers(visit):
    tab = visit("/#v=1&dim=128&start=131072")
    tab.click("#check")
    tab.wait_for_selector("#notice:has-text('all are equal')")
    assert "8,192 numbers" in text(tab, "#notice")
    tab.evaluate(
        "import('/static/main.js').then(({ current }) => { current().values[7] += 1e-7; })"
    )
    tab.click("#check")
    tab.wait_for_selector("#notice:has-text('1 differ')")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_colours_are_those_of_the_numbers(visit, theme):
    tab = visit("/#v=1&dim=64&count=96", theme=theme)
    pixels = np.asarray(
        tab.evaluate(
            """() => {
                const canvas = document.querySelector(".sheet canvas");
                const { width, height } = canvas;
                return [...canvas.getContext("2d").getImageData(0, 0, width, height).data];
            }"""
        )
    ).reshape(96, 64, 4)
    steps = np.floor(127 * Sinusoidal(dim=64).encode(np.arange(96), dtype=float) + 0.5).astype(int)
    colours = [[*bytes.fromhex(colour[1:]), 255] for colour in palette.colours(theme)]
    np.testing.assert_array_equal(pixels, np.asarray(colours)[steps + 127])


def test_masked_keys_are_hatched(visit):
    tab = visit("/alibi")
    alpha = tab.evaluate(
        """() => {
            const context = document.querySelector(".sheet canvas").getContext("2d");
            const { data } = context.getImageData(0, 0, 64, 64);
            return [data[4 * 63 + 3], data[4 * 63 * 64 + 3]];
        }"""
    )
    assert alpha == [0, 255]


# Settings


def test_sliders_move_everything_at_once(visit):
    tab = visit()
    tab.focus("#position-slider")
    tab.keyboard.press("ArrowRight")
    settled(tab)
    assert settings(tab)["position"] == 11
    assert tab.input_value("#position") == "11"
    value = f"{np.sin(11 * 0.01 ** (4 / 32)):.4f}".replace("-", "−")
    spoken = tab.get_attribute("#position-slider", "aria-valuetext")
    assert spoken == f"position 11: {value} at feature 4"
    spoken = tab.get_attribute("#feature-slider", "aria-valuetext")
    assert spoken == f"feature 4 (sine of pair 2): {value} at position 11"
    assert tab.get_attribute("#dim-slider", "aria-valuetext") == "64 features"
    for view in ("waves", "vector", "matrix"):
        assert "position 11" in text(tab, f"#{view}-twin").lower()
        assert value in text(tab, f"#{view}-twin")


def test_a_table_far_out_takes_the_cursor_along(visit):
    tab = visit()
    tab.fill("#start", "131072")
    tab.press("#start", "Enter")
    settled(tab)
    assert settings(tab)["position"] == 131_082
    assert "position 131,082" in text(tab, "#vector-twin")


def test_pointer_sets_the_cursor(visit):
    tab = visit()
    box = tab.locator(".sheet canvas").bounding_box()
    tab.mouse.click(box["x"] + box["width"] * 20.5 / 64, box["y"] + box["height"] * 30.5 / 64)
    settled(tab)
    assert (settings(tab)["position"], settings(tab)["feature"]) == (30, 20)
    box = tab.locator("figure.vector svg").bounding_box()
    tab.mouse.click(box["x"] + box["width"] * 40.5 / 64, box["y"] + 5)
    settled(tab)
    assert settings(tab)["feature"] == 40


def test_waves_are_chosen(visit):
    tab = visit()
    assert tab.locator(".tracks li").count() == 6
    chip = tab.locator(".chips button[value='32']")
    assert chip.get_attribute("aria-pressed") == "true"
    chip.focus()
    tab.keyboard.press("Space")
    settled(tab)
    assert settings(tab)["waves"] == [0, 2, 4, 8, 16]
    assert tab.locator(".tracks li").count() == 5
    assert tab.evaluate("document.activeElement.value") == "32"
    assert "waves=0,2,4,8,16" in tab.url
    assert chip.get_attribute("aria-pressed") == "false"
    looks = "(chip) => getComputedStyle(chip).backgroundColor"
    assert chip.evaluate(looks) != tab.locator(".chips button[value='16']").evaluate(looks)
    follow(tab, "v=1&waves=63,1&feature=1")
    assert tab.locator(".tracks .name").all_inner_texts() == ["feature 1", "feature 63"]


def test_a_value_that_does_not_fit_gives_way_to_the_nearest(visit):
    tab = visit()
    for field, wrong, words, nearest in [
        ("dim", "5", "Features must be an even number from 2 to 1024", "6"),
        ("dim", "2000", "Features must be an even number from 2 to 1024", "1024"),
        ("base", "0", "Base must be a number from 1 to 1000000000", "1"),
        ("position", "1.2", "Position must be a whole number from 0 to 63", "1"),
        ("position", "", "Position must be a whole number", "1"),
        ("count", "513", "Positions shown must be a whole number from 1 to 512", "512"),
        ("start", "1e10", "First position must be a whole number", str(recipes.FARTHEST)),
    ]:
        tab.fill(f"#{field}", wrong)
        tab.press(f"#{field}", "Enter")
        settled(tab)
        assert words in text(tab, "#notice")
        assert tab.input_value(f"#{field}") == nearest
        assert settings(tab)[field] == float(nearest)
    assert values(tab).shape == (512, 1024)
    tab.fill("#dim", "8")
    tab.press("#dim", "Enter")
    settled(tab)
    assert (text(tab, "#notice"), values(tab).shape) == ("", (512, 8))


@pytest.mark.parametrize("kind", ["sinusoidal", "rotary"])
def test_an_odd_number_of_features_in_the_address(visit, kind):
    tab = visit(f"/{kind}#v=1&dim=5")
    assert "Features must be an even number from 2 to 1024, not “5”" in text(tab, "#notice")
    assert (tab.input_value("#dim"), values(tab).shape) == ("6", (64, 6))


def test_an_address_without_a_version(visit):
    tab = visit("/#dim=128")
    assert (text(tab, "#notice"), values(tab).shape) == ("", (64, 128))


def test_a_server_that_is_gone(visit):
    tab = visit()
    asked = []
    tab.route("**/recipe?*", lambda route: (asked.append(route), route.abort()))
    tab.fill("#dim", "32")
    tab.press("#dim", "Enter")
    tab.wait_for_selector("#notice:has-text('stopped answering')")
    settled(tab)
    assert (len(asked), settings(tab)["dim"]) == (1, 64)
    visit("/#v=1&dim=32")  # not even a first picture: it tries its defaults, and then rests
    tab.unroute_all()
    assert len(asked) == 3
    assert "stopped answering" in text(tab, "#notice")
    visit.forgive("net::ERR_FAILED")  # which the browser puts into its console


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        ("sinusoidal", {"dim": "100", "base": "1234.5", "position": "33", "start": "7"}),
        ("rotary", {"dim": "32", "gap": "100", "column": "31"}),
        ("alibi", {"heads": "12", "head": "9", "query": "50"}),
    ],
)
def test_address_round_trip(visit, kind, changes):
    tab = visit(f"/{kind}")
    assert "#" not in tab.url
    for name, value in changes.items():
        tab.fill(f"#{name}", value)
        tab.press(f"#{name}", "Enter")
        settled(tab)
    read, held = settings(tab), values(tab)
    visit(tab.url.removeprefix(tab.evaluate("location.origin")))
    assert settings(tab) == read
    np.testing.assert_array_equal(values(tab), held)
    for name, value in changes.items():
        if name != "position":  # moved along with the table
            assert tab.input_value(f"#{name}") == value
    tab.locator("nav a:not([aria-current])").first.click()
    tab.wait_for_url(lambda url: kind not in url)
    tab.go_back()
    settled(tab)
    assert settings(tab) == read
    tab.click("#reset")
    settled(tab)
    assert "#" not in tab.url


def test_copied_link(visit):
    tab = visit("/#v=1&position=20")
    tab.evaluate(
        """() => {
            navigator.clipboard.writeText = async (text) => { window.copied = text; };
        }"""
    )
    tab.click("#copy")
    tab.wait_for_selector("#notice:has-text('clipboard')")
    assert tab.evaluate("window.copied") == tab.url
    tab.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error()); }")
    tab.click("#copy")
    tab.wait_for_selector("#notice:has-text('#v=1&position=20')")


HOSTILE = [
    "garbage",
    "=",
    "v=2&dim=128",
    "v=1&dim=abc",
    "v=1&dim=0x40",
    "v=1&dim=NaN",
    "v=1&dim=Infinity",
    "v=1&dim=",
    "v=1&base=1e999",
    "v=1&layout=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E",
    "v=1&__proto__=1&constructor=2&toString=3",
    "v=1&waves=1,x",
    f"v=1&waves={','.join(map(str, range(100)))}",
    "v=1&%E0%A4%A=1",
    "v=1&" + "x" * 5000 + "=1",
]


def test_hostile_addresses_give_a_notice(visit):
    tab = visit()
    usual = settings(tab)
    for hash in HOSTILE:
        follow(tab, hash)
        assert "Part of the link does not fit" in text(tab, "#notice"), hash
        assert settings(tab) == usual, hash
    assert values(tab).shape == (64, 64)
    follow(tab, "v=1&dim=8&feature=8&wrong=1")
    assert (settings(tab)["dim"], settings(tab)["feature"]) == (8, 7)
    assert "Feature must be a whole number from 0 to 7" in text(tab, "#notice")
    assert "there is no setting “wrong”" in text(tab, "#notice")
    follow(tab, "v=1")
    assert text(tab, "#notice") == ""


def test_what_the_library_refuses_is_taken_back(visit):
    tab = visit()
    words = "`dim` must be something else."
    tab.route("**/recipe?*", lambda route: route.fulfill(status=400, body=words))
    tab.fill("#dim", "32")
    tab.press("#dim", "Enter")
    tab.wait_for_selector(f"#notice:has-text('{words}')")
    settled(tab)
    tab.unroute_all()
    assert (tab.input_value("#dim"), values(tab).shape) == ("64", (64, 64))
    visit.forgive("status of 400")  # which the browser puts into its console


# Pictures


def test_moving_both_tokens_keeps_the_score(visit):
    tab = visit("/rotary#v=1&gap=5")
    hands = "document.querySelector('.dials .current path.query:not(.before)').getAttribute('d')"
    score, before = text(tab, ".score"), tab.evaluate(hands)
    follow(tab, "v=1&gap=5&position=40")
    assert text(tab, ".score") == score
    assert tab.evaluate(hands) != before
    follow(tab, "v=1&gap=6&position=40")
    assert text(tab, ".score") != score


def test_numbers_around_the_cursor(visit):
    tab = visit("/#v=1&dim=4&position=2")
    tab.click("figure.matrix summary")
    settled(tab)
    rows = tab.locator(".numbers tbody tr").all_inner_texts()
    assert rows[2].split() == ["2", "0.9093", "−0.4161", "0.0200", "0.9998"]
    follow(tab, "v=1&dim=4&position=3")
    assert text(tab, ".numbers .here") == "0.9996"


def test_alibi_in_words(visit):
    tab = visit("/alibi#v=1&heads=12&head=8")
    assert "not in order" in text(tab, "#slopes-twin")
    assert "takes 0.7071 off a score" in text(tab, "#slopes-twin")
    follow(tab, "v=1&heads=8&head=0&query=3&key=1")
    assert "its attention halves every 1.39 positions" in text(tab, "#slopes-twin")
    assert "head 0 gives −1.0000" in text(tab, "#lines-twin")
    assert "4 of 64 keys are open, the least favoured with −1.5000" in text(tab, "#vector-twin")


# Manners


@pytest.mark.parametrize("kind", KINDS)
def test_keyboard_reaches_and_moves_every_control(visit, kind):
    tab = visit(f"/{kind}")
    controls = {control["name"]: control for control in page.page(kind)["controls"]}
    wanted = {"copy", "reset", "check", "theme", *controls}
    wanted |= {f"{name}-slider" for name, control in controls.items() if "options" not in control}
    reached = set()
    tab.focus(".skip")
    for _ in range(80):
        if wanted <= reached:
            break
        tab.keyboard.press("Tab")
        name = tab.evaluate("document.activeElement.id || document.activeElement.name || ''")
        reached.add(name)
        control = controls.get(name.removesuffix("-slider"))
        if control and (name.endswith("-slider") or "options" in control):
            before = settings(tab)
            tab.keyboard.press("ArrowRight")
            settled(tab)
            assert settings(tab)[control["name"]] != before[control["name"]], name
    assert wanted - reached == set()


@pytest.mark.parametrize("kind", KINDS)
def test_names_and_structure(visit, kind):
    tab = visit(f"/{kind}")
    faults = tab.evaluate(
        """() => {
            const faults = [];
            const ids = [...document.querySelectorAll("[id]")].map(({ id }) => id);
            for (const id of ids) {
                if (ids.filter((other) => other === id).length > 1) faults.push(`twice #${id}`);
            }
            for (const name of ["aria-labelledby", "aria-describedby", "for"]) {
                for (const element of document.querySelectorAll(`[${name}]`)) {
                    for (const id of element.getAttribute(name).split(" ")) {
                        if (!document.getElementById(id)) faults.push(`${name} names no #${id}`);
                    }
                }
            }
            const kinds = "input, button, a, summary, canvas[role], figure, [role=region]";
            for (const element of document.querySelectorAll(kinds)) {
                const named = element.labels?.length || element.getAttribute("aria-label") ||
                    element.getAttribute("aria-labelledby") || element.textContent.trim();
                if (!named) faults.push(`no name: ${element.outerHTML}`);
            }
            for (const slider of document.querySelectorAll("input[type=range]")) {
                if (!slider.getAttribute("aria-valuetext")) faults.push(`mute: ${slider.id}`);
            }
            for (const picture of document.querySelectorAll("svg")) {
                if (picture.getAttribute("aria-hidden") !== "true") faults.push("svg read out");
            }
            for (const twin of document.querySelectorAll("figcaption")) {
                const words = twin.textContent;
                if (!/\\d.*[.]$/s.test(words)) faults.push(`no sentence: ${words}`);
                if (/NaN|undefined|null|Infinity/.test(words)) faults.push(words);
            }
            const headings = [...document.querySelectorAll("h1, h2, h3")];
            const levels = headings.map(({ tagName }) => Number(tagName[1]));
            levels.forEach((level, at) => {
                if (level > (levels[at - 1] ?? 0) + 1) faults.push(`heading ${at} skips a level`);
            });
            if (levels.filter((level) => level === 1).length !== 1) faults.push("not one h1");
            if (document.documentElement.lang !== "en") faults.push("no language");
            if (!document.title) faults.push("no title");
            return faults;
        }"""
    )
    assert faults == []
    assert tab.locator("nav [aria-current=page]").count() == 1
    assert tab.get_by_role("slider").count() == tab.locator("input[type=range]").count()
    assert tab.get_by_role("math").count() >= 1


CONTRASTS = """() => {
    const parse = (text) => text.match(/[\\d.]+/g).map(Number);
    const light = ([r, g, b]) => [r, g, b].reduce((sum, value, at) => {
        const part = value / 255;
        const linear = part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
        return sum + linear * [0.2126, 0.7152, 0.0722][at];
    }, 0);
    const behind = (element) => {
        for (let at = element; at; at = at.parentElement) {
            const colour = parse(getComputedStyle(at).backgroundColor);
            if (colour.length === 3) return colour;
        }
        return [255, 255, 255];
    };
    const ratio = (one, other) => {
        const [low, high] = [light(one), light(other)].sort((a, b) => a - b);
        return (high + 0.05) / (low + 0.05);
    };
    const found = [];
    for (const element of document.querySelectorAll("body *")) {
        const own = [...element.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
        if (!own || !element.checkVisibility()) continue;
        const style = getComputedStyle(element);
        const drawn = element.closest("svg");
        const ink = parse(drawn ? style.fill : style.color);
        const got = ratio(ink, behind(drawn ? drawn.parentElement : element));
        if (got < 4.5) found.push(`${element.textContent.trim().slice(0, 30)}: ${got.toFixed(2)}`);
    }
    const parts = { ".curve": "stroke", ".dot": "stroke", ".cursor": "stroke", ".plus": "fill",
        ".minus": "fill", ".dials .query": "stroke", ".dials .key": "stroke",
        "input[type=number]": "borderColor" };
    for (const [selector, name] of Object.entries(parts)) {
        const element = document.querySelector(selector);
        if (!element) continue;
        const got = ratio(parse(getComputedStyle(element)[name]), behind(element.parentElement));
        if (got < 3) found.push(`${selector}: ${got.toFixed(2)}`);
    }
    return found;
}"""


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_contrast(visit, kind, theme):
    # WCAG 2.2: 4.5 to 1 for text (1.4.3), 3 to 1 for lines that carry meaning (1.4.11).
    tab = visit(f"/{kind}", theme=theme)
    tab.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    settled(tab)
    assert tab.evaluate(CONTRASTS) == []


@pytest.mark.parametrize("kind", KINDS)
def test_no_sideways_scrolling(visit, kind):
    tab = visit(f"/{kind}")
    most = "heads=64" if kind == "alibi" else "dim=1024&start=1073741312"
    for hash, width in itertools.product(["v=1", f"v=1&{most}"], [320, 360, 640, 1280]):
        tab.set_viewport_size({"width": width, "height": 780})
        follow(tab, f"{hash}&count={width // 4}")
        assert tab.evaluate("document.documentElement.scrollWidth") <= width, (hash, width)


BOXES = """(selector) => [...document.querySelectorAll(selector)].map((element) => {
    const { left, top, right, bottom } = element.getBoundingClientRect();
    return [left, top, right, bottom];
})"""


def overlaps(boxes):
    pairs = itertools.combinations(boxes, 2)
    return [
        (one, other)
        for one, other in pairs
        if max(one[0], other[0]) < min(one[2], other[2])
        and max(one[1], other[1]) < min(one[3], other[3])
    ]


SIZES = [
    ("alibi", "heads=8"),
    ("alibi", "heads=64"),
    *itertools.product(["sinusoidal", "rotary"], ["dim=64", "dim=512", "dim=1024"]),
]


@pytest.mark.parametrize(("kind", "size"), SIZES)
@pytest.mark.parametrize("count", [64, 512])
def test_pictures_leave_no_hole(visit, kind, count, size):
    tab = visit(f"/{kind}#v=1&count={count}&{size}")
    [[left, top, right, bottom]] = tab.evaluate(BOXES, "#pictures")
    boxes = tab.evaluate(BOXES, "#pictures > figure")
    assert overlaps(boxes) == []
    empty = np.ones((int(bottom - top), int(right - left)), dtype=bool)
    for box in boxes:
        x, y, x_end, y_end = (round(value) for value in np.subtract(box, [left, top] * 2))
        empty[y:y_end, x:x_end] = False
    assert empty.mean() < 0.15
    for x in {round(x - left) for box in boxes for x in (box[0] + 9, box[2] - 9)}:
        filled = np.flatnonzero(~empty[:, x])
        assert np.diff(filled, prepend=-1, append=len(empty)).max() < 200
    end = tab.locator(".matrix .heads span").last.bounding_box()
    frame = tab.locator("figure.matrix").bounding_box()
    if size != "dim=1024":  # which scrolls
        assert end["x"] + end["width"] <= frame["x"] + frame["width"]


@pytest.mark.parametrize("kind", KINDS)
def test_everything_can_be_read_on_a_phone(visit, kind):
    tab = visit(f"/{kind}", width=360, height=780)
    cut = """() => [...document.querySelectorAll(".tracks .detail, .compare, .compare td")]
        .filter((each) => each.scrollWidth > each.clientWidth || each.offsetWidth > 332)
        .map((each) => each.textContent)"""
    assert tab.evaluate(cut) == []
    label = "getComputedStyle(document.querySelector('.compare tbody td'), '::before').content"
    assert tab.evaluate(label).startswith('"Sinusoidal')
    numbers = tab.evaluate(BOXES, ".look input[type=number]")
    for (*_, bottom), (_, top, *_) in itertools.pairwise(numbers):
        assert top - bottom >= 4
    [[_, top, _, bottom]] = tab.evaluate(BOXES, ".look")
    assert bottom - top < 0.2 * 780
    [[*_, bars_end, _]] = tab.evaluate(BOXES, ".vector svg")
    [[labels_start, *_]] = tab.evaluate(BOXES, ".vector .scale")
    assert 0 < labels_start - bars_end < 12


def test_a_table_that_scrolls_says_so(visit):
    cue = "getComputedStyle(document.querySelector('.matrix .scroll'), '::after').content"
    assert "scroll sideways" in visit("/#dim=1024").evaluate(cue)
    assert visit("/#dim=64").evaluate(cue) == "none"


@pytest.mark.parametrize("kind", KINDS)
def test_whatever_is_clicked_is_large_enough(visit, kind):
    # WCAG 2.2, 2.5.8: 24 by 24 CSS pixels.
    tab = visit(f"/{kind}")
    targets = "summary, button, input[type=number], input[type=range], nav a, .choice label"
    for left, top, right, bottom in tab.evaluate(BOXES, targets):
        assert right - left >= 24
        assert bottom - top >= 24


def test_cursor_sliders_stay_in_sight_on_a_phone(visit):
    tab = visit(width=360, height=780)
    tab.locator("figure.matrix").scroll_into_view_if_needed()
    tab.evaluate("scrollBy(0, 200)")
    box = tab.locator("#position-slider").bounding_box()
    assert 0 <= box["y"] < 150
    assert tab.locator(".sheet canvas").bounding_box()["y"] < 780


def test_theme(visit):
    tab = visit()
    paper = "getComputedStyle(document.body).backgroundColor"
    light = tab.evaluate(paper)
    tab.locator("input[value=dark]").check()
    settled(tab)
    dark = tab.evaluate(paper)
    assert dark != light
    tab.reload()
    settled(tab)
    assert tab.evaluate(paper) == dark
    assert tab.locator("input[value=dark]").is_checked()
    assert visit(theme="dark").evaluate(paper) == dark


def test_paper_is_light(visit):
    tab = visit(theme="dark")
    tab.emulate_media(media="print")
    assert not tab.locator("#position").is_visible()
    assert tab.locator("#matrix-twin").is_visible()
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(250, 249, 246)"
    middles = tab.evaluate(
        """() => ["beforeprint", "afterprint"].map((event) => {
            dispatchEvent(new Event(event));
            const context = document.querySelector(".legend canvas").getContext("2d");
            return [...context.getImageData(0, 127, 1, 1).data].slice(0, 3);
        })"""
    )
    zeros = [palette.colours(theme)[127] for theme in ("light", "dark")]
    assert [f"#{bytes(middle).hex()}" for middle in middles] == zeros


def test_skipping_to_the_pictures_keeps_the_settings(visit):
    tab = visit("/#v=1&position=20")
    tab.focus(".skip")
    tab.keyboard.press("Enter")
    settled(tab)
    assert tab.evaluate("document.activeElement.id") == "pictures"
    assert settings(tab)["position"] == 20
    tab.go_back()
    settled(tab)
    assert settings(tab)["position"] == 20


def test_nothing_moves_by_itself(visit):
    tab = visit()
    frames = tab.evaluate(
        """async () => {
            let frames = 0;
            const request = window.requestAnimationFrame;
            window.requestAnimationFrame = (then) => (frames += 1, request(then));
            await new Promise((done) => setTimeout(done, 200));
            window.requestAnimationFrame = request;
            return [frames, document.getAnimations().length];
        }"""
    )
    assert frames == [0, 0]


def test_without_script(browser, address):
    with browser.new_context(java_script_enabled=False) as context:
        tab = context.new_page()
        tab.goto(f"{address}/alibi")
        assert tab.locator("math").first.is_visible()
        assert "does not run" in text(tab, "noscript")
        assert "Press et al. 2021" in text(tab, ".compare")


@pytest.mark.slow
def test_frame_times(visit, capsys):
    """Reports how smooth dragging is; asserts only that the last picture is the right one."""
    tab = visit("/#v=1&dim=1024&count=512")
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
    with capsys.disabled():
        for name, start, end in [("position", 0, 1), ("base", 0.2, 0.8), ("dim", 0, 1)]:
            median, late, tables = tab.evaluate(drag, [name, start, end])
            print(
                f"\n{name}: frame {median:.1f} ms median, {late:.1f} ms at 95 %, "
                f"{tables} tables in 180 frames",
                end="",
            )
    base = settings(tab)["base"]
    want = Sinusoidal(dim=1024, base=base).encode(np.arange(512))
    assert differences(values(tab), want) == 0
