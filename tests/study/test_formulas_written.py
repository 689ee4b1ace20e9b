"""Formulas in a text: what a browser is given."""

import xml.etree.ElementTree as ElementTree

from posenc.study.writing import text
from posenc.study.writing.text import Page

MATH = "{http://www.w3.org/1998/Math/MathML}"


def page() -> Page:
    """A page that links to nothing."""
    return Page(name="a page", link=lambda scheme, name: name)


def test_small_signs_of_a_function_are_its_own() -> None:
    """A base or a power has two parts in MathML; a browser shows three of them in a row."""
    for written in (r"\log_2(1 + x)", r"\sin^2 x + \cos^2 x"):
        drawn = ElementTree.fromstring(text.formula(written))
        small = [*drawn.iter(f"{MATH}msub"), *drawn.iter(f"{MATH}msup")]
        assert small
        assert all(len(one) == 2 for one in small)


def test_a_function_stands_apart_from_what_it_is_taken_of() -> None:
    """Else sin and x are read as one word."""
    assert "mspace" in text.formula(r"\sin x")


def test_a_mark_stays_with_its_formula() -> None:
    """A line may not begin with the full stop behind a formula, and nothing is lost or doubled."""
    made = text.inline("Over $d$, and (of $k$). Not $x$ alone.", page())
    assert made.count("glued") == 2
    assert "</math>,</span> and" in made
    assert "</math>).</span> Not" in made
    assert "</math> alone." in made
