"""The room of rotations: scores, what pairs add, shifts, two pairings, and values."""

import re

import numpy as np
import pytest
from browsing import follow, settings, settled, text

from posenc import AxialRotary, Rotary, XPos, convert, mistakes
from posenc.explorer.methods import METHODS
from posenc.explorer.rooms import ROOMS

QUERY, KEY = np.random.default_rng(0).standard_normal((2, 1, 64)).astype(np.float32)
"""What the library sends as an example."""


def said(value):
    return f"{value:.4f}".replace("-", "−")


def numbers(words):
    return [float(part.replace("−", "-")) for part in re.findall(r"−?\d+\.\d+(?:e−?\d+)?", words)]


def score(code, query, key, **options):
    at = [np.asarray([place]) for place in (query, key)]
    one = code.rotate(QUERY, at[0], **options)
    other = code.rotate(KEY, at[1], **({"role": "key"} if options else {}))
    return float(one[0].astype(np.float64) @ other[0])


def python(tab):
    return tab.evaluate(
        """async () => {
            const { python } = await import("/static/tools.js");
            const { current } = await import("/static/main.js");
            return python(JSON.parse(document.getElementById("page").textContent), current());
        }"""
    )


@pytest.mark.parametrize("kind", ["rotary", pytest.param("xpos", marks=pytest.mark.slow)])
def test_score(visit, kind):
    tab = visit(f"/rotation#v=1&encoding={kind}&position=20&gap=7")
    if kind == "rotary":
        want = score(Rotary(dim=64), 27, 20)
    else:
        want = score(XPos(dim=64), 27, 20, role="query")
    twin = text(tab, "#hands-twin")
    assert (
        f"The key stands at position 20, the query 7 further on. Their score is {said(want)};"
        in twin
    )
    assert numbers(twin)[1] == pytest.approx(want, abs=2e-4)
    assert text(tab, ".score").endswith(said(want))


def test_score_on_a_grid(visit):
    # Cells 20 and 27 of rows of 8: (2, 4) and (3, 3).
    tab = visit("/rotation#v=1&encoding=axial_rotary&position=20&gap=7")
    code = METHODS["axial_rotary"].encoding
    assert isinstance(code, AxialRotary)
    want = score(code, (3, 3), (2, 4))
    assert f"Their score is {said(want)};" in text(tab, "#hands-twin")
    assert "the same steps in reading order lead another way" in text(tab, "#hands-twin")


def test_shares_of_pairs(visit):
    tab = visit("/rotation#v=1&position=20&gap=7&column=3&rotary_dim=32")
    code = Rotary(dim=64, rotary_dim=32)
    query, key = (code.rotate(one, np.asarray([at]))[0] for one, at in ((QUERY, 27), (KEY, 20)))
    each = query.astype(np.float64) * key
    pairs = each[:16] + each[16:32]
    twin = text(tab, "#shares-twin")
    assert f"Pair 3 adds {said(pairs[3])} to the score of {said(each.sum())}." in twin
    most = np.abs(pairs).argmax()
    assert f"pair {most} counts most, with {said(pairs[most])}." in twin
    assert f"Of 16 pairs {(pairs > 0).sum()} add" in twin
    assert f"Features that do not turn add {said(each[32:].sum())}." in twin


def test_a_score_stays_while_both_move(visit):
    tab = visit("/rotation#v=1&position=20&gap=7")
    code = Rotary(dim=64)
    twin = text(tab, "#shifts-twin")
    now, residual, spread = numbers(twin)
    alone = [score(code, at + 7, 20) for at in range(64)]
    assert now == pytest.approx(score(code, 27, 20), abs=1e-4)
    assert residual < 1e-5
    assert spread == pytest.approx(np.ptp(alone), abs=2e-4)
    assert "Moved together to any of 64 places" in twin


def test_a_mistake_is_seen_in_the_residual(visit):
    tab = visit("/rotation#v=1&position=20&gap=7&mistake=positions+in+bfloat16&count=256&from=512")
    assert numbers(text(tab, "#shifts-twin"))[1] > 0.1


ROTARY_MISTAKES = [one.name for one in mistakes.of(Rotary(dim=64))]
PAIRING = ["paired as in the other layout", "pairing mixed up"]


@pytest.mark.parametrize(
    "name",
    [
        *PAIRING,
        *(pytest.param(n, marks=pytest.mark.slow) for n in ROTARY_MISTAKES if n not in PAIRING),
    ],
)
def test_query_and_key_are_turned_by_the_mistake(visit, name):
    tab = visit(f"/rotation#v=1&position=20&gap=7&column=3&mistake={name.replace(' ', '+')}")
    matrices = mistakes.numbers(Rotary(dim=64), np.arange(128), mistakes.named(name))
    query, key = matrices[27] @ QUERY[0], matrices[20] @ KEY[0]
    want = float(query @ key)
    assert numbers(text(tab, "#hands-twin"))[0] == pytest.approx(want, abs=2e-4)
    pair = query[3] * key[3] + query[35] * key[35]
    assert numbers(text(tab, "#shares-twin"))[0] == pytest.approx(pair, abs=2e-4)
    turned = np.linalg.norm(matrices[20] @ KEY[0] - KEY[0])
    assert numbers(text(tab, "#value-twin"))[1] == pytest.approx(turned, abs=2e-4)
    assert "mistake that is switched on is not in this picture" in text(tab, "#mixed-twin")
    made = {}
    exec(python(tab), made)
    assert made["score"] == pytest.approx(want, abs=1e-5)


