"""A signature as HTML: a line an argument, names that lead to their entries, shapes in sight."""

from __future__ import annotations

import ast
import html
import re
from collections.abc import Callable, Iterator
from typing import Any

import griffe

_ONE_LINE = 72
_LARGE = re.compile(r"\d{5,}(\.\d+)?")
_TAG = re.compile("<[^>]*>")

Address = Callable[[str], str | None]
"""From the path of an object to the address of its entry, if it has one."""


def of_function(called: str, function: Any, address: Address) -> str:
    """`name(arguments) -> what it returns`."""
    head = _name(called)
    ending = f" -&gt; {of_type(function.returns, address)}" if function.returns else ""
    return _laid_out(head, [*_arguments(function.parameters, address)], ending)


def of_class(called: str, parameters: list[Any], address: Address) -> str:
    """`class Name(arguments)`."""
    return _laid_out(f"{_word('class')} {_name(called)}", [*_arguments(parameters, address)], "")


def of_attribute(called: str, attribute: Any, address: Address) -> str:
    """`name: type`, or a type by what it stands for."""
    if attribute.annotation is not None:
        return f"{_name(called)}: {of_type(attribute.annotation, address)}"
    return f"{_name(called)} = {of_type(attribute.value, address)}"


def of_type(annotation: Any, address: Address) -> str:
    """A type as it is written in the source."""
    if isinstance(annotation, griffe.ExprName):
        place = address(annotation.canonical_path)
        word = html.escape(annotation.name)
        return f'<a href="{html.escape(place)}">{word}</a>' if place else word
    if isinstance(annotation, griffe.Expr):
        return "".join(of_type(part, address) for part in annotation.iterate(flat=False))
    return _literal(str(annotation))


def _arguments(parameters: list[Any], address: Address) -> Iterator[str]:
    """The arguments but `self`, with the star before the first that must be named."""
    before = None
    for one in parameters:
        if one.name in ("self", "cls"):
            continue
        if one.kind is griffe.ParameterKind.keyword_only and before not in (
            griffe.ParameterKind.keyword_only,
            griffe.ParameterKind.var_positional,
        ):
            yield "*"
        before = one.kind
        stars = {"variadic positional": "*", "variadic keyword": "**"}.get(one.kind.value, "")
        shown = f'{stars}<span class="argument">{one.name}</span>'
        if one.annotation is not None:
            shown += f": {of_type(one.annotation, address)}"
        if one.default is not None and not stars:
            equals = " = " if one.annotation is not None else "="
            shown += f"{equals}{of_type(one.default, address)}"
        yield shown


def _laid_out(head: str, arguments: list[str], ending: str) -> str:
    """On one line where that is short enough, else a line an argument, as ruff writes it."""
    one_line = f"{head}({', '.join(arguments)}){ending}"
    if len(_text(one_line)) <= _ONE_LINE:
        return one_line
    lines = "".join(f"    {one},\n" for one in arguments)
    return f"{head}(\n{lines}){ending}"


def _text(shown: str) -> str:
    return html.unescape(_TAG.sub("", shown))


def _name(called: str) -> str:
    before, dot, name = called.rpartition(".")
    return f'<span class="before">{html.escape(before)}{dot}</span><b>{html.escape(name)}</b>'


def _word(word: str) -> str:
    return f'<span class="k">{word}</span>'


def _literal(text: str) -> str:
    """A string in double quotes, a large number with its thousands apart, as posenc has them."""
    if text.startswith(("'", '"')):
        return f'<span class="s">"{html.escape(text[1:-1])}"</span>'
    if _LARGE.fullmatch(text):
        return f"{ast.literal_eval(text):_}"
    return html.escape(text)
