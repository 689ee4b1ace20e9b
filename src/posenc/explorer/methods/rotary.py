"""Encodings that turn queries and keys."""

from __future__ import annotations

from posenc.axial import AxialRotary
from posenc.bipe import Bipe
from posenc.explorer.methods.method import Method
from posenc.mixed import MixedRotary
from posenc.mrope import MRotary
from posenc.rotary import Rotary
from posenc.sinusoidal import Sinusoidal
from posenc.xpos import XPos

ROTARY = Method(
    encoding=Rotary(dim=64),
    name="Rotary",
    title="Rotary embedding (RoPE)",
    lead="Each query and key is cut into pairs of numbers, and every pair turns like the hand of a "
    "clock, by an angle that grows with the position. Values are left alone.",
    formulas=(
        r"x \to x\,\cos\,p\,\omega_k - y\,\sin\,p\,\omega_k",
        r"y \to y\,\cos\,p\,\omega_k + x\,\sin\,p\,\omega_k",
        r"\omega_k = b^{-2k/d}",
    ),
    aloud="At position p, pair k of a query or key, x and y, is turned by the angle p times omega "
    "k. Omega k, the speed of the pair in radians per position, is the base b to the power minus 2 "
    "k over d, where d is the width of a head.",
    acts="queries and keys",
    notes=(
        (
            "Only the distance is left",
            "Query and key are turned by angles that grow alike, so in their product only the "
            "difference of the two positions remains. Move both tokens alike, and the score stays.",
        ),
        (
            "Which two features are a pair?",
            "Two habits are common: features k and k + d/2, or neighbours 2k and 2k + 1. Both "
            "work, but a model must be run with the one it was trained with. With the other one a "
            "token's score with itself stays right, since both are turned alike. So the first "
            "token, which sees only itself, comes out right, and after that scores drift.",
        ),
        (
            "Longer texts need help",
            "Within the trained length the slowest pairs finish no turn. Beyond it they reach "
            "angles that the model has not seen, and the scores go astray. Position interpolation, "
            "YaRN and their kin slow the turning to stay among known angles.",
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
)
XPOS = Method(
    encoding=XPos(dim=64),
    name="xPos",
    title="Rotary with fading (xPos)",
    lead="Queries and keys turn as in a rotary embedding, and change in length as well: what is "
    "left in a score fades with distance, fast pairs first. Values are left alone.",
    formulas=(
        r"u_k \to \zeta_k^{\,p/S}\; R(p\,\omega_k)\, u_k",
        r"v_k \to \zeta_k^{-p/S}\; R(p\,\omega_k)\, v_k",
        r"\zeta_k = \frac{2k/d + \gamma}{1 + \gamma}",
    ),
    aloud="At position p, pair k of a query, u, and of a key, v, is turned by the angle p times "
    "omega k, as in a rotary embedding. Then the query is multiplied by zeta k to the power p over "
    "S, and the key by zeta k to the power minus p over S. Zeta k is 2 k over d, the width of a "
    "head, plus gamma, all over 1 plus gamma.",
    acts="queries and keys",
    notes=(
        (
            "What a pair keeps",
            "Two lengths meet in a score, and only zeta to the power distance over S is left. With "
            "gamma at 0.4 the fastest pair keeps 29 per cent after S = 512 positions, the slowest "
            "of 32 keeps 98.",
        ),
        (
            "Causal attention only",
            "Behind the query scores fade; ahead of it they would grow without end. So xPos "
            "belongs under a causal mask.",
        ),
        (
            "Long keys",
            "Keys grow as queries shrink: the first feature of a key doubles every 283 positions. "
            "In float16 that ends after some 4,500. The center moves where both have their own "
            "length, and falls out of every score.",
        ),
    ),
    facts=(
        "turns and scales queries and keys, in every layer",
        "none",
        "both contents and the distance, fading",
        "made for it, under a causal mask: far tokens fade",
        "the models of its paper; the library torchscale",
        "Sun et al. 2022, arXiv:2212.10554",
    ),
)
AXIAL_ROTARY = Method(
    encoding=AxialRotary(dim=64, base=100.0),
    name="Rotary, grid",
    title="Rotary embedding of a grid",
    lead="A patch of an image has a row and a column: some pairs of a query or key turn with the "
    "row, the others with the column. Values are left alone.",
    formulas=(
        r"x \to x\,\cos\,\theta - y\,\sin\,\theta",
        r"y \to y\,\cos\,\theta + x\,\sin\,\theta",
        r"\theta = r\,\omega_k \quad \text{or} \quad c\,\omega_k",
        r"\omega_k = b^{-2k/w}",
    ),
    aloud="A pair of a query or key, x and y, is turned by the angle theta. For the pairs of the "
    "first axis theta is the row r times omega k, for those of the second the column c times omega "
    "k. Omega k is the base b to the power minus 2 k over w, where w counts the features of one "
    "axis.",
    acts="queries and keys",
    notes=(
        (
            "Only the offset is left",
            "In the product of a query and a key there remain the difference of their rows and "
            "that of their columns. The same two patches further down give the same score.",
        ),
        (
            "A small base",
            "Images have tens of rows, not thousands. With a base of 100 the slow pairs still turn "
            "noticeably across them; RoPE-ViT, DINOv3 and Gemma 4 take it. Others keep 10,000.",
        ),
        (
            "No two models agree",
            "Row or column first, neighbours or halves, own speeds or dealt ones, coordinates from "
            "0, from 1 or from minus 1 to 1: each choice is in use somewhere, and a model must be "
            "run with its own.",
        ),
    ),
    facts=(
        "turns queries and keys, in every layer",
        "none",
        "both contents, and the distance in rows and in columns",
        "larger images bring new angles; some models scale coordinates",
        "Qwen2-VL's vision part, Pixtral, DINOv3, Llama 4's vision part",
        "Heo et al. 2024, arXiv:2403.13298",
    ),
)
MIXED_ROTARY = Method(
    encoding=MixedRotary(dim=64, heads=8),
    name="Rotary, mixed",
    title="Rotary with trained directions (RoPE-Mixed)",
    lead="Each pair of a query or key turns with the row and the column at once, at speeds that "
    "are trained, in every head its own. Values are left alone.",
    formulas=(
        r"x \to x\,\cos\,\theta - y\,\sin\,\theta",
        r"y \to y\,\cos\,\theta + x\,\sin\,\theta",
        r"\theta = c\,f_{hk} + r\,g_{hk}",
    ),
    aloud="Pair k of a query or key in head h, x and y, is turned by the angle theta: the column c "
    "times f, plus the row r times g. The two speeds f and g of each head and pair are trained.",
    acts="queries and keys",
    notes=(
        (
            "Waves in every direction",
            "Seen as a picture over the grid, each pair is a wave. Axial turning knows waves along "
            "rows and along columns only; mixed ones run in slanting directions as well.",
        ),
        (
            "How training begins",
            "Each head draws one direction at random; half of its pairs point along it, half "
            "across. That is what you see here, from a seed. The speeds should be spared weight "
            "decay, which would pull them to 0.",
        ),
    ),
    facts=(
        "turns queries and keys, in every layer",
        "two speeds for each pair and head",
        "both contents, and the distance in rows and in columns",
        "larger images bring new angles",
        "RoPE-ViT, the models of its paper",
        "Heo et al. 2024, arXiv:2403.13298",
    ),
)
M_ROTARY = Method(
    encoding=MRotary(rotary=Rotary(dim=64), sections=(12, 10, 10)),
    name="Rotary, multimodal",
    title="Multimodal rotary embedding (M-RoPE)",
    lead="Each token has three positions: time, row and column; some pairs of a query or key turn "
    "with each. Text has the same position on all three, so there it is a plain rotary embedding.",
    formulas=(
        r"x \to x\,\cos\,\theta - y\,\sin\,\theta",
        r"y \to y\,\cos\,\theta + x\,\sin\,\theta",
        r"\theta = p_{a(k)}\,\omega_k",
        r"\omega_k = b^{-2k/d}",
    ),
    aloud="Pair k of a query or key, x and y, is turned by the angle theta: omega k times the "
    "position of the token on the axis a of that pair, which is time, row or column. Omega k is "
    "the base b to the power minus 2 k over d, where d is the width of a head.",
    acts="queries and keys",
    notes=(
        (
            "Which pairs follow what?",
            "In Qwen2-VL the fastest pairs follow time and the slowest the column, which then "
            "hardly turns. Qwen3-VL lets the three take turns, so that each has fast pairs and "
            "slow ones.",
        ),
        (
            "An image takes little room",
            "An image of 16 by 16 patches is 256 tokens, but the text after it starts only 16 "
            "positions later. Decoding must go on from the largest position, not from the count.",
        ),
        (
            "Text cannot test it",
            "On text alone every choice of sections gives the same scores, so a mistake in them "
            "shows only with images or video.",
        ),
    ),
    facts=(
        "turns queries and keys, in every layer",
        "none",
        "both contents, and the distance in time, row and column",
        "as rotary: fails without a rule that slows the turning",
        "Qwen2-VL, Qwen2.5-VL, Qwen3-VL, GLM-4.1V, ERNIE 4.5 VL",
        "Wang et al. 2024, arXiv:2409.12191",
    ),
)
BIPE = Method(
    encoding=Bipe(intra=Sinusoidal(dim=64), inter=Rotary(dim=64)),
    name="BiPE",
    title="Two levels of position (BiPE)",
    lead="A token has a place in its sentence and a sentence has a place in the text. The first is "
    "added to the embedding, the second turns queries and keys or lowers the scores.",
    formulas=(
        r"x \to x + e(p)",
        r"q \to R(s\,\omega)\, q",
    ),
    aloud="To the embedding of a token is added the vector e of its position p within its segment. "
    "Then the pairs of its query are turned as in a rotary embedding, but by the number s of the "
    "segment instead of a position; keys likewise.",
    acts="queries and keys",
    notes=(
        (
            "Counting afresh",
            "Segments end at full stops or line feeds. Positions within start at 0 in each, so "
            "they stay small however long the text is.",
        ),
        (
            "Fewer steps to the end",
            "A text has far fewer sentences than tokens, so the numbers that turn queries and keys "
            "grow slowly. With a bias instead of turning, the released model multiplies it by 96 "
            "to make up for that.",
        ),
    ),
    facts=(
        "added to the embeddings, and turns queries and keys or is added to scores",
        "the vectors within a segment, if they are a table",
        "both contents, both places in a sentence, and the distance in sentences",
        "made for it: numbers of segments grow slowly",
        "the models of its paper",
        "He et al. 2024, arXiv:2401.16421",
    ),
)
