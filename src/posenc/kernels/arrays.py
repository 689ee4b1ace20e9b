"""The fused loops for NumPy arrays: what fits them, and how they are called."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from posenc import _checks, angles
from posenc._arrays import Array, Float, Int

_ENOUGH = 1 << 18  # numbers that the formula turns in some milliseconds; numba loads in 500 ms


@lru_cache(maxsize=1)
def available() -> bool:
    """Whether numba is installed, which compiles the loops."""
    return importlib.util.find_spec("numba") is not None


def fits(x: Any, cos: Any, sin: Any) -> bool:
    """Whether `rotate` takes these arrays, and there is so much to turn that loading it pays."""
    return (
        isinstance(x, np.ndarray)
        and x.size >= _ENOUGH
        and available()
        and _like(x) is not None
        and all(map(_walkable, (x, cos, sin)))
    )


def rotate(
    x: Float[Array, "*batch dim"],
    cos: Float[Array, "*tokens half"],
    sin: Float[Array, "*tokens half"],
    *,
    layout: Literal["half", "interleaved"],
    out: Float[Array, "*batch dim"] | None = None,
) -> Float[Array, "*batch dim"]:
    """Turn pairs of features of a NumPy array; `posenc.rotary.rotate` in one pass, bit for bit.

    Args:
        x: features last; float32, float64, float16, or bfloat16 of ml_dtypes.
        cos: cosine for each pair: shape (length, half), or as many axes as `x` has, each but the
            last equal or 1.
        sin: sine for each pair, the same shape.
        layout: "half" or "interleaved".
        out: where the result goes, of shape and dtype of `x`. `x` itself turns in place; other
            memory must not overlap it.
    Returns:
        `out`, or a new array.
    Raises:
        TypeError: the arrays are not of NumPy or of a dtype that this processor converts.
        ValueError: shapes do not fit, neighbouring features are not neighbours in memory, `out`
            overlaps `x`, or `layout` is unknown.
    Example:
        >>> x = np.ones((2, 3, 4), dtype=np.float32)
        >>> angle = np.arange(3)[:, None] * np.ones(2)
        >>> rotate(x, np.cos(angle), np.sin(angle), layout="half", out=x) is x
        True

    Source: Su et al. 2021, arXiv:2104.09864, section 3.4.2.
    """
    from posenc.kernels import threads, turning

    _checks.one_of("layout", layout, ("half", "interleaved"))
    _checks.pairs_fit(x, cos, sin)
    result = np.empty_like(x, order="C") if out is None else out
    like = _check(x, result)
    if x.size == 0:
        return result
    work = np.float64 if x.dtype == np.float64 else np.float32
    cos, sin = (np.ascontiguousarray(part, dtype=work) for part in (cos, sin))
    turning.turn(
        x.ctypes.data,
        result.ctypes.data,
        cos.ctypes.data,
        sin.ctypes.data,
        turning.plan(x.shape, _steps(x), _steps(result), cos.shape),
        like=like,
        interleaved=layout == "interleaved",
        threads=threads.count(),
    )
    return result


def cos_sin(
    positions: Int[Array, "*tokens"], frequencies: Sequence[float], *, factor: float = 1.0
) -> tuple[Float[Array, "*tokens half"], Float[Array, "*tokens half"]]:
    """Cosine and sine of position times frequency; `posenc.angles.cos_sin` in one pass, as exact.

    Args:
        positions: where the tokens stand, any shape; a NumPy array of integers.
        frequencies: radians per position, one for each pair.
        factor: multiplies both: the attention factor of a scaling.
    Returns:
        Two float32 arrays: the shape of `positions` with one more axis, one entry a pair; at most
        6e-8 times `factor` from the true value at every position below 2^31. The last bit may
        differ from that of the formula.
    Raises:
        TypeError: `positions` is no array of integers.
        ValueError: `frequencies` is not finite, or a position lies beyond 2^31.
    Example:
        >>> cos, sin = cos_sin(np.asarray([10_000_000]), (1.0,))
        >>> float(cos[0, 0]), float(sin[0, 0])
        (-0.9072703719139099, 0.4205477833747864)

    Source: Su et al. 2021, arXiv:2104.09864, section 3.4.2.
    """
    from posenc.kernels import tables, threads

    flat = _small_integers(positions)
    parts = tables.cos_sin(flat, turns(frequencies), factor, threads=threads.count())
    cos, sin = (part.reshape(*positions.shape, len(frequencies)) for part in parts)
    return cos, sin


def _small_integers(positions: np.ndarray) -> np.ndarray:
    """Positions in a row as int64, within the exact range."""
    # What is plainly right is not asked further: this runs for each token that a model writes.
    plain = isinstance(positions, np.ndarray) and positions.dtype == np.int64 and positions.size
    if not (
        plain
        and -_checks.LAST_POSITION <= positions.min() <= positions.max() <= _checks.LAST_POSITION
    ):
        _checks.integer_positions("positions", positions)
    return np.ascontiguousarray(positions, dtype=np.int64).reshape(-1)


def turns(frequencies: Sequence[float]) -> np.ndarray:
    """How far each pair turns in one position, in 2^-64 turns, as `tables.cos_sin` takes them."""
    global _latest
    if _latest[0] is not frequencies:
        whole = np.asarray(angles.fixed_point(frequencies), dtype=np.uint64)
        if not isinstance(frequencies, tuple):
            return whole
        _latest = (frequencies, whole)
    return _latest[1]


# By identity: two tuples may be equal as floats and differ in the digits that `Frequency` adds.
_latest: tuple[Sequence[float], np.ndarray] = ((), np.empty(0, dtype=np.uint64))


def _check(x: np.ndarray, out: np.ndarray) -> Any:
    """The kind under which a loop reads `x` and `out`, which must fit."""
    like = _like(x)
    if like is None:
        raise TypeError(f"`x` must hold float32, float64, float16 or bfloat16; got {x.dtype}.")
    if out.shape != x.shape or out.dtype != x.dtype:
        raise ValueError(
            f"`out` must have the shape and dtype of `x`, {x.shape} and {x.dtype}; got "
            f"{out.shape} and {out.dtype}."
        )
    if x.size and not (_walkable(x) and _walkable(out)):
        raise ValueError(
            "`x` and `out` must have neighbouring features side by side in memory; got strides "
            f"{x.strides} and {out.strides}. numpy.ascontiguousarray(x) has."
        )
    if not out.flags.writeable:
        raise ValueError("`out` must be writeable; got an array that is not.")
    if out is not x and np.may_share_memory(x, out):
        raise ValueError("`out` must be `x` itself or share no memory with it.")
    return like


def _like(x: np.ndarray) -> Any:
    from posenc.kernels.floats import BITS, supported

    return BITS[str(x.dtype)] if str(x.dtype) in supported() else None


def _walkable(array: np.ndarray) -> bool:
    """Whether features are neighbours in memory, and tokens whole numbers apart."""
    size = array.itemsize
    if array.ndim == 0 or (array.shape[-1] > 1 and array.strides[-1] != size):
        return False
    return all(step >= 0 and step % size == 0 for step in array.strides)


def _steps(array: np.ndarray) -> tuple[int, ...]:
    """How many numbers lie between neighbours along each axis."""
    return tuple(step // array.itemsize for step in array.strides)
