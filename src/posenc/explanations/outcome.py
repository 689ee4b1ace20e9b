"""What a scaling does to each pair of a rotary encoding: kept, slowed or stopped."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence

from posenc.by_parts import Llama3, NTKByParts, Yarn
from posenc.explanations import by_parts, scaling
from posenc.explanations.explanation import Line, Step
from posenc.explanations.scaling import Scaled
from posenc.longrope import LongRope
from posenc.rotary import Rotary
from posenc.scaling import NTK, DynamicNTK, Linear, Proportional


def steps(spec: Rotary, shown: Sequence[int], length: int | None) -> tuple[Step, ...]:
    """From the unscaled frequencies to the scaled ones, pair by pair; none without a scaling.

    Args:
        spec: the encoding.
        shown: the pairs to show.
        length: tokens in the whole text, or None.
    """
    if spec.scaling is None:
        return ()
    rule = _RULES.get(type(spec.scaling), _unknown)
    return (*rule(Scaled(spec, spec.scaling, shown, length)), _outcome(spec, length))


def telling(spec: Rotary, length: int | None) -> tuple[int, ...] | None:
    """The first and last pair of each kind, which show best what a scaling does.

    None where there are fewer or many more of them than fit into an explanation.
    """
    ends = {k for _, pairs in _kinds(spec, length) for k in (pairs[0], pairs[-1])}
    return tuple(sorted(ends)) if 3 <= len(ends) <= 8 else None


def _kinds(spec: Rotary, length: int | None) -> list[tuple[str, list[int]]]:
    """Runs of pairs that fare alike, in order."""
    scaled = spec.frequencies_at(length)
    factor = float(getattr(spec.scaling, "factor", 1.0))

    def kind(k: int) -> str:
        ratio = scaled[k] / spec.unscaled[k]
        if ratio in (0.0, 1.0):
            return "stopped" if ratio == 0.0 else "kept"
        divided = math.isclose(ratio, 1 / factor, rel_tol=1e-12)
        return "divided" if divided else "in between"

    return [(name, list(pairs)) for name, pairs in itertools.groupby(range(len(scaled)), kind)]


def _outcome(spec: Rotary, length: int | None) -> Step:
    scaled, lines = spec.frequencies_at(length), []
    for kind, pairs in _kinds(spec, length):
        ratios = tuple(float(scaled[k] / spec.unscaled[k]) for k in pairs)
        name = f"{kind}: {pairs[0]}" if len(pairs) == 1 else f"{kind}: {pairs[0]} to {pairs[-1]}"
        lines.append(Line(name, "", (), ratios if kind == "in between" else ratios[0]))
    return Step("What became of the pairs", "ratio[k] = scaled[k] / frequency[k]", tuple(lines))


def _unknown(work: Scaled) -> Iterable[Step]:
    """A rule of the user's own: its frequencies, without the way there."""
    formula = "scaled[k], as the rule gives it"
    yield work.each("Scaled frequencies", formula, "", lambda k: (), work.scaled)


_RULES: dict[type, Callable[[Scaled], Iterable[Step]]] = {
    Linear: scaling.linear,
    NTK: scaling.ntk,
    DynamicNTK: scaling.dynamic_ntk,
    NTKByParts: by_parts.ntk_by_parts,
    Llama3: by_parts.llama3,
    Yarn: by_parts.yarn,
    LongRope: scaling.longrope,
    Proportional: scaling.proportional,
}
