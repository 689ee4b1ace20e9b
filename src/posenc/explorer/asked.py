"""What the page asks of the library: pure functions of a query, for the server and for exports.

A query maps names to texts. `spec` is the encoding, as JSON or as the command's short text;
`start`, `count`, `head` and `grid` say which part of its table; `mistake` which mistake is made on
purpose. With the bytes of a file come its `name`, and its `size` where they are only its beginning.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from posenc import spec
from posenc.explorer import naming, reading, recipes
from posenc.explorer.fields import needs
from posenc.explorer.rooms import ROOMS

REFUSED = (TypeError, ValueError, OverflowError, KeyError)
"""What these functions raise for a query that cannot be answered; the text says why."""

_SPAN = ("start", "count", "head", "grid")


def recipe(query: Mapping[str, str]) -> dict[str, Any]:
    """The numbers of a picture; see `recipes.recipe`.

    Example:
        >>> recipe({"spec": "sinusoidal:dim=4"})["text"]
        'sinusoidal:dim=4'
    """
    return recipes.recipe(_encoding(query), **_options(query))


def table(query: Mapping[str, str]) -> np.ndarray:
    """The library's own numbers of a picture, float32; see `recipes.table`.

    Example:
        >>> table({"spec": "sinusoidal:dim=4", "start": "2", "count": "1"}).shape
        (1, 4)
    """
    options = _options(query)
    return recipes.table(
        _encoding(query), options.pop("start", 0), options.pop("count", 64), **options
    )


def answer(room: str, query: Mapping[str, str]) -> Mapping[str, Any]:
    """What a room's own function says of an encoding and the settings it asks for.

    Raises:
        KeyError: the room answers nothing.
    """
    found = ROOMS.get(room)
    if found is None or found.answer is None:
        raise KeyError(f"there are no answers of a room {room!r}.")
    wanted = {name: query[name] for name in found.asks if name in query}
    return found.answer(_encoding(query), **wanted)


def read(query: Mapping[str, str], body: bytes) -> dict[str, Any]:
    """What the settings of a model say; see `reading.read`."""
    size = integer("size", query.get("size", "0"))
    return reading.read(body, name=query.get("name", ""), size=size)


def named(query: Mapping[str, str], body: bytes) -> dict[str, Any]:
    """Which encoding made a table; see `naming.read`."""
    return naming.read(body, name=query.get("name", ""))


def integer(name: str, text: str) -> int:
    """A whole number of a query.

    Raises:
        ValueError: it is none; the message names it.
    """
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"`{name}` must be a whole number; got {text[:30]!r}.") from None


def _encoding(query: Mapping[str, str]) -> Any:
    if "spec" not in query:
        raise ValueError("the request lacks `spec`.")
    encoding = recipes.read(query["spec"])
    if query.get("mistake"):
        _refuse_idle(encoding, query["mistake"])
    return encoding


def _refuse_idle(encoding: Any, name: str) -> None:
    """Refuse a mistake that is made with other settings alone, and say with which."""
    idle = [one for one in needs.idle(encoding) if one.name == name]
    changes = needs.needed(encoding, idle[0]) if idle else None
    if changes:
        sets = needs.words(spec.to_data(encoding)["kind"], changes)
        raise ValueError(f"the mistake {name!r} is made with other settings alone: set {sets}.")


def _options(query: Mapping[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {name: integer(name, query[name]) for name in _SPAN if name in query}
    return found | {name: query[name] for name in ("mistake",) if query.get(name)}
