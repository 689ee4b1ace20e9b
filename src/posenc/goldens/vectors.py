"""Golden vectors: whole arrays of an encoding, exact to the last bit, to test a port against."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from posenc import _checks, evaluation
from posenc.goldens import content, files, places, values


@dataclass(frozen=True, kw_only=True, eq=False)
class Golden:
    """An encoding's numbers at some positions, with all their digits.

    Args:
        spec: the encoding.
        posenc: the version that computed them.
        positions: whole numbers; for a bias, where the queries stand.
        keys: where the keys of a bias stand.
        length: tokens in the whole text, for rotary scalings that look at it.
        frequencies: radians per position of each pair; empty where the encoding has none.
        weights: trained arrays that the values were computed with, float32.
        float64: the values by name; see `golden`.
        float32: the same, rounded to float32.
    Example:
        >>> from posenc import Sinusoidal
        >>> one = golden(Sinusoidal(dim=2), [2])
        >>> [float(value).hex() for value in one.float64["vectors"][0]]
        ['0x1.d18f6ead1b446p-1', '-0x1.aa22657537205p-2']
    """

    spec: Any
    posenc: str
    positions: np.ndarray
    keys: np.ndarray | None
    length: int | None
    frequencies: tuple[float, ...]
    weights: dict[str, np.ndarray]
    float64: dict[str, np.ndarray]
    float32: dict[str, np.ndarray]

    def to_data(self) -> dict[str, Any]:
        """Everything as plain data, ready for JSON, with a SHA-256 over it.

        float64 numbers are hexadecimal text ("0x1.8p+1" is 3), which C, C++, Rust, Go, Java and
        Python read without loss; float32 numbers are the shortest decimal text that gives them
        back. Arrays are flat, the last axis running fastest. The SHA-256 is that of the JSON
        text of everything else, with sorted keys, no spaces and no line breaks.
        """
        return content.pack(vars(self))

    def to_json(self) -> str:
        """The data as JSON text: the same bytes whenever the numbers are the same."""
        return files.to_json(self.to_data())

    def save(self, path: str | Path) -> None:
        """Write the data to a .json or .npz file: the same bytes whenever the numbers are the same.

        Args:
            path: ends in .json, or in .npz for NumPy's binary arrays.
        Raises:
            ValueError: `path` ends otherwise.
            OSError: the file cannot be written.
        """
        files.write(Path(path), self.to_data())

    @classmethod
    def load(cls, path: str | Path) -> Golden:
        """Read a file that `save` wrote.

        Args:
            path: ends in .json or .npz.
        Raises:
            ValueError: `path` ends otherwise, is no golden file, or its checksum does not agree.
            OSError: the file cannot be read.
        """
        path = Path(path)
        return cls(**content.unpack(files.read(path), name=path.name))

    def differences(self, *, tolerance: float = 0.0) -> tuple[str, ...]:
        """What this version of posenc computes differently.

        Args:
            tolerance: the largest difference that counts as none; by default every bit must
                agree. Sines and cosines are the same on every machine; a bias that takes
                logarithms may differ in the last bit.
        Returns:
            A sentence for each array that differs; empty if none does.
        Raises:
            ValueError: `tolerance` is negative.
        Example:
            >>> from posenc import Rotary
            >>> golden(Rotary(dim=4), [0, 1]).differences()
            ()
        """
        _checks.at_least("tolerance", tolerance, 0.0)
        now = _computed(self.spec, self.positions, self.keys, self.length, self.weights)
        found = []
        if self.frequencies != now.frequencies:
            found.append("frequencies differ.")
        for kind in ("float64", "float32"):
            old, new = getattr(self, kind), getattr(now, kind)
            if old.keys() != new.keys():
                found.append(f"the file has {', '.join(old)}; posenc has {', '.join(new)}.")
                continue
            for name in new:
                found += _difference(f"{name} in {kind}", old[name], new[name], tolerance)
        return tuple(found)


def golden(
    spec: Any,
    positions: Sequence[int] | np.ndarray | None = None,
    *,
    keys: Sequence[int] | np.ndarray | None = None,
    length: int | None = None,
) -> Golden:
    """Whole arrays of an encoding, near and far, for whoever ports it to another language.

    | encoding | arrays |
    | --- | --- |
    | absolute | vectors (positions, dim) |
    | rotary | cos, sin (positions, pairs) with the attention factor; rotated (positions, dim): |
    |  | the vector 1, 2, ..., dim turned to each position |
    | bias | bias (heads, queries, keys) |

    Each value of Sinusoidal and Rotary is the float64 nearest to the true one (the largest error
    measured against mpmath is 0.5 of a unit in the last place), and the same on every machine.

    Args:
        spec: an encoding.
        positions: whole numbers, or on grids rows of them, one number an axis; near and far
            ones by default, powers of two and their neighbours among them.
        keys: positions of the keys of a bias; those of the queries by default.
        length: tokens in the whole text, for rotary scalings that look at it.
    Returns:
        The values, to be saved.
    Raises:
        TypeError: `spec` is no encoding, needs more than positions, or has no use for `keys` or
            `length`; or positions are no integers.
        ValueError: a position lies beyond 2**31, or there is none.
    Example:
        >>> from posenc import Rotary
        >>> {name: array.shape for name, array in golden(Rotary(dim=8)).float64.items()}
        {'cos': (29, 4), 'sin': (29, 4), 'rotated': (29, 8)}
    """
    family = evaluation.positional(spec)
    if keys is not None and family != "bias":
        raise TypeError(f"`keys` must be left out, because {type(spec).__name__} is no bias.")
    if length is not None and not evaluation.takes_length(spec):
        raise TypeError(
            f"`length` must be left out, because {type(spec).__name__} does not depend on it."
        )
    default = places.default(spec)
    where = default if positions is None else _whole("positions", positions, default.shape[1:])
    others = None
    if family == "bias":
        others = where if keys is None else _whole("keys", keys, default.shape[1:])
    return _computed(spec, where, others, length, evaluation.weights(spec))


def _whole(name: str, positions: Any, axes: tuple[int, ...]) -> np.ndarray:
    array = np.asarray(positions)
    _checks.integer_positions(name, array)
    if array.ndim != 1 + len(axes) or array.shape[1:] != axes or array.size == 0:
        shape = ", ".join(["tokens", *map(str, axes)])
        raise ValueError(f"`{name}` must have shape ({shape}); got {array.shape}.")
    return array.astype(np.int64)


def _computed(
    spec: Any,
    positions: np.ndarray,
    keys: np.ndarray | None,
    length: int | None,
    weights: dict[str, np.ndarray],
) -> Golden:
    from posenc import __version__

    float64 = values.values(spec, positions, keys, length, weights)
    return Golden(
        spec=spec,
        posenc=__version__,
        positions=positions,
        keys=keys,
        length=length,
        frequencies=evaluation.frequencies(spec, length=length),
        weights=weights,
        float64=float64,
        float32={name: array.astype(np.float32) for name, array in float64.items()},
    )


def _difference(name: str, old: np.ndarray, new: np.ndarray, tolerance: float) -> list[str]:
    """At most one sentence: how many values differ, by how much, and the first of them."""
    if old.shape != new.shape:
        return [f"{name} has shape {old.shape} in the file and {new.shape} in posenc."]
    same = (old == new) | (np.isnan(old) & np.isnan(new))
    with np.errstate(invalid="ignore"):  # infinity less infinity
        gaps = np.where(same, 0.0, np.abs(old.astype(np.float64) - new))
    differ = np.argwhere(~(gaps <= tolerance))
    if len(differ) == 0:
        return []
    first = tuple(int(i) for i in differ[0])
    return [
        f"{name} differs in {len(differ)} of {old.size} values, by up to {gaps.max():.1e}; the "
        f"first at index {first}: {content.text(old[first])} in the file, "
        f"{content.text(new[first])} in posenc."
    ]
