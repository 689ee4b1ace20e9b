"""Turning as one node of ONNX: the operator `RotaryEmbedding` of opset 23, where it fits.

`torch.onnx.export(..., dynamo=True)` of a model with these modules works as it is, for every opset
that PyTorch writes, and gives plain multiplications. PyTorch does not tell a model for which opset
it is exported, so the operator has to be asked for.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import torch
from torch import Tensor

_asked = False


@contextlib.contextmanager
def rotary_embedding() -> Iterator[None]:
    """Within it `torch.onnx.export` and `torch.export.export` write `RotaryEmbedding`.

    It fits `x` of shape (batch, heads, length, dim) or (batch, length, heads, dim) with one angle
    for all heads, in float32, bfloat16 or float16; anything else becomes plain operators as
    before. The operator gets cosines and sines as they are, any scaling and attention factor in
    them, made from the positions in float64; half precision is turned in float32 as everywhere,
    between two casts.

    Example:
        >>> from posenc.torch import Rotary
        >>> class Model(torch.nn.Module):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.rope = Rotary(dim=8)
        ...     def forward(self, q, positions):
        ...         return self.rope.rotate(q, positions)
        >>> inputs = torch.ones(1, 2, 3, 8), torch.arange(3)
        >>> with rotary_embedding():
        ...     program = torch.export.export(Model(), inputs)
        >>> torch.ops.onnx.RotaryEmbedding.opset23 in {n.target for n in program.graph.nodes}
        True

    Then torch.onnx.export(program, opset_version=23), or both steps in one within the block.

    Source: ONNX operators, RotaryEmbedding-23.
    """
    global _asked
    before, _asked = _asked, True
    try:
        yield
    finally:
        _asked = before


def fits(x: Tensor, cos: Tensor) -> bool:
    """Whether the operator is asked for and can turn this."""
    return (
        _asked
        and torch.compiler.is_exporting()
        and x.ndim == 4
        and x.shape[-1] % 2 == 0
        and x.dtype in (torch.float32, torch.bfloat16, torch.float16)
        and (cos.ndim == 2 or cos.shape[1] == 1 or cos.shape[2] == 1)
    )


def rotate(x: Tensor, cos: Tensor, sin: Tensor, *, layout: str) -> Tensor:
    """`x` turned by the operator; arguments as `posenc.torch.rotate` takes them."""
    length_first = cos.ndim == 4 and cos.shape[1] != 1
    batch, heads = x.shape[0], x.shape[2 if length_first else 1]
    length, half = x.shape[1 if length_first else 2], cos.shape[-1]
    cos, sin = (
        part.to(torch.float32).reshape(-1, part.shape[-3 if length_first else -2], half)
        for part in (cos, sin)
    )
    turned = torch.onnx.ops.rotary_embedding(
        (x.flatten(2) if length_first else x).to(torch.float32),
        cos.expand(batch, length, half),
        sin.expand(batch, length, half),
        interleaved=layout == "interleaved",
        num_heads=heads if length_first else 0,
        rotary_embedding_dim=0 if 2 * half == x.shape[-1] else 2 * half,
    )
    return turned.reshape(x.shape).to(x.dtype)
