"""The content of a golden file: plain data in which every number keeps all its digits, and a sum.

float64 numbers are hexadecimal text ("0x1.8p+1" is 3), which C, C++, Rust, Go, Java and Python
read without loss; float32 numbers are the shortest decimal text that gives them back. Arrays are
flat, the last axis running fastest.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from posenc import spec as specs
from posenc.frequencies import Frequency

FORMAT = "posenc golden 1"

Content = dict[str, Any]


def pack(fields: dict[str, Any]) -> Content:
    """The fields of a `Golden` as content, with its checksum."""
    content = {
        "format": FORMAT,
        "posenc": fields["posenc"],
        "spec": specs.to_data(fields["spec"]),
        "positions": _whole(fields["positions"]),
        "keys": _whole(fields["keys"]),
        "length": fields["length"],
        "frequencies": _nested(lambda w: float(w).hex(), fields["frequencies"]),
        "tails": _nested(lambda w: getattr(w, "tail", 0.0).hex(), fields["frequencies"]),
        "weights": _each(flat, fields["weights"]),
        "float64": _each(flat, fields["float64"]),
        "float32": _each(flat, fields["float32"]),
    }
    return content | {"sha256": checksum(content)}


def unpack(content: Any, *, name: str) -> dict[str, Any]:
    """The fields of the `Golden` that content was made from.

    Args:
        content: what a file held.
        name: of the file, for errors.
    Raises:
        ValueError: it is no content of this format, or its checksum does not agree.
    """
    came = content.get("format") if isinstance(content, dict) else type(content).__name__
    if came != FORMAT:
        raise ValueError(f"{name} must hold a format of {FORMAT!r}; got {came!r}.")
    stated, found = content.get("sha256"), checksum(content)
    if stated != found:
        raise ValueError(
            f"{name} was damaged or edited: its checksum should be {stated}, but its content has "
            f"{found} (SHA-256)."
        )
    return {
        "spec": specs.from_data(content["spec"]),
        "posenc": content["posenc"],
        "positions": np.asarray(content["positions"], dtype=np.int64),
        "keys": None if content["keys"] is None else np.asarray(content["keys"], dtype=np.int64),
        "length": content["length"],
        "frequencies": _frequencies(content["frequencies"], content["tails"]),
        "weights": _each(array, content["weights"]),
        "float64": _each(array, content["float64"]),
        "float32": _each(array, content["float32"]),
    }


def checksum(content: Content) -> str:
    """SHA-256 of the content without its checksum, as JSON with sorted keys and no spaces."""
    rest = {name: value for name, value in content.items() if name != "sha256"}
    canonical = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def flat(array: np.ndarray) -> Content:
    """A float64 or float32 array as plain data.

    Example:
        >>> flat(np.asarray([[0.1]], dtype=np.float32))
        {'dtype': 'float32', 'shape': [1, 1], 'values': ['0.1']}
    """
    values = [text(value) for value in array.ravel()]
    return {"dtype": str(array.dtype), "shape": list(array.shape), "values": values}


def array(data: Content) -> np.ndarray:
    """The array that `flat` described."""
    read = float.fromhex if data["dtype"] == "float64" else np.float32
    values = [read(value) for value in data["values"]]
    return np.asarray(values, dtype=data["dtype"]).reshape(data["shape"])


def text(value: np.floating[Any]) -> str:
    """A number with all its digits: float64 in hexadecimal, float32 in decimal.

    Example:
        >>> text(np.float64(3.0)), text(np.float32(0.1))
        ('0x1.8000000000000p+1', '0.1')
    """
    return float(value).hex() if value.dtype == np.float64 else str(value)


def _whole(positions: np.ndarray | None) -> list[int] | None:
    return None if positions is None else positions.tolist()


def _each(function: Callable[[Any], Any], parts: dict[str, Any]) -> dict[str, Any]:
    return {name: function(part) for name, part in parts.items()}


def _nested(function: Callable[[Any], Any], values: Iterable[Any]) -> list[Any]:
    """A function of every frequency; on grids there is a tuple of them for each axis."""
    return [_nested(function, v) if isinstance(v, tuple) else function(v) for v in values]


def _frequencies(values: list[Any], tails: list[Any]) -> tuple[Any, ...]:
    return tuple(
        _frequencies(value, tail)
        if isinstance(value, list)
        else Frequency(float.fromhex(value), float.fromhex(tail))
        for value, tail in zip(values, tails, strict=True)
    )
