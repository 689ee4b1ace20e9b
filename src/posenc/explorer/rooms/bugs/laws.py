"""What the right numbers of an encoding keep, measured in two tables of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from posenc.alibi import Alibi
from posenc.rotary import Rotary
from posenc.sinusoidal import Sinusoidal
from posenc.t5 import T5

Measured = tuple[str, float, float, bool]
"""What is measured, in the right table and in the wrong one, and whether it must stay the same."""


def of(encoding: Any, right: np.ndarray, wrong: np.ndarray) -> Iterator[Measured]:
    """Each measure of an encoding with known mistakes; see `mistakes.numbers` for the tables."""
    return _LAWS[type(encoding)](right, wrong)


def scores(matrices: np.ndarray) -> np.ndarray:
    """Scores of one query and one key, turned to every place."""
    query, key = np.random.default_rng(0).standard_normal((2, matrices.shape[-1]))
    return (matrices @ query) @ (matrices @ key).T


def _vectors(right: np.ndarray, wrong: np.ndarray) -> Iterator[Measured]:
    def both(name: str, law: bool, measure: Callable[[np.ndarray], float]) -> Measured:
        return name, measure(right), measure(wrong), law

    yield both("length of the shortest vector", True, lambda rows: _lengths(rows).min())
    yield both("length of the longest vector", True, lambda rows: _lengths(rows).max())
    yield both(
        "dot products at the same distance differ by", True, lambda rows: _defect(rows @ rows.T)
    )
    if 2 * right.shape[1] <= len(right):
        yield both("what one matrix leaves that moves all by one place", True, _shift)
    yield both("distance of the two nearest places", False, _nearest)
    change = wrong @ wrong.T - right @ right.T
    yield "dot products change by up to", 0.0, np.abs(change).max(), False


def _turning(right: np.ndarray, wrong: np.ndarray) -> Iterator[Measured]:
    unit = np.random.default_rng(1).standard_normal(right.shape[-1])
    unit /= np.linalg.norm(unit)

    def both(name: str, law: bool, measure: Callable[[np.ndarray], float]) -> Measured:
        return name, measure(right), measure(wrong), law

    def stretched(matrices: np.ndarray) -> float:
        return np.abs(_lengths(matrices @ unit) - 1).max()

    yield both("turning changes a length of 1 by up to", True, stretched)
    yield both("scores at the same distance differ by", True, lambda each: _defect(scores(each)))
    yield both(
        "position 0 moves a vector by", True, lambda each: float(_lengths(each[0] @ unit - unit))
    )
    yield both("distance of the two nearest places", False, lambda each: _nearest(each @ unit))
    yield "scores change by up to", 0.0, np.abs(scores(wrong) - scores(right)).max(), False


def _biases(right: np.ndarray, wrong: np.ndarray) -> Iterator[Measured]:
    yield "biases at the same distance differ by", _defects(right), _defects(wrong), True
    yield "distances at which a bias rises", _rises(right), _rises(wrong), True
    before, after = _attention(right), _attention(wrong)
    yield "shares of attention change by up to", 0.0, np.abs(after - before).max(), False
    change = np.abs(_in_order(after) - _in_order(before)).max()
    yield "the same, with heads put in order", 0.0, change, False


def _buckets(right: np.ndarray, wrong: np.ndarray) -> Iterator[Measured]:
    yield "buckets at the same distance differ by", _defect(right), _defect(wrong), True
    yield "bucket of the key one place behind", right[1, 0], wrong[1, 0], True
    yield "bucket of the key one place ahead", right[0, 1], wrong[0, 1], True
    yield "buckets in use", len(np.unique(right)), len(np.unique(wrong)), True


_LAWS = {Sinusoidal: _vectors, Rotary: _turning, Alibi: _biases, T5: _buckets}


def _lengths(rows: np.ndarray) -> np.ndarray:
    return np.linalg.norm(rows, axis=-1)


def _defect(square: np.ndarray) -> float:
    """The largest spread along a diagonal, of those that are not masked."""
    diagonals = (np.diagonal(square, gap) for gap in range(1 - len(square), len(square)))
    return max(np.ptp(each) for each in diagonals if np.isfinite(each).all())


def _defects(heads: np.ndarray) -> float:
    return max(_defect(head) for head in heads)


def _rises(heads: np.ndarray) -> int:
    """Of the distances behind the last query, at how many the bias of some head rises."""
    return int((np.diff(heads[:, -1, ::-1]) > 0).any(axis=0).sum())


def _attention(heads: np.ndarray) -> np.ndarray:
    """The shares of attention if all scores were alike, (heads, queries, keys)."""
    weights = np.exp(heads - heads.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def _in_order(attention: np.ndarray) -> np.ndarray:
    """Heads by how much the last query attends to its own place."""
    return attention[np.argsort(attention[:, -1, -1], kind="stable")]


def _shift(rows: np.ndarray) -> float:
    matrix, *_ = np.linalg.lstsq(rows[:-1], rows[1:], rcond=1e-9)
    left = np.linalg.norm(rows[1:] - rows[:-1] @ matrix)
    return float(left / (np.linalg.norm(rows[1:]) or 1.0))


def _nearest(rows: np.ndarray) -> float:
    squares = np.sum(rows**2, axis=-1)
    apart = squares[:, None] + squares - 2 * rows @ rows.T
    np.fill_diagonal(apart, np.inf)
    one, other = np.unravel_index(apart.argmin(), apart.shape)
    return float(np.linalg.norm(rows[one] - rows[other]))
