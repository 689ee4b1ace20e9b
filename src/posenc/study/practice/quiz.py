"""Questions of a quiz: read, worked out for several seeds, and checked.

The kinds:

choice, several   `options`, each with `text`, `right` and `why`
numeric           `answer`, an expression; `tolerance`; `wrong` expressions, each with its `why`
order             `items` in the right order; `keys`, expressions that grow from item to item
match             `pairs` of two texts
line              `lines` of which number `wrong` (from 0) is at fault; `why`. Where the program
                  can be run: `given`, what stands before it; `mend`, the line as it should be;
                  `holds`, an expression that is true of the mended program alone
draw              `curve`, an expression for a list of heights; `at`, one for where each of them
                  stands, by default 0, 1, ...; `tolerance` as a share of the curve's range
table             `spec` of a table to be named, among `options`, each with `text`, `why` and, where
                  a table of the library is meant, its own `spec`

`seed` gives names the values that they may have; every set of values is one variant, and in all of
them the answer must be the only defensible one.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from posenc.study.practice import key
from posenc.study.writing import numbers
from posenc.study.writing.text import Page, inline, worked as worked_text

MOST = 12
"""Variants of one question that a page holds."""

Question = Mapping[str, Any]


def variants(question: Question) -> list[dict[str, Any]]:
    """The sets of values of a question, at most `MOST`, always the same ones."""
    seed = question.get("seed", {})
    every = [dict(zip(seed, chosen, strict=True)) for chosen in itertools.product(*seed.values())]
    if len(every) <= MOST:
        return every
    return random.Random(question["id"]).sample(every, MOST)


def worked(question: Question, page: Page) -> dict[str, Any]:
    """A question with all its variants worked out, ready for JSON; faults go to the page."""
    made = [
        _variant(
            question,
            Page(
                name=f"{page.name}: {question['id']}",
                values=values | dict(page.values),
                link=page.link,
                faults=page.faults,
            ),
        )
        for values in variants(question)
    ]
    if after := question.get("after", ""):
        try:
            page.link("room", after)
        except LookupError as error:
            page.fault(f"{question['id']}: `after` is not right: {error.args[0]}")
    return {
        "id": question["id"],
        "kind": question["kind"],
        "after": after,
        "variants": made,
    }


def _variant(question: Question, page: Page) -> dict[str, Any]:
    kind = question["kind"]
    if kind not in _KINDS:
        page.fault(f"there is no kind {kind!r} of question.")
        return {}
    asked = {"ask": inline(question["ask"], page), "why": inline(question.get("why", ""), page)}
    try:
        made = asked | _KINDS[kind](question, page)
    except (KeyError, ValueError) as error:
        page.fault(f"cannot be worked out: {error}")
        made = asked
    return made | {"key": key.key(made)}


def _choice(question: Question, page: Page) -> dict[str, Any]:
    options = []
    for option in question["options"]:
        text, why = inline(option["text"], page), inline(option.get("why", ""), page)
        right = _truth(option["right"], page)
        options.append({"text": text, "right": right, "why": why})
        if not why:
            page.fault(f"the option {text!r} lacks its reason `why`.")
    right = [option["right"] for option in options]
    if question["kind"] == "choice" and sum(right) != 1:
        page.fault(f"exactly one option must be right; {sum(right)} are.")
    if question["kind"] == "several" and not any(right):
        page.fault("at least one option must be right.")
    _distinct([option["text"] for option in options], page)
    return {"options": options}


def _truth(right: bool | str, page: Page) -> bool:
    """Whether an option is right: as written, or by an expression."""
    return right if isinstance(right, bool) else bool(numbers.value(right, page.values))


def _numeric(question: Question, page: Page) -> dict[str, Any]:
    answer = float(numbers.value(question["answer"], page.values))
    tolerance = float(question.get("tolerance", 0.005 * max(abs(answer), 0.01)))
    wrong = []
    for other in question.get("wrong", []):
        found = float(numbers.value(other["answer"], page.values))
        if abs(found - answer) <= 2 * tolerance:
            page.fault(f"{other['answer']!r} gives {found}, which counts as the answer {answer}.")
        if any(abs(found - known["answer"]) <= 2 * tolerance for known in wrong):
            continue  # with these values two mistakes lead to one number; the first is told
        wrong.append({"answer": found, "why": inline(other["why"], page)})
    return {"answer": answer, "tolerance": tolerance, "wrong": wrong}


def _order(question: Question, page: Page) -> dict[str, Any]:
    items = [inline(item, page) for item in question["items"]]
    keys = [float(numbers.value(one, page.values)) for one in question["keys"]]
    if len(keys) != len(items) or any(b <= a for a, b in itertools.pairwise(keys)):
        page.fault(f"`keys` must be one for each item and grow; they are {keys}.")
    _distinct(items, page)
    return {"items": items}


def _match(question: Question, page: Page) -> dict[str, Any]:
    pairs = [[inline(part, page) for part in pair] for pair in question["pairs"]]
    for side in zip(*pairs, strict=True):
        _distinct(list(side), page)
    return {"pairs": pairs}


def _line(question: Question, page: Page) -> dict[str, Any]:
    lines, wrong = question["lines"], question["wrong"]
    if not 0 <= wrong < len(lines):
        page.fault(f"`wrong` must be the number of a line, from 0; got {wrong}.")
    elif "holds" in question:
        mended = [question["mend"] if at == wrong else line for at, line in enumerate(lines)]
        if not _holds(question, mended):
            page.fault("with the line `mend` the program is still not right.")
        if _holds(question, lines):
            page.fault("the program is right as it stands.")
    return {"lines": lines, "wrong": wrong}


def _holds(question: Question, lines: list[str]) -> bool:
    """Whether a program does what it should, as the expression `holds` says of its names."""
    names = dict(numbers.NAMES)
    exec("\n".join([question.get("given", ""), *lines]), names)
    return bool(numbers.value(question["holds"], names))


def _draw(question: Question, page: Page) -> dict[str, Any]:
    curve = [float(height) for height in numbers.value(question["curve"], page.values)]
    if len(set(curve)) < 2:
        page.fault("a curve to be drawn must not be flat.")
    at = numbers.value(question.get("at", "range(len(curve))"), {**page.values, "curve": curve})
    if len(at) != len(curve):
        page.fault(f"`at` must be one for each point; there are {len(at)} for {len(curve)}.")
    tolerance = float(question.get("tolerance", 0.15))
    return {"curve": curve, "at": [float(place) for place in at], "tolerance": tolerance}


def _table(question: Question, page: Page) -> dict[str, Any]:
    """An option is right if its own `spec` gives the very table; one without a `spec` is not."""
    count = question.get("rows", 24)
    shown = _table_of(question, page, count)
    options = [
        option
        | {"right": "spec" in option and np.array_equal(_table_of(option, page, count), shown)}
        for option in question["options"]
    ]
    made = _choice({**question, "kind": "choice", "options": options}, page)
    return made | {"table": shown.round(3).tolist()}


def _table_of(written: Mapping[str, Any], page: Page, count: int) -> np.ndarray:
    return numbers.rows(worked_text(written["spec"], page, quoted=True), 0, count)


def _distinct(texts: list[str], page: Page) -> None:
    if len(set(texts)) < len(texts):
        page.fault(f"two choices read alike: {texts}.")


_KINDS: dict[str, Callable[[Question, Page], dict[str, Any]]] = {
    "choice": _choice,
    "several": _choice,
    "numeric": _numeric,
    "order": _order,
    "match": _match,
    "line": _line,
    "draw": _draw,
    "table": _table,
}


def repeated(ids: Iterator[str]) -> list[str]:
    """Ids that stand more than once."""
    seen: set[str] = set()
    return [f"the id {name!r} is used twice." for name in ids if name in seen or seen.add(name)]
