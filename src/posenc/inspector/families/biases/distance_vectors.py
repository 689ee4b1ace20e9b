"""A vector for each distance in text and proteins: XLNet, Funnel, DeBERTa, Inkling, ESMFold."""

from __future__ import annotations

import functools
import math

from posenc.deberta import Deberta
from posenc.inspector.families.shared import Reader, fitted, head_dim, layers, use
from posenc.inspector.reading import Use
from posenc.inspector.settings.config import Config
from posenc.shaw import Shaw
from posenc.transformer_xl import TransformerXL

_REACH = 4096
"""How far a table is made to reach where the model has no limit of its own."""

_ENDLESS = (
    f"The model stops at no distance; max_distance here only says how far to reckon: {_REACH}."
)
_SEGMENTS = "A further term compares the segments of query and key (r_s_bias and seg_embed)."


def _xlnet(config: Config) -> list[Use]:
    clamp = config.integer("clamp_len", name="max_distance", at_least=-1)
    remarks = [_SEGMENTS, "Remembered tokens stand before those of the text, which count on."]
    if clamp is None or clamp < 1:
        clamp = _REACH
        remarks.append(_ENDLESS)
    if config.word("attn_type", required=True) == "uni":
        remarks.append("Keys ahead are masked, and their vectors are not to be used.")
    if config.flag("bi_data"):
        remarks.append("The second half of a batch is read backwards: its distances are negated.")
    return [_transformer_xl(config, clamp, layers(config, "n_layer"), remarks)]


def _funnel(config: Config) -> list[Use]:
    sizes = config.integers("block_sizes", required=True)
    repeats = config.integers("block_repeats") or (1,) * len(sizes)
    remarks = [
        _ENDLESS,
        _SEGMENTS,
        "Pooled tokens keep a position of the whole text: in block b, counted from 0, neighbours "
        "stand 2**b apart.",
        "Both kinds of attention_type reckon the same numbers.",
    ]
    if config.flag("separate_cls"):
        remarks.append(
            "The first token stands apart: from block 1 on it keeps a place of its own, at "
            "1 - 2**b, and as query and as key its position terms are put to 0."
        )
    keys = ("block_sizes", "block_repeats") if config.has("block_repeats") else ("block_sizes",)
    deep = sum(size * times for size, times in zip(sizes, repeats, strict=False))
    config.derive("layers", deep, *keys)
    return [_transformer_xl(config, _REACH, tuple(range(deep)), remarks)]


def _transformer_xl(
    config: Config, farthest: int, numbers: tuple[int, ...], remarks: list[str]
) -> Use:
    width = head_dim(config, own="d_head")
    encoding = fitted(
        config,
        "hidden_size",
        TransformerXL,
        heads=config.integer("num_attention_heads", name="heads", required=True),
        dim=width,
        model_dim=config.integer("hidden_size", required=True),
        max_distance=farthest,
    )
    return use(config, "Transformer-XL", encoding, head_dim=width, layers=numbers, remarks=remarks)


def _deberta(config: Config, *, bucketed: bool) -> list[Use]:
    terms = _terms(config) if config.flag("relative_attention") else ()
    if not terms:
        return []
    farthest = config.integer("max_relative_positions", name="max_distance", at_least=-1)
    if farthest is None or farthest < 1:
        farthest = config.integer("max_position_embeddings", name="max_distance", required=True)
    buckets = config.integer("position_buckets", name="buckets", at_least=-1) if bucketed else None
    buckets = None if buckets is None or buckets < 1 else buckets
    remarks = ["All layers share one table of relative embeddings, which each projects itself."]
    if config.flag("share_att_key") and bucketed:
        remarks.append("It is projected by the weights of queries and of keys (share_att_key).")
    if buckets:
        remarks.append(
            "transformers does not stop at max_distance - 1: keys farther ahead than that look up "
            "row 0, which no text of that length ever reached."
        )
    width = head_dim(config)
    encoding = fitted(
        config,
        "position_buckets" if buckets else "max_relative_positions",
        Deberta,
        heads=config.integer("num_attention_heads", name="heads", required=True),
        dim=width,
        max_distance=farthest,
        buckets=buckets,
        terms=terms,
    )
    # All scores are divided by sqrt(dim * (1 + terms)).
    factor = 1 / math.sqrt(1 + len(terms))
    return [
        use(
            config,
            "DeBERTa",
            encoding,
            head_dim=width,
            layers=layers(config),
            softmax_factor=factor,
            remarks=remarks,
        )
    ]


def _terms(config: Config) -> tuple[str, ...]:
    """The terms, from a list of words or from words with bars between them."""
    given = config.get("pos_att_type")
    if isinstance(given, str):
        words = tuple(word.strip() for word in given.lower().split("|"))
        config.derive("terms", words, "pos_att_type")
    else:
        words = config.words("pos_att_type", name="terms") or ()
    for word in words:
        if word not in ("c2p", "p2c"):
            why, cure = "must be c2p or p2c.", "Put the model's own terms there."
            config.refuse("absurd-value", "pos_att_type", word, why, cure)
    return tuple(term for term in ("c2p", "p2c") if term in words)


