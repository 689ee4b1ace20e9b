"""The mistakes: what is wrong, how bad it is, how to mend it, and the one step that differs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from posenc import precision
from posenc.alibi import Alibi
from posenc.by_parts import Yarn
from posenc.mistakes import steps
from posenc.mistakes.mistake import Mistake
from posenc.rotary import Rotary
from posenc.sinusoidal import Sinusoidal
from posenc.t5 import T5


def _cosines_own_exponent(exponents: np.ndarray, encoding: Any) -> np.ndarray:
    return exponents + np.asarray([0.0, 1.0]) * exponents[1:2] / 2


def _feature_for_pair(exponents: np.ndarray, encoding: Any) -> np.ndarray:
    return 2 * _cosines_own_exponent(exponents, encoding)


def _other_spacing(exponents: np.ndarray, encoding: Any) -> np.ndarray:
    pairs = len(exponents)
    return exponents * (pairs / (pairs - 1) if encoding.spacing == "paper" else (pairs - 1) / pairs)


def _counted_anew(positions: np.ndarray, encoding: Any) -> np.ndarray:
    cached = len(positions) // 2
    new = positions[cached:] - positions[cached : cached + 1] + positions[:1]
    return np.concatenate([positions[:cached], new])


def _other_layout(layout: str, encoding: Any) -> str:
    return {"half": "interleaved", "interleaved": "half"}[layout]


def _root(power: float) -> Callable[[np.ndarray, Any], np.ndarray]:
    return lambda table, encoding: table * encoding.dim**power


def _reversed_ramp(frequencies: np.ndarray, encoding: Any) -> np.ndarray:
    fast = np.asarray(encoding.unscaled)[:, None]
    return fast + fast / encoding.scaling.factor - frequencies


def _steeper(slopes: np.ndarray, encoding: Any) -> np.ndarray:
    return slopes / slopes[0] / encoding.factor


def _plain_slopes(slopes: np.ndarray, encoding: Any) -> np.ndarray:
    # Written out rather than taken from `alibi.slopes`: no mistake changes with the library.
    heads = np.arange(1, len(slopes) + 1)
    return 2.0 ** (-encoding.exponent * heads / len(slopes)) / encoding.factor


def _rounded(name: str) -> Callable[[np.ndarray, Any], np.ndarray]:
    return lambda values, encoding: precision.rounded(values, name)


WAVES = (Sinusoidal, Rotary)

_FREQUENCIES = (
    Mistake(
        name="cosine has its own exponent",
        kinds=(Sinusoidal,),
        step="exponents",
        wrong=_cosines_own_exponent,
        needs=lambda encoding: len(encoding.frequencies) > 1,
        sentence="The cosine of a pair takes the exponent (2k + 1) / dim and the sine 2k / dim, "
        "so a pair has two frequencies: no pair has length 1, and no shift is a rotation.",
        mend="Take 2k / dim for both members of pair k: halve the feature's number first.",
        source="maxjcohen/transformer#62",
    ),
    Mistake(
        name="feature taken for pair",
        kinds=(Sinusoidal,),
        step="exponents",
        wrong=_feature_for_pair,
        needs=lambda encoding: len(encoding.frequencies) > 1,
        sentence="The exponent is 2 i / dim for feature i, where i should count pairs: sine and "
        "cosine of a pair differ, and the wavelengths reach base squared.",
        mend="Take 2 (i // 2) / dim for feature i.",
        source="DongjunLee/transformer-tensorflow#6",
    ),
    Mistake(
        name="exponent doubled",
        kinds=WAVES,
        step="exponents",
        wrong=lambda exponents, encoding: 2 * exponents,
        needs=lambda encoding: len(encoding.frequencies) > 1,
        sentence="The exponent is 4k / dim (2k over half the width), as if base were squared: "
        "many pairs hardly move.",
        mend="Divide 2k by the whole width.",
    ),
    Mistake(
        name="exponent halved",
        kinds=WAVES,
        step="exponents",
        wrong=lambda exponents, encoding: exponents / 2,
        needs=lambda encoding: len(encoding.frequencies) > 1,
        sentence="The exponent is k / dim (2k over twice the width), as if base were its square "
        "root: wavelengths end early and far positions look alike.",
        mend="Divide 2k, not k, by the width.",
    ),
    Mistake(
        name="other spacing",
        kinds=(Sinusoidal,),
        step="exponents",
        wrong=_other_spacing,
        needs=lambda encoding: encoding.dim % 2 == 0 and encoding.dim > 2,
        sentence="Frequencies are spread over dim / 2 steps where it should be dim / 2 - 1, or the "
        "other way round: the fast pairs agree, the slow ones drift.",
        mend='Take the spacing the weights were trained with: "paper" or "endpoint".',
        source="tensorflow/tensor2tensor, layers/common_attention.py, against arXiv:1706.03762",
    ),
    Mistake(
        name="base 1000",
        kinds=WAVES,
        step="base",
        wrong=lambda base, encoding: 1000.0,
        needs=lambda encoding: encoding.base != 1000.0 and len(encoding.frequencies) > 1,
        sentence="The base is 1000, which looks like 10000 mistyped: wavelengths end ten times "
        "earlier.",
        mend="Take base 10000, unless 1000 is what the weights were trained with.",
    ),
    Mistake(
        name="scaled twice",
        kinds=(Rotary,),
        step="frequencies",
        wrong=lambda frequencies, encoding: steps.scaled(
            frequencies, encoding.scaling, dim=encoding.width, base=encoding.base
        ),
        needs=lambda encoding: encoding.scaling is not None,
        sentence="The scaling is applied to frequencies that have it already.",
        mend="Scale either the positions or the frequencies, once.",
    ),
    Mistake(
        name="YaRN ramp reversed",
        kinds=(Rotary,),
        step="frequencies",
        wrong=_reversed_ramp,
        needs=lambda encoding: isinstance(encoding.scaling, Yarn),
        sentence="beta_fast and beta_slow are swapped: fast pairs are slowed, slow ones are not.",
        mend="Pairs that turn more than beta_fast = 32 times keep their frequency.",
        source="pytorch/torchtitan#3787",
    ),
)

_POSITIONS = (
    Mistake(
        name="positions from 1",
        kinds=WAVES,
        step="positions",
        wrong=lambda positions, encoding: positions + 1,
        sentence="The first token stands at 1 and not at 0: every row is that of the next one.",
        mend="Count from 0, unless the weights were trained with positions from 1.",
    ),
    Mistake(
        name="positions along the batch",
        kinds=WAVES,
        step="positions",
        wrong=lambda positions, encoding: np.zeros_like(positions),
        sentence="All tokens of a text get the same row: positions ran along the batch, or were "
        "not passed on.",
        mend="Let positions run along the axis of the tokens.",
        source="tanjimin/C.Origami#42",
    ),
    Mistake(
        name="offset lost in a cache",
        kinds=WAVES,
        step="positions",
        wrong=_counted_anew,
        sentence="Positions start anew after the cached tokens, so new tokens take the places of "
        "old ones.",
        mend="Add the number of cached tokens: positions.after_cache(cached, length).",
        source="lucidrains/rotary-embedding-torch#11",
    ),
    Mistake(
        name="rows in another order",
        kinds=WAVES,
        step="positions",
        wrong=lambda positions, encoding: positions[::-1],
        sentence="Rows do not follow the positions.",
        mend="Look up row p for position p.",
    ),
    Mistake(
        name="degrees",
        kinds=WAVES,
        step="angles",
        wrong=lambda angles, encoding: np.radians(angles),
        sentence="Angles are taken for degrees, so everything turns 57 times too slowly.",
        mend="Sine and cosine take radians: pass position * frequency as it is.",
    ),
    Mistake(
        name="turned backwards",
        kinds=(Rotary,),
        step="positions",
        wrong=lambda positions, encoding: -positions,
        sentence="Queries and keys turn by minus their position: each gap has the score of the "
        "opposite one. Scores still depend on the gap alone, so no law shows it.",
        mend="(a, c) -> (a cos - c sin, c cos + a sin).",
    ),
)

_NARROW = tuple(
    Mistake(
        name=f"{step} in {name}",
        kinds=WAVES,
        step=step,
        wrong=_rounded(name),
        sentence=sentence.format(name=name),
        mend="Make the table in float32 or wider, and cast it when it is finished.",
        source=source,
    )
    for name in ("bfloat16", "float16")
    for step, sentence, source in (
        (
            "positions",
            "Positions are held in {name}, which has no room for all of them, so neighbours "
            "far out share a row.",
            "NVIDIA/Megatron-LM#535",
        ),
        (
            "frequencies",
            "Frequencies are rounded to {name}: the error of an angle grows with the position.",
            "Modalities/modalities#462",
        ),
        (
            "angles",
            "Angles are rounded to {name} before sine and cosine: far rows are noise.",
            "EleutherAI/gpt-neox#1003",
        ),
    )
)

_TABLES = (
    Mistake(
        name="sine only",
        kinds=(Sinusoidal,),
        step="waves",
        wrong=lambda waves, encoding: waves[..., [0, 0]],
        needs=lambda encoding: encoding.first == "sin",
        sentence="Both members of a pair are sines: no shift is a rotation, and the dot product "
        "depends on where the two positions stand.",
        mend="Take the cosine for the other member of each pair.",
    ),
    Mistake(
        name="features in the other layout",
        kinds=(Sinusoidal,),
        step="layout",
        wrong=_other_layout,
        severity="harmless",
        sentence="Features stand in the order of the other layout: a permutation, which no dot "
        "product sees, but weights trained with one do not fit the other.",
        mend='Say layout="half" or "interleaved" as the weights were trained.',
        source="tensorflow/tensor2tensor#391",
    ),
    Mistake(
        name="sine and cosine in the other order",
        kinds=(Sinusoidal,),
        step="waves",
        wrong=lambda waves, encoding: waves[..., ::-1],
        severity="harmless",
        sentence="The other of sine and cosine comes first: a permutation, which no dot product "
        "sees, but weights trained with one do not fit the other.",
        mend='Say first="sin" or "cos" as the weights were trained.',
        source="flashinfer-ai/flashinfer#3819",
    ),
    Mistake(
        name="features in another order",
        kinds=(Sinusoidal,),
        step="table",
        wrong=lambda table, encoding: table[:, ::-1],
        severity="harmless",
        sentence="Features stand in an order that neither layout has: a permutation, which no dot "
        "product sees, but weights trained with another order do not fit.",
        mend="Keep the order that the weights were trained with.",
    ),
    Mistake(
        name="transposed",
        kinds=(Sinusoidal,),
        step="table",
        wrong=lambda table, encoding: table.T,
        sentence="Rows are features and columns are positions.",
        mend="Transpose the table.",
    ),
    Mistake(
        name="divided by sqrt(dim)",
        kinds=(Sinusoidal,),
        step="table",
        wrong=_root(-0.5),
        needs=lambda encoding: encoding.dim > 1,
        sentence="Values are divided by the square root of the width, so positions are faint "
        "beside embeddings.",
        mend="Leave the table as it is; the factor sqrt(dim) belongs to the embeddings.",
    ),
    Mistake(
        name="multiplied by sqrt(dim)",
        kinds=(Sinusoidal,),
        step="table",
        wrong=_root(0.5),
        needs=lambda encoding: encoding.dim > 1,
        sentence="Values are multiplied by the square root of the width, so positions drown "
        "embeddings.",
        mend="Multiply the embeddings by sqrt(dim) before the table is added, not the sum.",
    ),
    Mistake(
        name="cosine and sine swapped",
        kinds=(Rotary,),
        step="waves",
        wrong=lambda waves, encoding: waves[..., ::-1],
        sentence="Cosine and sine have changed places: position 0 turns by a quarter, and all "
        "others backwards from there.",
        mend="`table` gives cosine first, then sine.",
    ),
    Mistake(
        name="paired as in the other layout",
        kinds=(Rotary,),
        step="layout",
        wrong=_other_layout,
        sentence="Features are paired in another layout than that of the weights: the first token "
        "is right, the others are not.",
        mend="Say the layout of the weights, or permute the rows of the query and key weights.",
        source="huggingface/transformers#25199",
    ),
    Mistake(
        name="pairing mixed up",
        kinds=(Rotary,),
        step="pairing",
        wrong=_other_layout,
        needs=lambda encoding: encoding.turned > 2,
        sentence="Angles are laid out for one layout and features are swapped as in the other, so "
        "two members of a pair turn by two angles: lengths change, and scores depend on more than "
        "the gap.",
        mend="Repeat the angles in the layout in which the features are paired.",
        source="raiyanyahya/how-to-train-your-gpt#6",
    ),
)

_BIASES = (
    Mistake(
        name="first slope is 1",
        kinds=(Alibi,),
        step="slopes",
        wrong=_steeper,
        sentence="The exponent counts heads from 0: every slope is that of the head before.",
        mend="Count heads from 1: eight heads have slopes 1/2 ... 1/256.",
        source="paiml/aprender#2143",
    ),
    Mistake(
        name="plain slopes",
        kinds=(Alibi,),
        step="slopes",
        wrong=_plain_slopes,
        needs=lambda encoding: encoding.rule == "paper" and encoding.heads.bit_count() != 1,
        sentence="Slopes follow 2 ** (-8 h / heads), which the authors take for powers of two "
        "only: with another number of heads they are all different.",
        mend='Take rule="paper", unless the weights were trained with "plain".',
        source="ml-explore/mlx#343",
    ),
    Mistake(
        name="heads in another order",
        kinds=(Alibi,),
        step="slopes",
        wrong=lambda slopes, encoding: np.sort(slopes)[::-1],
        needs=lambda encoding: encoding.heads.bit_count() != 1,
        severity="harmless",
        sentence="Slopes are sorted, and the published rule does not sort them: a permutation of "
        "heads, which trained weights do not follow.",
        mend="Keep the published order: first the slopes of the power of two below.",
        source="antofuller/CROMA#12",
    ),
    Mistake(
        name="sign of the bias",
        kinds=(Alibi,),
        step="slopes",
        wrong=lambda slopes, encoding: -slopes,
        sentence="Distance is rewarded: the bias grows with it.",
        mend="Subtract slope * distance.",
    ),
    Mistake(
        name="rows moved by a constant",
        kinds=(Alibi,),
        step="table",
        wrong=lambda table, encoding: table - table[:, :, :1],
        needs=lambda encoding: encoding.direction == "causal",
        severity="harmless",
        sentence="Each row is moved by a constant (slope * query position) and reads slope * key "
        "position. The softmax takes the constant out again.",
        mend="Nothing to mend under a softmax and a causal mask.",
        source="ofirpress/attention_with_linear_biases#9",
    ),
    Mistake(
        name="bias in bfloat16",
        kinds=(Alibi,),
        step="table",
        wrong=_rounded("bfloat16"),
        sentence="The bias is held in bfloat16, which turns distance 257 into 256.",
        mend="Keep the bias in float32 until it is added to the scores.",
    ),
    Mistake(
        name="directions swapped",
        kinds=(T5,),
        step="distances",
        wrong=lambda distances, encoding: -distances,
        sentence="Keys behind take the buckets of keys ahead and the other way round: key minus "
        "query and query minus key are mixed up.",
        mend="Without a causal mask, buckets from the middle on are for keys ahead.",
    ),
    Mistake(
        name="one direction",
        kinds=(T5,),
        step="ahead",
        wrong=lambda ahead, encoding: 0,
        needs=lambda encoding: encoding.bidirectional,
        sentence="Keys ahead share the buckets of keys behind, so half the table is never read.",
        mend="Add half the number of buckets where the key lies ahead.",
    ),
)

MISTAKES = (*_FREQUENCIES, *_POSITIONS, *_NARROW, *_TABLES, *_BIASES)
"""All of them."""
