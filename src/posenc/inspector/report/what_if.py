"""What if the model had another scaling? The same reading, with the rule put in its place."""

from __future__ import annotations

import dataclasses
from typing import Any

from posenc import spec as specs
from posenc.inspector.reading import Reading, Use
from posenc.inspector.report.effect import counted, number
from posenc.inspector.report.stretching import trained_length, window_of
from posenc.inspector.report.turning import rotary_of


def rescaled(reading: Reading, text: str) -> tuple[Reading, tuple[str, ...]]:
    """A reading whose rotary encodings have another scaling.

    Args:
        reading: what the model does.
        text: a rule as `posenc.spec.parse` reads it, for example "yarn:factor=4", or "none". An
            `original_length` that it lacks is taken from the reading. Layers with a window keep
            what they have where other layers have none.
    Returns:
        The changed reading, and what was filled in or left alone, each one sentence.
    Raises:
        ValueError: `text` is no rule, or no encoding of the reading can take it.
        TypeError: a field of the rule has the wrong type.
    Example:
        >>> from posenc import Rotary
        >>> from posenc.inspector.reading import Part
        >>> use = Use(kind="rotary", place="queries", encoding=Rotary(dim=8), length=4096)
        >>> part = Part(name="", model_type="", uses=(use,))
        >>> reading = Reading(source="", model_type="", parts=(part,))
        >>> changed, filled = rescaled(reading, "yarn:factor=4")
        >>> filled
        ('original_length=4096 was taken from the model',)
        >>> changed.uses[0].length
        16384
    """
    rule = None if text.strip().lower() == "none" else specs.read(text)
    turning = [use for use in reading if rotary_of(use.encoding) is not None]
    if not turning:
        raise ValueError("--scaling needs a model with a rotary encoding, and this one has none.")
    only_windows = all(_windowed(use) for use in turning)
    kept = [use for use in turning if _windowed(use) and not only_windows]
    filled: dict[str, None] = dict.fromkeys(_kept(use) for use in kept)
    parts = tuple(
        dataclasses.replace(
            part,
            uses=tuple(use if use in kept else _changed(use, rule, filled) for use in part.uses),
        )
        for part in reading.parts
    )
    source = f"{reading.source} with {text}"
    return dataclasses.replace(reading, source=source, parts=parts), tuple(filled)


def _windowed(use: Use) -> bool:
    """Whether its layers see less than the text that the model was trained for."""
    window, trained = window_of(use), trained_length(use)
    return window is not None and (trained is None or window < trained)


def _kept(use: Use) -> str:
    tokens = counted(window_of(use) or 0, "tokens")
    return f"layers with a window of {tokens} keep their turning: no distance there grows"


def _changed(use: Use, rule: Any, filled: dict[str, None]) -> Use:
    spec = rotary_of(use.encoding)
    if spec is None:
        return use
    original = _unstretched(use, spec.scaling, filled)
    scaling = _rule(rule, original, filled)
    original = getattr(scaling, "original_length", None) or original
    turned = dataclasses.replace(spec, scaling=scaling)
    encoding = turned if spec is use.encoding else dataclasses.replace(use.encoding, rotary=turned)
    length = original
    if original is not None and scaling is not None:
        length = round(original * getattr(scaling, "factor", 1.0))
    softmax = use.softmax_factor / _softmax(spec.scaling) * _softmax(scaling)
    return dataclasses.replace(
        use, encoding=encoding, original_length=original, length=length, softmax_factor=softmax
    )


def _unstretched(use: Use, own: Any, filled: dict[str, None]) -> int | None:
    """The length of training; that which the model's own rule stretches, where none is named."""
    length, factor = trained_length(use), getattr(own, "factor", 1.0)
    named = use.original_length or getattr(own, "original_length", None)
    if length is None or named is not None or factor == 1:
        return length
    before = round(length / factor)
    kind = specs.to_data(own)["kind"].replace("_", " ")
    told = f"{counted(before, 'tokens')} before the model's own {kind}"
    filled[f"{told}, which stretches by {number(factor)}"] = None
    return before


def _softmax(rule: Any) -> float:
    """What a rule multiplies the softmax scale with; only YaRN's does."""
    return getattr(rule, "softmax_factor", 1.0)


def _rule(rule: Any, original: int | None, filled: dict[str, None]) -> Any:
    """The rule, with the original length that the reading knows where it has none itself."""
    if rule is None:
        return None
    kind = rule.get("kind") if isinstance(rule, dict) else None
    if kind not in specs.SCALINGS:
        raise ValueError(
            f"--scaling must be none or one of {', '.join(specs.SCALINGS)}, for example "
            f"yarn:factor=4; got {kind!r}."
        )
    fields = {field.name for field in dataclasses.fields(specs.SCALINGS[kind])}
    if "original_length" in fields and rule.get("original_length") is None:
        if original is None:
            raise ValueError(
                "--scaling needs the length the model was trained for, which its files do not say: "
                f"add it, as in {kind}:original_length=4096,..."
            )
        rule = rule | {"original_length": original}
        filled[f"original_length={original} was taken from the model"] = None
    return specs.from_data(rule)
