"""Attention of speech encoders run alive, against the same weights with posenc's score terms."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch

from oracles import Outcome, built, modeling
from oracles.attention import array, heads_of, hidden, joined, outcome, own, random, share, softmax

_TOKENS = 37


def interleaved(projection: torch.Tensor) -> np.ndarray:
    """The columns of a projection for [sin | cos], from one for sin, cos, sin, cos, ..."""
    return np.concatenate([array(projection)[:, 0::2], array(projection)[:, 1::2]], axis=1)


def relative_scores(use: Any, x: torch.Tensor, module: Any, names: Mapping[str, str]) -> np.ndarray:
    """All scores of Transformer-XL, from the module's weights."""
    code, at = use.encoding, np.arange(x.shape[0])
    part = {name: getattr(module, where) for name, where in names.items()}
    q, k = (heads_of(part[name](x), code.heads) for name in ("q", "k"))
    term = code.score_term(
        q,
        k,
        at,
        at,
        projection=interleaved(part["r"].weight),
        content_bias=array(part["u"]),
        position_bias=array(part["v"]),
    )
    return q @ np.swapaxes(k, -1, -2) * code.scale + term


_LINEAR = {
    "q": "linear_q",
    "k": "linear_k",
    "r": "linear_pos",
    "u": "pos_bias_u",
    "v": "pos_bias_v",
}
_PROJ = {"q": "q_proj", "k": "k_proj", "r": "relative_k_proj", "u": "bias_u", "v": "bias_v"}


def _relative(
    model_type: str,
    attention: str,
    encoding: str,
    names: Mapping[str, str],
    changes: dict[str, Any],
) -> list[Outcome]:
    config = built(model_type, attn_implementation="eager", **changes)
    code = modeling(model_type)
    inner = (config, 0) if names is _PROJ else (config,)
    module = random(getattr(code, attention)(*inner))
    vectors = getattr(code, encoding)(config)
    (use,) = own(model_type, "Transformer-XL", **changes)
    x = hidden(1, _TOKENS, config.hidden_size)
    theirs = array(module(x, **{_ARGUMENT[names is _PROJ]: vectors(x)}, **_asked(attention))[1])
    ours = softmax(relative_scores(use, x[0], module, names))
    how = f"probabilities of {attention}, {_TOKENS} tokens, {use.encoding.heads} heads"
    return [outcome(use, how, ours, theirs[0])]


_ARGUMENT = {True: "position_embeddings", False: "relative_position_embeddings"}


def _asked(attention: str) -> dict[str, Any]:
    return {"output_attentions": True} if attention.startswith("Wav2Vec2Conformer") else {}


def _relative_types(model_type: str, attention: str, encoding: str, names: Any, heads: str) -> Any:
    def check() -> list[Outcome]:
        changes = {"hidden_size": 48, "position_embeddings_type": "relative"}
        if names is _PROJ:
            changes = {"hidden_size": 48}
        return [
            result
            for count in (6, 8)
            for result in _relative(
                model_type, attention, encoding, names, {**changes, heads: count}
            )
        ]

    return check


def _fastspeech2() -> list[Outcome]:
    code, outcomes = modeling("fastspeech2_conformer"), []
    changes = {
        "hidden_size": 48,
        "encoder_num_attention_heads": 6,
        "decoder_num_attention_heads": 4,
    }
    config = built("fastspeech2_conformer", **changes)
    inner = {"attention_dropout_rate": 0.0, "positional_dropout_rate": 0.0}
    x = hidden(1, _TOKENS, 48)
    for use in own("fastspeech2_conformer", "Transformer-XL", **changes):
        heads = config.encoder_num_attention_heads if "enc" in use.place else 4
        kind = {"num_attention_heads": heads, **inner}
        module = random(code.FastSpeech2ConformerAttention(config, kind))
        scaled, vectors = code.FastSpeech2ConformerRelPositionalEncoding(config, kind)(x)
        theirs = array(module(x, pos_emb=vectors, output_attentions=True)[1])[0]
        ours = softmax(relative_scores(use, x[0], module, _LINEAR))
        outcomes.append(outcome(use, f"probabilities of the {use.place}", ours, theirs))
        how = "the input multiplied by sqrt(width)"
        outcomes.append(share(use, how, array(x) * math.sqrt(48), array(scaled)))
    return outcomes


