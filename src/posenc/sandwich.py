"""A penalty that is the similarity of sinusoidal vectors, scaled for each head (Sandwich)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from posenc import _arrays, _checks, angles, distances, frequencies
from posenc._arrays import Array, Float, Int


@dataclass(frozen=True, kw_only=True)
class Sandwich:
    """A bias with nothing trained: the dot product of the sinusoidal vectors of two positions.

    bias[h, i, j] = (sum over k of cos(distance * frequency[k]) - dim / 2) / divisors[h]
    frequency[k] = base ** (-2 k / dim),  divisors[h] = 8 h / heads,  h = 1 ... heads

    The sum falls roughly with the logarithm of distance. Nothing is trained. It is added to
    scores that are already divided by the square root of the head's width.

    Args:
        heads: how many query heads.
        dim: width of the sinusoidal vectors, of dim / 2 terms each.
        start: where k starts: 1 (NeMo) or 0 (the vectors of the 2017 Transformer).
        base: geometric range of the wavelengths.
        direction: "causal" (keys ahead of their query get minus infinity) or "symmetric" (the
            distance counts without its sign).
    Raises:
        TypeError: a field has the wrong type.
        ValueError: a field has no valid value.
    Example:
        >>> import numpy as np
        >>> bias = Sandwich(heads=8).bias(np.asarray([100]), np.asarray([0, 90, 99, 100]))
        >>> [round(float(value), 4) for value in bias[0, 0]]
        [-33.3189, -19.3409, -1.4466, 0.0]

    Source: Chi et al. 2022, arXiv:2212.10356; NVIDIA/NeMo,
    sandwich_relative_position_embedding.py.
    """

    heads: int
    dim: int = 128
    start: Literal[0, 1] = 1
    base: float = 10_000.0
    direction: distances.Direction = "causal"
    frequencies: tuple[float, ...] = field(init=False, repr=False, compare=False)
    """Radians per position, one Python float for each term."""
    divisors: tuple[float, ...] = field(init=False, repr=False, compare=False)
    """What each head divides the sum by."""

    def __post_init__(self) -> None:
        _checks.integer("heads", self.heads, at_least=1)
        _checks.even("dim", self.dim)
        _checks.one_of("start", self.start, (0, 1))
        _checks.positive("base", self.base)
        _checks.one_of("direction", self.direction, ("causal", "symmetric"))
        turning = frequencies.geometric(self.dim, self.base)
        if self.start == 1:
            slowest = frequencies.geometric(4, self.base, spacing="endpoint")[1]  # 1 / base
            turning = (*turning[1:], slowest)
        object.__setattr__(self, "frequencies", turning)
        divisors = tuple(8 * h / self.heads for h in range(1, self.heads + 1))
        object.__setattr__(self, "divisors", divisors)

    def bias(
        self,
        query_positions: Int[Array, "*#batch queries"],
        key_positions: Int[Array, "*#batch keys"],
        *,
        dtype: Any = None,
    ) -> Float[Array, "*batch heads queries keys"]:
        """What is added to the scores of every query, key and head.

        Args:
            query_positions: where the queries stand, (*batch, queries). A decoding step has one.
            key_positions: where the keys stand, (*batch, keys), cached ones first. Padding has
                a position too, so it needs a mask of its own.
            dtype: of the result; float32 by default. The cast to it is the last step.
        Returns:
            (*batch, heads, queries, keys).
        Raises:
            TypeError: positions are no arrays of integers.
            ValueError: positions do not fit each other, or one lies beyond 2**31.
        Example:
            >>> import numpy as np
            >>> Sandwich(heads=4).bias(np.arange(5), np.arange(7)).shape
            (4, 5, 7)
        """
        distance = distances.between(query_positions, key_positions)
        xp, wide = _arrays.namespace(distance), _arrays.widest_float(distance)
        result = similarity(query_positions, key_positions, self.frequencies)
        # Rounding would leave a speck at distance 0.
        result = xp.where(distance == 0, 0.0, result - len(self.frequencies))
        if self.direction == "causal":
            result = distances.hide_ahead(result, distance)
        divisor = _arrays.constant(self.divisors, like=distance, dtype=wide)[:, None, None]
        result = result[..., None, :, :] / divisor
        return xp.astype(result, xp.float32 if dtype is None else dtype)


def similarity(
    query_positions: Int[Array, "*#batch queries"],
    key_positions: Int[Array, "*#batch keys"],
    frequencies: tuple[float, ...],
) -> Float[Array, "*batch queries keys"]:
    """The product of the sinusoidal vectors of every query and key.

    sum over k of cos((query - key) * frequency[k])

    Args:
        query_positions: where the queries stand, (*batch, queries).
        key_positions: where the keys stand, (*batch, keys).
        frequencies: radians per position, one for each term.
    Returns:
        (*batch, queries, keys); float64 where the device has it, else float32.
    Example:
        >>> import numpy as np
        >>> similarity(np.asarray([7]), np.asarray([7, 6]), (np.pi, 0.0)).round(6).tolist()
        [[2.0, 0.0]]

    Source: Chi et al. 2022, arXiv:2212.10356.
    """
    xp, wide = _arrays.namespace(query_positions), _arrays.widest_float(query_positions)
    queries = xp.concat(angles.cos_sin(query_positions, frequencies, dtype=wide), axis=-1)
    keys = xp.concat(angles.cos_sin(key_positions, frequencies, dtype=wide), axis=-1)
    return _arrays.matmul(queries, xp.matrix_transpose(keys))
