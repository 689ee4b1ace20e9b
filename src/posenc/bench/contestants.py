"""Who takes part: posenc's own ways, and the other libraries that are installed."""

from __future__ import annotations

from posenc import rotary
from posenc.bench import others, ours
from posenc.bench.contestant import Contestant, found

_ALL = (*ours.WAYS, *others.LIBRARIES)


def installed(layout: rotary.Layout) -> list[type[Contestant]]:
    """Those who can take part here, and turn pairs of this layout."""
    return [kind for kind in _ALL if layout in kind.layouts and found(kind.needs)]
