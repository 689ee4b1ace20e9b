"""Data made small: what repeats stands once, and floats stand by themselves."""

from __future__ import annotations

import base64
import gzip
import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

_LONG = 60  # characters of JSON that are worth a place of their own
_ARRAYS = ("array", "gaps")  # kinds of recipes whose `values` are float32 in base64


def text(data: Any) -> str:
    """Data as short JSON."""
    return json.dumps(data, separators=(",", ":"), allow_nan=False)


def pooled(data: Any) -> list[Any]:
    """Data as parts, the last of which is all of it: what is long stands once.

    In a part the object {"part": n} stands for the n-th, which comes before it.

    Example:
        >>> long = {"a": "x" * 60}
        >>> pooled([long, long, "y"])[1:]
        [[{'part': 0}, {'part': 0}, 'y']]
    """
    times: Counter[str] = Counter()
    parts: list[Any] = []
    places: dict[str, int] = {}

    def count(part: Any) -> None:
        written = _worth(part)
        times[written] += bool(written)
        if times[written] < 2:
            for inner in _inside(part):
                count(inner)

    def short(part: Any) -> Any:
        written = _worth(part)
        if written in places:
            return {"part": places[written]}
        made = part
        if isinstance(part, Mapping):
            made = {name: short(inner) for name, inner in part.items()}
        elif isinstance(part, list | tuple):
            made = [short(inner) for inner in part]
        if times[written] < 2:
            return made
        places[written] = len(parts)
        parts.append(made)
        return {"part": places[written]}

    count(data)
    parts.append(short(data))
    return parts


def _worth(part: Any) -> str:
    """The JSON of what may stand as a part of its own, "" of what is too short for it."""
    if not isinstance(part, Mapping | list | tuple | str):
        return ""
    written = text(part)
    return written if len(written) > _LONG else ""


def _inside(part: Any) -> Any:
    if isinstance(part, Mapping):
        return part.values()
    return part if isinstance(part, list | tuple) else ()


def packed(data: Any) -> str:
    """Data packed with gzip, as base64; the same data give the same text.

    Inside is one line with the JSON of `pooled`, in which {"floats": [start, count]} stands for
    float32 numbers in base64. Their bytes follow the line: first of every number the lowest byte,
    then of every number the next, since neighbours among those are alike.

    Example:
        >>> gzip.decompress(base64.b64decode(packed({"a": 1})))
        b'[{"a":1}]\\n'
    """
    floats = _Floats()
    line = text(pooled(floats.apart(data)))
    inside = f"{line}\n".encode() + floats.bytes()
    return base64.b64encode(gzip.compress(inside, 9, mtime=0)).decode()


class _Floats:
    """The numbers of all arrays in some data, one after the other."""

    def __init__(self) -> None:
        self.places: dict[str, list[int]] = {}
        self.size = 0

    def apart(self, data: Any) -> Any:
        """The data, with places instead of numbers."""
        if isinstance(data, list | tuple):
            return [self.apart(one) for one in data]
        if not isinstance(data, Mapping):
            return data
        made = {name: self.apart(one) for name, one in data.items()}
        if data.get("kind") in _ARRAYS:
            made["values"] = {"floats": self._place(data["values"])}
        return made

    def _place(self, values: str) -> list[int]:
        if values not in self.places:
            count = len(base64.b64decode(values)) // 4
            self.places[values] = [self.size, count]
            self.size += count
        return self.places[values]

    def bytes(self) -> bytes:
        together = b"".join(base64.b64decode(values) for values in self.places)
        return np.frombuffer(together, np.uint8).reshape(-1, 4).T.tobytes()