def _inkling(config: Config, *, first: bool) -> list[Use]:
    """Vectors of the distance met by vectors that are made for it, not by the queries."""
    kinds = _layer_types(config, first=first)
    uses = []
    for kind, prefix, far in (
        ("hybrid_sliding", "swa_", "sliding_window_size"),
        ("hybrid", "", "rel_extent"),
    ):
        numbers = tuple(number for number, name in enumerate(kinds) if name == kind)
        if numbers:
            own = config.fresh()
            own.taken += config.taken
            uses.append(_relative_logits(own, prefix, far, numbers, kind, first=first))
    return uses


def _relative_logits(
    config: Config, prefix: str, far: str, numbers: tuple[int, ...], kind: str, *, first: bool
) -> Use:
    dim = config.integer("d_rel", name="dim", required=True)
    farthest = config.integer(far, name="max_distance", required=True)
    width = config.integer(f"{prefix}head_dim", name="head_dim", required=True)
    floor = config.number("log_scaling_n_floor", above=0) if kind == "hybrid" else None
    remarks = [
        "What meets the vectors are not the queries but vectors of their own, made from the "
        f"layer's input: {dim} wide for each head, and not divided by sqrt({dim}).",
        f"Keys {farthest} or more tokens behind, or ahead, get nothing: the table here begins and "
        "ends with a row of zeros, and between them has the columns of `proj`, the last one first.",
    ]
    if not first:
        remarks.append("These vectors are scaled and cut to a largest norm before.")
    if floor is not None:
        strength = config.number("log_scaling_alpha")
        remarks.append(
            f"Queries and these vectors are multiplied by 1 + {strength:g} ln(n / {floor:g}) from "
            f"token n = {floor:g} on; posenc has this only in steps (Temperature)."
        )
    return use(
        config,
        "relative logits",
        Shaw(dim=dim, max_distance=farthest, ahead=1, values=False),
        layers=numbers,
        layer_type=kind,
        head_dim=width,
        softmax_factor=1 / math.sqrt(width) if first else 1.0,
        remarks=remarks,
    )


def _layer_types(config: Config, *, first: bool) -> tuple[str, ...]:
    """The kind of each layer: every sixth sees all, unless the settings say otherwise."""
    kinds = config.words("layer_types")
    if kinds is not None:
        return kinds
    count = config.integer("num_hidden_layers", at_least=0, required=True)
    near = config.integers("local_layer_ids", at_least=0) if first else None
    near = {i for i in range(count) if (i + 1) % 6} if near is None else set(near)
    kinds = tuple("hybrid_sliding" if i in near else "hybrid" for i in range(count))
    return config.derive("layer_types", kinds, "num_hidden_layers")


def _esm(config: Config) -> list[Use]:
    """ESMFold's trunk; the language model before it is another reader's."""
    if not config.flag("is_folding_model"):
        return []
    trunk = config.inside("esmfold_config").inside("trunk")
    trunk.taken = config.taken
    trunk = trunk.assuming(position_bins=32, pairwise_state_dim=128)
    remarks = (
        "Each pair of residues gets the vector itself, by residue number.",
        "Row 0 of the embedding is for masked pairs; the rows here begin at its row 1.",
    )
    bins = trunk.integer("position_bins", name="max_distance", required=True)
    dim = trunk.integer("pairwise_state_dim", name="dim", required=True)
    encoding = Shaw(dim=dim, max_distance=bins, values=False)
    return [use(trunk, "pairwise", encoding, place="pairs of residues", remarks=remarks)]


def _esmfold2(config: Config) -> list[Use]:
    dim = config.integer("pairwise_hidden_size", name="dim", required=True)
    config = config.assuming(num_relative_residx_bins=32)
    near, chain = "num_relative_residx_bins", "num_relative_chain_bins"
    given = (
        ("residue numbers", near, "the pair is of two chains"),
        ("token numbers", near, "the pair is of two chains or two residues"),
        ("chain numbers", chain, "the pair is of one chain"),
    )
    uses = []
    for what, key, otherwise in given:
        own = config.fresh().assuming(num_relative_residx_bins=32)
        remarks = (
            "Each pair gets the vector itself, and the vectors of all three are added.",
            f"One row more follows, for when {otherwise}.",
            "Rows run by query - key: turn them round.",
        )
        encoding = Shaw(
            dim=dim, max_distance=own.integer(key, name="max_distance", required=True), values=False
        )
        uses.append(use(own, "pairwise", encoding, place=f"pairs by {what}", remarks=remarks))
    return uses


READERS: dict[str, Reader] = {
    "xlnet": _xlnet,
    "funnel": _funnel,
    "deberta": functools.partial(_deberta, bucketed=False),
    **dict.fromkeys(("deberta-v2", "sew-d"), functools.partial(_deberta, bucketed=True)),
    "inkling_text": functools.partial(_inkling, first=True),
    **dict.fromkeys(
        ("inkling2_text", "inkling2_loop_text"), functools.partial(_inkling, first=False)
    ),
    "esm": _esm,
    "esmfold2": _esmfold2,
}
