"""The example text of encodings that look at queries and keys: made up, always the same."""

from __future__ import annotations

import functools

import numpy as np

STOP_EVERY = 6
"""How far apart the tokens stand that CoPE counts."""


@functools.lru_cache(maxsize=8)
def direction(dim: int) -> np.ndarray:
    """What all queries and keys have in common, a vector of length 1.

    Example:
        >>> round(float(np.linalg.norm(direction(64))), 6)
        1.0
    """
    drawn = np.random.default_rng(3).standard_normal(dim)
    return drawn / np.linalg.norm(drawn)


def queries(dim: int, count: int) -> np.ndarray:
    """(count, dim): the common direction, stronger in some tokens than in others, and noise."""
    return _tokens(dim, count, seed=1)


def keys(dim: int, count: int) -> np.ndarray:
    """(count, dim), likewise."""
    return _tokens(dim, count, seed=2)


def stops(keys: np.ndarray) -> np.ndarray:
    """Keys of which every sixth, as a full stop would be, draws attention and the rest repel it.

    Example:
        >>> stops(np.ones((7, 1))).ravel().tolist()
        [-1.0, -1.0, -1.0, -1.0, -1.0, 1.0, -1.0]
    """
    stop = np.arange(1, len(keys) + 1) % STOP_EVERY == 0
    return np.where(stop[:, None], keys, -keys)


def _tokens(dim: int, count: int, *, seed: int) -> np.ndarray:
    strength = np.random.default_rng([seed, 0]).uniform(0.5, 1.5, (count, 1))
    noise = np.random.default_rng([seed, 1]).normal(0.0, 0.3, (count, dim))
    return strength * dim**0.5 * direction(dim) + noise
