"""The builder: what it makes of small contents, and what it refuses."""

import pytest

from posenc.study import site
from posenc.study.faults import Faults

LESSON = """+++
title = "Turning"
goal = "See a pair turn."
reading = ["su2021"]

[values]
d = 4
+++

With {{ d }} numbers, pair one turns by {{ (10000 ** (-2 / d)) | digits(2) }} radians.
"""
SOURCES = """[su2021]
title = "RoFormer"
authors = "Su et al."
year = 2021
where = "arXiv:2104.09864"
url = "https://arxiv.org/abs/2104.09864"
level = "paper"
minutes = 60
good = "The derivation."
warn = ""
"""
CLAIM = """[pair-length]
kind = "theorem"
text = "The squares of a pair add up to one."
check = "abs(sum(x * x for x in row('sinusoidal:dim=4', 7)) - 2) < 1e-12"
"""
CHOICE = """[[question]]
id = "q-1"
kind = "choice"
ask = "Which pair is the fastest?"
why = "It turns by one radian."
options = [
  {{ text = "the first", right = {first}, why = "One radian." }},
  {{ text = "{other}", right = {second}, why = "Less." }},
]
"""
NUMERIC = """[[question]]
id = "q-2"
kind = "numeric"
ask = "How fast is pair {{{{ k }}}}?"
answer = "10000 ** (-2 * k / 4)"
tolerance = {tolerance}
seed = {{ k = [{k}] }}
wrong = [{{ answer = "10000 ** (-k / 4)", why = "Half the exponent." }}]
"""


@pytest.fixture
def content(tmp_path):
    """Writes files of content, by their place in the folder, and gives the folder."""

    def write(**files):
        for folder in (
            *("lessons", "formulas", "howto", "quizzes", "cards"),
            *("claims", "sources", "glossary", "questions"),
        ):
            (tmp_path / folder).mkdir(exist_ok=True)
        usual = {"lessons/00-turning.md": LESSON, "sources/all.toml": SOURCES}
        for name, text in (usual | files.pop("more", {}) | files).items():
            (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path

    return write


def faults(folder):
    with pytest.raises(Faults) as caught:
        site.build(folder)
    return caught.value.found


def test_numbers_are_worked_out(content):
    page = site.build(content()).pages["learn/turning"]
    assert "With 4 numbers, pair one turns by 0.01 radians." in page
    assert "RoFormer" in page


@pytest.mark.parametrize(
    ("text", "digit"),
    [
        ("It turns by 0.01 radians.", "0.01"),
        ("There are 512 rows.", "512"),
        ("About 1,024 of them.", "1,024"),
        ("* a list with 7", "7"),
        ("| a | b |\n|---|---|\n| 3 | x |", "3"),
    ],
)
def test_a_typed_digit_is_a_fault(content, text, digit):
    found = faults(content(more={"lessons/00-turning.md": f"{LESSON}\n{text}\n"}))
    assert found == [f"turning: '{digit}' is typed by hand; write an expression, {{{{ ... }}}}."]


def test_names_code_and_formulas_may_have_digits(content):
    text = "T5 and GPT-2 use `x[0]` and $10^4$.\n\n1. one\n2. two\n"
    site.build(content(more={"lessons/00-turning.md": f"{LESSON}\n{text}"}))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{{ missing }}", "'missing' is undefined"),
        ("{{ row('nothing:dim=4', 1) }}", "'kind' must be one of"),
        ("{{ 1.5 | whole }}", "no whole number"),
    ],
)
def test_an_expression_that_fails(content, text, words):
    [found] = faults(content(more={"lessons/00-turning.md": f"{LESSON}\n{text}\n"}))
    assert found.startswith("turning: cannot be worked out")
    assert words in found


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("lesson:nothing", "there is no lesson 'nothing'"),
        ("claim:nothing", "there is no claim 'nothing'"),
        ("room:nothing", "there is no room 'nothing'"),
        ("room:waves#encoding=alibi", "does not show the encoding 'alibi'"),
        ("room:waves#dimm=8", "has no setting dimm"),
        ("https://example.org", "a link begins with one of"),
        ("page:nothing", "there is no page 'nothing'"),
    ],
)
def test_a_dead_link(content, target, words):
    [found] = faults(content(more={"lessons/00-turning.md": f"{LESSON}\n[here]({target})\n"}))
    assert found.startswith(f"turning: the link ({target}) is dead")
    assert words in found


