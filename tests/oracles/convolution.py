"""Convolutions done by hand from the numbers of the reading, and the decay of linear attention."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from oracles import Outcome, built, difference, modeling, read
from posenc.inspector.reading import Use

SMALL = {"hidden_size": 32, "num_conv_pos_embedding_groups": 4}


def the_use(model_type: str, kind: str, changes: dict[str, Any]) -> Use:
    """The one use of a kind."""
    (use,) = (use for use in read(model_type, **changes).uses if use.kind == kind)
    return use


def number(use: Use, name: str, other: Any = None) -> Any:
    """A value that the reading rests on."""
    return next((found.value for found in use.values if found.name == name), other)


def spread(use: Use, frames: np.ndarray, convolution: Any) -> np.ndarray:
    """A grouped convolution that looks as far back and ahead as the reading says."""
    before, after = number(use, "frames_before"), number(use, "frames_after")
    groups, stride = number(use, "groups"), number(use, "stride", 1)
    weight, bias = convolution.weight.detach().numpy(), convolution.bias.detach().numpy()
    padded = np.pad(frames, ((before, after), (0, 0))).astype(np.float64)
    width = len(bias) // groups
    rows = []
    for first in range(0, len(frames) - stride + 1, stride):
        window = padded[first : first + before + after + 1].T.reshape(groups, width, -1)
        kernels = weight.reshape(groups, width, width, -1)
        rows.append(np.einsum("git,goit->go", window, kernels).reshape(-1) + bias)
    return np.stack(rows)


def activated(config: Any, numbers: np.ndarray) -> np.ndarray:
    """The numbers through the activation that the settings name."""
    name = getattr(config, "feat_extract_activation", config.hidden_act)
    return modeling("wav2vec2").ACT2FN[name](torch.tensor(numbers)).numpy()


def frames(
    model_type: str, embedding: str, kernel: str = "num_conv_pos_embeddings"
) -> list[Outcome]:
    """What a positional convolution adds to 21 frames, for an even and an odd kernel."""
    taps = (8,) if model_type == "omniasr_audio" else (8, 7)
    outcomes = []
    for changes in ({**SMALL, kernel: count} for count in taps):
        use, config = the_use(model_type, "convolution", changes), built(model_type, **changes)
        torch.manual_seed(0)
        module = getattr(modeling(model_type), embedding)(config).eval().double()
        inputs = torch.randn(1, 21, 32, dtype=torch.float64)
        theirs, layers = _called(model_type, module, inputs)
        ours = inputs[0].numpy()
        for layer in layers:
            ours = spread(use, ours, layer)
            if len(layers) > 1:
                ours = (ours - ours.mean(-1, keepdims=True)) / np.sqrt(
                    ours.var(-1, keepdims=True) + 1e-5
                )
            ours = activated(config, ours)
        if len(layers) != number(use, "convolutions", 1):
            raise AssertionError(f"{len(layers)} convolutions")
        how = f"21 frames through its own convolution of {changes[kernel]} taps"
        gap = max(difference(ours, theirs), _gains(use, layers[0]))
        outcomes.append(Outcome(kind=use.kind, layout="", how=how, difference=gap))
    return outcomes


def _called(model_type: str, module: Any, inputs: torch.Tensor) -> tuple[Any, list[Any]]:
    """What a module adds to these frames, and its convolutions."""
    if model_type.startswith("sew"):
        theirs = module(inputs.transpose(1, 2))[0].T[: inputs.shape[1] // 2]
    else:
        theirs = module(inputs)[0]
    if model_type == "omniasr_audio":
        theirs = theirs - inputs[0]
    layers = [layer.conv for layer in module.layers] if hasattr(module, "layers") else [module.conv]
    return theirs.detach().numpy(), layers


def _gains(use: Use, convolution: Any) -> float:
    """0 if the weights are normalised as the reading says, else 1."""
    said = any(remark.startswith("Weights are normalised") for remark in use.remarks)
    if not hasattr(convolution, "parametrizations"):
        return float(said)
    gains = convolution.parametrizations.weight.original0
    return float(not said or tuple(gains.shape) != (1, 1, number(use, "kernel")))


def hubert() -> list[Outcome]:
    """HuBERT with weight norm, and with batch norm before the convolution."""
    changes = {**SMALL, "num_conv_pos_embeddings": 8, "conv_pos_batch_norm": True}
    use, config = the_use("hubert", "convolution", changes), built("hubert", **changes)
    module = modeling("hubert").HubertPositionalConvEmbedding(config).eval().double()
    module.batch_norm.running_mean.normal_()
    inputs = torch.randn(1, 21, 32, dtype=torch.float64)
    normal = module.batch_norm(inputs.transpose(1, 2))[0].T.detach().numpy()
    ours = activated(config, spread(use, normal, module.conv))
    gap = max(difference(ours, module(inputs)[0].detach().numpy()), _gains(use, module.conv))
    how = "21 frames through its own batch norm and convolution"
    normed = Outcome(kind=use.kind, layout="", how=how, difference=gap)
    return [*frames("hubert", "HubertPositionalConvEmbedding"), normed]


def depthwise(
    picture: np.ndarray, convolution: Any, kernel: int, padding: int | None = None
) -> np.ndarray:
    """Each feature of a picture (features, rows, columns) by its own kernel, zeros outside."""
    weight = convolution.weight.detach().numpy().astype(np.float64)
    border = kernel // 2 if padding is None else padding
    padded = np.pad(picture, ((0, 0), (border, border), (border, border)))
    stride, (features, height, width) = convolution.stride[0], padded.shape
    spots = [range(0, size - kernel + 1, stride) for size in (height, width)]
    ours = np.zeros((features, len(spots[0]), len(spots[1])))
    for (i, top), (j, left) in itertools.product(*map(enumerate, spots)):
        window = padded[:, top : top + kernel, left : left + kernel]
        ours[:, i, j] = (window * weight[:, 0]).sum((1, 2))
    return (
        ours
        if convolution.bias is None
        else ours + convolution.bias.detach().numpy()[:, None, None]
    )


def perceptron(model_type: str, network: str) -> list[Outcome]:
    """The depthwise convolution of a perceptron on 3 x 5 patches."""
    use = the_use(model_type, "convolution", {})
    config = built(model_type)
    layer = getattr(modeling(model_type), network)
    module = layer(config, dim=6) if model_type == "pvt_v2" else layer(dim=6)
    patches = torch.randn(1, 15, 6)
    theirs = module(patches, 3, 5)[0].T.detach().numpy().reshape(6, 3, 5)
    picture = patches[0].T.numpy().reshape(6, 3, 5)
    gap = difference(depthwise(picture, module.dwconv, number(use, "kernel")), theirs)
    how = "3 x 5 patches through its own convolution"
    return [Outcome(kind=use.kind, layout="", how=how, difference=gap)]


def florence_vision() -> list[Outcome]:
    """The four depthwise convolutions of a pair of blocks, on 3 x 5 patches."""
    use, config = the_use("florence_vision", "convolution", {}), built("florence_vision")
    picture = torch.randn(128, 3, 5)
    outcomes = []
    for block in ("SpatialBlock", "ChannelBlock"):
        module = getattr(modeling("florence_vision"), f"Florence2Vision{block}")(config, 0, 0.0)
        for layer in (module.conv1, module.conv2):
            ours = depthwise(picture.numpy(), layer, number(use, "kernel"))
            gap = difference(ours, layer(picture[None])[0].detach().numpy())
            how = f"3 x 5 patches through a convolution of its {block}"
            outcomes.append(Outcome(kind=use.kind, layout="", how=how, difference=gap))
    return outcomes


def cvt() -> list[Outcome]:
    """The depthwise convolutions of queries, keys and values of each stage, on 6 x 9 patches."""
    changes = {"kernel_qkv": [3, 5, 3], "padding_q": [1, 2, 0], "stride_kv": [2, 2, 1]}
    outcomes = []
    for given in ({}, changes):
        use, config = the_use("cvt", "convolution", given), built("cvt", **given)
        for stage in range(3):
            module = modeling("cvt").CvtStage(config, stage).layers[0].attention.attention
            for side, name in (("q", "query"), ("kv", "key"), ("kv", "value")):
                whole = getattr(module, f"convolution_projection_{name}").convolution_projection
                layer, picture = whole.convolution, torch.randn(config.embed_dim[stage], 6, 9)
                kernel = number(use, "kernel_qkv")[stage]
                padding = number(use, f"padding_{side}")[stage]
                ours = depthwise(picture.numpy(), layer, kernel, padding)
                gap = difference(ours, layer(picture[None])[0].detach().numpy())
                gap += layer.stride[0] != number(use, f"stride_{side}")[stage]
                how = f"6 x 9 patches through the {name} convolution of stage {stage}"
                outcomes.append(Outcome(kind=use.kind, layout="", how=how, difference=gap))
    return outcomes


def minimax() -> list[Outcome]:
    """Slopes of each lightning layer, and the decay inside a block."""
    kinds = ["linear_attention", "linear_attention", "full_attention", "linear_attention"]
    outcomes = []
    for changes in (
        {},
        {"num_attention_heads": 12, "num_hidden_layers": 4, "layer_types": kinds},
    ):
        uses = [use for use in read("minimax", **changes).uses if use.kind == "decay"]
        config = built("minimax", hidden_size=96, head_dim=8, block_size=40, **changes)
        layers = [layer for use in uses for layer in use.layers]
        linear = [i for i, kind in enumerate(config.layer_types) if kind == "linear_attention"]
        if layers != linear:
            raise AssertionError(f"posenc says layers {layers}, transformers {linear}")
        outcomes += [_lightning(use, config) for use in uses if use.encoding is not None]
    return outcomes


def _lightning(use: Use, config: Any) -> Outcome:
    module = modeling("minimax").MiniMaxLightningAttention(config, use.layers[0])
    bias = use.encoding.bias(np.arange(40), np.arange(40), dtype=np.float64)
    ours = np.exp(bias) * np.tril(np.ones((40, 40)))
    gap = difference(ours, module.diagonal_decay[0].numpy())
    gap = max(gap, difference(use.encoding.slopes, module.slope_rate[:, 0, 0].numpy()))
    how = "slopes of each linear layer, and the decay of a block of 40 tokens"
    return Outcome(kind=use.kind, layout="", how=how, difference=gap)


def rwkv() -> list[Outcome]:
    """Its recurrence against a sum over all tokens before, weighted as the reading says."""
    outcomes = []
    for changes in ({"hidden_size": 12}, {"hidden_size": 12, "attention_hidden_size": 20}):
        use = the_use("rwkv", "decay", changes)
        width = modeling("rwkv").RwkvSelfAttention(built("rwkv", **changes)).time_decay.shape[0]
        if width != number(use, "dim"):
            raise AssertionError(f"posenc says {number(use, 'dim')} channels, transformers {width}")
        decay, first = torch.randn(width), torch.randn(width)
        keys, values = torch.randn(1, 9, width), torch.randn(1, 9, width)
        theirs, _ = modeling("rwkv").rwkv_linear_attention_cpu(decay, first, keys, values)
        steps = np.arange(9)[:, None] - np.arange(9)[None, :] - 1
        forgotten = -np.exp(decay.numpy()) * np.maximum(steps, 0)[..., None]
        scores = np.where(steps[..., None] == -1, first.numpy(), forgotten) + keys[0].numpy()
        weights = np.exp(scores) * (steps >= -1)[..., None]
        ours = np.einsum("tsc,sc->tc", weights, values[0].numpy()) / weights.sum(1)
        how, gap = "9 tokens through its own recurrence", difference(ours, theirs[0].numpy())
        outcomes.append(Outcome(kind=use.kind, layout="", how=how, difference=gap))
    return outcomes


CONVOLUTIONS = {
    "omniasr_audio": "OmniASRPositionalConvEmbedding",
    "sew": "SEWPositionalConvEmbedding",
    "sew-d": "SEWDPositionalConvEmbedding",
    "speecht5": "SpeechT5PositionalConvEmbedding",
    "unispeech": "UniSpeechPositionalConvEmbedding",
    "unispeech-sat": "UniSpeechSatPositionalConvEmbedding",
    "wav2vec2": "Wav2Vec2PositionalConvEmbedding",
    "wav2vec2-conformer": "Wav2Vec2ConformerPositionalConvEmbedding",
    "wavlm": "WavLMPositionalConvEmbedding",
}

CHECKS: dict[str, Callable[[], list[Outcome]]] = {
    **{
        model_type: functools.partial(frames, model_type, embedding)
        for model_type, embedding in CONVOLUTIONS.items()
    },
    "cvt": cvt,
    "data2vec-audio": functools.partial(
        frames, "data2vec-audio", "Data2VecAudioPositionalConvEmbedding", "conv_pos_kernel_size"
    ),
    "florence_vision": florence_vision,
    "glpn": functools.partial(perceptron, "glpn", "GLPNDepthWiseConv"),
    "hubert": hubert,
    "minimax": minimax,
    "pvt_v2": functools.partial(perceptron, "pvt_v2", "PvtV2DepthWiseConv"),
    "rwkv": rwkv,
    "segformer": functools.partial(perceptron, "segformer", "SegformerDepthWiseConv"),
}
