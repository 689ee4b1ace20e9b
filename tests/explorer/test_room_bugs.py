"""The bug lab: right and wrong tables, what breaks, and riddles that keep their secret."""

import json

import numpy as np
import pytest
from browsing import differences, follow, settings, settled, text, values

import posenc
from posenc import T5, Alibi, Rotary, Sinusoidal, Yarn, mistakes, spec
from posenc.explorer import fields, recipes
from posenc.explorer.methods import METHODS
from posenc.explorer.rooms import ROOMS, bugs
from posenc.explorer.rooms.bugs import riddles, symptoms

MADE = [
    (encoding, mistake)
    for encoding in (Sinusoidal(dim=16), Rotary(dim=16), Alibi(heads=12), T5(heads=4))
    for mistake in mistakes.of(encoding)
]


def measured(encoding, name):
    pair = symptoms.both(encoding, mistakes.named(name))
    return {each["name"]: each for each in symptoms.measures(encoding, *pair)}


def showing(encoding):
    """Names of the mistakes that can be seen in the first 64 positions."""
    right = mistakes.numbers(encoding, np.arange(64))
    large = np.abs(right[np.isfinite(right)]).max()
    found = set()
    for one in mistakes.of(encoding):
        wrong = mistakes.numbers(encoding, np.arange(64), one)
        if wrong.shape != right.shape or not np.allclose(right, wrong, rtol=0, atol=1e-3 * large):
            found.add(one.name)
    return found


def ask(tab, guess):
    tab.select_option("#diagnosis", guess)
    tab.get_by_role("button", name="This is it").click()
    settled(tab)
    return text(tab, ".verdict")


def test_shows_what_has_known_mistakes():
    shown = {kind for kind, method in METHODS.items() if ROOMS["bugs"].shows(method.encoding)}
    assert shown == {"sinusoidal", "rotary", "alibi", "t5"}


@pytest.mark.parametrize(("encoding", "mistake"), MADE, ids=lambda each: getattr(each, "name", ""))
def test_where_tables_part(encoding, mistake):
    right, wrong = symptoms.both(encoding, mistake)
    found = symptoms.where(encoding, right, wrong)
    if mistake.name == "transposed":
        assert found == {"shapes": [[320, 16], [16, 320]]}
        return
    differs = ~np.isclose(right, wrong, rtol=0, atol=1e-9)
    rows = (0, 2) if isinstance(encoding, Alibi) else tuple(range(1, right.ndim))
    positions = np.flatnonzero(differs.any(axis=rows))
    assert found["first"] == (positions[0] if positions.size else None)
    assert (found["cells"], found["of"]) == (differs.sum(), right.size)
    seen = np.isfinite(right)
    assert found["most"] == np.abs(right[seen] - wrong[seen]).max()


@pytest.mark.parametrize(
    ("encoding", "name", "first"),
    [
        (Sinusoidal(dim=16), "positions in bfloat16", 257),
        (Rotary(dim=16), "positions in bfloat16", 257),
        (Alibi(heads=8), "bias in bfloat16", 257),
        (Sinusoidal(dim=16), "positions in float16", None),  # exact up to 2048
        (Sinusoidal(dim=16), "positions from 1", 0),
        (Rotary(dim=16), "paired as in the other layout", 1),
    ],
)
def test_first_position_that_shows_it(encoding, name, first):
    assert (
        symptoms.where(encoding, *symptoms.both(encoding, mistakes.named(name)))["first"] == first
    )


def test_defect_of_sines_alone():
    # Written out: each pair is sin(p w) twice, so products of places g apart change with the place.
    w = 10_000.0 ** (-np.arange(0, 16, 2) / 16)
    sines = np.sin(np.arange(320)[:, None] * w)
    products = 2 * sines @ sines.T
    spread = max(np.ptp(np.diagonal(products, gap)) for gap in range(320))
    found = measured(Sinusoidal(dim=16), "sine only")["dot products at the same distance differ by"]
    assert found == pytest.approx({**found, "right": 0.0, "wrong": spread, "broken": True})


def test_harmless_means_that_attention_does_not_change():
    for mistake in mistakes.of(Sinusoidal(dim=16)):
        if mistake.severity == "harmless":
            change = measured(Sinusoidal(dim=16), mistake.name)["dot products change by up to"]
            assert change["wrong"] == 0
    moved = measured(Alibi(heads=8), "rows moved by a constant")
    assert moved["shares of attention change by up to"]["wrong"] == 0
    other = measured(Alibi(heads=12), "heads in another order")
    assert other["shares of attention change by up to"]["wrong"] > 0.1
    assert other["the same, with heads put in order"]["wrong"] == 0


