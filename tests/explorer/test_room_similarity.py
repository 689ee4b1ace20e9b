"""The room of similarities: the matrix, its defect, look-alikes, and guessing the curve."""

import numpy as np
import pytest
from browsing import follow, settings, settled, text

from posenc import T5, Alibi, Learned, Rotary, Sinusoidal, mistakes
from posenc.explorer.methods import METHODS
from posenc.explorer.rooms.similarity import look_alikes


def said(value):
    return f"{value:.4f}".replace("-", "−")


WRONG = {"sinusoidal": "sine only", "t5": "directions swapped"}


def python(tab):
    return tab.evaluate(
        """async () => {
            const { python } = await import("/static/tools.js");
            const { current } = await import("/static/main.js");
            return python(JSON.parse(document.getElementById("page").textContent), current());
        }"""
    )


def table(count, dim=64):
    return Sinusoidal(dim=dim).encode(np.arange(count), dtype=np.float64)


def test_the_number_under_the_cursor(visit):
    tab = visit("/similarity#v=1&position=20&column=4")
    rows = table(21)
    assert f"For position 20 and position 4 it is {said(rows[20] @ rows[4])}." in text(
        tab, "#gram-twin"
    )
    assert f"20 with 4, 16 apart: {said(rows[20] @ rows[4])}" in text(tab, "#likeness-twin")
    assert "which is rounding: the distance alone counts" in text(tab, "#gram-twin")
    follow(tab, "v=1&position=20&column=4&measure=cosine")
    assert f"it is {said(rows[20] @ rows[4] / 32)}." in text(tab, "#gram-twin")


@pytest.mark.parametrize(
    "name", ["sine only", pytest.param("cosine has its own exponent", marks=pytest.mark.slow)]
)
def test_defect_of_a_mistake(visit, name):
    code = Sinusoidal(dim=64)
    [mistake] = [one for one in mistakes.of(code) if one.name == name]
    rows = mistakes.numbers(code, np.arange(128), mistake)
    products = rows @ rows.T
    spread = max(np.ptp(np.diagonal(products, gap)) for gap in range(128))
    tab = visit(f"/similarity#v=1&count=128&mistake={name.replace(' ', '+')}")
    assert f"equally far apart differ by up to {said(spread)[:-2]}" in text(tab, "#gram-twin")


@pytest.mark.parametrize("content", ["example", pytest.param("alike", marks=pytest.mark.slow)])
def test_scores_of_a_rotary_encoding(visit, content):
    code = Rotary(dim=64)
    contents = np.random.default_rng(0).standard_normal((2, 1, 64))
    if content == "alike":
        contents = np.ones((2, 1, 64))
    query = code.rotate(contents[0], np.asarray([20]))
    key = code.rotate(contents[1], np.asarray([4]))
    tab = visit(f"/similarity#v=1&encoding=rotary&position=20&column=4&content={content}")
    assert f"For query 20 and key 4 it is {said(query[0] @ key[0])[:-1]}" in text(tab, "#gram-twin")


@pytest.mark.parametrize("name", ["pairing mixed up", "paired as in the other layout"])
@pytest.mark.parametrize("content", ["example", pytest.param("alike", marks=pytest.mark.slow)])
def test_scores_of_features_that_are_paired_wrongly(visit, name, content):
    code = Rotary(dim=64)
    contents = np.random.default_rng(0).standard_normal((2, 64))
    if content == "alike":
        contents = np.ones((2, 64))
    matrices = mistakes.numbers(code, np.arange(64), mistakes.named(name))
    query, key = (matrices @ one for one in contents)
    address = f"/similarity#v=1&encoding=rotary&position=20&column=4&content={content}"
    tab = visit(f"{address}&mistake={name.replace(' ', '+')}")
    twin = text(tab, "#gram-twin")
    assert f"For query 20 and key 4 it is {said(query[20] @ key[4])[:-1]}" in twin
    assert ("Defect" in twin) == (name == "pairing mixed up")
    made = {}
    exec(python(tab), made)
    np.testing.assert_allclose(made["similarity"], query @ key.T, atol=1e-5)


@pytest.mark.parametrize("kind", ["sinusoidal", "learned", "t5"])
def test_python_of_what_is_not_plain(visit, kind):
    mistake = "" if kind == "learned" else "&mistake=" + WRONG[kind].replace(" ", "+")
    tab = visit(f"/similarity#v=1&encoding={kind}&position=20&column=4{mistake}&measure=cosine")
    made = {}
    exec(python(tab), made)
    assert f"it is {said(made['similarity'][20, 4])[:-1]}" in text(tab, "#gram-twin")


def test_a_bias_is_its_own_similarity(visit):
    tab = visit("/similarity#v=1&encoding=alibi&position=20&column=4&head=2")
    bias = Alibi(heads=8).bias(np.asarray([20]), np.asarray([4]))[2, 0, 0]
    assert f"For query 20 and key 4 it is {said(bias)}." in text(tab, "#gram-twin")
    assert not tab.locator("figure.alikes").is_visible()


@pytest.mark.slow
def test_mean_and_spread_over_all_places(visit):
    tab = visit("/similarity#v=1&encoding=learned&position=20&column=4&count=32")
    rows = tab.evaluate(
        """async () => {
            const { current } = await import("/static/main.js");
            return [...current().values];
        }"""
    )
    rows = np.reshape(rows, (32, -1))
    apart = np.diagonal(rows @ rows.T, 16)
    words = f"the mean is {said(apart.mean())}, from {said(apart.min())} to {said(apart.max())}"
    assert words in text(tab, "#likeness-twin")


