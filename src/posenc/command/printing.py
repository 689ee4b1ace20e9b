"""What the command says: text, JSON, files, and that it is still at work."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer


@contextmanager
def working(what: str) -> Iterator[Callable[[str], None]]:
    """Show that work goes on, where somebody is watching: a spinner on standard error.

    What it yields changes the words beside the spinner.
    """
    from rich.console import Console

    with Console(stderr=True).status(f"{what} ...") as shown:
        yield lambda words: shown.update(f"{words} ...")


def write(content: str | bytes, output: Path | None) -> None:
    """Print what was made, or write it to a file and say so."""
    if output is None:
        if isinstance(content, bytes):
            raise ValueError("a binary table needs a file: add --output NAME.npy.")
        print(content, end="" if content.endswith("\n") else "\n")
        return
    output.write_bytes(content.encode() if isinstance(content, str) else content)
    print(f"wrote {output}")


# A word or a sign says the same as each colour does.
_STYLES: dict[str, dict[str, Any]] = {
    "title": {"bold": True},
    "error": {"fg": "red", "bold": True},
    "warning": {"fg": "yellow"},
    "note": {"fg": "cyan"},
    "one": {"fg": "red"},
    "other": {"fg": "green"},
}


def show(lines: Iterable[tuple[str, str]]) -> None:
    """Print lines, each with what it is; in colour on a terminal."""
    colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    for text, role in lines:
        print(typer.style(text, **_STYLES[role]) if colour and role else text)


def as_json(data: Any) -> str:
    """Data as JSON that people can read too."""
    return json.dumps(data, indent=2, allow_nan=False)
