"""T5 buckets in text and speech: a trained number for each range of distances."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable
from typing import Any

from posenc.inspector.families.shared import Reader, fitted, layers, use
from posenc.inspector.reading import Use
from posenc.inspector.settings.config import Config
from posenc.t5 import T5

NO_SCALE = (
    "Scores are not divided by the square root of the head's width: a fused kernel needs scale=1."
)
_NO_CROSS = "Attention from decoder to encoder has no positions."
ONE_TABLE = "All layers share one table."
_FIRST_OWNS = "The first layer of the stack owns the table, and the others add the same bias."
_EACH_OWNS = "Every layer has a table of its own."
DIVIDED = "The bias is divided by the square root of the head's width."
_T5_KEYS = "relative_attention_num_buckets", "relative_attention_max_distance"


def bias(
    config: Config,
    place: str,
    remarks: Iterable[str],
    *,
    keys: tuple[str, str] = _T5_KEYS,
    depth: tuple[str, ...] = (),
    heads: str = "num_attention_heads",
    bidirectional: bool = True,
    unscaled: bool = False,
) -> Use:
    """One table of buckets; `keys` hold how many there are and the distance where they end."""
    encoding = fitted(
        config,
        keys[0],
        T5,
        heads=config.integer(heads, name="heads", required=True),
        buckets=config.integer(keys[0], name="buckets", required=True),
        max_distance=config.integer(keys[1], name="max_distance", required=True),
        bidirectional=bidirectional,
    )
    fields = t5_scale(config) if unscaled else {}
    fields |= {"place": place, "layers": layers(config, *depth), "remarks": remarks}
    return use(config, "T5 buckets", encoding, **fields)


def t5_scale(config: Config) -> dict[str, Any]:
    """T5 never divides scores by the square root of the head's width."""
    width = config.integer("d_kv", name="head_dim", required=True)
    return {"head_dim": width, "softmax_factor": math.sqrt(width)}


def _encoder_decoder(config: Config, *, owner: str = _FIRST_OWNS) -> list[Use]:
    """T5 and those who took its attention over: a table for the encoder, one for the decoder."""
    return [
        bias(config.fresh(), "encoder attention scores", (NO_SCALE, owner), unscaled=True),
        decoder(config, owner=owner),
    ]


def decoder(config: Config, *, place: str = "decoder ", owner: str = _FIRST_OWNS) -> Use:
    """The table of a decoder like T5's, where keys ahead count as distance 0."""
    return bias(
        config.fresh(),
        f"{place}attention scores",
        (NO_SCALE, owner, _NO_CROSS),
        depth=("num_decoder_layers", "num_hidden_layers"),
        bidirectional=False,
        unscaled=True,
    )


def _pix2struct(config: Config) -> list[Use]:
    return [decoder(config, place="")]


def _longt5(config: Config) -> list[Use]:
    kind = config.word("encoder_attention_type", required=True)
    if kind not in ("local", "transient-global"):
        why = "must be local or transient-global."
        cure = "Put the model's own value there."
        config.refuse("absurd-value", "encoder_attention_type", kind, why, cure)
    near = (
        f"Keys more than {config.integer('local_radius', required=True)} tokens away are not seen."
    )
    remarks = (NO_SCALE, _FIRST_OWNS, near)
    encoder = bias(config, "encoder attention scores", remarks, unscaled=True)
    uses = [encoder, decoder(config)]
    if kind == "transient-global":
        uses.append(_global_tokens(config.fresh()))
    return uses


def _global_tokens(config: Config) -> Use:
    block = config.integer("global_block_size", required=True)
    remarks = (
        NO_SCALE,
        "Positions are the numbers of blocks, of the query's and of the one that the key sums up: "
        f"{block} tokens each, and what is left at the end counts to the last full one.",
        "This table is global_relative_attention_bias.",
    )
    return bias(config, "encoder scores of global tokens", remarks, unscaled=True)


def _mpnet(config: Config) -> list[Use]:
    heads = config.integer("num_attention_heads", name="heads", required=True)
    rows = config.integer("relative_attention_num_buckets", name="rows", required=True)
    if rows != 32:
        why = "only sizes the table: the model sorts distances into 32 buckets whatever it says."
        severity = "error" if rows < 32 else "warning"
        config.find(
            severity, "unread-key", "relative_attention_num_buckets", rows, why, "Put 32 there."
        )
    remarks = (ONE_TABLE, "32 buckets and the distance 128 are fixed in the model's code.")
    return [use(config, "T5 buckets", T5(heads=heads), layers=layers(config), remarks=remarks)]


def _wavlm(config: Config) -> list[Use]:
    remarks = (
        "The first layer owns the table.",
        "Every layer multiplies the bias by a gate that it makes for each query and head from its "
        "own input (gru_rel_pos_linear, gru_rel_pos_const).",
    )
    keys = "num_buckets", "max_bucket_distance"
    return [bias(config, "attention scores", remarks, keys=keys)]


def _cpmant(config: Config) -> list[Use]:
    kinds = config.integer("segment_types", required=True)
    remarks = (
        ONE_TABLE,
        f"{kinds * kinds} more rows follow: a key of another segment looks up row buckets + "
        f"{kinds} * (segment of the query) + (segment of the key), near or far.",
        "Distances are those of the indices, whatever positions are handed in.",
    )
    keys = "position_bias_num_buckets", "position_bias_max_distance"
    return [bias(config, "attention scores", remarks, keys=keys)]


def _prophetnet(config: Config) -> list[Use]:
    remarks = (
        "There is no table: each layer makes the numbers of all buckets anew from its input at "
        "the query (relative_pos_embeddings), buckets first, then heads.",
        "In the streams that predict, the keys of the main stream stand one position lower.",
        _NO_CROSS,
    )
    return [
        bias(
            config,
            "decoder attention scores",
            remarks,
            keys=("num_buckets", "relative_max_distance"),
            depth=("num_decoder_layers",),
            heads="num_decoder_attention_heads",
            bidirectional=False,
        )
    ]


READERS: dict[str, Reader] = {
    **dict.fromkeys(("t5", "mt5", "switch_transformers", "pop2piano"), _encoder_decoder),
    "umt5": functools.partial(_encoder_decoder, owner=_EACH_OWNS),
    "longt5": _longt5,
    "pix2struct_text_model": _pix2struct,
    "mpnet": _mpnet,
    "wavlm": _wavlm,
    "cpmant": _cpmant,
    "prophetnet": _prophetnet,
}
