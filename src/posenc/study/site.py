"""The whole study site: read, worked out, checked and rendered."""

from __future__ import annotations

import functools
import itertools
import json
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from posenc import __version__, mistakes
from posenc.explorer import fonts
from posenc.explorer.methods import GROUPS, METHODS, QUESTIONS
from posenc.study import blocks, cards, claims, numbers, questions, sources, text
from posenc.study.faults import Faults
from posenc.study.links import Links
from posenc.study.sources import Source
from posenc.study.text import Page

HERE = Path(__file__).parent


@dataclass(frozen=True, kw_only=True)
class Site:
    """A site that passed every check.

    Args:
        pages: HTML by address from the root; "learn/" stands for the page of a folder.
        files: what is saved beside them, by address.
    """

    pages: Mapping[str, str]
    files: Mapping[str, bytes]


def built() -> Site:
    """The site of the library's own content, made once; whoever asks meanwhile waits.

    Raises:
        Faults: the content is not fit to be shown.
    """
    with _BUILDING:
        return _built()


_BUILDING = threading.Lock()


@functools.cache
def _built() -> Site:
    return build()


@functools.cache
def font() -> bytes:
    """The font of every formula of the site, as WOFF."""
    formulas = (found for page in built().pages.values() for found in _MATHS.findall(page))
    return fonts.maths(fonts.signs(formulas))


def build(root: Path = sources.CONTENT) -> Site:
    """A site from a folder of content.

    Raises:
        Faults: lists all that is wrong: typed digits, claims without source or check, dead links,
            quizzes with two defensible answers, repeated ids, examples that a mistake would pass.
    """
    writer = _Writer(root)
    pages = dict(
        itertools.chain(
            writer.lessons(), writer.formulas(), writer.howtos(), writer.lists(), writer.index()
        )
    )
    if writer.faults:
        raise Faults(writer.faults)
    return Site(
        pages=pages,
        files={
            "cards/posenc.txt": cards.anki_text(writer.cards).encode(),
            "cards/posenc.apkg": cards.anki_deck(writer.cards),
        },
    )


