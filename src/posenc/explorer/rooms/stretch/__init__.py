"""Stretch: what rules for longer texts do to each rotary pair."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from posenc import _checks
from posenc.explorer.fields.ranges import RANGES
from posenc.explorer.rooms.controls import COLUMN, POSITION
from posenc.explorer.rooms.room import Picture, Room
from posenc.explorer.rooms.stretch import effects
from posenc.inspector.report.turning import rotary_of

LONGEST = 1 << 24
"""Tokens of the longest text that is wanted of a model."""

# The same name as the field that some rules have: switching between rules keeps the length.
_TRAINED: dict[str, Any] = {
    "name": "original_length",
    "label": "Trained length",
    "group": "room",
    "when": {"scaling": ["none", "linear", "ntk", "proportional"]},
    **RANGES["original_length"],
    "default": 4096,
}
# The cursor stays in the first row of the table, which this room does not draw.
_STILL = POSITION | {"default": 0, "needs": "rows"}
_WANTED: dict[str, Any] = {
    "name": "wanted",
    "label": "Wanted length",
    "group": "room",
    "unit": "tokens",
    "min": 16,
    "max": LONGEST,
    "step": 1,
    "stops": [part << power for power in range(4, 24) for part in (2, 3)][1:-1],
    "default": 16_384,
}


def answer(encoding: Any, *, original_length: str = "4096", wanted: str) -> Mapping[str, Any]:
    """What the rule of a rotary encoding does at a length, beside what the others would do.

    Args:
        encoding: a rotary encoding, or one that has it inside.
        original_length: tokens of the texts in training, where the rule does not know it.
        wanted: tokens of the text in question.
    Returns:
        See `effects.stretch`.
    Raises:
        TypeError: nothing turns by a plain rotary encoding.
        ValueError: a length is no number of tokens.
    """
    rotary = rotary_of(encoding)
    if rotary is None:
        raise TypeError(
            "the room Stretch shows rotary encodings, because its rules slow their pairs; got "
            f"{type(encoding).__name__}."
        )
    lengths = {"original_length": original_length, "wanted": wanted}
    trained, longer = (_length(name, text) for name, text in lengths.items())
    return effects.stretch(rotary, trained=trained, wanted=longer)


def _length(name: str, text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        raise ValueError(f"`{name}` must be a number of tokens; got {text[:30]!r}.") from None
    _checks.integer(name, value, at_least=1)
    if value > LONGEST:
        raise ValueError(
            f"`{name}` must be at most {LONGEST} here, as far as the room draws; got {value}."
        )
    return value


_PYTHON = """import posenc
from posenc import frequencies

encoding = {encoding}
rotary = getattr(encoding, "rotary", encoding)
before = frequencies.wavelengths(rotary.unscaled)
after = frequencies.wavelengths(rotary.frequencies_at({wanted}))
"""

ROOM = Room(
    title="Stretch",
    question="How does a model trained on short texts read longer ones?",
    lead="A rotary pair that never finished a turn in training meets new angles in a longer text. "
    "Rules slow the pairs to prevent that. Choose one by its name, or read a model's own settings "
    "at the end of the page.",
    first="rotary",
    begins={"dim": 128, "scaling": "yarn"},
    shows=lambda encoding: rotary_of(encoding) is not None,
    controls=(COLUMN | {"default": 20}, _TRAINED, _WANTED, _STILL),
    pictures=(
        Picture(
            view="ruler",
            title="Wavelengths",
            hint="How many tokens each pair needs for one turn, before and after.",
        ),
        Picture(
            view="training",
            title="Turns",
            hint="A pair that made less than one turn has not shown every angle.",
        ),
        Picture(
            view="stretched",
            title="Score against distance",
            hint="A toy: a query and a key whose pairs are all alike.",
        ),
        Picture(
            view="rules",
            title="Every rule side by side",
            hint="How many times slower each pair turns, fast pairs on the left.",
        ),
        Picture(
            view="reading",
            title="The settings of a model",
            hint="Drop or choose its config.json or its GGUF file, or paste the settings.",
        ),
    ),
    notes=(
        (
            "Why fast pairs are kept",
            "A pair that turned many times in training has met every angle, so a longer text "
            "brings it nothing new, and slowing it blurs which token is next to which. Rules by "
            "parts keep these pairs and slow those that hardly turned.",
        ),
        (
            "The factor on cosine and sine",
            "YaRN and LongRoPE also multiply cosine and sine, which multiplies every score by the "
            "square: attention gets sharper, as it must among more tokens. Configs call it "
            "attention factor, here it is the table factor.",
        ),
        (
            "LongRoPE has no formula",
            "It divides each pair by a number of its own, found by search for one model: one list "
            "for texts up to the trained length and one for longer ones. Models such as Phi-3 and "
            "Phi-4-mini bring both in their config, and reading it shows them. In the form you "
            "give the two ends of each list, and the numbers between grow evenly; a searched list "
            "is not that smooth.",
        ),
    ),
    python={"any": _PYTHON},
    answer=answer,
    asks=("original_length", "wanted"),
)
