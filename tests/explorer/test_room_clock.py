"""The room of clocks: which pairs have finished a turn, where hands point, and playing."""

import re

import numpy as np
import pytest
from browsing import follow, settings, settled, text

from posenc.explorer.methods import METHODS
from posenc.explorer.rooms import ROOMS


def turned(position, dim=64, base=10000.0):
    """Turns of each pair by a position, from the formula of the paper."""
    return position * base ** (-np.arange(0, dim, 2) / dim) / (2 * np.pi)


def played(tab):
    """Presses the button; says at which positions the page was until it stopped."""
    found = tab.evaluate(
        """async () => {
            const button = document.querySelector(".clocks .drawing button");
            const seen = [];
            button.click();
            do {
                seen.push(Number(document.getElementById("position").value));
                await new Promise(requestAnimationFrame);
            } while (button.textContent === "Pause");
            return seen;
        }"""
    )
    settled(tab)
    return found


def test_shows_what_has_pairs():
    shown = {kind for kind, method in METHODS.items() if ROOMS["clock"].shows(method.encoding)}
    assert {"sinusoidal", "rotary", "xpos", "axial_rotary", "mixed_rotary", "m_rotary"} <= shown
    assert not shown & {"learned", "alibi", "t5", "shaw"}


@pytest.mark.parametrize(
    ("position", "dim"),
    [
        (20, 64),
        pytest.param(0, 8, marks=pytest.mark.slow),
        pytest.param(300, 128, marks=pytest.mark.slow),
    ],
)
def test_pairs_that_have_finished_a_turn(visit, position, dim):
    tab = visit(f"/clock#v=1&position={position}&dim={dim}&count=512")
    done = int((turned(position, dim) >= 1).sum())
    twin = text(tab, "#clocks-twin")
    if done:
        assert f"{done} of {dim // 2} pairs have finished a turn: 0 to {done - 1}." in twin
    else:
        assert f"none of the {dim // 2} pairs has finished a turn" in twin
    assert f"The next to finish one is pair {done}," in text(tab, "#turns-twin")


def test_odometer_counts_turns(visit):
    tab = visit("/clock#v=1&position=300&count=512&column=10")
    turns = turned(300)
    twin = text(tab, "#odometer-twin")
    said = dict(re.findall(r"pair (\d+), ([\d.]+) turns", twin))
    assert list(said)[::-1] == sorted(said, key=int)  # slow ones first
    assert {"0", "5", "31"} <= set(said)
    assert said == {pair: f"{turns[int(pair)]:.2f}" for pair in said}
    rounds = tab.locator(".wheels .current span").inner_text()
    assert rounds == f"{int(turns[5])} turns"
    roll = tab.locator(".wheels .current g").get_attribute("transform")
    assert float(roll.split()[1].strip(")")) == pytest.approx(-10 * (turns[5] % 1), abs=1e-3)


def test_a_hand_points_where_sine_and_cosine_say(visit):
    # The hand under the cursor alone has its colour; its farthest pixel is its tip.
    tab = visit("/clock#v=1&dim=8&position=2&column=0&trail=0")
    x, y = tab.evaluate(
        """() => {
            const canvas = document.querySelector(".clocks canvas");
            const { width, height } = canvas;
            const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
            const style = getComputedStyle(document.querySelector(".clocks"));
            const probe = document.createElement("canvas").getContext("2d");
            probe.fillStyle = style.getPropertyValue("--plus");
            probe.fillRect(0, 0, 1, 1);
            const wanted = probe.getImageData(0, 0, 1, 1).data;
            const found = [];
            for (let at = 0; at < width * height; at += 1) {
                if ([0, 1, 2].every((c) => data[4 * at + c] === wanted[c])) {
                    found.push([at % width, Math.floor(at / width)]);
                }
            }
            const mean = (axis) => found.reduce((sum, each) => sum + each[axis], 0) / found.length;
            const side = Math.min(width / 4, 116 * devicePixelRatio);
            return [mean(0) - side / 2, 0.42 * side - mean(1)];
        }"""
    )
    assert np.arctan2(x, y) == pytest.approx(2.0, abs=0.1)  # from twelve, clockwise


@pytest.mark.slow
def test_a_click_on_a_dial_chooses_its_pair(visit):
    tab = visit("/clock#v=1&dim=8")
    tab.locator(".clocks canvas").click(position={"x": 8, "y": 20})
    settled(tab)
    assert settings(tab)["column"] == 0
    assert "The hand of pair 0, under the cursor" in text(tab, "#clocks-twin")


