"""Reading what the pages are written in: Markdown with TOML above it, and TOML alone."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CONTENT = Path(__file__).parent / "content"

_FENCE = "+++\n"


@dataclass(frozen=True, kw_only=True)
class Source:
    """One written page.

    Args:
        file: where it was read, below the folder of all content.
        name: its place in the address.
        head: the TOML above the text.
        body: the text, in Markdown.
    """

    file: Path
    name: str
    head: dict[str, Any]
    body: str


def read(file: Path, *, root: Path = CONTENT) -> Source:
    """One page: TOML between two lines of three plus signs, then Markdown.

    A number before the name of the file ("04-formula.md") orders pages and is no part of the name.

    Raises:
        ValueError: there is no such head, or it is no TOML.
    """
    text = file.read_text(encoding="utf-8")
    parts = text.split(_FENCE, 2)
    if len(parts) != 3 or parts[0]:
        raise ValueError(f"{file.name} must begin with TOML between two lines of +++.")
    try:
        head = tomllib.loads(parts[1])
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{file.name}: its head is no TOML: {error}.") from error
    return Source(file=file.relative_to(root), name=_name(file), head=head, body=parts[2])


def every(folder: str, *, root: Path = CONTENT) -> list[Source]:
    """The pages of a folder, in the order of their files."""
    return [read(file, root=root) for file in sorted((root / folder).glob("*.md"))]


def entries(folder: str, faults: list[str], *, root: Path = CONTENT) -> dict[str, dict[str, Any]]:
    """The tables `[id]` of every TOML file of a folder, by their ids.

    Args:
        folder: below the folder of all content.
        faults: is added to where an id stands in two files.
    Raises:
        ValueError: a file is no TOML.
    """
    found: dict[str, dict[str, Any]] = {}
    for file in sorted((root / folder).glob("*.toml")):
        for name, entry in _toml(file).items():
            if name in found:
                faults.append(f"{folder}/{file.name}: the id {name!r} is used before.")
            found[name] = entry
    return found


def names(folder: str, *, root: Path = CONTENT) -> dict[str, list[str]]:
    """The ids of every TOML file of a folder, by the name of the file without its number."""
    return {_name(file): list(_toml(file)) for file in sorted((root / folder).glob("*.toml"))}


def tables(folder: str, key: str, *, root: Path = CONTENT) -> list[dict[str, Any]]:
    """The tables `[[key]]` of every TOML file of a folder, each with the `file` it stands in."""
    found = []
    for file in sorted((root / folder).glob("*.toml")):
        found += [table | {"file": _name(file)} for table in _toml(file)[key]]
    return found


def _name(file: Path) -> str:
    order, _, rest = file.stem.partition("-")
    return rest if order.isdigit() else file.stem


def _toml(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{file.parent.name}/{file.name} is no TOML: {error}.") from error
