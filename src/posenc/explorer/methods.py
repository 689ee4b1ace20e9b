"""What the page says and offers for each method: words, formulas, settings, pictures."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from posenc.alibi import Alibi
from posenc.rotary import Rotary
from posenc.sinusoidal import Sinusoidal


@dataclass(frozen=True, kw_only=True)
class Method:
    """One method as the page presents it.

    Args:
        encoding: what the page shows first.
        name: where there is little room.
        title: of the page.
        lead: the method in two sentences.
        formulas: LaTeX, each to be kept on one line.
        aloud: the formula in words, for reading aloud.
        acts: which step of a Transformer it touches, one of `STEPS`.
        controls: names of `page._CONTROLS`, in order.
        axes: which controls are the cursor, and what its rows and columns are called.
        pictures: the view that draws each picture, with its heading and what to look for.
        notes: what to notice, each a heading and a few sentences.
        facts: its column of the comparison, one text for each of `QUESTIONS`.
    """

    encoding: Any
    name: str
    title: str
    lead: str
    formulas: tuple[str, ...]
    aloud: str
    acts: str
    controls: tuple[str, ...]
    axes: dict[str, dict[str, str]]
    pictures: tuple[tuple[str, str, str], ...]
    notes: tuple[tuple[str, str], ...]
    facts: tuple[str, ...]
    defaults: dict[str, Any] = field(default_factory=dict)
    """First values of the controls that are no fields of the encoding."""


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

METHODS = {
    "sinusoidal": Method(
        encoding=Sinusoidal(dim=64),
        name="Sinusoidal",
        title="Sinusoidal vectors",
        lead="Every position gets its own vector of sines and cosines, fast ones and slow ones. "
        "It is added to the embedding of the token that stands there, once, before the first "
        "layer.",
        formulas=(r"\sin(p\,\omega_k),\quad \cos(p\,\omega_k)", r"\omega_k = b^{-2k/d}"),
        aloud="Pair k of the vector at position p holds the sine and the cosine of p times "
        "omega k. Omega k, the speed of the pair in radians per position, is the base b to the "
        "power minus 2 k over d, where d counts the features. Positions and pairs count from 0.",
        acts="embeddings",
        controls=("position", "feature", "dim", "base", "layout", "spacing", "count", "start"),
        axes={
            "row": {"control": "position", "name": "position"},
            "column": {"control": "feature", "name": "feature"},
        },
        pictures=(
            ("waves", "Waves", "Some features, each followed from position to position."),
            ("vector", "One vector", "All features of the position under the cursor."),
            ("matrix", "All vectors", "One row a position, one column a feature."),
        ),
        notes=(
            (
                "Fast pairs and slow pairs",
                "The first pair turns by a whole radian from one position to the next, so it "
                "tells neighbours apart; the last one hardly moves within a page and tells the "
                "beginning from the end. Hours, minutes and seconds share the work in the same "
                "way.",
            ),
            (
                "A shift is a turn",
                "Going 5 positions on turns each pair by 5 times its speed, wherever you start. "
                "So one fixed matrix turns any vector into the one 5 positions later, and the "
                "product of two position vectors depends on their distance alone. It is the same "
                "forwards and backwards: by itself it does not tell left from right.",
            ),
            (
                "The formula has no end, the training has",
                "There is a vector for every position, however far. Whether a model makes sense "
                "of positions it never saw in training is another question. In 2017 that was a "
                "hope; Press et al. 2021 measured that it loses its way within tens of tokens.",
            ),
        ),
        facts=(
            "added to the embeddings, once",
            "none",
            "both positions, mixed with both contents",
            "defined, but quality falls soon",
            "the first Transformer; encoders for speech such as Whisper's",
            "Vaswani et al. 2017, arXiv:1706.03762",
        ),
    ),
    "rotary": Method(
        encoding=Rotary(dim=64),
        name="Rotary",
        title="Rotary embedding (RoPE)",
        lead="Each query and key is cut into pairs of numbers, and every pair turns like the hand "
        "of a clock, by an angle that grows with the position. Values are left alone.",
        formulas=(
            r"x \to x\,\cos\,p\,\omega_k - y\,\sin\,p\,\omega_k",
            r"y \to y\,\cos\,p\,\omega_k + x\,\sin\,p\,\omega_k",
            r"\omega_k = b^{-2k/d}",
        ),
        aloud="At position p, pair k of a query or key, x and y, is turned by the angle p times "
        "omega k. Omega k, the speed of the pair in radians per position, is the base b to the "
        "power minus 2 k over d, where d is the width of a head.",
        acts="queries and keys",
        controls=("position", "gap", "column", "dim", "base", "layout", "count", "start"),
        axes={
            "row": {"control": "position", "name": "position"},
            "column": {"control": "column", "name": "column"},
        },
        pictures=(
            (
                "hands",
                "A query and a key, turned",
                "Move the position: both hands of a dial turn alike, and the angle between them "
                "stays. Change the distance, and it does not.",
            ),
            ("waves", "Waves", "Cosines of some pairs, followed from position to position."),
            ("vector", "One row of the table", "Cosines of all pairs, then their sines."),
            ("matrix", "The table", "One row a position; cosines on the left, sines right."),
        ),
        notes=(
            (
                "Only the distance is left",
                "Query and key are turned by angles that grow alike, so in their product only the "
                "difference of the two positions remains. Move the position above: the score does "
                "not.",
            ),
            (
                "Which two features are a pair?",
                "Two habits are common: features k and k + d/2, or neighbours 2k and 2k + 1. Both "
                "work, but a model must be run with the one it was trained with. Mixed up, its "
                "first token is still right, as position 0 turns nothing; after that it drifts.",
            ),
            (
                "Longer texts need help",
                "Within the trained length many slow pairs never finish a turn. Beyond it they "
                "reach angles that the model has not seen, and the scores go astray. Position "
                "interpolation, YaRN and their kin slow the turning to stay among known angles.",
            ),
        ),
        facts=(
            "turns queries and keys, in every layer",
            "none",
            "both contents and the distance",
            "fails without a rule that slows the turning",
            "Llama, Mistral, Qwen, GPT-NeoX",
            "Su et al. 2021, arXiv:2104.09864",
        ),
    ),
    "alibi": Method(
        encoding=Alibi(heads=8),
        name="ALiBi",
        title="Linear bias (ALiBi)",
        lead="No vectors at all. Each attention score is lowered in proportion to the distance "
        "between query and key, steeply in some heads and gently in others.",
        formulas=(r"\frac{q_i \cdot k_j}{\sqrt{d}} - m_h\,(i - j)", r"j \le i"),
        aloud="The score of query i and key j, their product over the square root of d, is lowered "
        "by the slope of head h times the number of positions between them.",
        acts="scores",
        controls=("query", "key", "head", "heads", "rule", "direction", "count"),
        axes={
            "row": {"control": "query", "name": "query"},
            "column": {"control": "key", "name": "key"},
        },
        pictures=(
            ("slopes", "Slopes", "One dot a head, on a scale where each step halves the slope."),
            ("lines", "Bias against distance", "One line a head."),
            ("vector", "One query", "What each key's score loses for the query under the cursor."),
            ("matrix", "Every query and key", "One row a query, one column a key, one head."),
        ),
        notes=(
            (
                "Near-sighted and far-sighted heads",
                "A steep head can only look at the last few tokens, a gentle one reads far back. "
                "The slopes are fixed; training decides what each head does with its range.",
            ),
            (
                "Head counts that are no power of two",
                "The authors' code takes the slopes of the next lower power of two and fills up "
                "with every other slope of the next higher one, so they do not fall in order. Set "
                "12 heads to see it, and the plain rule to see 12 other numbers. A model must be "
                "run with the rule it was trained with.",
            ),
            (
                "Made for longer texts",
                "Nothing new happens beyond the trained length: a line goes on as it was. In the "
                "paper, a model trained on 1,024 tokens did as well on 2,048 as a sinusoidal one "
                "trained on 2,048.",
            ),
        ),
        facts=(
            "added to the scores, in every layer",
            "none",
            "both contents, less a straight line in the distance",
            "made for it: far tokens fade",
            "BLOOM, MPT, Falcon-RW",
            "Press et al. 2021, arXiv:2108.12409",
        ),
        defaults={"query": 40, "key": 30},
    ),
}
