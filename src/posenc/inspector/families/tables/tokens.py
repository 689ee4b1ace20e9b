"""Trained tables of absolute positions of tokens: the model types of each rule for their rows."""

from __future__ import annotations

import math
from dataclasses import replace

from posenc.axes import LearnedAxes
from posenc.inspector.families.shared import Reader, every, use
from posenc.inspector.families.tables.token_tables import (
    AFTER_PADDING,
    AFTER_ROW_ONE,
    CLAMPED,
    EVERY_TOKEN,
    FROM_MASK,
    ROWS,
    TWO_SPARE_ROWS,
    Rule,
    Table,
    absurd,
    tables,
)
from posenc.inspector.reading import Use
from posenc.inspector.settings.config import Config
from posenc.learned import Learned

TOKENS = Table()
NARROW = Table(dim=("embedding_size", "hidden_size"))
DECODER = Table(place="decoder token embeddings")
SIDES = (Table(place="encoder token embeddings"), DECODER)

# Sub-configs whose classes transformers knows by no model type.
_BARK = Table(rows="block_size", assumed={"block_size": 1024, "hidden_size": 768})
_SAPROT = {
    "position_embedding_type": "rotary",
    "max_position_embeddings": 1026,
    "hidden_size": 1280,
    "pad_token_id": 1,
}

_IF_BIASED = Table(dim=NARROW.dim, only_if=("position_biased_input", True))
_IF_NOT_SINUSOIDAL = Table(only_if=("sinusoidal_embeddings", False))

# fmt: off
_LIKE_BERT = (
    "aimv2_text_model", "align_text_model", "bert", "bert-generation", "big_bird",
    "blip_2_qformer", "blip_text_model", "bros", "chinese_clip_text_model", "clip_text_model",
    "clipseg_text_model", "dpr", "ernie", "flava_text_model", "fnet", "git", "gpt-sw3", "gpt2",
    "gpt_bigcode", "gpt_neo", "groupvit_text_model", "imagegpt", "instructblip_qformer",
    "instructblipvideo_qformer", "layoutlm", "layoutlmv2", "layoutxlm", "megatron-bert",
    "metaclip_2_text_model", "mobilebert", "openai-gpt", "owlv2_text_model", "owlvit_text_model",
    "roc_bert", "siglip2_text_model", "siglip_text_model", "splinter", "tvp", "vilt",
    "xclip_text_model",
)
_LIKE_ROBERTA = (
    "altclip_text_model", "bridgetower_text_model", "camembert", "clap_text_model",
    "data2vec-text", "ibert", "layoutlmv3", "lilt", "longformer", "markuplm", "roberta",
    "roberta-prelayernorm", "xlm-roberta", "xlm-roberta-xl", "xmod",
)
# fmt: on

_COUNTED: dict[str, tuple[Table, ...]] = {
    **dict.fromkeys(("albert", "convbert", "electra", "squeezebert"), (NARROW,)),
    **dict.fromkeys(("semantic", "coarse_acoustics", "fine_acoustics"), (_BARK,)),
    **dict.fromkeys(("blenderbot", "blenderbot-small", "bigbird_pegasus"), SIDES),
    **dict.fromkeys(("deberta", "deberta-v2"), (_IF_BIASED,)),
    **dict.fromkeys(("xlm", "flaubert"), (_IF_NOT_SINUSOIDAL,)),
    "cohere_asr": (DECODER,),
    "decision_transformer": (
        Table(place="states, actions and returns", rows="max_ep_len"),
        Table(
            remarks=(
                "DecisionTransformerModel puts every token at position 0 of this table; the "
                "time steps of the other one tell tokens apart.",
            )
        ),
    ),
    "distilbert": (Table(only_if=("sinusoidal_pos_embds", False)),),
    "led": (
        Table(place=SIDES[0].place, rows="max_encoder_position_embeddings"),
        Table(place=SIDES[1].place, rows="max_decoder_position_embeddings"),
    ),
    "lxmert": (
        Table(remarks=("Row 0 starts as zeros and is never trained: it is a padding row.",)),
    ),
    "oneformer": (
        Table(
            place="text token embeddings",
            rows="text_encoder_context_length",
            dim=("text_encoder_width",),
            remarks=("A text must have exactly as many tokens: the whole table is added.",),
        ),
    ),
    "perceiver": (
        Table(dim=("d_model",), remarks=("PerceiverTextPreprocessor adds it.",)),
        Table(
            place="decoder queries",
            dim=("d_model",),
            remarks=("PerceiverForMaskedLM asks with these vectors, one a token.",),
        ),
    ),
    "rembert": (Table(dim=("input_embedding_size",)),),
    "sam3_lite_text_text_model": (
        Table(
            remarks=(
                "Texts of another length stretch or shrink the whole table to it: linear, "
                'corners="half_pixel" in posenc.learned.resample.',
            )
        ),
    ),
    "tapas": (
        Table(
            remarks=(
                "With reset_position_index_per_cell the count starts again in each cell of the "
                "table, and stays at the last row once it is reached.",
            )
        ),
    ),
    "visual_bert": (
        TOKENS,
        Table(
            place="visual embeddings",
            remarks=(
                "All visual tokens stand at 0; with image_text_alignment they also get the mean "
                "of the text rows they are aligned to.",
            ),
        ),
    ),
    "whisper": (Table(place=DECODER.place, rows="max_target_positions"),),
    **dict.fromkeys(_LIKE_BERT, (TOKENS,)),
}
_SHIFTED: dict[str, tuple[Table, ...]] = {
    **dict.fromkeys(("bart", "mbart", "mvp", "plbart"), SIDES),
    **dict.fromkeys(("mra", "nystromformer", "yoso"), (TOKENS,)),
    "biogpt": (
        Table(
            remarks=(
                "Releases of transformers before 5 counted only tokens of the attention mask, with "
                "padding at -1, row 1.",
            )
        ),
    ),
    "pp_formulanet_text": (DECODER,),
    "trocr": (Table(place=DECODER.place, only_if=("use_learned_position_embeddings", True)),),
}
_PADDED: dict[str, tuple[Table, ...]] = {
    **dict.fromkeys(_LIKE_ROBERTA, (TOKENS,)),
    "esm": (Table(only_if=("position_embedding_type", "absolute")),),
}
_RULES: tuple[tuple[Rule, dict[str, tuple[Table, ...]]], ...] = (
    (EVERY_TOKEN, _COUNTED),
    (TWO_SPARE_ROWS, _SHIFTED),
    (FROM_MASK, {"opt": (TOKENS,)}),
    (AFTER_PADDING, _PADDED),
    (AFTER_ROW_ONE, {"mpnet": (TOKENS,)}),
    (CLAMPED, {"prophetnet": SIDES}),
)


