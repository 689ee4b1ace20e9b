"""The board of an encoding's properties: rows of an answer, a number and a sentence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from posenc import _checks, _text, evaluation, spec as specs


@dataclass(frozen=True)
class Property:
    """One row of the board.

    Args:
        name: what is looked at.
        holds: True, False, or None where it does not apply or cannot be told.
        value: the number behind the answer, or None.
        sentence: the answer in words.
    """

    name: str
    holds: bool | None
    value: float | None
    sentence: str


@dataclass(frozen=True)
class Board:
    """All properties of an encoding; `board["bounded"]` is one of them.

    Args:
        spec: the encoding.
        properties: in the order in which they are printed.
    """

    spec: Any
    properties: tuple[Property, ...]

    def __getitem__(self, name: str) -> Property:
        known = {row.name: row for row in self.properties}
        _checks.one_of("name", name, known)
        return known[name]

    def __iter__(self) -> Iterator[Property]:
        return iter(self.properties)

    def __str__(self) -> str:
        """A table of at most 80 columns."""
        lines = [_text.filled(specs.to_text(self.spec), rest="  ")]
        if evaluation.shapes(self.spec):
            lines.append("Trained arrays as they are before training.")
        for row in self.properties:
            mark = {True: "yes", False: "no", None: "-"}[row.holds]
            lead = f"{mark:<4}{row.name:<22}"
            lines.append(_text.filled(row.sentence, first=lead, rest=" " * len(lead)))
        return "\n".join(lines)

    def to_data(self) -> dict[str, Any]:
        """The board as plain data, ready for JSON."""
        return {
            "spec": specs.to_data(self.spec),
            "properties": [asdict(row) for row in self.properties],
        }
