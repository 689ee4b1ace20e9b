"""What the key of a quiz says of a question."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from posenc.study.writing import numbers

Variant = Mapping[str, Any]


def key(variant: Variant) -> str:
    """The right answer to a variant of a question, and why, as HTML.

    Example:
        >>> key({"answer": 0.25, "why": "A quarter."})
        '0.25. A quarter.'
    """
    return f"{_answer(variant)} {variant['why']}".strip()


def _answer(variant: Variant) -> str:
    if "options" in variant:
        right = [option["text"] for option in variant["options"] if option["right"]]
        return "; ".join(f"“{text}”" for text in right) + "."
    if "answer" in variant:
        return f"{_number(variant['answer'])}."
    if "items" in variant:
        return ", then ".join(variant["items"]) + "."
    if "pairs" in variant:
        return "; ".join(f"{one}: {other}" for one, other in variant["pairs"]) + "."
    if "lines" in variant:
        return f"Line {variant['wrong'] + 1}."
    if "curve" in variant:
        return "From left to right: " + "; ".join(map(_number, variant["curve"])) + "."
    return ""


def _number(number: float) -> str:
    return numbers.whole(number) if number == round(number) else numbers.short(number, 4)
