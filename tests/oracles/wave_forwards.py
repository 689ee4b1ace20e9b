"""Sinusoidal vectors that stand in no table: what the classes return when they are called."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from transformers.models.whisper.modeling_whisper import sinusoids

from oracles import Outcome, built, difference, modeling, read
from posenc.inspector.reading import Use

ROUNDING = 2.0**-23
"""What float32 angles lose for each position: frequency and product are rounded once each."""

TIMES = (0.0, 0.001, 0.25, 0.5, 0.9, 1.0)


def number(use: Use, name: str, other: float) -> float:
    """A number that the reading rests on."""
    return next((found.value for found in use.values if found.name == name), other)


def vectors(use: Use, positions: Any) -> np.ndarray:
    """What is added to embeddings, according to the reading, where tokens stand here."""
    scaled = np.asarray(positions, np.float64) * number(use, "position_scale", 1.0)
    found = use.encoding.encode(scaled, dtype=np.float64)
    return (found - number(use, "vector_mean", 0.0)) * number(use, "vector_scale", 1.0)


def beyond_rounding(ours: Any, theirs: Any, positions: Any, rounding: float) -> float:
    """The largest difference, less what a class loses by float32 angles from position 8 on."""
    difference(ours, theirs)  # raises where shapes differ
    lost = np.where(np.asarray(positions) < 8, 0.0, np.asarray(positions) * rounding)
    return float(np.max(np.abs(ours - theirs) - lost[..., None], initial=0.0))


def compared(
    use: Use, positions: Any, theirs: Any, how: str, *, rounding: float = ROUNDING
) -> Outcome:
    """What a class adds where tokens stand here."""
    theirs = theirs.detach().numpy() if isinstance(theirs, torch.Tensor) else theirs
    angles = np.asarray(positions) * number(use, "position_scale", 1.0) + use.encoding.offset
    gap = beyond_rounding(vectors(use, positions), theirs, angles, rounding)
    how += f", but for {rounding:.1e} a position that its float32 angles lose"
    return Outcome(kind=use.kind, layout=use.encoding.layout, how=how, difference=gap)


def waves(model_type: str, **changes: Any) -> list[Use]:
    """The sinusoidal uses of a type."""
    return [use for use in read(model_type, **changes).uses if use.kind == "sinusoidal"]


def pegasus_x() -> list[Outcome]:
    """Vectors made anew in each call, at two widths and after a cached text."""
    outcomes = []
    for changes in ({}, {"d_model": 18}):
        (use,) = waves("pegasus_x", **changes)
        embedding = modeling("pegasus_x").PegasusXSinusoidalPositionalEmbedding(
            built("pegasus_x", **changes).d_model
        )
        embeddings = torch.zeros(1, 60, use.encoding.dim)
        for start in (0, use.original_length - 60):
            theirs = embedding(embeddings, cache_length=start)[0]
            how = f"forward call for 60 tokens after {start}"
            outcomes.append(compared(use, start + np.arange(60), theirs, how))
    return outcomes


def xglm() -> list[Outcome]:
    """A real model's table by position ids, with a row of padding below and above 2."""
    small = {"num_layers": 1, "attention_heads": 1, "ffn_dim": 8, "vocab_size": 50}
    outcomes = []
    for changes in (small, {**small, "d_model": 15, "pad_token_id": 5}):
        (use,) = waves("xglm", **changes)
        model = modeling("xglm").XGLMModel(built("xglm", **changes))
        zeroed = changes.get("pad_token_id", 1) - use.encoding.offset
        positions = [p for p in range(use.original_length) if p != zeroed]
        theirs = model.embed_positions(torch.tensor([positions]))[0]
        outcomes.append(compared(use, positions, theirs, "all rows by position ids"))
        if zeroed >= 0:
            row = model.embed_positions(torch.tensor([[zeroed]])).numpy()
            empty = f"Row {changes['pad_token_id']} of the table is zero"
            said = any(remark.startswith(empty) for remark in use.remarks)
            gap = difference(row, np.zeros_like(row)) if said else 1.0
            how = "the row that padding empties"
            outcomes.append(Outcome(kind=use.kind, layout="half", how=how, difference=gap))
    return outcomes


