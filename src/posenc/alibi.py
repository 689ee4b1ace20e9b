"""A straight-line penalty on distance, one slope a head (ALiBi)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from posenc import _arrays, _checks, distances
from posenc._arrays import Array, Float, Int

Rule = Literal["paper", "plain"]
Direction = distances.Direction | Literal["asymmetric"]

_SMALLEST_SLOPE = 2.0**-126  # the smallest normal float32


@dataclass(frozen=True, kw_only=True)
class Alibi:
    """Attention with linear biases: a slope for each head, times distance, off its scores.

    bias[h, i, j] = -slopes[h] * (position of query i - position of key j)

    It is added to scores that are already divided by the square root of the head's width.

    Args:
        heads: how many query heads.
        rule: the slopes when `heads` is no power of two. "paper": those of the power of two
            below, then every second one of the power of two above (so they do not keep
            falling). "plain": one geometric row for any number, not what the authors' code does.
        direction: "causal" (keys ahead of their query get minus infinity), "symmetric" (the
            distance counts without its sign), or "asymmetric" (the same, but keys behind
            stand half a token nearer, which tells left from right).
        factor: how many times longer than in training the text may get; it divides the slopes.
        exponent: the flattest slope is 2 ** -exponent. MPT calls it alibi_bias_max.
    Raises:
        TypeError: a field has the wrong type.
        ValueError: a field has no valid value.
    Example:
        >>> import numpy as np
        >>> Alibi(heads=8).bias(np.asarray([3]), np.arange(4))[0].tolist()
        [[-1.5, -1.0, -0.5, 0.0]]

    Source: Press et al. 2021, arXiv:2108.12409, section 3. Other numbers of heads:
    ofirpress/attention_with_linear_biases, fairseq/models/transformer.py. "asymmetric":
    google-deepmind/randomized_positional_encodings, models/positional_encodings.py.
    `factor`: Al-Khateeb et al. 2023, arXiv:2310.13017.
    """

    heads: int
    rule: Rule = "paper"
    direction: Direction = "causal"
    factor: float = 1.0
    exponent: float = 8.0
    slopes: tuple[float, ...] = field(init=False, repr=False, compare=False)
    """What each head takes off per token of distance, as Python floats."""

    def __post_init__(self) -> None:
        _checks.one_of("direction", self.direction, ("causal", "symmetric", "asymmetric"))
        _checks.at_least("factor", self.factor, 1.0)
        steep = slopes(self.heads, rule=self.rule, exponent=self.exponent)
        object.__setattr__(self, "slopes", tuple(slope / self.factor for slope in steep))
        if min(self.slopes) < _SMALLEST_SLOPE:
            raise ValueError(
                "`exponent` and `factor` must leave slopes of at least 2**-126, because float32 "
                "cannot hold smaller ones in full; "
                f"got exponent={self.exponent}, factor={self.factor}."
            )

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
            >>> Alibi(heads=4).bias(np.arange(5), np.arange(7)).shape
            (4, 5, 7)
        """
        distance = distances.between(query_positions, key_positions)
        xp, wide = _arrays.namespace(distance), _arrays.widest_float(distance)
        slope = _arrays.constant(self.slopes, like=distance, dtype=wide)[:, None, None]
        near = nearness(distance, direction=self.direction, dtype=wide)[..., None, :, :]
        return xp.astype(slope * near, xp.float32 if dtype is None else dtype)

    def score(
        self,
        query_positions: Int[Array, "*#pairs"],
        key_positions: Int[Array, "*#pairs"],
        head: Int[Array, "*#pairs"],
    ) -> Float[Array, "*pairs"]:
        """The same, element by element and from arithmetic alone, for use in a fused kernel.

        PyTorch's flex_attention takes lambda score, b, h, q, k: score + alibi.score(q, k, h).

        Args:
            query_positions: integers, any shape.
            key_positions: integers, any shape that broadcasts with it.
            head: the number of the head from 0, any shape that broadcasts with both.
        Returns:
            The broadcast shape, float32, within 5e-7 of `bias` in relative terms.
        Raises:
            TypeError: an argument is no array of integers.
            ValueError: a position lies beyond 2**31, or there is no such head.
        Example:
            >>> import numpy as np
            >>> Alibi(heads=8).score(np.asarray(3), np.asarray(1), np.asarray([0, 1])).tolist()
            [-1.0, -0.5]
        """
        xp = _arrays.namespace(query_positions, key_positions, head)
        _checks.head(head, self.heads)
        distance = distances.relative(query_positions, key_positions)
        near = nearness(distance, direction=self.direction, dtype=xp.float32)
        whole = _whole(self.heads, self.rule)
        step = xp.astype(head, xp.float32) + 1.0
        step = xp.where(step > whole, step - whole - 0.5, step)
        return 2.0 ** (step * (-self.exponent / whole)) / self.factor * near


def slopes(heads: int, *, rule: Rule = "paper", exponent: float = 8.0) -> tuple[float, ...]:
    """The slope of each head.

    2 ** (-exponent h / heads), h = 1 ... heads, for a power of two or rule="plain"

    Args:
        heads: how many.
        rule: "paper" or "plain"; see `Alibi`.
        exponent: the flattest slope is 2 ** -exponent.
    Returns:
        One Python float for each head.
    Raises:
        TypeError: `heads` is no integer, or `exponent` no number.
        ValueError: `heads` or `exponent` is too small, or `rule` is unknown.
    Example:
        >>> slopes(6)
        (0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125)

    Source: Press et al. 2021, arXiv:2108.12409, section 3, and
    ofirpress/attention_with_linear_biases, fairseq/models/transformer.py.
    """
    _checks.integer("heads", heads, at_least=1)
    _checks.one_of("rule", rule, ("paper", "plain"))
    _checks.positive("exponent", exponent)
    whole = _whole(heads, rule)
    own = [2.0 ** (-exponent * h / whole) for h in range(1, whole + 1)]
    between = [2.0 ** (-exponent * (h - 0.5) / whole) for h in range(1, heads - whole + 1)]
    return (*own, *between)


def nearness(
    distance: Int[Array, "*pairs"], *, direction: Direction, dtype: Any
) -> Float[Array, "*pairs"]:
    """Minus the distance that counts: 0 for a token itself, and falling.

    Args:
        distance: query position minus key position, any shape.
        direction: "causal", "symmetric" or "asymmetric"; see `Alibi`.
        dtype: of the result.
    Returns:
        Shape of `distance`.
    Raises:
        ValueError: `direction` is unknown.
    Example:
        >>> import numpy as np
        >>> nearness(np.asarray([2, 0, -1]), direction="causal", dtype=np.float32).tolist()
        [-2.0, 0.0, -inf]
    """
    _checks.one_of("direction", direction, ("causal", "symmetric", "asymmetric"))
    xp = _arrays.namespace(distance)
    near = xp.astype(-xp.abs(distance), dtype)  # negated as an integer, which has no -0
    if direction == "causal":
        return distances.hide_ahead(near, distance)
    if direction == "asymmetric":
        return xp.where(distance > 0, near + 0.5, near)
    return near


def _whole(heads: int, rule: Rule) -> int:
    """How many heads have the slopes of one plain geometric row."""
    return heads if rule == "plain" else 2 ** (heads.bit_length() - 1)
