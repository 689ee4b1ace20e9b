"""What the fused loops of `posenc.kernels` may touch: which tensors, and as what they read them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import torch

from posenc import kernels
from posenc.torch.cache import at_work


def plain(*tensors: Any) -> bool:
    """Whether these are CPU tensors whose memory may be read and written now, past PyTorch.

    Not while PyTorch traces, exports or transforms, nor for its stand-ins and subclasses (fake,
    functional, distributed tensors): those take the formulas, which they can follow.
    """
    if not at_work(*tensors):
        return False
    for tensor in tensors:  # noqa: SIM110 (asked for each token of each layer)
        if not tensor.is_cpu or tensor.layout is not torch.strided:
            return False
    return True


@lru_cache(maxsize=1)
def turning() -> Any:
    """The loop that turns; numba is loaded when it is first wanted."""
    from posenc.kernels import turning

    return turning


@lru_cache(maxsize=1)
def kinds() -> dict[torch.dtype, Any]:
    """The dtypes that the loops take on this machine, and as what; none without numba."""
    if not kernels.available():
        return {}
    from posenc.kernels.floats import BITS, supported

    return {getattr(torch, name): BITS[name] for name in supported()}
