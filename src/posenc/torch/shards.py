"""Queries and keys spread over processes as DTensors: each process turns its own part.

A turn mixes the features of one token and nothing else, so parts along batch, heads or length need
no word from each other: only the positions of a part must be those of its tokens.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

import posenc
from posenc.torch.cache import Cache

if TYPE_CHECKING:
    from torch.distributed.tensor import DTensor

    from posenc.torch.rotary import Turning

_POSITIONS = Cache(entries=8, size=32 << 20)
"""Positions of this process's parts: the same tensor for all layers, by which tables are found."""


def distributed(*tensors: Any) -> bool:
    """Whether one is a DTensor. Where nobody has imported them, nobody has one.

    Example:
        >>> distributed(torch.ones(2))
        False
    """
    for tensor in tensors:
        if type(tensor) is not Tensor and "torch.distributed.tensor" in sys.modules:
            from torch.distributed.tensor import DTensor

            if isinstance(tensor, DTensor):
                return True
    return False


def rotate(
    module: Turning,
    x: Any,
    positions: Tensor,
    *,
    inverse: bool,
    out: Any,
    options: dict[str, Any],
) -> DTensor:
    """`module.rotate` of a DTensor.

    Args:
        module: what turns.
        x: queries or keys, spread along batch, heads or length.
        positions: those of the whole `x`, the same in every process (then no process asks
            another), or a DTensor.
        inverse: see `Turning.rotate`.
        out: see `Turning.rotate`; a DTensor spread as `x`.
        options: see `Turning.rotate`.
    Returns:
        `out`, or a new DTensor spread as `x`. Gradients pass; those of trained frequencies are
        summed over the processes that share `x`.
    Raises:
        TypeError: `x` or `out` is no DTensor where `positions` or `x` is one.
        ValueError: features are spread, `x` is a sum yet to be made, `out` is spread otherwise,
            or shapes do not fit.
    """
    table = _table(module, x, positions, inverse, options)
    if out is None:
        return _spread_as(x, module._turned(x.to_local(), *table, None))
    if not distributed(out):
        raise TypeError(f"`out` must be a DTensor, because `x` is one; got {type(out).__name__}.")
    if (out.device_mesh, out.placements) != (x.device_mesh, x.placements):
        raise ValueError(f"`out` must be spread as `x`, by {x.placements}; got {out.placements}.")
    module._turned(x.to_local(), *table, out.to_local())
    return out


def rotate_(
    module: Turning, x: Any, positions: Tensor, *, inverse: bool, options: dict[str, Any]
) -> DTensor:
    """`module.rotate_` of a DTensor; see `rotate`."""
    if x.requires_grad and torch.is_grad_enabled():
        turned = rotate(module, x, positions, inverse=inverse, out=None, options=options)
        return x.copy_(turned)
    with torch.no_grad():
        table = _table(module, x, positions, inverse, options)
        module._turned_(x.to_local(), *table)
        torch.autograd.graph.increment_version(x)
    return x


def _table(
    module: Turning, x: Any, positions: Tensor, inverse: bool, options: dict[str, Any]
) -> tuple[Tensor, Tensor]:
    """Cosines and sines of the tokens and heads that this process has."""
    if not distributed(x):
        raise TypeError(
            "`positions` must be a plain tensor where `x` is one, or both DTensors; got a DTensor "
            f"of positions for {type(x).__name__}."
        )
    _check(x)
    own = _own_positions(module, x, positions)
    if not module._parameters:
        return module._table(x, own, inverse, options)
    weights = {f"module.{name}": _weight(w, x) for name, w in module._parameters.items()}
    cos, sin = torch.func.functional_call(_Table(module), weights, (x, own, inverse, options))
    heads = -5 - module.length_axis  # the other one of -2 and -3
    rows = _rows(x, heads % x.ndim)
    return cos.index_select(heads, rows), sin.index_select(heads, rows)


class _Table(torch.nn.Module):
    """A module's table as a forward pass, in which functional_call can exchange weights."""

    def __init__(self, module: Turning) -> None:
        super().__init__()
        self.module = module

    def forward(self, *arguments: Any) -> tuple[Tensor, Tensor]:
        return self.module._table(*arguments)


