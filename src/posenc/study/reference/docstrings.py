"""A docstring of posenc as HTML: words, formulas in plain signs, arguments, example, source."""

from __future__ import annotations

import html
import re
import textwrap
from collections.abc import Callable

import pygments
from markdown_it import MarkdownIt
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonConsoleLexer

_SECTIONS = {
    "Args": "Arguments",
    "Yields": "Yields",
    "Returns": "Returns",
    "Raises": "Raises",
    "Example": "Example",
}
_HEAD = re.compile(f"({'|'.join(_SECTIONS)}):")
_TABLE = '<div class="scroll" role="group" tabindex="0" aria-label="Table"><table>\n'

Code = Callable[[str], str]
"""From a name between backticks to HTML, with a link where the name is known."""


def written(text: str, code: Code) -> tuple[str, str]:
    """The first sentence of a docstring, and the rest of it."""
    text, _, source = text.partition("\nSource:")
    words, sections = _split(text)
    sentence, _, about = words.partition("\n\n")
    parts = [_paragraphs(about, code)]
    parts += [_section(name, sections[name], code) for name in _SECTIONS if name in sections]
    if source:
        parts.append(f'<p class="hint">Source: {_inline(" ".join(source.split()), code)}</p>')
    return _inline(sentence, code), "\n".join(parts)


def plain(name: str) -> str:
    """A name that leads nowhere."""
    return f"<code>{html.escape(name)}</code>"


def _split(text: str) -> tuple[str, dict[str, str]]:
    """Words, and sections by name: a name, a colon and lines that stand further in."""
    words: list[str] = []
    sections: dict[str, list[str]] = {}
    lines = words
    for line in text.splitlines():
        if head := _HEAD.fullmatch(line):
            lines = sections.setdefault(head[1], [])
            continue
        if line and not line.startswith(" ") and lines is not words:
            lines = words
            lines.append("")  # a new paragraph
        lines.append(line)
    return "\n".join(words), {
        name: textwrap.dedent("\n".join(inside)).strip("\n") for name, inside in sections.items()
    }


def _section(name: str, text: str, code: Code) -> str:
    head = f'<p class="part">{_SECTIONS[name]}</p>\n'
    if name == "Example":
        return head + _example(text)
    entries = _named(text) if name in ("Args", "Raises") else {}
    if not entries:
        return head + _paragraphs(text, code)
    rows = "".join(
        f"<div><dt><code>{name}</code></dt><dd>{_words(words, code)}</dd></div>"
        for name, words in entries.items()
    )
    return f'{head}<dl class="takes">{rows}</dl>'


def _named(text: str) -> dict[str, str]:
    """The entries of a section such as Args: a name, a colon, and words.

    Example:
        >>> _named("dim: width\\n    of a head.\\nbase: a number.")
        {'dim': 'width\\nof a head.', 'base': 'a number.'}
    """
    found = re.split(r"^(\w+): ", text, flags=re.MULTILINE)
    return {
        name: "\n".join(line.strip() for line in words.strip().splitlines())
        for name, words in zip(found[1::2], found[2::2], strict=True)
    }


def _paragraphs(text: str, code: Code) -> str:
    parts = (part.strip("\n") for part in re.split(r"\n\s*\n", text) if part.strip())
    return "\n".join(_paragraph(part, code) for part in parts)


def _paragraph(text: str, code: Code) -> str:
    if text.lstrip().startswith(">>>"):
        return _example(textwrap.dedent(text))
    if text.startswith("|"):
        return _markdown(code).render(text)
    if _is_prose(text):
        return f"<p>{_inline(text, code)}</p>"
    return f'<pre class="signs" tabindex="0"><code>{_inline(text, code)}</code></pre>'


def _is_prose(text: str) -> bool:
    """Prose ends with a full stop. A formula or a small table does not, and keeps its lines."""
    return text.endswith((".", ".)", ":")) and not text.endswith("...")


def _example(text: str) -> str:
    """Lines of an interpreter, with classes for what is a string, a number, an answer."""
    shown = pygments.highlight(text, PythonConsoleLexer(), HtmlFormatter(nowrap=True))
    return f'<pre tabindex="0"><code>{shown}</code></pre>'


def _words(text: str, code: Code) -> str:
    """A line or two, or a list with a dash before each item."""
    return _markdown(code).render(text) if "\n- " in text else _inline(text, code)


def _inline(text: str, code: Code) -> str:
    return _markdown(code).renderInline(text)


def _markdown(code: Code) -> MarkdownIt:
    """Without emphasis: stars and underscores are those of formulas."""
    made = MarkdownIt("zero").enable(["backticks", "table", "list"])
    made.add_render_rule("code_inline", lambda self, tokens, at, *_: code(tokens[at].content))
    made.add_render_rule("table_open", lambda *_: _TABLE)
    made.add_render_rule("table_close", lambda *_: "</table></div>\n")
    return made