@dataclass
class _Writer:
    root: Path
    faults: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.sources = sources.entries("sources", self.faults, root=self.root)
        self.answers = sources.entries("questions", self.faults, root=self.root)
        self.glossary = sources.entries("glossary", self.faults, root=self.root)
        self.claims = claims.read(sources.entries("claims", self.faults, root=self.root))
        self.lesson_files = sources.every("lessons", root=self.root)
        self.formula_files = sources.every("formulas", root=self.root)
        self.howto_files = sources.every("howto", root=self.root)
        self.links = Links(
            names={
                "lesson": [source.name for source in self.lesson_files],
                "formula": [source.name for source in self.formula_files],
                "howto": [source.name for source in self.howto_files],
                "claim": self.claims,
                "source": self.sources,
                "term": self.glossary,
                "question": self.answers,
            }
        )
        self.faults += claims.faults(self.claims, self.sources)
        asked = sources.tables("quizzes", "question", root=self.root)
        drawn = sources.tables("cards", "card", root=self.root)
        self.faults += questions.repeated(entry["id"] for entry in (*asked, *drawn))
        about = self._page("cards")
        self.cards = [cards.worked(card, about) for card in drawn]
        self.questions: dict[str, list[Any]] = {}
        for entry in asked:
            page = self._page(f"quiz of {entry['file']}")
            self.questions.setdefault(entry["file"], []).append(questions.worked(entry, page))

    def lessons(self) -> Any:
        """Every lesson, with the one before and the one after it."""
        for at, source in enumerate(self.lesson_files):
            page = self._page(source.name, values=source.head.get("values", {}))
            yield (
                f"learn/{source.name}",
                self._render(
                    "lesson.html",
                    title=source.head["title"],
                    number=at,
                    goal=text.inline(source.head["goal"], page),
                    needs=[self._named(name) for name in source.head.get("needs", [])],
                    body=text.rendered(source.body, page),
                    quiz=self.questions.get(source.name, []),
                    cards=[card for card in self.cards if card["lesson"] == source.name],
                    reading=[{"id": one, **self.sources[one]} for one in self._reading(source)],
                    before=self._neighbour(at - 1),
                    after=self._neighbour(at + 1),
                ),
            )

    def formulas(self) -> Any:
        """A page for each formula: of an encoding, its words come from the explorer too."""
        for source in self.formula_files:
            page = self._page(source.name, values=source.head.get("values", {}))
            method = METHODS.get(source.name)
            formulas = source.head.get("formulas") or (method.formulas if method else ())
            yield (
                f"formulas/{source.name}",
                self._render(
                    "formula.html",
                    title=source.head.get("title") or (method.title if method else source.name),
                    sentence=text.inline(source.head["sentence"], page),
                    formulas=[text.formula(line, block=True) for line in formulas],
                    aloud=source.head.get("aloud") or (method.aloud if method else ""),
                    symbols=[
                        one
                        | {
                            "sign": text.formula(one["sign"]),
                            "means": text.inline(one["means"], page),
                        }
                        for one in source.head.get("symbols", [])
                    ],
                    body=text.rendered(source.body, page),
                    facts=dict(zip(QUESTIONS, method.facts, strict=True)) if method else {},
                    reading=[{"id": one, **self.sources[one]} for one in self._reading(source)],
                ),
            )

    def howtos(self) -> Any:
        """How to do one thing with the library, a page each."""
        for source in self.howto_files:
            page = self._page(source.name, values=source.head.get("values", {}))
            body = text.rendered(source.body, page)
            yield (
                f"howto/{source.name}",
                self._render("plain.html", title=source.head["title"], body=body),
            )

    def lists(self) -> Any:
        """Mistakes, questions and answers, glossary, sources, claims, cards."""
        page = self._page("questions")
        asked = [
            {name: text.inline(words, page) for name, words in entry.items()} | {"id": name}
            for name, entry in self.answers.items()
        ]
        page = self._page("glossary")
        terms = [
            {"id": name, **{part: text.inline(words, page) for part, words in entry.items()}}
            for name, entry in self.glossary.items()
        ]
        contents: dict[str, dict[str, Any]] = {
            "mistakes": {
                "mistakes": [
                    one.to_data() | {"kinds": [kind.__name__ for kind in one.kinds]}
                    for one in mistakes.MISTAKES
                ]
            },
            "questions": {"questions": asked},
            "glossary": {"terms": terms},
            "sources": {"sources": self.sources},
            "claims": {
                "claims": [self._claim(claim) for claim in self.claims.values()],
                "meanings": claims.MEANINGS,
                "sources": self.sources,
            },
            "cards": {"cards": self.cards, "lessons": self._titles(self.lesson_files)},
        }
        for name, content in contents.items():
            yield f"{name}/", self._render(f"{name}.html", title=_TITLES[name], **content)

    def _claim(self, claim: claims.Claim) -> dict[str, Any]:
        page = self._page(f"claim {claim.name}")
        quoted = claim.kind not in ("theorem", "measured")
        return vars(claim) | {"text": text.inline(claim.text, page, quoted=quoted)}

    def index(self) -> Any:
        """The page that lists the lessons, and the one that lists the formulas."""
        lessons = [
            {
                "name": source.name,
                "title": source.head["title"],
                "goal": text.inline(source.head["goal"], self._page(source.name)),
            }
            for source in self.lesson_files
        ]
        howtos = self._titles(self.howto_files)
        yield (
            "learn/",
            self._render("learn.html", title="Learn", lessons=lessons, howtos=howtos),
        )
        known = {source.name: source for source in self.formula_files}
        groups = {
            group: [(kind, METHODS[kind].title) for kind in kinds if kind in known]
            for group, kinds in GROUPS.items()
        }
        rest = [(name, known[name].head["title"]) for name in known if name not in METHODS]
        yield (
            "formulas/",
            self._render("formulas.html", title="Formulas", groups=groups | {"Around them": rest}),
        )

    def _page(self, name: str, *, values: Mapping[str, Any] | None = None) -> Page:
        page = Page(
            name=name,
            values=values or {},
            link=lambda scheme, rest: _ROOT + self.links.address(scheme, rest),
            faults=self.faults,
        )
        page.blocks = blocks.blocks(page)
        return page

    def _render(self, template: str, **content: Any) -> str:
        return (
            _templates()
            .get_template(template)
            .render(root=_ROOT, version=__version__, titles=_TITLES, **content)
        )

    def _named(self, name: str) -> dict[str, str]:
        titles = self._titles(self.lesson_files)
        if name not in titles:
            self.faults.append(f"there is no lesson {name!r} that another one needs.")
        return {"name": name, "title": titles.get(name, name)}

    def _neighbour(self, at: int) -> dict[str, str] | None:
        if not 0 <= at < len(self.lesson_files):
            return None
        source = self.lesson_files[at]
        return {"name": source.name, "title": source.head["title"]}

    def _reading(self, source: Source) -> list[str]:
        wanted = source.head.get("reading", [])
        unknown = [name for name in wanted if name not in self.sources]
        self.faults += [f"{source.name}: there is no source {name!r}." for name in unknown]
        return [name for name in wanted if name in self.sources]

    @staticmethod
    def _titles(files: list[Source]) -> dict[str, str]:
        return {source.name: source.head["title"] for source in files}


_MATHS = re.compile("<math.*?</math>", re.DOTALL)
_ROOT = "../"  # every page stands in a folder

_TITLES = {
    "learn": "Learn",
    "formulas": "Formulas",
    "mistakes": "Mistakes",
    "questions": "Questions and answers",
    "cards": "Cards",
    "glossary": "Glossary",
    "claims": "Claims",
    "sources": "Sources",
}


@functools.cache
def _templates() -> Environment:
    made = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"short": numbers.short, "whole": numbers.whole}
    made.filters["json"] = lambda value: json.dumps(value, ensure_ascii=False).replace(
        "<", "\\u003c"
    )
    return made
