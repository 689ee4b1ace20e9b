"""Order: what attention makes of the order of words, without positions and with them."""

from __future__ import annotations

from typing import Any

from posenc.explorer.rooms.controls import COLUMN, HEAD, POSITION, PYTHON
from posenc.explorer.rooms.order.vocabulary import MOST, WIDTH, reads, vocabulary, words
from posenc.explorer.rooms.room import Picture, Room

__all__ = ["MOST", "ROOM", "vocabulary", "words"]

_SENTENCE: dict[str, Any] = {
    "name": "sentence",
    "label": "A sentence",
    "group": "room",
    "most": 240,
    "default": "dog bites man",
}
_ORDER: dict[str, Any] = {
    "name": "order",
    "label": "The other order",
    "group": "room",
    "default": "reversed",
    "options": [
        {"value": "reversed", "label": "reversed", "hint": "the last word comes first"},
        {"value": "shuffled", "label": "shuffled", "hint": "the button beside the words shuffles"},
    ],
}
_MASK: dict[str, Any] = {
    "name": "mask",
    "label": "Causal mask",
    "group": "room",
    "default": "off",
    "options": [
        {"value": "off", "label": "off", "hint": "every word sees every word, as in an encoder"},
        {"value": "on", "label": "on", "hint": "no word sees those after it, as in a decoder"},
    ],
}
_SHOWN: dict[str, Any] = {
    "name": "squares",
    "label": "Squares show",
    "group": "room",
    "default": "attention",
    "options": [
        {"value": "attention", "label": "attention", "hint": "shares, after the softmax"},
        {"value": "scores", "label": "scores", "hint": "what the softmax is taken of"},
    ],
}
_WORD: dict[str, Any] = {
    "name": "word",
    "label": "Word",
    "group": "look",
    "min": 1,
    "max": MOST,
    "step": 1,
    "default": 1,
}
# It is set by a button of the first picture and stands in no group of the form.
_SHUFFLE: dict[str, Any] = {
    "name": "shuffle",
    "label": "Shuffle",
    "group": "picture",
    "when": {"order": ["shuffled"]},
    "min": 0,
    "max": 999,
    "step": 1,
    "default": 0,
}
# The cursor stays in the first cell of the table, which this room does not draw.
_STILL = (POSITION | {"default": 0, "needs": "rows"}, COLUMN | {"default": 0, "needs": "columns"})


# The sentence itself stays out of the Python: a link must not put text into code that one copies.
_BEGINNING = """import numpy as np
import posenc
from posenc.explorer.rooms.order import words

encoding = {encoding}
ids = [0, 1, 2]  # the number of each word, equal words having the same; or [2, 1, 0]
at = np.arange(len(ids))
"""
_ATTENTION = """if "{mask}" == "on":
    scores = np.where(np.tri(len(ids), dtype=bool), scores, -np.inf)
weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
weights /= weights.sum(axis=-1, keepdims=True)
outputs = weights @ values
"""
_PYTHON = {
    "absolute": _BEGINNING
    + """queries = keys = values = words(encoding.dim)[ids] + encoding.encode(at)
scores = queries @ keys.T / encoding.dim**0.5
"""
    + _ATTENTION,
    "rotary": _BEGINNING
    + """values = words(encoding.dim)[ids]
queries = keys = encoding.rotate(values, at, length={count})
scores = queries @ keys.T / encoding.dim**0.5
"""
    + _ATTENTION,
    "bias": _BEGINNING
    + f"""queries = keys = values = words({WIDTH})[ids]
scores = queries @ keys.T / {WIDTH}**0.5 + encoding.bias(at, at)[{{head}}]
"""
    + _ATTENTION,
    "any": PYTHON["any"]
    + """
from posenc.explorer.rooms import order

vocabulary = order.vocabulary(encoding)  # the vectors of words, and how they are compared
""",
}

ROOM = Room(
    title="Order",
    question="Can attention tell “dog bites man” from “man bites dog”?",
    lead="Type a sentence. On the left, attention has no positions and hands every word the same "
    "in any order; on the right an encoding tells it where words stand. A toy, not a trained "
    "model: words are made-up vectors, and they are their own queries, keys and values.",
    first="sinusoidal",
    shows=reads,
    controls=(_WORD, HEAD, _SENTENCE, _ORDER, _MASK, _SHOWN, _SHUFFLE, *_STILL),
    pictures=(
        Picture(
            view="sentence",
            title="Two orders of the same words",
            hint="How much of what a word gets depends on the order: the largest difference of "
            "any number in any output.",
        ),
        Picture(
            view="made",
            title="What the encoding does to one word",
            hint="The word that is chosen above, where it stands in each order.",
        ),
        Picture(
            view="attention",
            title="Who looks at whom",
            hint="One row a word that looks, one column a word that is seen.",
        ),
        Picture(
            view="outputs",
            title="What the word gets",
            hint="Bars in the first order, dashes in the other. Without positions each dash "
            "ends its bar.",
        ),
    ),
    notes=(
        (
            "Not blind to words, blind to order",
            "Without positions, outputs move along with their words: shuffle the sentence, and "
            "the same outputs come out shuffled. So nothing that follows, word by word, can tell "
            "who bites whom.",
        ),
        (
            "A causal mask leaks order",
            "Switch the mask on: a word then sees only what came before it, so even without "
            "positions its output depends on its place. Decoders can learn order from that alone; "
            "an encoder cannot.",
        ),
        (
            "What is a toy here",
            "A trained model makes queries, keys and values by matrices, has many heads and "
            "layers, and reads pieces of words. Here one head compares the words themselves. That "
            "order is lost without positions holds for all of them.",
        ),
    ),
    python=_PYTHON,
    answer=vocabulary,
    asks=("head",),
)
