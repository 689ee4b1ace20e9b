"""A small trained network of the distance, relative to where the query stands (FIRE)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from posenc import _arrays, _checks, attention, distances
from posenc._arrays import Array, Float, Int


@dataclass(frozen=True, kw_only=True)
class Fire:
    """Functional interpolation: distances are squeezed into 0 ... 1, then a network reads them.

    bias[:, i, j] = network(squeezed(i, j)),   psi(x) = ln(1 + |c| x)
    squeezed(i, j) = psi(distance) / (psi(max(position of query i, |multiplier| * threshold)) + eps)

    The network has one hidden layer of `width` and gives a number for each head. The bias
    depends on where the query stands, not on the distance alone. It is added to scores that are
    already divided by the square root of the head's width.

    Args:
        heads: how many query heads.
        width: of the hidden layer.
        threshold: up to which position all queries measure alike; about the training length.
        eps: keeps the division from dividing by 0.
        direction: "causal" (keys ahead of their query get minus infinity) or "symmetric" (the
            distance counts without its sign, and a key may lie further ahead than 1).
    Raises:
        TypeError: a field has the wrong type.
        ValueError: a field has no valid value.
    Example:
        >>> import numpy as np
        >>> code = Fire(heads=4)
        >>> code.bias(np.arange(5), np.arange(7), **code.initial_weights()).shape
        (4, 5, 7)

    Source: Li et al. 2023, arXiv:2310.04418, section 3; mcleish7/arithmetic,
    cramming/architectures/embeddings.py.
    """

    heads: int
    width: int = 32
    threshold: float = 512.0
    eps: float = 1e-6
    direction: distances.Direction = "causal"

    def __post_init__(self) -> None:
        _checks.integer("heads", self.heads, at_least=1)
        _checks.integer("width", self.width, at_least=1)
        _checks.positive("threshold", self.threshold)
        _checks.positive("eps", self.eps)
        _checks.one_of("direction", self.direction, ("causal", "symmetric"))

    @property
    def weights(self) -> dict[str, tuple[int, ...]]:
        """The trained arrays: `c` and `multiplier`, and both layers of the network."""
        return {
            "c": (),
            "multiplier": (),
            "weight_in": (self.width,),
            "bias_in": (self.width,),
            "weight_out": (self.heads, self.width),
            "bias_out": (self.heads,),
        }

    def initial_weights(self, seed: int = 0) -> dict[str, np.ndarray]:
        """Arrays to start training from: c = 0.1, multiplier = 1, layers as PyTorch starts them.

        Args:
            seed: of the random numbers.
        Returns:
            The arrays of `weights`, float32.
        Example:
            >>> Fire(heads=8).initial_weights()["weight_out"].shape
            (8, 32)

        Source: mcleish7/arithmetic, cramming/architectures/embeddings.py.
        """
        random = np.random.default_rng(seed)

        def draw(shape: tuple[int, ...], fan_in: int) -> np.ndarray:
            return random.uniform(-(fan_in**-0.5), fan_in**-0.5, shape).astype(np.float32)

        return {
            "c": np.asarray(0.1, np.float32),
            "multiplier": np.asarray(1.0, np.float32),
            "weight_in": draw((self.width,), 1),
            "bias_in": draw((self.width,), 1),
            "weight_out": draw((self.heads, self.width), self.width),
            "bias_out": draw((self.heads,), self.width),
        }

    def bias(
        self,
        query_positions: Int[Array, "*#batch queries"],
        key_positions: Int[Array, "*#batch keys"],
        *,
        c: Float[Array, ""],
        multiplier: Float[Array, ""],
        weight_in: Float[Array, " width"],
        bias_in: Float[Array, " width"],
        weight_out: Float[Array, "heads width"],
        bias_out: Float[Array, " heads"],
        dtype: Any = None,
    ) -> Float[Array, "*batch heads queries keys"]:
        """What is added to the scores of every query, key and head.

        Args:
            query_positions: where the queries stand, (*batch, queries), counted from 0. A
                decoding step has one.
            key_positions: where the keys stand, (*batch, keys), cached ones first. Padding has
                a position too, so it needs a mask of its own.
            c: how finely near distances are told apart.
            multiplier: of `threshold`.
            weight_in: of the hidden layer; PyTorch's Linear(1, width) keeps it as (width, 1).
            bias_in: of the hidden layer.
            weight_out: of the output layer.
            bias_out: of the output layer.
            dtype: of the result; float32 by default. The cast to it is the last step.
        Returns:
            (*batch, heads, queries, keys), computed in float32 or the dtype of `weight_out`.
        Raises:
            TypeError: positions are no arrays of integers, or weights hold no floats.
            ValueError: shapes do not fit, or a position lies beyond 2**31.
        Example:
            >>> import numpy as np
            >>> code = Fire(heads=2)
            >>> rows = np.asarray([[7, 8], [2, 3]])
            >>> code.bias(rows, rows, **code.initial_weights()).shape
            (2, 2, 2, 2)
        """
        given = (c, multiplier, weight_in, bias_in, weight_out, bias_out)
        by_name = dict(zip(self.weights, given, strict=True))
        attention.check_weights(self.weights, by_name, like=query_positions)
        xp = _arrays.namespace(query_positions)
        work = _arrays.working_dtype(weight_out)
        c, multiplier, weight_in, bias_in, weight_out, bias_out = (
            xp.astype(array, work) for array in given
        )
        distance = distances.between(query_positions, key_positions)
        threshold = xp.abs(multiplier) * self.threshold
        x = squeezed(distance, query_positions[..., None], c=c, threshold=threshold, eps=self.eps)
        hidden = x[..., None] * weight_in + bias_in
        result = xp.where(hidden > 0, hidden, 0.0) @ weight_out.T + bias_out
        if self.direction == "causal":
            result = distances.hide_ahead(result, distance[..., None])
        return xp.astype(_arrays.moveaxis(result, -1, -3), xp.float32 if dtype is None else dtype)


def squeezed(
    distance: Int[Array, "*#pairs"],
    query_positions: Int[Array, "*#pairs"],
    *,
    c: Float[Array, ""],
    threshold: Float[Array, ""],
    eps: float,
) -> Float[Array, "*pairs"]:
    """What the network reads: the logarithm of distance over that of the query's position.

    psi(|distance|) / (psi(max(query position, threshold)) + eps),   psi(x) = ln(1 + |c| x)

    Args:
        distance: query position minus key position, any shape.
        query_positions: any shape that broadcasts with it.
        c: how finely near distances are told apart; its dtype is the one to compute in.
        threshold: up to which position all queries measure alike.
        eps: keeps the division from dividing by 0.
    Returns:
        The broadcast shape, from 0 to 1 for keys from position 0 to the query.
    Example:
        >>> import numpy as np
        >>> c, threshold = np.asarray(0.1), np.asarray(512.0)
        >>> got = squeezed(np.asarray(10), np.asarray(10), c=c, threshold=threshold, eps=1e-6)
        >>> round(float(got), 6)
        0.175255

    Source: Li et al. 2023, arXiv:2310.04418, section 3.
    """
    xp = _arrays.namespace(distance, query_positions, c, threshold)
    far = xp.astype(xp.abs(distance), c.dtype)
    furthest = xp.maximum(xp.astype(query_positions, c.dtype), threshold)
    return xp.log1p(xp.abs(c) * far) / (xp.log1p(xp.abs(c) * furthest) + eps)
