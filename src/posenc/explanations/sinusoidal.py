"""The vector of one position, feature by feature."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from posenc.explanations import parts
from posenc.explanations.explanation import Explanation, Line, Step
from posenc.sinusoidal import Sinusoidal


def sinusoidal(
    spec: Sinusoidal, *, position: int = 2, pairs: Sequence[int] | None = None
) -> Explanation:
    """The vector of `position`: divisors, angles, sines and cosines, and the next position.

    Args:
        spec: the encoding.
        position: whose vector to work out.
        pairs: the pairs to show; a few by default.
    Returns:
        The explanation; its answer is the whole vector.
    """
    count = len(spec.frequencies)
    shown = parts.chosen("pairs", pairs, count)
    steps = [] if spec.offset == 0 else [_offset(spec, position)]
    steps += [
        _divisors(spec, shown),
        _angles(spec, position + spec.offset, shown),
        _features("Sines and cosines", spec, position, shown),
    ]
    other = parts.moved(position + spec.offset, 1) - spec.offset
    steps.append(_features(f"Compare with position {other}", spec, other, shown))
    return Explanation(
        title=f"The sinusoidal vector of position {position}",
        spec=spec,
        steps=tuple(steps),
        answers=(Line(f"vector of position {position}", "", (), _vector(spec, position)),),
        note=parts.left_out("pair", shown, count),
    )


def _vector(spec: Sinusoidal, position: int) -> tuple[float, ...]:
    return tuple(spec.encode(np.asarray(position), dtype=np.float64).tolist())


def _offset(spec: Sinusoidal, position: int) -> Step:
    line = Line("place", "{} + {}", (position, spec.offset), position + spec.offset)
    return Step("Where counting begins", "place = position + offset", (line,))


def _divisors(spec: Sinusoidal, shown: Sequence[int]) -> Step:
    if spec.spacing == "endpoint":
        formula, template = "divisor[k] = base ** (k / (dim // 2 - 1))", "{} ** ({} / {})"
        width = max(spec.dim // 2 - 1, 1)
    else:
        formula, template = "divisor[k] = base ** (2 k / dim)", "{} ** (2 * {} / {})"
        width = spec.dim - spec.dim % 2 if spec.odd == "pad" else spec.dim
    lines = (
        Line(
            f"pair {k}", template, (spec.base, k, width), float(1 / parts.true(spec.frequencies[k]))
        )
        for k in shown
    )
    return Step("Divisor of each pair", formula, tuple(lines))


def _angles(spec: Sinusoidal, place: int, shown: Sequence[int]) -> Step:
    lines = []
    for k in shown:
        frequency = parts.true(spec.frequencies[k])
        numbers = (place, float(1 / frequency))
        lines.append(Line(f"pair {k}", "{} / {}", numbers, float(place * frequency)))
    what = "place" if spec.offset else "position"
    return Step("Angle of each pair, in radians", f"angle[k] = {what} / divisor[k]", tuple(lines))


def _features(name: str, spec: Sinusoidal, position: int, shown: Sequence[int]) -> Step:
    """The sines and cosines of one position, in the features where they stand."""
    vector, count = _vector(spec, position), len(spec.frequencies)
    waves = ("sin", "cos") if spec.first == "sin" else ("cos", "sin")
    if spec.layout == "interleaved":
        places = {k: (2 * k, 2 * k + 1) for k in shown}
        formula = f"feature[2 k] = {waves[0]}(angle[k])\nfeature[2 k + 1] = {waves[1]}(angle[k])"
    else:
        places = {k: (k, k + count) for k in shown}
        formula = f"feature[k] = {waves[0]}(angle[k])\nfeature[k + {count}] = {waves[1]}(angle[k])"
    lines = []
    for k, features in places.items():
        angle = float((position + spec.offset) * parts.true(spec.frequencies[k]))
        for wave, feature in zip(waves, features, strict=True):
            if feature < spec.dim:
                numbers = (angle,)
                lines.append(Line(f"feature {feature}", f"{wave}({{}})", numbers, vector[feature]))
    if spec.dim > 2 * count:
        formula += "\nthe odd feature at the end is 0"
        lines.append(Line(f"feature {spec.dim - 1}", "", (), vector[-1]))
    elif spec.dim < 2 * count:
        formula += f"\nthe odd width leaves no room for the last {waves[1]}"
    return Step(name, formula, tuple(lines))
