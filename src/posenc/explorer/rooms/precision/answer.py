"""What narrow formats leave of positions and of an encoding, as numbers for the page."""

from __future__ import annotations

import base64
import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from posenc import evaluation, precision
from posenc.explorer.rooms.precision import narrow
from posenc.rotary import Rotary

FARTHEST = (1 << 25) - 1
"""The farthest position of this room: beyond 2**24 even float32 has no room for every one."""

AMONG = 2048
"""So many first positions, and their rows, are counted."""

FAR = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
"""Where the largest errors are told."""

NEAR = 64
"""So many positions before each of `FAR` are looked at."""

LOOKED_AT = 12
"""So many positions of each bin of the map are looked at, if it has more."""

_BINS = 2  # of an octave of positions
_ONE = 200  # the level of an error of 1; ten levels are a factor of ten


@functools.lru_cache(maxsize=8)
def answer(encoding: Any) -> Mapping[str, Any]:
    """What is left of positions and of an encoding in each format.

    Args:
        encoding: one whose pairs turn with one coordinate, or a bias of distances.
    Returns:
        formats   by name, [digits, exponent of the smallest, largest]: see `precision.Format`
        counted   by format: the first position lost, in words, which becomes the one before it;
                  how many of the first `among` positions are left, and how many of their rows, if
                  positions are cast first or the rows are cast at the end
        among     `AMONG`
        edges     whole numbers: bin b holds positions from edges[b] up to edges[b + 1]
        rows      what a row of the error map is, "pair" or "head"
        count     how many rows there are
        errors    by format, by cast: one byte for each row and bin, in base64. 0: no error;
                  255: nothing is left; else the largest error, ten levels for a factor of ten,
                  200 being 1
        far       by format, by cast: the largest error near each of `places`, or null
        places    `FAR`
        others    the same of other ways: a name and errors each
    Raises:
        TypeError: an encoding of another kind.
    """
    if not shown(encoding):
        raise TypeError(
            "the room Precision shows encodings whose pairs turn with the position, and biases of "
            f"distances; got {type(encoding).__name__}."
        )
    edges = _edges()
    looked_at, starts = _looked_at(edges)
    near = np.concatenate([np.arange(end - NEAR, end) for end in FAR])
    mapped, far = _errors(encoding, looked_at), _errors(encoding, near)
    rows = "pair" if narrow.pairs(encoding) else "head"
    return {
        "formats": {name: list(precision.FORMATS[name]) for name in narrow.FORMATS[1:]},
        "counted": {name: _counted(encoding, name) for name in narrow.FORMATS},
        "among": AMONG,
        "edges": edges,
        "rows": rows,
        "count": narrow.exact(encoding, np.asarray([0])).shape[1],
        "errors": _by_way(lambda *way: _packed(mapped(*way), starts)),
        "far": _by_way(lambda *way: _largest(far(*way))),
        "places": list(FAR),
        "others": _others(encoding, near),
    }


def shown(encoding: Any) -> bool:
    """Whether narrow formats can be told apart in an encoding: it has pairs, or is a bias of
    distances along a line.

    Example:
        >>> from posenc import Learned, Rotary
        >>> shown(Rotary(dim=8)), shown(Learned(length=8, dim=8))
        (True, False)
    """
    line = evaluation.family(encoding) == "bias" and not evaluation.axes(encoding)
    return bool(narrow.pairs(encoding)) or line


def _by_way(make: Callable[[str, narrow.Cast], Any]) -> dict[str, dict[str, Any]]:
    return {name: {cast: make(name, cast) for cast in narrow.CASTS} for name in narrow.FORMATS}


def _errors(encoding: Any, positions: np.ndarray) -> Callable[[str, narrow.Cast], np.ndarray]:
    right = narrow.exact(encoding, positions)
    return lambda name, cast: narrow.errors(right, narrow.numbers(encoding, positions, name, cast))


def _counted(encoding: Any, name: str) -> dict[str, int | str]:
    positions = np.arange(AMONG)
    first, last = (narrow.numbers(encoding, positions, name, cast) for cast in ("positions", "end"))
    return {
        "lost": f"{_first_lost(name):,}",  # JavaScript has no number for that of float64
        "positions": len(np.unique(narrow.narrow(positions, name))),
        "first": _different(first),
        "end": _different(last),
    }


def _first_lost(name: str) -> int:
    """The first whole number that a format does not hold: one more than a power of two."""
    after_powers = (2**power + 1 for power in range(64))
    return next(number for number in after_powers if int(narrow.narrow(number, name)) != number)


def _different(rows: np.ndarray) -> int:
    return len({row.tobytes() for row in rows + 0.0})  # where -0 becomes 0


def _edges() -> list[int]:
    steps = np.arange(_BINS * FARTHEST.bit_length() + 1) / _BINS
    return sorted({0, *np.ceil(2**steps).astype(int).tolist()})


def _looked_at(edges: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Some positions of every bin, one after the other, and where each bin begins in them."""
    draw = np.random.default_rng(0)
    bins = [
        np.arange(low, high) if high - low <= LOOKED_AT else draw.integers(low, high, LOOKED_AT)
        for low, high in zip(edges, edges[1:], strict=False)
    ]
    return np.concatenate(bins), np.cumsum([0, *map(len, bins[:-1])])


def _packed(errors: np.ndarray, starts: np.ndarray) -> str:
    largest = np.maximum.reduceat(errors, starts).T
    with np.errstate(divide="ignore"):
        levels = np.round(_ONE + 10 * np.log10(largest))
    levels = np.where(largest == 0, 0, np.clip(levels, 1, 254))
    levels = np.where(np.isinf(largest), 255, levels)
    return base64.b64encode(levels.astype(np.uint8).tobytes()).decode()


def _largest(errors: np.ndarray) -> list[float | None]:
    """The largest error near each of `FAR`, to three digits; None where nothing is left."""
    largest = errors.reshape(len(FAR), -1).max(axis=-1)
    return [float(f"{each:.3g}") if np.isfinite(each) else None for each in largest.tolist()]


def _others(encoding: Any, near: np.ndarray) -> list[dict[str, Any]]:
    """Errors of the arithmetic of transformers, where posenc knows it bit for bit."""
    if not isinstance(encoding, Rotary) or encoding.scaling is not None:
        return []
    table = encoding.table(near, precision="float32")
    made = np.stack(table, axis=-1).astype(np.float64)
    return [
        {
            "name": "angles as transformers makes them, in float32",
            "errors": _largest(narrow.errors(narrow.exact(encoding, near), made)),
        }
    ]