def test_play_goes_to_the_end_and_again(visit):
    tab = visit("/clock#v=1&count=8&position=5&speed=30")
    assert tab.evaluate("document.getAnimations().length") == 0
    assert played(tab)[0] == 5
    assert settings(tab)["position"] == 7
    assert "position=7" in tab.url
    again = played(tab)
    assert again[0] == 0  # from the beginning
    assert again == sorted(again)
    assert settings(tab)["position"] == 7


def test_settings_stand_in_the_address(visit):
    tab = visit("/clock#v=1&speed=8&trail=0&encoding=rotary&position=3")
    assert settings(tab) | {"speed": 8, "trail": 0, "position": 3} == settings(tab)
    tab.reload()
    settled(tab)
    assert settings(tab)["trail"] == 0
    follow(tab, "v=1&speed=99&trail=-1")
    assert "Speed of play must be a whole number from 1 to 30, not “99”" in text(tab, "#notice")
    assert "Trail must be a whole number from 0 to 24" in text(tab, "#notice")
    assert settings(tab)["speed"] == 30


def test_on_a_grid_each_pair_counts_along_its_own_axis(visit):
    # Cell 47 of rows of 8 is row 5, column 7; the default base is 100, half of the pairs for each.
    tab = visit("/clock#v=1&encoding=axial_rotary&position=47")
    frequencies = 100.0 ** (-np.arange(16) / 16)
    rows, columns = ((at * frequencies / (2 * np.pi) >= 1).sum() for at in (5, 7))
    assert (rows, columns) == (0, 1)
    assert "1 of 32 pairs has finished a turn: 16." in text(tab, "#clocks-twin")


@pytest.mark.parametrize(
    ("hash", "column", "pair", "angle"),
    [
        # Cell 20 of rows of 8 is row 2, column 4 of 8: its centre is (2.5 / 8, 4.5 / 8).
        ("", 12, 4, 4 * 2.5 / 8),  # two coordinates, then sine and cosine of both for 1, 2, 4
        ("&grouping=axis&include_input=false", 25, 12, 4 * 4.5 / 8),
        ("&pi=true&grouping=axis&include_input=false", 25, 12, 4 * np.pi * 4.5 / 8),
    ],
)
def test_octaves_have_hands(visit, hash, column, pair, angle):
    tab = visit(f"/clock#v=1&encoding=nerf&position=20&column={column}{hash}")
    twin = text(tab, "#clocks-twin")
    minutes = round(angle / (2 * np.pi) * 60) % 60
    assert "At point 20 there are 20 hands." in twin
    assert f"The hand of pair {pair}, under the cursor, points where a minute hand does at" in twin
    assert f"{minutes} minutes past twelve" in twin
    assert "pair by pair:" in text(tab, "#odometer-twin")


def test_a_bare_coordinate_has_no_hand(visit):
    tab = visit("/clock#v=1&encoding=nerf&position=20&column=1")
    assert "Column 1, under the cursor, has no partner and so no hand." in text(tab, "#clocks-twin")
    spoken = tab.get_attribute("#column-slider", "aria-valuetext")
    assert spoken.startswith("feature 1 (the coordinate itself): 0.5625")


@pytest.mark.slow
def test_pairs_without_one_speed_have_hands_and_no_count(visit):
    tab = visit("/clock#v=1&encoding=mixed_rotary&position=20")
    assert "At cell 20 there are 32 hands." in text(tab, "#clocks-twin")
    assert not tab.locator("figure.turns").is_visible()


@pytest.mark.parametrize("hash", ["encoding=bipe&inter=alibi", "mistake=transposed"])
def test_settings_that_leave_no_pair(visit, hash):
    tab = visit(f"/clock#v=1&{hash}&column=40")
    assert "0 of 64 columns are a sine or a cosine" in text(tab, "#clocks-twin")
    assert not tab.locator("figure.odometer, figure.turns").first.is_visible()
    follow(tab, "v=1")
    assert "2 of 32 pairs" in text(tab, "#clocks-twin")
    assert tab.locator(".clocks canvas").bounding_box()["width"] > 300


def test_one_pair(visit):
    tab = visit("/clock#v=1&encoding=sinusoidal&dim=2&position=6")
    assert "the one pair has not finished a turn." in text(tab, "#clocks-twin")
    follow(tab, "#v=1&encoding=sinusoidal&dim=2&position=7")
    assert "the one pair has finished a turn." in text(tab, "#clocks-twin")
