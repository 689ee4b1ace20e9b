"""What a room of the explorer is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Control = dict[str, Any]
"""One setting: see `controls`."""


@dataclass(frozen=True, kw_only=True)
class Picture:
    """One picture of a room.

    Args:
        view: the file in static/views that draws it.
        title: its heading.
        hint: what to look for, in one sentence.
        needs: what an encoding must have for it, among `tags`; nothing by default.
    """

    view: str
    title: str
    hint: str
    needs: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Room:
    """One room: a question about positional encodings, and pictures that answer it.

    Args:
        title: its name on the page.
        question: what it answers, in one sentence, for the front page.
        lead: what a visitor sees and can do, in two sentences.
        first: the encoding shown first.
        begins: settings of that encoding with which the room begins, where they are not its own.
        shows: whether it makes sense for an encoding.
        controls: its own settings, beside the fields of the encoding.
        pictures: in reading order.
        notes: what to notice, each a heading and a few sentences.
        python: the lines that make its main picture's numbers: by the family of an encoding that
            is "plain" (`page.tags`), else under "any"; `{encoding}` stands for the constructor,
            other braces for settings of the page and for what it asks of the library.
        answer: for rooms whose numbers only the library can give: a pure function from the
            encoding and the settings named in `asks` to data ready for JSON.
        asks: names of the settings that `answer` takes, besides the encoding.
    """

    title: str
    question: str
    lead: str
    first: str
    shows: Callable[[Any], bool]
    controls: tuple[Control, ...]
    pictures: tuple[Picture, ...]
    begins: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[tuple[str, str], ...] = ()
    python: Mapping[str, str] = field(default_factory=dict)
    answer: Callable[..., Mapping[str, Any]] | None = None
    asks: tuple[str, ...] = ()
