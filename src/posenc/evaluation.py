"""Any encoding asked for its numbers in the same way, whatever its family."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np

from posenc.bipe import Bipe
from posenc.spec import ENCODINGS
from posenc.xpos import XPos

Arrays = Mapping[str, np.ndarray]

LARGEST = 50_000_000
"""How many numbers `rows` and `bias` give at most."""


def family(encoding: Any) -> str:
    """How an encoding enters a model: "absolute", "rotary", "bias", or "other".

    absolute   `encode` gives vectors that are added to embeddings
    rotary     `table` and `rotate` turn queries and keys
    bias       `bias` is added to attention scores
    other      it needs more than positions: the queries themselves, or the segments of a text

    Raises:
        TypeError: `encoding` is none of the encodings that posenc knows.
    Example:
        >>> from posenc import Rotary
        >>> family(Rotary(dim=8))
        'rotary'
    """
    if type(encoding) not in ENCODINGS.values():
        raise TypeError(
            "`encoding` must be an encoding of posenc, for example Sinusoidal(dim=4); "
            f"got {type(encoding).__name__}."
        )
    if isinstance(encoding, Bipe):
        return "other"
    methods = {"encode": "absolute", "table": "rotary", "bias": "bias"}
    return next((name for method, name in methods.items() if hasattr(encoding, method)), "other")


def positional(encoding: Any) -> str:
    """The family of an encoding whose numbers follow from positions alone.

    Raises:
        TypeError: `encoding` is none of posenc's, or of the family "other".
    Example:
        >>> from posenc import Alibi
        >>> positional(Alibi(heads=8))
        'bias'
    """
    if (kind := family(encoding)) != "other":
        return kind
    if isinstance(encoding, Bipe):
        raise TypeError(
            "`encoding` must depend on positions alone, but Bipe takes the segments of a text: "
            "take its two parts, `intra` and `inter`."
        )
    raise TypeError(
        "`encoding` must depend on positions alone, because there are no queries and keys to ask "
        f"it with; got {type(encoding).__name__}."
    )


def axes(encoding: Any) -> int:
    """How many coordinates a position has; 0 where it is one plain number.

    Example:
        >>> from posenc import Rotary, Swin
        >>> axes(Rotary(dim=8)), axes(Swin(heads=2, window=(7, 7)))
        (0, 2)
    """
    for name in ("axes", "sections", "window", "grid"):
        if hasattr(encoding, name):
            own = getattr(encoding, name)
            return own if isinstance(own, int) else len(own)
    return 0


def shapes(encoding: Any) -> dict[str, tuple[int, ...]]:
    """The trained arrays of an encoding, name and shape; none for most.

    Example:
        >>> from posenc import Learned
        >>> shapes(Learned(length=5, dim=4))
        {'table': (5, 4)}
    """
    return getattr(encoding, "weights", {})


def weights(encoding: Any) -> dict[str, np.ndarray]:
    """The trained arrays of an encoding as they are before training, float32; none for most.

    Example:
        >>> from posenc import Rotary, T5
        >>> weights(Rotary(dim=8)), weights(T5(heads=4))["table"].shape
        ({}, (32, 4))
    """
    return encoding.initial_weights() if shapes(encoding) else {}


def takes_length(encoding: Any) -> bool:
    """Whether the table may depend on how long the whole text is.

    Example:
        >>> from posenc import Rotary, XPos
        >>> takes_length(Rotary(dim=8)), takes_length(XPos(dim=8))
        (True, False)
    """
    table = getattr(encoding, "table", None)
    return table is not None and "length" in inspect.signature(table).parameters


def frequencies(encoding: Any, *, length: int | None = None) -> tuple[Any, ...]:
    """Radians per position of each pair, on grids often a tuple of them an axis; () without pairs.

    Args:
        encoding: any encoding of posenc.
        length: tokens in the whole text, for rotary scalings that look at it.
    Example:
        >>> from posenc import Rotary
        >>> frequencies(Rotary(dim=4))
        (1.0, 0.01)
    """
    turning = getattr(encoding, "rotary", encoding)
    return getattr(turning, "frequencies", ()) if length is None else turning.frequencies_at(length)


def rows(
    encoding: Any, positions: np.ndarray, trained: Arrays | None = None, **options: Any
) -> np.ndarray:
    """What an encoding says of each position, as one float64 row of numbers.

    For an absolute encoding the vectors; for a rotary one [cos | sin] of its pairs, head by head
    where heads differ. The dot product of two such rows is the score of a query and a key that
    have 1 in the first place of every pair.

    Args:
        encoding: an absolute or rotary encoding.
        positions: shape (length,), or (length, axes) on grids.
        trained: its trained arrays by name, where it has some; they are widened to float64.
        options: what `encoding.table` takes besides: `length`, or `role` of XPos.
    Returns:
        Shape (length, width), float64.
    Raises:
        TypeError: `encoding` gives no rows, or needs arrays that `trained` lacks.
        ValueError: there would be more than `LARGEST` numbers.
    Example:
        >>> from posenc import Rotary
        >>> rows(Rotary(dim=4), np.asarray([0])).tolist()
        [[1.0, 1.0, 0.0, 0.0]]
    """
    if positional(encoding) == "bias" or (shapes(encoding) and not trained):
        raise TypeError(
            "`encoding` must give a row for each position without trained weights, as "
            f"Sinusoidal and Rotary do; got {type(encoding).__name__}."
        )
    if isinstance(encoding, XPos) and "role" not in options:
        raise TypeError("`encoding` must give one row a position; XPos has one for each role.")
    options |= _wide(trained)
    one = _rows(encoding, positions[:1], options)
    _bounded(len(positions) * one.shape[-1])
    return _rows(encoding, positions, options)


def bias(
    encoding: Any, queries: np.ndarray, keys: np.ndarray, trained: Arrays | None = None
) -> np.ndarray:
    """The bias of every query and key, at most `LARGEST` numbers of it.

    Args:
        encoding: a bias.
        queries: their positions, shape (queries,), or (queries, axes) on grids; integers.
        keys: positions of the keys, likewise.
        trained: its trained arrays by name, where it has some; they are widened to float64.
    Returns:
        Shape (heads, queries, keys), float64.
    Raises:
        TypeError: `encoding` is no bias, or needs arrays that `trained` lacks.
        ValueError: there would be more than `LARGEST` numbers.
    Example:
        >>> from posenc import Alibi
        >>> bias(Alibi(heads=1), np.asarray([256]), np.asarray([0, 256])).tolist()
        [[[-1.0, 0.0]]]
    """
    if positional(encoding) != "bias" or (shapes(encoding) and not trained):
        raise TypeError(
            "`encoding` must be a bias without trained weights, as Alibi and Sandwich are; "
            f"got {type(encoding).__name__}."
        )
    _bounded(len(queries) * len(keys) * encoding.heads)
    return encoding.bias(queries, keys, dtype=np.float64, **_wide(trained))


def _rows(encoding: Any, positions: np.ndarray, options: dict[str, Any]) -> np.ndarray:
    if family(encoding) == "absolute":
        return encoding.encode(positions, dtype=np.float64, **options)
    table = encoding.table(positions, dtype=np.float64, **options)
    return np.concatenate([_tokens_first(part) for part in table], axis=-1)


def _tokens_first(table: np.ndarray) -> np.ndarray:
    """(heads, length, pairs) as (length, heads * pairs); (length, pairs) as it is."""
    return table if table.ndim == 2 else np.concatenate(table, axis=-1)


def _wide(trained: Arrays | None) -> dict[str, np.ndarray]:
    return {name: array.astype(np.float64) for name, array in (trained or {}).items()}


def _bounded(numbers: int) -> None:
    if numbers > LARGEST:
        raise ValueError(
            f"`positions` must be fewer: all numbers together may be at most {LARGEST:,}, so that "
            f"they fit in memory; got {numbers:,}."
        )
