"""The blocks of a page: fenced TOML with a word, each drawn and checked in its own way."""

from __future__ import annotations

import html
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from posenc import mistakes
from posenc.explorer.methods import METHODS
from posenc.explorer.still import still
from posenc.study.writing import examples, numbers, rooms, text
from posenc.study.writing.text import Draw, Page


def blocks(page: Page) -> dict[str, Draw]:
    """What draws the blocks of a page, by their word.

    predict   `ask`, `reveal`: guess first, then look
    worked    `spec`, `positions`, `digits`, `blind`: worked out by the library, and checked to
              tell every known mistake apart
    apart     `right`, `wrong` by name, `by_hand`, `digits`: expressions for the numbers of an
              example that a page works out in its own way, and for what mistakes make of them;
              checked to differ
    room      `state`, `look`: a room of the explorer at some settings
    mistake   `name`, `room`: a mistake that the library knows, with the link that switches it on;
              of any other `sentence`, `mend`, and two expressions `right` and `wrong` that differ
    say       `words`: a formula to be read aloud
    """
    drawers = {
        "predict": _predict,
        "worked": _worked,
        "apart": _apart,
        "room": _room,
        "mistake": _mistake,
        "say": _say,
    }
    return {word: partial(draw, page) for word, draw in drawers.items()}


def _predict(page: Page, block: Mapping[str, Any]) -> str:
    ask, reveal = (text.inline(block[name], page) for name in ("ask", "reveal"))
    return f'<details class="predict"><summary>{ask}</summary><p>{reveal}</p></details>\n'


def _say(page: Page, block: Mapping[str, Any]) -> str:
    return f'<blockquote class="say"><p>{text.inline(block["words"], page)}</p></blockquote>\n'


def _worked(page: Page, block: Mapping[str, Any]) -> str:
    positions, digits = block["positions"], block.get("digits", 4)
    for fault in examples.faults(block["spec"], positions, digits=digits, blind=block.get("blind")):
        page.fault(fault)
    parts = [_steps(block["spec"], position, digits) for position in positions]
    rest = "".join(f'<details class="worked">{part}</details>\n' for part in parts[1:])
    return f'<details class="worked" open>{parts[0]}</details>\n{rest}{_blind(block)}'


def _apart(page: Page, block: Mapping[str, Any]) -> str:
    digits = block.get("digits", 4)
    right = numbers.value(block["right"], page.values)
    by_hand = numbers.value(block["by_hand"], page.values) if "by_hand" in block else None
    others = {
        text.inline(name, page): numbers.value(wrong, page.values)
        for name, wrong in block["wrong"].items()
    }
    for fault in examples.confused(right, others, by_hand=by_hand, digits=digits):
        page.fault(fault)
    rows = "".join(
        f'<tr><th scope="row">{name}</th><td>{numbers.numbers(np.ravel(values), digits)}</td></tr>'
        for name, values in {"as it should be": right, **others}.items()
    )
    return (
        '<div class="scroll apart" role="group" tabindex="0" aria-label="Right and wrong">'
        f"<table><thead><tr><th>what is done</th><th>what comes out</th></tr></thead>"
        f"<tbody>{rows}</tbody></table></div>\n"
    )


def _blind(block: Mapping[str, Any]) -> str:
    """What an example cannot show, in words."""
    told = "; ".join(f"{name}, as {why}" for name, why in block.get("blind", {}).items())
    return f'<p class="hint">These digits cannot show: {html.escape(told)}.</p>\n' if told else ""


def _steps(code: str, position: int, digits: int) -> str:
    data = examples.steps(code, position)
    lines = [f"<summary>{html.escape(data['title'])}</summary>"]
    for step in data["steps"]:
        lines.append(f"<h3>{html.escape(step['name'])}</h3>")
        lines.append(f'<pre tabindex="0"><code>{html.escape(step["formula"])}</code></pre><table>')
        lines += [_line(line, digits) for line in step["lines"]]
        lines.append("</table>")
    lines.append("<h3>Answer</h3><table>")
    lines += [_line(line, digits) for line in data["answers"]]
    return "".join(lines) + "</table>"


def _line(line: Mapping[str, Any], digits: int) -> str:
    values = line["result"] if isinstance(line["result"], (list, tuple)) else [line["result"]]
    result = ", ".join(_written(value, digits) for value in values)
    name, worked = html.escape(line["name"]), html.escape(line["substituted"])
    return f'<tr><th scope="row">{name}</th><td>{worked}</td><td>{result}</td></tr>'


def _written(value: float, digits: int) -> str:
    shown = f"{value:,}" if isinstance(value, int) else f"{value:,.{digits}f}"
    return shown.replace("-", "\u2212")


def _room(page: Page, block: Mapping[str, Any]) -> str:
    address = html.escape(_address(page, block["state"]))
    look = text.inline(block["look"], page)
    if not address:
        return ""
    return (
        f'<figure class="room" data-room="{address}"><figcaption>{look} '
        f'<a href="{address}">Open the room</a></figcaption>{_still(block["state"])}</figure>\n'
    )


_OF_TABLES = ("waves", "table", "clock", "rotation", "bias", "bugs")
"""Rooms whose subject is the table itself, so that a picture of it shows what they show."""


def _still(state: str) -> str:
    """The beginning of the table that a room shows, as a picture that needs no script."""
    opened = rooms.opened(state)
    if opened.room not in _OF_TABLES:
        return ""
    try:
        picture = still(opened.encoding)
    except ValueError:  # a trained table that ends before the picture does
        return ""
    paths = "".join(
        f'<path stroke="{colour}" d="{path}"/>' for colour, path in picture["shades"].items()
    )
    what = (
        f"{METHODS[opened.kind].title}: the first {picture['rows']} rows and "
        f"{picture['columns']} columns"
    )
    return (
        f'<div class="still"><svg aria-hidden="true" '
        f'viewBox="0 0 {picture["columns"]} {picture["rows"]}" preserveAspectRatio="none">'
        f'{paths}</svg><p class="hint">{html.escape(what)}, as colours.</p></div>'
    )


def _mistake(page: Page, block: Mapping[str, Any]) -> str:
    known = next((one for one in mistakes.MISTAKES if one.name == block["name"]), None)
    if known is None:
        _check_differs(page, block)
        open_it = "See it in the explorer"
        sentence, mend = (text.inline(block[name], page) for name in ("sentence", "mend"))
    else:
        open_it = "See it with the mistake switched on"
        sentence, mend = html.escape(known.sentence), html.escape(known.mend)
    return (
        f'<article class="mistake"><h3>{html.escape(block["name"])}</h3>'
        f"<p>{sentence}</p><p>The cure: {mend}</p>{_way(page, block, open_it)}</article>\n"
    )


def _check_differs(page: Page, block: Mapping[str, Any]) -> None:
    """A mistake that only the page knows: its numbers must not be the right ones."""
    right, wrong = (numbers.value(block[name], page.values) for name in ("right", "wrong"))
    if np.shape(right) == np.shape(wrong) and np.allclose(right, wrong, rtol=0, atol=5e-5):
        page.fault(f"the mistake {block['name']!r} changes nothing: both are {right}.")


def _way(page: Page, block: Mapping[str, Any], words: str) -> str:
    """The link to a room that shows a mistake, if there is one."""
    if "room" not in block:
        return ""
    address = html.escape(_address(page, block["room"]))
    return f'<p><a href="{address}">{words}</a></p>'


def _address(page: Page, state: str) -> str:
    try:
        return page.link("room", state)
    except LookupError as error:
        page.fault(f"the room ({state}) is not right: {error.args[0]}")
        return ""
