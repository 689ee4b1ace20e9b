"""From a written page to HTML: numbers worked out, formulas as MathML, links checked."""

from __future__ import annotations

import html
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from latex2mathml.converter import convert
from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from posenc.study.writing import numbers

_BLOCK = re.compile(r"(^```.*?^```$)", re.DOTALL | re.MULTILINE)

# A formula that is a paragraph of its own stands alone, however it is written.
_ALONE = re.compile(r"(?<=\n\n)\$([^$\n]+)\$(?=\n\n)")

_TABLE = '<div class="scroll" role="group" tabindex="0" aria-label="Table"><table>\n'
_HEAD = re.compile(r"<th([^>]*)>(<math(?:(?!</th>).)*</math>)</th>", re.DOTALL)

_MARKS = ".,;:?)"
"""Marks that stay on the line of the formula before them."""

_SHORT = 8
"""Lines that a program may print before what it prints is folded."""

_FUNCTION = re.compile(
    r"(?<!<msub>)(?<!<msup>)"  # there what follows is the small sign of the function itself
    r"(<mi>(?:sin|cos|ln|log|exp|max|min)</mi>)(?=<m(?:i|n|sub|sup|frac|sqrt)>)"
)

Draw = Callable[[dict[str, Any]], str]


@dataclass(kw_only=True)
class Page:
    """What belongs to a page while it is rendered.

    Args:
        name: for messages.
        values: the names that its expressions may use.
        link: from a scheme and what follows it to an address; raises LookupError for a dead one.
        blocks: what draws a fenced block of TOML, by its word.
        run: what a program of the page prints; None where programs are only shown.
        faults: lines that are added to as faults are found.
    """

    name: str
    values: Mapping[str, Any] = field(default_factory=dict)
    link: Callable[[str, str], str]
    blocks: Mapping[str, Draw] = field(default_factory=dict)
    run: Callable[[str], str] | None = None
    faults: list[str] = field(default_factory=list)

    def fault(self, words: str) -> None:
        """Notes a fault of this page."""
        self.faults.append(f"{self.name}: {words}")


def worked(text: str, page: Page, *, quoted: bool = False) -> str:
    """A text with its expressions worked out; a fault for each typed digit that is not quoted."""
    for digit in () if quoted else numbers.typed(text):
        page.fault(f"{digit!r} is typed by hand; write an expression, {{{{ ... }}}}.")
    try:
        return numbers.environment().from_string(text).render(**page.values)
    except Exception as error:  # whatever an expression raises is a fault of the text
        page.fault(f"cannot be worked out: {error}")
        return text


def rendered(text: str, page: Page) -> str:
    """Markdown with expressions as HTML. What stands in a block is left to the block."""
    parts = _BLOCK.split(_ALONE.sub(r"$$\1$$", text))
    parts[::2] = [worked(part, page) for part in parts[::2]]
    made = _markdown(page).render("".join(parts))
    if "<p>|" in made:
        page.fault("a table's rows do not follow its head line by line.")
    return _HEAD.sub(_named, made).replace("<th></th>", "<td></td>")


def _named(head: re.Match[str]) -> str:
    """A head of a table that is a formula alone, with words that every reader hears."""
    words = html.escape(html.unescape(re.sub("<[^>]*>", "", head[2])))
    shown = f'<span aria-hidden="true">{head[2]}</span>'
    return f'<th{head[1]}>{shown}<span class="hidden">{words}</span></th>'


def inline(text: str, page: Page, *, quoted: bool = False) -> str:
    """The same for a line or two, without paragraphs; what is `quoted` has digits of others."""
    return _markdown(page).renderInline(worked(text, page, quoted=quoted))


def formula(latex: str, *, block: bool = False) -> str:
    """A formula as MathML, with room between a function and what it is taken of."""
    made = convert(latex, display="block" if block else "inline")
    return _FUNCTION.sub(r'\1<mspace width="0.17em"/>', made)


def _markdown(page: Page) -> MarkdownIt:
    made = MarkdownIt("commonmark", {"html": False}).enable("table")
    made.inline.ruler.before("escape", "formula", _formula)
    made.add_render_rule("formula", lambda self, tokens, at, *_: _drawn(tokens[at]))
    made.add_render_rule("table_open", lambda *_: _TABLE)
    made.add_render_rule("table_close", lambda *_: "</table></div>\n")
    made.add_render_rule("link_open", lambda self, tokens, at, *_: _link(tokens[at], page))
    made.add_render_rule("fence", lambda self, tokens, at, *_: _fence(tokens[at], page))
    made.validateLink = lambda url: True  # type: ignore[method-assign]  # schemes of our own
    made.normalizeLink = lambda url: url  # type: ignore[method-assign]
    return made


def _formula(state: StateInline, silent: bool) -> bool:
    """A formula between two dollar signs, or between two pairs of them to stand alone."""
    sign = "$$" if state.src.startswith("$$", state.pos) else "$"
    start = state.pos + len(sign)
    end = state.src.find(sign, start)
    if not state.src.startswith(sign, state.pos) or end < 0:
        return False
    rest = state.src[end + len(sign) :]
    marks = rest[: len(rest) - len(rest.lstrip(_MARKS))]
    if not silent:
        token = state.push("formula", "", 0)
        token.content, token.markup, token.info = state.src[start:end], sign, marks
    state.pos = end + len(sign) + len(marks)
    return True


def _drawn(token: Token) -> str:
    """A formula; one that stands alone can be moved sideways where the page is too narrow."""
    if token.markup == "$$":
        made = formula(token.content, block=True)
        return f'<span class="display" tabindex="0">{made}</span>{token.info}'
    made = formula(token.content)
    return f'<span class="glued">{made}{token.info}</span>' if token.info else made


def _link(token: Token, page: Page) -> str:
    target = str(token.attrs["href"])
    scheme, _, rest = target.partition(":")
    try:
        address = page.link(scheme, rest)
    except LookupError as error:
        page.fault(f"the link ({target}) is dead: {error.args[0]}")
        address = ""
    kind = f' class="{scheme}"' if scheme == "claim" else ""
    return f'<a href="{html.escape(address)}"{kind}>'


def _fence(token: Token, page: Page) -> str:
    word = token.info.strip()
    if word in ("", "python", "text", "toml"):
        return _code(token.content) + (_output(token.content, page) if word == "python" else "")
    if word not in page.blocks:
        page.fault(f"there is no block {word!r}; there are {', '.join(page.blocks)}.")
        return ""
    try:
        return page.blocks[word](tomllib.loads(token.content))
    except (tomllib.TOMLDecodeError, KeyError, ValueError, TypeError) as error:
        page.fault(f"the block {word!r} is not right: {error}")
        return ""


def _code(written: str) -> str:
    return f'<pre tabindex="0"><code>{html.escape(written)}</code></pre>\n'


def _output(program: str, page: Page) -> str:
    """What a program prints, below it."""
    if page.run is None:
        return ""
    try:
        printed = page.run(program)
    except ValueError as error:
        page.fault(f"a program fails: {error}")
        return ""
    if not printed:
        return ""
    folded = "" if printed.count("\n") <= _SHORT else "<details><summary>What it prints</summary>"
    shown = f'<pre class="output" tabindex="0"><samp>{html.escape(printed)}</samp></pre>'
    return f"{folded}{shown}{'</details>' if folded else ''}\n"
