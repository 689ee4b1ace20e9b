"""The models' own bucketed biases, against tables of the same weights looked up by posenc."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from oracles import Outcome, built, difference, modeling
from oracles.attention import array, own, random

_SMALL = {"d_model": 64, "d_kv": 8, "d_ff": 64, "vocab_size": 32}


def _outcome(how: str, off: float, kind: str = "T5 buckets") -> Outcome:
    return Outcome(kind=kind, layout="", how=how, difference=off)


def _uses(model_type: str, **changes: Any) -> dict[str, Any]:
    return {use.place: use for use in own(model_type, "T5 buckets", **changes)}


def _attention(model_type: str, name: str, *, decoder: bool, **changes: Any) -> Any:
    config = built(model_type, **changes)
    config.is_decoder = decoder
    return random(
        getattr(modeling(model_type), name)(config, has_relative_attention_bias=True, layer_idx=0)
    )


def _bias(encoding: Any, queries: np.ndarray, keys: np.ndarray, weight: Any) -> np.ndarray:
    return encoding.bias(queries, keys, table=array(weight))


def _stacks(model_type: str, name: str) -> Callable[[], list[Outcome]]:
    """T5 and its kin: both stacks, far beyond the last bucket, and a decoding step."""

    def check() -> list[Outcome]:
        other = {"num_heads": 12, "relative_attention_num_buckets": 20}
        far = {"relative_attention_max_distance": 77}
        own = {} if model_type == "pix2struct_text_model" else {"num_heads": 6}
        return [
            outcome
            for changes in ({}, own, {**other, **far})
            for outcome in _both(model_type, name, changes)
        ]

    return check


def _both(model_type: str, name: str, changes: dict[str, Any]) -> list[Outcome]:
    outcomes = []
    for place, use in _uses(model_type, **changes).items():
        decoder = not place.startswith("encoder")
        module = _attention(model_type, name, decoder=decoder, **changes)
        weight = module.relative_attention_bias.weight
        steps = np.arange(300)
        ours = _bias(use.encoding, steps, steps, weight)
        how = f"{name}.compute_bias, 300 x 300, {use.encoding.heads} heads, {place}"
        theirs = array(module.compute_bias(300, 300))[0]
        outcomes.append(_outcome(how, difference(ours, theirs)))
        ours = _bias(use.encoding, steps[-1:], steps, weight)
        theirs = array(module.compute_bias(1, 300, past_seen_tokens=299))[0]
        how = f"{name}.compute_bias, the last query alone, {place}"
        outcomes.append(_outcome(how, difference(ours, theirs)))
    return outcomes


def _longt5() -> list[Outcome]:
    changes = {**_SMALL, "encoder_attention_type": "transient-global", "num_heads": 6}
    uses = _uses("longt5", **changes)
    outcomes = _both("longt5", "LongT5Attention", {})[2:]
    local = _attention_block("LongT5LocalAttention", changes)
    ours = _bias(
        uses["encoder attention scores"].encoding,
        np.arange(128) + 128,
        np.arange(384),
        local.relative_attention_bias.weight,
    )
    off = difference(ours, array(local.compute_bias(128))[0, 0])
    outcomes.append(_outcome("LongT5LocalAttention.compute_bias, three blocks of 128", off))
    return [*outcomes, _global_tokens(uses["encoder scores of global tokens"].encoding, changes)]


def _attention_block(name: str, changes: dict[str, Any]) -> Any:
    config = built("longt5", **changes)
    config.is_decoder = False
    return random(getattr(modeling("longt5"), name)(config, has_relative_attention_bias=True))


def _global_tokens(encoding: Any, changes: dict[str, Any]) -> Outcome:
    module = _attention_block("LongT5TransientGlobalAttention", changes)
    mask = torch.ones(1, 50, dtype=torch.long)
    blocks, segments = modeling("longt5")._make_global_fixed_block_ids(mask, 16)
    theirs = array(module.compute_side_bias(mask, segments))[0]
    weight = module.global_relative_attention_bias.weight
    ours = _bias(encoding, array(blocks)[0].astype(np.int64), np.arange(3), weight)
    off = difference(ours, theirs)
    return _outcome("LongT5TransientGlobalAttention.compute_side_bias, 50 tokens", off)


def _mpnet() -> list[Outcome]:
    outcomes = []
    for heads in (12, 6):
        changes = {"num_attention_heads": heads, "hidden_size": heads * 4}
        config = built("mpnet", num_hidden_layers=1, intermediate_size=8, **changes)
        module = random(modeling("mpnet").MPNetEncoder(config))
        (use,) = own("mpnet", "T5 buckets", **changes)
        steps = np.arange(300)
        theirs = array(module.compute_position_bias(torch.zeros(1, 300, heads * 4)))[0]
        ours = _bias(use.encoding, steps, steps, module.relative_attention_bias.weight)
        how = f"MPNetEncoder.compute_position_bias, 300 x 300, {heads} heads"
        outcomes.append(_outcome(how, difference(ours, theirs)))
    return outcomes


def _wavlm() -> list[Outcome]:
    outcomes = []
    for changes in ({}, {"num_attention_heads": 6, "num_buckets": 64, "max_bucket_distance": 100}):
        config = built("wavlm", **changes)
        module = random(
            modeling("wavlm").WavLMAttention(
                config.hidden_size,
                config.num_attention_heads,
                num_buckets=config.num_buckets,
                max_distance=config.max_bucket_distance,
            )
        )
        (use,) = own("wavlm", "T5 buckets", **changes)
        steps = np.arange(1000)
        ours = _bias(use.encoding, steps, steps, module.rel_attn_embed.weight)
        off = difference(ours, array(module.compute_bias(1000, 1000)))
        heads = config.num_attention_heads
        outcomes.append(_outcome(f"WavLMAttention.compute_bias, 1000 x 1000, {heads} heads", off))
    return outcomes


def _cpmant() -> list[Outcome]:
    outcomes = []
    for changes in ({"num_attention_heads": 4}, {"num_attention_heads": 6, "segment_types": 3}):
        config = built("cpmant", **changes)
        module = random(modeling("cpmant").CpmAntSegmentPositionEmbedding(config))
        encoding = own("cpmant", "T5 buckets", **changes)[0].encoding
        steps = torch.arange(2100)[None]
        segment = torch.zeros_like(steps)
        theirs = array(module(steps, steps[:, :9], segment, segment[:, :9]))[0]
        table = module.relative_attention_bias[: encoding.buckets]
        ours = _bias(encoding, np.arange(9), np.arange(2100), table)
        how = f"CpmAntSegmentPositionEmbedding within a segment, 9 x 2100, {encoding.heads} heads"
        outcomes.append(_outcome(how, difference(ours, theirs)))
    return outcomes


def _prophetnet() -> list[Outcome]:
    changes = {
        "hidden_size": 48,
        "num_decoder_attention_heads": 6,
        "num_buckets": 16,
        "relative_max_distance": 50,
    }
    code = modeling("prophetnet")
    module = random(code.ProphetNetNgramSelfAttention(built("prophetnet", **changes), layer_idx=0))
    (use,) = own("prophetnet", "T5 buckets", **changes)
    at = torch.arange(1, 81)[None]
    hidden = torch.randn(1, 80, 48, generator=torch.Generator().manual_seed(1))
    main, predict = code.compute_all_stream_relative_buckets(16, 50, at)
    theirs = array(
        module.get_main_relative_pos_embeddings(hidden, torch.zeros(1, 6, 80, 80), at, main)
    )[0]
    tables = array(module.relative_pos_embeddings(hidden))[0].reshape(80, 16, 6)
    steps = np.arange(80)
    rows = [use.encoding.bias(steps[i : i + 1], steps, table=tables[i])[:, 0] for i in steps]
    stream = use.encoding.bucket(steps, np.concatenate([steps - 1, steps]))
    how = "get_main_relative_pos_embeddings, 80 x 80, each query with a table of its own"
    return [
        _outcome(how, difference(np.stack(rows, axis=1), theirs)),
        _outcome("buckets of the predicting streams", difference(stream, predict[0])),
    ]


def _udop() -> list[Outcome]:
    args = [{"type": "1d", "max_distance": 60}, {"type": "vertical", "scaling_factor": 50}]
    outcomes = _both_udop({})
    return outcomes + _both_udop({"relative_bias_args": args, "num_heads": 6})


def _both_udop(changes: dict[str, Any]) -> list[Outcome]:
    config = built("udop", **{**_SMALL, **changes})
    uses = own("udop", "T5 buckets", **changes)
    modules = modeling("udop").create_relative_bias(config)
    axes = {"encoder attention scores, horizontal": 0, "encoder attention scores, vertical": 1}
    outcomes = []
    for use, module in zip(uses[:-1], modules, strict=True):
        random(module)
        corners = np.random.default_rng(0).integers(0, 129, (1, 150, 4)) / 128
        bbox = torch.tensor(corners, dtype=torch.float32)
        theirs = array(module(torch.ones(1, 150), bbox))[0]
        keys = np.broadcast_to(np.arange(150) - np.arange(150)[:, None], (150, 150))
        if (axis := axes.get(use.place)) is not None:
            middle = (corners[0, :, axis] + corners[0, :, axis + 2]) / 2
            factor = module.scaling_factor
            keys = np.trunc((middle - middle[:, None]) * factor).astype(np.int64)
        weight = module.relative_attention_bias.weight
        ours = _bias(use.encoding, np.zeros((150, 1), np.int64), keys, weight)
        off = difference(np.moveaxis(ours[:, :, 0], 0, 1), theirs)
        outcomes.append(_outcome(f"{type(module).__name__}, 150 boxes, {use.place}", off))
    module = _attention("udop", "UdopAttention", decoder=True, **changes)
    steps = np.arange(300)
    ours = _bias(uses[-1].encoding, steps, steps, module.relative_attention_bias.weight)
    theirs = array(module.compute_bias(300, 300))[0]
    outcomes.append(_outcome("UdopAttention.compute_bias, decoder", difference(ours, theirs)))
    return outcomes


def _boxes(seed: int = 0) -> tuple[Any, Any]:
    """Places in a text and boxes on a page, far beyond the last buckets."""
    random_boxes = np.random.default_rng(seed).integers(0, 1000, (1, 200, 4))
    return torch.arange(200)[None], torch.tensor(random_boxes)


def _layoutlm(model_type: str) -> Callable[[], list[Outcome]]:
    def check() -> list[Outcome]:
        return [
            outcome
            for heads, more in ((12, {}), (6, {"rel_pos_bins": 16, "max_rel_2d_pos": 300}))
            for outcome in _layout(
                model_type, {"num_attention_heads": heads, "hidden_size": heads * 16, **more}
            )
        ]

    return check


def _layout(model_type: str, changes: dict[str, Any]) -> list[Outcome]:
    config = built(model_type, num_hidden_layers=1, intermediate_size=8, **changes)
    third = model_type == "layoutlmv3"
    code = modeling("layoutlmv3" if third else "layoutlmv2")
    encoder = random((code.LayoutLMv3Encoder if third else code.LayoutLMv2Encoder)(config))
    at, boxes = _boxes()
    uses = {use.place: use for use in own(model_type, "T5 buckets", **changes)}
    steps, box = np.arange(200), boxes[0].numpy()
    ours = [
        _bias(uses[place].encoding, where, where, weight.weight.T)
        for place, where, weight in (
            ("attention scores", steps, encoder.rel_pos_bias),
            ("attention scores, left edges", box[:, 0], encoder.rel_pos_x_bias),
            ("attention scores, lower edges", box[:, 3], encoder.rel_pos_y_bias),
        )
    ]
    if third:
        theirs = array(encoder._compute_position_bias(at, boxes))[0] * 4.0
    else:
        theirs = encoder._calculate_1d_position_embeddings(at)
        theirs = array(theirs + encoder._calculate_2d_position_embeddings(boxes))[0]
    how = f"sum of the three biases of {type(encoder).__name__}, 200 boxes"
    return [_outcome(how, difference(sum(ours), theirs))]


def _reading_order() -> list[Outcome]:
    code = modeling("pp_doclayout_v2")
    outcomes = []
    for changes in ({}, {"relation_bias_embed_dim": 8, "relation_bias_theta": 300}):
        config = built("pp_doclayout_v2", reading_order_config=changes).reading_order_config
        module = random(code.PPDocLayoutV2PositionRelationEmbedding(config))
        (use,) = own("pp_doclayout_v2", "box relation", reading_order_config=changes)
        # Multiples of 1 / 64 that times 100 stay exact, and few enough turns for float32.
        x = torch.arange(-48, 49).reshape(1, 97, 1) / 1024
        theirs = array(module.get_position_embedding(x, config.relation_bias_scale))[0]
        ours = use.encoding.encode(array(x)[0, :, 0] * config.relation_bias_scale)
        outcomes.append(_outcome("get_position_embedding", difference(ours, theirs), use.kind))
    return [*outcomes, _reading_order_text(code)]


def _reading_order_text(code: Any) -> Outcome:
    """With the switches turned round it biases by the distance in the list of boxes."""
    changes = {
        "has_relative_attention_bias": True,
        "has_spatial_attention_bias": False,
        "num_attention_heads": 6,
        "hidden_size": 24,
        "num_hidden_layers": 1,
    }
    config = built("pp_doclayout_v2", reading_order_config=changes).reading_order_config
    encoder = random(code.PPDocLayoutV2ReadingOrderEncoder(config))
    (use,) = own("pp_doclayout_v2", "T5 buckets", reading_order_config=changes)
    steps = np.arange(200)
    ours = _bias(use.encoding, steps, steps, encoder.rel_pos_bias.weight.T) / 2.0
    theirs = array(encoder._compute_position_bias(torch.arange(200)[None], None))[0]
    return _outcome("PPDocLayoutV2ReadingOrderEncoder, 200 boxes", difference(ours, theirs))


CHECKS: dict[str, Callable[[], list[Outcome]]] = {
    **{
        model_type: _stacks(model_type, name)
        for model_type, name in (
            ("t5", "T5Attention"),
            ("mt5", "MT5Attention"),
            ("umt5", "UMT5Attention"),
            ("switch_transformers", "SwitchTransformersAttention"),
            ("pop2piano", "Pop2PianoAttention"),
            ("pix2struct_text_model", "Pix2StructTextAttention"),
        )
    },
    "longt5": _longt5,
    "mpnet": _mpnet,
    "wavlm": _wavlm,
    "cpmant": _cpmant,
    "prophetnet": _prophetnet,
    "udop": _udop,
    **{name: _layoutlm(name) for name in ("layoutlmv2", "layoutxlm", "layoutlmv3")},
    "pp_doclayout_v2": _reading_order,
}