def _check(x: DTensor) -> None:
    from torch.distributed.tensor import Replicate, Shard

    for placement in x.placements:
        if not isinstance(placement, Shard | Replicate):
            raise ValueError(
                "`x` must be spread by Shard or Replicate, because a turn needs the numbers "
                f"themselves; got {placement}. x.redistribute(...) changes it."
            )
        if isinstance(placement, Shard) and placement.dim % x.ndim == x.ndim - 1:
            raise ValueError(
                "`x` must not be spread along its features, because they turn in pairs; got "
                f"{placement}. Spread heads, tokens or rows."
            )


def _own_positions(module: Turning, x: DTensor, positions: Any) -> Tensor:
    """Where the tokens of this process stand."""
    from torch.distributed.tensor import Replicate, Shard

    on_a_line = isinstance(module.spec, posenc.Rotary | posenc.XPos)
    tokens = positions.ndim - (not on_a_line)
    axes = [
        _axis(placement.dim % x.ndim, tokens, x.ndim, module.length_axis)
        if isinstance(placement, Shard)
        else None
        for placement in x.placements
    ]
    axes = [None if axis is None or positions.shape[axis] == 1 else axis for axis in axes]
    for placement, axis in zip(x.placements, axes, strict=True):
        if axis is not None and positions.shape[axis] != x.shape[placement.dim]:  # pyright: ignore[reportAttributeAccessIssue]
            raise ValueError(
                "`positions` must be those of the whole `x`, of which each process takes its own; "
                f"got shape {tuple(positions.shape)} for x of shape {tuple(x.shape)}."
            )
    if distributed(positions):
        wanted = [Replicate() if axis is None else Shard(axis) for axis in axes]
        return positions.redistribute(x.device_mesh, wanted).to_local()

    if not any(axis is not None for axis in axes):
        return positions

    def make() -> tuple[Tensor]:
        own = positions
        for axis in {axis for axis in axes if axis is not None}:
            placement: Any = x.placements[axes.index(axis)]
            own = own.index_select(axis, _rows(x, placement.dim % x.ndim))
        return (own,)

    return _POSITIONS.get((x.device_mesh, x.placements, x.shape, tokens), (positions,), make)[0]


def _axis(axis: int, tokens: int, axes: int, length_axis: int) -> int | None:
    """Which axis of positions, `tokens` in number, lies along an axis of `x`; None if none does."""
    if tokens == axes - 1:
        return axis
    if axis == axes + length_axis and tokens:
        return tokens - 1
    return 0 if axis == 0 and tokens == 2 else None


def _rows(x: DTensor, axis: int) -> Tensor:
    """Which entries of an axis of the whole `x` this process has; PyTorch does the cutting."""
    from torch.distributed.tensor import DTensor, Replicate, Shard

    everywhere = [Replicate()] * len(x.placements)
    cut = [
        Shard(0) if isinstance(placement, Shard) and placement.dim % x.ndim == axis else Replicate()
        for placement in x.placements
    ]
    numbers = torch.arange(x.shape[axis], device=x.device)
    return (
        DTensor.from_local(numbers, x.device_mesh, everywhere)
        .redistribute(placements=cut)
        .to_local()
    )


def _weight(weight: Any, x: DTensor) -> Tensor:
    """A trained array in full, whose gradient gathers what every part of `x` adds to it."""
    from torch.distributed.tensor import DTensor, Partial, Replicate, Shard

    everywhere = [Replicate()] * len(x.placements)
    if not distributed(weight):
        weight = DTensor.from_local(weight, x.device_mesh, everywhere)
    parts = [Partial() if isinstance(p, Shard) else Replicate() for p in x.placements]
    return weight.redistribute(x.device_mesh, everywhere).to_local(grad_placements=parts)


def _spread_as(x: DTensor, part: Tensor) -> DTensor:
    """This process's part as the DTensor it belongs to, in the order of memory that it has."""
    from torch.distributed.tensor import DTensor

    steps, step = [0] * x.ndim, 1
    for axis in sorted(range(x.ndim), key=lambda axis: (part.stride(axis), -axis)):
        steps[axis], step = step, step * max(x.shape[axis], 1)
    return DTensor.from_local(part, x.device_mesh, x.placements, shape=x.shape, stride=tuple(steps))