def canary_decoder() -> list[Outcome]:
    """A real model's forward call, which divides by the root of the width."""
    small = {"num_hidden_layers": 1, "num_attention_heads": 1, "vocab_size": 50}
    outcomes = []
    for changes in (small, {**small, "hidden_size": 18, "max_position_embeddings": 40}):
        (use,) = waves("canary_decoder", **changes)
        decoder = modeling("canary_decoder").CanaryDecoder(built("canary_decoder", **changes))
        positions = np.arange(use.original_length)
        theirs = decoder.pos_emb(torch.tensor(positions))
        outcomes.append(compared(use, positions, theirs, "all rows by position ids"))
    return outcomes


def from_checkpoint(model_type: str, network: str) -> Callable[[], list[Outcome]]:
    """The shape of a frozen table that its class leaves empty, against Whisper's function."""

    def check() -> list[Outcome]:
        outcomes = []
        for changes in ({}, {"hidden_size": 18, "max_source_positions": 40}):
            (use,) = waves(model_type, **changes)
            shallow = {"num_hidden_layers": 1, "num_attention_heads": 1, **changes}
            model = getattr(modeling(model_type), network)(built(model_type, **shallow))
            weight = model.embed_positions.weight
            if weight.requires_grad or len(weight) != use.original_length:
                raise AssertionError(f"the table of {model_type} is not frozen, or {weight.shape}")
            theirs, rows = sinusoids(*weight.shape), np.arange(len(weight))
            how = "shape of its frozen weight; numbers of Whisper's table of that shape"
            outcomes.append(compared(use, rows, theirs, how))
        return outcomes

    return check


def speecht5() -> list[Outcome]:
    """The four tables of its prenets, and speech with padding at its end."""
    module = modeling("speecht5")
    outcomes = []
    for changes in ({}, {"hidden_size": 32, "max_speech_positions": 44, "max_text_positions": 33}):
        speech, text, target, spoken = waves("speecht5", **changes)
        config = built("speecht5", **changes)
        for use, prenet, table in (
            (speech, module.SpeechT5SpeechEncoderPrenet, "pos_sinusoidal_embed"),
            (text, module.SpeechT5TextEncoderPrenet, "encode_positions"),
            (target, module.SpeechT5TextDecoderPrenet, "embed_positions"),
            (spoken, module.SpeechT5SpeechDecoderPrenet, "encode_positions"),
        ):
            embedding, rows = getattr(prenet(config).eval(), table), np.arange(use.original_length)
            if use.encoding.offset:
                theirs = embedding(torch.zeros(1, len(rows), dtype=torch.long))[0]
            else:
                theirs = embedding(torch.zeros(1, len(rows), use.encoding.dim))[0]
            outcomes.append(compared(use, rows, theirs, f"all rows by the call of {use.place}"))
    return [*outcomes, _speech_with_padding()]


def _speech_with_padding() -> Outcome:
    speech = waves("speecht5")[0]
    prenet = modeling("speecht5").SpeechT5SpeechEncoderPrenet(built("speecht5"))
    theirs = prenet.pos_sinusoidal_embed(torch.tensor([[0, 0, 0, 1, 1]]))[0]
    ours = np.concatenate([vectors(speech, np.arange(3)), np.zeros((2, speech.encoding.dim))])
    how, gap = "speech with padding at its end", difference(ours, theirs.numpy())
    return Outcome(kind="sinusoidal", layout="half", how=how, difference=gap)


def timesfm() -> list[Outcome]:
    """Patches from the first that is not padding, with and without a shortest timescale of 1."""
    module = modeling("timesfm")
    outcomes = []
    for changes in ({}, {"hidden_size": 18, "min_timescale": 3, "max_timescale": 700}):
        (use,) = waves("timesfm", use_positional_embedding=True, **changes)
        embedding = module.TimesFmPositionalEmbedding(built("timesfm", **changes))
        outcomes.append(compared(use, np.arange(200), embedding(200)[0], "200 patches"))
        mask = torch.tensor([[1.0, 1.0, 0.0, 0.0, 0.0]])
        shifted = module.TimesFmModel._timesfm_shift_padded_seq(mask, embedding(5))[0, 2:]
        outcomes.append(compared(use, np.arange(3), shifted, "patches after two of padding"))
    if waves("timesfm"):
        raise AssertionError("positions are off by default")
    return outcomes


