"""Pages that list: mistakes, questions and answers, glossary, sources, claims, cards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from posenc.study import claims
from posenc.study.material import Material
from posenc.study.pages import mistakes, questions, sources
from posenc.study.rendering import TITLES, render
from posenc.study.writing import text


def pages(material: Material) -> Iterator[tuple[str, str]]:
    """Every list with its address."""
    contents: dict[str, dict[str, Any]] = {
        "mistakes": {
            "sections": list(mistakes.sections(material.mistakes, material.page("mistakes")))
        },
        "questions": {"groups": list(questions.groups(material)), "meanings": claims.MEANINGS},
        "glossary": {
            "terms": [
                term | {"letter": term["name"][0].upper()}
                for term in _entries(material, "glossary", material.glossary)
            ]
        },
        "sources": {
            "first": sources.first(material),
            "groups": list(sources.groups(material)),
            "years": sources.years(material),
        },
        "claims": {
            "claims": [_claim(material, claim) for claim in material.claims.values()],
            "meanings": claims.MEANINGS,
            "sources": material.sources,
        },
        "cards": {"cards": material.cards, "lessons": material.titles(material.lessons)},
    }
    for name, content in contents.items():
        yield f"{name}/", render(f"{name}.html", title=TITLES[name], **content)


def _entries(
    material: Material, name: str, entries: Mapping[str, Mapping[str, str]]
) -> list[dict[str, str]]:
    page = material.page(name)
    return [
        {"id": key, **{part: text.inline(words, page) for part, words in entry.items()}}
        for key, entry in entries.items()
    ]


def _claim(material: Material, claim: claims.Claim) -> dict[str, Any]:
    return vars(claim) | {"text": claim.shown(material.page(f"claim {claim.name}"))}
