"""Rotary turning with a scale that fades scores with distance (xPos), for causal attention."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Literal

from posenc import _arrays, _checks, angles, frequencies, rotary
from posenc._arrays import Array, Float, Num

Role = Literal["query", "key"]


@dataclass(frozen=True, kw_only=True)
class XPos:
    """Rotary position embedding whose scores fade with distance, fast pairs first.

    decay[k] = (2 k / dim + gamma) / (1 + gamma)
    query: turned as by `Rotary`, times decay[k] ** ((position - center) / scale_base)
    key:   turned as by `Rotary`, times decay[k] ** ((center - position) / scale_base)

    What the two scales leave in a score is decay[k] ** (distance / scale_base). It fades for keys
    behind the query and grows for keys ahead of it: xPos is for causal attention only.

    `center` falls out of every score; being fixed, it keeps cached keys right while a text grows.
    It only says which positions have scales near 1. The first key feature doubles every 283
    positions (defaults, dim=64); so from `center` on, float16 lasts for about 4,500 positions,
    bfloat16 and float32 for 36,000. Further keys become infinite, and queries 0.

    Args:
        dim: width of a head.
        base: of the frequencies; Hugging Face calls it rope_theta.
        layout: which features are a pair: "interleaved" (2k and 2k + 1: torchscale) or "half"
            (k and k + dim / 2).
        scale_base: the distance at which pair k has faded to decay[k].
        gamma: sets how much of the fastest pair that is: gamma / (1 + gamma).
        center: where queries and keys keep their length. The middle of the longest text makes
            the most of the dtype.
    Raises:
        TypeError: a field has the wrong type.
        ValueError: a field has no valid value; an odd `dim` names the nearest valid ones.
    Example:
        >>> import numpy as np
        >>> xpos, ones = XPos(dim=8), np.asarray([1.0, 0.0] * 4)
        >>> query = xpos.rotate(ones, np.asarray(65), role="query")
        >>> key = xpos.rotate(ones, np.asarray(1), role="key")
        >>> round(float(query @ key), 6)
        2.970126

    Source: Sun et al. 2022, arXiv:2212.10554; constants: torchscale,
    component/xpos_relative_position.py.
    """

    dim: int
    base: float = 10_000.0
    layout: rotary.Layout = "interleaved"
    scale_base: float = 512.0
    gamma: float = 0.4
    center: int = 0
    frequencies: tuple[float, ...] = field(init=False, repr=False, compare=False)
    """Radians per position, one Python float for each pair."""
    decays: tuple[float, ...] = field(init=False, repr=False, compare=False)
    """What is left of each pair's score after `scale_base` positions."""

    def __post_init__(self) -> None:
        _checks.even("dim", self.dim)
        _checks.positive("base", self.base)
        _checks.one_of("layout", self.layout, ("half", "interleaved"))
        _checks.positive("scale_base", self.scale_base)
        _checks.positive("gamma", self.gamma)
        _checks.integer("center", self.center)
        decays = ((2 * k / self.dim + self.gamma) / (1 + self.gamma) for k in range(self.dim // 2))
        object.__setattr__(self, "frequencies", frequencies.geometric(self.dim, self.base))
        object.__setattr__(self, "decays", tuple(decays))

    def table(
        self, positions: Num[Array, "*tokens"], *, role: Role, dtype: Any = None
    ) -> tuple[Float[Array, "*tokens half"], Float[Array, "*tokens half"]]:
        """Cosine and sine for each position and pair, times the scale of queries or of keys.

        Args:
            positions: where the tokens stand, any shape; integers, float32 or float64.
            role: "query" or "key".
            dtype: of the result; float32 by default. The cast to it is the last step.
        Returns:
            Two arrays: shape of `positions` with one more axis, one entry a pair. Without
            float64 the scale is good to 1e-5 of itself.
        Raises:
            TypeError: `positions` is no array of positions.
            ValueError: a position lies beyond 2**31, or `role` is unknown.
        Example:
            >>> import numpy as np
            >>> cos, sin = XPos(dim=8).table(np.asarray([0, 512]), role="key")
            >>> [round(float(c * c + s * s), 4) for c, s in zip(cos[:, 0], sin[:, 0])]
            [1.0, 12.25]

        Source: Sun et al. 2022, arXiv:2212.10554.
        """
        _checks.one_of("role", role, ("query", "key"))
        xp, wide = _arrays.namespace(positions), _arrays.widest_float(positions)
        cos, sin = angles.cos_sin(positions, self.frequencies, dtype=wide)
        sign = 1 if role == "query" else -1
        rates = [sign * math.log(decay) / self.scale_base for decay in self.decays]
        rates = _arrays.constant(rates, like=positions, dtype=wide)
        scale = xp.exp((xp.astype(positions, wide) - self.center)[..., None] * rates)
        dtype = xp.float32 if dtype is None else dtype
        return xp.astype(cos * scale, dtype), xp.astype(sin * scale, dtype)

    def rotate(
        self,
        x: Float[Array, "*batch dim"],
        positions: Num[Array, "*tokens"],
        *,
        role: Role,
    ) -> Float[Array, "*batch dim"]:
        """Queries or keys, turned to their positions and scaled.

        Args:
            x: queries or keys, features last.
            positions: one for each token, as in `Rotary.rotate`.
            role: "query" or "key", whichever `x` is.
        Returns:
            Shape and dtype of `x`. bfloat16 and float16 are turned in float32, rounded once.
        Raises:
            TypeError: `x` is no floating-point array, or `positions` none of its library.
            ValueError: `x` has no `dim` features, `positions` does not fit it, or `role` is
                unknown.
        Example:
            >>> import numpy as np
            >>> XPos(dim=8).rotate(np.ones((2, 3, 5, 8)), np.arange(5), role="query").shape
            (2, 3, 5, 8)

        Source: Sun et al. 2022, arXiv:2212.10554.
        """
        _checks.features(x, self.dim)
        _checks.tokens_fit("positions", positions, x)
        cos, sin = self.table(positions, role=role, dtype=_arrays.working_dtype(x))
        return rotary.rotate(x, cos, sin, layout=self.layout)
