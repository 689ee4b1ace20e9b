"""What a known mistake is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

Severity = Literal["harmless", "wrong"]


@dataclass(frozen=True, kw_only=True)
class Mistake:
    """One way to get an encoding wrong: a step of its recipe, and what is done there instead.

    Args:
        name: in a few words.
        kinds: the encodings in which it is made.
        step: the step of the recipe that differs; see `numbers`.
        wrong: takes the right value of that step and the encoding, gives the wrong value.
        sentence: what is wrong, and how it shows.
        mend: what to do instead.
        severity: "wrong"; or "harmless" where a model trained with it loses nothing, although
            weights that were trained without it may not fit.
        source: a public report, or "".
        needs: whether an encoding of the right kind has the setting that is got wrong.
    """

    name: str
    kinds: tuple[type, ...]
    step: str
    wrong: Callable[[Any, Any], Any] = field(repr=False)
    sentence: str
    mend: str
    severity: Severity = "wrong"
    source: str = ""
    needs: Callable[[Any], bool] = field(default=lambda encoding: True, repr=False)

    def to_data(self) -> dict[str, str]:
        """What is said about it, ready for JSON."""
        words = ("name", "severity", "sentence", "mend", "source")
        return {word: getattr(self, word) for word in words}
