"""Encodings that are part of the scores: they meet queries and keys themselves."""

from __future__ import annotations

from posenc.cope import Cope
from posenc.deberta import Deberta
from posenc.decomposed import Decomposed
from posenc.explorer.methods.method import Method
from posenc.shaw import Shaw
from posenc.transformer_xl import TransformerXL

SHAW = Method(
    encoding=Shaw(dim=64, max_distance=16),
    name="Shaw",
    title="Relative representations (Shaw)",
    lead="Each short distance has a trained vector. It is added to the key before the query meets "
    "it, and a second one to the value, in every layer.",
    formulas=(
        r"\frac{q_i \cdot (k_j + a_c)}{\sqrt{d}}",
        r"c = \text{clip}(j - i,\; -D,\; D)",
    ),
    aloud="The score of query i and key j is the product of the query with the sum of the key and "
    "the vector a c, over the square root of the head's width d. The number c is the position of "
    "the key minus that of the query, held between minus D and D, the largest distance.",
    acts="scores",
    notes=(
        (
            "Everything far looks alike",
            "Beyond the largest distance all keys share one vector. So the table stays small, and "
            "texts of any length find an entry; but the model cannot tell 20 tokens from 200.",
        ),
        (
            "The query decides",
            "A bias adds the same number for every query at a distance. Here the number is a "
            "product with the query: one token may look three places back, another may not care.",
        ),
        (
            "Values too",
            "The paper also adds vectors to the values, so that what is passed on knows how far it "
            "came. Later models leave that out. wav2vec2-BERT reaches 64 places behind and 8 "
            "ahead.",
        ),
    ),
    facts=(
        "part of the scores and of the mix of values, in every layer",
        "one vector a distance, for keys and for values",
        "both contents, and the query with the distance",
        "all far distances look alike",
        "VITS, SpeechT5, wav2vec2-BERT",
        "Shaw et al. 2018, arXiv:1803.02155",
    ),
)
TRANSFORMER_XL = Method(
    encoding=TransformerXL(heads=8, dim=64, model_dim=512, max_distance=64),
    name="Transformer-XL",
    title="Transformer-XL attention",
    lead="Every distance has a sinusoidal vector, and a trained matrix turns it into a key of its "
    "own. The score of query and key gains the product of the query with that, and two trained "
    "biases.",
    formulas=(r"\frac{(q_i + u) \cdot k_j + (q_i + v) \cdot W R_{i - j}}{\sqrt{d}}",),
    aloud="The score of query i and key j is the product of the query plus u with the key, plus "
    "the product of the query plus v with the matrix W times R, all over the square root of the "
    "head's width d. R is the sinusoidal vector of the distance, i minus j; u and v are trained, "
    "one of each for every head.",
    acts="scores",
    notes=(
        (
            "Four questions at once",
            "Multiplied out, the score has four parts: content with content, content with "
            "distance, a liking for certain keys whatever the query, and a liking for certain "
            "distances.",
        ),
        (
            "A memory of earlier text",
            "The model keeps the hidden states of the segment before. Absolute positions would "
            "clash there, as each segment counts from 0; distances do not.",
        ),
    ),
    facts=(
        "part of the scores, in every layer",
        "a matrix a layer and two vectors a head",
        "both contents, and the query with the distance",
        "defined; code often stops the distance at a largest one",
        "Transformer-XL, XLNet; speech encoders such as Parakeet's",
        "Dai et al. 2019, arXiv:1901.02860",
    ),
)
DEBERTA = Method(
    encoding=Deberta(heads=8, dim=64, max_distance=16),
    name="DeBERTa",
    title="Disentangled attention (DeBERTa)",
    lead="Content and position stay apart: each distance has a trained key and a trained query. "
    "The score adds query with position and key with position to query with key, in every layer.",
    formulas=(r"\frac{q_i \cdot k_j + q_i \cdot K_{i - j} + k_j \cdot Q_{i - j}}{\sqrt{3d}}",),
    aloud="The score of query i and key j is the product of the two, plus the product of the query "
    "with K, plus the product of the key with Q, over the square root of 3 d. K and Q are the "
    "trained key and query of the distance, i minus j, and d is the width of a head.",
    acts="scores",
    notes=(
        (
            "Three sums, one scale",
            "With two added terms the sum is divided by the square root of three times the width, "
            "so that it stays as large as before. Leave out a term, and the scale changes with it.",
        ),
        (
            "Paper and code differ",
            "The paper looks up the third term by the distance from key to query, the authors' "
            "code by that from query to key. Trained models follow the code; switch the row to see "
            "both.",
        ),
        (
            "Buckets for far distances",
            "Versions 2 and 3 tell near distances apart one by one and sort far ones into buckets "
            "that widen with the logarithm: 256 for each side, reaching 512 tokens.",
        ),
    ),
    facts=(
        "part of the scores, in every layer",
        "a table of distances, projected to keys and queries",
        "both contents, each with the other and with the distance",
        "all far distances look alike",
        "DeBERTa, versions 1 to 3; SEW-D",
        "He et al. 2020, arXiv:2006.03654",
    ),
)
COPE = Method(
    encoding=Cope(dim=64, length=64),
    name="CoPE",
    title="Contextual positions (CoPE)",
    lead="Distance is counted in tokens that the query cares for: each key in between adds a gate "
    "between 0 and 1. The score gains the product of the query with the vector of that count.",
    formulas=(
        r"g_{it} = \sigma\left(\frac{q_i \cdot k_t}{\sqrt{d}}\right)",
        r"p_{ij} = \sum_{t=j}^{i} g_{it}",
        r"\frac{q_i \cdot (k_j + e_{p_{ij}})}{\sqrt{d}}",
    ),
    aloud="The gate of query i and key t is the logistic function of their product over the square "
    "root of the head's width d. The position of key j, as query i sees it, is the sum of the "
    "gates from j up to i. The score is the product of the query with the key plus the vector e of "
    "that position, over the square root of d.",
    acts="scores",
    notes=(
        (
            "Counting what matters",
            "If all gates are open, the count is the plain distance. If they open only at full "
            "stops, it counts sentences. Each head, and each query, counts for itself.",
        ),
        (
            "Positions with a fraction",
            "Gates are seldom 0 or 1, so counts fall between whole numbers. The product with the "
            "query is taken at the whole position below and above, and mixed by the fraction.",
        ),
        (
            "Causal only",
            "A query counts backwards from itself. Keys it may not see, padding and other "
            "documents must be left out before counting, not only from the scores.",
        ),
    ),
    facts=(
        "part of the scores, in every layer",
        "one vector for each whole count",
        "the query, the key and all keys between them",
        "counts stop at the last vector",
        "the models of its paper",
        "Golovneva et al. 2024, arXiv:2405.18719",
    ),
)
DECOMPOSED = Method(
    encoding=Decomposed(dim=64, grid=(8, 8)),
    name="Decomposed",
    title="Decomposed by row and column",
    lead="Each distance in rows has a trained vector, and each distance in columns. The score "
    "gains the product of the query with both, in every layer.",
    formulas=(r"\frac{q_i \cdot k_j}{\sqrt{d}} + q_i \cdot (a_{\Delta r} + b_{\Delta c})",),
    aloud="The score of query i and key j is their product over the square root of the head's "
    "width d, plus the product of the query with the sum of two vectors: a, of how many rows the "
    "two lie apart, and b, of how many columns.",
    acts="scores",
    notes=(
        (
            "Two small tables",
            "An image of 64 by 64 patches has 127 times 127 offsets. Two tables of 127 vectors "
            "take their place; a vector for every offset would make some 64 times as many.",
        ),
        (
            "Not divided by the width",
            "The query of the added terms is not divided by the square root of the width, the "
            "product with the key is. Code that scales the whole sum gives other scores.",
        ),
        (
            "Keys may be fewer",
            "MViTv2 pools keys to a coarser grid. Rows and columns are then stretched to the finer "
            "grid before they are subtracted. Choose a key grid to see it.",
        ),
    ),
    facts=(
        "part of the scores, in every layer",
        "one vector a row distance and one a column distance",
        "both contents, and the query with both distances",
        "tables are stretched to the new grid",
        "SAM, MViTv2, ViTDet; document readers such as GOT-OCR2",
        "Li et al. 2022, arXiv:2112.01526",
    ),
)
