"""Encodings taken apart into steps, each of which can be changed: plain float64 arithmetic.

The encodings themselves are exact at every position; these recipes are for tables of modest size,
where float64 is exact enough, and where a step must be open to be got wrong.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from posenc.alibi import Alibi
from posenc.rotary import Rotary
from posenc.sinusoidal import Sinusoidal
from posenc.t5 import T5

Change = Callable[[str, Any], Any]
"""Takes the name of a step and its value; gives the value to go on with."""


def unchanged(step: str, value: Any) -> Any:
    """The change that makes none."""
    return value


def sinusoidal(
    encoding: Sinusoidal, positions: np.ndarray, change: Change = unchanged
) -> np.ndarray:
    """Vectors, (length, dim).

    Steps: base, exponents, frequencies, positions, angles, waves, layout.
    """
    layout = change("layout", encoding.layout)
    return laid_out(waves(encoding, positions, change), encoding, layout)


def rotary(encoding: Rotary, positions: np.ndarray, change: Change = unchanged) -> np.ndarray:
    """The matrix that turns a query or key at each position, (length, dim, dim).

    Steps: those of `sinusoidal`, and pairing: which angle each feature gets.
    """
    both = waves(encoding, positions, change)
    layout = change("layout", encoding.layout)
    feature, half = np.arange(encoding.turned), encoding.turned // 2
    pair = {"half": feature % half, "interleaved": feature // 2}
    partner = {"half": (feature + half) % encoding.turned, "interleaved": feature ^ 1}[layout]
    sin, cos = np.moveaxis(both[:, pair[change("pairing", layout)]], -1, 0)
    matrices = np.tile(np.eye(encoding.dim), (len(positions), 1, 1))
    matrices[:, feature, feature] = cos
    matrices[:, feature, partner] = np.where(feature < partner, -sin, sin)
    return matrices


def alibi(encoding: Alibi, positions: np.ndarray, change: Change = unchanged) -> np.ndarray:
    """The bias, (heads, length, length).

    Steps: slopes, positions, distances.
    """
    slopes = change("slopes", np.asarray(encoding.slopes))
    positions = change("positions", positions)
    distances = change("distances", positions[:, None] - positions)
    far = np.abs(distances)
    if encoding.direction == "asymmetric":
        far = np.where(distances > 0, far - 0.5, far)
    bias = -slopes[:, None, None] * far
    ahead = (distances < 0) & (encoding.direction == "causal")
    return np.where(ahead, -math.inf, bias)


def t5(encoding: T5, positions: np.ndarray, change: Change = unchanged) -> np.ndarray:
    """The bucket of each query and key, (length, length).

    Steps: positions, distances, ahead: how many buckets are for keys behind.
    """
    positions = change("positions", positions)
    distances = change("distances", positions[:, None] - positions)
    far = np.abs(distances) if encoding.bidirectional else np.maximum(distances, 0)
    bucket = np.searchsorted(encoding.edges, far, side="right") - 1.0
    ahead = change("ahead", len(encoding.edges) if encoding.bidirectional else 0)
    return bucket + np.where(distances < 0, ahead, 0)


RECIPES: dict[type, Callable[..., np.ndarray]] = {
    Sinusoidal: sinusoidal,
    Rotary: rotary,
    Alibi: alibi,
    T5: t5,
}
"""The encodings that are taken apart here."""


def waves(
    encoding: Sinusoidal | Rotary, positions: np.ndarray, change: Change = unchanged
) -> np.ndarray:
    """Sine and cosine of each pair, (length, pairs, 2).

    Example:
        >>> waves(Rotary(dim=4), np.asarray([0])).tolist()
        [[[0.0, 1.0], [0.0, 1.0]]]
    """
    positions = change("positions", positions + getattr(encoding, "offset", 0))
    angles = change("angles", positions[:, None, None] * frequencies(encoding, change))
    both = np.stack([np.sin(angles[..., 0]), np.cos(angles[..., 1])], axis=-1)
    return change("waves", both * getattr(encoding, "attention_factor", 1.0))


def frequencies(encoding: Sinusoidal | Rotary, change: Change = unchanged) -> np.ndarray:
    """Radians per position for the sine and the cosine of each pair, (pairs, 2).

    Example:
        >>> frequencies(Rotary(dim=4)).tolist()
        [[1.0, 1.0], [0.01, 0.01]]
    """
    base = change("base", encoding.base)
    turning = base ** -change("exponents", exponents(encoding))
    if isinstance(encoding, Rotary) and encoding.scaling is not None:
        turning = scaled(turning, encoding.scaling, dim=encoding.width, base=base)
    return change("frequencies", turning)


def scaled(frequencies: np.ndarray, scaling: Any, *, dim: int, base: float) -> np.ndarray:
    """Frequencies, (pairs, 2), under a rule of `posenc.scaling`."""
    columns = [scaling.scale(tuple(one.tolist()), dim=dim, base=base) for one in frequencies.T]
    return np.asarray(columns).T


def laid_out(members: np.ndarray, encoding: Sinusoidal, layout: str) -> np.ndarray:
    """The two members of each pair, (..., pairs, 2) with the sine first, as features (..., dim)."""
    one, other = members[..., 0], members[..., 1]
    if encoding.first == "cos":
        one, other = other, one
    features = np.concatenate([one, other[..., : encoding.dim // 2]], axis=-1)
    filled = features.shape[-1]
    if layout == "interleaved":
        halves = np.concatenate([np.arange(0, filled, 2), np.arange(1, filled, 2)])
        features = features[..., np.argsort(halves)]
    padding = [(0, 0)] * (features.ndim - 1) + [(0, encoding.dim - filled)]
    return np.pad(features, padding)


def exponents(encoding: Sinusoidal | Rotary) -> np.ndarray:
    """The exponent of 1 / base for the sine and the cosine of each pair, (pairs, 2)."""
    pairs = np.arange(len(encoding.frequencies))
    if isinstance(encoding, Rotary):
        powers = 2 * pairs / encoding.width
    elif encoding.spacing == "paper":
        powers = 2 * pairs / (encoding.dim - (encoding.odd == "pad") * (encoding.dim % 2))
    else:
        powers = pairs / max(encoding.dim // 2 - 1, 1)
    return np.stack([powers, powers], axis=-1)
