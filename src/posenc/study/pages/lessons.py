"""Pages of lessons and of how-tos, and the page that lists them."""

from __future__ import annotations

from collections.abc import Iterator

from posenc.study.material import Material
from posenc.study.rendering import render
from posenc.study.sources import Source
from posenc.study.writing import text
from posenc.study.writing.text import Page


def pages(material: Material) -> Iterator[tuple[str, str]]:
    """Every lesson, every how-to and their list, each with its address."""
    for at in range(len(material.lessons)):
        yield _lesson(material, at)
    for source in material.howtos:
        yield _howto(material, source)
    yield "learn/", _list(material)


def _lesson(material: Material, at: int) -> tuple[str, str]:
    """A lesson, with the one before and the one after it."""
    source = material.lessons[at]
    page, body = material.written(source)
    return f"learn/{source.name}", render(
        "lesson.html",
        title=material.title(source),
        number=at,
        goal=_goal(source, page),
        needs=[_needed(material, name) for name in source.head.get("needs", [])],
        body=body,
        quiz=material.questions.get(source.name, []),
        cards=[card for card in material.cards if card["lesson"] == source.name],
        reading=material.reading(source),
        before=_neighbour(material, at - 1),
        after=_neighbour(material, at + 1),
    )


def _howto(material: Material, source: Source) -> tuple[str, str]:
    # The programs load whole models and write files: the tests run them.
    page, body = material.written(source, run=False)
    return f"howto/{source.name}", render(
        "howto.html",
        title=material.title(source),
        goal=_goal(source, page),
        body=body,
    )


def _goal(source: Source, page: Page) -> str:
    if "goal" not in source.head:
        page.fault("there is no `goal` in its head.")
    return text.inline(source.head.get("goal", ""), page)


def _needed(material: Material, name: str) -> dict[str, str]:
    known = material.titles(material.lessons)
    if name not in known:
        material.faults.append(f"there is no lesson {name!r} that another one needs.")
    return {"name": name, "title": known.get(name, name)}


def _neighbour(material: Material, at: int) -> dict[str, str] | None:
    if not 0 <= at < len(material.lessons):
        return None
    source = material.lessons[at]
    return {"name": source.name, "title": material.title(source)}


def _list(material: Material) -> str:
    listed = {
        folder: [
            {
                "address": f"{folder}/{source.name}",
                "title": material.title(source),
                "goal": text.inline(source.head.get("goal", ""), material.page(source.name)),
            }
            for source in files
        ]
        for folder, files in (("learn", material.lessons), ("howto", material.howtos))
    }
    return render("learn.html", title="Learn", lessons=listed["learn"], howtos=listed["howto"])
