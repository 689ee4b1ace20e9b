"""Argument checks and their wording: which argument, what it must be, why, and what came."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from posenc import _arrays

LAST_POSITION = 2**31 - 1
"""Positions further out than this have no promised accuracy, so they are refused."""

_PLAIN = " Write int(...) around it: settings are plain numbers, which print and save alike."


def integer(name: str, value: Any, *, at_least: int | None = None) -> None:
    """Refuse what is no integer, and integers that are too small."""
    if isinstance(value, bool) or not isinstance(value, int):
        cure = "" if isinstance(value, bool) or not hasattr(value, "__index__") else _PLAIN
        got = f"got {value!r} ({type(value).__name__})."
        raise TypeError(f"`{name}` must be an integer; {got}{cure}")
    if at_least is not None and value < at_least:
        raise ValueError(f"`{name}` must be at least {at_least}; got {name}={value}.")


def even(name: str, value: Any, *, at_least: int = 2) -> None:
    """Refuse a width that cannot be cut into pairs."""
    integer(name, value, at_least=at_least)
    if value % 2:
        raise ValueError(
            f"`{name}` must be even, because features turn in pairs; got {name}={value}. "
            f"The nearest valid values are {value - 1} and {value + 1}."
        )


def multiple(name: str, value: Any, of: int, *, why: str) -> None:
    """Refuse a width that is no multiple of `of`."""
    integer(name, value, at_least=1)
    if value % of:
        near = sorted({max(value // of * of, of), (value // of + 1) * of})
        raise ValueError(
            f"`{name}` must be a multiple of {of}, because {why}; got {name}={value}. "
            f"The nearest valid values are {' and '.join(map(str, near))}."
        )


def number(name: str, value: Any) -> None:
    """Refuse what is no finite real number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"`{name}` must be a number; got {value!r} ({type(value).__name__}).")
    try:
        if math.isfinite(value):
            return
    except OverflowError:
        raise ValueError(f"`{name}` must fit into a float; got an integer beyond it.") from None
    raise ValueError(f"`{name}` must be finite; got {name}={value}.")


def positive(name: str, value: Any) -> None:
    """Refuse what is no finite number above zero."""
    number(name, value)
    if value <= 0:
        raise ValueError(f"`{name}` must be greater than 0; got {name}={value}.")


def at_least(name: str, value: Any, bound: float) -> None:
    """Refuse a number below `bound`."""
    number(name, value)
    if value < bound:
        raise ValueError(f"`{name}` must be at least {bound}; got {name}={value}.")


def trained_length(rule: Any) -> int:
    """The `original_length` of a scaling rule; refuse to go on where nobody gave it yet."""
    if rule.original_length is not None:
        return rule.original_length
    name = type(rule).__name__
    raise ValueError(
        f"{name} needs `original_length`, because it measures by the length that the model was "
        f"trained for; got None. Write {name}(original_length=4096, ...) with that length; "
        "posenc.torch.transformers.replace and posenc inspect --scaling find it in a model."
    )


def one_of(name: str, value: Any, choices: Iterable[Any]) -> None:
    """Refuse a value that is none of the known ones."""
    known = tuple(choices)
    if value not in known:
        words = ", ".join(repr(choice) for choice in known)
        raise ValueError(f"`{name}` must be one of {words}; got {name}={value!r}.")


def boolean(name: str, value: Any) -> None:
    """Refuse what is neither True nor False."""
    if not isinstance(value, bool):
        raise TypeError(f"`{name}` must be True or False; got {value!r} ({type(value).__name__}).")


def integer_positions(name: str, positions: Any) -> None:
    """Refuse positions that are no integers, or lie beyond the exact range."""
    _arrays.namespace(positions)
    if not _arrays.is_integer(positions):
        raise TypeError(
            f"`{name}` must be integers, because they count tokens; got {positions.dtype}."
        )
    _in_range(name, positions)


def real_positions(name: str, positions: Any) -> None:
    """Refuse positions that are no real numbers, come in half precision, or lie too far out."""
    _arrays.namespace(positions)
    if _arrays.is_floating(positions):
        if _arrays.half_precision(positions.dtype):
            raise TypeError(
                f"`{name}` must not be in half precision, because it cannot tell positions apart "
                f"(bfloat16 turns 257 into 256); got {positions.dtype}. Use integers or float32."
            )
    elif not _arrays.is_integer(positions):
        raise TypeError(f"`{name}` must be integers or floats; got {positions.dtype}.")
    _in_range(name, positions)


