"""A room in a notebook: the page of one room in a frame, and the kernel as its library."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import anywidget
import traitlets

from posenc import spec
from posenc.explorer import asked, fields, page as pages, recipes
from posenc.explorer.copies import bundle, shelves, single
from posenc.explorer.rooms import ROOMS

_ANSWERS = "/data/answer/"
_FILES = {"/data/read": asked.read, "/data/name": asked.named}
_BARE = ".top, .skip, footer { display: none; } main { padding-top: 0.9rem; }"
"""Style of a page that needs no way to other rooms."""


class RoomWidget(anywidget.AnyWidget):
    """A room; see `posenc.widget`.

    Args:
        page: HTML of the room, with the numbers that it begins with.
        settings: what is chosen in it, as in the address of the page.
    """

    _esm = (bundle.STATIC / "widget.js").read_text()
    page = traitlets.Unicode().tag(sync=True)
    settings = traitlets.Unicode().tag(sync=True)

    def __init__(self, **traits: Any) -> None:
        super().__init__(**traits)
        self._begun: dict[str, dict[int, bytes]] = {}  # files that come in parts, by question
        self.on_msg(RoomWidget._hear)

    def __repr__(self) -> str:
        # What a notebook shows where it cannot show the widget.
        return "A room of the posenc explorer: run this cell to open it."

    @classmethod
    def of(cls, encoding: Any, room: str) -> RoomWidget:
        """The widget of a room that begins with an encoding."""
        if room not in ROOMS:
            raise ValueError(f"`room` must be one of {', '.join(ROOMS)}; got {room!r}.")
        one = recipes.read(encoding) if isinstance(encoding, str) else encoding
        recipes.recipe(one)  # refuses what is no encoding, or too large
        data = spec.to_data(one)
        content = pages.content(room)
        if data["kind"] not in content["methods"]:
            raise ValueError(
                f"the room {room!r} does not show {type(one).__name__}; it shows "
                f"{', '.join(content['methods'])}."
            )
        chosen = fields.values(data)
        settings = "#" + urlencode({"v": 1, "encoding": data["kind"]} | chosen)
        copy = {"kind": "notebook", "room": room, "settings": settings}
        first = {data["kind"]: shelves.first(room, fields.data(data["kind"], chosen))}
        content |= {"offline": False}  # the kernel has the library
        return cls(page=single.page(copy, {room: content}, first, extra=_BARE), settings=settings)

    def _hear(self, content: Any, buffers: Any) -> None:
        """Answers a message of the page; what is no question is left alone."""
        if not isinstance(content, dict) or "question" not in content:
            return
        body = self._gathered(content, buffers)
        if body is None:
            return
        status, answer = reply(str(content.get("path")), content.get("query", {}), body)
        self.send({"answers": content["question"], "status": status}, [answer])

    def _gathered(self, content: Mapping[str, Any], buffers: Any) -> bytes | None:
        """The file that comes with a question; None while parts of it are missing."""
        question = str(content["question"])
        parts = self._begun.setdefault(question, {})
        parts[content.get("part", 0)] = bytes(buffers[0]) if buffers else b""
        if len(parts) < content.get("parts", 1):
            return None
        del self._begun[question]
        return b"".join(parts[at] for at in sorted(parts))


def reply(path: str, query: Mapping[str, str], body: bytes = b"") -> tuple[int, bytes]:
    """The answer to a question of the page, as `posenc explore` would give it.

    Args:
        path: "/data/recipe", "/data/table", "/data/answer/" and a room, "/data/read" or
            "/data/name".
        query: see `asked`.
        body: the file that is to be read or named.
    Returns:
        A status as of HTTP, and what was asked for; or 400, and why not.
    Example:
        >>> reply("/data/table", {"spec": "sinusoidal:dim=4", "count": "1"})
        (200, b'\\x00\\x00\\x00\\x00\\x00\\x00\\x80?\\x00\\x00\\x00\\x00\\x00\\x00\\x80?')
    """
    if not isinstance(query, Mapping) or not all(isinstance(one, str) for one in query.values()):
        return 400, b"`query` must be texts by name."
    try:
        if path == "/data/recipe":
            return 200, _json(asked.recipe(query))
        if path == "/data/table":
            return 200, asked.table(query).astype("<f4").tobytes()
        if path in _FILES:
            return 200, _json(_FILES[path](query, body))
        if path.startswith(_ANSWERS):
            return 200, _json(asked.answer(path.removeprefix(_ANSWERS), query))
        raise KeyError(f"there is nothing at {path}.")
    except asked.REFUSED as error:
        return 400, str(error.args[0] if error.args else error).encode()


def _json(data: Any) -> bytes:
    return json.dumps(data, allow_nan=False).encode()
