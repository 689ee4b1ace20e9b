"""An encoding computed with some of its steps in a narrower format, beside the exact numbers."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from posenc import angles, evaluation, precision
from posenc.alibi import Alibi

FORMATS = ("float64", "float32", "float16", "bfloat16")

Cast = Literal["positions", "rates", "products", "every", "end"]
CASTS: tuple[Cast, ...] = ("positions", "rates", "products", "every", "end")
"""What is cast: positions, or frequencies and slopes, before the product; the product; all of
these and the result; or the result alone."""

_ROUNDING = 2.0**-51  # what float64 itself leaves of an exact number is below


def narrow(numbers: Any, name: str) -> np.ndarray:
    """Numbers as a format holds them, float64; infinite where it overflows.

    Example:
        >>> narrow([257.0, 0.1], "bfloat16").tolist()
        [256.0, 0.10009765625]
    """
    wide = np.asarray(numbers, dtype=np.float64)
    return wide if name == "float64" else precision.rounded(wide, name)


def pairs(encoding: Any) -> tuple[float, ...]:
    """Radians per position of each pair; on a grid, of those that turn with the first coordinate.

    Example:
        >>> from posenc import Rotary
        >>> pairs(Rotary(dim=4))
        (1.0, 0.01)
    """
    if evaluation.family(encoding) not in ("absolute", "rotary"):
        return ()
    found = evaluation.frequencies(encoding)
    return found[0] if found and isinstance(found[0], tuple) else found


def numbers(encoding: Any, positions: np.ndarray, name: str, cast: Cast) -> np.ndarray:
    """Cosine and sine of every pair, or the bias of every head with a key at 0, steps narrowed.

    Args:
        encoding: one that `shown` accepts.
        positions: integers, (length,).
        name: one of `FORMATS`.
        cast: one of `CASTS`.
    Returns:
        (length, pairs, 2) or (length, heads, 1), float64; NaN where nothing is left of a position.
    Example:
        >>> from posenc import Alibi
        >>> numbers(Alibi(heads=1), np.asarray([257]), "bfloat16", "positions").tolist()
        [[[-1.0]]]
    """
    make = _turned if pairs(encoding) else _added
    return make(encoding, positions, name, cast)


def exact(encoding: Any, positions: np.ndarray) -> np.ndarray:
    """The same with nothing narrowed."""
    if frequencies := pairs(encoding):
        return np.stack(angles.cos_sin(positions, frequencies, dtype=np.float64), axis=-1)
    return _bias(encoding, positions)


def errors(right: np.ndarray, made: np.ndarray) -> np.ndarray:
    """How far off each pair or head is, (length, rows); infinite where nothing is left."""
    with np.errstate(invalid="ignore"):
        off = np.abs(made - right)
    off = np.where(np.isnan(off), np.inf, off)
    off = np.where(off <= _ROUNDING * np.maximum(np.abs(right), 1.0), 0.0, off)
    return off.max(axis=-1)


def _turned(encoding: Any, positions: np.ndarray, name: str, cast: Cast) -> np.ndarray:
    frequencies = pairs(encoding)
    where = narrow(positions, name) if cast in ("positions", "every") else positions.astype(float)
    lost = ~np.isfinite(where)
    where = np.where(lost, 0.0, where)
    if cast in ("rates", "every"):
        frequencies = tuple(narrow(frequencies, name).tolist())
    if cast in ("products", "every"):
        turned = narrow(where[:, None] * np.asarray(frequencies, dtype=np.float64), name)
        with np.errstate(invalid="ignore"):
            waves = np.stack([np.cos(turned), np.sin(turned)], axis=-1)
    else:
        waves = np.stack(angles.cos_sin(where, frequencies, dtype=np.float64), axis=-1)
    waves[lost] = np.nan
    return narrow(waves, name) if cast in ("every", "end") else waves


def _added(encoding: Any, positions: np.ndarray, name: str, cast: Cast) -> np.ndarray:
    where = narrow(positions, name) if cast in ("positions", "every") else positions.astype(float)
    lost = ~np.isfinite(where)
    added = _bias(encoding, np.where(lost, 0.0, where).astype(np.int64))
    if cast in ("rates", "every") and isinstance(encoding, Alibi):
        slopes = np.asarray(encoding.slopes)
        added = added / slopes[:, None] * narrow(slopes, name)[:, None]
    added[lost] = np.nan
    return added if cast in ("positions", "rates") else narrow(added, name)


def _bias(encoding: Any, positions: np.ndarray) -> np.ndarray:
    trained = evaluation.weights(encoding)
    found = evaluation.bias(encoding, positions, np.asarray([0]), trained)
    return np.moveaxis(found, 0, 1)  # (heads, length, 1) as (length, heads, 1)
