"""Rules that slow every pair, or each by a number of its own, worked through."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from posenc import scaling
from posenc.explanations.explanation import Line, Number, Step
from posenc.rotary import Rotary


class Scaled(NamedTuple):
    """A rotary encoding with its rule, the pairs to show, and the length of the text if known."""

    spec: Rotary
    rule: Any
    shown: Sequence[int]
    length: int | None

    def frequency(self, k: int) -> float:
        """Of pair `k`, before the rule."""
        return float(self.spec.unscaled[k])

    def scaled(self, k: int) -> float:
        """The frequency of pair `k` under the rule."""
        return float(self.spec.frequencies_at(self.length)[k])

    def each(
        self,
        name: str,
        formula: str,
        template: str,
        numbers: Callable[[int], tuple[Number, ...]],
        result: Callable[[int], Number],
    ) -> Step:
        """A step with a line for each pair to show."""
        lines = (Line(f"pair {k}", template, numbers(k), result(k)) for k in self.shown)
        return Step(name, formula, tuple(lines))


def linear(work: Scaled) -> Iterable[Step]:
    """Every frequency over one number."""
    yield work.each(
        "Linear scaling",
        "scaled[k] = frequency[k] / factor",
        "{} / {}",
        lambda k: (work.frequency(k), work.rule.factor),
        work.scaled,
    )


def ntk(work: Scaled) -> Iterable[Step]:
    """A larger base."""
    yield from _larger_base(work, "factor", work.rule.factor)


def dynamic_ntk(work: Scaled) -> Iterable[Step]:
    """A base that grows with the text."""
    factor, original = work.rule.factor, work.rule.original_length
    length = original if work.length is None else work.length
    growth = float(scaling.dynamic_factor(length, original_length=original, factor=factor))
    template, numbers = "max({} * {} / {} - ({} - 1), 1)", (factor, length, original, factor)
    yield Step(
        f"Factor for a text of {length} tokens",
        "growth = max(factor * length / original_length - (factor - 1), 1)",
        (Line("growth", template, numbers, growth),),
    )
    yield from _larger_base(work, "growth", growth)


def _larger_base(work: Scaled, name: str, factor: float) -> Iterable[Step]:
    base, dim = work.spec.base, work.spec.width
    larger = float(scaling.ntk_base(base, dim=dim, factor=factor))
    template, numbers = "{} * {} ** ({} / ({} - 2))", (base, factor, dim, dim)
    if dim == 2:  # the only pair turns one radian a position under any base
        template, numbers = "{}", (base,)
    yield Step(
        "A larger base",
        f"new base = base * {name} ** (dim / (dim - 2))",
        (Line("new base", template, numbers, larger),),
    )
    yield work.each(
        "Frequencies of the larger base",
        "scaled[k] = (new base) ** (-2 k / dim)",
        "{} ** (-2 * {} / {})",
        lambda k: (larger, k, dim),
        work.scaled,
    )


def longrope(work: Scaled) -> Iterable[Step]:
    """A number of its own for each pair, and a factor for cos and sin."""
    rule, original = work.rule, work.rule.original_length
    length = original if work.length is None else work.length
    name = f"A factor of its own for each pair, in a text of {length} tokens"
    if rule.dynamic and length > original:
        yield from _growing(work, name, length)
    else:
        which = "short_factors" if length <= original else "long_factors"
        yield work.each(
            name,
            f"scaled[k] = frequency[k] / {which}[k]",
            "{} / {}",
            lambda k: (work.frequency(k), getattr(rule, which)[k]),
            work.scaled,
        )
    if rule.attention_factor is not None:
        yield given_factor(rule.attention_factor)
    else:
        template, numbers = "sqrt(1 + ln({}) / ln({}))", (rule.factor, original)
        yield Step(
            "Attention factor",
            "cos and sin times sqrt(1 + ln(factor) / ln(original_length))",
            (Line("cos and sin", template, numbers, rule.table_factor),),
        )


def _growing(work: Scaled, name: str, length: int) -> Iterable[Step]:
    rule, original = work.rule, work.rule.original_length
    share = (length / original - 1) / (rule.factor - 1)
    yield Step(
        "How far the text has grown",
        "share = (length / original_length - 1) / (factor - 1)",
        (Line("share", "({} / {} - 1) / ({} - 1)", (length, original, rule.factor), share),),
    )
    yield work.each(
        name,
        "scaled[k] = frequency[k] / (1 + (long_factors[k] - 1) share)",
        "{} / (1 + ({} - 1) * {})",
        lambda k: (work.frequency(k), rule.long_factors[k], share),
        work.scaled,
    )


def given_factor(factor: float) -> Step:
    """The factor of cos and sin, where the encoding states it."""
    return Step("Attention factor", "as given", (Line("cos and sin", "", (), factor),))


def proportional(work: Scaled) -> Iterable[Step]:
    """The fastest pairs as they are, the others not at all."""
    fraction, dim, factor = work.rule.fraction, work.spec.width, work.rule.factor
    turning = int(fraction * dim // 2)
    yield Step(
        "How many pairs turn",
        "turning = int(fraction * dim // 2)",
        (Line("turning", "int({} * {} // 2)", (fraction, dim), turning),),
    )
    yield work.each(
        "Scaled frequencies",
        "scaled[k] = frequency[k] / factor for k < turning, else 0",
        "{} / {} if {} < {} else 0",
        lambda k: (work.frequency(k), factor, k, turning),
        work.scaled,
    )