def test_look_alikes_by_trying_all():
    found = look_alikes(Sinusoidal(dim=4), below="1024")
    rows = table(1024, dim=4)
    far = np.linalg.norm(rows[:, None] - rows, axis=-1)
    far[np.tril_indices(1024)] = np.inf
    assert found["pairs"][0]["distance"] == pytest.approx(far.min(), abs=1e-5)
    assert found["pairs"][0]["distance"] == pytest.approx(far[348, 970], abs=1e-5)
    assert found["nearest"] == pytest.approx(
        [np.diagonal(far, gap).min() for gap in range(1, 1024)], abs=1e-4
    )
    assert found["pairs"][0]["every"]


def test_look_alikes_in_words(visit):
    tab = visit("/similarity#v=1&dim=4")
    twin = text(tab, "#alikes-twin")
    assert "No two places are easier to confuse" in twin
    assert "0 and 622, as any two that are 622 apart (distance 0.0724)" in twin
    follow(tab, "v=1&dim=64&below=100")
    assert "Of places that are no neighbours" in text(tab, "#alikes-twin")
    assert "among positions below 100" in text(tab, "#alikes-twin")


def test_look_alikes_stop_where_the_table_ends():
    assert look_alikes(Learned(length=50, dim=8), below="1024")["below"] == 50
    assert look_alikes(T5(heads=2), below="1024") == {"below": 0, "nearest": [], "pairs": []}
    with pytest.raises(ValueError, match="`below` must lie between 3 and 2048; got 2"):
        look_alikes(Sinusoidal(dim=4), below="2")
    with pytest.raises(ValueError, match="`mistake` must be one"):
        look_alikes(Sinusoidal(dim=4), below="64", mistake="no such")


def test_guessing_by_keyboard(visit):
    tab = visit("/similarity#v=1&dim=4&count=33&guess=draw")
    assert "Hidden until the curve is revealed" in text(tab, "#gram-twin")
    assert tab.locator(".likeness path.curve").get_attribute("d") == ""
    tab.get_by_role("slider", name="Guess at distance 0").focus()
    for _ in range(4):
        tab.keyboard.press("ArrowUp")
    settled(tab)
    assert settings(tab)["drawn"].split(",")[:2] == ["20", "0"]
    assert "drawn=20,0" in tab.url
    tab.get_by_role("button", name="Reveal").click()
    settled(tab)
    # A guess of 0.4 that falls to 0 at distance 4, against the true curve.
    gaps = np.arange(33)
    true = np.cos(gaps) + np.cos(gaps / 100)
    off = np.interp(gaps, [0, 4], [0.4, 0.0]) - true
    twin = text(tab, "#likeness-twin")
    assert f"off by {said(np.sqrt(np.mean(off**2)))}" in twin
    worst = np.abs(off).argmax()
    assert f"most at distance {worst}, where it is {said(abs(off[worst]))} too low" in twin


@pytest.mark.slow
def test_guessing_by_pointer(visit):
    tab = visit("/similarity#v=1&guess=draw")
    box = tab.locator(".guess").bounding_box()
    tab.mouse.move(box["x"] + 2, box["y"] + box["height"] * 0.1)
    tab.mouse.down()
    tab.mouse.move(box["x"] + box["width"] - 2, box["y"] + box["height"] * 0.5, steps=40)
    tab.mouse.up()
    settled(tab)
    drawn = [int(part) for part in settings(tab)["drawn"].split(",")]
    assert len(drawn) == 9
    assert drawn == sorted(drawn, reverse=True)
    assert drawn[0] > drawn[-1] + 30


def test_a_guess_that_is_no_guess(visit):
    tab = visit("/similarity#v=1&guess=shown&drawn=a,b,,999999")
    assert "Your guess is off by" in text(tab, "#likeness-twin")
    follow(tab, "v=1&guess=perhaps&below=1")
    assert "The curve must be no or draw or shown, not “perhaps”" in text(tab, "#notice")
    assert "Look-alikes among the first must be a whole number from 3 to 2048" in text(
        tab, "#notice"
    )


@pytest.mark.slow
def test_pointer_chooses_two_places(visit):
    tab = visit("/similarity")
    box = tab.locator(".gram canvas").first.bounding_box()
    tab.mouse.click(box["x"] + box["width"] * 20.5 / 64, box["y"] + box["height"] * 30.5 / 64)
    settled(tab)
    assert "For position 30 and position 20" in text(tab, "#gram-twin")


@pytest.mark.slow
@pytest.mark.parametrize("kind", METHODS)
def test_every_encoding(visit, kind):
    tab = visit(f"/similarity#v=1&encoding={kind}")
    twins = tab.locator("figure:not([hidden]) figcaption").all_inner_texts()
    assert all(twin.endswith(".") for twin in twins)
    assert not any(word in " ".join(twins) for word in ("NaN", "undefined", "Infinity"))


def test_a_head_that_there_is_not():
    with pytest.raises(ValueError, match="`head` must lie between 0 and 7; got head=99"):
        look_alikes(METHODS["mixed_rotary"].encoding, below="64", head="99")