def test_wrong_partners_are_named(visit):
    tab = visit(f"/rotation#v=1&column=3&mistake={PAIRING[0].replace(' ', '+')}")
    assert "features 3 and 35, but the mistake turns feature 3 with 2, and 35 with 34." in text(
        tab, "#hands-twin"
    )
    follow(tab, f"v=1&column=3&mistake={PAIRING[1].replace(' ', '+')}")
    assert "the mistake turns each of the two by an angle of its own" in text(tab, "#hands-twin")
    assert numbers(text(tab, "#shifts-twin"))[1] > 0.1  # no score by distance alone
    for hand in tab.locator(".dials path.query:not(.before)").all():
        ends = hand.get_attribute("d").removeprefix("M0 0L").split()
        assert np.hypot(*map(float, ends)) <= 1.0001  # inside of its dial


def test_two_pairings(visit):
    tab = visit("/rotation#v=1&dim=64&column=3")
    order = convert.order(64, to="half")  # feature order[i] of neighbours comes to place i
    first, second = order[3], order[35]
    twin = text(tab, "#threads-twin")
    assert (
        f"Pair 3 is features 3 and 35 in “half”, and {first} and {second} in “interleaved”" in twin
    )
    moved = sum(place != feature for place, feature in enumerate(order))
    assert f"{moved} features change places" in twin


def test_weights_of_one_pairing_run_with_the_other(visit):
    tab = visit("/rotation#v=1&gap=9")
    codes = [Rotary(dim=64), Rotary(dim=64, layout="interleaved")]
    own, mixed = ([score(code, at, 0) for at in range(64)] for code in codes)
    assert own[0] == mixed[0]
    twin = text(tab, "#mixed-twin")
    assert f"scores {said(own[0])} in both" in twin
    assert f"9 apart the score should be {said(own[9])} and is {said(mixed[9])}" in twin
    worst = np.abs(np.subtract(own, mixed)).argmax()
    assert f"most wrong {worst} apart" in twin
    assert numbers(twin)[-1] < 1e-5 or twin.endswith("at most 0.0000.")


@pytest.mark.slow
def test_values_stay(visit):
    tab = visit("/rotation#v=1&position=20")
    turned = Rotary(dim=64).rotate(KEY, np.asarray([20]))
    long, off = numbers(text(tab, "#value-twin"))
    assert long == pytest.approx(np.linalg.norm(KEY), abs=1e-4)
    assert off == pytest.approx(np.linalg.norm(turned - KEY), abs=1e-4)
    bars = tab.locator(".value .plus").get_attribute("d")
    follow(tab, "v=1&position=40")
    assert tab.locator(".value .plus").get_attribute("d") == bars


@pytest.mark.slow
def test_a_click_chooses_a_pair(visit):
    tab = visit("/rotation")
    box = tab.locator(".shares svg").bounding_box()
    tab.mouse.click(box["x"] + box["width"] * 10.5 / 32, box["y"] + 30)
    settled(tab)
    assert settings(tab)["column"] == 10
    assert text(tab, "#shares-twin").startswith("Pair 10 adds")


def test_settings_stand_in_the_address(visit):
    tab = visit("/rotation#v=1&gap=30&layout=interleaved&column=5")
    before = settings(tab)
    assert (before["gap"], before["layout"], before["column"]) == (30, "interleaved", 5)
    tab.reload()
    settled(tab)
    assert settings(tab) == before
    follow(tab, "v=1&gap=1000&count=300")
    assert "Positions shown must be a whole number from 1 to 256, not “300”" in text(tab, "#notice")
    assert settings(tab)["gap"] == 255


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", [k for k, m in METHODS.items() if ROOMS["rotation"].shows(m.encoding)]
)
def test_every_encoding(visit, kind):
    tab = visit(f"/rotation#v=1&encoding={kind}&position=9&gap=11")
    twins = tab.locator("figure:not([hidden]) figcaption").all_inner_texts()
    assert all(twin.endswith(".") for twin in twins)
    assert not any(word in " ".join(twins) for word in ("NaN", "undefined", "Infinity"))
    if kind != "bipe":
        assert numbers(text(tab, "#mixed-twin"))[-1] < 1e-4


def test_settings_that_turn_nothing(visit):
    tab = visit("/rotation#v=1&encoding=bipe&inter=alibi")
    assert "0 pairs turn" in text(tab, "#hands-twin")
    assert tab.locator("#pictures > figure:visible").count() == 1
    follow(tab, "v=1")
    assert tab.locator(".dials li").first.is_visible()


@pytest.mark.parametrize("kind", ["m_rotary", "rotary"])
@pytest.mark.parametrize("count", [64, 32])
def test_a_link_that_points_beyond_what_is_in_sight(visit, kind, count):
    tab = visit(f"/rotation#v=1&encoding={kind}")
    # With as many rows as before no table is asked for anew.
    follow(tab, f"v=1&encoding={kind}&gap=512&count={count}")
    assert settings(tab)["gap"] == count - 1
    assert f"Distance to query must be a whole number from 0 to {count - 1}" in text(tab, "#notice")
    assert f"the query {count - 1} further on" in text(tab, "#hands-twin")
    assert tab.input_value("#gap") == str(count - 1)


def test_xpos_beyond_float32(visit):
    tab = visit("/rotation#v=1&encoding=xpos&from=30000")
    before = text(tab, "#hands-twin")
    follow(tab, "v=1&encoding=xpos&from=2147482000")
    assert "float32 holds what xPos multiplies queries and keys with" in text(tab, "#notice")
    assert text(tab, "#hands-twin") == before
    assert settings(tab)["from"] == 30_000


@pytest.mark.parametrize(("dim", "dials"), [(2, 1), (8, 4), (16, 8)])
def test_few_pairs_are_all_shown(visit, dim, dials):
    tab = visit(f"/rotation#v=1&encoding=rotary&dim={dim}")
    assert tab.locator(".dials li").count() == dials
    assert tab.locator(".dials .current").count() == 1
