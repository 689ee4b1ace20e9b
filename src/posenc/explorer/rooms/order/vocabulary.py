"""The words of the toy: a made-up vector for each, and what an encoding makes of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from posenc import evaluation
from posenc.bipe import Bipe
from posenc.cope import Cope
from posenc.explorer.recipes import arrays, numbers, spans, weights
from posenc.shaw import Shaw

MOST = 24
"""The most words of a sentence."""

WIDTH = 64
"""Features of a word's vector where the encoding itself has no width."""


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
    if not reads(encoding):
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


def reads(encoding: Any) -> bool:
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
    spans.span(encoding, 0, MOST, head, None)
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
