"""What the page needs to draw an encoding: a few exact numbers instead of a table.

A recipe holds every number that a method is made of, each a float64 that JSON carries exactly.
The page multiplies, adds and takes sines; it knows no method.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain, zip_longest
from typing import Any

import numpy as np

from posenc import _checks, angles, evaluation, spec
from posenc.alibi import Alibi
from posenc.rotary import Rotary
from posenc.sinusoidal import Sinusoidal

ROWS = 512
"""The most positions of one picture."""

FARTHEST = _checks.LAST_POSITION + 1 - 2 * ROWS
"""The farthest first position: all rows, and a query that far ahead of the last, stay exact."""

LARGEST = {"dim": 1024, "rotary_dim": 1024, "heads": 64, "offset": FARTHEST}
"""What one picture can show. Whoever needs more uses the library."""


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
    for name, most in LARGEST.items():
        # Looked at before the encoding is built: a vast one would take hours.
        asked = data.get(name) if isinstance(data, dict) else None
        if isinstance(asked, int) and abs(asked) > most:
            raise ValueError(f"`{name}` must be at most {most} to be drawn; got {name}={asked}.")
    return spec.from_data(data)


def recipe(encoding: Any) -> dict[str, Any]:
    """The numbers behind every picture of an encoding, ready for JSON.

    kind "waves"   column c at position p: scale * wave(turn), wave and pair being columns[c];
                   turn = (p + offset) * sum(turns[pair]), in whole turns
    kind "bias"    query i, key j, head h: slopes[h] * (start + step * |i - j|), start and step
                   being `behind` or, for keys after the query, `ahead`; where that is None,
                   minus infinity; 0 where i = j

    Args:
        encoding: a Sinusoidal, Rotary or Alibi.
    Returns:
        A dict of strings, numbers, lists and None.
    Raises:
        TypeError: there is no picture of `encoding` yet.
    Example:
        >>> recipe(Sinusoidal(dim=4))["columns"]
        [['sin', 0], ['cos', 0], ['sin', 1], ['cos', 1]]
    """
    make = _MAKERS.get(type(encoding))
    if make is None:
        raise TypeError(
            "the explorer draws Sinusoidal, Rotary and Alibi encodings; "
            f"got {type(encoding).__name__}."
        )
    return {"spec": spec.to_data(encoding), "text": spec.to_text(encoding), **make(encoding)}


def table(encoding: Any, start: int, count: int, *, head: int = 0) -> np.ndarray:
    """The library's own numbers of a picture, for the page to compare its own with.

    Args:
        encoding: a Sinusoidal, Rotary or Alibi.
        start: the first position.
        count: how many positions.
        head: which head of a bias.
    Returns:
        float32: (count, columns) of vectors or of [cos | sin]; (count, count) of a bias.
    Raises:
        ValueError: `count` or `head` is out of range, or a position beyond 2**31.
    Example:
        >>> table(Sinusoidal(dim=4), 2, 1).round(4).tolist()
        [[0.9093000292778015, -0.41609999537467957, 0.019999999552965164, 0.9998000264167786]]
    """
    if not 1 <= count <= ROWS:
        raise ValueError(f"`count` must lie between 1 and {ROWS}; got count={count}.")
    positions = np.arange(start, start + count)
    if isinstance(encoding, Alibi):
        if not 0 <= head < encoding.heads:
            raise ValueError(
                f"`head` must lie between 0 and {encoding.heads - 1}; got head={head}."
            )
        return encoding.bias(positions, positions)[head]
    return evaluation.rows(encoding, positions).astype(np.float32)


def _sinusoidal(code: Sinusoidal) -> dict[str, Any]:
    ones = [[code.first, pair] for pair in range(len(code.frequencies))]
    second = "cos" if code.first == "sin" else "sin"
    others = [[second, pair] for pair in range(code.dim // 2)]
    if code.layout == "half":
        columns = ones + others
    else:
        columns = [column for column in chain(*zip_longest(ones, others)) if column]
    columns += [["zero", 0]] * (code.dim - len(columns))
    return _waves(code.frequencies, columns) | {"offset": code.offset}


def _rotary(code: Rotary) -> dict[str, Any]:
    pairs = range(len(code.frequencies))
    columns = [["cos", pair] for pair in pairs] + [["sin", pair] for pair in pairs]
    step, apart = (1, len(pairs)) if code.layout == "half" else (2, 1)
    query, key = np.random.default_rng(0).standard_normal((2, code.dim)).astype(np.float32)
    return _waves(code.frequencies, columns) | {
        "offset": 0,
        "scale": code.attention_factor,
        "partners": [[step * pair, step * pair + apart] for pair in pairs],
        "example": {"query": query.tolist(), "key": key.tolist()},
    }


def _waves(frequencies: Sequence[float], columns: list[list[Any]]) -> dict[str, Any]:
    return {
        "kind": "waves",
        "scale": 1.0,
        "frequencies": [float(frequency) for frequency in frequencies],
        # A plain product of position and frequency is off by 3e-11 radians at position 2^18,
        # enough to move one float32 in 8,000. With the pieces of `angles` none moves.
        "turns": [list(pieces) for pieces in angles.turns(frequencies)],
        "columns": columns,
        "picks": _picks(columns),
    }


def _picks(columns: list[list[Any]]) -> list[int]:
    """Columns worth a first look: the first one of pair 0, and of pairs 1, 2, 4, 8, ..."""
    first = {pair: column for column, (_, pair) in reversed(list(enumerate(columns)))}
    powers = [1 << bit for bit in range(len(first).bit_length())]
    return [first[pair] for pair in (0, *powers) if pair in first]


def _alibi(code: Alibi) -> dict[str, Any]:
    return {
        "kind": "bias",
        "slopes": list(code.slopes),
        "behind": [0.5 if code.direction == "asymmetric" else 0.0, -1.0],
        "ahead": None if code.direction == "causal" else [0.0, -1.0],
    }


_MAKERS: dict[type, Callable[[Any], dict[str, Any]]] = {
    Sinusoidal: _sinusoidal,
    Rotary: _rotary,
    Alibi: _alibi,
}
