"""Made-up weights for encodings that are trained: what training tends to give, and a little noise.

A visitor sees from them how the encoding is built, not what a model has learned.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from posenc import evaluation
from posenc.axes import LearnedAxes
from posenc.bipe import Bipe
from posenc.cope import Cope
from posenc.deberta import Deberta
from posenc.decomposed import Decomposed
from posenc.explorer.recipes import example
from posenc.fire import Fire
from posenc.fourier import FourierFeatures
from posenc.kerple import Kerple
from posenc.learned import Learned
from posenc.mixed import MixedRotary
from posenc.shaw import Shaw
from posenc.swin import Swin, SwinV2
from posenc.t5 import T5
from posenc.transformer_xl import TransformerXL

Arrays = dict[str, np.ndarray]


@functools.lru_cache(maxsize=8)
def made_up(code: Any) -> Arrays:
    """Arrays of the names and shapes that an encoding asks for, float32; {} where it has none.

    Example:
        >>> made_up(T5(heads=4))["table"].shape
        (32, 4)
    """
    if type(code) not in _MAKERS:
        return evaluation.weights(code)
    draw = np.random.default_rng(0)
    arrays = _MAKERS[type(code)](code, draw)
    return {name: np.asarray(array, np.float32) for name, array in arrays.items()}


def note(code: Any) -> str:
    """A sentence on where the weights come from; "" without weights."""
    if isinstance(code, Bipe) or not evaluation.shapes(code):
        return ""  # of BiPE the part without weights is drawn
    if isinstance(code, FourierFeatures):
        return "The matrix is drawn at random from a seed, as the method asks."
    if isinstance(code, MixedRotary):
        return "Frequencies are drawn at random from a seed, as before training."
    text = " and so is the text" if evaluation.family(code) == "other" else ""
    return f"The trained numbers are made up from a seed, not learned{text}."


def of_one_head(code: Any, head: int) -> tuple[Any, Arrays]:
    """An encoding with one of its heads and the weights of that head; itself where heads share.

    Example:
        >>> one, trained = of_one_head(T5(heads=4), 3)
        >>> one.heads, trained["table"].shape
        (1, (32, 1))
    """
    trained = made_up(code)
    if not trained or getattr(code, "heads", 1) == 1:
        return code, trained
    one = dataclasses.replace(code, heads=1)
    return one, {name: _cut(array, one.weights[name], head) for name, array in trained.items()}


def _cut(array: np.ndarray, shape: tuple[int, ...], head: int) -> np.ndarray:
    """The block of one head: it lies along the axis on which one head has a shorter array."""
    for axis, (size, most) in enumerate(zip(shape, array.shape, strict=True)):
        if size < most:
            return np.take(array, range(head * size, (head + 1) * size), axis=axis)
    return array


def _strengths(heads: int) -> np.ndarray:
    """How strong the bias of each head is: heads differ, as trained ones do."""
    return np.geomspace(6.0, 0.75, heads)


def _curves(draw: np.random.Generator, length: int, dim: int) -> np.ndarray:
    """A table of slow curves, one a feature, with a little noise."""
    slow, fast = 1 / (2 * length), 1 / 16  # turns a position
    turns = np.exp(draw.uniform(math.log(min(slow, fast)), math.log(fast), dim))
    angles = math.tau * (np.arange(length)[:, None] * turns + draw.uniform(0.0, 1.0, dim))
    return 0.8 * np.sin(angles) + draw.normal(0.0, 0.1, (length, dim))


def _fading(distance: np.ndarray) -> np.ndarray:
    """From 2 for no distance, falling to -2 for far ones: half the way at 4."""
    return 4.0 / (1.0 + np.abs(distance) / 4.0) - 2.0


def _pointing(draw: np.random.Generator, values: np.ndarray, dim: int) -> np.ndarray:
    """Vectors whose product with a query of the example text, scaled, is about `values`."""
    noise = draw.normal(0.0, 0.05, (*values.shape, dim))
    return values[..., None] * example.direction(dim) + noise


def _learned(code: Learned, draw: np.random.Generator) -> Arrays:
    table = _curves(draw, code.length + code.offset, code.dim)
    table[: code.offset] = 0.0
    return {"table": table}


def _learned_axes(code: LearnedAxes, draw: np.random.Generator) -> Arrays:
    return {name: _curves(draw, *shape) for name, shape in code.weights.items()}


def _t5(code: T5, draw: np.random.Generator) -> Arrays:
    side = np.linspace(0.5, -1.0, len(code.edges))
    rank = np.concatenate([side, 1.5 * side]) if code.bidirectional else side
    noise = draw.normal(0.0, 0.15, (code.buckets, code.heads))
    return {"table": rank[:, None] * _strengths(code.heads) + noise}


def _kerple(code: Kerple, draw: np.random.Generator) -> Arrays:
    near, far = (2.0, 0.25) if code.form == "log" else (0.5, 0.05)
    low, high = (0.1, 1.0) if code.form == "log" else (0.5, 1.2)
    return {
        "r1": np.geomspace(near, far, code.heads),
        "r2": draw.uniform(low, high, code.heads),
    }


def _fire(code: Fire, draw: np.random.Generator) -> Arrays:
    each = draw.uniform(0.5, 1.5, (code.heads, code.width)) / code.width
    return {
        "c": np.asarray(0.1),
        "multiplier": np.asarray(1.0),
        "weight_in": draw.uniform(0.5, 2.0, code.width),
        # Each unit begins to act at a distance of its own, so the sum falls in a curve.
        "bias_in": -np.linspace(0.0, 0.75, code.width),
        "weight_out": -_strengths(code.heads)[:, None] * each,
        "bias_out": np.zeros(code.heads),
    }


def _swin(code: Swin, draw: np.random.Generator) -> Arrays:
    rows, columns = (np.abs(np.arange(1 - size, size)) / size for size in code.window)
    # Some heads look along rows, some along columns.
    lean = draw.uniform(0.2, 1.0, (2, code.heads))
    away = rows[:, None, None] * lean[0] + columns[:, None] * lean[1]
    table = -_strengths(code.heads) * away
    return {"table": table.reshape(-1, code.heads) + draw.normal(0.0, 0.1, code.weights["table"])}


def _swin_v2(code: SwinV2, draw: np.random.Generator) -> Arrays:
    # Pairs of opposite units add up to distances from the query in random directions.
    half = draw.normal(0.0, 1.0, ((code.hidden + 1) // 2, 2))
    each = draw.uniform(0.5, 1.5, (code.heads, code.hidden)) / code.hidden
    return {
        "hidden_weight": np.concatenate([half, -half])[: code.hidden],
        "hidden_bias": np.zeros(code.hidden),
        "output_weight": -_strengths(code.heads)[:, None] * each,
    }


def _shaw(code: Shaw, draw: np.random.Generator) -> Arrays:
    rows = np.arange(code.weights["key_table"][0]) - code.max_distance
    return {name: _pointing(draw, _fading(rows), code.dim) for name in code.weights}


def _transformer_xl(code: TransformerXL, draw: np.random.Generator) -> Arrays:
    half = code.model_dim // 2
    # Fast cosines less slow ones make a peak at distance 0; sines tell behind from ahead.
    waves = np.concatenate([0.1 * draw.standard_normal(half), np.linspace(1, -1, half)])
    heads = _strengths(code.heads)[:, None, None] / 6
    projection = heads * example.direction(code.dim)[:, None] * waves * 8 / half
    return {
        "projection": projection.reshape(-1, code.model_dim),
        "content_bias": draw.normal(0.0, 0.1, (code.heads, code.dim)),
        "position_bias": np.tile(example.direction(code.dim), (code.heads, 1)),
    }


def _deberta(code: Deberta, draw: np.random.Generator) -> Arrays:
    heads = _strengths(code.heads)[:, None] / 6
    names = {name: shape[1] for name, shape in code.weights.items()}
    return {
        name: _pointing(draw, heads * _fading(np.arange(rows) - rows // 2), code.dim)
        for name, rows in names.items()
    }


def _cope(code: Cope, draw: np.random.Generator) -> Arrays:
    return {"embeddings": _pointing(draw, _fading(np.arange(code.length)), code.dim)}


def _decomposed(code: Decomposed, draw: np.random.Generator) -> Arrays:
    # Queries are not divided by sqrt(dim) here, so the tables are.
    return {
        name: _pointing(draw, _fading(np.arange(rows) - rows // 2), code.dim) * code.scale
        for name, (rows, _) in code.weights.items()
    }


_MAKERS: dict[type, Callable[[Any, np.random.Generator], Arrays]] = {
    Learned: _learned,
    LearnedAxes: _learned_axes,
    T5: _t5,
    Kerple: _kerple,
    Fire: _fire,
    Swin: _swin,
    SwinV2: _swin_v2,
    Shaw: _shaw,
    TransformerXL: _transformer_xl,
    Deberta: _deberta,
    Cope: _cope,
    Decomposed: _decomposed,
}
