"""Rows of a report on longer texts: the scaling in effective numbers, and where it leads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from posenc import spec as specs
from posenc.inspector.reading import Use
from posenc.inspector.report import facts
from posenc.inspector.report.effect import Effect, counted, number, ranges
from posenc.inspector.report.turning import (
    Run,
    base_of,
    grows,
    kept,
    looks_at_length,
    rotary_of,
    runs,
    unfinished,
    unseen,
)
from posenc.rotary import Rotary
from posenc.scaling import Proportional

_MANY = 5  # runs of pairs; more of them, as LongRoPE's lists have, are summed up


def trained_length(use: Use) -> int | None:
    """How many tokens it was trained for, as far as anything says so."""
    return _original_length(use) or use.length


def _original_length(use: Use) -> int | None:
    """How many tokens it was trained for before stretching, where that is known."""
    spec = rotary_of(use.encoding)
    if use.original_length is None and spec is not None and spec.scaling is not None:
        return spec.scaling.original_length
    return use.original_length


def scaling(use: Use) -> Iterator[Effect]:
    """The rule and what it does to each pair, and the factor of cos and sin."""
    spec = rotary_of(use.encoding)
    if spec is None or spec.scaling is None:
        yield Effect(name="scaling", sentence="none", data={})
        return
    rule = specs.to_data(spec.scaling)
    name = rule["kind"].replace("_", " ")
    regimes = [_regime(spec, where, length) for where, length in _lengths(spec, use.length)]
    yield Effect(
        name="scaling",
        sentence=f"{name}: {'; '.join(words for words, _ in regimes)}",
        data={"rule": rule, "regimes": [data for _, data in regimes]},
    )
    if (factor := spec.attention_factor) != 1:
        yield Effect(
            name="attention",
            sentence=f"x{number(factor)} on cos and sin, so x{number(factor**2)} on scores",
            data={"factor": factor, "of_scores": factor**2},
        )


def stretched(use: Use) -> Iterator[Effect]:
    """The lengths, the pairs that never finish a turn, and the angles that are new."""
    trained = trained_length(use)
    if trained is None:
        return
    longer = use.length is not None and use.length > trained
    length = use.length if use.length is not None and longer else trained
    known = _original_length(use) is not None
    unit = facts.unit(use)
    sentence = f"{'trained' if known else 'meant'} for {counted(trained, unit)}"
    if longer:
        sentence += f", stretched to {number(length)} ({number(length / trained)} times)"
    yield Effect(name="length", sentence=sentence, data={"trained": trained, "now": length})
    window = window_of(use)
    if window is not None and window < trained:
        yield _slow_pairs(use, window, f"a window of {number(window)} tokens")
        return
    yield _slow_pairs(use, trained, counted(trained, unit))
    if longer:
        yield new_angles(use, length, where=f"at {number(length)} ")


def window_of(use: Use) -> int | None:
    """How many tokens a query of these layers sees, where its reader took a window down."""
    if rotary_of(use.encoding) is None:  # others call something else a window
        return None
    widths = [facts.value(use, name) for name in ("window", "sliding_window")]
    return next((width for width in widths if isinstance(width, int) and width > 0), None)


def for_whom(use: Use, length: int) -> str:
    """What a length of training is called: "8,192 tokens it was trained for"."""
    known = _original_length(use) is not None
    return f"{counted(length, facts.unit(use))} it {'was trained' if known else 'is meant'} for"


def _slow_pairs(use: Use, length: int, within: str) -> Effect:
    """Which pairs never finish a turn within the length of training, or within a window."""
    turning = _in_training(use)
    slow = unfinished(turning, length)
    pairs = f"pairs {ranges(slow)} ({len(slow)} of {len(turning)}) never finish a turn"
    if not slow:
        pairs = "none: every pair that turns finishes a turn"
    return Effect(
        name="slow pairs",
        sentence=f"{pairs} within {within}",
        data={"pairs": slow, "of": len(turning), "length": length},
    )


def new_angles(use: Use, length: int, *, where: str = "") -> Effect:
    """Which pairs come to angles that no text of the training length had."""
    trained = trained_length(use) or length
    times = unseen(_at(use, length), length, trained=_in_training(use), trained_length=trained)
    most = max(times.values(), default=1.0)
    sentence = f"{where}no pair turns farther than in training"
    if times:
        sentence = (
            f"{where}pairs {ranges(times)} turn up to {_times(most)} times as far as in training"
        )
    return Effect(
        name="angles",
        sentence=sentence,
        data={"length": length, "pairs": list(times), "times": most},
    )


def _times(ratio: float) -> str:
    return number(round(ratio)) if ratio >= 1000 else f"{ratio:.3g}"


def _in_training(use: Use) -> Sequence[float]:
    """Radians per token before stretching; as they are now where nothing tells of stretching."""
    spec = rotary_of(use.encoding)
    if spec is None:
        return use.encoding.frequencies
    # Proportional turning stretches nothing: models are trained with it.
    stretched = _original_length(use) is not None and not isinstance(spec.scaling, Proportional)
    return spec.unscaled if stretched else spec.frequencies


def _at(use: Use, length: int) -> Sequence[float]:
    spec = rotary_of(use.encoding)
    return use.encoding.frequencies if spec is None else spec.frequencies_at(length)


def _lengths(spec: Rotary, length: int | None) -> list[tuple[str, int | None]]:
    """The lengths at which a rule does different things, each with the words that introduce it."""
    original = None if spec.scaling is None else spec.scaling.original_length
    if original is None or not looks_at_length(spec):
        return [("", None)]
    here = max(length or 0, 2 * original)
    beyond = f"at {number(here)}" if grows(spec) else "beyond"
    return [(f"up to {number(original)} tokens ", original), (f"{beyond} ", here)]


def _regime(spec: Rotary, where: str, length: int | None) -> tuple[str, Mapping[str, Any]]:
    """What a rule does to the pairs of a text of this length, in words and as data."""
    changed = runs(spec, length)
    data: dict[str, Any] = {
        "length": length,
        "runs": [
            {"first": run.first, "last": run.last, "divided_by": _finite(run)} for run in changed
        ],
    }
    words = _in_words(changed)
    base = base_of(spec, length)
    if base is not None and len(changed) > 1:
        data["base"] = base
        words += f" (as base {number(base)})"
    return where + words, data


def _in_words(changed: Sequence[Run]) -> str:
    if len(changed) == 1:
        return f"every pair {_slowed(changed[0])}"
    if len(changed) > _MANY:
        divisors = [end for run in changed for end in (run.least, run.most)]
        return f"each pair divided by its own {min(divisors):.4g} to {max(divisors):.4g}"
    described = []
    for before, run, after in zip([None, *changed], changed, [*changed[1:], None], strict=False):
        between = before is not None and after is not None and run.least != run.most
        words = "blended" if between else _slowed(run)
        described.append(f"{ranges(range(run.first, run.last + 1))} {words}")
    one = changed[0].first == changed[0].last
    return f"pair{'' if one else 's'} {', '.join(described)}"


def _slowed(run: Run) -> str:
    if kept(run):
        return "kept"
    if run.least == run.most:
        return "stopped" if run.least == float("inf") else f"divided by {number(run.least)}"
    return f"divided by {run.least:.4g} to {run.most:.4g}"


def _finite(run: Run) -> list[float | None]:
    return [end if end != float("inf") else None for end in (run.least, run.most)]
