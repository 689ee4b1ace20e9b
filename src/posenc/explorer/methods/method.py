"""What the page says of one encoding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

STEPS = ("tokens", "embeddings", "queries and keys", "scores", "weights", "mix of values")
"""A Transformer, as far as positions are concerned; the last four repeat in every layer."""

QUESTIONS = (
    "Where it acts",
    "Trained numbers",
    "What a score depends on",
    "Beyond the trained length",
    "Where you meet it",
    "Source",
)


@dataclass(frozen=True, kw_only=True)
class Method:
    """One encoding as the page presents it.

    Args:
        encoding: what the page shows first.
        name: where there is little room.
        title: where there is more.
        lead: two sentences: what it does, and where it acts.
        formulas: LaTeX, each to be kept on one line.
        aloud: the formula in words, for reading aloud.
        acts: which step of a Transformer it touches, one of `STEPS`.
        notes: what to notice, each a heading and a few sentences.
        facts: its column of a comparison, one text for each of `QUESTIONS`.
    """

    encoding: Any
    name: str
    title: str
    lead: str
    formulas: tuple[str, ...]
    aloud: str
    acts: str
    notes: tuple[tuple[str, str], ...]
    facts: tuple[str, ...]
