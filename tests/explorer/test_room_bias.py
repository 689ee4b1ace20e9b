"""The room Bias: what is added, scores before and after, and how far attention reaches."""

import re

import numpy as np
import pytest
from browsing import follow, settings, settled, text

import posenc
from posenc import spec
from posenc.alibi import slopes
from posenc.explorer import asked, page, recipes
from posenc.explorer.recipes import example

KINDS = page.room("bias")["encodings"]
FIRST = ("alibi", "cope", "swin")
EVERY = [kind if kind in FIRST else pytest.param(kind, marks=pytest.mark.slow) for kind in KINDS]

SCORING = """async () => {
    const { current } = await import("/static/main.js");
    const { scoring } = await import("/static/scoring.js");
    const shown = current();
    const row = shown.settings.position - shown.span.start;
    const found = scoring({ ...shown, row, answer: shown.got.answer });
    return JSON.parse(JSON.stringify(found, (_, value) => value === -Infinity ? "hidden" : value));
}"""

PYTHON = """async () => {
    const { python } = await import("/static/tools.js");
    const { current } = await import("/static/main.js");
    return python(JSON.parse(document.getElementById("page").textContent), current());
}"""


def drawn_path(tab, selector):
    """The points of a path that is one line."""
    path = tab.locator(selector).get_attribute("d")
    return np.asarray([pair.split() for pair in path[1:].split("L")], dtype=float)


def softmax(scores):
    shares = np.exp(scores - scores.max())
    return shares / shares.sum()


def scores(width=8, count=64, scale=8**-0.5, flip=False):
    keys = example.keys(width, count)
    return example.queries(width, count) @ (example.stops(keys) if flip else keys).T * scale


CONTENT = {
    "shaw": {"width": 64, "scale": 1 / 8},
    "transformer_xl": {"width": 64, "scale": 1 / 8},
    "deberta": {"width": 64, "scale": 1 / np.sqrt(3 * 64)},
    "cope": {"width": 64, "scale": 1 / 8, "flip": True},
    "decomposed": {"width": 64, "scale": 1 / 8},
}
"""Of the terms: the queries they are made of, and what their own papers divide scores by."""


@pytest.mark.parametrize("kind", EVERY)
def test_scores_before_and_after(visit, kind):
    tab = visit(f"/bias#v=1&encoding={kind}&position=40&head=1")
    code = spec.from_data(page.method(kind)["data"])
    row = recipes.table(code, 0, 64, head=1)[40].astype(np.float64)
    before = scores(**CONTENT.get(kind, {}))[40]
    found = tab.evaluate(SCORING)
    np.testing.assert_allclose(found["before"], before, atol=2e-5)
    grid = kind in ("swin", "swin_v2", "decomposed")
    hidden = (np.arange(64) > 40) & (not grid)
    assert found["hidden"] == hidden.tolist()
    with_all, without = (
        softmax(np.where(hidden, -np.inf, all_of)) for all_of in (before + row, before)
    )
    np.testing.assert_allclose(found["weights"], with_all, atol=2e-5)
    np.testing.assert_allclose(found["plain"], without, atol=2e-5)
    assert abs(sum(found["weights"]) - 1) < 1e-12


def test_the_twin_says_the_scores(visit):
    tab = visit("/bias")
    before = scores()[40]
    bias = posenc.Alibi(heads=8).bias(np.asarray([40]), np.arange(64))[3, 0]
    share = softmax((before + bias)[:41])[30]
    said = text(tab, "#scores-twin")
    assert f"score {before[30]:.4f}, added −0.6250, together {before[30] - 0.625:.4f}." in said
    assert f"Attention there is {100 * share:.1f}%" in said
    assert "41 of 64 keys are open." in said


