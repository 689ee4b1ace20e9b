"""Names, structure and contrast: what screen readers, tired eyes and audits look for."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from browsing import follow, settled, unfold
from playwright.sync_api import expect

from posenc.explorer import page
from posenc.explorer.rooms import ROOMS

FAULTS = """() => {
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
    for (const slider of document.querySelectorAll("input[type=range]")) {
        if (!slider.getAttribute("aria-valuetext")) faults.push(`mute: ${slider.id}`);
    }
    for (const picture of document.querySelectorAll("svg")) {
        if (picture.getAttribute("aria-hidden") !== "true") faults.push("svg read out");
    }
    for (const twin of document.querySelectorAll("figcaption")) {
        if (!twin.checkVisibility()) continue;
        const words = twin.textContent;
        if (!/[.]$/.test(words.trim())) faults.push(`no sentence: ${words}`);
        if (/NaN|undefined|null|Infinity/.test(words)) faults.push(words);
    }
    const headings = [...document.querySelectorAll("h1, h2, h3, h4")];
    const levels = headings.map(({ tagName }) => Number(tagName[1]));
    levels.forEach((level, at) => {
        if (level > (levels[at - 1] ?? 0) + 1) faults.push(`heading ${at} skips a level`);
    });
    if (levels.filter((level) => level === 1).length !== 1) faults.push("not one h1");
    return faults;
}"""

# WCAG 2.2: 4.5 to 1 for text (1.4.3), 3 to 1 for lines that carry meaning (1.4.11). Axe looks at
# neither the words in a drawing nor its lines.
CONTRASTS = """() => {
    const parse = (text) => text.match(/[\\d.]+/g)?.map(Number) ?? [];
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
    for (const element of document.querySelectorAll("svg text")) {
        if (!element.textContent.trim() || !element.checkVisibility()) continue;
        const ground = behind(element.closest("svg").parentElement);
        const got = ratio(parse(getComputedStyle(element).fill), ground);
        if (got < 4.5) found.push(`${element.textContent.trim().slice(0, 30)}: ${got.toFixed(2)}`);
    }
    const parts = { ".curve": "stroke", ".dot": "stroke", ".cursor": "stroke", ".plus": "fill",
        ".minus": "fill", ".dials .query": "stroke", ".dials .key": "stroke",
        "input[type=number]": "borderColor", "select": "borderColor", "button": "borderColor" };
    for (const [selector, name] of Object.entries(parts)) {
        const element = document.querySelector(selector);
        if (!element?.checkVisibility()) continue;
        const got = ratio(parse(getComputedStyle(element)[name]), behind(element.parentElement));
        if (got < 3) found.push(`${selector}: ${got.toFixed(2)}`);
    }
    return found;
}"""


def violations(tab):
    """What axe finds wrong, shortly."""
    found = Axe().run(tab, options={"resultTypes": ["violations"]}).response["violations"]
    return [
        f"{one['id']}: {node['html'][:150]} {node['failureSummary']}"
        for one in found
        for node in one["nodes"]
    ]


THEMES = ("light", "dark")


def themed():
    """Every room in one theme, in turns; in the other one too among the slow tests."""
    for at, room in enumerate(ROOMS):
        for theme in THEMES:
            marks = [pytest.mark.slow] * (theme != THEMES[at % 2])
            yield pytest.param(room, theme, marks=marks)


@pytest.mark.parametrize(("room", "theme"), list(themed()), scope="module")
def test_audit_of_a_room(visit, room, theme):
    tab = visit.shown(room, theme=theme)
    assert tab.evaluate(FAULTS) == []
    assert tab.locator("nav [aria-current=page]").count() == 1
    assert tab.get_by_role("math").count() >= 1
    unfold(tab)
    assert violations(tab) == []
    assert tab.evaluate(CONTRASTS) == []


@pytest.mark.parametrize("theme", THEMES)
def test_audit_of_the_front_page(visit, theme):
    tab = visit("/", theme=theme)
    assert violations(tab) == []


@pytest.mark.slow
@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("room", ROOMS)
def test_audit_of_every_encoding(visit, room, theme):
    tab = visit(f"/{room}", theme=theme)
    for kind in page.room(room)["encodings"]:
        if kind != ROOMS[room].first:
            follow(tab, f"v=1&encoding={kind}")
        unfold(tab)
        assert tab.evaluate(FAULTS) == [], kind
        assert tab.evaluate(CONTRASTS) == [], kind
        if room == "table":
            assert violations(tab) == [], kind


def test_what_a_screen_reader_finds(visit):
    tab = visit("/waves")
    rooms = "\n".join(f"            - link {one.title!r}" for one in ROOMS.values()).replace(
        "'", '"'
    )
    expect(tab.locator("header.top")).to_match_aria_snapshot(
        f"""
        - banner:
          - link "posenc explorer"
          - navigation "Rooms":
{rooms}
          - group "Theme":
            - radio "Auto" [checked]
            - radio "Light"
            - radio "Dark"
        """
    )
    expect(tab.locator("#settings")).to_match_aria_snapshot(
        """
        - form "Settings":
          - paragraph:
            - text: Encoding
            - button "Reset"
            - combobox "Encoding"
          - group "Where to look":
            - spinbutton "Position": "10"
            - slider "Position": "10"
            - text: Feature
            - spinbutton "Feature": "4"
            - slider "Feature": "4"
          - group:
            - spinbutton "Features dim": "64"
            - slider "Features dim"
            - spinbutton "Base base": "10000"
            - slider "Base base"
            - group "Layout layout":
              - radio "interleaved" [checked]
              - radio "half"
            - group "Spacing spacing"
            - group: /More of its fields/
            - combobox "Mistake"
          - group:
            - spinbutton "Positions shown": "64"
            - slider "Positions shown"
            - spinbutton "First position": "0"
            - slider "First position"
        """
    )
    expect(tab.locator("section.tools")).to_match_aria_snapshot(
        """
        - region "Take it with you":
          - heading "Take it with you" [level=2]
          - paragraph:
            - button "Copy link"
            - button "Copy Python"
            - button "Save CSV"
            - button "Save NPY"
            - button "Check the numbers"
        """
    )
    expect(tab.locator("figure.matrix")).to_match_aria_snapshot(
        """
        - figure "All rows":
          - heading "All rows" [level=2]
          - paragraph: One row a place, one column a number.
          - paragraph:
            - button "Save All rows as PNG"
            - button "Save All rows as SVG"
          - region "All rows":
            - img "All rows"
        """
    )


def test_a_message_is_said_aloud(visit):
    tab = visit("/waves")
    assert tab.get_by_role("status").count() == 1  # there before it has something to say
    tab.click("#check")
    expect(tab.get_by_role("status")).to_contain_text("all are equal")
    settled(tab)
