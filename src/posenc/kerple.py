"""A trained penalty that grows with the logarithm or a power of distance (KERPLE)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from posenc import _arrays, _checks, attention, distances
from posenc._arrays import Array, Float, Int

Form = Literal["log", "power"]

_SMALLEST = 0.01  # of both weights: megatron/mpu/layers.py, eps
_LARGEST_POWER = 2.0  # beyond it the kernel is no longer conditionally positive definite


@dataclass(frozen=True, kw_only=True)
class Kerple:
    """Kernelized relative positions: two trained numbers a head say how distance counts.

    bias[h, i, j] = -r1[h] * ln(1 + r2[h] * distance)    form="log"
    bias[h, i, j] = -r1[h] * distance ** r2[h]           form="power"

    With form="power" and r2 = 1 it is ALiBi with trained slopes. One pair of weights serves
    all layers. It is added to scores that are already divided by the square root of the head's
    width, as the authors' code does; equation 1 of their paper adds it before that division.

    Args:
        heads: how many query heads.
        form: "log" or "power".
        direction: "causal" (keys ahead of their query get minus infinity) or "symmetric" (the
            distance counts without its sign).
    Raises:
        TypeError: `heads` is no integer.
        ValueError: a field has no valid value.
    Example:
        >>> import numpy as np
        >>> code = Kerple(heads=1, form="power")
        >>> weights = {"r1": np.asarray([0.5]), "r2": np.asarray([2.0])}
        >>> code.bias(np.asarray([3]), np.arange(5), **weights)[0].tolist()
        [[-4.5, -2.0, -0.5, 0.0, -inf]]

    Source: Chi et al. 2022, arXiv:2205.09921, section 4; chijames/KERPLE,
    megatron/mpu/layers.py.
    """

    heads: int
    form: Form = "log"
    direction: distances.Direction = "causal"

    def __post_init__(self) -> None:
        _checks.integer("heads", self.heads, at_least=1)
        _checks.one_of("form", self.form, ("log", "power"))
        _checks.one_of("direction", self.direction, ("causal", "symmetric"))

    @property
    def weights(self) -> dict[str, tuple[int, ...]]:
        """The trained arrays: `r1` and `r2`, one number a head each."""
        return {"r1": (self.heads,), "r2": (self.heads,)}

    def initial_weights(self, seed: int = 0) -> dict[str, np.ndarray]:
        """Arrays to start training from: uniform from 0 to 2 and 0 to 1; for a power 1 and 2.

        Args:
            seed: of the random numbers.
        Returns:
            `r1` and `r2`, float32. Those below 0.01 act as 0.01.
        Example:
            >>> sorted(Kerple(heads=8).initial_weights())
            ['r1', 'r2']

        Source: chijames/KERPLE, megatron/mpu/layers.py.
        """
        random = np.random.default_rng(seed)
        high = (2.0, 1.0) if self.form == "log" else (1.0, 2.0)
        draws = [random.uniform(0.0, top, self.heads).astype(np.float32) for top in high]
        return dict(zip(self.weights, draws, strict=True))

    def bias(
        self,
        query_positions: Int[Array, "*#batch queries"],
        key_positions: Int[Array, "*#batch keys"],
        *,
        r1: Float[Array, " heads"],
        r2: Float[Array, " heads"],
        dtype: Any = None,
    ) -> Float[Array, "*batch heads queries keys"]:
        """What is added to the scores of every query, key and head.

        Args:
            query_positions: where the queries stand, (*batch, queries). A decoding step has one.
            key_positions: where the keys stand, (*batch, keys), cached ones first. Padding has
                a position too, so it needs a mask of its own.
            r1: how much distance counts. Below 0.01 it acts as 0.01, but gradients pass, so
                that it can come back. (The authors clip what is stored instead.)
            r2: how distance counts, with the same bound; as a power it acts as 2 beyond 2.
            dtype: of the result; float32 by default. The cast to it is the last step.
        Returns:
            (*batch, heads, queries, keys), computed in float32 or the dtype of `r1`.
        Raises:
            TypeError: positions are no arrays of integers, or weights hold no floats.
            ValueError: shapes do not fit, or a position lies beyond 2**31.
        Example:
            >>> import numpy as np
            >>> code = Kerple(heads=4)
            >>> code.bias(np.arange(5), np.arange(7), **code.initial_weights()).shape
            (4, 5, 7)
        """
        self._check(r1, r2, like=query_positions)
        xp = _arrays.namespace(query_positions)
        distance = distances.between(query_positions, key_positions)[..., None, :, :]
        result = self._penalty(distance, r1[:, None, None], r2[:, None, None])
        return xp.astype(result, xp.float32 if dtype is None else dtype)

    def score(
        self,
        query_positions: Int[Array, "*#pairs"],
        key_positions: Int[Array, "*#pairs"],
        head: Int[Array, "*#pairs"],
        *,
        r1: Float[Array, " heads"],
        r2: Float[Array, " heads"],
    ) -> Float[Array, "*pairs"]:
        """The same, element by element, for use in a fused kernel.

        PyTorch's flex_attention takes lambda score, b, h, q, k: score + code.score(q, k, h,
        r1=r1, r2=r2).

        Args:
            query_positions: integers, any shape.
            key_positions: integers, any shape that broadcasts with it.
            head: the number of the head from 0, any shape that broadcasts with both.
            r1: see `bias`.
            r2: see `bias`.
        Returns:
            The broadcast shape, float32.
        Raises:
            TypeError: positions or `head` are no arrays of integers, or weights hold no floats.
            ValueError: weights have the wrong shape, a position lies beyond 2**31, or there is
                no such head.
        Example:
            >>> import numpy as np
            >>> one = np.asarray([1.0])
            >>> code = Kerple(heads=1, form="power")
            >>> float(code.score(np.asarray(9), np.asarray(2), np.asarray(0), r1=one, r2=one))
            -7.0
        """
        xp = _arrays.namespace(query_positions, key_positions, head)
        self._check(r1, r2, like=query_positions)
        _checks.head(head, self.heads)
        head = _arrays.signed(head)  # PyTorch takes uint8 for a mask
        distance = distances.relative(query_positions, key_positions)
        return xp.astype(self._penalty(distance, r1[head], r2[head]), xp.float32)

    def _check(self, r1: Array, r2: Array, *, like: Array) -> None:
        attention.check_weights(self.weights, {"r1": r1, "r2": r2}, like=like)

    def _penalty(self, distance: Array, r1: Array, r2: Array) -> Array:
        xp, work = _arrays.namespace(distance), _arrays.working_dtype(r1)
        far = xp.astype(xp.abs(distance), work)
        r1, r2 = xp.astype(r1, work), xp.astype(r2, work)
        if self.form == "log":
            shape = xp.log1p(within(r2, _SMALLEST) * far)
        else:
            # No power of 0 is taken: its logarithm would make PyTorch's second derivative NaN.
            shape = xp.where(far > 0, far, 1.0) ** within(r2, _SMALLEST, _LARGEST_POWER)
            shape = xp.where(far > 0, shape, 0.0)
        result = 0.0 - within(r1, _SMALLEST) * shape  # a minus sign alone would give -0
        return distances.hide_ahead(result, distance) if self.direction == "causal" else result


def within(x: Float[Array, "*shape"], low: float, high: float = math.inf) -> Float[Array, "*shape"]:
    """Clip values, but let gradients pass as if nothing were clipped.

    Args:
        x: any shape.
        low: the smallest value that comes out.
        high: the largest.
    Returns:
        Shape and dtype of `x`.
    Example:
        >>> within(np.asarray([-1.0, 0.5, 3.0]), 0.0, 2.0).tolist()
        [0.0, 0.5, 2.0]
    """
    xp = _arrays.namespace(x)
    clipped = xp.where(x < low, low, xp.where(x > high, high, x))
    return _arrays.without_gradient(clipped) + (x - _arrays.without_gradient(x))
