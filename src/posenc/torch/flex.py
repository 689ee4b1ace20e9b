"""Biases pair by pair, from arithmetic and looking up alone, as flex_attention takes them."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Mapping
from typing import Any

import torch

from posenc import _checks, distances, fire, positions, swin

Score = Callable[[Any, Any, torch.Tensor], torch.Tensor]
"""Position of a query, position of a key and number of a head to what is added to their score."""

Place = Callable[[torch.Tensor, torch.Tensor], Any]
"""Row of the batch and index of a token to its position."""


def place(name: str, positions: torch.Tensor | None) -> Place:
    """Where a token stands: at its index, or as an array tells, for all rows or for each.

    Example:
        >>> row, token = torch.tensor(1), torch.tensor(0)
        >>> place("positions", torch.tensor([[0, 1], [7, 8]]))(row, token)
        tensor(7)
    """
    if positions is None:
        return lambda batch, token: token
    _checks.integer_positions(name, positions)
    if positions.ndim == 1:
        return lambda batch, token: positions[token]
    if positions.ndim == 2:
        return lambda batch, token: positions[batch, token]
    raise ValueError(
        f"`{name}` must have shape (tokens,) or (batch, tokens); got {tuple(positions.shape)}."
    )


def cell_place(name: str, positions: torch.Tensor | None, *, columns: int) -> Place:
    """Row and column of a token: its cell in raster order, or as an array tells.

    Example:
        >>> cell_place("positions", None, columns=4)(torch.tensor(0), torch.tensor(6))
        (tensor(1), tensor(2))
    """
    if positions is None:
        return lambda batch, token: (token // columns, token % columns)
    if positions.ndim not in (2, 3) or positions.shape[-1] != 2:
        raise ValueError(
            f"`{name}` must give row and column of each token, (tokens, 2) or (batch, tokens, "
            f"2); got shape {tuple(positions.shape)}."
        )
    row, column = (place(name, positions[..., axis]) for axis in (0, 1))
    return lambda batch, token: (row(batch, token), column(batch, token))


def fire_score(spec: Any, weights: Mapping[str, torch.Tensor]) -> Score:
    """The network of `posenc.Fire`, one hidden unit after the other."""
    work = torch.promote_types(weights["c"].dtype, torch.float32)
    weights = {name: weight.to(work) for name, weight in weights.items()}

    def score(query: torch.Tensor, key: torch.Tensor, head: torch.Tensor) -> torch.Tensor:
        distance = distances.relative(query, key)
        threshold = weights["multiplier"].abs() * spec.threshold
        x = fire.squeezed(distance, query, c=weights["c"], threshold=threshold, eps=spec.eps)
        result = weights["bias_out"][head]
        for number in range(spec.width):
            unit = head * 0 + number  # a fused kernel looks up by tensors only
            hidden = x * weights["weight_in"][unit] + weights["bias_in"][unit]
            result = result + weights["weight_out"][head, unit] * hidden.clamp(min=0.0)
        return _directed(spec, result, distance)

    return score


def sandwich_score(spec: Any) -> Score:
    """The cosines of `posenc.Sandwich`, one frequency after the other, each within 2**-32 turns
    times the distance."""
    # In whole parts of a turn the product is exact, and a mask takes off its full turns.
    steps = [round(frequency / math.tau * 2**32) for frequency in spec.frequencies]

    def score(query: torch.Tensor, key: torch.Tensor, head: torch.Tensor) -> torch.Tensor:
        distance = distances.relative(query, key)
        far, result = distance.abs(), 0.0
        for step in steps:
            turned = (far * step) & (2**32 - 1)
            result = result + (torch.cos(turned.float() * (math.tau / 2**32)) - 1.0)
        return _directed(spec, result / ((head + 1) * (8 / spec.heads)), distance)

    return score


def window_score(spec: Any, weights: Mapping[str, torch.Tensor]) -> Score:
    """A look-up by offset for `posenc.Swin` and `posenc.SwinV2`; NaN for one beyond the window."""
    table = _by_offset(spec, weights)

    def score(query: Any, key: Any, head: torch.Tensor) -> torch.Tensor:
        down = distances.relative(query[0], key[0])
        right = distances.relative(query[1], key[1])
        offset = swin.numbered(down, right, window=spec.window)
        return torch.where(offset < 0, math.nan, table[offset.clamp(min=0), head])

    return score


def full_precision(like: torch.Tensor) -> Any:
    """No autocast: a bias is computed in its own precision and rounded once."""
    device = like.device.type
    if torch.amp.is_autocast_available(device) and torch.is_autocast_enabled(device):
        return torch.autocast(device, enabled=False)
    return contextlib.nullcontext()


def _by_offset(spec: Any, weights: Mapping[str, torch.Tensor]) -> torch.Tensor:
    """The bias of every offset in raster order, (offsets, heads)."""
    rows, columns = spec.window
    like = next(iter(weights.values()))
    middle = torch.tensor([rows - 1, columns - 1], device=like.device)
    offsets = positions.grid(2 * rows - 1, 2 * columns - 1, like=middle) - middle
    queries, keys = offsets.clamp(min=0), (-offsets).clamp(min=0)
    with full_precision(middle):
        bias = spec.bias(queries[:, None], keys[:, None], **weights)
    return bias[:, :, 0, 0]


def _directed(spec: Any, score: torch.Tensor, distance: torch.Tensor) -> torch.Tensor:
    return distances.hide_ahead(score, distance) if spec.direction == "causal" else score
