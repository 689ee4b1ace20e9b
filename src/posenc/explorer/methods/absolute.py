"""Vectors that are added to embeddings."""

from __future__ import annotations

from posenc.axes import LearnedAxes, SinusoidalAxes
from posenc.explorer.methods.method import Method
from posenc.fourier import FourierFeatures, Nerf
from posenc.learned import Learned
from posenc.sinusoidal import Sinusoidal

SINUSOIDAL = Method(
    encoding=Sinusoidal(dim=64),
    name="Sinusoidal",
    title="Sinusoidal vectors",
    lead="Every position gets its own vector of sines and cosines, fast ones and slow ones. It is "
    "added to the embedding of the token that stands there, once, before the first layer.",
    formulas=(r"\sin(p\,\omega_k),\quad \cos(p\,\omega_k)", r"\omega_k = b^{-2k/d}"),
    aloud="Pair k of the vector at position p holds the sine and the cosine of p times omega k. "
    "Omega k, the speed of the pair in radians per position, is the base b to the power minus 2 k "
    "over d, where d counts the features. Positions and pairs count from 0.",
    acts="embeddings",
    notes=(
        (
            "Fast pairs and slow pairs",
            "The first pair turns by a whole radian from one position to the next, so it tells "
            "neighbours apart; the last one hardly moves within a page and tells the beginning "
            "from the end. Hours, minutes and seconds share the work in the same way.",
        ),
        (
            "A shift is a turn",
            "Going 5 positions on turns each pair by 5 times its speed, wherever you start. So one "
            "fixed matrix turns any vector into the one 5 positions later, and the product of two "
            "position vectors depends on their distance alone. It is the same forwards and "
            "backwards: by itself it does not tell left from right.",
        ),
        (
            "The formula has no end, the training has",
            "There is a vector for every position, however far. Whether a model makes sense of "
            "positions it never saw in training is another question. In 2017 that was a hope; "
            "Press et al. 2021 measured that it loses its way within tens of tokens.",
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
)
LEARNED = Method(
    encoding=Learned(length=512, dim=64),
    name="Learned",
    title="Learned table",
    lead="Every position has a row in a table, and every number in it is trained with the model. "
    "The row is added to the embedding of the token, once, before the first layer.",
    formulas=(r"x_p \to x_p + T_{p + o}",),
    aloud="To the embedding of the token at position p is added row p plus o of the table T. The "
    "offset o is 0 in most models; in RoBERTa and OPT it is 2, because other rows come first.",
    acts="embeddings",
    notes=(
        (
            "A table with an end",
            "The table usually has as many rows as the longest training text had tokens. The next "
            "position has no row at all. Code that is well made refuses it, as posenc does.",
        ),
        (
            "From noise to order",
            "Training begins with random rows, unrelated to each other. In trained models near "
            "rows tend to be alike; Dosovitskiy et al. 2020 show it for image patches, where "
            "nothing but training tells the model which patch lies where.",
        ),
        (
            "Rows that nothing reached",
            "A row is trained only by texts that are long enough to use it. So the last rows of a "
            "table may have seen little, and that a model runs at its full length proves nothing.",
        ),
    ),
    facts=(
        "added to the embeddings, once",
        "one vector a position",
        "both positions, mixed with both contents",
        "nothing was learned: there is no row",
        "BERT, GPT-2, RoBERTa, OPT; patches in ViT and CLIP",
        "Gehring et al. 2017, arXiv:1705.03122",
    ),
)
SINUSOIDAL_AXES = Method(
    encoding=SinusoidalAxes(dim=64),
    name="Sinusoidal, grid",
    title="Sinusoidal vectors of a grid",
    lead="A patch of an image has a row and a column. Each fills its share of one vector with "
    "sines and cosines, which is added to the embedding of the patch.",
    formulas=(
        r"\left[\, s(r) \;|\; s(c) \,\right]",
        r"s(p)_k = \sin(p\,\omega_k),\; \cos(p\,\omega_k)",
        r"\omega_k = b^{-2k/w}",
    ),
    aloud="The vector of row r and column c is the code of r followed by the code of c. Pair k of "
    "the code of a number p holds the sine and the cosine of p times omega k; omega k is the base "
    "b to the power minus 2 k over w, where w counts the features of one share.",
    acts="embeddings",
    notes=(
        (
            "Alike along a cross",
            "The product of two vectors is the likeness of the rows plus that of the columns. So "
            "every patch of the same row stays half alike, however far along, and the patches most "
            "alike to one form a cross around it.",
        ),
        (
            "Which axis comes first?",
            "Both orders are in use. MAE fills the first share from the column, RT-DETR from the "
            "row. Both work, but a model must be run with the one it was trained with, and on "
            "square images nothing fails loudly when it is not.",
        ),
    ),
    facts=(
        "added to the embeddings; in DETR to queries and keys of every layer",
        "none",
        "rows and columns of both, mixed with both contents",
        "defined; unless coordinates are scaled, larger images bring new ones",
        "MAE, DETR, RT-DETR, Mask2Former, SAM 2",
        "He et al. 2021, arXiv:2111.06377",
    ),
)
LEARNED_AXES = Method(
    encoding=LearnedAxes(lengths=(64, 64), widths=(32, 32)),
    name="Learned, grid",
    title="Learned tables of a grid",
    lead="Rows and columns have a small trained table each, instead of one large table with a row "
    "for every cell. The two vectors of a cell, side by side or summed, are added to its "
    "embedding.",
    formulas=(r"x_{rc} \to x_{rc} + \left[\, A_r \;|\; B_c \,\right]",),
    aloud="To the embedding of the cell in row r and column c is added row r of the table A "
    "followed by row c of the table B. Some models add the two vectors to each other instead.",
    acts="embeddings",
    notes=(
        (
            "Few numbers for many cells",
            "Two tables of 64 rows serve 64 times 64 cells. Reformer folds a text of 4,096 tokens "
            "into such a grid: 65,536 numbers instead of 4,194,304 for vectors of 1,024 features.",
        ),
        (
            "Stripes",
            "Cells of one row share their first half, cells of one column their second half. What "
            "the model learns of a row it learns for all its columns; nothing can be said of one "
            "cell alone.",
        ),
    ),
    facts=(
        "added to the embeddings, once",
        "one vector a row and one a column",
        "rows and columns of both, mixed with both contents",
        "nothing was learned: there is no row",
        "Reformer, for texts; Pix2Struct; the vision part of Gemma 4",
        "Kitaev et al. 2020, arXiv:2001.04451",
    ),
)
FOURIER_FEATURES = Method(
    encoding=FourierFeatures(dim=64, axes=2),
    name="Fourier",
    title="Random Fourier features",
    lead="Directions and speeds are drawn at random once; a point is described by sines and "
    "cosines of how far it lies along each. They take the place of coordinates or are added to "
    "embeddings.",
    formulas=(
        r"\cos(2\pi\, b_k \cdot v),\quad \sin(2\pi\, b_k \cdot v)",
        r"b_k \sim N(0, s^2)",
    ),
    aloud="Feature k of a point v is the cosine of 2 pi times the product of b k and v, and its "
    "sine. Each b k is a list of as many numbers as v has coordinates, drawn from a normal "
    "distribution whose standard deviation is the scale s.",
    acts="embeddings",
    notes=(
        (
            "One knob: the scale",
            "A small scale gives slow waves: near points look the same, and a network that reads "
            "them blurs. A large scale gives fast waves: near points look unrelated, and the "
            "network learns noise. The paper tunes it for each task.",
        ),
        (
            "Random, but not to be lost",
            "The matrix is never trained, yet it belongs to the model. Drawn anew, it gives other "
            "features, and everything after them was trained for the old ones.",
        ),
        (
            "Only the difference counts",
            "Products of two vectors depend on the difference of the two points alone, as with "
            "sinusoidal vectors. But here waves run in all directions, not along the axes only.",
        ),
    ),
    facts=(
        "added to the embeddings, or in place of coordinates",
        "none: a random matrix, drawn once and kept",
        "both places, mixed with both contents",
        "made for coordinates between 0 and 1",
        "points and boxes in the prompts of SAM and SAM 2",
        "Tancik et al. 2020, arXiv:2006.10739",
    ),
)
NERF = Method(
    encoding=Nerf(octaves=10, axes=2),
    name="NeRF",
    title="Octaves of NeRF",
    lead="Each coordinate of a point becomes sines and cosines whose speeds double from one to the "
    "next. A network of plain layers reads them in place of the coordinates.",
    formulas=(
        r"x,\quad \sin(2^k x),\quad \cos(2^k x)",
        r"k = 0, \dots, n - 1",
    ),
    aloud="A coordinate x becomes itself, and for every k from 0 to n minus 1 the sine and the "
    "cosine of 2 to the power k times x. The paper has a factor pi beside the power of 2 and "
    "leaves out x itself; the authors' code does neither.",
    acts="embeddings",
    notes=(
        (
            "Doubling, as in music",
            "Every pair turns twice as fast as the one before. Ten octaves span speeds from 1 to "
            "512; a sinusoidal vector of 64 features spans some 7,500, with many steps between.",
        ),
        (
            "Why a network wants it",
            "From bare coordinates a small network learns smooth, blurred pictures. Fast waves let "
            "it follow fine detail; that is what the paper shows for scenes.",
        ),
        (
            "Paper and code differ",
            "Switch the factor pi, the bare coordinates and the grouping to go from one to the "
            "other. With the factor the slowest pair makes one turn from minus 1 to 1, the range "
            "of coordinates in the paper.",
        ),
    ),
    facts=(
        "in place of coordinates, before the first layer",
        "none",
        "no scores: a plain network reads it",
        "made for coordinates between minus 1 and 1",
        "NeRF: points of a scene and directions of view",
        "Mildenhall et al. 2020, arXiv:2003.08934",
    ),
)
