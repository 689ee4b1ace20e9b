"""Every lesson and every page of a formula has all its parts."""

import re
from collections import Counter

import pytest

from posenc.explorer.methods import METHODS
from posenc.study import sources

LESSONS = {page.name: page for page in sources.every("lessons")}
FORMULAS = {page.name: page for page in sources.every("formulas")}
QUESTIONS = sources.tables("quizzes", "question")
CARDS = sources.tables("cards", "card")


def blocks(page, word):
    return re.findall(rf"^```{word}\n(.*?)^```$", page.body, re.DOTALL | re.MULTILINE)


def sections(page):
    """What stands under each heading of a page."""
    parts = re.split(r"^## (.+)$", page.body, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def told(text):
    """How many mistakes a text tells: blocks, and paragraphs that begin with their name."""
    return len(re.findall(r"^```mistake$|^\*\*", text, re.MULTILINE))


def test_there_are_eighteen_lessons_and_a_page_for_every_encoding():
    assert len(LESSONS) == 18
    assert set(METHODS) | {"attention", "softmax"} == set(FORMULAS)


@pytest.mark.parametrize("lesson", LESSONS.values(), ids=list(LESSONS))
def test_a_lesson_is_whole(lesson):
    assert lesson.head["goal"]
    assert lesson.head.get("needs") or lesson.name == "signs"
    assert len(lesson.head["reading"]) >= 2
    found = sections(lesson)
    assert blocks(lesson, "room")
    assert next(iter(found)) in ("Start with a picture", "See it before you touch it")
    assert blocks(lesson, "predict")
    assert blocks(lesson, "say")
    assert blocks(lesson, "worked") or re.search("worked example", lesson.body, re.IGNORECASE)
    assert told(found["What goes wrong"]) >= 3
    assert len(blocks(lesson, "mistake")) >= 2
    assert found["Where it is met"].strip()
    assert (
        len(re.findall(r"^- \[.*\]\(question:", found["Questions people ask"], re.MULTILINE)) >= 2
    )


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lesson_has_questions_and_cards(lesson):
    asked = [question for question in QUESTIONS if question["file"] == lesson]
    assert len(asked) >= 5
    assert len({question["kind"] for question in asked}) >= 3
    assert sum(card["file"] == lesson for card in CARDS) >= 5


@pytest.mark.parametrize("lesson", [name for name in LESSONS if name != "signs"])
def test_a_lesson_leads_to_formulas(lesson):
    assert "](formula:" in LESSONS[lesson].body


def test_every_how_to_is_named_in_a_lesson():
    text = "".join(lesson.body for lesson in LESSONS.values())
    for howto in sources.every("howto"):
        assert f"](howto:{howto.name})" in text, howto.name


def test_every_kind_of_question_is_asked_and_half_of_them_have_new_numbers():
    kinds = Counter(question["kind"] for question in QUESTIONS)
    for kind in ("choice", "several", "numeric", "order", "match", "line", "draw", "table"):
        assert kinds[kind] >= 2, kind
    assert len(QUESTIONS) >= 100
    assert 2 * sum("seed" in question for question in QUESTIONS) >= len(QUESTIONS)
    assert len(CARDS) >= 120


@pytest.mark.parametrize("formula", FORMULAS.values(), ids=list(FORMULAS))
def test_a_page_of_a_formula_is_whole(formula):
    assert formula.head["sentence"]
    assert formula.head.get("aloud") or METHODS[formula.name].aloud
    for symbol in formula.head["symbols"]:
        assert symbol.keys() == {"sign", "kind", "range", "means"}
        assert all(symbol.values())
    assert formula.head["reading"]
    found = sections(formula)
    for part in ("Piece by piece", "Why it is made like this", "A picture", "Where it is met"):
        assert found[part].strip(), part
    assert blocks(formula, "room")
    assert blocks(formula, "worked") or blocks(formula, "apart")
    assert told(found["Common mistakes"]) >= 3
    assert len(re.findall(r"^\*\*.*\?\*\*|^```predict$", found["Questions"], re.MULTILINE)) >= 2
    assert found["Related formulas"].count("](formula:") >= 1
    assert "](lesson:" in formula.body


@pytest.mark.parametrize("formula", FORMULAS.values(), ids=list(FORMULAS))
def test_limits_say_what_they_rest_on(formula):
    limits = sections(formula)["Limits"]
    lines = re.findall(r"^- [*]+(.+?)[*]+ ", limits, re.MULTILINE)
    assert len(lines) >= 2
    kinds = (
        "Theorem",
        "Measured here",
        "A paper's result",
        "The authors' hope",
        "Disputed",
        "Not ",
    )
    assert [line for line in lines if not line.startswith(kinds)] == []
    assert "](claim:" in limits
