"""The page of questions and answers: what every answer must rest on, and how they are grouped."""

import dataclasses

import pytest

from posenc.study import claims, site, sources
from posenc.study.links import Links
from posenc.study.material import Material
from posenc.study.pages import questions as asked

FILES = sources.names("questions")
ANSWERS = sources.entries("questions", [])
CLAIMS = claims.read(sources.entries("claims", []))
SOURCES = sources.entries("sources", [])
FULL = {
    "ask": "Why?",
    "short": "It is so, as {{ 0.5 }} shows.",
    "answer": "More of it.",
    "claim": "gap-rises",
    "figure": "waves#v=1&dim=8",
    "look": "The waves",
    "source": "vaswani2017",
}


class Small(Material):
    """Material with one question, and the claims and sources of the site."""

    def __init__(self, root, entry):
        self.root, self.faults, self.lessons = root, [], []
        self.answers, self.claims, self.sources = {"q": entry}, CLAIMS, SOURCES
        names = {"claim": CLAIMS, "source": SOURCES, "lesson": ["sinusoidal"]}
        self.links = Links(names=names)


@pytest.fixture
def faults(tmp_path):
    """The faults of a question that stands in a file."""

    def faults(file, entry):
        (tmp_path / "questions").mkdir()
        (tmp_path / "questions" / file).write_text("[q]\n", encoding="utf-8")
        material = Small(tmp_path, entry)
        list(asked.groups(material))
        return material.faults

    return faults


@pytest.fixture(scope="module")
def built():
    """The whole site, made before a browser waits for it."""
    return site.built()


def without(*names, **changed):
    return {name: part for name, part in FULL.items() if name not in names} | changed


def test_the_sixteen_come_first():
    first, *others = FILES
    assert first == asked.FIRST
    assert len(FILES[first]) == 16
    assert FILES[first][:3] == ["why-add", "base-ten-thousand", "why-both"]
    assert others[:2] == ["signs", "attention"]
    assert sum(map(len, FILES.values())) == len(ANSWERS)


def test_an_answer_with_everything(faults):
    assert faults("00-first.toml", FULL) == []


@pytest.mark.parametrize("part", ["short", "claim", "figure", "look", "source"])
def test_a_first_answer_that_lacks_a_part(faults, part):
    assert faults("00-first.toml", without(part)) == [
        f"questions: q: among the first questions an answer needs {part}."
    ]


@pytest.mark.parametrize(
    ("short", "right"),
    [("It is so. It is.", False), ("It is so", False), ("Is it? Yes.", False), ("Yes.", True)],
)
def test_the_short_answer_is_one_sentence(faults, short, right):
    found = faults("00-first.toml", without(short=short))
    assert found == ([] if right else ["questions: q: `short` must be one sentence."])


@pytest.mark.parametrize(
    ("entry", "right"),
    [
        ({}, False),
        ({"answer": "See the [lesson](lesson:sinusoidal)."}, False),
        ({"answer": "As [found](claim:gap-rises)."}, True),
        ({"answer": "As [they say](source:su2021)."}, True),
        ({"claim": "gap-rises"}, True),
        ({"source": "su2021"}, True),
        ({"check": "1 < 2"}, True),
        ({"advice": True}, True),
        ({"advice": False}, False),
    ],
)
def test_an_answer_rests_on_something(faults, entry, right):
    found = faults("03-wishes.toml", {"ask": "Why?", "answer": "It is so."} | entry)
    assert found == (
        []
        if right
        else [
            "questions: q: its answer rests on no claim, source or check; say `advice` if it "
            "states no fact."
        ]
    )


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"check": "2 < 1"}, "its check is false: 2 < 1"),
        ({"check": "unknown"}, "'unknown' cannot be worked out"),
        ({"claim": "nothing"}, "there is no claim 'nothing'"),
        ({"source": "nobody2000"}, "there is no source 'nobody2000'"),
        ({"figure": "waves#v=1&tilt=8"}, "no setting tilt"),
        ({"figure": "attic"}, "there is no room 'attic'"),
        ({"answer": "There are 7."}, "'7' is typed by hand"),
    ],
)
def test_what_it_rests_on_is_there_and_true(faults, entry, words):
    found = faults("03-wishes.toml", without(**entry))
    assert len(found) == 1
    assert words in found[0]


def test_what_the_page_shows(tmp_path):
    (tmp_path / "questions").mkdir()
    (tmp_path / "questions" / "00-first.toml").write_text("[q]\n", encoding="utf-8")
    answer = "So [they say](source:su2021), and [it holds](claim:gap-both-sides)."
    [group] = asked.groups(Small(tmp_path, without(answer=answer, check="1 < 2")))
    [entry] = group["questions"]
    assert entry["short"] == "It is so, as 0.5 shows."
    assert entry["figure"] == "../waves#v=1&dim=8"
    assert [one["kind"] for one in entry["claims"]] == ["measured", "theorem"]
    assert [one["address"] for one in entry["sources"]] == [
        "../sources/#vaswani2017",
        "../sources/#su2021",
    ]
    assert (entry["check"], entry["advice"]) == ("1 < 2", False)


def test_every_answer_of_the_site():
    # As the builder demands it, read here without the builder.
    for name in FILES[asked.FIRST]:
        assert {"short", "claim", "figure", "look", "source"} <= set(ANSWERS[name]), name
    for name, entry in ANSWERS.items():
        linked = "(claim:" in entry["answer"] or "(source:" in entry["answer"]
        assert linked or {"claim", "source", "check", "advice"} & set(entry), name


def test_measured_claims_have_a_check():
    for name, entry in ANSWERS.items():
        for claim in [entry["claim"]] if "claim" in entry else []:
            found = dataclasses.asdict(CLAIMS[claim])
            assert found["check"] or found["kind"] not in ("measured", "theorem"), name


def test_a_reader_finds_an_answer_and_its_ground(built, read):
    tab = read("questions/")
    tab.get_by_role("navigation", name="Questions").get_by_text("Why 10,000?").press("Enter")
    tab.wait_for_url("**/questions/#base-ten-thousand")
    found = tab.locator("#base-ten-thousand")
    assert found.locator("strong").inner_text().startswith("The paper does not say")
    found.get_by_role("link", name="paper", exact=True).press("Enter")
    tab.wait_for_url("**/claims/#base-without-reason")
    tab.go_back()
    tab.locator("#base-ten-thousand").get_by_text("Change the base").press("Enter")
    tab.wait_for_url("**/waves#*base=10000*")
