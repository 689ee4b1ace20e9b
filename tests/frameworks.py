"""Array libraries for tests: how to make arrays of each, and how to read them back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Framework:
    """How a test makes arrays of one library, and reads them back."""

    name: str
    xp: Any
    exact: float  # largest error of a float32 cos or sin that the README promises

    def array(self, values: Any, dtype: str | None = None) -> Any:
        values = np.asarray(values)
        if dtype is None and values.dtype == np.float64 and self.name == "jax":
            dtype = "float32"
        if dtype is None and values.dtype == np.int64 and self.name == "jax":
            dtype = "int32"
        if dtype is None:
            dtype = str(values.dtype)
        flat = self.xp.asarray(values.ravel().tolist(), dtype=getattr(self.xp, dtype))
        return self.xp.reshape(flat, values.shape)

    def is_own(self, x: Any) -> bool:
        return isinstance(x, type(self.xp.asarray([0.0])))


# JAX compiles each operation anew for x64, so these run with the slow tests.


def numpy(x: Any) -> np.ndarray:
    """Any framework's array as a NumPy one, bfloat16 as float32."""
    if "bfloat16" in str(x.dtype):
        x = x.float() if hasattr(x, "float") else x.astype("float32")
    if hasattr(x, "detach"):
        x = x.detach()
    return np.asarray(x)
