"""The room that shows encodings side by side: scores, the board of properties, and the facts."""

import json

import numpy as np
import pytest
from browsing import follow, settings, settled, text

import posenc
from posenc import Alibi, Learned, Rotary, Sinusoidal, properties
from posenc.explorer.methods import METHODS, QUESTIONS
from posenc.explorer.rooms.compare import LOOKED_AT, board
from posenc.properties import looks

FIRST = "sinusoidal,learned,rotary,alibi"


def said(value):
    return f"{value:.4f}".replace("-", "−")


def names(tab, selector=".multiples-list h3"):
    return tab.locator(selector).all_inner_texts()


def cells(tab, figure, row):
    """The cells of one row of a table, by the name of their encoding."""
    cells = tab.locator(f".{figure} tbody tr").nth(row).locator("td")
    return {cell.get_attribute("data-name"): cell.inner_text() for cell in cells.all()}


def test_scores_of_a_query_and_a_key(visit):
    tab = visit("/compare#v=1&position=20&column=4&head=2")
    code = Sinusoidal(dim=64).encode(np.arange(21), dtype=np.float64)
    query, key = (Rotary(dim=64).rotate(np.ones((1, 64)), np.asarray([at])) for at in (20, 4))
    [added] = Alibi(heads=8).bias(np.asarray([20]), np.asarray([4]))[3].tolist()
    twin = text(tab, "#multiples-twin")
    assert f"Sinusoidal {said(code[20] @ code[4])};" in twin
    # With ones in the first place of each pair, and zeros in the second, the score is half of it.
    assert f"Rotary {said(query[0] @ key[0] / 2)};" in twin
    assert f"ALiBi {said(added[0])}." in twin  # with its fourth head, as no head is chosen for it
    spoken = f"query 20: {said(code[20] @ code[4])} at key 4"
    assert tab.locator("#position-slider").get_attribute("aria-valuetext") == spoken
    follow(tab, "v=1&encoding=alibi&position=20&column=4&head=2")
    [added] = Alibi(heads=8).bias(np.asarray([20]), np.asarray([4]))[2].tolist()
    assert f"ALiBi {said(added[0])}." in text(tab, "#multiples-twin")


def test_numbers_as_they_are(visit):
    tab = visit("/compare#v=1&drawn_as=numbers&position=20&column=5")
    code = Sinusoidal(dim=64).encode(np.asarray([20]), dtype=np.float64)
    cos, _ = Rotary(dim=64).table(np.asarray([20]), dtype=np.float64)
    assert f"Sinusoidal {said(code[0, 5])};" in text(tab, "#multiples-twin")
    assert f"Rotary {said(cos[0, 5])};" in text(tab, "#multiples-twin")


def test_all_pictures_have_one_size(visit):
    tab = visit("/compare#v=1&kinds=sinusoidal,swin,alibi,shaw")
    boxes = [sheet.bounding_box() for sheet in tab.locator(".multiples-list .sheet").all()]
    assert len(boxes) == 4
    assert len({(round(box["width"]), round(box["height"])) for box in boxes}) == 1


def test_the_board_says_what_the_library_says(visit):
    tab = visit("/compare#v=1&trained=4096")
    codes = {"Sinusoidal": Sinusoidal(dim=64), "Learned": Learned(length=512, dim=64)}
    codes |= {"Rotary": Rotary(dim=64), "ALiBi": Alibi(heads=8)}
    for name, code in codes.items():
        for row, found in enumerate(properties.check(code, length=4096)):
            words = cells(tab, "board", row)[name]
            verdict = {True: "✓ yes", False: "✗ no", None: "– cannot be told"}[found.holds]
            assert words.splitlines() == [verdict, found.sentence]
    kept = sum(bool(row.holds) for row in properties.check(codes["ALiBi"], length=4096))
    assert f"ALiBi keeps {kept} of the 8 that can be told." in text(tab, "#board-twin")


def test_the_board_by_other_means():
    """Numbers behind the answers, made anew by NumPy alone."""
    rows = np.stack([np.outer(np.arange(512), 1e4 ** (-np.arange(0, 64, 2) / 64))])
    code = np.concatenate([np.cos(rows[0]), np.sin(rows[0])], axis=-1)
    far = np.linalg.norm(code[:, None] - code, axis=-1) + np.eye(512) * 99
    answers = {row["name"]: row for row in board(Sinusoidal(dim=64), trained="512")["properties"]}
    assert answers["distinct"]["value"] == pytest.approx(far.min(), rel=1e-9)
    curve = code @ code[-1]
    assert answers["decays"]["value"] == np.sum(np.diff(curve[::-1]) > 1e-9)
    unfinished = np.sum(2 * np.pi * 1e4 ** (np.arange(0, 64, 2) / 64) > 512)
    assert answers["finishes every turn"]["value"] == unfinished


def test_tolerances_are_those_of_the_library():
    assert set(LOOKED_AT) == {row.name for row in properties.check(Alibi(heads=1))}
    for name in ("shift is linear", "relative", "tells direction"):
        assert f"{looks._EXACT:f}" in LOOKED_AT[name]


def test_the_trained_length(visit):
    tab = visit("/compare#v=1&trained=64")
    assert "Position 512 is the first without numbers." in cells(tab, "board", 6)["Learned"]
    assert cells(tab, "board", 6)["Learned"].startswith("✓")
    follow(tab, "v=1&trained=100000")
    assert cells(tab, "board", 6)["Learned"].startswith("✗")
    follow(tab, "v=1&trained=0")
    assert "Trained length must be a whole number from 1" in text(tab, "#notice")
    for wrong in ("0", "9999999999", "many"):
        with pytest.raises(ValueError, match="`trained` must be"):
            board(Alibi(heads=1), trained=wrong)


