"""The library's own numbers of one picture."""

from __future__ import annotations

from typing import Any

import numpy as np

from posenc import distances, evaluation
from posenc.bipe import Bipe
from posenc.cope import Cope
from posenc.decomposed import Decomposed
from posenc.explorer.recipes import example, places, weights
from posenc.explorer.recipes.spans import Span
from posenc.shaw import Shaw
from posenc.xpos import XPos


def family(code: Any) -> str:
    """How an encoding enters a model: "absolute", "rotary", "bias", or "term".

    A "term" is added to scores and is made of the queries, so there is none without a text.
    BiPE counts as what it does between segments.
    """
    kind = evaluation.family(code.inter if isinstance(code, Bipe) else code)
    return "term" if kind == "other" else kind


def numbers(code: Any, span: Span) -> np.ndarray:
    """One picture, float32.

    absolute   (count, dim) vectors
    rotary     (count, 2 * pairs): [cos | sin] of each pair, times the attention factor
    bias       (count, count): what is added for each query and key of one head
    term       the same, for the example text
    """
    values = _MAKERS[family(code)](code, span)
    return np.asarray(values).astype(np.float32)


def _absolute(code: Any, span: Span) -> np.ndarray:
    return evaluation.rows(code, places.places(code, span), weights.made_up(code))


def _rotary(code: Any, span: Span) -> np.ndarray:
    where = places.places(code, span)
    one, trained = weights.of_one_head(_between(code), span.head)
    options: dict[str, Any] = {"role": "query"} if isinstance(one, XPos) else {}
    if evaluation.takes_length(one):
        options["length"] = span.start + span.count
    return evaluation.rows(one, where, trained, **options)


def _bias(code: Any, span: Span) -> np.ndarray:
    where = places.places(code, span)
    if isinstance(code, Bipe):
        return evaluation.bias(_between(code), where, where)[span.head] * code.bias_factor
    one, trained = weights.of_one_head(code, span.head)
    return evaluation.bias(one, where, where, trained)[0 if trained else span.head]


def _between(code: Any) -> Any:
    """The part of BiPE that acts between segments; any other encoding itself."""
    if not isinstance(code, Bipe):
        return code
    if evaluation.shapes(code.inter) or evaluation.axes(code.inter):
        raise TypeError(
            "`inter` must take plain positions and no trained weights to be drawn, as Rotary and "
            f"Alibi do; got {type(code.inter).__name__}."
        )
    return code.inter


def _term(code: Any, span: Span) -> np.ndarray:
    one, trained = weights.of_one_head(code, span.head)
    trained = {name: array.astype(np.float64) for name, array in trained.items()}
    queries, keys = example.queries(code.dim, span.count), example.keys(code.dim, span.count)
    tokens = np.arange(span.count)
    if isinstance(one, Decomposed):
        where = places.window(one.grid, span)
        others = where if one.key_grid is None else places.window(one.key_grid, span)
        return one.score_term(queries[None, : len(where)], where, others, **trained)[0]
    if isinstance(one, Shaw):
        table = trained["key_table"]
        return one.score_term(queries[None], tokens, tokens, key_table=table)[0]
    if isinstance(one, Cope):
        term = one.score_term(queries[None], example.stops(keys)[None], tokens, tokens, **trained)
        return distances.hide_ahead(term[0], distances.between(tokens, tokens))
    return one.score_term(queries[None], keys[None], tokens, tokens, **trained)[0]


_MAKERS = {"absolute": _absolute, "rotary": _rotary, "bias": _bias, "term": _term}
