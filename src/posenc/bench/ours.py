"""posenc's own ways to turn queries and keys."""

from __future__ import annotations

from typing import Any

from posenc import rotary
from posenc.bench.contestant import Contestant
from posenc.bench.measure import Call


class _Kernel(Contestant):
    """The fused loops."""

    needs = "numba"
    judged = False

    def __init__(self, rope: rotary.Rotary) -> None:
        super().__init__(rope)
        self._module = module(rope)

    def table(self, positions: Any, like: Any) -> Any:
        return self._module.table(positions)


class _Fresh(_Kernel):
    """The kernel, its result in new memory."""

    name = "posenc, new memory"

    def turn(self, q: Any, k: Any, table: Any) -> Any:
        from posenc.torch import turning

        layout = self.rope.layout
        return turning.rotate(q, *table, layout=layout), turning.rotate(k, *table, layout=layout)


class _InPlace(_Kernel):
    """The kernel, over the memory of queries and keys."""

    name = "posenc, in place"

    def turn(self, q: Any, k: Any, table: Any) -> Any:
        from posenc.torch import turning

        layout = self.rope.layout
        return turning.rotate_(q, *table, layout=layout), turning.rotate_(k, *table, layout=layout)

    def gradient(self, q: Any, k: Any, table: Any) -> Call:
        """A gradient is turned back; its own memory may be used."""
        back = _back(table)
        return lambda: self.turn(q, k, back)


class _IntoOut(_Kernel):
    """The kernel, its result in memory that is there."""

    name = "posenc, into out"

    def __init__(self, rope: rotary.Rotary) -> None:
        super().__init__(rope)
        self._out: tuple[Any, Any] | None = None

    def turn(self, q: Any, k: Any, table: Any) -> Any:
        import torch

        from posenc.torch import turning

        if self._out is None:
            self._out = torch.empty_like(q), torch.empty_like(k)
        return tuple(
            turning.rotate(x, *table, layout=self.rope.layout, out=out)
            for x, out in zip((q, k), self._out, strict=True)
        )

    def gradient(self, q: Any, k: Any, table: Any) -> Call:
        """A gradient is turned back."""
        back = _back(table)
        return lambda: self.turn(q, k, back)


class _Module(Contestant):
    """The module, which keeps tables by the values of positions."""

    name = "posenc module"
    needs = "numba"

    def __init__(self, rope: rotary.Rotary) -> None:
        super().__init__(rope)
        self._module = module(rope)

    def table(self, positions: Any, like: Any) -> Any:
        return positions

    def turn(self, q: Any, k: Any, table: Any) -> Any:
        return self._module(q, k, table)


class _Formula(Contestant):
    """The formula, as NumPy, JAX and compiled models run it."""

    name = "posenc formula"
    needs = "torch"

    def turn(self, q: Any, k: Any, table: Any) -> Any:
        layout = self.rope.layout
        return rotary.turned(q, *table, layout=layout), rotary.turned(k, *table, layout=layout)


WAYS: tuple[type[Contestant], ...] = (
    _InPlace,
    _IntoOut,
    _Fresh,
    _Module,
    _Formula,
)
"""As reports list them."""


def module(rope: rotary.Rotary) -> Any:
    """The module of posenc.torch."""
    from posenc.torch.rotary import Rotary

    return Rotary(dim=rope.dim, base=rope.base, layout=rope.layout)


def _back(table: Any) -> Any:
    cos, sin = table
    return cos, -sin
