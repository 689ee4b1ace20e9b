"""The page of mistakes: what the library knows of each, what it computes, and words of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from posenc import mistakes
from posenc.alibi import Alibi
from posenc.mistakes import Mistake
from posenc.rotary import Rotary
from posenc.sinusoidal import Sinusoidal
from posenc.study.pages.mistakes.seen import seen
from posenc.study.pages.mistakes.smallest import Smallest, smallest, written
from posenc.study.writing import text
from posenc.study.writing.text import Page
from posenc.t5 import T5

SHOWS = {
    "loud": "It raises an error, or one look at the numbers is enough, without the right ones "
    "beside them.",
    "silent": "It runs and gives numbers that look right. Only a comparison finds it.",
    "harmless": "It is silent too, and a model trained with it loses nothing. Weights that were "
    "trained without it may not fit.",
}
"""How mistakes are sorted, in the order of the page."""

_MOST = 4  # cells of an example; a row of a bias may have more
_REPORT = re.compile(r"[\w.-]+/[\w.-]+#\d+")


@dataclass(frozen=True, kw_only=True)
class _Kind:
    """How the numbers of an encoding are asked for.

    Args:
        row: what a row of an example is called; `{place}` is its place.
        cells: what its cells are called, and `{at}` their number.
        test: the body of a test against posenc.
        yours: what the function of a reader takes and gives.
    """

    row: str
    cells: str
    test: str
    yours: str


_KINDS: dict[type, _Kind] = {
    Sinusoidal: _Kind(
        row="The row of position {0}",
        cells="feature {at}",
        test="""    positions = {counted}
    want = {made}.encode(positions)
    np.testing.assert_allclose(yours(positions), want, atol=1e-5)
""",
        yours="takes positions and gives their rows",
    ),
    Rotary: _Kind(
        row="A vector of ones, turned at position {0}",
        cells="feature {at}",
        test="""    x, positions = np.ones(({length}, {dim})), {counted}
    want = {made}.rotate(x, positions)
    np.testing.assert_allclose(yours(x, positions), want, atol=1e-5)
""",
        yours="takes queries or keys with their positions and gives them turned",
    ),
    Alibi: _Kind(
        row="Head {1}, the query at position {0}",
        cells="key {at}",
        test="""    positions = {counted}
    want = {made}.bias(positions, positions)
    np.testing.assert_allclose(yours(positions), want, atol=1e-5)
""",
        yours="takes the positions of the tokens and gives the bias of each head, query and key",
    ),
    T5: _Kind(
        row="Buckets of the query at position {0}",
        cells="key {at}",
        test="""    positions = {counted}
    want = {made}.bucket(positions, positions)
    np.testing.assert_array_equal(yours(positions), want)
