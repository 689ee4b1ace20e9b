"""Where the links of a text lead, and which of them are dead.

A link is written `[words](scheme:name)`. The schemes: lesson, formula, howto, page, room, claim,
source, term, question. Nothing leads out of the site but the page of sources.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl

from posenc import mistakes
from posenc.explorer import fields
from posenc.explorer.methods import METHODS
from posenc.explorer.rooms import ROOMS

FOLDERS = {"lesson": "learn", "formula": "formulas", "howto": "howto"}
PAGES = ("learn", "formulas", "mistakes", "questions", "cards", "glossary", "sources", "claims")
_PLACES = {
    "claim": "claims",
    "source": "sources",
    "term": "glossary",
    "question": "questions",
}
_ALWAYS = ("v", "encoding", "waves", "hide", "ask")


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
            return _room(name)
        if scheme == "page":
            if name not in PAGES:
                raise LookupError(f"there is no page {name!r}; there are {', '.join(PAGES)}.")
            return f"{name}/"
        if scheme not in self.names:
            raise LookupError(f"a link begins with one of {', '.join(self.names)}, room, page.")
        if name not in self.names[scheme]:
            raise LookupError(f"there is no {scheme} {name!r}.")
        if scheme in FOLDERS:
            return f"{FOLDERS[scheme]}/{name}"
        return f"{_PLACES[scheme]}/#{name}"


def _room(target: str) -> str:
    """A room at some settings, each of which it must have."""
    name, _, hash = target.partition("#")
    if name not in ROOMS:
        raise LookupError(f"there is no room {name!r}; there are {', '.join(ROOMS)}.")
    given = dict(parse_qsl(hash, keep_blank_values=True))
    kind = given.get("encoding", ROOMS[name].first)
    if kind not in METHODS or not ROOMS[name].shows(METHODS[kind].encoding):
        raise LookupError(f"the room {name!r} does not show the encoding {kind!r}.")
    made = type(METHODS[kind].encoding)
    known = {one.name for one in mistakes.MISTAKES if made in one.kinds}
    if given.get("mistake", "") not in {"", *known}:
        raise LookupError(f"{given['mistake']!r} is no mistake that the page makes in {kind}.")
    own = {control["name"] for control in (*ROOMS[name].controls, *fields.controls(kind))}
    if unknown := sorted(set(given) - own - {*_ALWAYS, "mistake"}):
        raise LookupError(f"the room {name!r} has no setting {', '.join(unknown)}.")
    return target