@pytest.mark.parametrize("mask", ["on", "off"])
def test_how_far_attention_reaches(visit, mask):
    tab = visit(f"/bias#v=1&mask={mask}&position=40")
    before = scores()[40]
    away = np.abs(40 - np.arange(64))
    visible = away >= 0 if mask == "off" else np.arange(64) <= 40
    reaches = []
    for added in (-(2.0**-4) * away, 0 * away):
        share = softmax(np.where(visible, before + added, -np.inf))
        sums = np.cumsum(np.bincount(away, share))
        reaches.append([int(np.argmax(sums >= part)) for part in (0.5, 0.9)])
    (half, most), (half_before, most_before) = reaches
    said = text(tab, "#reach-twin")
    assert f"falls within {half} positions, nine tenths within {most};" in said
    assert f"it would be within {half_before} and {most_before}." in said


def test_without_a_mask_every_key_is_open(visit):
    tab = visit("/bias#v=1&mask=off")
    assert not any(tab.evaluate(SCORING)["hidden"])
    assert "64 of 64 keys are open." in text(tab, "#scores-twin")
    symmetric = posenc.Alibi(heads=8, direction="symmetric").bias(np.asarray([40]), np.arange(64))
    np.testing.assert_allclose(tab.evaluate(SCORING)["added"], symmetric[3, 0])
    follow(tab, "v=1&mask=off&direction=asymmetric")
    lopsided = posenc.Alibi(heads=8, direction="asymmetric").bias(np.asarray([40]), np.arange(64))
    np.testing.assert_allclose(tab.evaluate(SCORING)["added"], lopsided[3, 0])


def test_a_bias_that_hides_keys_by_mistake_says_so(visit):
    tab = visit("/bias#v=1&mask=off&mistake=sign+of+the+bias")
    assert "the encoding hides by itself" in text(tab, "#scores-twin")
    assert "Without the mistake: 8 slopes" in text(tab, "#slopes-twin")


def test_two_rules_side_by_side(visit):
    tab = visit("/bias#v=1&heads=12")
    paper, plain = slopes(12, rule="paper"), slopes(12, rule="plain")
    tab.click("text=Both rules in numbers")
    cells = tab.locator(".sides tbody td").all_inner_texts()
    for at, (one, other) in enumerate(zip(paper, plain, strict=True)):
        for cell, slope in zip(cells[2 * at : 2 * at + 2], (one, other), strict=True):
            assert float(cell) == pytest.approx(slope, rel=6e-3)
    differ = [head for head in range(12) if paper[head] != plain[head]]
    assert len(differ) == 12
    assert "By the plain formula, every head would have another slope." in text(tab, "#slopes-twin")
    assert tab.locator(".sides tr.differs").count() == len(differ)
    dashes = re.findall(r"M[\d.]+ (-?[\d.]+)h", tab.locator(".slopes .other").get_attribute("d"))
    np.testing.assert_allclose(np.asarray(dashes, float), -np.log2(plain), atol=1e-4)
    follow(tab, "v=1&heads=16")
    assert "For 16 heads the authors' code and the plain formula give the same" in text(
        tab, "#slopes-twin"
    )
    assert tab.locator(".sides tr.differs").count() == 0


def test_the_staircase_of_buckets(visit):
    tab = visit("/bias#v=1&encoding=t5&count=128&head=2")
    code = posenc.T5(heads=8)
    buckets = code.bucket(np.asarray([127]), np.arange(127, -1, -1))[0]
    starts = np.flatnonzero(np.diff(buckets, prepend=-1))
    ends = [*(starts[1:] - 1), 127]
    shared = [
        f"{first} to {last}" for first, last in zip(starts, ends, strict=True) if last > first
    ]
    said = text(tab, "#lines-twin")
    assert f"behind the query {len(starts)} numbers serve 128 distances" in said
    assert ", ".join(shared[:6]) in said
    # One level for each distance, from left to right.
    points = drawn_path(tab, ".lines .curve")
    table = recipes.table(code, 0, 128, head=2)
    want = [*table[0, :0:-1], *table[:, 0]]
    np.testing.assert_allclose(points[::2, 1], -np.asarray(want), atol=1e-4)
    np.testing.assert_array_equal(points[::2, 0], np.arange(-127, 128) - 0.5)


