"""The page of mistakes: every example runs, every test finds its mistake and nothing else."""

import ast
from pathlib import Path

import numpy as np
import pytest

from posenc import Alibi, Rotary, mistakes
from posenc.explorer import recipes
from posenc.study import site, sources
from posenc.study.pages import mistakes as mistaken
from posenc.study.pages.mistakes.seen import seen
from posenc.study.pages.mistakes.smallest import smallest
from posenc.study.writing import rooms
from posenc.study.writing.text import Page

HERE = Path(__file__).parents[2]
WORDS = sources.entries("mistakes", [])
NAMES = [mistake.name for mistake in mistakes.MISTAKES]


@pytest.fixture
def page():
    return Page(name="mistakes", link=lambda scheme, rest: f"../{rest}")


@pytest.fixture(scope="module")
def entries():
    page = Page(name="mistakes", link=lambda scheme, rest: f"../{rest}")
    made = {one["name"]: one for _, _, some in mistaken.sections(WORDS, page) for one in some}
    assert page.faults == []
    return made


@pytest.fixture(scope="module")
def built():
    """The whole site, made before a browser waits for it."""
    return site.built()


def rounded(text):
    """The numbers of a printed row, as the page writes them."""
    return [float(number) for number in text.strip("[]").split()]


def shown(cells):
    return [-np.inf if cell == "masked" else float(cell.replace("−", "-")) for cell in cells]


def yours(name, made=None):
    """The function of a reader, with a mistake or without."""
    mistake = made and mistakes.named(name)
    encoding = smallest(mistakes.named(name)).encoding
    if isinstance(encoding, Rotary):
        return lambda x, positions: np.einsum(
            "pij,pj->pi", mistakes.numbers(encoding, positions, mistake), x
        )
    return lambda positions: mistakes.numbers(encoding, positions, mistake)


