"""Biases of the patches of a window."""

from __future__ import annotations

from posenc.explorer.methods.method import Method
from posenc.swin import Swin, SwinV2

SWIN = Method(
    encoding=Swin(heads=8, window=(8, 8)),
    name="Swin",
    title="Bias of a window (Swin)",
    lead="Attention stays inside a small window of an image. Each offset in rows and columns has a "
    "trained number a head, which is added to the score.",
    formulas=(r"\frac{q_i \cdot k_j}{\sqrt{d}} + B_h[\Delta r, \Delta c]",),
    aloud="To the score of query i and key j, their product over the square root of d, the width "
    "of a head, is added the number in the table B of head h for the rows and the columns by which "
    "the two lie apart.",
    acts="scores",
    notes=(
        (
            "A window of windows",
            "With the patches read row by row, the table of all pairs is made of blocks: one block "
            "for each pair of rows, and inside it one stripe for each distance in columns.",
        ),
        (
            "Every offset has its own",
            "A window of 7 by 7 patches has 13 times 13 offsets, so the table has 169 numbers a "
            "head. Nothing ties an offset to its mirror image.",
        ),
        (
            "Another window",
            "The table can be stretched like a picture to fit a larger window, as the authors do "
            "when they train on with larger images.",
        ),
    ),
    facts=(
        "added to the scores, in every layer",
        "one number for each offset and head",
        "both contents, and a number for the offset",
        "no offset leaves the window; a larger one needs a stretched table",
        "Swin Transformer, Donut, the audio part of CLAP",
        "Liu et al. 2021, arXiv:2103.14030",
    ),
)
SWIN_V2 = Method(
    encoding=SwinV2(heads=8, window=(8, 8)),
    name="Swin V2",
    title="Continuous bias of a window (Swin V2)",
    lead="A small trained network reads the offset of two patches on a logarithmic scale and gives "
    "a number a head. It is added to the score, inside a window of an image.",
    formulas=(
        r"16\,\sigma\left(f_h(u_r,\, u_c)\right)",
        r"u = \text{sign}(x)\, \frac{\log_2(1 + \left|x\right|)}{3}",
        r"x = \frac{8\,\Delta}{w - 1}",
    ),
    aloud="The bias in head h is 16 times the logistic function of the network f, which reads two "
    "numbers u, one for rows and one for columns. Each is the logarithm to base 2 of 1 plus the "
    "size of x, over 3, with the sign of x; and x is 8 times the offset over the window's width w "
    "minus 1.",
    acts="scores",
    notes=(
        (
            "From one window to another",
            "A network can be asked about any offset, so a model trained with one window can run "
            "with a larger one. The logarithm keeps what it then reads close to what it knows.",
        ),
        (
            "Between 0 and 16",
            "The logistic function bounds the bias. Before training the network gives nearly 0, so "
            "every bias begins near 8; a constant falls out of the weights.",
        ),
        (
            "Paper and code differ",
            "The paper takes the natural logarithm of the bare offset. The factor 8, the binary "
            "logarithm, the 3 and the bound come from the authors' code, and so from every model.",
        ),
    ),
    facts=(
        "added to the scores, in every layer",
        "a small network",
        "likeness of both contents, and a number for the offset",
        "made for larger windows: the network is asked for new offsets",
        "Swin V2, Swin2SR",
        "Liu et al. 2022, arXiv:2111.09883",
    ),
)
