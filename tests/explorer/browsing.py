"""What the tests of the explorer do in a browser."""

import base64
import contextlib

import numpy as np
import pytest

from posenc.explorer import page
from posenc.explorer.methods import METHODS
from posenc.explorer.rooms import ROOMS

# Tests of one file are run room by room, so that they can share what is loaded.
every_room = pytest.mark.parametrize("room", ROOMS, scope="module")

# What hardly differs from room to room is tested in two that do, and with the slow tests in all.
some_rooms = pytest.mark.parametrize(
    "room",
    [
        pytest.param(room, marks=[pytest.mark.slow] * (room not in ("waves", "bias")))
        for room in ROOMS
    ],
    scope="module",
)


@contextlib.contextmanager
def only(rooms, kinds):
    """Some rooms and encodings instead of all, so that what is saved is small and soon made."""
    whole = [(ROOMS, dict(ROOMS), rooms), (METHODS, dict(METHODS), kinds)]
    try:
        for known, before, kept in whole:
            for name in set(before) - set(kept):
                del known[name]
        page.font.cache_clear()
        yield
    finally:
        page.font.cache_clear()
        for known, before, _ in whole:  # in their order
            known.clear()
            known.update(before)


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
        """(hash) => new Promise((done, failed) => {
            addEventListener("hashchange", done, { once: true });
            setTimeout(failed, 5000, "the address was this one already");
            location.hash = hash;
        })""",
        hash,
    )
    settled(tab)


def unfold(tab):
    """Opens everything that is folded in what can be seen."""
    tab.evaluate(
        """() => {
            for (const each of document.querySelectorAll("details")) {
                if (each.checkVisibility()) each.open = true;
            }
        }"""
    )
    settled(tab)


def boxes(tab, selector):
    """(left, top, right, bottom) of every element."""
    return tab.evaluate(
        """(selector) => [...document.querySelectorAll(selector)]
            .filter((element) => element.checkVisibility())
            .map((element) => {
                const { left, top, right, bottom } = element.getBoundingClientRect();
                return [left, top, right, bottom];
            })""",
        selector,
    )


def downloaded(tab, selector):
    """What the page saves when a button is pressed: its name and its bytes."""
    with tab.expect_download(timeout=10_000) as download:
        tab.click(selector)
    return download.value.suggested_filename, download.value.path().read_bytes()


def controls(tab):
    """Names of the settings of the room, not of the encoding, that the form has now."""
    return tab.evaluate(
        """async () => {
            const { controlsOf } = await import("/static/state.js");
            const { current } = await import("/static/main.js");
            const page = JSON.parse(document.getElementById("page").textContent);
            const own = ({ silent, path, group }) => !silent && !path && group !== "encoding";
            return controlsOf(page, current().settings).filter(own).map(({ name }) => name);
        }"""
    )


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
