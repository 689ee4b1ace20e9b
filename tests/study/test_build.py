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
FORMULA = """+++
title = "More"
sentence = "It is."
symbols = [{{ sign = "d", kind = "{kind}", range = "{range}", means = "the size" }}]
+++
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


@pytest.mark.parametrize(
    ("file", "text", "place"),
    [
        ("lessons/01-more.md", '+++\ntitle = "Ten or 12"\ngoal = "x"\n+++\n', "more"),
        ("howto/01-more.md", '+++\ntitle = "Ten or 12"\ngoal = "x"\n+++\n', "more"),
        ("formulas/more.md", '+++\ntitle = "Ten or 12"\nsentence = "x"\n+++\n', "more"),
        ("formulas/more.md", FORMULA.format(kind="one of 12", range="any"), "more"),
        ("formulas/more.md", FORMULA.format(kind="any", range="from 12 up"), "more"),
        ("formulas/more.md", FORMULA.format(kind="any", range="any") + "12", "more"),
    ],
)
def test_a_typed_digit_above_the_text(content, file, text, place):
    found = faults(content(more={file: text}))
    assert found == [f"{place}: '12' is typed by hand; write an expression, {{{{ ... }}}}."]


@pytest.mark.parametrize("folder", ["lessons", "howto"])
def test_a_page_needs_a_goal(content, folder):
    found = faults(content(more={f"{folder}/01-more.md": '+++\ntitle = "More"\n+++\n'}))
    assert found == ["more: there is no `goal` in its head."]


def test_kind_and_range_are_rendered(content):
    text = FORMULA.format(kind="one of {{ 3 * 4 }}", range="*from* $d$")
    page = site.build(content(more={"formulas/more.md": text})).pages["formulas/more"]
    assert "<td>one of 12</td><td><em>from</em> <math" in page


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
        ("room:waves#v=2", "v must be 1, not '2'"),
        ("room:waves#encoding=rotary&dim=7", "dim must be an even number from 2 to"),
        ("room:waves#dim=eight", "got 'eight'"),
        ("room:waves#dim=-8", "got '-8'"),
        ("room:waves#layout=thirds", "layout must be one of 'interleaved', 'half'"),
        ("room:waves#mistake=nonsense", "mistake must be one of '', "),
        ("room:table#encoding=alibi&mistake=degrees", "mistake must be one of '', "),
        ("room:clock#encoding=alibi", "does not show the encoding 'alibi'"),
        ("room:waves#count=8&position=8", "position must be a whole number from 0 to 7"),
        ("room:waves#from=100&position=7", "position must be a whole number from 100 to 163"),
        ("room:table#dim=8&column=8", "column must be a whole number from 0 to 7"),
        ("room:bias#heads=8&head=8", "`head` must lie between 0 and 7"),
        ("room:waves#dim=8&waves=0,8", "waves must be a whole number from 0 to 7"),
        ("room:order#position=1", "the room 'order' has no setting position here"),
        ("room:waves#encoding=learned&length=64&count=128&position=1", "64"),
        ("room:table#encoding=rotary&factor=4", "has no setting factor here"),
        ("room:waves#hide=dimm", "has no setting dimm to hide"),
        (f"room:waves#ask={'a' * 301}", "ask must have at most 300 characters"),
        (f"room:order#sentence={'a' * 241}", "sentence must have at most 240 characters"),
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
    "target",
    [
        "waves#v=1&dim=8&waves=0,7&position=63&hide=encoding,dim",
        "table#v=1&encoding=rotary&scaling=yarn&factor=4&column=3",
        "waves#v=1&from=1000&position=1010",
        "order#v=1&order=shuffled&shuffle=7",
        "similarity#v=1&mistake=exponent%20doubled",
    ],
)
def test_a_room_that_stands(content, target):
    site.build(content(more={"lessons/00-turning.md": f"{LESSON}\n[a](room:{target})\n"}))


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


def test_a_claim_says_where_in_its_source(content):
    claim = f'{CLAIM}source = "su2021"\nwhere = "section 3.2"\n'
    page = site.build(content(more={"claims/all.toml": claim})).pages["claims/"]
    assert "Su et al. 2021</a>, section 3.2" in page


def test_a_place_in_no_source_is_a_fault(content):
    claim = f'{CLAIM}where = "section 3.2"\n'
    assert faults(content(more={"claims/all.toml": claim})) == [
        "claim pair-length: `where` is 'section 3.2', a place in no `source`."
    ]


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


TABLE = """[[question]]
id = "q-3"
kind = "table"
ask = "Which?"
spec = "sinusoidal:dim=8"
options = [
  {{ text = "side by side", spec = "{first}", why = "In pairs." }},
  {{ text = "sines first", spec = "{second}", why = "In halves." }},
  {{ text = "digits", why = "Only two values." }},
]
"""


@pytest.mark.parametrize(
    ("first", "second", "count"),
    [
        ("sinusoidal:dim=8,layout=half", "sinusoidal:dim=8,base=100", 0),
        ("sinusoidal:dim=8", "sinusoidal:dim=8,layout=interleaved", 2),
    ],
)
def test_a_table_with_no_one_name(content, first, second, count):
    table = TABLE.format(first=first, second=second)
    [found] = faults(content(more={"quizzes/00-turning.toml": table}))
    assert found == f"quiz of turning: q-3: exactly one option must be right; {count} are."


def test_a_curve_with_places_for_other_points(content):
    draw = '[[question]]\nid = "q-4"\nkind = "draw"\nask = "x"\ncurve = "[0, 1]"\nat = "[3]"\n'
    [found] = faults(content(more={"quizzes/00-turning.toml": draw}))
    assert found.endswith("`at` must be one for each point; there are 1 for 2.")


LINE = """[[question]]
id = "q-5"
kind = "line"
ask = "Which?"
why = "It is."
given = "a = 2"
lines = ["b = a + {added}", "c = b * 2"]
wrong = 0
mend = "b = a + {mend}"
holds = "c == 6"
"""


@pytest.mark.parametrize(
    ("added", "mend", "words"),
    [(1, 1, ["is right as it stands"]), (2, 3, ["still not right"]), (2, 1, [])],
)
def test_a_program_with_one_wrong_line(content, added, mend, words):
    folder = content(more={"quizzes/00-turning.toml": LINE.format(added=added, mend=mend)})
    if not words:
        site.build(folder)
        return
    [found] = faults(folder)
    assert words[0] in found


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


def test_a_program_is_run_and_what_it_prints_is_shown(content):
    text = "```python\nimport posenc\nd = 4\n```\n\nand\n\n```python\nprint(d < 5, '<')\n```\n"
    page = site.build(content(more={"lessons/00-turning.md": f"{LESSON}\n{text}"})).pages
    assert page["learn/turning"].count('class="output"') == 1
    assert "<samp>True &lt;\n</samp>" in page["learn/turning"]


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("posenc.Sinusoidal(dim=7)", "NameError"),
        ("import posenc\nposenc.Sinusoidal(dim=7)", "ValueError: `dim`"),
        ("1 +", "SyntaxError"),
    ],
)
def test_a_program_that_fails(content, code, words):
    text = f"```python\n{code}\n```\n"
    [found] = faults(content(more={"lessons/00-turning.md": f"{LESSON}\n{text}"}))
    assert found.startswith(f"turning: a program fails: {words}")


APART = """```apart
right = "[0.25, 1.0]"
by_hand = "{by_hand}"
[wrong]
"the root forgotten" = "{wrong}"
```
"""
OWN = """```mistake
name = "the root forgotten"
sentence = "The scores are {{{{ 2 * 3 }}}} times too large{typed}."
mend = "Divide."
right = "d ** 0.5"
wrong = "{wrong}"
```
"""


def test_an_example_of_the_page_itself(content):
    text = APART.format(by_hand="[1 / 4, 1]", wrong="[0.5, 2.0]")
    page = site.build(content(more={"lessons/00-turning.md": f"{LESSON}\n{text}"})).pages
    assert "<td>0.2500, 1.0000</td>" in page["learn/turning"]
    assert "the root forgotten</th><td>0.5000, 2.0000</td>" in page["learn/turning"]


@pytest.mark.parametrize(
    ("by_hand", "wrong", "words"),
    [
        ("[0.25, 1]", "[0.25001, 1]", "would pass with the mistake 'the root forgotten'"),
        ("[0.26, 1]", "[0.5, 2]", "by hand it is ['0.2600', '1.0000']"),
        ("[0.25, 1]", "[0.5, nothing]", "cannot be worked out"),
    ],
)
def test_an_example_of_the_page_itself_that_shows_nothing(content, by_hand, wrong, words):
    text = APART.format(by_hand=by_hand, wrong=wrong)
    [found] = faults(content(more={"lessons/00-turning.md": f"{LESSON}\n{text}"}))
    assert words in found


def test_a_mistake_of_the_page_itself(content):
    text = OWN.format(typed="", wrong="d")
    page = site.build(content(more={"lessons/00-turning.md": f"{LESSON}\n{text}"})).pages
    assert "The scores are 6 times too large." in page["learn/turning"]


@pytest.mark.parametrize(
    ("typed", "wrong", "words"),
    [
        ("", "2", "the mistake 'the root forgotten' changes nothing: both are 2.0."),
        (" by 7", "d", "'7' is typed by hand"),
    ],
)
def test_a_mistake_of_the_page_itself_that_is_none(content, typed, wrong, words):
    text = OWN.format(typed=typed, wrong=wrong)
    [found] = faults(content(more={"lessons/00-turning.md": f"{LESSON}\n{text}"}))
    assert words in found


@pytest.mark.parametrize("head", ["", "+++\ntitle = 1\n", "+++\ntitle =\n+++\n"])
def test_a_page_without_a_head(content, head):
    with pytest.raises(ValueError, match=r"00-turning\.md"):
        site.build(content(more={"lessons/00-turning.md": head}))
