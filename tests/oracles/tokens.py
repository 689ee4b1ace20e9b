"""Which class of transformers holds the table of each model type, and how it is made to look."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import torch

from oracles import Outcome, modeling, tokens_own
from oracles.token_tables import Case, check


def plain(owner: Any, ids: torch.Tensor, mask: torch.Tensor) -> Any:
    return owner(input_ids=ids)


def masked(owner: Any, ids: torch.Tensor, mask: torch.Tensor) -> Any:
    return owner(input_ids=ids, attention_mask=mask)


def boxed(owner: Any, ids: torch.Tensor, mask: torch.Tensor) -> Any:
    return owner(ids, bbox=torch.zeros(*ids.shape, 4, dtype=torch.long))


def typed(owner: Any, ids: torch.Tensor, mask: torch.Tensor) -> Any:
    return owner(ids, token_type_ids=torch.zeros_like(ids))


EMBEDDINGS = (Case(),)
CLIP = (Case(table="position_embedding"),)
ROBERTA = Case(counts="ids")
NARROW = (Case(changes={"embedding_size": 24}),)


def sides(prefix: str, **options: Any) -> tuple[Case, ...]:
    """The two tables of an encoder and a decoder."""
    return tuple(
        Case(
            owner=f"{prefix}{side}",
            table="embed_positions",
            place=f"{side.lower()} token embeddings",
            call=plain,
            **options,
        )
        for side in ("Encoder", "Decoder")
    )


def model(owner: str, table: str, **options: Any) -> tuple[Case, ...]:
    """A table that only a whole model holds, here without its layers."""
    return (
        Case(
            owner=owner,
            table=table,
            **{"call": plain, **options},
        ),
    )


def straight(owner: Any, ids: torch.Tensor, mask: torch.Tensor) -> Any:
    """Just the table: LED first makes masks, which take minutes for 16,384 tokens."""
    return owner.embed_positions(ids.shape)


def fine(owner: Any, ids: torch.Tensor, mask: torch.Tensor) -> Any:
    return owner(1, input_ids=ids[..., None].expand(-1, -1, owner.config.n_codes_total))


def heard(owner: Any, ids: torch.Tensor, mask: torch.Tensor) -> Any:
    states = torch.zeros(len(ids), 3, owner.config.encoder_config.hidden_size)
    return owner(input_ids=ids, encoder_hidden_states=states)


def streamed(owner: Any, ids: torch.Tensor, mask: torch.Tensor) -> Any:
    """What is numbered here is what the encoder heard."""
    states = torch.zeros(*ids.shape, owner.config.encoder_config.hidden_size)
    return owner(input_ids=ids[:, :2], encoder_hidden_states=states)


def in_one_cell(owner: Any, ids: torch.Tensor, mask: torch.Tensor) -> Any:
    return owner(ids, token_type_ids=torch.zeros(*ids.shape, 7, dtype=torch.long))


def layoutlmv2(owner: Any, ids: torch.Tensor, mask: torch.Tensor) -> Any:
    """The sum of the embeddings, without the vision tower that the whole model asks for."""
    model = modeling("layoutlmv2").LayoutLMv2Model
    boxes = torch.zeros(*ids.shape, 4, dtype=torch.long)
    return model._calc_text_embeddings(SimpleNamespace(embeddings=owner), ids, boxes, None, None)


BARK = (
    ("semantic_config", "BarkSemanticModel", plain),
    ("coarse_acoustics_config", "BarkCoarseModel", plain),
    ("fine_acoustics_config", "BarkFineModel", fine),
)
SINUSOIDAL = {"sinusoidal_embeddings": True}
BLIP = (Case(owner="Blip2TextEmbeddings", small={"vocab_size": 64}),)
DECODER = {"place": "decoder token embeddings"}
EMBED = functools.partial(model, table="embed_positions")
WPE = functools.partial(model, table="wpe")

CASES: dict[str, tuple[Case, ...]] = {
    **dict.fromkeys(
        (
            *("align_text_model", "bert", "bert-generation", "big_bird", "chinese_clip_text_model"),
            *("ernie", "flava_text_model", "fnet", "git"),
            *("instructblip_qformer", "instructblipvideo_qformer", "megatron-bert"),
            *("mobilebert", "mra", "nystromformer", "roc_bert", "splinter", "yoso"),
        ),
        EMBEDDINGS,
    ),
    **dict.fromkeys(("albert", "convbert", "electra", "squeezebert"), NARROW),
    **dict.fromkeys(
        (
            *("aimv2_text_model", "clip_text_model", "clipseg_text_model", "groupvit_text_model"),
            *("metaclip_2_text_model", "owlv2_text_model", "owlvit_text_model"),
            *("siglip2_text_model", "siglip_text_model", "xclip_text_model"),
        ),
        CLIP,
    ),
    **dict.fromkeys(
        (
            *("bridgetower_text_model", "camembert", "clap_text_model", "data2vec-text", "ibert"),
            *("longformer", "markuplm", "roberta", "roberta-prelayernorm"),
            *("xlm-roberta", "xlm-roberta-xl", "xmod"),
        ),
        (ROBERTA,),
    ),
    "altclip_text_model": (replace(ROBERTA, owner="AltRobertaEmbeddings"),),
    "bart": sides("Bart"),
    "bigbird_pegasus": sides("BigBirdPegasus"),
    "biogpt": EMBED("BioGptModel", call=masked),
    "blenderbot": sides("Blenderbot"),
    "blenderbot-small": sides("BlenderbotSmall"),
    "blip_2_qformer": BLIP,
    "blip_text_model": (CLIP[0],),
    "bark": tuple(
        case
        for part, owner, call in BARK
        for case in model(
            owner,
            "position_embeds_layer",
            part=part,
            small={"input_vocab_size": 64, "output_vocab_size": 64, "num_layers": 0},
            changes={"block_size": 37},
            call=call,
        )
    ),
    "bros": (Case(owner="BrosTextEmbeddings"),),
    "canine": (
        Case(
            table="char_position_embeddings",
            place="characters",
            changes={"num_hash_buckets": 41},
        ),
    ),
    "clvp_decoder": model("ClvpDecoder", "position_embeds_layer", place="speech token embeddings"),
    "cohere_asr": model("CohereAsrDecoder", "pos_emb", **DECODER, call=heard),
    **dict.fromkeys(
        ("deberta", "deberta-v2"),
        (
            Case(off={"position_biased_input": False}),
            Case(changes={"embedding_size": 24}),
        ),
    ),
    "decision_transformer": WPE("DecisionTransformerGPT2Model"),
    "distilbert": (Case(owner="Embeddings", off={"sinusoidal_pos_embds": True}),),
    "dpr": (Case(owner="BertEmbeddings", home="bert"),),
    "esm": (
        replace(
            ROBERTA,
            small={"vocab_size": 64, "pad_token_id": 1, "mask_token_id": 2},
            changes={"pad_token_id": 5},
            off={"position_embedding_type": "rotary"},
        ),
    ),
    "evolla": (
        replace(
            ROBERTA,
            owner="EvollaSaProtEmbeddings",
            place="protein token embeddings",
            part="protein_encoder_config",
            small={"position_embedding_type": "absolute", "vocab_size": 64},
            off={"protein_encoder_config": {}},
        ),
    ),
    "flaubert": model("FlaubertModel", "position_embeddings", off=SINUSOIDAL),
    "gpt-sw3": WPE("GPT2Model"),
    "gpt2": WPE("GPT2Model"),
    "gpt_bigcode": WPE("GPTBigCodeModel"),
    "gpt_neo": WPE("GPTNeoModel"),
    "imagegpt": WPE("ImageGPTModel"),
    "layoutlm": (Case(call=boxed),),
    "layoutlmv2": (Case(owner="LayoutLMv2Embeddings", call=layoutlmv2),),
    "layoutxlm": (Case(owner="LayoutLMv2Embeddings", home="layoutlmv2", call=layoutlmv2),),
    "layoutlmv3": (replace(ROBERTA, owner="LayoutLMv3TextEmbeddings", call=boxed),),
    "led": tuple(
        replace(case, call=straight)
        for case in sides(
            "LED",
            changes={"max_encoder_position_embeddings": 37, "max_decoder_position_embeddings": 37},
        )
    ),
    "lilt": (replace(ROBERTA, owner="LiltTextEmbeddings"),),
    "luke": (replace(ROBERTA, call=typed),),
    "lxmert": (Case(call=typed),),
    "mbart": sides("MBart"),
    "moonshine_streaming": model(
        "MoonshineStreamingDecoder",
        "pos_emb",
        place="encoder states",
        call=streamed,
        changes={"encoder_config": {"hidden_size": 24}},
    ),
    "mpnet": (replace(ROBERTA, padding=1),),
    "mvp": sides("Mvp"),
    "openai-gpt": model("OpenAIGPTModel", "positions_embed"),
    "opt": EMBED("OPTDecoder", call=masked, counts="mask"),
    "perceiver": (Case(owner="PerceiverTextPreprocessor", changes={"d_model": 24}),),
    "plbart": sides("PLBart"),
    "pp_formulanet_text": EMBED("PPFormulaNetTextModel", **DECODER),
    "prophetnet": tuple(
        replace(case, table="position_embeddings", ends=False)
        for case in sides("ProphetNet", small={"num_encoder_layers": 0, "num_decoder_layers": 0})
    ),
    "rembert": (Case(changes={"input_embedding_size": 24}),),
    "tapas": (
        Case(call=in_one_cell, ends=False),
        Case(call=in_one_cell, small={"reset_position_index_per_cell": False}),
    ),
    "trocr": EMBED("TrOCRDecoder", **DECODER, off={"use_learned_position_embeddings": False}),
    "tvp": (Case(owner="TvpTextInputEmbeddings"),),
    "vilt": (Case(owner="TextEmbeddings"),),
    "visual_bert": (Case(call=typed),),
    "whisper": EMBED(
        "WhisperDecoder",
        **DECODER,
        small={"pad_token_id": 5},
        changes={"max_target_positions": 37},
    ),
    "xlm": model("XLMModel", "position_embeddings", off=SINUSOIDAL),
}


def _all() -> dict[str, Callable[[], list[Outcome]]]:
    """The checks of this file and of tokens_own; a type may stand in both."""
    checks: dict[str, list[Callable[[], list[Outcome]]]] = {}
    for model_type, cases in CASES.items():
        checks.setdefault(model_type, []).append(functools.partial(check, model_type, cases))
    for model_type, others in tokens_own.CHECKS.items():
        checks.setdefault(model_type, []).extend(others)
    return {model_type: functools.partial(_run, found) for model_type, found in checks.items()}


def _run(checks: list[Callable[[], list[Outcome]]]) -> list[Outcome]:
    return [outcome for check in checks for outcome in check()]


CHECKS: dict[str, Callable[[], list[Outcome]]] = _all()
