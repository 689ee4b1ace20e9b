"""Which function explains which encoding."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from posenc import _checks, evaluation, spec as specs
from posenc.alibi import Alibi
from posenc.explanations import bias, general, rotary, sinusoidal
from posenc.explanations.explanation import Explanation
from posenc.rotary import Rotary
from posenc.sinusoidal import Sinusoidal
from posenc.t5 import T5
from posenc.xpos import XPos

EXPLAINED: dict[type, Callable[..., Explanation]] = {
    Sinusoidal: sinusoidal.sinusoidal,
    Rotary: rotary.rotary,
    Alibi: bias.alibi,
    T5: bias.t5,
}
"""Encodings worked through step by step."""

_SPECIAL: dict[type, Callable[..., Explanation]] = {XPos: general.xpos}

_GENERAL: dict[str, Callable[..., Explanation]] = {
    "absolute": general.absolute,
    "rotary": general.rotary,
    "bias": general.bias,
}


def explain(
    spec: Any,
    *,
    position: int | Sequence[int] | None = None,
    key: int | Sequence[int] | None = None,
    pairs: Sequence[int] | None = None,
    heads: Sequence[int] | None = None,
    vector: Sequence[float] | None = None,
    length: int | None = None,
) -> Explanation:
    """An encoding worked through by hand: every number with the formula it comes from.

    Args:
        spec: an encoding. Sinusoidal, Rotary with any scaling, Alibi and T5 are worked out step
            by step; others show their formula and what it gives. A scaling is explained with
            the encoding that it scales.
        position: of the token, or of the query; a sensible one by default. On grids one number
            an axis.
        key: position of the key, for encodings that compare two.
        pairs: which pairs of Sinusoidal and Rotary to show; by default all of them where they
            are few, else some of them.
        heads: which heads of a bias to show, likewise.
        vector: the query that Rotary turns, `dim` numbers; 1, 2, ..., dim by default.
        length: tokens in the whole text, for scalings of Rotary and MRotary that look at it.
    Returns:
        The explanation. Printed it is text; its results are Python floats with all their digits.
    Raises:
        TypeError: `spec` is no encoding or needs more than positions, an option has no meaning
            for it, or has the wrong type.
        ValueError: an option has no valid value.
    Example:
        >>> from posenc import Sinusoidal
        >>> print(explain(Sinusoidal(dim=2), position=1))
        The sinusoidal vector of position 1
        sinusoidal:dim=2
        <BLANKLINE>
        1. Divisor of each pair
           divisor[k] = base ** (2 k / dim)
             pair 0  10000 ** (2 * 0 / 2) = 1
        <BLANKLINE>
        2. Angle of each pair, in radians
           angle[k] = position / divisor[k]
             pair 0  1 / 1 = 1
        <BLANKLINE>
        3. Sines and cosines
           feature[2 k] = sin(angle[k])
           feature[2 k + 1] = cos(angle[k])
             feature 0  sin(1) = 0.8415
             feature 1  cos(1) = 0.5403
        <BLANKLINE>
        4. Compare with position 2
           feature[2 k] = sin(angle[k])
           feature[2 k + 1] = cos(angle[k])
             feature 0  sin(2) = 0.9093
             feature 1  cos(2) = -0.4161
        <BLANKLINE>
        Answer
             vector of position 1 = (0.8415, 0.5403)
    """
    function = _function(spec)
    options = {
        "position": position,
        "key": key,
        "pairs": pairs,
        "heads": heads,
        "vector": vector,
        "length": length,
    }
    given = {name: value for name, value in options.items() if value is not None}
    known = set(inspect.signature(function).parameters)
    if not evaluation.takes_length(spec):
        known.discard("length")
    if unused := [name for name in given if name not in known]:
        own = ", ".join(f"`{name}`" for name in options if name in known)
        raise TypeError(
            f"`{unused[0]}` has no meaning for {type(spec).__name__}; its options are {own}."
        )
    for name in ("position", "key"):
        _check_position(name, given.get(name, 0), several=function in _GENERAL.values())
    return function(spec, **given)


def _function(spec: Any) -> Callable[..., Explanation]:
    """The function that explains an encoding, or an error that names what can be explained."""
    if function := (EXPLAINED | _SPECIAL).get(type(spec)):
        return function
    if type(spec) in specs.SCALINGS.values():
        raise TypeError(
            "`spec` must be an encoding; a scaling is explained with the one that it scales, for "
            f"example explain(Rotary(dim=128, scaling={type(spec).__name__}(...)))."
        )
    return _GENERAL[evaluation.positional(spec)]


def _check_position(name: str, position: int | Sequence[int], *, several: bool) -> None:
    """Refuse what is no integer in range, nor, where grids are possible, a row of them."""
    numbers: Sequence[Any] = [position]
    if several and isinstance(position, Sequence):
        numbers = position
    for number in numbers:
        _checks.integer(name, number)
        if abs(number) > _checks.LAST_POSITION:
            raise ValueError(
                f"`{name}` must lie within 2**31 of 0, the range in which results are exact; "
                f"got {number}."
            )
