"""A query turned to its position, and why its score with a key depends on the gap only."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from posenc import _checks, angles
from posenc.explanations import outcome, parts
from posenc.explanations.explanation import Explanation, Line, Number, Step
from posenc.rotary import Rotary

_Product = tuple[str, tuple[Number, ...], float]
"""What one pair adds to a score: the formula, its numbers and the result."""


def rotary(
    spec: Rotary,
    *,
    position: int = 2,
    key: int | None = None,
    pairs: Sequence[int] | None = None,
    vector: Sequence[float] | None = None,
    length: int | None = None,
) -> Explanation:
    """A query at `position`, turned; and its score with a key, there and 100 positions on.

    Args:
        spec: the encoding.
        position: of the query.
        key: position of the key; the one before the query by default.
        pairs: the pairs to show; a few by default.
        vector: the query, `dim` numbers; 1, 2, ..., dim by default. The key is the same numbers
            backwards.
        length: tokens in the whole text, for scalings that look at it.
    Returns:
        The explanation; its answer is the turned query.
    """
    if key is None:
        key = position - 1 if position > 0 else position + 1
    count = spec.turned // 2
    query = _query(spec, vector)
    if pairs is None and spec.scaling is not None and count > 4:
        pairs = outcome.telling(spec, length)
    work = _Work(
        spec=spec,
        query=query,
        key=query[::-1].copy(),
        turning=spec.frequencies_at(length),
        shown=parts.chosen("pairs", pairs, count),
        length=length,
    )
    gap = _gap(work, position - key)
    steps = [
        _frequencies(work),
        *outcome.steps(spec, work.shown, length),
        _angles(work, position),
        _turned(work, position),
        _score(work, position, key),
        _score(work, parts.moved(position, 100), parts.moved(key, 100)),
        gap,
    ]
    answer = tuple(work.turn(work.query, position).tolist())
    score = Line("score", "", (), gap.lines[-1].result)
    return Explanation(
        title=f"A query turned to position {position}, and its score with a key at {key}",
        spec=spec,
        steps=tuple(steps),
        answers=(Line(f"query at position {position}", "", (), answer), score),
        note=parts.left_out("pair", work.shown, count),
    )


@dataclass(frozen=True)
class _Work:
    """What all steps look at: the encoding, the query, how fast its pairs turn, what to show."""

    spec: Rotary
    query: np.ndarray
    key: np.ndarray
    turning: tuple[float, ...]
    shown: tuple[int, ...]
    length: int | None

    def features(self, k: int) -> tuple[int, int]:
        """The two features of pair `k`."""
        if self.spec.layout == "interleaved":
            return 2 * k, 2 * k + 1
        return k, k + self.spec.turned // 2

    def turn(self, x: np.ndarray, position: int) -> np.ndarray:
        """`x` at `position`, in float64."""
        return self.spec.rotate(x, np.asarray(position), length=self.length)


def _query(spec: Rotary, vector: Sequence[float] | None) -> np.ndarray:
    if vector is None:
        return np.arange(1.0, spec.dim + 1)
    if len(vector) != spec.dim:
        raise ValueError(
            f"`vector` must have {spec.dim} numbers, one for each feature (`dim`); "
            f"got {len(vector)}."
        )
    for number in vector:
        _checks.number("vector", number)
    return np.asarray(vector, dtype=np.float64)


def _frequencies(work: _Work) -> Step:
    spec = work.spec
    width = "dim" if spec.width == spec.dim else "rotary_dim"
    lines = (
        Line(
            f"pair {k}", "{} ** (-2 * {} / {})", (spec.base, k, spec.width), float(spec.unscaled[k])
        )
        for k in work.shown
    )
    formula = f"frequency[k] = base ** (-2 k / {width})"
    return Step("Frequency of each pair, in radians per position", formula, tuple(lines))


def _angles(work: _Work, position: int) -> Step:
    lines = []
    for k in work.shown:
        angle = float(position * parts.true(work.turning[k]))
        lines.append(Line(f"pair {k}", "{} * {}", (position, float(work.turning[k])), angle))
    turning = "frequency" if work.spec.scaling is None else "scaled"
    formula = f"angle[k] = position * {turning}[k]"
    return Step("Angle of each pair, in radians", formula, tuple(lines))


def _turned(work: _Work, position: int) -> Step:
    spec, factor = work.spec, work.spec.attention_factor
    one, other = "{} * cos({}) - {} * sin({})", "{} * cos({}) + {} * sin({})"
    turned, lines = work.turn(work.query, position), []
    for k in work.shown:
        angle = float(position * parts.true(work.turning[k]))
        i, j = work.features(k)
        a, c = float(work.query[i]), float(work.query[j])
        for template, feature, numbers in (
            (one, i, (a, angle, c, angle)),
            (other, j, (c, angle, a, angle)),
        ):
            result = float(turned[feature])
            lines.append(Line(f"feature {feature}", *_times(factor, template, numbers), result))
    where = "2 k, 2 k + 1" if spec.layout == "interleaved" else f"k, k + {spec.turned // 2}"
    formula = (
        f"(a, c) = features {where} of the query\n"
        "(a, c) -> (a cos - c sin, c cos + a sin), each of angle[k]"
        f"{'' if factor == 1.0 else ', times the attention factor'}"
    )
    if spec.turned < spec.dim:
        formula += f"\nfeatures from {spec.turned} on do not turn"
        rest = tuple(turned[spec.turned :].tolist())
        lines.append(Line("unturned", "", (), rest))
    return Step("Turn the query", formula, tuple(lines))


def _score(work: _Work, position: int, key: int) -> Step:
    """The dot product of the turned query and the turned key, pair by pair."""
    query = work.turn(work.query, position).tolist()
    other = work.turn(work.key, key).tolist()
    products = []
    for k in range(len(work.turning)):
        i, j = work.features(k)
        numbers = (query[i], other[i], query[j], other[j])
        result = query[i] * other[i] + query[j] * other[j]
        products.append(("{} * {} + {} * {}", numbers, result))
    formula = (
        "(a, c) of the turned query, (e, g) of the turned key\n"
        "score = sum over all pairs of a e + c g"
    )
    name = f"Score of the query at {position} and the key at {key}"
    return Step(name, formula, _summed(work, products))


def _gap(work: _Work, gap: int) -> Step:
    """The same dot product from vectors that were not turned, and the gap alone."""
    query, other = work.query.tolist(), work.key.tolist()
    factor = work.spec.attention_factor**2
    cosines, sines = angles.cos_sin(np.asarray(gap), work.turning, dtype=np.float64)
    products = []
    for k, (cos, sin) in enumerate(zip(cosines.tolist(), sines.tolist(), strict=True)):
        i, j = work.features(k)
        along = query[i] * other[i] + query[j] * other[j]
        across = query[i] * other[j] - query[j] * other[i]
        angle = float(gap * parts.true(work.turning[k]))
        product = _times(factor, "{} * cos({}) + {} * sin({})", (along, angle, across, angle))
        products.append((*product, factor * (along * cos + across * sin)))
    turning = "frequency" if work.spec.scaling is None else "scaled"
    formula = (
        "(a, c) of the query, (e, g) of the key, both before they turn\n"
        "score = sum over all pairs of (a e + c g) cos + (a g - c e) sin,\n"
        f"    each of gap * {turning}[k]"
        f"{'' if factor == 1.0 else ', times the square of the attention factor'}"
    )
    return Step(
        f"Why the score is the same: only the gap {gap} counts", formula, _summed(work, products)
    )


def _summed(work: _Work, products: Sequence[_Product]) -> tuple[Line, ...]:
    """The products to show, what the others add up to, and the score."""
    lines = [Line(f"pair {k}", *products[k]) for k in work.shown]
    terms = [products[k][-1] for k in work.shown]
    hidden = [result for k, (_, _, result) in enumerate(products) if k not in work.shown]
    if hidden:
        terms.append(math.fsum(hidden))
        lines.append(Line(f"{len(hidden)} others", "", (), terms[-1]))
    if work.spec.turned < work.spec.dim:
        rest = slice(work.spec.turned, None)
        terms.append(float(work.query[rest] @ work.key[rest]))
        lines.append(Line("unturned", "", (), terms[-1]))
    total = Line("score", " + ".join(["{}"] * len(terms)), tuple(terms), math.fsum(terms))
    return (*lines, total)


def _times(
    factor: float, template: str, numbers: tuple[Number, ...]
) -> tuple[str, tuple[Number, ...]]:
    """A formula and its numbers, multiplied by a factor that is not 1."""
    return (template, numbers) if factor == 1.0 else (f"{{}} * ({template})", (factor, *numbers))
