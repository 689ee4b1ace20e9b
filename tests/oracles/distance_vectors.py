"""Attention of text and protein models run alive, against posenc with the same weights."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from transformers.models.esm import modeling_esmfold

from oracles import Outcome, built, modeling
from oracles.attention import array, heads_of, hidden, outcome, own, random, share, softmax


def _xlnet() -> list[Outcome]:
    outcomes = []
    for queries, keys, changes in (
        (30, 30, {}),
        (20, 33, {"clamp_len": 7}),  # 13 remembered tokens
        (20, 33, {"attn_type": "uni"}),
    ):
        changes = {"d_model": 48, "n_head": 6, **changes}
        config = built("xlnet", **changes)
        code = modeling("xlnet")
        module = random(code.XLNetRelativeAttention(config))
        (use,) = own("xlnet", "Transformer-XL", **changes)
        table = SimpleNamespace(
            d_model=48,
            attn_type=config.attn_type,
            bi_data=False,
            clamp_len=config.clamp_len,
            positional_embedding=code.XLNetModel.positional_embedding,
        )
        vectors = code.XLNetModel.relative_positional_encoding(table, queries, keys, bsz=1)
        r = torch.einsum("ibh,hnd->ibnd", vectors, module.r)
        q, k = hidden(queries, 1, 6, 8), hidden(keys, 1, 6, 8, seed=4)
        at = np.arange(queries) + keys - queries
        ahead = np.arange(keys) > at[:, None]
        mask = torch.tensor(ahead[:, :, None, None]).float() if config.attn_type == "uni" else None
        _, theirs = module.rel_attn_core(q, k, k, r, attn_mask=mask, output_attentions=True)
        q, k = (np.moveaxis(array(x)[:, 0], 0, 1) for x in (q, k))
        scores = q @ np.swapaxes(k, -1, -2) * use.encoding.scale + use.encoding.score_term(
            q,
            k,
            at,
            np.arange(keys),
            projection=array(module.r).reshape(48, 48).T,
            content_bias=array(module.r_w_bias),
            position_bias=array(module.r_r_bias),
        )
        ours = softmax(np.where(ahead, -1e30, scores) if mask is not None else scores)
        theirs = np.moveaxis(array(theirs)[:, :, 0], -1, 0)
        how = f"probabilities of XLNetRelativeAttention, {queries} x {keys}, {changes}"
        outcomes.append(outcome(use, how, ours, theirs))
    return outcomes


def _funnel() -> list[Outcome]:
    outcomes = []
    for changes in ({}, {"separate_cls": False}, {"attention_type": "factorized"}):
        changes = {"d_model": 48, "n_head": 6, "d_head": 8, "hidden_dropout": 0.0, **changes}
        config = built("funnel", **changes)
        code = modeling("funnel")
        (use,) = own("funnel", "Transformer-XL", **changes)
        structure = code.FunnelAttentionStructure(config).eval()
        inputs = structure.init_attention_inputs(torch.zeros(1, 24, 48))
        at = np.arange(24)
        outcomes.append(_funnel_block(code, config, use, inputs, 0, at, at))
        pooled = at[1:-1:2] if config.separate_cls else at[::2]
        first = [-1] if config.separate_cls else []
        pooled = np.concatenate([np.asarray(first, np.int64), pooled])
        _, inputs = structure.pre_attention_pooling(torch.zeros(1, 24, 48), inputs)
        outcomes.append(_funnel_block(code, config, use, inputs, 1, pooled, at))
        inputs = structure.post_attention_pooling(inputs)
        outcomes.append(_funnel_block(code, config, use, inputs, 1, pooled, pooled))
    return outcomes


def _funnel_block(
    code: Any, config: Any, use: Any, inputs: Any, block: int, at: np.ndarray, keys: np.ndarray
) -> Outcome:
    module = random(code.FunnelRelMultiheadAttention(config, block))
    vectors, _, _, class_mask = inputs
    q = hidden(1, len(at), 6, 8)
    theirs = module.relative_positional_attention(vectors, q * module.scale, len(keys), class_mask)
    nothing = np.zeros((6, 8), np.float32)
    ours = use.encoding.score_term(
        np.moveaxis(array(q)[0], 0, 1),
        np.zeros((6, len(keys), 8), np.float32),
        at,
        keys,
        projection=array(module.r_kernel).reshape(48, 48).T,
        content_bias=nothing,
        position_bias=array(module.r_r_bias),
    )
    if class_mask is not None:
        ours = ours * array(class_mask)
    how = (
        f"relative_positional_attention, block {block}, {len(at)} x {len(keys)}, "
        f"{config.attention_type}, separate_cls {config.separate_cls}"
    )
    return share(use, how, ours, array(theirs)[0])


_DEBERTA = {"hidden_size": 48, "num_attention_heads": 6, "relative_attention": True}


def _deberta() -> list[Outcome]:
    """The first version: one row a distance, and a text longer than the table."""
    outcomes = []
    for terms in (["c2p", "p2c"], "c2p|p2c", ["p2c"], ["c2p"]):
        changes = {**_DEBERTA, "max_relative_positions": 16, "pos_att_type": terms}
        config = built("deberta", **changes)
        code = modeling("deberta")
        module = random(code.DisentangledSelfAttention(config))
        (use,) = own("deberta", "DeBERTa", **changes)
        rows, x = hidden(32, 48, seed=5), hidden(1, 40, 48)
        layer = module.transpose_for_scores(module.in_proj(x))
        q, k, _ = layer.chunk(3, dim=-1)
        relative = code.build_relative_position(q, k)
        mask = torch.ones(1, 1, 40, 40)
        theirs = module(x, mask, True, relative_pos=relative, rel_embeddings=rows)[1]
        q = q + module.transpose_for_scores(module.q_bias[None, None])
        tables = {
            "position_keys": getattr(module, "pos_proj", None),
            "position_queries": getattr(module, "pos_q_proj", None),
        }
        ours = _disentangled(use, array(q)[0], array(k)[0], tables, rows)
        how = f"probabilities of DisentangledSelfAttention, 40 tokens, {terms}"
        outcomes.append(outcome(use, how, ours, array(theirs)[0]))
    return outcomes


def _disentangled(
    use: Any, q: np.ndarray, k: np.ndarray, tables: dict[str, Any], rows: torch.Tensor
) -> np.ndarray:
    code, at = use.encoding, np.arange(q.shape[1])
    given = {
        name: heads_of(project(rows), code.heads)
        for name, project in tables.items()
        if name in code.weights
    }
    scores = q @ np.swapaxes(k, -1, -2) * code.scale
    return softmax(scores + code.score_term(q, k, at, at, **given))


def _deberta_v2(model_type: str) -> Callable[[], list[Outcome]]:
    """Buckets and none, with projections of their own and shared ones."""

    def check() -> list[Outcome]:
        outcomes = []
        for buckets, shared, terms in (
            (8, True, ["p2c", "c2p"]),
            (8, False, ["c2p", "p2c"]),
            (-1, True, ["c2p"]),
        ):
            more = {"share_att_key": shared, "position_buckets": buckets, "pos_att_type": terms}
            changes = {**_DEBERTA, "max_relative_positions": 40, **more}
            (use,) = own(model_type, "DeBERTa", **changes)
            how = f"probabilities, 40 tokens, {buckets} buckets, shared {shared}, {terms}"
            outcomes.append(_disentangled_v2(model_type, changes, use, how))
        changes = {**_DEBERTA, "pos_att_type": ["c2p", "p2c"], "position_buckets": 256}
        (use,) = own(model_type, "DeBERTa", **changes)
        rows = modeling(model_type).make_log_bucket_position(torch.arange(-511, 512), 256, 512)
        index = use.encoding.index(np.arange(-511, 512), np.asarray([0]))[:, 0] - 256
        how = "make_log_bucket_position, 256 buckets of 512"
        return [*outcomes, outcome(use, how, index, rows)]

    return check


def _disentangled_v2(model_type: str, changes: dict[str, Any], use: Any, how: str) -> Outcome:
    config = built(model_type, **changes)
    module = random(modeling(model_type).DisentangledSelfAttention(config))
    rows, x = hidden(use.encoding.weights["position_keys"][1], 48, seed=5), hidden(1, 40, 48)
    mask = torch.ones(1, 1, 40, 40)
    theirs = module(x, mask, output_attentions=True, rel_embeddings=rows)[1]
    shared = changes["share_att_key"]
    tables = {
        "position_keys": module.key_proj if shared else module.pos_key_proj,
        "position_queries": module.query_proj
        if shared
        else getattr(module, "pos_query_proj", None),
    }
    q, k = (heads_of(part(x[0]), 6) for part in (module.query_proj, module.key_proj))
    ours = _disentangled(use, q, k, tables, rows)
    return outcome(use, how, ours, array(theirs).reshape(ours.shape))


def _inkling() -> list[Outcome]:
    outcomes = []
    changes = {"sliding_window_size": 9, "rel_extent": 20, "d_rel": 4}
    for use in own("inkling_text", "relative logits", **changes):
        far = use.encoding.max_distance
        module = random(modeling("inkling_text").InklingRelativeLogits(4, far))
        states, at = hidden(1, 30, 6, 4), torch.arange(30) + 5
        theirs = module(states, at, torch.arange(35))
        ours = _logits(use, states, at, torch.arange(35), module.proj)
        how = f"InklingRelativeLogits, 30 x 35, {use.layer_type}"
        outcomes.append(outcome(use, how, ours, array(theirs)[0]))
    return outcomes


def _logits(use: Any, states: Any, at: Any, keys: Any, projection: Any) -> np.ndarray:
    table = np.pad(array(projection).T[::-1], ((1, 1), (0, 0)))
    states = np.moveaxis(array(states)[0], 0, 1)
    term = use.encoding.score_term(states, array(at), array(keys), key_table=table)
    return term / use.encoding.scale


def _inkling2(model_type: str, name: str) -> Callable[[], list[Outcome]]:
    def check() -> list[Outcome]:
        changes = {
            "sliding_window_size": 9,
            "rel_extent": 20,
            "d_rel": 4,
            "hidden_size": 48,
            "log_scaling_n_floor": 100000,
        }
        config, outcomes = built(model_type, **changes), []
        for use in own(model_type, "relative logits", **changes):
            far, full = use.encoding.max_distance, use.layer_type == "hybrid"
            module = random(getattr(modeling(model_type), name)(config, 6, far, full))
            x, at = hidden(1, 30, 48), torch.arange(30)
            theirs = module(x, at[:, None] - at, at[None])
            states = module.norm(module.linear(x).view(1, 30, 6, 4), at[None])
            ours = _logits(use, states, at, at, module.proj)
            how = f"{name}, 30 x 30, {use.layer_type}"
            outcomes.append(outcome(use, how, ours, array(theirs)[0]))
        return outcomes

    return check


def _esm() -> list[Outcome]:
    outcomes = []
    for bins in (32, 5):
        given = {"trunk": {"position_bins": bins, "pairwise_state_dim": 64}}
        (use,) = own("esm", "pairwise", is_folding_model=True, esmfold_config=given)
        config = SimpleNamespace(position_bins=bins, pairwise_state_dim=64)
        module = random(modeling_esmfold.EsmFoldRelativePosition(config))
        numbers = torch.tensor([[0, 1, 2, 9, 40, 41, 90]])
        at = array(numbers)[0]
        table = array(module.embedding.weight)[1:]
        ours = table.reshape(use.encoding.weights["key_table"])[use.encoding.index(at, at)]
        outcomes.append(
            outcome(use, f"EsmFoldRelativePosition, {bins} bins", ours, array(module(numbers))[0])
        )
    return outcomes


def _esmfold2() -> list[Outcome]:
    changes = {"num_relative_residx_bins": 5, "num_relative_chain_bins": 1}
    changes["pairwise_hidden_size"] = 16
    config = built("esmfold2", **changes)
    module = random(modeling("esmfold2").EsmFold2RelativePositionEncoding(config))
    uses = own("esmfold2", "pairwise", **changes)
    residue = np.asarray([0, 1, 2, 9, 9, 40, 0, 7])
    chain = np.asarray([0, 0, 0, 0, 0, 0, 1, 2])
    token = np.arange(8)
    theirs = module(*(torch.tensor(x)[None] for x in (residue, chain, chain, chain, token)))
    weight = array(module.embed.weight).T
    same = chain[:, None] == chain
    at_once = same & (residue[:, None] == residue)
    ours, start = np.zeros((8, 8, 16)), 0
    for use, where, known in zip(
        uses, (residue, token, chain), (same, at_once, ~same), strict=True
    ):
        rows = use.encoding.weights["key_table"][0]
        if use is uses[2]:
            ours, start = ours + same[..., None] * weight[start], start + 1
        table = weight[start : start + rows][::-1]
        vectors = table[use.encoding.index(where, where)]
        ours = ours + np.where(known[..., None], vectors, weight[start + rows])
        start += rows + 1
    how = "EsmFold2RelativePositionEncoding, three chains"
    return [outcome(uses[0], how, ours, array(theirs)[0])]


CHECKS: dict[str, Callable[[], list[Outcome]]] = {
    "xlnet": _xlnet,
    "funnel": _funnel,
    "deberta": _deberta,
    "deberta-v2": _deberta_v2("deberta-v2"),
    "sew-d": _deberta_v2("sew-d"),
    "inkling_text": _inkling,
    "inkling2_text": _inkling2("inkling2_text", "Inkling2RelativePositionBias"),
    "inkling2_loop_text": _inkling2("inkling2_loop_text", "Inkling2LoopRelativePositionBias"),
    "esm": _esm,
    "esmfold2": _esmfold2,
}