def test_facts(visit):
    tab = visit("/compare#v=1&kinds=bipe,nerf")
    for row, question in enumerate(QUESTIONS):
        head = tab.locator(".facts tbody th").nth(row).inner_text()
        assert head == question
        found = cells(tab, "facts", row)
        assert found == {
            METHODS[kind].name: METHODS[kind].facts[row] for kind in ("sinusoidal", "nerf", "bipe")
        }


def test_fields_change_the_encoding_in_the_form_alone(visit):
    tab = visit("/compare#v=1&encoding=rotary&dim=16&position=20&column=4")
    query, key = (Rotary(dim=16).rotate(np.ones((1, 16)), np.asarray([at])) for at in (20, 4))
    code = Sinusoidal(dim=64).encode(np.arange(21), dtype=np.float64)
    twin = text(tab, "#multiples-twin")
    assert f"Rotary {said(query[0] @ key[0] / 2)};" in twin
    assert f"Sinusoidal {said(code[20] @ code[4])};" in twin
    distance = properties.check(Rotary(dim=16))["distinct"].sentence
    assert distance in cells(tab, "board", 1)["Rotary"]


def test_choosing_encodings_by_keyboard(visit):
    tab = visit("/compare")
    assert names(tab) == ["Sinusoidal", "Learned", "Rotary", "ALiBi"]
    tab.locator("[data-kind=t5]").focus()
    tab.keyboard.press("Enter")
    settled(tab)
    assert tab.url.endswith(f"#v=1&kinds={FIRST},t5")
    assert names(tab) == ["Sinusoidal", "Learned", "Rotary", "ALiBi", "T5"]
    assert tab.evaluate("document.activeElement.textContent") == "T5"
    tab.locator("[data-kind=learned]").click()
    settled(tab)
    assert settings(tab)["kinds"] == "sinusoidal,rotary,alibi,t5"
    assert names(tab) == ["Sinusoidal", "Rotary", "ALiBi", "T5"]
    assert names(tab, ".board thead th") == names(tab, ".facts thead th") == names(tab)
    tab.get_by_role("button", name="Change the fields of ALiBi").click()
    settled(tab)
    assert settings(tab)["encoding"] == "alibi"
    assert names(tab) == ["Sinusoidal", "Rotary", "ALiBi", "T5"]
    hash = tab.url.split("#")[1]
    kept = settings(tab)
    follow(tab, "v=1")
    follow(tab, hash)
    assert settings(tab).items() <= kept.items()
    assert tab.url.endswith(hash)


def test_the_encoding_in_the_form_is_always_there(visit):
    tab = visit("/compare#v=1&encoding=fire&kinds=")
    assert names(tab) == ["FIRE"]
    assert tab.locator("[data-kind=fire]").is_disabled()


def test_names_that_are_none(visit):
    tab = visit("/compare#v=1&kinds=rotary,rope,<b>")
    assert "No encoding is called “rope”, “<b>”." in text(tab, "#multiples-twin")
    assert names(tab) == ["Sinusoidal", "Rotary"]


def test_a_mistake_is_not_on_the_board(visit):
    tab = visit("/compare#v=1&mistake=sine+only")
    assert "The mistake that is switched on is not looked at" in text(tab, "#board-twin")


def test_what_a_teacher_hides(visit):
    tab = visit("/compare#v=1&hide=kinds,encoding")
    assert not tab.locator(".choose").is_visible()
    assert tab.locator(".multiples-list button:visible").count() == 0


def test_on_a_phone_each_cell_has_its_name(visit):
    tab = visit("/compare", width=320, height=700)
    assert tab.evaluate("document.documentElement.scrollWidth") == 320
    labels = tab.evaluate(
        "[...document.querySelectorAll('.ledger td[data-name]')]"
        ".map((cell) => getComputedStyle(cell, '::before').content)"
    )
    assert len(labels) == 4 * (len(LOOKED_AT) + len(QUESTIONS))
    assert labels[1].replace('"', "").startswith("Learned")


def test_pointer_chooses_a_query_and_a_key(visit):
    tab = visit("/compare")
    box = tab.locator(".multiples-list .sheet").nth(2).bounding_box()
    tab.mouse.click(box["x"] + box["width"] * 20.5 / 64, box["y"] + box["height"] * 30.5 / 64)
    settled(tab)
    assert (settings(tab)["position"], settings(tab)["column"]) == (30, 20)


@pytest.mark.parametrize("kind", ["sinusoidal", "rotary", "alibi", "shaw"])
def test_python_of_the_page_runs(visit, kind, capsys):
    tab = visit(f"/compare#v=1&encoding={kind}")
    code = tab.evaluate(
        """async () => {
            const { current } = await import("/static/main.js");
            const { python } = await import("/static/tools.js");
            return python(JSON.parse(document.getElementById("page").textContent), current());
        }"""
    )
    exec(code, {})
    printed = capsys.readouterr().out
    assert printed.strip() == str(posenc.check(METHODS[kind].encoding, length=512))


@pytest.mark.slow
def test_all_encodings_at_once(visit):
    boards = {kind: board(method.encoding, trained="512") for kind, method in METHODS.items()}
    for kind, data in boards.items():
        assert json.loads(json.dumps(data, allow_nan=False)) == data, kind
    tab = visit(f"/compare#v=1&kinds={','.join(METHODS)}")
    assert names(tab) == [method.name for method in METHODS.values()]
    twins = tab.locator("figure:not([hidden]) figcaption").all_inner_texts()
    assert not any(word in " ".join(twins) for word in ("NaN", "undefined", "null", "Infinity"))
