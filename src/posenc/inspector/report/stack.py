"""Which layers of a stack an encoding acts in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from posenc.inspector.reading import Part, Use
from posenc.inspector.report.effect import ranges


def layers(part: Part, use: Use) -> str:
    """The layers of a use in few words: "all but every 6th: 0-4, 6-10, ..., 24-25 (22 of 26)"."""
    return in_words(use.layers, depth(part, use)) if use.layers else ""


def depth(part: Part, use: Use) -> int | None:
    """How many layers the stack of a use has, where its uses tell."""
    stack = [other for other in part.uses if other.place == use.place]
    counts: list[Any] = [
        value.value
        for other in stack
        for value in other.values
        if value.name in ("layers", "num_hidden_layers")
    ]
    known = [count for count in counts if isinstance(count, int) and count > max(use.layers)]
    every = {layer for other in stack for layer in other.layers}
    if len(stack) > 1 and every == set(range(len(every))):  # kinds that fill up a stack
        known.append(len(every))
    return max(known, default=None)


def in_words(acting: Sequence[int], of: int | None) -> str:
    """Layers in few words.

    Args:
        acting: their numbers from 0, rising.
        of: how many layers the stack has, or None where that is not known.
    Example:
        >>> in_words(range(4), 4), in_words([0, 2, 3], 4)
        ('all 4', '0, 2-3 (3 of 4)')
        >>> in_words([5, 11, 17, 23, 29], 32)
        'every 6th: 5, 11, ..., 29 (5 of 32)'
        >>> in_words([i for i in range(34) if i % 6 != 5], 34)
        'all but every 6th: 0-4, 6-10, ..., 30-33 (29 of 34)'
    """
    if len(acting) == of:
        return f"all {of}"
    written = ranges(acting).split(", ")
    if len(written) > 4:
        written[2:-1] = ["..."]
    share = "" if of is None else f" ({len(acting)} of {of})"
    return f"{_pattern(acting, of or acting[-1] + 1)}{', '.join(written)}{share}"


def _pattern(acting: Sequence[int], of: int) -> str:
    """How layers repeat, where one in so many acts or does not act."""
    if len(acting) < 3:
        return ""
    acts = set(acting)
    others = [layer for layer in range(of) if layer not in acts]
    if step := _step(acting, of):
        return f"every {_ordinal(step)}: "
    if step := _step(others, of):
        return f"all but every {_ordinal(step)}: "
    return ""


def _step(indices: Sequence[int], of: int) -> int | None:
    """The even step between numbers that reach from one end to the other, if there is one."""
    steps = {after - before for before, after in zip(indices, indices[1:], strict=False)}
    step = steps.pop() if len(steps) == 1 else 0
    reaches = step > 1 and indices[0] < step and indices[-1] + step >= of
    return step if reaches else None


def _ordinal(n: int) -> str:
    ending = "th" if n // 10 % 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{ending}"