def test_every_mistake_is_there(entries):
    assert sorted(entries) == sorted(NAMES)
    assert len({entry["id"] for entry in entries.values()}) == len(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_the_script_prints_what_the_page_shows(entries, capsys, name):
    exec(entries[name]["script"], {})
    right, wrong = (rounded(line) for line in capsys.readouterr().out.splitlines())
    example = entries[name]["example"]
    for printed, cells in (right, example["right"]), (wrong, example["wrong"]):
        assert shown(cells) == pytest.approx(
            printed[-len(cells) :] if len(printed) > 4 else printed
        )
    apart = [one != other for one, other in zip(example["right"], example["wrong"], strict=True)]
    assert list(example["differs"]) == apart
    assert any(apart)


@pytest.mark.parametrize("name", NAMES)
def test_the_test_finds_the_mistake_and_nothing_else(entries, name):
    scope = {}
    exec(entries[name]["guard"], scope)
    scope["yours"] = yours(name)
    scope["test_against_posenc"]()
    scope["yours"] = yours(name, made=True)
    with pytest.raises(AssertionError, match="Not equal to tolerance|are not equal"):
        scope["test_against_posenc"]()


@pytest.mark.parametrize("name", NAMES)
def test_posencs_own_test_exists(entries, name):
    file, _, test = entries[name]["test"].partition("::")
    tree = ast.parse((HERE / file).read_text(encoding="utf-8"))
    assert test in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize(
    ("name", "encoding", "positions"),
    [
        ("sine only", "posenc.Sinusoidal(dim=2)", (0,)),
        ("degrees", "posenc.Sinusoidal(dim=2)", (0, 1)),
        ("pairing mixed up", "posenc.Rotary(dim=4)", (0, 1)),
        ("positions in bfloat16", "posenc.Sinusoidal(dim=2)", (0, 257)),  # it has no room for 257
        ("positions in float16", "posenc.Sinusoidal(dim=2)", (0, 2049)),
        ("bias in bfloat16", "posenc.Alibi(heads=1)", (0, 257)),
        ("plain slopes", "posenc.Alibi(heads=3)", (0, 1)),  # the first that is no power of two
    ],
)
def test_the_smallest_example(name, encoding, positions):
    found = smallest(mistakes.named(name))
    assert (found.made, found.positions) == (encoding, positions)
    assert found.place[-1] == len(positions) - 1


def test_nothing_smaller_shows_a_rounded_frequency():
    found = smallest(mistakes.named("frequencies in bfloat16"))
    assert found.encoding.dim == 4
    narrow = 0.010009765625  # the bfloat16 next to 1/100
    apart = [
        max(abs(np.sin(p * narrow) - np.sin(p / 100)), abs(np.cos(p * narrow) - np.cos(p / 100)))
        for p in range(found.positions[-1] + 1)
    ]
    assert [at for at, error in enumerate(apart) if error >= 1e-4] == [found.positions[-1]]


@pytest.mark.parametrize("name", NAMES)
def test_rooms_open_where_the_mistake_is_seen(entries, name):
    listed = entries[name]["rooms"]
    assert listed[-1]["room"] == "bugs"
    for each in listed:
        found = rooms.opened(each["state"])
        assert found.values["mistake"] == name
        span = (found.values.get("from", 0), found.values["count"])
        head = found.values.get("head", 0)
        right, wrong = (
            recipes.table(found.encoding, *span, head=head, mistake=one).astype(float)
            for one in (None, name)
        )
        at = found.values["position"] - span[0], found.values["column"]
        assert not np.isclose(right[at], wrong[at], atol=0.03), each["state"]


def test_rooms_that_do_not_show_a_mistake_are_left_out():
    def listed(name):
        return [each.room for each in seen(mistakes.named(name), {})]

    assert "rotation" in listed("turned backwards")
    assert "bias" not in listed("sine only")
    assert "clock" in listed("sine only")


def test_what_likeness_can_and_cannot_show(entries):
    def words(name):
        [found] = [one for one in entries[name]["rooms"] if one["room"] == "similarity"]
        return found["words"]

    assert words("features in the other layout").startswith("Nothing")
    assert words("sine only").startswith("The stripes break")
    assert words("exponent doubled").startswith("The stripes stay")
    assert words("positions along the batch").startswith("One colour")


def test_sorted_by_how_they_show(page):
    parts = {shows: some for shows, _, some in mistaken.sections(WORDS, page)}
    assert list(parts) == ["loud", "silent", "harmless"]
    assert "transposed" in {one["name"] for one in parts["loud"]}
    assert {one["severity"] for one in parts["harmless"]} == {"harmless"}


def test_reports_lead_to_their_issue(entries):
    report = entries["offset lost in a cache"]["report"]
    assert report["address"] == "https://github.com/lucidrains/rotary-embedding-torch/issues/11"
    assert entries["degrees"]["report"] == {"words": "", "address": ""}


def test_words_that_are_missing_or_of_no_mistake(page):
    words = {name: words for name, words in WORDS.items() if name != "degrees"}
    list(mistaken.sections(words | {"typo": WORDS["degrees"]}, page))
    assert page.faults == [
        "mistakes: there are no words for the mistake 'degrees' in content/mistakes.",
        "mistakes: there is no mistake 'typo'.",
    ]


def test_words_that_are_not_right(page):
    wrong = {"shows": "quietly", "settings": {"heads": 8}}  # eight heads follow both rules
    list(mistaken.sections(WORDS | {"plain slopes": WORDS["plain slopes"] | wrong}, page))
    assert page.faults == [
        "mistakes: plain slopes: `shows` must be loud or silent; got 'quietly'.",
        "mistakes: plain slopes: no room shows it with {'heads': 8}: `mistake` must be one that is "
        "made in Alibi with these settings: first slope is 1, sign of the bias, rows moved by a "
        "constant, bias in bfloat16; got 'plain slopes'.",
    ]


@pytest.mark.parametrize("part", ["shows", "symptom", "test"])
def test_words_that_lack_a_part(page, part):
    words = {name: text for name, text in WORDS["degrees"].items() if name != part}
    list(mistaken.sections(WORDS | {"degrees": words}, page))
    assert page.faults == [f"mistakes: degrees: there is no {part}."]


def test_a_mistake_that_no_room_shows(page, monkeypatch):
    monkeypatch.setattr(mistaken, "seen", lambda mistake, settings: [])
    list(mistaken.sections({"degrees": WORDS["degrees"]}, page))
    assert page.faults[-1] == "mistakes: degrees: no room shows it with {}."


def test_a_link_opens_the_room_with_the_mistake(built, read, entries):
    assert isinstance(smallest(mistakes.named("sign of the bias")).encoding, Alibi)
    tab = read("mistakes/#sign-of-the-bias")
    tab.locator("[id='sign-of-the-bias'] a", has_text="Bias").click()
    tab.wait_for_url("**/bias#*")
    assert tab.locator("#mistake").input_value() == "sign of the bias"
    [words] = [
        one["words"] for one in entries["sign of the bias"]["rooms"] if one["room"] == "bias"
    ]
    assert "0.0625 instead of −0.0625" in words
    tab.get_by_text("0.0625", exact=True).first.wait_for(state="attached")