def test_links_that_lead_somewhere(content):
    text = "[a](lesson:turning) [b](room:waves#v=1&dim=8) [c](source:su2021) [d](page:mistakes)"
    page = site.build(content(more={"lessons/00-turning.md": f"{LESSON}\n{text}\n"})).pages
    for address in (
        "../learn/turning",
        "../waves#v=1&amp;dim=8",
        "../sources/#su2021",
        "../mistakes/",
    ):
        assert f'href="{address}"' in page["learn/turning"]


@pytest.mark.parametrize(
    ("wrong", "right", "words"),
    [
        ('"theorem"', '"theorem"\nsource = "nobody"', "there is no source 'nobody'"),
        ("< 1e-12", "> 1", "its check is false"),
        ("row(", "rov(", "cannot be worked out"),
        ('"theorem"', '"paper"', "what is paper needs a `source`"),
        ('"theorem"', '"known"', "its kind 'known' must be one of theorem"),
    ],
)
def test_a_claim_without_ground(content, wrong, right, words):
    claim = CLAIM.replace(wrong, right)
    assert claim != CLAIM
    assert any(words in found for found in faults(content(more={"claims/all.toml": claim})))


def test_a_measured_claim_needs_a_check(content):
    claim = CLAIM.split("check")[0].replace("theorem", "measured")
    assert faults(content(more={"claims/all.toml": claim})) == [
        "claim pair-length: a measured claim needs a `check`, an expression that is true."
    ]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"first": "true", "second": "true", "other": "the last"}, "exactly one option must be"),
        ({"first": "false", "second": "false", "other": "the last"}, "exactly one option must be"),
        ({"first": "true", "second": "false", "other": "the first"}, "two choices read alike"),
        ({"first": "'2 < 1'", "second": "false", "other": "the last"}, "exactly one option must"),
    ],
)
def test_a_choice_with_no_one_answer(content, options, words):
    [found] = faults(content(more={"quizzes/00-turning.toml": CHOICE.format(**options)}))
    assert found.startswith("quiz of turning: q-1: ")
    assert words in found


def test_an_answer_that_a_mistake_gives_too(content):
    good = NUMERIC.format(tolerance=0.0001, k=1)
    site.build(content(more={"quizzes/00-turning.toml": good}))
    for bad in (NUMERIC.format(tolerance=0.05, k=1), NUMERIC.format(tolerance=0.0001, k=0)):
        [found] = faults(content(more={"quizzes/00-turning.toml": bad}))
        assert "which counts as the answer" in found


def test_a_repeated_id(content):
    card = '[[card]]\nid = "q-2"\nkind = "symbol"\nfront = "a"\nback = "b"\n'
    found = faults(
        content(
            more={
                "quizzes/00-turning.toml": NUMERIC.format(tolerance=0.0001, k=1),
                "cards/00-turning.toml": card,
            }
        )
    )
    assert found == ["the id 'q-2' is used twice."]


def test_an_example_that_does_not_discriminate(content):
    # The first pair has divisor one whatever the base and the exponent are.
    block = '```worked\nspec = "sinusoidal:dim=2"\npositions = [1]\n```\n'
    found = faults(content(more={"lessons/00-turning.md": f"{LESSON}\n{block}"}))
    assert any("would pass with the mistake" in fault for fault in found)
    told = (
        '```worked\nspec = "alibi:heads=2"\npositions = [3]\nblind = { "nonsense" = "why" }\n```\n'
    )
    found = faults(content(more={"lessons/00-turning.md": f"{LESSON}\n{told}"}))
    assert "turning: the example is said to be blind for 'nonsense', but it is not." in found


@pytest.mark.parametrize("head", ["", "+++\ntitle = 1\n", "+++\ntitle =\n+++\n"])
def test_a_page_without_a_head(content, head):
    with pytest.raises(ValueError, match=r"00-turning\.md"):
        site.build(content(more={"lessons/00-turning.md": head}))
