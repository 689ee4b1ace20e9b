"""The frequency and phase of each column of a table, fitted column by column."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Spectrum(NamedTuple):
    """Each column as amplitude * sin(frequency * position + phase).

    Args:
        frequency: radians per position, (columns,).
        error: standard error of the frequency.
        phase: radians, (columns,).
        sure: whether the column is such a wave, and its frequency known to a few per cent.
    """

    frequency: np.ndarray
    error: np.ndarray
    phase: np.ndarray
    sure: np.ndarray


def spectrum(columns: np.ndarray, positions: np.ndarray) -> Spectrum:
    """Fit one wave to each column by least squares.

    Args:
        columns: (rows, columns).
        positions: of the rows; whole numbers, five or more.
    Returns:
        Frequencies between 0 and pi: those are all that whole positions can tell apart.
    Example:
        >>> wave = np.sin(0.5 * np.arange(40) + 1)[:, None]
        >>> found = spectrum(wave, np.arange(40))
        >>> round(float(found.frequency[0]), 9), round(float(found.phase[0]), 9)
        (0.5, 1.0)
    """
    frequency = _coarse(columns, positions)
    limit = np.pi / (2 * len(positions))
    for _ in range(12):
        basis, rest, _ = _fit(columns, positions, frequency)
        step = np.linalg.solve(_gram(basis), basis @ rest[..., None])[:, 2, 0] / len(positions)
        frequency = np.clip(frequency + np.clip(step, -limit, limit), 0, np.pi)
    basis, rest, phase = _fit(columns, positions, frequency)
    left, power = np.sum(rest**2, axis=-1), np.sum(columns**2, axis=0)
    # A float32 table tells nothing better than this.
    variance = (left + 1e-15 * power) / (len(positions) - 3)
    spread = np.linalg.inv(_gram(basis))[:, 2, 2] / len(positions) ** 2
    error = np.sqrt(variance * np.abs(spread))
    # A wave of which less is seen looks like a straight line, whatever its frequency.
    long = frequency * np.ptp(positions) > 0.7
    sure = (power > 0) & (left < 0.1 * power) & (error < 0.03 * frequency) & long
    return Spectrum(frequency, error, phase, sure)


def _coarse(columns: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """Of many frequencies the one whose wave explains most of a column, (columns,)."""
    rows = len(positions)
    slow = np.geomspace(0.05 / rows, np.pi / rows, 24)
    grid = np.concatenate([slow, np.linspace(np.pi / rows, np.pi, 4 * rows)[1:]])
    angles = grid[:, None] * positions
    sin, cos = np.sin(angles), np.cos(angles)
    with_sin, with_cos = sin @ columns, cos @ columns
    a, b = _coefficients(sin, cos, with_sin, with_cos)
    return grid[np.argmax(a * with_sin + b * with_cos, axis=0)]


def _fit(
    columns: np.ndarray, positions: np.ndarray, frequency: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """At given frequencies: sine, cosine and slope of each wave, what they leave, and the phase."""
    angles = frequency[:, None] * positions
    sin, cos = np.sin(angles), np.cos(angles)
    with_sin = np.sum(sin * columns.T, axis=-1, keepdims=True)
    with_cos = np.sum(cos * columns.T, axis=-1, keepdims=True)
    a, b = _coefficients(sin, cos, with_sin, with_cos)
    slope = positions / len(positions) * (a * cos - b * sin)
    rest = columns.T - a * sin - b * cos
    return np.stack([sin, cos, slope], axis=1), rest, np.arctan2(b, a)[:, 0]


def _coefficients(
    sin: np.ndarray, cos: np.ndarray, with_sin: np.ndarray, with_cos: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The a and b for which a sin + b cos comes nearest, from products with the columns."""
    ss = np.sum(sin**2, axis=-1, keepdims=True)
    cc = np.sum(cos**2, axis=-1, keepdims=True)
    sc = np.sum(sin * cos, axis=-1, keepdims=True)
    determinant = ss * cc - sc**2 + 1e-300
    a = (cc * with_sin - sc * with_cos) / determinant
    b = (ss * with_cos - sc * with_sin) / determinant
    return a, b


def _gram(basis: np.ndarray) -> np.ndarray:
    """Products of the basis with itself, and a little on the diagonal where a wave is too slow."""
    gram = basis @ np.swapaxes(basis, -1, -2)
    return gram + 1e-12 * np.eye(3) * (np.trace(gram, axis1=-2, axis2=-1) + 1e-30)[:, None, None]