def zoedepth() -> list[Outcome]:
    """Its own function, when there are two ranges of depth."""
    two = [{"n_bins": 64, "min_depth": 0.001, "max_depth": depth} for depth in (10.0, 80.0)]
    encode = modeling("zoedepth").ZoeDepthPatchTransformerEncoder.positional_encoding_1d
    outcomes = []
    for width in (128, 18):
        changes = {"bin_configurations": two, "patch_transformer_hidden_size": width}
        (use,) = waves("zoedepth", **changes)
        theirs = encode(None, 1, 300, built("zoedepth", **changes).patch_transformer_hidden_size)
        outcomes.append(compared(use, np.arange(300), theirs[0], "300 rows of its function"))
    if waves("zoedepth"):
        raise AssertionError("one range of depth needs no patch transformer")
    return outcomes


def florence2() -> list[Outcome]:
    """Its table of frames, at two widths."""
    outcomes = []
    module = modeling("florence2").Florence2VisionPositionalEmbeddingCosine1D
    for vision in ({}, {"embed_dim": [8, 16, 32, 48], "max_temporal_embeddings": 30}):
        changes = {"vision_config": vision} if vision else {}
        (use,) = waves("florence2", **changes)
        rows = np.arange(use.original_length)
        table = module(built("florence2", **changes)).pos_idx_to_embed
        outcomes.append(compared(use, rows, table, f"all {len(rows)} rows of its table"))
    return outcomes


def entering(layer: Any, call: Callable[[], Any]) -> torch.Tensor:
    """What goes into a layer during a call."""
    seen: list[torch.Tensor] = []
    hook = layer.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    call()
    hook.remove()
    return seen[0].detach()


def flow_head(model_type: str, embedding: str) -> list[Outcome]:
    """What enters the perceptron of a flow head's times."""
    outcomes = []
    for head in ({}, {"frequency_embedding_size": 18, "max_period": 500.0}):
        changes = {"flow_head_config": head} if head else {}
        use = waves(model_type, **changes)[0]
        config = built(model_type, **changes).flow_head_config
        module = getattr(modeling(model_type), embedding)(config)
        times = torch.tensor(TIMES)[:, None]
        theirs = entering(module.fc1, lambda module=module, times=times: module(times))
        outcomes.append(compared(use, TIMES, theirs, "what enters its perceptron"))
    drifting = waves(model_type, flow_head_config={"flow_type": "drifting"})
    if any(use.place.endswith("flow step") for use in drifting):
        raise AssertionError("a head that drifts is told no time")
    return outcomes


def pocket_tts() -> list[Outcome]:
    """The flow head's times."""
    return flow_head("pocket_tts", "PocketTTSTimestepEmbedding")


def gradium_phonon_tts() -> list[Outcome]:
    """The flow head's times, and the duration to add through the model's own method."""
    outcomes = flow_head("gradium_phonon_tts", "GradiumPhononTTSTimestepEmbedding")
    method = modeling("gradium_phonon_tts").GradiumPhononTTSModel.get_condition_embeds
    for changes in (
        {"duration_delta": 0.3},
        {
            "duration_delta": 0.02,
            "duration_delta_embedding_dim": 18,
            "duration_delta_scale": 300.0,
            "duration_delta_max_period": 500.0,
        },
    ):
        use = waves("gradium_phonon_tts", **changes)[1]
        config = built("gradium_phonon_tts", **changes)
        nothing = torch.nn.Embedding.from_pretrained(torch.zeros(99, use.encoding.dim))
        same = torch.nn.Identity()
        model = SimpleNamespace(
            config=SimpleNamespace(**{**config.to_dict(), "duration_delta": None}),
            num_speakers_embed=nothing,
            num_speakers_proj=same,
            duration_delta_proj=same,
        )
        model.config.duration_delta = torch.tensor(changes["duration_delta"])
        theirs = method(model, torch.device("cpu"))
        how = "the duration through its own method"
        outcomes.append(compared(use, changes["duration_delta"], theirs, how))
    return outcomes


def pi0() -> list[Outcome]:
    """Its module of times."""
    outcomes = []
    for changes in ({}, {"min_period": 0.05, "dit_config": {"hidden_size": 18}}):
        (use,) = waves("pi0", **changes)
        module = modeling("pi0").PI0TimestepEmbeddings(built("pi0", **changes))
        theirs = module(torch.tensor(TIMES))
        # Its float32 power of 1000 rounds the exponent too, which weighs ln(1000) = 7 times.
        outcomes.append(
            compared(use, TIMES, theirs, "its module at 6 times", rounding=4 * ROUNDING)
        )
    return outcomes