def _shaw_scores(use: Any, q: np.ndarray, k: np.ndarray, table: np.ndarray) -> np.ndarray:
    at = np.arange(q.shape[-2])
    term = use.encoding.score_term(q, at, at, key_table=table)
    return q @ np.swapaxes(k, -1, -2) * use.encoding.scale + term


def _relative_key(model_type: str, attention: str, heads: str) -> Callable[[], list[Outcome]]:
    """Longer than both sides of the table."""

    def check() -> list[Outcome]:
        outcomes = []
        for changes in (
            {},
            {"left_max_position_embeddings": 5, "right_max_position_embeddings": 9},
        ):
            changes = {"hidden_size": 48, heads: 6, **changes}
            config = built(model_type, attn_implementation="eager", **changes)
            module = random(getattr(modeling(model_type), attention)(config))
            (use,) = own(model_type, "Shaw", **changes)
            x = hidden(1, 100, 48)
            q, k = (heads_of(part(x[0]), 6) for part in (module.linear_q, module.linear_k))
            ours = softmax(_shaw_scores(use, q, k, array(module.distance_embedding.weight)))
            how = f"probabilities of {attention}, 100 tokens, {use.encoding.weights['key_table']}"
            outcomes.append(outcome(use, how, ours, array(module(x)[1])[0]))
        return outcomes

    return check


def _both(*checks: Callable[[], list[Outcome]]) -> Callable[[], list[Outcome]]:
    return lambda: [result for check in checks for result in check()]


def _gemma3n() -> list[Outcome]:
    outcomes = []
    for changes in ({}, {"conf_attention_context_right": 3, "conf_attention_context_left": 6}):
        changes = {"hidden_size": 48, "conf_num_attention_heads": 6, **changes}
        config = built("gemma3n_audio", **changes)
        module = random(modeling("gemma3n_audio").Gemma3nAudioRelativePositionEmbedding(config))
        (use,) = own("gemma3n_audio", "Transformer-XL", **changes)
        chunk, ahead = config.conf_attention_chunk_size, config.conf_attention_context_right
        behind = config.conf_attention_context_left - 1
        context = chunk + behind + ahead
        q, k = hidden(1, 1, chunk, 6, 8), hidden(1, 1, context, 6, 8, seed=4)
        theirs = array(module(q, k))[0, :, 0]
        ours = _gemma_scores(use, q[0, 0], k[0, 0], module.pos_proj.weight)
        seen = _seen(behind, ahead, chunk)
        how = f"Gemma3nAudioRelativePositionEmbedding, {chunk} queries, {context} keys"
        outcomes.append(share(use, how, ours[:, seen], theirs[:, seen]))
    return outcomes


def _gemma_scores(use: Any, q: torch.Tensor, k: torch.Tensor, projection: Any) -> np.ndarray:
    """Scores of a chunk of queries, which are scaled already; its context begins behind it."""
    code = use.encoding
    nothing = np.zeros((code.heads, code.dim), np.float32)
    q, k = (np.moveaxis(array(x), 0, 1) for x in (q, k))
    term = code.score_term(
        q,
        k,
        np.arange(q.shape[1]) + code.max_distance,
        np.arange(k.shape[1]),
        projection=array(projection),
        content_bias=nothing,
        position_bias=nothing,
    )
    return q @ np.swapaxes(k, -1, -2) + term / code.scale


def _seen(behind: int, ahead: int, chunk: int) -> np.ndarray:
    """Which frames of its context each frame of a chunk sees."""
    back = np.arange(chunk)[:, None] + behind - np.arange(chunk + behind + ahead)
    return (back <= behind) & (back >= -ahead)


