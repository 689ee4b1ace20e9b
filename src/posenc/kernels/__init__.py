"""Fused loops for a CPU, each equal to a formula: numba compiles them when they are first used.

`rotate` turns NumPy arrays at the speed of memory, `cos_sin` makes tables. PyTorch's tensors get
them through `posenc.torch`, and `posenc.rotary.rotate` takes them by itself for large NumPy
arrays. Without numba everything works, only slower.
"""

from posenc.kernels.arrays import (
    available as available,
    cos_sin as cos_sin,
    fits as fits,
    rotate as rotate,
)