def head(head: Any, heads: int) -> None:
    """Refuse numbers of heads that are no integers; where looking is free, those out of range."""
    _arrays.namespace(head)
    if not _arrays.is_integer(head):
        raise TypeError(f"`head` must hold integers; got {head.dtype}.")
    if math.prod(head.shape) == 0 or not _arrays.readable(head):
        return
    xp, head = _arrays.namespace(head), _arrays.signed(head)
    low, high = xp.min(head), xp.max(head)
    if _arrays.readable(low) and (int(low) < 0 or int(high) >= heads):
        raise ValueError(
            f"`head` must lie within 0 .. {heads - 1}, because there are {heads} heads; "
            f"got values from {int(low)} to {int(high)}."
        )


def features(x: Any, dim: int) -> None:
    """Refuse an array whose last axis is not the `dim` features of a head."""
    _arrays.namespace(x)
    if x.ndim == 0 or x.shape[-1] != dim:
        raise ValueError(
            f"`x` must have its {dim} features (`dim`) on the last axis; "
            f"got shape {tuple(x.shape)}."
        )


def tokens_fit(name: str, tokens: Any, x: Any) -> None:
    """Refuse what could line up with the wrong axis of `x`: it has one axis for tokens, or all."""
    _arrays.namespace(tokens, x)
    _axes_fit(name, tuple(tokens.shape), tuple(x.shape))


def pairs_fit(x: Any, cos: Any, sin: Any) -> None:
    """Refuse a table that does not fit the features, or the tokens, of `x`."""
    _arrays.namespace(x, cos, sin)
    if not _arrays.is_floating(x):
        raise TypeError(f"`x` must hold floating-point numbers; got {x.dtype}.")
    pair_shapes_fit(tuple(x.shape), tuple(cos.shape), tuple(sin.shape))


def pair_shapes_fit(x: tuple[int, ...], cos: tuple[int, ...], sin: tuple[int, ...]) -> None:
    """Refuse shapes of a table that do not fit the shape of `x`."""
    if len(cos) == 0 or cos != sin:
        raise ValueError(
            "`cos` and `sin` must have the same shape, with one entry a pair on the last axis; "
            f"got {cos} and {sin}."
        )
    if len(x) == 0 or 2 * cos[-1] > x[-1]:
        raise ValueError(
            "`cos` must have at most half as many entries as `x` has features, one a pair; "
            f"got shape {cos} for x of shape {x}."
        )
    _axes_fit("cos", cos[:-1], x)


def _axes_fit(name: str, shape: tuple[int, ...], x: tuple[int, ...]) -> None:
    axes = x[:-1]
    one_or_all = len(shape) <= min(1, len(axes)) or len(shape) == len(axes)
    last = axes[len(axes) - len(shape) :]
    # No `in`: torch.compile answers it wrongly for sizes that are symbols.
    if not one_or_all or any(o != 1 and o != a for o, a in zip(shape, last, strict=True)):
        raise ValueError(
            f"`{name}` must have one axis for tokens, (length,), or one for each axis of `x` "
            "before its features, each equal or 1, so that no row lines up with the wrong axis; "
            f"got {shape} for x of shape {x}. For rows of their own in (batch, "
            "heads, length, dim) give positions[:, None, :]; in (batch, length, heads, dim), "
            "positions[:, :, None]."
        )


def _in_range(name: str, positions: Any) -> None:
    """Look only where looking is free; elsewhere `angles` turns such positions into NaN."""
    if math.prod(positions.shape) == 0 or not _arrays.readable(positions):
        return
    xp, positions = _arrays.namespace(positions), _arrays.signed(positions)
    low, high = xp.min(positions), xp.max(positions)
    if not _arrays.readable(low):  # a plain array inside jax.jit: what is made of it is traced
        return
    if _arrays.is_floating(positions) and not bool(xp.isfinite(low) & xp.isfinite(high)):
        raise ValueError(f"`{name}` must be finite; got NaN or infinity.")
    if int(low) < -LAST_POSITION or int(high) > LAST_POSITION:
        raise ValueError(
            f"`{name}` must lie within 2**31 of 0, the range in which results are exact; "
            f"got values from {int(low)} to {int(high)}."
        )
