"""Text that fits a width, broken at spaces and after commas."""

from __future__ import annotations

import re


def filled(text: str, *, width: int = 80, first: str = "", rest: str = "") -> str:
    """Text in lines of at most `width` columns, as far as its words allow.

    Unlike textwrap this also breaks after a comma, so that an encoding written as kind:field,...
    is not cut within a word.

    Args:
        text: one paragraph.
        width: columns.
        first: what the first line begins with.
        rest: what the others begin with.
    Returns:
        Lines joined by newlines.
    Example:
        >>> print(filled("rotary:dim=128,base=500000.0 and so on", width=20, rest="  "))
        rotary:dim=128,
          base=500000.0 and
          so on
    """
    lines = [first]
    for word in re.split(r"(?<= )|(?<=,)(?=[a-z])", text):
        if len(lines[-1]) + len(word.rstrip()) > width and lines[-1].strip():
            lines.append(rest)
        lines[-1] += word
    return "\n".join(line.rstrip() for line in lines)
