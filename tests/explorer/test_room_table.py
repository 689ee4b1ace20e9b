"""The Table room: cuts, the part in sight, and the difference of two settings."""

import json
from urllib.parse import quote

import numpy as np
import pytest
from browsing import follow, settings, settled, text, values

from posenc import Alibi, Sinusoidal
from posenc.explorer import palette


def pixels(tab, selector):
    """The colours of a canvas, (height, width, 4)."""
    flat, height, width = tab.evaluate(
        """(selector) => {
            const canvas = document.querySelector(selector);
            const { width, height } = canvas;
            const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
            return [[...data], height, width];
        }""",
        selector,
    )
    return np.asarray(flat).reshape(height, width, 4)


def painted(numbers, largest, theme="light"):
    steps = np.floor(127 / largest * numbers + 0.5).astype(int)
    colours = [[*bytes.fromhex(colour[1:]), 255] for colour in palette.colours(theme)]
    return np.asarray(colours)[steps + 127]


def address(**spec):
    return quote(json.dumps(spec))


def test_a_row_and_a_column(visit):
    tab = visit("/table#v=1&dim=8&position=3&column=2")
    table = Sinusoidal(dim=8).encode(np.arange(64), dtype=float)
    column = table[:, 2]
    words = text(tab, "#cut-twin")
    for number, at in [
        (column[3], 3),
        (column.min(), column.argmin()),
        (column.max(), column.argmax()),
    ]:
        assert f"{number:.4f}".replace("-", "−") + f" at position {at}" in words
    assert "Down feature 2" in words


def test_a_masked_column_has_a_gap(visit):
    tab = visit("/table#v=1&encoding=alibi&column=20&position=10")
    assert "masked at query 10" in text(tab, "#cut-twin")
    assert "highest 0.0000 at query 20" in text(tab, "#cut-twin")


@pytest.mark.parametrize(("position", "column", "top", "left"), [(3, 5, 0, 0), (40, 63, 32, 48)])
def test_the_part_in_sight(visit, position, column, top, left):
    tab = visit(f"/table#v=1&zoom=16&position={position}&column={column}")
    table = Sinusoidal(dim=64).encode(np.arange(64), dtype=float)
    want = painted(table[top : top + 16, left : left + 16], 1)
    np.testing.assert_array_equal(pixels(tab, "figure.matrix .sheet canvas"), want)
    box = tab.locator("figure.matrix .sheet canvas").bounding_box()
    tab.mouse.move(box["x"] + box["width"] * 1.5 / 16, box["y"] + box["height"] * 2.5 / 16)
    tab.mouse.down()
    settled(tab)  # the cells under the pointer stay where they are while it is pressed
    tab.mouse.up()
    settled(tab)
    assert (settings(tab)["position"], settings(tab)["column"]) == (top + 2, left + 1)


def test_the_difference_of_two_settings(visit):
    tab = visit("/table#v=1&dim=8&count=16&mistake=base%201000")
    assert "Nothing is pinned" in text(tab, "#difference-twin")
    tab.click("text=Pin these settings")
    settled(tab)
    assert "All 128 cells are equal" in text(tab, "#difference-twin")
    follow(tab, tab.evaluate("location.hash.replace('&mistake=base+1000', '')"))
    assert settings(tab)["mistake"] == ""
    assert json.loads(settings(tab)["pin"])["mistake"] == "base 1000"
    right = Sinusoidal(dim=8).encode(np.arange(16))
    wrong = Sinusoidal(dim=8, base=1000).encode(np.arange(16))
    less = right - wrong
    differ, at = int((less != 0).sum()), np.abs(less).argmax()
    words = text(tab, "#difference-twin")
    assert f"{differ} of 128 cells differ, by most at position {at // 8}, feature {at % 8}" in words
    got = pixels(tab, "figure.difference .sheet canvas")
    np.testing.assert_array_equal(got, painted(less.astype(float), np.abs(less).max()))
    held = values(tab)
    visit(tab.url.removeprefix(tab.evaluate("location.origin")))
    np.testing.assert_array_equal(values(tab), held)
    assert text(tab, "#difference-twin") == words
    tab.click("text=Remove the pin")
    settled(tab)
    assert "pin" not in tab.url


def test_masked_cells_are_no_difference(visit):
    pin = address(kind="alibi", heads=4)
    tab = visit(f"/table#v=1&encoding=alibi&heads=8&head=1&pin={pin}")
    some, other = (Alibi(heads=heads).bias(np.arange(64), np.arange(64))[1] for heads in (8, 4))
    with np.errstate(invalid="ignore"):
        differ = int((np.nan_to_num(some - other) != 0).sum())
    assert f"{differ:,} of 4,096 cells differ" in text(tab, "#difference-twin")


def test_tables_of_different_shape(visit):
    tab = visit(f"/table#v=1&dim=8&pin={address(kind='sinusoidal', dim=16)}")
    assert "is 64 by 16, this one 64 by 8: they cannot be compared" in text(tab, "#difference-twin")


@pytest.mark.parametrize("pin", ["{", "nonsense", "[]", '{"kind": "sinusoidal", "dim": -1}'])
def test_a_pin_that_is_no_encoding(visit, pin):
    tab = visit(f"/table#v=1&pin={quote(pin)}")
    assert text(tab, "#notice")
    assert "undefined" not in text(tab, "#notice")
    assert values(tab).shape == (64, 64)
    visit.forgive("status of 400")


def offered(tab, name):
    return tab.locator(f"#mistake option[value='{name}']").text_content()


def test_a_mistake_sets_along_what_it_needs(visit):
    tab = visit("/table#v=1&encoding=rotary")
    assert offered(tab, "YaRN ramp reversed") == "YaRN ramp reversed (sets Scaling to YaRN)"
    tab.select_option("#mistake", "YaRN ramp reversed")
    settled(tab)
    assert settings(tab)["scaling"] == "yarn"
    assert "Mistake switched on" in text(tab, "#remark")
    assert text(tab, "#notice") == ""
    assert offered(tab, "YaRN ramp reversed") == "YaRN ramp reversed"


def test_a_mistake_leaves_what_is_right_for_it(visit):
    tab = visit("/table#v=1&encoding=alibi&heads=12")
    assert offered(tab, "plain slopes") == "plain slopes"
    tab.select_option("#mistake", "plain slopes")
    settled(tab)
    assert settings(tab)["heads"] == 12
    assert settings(tab)["mistake"] == "plain slopes"
