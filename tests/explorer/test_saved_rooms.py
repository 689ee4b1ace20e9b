"""Rooms of a saved copy whose numbers are arrays: what turns, and what is made of queries."""

import base64
import re

import numpy as np
import pytest
from browsing import only

from posenc import explorer, mistakes
from posenc.explorer.copies import held
from posenc.explorer.methods import METHODS
from posenc.explorer.rooms import bias
from posenc.rotary import Rotary

KEPT = ("rotary", "axial_rotary", "alibi", "shaw")


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """The address of one file with two rooms and a few encodings."""
    file = tmp_path_factory.mktemp("copy") / "one.html"
    with only(("rotation", "bias"), KEPT):
        explorer.export(file)
    return file.as_uri()


@pytest.fixture
def look(browser, copy):
    """Opens a room of the copy; gives what its pictures say, by view."""
    complaints = []
    with browser.new_context() as context:
        tab = context.new_page()
        tab.set_default_timeout(10_000)
        tab.on("console", lambda message: complaints.append(message.text))
        tab.on("pageerror", lambda error: complaints.append(str(error)))

        def look(settings):
            tab.goto("about:blank")
            tab.goto(f"{copy}#{settings}")
            tab.wait_for_function(
                """() => {
                    const figures = [...document.querySelectorAll("figure[data-view]")];
                    const seen = figures.filter((figure) => !figure.hidden);
                    const twins = seen.map((each) => each.querySelector("figcaption").textContent);
                    return twins.length && twins.every(Boolean);
                }"""
            )
            assert tab.locator("#notice").inner_text() == ""
            return tab.evaluate(
                """() => Object.fromEntries(
                    [...document.querySelectorAll("figure[data-view]:not([hidden])")].map(
                        (each) => [each.dataset.view, each.querySelector("figcaption").textContent],
                    ))"""
            )

        yield look
    assert complaints == []


def score(words):
    return float(re.search(r"Their score is (−?[\d.]+)", words)[1].replace("−", "-"))


def example(width=64):
    return np.random.default_rng(0).standard_normal((2, width)).astype(np.float32)


def test_an_array_turns(look):
    twins = look("room=rotation&v=1&encoding=axial_rotary&position=15&gap=15")
    code = METHODS["axial_rotary"].encoding
    query, key = example()
    # Cells 30 and 15 of rows of 8; of 32 rows the query needs the second half.
    one = code.rotate(query[None], np.asarray([[3, 6]]))[0]
    other = code.rotate(key[None], np.asarray([[1, 7]]))[0]
    assert score(twins["hands"]) == pytest.approx(float(one @ other), abs=1e-3)
    assert not any("NaN" in each or "undefined" in each for each in twins.values())


@pytest.mark.parametrize("name", ["pairing mixed up", "degrees"])
def test_a_mistake_turns(look, name):
    twins = look(f"room=rotation&v=1&encoding=rotary&gap=5&mistake={name.replace(' ', '+')}")
    matrices = mistakes.numbers(Rotary(dim=64), np.arange(held.FEW), mistakes.named(name))
    query, key = example()
    want = float((matrices[10] @ query) @ (matrices[5] @ key))  # the last of the first half
    assert score(twins["hands"]) == pytest.approx(want, abs=1e-3)
    assert "threads" not in twins  # the other layout is not held beside a mistake


def test_scores_of_a_term(look):
    twins = look("room=bias&v=1&encoding=shaw&position=20&column=3")
    queries, keys = bias.scored_text(METHODS["shaw"].encoding)
    assert f"score {queries[20] @ keys[3]:.4f}".replace("-", "−") in twins["scores"]


def test_fewer_scores_are_the_same():
    code = METHODS["shaw"].encoding
    whole, short = bias.example_scores(code), bias.example_scores(code, most=held.PAIRS)

    def products(found):
        both = (
            np.frombuffer(base64.b64decode(one["values"]), "<f4").reshape(one["shape"])
            for one in (found["queries"], found["keys"])
        )
        queries, keys = (each.astype(np.float64) for each in both)
        return queries @ keys.T

    few = slice(held.PAIRS)
    np.testing.assert_allclose(products(short), products(whole)[few, few], atol=1e-5)
    assert len(short["queries"]["values"]) < len(whole["queries"]["values"]) / 10
