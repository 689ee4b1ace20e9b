"""The explorer as files: one that opens from disk, and a folder for any web host."""

import base64
import functools
import gzip
import hashlib
import http.server
import importlib
import json
import re
import threading
from pathlib import Path

import numpy as np
import pytest
from browsing import only
from hypothesis import given, strategies as st
from typer.testing import CliRunner

import posenc
from posenc import __main__ as command, explorer, spec
from posenc.explorer.copies import bundle, held, packing, shelves, single, writing
from posenc.explorer.rooms import ROOMS

# The whole takes long to make: two rooms, and encodings with waves, gaps and arrays, show the same.
SOME_ROOMS = ("table", "stretch")
SOME_KINDS = ("sinusoidal", "rotary", "t5", "deberta")


@pytest.fixture(scope="module")
def exports(tmp_path_factory):
    place = tmp_path_factory.mktemp("exports")
    with only(SOME_ROOMS, SOME_KINDS):
        for target in ("one.html", "host/deep/folder"):
            size = explorer.export(place / target)
            assert size > 10_000
    return place


@pytest.fixture
def tab(browser):
    """A tab that takes down what it asks for from elsewhere, and what it complains of."""
    with browser.new_context(viewport={"width": 1280, "height": 900}) as context:
        context.add_init_script(
            "addEventListener('securitypolicyviolation', "
            "(event) => console.error('policy', event.violatedDirective))"
        )
        tab = context.new_page()
        tab.set_default_timeout(10_000)
        complaints, requests = [], []
        tab.on("console", lambda message: complaints.append(message.text))
        tab.on("pageerror", lambda error: complaints.append(str(error)))
        tab.on("request", lambda request: requests.append(request.url))
        tab.requests = requests
        yield tab
    assert complaints == []


