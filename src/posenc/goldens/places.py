"""Where an encoding is computed for a golden file unless told otherwise."""

from __future__ import annotations

from typing import Any

import numpy as np

from posenc import _checks, evaluation, positions as made
from posenc.axes import LearnedAxes
from posenc.learned import Learned
from posenc.swin import Swin, SwinV2
from posenc.xpos import XPos

# Powers of two and their neighbours: where a cast to a narrower number shows. bfloat16 is exact
# to 2**8, float16 to 2**11, uint16 ends below 2**16, float32 is exact to 2**24; 2**17 is a long
# text of today, and the last position is 2**31 - 1.
_POWERS = (4, 8, 11, 16, 17, 20, 24, 30)
FAR = (0, 1, 2, 3, *(2**n + step for n in _POWERS for step in (-1, 0, 1)), _checks.LAST_POSITION)
"""Positions of tokens."""

# Every query meets every key, so these are fewer; buckets and clips change where they are dense.
APART = (0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 64, 127, 128, 129, 1024, 2**17, 2**24 + 1, FAR[-1])
"""Positions of queries and keys."""


def default(spec: Any) -> np.ndarray:
    """Positions that suit an encoding: far ones, but within its table, window or grid.

    Args:
        spec: any encoding.
    Returns:
        (tokens,) integers, or (tokens, axes) on grids.
    Example:
        >>> from posenc import Sinusoidal
        >>> default(Sinusoidal(dim=4))[-3:].tolist()
        [1073741824, 1073741825, 2147483647]
    """
    if sizes := _grid(spec):
        return made.grid(*sizes)
    tokens = APART if evaluation.family(spec) == "bias" else FAR
    return np.asarray([place for place in tokens if place <= _last(spec)], dtype=np.int64)


def _last(spec: Any) -> int:
    """The last position that a table has a row for, or that leaves numbers finite."""
    if isinstance(spec, XPos):
        return 2**12  # its scales grow without end: float32 has none at 2**17
    if isinstance(spec, Learned):
        return spec.length - 1
    return _checks.LAST_POSITION - getattr(spec, "offset", 0)


def _grid(spec: Any) -> tuple[int, ...]:
    """The sizes of a small grid with as many axes as a position has; () for plain positions."""
    if isinstance(spec, Swin | SwinV2):
        return spec.window
    if isinstance(spec, LearnedAxes):
        own = dict(zip(spec.axes, spec.lengths, strict=True))
        return tuple(min(size, own[axis]) for axis, size in enumerate(_SIZES[: len(own)]))
    return _SIZES[: evaluation.axes(spec)]


_SIZES = (2, 3, 4, 5)  # all different, so that no axis can be taken for another