""",
        yours="takes the positions of the tokens and gives the bucket of each query and key",
    ),
}


def sections(
    words: Mapping[str, Mapping[str, Any]], page: Page
) -> Iterator[tuple[str, str, list[dict[str, Any]]]]:
    """The parts of the page: how the mistakes show, what that means, and the mistakes.

    Args:
        words: `shows`, `symptom`, `test` and, where they need them, `settings` and `yours`, by the
            names of the mistakes. A site without any lists no mistakes.
        page: is told the faults: a mistake without words, words without a mistake.
    """
    known = {mistake.name: mistake for mistake in mistakes.MISTAKES}
    for name in sorted(set(known) - set(words)) if words else ():
        page.fault(f"there are no words for the mistake {name!r} in content/mistakes.")
    for name in sorted(set(words) - set(known)):
        page.fault(f"there is no mistake {name!r}.")
    told = [name for name in known if name in words and _whole(name, words[name], page)]
    made = [_entry(known[name], words[name], page) for name in told]
    for shows, meaning in SHOWS.items():
        yield shows, meaning, [entry for entry in made if entry["shows"] == shows]


def script(example: Smallest) -> str:
    """Lines that print the right numbers of an example and the wrong ones."""
    place = "".join(f"[{at}]" for at in example.place)
    if isinstance(example.encoding, Rotary):
        place = f"{place}.sum(axis=-1)"  # what becomes of a vector of ones
    return (
        "import posenc\nfrom posenc import mistakes\n\n"
        f"encoding, positions = {example.made}, {list(example.positions)}\n"
        f"for mistake in None, mistakes.named({example.mistake.name!r}):\n"
        f"    print(mistakes.numbers(encoding, positions, mistake){place}.round(4))\n"
    )


def guard(example: Smallest) -> str:
    """A test for the code of a reader, with posenc as the judge; `yours` is their function."""
    body = _KINDS[type(example.encoding)].test.format(
        made=example.made,
        counted=example.counted,
        length=len(example.positions),
        dim=getattr(example.encoding, "dim", ""),
    )
    return f"import numpy as np\nimport posenc\n\n\ndef test_against_posenc():\n{body}"


def _whole(name: str, words: Mapping[str, Any], page: Page) -> bool:
    """Whether all is there that a mistake needs; what is not is told as a fault."""
    missing = [part for part in ("shows", "symptom", "test") if part not in words]
    if missing:
        page.fault(f"{name}: there is no {', '.join(missing)}.")
    elif words["shows"] not in ("loud", "silent"):
        page.fault(f"{name}: `shows` must be loud or silent; got {words['shows']!r}.")
    return not missing


def _entry(mistake: Mistake, words: Mapping[str, Any], page: Page) -> dict[str, Any]:
    example, kind = smallest(mistake), _KINDS[mistake.kinds[0]]
    return {
        **mistake.to_data(),
        "id": mistake.name.replace(" ", "-"),
        "kinds": [one.__name__ for one in mistake.kinds],
        "shows": "harmless" if mistake.severity == "harmless" else words["shows"],
        "symptom": text.inline(words["symptom"], page),
        "example": _table(example, kind),
        "script": script(example),
        "rooms": _rooms(mistake, words.get("settings", {}), page),
        "test": words["test"],
        "yours": words.get("yours") or kind.yours,
        "guard": guard(example),
        "report": _report(mistake.source),
    }


def _rooms(mistake: Mistake, settings: Mapping[str, Any], page: Page) -> list[dict[str, str]]:
    try:
        found = list(seen(mistake, settings))
        if not found:
            page.fault(f"{mistake.name}: no room shows it with {dict(settings)}.")
        return [vars(one) | {"address": page.link("room", one.state)} for one in found]
    except (LookupError, ValueError) as error:
        page.fault(f"{mistake.name}: no room shows it with {dict(settings)}: {error}")
        return []


def _table(example: Smallest, kind: _Kind) -> dict[str, Any]:
    """The two rows of an example, at most `_MOST` cells of them, among which one that differs."""
    first = max(example.differs.index(True) - _MOST + 1, 0)
    part = slice(first, first + _MOST)
    *head, token = example.place
    whole = isinstance(example.encoding, T5)
    ats = range(len(example.right)) if hasattr(example.encoding, "dim") else example.positions
    return {
        "made": example.made,
        "row": kind.row.format(example.positions[token], *head),
        "cells": [kind.cells.format(at=at) for at in ats][part],
        "right": [_cell(number, whole) for number in example.right][part],
        "wrong": [_cell(number, whole) for number in example.wrong][part],
        "differs": example.differs[part],
    }


def _cell(number: float, whole: bool) -> str:
    return f"{number:.0f}" if whole else written(number)


def _report(source: str) -> dict[str, str]:
    """A public report, with its address where it is an issue or a change of a repository."""
    if not _REPORT.fullmatch(source):
        return {"words": source, "address": ""}
    repository, _, number = source.partition("#")
    return {"words": source, "address": f"https://github.com/{repository}/issues/{number}"}