def _canine(config: Config) -> list[Use]:
    """One row a hash bucket, though only so many characters are numbered."""
    (table,) = tables(EVERY_TOKEN, Table(place="characters", rows="num_hash_buckets"))(config)
    length = min(
        config.integer("max_position_embeddings", name="length", required=True),
        table.encoding.length,
    )
    return [replace(table, length=length, values=(*table.values, *config.taken))]


def _evolla(config: Config) -> list[Use]:
    """The protein encoder adds a table where it does not turn queries and keys."""
    protein = config.part("protein_encoder_config", "")
    table = Table(
        place="protein token embeddings",
        only_if=("position_embedding_type", "absolute"),
        assumed=_SAPROT,
    )
    return tables(AFTER_PADDING, table)(protein)


def _moonshine_streaming(config: Config) -> list[Use]:
    """The decoder numbers what it hears: as many as its own length, in the encoder's width."""
    encoder = config.part("encoder_config", "moonshine_streaming_encoder")
    length = config.integer("max_position_embeddings", name="length", required=True)
    encoding = Learned(length=length, dim=encoder.integer("hidden_size", name="dim", required=True))
    config.taken += encoder.taken
    remark = "Added once, before the decoder's cross-attention."
    return [
        use(config, "learned", encoding, place="encoder states", length=length, remarks=(remark,))
    ]


def _reformer(config: Config) -> list[Use]:
    """A row is two halves from two small tables, the position folded into rows and columns."""
    if not config.flag("axial_pos_embds"):
        return tables(ROWS, Table())(config)
    lengths = config.integers("axial_pos_shape", name="lengths", required=True)
    widths = config.integers("axial_pos_embds_dim", name="widths", required=True)
    dim = config.integer("hidden_size", name="dim", required=True)
    if len(lengths) != len(widths) or sum(widths) != dim:
        absurd(
            config, "axial_pos_embds_dim", list(widths),
            f"must have {len(lengths)} numbers that sum to hidden_size={dim}.",
        )  # fmt: skip
    encoding = LearnedAxes(lengths=lengths, widths=widths, axes=tuple(range(len(lengths))))
    length = min(math.prod(lengths), config.integer("max_position_embeddings", required=True))
    remarks = (
        "Position p is cell p of a grid of these lengths, in raster order: posenc.grids.unravel.",
        "Training takes no other length than the product of the lengths.",
    )
    return [
        use(
            config,
            "learned axial",
            encoding,
            place="token embeddings",
            length=length,
            remarks=remarks,
        )
    ]


_CLVP = every(
    tables(EVERY_TOKEN, Table(place="speech token embeddings")),
    tables(
        ROWS,
        Table(
            place="text token embeddings of the conditioning encoder",
            rows="max_text_tokens",
            remarks=(
                "Padding takes the position of the last token before it: the sum of the attention "
                "mask so far, minus 1.",
                "Two tokens, start and end, are put around the text first.",
            ),
        ),
    ),
)
_LUKE = every(
    tables(AFTER_PADDING, TOKENS),
    tables(
        EVERY_TOKEN,
        Table(
            place="entity embeddings",
            remarks=(
                "An entity gets the mean of the rows of its words, which count from row 0 here.",
            ),
        ),
    ),
)

READERS: dict[str, Reader] = {
    **{
        model_type: tables(rule, *found)
        for rule, types in _RULES
        for model_type, found in types.items()
    },
    **dict.fromkeys(("evolla", "EvollaModel"), _evolla),
    "canine": _canine,
    "clvp_decoder": _CLVP,
    "luke": _LUKE,
    "moonshine_streaming": _moonshine_streaming,
    "reformer": _reformer,
}
