"""What is found out about a table: the best guess, the next one, and how well they fit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from posenc import _text, spec as specs
from posenc.mistakes import Mistake

KNOWN = 0.05
"""A guess that leaves more than this part of a table unexplained has not recognised it."""


@dataclass(frozen=True, kw_only=True)
class Guess:
    """One way to make a table.

    Args:
        spec: the encoding.
        form: what the table holds, for example "vectors" or "cosines, one a pair".
        residual: what is left over, as a part of how far the numbers of the table spread.
        mistake: the known mistake with which the encoding gives the table, or None.
        scale: the table is this many times what the encoding gives.
        note: what else there is to say, or "".
        oddity: how unusual this would be; of guesses that fit alike the least odd is believed.
    """

    spec: Any
    form: str
    residual: float
    mistake: Mistake | None = None
    scale: float = 1.0
    note: str = ""
    oddity: int = 0

    def to_data(self) -> dict[str, Any]:
        """The guess as plain data, ready for JSON."""
        return {
            "spec": specs.to_data(self.spec),
            "form": self.form,
            "mistake": self.mistake.to_data() if self.mistake else None,
            "scale": self.scale,
            "note": self.note,
            "residual": self.residual,
        }

    def __str__(self) -> str:
        mistake = f" with the mistake '{self.mistake.name}'" if self.mistake else ""
        return f"{specs.to_text(self.spec)}{mistake}, {self.form} (residual {self.residual:.1e})"


def ranked(guesses: Iterable[Any]) -> list[Any]:
    """The best one first: those that fit about alike by their oddity, then in the order given."""
    guesses = list(guesses)
    if not guesses:
        return []
    alike = 1.2 * min(guess.residual for guess in guesses) + 1e-6
    best = [guess for guess in guesses if guess.residual <= alike]
    rest = [guess for guess in guesses if guess.residual > alike]
    by_oddity = sorted(best, key=lambda guess: guess.oddity)
    return by_oddity + sorted(rest, key=lambda guess: guess.residual)


@dataclass(frozen=True, kw_only=True)
class Identity:
    """The answer of `identify`; `print` shows it.

    Args:
        shape: of the table.
        best: the guess that fits best, or None if the table has no form that an encoding has.
        runner_up: the guess that comes next.
        notes: sentences about how the table was read and what it cannot tell.
    """

    shape: tuple[int, ...]
    best: Guess | None
    runner_up: Guess | None = None
    notes: tuple[str, ...] = ()

    @property
    def known(self) -> bool:
        """Whether the best guess fits so well that the table is recognised."""
        return self.best is not None and self.best.residual < KNOWN

    @property
    def right(self) -> bool:
        """Whether the table is recognised and has no mistake that does harm."""
        return self.known and not self._wrong

    @property
    def _wrong(self) -> bool:
        mistake = self.best.mistake if self.best else None
        return mistake is not None and mistake.severity == "wrong"

    def to_data(self) -> dict[str, Any]:
        """The answer as plain data, ready for JSON."""
        return {
            "shape": list(self.shape),
            "known": self.known,
            "right": self.right,
            "best": self.best.to_data() if self.best else None,
            "runner_up": self.runner_up.to_data() if self.runner_up else None,
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        """Lines of at most 80 columns."""
        rows = [("table", " x ".join(map(str, self.shape)))]
        best = self.best
        if best is None:
            rows.append(("encoding", "no known encoding has a table of this form"))
        elif not self.known:
            rows.append(("encoding", f"no known encoding; closest is {best}"))
        else:
            scale = "" if best.scale == 1 else f", {best.scale:.6g} times as large"
            rows.append(("encoding", specs.to_text(best.spec)))
            rows.append(("form", f"{best.form}{scale} (residual {best.residual:.1e})"))
            if best.note:
                rows.append(("note", best.note))
            if best.mistake:
                rows.append((best.mistake.severity, best.mistake.sentence))
                rows.append(("mend", best.mistake.mend))
            else:
                rows.append(("mistake", "none known"))
        if self.runner_up:
            rows.append(("runner-up", str(self.runner_up)))
        rows += [("note", note) for note in self.notes]
        lines = [_text.filled(text, first=f"{name:<11}", rest=" " * 11) for name, text in rows]
        return "\n".join(lines)
