"""Which arrays a golden file of an encoding holds, and how they are computed."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from posenc import evaluation
from posenc.goldens import exact
from posenc.rotary import Rotary
from posenc.sinusoidal import Sinusoidal
from posenc.xpos import XPos

Arrays = dict[str, np.ndarray]


def values(
    spec: Any, positions: np.ndarray, keys: np.ndarray | None, length: int | None, weights: Arrays
) -> Arrays:
    """The float64 arrays of an encoding, by name.

    absolute   vectors (positions, dim)
    rotary     cos, sin (positions, pairs); of `Rotary` also rotated (positions, dim), which is
               the vector 1, 2, ..., dim turned to each position; of `XPos` both for either role
    bias       bias (heads, queries, keys)

    Sines and cosines of Sinusoidal and Rotary are the float64 nearest to the true value; other
    encodings are computed by their own formula in float64.

    Args:
        spec: the encoding.
        positions: whole numbers; for a bias, those of the queries.
        keys: positions of the keys of a bias.
        length: tokens in the whole text, for rotary scalings that look at it.
        weights: trained arrays, where the encoding has some.
    Returns:
        Float64 arrays.
    Raises:
        TypeError: `spec` gives nothing that depends on positions alone.
    """
    if type(spec) in _OWN:
        return _OWN[type(spec)](spec, positions, length)
    family = evaluation.positional(spec)
    weights = {name: array.astype(np.float64) for name, array in weights.items()}
    if family == "absolute":
        return {"vectors": spec.encode(positions, dtype=np.float64, **weights)}
    if family == "rotary":
        options = {} if length is None else {"length": length}
        cos, sin = spec.table(positions, dtype=np.float64, **options, **weights)
        return {"cos": cos, "sin": sin}
    return {"bias": spec.bias(positions, keys, dtype=np.float64, **weights)}


def _sinusoidal(spec: Sinusoidal, positions: np.ndarray, length: int | None) -> Arrays:
    vectors = np.zeros((len(positions), spec.dim))
    count = len(spec.frequencies)
    for row, position in enumerate(positions.tolist()):
        for k, frequency in enumerate(spec.frequencies):
            cos, sin = map(float, exact.cos_sin(position + spec.offset, frequency))
            members = (sin, cos) if spec.first == "sin" else (cos, sin)
            features = (2 * k, 2 * k + 1) if spec.layout == "interleaved" else (k, k + count)
            for feature, member in zip(features, members, strict=True):
                if feature < spec.dim:
                    vectors[row, feature] = member
    return {"vectors": vectors}


def _rotary(spec: Rotary, positions: np.ndarray, length: int | None) -> Arrays:
    turning, half = spec.frequencies_at(length), spec.turned // 2
    factor = Fraction(spec.attention_factor)
    cos, sin = np.empty((2, len(positions), half))
    rotated = np.tile(np.arange(1.0, spec.dim + 1), (len(positions), 1))
    for row, position in enumerate(positions.tolist()):
        for k, frequency in enumerate(turning):
            c, s = (factor * part for part in exact.cos_sin(position, frequency))
            one, other = (2 * k, 2 * k + 1) if spec.layout == "interleaved" else (k, k + half)
            cos[row, k], sin[row, k] = float(c), float(s)
            rotated[row, one] = float((one + 1) * c - (other + 1) * s)
            rotated[row, other] = float((other + 1) * c + (one + 1) * s)
    return {"cos": cos, "sin": sin, "rotated": rotated}


def _xpos(spec: XPos, positions: np.ndarray, length: int | None) -> Arrays:
    arrays = {}
    for role in ("query", "key"):
        cos, sin = spec.table(positions, role=role, dtype=np.float64)
        arrays |= {f"{role}_cos": cos, f"{role}_sin": sin}
    return arrays


_OWN: dict[type, Callable[[Any, np.ndarray, int | None], Arrays]] = {
    Sinusoidal: _sinusoidal,
    Rotary: _rotary,
    XPos: _xpos,
}
