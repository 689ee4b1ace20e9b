"""Pages of formulas, and the page that lists them."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from typing import Any

from posenc.explorer.methods import GROUPS, METHODS, QUESTIONS, Method
from posenc.study.material import Material
from posenc.study.rendering import render
from posenc.study.sources import Source
from posenc.study.writing import text
from posenc.study.writing.text import Page


def pages(material: Material) -> Iterator[tuple[str, str]]:
    """Every formula and their list, each with its address."""
    for source in material.formulas:
        yield f"formulas/{source.name}", _formula(material, source)
    yield "formulas/", _list(material)


def _formula(material: Material, source: Source) -> str:
    """A page for a formula: of an encoding, its words come from the explorer too."""
    page, body = material.written(source)
    method = METHODS.get(source.name)
    formulas = source.head.get("formulas") or (method.formulas if method else ())
    return render(
        "formula.html",
        title=_title(material, source),
        sentence=text.inline(source.head["sentence"], page),
        formulas=[text.formula(line, block=True) for line in formulas],
        aloud=_aloud(source, page),
        symbols=[_symbol(symbol, page) for symbol in source.head.get("symbols", [])],
        body=body,
        api=_api(material, method),
        facts=dict(zip(QUESTIONS, method.facts, strict=True)) if method else {},
        reading=material.reading(source),
    )


def _title(material: Material, source: Source) -> str:
    method = METHODS.get(source.name)
    return material.title(source, method.title if method else source.name)


def _aloud(source: Source, page: Page) -> str:
    """The formula in words: the page's own, or those of its encoding."""
    if "aloud" in source.head:
        return text.inline(source.head["aloud"], page)
    method = METHODS.get(source.name)
    return html.escape(method.aloud) if method else ""


def _api(material: Material, method: Method | None) -> tuple[str, str] | None:
    """The class of an encoding as a program writes it, and the address of its reference."""
    if method is None:
        return None
    name = type(method.encoding).__name__
    return f"posenc.{name}", material.links.address("api", name)


def _symbol(symbol: Mapping[str, str], page: Page) -> dict[str, Any]:
    words = {name: text.inline(symbol[name], page) for name in ("kind", "range", "means")}
    return words | {"sign": text.formula(symbol["sign"])}


def _list(material: Material) -> str:
    known = {source.name: _entry(material, source) for source in material.formulas}
    groups = {
        group: [known[kind] for kind in kinds if kind in known] for group, kinds in GROUPS.items()
    }
    rest = [entry for name, entry in known.items() if name not in METHODS]
    return render("formulas.html", title="Formulas", groups=groups | {"Attention itself": rest})


def _entry(material: Material, source: Source) -> dict[str, str]:
    """A line of the list: the title of a page and the sentence it begins with."""
    return {
        "name": source.name,
        "title": _title(material, source),
        "sentence": text.inline(source.head["sentence"], material.page(source.name)),
    }
