"""A worked example as data: steps of lines, each line a formula with its numbers and its result."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from posenc import _checks, spec

Number = int | float
Result = Number | tuple[Number, ...]


@dataclass(frozen=True)
class Line:
    """One result and how it comes about.

    Args:
        name: what the line works out, for example "pair 1".
        template: the formula as a Python expression, with a pair of braces for each number; ""
            where there is nothing to work out.
        numbers: what goes into the braces, with all their digits.
        result: a number, or several.
    Example:
        >>> line = Line("pair 1", "{} ** (2 * {} / {})", (10_000.0, 1, 4), 100.0)
        >>> line.substituted()
        '10000 ** (2 * 1 / 4)'
    """

    name: str
    template: str
    numbers: tuple[Number, ...]
    result: Result

    def substituted(self, digits: int = 4) -> str:
        """The formula with the numbers in it, each shown as `written` does."""
        text = self.template.format(*(written(number, digits) for number in self.numbers))
        return text.replace("+ -", "- ").replace("- -", "+ ")


@dataclass(frozen=True)
class Step:
    """One formula, worked out for several pairs, features, heads or keys.

    Args:
        name: what the step finds.
        formula: in plain signs, one or more lines of text.
        lines: the formula worked out.
    """

    name: str
    formula: str
    lines: tuple[Line, ...]


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """An encoding worked through by hand: the answer, and every step that leads to it.

    Args:
        title: what is worked out.
        spec: the encoding.
        steps: in order, each built on those before it.
        answers: the whole results, whatever the steps left out.
        note: what the steps left out; "" where they show everything.
    """

    title: str
    spec: Any
    steps: tuple[Step, ...]
    answers: tuple[Line, ...]
    note: str = ""

    def text(self, *, width: int = 80, digits: int = 4) -> str:
        """The explanation to read: no line is longer than `width`.

        Args:
            width: columns, 40 or more.
            digits: decimals shown. Numbers that would lose nearly all of theirs are written as
                9.1000e-05; whole numbers without decimals.
        Returns:
            Lines of text without one at the end.
        Raises:
            TypeError: `width` or `digits` is no integer.
            ValueError: `width` is below 40, or `digits` below 1.
        """
        _checks.integer("width", width, at_least=40)
        _checks.integer("digits", digits, at_least=1)
        # With spaces a long spec breaks between its fields, and can still be read back.
        head = [self.title, spec.to_text(self.spec).replace(",", ", "), self.note]
        parts = ["\n".join(_filled(text, width, "", "") for text in head if text)]
        for i, step in enumerate(self.steps, start=1):
            parts.append(_section(f"{i}. {step.name}", step.formula, step.lines, width, digits))
        parts.append(_section("Answer", "", self.answers, width, digits))
        return "\n\n".join(parts)

    def __str__(self) -> str:
        return self.text()

    def to_data(self, *, digits: int = 4) -> dict[str, Any]:
        """The explanation as plain data, ready for JSON; results keep all their digits.

        Args:
            digits: decimals in the substituted formulas, which are text.
        Returns:
            A dict of strings, numbers, lists and such dicts.
        Raises:
            TypeError: `digits` is no integer.
            ValueError: `digits` is below 1.
        """
        _checks.integer("digits", digits, at_least=1)
        steps = [
            {
                "name": step.name,
                "formula": step.formula,
                "lines": [_line_data(line, digits) for line in step.lines],
            }
            for step in self.steps
        ]
        return {
            "title": self.title,
            "spec": spec.to_data(self.spec),
            "note": self.note,
            "steps": steps,
            "answers": [_line_data(line, digits) for line in self.answers],
        }


def written(value: Result, digits: int = 4) -> str:
    """A number, or several in round brackets, to `digits` decimals; long lists are cut.

    Example:
        >>> written((2.0, 0.02, 0.9999800000667, 0.0000123))
        '(2, 0.0200, 1.0000, 1.2300e-05)'
    """
    if isinstance(value, tuple):
        shown = [written(number, digits) for number in value]
        if len(shown) > 8:
            shown[4:-2] = ["..."]
        return f"({', '.join(shown)})"
    if isinstance(value, int):
        return str(value)
    if value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    fixed = 10.0 ** (1 - digits) <= abs(value) < 1e15
    return f"{value:.{digits}f}" if fixed else f"{value:.{digits}e}"


def _line_data(line: Line, digits: int) -> dict[str, Any]:
    result = list(line.result) if isinstance(line.result, tuple) else line.result
    return {"name": line.name, "substituted": line.substituted(digits), "result": result}


def _section(name: str, formula: str, lines: Sequence[Line], width: int, digits: int) -> str:
    """A heading, the formula, and the lines in columns."""
    shown = [_filled(name, width, "", "   ")]
    shown += [_filled(part, width, "   ", "       ") for part in formula.splitlines()]
    if not lines:
        return "\n".join(shown)
    rows = [(line.name, line.substituted(digits), written(line.result, digits)) for line in lines]
    names = max(len(label) for label, _, _ in rows)
    results = max((len(result) for _, _, result in rows if "," not in result), default=0)
    room = width - names - results - 10
    middle = max((len(working) for _, working, _ in rows if len(working) <= room), default=0)
    for label, working, result in rows:
        left = f"{label:<{names}}"
        if middle or working:
            left += f"  {working:<{middle}}"
        shown.append(_filled(f"{left} = {result}", width, "     ", "         "))
    return "\n".join(shown)


def _filled(text: str, width: int, first: str, rest: str) -> str:
    """Text as it is where it fits; without its columns, and within `width`, where it does not."""
    if len(first) + len(text) <= width:
        return first + text
    return textwrap.fill(
        " ".join(text.split()),
        width,
        initial_indent=first,
        subsequent_indent=rest,
        break_on_hyphens=False,
    )
