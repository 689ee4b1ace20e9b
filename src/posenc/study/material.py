"""All that the pages are made of, read once: files, entries, and what can be linked to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from posenc.study import claims, sources
from posenc.study.links import Links
from posenc.study.practice import cards, quiz
from posenc.study.reference import reference
from posenc.study.rendering import ROOT
from posenc.study.sources import Source
from posenc.study.writing import blocks, programs, text
from posenc.study.writing.text import Page


@dataclass
class Material:
    """The content of a folder, with its questions and cards worked out.

    Args:
        root: the folder.
        faults: what is wrong with it; pages that are made of it add to the list.
    """

    root: Path
    faults: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.sources = sources.entries("sources", self.faults, root=self.root)
        self.answers = sources.entries("questions", self.faults, root=self.root)
        self.glossary = sources.entries("glossary", self.faults, root=self.root)
        self.mistakes = sources.entries("mistakes", self.faults, root=self.root)
        self.claims = claims.read(sources.entries("claims", self.faults, root=self.root))
        self.lessons = sources.every("lessons", root=self.root)
        self.formulas = sources.every("formulas", root=self.root)
        self.howtos = sources.every("howto", root=self.root)
        self.links = Links(
            names={
                "lesson": [source.name for source in self.lessons],
                "formula": [source.name for source in self.formulas],
                "howto": [source.name for source in self.howtos],
                "claim": self.claims,
                "source": self.sources,
                "term": self.glossary,
                "question": self.answers,
                "api": reference().places,
            }
        )
        self.faults += claims.faults(self.claims, self.sources)
        asked = sources.tables("quizzes", "question", root=self.root)
        drawn = sources.tables("cards", "card", root=self.root)
        self.faults += quiz.repeated(entry["id"] for entry in (*asked, *drawn))
        self._titles = {
            source.file: text.worked(source.head["title"], self.page(source.name))
            for source in (*self.lessons, *self.formulas, *self.howtos)
            if "title" in source.head
        }
        about = self.page("cards")
        self.cards = [cards.worked(card, about) for card in drawn]
        self.questions: dict[str, list[Any]] = {}
        for entry in asked:
            page = self.page(f"quiz of {entry['file']}")
            self.questions.setdefault(entry["file"], []).append(quiz.worked(entry, page))

    def page(self, name: str, *, values: Mapping[str, Any] | None = None) -> Page:
        """A page to be rendered, whose links and faults are those of this content."""
        page = Page(
            name=name,
            values=values or {},
            link=lambda scheme, rest: ROOT + self.links.address(scheme, rest),
            faults=self.faults,
        )
        page.blocks = blocks.blocks(page)
        return page

    def written(self, source: Source, *, run: bool = True) -> tuple[Page, str]:
        """The page of a file, and its text as HTML; its programs are run unless told not to."""
        page = self.page(source.name, values=source.head.get("values", {}))
        page.run = programs.Session().run if run else None
        return page, text.rendered(source.body, page)

    def reading(self, source: Source) -> list[dict[str, Any]]:
        """The sources that a page names, in reading order."""
        wanted = source.head.get("reading", [])
        unknown = [name for name in wanted if name not in self.sources]
        self.faults += [f"{source.name}: there is no source {name!r}." for name in unknown]
        return [{"id": name, **self.sources[name]} for name in wanted if name in self.sources]

    def title(self, source: Source, otherwise: str = "") -> str:
        """The title of a page, or another one if its file has none."""
        return self._titles.get(source.file, otherwise)

    def titles(self, files: list[Source]) -> dict[str, str]:
        """Titles of pages by their names."""
        return {source.name: self.title(source) for source in files}
