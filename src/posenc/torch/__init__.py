"""Positional encodings as PyTorch modules, right in training and serving, fast on a CPU.

>>> import torch, posenc.torch
>>> rope = posenc.torch.Rotary(dim=8, base=500_000.0)
>>> q, k = torch.ones(1, 4, 3, 8), torch.ones(1, 2, 3, 8)    # batch, heads, length, dim
>>> q, k = rope(q, k, torch.arange(3))

Every encoding of `posenc.spec` has a module of its own name, constructed from the same arguments;
`module(spec)` makes it from a spec.
"""

try:
    import torch as _torch  # noqa: F401
except ImportError as error:
    raise ImportError("posenc.torch needs PyTorch: pip install 'posenc[torch]'") from error

from posenc.torch.rotary import (
    AxialRotary as AxialRotary,
    MixedRotary as MixedRotary,
    MRotary as MRotary,
    Rotary as Rotary,
    XPos as XPos,
)
from posenc.torch.turning import rotate as rotate, rotate_ as rotate_
