"""Numbers of the pages: expressions over the library, worked out when the site is built.

A text says `{{ row("sinusoidal:dim=4", 3)[1] | digits }}`; the page shows the number. A digit that
is typed into a text is a fault (`typed`), as nobody would notice when it is wrong.
"""

from __future__ import annotations

import ast
import functools
import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from jinja2 import Environment, StrictUndefined

import posenc
from posenc import evaluation, mistakes, spec

_HIDDEN = re.compile(
    r"""\{\{.*?\}\} | \{%.*?%\}      # worked out by the library
      | ```.*?```  | `[^`\n]*`       # code, and blocks with checks of their own
      | \$\$.*?\$\$ | \$[^$\n]*\$      # formulas
      | \]\([^)]*\)                  # where links go
      | ^\s*\d+\.\s                  # numbers of a list
      | \bLlama\s3 | \bSwin\sV2      # names
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_TYPED = re.compile(r"(?<![\w.-])\d[\d,.]*\d|(?<![\w.-])\d(?!\w)")


def typed(text: str) -> list[str]:
    """Digits that were typed where the library should work them out.

    Example:
        >>> typed("Pair 1 turns {{ 2 * 3 }} times in $10^4$ steps, as `x[0]` of GPT-2 and T5 does.")
        ['1']
    """
    return _TYPED.findall(_HIDDEN.sub(" ", text))


@functools.cache
def environment() -> Environment:
    """What expressions may use: NumPy, the library, a few short names, and filters for writing."""
    made = Environment(
        undefined=StrictUndefined,
        autoescape=False,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals |= NAMES
    made.filters |= {
        "digits": digits,
        "whole": whole,
        "short": short,
        "numbers": numbers,
        "percent": percent,
    }
    return made


def value(expression: str, names: Mapping[str, Any] = {}) -> Any:
    """What a Python expression over the library gives; the files of the content are trusted.

    Raises:
        ValueError: it cannot be worked out; says which and why.
    Example:
        >>> value("10000 ** (2 * k / d)", {"k": 1, "d": 4})
        100.0
    """
    try:
        code = compile(ast.parse(expression.strip(), mode="eval"), "<expression>", "eval")
        return eval(code, NAMES | dict(names))
    except Exception as error:
        raise ValueError(f"{expression!r} cannot be worked out: {error}.") from error


def encoding(text: str) -> Any:
    """An encoding from its short text."""
    return spec.parse(text)


def row(text: str, position: int) -> list[float]:
    """The numbers of an encoding at one position."""
    return evaluation.rows(spec.parse(text), np.asarray([position]))[0].tolist()


def rows(text: str, start: int, stop: int) -> np.ndarray:
    """The numbers of an encoding at the positions from `start` up to `stop`."""
    return evaluation.rows(spec.parse(text), np.arange(start, stop))


def bias(text: str, query: int, key: int, head: int = 0) -> float:
    """What a bias adds to the score of a query and a key."""
    places = np.asarray([query]), np.asarray([key])
    return float(evaluation.bias(spec.parse(text), *places)[head, 0, 0])


def softmax(scores: Any, axis: int = -1) -> np.ndarray:
    """Shares made of scores along an axis, by default along the keys."""
    powers = np.exp(np.asarray(scores, dtype=float))
    return powers / powers.sum(axis=axis, keepdims=True)


def wrong(text: str, mistake: str, position: int) -> list[float]:
    """The numbers of an encoding at one position, with a known mistake in them."""
    made = mistakes.numbers(spec.parse(text), [position], mistakes.named(mistake))
    return made[0].ravel().tolist()


def digits(number: float, count: int = 4) -> str:
    """A number with some decimals and a true minus sign."""
    return f"{number:,.{count}f}".replace("-", "\u2212")


def whole(number: float) -> str:
    """A whole number with its thousands apart."""
    if number != round(number):
        raise ValueError(f"{number!r} is no whole number.")
    return f"{round(number):,}".replace("-", "\u2212")


def short(number: float, count: int = 3) -> str:
    """A number in a few digits that count, without exponents."""
    figures = max(count - 1 - math.floor(math.log10(abs(number))), 0) if number else 0
    text = f"{number:,.{figures}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return text.replace("-", "\u2212")


def numbers(values: Any, count: int = 4) -> str:
    """Several numbers with commas between them."""
    return ", ".join(digits(value, count) for value in values)


def percent(share: float, count: int = 0) -> str:
    """A share as per cent."""
    return f"{digits(100 * share, count)} %"


NAMES: dict[str, Any] = {
    "np": np,
    "math": math,
    "pi": math.pi,
    "posenc": posenc,
    "encoding": encoding,
    "row": row,
    "rows": rows,
    "bias": bias,
    "softmax": softmax,
    "wrong": wrong,
}
"""What expressions may name."""
