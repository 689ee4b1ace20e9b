"""Order: what attention makes of the order of words, without positions and with them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from posenc import evaluation
from posenc.bipe import Bipe
from posenc.cope import Cope
from posenc.explorer.recipes import arrays, numbers, weights
from posenc.explorer.rooms.controls import COLUMN, HEAD, POSITION, PYTHON
from posenc.explorer.rooms.room import Picture, Room
from posenc.shaw import Shaw

MOST = 24
"""The most words of a sentence."""

WIDTH = 64
"""Features of a word's vector where the encoding itself has no width."""

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


def vocabulary(encoding: Any, *, head: str = "0") -> Mapping[str, Any]:
    """The vectors of words, and what is needed to compare them in attention.

    Args:
        encoding: one that acts on a sentence.
        head: which head, where heads differ; a number in words of an address.
    Returns:
        words   an array (MOST, width): a vector for each word, made up from a seed
        scale   what the product of a query and a key is multiplied with
        query   of an encoding whose numbers are made of queries and keys, an array: what the
                query of each word adds to a score, (MOST, 2 * reach + 1), for every distance from
                query to key, from -reach to reach; else None
        key     the same for the key of each word
        reach   MOST - 1
    Raises:
        TypeError: `encoding` is not for a sentence.
        ValueError: there is no such head.
    Example:
        >>> from posenc import Rotary
        >>> found = vocabulary(Rotary(dim=64))
        >>> found["words"]["shape"], found["scale"], found["query"]
        ([24, 64], 0.125, None)
    """
    if not _reads(encoding):
        raise TypeError(
            "the room Order shows what acts on the words of a sentence, as Sinusoidal, Rotary and "
            f"Alibi do; got {type(encoding).__name__}."
        )
    own = words(_width(encoding))
    added: Mapping[str, Any] = {"query": None, "key": None}
    if numbers.family(encoding) == "term":
        made = _added(encoding, own, int(head))
        added = {role: arrays.of(values) for role, values in made.items()}
    return {"words": arrays.of(own), "scale": _scale(encoding), "reach": MOST - 1, **added}


def words(width: int) -> np.ndarray:
    """The vectors of the first MOST words, float32.

    Their lengths are such that a word's score with itself is about 2 and with others near 0: so
    attention prefers the same word and still takes from all.

    Example:
        >>> words(64).shape
        (24, 64)
    """
    drawn = np.random.default_rng(0).standard_normal((MOST, width))
    return (drawn * 2**0.5 / width**0.25).astype(np.float32)


def _reads(encoding: Any) -> bool:
    """Whether it acts on a line of words, by rules that need no more than one sentence."""
    return not evaluation.axes(encoding) and not isinstance(encoding, Bipe | Cope)


def _width(encoding: Any) -> int:
    return WIDTH if numbers.family(encoding) == "bias" else encoding.dim


def _scale(encoding: Any) -> float:
    if numbers.family(encoding) == "term":
        return float(encoding.scale)
    # Models that do not divide, as T5, have smaller weights instead; the toy has no weights.
    return float(_width(encoding) ** -0.5)


def _added(encoding: Any, own: np.ndarray, head: int) -> dict[str, np.ndarray]:
    """What query and key of each word add, for each distance; their sum is the term."""
    if not 0 <= head < getattr(encoding, "heads", head + 1):
        raise ValueError(f"`head` must be one of {encoding.heads} heads; got {head}.")
    one, trained = weights.of_one_head(encoding, head)
    trained = {name: array.astype(np.float64) for name, array in trained.items()}
    wide = own.astype(np.float64)[:, None, None]
    here, keys = np.asarray([MOST - 1]), np.arange(2 * MOST - 2, -1, -1)
    every = np.broadcast_to(wide, (*wide.shape[:2], len(keys), wide.shape[-1]))

    def term(queries: np.ndarray, others: np.ndarray) -> np.ndarray:
        if isinstance(one, Shaw):
            table = trained["key_table"]
            return one.score_term(queries, here, keys, key_table=table)[:, 0, 0]
        return one.score_term(queries, others, here, keys, **trained)[:, 0, 0]

    nothing = term(0 * wide, 0 * every)
    return {"query": term(wide, 0 * every), "key": term(0 * wide, every) - nothing}


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
queries = keys = encoding.rotate(values, at)
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
    shows=_reads,
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
