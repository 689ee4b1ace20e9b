"""What somebody who turns queries and keys is asked to do."""

from __future__ import annotations

import importlib.util
from abc import ABC, abstractmethod
from typing import Any, ClassVar

from posenc import rotary
from posenc.bench.measure import Call


class Contestant(ABC):
    """One way to turn queries and keys, for a head of `dim` features.

    A model computes `table` once for all its layers, and each layer calls `turn`.

    Args:
        rope: what to compute; base and layout are those of the case.
    """

    name: ClassVar[str]
    needs: ClassVar[str]
    """The package to import."""
    layouts: ClassVar[tuple[rotary.Layout, ...]] = ("half", "interleaved")
    tokens_first: ClassVar[bool] = False
    """Whether it wants (batch, length, heads, dim) instead of (batch, heads, length, dim)."""
    tabulates: ClassVar[bool] = False
    """Whether `table` makes cosines and sines, anew in each call."""
    longest: ClassVar[int] = 2**31
    """The last position that it has a table for."""
    judged: ClassVar[bool] = True
    """Whether its cosines and sines are its own, and not those of another contestant."""

    def __init__(self, rope: rotary.Rotary) -> None:
        self.rope = rope

    def table(self, positions: Any, like: Any) -> Any:
        """What to compute once for all layers, of positions one after another."""
        return self.rope.table(positions)

    @abstractmethod
    def turn(self, q: Any, k: Any, table: Any) -> Any:
        """Turned queries and keys."""

    def gradient(self, q: Any, k: Any, table: Any) -> Call:
        """The backward pass, ready to be called again and again."""
        import torch

        leaves = q.detach().requires_grad_(), k.detach().requires_grad_()
        turned = self.turn(leaves[0], leaves[1], table)
        gradients = (q, k)  # any numbers of the right shape
        return lambda: torch.autograd.grad(turned, leaves, gradients, retain_graph=True)


def found(package: str) -> bool:
    """Whether a package is installed; whether it works shows when it is used."""
    return importlib.util.find_spec(package) is not None


def complaint(error: Exception) -> str:
    """What a library says when it breaks, in one line.

    Example:
        >>> complaint(ImportError("\\n    no torchao\\n    see the manual"))
        'ImportError: no torchao'
    """
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return ": ".join([type(error).__name__, *lines[:1]])
