"""Questions and answers: grouped by what they are about, each with what its answer rests on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from posenc.study import sources
from posenc.study.material import Material
from posenc.study.writing import numbers, text
from posenc.study.writing.text import Page

FIRST = "first"
"""The file of the questions that nearly everybody asks; their answers have every part."""

_PARTS = ("short", "claim", "figure", "look", "source")
_TITLES = {FIRST: "Asked by nearly everybody", "common": "Across the lessons"}
_GROUND = re.compile(r"\((claim|source):([^)\s]+)\)")
_END = re.compile(r"[.?!](?=\s|$)")

Entry = Mapping[str, Any]


def groups(material: Material) -> Iterator[dict[str, Any]]:
    """The questions of each file, under the title of its lesson.

    An answer needs a claim, a source or a check, unless it is `advice` and states no fact about
    the world. Those of the first file need one sentence first, a claim, a figure and a source.
    """
    page = material.page("questions")
    titles = material.titles(material.lessons)
    for name, ids in sources.names("questions", root=material.root).items():
        entries = [{"id": one, **material.answers[one]} for one in ids]
        yield {
            "id": f"about-{name}",
            "title": _TITLES.get(name) or titles.get(name, name),
            "lesson": name if name in titles else "",
            "questions": [_worked(entry, name == FIRST, material, page) for entry in entries],
        }


def _worked(entry: Entry, first: bool, material: Material, page: Page) -> dict[str, Any]:
    found = _GROUND.findall(entry["answer"])
    claimed = [*_named(entry, "claim"), *(name for kind, name in found if kind == "claim")]
    cited = [*_named(entry, "source"), *(name for kind, name in found if kind == "source")]
    for fault in _faults(entry, first, bool(claimed or cited)):
        page.fault(f"{entry['id']}: {fault}")
    return {
        "id": entry["id"],
        **{
            part: text.inline(entry[part], page) if part in entry else ""
            for part in ("ask", "short", "answer", "look")
        },
        "figure": _address(page, "room", entry["figure"]) if "figure" in entry else "",
        "claims": [
            {"address": address, "kind": claim.kind, "text": claim.shown(page)}
            for name, address in _addresses(page, "claim", claimed)
            for claim in (material.claims[name],)
        ],
        "sources": [
            {"address": address, **material.sources[name]}
            for name, address in _addresses(page, "source", cited)
        ],
        "check": entry.get("check", ""),
        "advice": entry.get("advice", False),
    }


def _faults(entry: Entry, first: bool, grounded: bool) -> Iterator[str]:
    if first and (missing := [part for part in _PARTS if part not in entry]):
        yield f"among the first questions an answer needs {', '.join(missing)}."
    if len(_END.findall(entry.get("short", "."))) != 1:
        yield "`short` must be one sentence."
    if not (grounded or "check" in entry or entry.get("advice")):
        yield "its answer rests on no claim, source or check; say `advice` if it states no fact."
    if "check" in entry:
        try:
            if not numbers.value(entry["check"]):
                yield f"its check is false: {entry['check']}"
        except ValueError as error:
            yield str(error)


def _named(entry: Entry, part: str) -> list[str]:
    return [entry[part]] if part in entry else []


def _addresses(page: Page, scheme: str, names: list[str]) -> Iterator[tuple[str, str]]:
    """Names with their addresses, each once, without those that are not there."""
    for name in dict.fromkeys(names):
        if address := _address(page, scheme, name):
            yield name, address


def _address(page: Page, scheme: str, name: str) -> str:
    try:
        return page.link(scheme, name)
    except LookupError as error:
        page.fault(str(error.args[0]))
        return ""
