"""How models of transformers hand a table of cosines and sines from module to function."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import torch

Spread = Literal["twice", "each twice", "once", "complex"]


@dataclass(frozen=True, kw_only=True)
class Form:
    """How a rotary module returns its table, which has one entry a pair in posenc.

    Args:
        spread: "twice" (all pairs, then all again: Llama), "each twice" (every pair two times:
            Cohere), "once" (gpt-oss) or "complex" (cos + i sin: Llama 4).
        sine_first: whether it returns (sin, cos), as GPT-J does.
        inverse: whether its sines have the other sign.
    Example:
        >>> cos, sin = torch.ones(1, 3, 4), torch.zeros(1, 3, 4)
        >>> [table.shape[-1] for table in Form(spread="twice").give(cos, sin)]
        [8, 8]
    """

    spread: Spread
    sine_first: bool = False
    inverse: bool = False

    def give(self, cos: torch.Tensor, sin: torch.Tensor) -> Any:
        """The table as the model's own module returns it."""
        sin = -sin if self.inverse else sin
        if self.spread == "complex":
            return torch.complex(cos, sin)
        cos, sin = self._spread(cos), self._spread(sin)
        return (sin, cos) if self.sine_first else (cos, sin)

    def _spread(self, table: torch.Tensor) -> torch.Tensor:
        if self.spread == "twice":
            return torch.cat([table, table], dim=-1)
        return table.repeat_interleave(2, dim=-1) if self.spread == "each twice" else table

    def once(self, table: torch.Tensor) -> torch.Tensor:
        """One entry a pair, from cosines or sines as the model's own function is given them."""
        if self.spread == "twice":
            return table[..., : table.shape[-1] // 2]
        return table[..., ::2] if self.spread == "each twice" else table


def every() -> Iterator[Form]:
    """All forms; those that more models have come first."""
    for inverse in (False, True):
        for sine_first in (False, True):
            for spread in ("twice", "each twice", "once"):
                yield Form(spread=spread, sine_first=sine_first, inverse=inverse)
        yield Form(spread="complex", inverse=inverse)


def distance(ours: Any, theirs: Any) -> torch.Tensor | None:
    """How far two tables are apart at each position, or None where they have another shape.

    Example:
        >>> form, one = Form(spread="once"), torch.ones(1, 3, 4)
        >>> distance(form.give(one, one), (one, one)).tolist()
        [0.0, 0.0, 0.0]
        >>> distance(form.give(one, one), (one,)) is None
        True
    """
    mine, other = ((t,) if isinstance(t, torch.Tensor) else t for t in (ours, theirs))
    if not isinstance(other, tuple | list) or len(mine) != len(other):
        return None
    apart = []
    for one, two in zip(mine, other, strict=True):
        if one.shape != getattr(two, "shape", None) or one.is_complex() != two.is_complex():
            return None
        apart.append((one - two).abs().amax(dim=-1).reshape(-1, one.shape[-2]).amax(dim=0))
    return torch.stack(apart).amax(dim=0)
