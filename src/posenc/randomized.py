"""Positions drawn from a longer range, so that a model meets far ones in training."""

from __future__ import annotations

import numpy as np

from posenc import _arrays, _checks
from posenc._arrays import Array, Int


def draw(
    length: int,
    *,
    limit: int,
    seed: int | np.random.Generator,
    like: Array | None = None,
) -> Int[Array, " length"]:
    """Positions drawn without replacement from 0 ... limit - 1, in rising order.

    Give one draw to queries, keys and all rows of a batch: with two draws relative encodings
    lose their meaning. The authors draw at evaluation too.

    Args:
        length: how many tokens.
        limit: how many positions there are to draw from, beyond the longest text to come.
        seed: a seed (the same positions each time), or a generator (new ones with each call).
        like: an array whose library and device the result takes; NumPy without it. Under
            jax.jit and torch.compile draw outside, and hand the positions in.
    Returns:
        Shape (length,), integers.
    Raises:
        TypeError: `length` or `limit` is no integer.
        ValueError: `length` is negative, or exceeds `limit`.
    Example:
        >>> draw(5, limit=100, seed=0).tolist()
        [26, 30, 50, 61, 81]

    Source: Ruoss et al. 2023, arXiv:2305.16843, section 3;
    google-deepmind/randomized_positional_encodings, models/positional_encodings.py.
    """
    _checks.integer("length", length, at_least=0)
    _checks.integer("limit", limit, at_least=1)
    if length > limit:
        raise ValueError(
            "`length` must not exceed `limit`, because no position is drawn twice; "
            f"got length={length}, limit={limit}."
        )
    drawn = np.random.default_rng(seed).choice(limit, size=length, replace=False, shuffle=False)
    positions = np.sort(drawn).astype(np.int64)
    if like is None:
        return positions
    small = _arrays.is_jax(like) and not _arrays.has_float64(like)
    xp = _arrays.namespace(like)
    return _arrays.constant(positions, like=like, dtype=xp.int32 if small else xp.int64)
