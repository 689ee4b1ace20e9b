"""Statements about the world, each with its kind and with what it rests on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from posenc.study.writing import numbers
from posenc.study.writing.text import Page, inline

Kind = Literal["theorem", "measured", "paper", "hope", "disputed"]

MEANINGS: dict[str, str] = {
    "theorem": "follows from the formula",
    "measured": "worked out here, each time this page is built",
    "paper": "a result of the paper named, with its model and data",
    "hope": "expected by the authors, not shown",
    "disputed": "sources disagree, or it depends on what is not said",
}


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One statement.

    Args:
        name: its id, never given to another.
        kind: what it rests on.
        text: the statement. What a paper found has its digits; all others are expressions.
        source: id of a source, or "".
        where: the place in the source, such as "section 3.2, table 2", or "".
        check: an expression over the library that is true, or "".
    """

    name: str
    kind: Kind
    text: str
    source: str = ""
    where: str = ""
    check: str = ""

    def shown(self, page: Page) -> str:
        """The statement as HTML. Only what a source says may have digits typed by hand."""
        return inline(self.text, page, quoted=self.kind not in ("theorem", "measured"))


def read(table: Mapping[str, Mapping[str, Any]]) -> dict[str, Claim]:
    """The claims of a TOML file, by their ids."""
    return {name: Claim(name=name, **entry) for name, entry in table.items()}


def faults(claims: Mapping[str, Claim], sources: Mapping[str, Any]) -> list[str]:
    """What is wrong with claims: no source, an unknown one, no check, or one that fails."""
    return [
        f"claim {claim.name}: {fault}"
        for claim in claims.values()
        for fault in _faults(claim, sources)
    ]


def _faults(claim: Claim, sources: Mapping[str, Any]) -> list[str]:
    found = []
    if claim.kind not in get_args(Kind):
        found.append(f"its kind {claim.kind!r} must be one of {', '.join(get_args(Kind))}.")
    if claim.kind in ("paper", "hope", "disputed") and not claim.source:
        found.append(f"what is {claim.kind} needs a `source`.")
    if claim.kind in ("theorem", "measured"):
        if not claim.check:
            found.append(f"a {claim.kind} claim needs a `check`, an expression that is true.")
        for digit in numbers.typed(claim.text):
            found.append(f"{digit!r} is typed by hand; write an expression, {{{{ ... }}}}.")
    if claim.where and not claim.source:
        found.append(f"`where` is {claim.where!r}, a place in no `source`.")
    if claim.source and claim.source not in sources:
        found.append(f"there is no source {claim.source!r}.")
    if claim.check:
        try:
            holds = numbers.value(claim.check)
        except ValueError as error:
            return [*found, str(error)]
        if not holds:
            found.append(f"its check is false: {claim.check}")
    return found
