"""What one can take along from a page: pictures, numbers, Python and a link."""

import io
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from browsing import downloaded, every_room, settled, some_rooms, text, values
from PIL import Image
from playwright.sync_api import expect

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_picture_as_png(visit, theme):
    tab = visit("/waves", theme=theme)
    box = tab.locator("figure.matrix").bounding_box()
    name, data = downloaded(tab, "figure.matrix .save button:nth-child(1)")
    image = np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))
    assert name == "posenc-matrix.png"
    assert np.abs(np.subtract(image.shape[:2], (2 * box["height"], 2 * box["width"]))).max() < 2
    colours = np.unique(image.reshape(-1, 3), axis=0)
    assert len(colours) > 100
    card = {"light": (255, 255, 255), "dark": (29, 30, 33)}[theme]
    assert tuple(image[4, 4]) == card
    # A cell of the table, in the middle of where the page shows it.
    sheet = tab.locator(".sheet canvas").bounding_box()
    x = sheet["x"] - box["x"] + 0.5 * sheet["width"] / 64
    y = sheet["y"] - box["y"] + 0.5 * sheet["height"] / 64
    zero = tab.evaluate(
        """() => {
            const context = document.querySelector(".sheet canvas").getContext("2d");
            return [...context.getImageData(0, 0, 1, 1).data];
        }"""
    )
    assert tuple(image[round(2 * y), round(2 * x)]) == tuple(zero[:3])


@some_rooms
def test_every_picture_as_svg(visit, room):
    tab = visit.shown(room)
    ways = tab.locator("figure[data-view]:not([hidden]) .save button:nth-child(2)")
    assert ways.count() >= 1
    for at in range(ways.count()):
        with tab.expect_download(timeout=10_000) as download:
            ways.nth(at).click()
        words = download.value.path().read_text()
        drawing = ElementTree.fromstring(words)
        assert drawing.tag == f"{SVG}svg"
        assert float(drawing.get("width")) > 100
        drawn = {part.tag.removeprefix(SVG) for part in drawing.iter()}
        assert "text" in drawn
        assert drawn & {"path", "image", "rect", "circle", "line"}
        assert drawn.isdisjoint({"script", "style", "foreignObject", "use"})
        for part in drawing.iter():
            for name, value in part.attrib.items():
                assert not name.startswith("on")
                assert name != "class"
                if name.endswith("href"):
                    assert value.startswith("data:image/png;base64,")
                else:
                    assert "url(" not in value
                    assert "NaN" not in value


PLACES = [
    ("/waves", "v=1&dim=8&from=131072&count=5"),
    ("/table", "v=1&encoding=learned&count=5"),
    ("/bias", "v=1&heads=12&head=9&count=7"),
]


@pytest.mark.parametrize(("room", "hash"), PLACES)
def test_numbers_as_files(visit, room, hash):
    tab = visit(f"{room}#{hash}")
    want = values(tab)
    name, data = downloaded(tab, "#npy")
    got = np.load(io.BytesIO(data), allow_pickle=False)
    assert name == "posenc-table.npy"
    assert got.dtype == np.float32
    np.testing.assert_array_equal(got.view(np.uint32), want.view(np.uint32))
    name, data = downloaded(tab, "#csv")
    head, *lines = data.decode().splitlines()
    got = np.asarray([line.split(",") for line in lines])
    assert name == "posenc-table.csv"
    assert len(head.split(",")) == want.shape[1] + 1
    assert head.split(",")[0] in ("position", "query")
    assert got[0, 0] == ("131072" if "from" in hash else "0")
    numbers = got[:, 1:].astype(np.float64).astype(np.float32)
    np.testing.assert_array_equal(numbers.view(np.uint32), want.view(np.uint32))


def copied(tab, button):
    """What a button puts into the clipboard."""
    tab.evaluate(
        """() => {
            document.getElementById("notice").textContent = "";
            navigator.clipboard.writeText = async (text) => { window.copied = text; };
        }"""
    )
    tab.click(button)
    tab.wait_for_selector("#notice:has-text('is in the clipboard')")
    settled(tab)
    return tab.evaluate("window.copied")


@pytest.mark.parametrize(
    "hash",
    [
        "v=1&dim=12&layout=half&from=1000&count=9",
        "v=1&encoding=rotary&scaling=yarn&count=9&from=7",
        "v=1&encoding=alibi&heads=12&head=3&count=9",
        "v=1&encoding=t5&head=2&count=40",
        "v=1&encoding=learned&count=9",  # with weights of a seed
        "v=1&encoding=sinusoidal_axes&cells=5&count=20",  # on a grid
        "v=1&encoding=sinusoidal&mistake=degrees&count=9",
        "v=1&encoding=alibi&mistake=sign+of+the+bias&count=9",
    ],
)
def test_python_makes_the_numbers_of_the_page(visit, hash):
    tab = visit(f"/table#{hash}")
    visit.forgive("status of 400")
    made = {}
    exec(copied(tab, "#python"), made)
    got = np.asarray(made["table"], dtype=np.float32)
    want = values(tab)
    assert got.shape == want.shape
    np.testing.assert_array_equal(got.view(np.uint32), want.view(np.uint32))


@every_room
def test_python_of_every_room_runs(visit, room):
    tab = visit.shown(room)
    words = copied(tab, "#python")
    assert "undefined" not in words
    exec(words, {})


def test_link(visit):
    tab = visit("/waves#v=1&position=20")
    assert copied(tab, "#copy") == tab.url
    assert "The link is in the clipboard." in text(tab, "#notice")


def test_a_clipboard_that_is_closed(visit):
    tab = visit("/waves#v=1&position=20")
    assert not tab.locator("#shown").is_visible()
    want = copied(tab, "#python")
    tab.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error()); }")
    tab.click("#python")
    tab.wait_for_selector("#shown")
    assert tab.input_value("#shown") == want
    assert want.count("\n") >= 4  # its lines are kept
    assert tab.evaluate("document.activeElement.id") == "shown"
    assert tab.evaluate("getSelection().toString()").strip() == want.strip()
    box = "(box) => box.scrollHeight <= box.clientHeight"
    assert tab.locator("#shown").evaluate(box)  # all of it in sight
    tab.click("#copy")
    expect(tab.locator("#shown")).to_have_value(tab.url)
