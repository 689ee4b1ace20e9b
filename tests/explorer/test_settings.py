"""Settings of the page: sliders, fields and the address, in a real browser."""

import numpy as np
from browsing import follow, settings, settled, text, values

from posenc.explorer import recipes


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
    spoken = tab.get_attribute("#column-slider", "aria-valuetext")
    assert spoken == f"feature 4 (sine of pair 2): {value} at position 11"
    assert tab.get_attribute("#dim-slider", "aria-valuetext") == "64 features"
    for view in ("waves", "vector", "matrix"):
        assert "position 11" in text(tab, f"#{view}-twin").lower()
        assert value in text(tab, f"#{view}-twin")


def test_a_table_far_out_takes_the_cursor_along(visit):
    tab = visit()
    tab.fill("#from", "131072")
    tab.press("#from", "Enter")
    settled(tab)
    assert settings(tab)["position"] == 131_082
    assert "position 131,082" in text(tab, "#vector-twin")


def test_pointer_sets_the_cursor(visit):
    tab = visit()
    box = tab.locator(".sheet canvas").bounding_box()
    tab.mouse.click(box["x"] + box["width"] * 20.5 / 64, box["y"] + box["height"] * 30.5 / 64)
    settled(tab)
    assert (settings(tab)["position"], settings(tab)["column"]) == (30, 20)
    box = tab.locator("figure.vector svg").bounding_box()
    tab.mouse.click(box["x"] + box["width"] * 40.5 / 64, box["y"] + 5)
    settled(tab)
    assert settings(tab)["column"] == 40


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
    follow(tab, "v=1&waves=63,1&column=1")
    assert tab.locator(".tracks .name").all_inner_texts() == ["feature 1", "feature 63"]


def test_a_value_that_does_not_fit_gives_way_to_the_nearest(visit):
    tab = visit("/waves#encoding=rotary")
    for field, wrong, words, nearest in [
        ("dim", "5", "Head width must be an even number from 2 to 1024", "6"),
        ("dim", "2000", "Head width must be an even number from 2 to 1024", "1024"),
        ("base", "0", "Base must be a number from 1 to 1000000000", "1"),
        ("position", "1.2", "Position must be a whole number from 0 to 63", "1"),
        ("position", "", "Position must be a whole number", "1"),
        ("count", "513", "Positions shown must be a whole number from 1 to 512", "512"),
        ("from", "1e10", "First position must be a whole number", str(recipes.FARTHEST)),
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


def test_what_no_encoding_allows_is_taken_back(visit):
    tab = visit("/waves#v=1&dim=8")
    tab.fill("#dim", "5")
    tab.press("#dim", "Enter")
    settled(tab)
    assert "`dim` must be even" in text(tab, "#notice")
    assert (tab.input_value("#dim"), values(tab).shape) == ("8", (64, 8))
    visit.forgive("status of 400")  # which the browser puts into its console


def test_a_server_that_is_gone(visit):
    tab = visit()
    asked = []
    tab.route("**/data/recipe?*", lambda route: (asked.append(route), route.abort()))
    tab.fill("#dim", "32")
    tab.press("#dim", "Enter")
    tab.wait_for_selector("#notice:has-text('stopped answering')")
    settled(tab)
    assert (len(asked), settings(tab)["dim"]) == (1, 64)
    visit("/waves#v=1&dim=32")  # not even a first picture: it tries its defaults, and then rests
    tab.unroute_all()
    assert len(asked) == 3
    assert "stopped answering" in text(tab, "#notice")
    visit.forgive("net::ERR_FAILED")  # which the browser puts into its console


def test_what_the_library_refuses_is_taken_back(visit):
    tab = visit()
    words = "`dim` must be something else."
    tab.route("**/data/recipe?*", lambda route: route.fulfill(status=400, body=words))
    tab.fill("#dim", "32")
    tab.press("#dim", "Enter")
    tab.wait_for_selector(f"#notice:has-text('{words}')")
    settled(tab)
    tab.unroute_all()
    assert (tab.input_value("#dim"), values(tab).shape) == ("64", (64, 64))
    visit.forgive("status of 400")  # which the browser puts into its console
