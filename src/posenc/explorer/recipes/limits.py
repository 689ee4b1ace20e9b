"""How much one picture can show, and reading what a request asks for."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from posenc import _checks, evaluation, spec
from posenc.explorer.recipes.ends import spread

ROWS = 512
"""The most positions of one picture."""

FARTHEST = _checks.LAST_POSITION + 1 - 2 * ROWS
"""The farthest first position: all rows, and a query that far ahead of the last, stay exact."""

LARGEST = {
    "dim": 1024,
    "rotary_dim": 1024,
    "model_dim": 1024,
    "widths": 1024,
    "hidden": 1024,
    "width": 64,
    "heads": 64,
    "octaves": 64,
    "axes": 4,
    "offset": FARTHEST,
    "center": FARTHEST,
    "length": 4096,
    "lengths": 4096,
    "max_distance": 1024,
    "ahead": 1024,
    "buckets": 1024,
    "window": 32,
    "trained_window": 4096,
    "grid": 64,
    "key_grid": 64,
    "intra_length": FARTHEST,
    "sections": 1024,
}
"""What one picture can show, for each field. Whoever needs more uses the library."""

WEIGHTS = 1 << 22
"""The most trained numbers of an encoding."""


def read(text: str) -> Any:
    """The encoding that a request asks for.

    Args:
        text: the short text of the command, or JSON as `posenc.spec.to_json` writes it.
    Returns:
        The encoding.
    Raises:
        TypeError: a field has the wrong type.
        ValueError: `text` describes no valid encoding, or one beyond `LARGEST`.
    Example:
        >>> read("sinusoidal:dim=4").frequencies
        (1.0, 0.01)
    """
    data = spec.read(text)
    # Looked at before the encoding is built: a vast one would take hours.
    for name, asked in _numbers(data):
        if abs(asked) > LARGEST.get(name, math.inf):
            most = LARGEST[name]
            raise ValueError(f"`{name}` must be at most {most} to be drawn; got {name}={asked}.")
    encoding = built(data)
    check_size(encoding)
    return encoding


def built(data: Any) -> Any:
    """The encoding that data describes, in which lists may be given by their ends; see `ends`.

    Raises:
        TypeError: a field has the wrong type.
        ValueError: `data` describes no valid encoding.
    """
    return spec.from_data(spread(data))


def check_size(encoding: Any) -> None:
    """Refuse what is no encoding, and one whose fields are small enough but whose whole is not."""
    evaluation.family(encoding)
    trained = sum(math.prod(shape) for shape in evaluation.shapes(encoding).values())
    for what, asked, most in (
        ("features", getattr(encoding, "dim", 0), LARGEST["dim"]),
        ("axes", evaluation.axes(encoding), LARGEST["axes"]),
        ("trained numbers", trained, WEIGHTS),
    ):
        if asked > most:
            raise ValueError(
                f"{type(encoding).__name__} can be drawn with at most {most:,} {what}; "
                f"this one has {asked:,}."
            )


def _numbers(data: Any, name: str = "") -> Iterator[tuple[str, int]]:
    """Every whole number of a spec with the name of its field, those of nested specs too."""
    if isinstance(data, dict):
        for field, value in data.items():
            yield from _numbers(value, field)
    elif isinstance(data, list):
        if len(data) > LARGEST["dim"]:
            raise ValueError(
                f"`{name}` must have at most {LARGEST['dim']} entries; got {len(data)}."
            )
        for value in data:
            yield from _numbers(value, name)
    elif isinstance(data, int):
        yield name, data