def _gemma4() -> list[Outcome]:
    changes = {"hidden_size": 48, "num_attention_heads": 6}
    config = built("gemma4_audio", **changes)
    code = modeling("gemma4_audio")
    module = random(code.Gemma4AudioAttention(config, 0))
    (use,) = own("gemma4_audio", "Transformer-XL", **changes)
    x = hidden(1, 12, 48)
    seen = _seen(12, 0, 12)
    seen[:, :12] = False  # nothing stands before the first chunk
    hides = torch.tensor(~seen)[None, None, None]
    vectors = code.Gemma4AudioRelPositionalEncoding(config)(x)
    theirs = array(module(x, vectors, hides)[1])[0, :, 0]
    shape = (12, 6, 8)
    scale = module.q_scale * torch.nn.functional.softplus(module.per_dim_scale)
    q = module.q_proj(x)[0].reshape(shape) * scale
    k = module.k_proj(x)[0].reshape(shape) * module.k_scale
    k = torch.cat([torch.zeros(12, 6, 8), k])
    scores = _gemma_scores(use, q, k, module.relative_k_proj.weight)
    cap = config.attention_logit_cap
    ours = softmax(np.where(seen, np.tanh(scores / cap) * cap, -np.inf))
    return [outcome(use, "probabilities of Gemma4AudioAttention, 12 frames", ours, theirs)]


def _vits() -> list[Outcome]:
    outcomes = []
    for changes, tokens in (({}, 20), ({"window_size": 7, "num_attention_heads": 6}, 5)):
        changes = {"hidden_size": 48, **changes}
        config = built("vits", **changes)
        module = random(modeling("vits").VitsAttention(config))
        (use,) = own("vits", "Shaw", **changes)
        x, at = hidden(1, tokens, 48), np.arange(tokens)
        q, k, v = (
            heads_of(part(x[0]), config.num_attention_heads)
            for part in (module.q_proj, module.k_proj, module.v_proj)
        )
        keys, values = (
            np.pad(array(table)[0], ((1, 1), (0, 0)))
            for table in (module.emb_rel_k, module.emb_rel_v)
        )
        ours = softmax(_shaw_scores(use, q, k, keys))
        mixed = ours @ v + use.encoding.value_term(ours, at, at, value_table=values.astype(float))
        output, theirs = module(x, output_attentions=True)
        how = f"VitsAttention, {tokens} tokens, window {config.window_size}"
        outcomes.append(outcome(use, f"probabilities of {how}", ours, array(theirs)[0]))
        mixed = array(module.out_proj(joined(mixed)))
        outcomes.append(share(use, f"output of {how}", mixed, array(output)[0]))
    return outcomes


def _speecht5() -> list[Outcome]:
    code, outcomes = modeling("speecht5"), []
    for far in (4, 30):
        changes = {
            "hidden_size": 48,
            "encoder_attention_heads": 6,
            "encoder_max_relative_position": far,
        }
        (use,) = own("speecht5", "Shaw", **changes)
        module = random(code.SpeechT5Attention(48, 6))
        vectors = random(code.SpeechT5RelativePositionalEncoding(8, far))
        x = hidden(1, 40, 48)
        theirs = array(module(x, position_bias=vectors(x), output_attentions=True)[1])[0]
        q, k = (heads_of(part(x[0]), 6) for part in (module.q_proj, module.k_proj))
        ours = softmax(_shaw_scores(use, q, k, array(vectors.pe_k.weight)[::-1].copy()))
        how = f"probabilities of SpeechT5Attention, 40 tokens, {2 * far} rows"
        outcomes.append(outcome(use, how, ours, theirs))
    return outcomes


def _granite(model_type: str, attention: str) -> Callable[[], list[Outcome]]:
    """One block, through to the output, as the model keeps its probabilities to itself."""

    def check() -> list[Outcome]:
        heads, hidden_key = ("num_heads", "hidden_dim")
        changes = {"context_size": 24, "max_pos_emb": 30, hidden_key: 48, heads: 6}
        config = built(model_type, **changes, dim_head=16)
        module = random(getattr(modeling(model_type), attention)(config))
        (use,) = own(model_type, "Shaw", **changes, dim_head=16)
        seq = torch.arange(24)
        rows = torch.clamp(seq[:, None] - seq, -24, 24) + 30
        x = hidden(1, 24, 48)
        normed = module.pre_norm(x)[0]
        k, v = module.to_kv(normed).chunk(2, dim=-1)
        q, k, v = (heads_of(part, 6) for part in (module.to_q(normed), k, v))
        table = array(module.rel_pos_emb.weight)[::-1].copy()
        mixed = joined(softmax(_shaw_scores(use, q, k, table)) @ v)
        how = f"output of {attention}, one block of 24"
        return [share(use, how, array(module.to_out(mixed)), array(module(x, rows))[0])]

    return check


