"""How far from the truth the cosines and sines are that queries and keys are turned by."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from posenc import angles, rotary
from posenc.bench.cases import BASE, DIM, DTYPES, LAYOUTS
from posenc.bench.contestant import Contestant, complaint, found
from posenc.bench.contestants import installed
from posenc.bench.result import Accuracy

POSITIONS = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
_NEIGHBOURS = 16
"""So many positions from each one on are looked at."""


def measure(
    *, positions: tuple[int, ...] = POSITIONS, dtypes: tuple[str, ...] = DTYPES[:2]
) -> Iterator[Callable[[], Accuracy]]:
    """For each contestant and dtype how to find its errors.

    A pair (1, 0), turned, is the cosine and the sine: what a contestant computes from the start,
    its table, its turn and its rounding, shows at once.

    Args:
        positions: where.
        dtypes: of what is turned.
    """
    want = {position: truth(position) for position in positions}
    for dtype in dtypes:
        for kind in _judged():
            yield lambda dtype=dtype, kind=kind: _errors(kind, dtype, want)


def source() -> str:
    """What the truth is computed by."""
    return "mpmath" if found("mpmath") else "posenc.angles in float64 (mpmath is not installed)"


def truth(position: int) -> np.ndarray:
    """Cosines, then sines, one row for each position from `position` on, in float64."""
    positions = range(position, position + _NEIGHBOURS)
    if not found("mpmath"):
        frequencies = rotary.Rotary(dim=DIM, base=BASE).frequencies
        parts = angles.cos_sin(np.asarray(positions), frequencies, dtype=np.float64)
        return np.concatenate(parts, axis=-1)
    import mpmath

    with mpmath.workdps(40):
        base = mpmath.mpf(BASE)
        turning = [base ** (-mpmath.mpf(2 * k) / DIM) for k in range(DIM // 2)]
        rows = [
            [float(f(p * turn)) for f in (mpmath.cos, mpmath.sin) for turn in turning]
            for p in positions
        ]
    return np.asarray(rows)


def _judged() -> list[type[Contestant]]:
    kinds = dict.fromkeys(kind for layout in LAYOUTS for kind in installed(layout))
    return [kind for kind in kinds if kind.judged]


def _errors(kind: type[Contestant], dtype: str, want: dict[int, np.ndarray]) -> Accuracy:
    errors: dict[int, float | None] = dict.fromkeys(want)
    try:
        for position, true in want.items():
            if position + _NEIGHBOURS <= kind.longest:
                errors[position] = float(np.abs(_turned(kind, dtype, position) - true).max())
    except Exception as error:  # other libraries change and break
        return Accuracy(name=kind.name, dtype=dtype, errors=errors, failed=complaint(error))
    return Accuracy(name=kind.name, dtype=dtype, errors=errors)


def _turned(kind: type[Contestant], dtype: str, position: int) -> np.ndarray:
    """Pairs (1, 0), turned: cosines, then sines."""
    import torch

    layout = kind.layouts[0]
    contestant = kind(rotary.Rotary(dim=DIM, base=BASE, layout=layout))
    first, second = _places(layout)
    x = torch.zeros(1, 1, _NEIGHBOURS, DIM, dtype=getattr(torch, dtype))
    x[..., first] = 1
    if contestant.tokens_first:
        x = x.transpose(1, 2)
    positions = torch.arange(position, position + _NEIGHBOURS)
    with torch.no_grad():
        q, _ = contestant.turn(x.clone(), x.clone(), contestant.table(positions, x))
    q = q.reshape(_NEIGHBOURS, DIM).double()
    return torch.cat((q[:, first], q[:, second]), -1).numpy()


def _places(layout: rotary.Layout) -> tuple[Any, Any]:
    half = DIM // 2
    if layout == "half":
        return slice(0, half), slice(half, DIM)
    return slice(0, DIM, 2), slice(1, DIM, 2)
