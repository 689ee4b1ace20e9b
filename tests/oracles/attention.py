"""What oracles of attention share: random weights, heads apart, probabilities, outcomes."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from oracles import Outcome, difference, read


def random(module: Any, seed: int = 0) -> Any:
    """The module with random weights, small enough for float32, ready to be asked."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weight in module.parameters():
            weight.copy_(torch.randn(weight.shape, generator=generator) * 0.25)
    return module.eval()


def array(tensor: Any) -> np.ndarray:
    """A tensor as NumPy has it, out of the graph."""
    return tensor.detach().numpy()


def hidden(*shape: int, seed: int = 3) -> torch.Tensor:
    """Random hidden states, the same every time."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def softmax(scores: np.ndarray) -> np.ndarray:
    """In float64, so that what is off is off in the model or in the term."""
    scores = np.asarray(scores, np.float64)
    scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return scores / scores.sum(axis=-1, keepdims=True)


def heads_of(x: torch.Tensor, heads: int) -> np.ndarray:
    """(tokens, heads * dim) as (heads, tokens, dim)."""
    return np.moveaxis(array(x).reshape(x.shape[0], heads, -1), 0, 1)


def joined(x: np.ndarray) -> torch.Tensor:
    """(heads, tokens, dim) as (tokens, heads * dim), in float32."""
    return torch.tensor(np.moveaxis(x, 0, 1).reshape(x.shape[1], -1), dtype=torch.float32)


def outcome(use: Any, how: str, ours: Any, theirs: Any) -> Outcome:
    """One comparison of what a use says with what the model did."""
    return Outcome(kind=use.kind, layout="", how=how, difference=difference(ours, theirs))


def share(use: Any, how: str, ours: Any, theirs: Any) -> Outcome:
    """The same as a share of the largest number: sums of products part in float32 with size."""
    size = np.abs(theirs).max()
    return outcome(use, f"{how}, as a share of the largest number", ours / size, theirs / size)


def own(model_type: str, kind: str, **changes: Any) -> list[Any]:
    """The uses of one kind that posenc reads; a type may have others, of other readers."""
    return [use for use in read(model_type, **changes).uses if use.kind == kind]
