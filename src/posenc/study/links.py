"""Where the links of a text lead, and which of them are dead.

A link is written `[words](scheme:name)`. The schemes: lesson, formula, howto, page, room, claim,
source, term, question, api (a public name, as in `api:Rotary.rotate`). Nothing leads out of the
site but the page of sources.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from posenc.study.reference import reference
from posenc.study.writing import rooms

FOLDERS = {"lesson": "learn", "formula": "formulas", "howto": "howto"}
PAGES = (
    *("learn", "formulas", "reference", "mistakes", "questions"),
    *("cards", "glossary", "sources", "claims"),
)
_PLACES = {
    "claim": "claims",
    "source": "sources",
    "term": "glossary",
    "question": "questions",
}


@dataclass(frozen=True, kw_only=True)
class Links:
    """All that can be linked to.

    Args:
        names: by scheme, the names there are.
    """

    names: Mapping[str, Collection[str]]

    def address(self, scheme: str, name: str) -> str:
        """The address of a link, from the root of the site, without a slash before it.

        Raises:
            LookupError: there is no such place; says what there is.
        """
        if scheme == "room":
            rooms.opened(name)
            return name
        if scheme == "page":
            if name not in PAGES:
                raise LookupError(f"there is no page {name!r}; there are {', '.join(PAGES)}.")
            return f"{name}/"
        if scheme not in self.names:
            raise LookupError(f"a link begins with one of {', '.join(self.names)}, room, page.")
        if name not in self.names[scheme]:
            raise LookupError(f"there is no {scheme} {name!r}.")
        if scheme == "api":
            return f"reference/{reference().places[name]}"
        if scheme in FOLDERS:
            return f"{FOLDERS[scheme]}/{name}"
        return f"{_PLACES[scheme]}/#{name}"
