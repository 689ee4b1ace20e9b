"""Where a field stands, and what is said of it in a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

Entry = TypeVar("Entry")


@dataclass(frozen=True)
class Place:
    """A field of an encoding, or of an encoding or rule inside it.

    Args:
        top: the kind of the whole encoding.
        path: the names that lead to the field in its data.
        kind: what the field belongs to: `top`, or what is inside it.
    """

    top: str
    path: tuple[str, ...]
    kind: str

    @property
    def field(self) -> str:
        """The name of the field itself."""
        return self.path[-1]

    @property
    def keys(self) -> tuple[str, ...]:
        """What tables call it, the most special first.

        Example:
            >>> Place("bipe", ("inter", "dim"), "rotary").keys
            ('bipe.inter.dim', 'rotary.dim', 'dim')
        """
        return (".".join((self.top, *self.path)), f"{self.kind}.{self.field}", self.field)

    def find(self, table: Mapping[str, Entry]) -> Entry | None:
        """What the most special of its keys has in a table."""
        return next((table[key] for key in self.keys if key in table), None)
