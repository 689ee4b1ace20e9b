"""The score of a query and a key against their distance, before and after a rule."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from posenc.rotary import Rotary

POINTS = 240
WINDOW = 1.1
"""How many times as far as a point the largest distance reaches that it stands for."""


def curve(rotary: Rotary, *, wanted: int) -> dict[str, list[float]]:
    """Scores against distances that grow by a constant factor.

    score(gap) = table_factor^2 / pairs * sum over k of cos(gap * frequency[k])

    It is the score of a query and a key whose pairs are all alike, as a share of what it is at
    distance 0. Each point is the mean over all distances near it, as far as `WINDOW` says: a single
    one would not stand for its neighbours where fast pairs have turned many times.

    Args:
        rotary: with its rule.
        wanted: tokens of the text; the largest distance is one less.
    Returns:
        gaps      the distances, 0 first
        before    without the rule
        after     with it
    """
    far = np.geomspace(1, max(wanted - 1, 1), POINTS)
    gaps = np.unique(np.rint([0, *far]).astype(np.int64))
    starts = np.ceil(gaps / WINDOW).astype(np.int64)
    ends = np.minimum(np.floor(gaps * WINDOW).astype(np.int64), gaps[-1])
    counts = ends - starts + 1
    factor = rotary.attention_factor**2
    return {
        "gaps": gaps.tolist(),
        "before": _mean(rotary.unscaled, starts, counts).tolist(),
        "after": (factor * _mean(rotary.frequencies_at(wanted), starts, counts)).tolist(),
    }


def _mean(turning: Sequence[float], starts: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """The mean over all pairs, and over the `counts` whole distances from each of `starts` on.

    The sum of cos(g w) for g = a ... a + n - 1 is cos((a + (n - 1) / 2) w) sin(n w/2) / sin(w/2).
    """
    w = np.asarray([float(one) for one in turning])[:, None]
    middle = starts + (counts - 1) / 2
    step = np.sin(w / 2)
    still = np.abs(step) < math.ulp(1.0)  # a pair that stands still, or as good as
    one = np.where(still, 1.0, step)
    share = np.where(still, 1.0, np.sin(counts * w / 2) / (counts * one))
    return np.mean(np.cos(middle * w) * share, axis=0)
