"""What rules for longer texts do to rotary pairs, in numbers ready for JSON.

A turn that is never finished in training, and an angle that is new in a longer text, mean here what
they mean in the reports of `posenc inspect`.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

from posenc import by_parts, frequencies, scaling, spec
from posenc.explorer.fields.ranges import RANGES
from posenc.explorer.rooms.stretch.curve import curve
from posenc.inspector.report import turning
from posenc.rotary import Rotary

NAMES = {
    "none": "No rule",
    "linear": "Position interpolation",
    "ntk": "NTK",
    "dynamic_ntk": "Dynamic NTK",
    "ntk_by_parts": "NTK by parts",
    "yarn": "YaRN",
    "llama3": "Llama 3",
    "longrope": "LongRoPE",
    "proportional": "Proportional",
}
"""What people call the rules of `posenc.spec.SCALINGS`."""

COMPARED = ("none", "linear", "ntk", "dynamic_ntk", "ntk_by_parts", "yarn", "llama3")
"""The rules that one factor describes."""


def stretch(rotary: Rotary, *, trained: int, wanted: int) -> dict[str, Any]:
    """What a rule does to each pair, and what the others would do.

    Args:
        rotary: with its rule.
        trained: tokens of the texts in training; the rule's own `original_length` goes before.
        wanted: tokens of the text in question.
    Returns:
        trained, wanted    the lengths
        seen               turns of each pair in a text of the trained length, without a rule
        plain, after       see `effect`: without the rule, and with it
        edges              see `edges`
        curve              see `curve.curve`
        factor             of the rules side by side
        rules              for each of `COMPARED` its `kind` and `name`, and its `effect` and the
                           `settings` that choose it; or `why` it cannot be
    """
    trained = getattr(rotary.scaling, "original_length", None) or trained
    lengths = {"trained": trained, "wanted": wanted}
    factor = _factor(rotary.scaling, **lengths)
    every = [_settings(rotary, kind, trained, factor) for kind in COMPARED]
    return {
        **lengths,
        "seen": _turns(rotary.unscaled, trained),
        "plain": effect(_bare(rotary), **lengths),
        "after": effect(rotary, **lengths),
        "edges": edges(rotary, trained),
        "curve": curve(rotary, wanted=wanted),
        "factor": factor,
        "rules": [_compared(rotary, settings, **lengths) for settings in every],
    }


def effect(rotary: Rotary, *, trained: int, wanted: int) -> dict[str, Any]:
    """What one rule does to each pair of a text.

    Returns:
        kind, name         of the rule; "none" without one
        wavelengths        tokens that each pair needs for a turn; None where it stands still
        slower             how many times slower each pair turns; None where it stands still
        turns              of each pair in a text of the wanted length
        unfinished         pairs that need more than the trained length for a turn
        unseen, farthest   pairs that come to angles training never showed; how many times as far
        table_factor       the multiplier of cos and sin
        softmax_factor     what the softmax scale is multiplied with besides
        base               which base alone would do the same, or None
    Example:
        >>> done = effect(Rotary(dim=128), trained=4096, wanted=16_384)
        >>> len(done["unfinished"]), len(done["unseen"]), done["farthest"]
        (18, 18, 4.0)
    """
    now = rotary.frequencies_at(wanted)
    kind = "none" if rotary.scaling is None else spec.to_data(rotary.scaling)["kind"]
    new = turning.unseen(now, wanted, trained=rotary.unscaled, trained_length=trained)
    return {
        "kind": kind,
        "name": NAMES[kind],
        "wavelengths": [_finite(wave) for wave in frequencies.wavelengths(now)],
        "slower": [
            float(before) / float(after) if after else None
            for before, after in zip(rotary.unscaled, now, strict=True)
        ],
        "turns": _turns(now, wanted),
        "unfinished": turning.unfinished(now, trained),
        "unseen": list(new),
        "farthest": max(new.values(), default=1.0),
        "table_factor": rotary.attention_factor,
        "softmax_factor": getattr(rotary.scaling, "softmax_factor", 1.0),
        "base": turning.base_of(rotary, wanted),
    }


def edges(rotary: Rotary, trained: int) -> list[dict[str, Any]]:
    """Where a rule by parts goes over from pairs that stay to pairs that slow in full.

    Returns:
        Two dicts, or none for other rules: `at`, a wavelength; and where the rule has it,
        `turns` in the trained length, or `pair`, which need not be whole.
    """
    rule = rotary.scaling
    if isinstance(rule, by_parts.Yarn):
        low, high = by_parts.yarn_range(
            dim=rotary.width,
            base=rotary.base,
            original_length=trained,
            beta_fast=rule.beta_fast,
            beta_slow=rule.beta_slow,
            truncate=rule.truncate,
        )
        return [
            {"at": math.tau * rotary.base ** (2 * pair / rotary.width), "pair": pair}
            for pair in (low, high)
        ]
    if isinstance(rule, by_parts.Llama3):
        turns = (rule.high_frequency_factor, rule.low_frequency_factor)
    elif isinstance(rule, by_parts.NTKByParts):
        turns = (rule.beta_fast, rule.beta_slow)
    else:
        return []
    return [{"at": trained / count, "turns": count} for count in turns]


def _factor(rule: Any, *, trained: int, wanted: int) -> float:
    """How far the rules side by side stretch: as far as the one chosen, or to the wanted length."""
    own = getattr(rule, "factor", 1.0)
    if own > 1 and not isinstance(rule, scaling.DynamicNTK | scaling.Proportional):
        return own
    return min(max(wanted / trained, 1.0), RANGES["factor"]["max"])


def _compared(rotary: Rotary, settings: dict[str, Any], **lengths: int) -> dict[str, Any]:
    """One of the rules side by side; or why it cannot be, as YaRN with a base of 1."""
    kind = settings["scaling"]
    try:
        return effect(_under(rotary, settings), **lengths) | {"settings": settings}
    except ValueError as error:
        return {"kind": kind, "name": NAMES[kind], "why": str(error)}


def _settings(rotary: Rotary, kind: str, trained: int, factor: float) -> dict[str, Any]:
    """The settings of the page that choose a rule; those of its own, where it is chosen already."""
    rule = rotary.scaling
    if kind == "none" or (rule is not None and spec.to_data(rule)["kind"] == kind):
        return {"scaling": kind}
    # Dynamic NTK grows with the text by itself, and its own factor would speed that up.
    return {
        "scaling": kind,
        "factor": 1.0 if kind == "dynamic_ntk" else factor,
        "original_length": trained,
    }


def _under(rotary: Rotary, settings: dict[str, Any]) -> Rotary:
    """The same encoding under the rule of these settings."""
    kind = settings["scaling"]
    if kind == "none":
        return _bare(rotary)
    rule = spec.SCALINGS[kind]
    if isinstance(rotary.scaling, rule):
        return rotary
    known = {field.name for field in dataclasses.fields(rule)}
    given = {name: value for name, value in settings.items() if name in known}
    return dataclasses.replace(rotary, scaling=rule(**given))


def _bare(rotary: Rotary) -> Rotary:
    return dataclasses.replace(rotary, scaling=None)


def _turns(turning: Sequence[float], length: int) -> list[float]:
    return [float(w) * length / math.tau for w in turning]


def _finite(wave: float) -> float | None:
    return float(wave) if math.isfinite(wave) else None
