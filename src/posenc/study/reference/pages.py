"""Pages of the reference, and the page that lists all names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from posenc.explorer.methods import METHODS
from posenc.study.material import Material
from posenc.study.reference import TOPICS, reference
from posenc.study.reference.entries import Entry
from posenc.study.rendering import render

_PAPER = re.compile(r"arXiv:(\d{4}\.\d{5})")


def pages(material: Material) -> Iterator[tuple[str, str]]:
    """A page for each topic and their list, each with its address."""
    known = reference()
    for name, page in known.pages.items():
        beside = {entry.called: _beside(entry, material) for entry in page["entries"]}
        shown = render("reference.html", beside=beside, **page)
        yield f"reference/{name}", _with_papers(shown, material)
    groups = {
        group: [(topic.name, known.pages[topic.name]) for topic in topics]
        for group, topics in TOPICS.items()
    }
    yield "reference/", render("references.html", title="Reference", groups=groups)


def _beside(entry: Entry, material: Material) -> list[tuple[str, str]]:
    """What else the site says about an encoding: words and address."""
    name = entry.called.removeprefix("posenc.")
    kinds = [kind for kind, method in METHODS.items() if type(method.encoding).__name__ == name]
    written = {source.name for source in material.formulas}
    found: list[Any] = [
        (f"Formula page: {METHODS[kind].title}", f"formulas/{kind}")
        for kind in kinds
        if kind in written
    ]
    places = reference().places
    if kinds and f"torch.{name}" in places:
        found.append((f"As a module: posenc.torch.{name}", f"reference/{places[f'torch.{name}']}"))
    return found


def _with_papers(page: str, material: Material) -> str:
    """Papers that docstrings name lead to what the site says about them."""
    papers = {source["url"].rpartition("/")[2]: name for name, source in material.sources.items()}

    def linked(found: re.Match[str]) -> str:
        if found[1] not in papers:
            return found[0]
        return f'<a href="../sources/#{papers[found[1]]}">{found[0]}</a>'

    return _PAPER.sub(linked, page)
