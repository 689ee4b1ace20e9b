"""The address of a page holds its settings: it can be sent, kept, and gone back to."""

import numpy as np
import pytest
from browsing import every_room, follow, settings, settled, some_rooms, text, values

from posenc.explorer import page
from posenc.explorer.rooms import ROOMS


def test_an_odd_number_in_the_address(visit):
    tab = visit("/waves#v=1&encoding=rotary&dim=5")
    assert "Head width must be an even number from 2 to 1024, not “5”" in text(tab, "#notice")
    assert (tab.input_value("#dim"), values(tab).shape) == ("6", (64, 6))
    tab = visit("/waves#v=1&dim=5&odd=trim")
    assert (text(tab, "#notice"), values(tab).shape) == ("", (64, 5))


def test_an_address_without_a_version(visit):
    tab = visit("/waves#dim=128")
    assert (text(tab, "#notice"), values(tab).shape) == ("", (64, 128))


@pytest.mark.parametrize(
    ("room", "changes"),
    [
        ("waves", {"dim": "100", "base": "1234.5", "position": "33", "from": "7"}),
        ("rotation", {"dim": "32", "gap": "50", "column": "31"}),
        ("bias", {"heads": "12", "head": "9", "position": "50"}),
    ],
)
def test_address_round_trip(visit, room, changes):
    tab = visit(f"/{room}")
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
    tab.wait_for_url(lambda url: room not in url)
    tab.go_back()
    settled(tab)
    assert settings(tab) == read
    tab.click("#reset")
    settled(tab)
    assert "#" not in tab.url


OTHER = """async () => {
    const { bounds, controlsOf } = await import("/static/state.js");
    const { current } = await import("/static/main.js");
    const page = JSON.parse(document.getElementById("page").textContent);
    const { settings, rows, columns, recipe } = current();
    const extent = { rows, columns, heads: recipe?.heads };
    const other = (control) => {
        const { options, most, step, name } = control;
        const differs = (value) => value !== settings[name];
        if (options) return options.map(({ value }) => value).find(differs);
        if (most) return "x";
        const { min } = bounds(control, settings, extent);
        return [min, min + (step === "any" ? 1 : step ?? 1)].find(differs);
    };
    const fields = controlsOf(page, settings).filter(({ silent }) => !silent);
    return fields.filter(({ path, name }) => !path && !["mistake", "from"].includes(name))
        .map((control) => [control.name, String(other(control))]);
}"""


@every_room
def test_every_setting_of_a_room_survives_its_address(visit, room):
    tab = visit(f"/{room}")
    wanted = dict(tab.evaluate(OTHER))
    assert wanted
    follow(tab, "v=1&" + "&".join(f"{name}={value}" for name, value in wanted.items()))
    assert text(tab, "#notice") == ""
    read = settings(tab)
    assert {name: str(read[name]) for name in wanted} == wanted
    twins = tab.locator("figcaption").all_inner_texts()
    tab.evaluate("document.getElementById('copy').click()")  # which writes the address
    settled(tab)
    tab = visit(tab.url.removeprefix(tab.evaluate("location.origin")))
    assert settings(tab) == read
    assert tab.locator("figcaption").all_inner_texts() == twins
    assert text(tab, "#notice") == ""


@some_rooms
def test_links_to_other_rooms_carry_the_encoding_along(visit, room):
    encodings = page.room(room)["encodings"]
    kind = next(one for one in ("rotary", "alibi", "sinusoidal") if one in encodings)
    field, value = {"rotary": ("dim", 32), "alibi": ("heads", 12)}.get(kind, ("dim", 32))
    own = "".join(f"&{name}={value}" for name, value in {"from": 8, "position": 9}.items())
    tab = visit(f"/{room}#v=1&encoding={kind}&{field}={value}{own}")
    there = "table" if room != "table" else "rotation"
    tab.locator("nav").get_by_role("link", name=ROOMS[there].title, exact=True).click()
    tab.wait_for_url(f"**/{there}#*")
    settled(tab)
    read = settings(tab)
    assert (read["encoding"], read[field]) == (kind, value)
    assert text(tab, "#notice") == ""  # settings of the other room are not complained about
    tab.go_back()
    tab.wait_for_url(f"**/{room}#*")
    settled(tab)
    assert settings(tab)[field] == value


def test_an_encoding_that_a_room_does_not_show(visit):
    tab = visit("/waves#v=1&encoding=alibi&heads=12&head=7")
    words = "Part of the link does not fit: this room does not show the encoding “alibi”."
    assert text(tab, "#notice") == words
    assert settings(tab)["encoding"] == "sinusoidal"


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
    follow(tab, "v=1&dim=8&column=8&wrong=1")
    assert (settings(tab)["dim"], settings(tab)["column"]) == (8, 7)
    assert "Column must be a whole number from 0 to 7" in text(tab, "#notice")
    assert "there is no setting “wrong”" in text(tab, "#notice")
    follow(tab, "v=1")
    assert text(tab, "#notice") == ""


@some_rooms
def test_a_hostile_address_in_every_room(visit, room):
    tab = visit(f"/{room}")
    usual = settings(tab)
    follow(tab, "v=1&position=-1e999&column=%00&encoding=%3Cscript%3E&hide=<b>&waves=NaN&x=1")
    assert "Part of the link does not fit" in text(tab, "#notice")
    assert settings(tab) | {"ask": ""} == usual
