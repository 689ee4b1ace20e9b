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

from posenc.torch.absolute import (
    FourierFeatures as FourierFeatures,
    Learned as Learned,
    LearnedAxes as LearnedAxes,
    Nerf as Nerf,
    Sinusoidal as Sinusoidal,
    SinusoidalAxes as SinusoidalAxes,
)
from posenc.torch.bias import (
    T5 as T5,
    Alibi as Alibi,
    Fire as Fire,
    Kerple as Kerple,
    Sandwich as Sandwich,
    Swin as Swin,
    SwinV2 as SwinV2,
)
from posenc.torch.content import (
    Bipe as Bipe,
    Cope as Cope,
    Deberta as Deberta,
    Decomposed as Decomposed,
    Shaw as Shaw,
    TransformerXL as TransformerXL,
)
from posenc.torch.encoding import module as module
from posenc.torch.rotary import (
    AxialRotary as AxialRotary,
    MixedRotary as MixedRotary,
    MRotary as MRotary,
    Rotary as Rotary,
    XPos as XPos,
)
from posenc.torch.turning import rotate as rotate, rotate_ as rotate_