def qwen2_5_omni_dit() -> list[Outcome]:
    """What enters the perceptron of its times."""
    (use,) = waves("qwen2_5_omni_dit")
    width = built("qwen2_5_omni_dit").hidden_size
    module = modeling("qwen2_5_omni_dit").DiTTimestepEmbedding(width)
    theirs = entering(module.time_mlp[0], lambda: module(torch.tensor(TIMES)))
    return [compared(use, TIMES, theirs, "what enters its perceptron")]


def vibevoice_diffusion() -> list[Outcome]:
    """Its module of steps, alone and inside of VibeVoice."""
    module = modeling("vibevoice_diffusion").VibeVoiceDiffusionHeadSinusoidalEmbedding
    outcomes, steps = [], np.asarray([0, 1, 7, 999])
    for changes in ({}, {"frequency_embedding_size": 18, "diffusion_max_period": 500}):
        (use,) = waves("vibevoice_diffusion", **changes)
        theirs = module(built("vibevoice_diffusion", **changes))(torch.tensor(steps))
        outcomes.append(compared(use, steps, theirs, "its module at 4 steps"))
        (within,) = waves("vibevoice", diffusion_head_config=changes)
        outcomes.append(compared(within, steps, theirs, "its module at 4 steps"))
    return outcomes


def voxtral_realtime() -> list[Outcome]:
    """Its module of delays, as wide as the text model."""
    outcomes = []
    for changes in ({}, {"text_config": {"hidden_size": 64}}):
        (use,) = waves("voxtral_realtime", **changes)
        width = built("voxtral_realtime", **changes).text_config.hidden_size
        module = modeling("voxtral_realtime").VoxtralRealtimeTimeEmbedding(width)
        theirs = torch.stack([module(torch.tensor([float(delay)])) for delay in (0, 1, 6, 300)])
        outcomes.append(compared(use, [0, 1, 6, 300], theirs, "its module at 4 delays"))
    return outcomes


def esmfold2() -> list[Outcome]:
    """Its module of noise levels in float64, with its own random numbers copied."""
    outcomes = []
    for module in ({}, {"fourier_dim": 18}):
        changes = {"structure_head": {"diffusion_module": module}} if module else {}
        (use,) = (use for use in read("esmfold2", **changes).uses if use.kind == "Fourier features")
        width = built("esmfold2", **changes).structure_head.diffusion_module.fourier_dim
        embedding = modeling("esmfold2").EsmFold2FourierEmbedding(width).double()
        theirs = embedding(torch.tensor(TIMES, dtype=torch.float64)).numpy()
        matrix = np.stack([embedding.frequencies.numpy(), embedding.phases.numpy()], axis=-1)
        points = np.stack([TIMES, np.ones(len(TIMES))], axis=-1)
        ours = use.encoding.encode(points, matrix=matrix, dtype=np.float64)[..., :width]
        how = "its module at 6 noise levels, with its random numbers"
        gap = difference(ours, theirs)
        outcomes.append(Outcome(kind=use.kind, layout="", how=how, difference=gap))
    return outcomes


CHECKS: dict[str, Callable[[], list[Outcome]]] = {
    "audioflamingo3_encoder": from_checkpoint("audioflamingo3_encoder", "AudioFlamingo3Encoder"),
    "canary_decoder": canary_decoder,
    "esmfold2": esmfold2,
    "florence2": florence2,
    "gradium_phonon_tts": gradium_phonon_tts,
    "moss_transcribe_diarize_audio": from_checkpoint(
        "moss_transcribe_diarize_audio", "MossTranscribeDiarizeAudioModel"
    ),
    "pegasus_x": pegasus_x,
    "pi0": pi0,
    "pocket_tts": pocket_tts,
    "qwen2_5_omni_dit": qwen2_5_omni_dit,
    "qwen2_audio_encoder": from_checkpoint("qwen2_audio_encoder", "Qwen2AudioEncoder"),
    "speecht5": speecht5,
    "timesfm": timesfm,
    "vibevoice_diffusion": vibevoice_diffusion,
    "voxtral_encoder": from_checkpoint("voxtral_encoder", "VoxtralEncoder"),
    "voxtral_realtime": voxtral_realtime,
    "xglm": xglm,
    "zoedepth": zoedepth,
}
