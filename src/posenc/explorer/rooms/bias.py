"""Bias: what is added to the scores of attention, head by head."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from posenc.alibi import Alibi
from posenc.cope import Cope
from posenc.explorer.recipes import arrays, example, numbers
from posenc.explorer.rooms.controls import COLUMN, GRID, HEAD, POSITION, PYTHON, count_up_to
from posenc.explorer.rooms.room import Picture, Room

MOST = 128
"""The most queries of the picture."""

WIDTH = 8
"""Features of the example queries and keys where the encoding itself has no width."""

_RULES = {"paper": "the authors' code", "plain": "the plain formula"}

# The change of an encoding that hides keys by itself, for attention without a mask.
_OPEN = {"direction": {"causal": "symmetric"}}

_MASK: dict[str, Any] = {
    "name": "mask",
    "label": "Mask",
    "group": "room",
    "default": "on",
    "options": [
        {
            "value": "on",
            "label": "on",
            "hint": "scores of keys after the query are hidden, as in a decoder",
        },
        {
            "value": "off",
            "label": "off",
            "hint": "scores of all keys count, as in an encoder",
            "instead": _OPEN,
        },
    ],
}


def example_scores(encoding: Any, *, most: int = MOST) -> Mapping[str, Any]:
    """The example text that the bias is added to, and other rules for the same number of heads.

    Args:
        encoding: one that adds to scores.
        most: how many queries and keys.
    Returns:
        queries, keys   arrays (most, width); their products are the scores before the bias: each
                        query is already divided by what the method divides scores by
        slopes          of ALiBi, one for each head; else []
        rules           of ALiBi, the slopes by each rule: name, label and slopes; else []
    Raises:
        TypeError: `encoding` adds nothing to scores.
    Example:
        >>> found = example_scores(Alibi(heads=12))
        >>> found["queries"]["shape"], [len(rule["slopes"]) for rule in found["rules"]]
        ([128, 8], [12, 12])
    """
    if not _adds(encoding):
        raise TypeError(
            "the room Bias shows what is added to scores, as Alibi and T5 do; got "
            f"{type(encoding).__name__}."
        )
    queries, keys = (each[:most] for each in scored_text(encoding))
    if most < queries.shape[-1]:  # the same products, in fewer numbers
        queries, keys = queries.astype(np.float64) @ keys.T, np.eye(most)
    return {
        "queries": arrays.of(queries),
        "keys": arrays.of(keys),
        "slopes": list(getattr(encoding, "slopes", ())),
        "rules": _rules(encoding),
    }


def scored_text(encoding: Any) -> tuple[np.ndarray, np.ndarray]:
    """Queries and keys, float32, whose products are scores before anything is added.

    An encoding whose numbers are made of queries gets those they are made of.

    Example:
        >>> queries, keys = scored_text(Alibi(heads=8))
        >>> round(float(queries[3] @ keys[1]), 4)
        3.1037
    """
    term = numbers.family(encoding) == "term"
    width = encoding.dim if term else WIDTH
    scale = encoding.scale if term else WIDTH**-0.5
    queries, keys = example.queries(width, MOST), example.keys(width, MOST)
    if isinstance(encoding, Cope):
        keys = example.stops(keys)
    return (queries * scale).astype(np.float32), keys.astype(np.float32)


def _adds(encoding: Any) -> bool:
    return numbers.family(encoding) in ("bias", "term")


def _rules(encoding: Any) -> list[dict[str, Any]]:
    if not isinstance(encoding, Alibi):
        return []
    return [
        {
            "name": rule,
            "label": label,
            "slopes": list(dataclasses.replace(encoding, rule=rule).slopes),
        }
        for rule, label in _RULES.items()
    ]


_ENCODING = "encoding = {encoding}\n"


def _opened(lines: str) -> str:
    """Python whose encoding hides no keys by itself where the mask is off, as the page draws it."""
    open_too = """mask, mistake = "{mask}", {mistake}
if mask == "off" and mistake is None and getattr(encoding, "direction", "") == "causal":
    encoding = dataclasses.replace(encoding, direction="symmetric")
"""
    return "import dataclasses\n" + lines.replace(_ENCODING, _ENCODING + open_too)


_SCORES = """
import numpy as np
from posenc import evaluation
from posenc.explorer.rooms.bias import scored_text

queries, keys = scored_text(encoding)
scores = queries[: len(table)] @ keys[: table.shape[1]].T + table
if mask == "on" and not evaluation.axes(encoding):
    scores = np.where(np.tri(*scores.shape, dtype=bool), scores, -np.inf)
weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
weights /= weights.sum(axis=-1, keepdims=True)
"""

ROOM = Room(
    title="Bias",
    question="What does an encoding add to the score of a query and a key?",
    lead="Some encodings leave embeddings, queries and keys alone and add a number to each score "
    "instead, by the distance of the two tokens. See that number, and what it does to attention.",
    first="alibi",
    shows=_adds,
    controls=(
        POSITION | {"default": 40},
        COLUMN | {"default": 30},
        HEAD,
        _MASK,
        count_up_to(MOST),
        GRID,
    ),
    pictures=(
        Picture(
            view="slopes",
            title="Slopes",
            hint="One dot a head; each line across is half of the one above it.",
            needs=("slopes",),
        ),
        Picture(
            view="lines",
            title="Against distance",
            hint="What is added, by how far apart query and key stand.",
        ),
        Picture(
            view="scores",
            title="One query's scores",
            hint="Before, what is added, after, and the attention that follows. One bar a key.",
        ),
        Picture(
            view="reach",
            title="How far attention reaches",
            hint="The share of attention that falls within a distance of the query.",
        ),
        Picture(
            view="matrix",
            title="Every query and key",
            hint="What is added: one row a query, one column a key, one head.",
        ),
    ),
    notes=(
        (
            "Before the softmax",
            "The number is added to the score, so it multiplies the attention: adding −1 takes a "
            "key's share down to about a third beside the others. Added after the softmax it "
            "would be no share any more.",
        ),
        (
            "Content can still win",
            "A bias makes far keys harder to reach and does not close them. A key that fits well "
            "is seen across a distance at which others have faded; try the far-sighted heads.",
        ),
        (
            "The scores are made up",
            "Queries and keys come from a seed and are the same in every visit. Their scores lie "
            "some units apart, so that a bias of −2 matters and one of −20 ends it.",
        ),
    ),
    python={family: _opened(PYTHON[family]) + _SCORES for family in ("bias", "any")},
    answer=example_scores,
)
