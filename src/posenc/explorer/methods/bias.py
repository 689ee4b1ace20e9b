"""Biases that are added to scores."""

from __future__ import annotations

from posenc.alibi import Alibi
from posenc.explorer.methods.method import Method
from posenc.fire import Fire
from posenc.kerple import Kerple
from posenc.sandwich import Sandwich
from posenc.t5 import T5

ALIBI = Method(
    encoding=Alibi(heads=8),
    name="ALiBi",
    title="Linear bias (ALiBi)",
    lead="No vectors at all. Each attention score is lowered in proportion to the distance between "
    "query and key, steeply in some heads and gently in others.",
    formulas=(r"\frac{q_i \cdot k_j}{\sqrt{d}} - m_h\,(i - j)", r"j \le i"),
    aloud="The score of query i and key j, their product over the square root of d, the width of a "
    "head, is lowered by the slope m of head h times the number of positions between them.",
    acts="scores",
    notes=(
        (
            "Near-sighted and far-sighted heads",
            "A steep head can only look at the last few tokens, a gentle one reads far back. The "
            "slopes are fixed; training decides what each head does with its range.",
        ),
        (
            "Head counts that are no power of two",
            "The authors' code takes the slopes of the next lower power of two and fills up with "
            "every other slope of the next higher one, so they do not fall in order. Set 12 heads "
            "to see it, and the plain rule to see each head get another slope. A model must be run "
            "with the rule it was trained with.",
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
)
T5_BIAS = Method(
    encoding=T5(heads=8),
    name="T5",
    title="Bucketed bias (T5)",
    lead="Distances are sorted into buckets, one for each short distance and wider ones further "
    "off. Each bucket has a trained number a head, which is added to the score.",
    formulas=(
        r"q_i \cdot k_j + B_{h,\,\beta(i - j)}",
        r"\beta(n) = n \quad \text{for} \quad n < E",
        r"\beta(n) = E + \left\lfloor \frac{\ln(n/E)}{\ln(D/E)}\,(N - E) \right\rfloor",
    ),
    aloud="To the score of query i and key j is added the number in the table B of head h for the "
    "bucket of their distance. Below E, half the number N of buckets of one side, each distance n "
    "has its own bucket. From there on the bucket is E plus the whole part of N minus E times the "
    "logarithm of n over E over that of D over E, D being the largest distance; and at most the "
    "last.",
    acts="scores",
    notes=(
        (
            "Fine near, coarse far",
            "With 32 buckets, half of them for keys ahead, distances 0 to 7 have one each. The "
            "last bucket begins at 91: all that is further looks the same.",
        ),
        (
            "Scores without the root",
            "T5 does not divide scores by the square root of the head's width, as others do. Code "
            "that divides all the same makes the bias count too much.",
        ),
        (
            "One table for all layers",
            "The layers of a stack share one table; encoder and decoder have one each. umT5 has "
            "one in every layer.",
        ),
    ),
    facts=(
        "added to the scores, in every layer",
        "one number for each bucket and head",
        "both contents, and a number for the distance",
        "all far distances look alike",
        "T5, mT5, LongT5, MPNet, LayoutLMv3",
        "Raffel et al. 2019, arXiv:1910.10683",
    ),
)
KERPLE = Method(
    encoding=Kerple(heads=8),
    name="KERPLE",
    title="Kernel bias (KERPLE)",
    lead="Each score is lowered by a curve of the distance, the logarithm or a power of it. Two "
    "trained numbers a head say how fast it falls.",
    formulas=(r"\frac{q_i \cdot k_j}{\sqrt{d}} - r_h \ln\left(1 + s_h\,(i - j)\right)",),
    aloud="The score of query i and key j, their product over the square root of d, the width of a "
    "head, is lowered by r times the natural logarithm of 1 plus s times the distance, i minus j. "
    "Every head h has its own r and s, both positive. The other form takes the distance to the "
    "power s instead.",
    acts="scores",
    notes=(
        (
            "Between a line and a wall",
            "A straight line punishes the thousandth token a thousand times as much as the first. "
            "A logarithm soon runs nearly level, so far tokens fade but stay in reach.",
        ),
        (
            "ALiBi with trained slopes",
            "Take the power form with exponent 1: the bias is a straight line again, and only its "
            "slope is trained.",
        ),
    ),
    facts=(
        "added to the scores, in every layer",
        "two numbers a head, for all layers",
        "both contents, less a curve of the distance",
        "made for it: far tokens fade slowly",
        "the models of its paper",
        "Chi et al. 2022, arXiv:2205.09921",
    ),
)
FIRE = Method(
    encoding=Fire(heads=8, threshold=32.0),
    name="FIRE",
    title="Interpolated bias (FIRE)",
    lead="The distance is squeezed into 0 to 1, measured by how far the query stands from the "
    "start. A small trained network turns that into a number a head, which is added to the score.",
    formulas=(
        r"f_h\left(\frac{\psi(i - j)}{\psi(\max(i,\, L))}\right)",
        r"\psi(x) = \ln(1 + c\,x)",
    ),
    aloud="The bias of query i and key j in head h is the network f of a fraction: psi of the "
    "distance, i minus j, over psi of the query's position i, or of the threshold L if that is "
    "larger. Psi of x is the natural logarithm of 1 plus c times x. The network, c and a "
    "multiplier of L are trained.",
    acts="scores",
    notes=(
        (
            "The query's place counts",
            "Up to the threshold all queries measure alike. Beyond it the same distance is a "
            "smaller share of a longer way, so the bias of two tokens 10 apart changes as you go "
            "on: there no row of the table of all pairs is a shifted copy of another.",
        ),
        (
            "Why nothing new comes up",
            "However long the text, the network reads a number between 0 and 1, as in training. "
            "That is the interpolation in the name.",
        ),
    ),
    facts=(
        "added to the scores, in every layer",
        "a small network, and two numbers",
        "both contents, the distance, and where the query stands",
        "made for it: distances stay between 0 and 1",
        "the models of its paper; the code of the Abacus paper",
        "Li et al. 2023, arXiv:2310.04418",
    ),
)
SANDWICH = Method(
    encoding=Sandwich(heads=8),
    name="Sandwich",
    title="Similarity as bias (Sandwich)",
    lead="The sinusoidal vectors of query and key are multiplied with each other, and with nothing "
    "else. The product, scaled for each head, is added to the score.",
    formulas=(
        r"\frac{1}{t_h}\left(\sum_k \cos\left((i - j)\,\omega_k\right) - \frac{d}{2}\right)",
        r"t_h = \frac{8h}{H}",
    ),
    aloud="The bias of query i and key j is the sum of the cosines of their distance, i minus j, "
    "times omega k, the speeds of a sinusoidal vector, less half the number d of its features, so "
    "that it is 0 at distance 0. In head h of H heads the whole is divided by 8 h over H.",
    acts="scores",
    notes=(
        (
            "A sum of waves that falls",
            "Each cosine goes up and down for ever; their sum falls roughly with the logarithm of "
            "the distance, with ripples on it.",
        ),
        (
            "Nothing to train",
            "The first head divides by the smallest number and is the most near-sighted. With 8 "
            "heads it takes off 19 at a distance of 10, and 33 at 100.",
        ),
    ),
    facts=(
        "added to the scores, in every layer",
        "none",
        "both contents, less a rippled curve of the distance",
        "made for it: far tokens fade slowly",
        "the models of its paper; the library NeMo",
        "Chi et al. 2022, arXiv:2212.10356",
    ),
)