@pytest.fixture(scope="module")
def host(exports):
    """A plain web host with the folder deep inside."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *words):
            pass

    handler = functools.partial(Quiet, directory=str(exports / "host"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as serving:
        thread = threading.Thread(target=serving.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{serving.server_address[1]}"
        serving.shutdown()
        thread.join()


def drawn(tab):
    """Waits until every picture in sight has said in words what it shows."""
    tab.wait_for_function(
        """() => {
            const figures = [...document.querySelectorAll("figure[data-view]")];
            const shown = figures.filter((figure) => !figure.hidden);
            const twins = shown.map((figure) => figure.querySelector("figcaption").textContent);
            return twins.length && twins.every(Boolean);
        }"""
    )


def said(tab):
    return " ".join(tab.locator("figcaption").all_inner_texts())


def press_check(tab):
    tab.evaluate("document.getElementById('check').click()")
    tab.wait_for_function("() => document.getElementById('notice').textContent")
    return tab.locator("#notice").inner_text()


def test_one_file_opens_from_disk(exports, tab):
    address = (exports / "one.html").as_uri()
    tab.goto(address)
    tab.get_by_role("link", name="Table").first.click()
    drawn(tab)
    assert tab.title().startswith("Table")
    wanted = posenc.Sinusoidal(dim=64).encode(np.arange(11))[10, 4]
    assert f"{wanted:.4f}".replace("-", "−")[:6] in said(tab)
    tab.locator("nav").get_by_role("link", name="Stretch").click()
    tab.wait_for_function("() => document.title.startsWith('Stretch')")
    drawn(tab)
    elsewhere = [url for url in tab.requests if not url.startswith(("blob:", "data:", address))]
    assert elsewhere == []


@pytest.mark.parametrize(
    ("hash", "cells"),
    [
        ("room=table&v=1&encoding=rotary&scaling=yarn&base=500000", 64 * 64),
        ("room=table&v=1&encoding=deberta&head=7", 24 * 24),
        pytest.param("room=table", 64 * 64, marks=pytest.mark.slow),
        pytest.param("room=table&v=1&encoding=t5&head=5", 64 * 64, marks=pytest.mark.slow),
        ("room=table&v=1&encoding=sinusoidal&mistake=feature+taken+for+pair", 12 * 64),
    ],
)
def test_numbers_in_a_file_are_the_library_s(exports, tab, hash, cells):
    tab.goto(f"{(exports / 'one.html').as_uri()}#{hash}")
    drawn(tab)
    assert tab.locator("#notice").inner_text() == ""
    assert (
        press_check(tab)
        == f"{cells:,} numbers compared with the library's, bit by bit: all are equal."
    )


def test_check_finds_a_wrong_number(exports, tab, tmp_path):
    # The fingerprint of the library's table no longer fits the recipe beside it.
    text = (exports / "one.html").read_text()
    packed = re.search('id="numbers">(.*?)</script>', text)[1]
    inside = gzip.decompress(base64.b64decode(packed))
    wrong = re.sub(rb'"[0-9a-f]{64}"', b'"%s"' % (b"0" * 64), inside)
    changed = base64.b64encode(gzip.compress(wrong)).decode()
    (tmp_path / "changed.html").write_text(text.replace(packed, changed))
    tab.goto(f"{(tmp_path / 'changed.html').as_uri()}#room=table")
    drawn(tab)
    assert "differ from the library's" in press_check(tab)


def test_settings_of_a_file_are_in_its_address(exports, tab):
    address = (exports / "one.html").as_uri()
    tab.goto(f"{address}#room=table&v=1&encoding=rotary")
    drawn(tab)
    tab.locator("#position").fill("12")
    tab.locator("#position").press("Enter")
    tab.wait_for_function("() => location.hash.includes('position=12')")
    assert tab.evaluate("location.hash") == "#room=table&v=1&encoding=rotary&position=12"
    link = tab.locator("nav").get_by_role("link", name="Stretch")
    assert link.get_attribute("href").endswith("#room=stretch&v=1&encoding=rotary&position=12")
    tab.reload()
    drawn(tab)
    assert tab.locator("#position").input_value() == "12"
    assert tab.locator("#encoding").input_value() == "rotary"


def test_a_mistake_in_a_file_begins_at_zero(exports, tab):
    start = f"{(exports / 'one.html').as_uri()}#room=table&v=1&encoding=sinusoidal"
    tab.goto(f"{start}&from=1000&position=1003")
    drawn(tab)
    assert tab.locator("#from").input_value() == "1000"
    tab.select_option("#mistake", "degrees")
    tab.locator("#remark").get_by_text("Mistake switched on").wait_for()
    assert tab.locator("#from, #count").count() == 0
    assert tab.locator("#position").input_value() == "11"
    assert tab.locator("#position").get_attribute("max") == "11"
    assert "position 11" in said(tab)


@pytest.mark.parametrize(
    "hash", ["room=nowhere", "room=__proto__", "%", "room=table&v=1&dim=7&x=<b>"]
)
def test_hostile_hashes(exports, tab, hash):
    tab.goto(f"{(exports / 'one.html').as_uri()}#{hash}")
    if "table" in hash:
        drawn(tab)
        assert "does not fit" in tab.locator("#notice").inner_text()
    else:
        tab.get_by_role("heading", level=1).wait_for()
        assert tab.title() == "posenc explorer"


def test_what_is_not_held_is_refused_in_words(exports, tab):
    tab.goto(f"{(exports / 'one.html').as_uri()}#room=stretch")
    drawn(tab)
    assert "needs the library" in tab.locator("figure[data-view=reading]").inner_text()
    assert "This copy of the explorer holds a few values" in tab.locator("#notes").inner_text()


def test_folder_under_any_prefix(exports, host, tab):
    tab.goto(f"{host}/deep/folder/")
    tab.get_by_role("link", name="Stretch").first.click()
    drawn(tab)
    tab.goto(f"{host}/deep/folder/table.html#v=1&encoding=rotary&scaling=llama3")
    drawn(tab)
    assert "all are equal" in press_check(tab)
    tab.locator("nav").get_by_role("link", name="Stretch").click()
    drawn(tab)
    assert tab.url.startswith(f"{host}/deep/folder/stretch.html")
    assert all(url.startswith((f"{host}/deep/folder/", "blob:", "data:")) for url in tab.requests)


def test_folder_from_disk_says_what_to_do(exports, browser):
    with browser.new_context() as context:
        tab = context.new_page()
        tab.goto((exports / "host/deep/folder/table.html").as_uri())
        assert "need a web host" in tab.locator("#notice").inner_text()


def test_folder_names_no_place(exports):
    folder = exports / "host/deep/folder"
    for file in folder.rglob("*"):
        if file.suffix in (".html", ".json"):
            text = file.read_text()
            assert not re.search(r'(href|src)="/', text), file
            assert str(exports) not in text
            assert str(Path(posenc.__file__).parent) not in text
    assert sorted(path.name for path in folder.iterdir()) == [
        "data",
        "index.html",
        "static",
        "stretch.html",
        "table.html",
    ]
    assert (folder / "static/maths.woff").read_bytes()[:4] == b"wOFF"


@pytest.mark.slow
def test_same_export_twice_is_the_same(exports, tmp_path):
    with only(SOME_ROOMS, SOME_KINDS):
        explorer.export(tmp_path / "again.html")
    assert (tmp_path / "again.html").read_bytes() == (exports / "one.html").read_bytes()


def test_shelf_holds_the_library_s_numbers():
    shelf = shelves.shelf("rotary", ["waves"])
    one = next(each for each in shelf["recipes"] if each["spec"]["scaling"])
    positions = np.arange(one["rows"])
    cos, sin = spec.from_data(one["spec"]).table(positions)
    table = np.concatenate([cos, sin], axis=-1).astype("<f4")
    assert one["sums"] == {"": hashlib.sha256(table.tobytes()).hexdigest()}


@pytest.mark.parametrize(
    "room",
    [
        pytest.param(name, marks=pytest.mark.slow) if room.answer else name
        for name, room in ROOMS.items()
    ],
)
def test_controls_of_a_copy_reach_only_what_it_holds(room):
    content = held.content(room)
    for kind, method in content["methods"].items():
        offered = {
            control["name"]: [option["value"] for option in control["options"]]
            for control in method["controls"]
            if control.get("when", {}).get("encoding") != [] and control["name"] != "mistake"
        }
        chosen = held.values(room, kind)
        assert list(offered) == [each for each in offered if each in chosen]
        assert {name: len(options) for name, options in offered.items()} == {
            name: len(chosen[name]) for name in offered
        }
        first = {control["name"]: control["default"] for control in method["controls"]}
        for name, options in offered.items():
            assert first[name] in options


def test_an_earlier_export_is_replaced_and_nothing_else(exports, tmp_path):
    other = tmp_path / "notes.html"
    other.write_text("<p>mine</p>")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "mine.txt").write_text("mine")
    for target, words in (
        (other, "is not an export, and stays as it is"),
        (folder, "is not an export, and stays as it is"),
        (tmp_path / "as.html", "is a folder"),
        (tmp_path / "plain", "is a file"),
    ):
        if target.name == "as.html":
            target.mkdir()
        if target.name == "plain":
            target.write_text("")
        with pytest.raises(ValueError, match=words):
            explorer.export(target)
    assert other.read_text() == "<p>mine</p>"
    assert (folder / "mine.txt").read_text() == "mine"
    with only(["waves"], ["sinusoidal"]):
        old = tmp_path / "old"
        for _ in range(2):
            explorer.export(old)
            (old / "data" / "left.json").touch()
        explorer.export(old)
    assert not (old / "data" / "left.json").exists()
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_nothing_half_made_is_left(tmp_path):
    def stop(words):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        explorer.export(tmp_path / "some", progress=stop)
    assert list(tmp_path.iterdir()) == []


def test_command(tmp_path):
    importlib.import_module(
        "posenc.study.copied"
    )  # which lists every encoding: before most are gone
    with only(["waves"], ["sinusoidal"]):
        result = CliRunner().invoke(command.app, ["export", str(tmp_path / "one.html")])
    assert result.exit_code == 0
    assert re.search(r"wrote .*one\.html \(\d+\.\d MB\)", result.output)


def test_modules_come_after_what_they_import():
    done = set()
    for path, source in bundle.modules("rooms/table.js"):
        assert set(re.findall('"module:(.*?)"', source)) <= done
        assert "import.meta" not in source
        if path == "worker.js":
            assert not re.search(r"^(import|export)\b", source, re.MULTILINE)
        done.add(path)
    assert {"rooms/table.js", "main.js", "worker.js", "kernel.js"} <= done


def test_a_file_of_one_room_holds_the_modules_of_no_other():
    content = held.content("waves")
    copy = {"kind": "notebook", "room": "waves", "settings": ""}
    written = single.page(copy, {"waves": content}, {})
    program = re.search('id="program">(.*?)</script>', written)[1]
    inside = gzip.decompress(base64.b64decode(program))
    assert b'"rooms/waves.js"' in inside
    for other in ("rooms/table.js", "views/gram.js", "front.js"):
        assert b'"%s"' % other.encode() not in inside


@given(
    st.recursive(
        st.sampled_from([None, 0.5, "short", *(letter * 70 for letter in "abc")]),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=3), inner),
        max_leaves=20,
    )
)
def test_parts_make_the_whole(data):
    twice = {"one": data, "other": [data, data]}
    parts = packing.pooled(twice)
    made = []

    def filled(value):
        if isinstance(value, list):
            return [filled(one) for one in value]
        if isinstance(value, dict):
            if list(value) == ["part"]:
                return made[value["part"]]
            return {name: filled(one) for name, one in value.items()}
        return value

    for part in parts:
        made.append(filled(part))
    assert made[-1] == twice
    written = [json.dumps(part) for part in parts[:-1]]
    assert len(set(written)) == len(written)


def test_circles_of_modules_are_named(tmp_path, monkeypatch):
    (tmp_path / "one.js").write_text('import { b } from "./other.js";\n')
    (tmp_path / "other.js").write_text('import { a } from "./one.js";\n')
    monkeypatch.setattr(bundle, "STATIC", tmp_path)
    with pytest.raises(ValueError, match=r"one\.js -> other\.js -> one\.js"):
        bundle.modules("one.js")


@pytest.mark.slow
def test_everything_in_one_file(tmp_path, tab):
    size = writing.export(tmp_path / "all.html")
    assert size <= 1_000_000
    for room in ROOMS:
        for kind in held.content(room)["methods"]:
            tab.goto("about:blank")
            tab.goto(f"{(tmp_path / 'all.html').as_uri()}#room={room}&v=1&encoding={kind}")
            drawn(tab)
            assert tab.locator("#notice").inner_text() == "", (room, kind)
