"""The whole study site: read, worked out, checked and rendered."""

from __future__ import annotations

import functools
import itertools
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from posenc.explorer import fonts
from posenc.study import sources
from posenc.study.faults import Faults
from posenc.study.material import Material
from posenc.study.pages import formulas, lessons, lists
from posenc.study.practice import cards
from posenc.study.reference import pages as references

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
    shown = (found for page in built().pages.values() for found in _MATHS.findall(page))
    return fonts.maths(fonts.signs(shown))


def build(root: Path = sources.CONTENT) -> Site:
    """A site from a folder of content.

    Raises:
        Faults: lists all that is wrong: typed digits, claims without source or check, dead links,
            quizzes with two defensible answers, repeated ids, examples that a mistake would pass.
    """
    material = Material(root)
    pages = dict(
        itertools.chain(
            lessons.pages(material),
            formulas.pages(material),
            lists.pages(material),
            references.pages(material),
        )
    )
    if material.faults:
        raise Faults(material.faults)
    return Site(
        pages=pages,
        files={
            "cards/posenc.txt": cards.anki_text(material.cards).encode(),
            "cards/posenc.apkg": cards.anki_deck(material.cards),
        },
    )


_MATHS = re.compile("<math.*?</math>", re.DOTALL)