@pytest.mark.parametrize("kind", ["alibi", "kerple", "sandwich"])
def test_the_curve_of_a_head(visit, kind):
    tab = visit(f"/bias#v=1&encoding={kind}&head=4")
    code = spec.from_data(page.method(kind)["data"])
    points = drawn_path(tab, ".lines .curve")
    np.testing.assert_allclose(
        points[:, 1], -recipes.table(code, 0, 64, head=4)[:, 0], atol=6e-5, rtol=1e-6
    )
    assert points[:, 0].tolist() == list(range(64))


def test_the_cut_of_an_array(visit):
    tab = visit("/bias#v=1&encoding=fire&head=2&position=50")
    code = spec.from_data(page.method("fire")["data"])
    cut = recipes.table(code, 0, 64, head=2)[50, :51]
    points = drawn_path(tab, ".lines .curve")
    np.testing.assert_allclose(points[::-1, 1], -cut[::-1], atol=6e-5)
    assert "the distance alone does not decide" in text(tab, "#lines-twin")


def test_cells_are_drawn_by_how_far_they_lie(visit):
    tab = visit("/bias#v=1&encoding=swin&head=2&position=10")
    dots = re.findall(r"M([\d.]+) (-?[\d.]+)h0", tab.locator(".lines .points").get_attribute("d"))
    code = spec.from_data(page.method("swin")["data"])
    row, column = np.divmod(np.arange(64), 8)
    want = np.hypot(row - 1, column - 2), -recipes.table(code, 0, 64, head=2)[10]
    np.testing.assert_allclose(np.asarray(dots, float), np.stack(want, axis=-1), atol=1e-4)
    assert "Cells have no order" in text(tab, "#scores-twin")


def test_clicking_a_bar_chooses_its_key(visit):
    tab = visit("/bias#v=1&position=50")
    box = tab.locator(".strips svg").first.bounding_box()
    tab.mouse.click(box["x"] + box["width"] * 12.5 / 64, box["y"] + 5)
    settled(tab)
    assert settings(tab)["column"] == 12
    assert "key 12: score" in text(tab, "#scores-twin")
    again = visit("/bias" + tab.evaluate("location.hash"))
    assert settings(again)["column"] == 12
    assert settings(again)["position"] == 50


def test_a_wrong_mask_is_refused(visit):
    tab = visit("/bias#v=1&mask=half")
    assert "Mask must be on or off, not “half”" in text(tab, "#notice")
    assert settings(tab)["mask"] == "on"


def test_pooled_keys_have_no_distance(visit):
    tab = visit("/bias#v=1&encoding=decomposed&key_grid=4x4")
    assert "Keys are pooled" in text(tab, "#reach-twin")


def test_what_cannot_be_answered():
    with pytest.raises(TypeError, match=r"what is added to scores.*got Rotary"):
        asked.answer("bias", {"spec": "rotary:dim=8"})


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["alibi", "t5", "shaw", "swin"])
def test_its_python_runs(visit, kind):
    tab = visit(f"/bias#v=1&encoding={kind}&position=40")
    made = {}
    exec(tab.evaluate(PYTHON), made)
    np.testing.assert_allclose(made["weights"][40], tab.evaluate(SCORING)["weights"], atol=2e-5)


@pytest.mark.parametrize("mask", ["off", pytest.param("on", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "hash", ["", pytest.param("&mistake=sign+of+the+bias", marks=pytest.mark.slow)]
)
def test_python_draws_what_the_mask_leaves(visit, mask, hash):
    tab = visit(f"/bias#v=1&position=40&mask={mask}{hash}")
    made = {}
    exec(tab.evaluate(PYTHON), made)
    shown = tab.evaluate(SCORING)
    np.testing.assert_allclose(made["weights"][40], shown["weights"], atol=2e-5)
    open_keys = made["weights"][40] > 0
    assert open_keys.sum() == (64 if mask == "off" and not hash else 41)
    added = [-np.inf if each == "hidden" else each for each in shown["added"]]
    np.testing.assert_allclose(made["table"][40], added, atol=1e-6)
