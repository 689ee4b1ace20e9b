"""The blocks of a page: fenced TOML with a word, each drawn and checked in its own way."""

from __future__ import annotations

import html
from collections.abc import Mapping
from functools import partial
from typing import Any
from urllib.parse import parse_qsl

from posenc import mistakes, spec
from posenc.explorer import fields
from posenc.explorer.rooms import ROOMS
from posenc.explorer.still import still
from posenc.study import examples, text
from posenc.study.text import Draw, Page


def blocks(page: Page) -> dict[str, Draw]:
    """What draws the blocks of a page, by their word.

    predict   `ask`, `reveal`: guess first, then look
    worked    `spec`, `positions`, `digits`, `blind`: worked out by the library, and checked to
              tell every known mistake apart
    room      `state`, `look`: a room of the explorer at some settings
    mistake   `name`, `room`: a known mistake, with the link that switches it on
    say       `words`: a formula to be read aloud
    """
    drawers = {
        "predict": _predict,
        "worked": _worked,
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
        f'<figure class="room" data-room="{address}">{_still(block["state"])}<figcaption>{look} '
        f'<a href="{address}">Open the room</a></figcaption></figure>\n'
    )


def _still(state: str) -> str:
    """The beginning of the table that a room shows, as a picture that needs no script."""
    name, _, hash = state.partition("#")
    given = dict(parse_qsl(hash))
    kind = given.get("encoding", ROOMS[name].first)
    known = {control["name"]: control for control in fields.controls(kind)}
    values = {name: _setting(known[name], value) for name, value in given.items() if name in known}
    try:
        picture = still(spec.from_data(fields.data(kind, values)))
    except ValueError:  # a trained table that ends before the picture does
        return ""
    paths = "".join(
        f'<path stroke="{colour}" d="{path}"/>' for colour, path in picture["shades"].items()
    )
    what = (
        f"{picture['rows']} rows and {picture['columns']} columns of {picture['text']} as colours"
    )
    return (
        f'<svg class="still" role="img" aria-label="{html.escape(what)}" '
        f'viewBox="0 0 {picture["columns"]} {picture["rows"]}" preserveAspectRatio="none">'
        f"{paths}</svg>"
    )


def _setting(control: Mapping[str, Any], value: str) -> Any:
    return value if "options" in control else float(value) if "." in value else int(value)


def _mistake(page: Page, block: Mapping[str, Any]) -> str:
    mistake = mistakes.named(block["name"])
    address = html.escape(_address(page, block["room"]))
    return (
        f'<article class="mistake"><h3>{html.escape(mistake.name)}</h3>'
        f"<p>{html.escape(mistake.sentence)}</p><p>The cure: {html.escape(mistake.mend)}</p>"
        f'<p><a href="{address}">See it with the mistake switched on</a></p></article>\n'
    )


def _address(page: Page, state: str) -> str:
    try:
        return page.link("room", state)
    except LookupError as error:
        page.fault(f"the room ({state}) is not right: {error.args[0]}")
        return ""