@pytest.mark.parametrize(
    "encoding", [Sinusoidal(dim=16), Rotary(dim=16), Alibi(heads=12), T5(heads=4)]
)
def test_right_tables_keep_their_laws(encoding):
    right, _ = symptoms.both(encoding, mistakes.of(encoding)[0])
    for found in symptoms.measures(encoding, right, right):
        assert not found["broken"]
        if "at the same distance" in found["name"] or "rises" in found["name"]:
            assert found["right"] == 0


def test_mixed_pairing_changes_lengths_and_plain_mistakes_do_not():
    law = "turning changes a length of 1 by up to"
    assert measured(Rotary(dim=16), "pairing mixed up")[law]["broken"]
    assert not measured(Rotary(dim=16), "turned backwards")[law]["broken"]
    buckets = measured(T5(heads=4), "one direction")["buckets in use"]
    assert (buckets["right"], buckets["wrong"]) == (31, 16)


@pytest.mark.parametrize("kind", ["sinusoidal", "rotary", "alibi", "t5"])
def test_cases_hide_every_mistake_that_shows(kind):
    encoding = METHODS[kind].encoding
    names = showing(encoding)
    first = [riddles.hidden(encoding, case).name for case in range(1, len(names) + 1)]
    assert sorted(first) == sorted(names)
    assert first == [riddles.hidden(encoding, case).name for case in range(1, len(names) + 1)]
    assert riddles.hidden(encoding, 0) is None
    with pytest.raises(ValueError, match="`case` must lie between 0 and 9999"):
        riddles.hidden(encoding, 10_000)


def test_a_riddle_does_not_name_its_mistake():
    encoding = Sinusoidal(dim=16)
    name = riddles.hidden(encoding, 5).name
    found = dict(bugs.answer(encoding, case="5", count="20"))
    assert name in [one["name"] for one in found.pop("choices")]
    assert name not in json.dumps(found)
    assert found["mistake"] is found["identity"] is found["judged"] is None
    wrong = recipes.table(encoding, 0, 20, mistake=name)
    assert found["table"] == recipes.arrays.of(wrong)
    assert bugs.answer(encoding, case="5", told="yes")["mistake"]["name"] == name


@pytest.mark.parametrize("encoding", [Sinusoidal(dim=16), Alibi(heads=12), T5(heads=4)])
def test_only_the_same_numbers_are_right(encoding):
    # Heads of powers of two apart, no two mistakes of an encoding make the same table.
    truth = riddles.hidden(encoding, 1)
    for guess in mistakes.of(encoding):
        judged = riddles.judge(encoding, truth, guess.name)
        assert judged["right"] is (guess.name == truth.name)
        assert judged["mistake"]["name"] == guess.name
    assert riddles.judge(encoding, truth, "no such mistake") is None


def test_what_identify_says():
    encoding = Sinusoidal(dim=16)
    found = riddles.identified(encoding, mistakes.named("degrees"))
    direct = posenc.identify(mistakes.numbers(encoding, np.arange(64), mistakes.named("degrees")))
    assert (found["known"], found["mistake"]) == (direct.known, "degrees")
    turned = riddles.identified(Rotary(dim=16), mistakes.named("turned backwards"))
    assert (turned["text"], turned["mistake"]) == ("rotary:dim=16", "turned backwards")
    assert riddles.identified(Rotary(dim=256), mistakes.named("degrees")) is None


def test_right_and_wrong_tables_in_the_browser(visit):
    name = "cosine has its own exponent"
    tab = visit("/bugs#v=1&mistake=cosine+has+its+own+exponent&dim=16&count=20&position=7&column=5")
    encoding = Sinusoidal(dim=16)
    right, wrong = (recipes.table(encoding, 0, 20, mistake=each) for each in (None, name))
    assert differences(values(tab), wrong) == 0
    count = int((right != wrong).sum())
    assert f"{count} of 320 numbers in sight differ" in text(tab, "#astray-twin")
    assert f": {right[7, 5]:.4f}.".replace("-", "−") in text(tab, "#right-twin")
    assert f"Right would be {right[7, 5]:.4f}.".replace("-", "−") in text(tab, "#wrong-twin")
    assert "The first position that differs is 1;" in text(tab, "#symptom-twin")
    assert "4 of 6 measures break a law" in text(tab, "#symptom-twin")
    assert f"“{name}”, which is wrong" in text(tab, "#catalogue-twin")