def _granite5() -> list[Outcome]:
    changes = {
        "context_size": 24,
        "max_position_embeddings": 30,
        "hidden_size": 48,
        "num_attention_heads": 6,
    }
    config = built("granite_speech5_encoder", attn_implementation="eager", **changes)
    module = random(modeling("granite_speech5_encoder").GraniteSpeech5EncoderAttention(config, 0))
    (use,) = own("granite_speech5_encoder", "Shaw", **changes)
    seq = torch.arange(24)
    rows = torch.clamp(seq[:, None] - seq, -24, 24) + 30
    x = hidden(1, 24, 48)
    q, k, v = (heads_of(part(x[0]), 6) for part in (module.q_proj, module.k_proj, module.v_proj))
    table = array(module.rel_pos_emb.weight)[::-1].copy()
    mixed = array(module.o_proj(joined(softmax(_shaw_scores(use, q, k, table)) @ v)))
    how = "output of GraniteSpeech5EncoderAttention, one block of 24"
    return [share(use, how, mixed, array(module(x, rows)[0])[0])]


CHECKS: dict[str, Callable[[], list[Outcome]]] = {
    "wav2vec2-conformer": _relative_types(
        "wav2vec2-conformer",
        "Wav2Vec2ConformerSelfAttention",
        "Wav2Vec2ConformerRelPositionalEmbedding",
        _LINEAR,
        "num_attention_heads",
    ),
    "wav2vec2-bert": _both(
        _relative_key("wav2vec2-bert", "Wav2Vec2BertSelfAttention", "num_attention_heads"),
        _relative_types(
            "wav2vec2-bert",
            "Wav2Vec2BertSelfAttention",
            "Wav2Vec2BertRelPositionalEmbedding",
            _LINEAR,
            "num_attention_heads",
        ),
    ),
    "seamless_m4t": _relative_types(
        "seamless_m4t",
        "SeamlessM4TConformerSelfAttention",
        "SeamlessM4TConformerRelPositionalEmbedding",
        _LINEAR,
        "speech_encoder_attention_heads",
    ),
    "seamless_m4t_v2": _relative_key(
        "seamless_m4t_v2", "SeamlessM4Tv2ConformerSelfAttention", "speech_encoder_attention_heads"
    ),
    "parakeet_encoder": _relative_types(
        "parakeet_encoder",
        "ParakeetEncoderAttention",
        "ParakeetEncoderRelPositionalEncoding",
        _PROJ,
        "num_attention_heads",
    ),
    "nemotron_asr_streaming_encoder": _relative_types(
        "nemotron_asr_streaming_encoder",
        "NemotronAsrStreamingEncoderAttention",
        "NemotronAsrStreamingEncoderRelPositionalEncoding",
        _PROJ,
        "num_attention_heads",
    ),
    "fastspeech2_conformer": _fastspeech2,
    "gemma3n_audio": _gemma3n,
    "gemma4_audio": _gemma4,
    "vits": _vits,
    "speecht5": _speecht5,
    "granite_speech_encoder": _granite("granite_speech_encoder", "GraniteSpeechConformerAttention"),
    "granite_speech_plus_encoder": _granite(
        "granite_speech_plus_encoder", "GraniteSpeechPlusConformerAttention"
    ),
    "granite_speech5_encoder": _granite5,
}

NOT_YET: dict[str, str] = {
    "phi4_multimodal_audio": "posenc has no table with a number for each single distance.",
}
"""Model types that nothing in posenc can say, and why."""
