"""Everything on the page can be reached and moved with a keyboard alone."""

import pytest
from browsing import controls, every_room, settings, settled, some_rooms, text, unfold

from posenc.explorer.rooms import ROOMS

HERE = """async (inside) => {
    const { current } = await import("/static/main.js");
    if (!document.activeElement.closest(inside)) return null;
    const { id, name, type } = document.activeElement;
    const setting = (name || id).replace(/-slider$/, "");
    const refused = document.getElementById("notice").textContent;
    return { id, name, type, setting, refused, value: current().settings[setting] };
}"""

# The key that moves a control, and the one that moves it back from its end.
KEYS = {
    "range": ("ArrowRight", "ArrowLeft"),
    "number": ("ArrowUp", "ArrowDown"),
    "radio": ("ArrowRight", "ArrowLeft"),
    "select-one": ("ArrowDown", "ArrowUp"),
    "text": ("x", "Backspace"),
}


def walk(tab, start, inside):
    """Goes on by Tab and moves whatever can be moved; the names of what was reached and moved."""
    reached, moved = set(), set()
    tab.focus(start)
    for _ in range(250):
        tab.keyboard.press("Tab")
        stop = tab.evaluate(HERE, inside)
        if stop is None:
            return reached, moved
        reached.add(stop["id"] or stop["name"])
        if stop["setting"] != "encoding" and stop["value"] is not None and move(tab, stop):
            moved.add(stop["id"] or stop["name"])
    raise AssertionError(f"the walk has no end: {reached}")


def move(tab, stop):
    for key in KEYS[stop["type"]]:
        tab.keyboard.press(key)
        now = tab.evaluate(HERE, "body")
        if now["value"] != stop["value"] or now["refused"]:
            return True
    return False


FIELDS = """[...document.querySelectorAll("#groups :is(input, select)")]
    .filter((each) => each.checkVisibility()).map(({ id, name }) => id || name)"""


@every_room
def test_keyboard_moves_the_settings_of_a_room(visit, room):
    tab = visit(f"/{room}")
    unfold(tab)
    tab.evaluate(
        """() => {
            for (const group of document.querySelectorAll(".encoding")) group.open = false;
            document.getElementById("pictures").style.visibility = "hidden"; // saves time
        }"""
    )
    fields = tab.evaluate(FIELDS)
    assert {field.removesuffix("-slider") for field in fields} == set(controls(tab))
    _, moved = walk(tab, "#encoding", "#settings")
    settled(tab)
    assert set(fields) - moved == set()


@pytest.mark.parametrize(
    "room", [pytest.param(room, marks=[pytest.mark.slow] * (room != "waves")) for room in ROOMS]
)
def test_keyboard_reaches_and_moves_everything(visit, room):
    # Stretch begins with a rule, whose own settings go when the walk chooses another one.
    tab = visit(f"/{room}#scaling=none" if room == "stretch" else f"/{room}")
    unfold(tab)
    wanted = tab.evaluate(
        "[...document.querySelectorAll('a, button, input, select, textarea, summary, [tabindex]')]"
        ".filter((each) => each.checkVisibility() && each.tabIndex >= 0 && !each.disabled)"
        ".map(({ id, name }) => id || name)"
    )
    assert {"theme", "encoding", "reset", "copy", "python", "csv", "npy", "check"} <= set(wanted)
    reached, moved = walk(tab, ".skip", "body > *")
    settled(tab)
    visit.forgive("status of 400")  # some settings do not go together, which the page says
    assert set(wanted) - reached == set()
    assert set(tab.evaluate(FIELDS)) - moved == set()


@some_rooms
def test_focus_stays_when_another_encoding_is_chosen(visit, room):
    tab = visit(f"/{room}")
    tab.focus("#encoding")
    before = settings(tab)["encoding"]
    tab.keyboard.press("ArrowDown")
    settled(tab)
    assert settings(tab)["encoding"] != before
    assert tab.evaluate("document.activeElement.id") == "encoding"
    assert text(tab, "#notice") == ""


def test_focus_stays_when_the_form_is_built_anew(visit):
    tab = visit("/table#encoding=rotary")
    tab.focus("#scaling")
    for _ in range(3):
        tab.keyboard.press("ArrowDown")
        settled(tab)
        assert tab.evaluate("document.activeElement.id") == "scaling"
    assert tab.locator("#factor").is_visible()
    tab.select_option("#scaling", "none")
    tab.focus("[name=rotary_dim]:checked")
    tab.keyboard.press("ArrowRight")
    settled(tab)
    assert settings(tab)["rotary_dim"] == "16"
    assert tab.locator("[name=exponent]").count() > 1
    assert tab.evaluate("document.activeElement.value") == "16"
    assert tab.locator("[name=rotary_dim]:checked").get_attribute("value") == "16"


def test_skipping_to_the_pictures_keeps_the_settings(visit):
    tab = visit("/waves#v=1&position=20")
    tab.focus(".skip")
    assert tab.evaluate("document.activeElement.getBoundingClientRect().top") >= 0
    tab.keyboard.press("Enter")
    settled(tab)
    assert tab.evaluate("document.activeElement.id") == "pictures"
    assert settings(tab)["position"] == 20
    tab.go_back()
    settled(tab)
    assert settings(tab)["position"] == 20


def test_a_message_can_be_closed(visit):
    tab = visit("/waves#v=1&wrong=1")
    assert "there is no setting" in text(tab, "#notice")
    tab.focus("#close")
    tab.keyboard.press("Enter")
    settled(tab)
    assert text(tab, "#notice") == ""
    assert not tab.locator("#close").is_visible()


def test_focus_can_be_seen(visit):
    tab = visit()
    unfold(tab)
    seen = """() => {
        const bare = ({ outlineStyle: style, outlineWidth: width }) =>
            style === "none" || width === "0px";
        const { activeElement: at } = document;
        const seen = [at, at.nextElementSibling ?? at].map((each) => getComputedStyle(each));
        return seen.every(bare) ? at.outerHTML : "";
    }"""
    tab.focus(".skip")
    for _ in range(60):
        tab.keyboard.press("Tab")
        assert tab.evaluate(seen) == ""
