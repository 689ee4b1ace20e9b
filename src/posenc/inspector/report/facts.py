"""Facts that a use states beside its encoding: what its positions count, and values by name."""

from __future__ import annotations

import math
from typing import Any

from posenc.inspector.reading import Use

# What one step of a position is, by a word of the place; tokens where none of these stands there.
_UNITS = {
    "character": "characters",
    "frame": "frames",
    "sound": "frames",
    "audio": "frames",
    "picture": "cells",
    "image": "cells",
    "patch": "cells",
    "pixel": "cells",
    "tubelet": "cells",
    "visual": "cells",
    "object": "steps",
    "decoder queries": "steps",
    "states": "steps",
    "gates": "steps",
    "box": "steps",
    "edges": "steps",
    "horizontal": "steps",
    "vertical": "steps",
    "flow": "steps",
    "noise": "steps",
    "diffusion": "steps",
    "delay": "steps",
    "duration": "steps",
}


def unit(use: Use) -> str:
    """What positions of a use count: "tokens", "characters", "frames", "cells" or "steps".

    Example:
        >>> unit(Use(kind="sinusoidal", place="encoder frame embeddings"))
        'frames'
    """
    return next((name for word, name in _UNITS.items() if word in use.place), "tokens")


def value(use: Use, name: str) -> Any:
    """A setting that a use rests on, by its name; None where it rests on no such setting."""
    return next((stated.value for stated in use.values if stated.name == name), None)


def grid(use: Use) -> tuple[int, ...]:
    """Cells along each side of the grid that a use is made for; empty where nothing says so."""
    sides = value(use, "grid")
    if not isinstance(sides, list | tuple) or not sides:
        return ()
    return tuple(sides) if all(type(side) is int and side > 0 for side in sides) else ()


def grid_rows(use: Use, rows: int) -> tuple[int, tuple[int, ...], int] | None:
    """How a table is shared out: rows before the grid, the sides of the grid, rows after it.

    None where the settings do not say so, or say something else than the table.
    """
    before, after = value(use, "prefix_rows"), value(use, "suffix_rows")
    before, after = (extra if type(extra) is int else 0 for extra in (before, after))
    sides = grid(use)
    fits = sides and before + math.prod(sides) + after == rows
    return (before, sides, after) if fits else None
