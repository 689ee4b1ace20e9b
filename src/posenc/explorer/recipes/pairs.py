"""The pairs of features that turn, or that are a sine and a cosine."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate
from typing import Any

import numpy as np

from posenc import evaluation
from posenc.axes import SinusoidalAxes
from posenc.axial import AxialRotary
from posenc.fourier import FourierFeatures, Nerf
from posenc.mixed import MixedRotary
from posenc.mrope import MRotary


def turning(code: Any) -> dict[str, Any]:
    """What the pictures of a rotary encoding need to turn a query or a key.

    Returns:
        columns      [cos | sin] of the pairs, as in its table
        partners     the two features of each pair
        frequencies  radians per position of each pair; [] where each axis has one of its own
        pair_axes    the axis of a position that each pair follows; [] where there is one axis
        scale        what cos and sin are multiplied with
        example      a query and a key to turn
    """
    partners = _partners(code)
    plain = code.rotary if isinstance(code, MRotary) else code
    query, key = np.random.default_rng(0).standard_normal((2, plain.dim)).astype(np.float32)
    return {
        "columns": [[wave, pair] for wave in ("cos", "sin") for pair in range(len(partners))],
        "partners": partners,
        "frequencies": _frequencies(code),
        "pair_axes": _axes(code),
        "scale": getattr(plain, "attention_factor", 1.0),
        "example": {"query": query.tolist(), "key": key.tolist()},
    }


def columns(code: Any) -> list[list[Any]]:
    """The wave and the pair of each feature of a vector; [] where features are none.

    A feature that is no wave is "zero", or "itself" where it is the coordinate, and has no pair.

    Example:
        >>> columns(FourierFeatures(dim=4, axes=1))
        [['cos', 0], ['cos', 1], ['sin', 0], ['sin', 1]]
    """
    if isinstance(code, FourierFeatures):
        waves = (code.first, "sin" if code.first == "cos" else "cos")
        return [[wave, pair] for wave in waves for pair in range(code.dim // 2)]
    if isinstance(code, Nerf):
        return _of_octaves(code)
    return _of_axes(code) if isinstance(code, SinusoidalAxes) else []


def frequencies(code: Any) -> dict[str, Any]:
    """Frequencies and axes of the pairs that `columns` names, where there is one a pair."""
    if not isinstance(code, SinusoidalAxes):
        return {"frequencies": [], "pair_axes": []}
    shares = list(zip(code.axes, code.frequencies, strict=True))
    return {
        "frequencies": [float(w) for _, own in shares for w in own],
        "pair_axes": [axis for axis, own in shares for _ in own],
    }


def picks(columns: list[list[Any]]) -> list[int]:
    """Columns worth a first look: the first one of pair 0, and of pairs 1, 2, 4, 8, ..."""
    first = {pair: column for column, (_, pair) in reversed(list(enumerate(columns)))}
    powers = [1 << bit for bit in range(len(first).bit_length())]
    return [first[pair] for pair in (0, *powers) if pair in first]


def _partners(code: Any) -> list[list[int]]:
    if isinstance(code, AxialRotary):
        if code.layout == "axis_half":
            ends = accumulate(code.shares)
            blocks = zip(code.shares, ends, strict=True)
            return [pair for share, end in blocks for pair in _halves(end - share, share // 2)]
        return _placed(code.layout, sum(code.shares) // 2)
    plain = code.rotary if isinstance(code, MRotary) else code
    return _placed(plain.layout, getattr(plain, "turned", plain.dim) // 2)


def _placed(layout: str, count: int) -> list[list[int]]:
    return _halves(0, count) if layout == "half" else [[2 * k, 2 * k + 1] for k in range(count)]


def _halves(start: int, count: int) -> list[list[int]]:
    return [[start + pair, start + pair + count] for pair in range(count)]


def _frequencies(code: Any) -> list[float]:
    if isinstance(code, MixedRotary):
        return []
    found = evaluation.frequencies(code)
    return [float(w) for w in (_in_order(code, found) if isinstance(code, AxialRotary) else found)]


def _axes(code: Any) -> list[int]:
    if isinstance(code, MRotary):
        return list(code.pair_axes)
    if not isinstance(code, AxialRotary):
        return []
    followed = zip(code.axes, code.frequencies, strict=True)
    return _in_order(code, [[axis] * len(own) for axis, own in followed])


def _in_order(code: AxialRotary, shares: Iterable[Iterable[Any]]) -> list[Any]:
    """What each axis has, a pair each, in the order in which the pairs lie in a head."""
    order = zip(*shares, strict=True) if code.order == "alternating" else shares
    return [own for share in order for own in share]


def _of_axes(code: SinusoidalAxes) -> list[list[Any]]:
    shares, start = [], 0
    for share in code.shares:
        ones = [["sin", start + pair] for pair in range((share + 1) // 2)]
        others = [["cos", start + pair] for pair in range(share // 2)]
        shares.append((ones, others))
        start += len(ones)
    if code.layout == "half":
        found = [own for ones, _ in shares for own in ones]
        found += [own for _, others in shares for own in others]
    elif code.layout == "axis_half":
        found = [own for ones, others in shares for own in ones + others]
    else:
        found = [own for share in shares for own in _alternating(*share)]
    return (found + [["zero", 0]] * code.dim)[: code.dim]


def _of_octaves(code: Nerf) -> list[list[Any]]:
    # A block is what the sines stand before the cosines of: a frequency, or an axis and frequency.
    together = code.axes if code.grouping == "frequency" else 1
    blocks = range(0, code.axes * code.octaves, together)
    waves = [
        [wave, block + pair]
        for block in blocks
        for wave in ("sin", "cos")
        for pair in range(together)
    ]
    return [["itself", -1]] * (code.axes if code.include_input else 0) + waves


def _alternating(ones: list[Any], others: list[Any]) -> list[Any]:
    both = [own for pair in zip(ones, others, strict=False) for own in pair]
    return both + ones[len(others) :]