@pytest.mark.slow
def test_a_switch_goes_into_the_address_and_the_other_rooms(visit):
    tab = visit("/bugs#v=1&encoding=alibi")
    button = tab.get_by_role("button", name="sign of the bias")
    button.focus()
    tab.keyboard.press("Enter")
    settled(tab)
    assert button.get_attribute("aria-pressed") == "true"
    assert "mistake=sign+of+the+bias" in tab.url
    links = {link.inner_text(): link.get_attribute("href") for link in tab.locator(".ways a").all()}
    assert {"Table", "Similarity", "Bias"} <= set(links)
    tab.goto(tab.url.split("/bugs")[0] + links["Bias"])
    settled(tab)
    assert settings(tab)["mistake"] == "sign of the bias"
    tab.go_back()
    settled(tab)
    tab.get_by_role("button", name="sign of the bias").click()  # and off again
    settled(tab)
    assert "mistake" not in tab.url
    assert "No mistake is made" in text(tab, "#wrong-twin")


@pytest.mark.slow
def test_a_mistake_far_out_can_be_gone_to(visit):
    tab = visit("/bugs#v=1&mistake=positions+in+bfloat16&dim=16")
    assert "All 1,024 numbers in sight are equal." in text(tab, "#astray-twin")
    tab.get_by_role("button", name="Go to position 257").click()
    settled(tab)
    assert settings(tab)["position"] == 257
    right, wrong = bugs.tables(
        Sinusoidal(dim=16), start=249, count=64, head=0, mistake="positions in bfloat16"
    )
    assert f"{int((right != wrong).sum())} of 1,024 numbers" in text(tab, "#astray-twin")


@pytest.mark.slow
def test_another_shape_is_drawn_and_said(visit):
    tab = visit("/bugs#v=1&mistake=transposed&dim=16&count=20&position=19")
    assert "The right table is 20 by 16, the wrong one 16 by 20" in text(tab, "#astray-twin")
    assert text(tab, "#wrong-twin").startswith("16 rows (feature 0 to 15) by 20 columns")
    assert "The shape is wrong: 16 by 320 instead of 320 by 16." in text(tab, "#symptom-twin")


def test_a_riddle_is_solved_by_keyboard_and_counted(visit):
    encoding = Sinusoidal(dim=16)
    truth = riddles.hidden(encoding, 5).name
    others = [one.name for one in mistakes.of(encoding) if one.name != truth]
    tab = visit("/bugs#v=1&case=5&dim=16")
    pool = tab.locator(".catalogue, #diagnosis, #mistake")
    tab.evaluate(
        "(parts) => parts.forEach((part) => { part.hidden = true; })", pool.element_handles()
    )
    assert truth not in tab.locator("body").inner_text()
    tab.evaluate(
        "(parts) => parts.forEach((part) => { part.hidden = false; })", pool.element_handles()
    )
    wrong = recipes.table(encoding, 0, 64, mistake=truth)
    assert f"{int((wrong != recipes.table(encoding, 0, 64)).sum()):,} of 1,024" in text(
        tab, "#astray-twin"
    )
    assert ask(tab, others[0]) == f"No, it is not “{others[0]}”."
    assert "Its numbers would differ" in text(tab, ".riddle .told")
    assert "Solved" not in text(tab, ".riddle")
    tab.locator("#diagnosis").focus()
    tab.keyboard.type(truth)
    tab.keyboard.press("Tab")
    tab.keyboard.press("Enter")
    settled(tab)
    assert text(tab, ".verdict") == f"Yes: it is “{truth}”."
    assert mistakes.named(truth).mend in text(tab, ".riddle .told")
    assert "posenc.identify, given the first 64 positions" in text(tab, ".riddle .told")
    tab.reload()
    settled(tab)
    assert text(tab, ".verdict") == f"Yes: it is “{truth}”."  # the address holds all of it
    assert "Solved in this browser: 1." in text(tab, ".riddle")
    tab.get_by_role("button", name="Switch it on").click()
    settled(tab)
    assert (settings(tab)["mistake"], settings(tab)["case"]) == (truth, 0)


