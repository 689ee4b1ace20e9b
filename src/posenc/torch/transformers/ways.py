"""Functions that turn as those of transformers do, called in the same way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from posenc.rotary import Layout
from posenc.torch.transformers.forms import Form
from posenc.torch.turning import rotate


@dataclass(frozen=True, kw_only=True)
class Way:
    """Which features a model's own function turns, and where it writes them.

    Args:
        layout: which features are a pair.
        halves: whether it writes interleaved pairs back as two halves (DeepSeek).
        last: whether the last features of a head turn, not the first.
        inverse: whether it turns the other way round.
        axis: which axis of the table is that of the heads, where the function is not told.
    """

    layout: Layout
    halves: bool = False
    last: bool = False
    inverse: bool = False
    axis: int = 1

    def __str__(self) -> str:
        more = {"halves": "written as halves", "last": "last features", "inverse": "backwards"}
        said = [words for name, words in more.items() if getattr(self, name)]
        return ", ".join([f"layout {self.layout}", *said])


PAIRS: tuple[tuple[Layout, bool], ...] = (
    ("half", False),
    ("interleaved", False),
    ("interleaved", True),
)
"""Layouts, and whether they are written back as halves."""

WAYS = tuple(
    Way(layout=layout, halves=halves, last=last, inverse=inverse, axis=axis)
    for inverse in (False, True)
    for last in (False, True)
    for axis in (1, 2)
    for layout, halves in PAIRS
)
"""Every way; those that more models have come first."""


def _turn(table: Form, way: Way) -> Callable[..., torch.Tensor]:
    """One tensor turned by cosines and sines in the model's form, which fit its last axes."""

    def turn(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        cos, sin = table.once(cos), table.once(sin)
        if cos.ndim < x.ndim:  # the table of a picture has no axis for a batch
            cos, sin = (t[(None,) * (x.ndim - t.ndim)] for t in (cos, sin))
        sin = -sin if way.inverse else sin
        width = 2 * cos.shape[-1]
        kept = x[..., :-width] if way.last else x[..., width:]
        turned = x[..., -width:] if way.last else x
        turned = rotate(turned, cos, sin, layout=way.layout)
        if way.halves:
            pair = turned[..., :width]
            turned = torch.cat([pair[..., 0::2], pair[..., 1::2], turned[..., width:]], dim=-1)
        return torch.cat([kept, turned], dim=-1) if way.last else turned

    return turn


def _both(table: Form, way: Way) -> Callable[..., Any]:
    turn = _turn(table, way)

    def turned(q: Any, k: Any, cos: Any, sin: Any, unsqueeze_dim: int = 1) -> Any:
        cos, sin = cos.unsqueeze(unsqueeze_dim), sin.unsqueeze(unsqueeze_dim)
        return turn(q, cos, sin), None if k is None else turn(k, cos, sin)

    return turned


def _both_heads_last(table: Form, way: Way) -> Callable[..., Any]:
    both = _both(table, way)

    def turned(q: Any, k: Any, cos: Any, sin: Any) -> Any:
        return both(q, k, cos, sin, -2)

    return turned


def _both_given_positions(table: Form, way: Way) -> Callable[..., Any]:
    both = _both(table, way)

    def turned(
        q: Any, k: Any, cos: Any, sin: Any, position_ids: Any = None, unsqueeze_dim: int = 1
    ) -> Any:
        return both(q, k, cos, sin, unsqueeze_dim)

    return turned


def _both_or_one(table: Form, way: Way) -> Callable[..., Any]:
    both = _both(table, way)

    def turned(
        q: Any, k: Any = None, cos: Any = None, sin: Any = None, unsqueeze_dim: int = 1
    ) -> Any:
        q, k = both(q, k, cos, sin, unsqueeze_dim)
        return q if k is None else (q, k)

    return turned


def _one(table: Form, way: Way) -> Callable[..., Any]:
    turn = _turn(table, way)

    def turned(x: Any, cos: Any, sin: Any, unsqueeze_dim: int = 1) -> Any:
        return turn(x, cos.unsqueeze(unsqueeze_dim), sin.unsqueeze(unsqueeze_dim))

    return turned


def _sine_first(table: Form, way: Way) -> Callable[..., Any]:
    turn = _turn(table, way)

    def turned(tensor: Any, sin: Any, cos: Any) -> Any:
        return turn(tensor, cos.unsqueeze(way.axis), sin.unsqueeze(way.axis))

    return turned


def _complex(table: Form, way: Way) -> Callable[..., Any]:
    turn = _turn(table, way)

    def turned(xq: Any, xk: Any, freqs_cis: Any) -> Any:
        cos, sin = (part.unsqueeze(way.axis) for part in (freqs_cis.real, freqs_cis.imag))
        return turn(xq, cos, sin), turn(xk, cos, sin)

    return turned


CALLS: dict[tuple[str, ...], Callable[[Form, Way], Callable[..., Any]]] = {
    ("q", "k", "cos", "sin", "unsqueeze_dim"): _both,
    ("q", "k", "cos", "sin"): _both_heads_last,
    ("q", "k?", "cos?", "sin?", "unsqueeze_dim"): _both_or_one,
    ("q", "k", "cos", "sin", "position_ids?", "unsqueeze_dim"): _both_given_positions,
    ("x", "cos", "sin", "unsqueeze_dim"): _one,
    ("tensor", "sin", "cos"): _sine_first,
    ("xq", "xk", "freqs_cis"): _complex,
}
"""How functions of transformers that turn are called; "?" is a parameter that may be None."""

HEADS = ("q", "k", "x", "tensor", "xq", "xk")
"""What they call queries and keys."""
