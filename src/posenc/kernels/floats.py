"""Numbers as memory holds them and as arithmetic wants them.

Numba has no half precision on a CPU. Here 16-bit floats travel as the integers with the same bits:
bfloat16 as uint16, float16 as int16; `load` widens one to float32, `store` rounds back once, to the
nearest, ties to even. float32 and float64 pass as they are.
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

BITS: dict[str, Any] = {
    "float64": np.float64(0),
    "float32": np.float32(0),
    "bfloat16": np.uint16(0),
    "float16": np.int16(0),
}
"""For each dtype a number of the kind as which a kernel reads its bits."""

_intrinsic: Any = intrinsic  # what it makes is called with one argument less than is declared
_WORD, _HALFWORD = ir.IntType(32), ir.IntType(16)


def supported() -> tuple[str, ...]:
    """The names of the dtypes that this processor converts: float16 wants an instruction for it."""
    features = llvmlite.binding.get_host_cpu_features()
    x86 = llvmlite.binding.get_process_triple().startswith(("x86", "i686"))
    return tuple(name for name in BITS if name != "float16" or not x86 or features.get("f16c"))


@_intrinsic
def load(_context: Any, bits: Any) -> Any:
    """The number that `bits` stands for: float32, or float64 as it is."""
    result = types.float64 if bits == types.float64 else types.float32

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        (value,) = arguments
        if bits == types.uint16:
            word = builder.shl(builder.zext(value, _WORD), _WORD(16))
            return builder.bitcast(word, ir.FloatType())
        if bits == types.int16:
            return builder.fpext(builder.bitcast(value, ir.HalfType()), ir.FloatType())
        return value

    return result(bits), generate


@_intrinsic
def store(_context: Any, like: Any, number: Any) -> Any:
    """`number`, which `load` could have given, as the bits of the kind that `like` is of."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        _, value = arguments
        if like == types.uint16:
            return _round_to_bfloat16(builder, value)
        if like == types.int16:
            return builder.bitcast(builder.fptrunc(value, ir.HalfType()), _HALFWORD)
        return value

    return like(like, number), generate


@_intrinsic
def at(_context: Any, address: Any, start: Any, like: Any) -> Any:
    """Where number `start` lies, counted from an address, in numbers of the kind of `like`."""

    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        base, index, _ = arguments
        kind = context.get_value_type(like).as_pointer()
        return builder.gep(builder.inttoptr(base, kind), [index])

    return types.CPointer(like)(address, start, like), generate


def _round_to_bfloat16(builder: Any, value: Any) -> Any:
    word = builder.bitcast(value, _WORD)
    odd = builder.and_(builder.lshr(word, _WORD(16)), _WORD(1))
    nearest = builder.add(builder.add(word, _WORD(0x7FFF)), odd)
    # The sum could carry a NaN over into infinity or zero.
    nan = builder.fcmp_unordered("uno", value, value)
    nearest = builder.select(nan, _WORD(0x7FC00000), nearest)
    return builder.trunc(builder.lshr(nearest, _WORD(16)), _HALFWORD)
