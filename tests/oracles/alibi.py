"""ALiBi as the models make it, against the biases that posenc reads."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from oracles import Outcome, difference, modeling, read

_LONG = 2048


def _row(model_type: str, keys: int = _LONG, **changes: Any) -> tuple[Any, np.ndarray]:
    """What posenc reads, and its bias for a decoding step: the last query and all keys."""
    (use,) = read(model_type, **changes).uses
    return use, use.encoding.bias(np.asarray([keys - 1]), np.arange(keys))[:, 0]


def _off(ours: np.ndarray, theirs: np.ndarray) -> float:
    """The largest difference, as a share of what float32 has to hold: the head's largest bias."""
    theirs = np.asarray(theirs, np.float64)
    theirs = theirs - theirs[:, -1:]  # a constant for each query, which the softmax drops
    large = np.maximum(1.0, np.abs(theirs).max(axis=-1, keepdims=True))
    return difference(ours / large, theirs / large)


def _outcome(how: str, off: float) -> Outcome:
    return Outcome(kind="ALiBi", layout="", how=how, difference=off)


def _bloom() -> list[Outcome]:
    make = modeling("bloom").build_alibi_tensor
    outcomes = []
    for heads in (8, 6, 12, 1, 3):
        mask = torch.ones(1, _LONG, dtype=torch.long)
        theirs = make(mask, heads, torch.float32)[:, 0].numpy()
        _, ours = _row("bloom", n_head=heads, hidden_size=heads * 8)
        outcomes.append(_outcome(f"build_alibi_tensor, {heads} heads", _off(ours, theirs)))
    return [*outcomes, _padded(make)]


def _padded(make: Callable[..., Any]) -> Outcome:
    """Two tokens of padding on the left: positions count what the mask keeps."""
    (use,) = read("bloom").uses
    mask = torch.tensor([[0, 0, 1, 1, 1]])
    theirs = make(mask, 8, torch.float32)[:, 0, 2:].numpy()
    ours = use.encoding.bias(np.asarray([2]), np.arange(3))[:, 0]
    return _outcome("build_alibi_tensor with padding on the left", _off(ours, theirs))


def _falcon() -> list[Outcome]:
    make = modeling("falcon").build_alibi_tensor
    outcomes = []
    for heads in (8, 4):
        changes = {"alibi": True, "num_attention_heads": heads, "hidden_size": heads * 16}
        # Up to 256 bfloat16 holds the products of slopes that are powers of two.
        theirs = make(torch.ones(1, 257, dtype=torch.long), heads, torch.float32)[:, 0].numpy()
        _, ours = _row("falcon", 257, **changes)
        how = f"build_alibi_tensor / sqrt(16), {heads} heads, 257 keys"
        outcomes.append(_outcome(how, _off(ours, theirs / 4.0)))
    (use,) = read("falcon", alibi=True).uses
    theirs = make(torch.ones(1, 2, dtype=torch.long), 71, torch.float32)[:, 0, 1]
    ours = torch.tensor(use.encoding.slopes, dtype=torch.float64) * math.sqrt(use.head_dim)
    off = difference(ours.to(torch.bfloat16).float(), theirs)
    return [*outcomes, _outcome("slopes of 71 heads, rounded to bfloat16 as theirs are", off)]


def _mpt() -> list[Outcome]:
    make = modeling("mpt").build_mpt_alibi_tensor
    outcomes = []
    for heads, exponent in ((16, 8), (8, 8), (12, 8), (6, 4), (20, 16)):
        theirs = make(heads, _LONG, alibi_bias_max=exponent)[:, 0].numpy()
        changes = {"n_heads": heads, "d_model": heads * 8}
        _, ours = _row("mpt", attn_config={"alibi_bias_max": exponent}, **changes)
        how = f"build_mpt_alibi_tensor, {heads} heads, alibi_bias_max {exponent}"
        outcomes.append(_outcome(how, _off(ours, theirs)))
    return outcomes


CHECKS: dict[str, Callable[[], list[Outcome]]] = {
    "bloom": _bloom,
    "falcon": _falcon,
    "mpt": _mpt,
}
