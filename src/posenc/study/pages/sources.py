"""The page of sources: what to read first, then by lesson, then by year."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from posenc.explorer.methods import METHODS
from posenc.study.material import Material

LEVELS = ("first look", "explanation", "derivation", "paper", "code")
"""How deep a source goes, in the order in which one reads."""

# One for each thing to know: attention, the idea of a code, the formula, turning, an overview.
_FIRST = ("alammar2018", "kazemnejad2019", "vaswani2017", "biderman2021", "dufter2021")


def first(material: Material) -> list[dict[str, Any]]:
    """What to read first, in this order."""
    return [_entry(material, name) for name in _FIRST if name in material.sources]


def groups(material: Material) -> Iterator[dict[str, Any]]:
    """Every source once: where a page first tells to read it, the easier ones before the others."""
    left = dict.fromkeys(material.sources)
    for folder, pages in ("learn", material.lessons), ("formulas", material.formulas):
        for page in pages:
            wanted = [name for name in page.head.get("reading", []) if name in left]
            for name in wanted:
                left.pop(name, None)
            if wanted:
                yield {
                    "id": f"for-{page.name}",
                    "title": material.title(
                        page, METHODS[page.name].title if page.name in METHODS else page.name
                    ),
                    "page": f"{folder}/{page.name}",
                    "sources": _sorted(material, wanted),
                }
    if left:
        yield {
            "id": "for-claims",
            "title": "What single statements rest on",
            "page": "claims/",
            "sources": _sorted(material, left),
        }


def years(material: Material) -> list[tuple[int, list[dict[str, Any]]]]:
    """Every source by its year, the oldest first."""
    found: dict[int, list[dict[str, Any]]] = {}
    for name in material.sources:
        found.setdefault(material.sources[name]["year"], []).append(_entry(material, name))
    return sorted(found.items())


def _sorted(material: Material, names: Iterable[str]) -> list[dict[str, Any]]:
    entries = [_entry(material, name) for name in names]
    return sorted(entries, key=lambda entry: LEVELS.index(entry["level"]))


def _entry(material: Material, name: str) -> dict[str, Any]:
    return {"id": name, **material.sources[name]}
