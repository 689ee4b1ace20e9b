"""Trained tables of tokens that are counted or summed in a way of their own."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from oracles import Outcome, built, modeling
from oracles.token_tables import (
    Arrays,
    emptied,
    filled,
    given_to,
    looked_up,
    outcome,
    refuses,
    the_use,
)
from posenc import grids, learned, positions


@outcome(
    "its own sums for texts as long, shorter and longer",
    {},
    {"max_position_embeddings": 29, "hidden_size": 24},
)
def sam3_lite_text(**changes: Any) -> Arrays:
    config = built("sam3_lite_text_text_model", **{"vocab_size": 64, **changes})
    owner = modeling("sam3_lite_text_text_model").Sam3LiteTextTextEmbeddings(config)
    owner = owner.double()  # in float32 PyTorch rounds the places between rows to 2e-5
    emptied(owner.token_embedding)
    table = filled(owner.position_embedding.position_embedding)[0, 0]
    use = the_use("sam3_lite_text_text_model", "token embeddings", **changes)
    for count in (use.length, 11, 90):
        rows = learned.resample(table, old=(use.length,), new=(count,), method="linear")
        spec = type(use.encoding)(length=count, dim=use.encoding.dim)
        ids = torch.zeros(1, count, dtype=torch.long)
        yield spec.encode(positions.count(count), table=rows), owner(ids)[0].detach().numpy()


@outcome("its own sums", {}, {"text_encoder_context_length": 23, "text_encoder_width": 64})
def oneformer_text(**changes: Any) -> Arrays:
    config = built(
        "oneformer", **{"text_encoder_num_layers": 1, "text_encoder_vocab_size": 64, **changes}
    )
    owner = modeling("oneformer").OneFormerTextMapper(config).text_encoder
    emptied(owner.token_embedding)
    table = filled(owner.positional_embedding)
    use = the_use("oneformer", "text token embeddings", **changes)
    ids = torch.zeros(1, use.length, dtype=torch.long)
    yield (
        use.encoding.encode(positions.count(use.length), table=table),
        given_to(owner.transformer, lambda: owner(ids))[:, 0],
    )
    if not refuses(lambda: owner(ids[:, 1:])):
        raise AssertionError("the model takes shorter texts")


@outcome("vectors of visual tokens", {}, {"max_position_embeddings": 29, "hidden_size": 48})
def visual_bert(**changes: Any) -> Arrays:
    config = built("visual_bert", **{"vocab_size": 64, **changes})
    owner = modeling("visual_bert").VisualBertEmbeddings(config).eval()
    table = filled(owner.visual_position_embeddings.weight)
    use = the_use("visual_bert", "visual embeddings", **changes)
    ids = torch.zeros(1, 4, dtype=torch.long)
    seen = torch.zeros(1, 6, config.visual_embedding_dim)
    run = functools.partial(owner, ids, token_type_ids=ids, visual_embeds=seen)
    yield (
        use.encoding.encode(np.zeros((1, 6), np.int64), table=table),
        looked_up(owner, "visual_position_embeddings", run),
    )
    if table.shape != use.encoding.weights["table"]:
        raise AssertionError(f"the model's table has shape {table.shape}")


@outcome("means of the words of entities", {}, {"max_position_embeddings": 29, "hidden_size": 48})
def luke_entities(**changes: Any) -> Arrays:
    config = built("luke", **{"entity_vocab_size": 9, **changes})
    owner = modeling("luke").LukeEntityEmbeddings(config).eval()
    emptied(owner.entity_embeddings, owner.token_type_embeddings)
    table = filled(owner.position_embeddings.weight)
    use = the_use("luke", "entity embeddings", **changes)
    words = torch.tensor([[[0, 1, -1], [use.length - 1, -1, -1]]])
    found = given_to(owner.LayerNorm, lambda: owner(torch.zeros(1, 2, dtype=torch.long), words))
    rows = use.encoding.encode(np.asarray([0, 1, use.length - 1]), table=table)
    yield np.stack([rows[:2].mean(axis=0), rows[2]]), found[0]


@outcome(
    "every time step, and the table that stands still",
    {},
    {"max_ep_len": 33, "hidden_size": 48, "max_position_embeddings": 29},
)
def decision_transformer(**changes: Any) -> Arrays:
    config = built("decision_transformer", **{"n_layer": 1, **changes})
    owner = modeling("decision_transformer").DecisionTransformerModel(config).eval()
    steps = filled(owner.embed_timestep.weight, 1)
    still = filled(owner.encoder.wpe.weight, 2)
    time = the_use("decision_transformer", "states, actions and returns", **changes)
    token = the_use("decision_transformer", "token embeddings", **changes)
    count = time.length
    run = functools.partial(
        owner,
        states=torch.zeros(1, count, config.state_dim),
        actions=torch.zeros(1, count, config.act_dim),
        returns_to_go=torch.zeros(1, count, 1),
        timesteps=torch.arange(count)[None],
    )
    yield (
        time.encoding.encode(positions.count(count), table=steps)[None],
        looked_up(owner, "embed_timestep", run),
    )
    yield (
        token.encoding.encode(np.zeros((1, 3 * count), np.int64), table=still),
        looked_up(owner, "encoder.wpe", run),
    )


@outcome("every row, and padding at the end", {}, {"max_text_tokens": 37, "hidden_size": 64})
def clvp_text(**changes: Any) -> Arrays:
    config = built("clvp", decoder_config=changes)
    owner = modeling("clvp").ClvpConditioningEncoder(config).eval()
    table = filled(owner.text_position_embedding.weight)
    place = "text token embeddings of the conditioning encoder"
    use = the_use("clvp_decoder", place, **changes)
    heard = torch.zeros(1, config.decoder_config.feature_size, 4)
    mask = torch.ones(1, use.length - 2, dtype=torch.long)
    mask[0, -5:] = 0
    for given in (torch.ones_like(mask), mask):
        run = functools.partial(owner, heard, torch.full_like(mask, 7), attention_mask=given)
        wrapped = np.concatenate([[1, 1], given[0].numpy()])
        yield (
            use.encoding.encode(np.cumsum(wrapped) - 1, table=table)[None],
            looked_up(owner, "text_position_embedding", run),
        )


@outcome("positions that start again in each cell", {}, {"max_position_embeddings": 29})
def tapas_cells(**changes: Any) -> Arrays:
    config = built("tapas", **{"vocab_size": 64, **changes})
    owner = modeling("tapas").TapasEmbeddings(config).eval()
    table = filled(owner.position_embeddings.weight)
    use = the_use("tapas", "token embeddings", **changes)
    types = torch.zeros(1, 24, 7, dtype=torch.long)
    types[0, 6:, 1] = types[0, 6:, 2] = 1
    types[0, 15:, 1] = 2
    within = np.concatenate([np.arange(6), np.arange(9), np.arange(9)])
    yield (
        use.encoding.encode(within, table=table)[None],
        looked_up(
            owner,
            "position_embeddings",
            lambda: owner(torch.zeros(1, 24, dtype=torch.long), token_type_ids=types),
        ),
    )


@outcome(
    "every row, and single tokens",
    {},
    {
        "axial_pos_shape": [5, 7],
        "axial_pos_embds_dim": [16, 8],
        "hidden_size": 24,
        "max_position_embeddings": 35,
    },
    kind="learned axial",
)
def reformer(**changes: Any) -> Arrays:
    use = the_use("reformer", "token embeddings", "learned axial", **changes)
    owner = modeling("reformer").ReformerEmbeddings(built("reformer", **changes)).eval()
    tables = {
        f"axis_{axis}": filled(weight, axis).reshape(use.encoding.lengths[axis], -1)
        for axis, weight in enumerate(owner.position_embeddings.weights)
    }
    for start, count in ((0, use.length), (use.length - 9, 9), (3, 1)):
        ids = torch.zeros(1, count, dtype=torch.long)
        run = functools.partial(owner, ids, start_idx_pos_encodings=start)
        cells = grids.unravel(positions.count(count, offset=start), *use.encoding.lengths)
        yield (
            use.encoding.encode(cells, **tables)[None],
            looked_up(owner, "position_embeddings", run),
        )
    if not refuses(lambda: owner(torch.zeros(1, use.length + 1, dtype=torch.long))):
        raise AssertionError("the model takes a text that is longer than its tables")


@outcome(
    "every row of the table without axes", {}, {"max_position_embeddings": 37, "hidden_size": 24}
)
def reformer_plain(**changes: Any) -> Arrays:
    changes["axial_pos_embds"] = False
    use = the_use("reformer", "token embeddings", **changes)
    owner = modeling("reformer").ReformerEmbeddings(built("reformer", **changes)).eval()
    table = filled(owner.position_embeddings.embedding.weight)
    ids = torch.zeros(1, use.length, dtype=torch.long)
    yield (
        use.encoding.encode(positions.count(use.length), table=table)[None],
        looked_up(owner, "position_embeddings", lambda: owner(ids)),
    )


CHECKS: dict[str, tuple[Callable[[], list[Outcome]], ...]] = {
    "clvp": (clvp_text,),
    "clvp_decoder": (clvp_text,),
    "decision_transformer": (decision_transformer,),
    "luke": (luke_entities,),
    "oneformer": (oneformer_text,),
    "reformer": (reformer, reformer_plain),
    "sam3_lite_text_text_model": (sam3_lite_text,),
    "tapas": (tapas_cells,),
    "visual_bert": (visual_bert,),
}
