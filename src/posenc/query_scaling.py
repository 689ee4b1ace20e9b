"""Queries grown with their position, so that attention stays sharp in long texts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from posenc import _arrays, _checks
from posenc._arrays import Array, Float, Int


@dataclass(frozen=True, kw_only=True)
class LogN:
    """Log-n scaling: a query that sees more keys than in training is multiplied.

    factor = max(1, ln(position + 1) / ln(original_length))

    Args:
        original_length: the length the model was trained for.
    Raises:
        TypeError: `original_length` is no integer.
        ValueError: `original_length` is below 2.
    Example:
        >>> import numpy as np
        >>> factors = LogN(original_length=4096).scale(np.asarray([4095, 8191]))
        >>> [round(float(factor), 6) for factor in factors]
        [1.0, 1.083333]

    Source: Su 2021, kexue.fm/archives/8823 ("logn"); bojone/rerope, rerope_patch.py.
    """

    original_length: int

    def __post_init__(self) -> None:
        _checks.integer("original_length", self.original_length, at_least=2)

    def scale(
        self, query_positions: Int[Array, "*tokens"], *, dtype: Any = None
    ) -> Float[Array, "*tokens"]:
        """What to multiply each query with.

        Args:
            query_positions: where the queries stand, any shape; in a decoding step the position
                of the new token. Positions below 0 (padding) count as 0.
            dtype: of the result; float32 by default. The cast to it is the last step.
        Returns:
            Shape of `query_positions`.
        Raises:
            TypeError: `query_positions` is no array of integers.
            ValueError: a position lies beyond 2**31.
        """
        positions = _from_zero(query_positions)
        xp = _arrays.namespace(positions)
        logarithm = xp.log1p(xp.astype(positions, _arrays.widest_float(positions)))
        factor = logarithm / math.log(self.original_length)
        factor = xp.where(factor > 1, factor, 1.0)
        return xp.astype(factor, xp.float32 if dtype is None else dtype)


@dataclass(frozen=True, kw_only=True)
class Temperature:
    """Query temperature of Llama 4 and Ministral 3: a step every so many tokens.

    factor = 1 + strength * ln(1 + floor((position + offset) / length))

    Llama 4 applies it in its layers without rotation only.

    Args:
        length: tokens a step lasts (floor_scale in Llama 4, original_max_position_embeddings in
            Ministral 3).
        strength: how much a step weighs (attn_scale in Llama 4, llama_4_scaling_beta in
            Ministral 3).
        offset: 1 (Llama 4: the first step comes with token length - 1) or 0 (Ministral 3).
    Raises:
        TypeError: a field has the wrong type.
        ValueError: a field has no valid value.
    Example:
        >>> import numpy as np
        >>> factors = Temperature(length=8192).scale(np.asarray([8190, 8191]))
        >>> [round(float(factor), 6) for factor in factors]
        [1.0, 1.069315]

    Source: Nakanishi 2025, arXiv:2501.19399; meta-llama/llama-models, models/llama4/model.py;
    Hugging Face transformers, models/ministral3.
    """

    length: int
    strength: float = 0.1
    offset: int = 1

    def __post_init__(self) -> None:
        _checks.integer("length", self.length, at_least=1)
        _checks.at_least("strength", self.strength, 0.0)
        _checks.one_of("offset", self.offset, (0, 1))

    def scale(
        self, query_positions: Int[Array, "*tokens"], *, dtype: Any = None
    ) -> Float[Array, "*tokens"]:
        """What to multiply each query with.

        Args:
            query_positions: where the queries stand, any shape; in a decoding step the position
                of the new token. Positions below 0 (padding) count as 0.
            dtype: of the result; float32 by default. The cast to it is the last step.
        Returns:
            Shape of `query_positions`.
        Raises:
            TypeError: `query_positions` is no array of integers.
            ValueError: a position lies beyond 2**31.
        """
        positions = _from_zero(query_positions)
        xp = _arrays.namespace(positions)
        wide = _arrays.widest_float(positions)
        # Not (position + offset) // length: the last int32 has no successor.
        carry = (positions % self.length + self.offset) // self.length
        steps = xp.astype(positions // self.length, wide) + xp.astype(carry, wide)
        factor = 1 + self.strength * xp.log1p(steps)
        return xp.astype(factor, xp.float32 if dtype is None else dtype)


def _from_zero(positions: Array) -> Array:
    _checks.integer_positions("query_positions", positions)
    positions = _arrays.signed(positions)
    return _arrays.namespace(positions).where(positions > 0, positions, 0)
