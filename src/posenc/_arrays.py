"""The door to NumPy, PyTorch and JAX: what an array can do, and where it lives."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import array_api_compat

if TYPE_CHECKING:
    from types import ModuleType

Array = Any
"""An array of any library that `array_api_compat` knows."""

if TYPE_CHECKING or "jaxtyping" in sys.modules:
    # jaxtyping costs 60 ms to import, so only type checkers and the test run see the shapes.
    from jaxtyping import (
        Bool,
        Float,
        Integer as Int,  # signed or not
        Num,
    )
else:
    Bool = Float = Int = Num = None

__all__ = [
    "Array",
    "Bool",
    "Float",
    "Int",
    "Num",
    "constant",
    "device",
    "half_precision",
    "has_float64",
    "is_bool",
    "is_floating",
    "is_integer",
    "is_jax",
    "is_torch",
    "matmul",
    "moveaxis",
    "namespace",
    "not_traced",
    "readable",
    "running_sum",
    "signed",
    "widest_float",
    "widest_integer",
    "without_gradient",
    "working_dtype",
]


def is_torch(x: Any) -> bool:
    """Whether `x` is a PyTorch tensor. (array_api_compat's test warns under torch.compile.)"""
    return "torch" in sys.modules and isinstance(x, sys.modules["torch"].Tensor)


def is_jax(x: Any) -> bool:
    """Whether `x` is a JAX array, traced or not."""
    return "jax" in sys.modules and isinstance(x, sys.modules["jax"].Array)


def namespace(*arrays: Array) -> ModuleType:
    """The array API namespace that all `arrays` share.

    Raises:
        TypeError: something is no array, or the arrays come from different libraries.
    """
    if all(is_torch(array) for array in arrays):
        import array_api_compat.torch as torch_namespace

        return torch_namespace
    try:
        return array_api_compat.array_namespace(*arrays)
    except TypeError as error:
        came = ", ".join(sorted({type(array).__name__ for array in arrays}))
        raise TypeError(
            "arrays must come from one library (NumPy, PyTorch, JAX or another that follows the "
            "array API), because the answer is made by the library and on the device of the input; "
            f"got {came}. Wrap plain numbers, for example numpy.asarray([0, 1, 2])."
        ) from error


def device(x: Array) -> Any:
    """Where `x` lives."""
    return x.device if is_torch(x) else array_api_compat.device(x)


# Kinds are told by name. xp.isdtype raises for NumPy arrays of ml_dtypes (bfloat16 and the 8-bit
# floats that JAX hands out), and array_api_compat's breaks the graph of torch.compile.
def is_bool(x: Array) -> bool:
    """Whether `x` holds booleans."""
    namespace(x)
    return str(x.dtype).endswith("bool")


def is_integer(x: Array) -> bool:
    """Whether `x` holds integers (booleans are none)."""
    namespace(x)
    return "int" in str(x.dtype)


def is_floating(x: Array) -> bool:
    """Whether `x` holds real floating-point numbers, half precision included."""
    namespace(x)
    return "float" in str(x.dtype)


def half_precision(dtype: Any) -> bool:
    """Whether `dtype` has 16 bits or fewer: float16, bfloat16, and the floats of 8, 6 and 4."""
    return any(narrow in str(dtype) for narrow in ("float16", "float8", "float6_", "float4_"))


def has_float64(x: Array) -> bool:
    """Whether the device of `x` computes in float64: not JAX without x64, not Apple's MPS."""
    if is_jax(x):
        import jax

        return bool(jax.config.jax_enable_x64)  # pyright: ignore[reportAttributeAccessIssue]
    return not (is_torch(x) and x.device.type == "mps")


def signed(x: Array) -> Array:
    """Integers as int32 or int64, in which a comparison with a negative number is safe.

    Without int64 (JAX without x64) a uint32 beyond int32 becomes the lowest int32.
    """
    xp = namespace(x)
    name = str(x.dtype)
    if not is_integer(x) or name.endswith((".int32", ".int64")) or name in ("int32", "int64"):
        return x
    if name.endswith(("uint32", "uint64")) and is_jax(x) and not has_float64(x):
        return xp.where(x >> 31 == 0, xp.astype(x, xp.int32), -(2**31))
    return xp.astype(x, xp.int64 if name.endswith(("uint32", "uint64")) else xp.int32)


def widest_float(x: Array) -> Any:
    """float64 where the device of `x` has it, else float32."""
    xp = namespace(x)
    return xp.float64 if has_float64(x) else xp.float32


def widest_integer(x: Array) -> Any:
    """int64 where the library of `x` has it, else int32 (JAX without x64)."""
    xp = namespace(x)
    return xp.int64 if not is_jax(x) or has_float64(x) else xp.int32


def working_dtype(x: Array) -> Any:
    """The dtype to compute in for input `x`: its own, but never narrower than float32."""
    return namespace(x).float32 if half_precision(x.dtype) or not is_floating(x) else x.dtype


def constant(values: Any, *, like: Array, dtype: Any) -> Array:
    """Plain numbers as an array of the library and on the device of `like`."""
    return namespace(like).asarray(values, dtype=dtype, device=device(like))


def moveaxis(x: Array, source: int, destination: int) -> Array:
    """`x` with one axis moved. (PyTorch's own function has no rule for torch.vmap.)"""
    order = list(range(x.ndim))
    order.insert(destination % x.ndim, order.pop(source % x.ndim))
    return namespace(x).permute_dims(x, tuple(order))


def running_sum(counts: Array) -> Array:
    """Sums up to each entry along the last axis. (array_api_compat's warns under torch.compile.)"""
    xp = namespace(counts)
    if is_torch(counts):
        return xp.cumsum(counts, dim=-1)
    return xp.cumulative_sum(counts, axis=-1)


def matmul(one: Array, other: Array) -> Array:
    """The matrix product in all its bits; GPUs and TPUs under JAX would take fewer by default."""
    xp = namespace(one, other)
    if is_jax(one):
        return xp.matmul(one, other, precision="highest")
    return xp.matmul(one, other)


def without_gradient(x: Array) -> Array:
    """The same values, which no gradient passes."""
    if is_torch(x):
        return x.detach()
    if is_jax(x):
        import jax

        return jax.lax.stop_gradient(x)
    return x


def readable(x: Array) -> bool:
    """Whether the values of `x` can be looked at now: no trace, and no device to wait for."""
    if is_jax(x):
        from jax.core import Tracer

        return not isinstance(x, Tracer)
    if is_torch(x):
        import torch

        if x.device.type != "cpu" or torch.compiler.is_compiling():
            return False
        # Inside vmap, grad and the tracers a tensor is a stand-in; so are subclasses of it.
        private: Any = torch._C
        return (
            type(x) in (torch.Tensor, torch.nn.Parameter)
            and private._functorch.maybe_current_level() is None
            and private._len_torch_dispatch_stack() == 0
            and private._get_tracing_state() is None
        )
    return True


def not_traced(function: Any) -> Any:
    """Let torch.compile run `function` while it traces, and keep the answer as a constant.

    For arithmetic on plain numbers that a trace cannot follow. The mark is the one that
    torch.compiler.assume_constant_result sets; set by hand, PyTorch need not be imported.
    """
    function._dynamo_marked_constant = True
    return function
