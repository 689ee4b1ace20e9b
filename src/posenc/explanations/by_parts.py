"""Rules that slow some pairs and keep others, worked through: YaRN and its kin."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from posenc import by_parts
from posenc.explanations.explanation import Line, Step
from posenc.explanations.scaling import Scaled, given_factor


def ntk_by_parts(work: Scaled) -> Iterable[Step]:
    """What is kept of a pair goes by its turns within the original length."""
    yield from _by_turns(work, slow="beta_slow", fast="beta_fast")


def llama3(work: Scaled) -> Iterable[Step]:
    """The same, with other names."""
    yield from _by_turns(work, slow="low_frequency_factor", fast="high_frequency_factor")


def _by_turns(work: Scaled, *, slow: str, fast: str) -> Iterable[Step]:
    length, low, high = (getattr(work.rule, name) for name in ("original_length", slow, fast))

    def turns(k: int) -> float:
        return length * work.frequency(k) / math.tau

    yield work.each(
        f"Turns within the original {length} tokens",
        "turns[k] = original_length * frequency[k] / (2 pi)",
        "{} * {} / (2 * pi)",
        lambda k: (length, work.frequency(k)),
        turns,
    )
    if low == high:

        def keep(k: int) -> float:
            return 1.0 if turns(k) >= low else 0.0

        formula, template = f"keep[k] = 1 if turns[k] >= {slow}, else 0", "1 if {} >= {} else 0"
        yield work.each(_KEPT, formula, template, lambda k: (turns(k), low), keep)
    else:

        def keep(k: int) -> float:
            return _clip((turns(k) - low) / (high - low))

        formula = f"keep[k] = clip((turns[k] - {slow}) / ({fast} - {slow}), 0, 1)"
        template = "clip(({} - {}) / ({} - {}), 0, 1)"
        yield work.each(_KEPT, formula, template, lambda k: (turns(k), low, high, low), keep)
    yield _blend(work, keep)


_KEPT = "How much of each pair is kept"


def _clip(x: float) -> float:
    return min(max(x, 0.0), 1.0)


def _blend(work: Scaled, keep: Callable[[int], float]) -> Step:
    return work.each(
        "Scaled frequencies",
        "scaled[k] = keep[k] frequency[k] + (1 - keep[k]) frequency[k] / factor",
        "{} * {} + (1 - {}) * {} / {}",
        lambda k: (keep(k), work.frequency(k), keep(k), work.frequency(k), work.rule.factor),
        work.scaled,
    )


def yarn(work: Scaled) -> Iterable[Step]:
    """What is kept of a pair goes by its index; and a factor for cos and sin."""
    rule = work.rule
    low, high = by_parts.yarn_range(
        dim=work.spec.width,
        base=work.spec.base,
        original_length=rule.original_length,
        beta_fast=rule.beta_fast,
        beta_slow=rule.beta_slow,
        truncate=rule.truncate,
    )
    yield _yarn_range(work, low, high)
    end = high if high > low else low + 0.001  # the published code's step in place of a ramp

    def keep(k: int) -> float:
        return 1.0 - _clip((k - low) / (end - low))

    yield work.each(
        _KEPT,
        "keep[k] = 1 - clip((k - low) / (high - low), 0, 1)",
        "1 - clip(({} - {}) / ({} - {}), 0, 1)",
        lambda k: (k, low, end, low),
        keep,
    )
    yield _blend(work, keep)
    yield _yarn_factors(work)


def _yarn_range(work: Scaled, low: float, high: float) -> Step:
    rule, dim, base = work.rule, work.spec.width, work.spec.base
    template = "{} * ln({} / (2 * pi * {})) / (2 * ln({}))"
    lines = []
    for name, beta, index, whole in (
        ("low", rule.beta_fast, low, "floor"),
        ("high", rule.beta_slow, high, "ceil"),
    ):
        numbers = (dim, rule.original_length, beta, base)
        raw = dim * math.log(rule.original_length / (math.tau * beta)) / (2 * math.log(base))
        lines.append(Line(f"index({beta:g})", template, numbers, raw))
        inner = f"{whole}({{}})" if rule.truncate else "{}"
        lines.append(Line(name, f"min(max({inner}, 0), {{}} - 1)", (raw, dim), index))
    return Step(
        "Between which pairs the change happens",
        "index(turns) = dim ln(original_length / (2 pi turns)) / (2 ln base)\n"
        "low, high = index(beta_fast), index(beta_slow)"
        + (", widened to whole numbers" if rule.truncate else ""),
        tuple(lines),
    )


def _yarn_factors(work: Scaled) -> Step:
    rule = work.rule
    if rule.attention_factor is not None:
        return given_factor(rule.attention_factor)
    factor, one, both = rule.factor, rule.mscale, rule.mscale_all_dim
    formula = "m(a) = 0.1 a ln(factor) + 1\ncos and sin times m(mscale) / m(mscale_all_dim)"
    template = "(0.1 * {} * ln({}) + 1) / (0.1 * {} * ln({}) + 1)"
    lines = [Line("cos and sin", template, (one, factor, both, factor), rule.table_factor)]
    if both:
        formula += "\nsoftmax scale times m(mscale_all_dim) ** 2"
        template = "(0.1 * {} * ln({}) + 1) ** 2"
        lines.append(Line("softmax scale", template, (both, factor), rule.softmax_factor))
    return Step("Attention factor", formula, tuple(lines))