@pytest.mark.slow
def test_a_riddle_where_nothing_can_be_stored(visit):
    tab = visit("/bugs#v=1&encoding=t5")
    tab.evaluate("Object.defineProperty(window, 'localStorage', { get() { throw new Error() } })")
    tab.get_by_role("button", name="Hide a mistake").click()
    settled(tab)
    case = settings(tab)["case"]
    assert f"case={case}" in tab.url
    ask(tab, riddles.hidden(METHODS["t5"].encoding, case).name)
    assert "Solved in this browser: 1." in text(tab, ".riddle")
    tab.get_by_role("button", name="Hide another mistake").click()
    settled(tab)
    assert settings(tab)["case"] != case
    tab.get_by_role("button", name="Tell me").click()
    settled(tab)
    assert text(tab, ".verdict").startswith("It is “")
    tab.get_by_role("button", name="Put the case away").click()
    settled(tab)
    assert "No mistake is hidden" in text(tab, "#riddle-twin")


def test_addresses_that_do_not_fit(visit):
    tab = visit("/bugs#v=1&case=99999")
    assert "Case (0 is none) must be a whole number from 0 to 9999, not “99999”" in text(
        tab, "#notice"
    )
    follow(tab, "v=1&case=3&guess=%3Cb%3Enonsense&told=no")
    assert "not guessed yet" in text(tab, "#riddle-twin")
    follow(tab, "v=1&case=3&mistake=degrees")
    assert "Case 3 waits until the mistake above is switched off." in text(tab, "#riddle-twin")


def test_python_of_the_room_makes_both_tables():
    filled = {"encoding": "posenc.Sinusoidal(dim=16)", "start": 0, "count": 9, "head": 0}
    lines = ROOMS["bugs"].python["any"]
    for name, case in (("'degrees'", 0), ("None", 5)):
        found = {}
        text = lines.format_map(filled | {"mistake": name, "case": case})
        exec(text, found)
        truth = "degrees" if case == 0 else riddles.hidden(Sinusoidal(dim=16), 5).name
        want = recipes.table(Sinusoidal(dim=16), 0, 9, mistake=truth)
        np.testing.assert_array_equal(found["wrong"], want)


@pytest.mark.parametrize(
    ("encoding", "name", "changes"),
    [
        (Rotary(dim=64), "scaled twice", {"scaling": "linear"}),
        (Rotary(dim=64), "YaRN ramp reversed", {"scaling": "yarn"}),
        (Rotary(dim=2), "pairing mixed up", {"dim": 64}),
        (Alibi(heads=8), "plain slopes", {"heads": 7}),
        (Alibi(heads=8, rule="plain"), "plain slopes", {"heads": 7, "rule": "paper"}),
        (Alibi(heads=12, rule="plain"), "plain slopes", {"rule": "paper"}),
        (T5(heads=8, bidirectional=False), "one direction", {"bidirectional": "true"}),
        (Sinusoidal(dim=64, first="cos"), "sine only", {"first": "sin"}),
        (Rotary(dim=4096), "scaled twice", None),  # no form reaches it
    ],
)
def test_settings_that_a_mistake_needs(encoding, name, changes):
    assert fields.needed(encoding, mistakes.named(name)) == changes
    if changes:
        kind = spec.to_data(encoding)["kind"]
        present = fields.values(spec.to_data(encoding))
        made = recipes.built(fields.data(kind, present | changes))
        assert mistakes.named(name) in mistakes.of(made)


def test_choosing_a_mistake_sets_what_it_needs(visit):
    tab = visit("/bugs#v=1&encoding=rotary&dim=16")
    words = "“YaRN ramp reversed” is made with other settings: choosing it sets Scaling to YaRN."
    assert words in text(tab, "#catalogue-twin")
    tab.get_by_role("button", name="YaRN ramp reversed").click()
    settled(tab)
    chosen = settings(tab)
    assert (chosen["scaling"], chosen["mistake"], chosen["dim"]) == (
        "yarn",
        "YaRN ramp reversed",
        16,
    )
    assert text(tab, "#notice") == ""
    encoding = Rotary(dim=16, scaling=Yarn(factor=4.0, original_length=4096))
    want = recipes.table(encoding, 0, 64, mistake="YaRN ramp reversed")
    assert differences(values(tab), want) == 0
    pressed = tab.get_by_role("button", name="YaRN ramp reversed")
    assert pressed.get_attribute("aria-pressed") == "true"


def test_the_form_says_what_a_mistake_needs(visit):
    # Heads that a visitor chose stay as they are.
    tab = visit("/bias#v=1&encoding=alibi&heads=16")
    tab.select_option("#mistake", "plain slopes")
    tab.wait_for_selector("#notice:not(:empty)")
    settled(tab)
    assert "'plain slopes' is made with other settings alone: set Heads to 15." in text(
        tab, "#notice"
    )
    visit.forgive("status of 400")
