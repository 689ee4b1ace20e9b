"""An encoding under test, asked for rows and scores in the same way whatever its family."""

from __future__ import annotations

import bisect
from functools import cached_property
from typing import Any

import numpy as np

from posenc import _checks, evaluation
from posenc.xpos import XPos

END = _checks.LAST_POSITION


class Subject:
    """An encoding, with initial weights if it has any, and the positions it is looked at.

    A position is a whole number. An encoding of several axes is moved along all of them alike.

    Args:
        spec: any encoding of posenc.
        length: tokens the model was trained for, or None.
        within: how many positions are compared with each other; fewer if fewer are defined.
    """

    def __init__(self, spec: Any, length: int | None, within: int) -> None:
        self.spec = spec
        self.length = length
        self.family = evaluation.family(spec)
        self.weights = evaluation.weights(spec)
        self.defined = 0 if self.family == "other" else self._defined()
        self.within = min(within, self.defined)

    @property
    def frequencies(self) -> tuple[float, ...]:
        """Radians per position, where pairs of features turn along one axis; else none."""
        if self.family not in ("absolute", "rotary"):
            return ()
        turning = evaluation.frequencies(self.spec)
        return () if any(isinstance(one, tuple) for one in turning) else turning

    def rows(self, positions: Any) -> np.ndarray:
        """One row of numbers a position: a vector, cosines and sines, or the bias back to key 0."""
        placed = self._placed(positions)
        if self.family == "bias":
            return self._bias(placed, self._placed([0]))[:, :, 0].T
        return evaluation.rows(self.spec, placed, self.weights, **self._role("key"))

    def scores(self, query: int, keys: Any, *, alike: bool = False) -> np.ndarray:
        """What positions make of the score of one query with keys, (kinds, keys).

        Args:
            query: a position.
            keys: positions.
            alike: for a rotary encoding, query and keys of ones, rather than random ones.
        """
        if self.family == "absolute":
            return self.rows([query]) @ self.rows(keys).T
        if self.family == "bias":
            return self._bias(self._placed([query]), self._placed(keys))[:, 0]
        dim = getattr(self.spec, "rotary", self.spec).dim
        heads = getattr(self.spec, "heads", 8)
        content = np.random.default_rng(0).normal(size=(2, heads, 1, dim))
        one, other = np.ones_like(content) if alike else content
        queries = self._rotated(one, [query], "query")
        turned = self._rotated(np.tile(other, (1, len(keys), 1)), keys, "key")
        return np.sum(queries * turned, axis=-1)

    def reaches(self, position: int) -> bool:
        """Whether the encoding has finite numbers for a position; if not, it may refuse it."""
        try:
            return self._finite(position)
        except ValueError:
            return False

    @cached_property
    def near(self) -> np.ndarray:
        """The rows of the positions that are compared with each other."""
        return self.rows(range(self.within))

    def _defined(self) -> int:
        """How many positions from 0 on have finite numbers."""
        if not self._finite(0):  # what is refused even there is an error, not an end
            return 0
        if self.reaches(END):
            return END + 1
        return bisect.bisect_left(range(END), True, key=lambda position: not self.reaches(position))

    def _finite(self, position: int) -> bool:
        with np.errstate(over="ignore", invalid="ignore"):
            return bool(np.all(np.isfinite(self.rows([position]))))

    def _placed(self, positions: Any) -> np.ndarray:
        positions = np.asarray(positions, dtype=np.int64)
        axes = evaluation.axes(self.spec)
        return np.stack([positions] * axes, axis=-1) if axes else positions

    def _bias(self, queries: np.ndarray, keys: np.ndarray) -> np.ndarray:
        return evaluation.bias(self.spec, queries, keys, self.weights)

    def _rotated(self, x: np.ndarray, positions: Any, role: str) -> np.ndarray:
        return self.spec.rotate(x, self._placed(positions), **self._role(role), **self.weights)

    def _role(self, role: str) -> dict[str, str]:
        return {"role": role} if isinstance(self.spec, XPos) else {}
