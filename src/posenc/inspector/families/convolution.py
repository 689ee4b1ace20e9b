"""Types that learn order without a position encoding: by convolutions, or by forgetting."""

from __future__ import annotations

from posenc.alibi import Alibi
from posenc.inspector.families.shared import Reader, use
from posenc.inspector.reading import Use
from posenc.inspector.settings.checks import LARGEST
from posenc.inspector.settings.config import Config

_NO_VECTORS = "What is added depends on the neighbours themselves, so there is no table to write."
_WEIGHT_NORM = "Weights are normalised with one gain for each tap of the kernel (dim=2)."
_BORDERS = (
    "No table: a depthwise convolution padded with zeros, {where}, feels where the borders are."
)


def _frames(
    config: Config, *remarks: str, kernel: str = "num_conv_pos_embeddings", place: str = "frames"
) -> Use:
    """A grouped convolution over neighbouring frames, whose result is added to each frame."""
    taps = config.integer(kernel, name="kernel", required=True)
    config.integer("num_conv_pos_embedding_groups", name="groups", required=True)
    config.integer("hidden_size", name="dim", required=True)
    before = config.derive("frames_before", taps // 2, kernel)
    after = config.derive("frames_after", (taps - 1) // 2, kernel)
    seen = (
        f"Each frame sees {before} frames before it and {after} after it, and zeros past the ends."
    )
    return use(config, "convolution", None, place=place, remarks=(_NO_VECTORS, seen, *remarks))


def _wav2vec2(config: Config) -> list[Use]:
    return [_frames(config, _WEIGHT_NORM)]


def _hubert(config: Config) -> list[Use]:
    normalised = config.flag("conv_pos_batch_norm")
    remark = "Frames go through a batch norm first, and the weights are not normalised."
    return [_frames(config, remark if normalised else _WEIGHT_NORM)]


def _speecht5(config: Config) -> list[Use]:
    return [_frames(config, _WEIGHT_NORM, place="speech encoder frames")]


def _sew(config: Config) -> list[Use]:
    stride = config.integer("squeeze_factor", name="stride", required=True)
    remark = f"It moves {stride} frames at a time, and is added to their means."
    return [_frames(config, _WEIGHT_NORM, remark)]


def _omniasr(config: Config) -> list[Use]:
    found = _frames(config)
    taps = config.fresh().integer("num_conv_pos_embeddings", required=True)
    if taps % 2:
        config.find(
            "error",
            "odd-kernel",
            "num_conv_pos_embeddings",
            taps,
            "must be even: the class always drops the last frame of the convolution, so an odd "
            "kernel leaves one too few to add.",
            "Take an even number.",
        )
    return [found]


def _data2vec(config: Config) -> list[Use]:
    depth = config.integer("num_conv_pos_embeddings", name="convolutions", required=True)
    remark = f"{depth} convolutions follow each other, each with a layer norm without weights."
    return [_frames(config, remark, kernel="conv_pos_kernel_size")]


def _borders(place: str, where: str) -> Reader:
    """A reader of types with a depthwise 3 x 3 convolution in each block."""

    def read(config: Config) -> list[Use]:
        config.assume("kernel", 3)
        remark = _BORDERS.format(where=where)
        return [use(config, "convolution", None, place=place, remarks=(remark,))]

    return read


def _cvt(config: Config) -> list[Use]:
    for key in ("patch_sizes", "patch_stride", "kernel_qkv", "stride_q", "stride_kv"):
        config.integers(key, required=True)
    config.integers("patch_padding", at_least=0, required=True)
    config.integers("padding_q", at_least=0, required=True)
    config.integers("padding_kv", at_least=0, required=True)
    remarks = (
        _BORDERS.format(where="that makes queries, keys and values"),
        "Patches overlap as well; the class token of the last stage skips the convolution.",
    )
    return [use(config, "convolution", None, place="queries, keys and values", remarks=remarks)]


def _minimax(config: Config) -> list[Use]:
    heads = config.integer("num_attention_heads", required=True)
    layers = config.integer("num_hidden_layers", required=True)
    if heads * layers > LARGEST:
        why = f"makes more than {LARGEST:,} slopes, one for each head of {layers} layers."
        cure = "Put the model's own number there."
        config.refuse("absurd-value", "num_attention_heads", heads, why, cure)
    types = config.words("layer_types")
    if types is None:
        types = tuple("linear_attention" if layer % 2 else "" for layer in range(layers))
        config.derive("layer_types", "every second layer, from the second", "num_hidden_layers")
    linear = [layer for layer, kind in enumerate(types) if kind == "linear_attention"]
    return [_lightning(config, heads, layer, layers) for layer in linear]


def _lightning(config: Config, heads: int, layer: int, layers: int) -> Use:
    """Attention without a softmax, whose scores fade as ALiBi's exp(bias); deep layers slower."""
    steepness = 1 - layer / (layers - 1 + 1e-5) + 1e-5
    remarks = ("There is no softmax: a score is multiplied by exp(bias) instead.",)
    encoding = None
    if steepness <= 1:
        encoding = Alibi(heads=heads, rule="plain", factor=1 / steepness)
    else:
        slopes = f"slopes {steepness:g} * 2 ** (-8 h / {heads}), h = 1 ... {heads}"
        remarks = (*remarks, f"The bias is ALiBi's with {slopes}.")
    return use(
        config, "decay", encoding, layers=(layer,), layer_type="linear_attention", remarks=remarks
    )


def _rwkv(config: Config) -> list[Use]:
    if config.integer("attention_hidden_size", name="dim") is None:
        width = config.integer("hidden_size", required=True)
        config.derive("dim", width, "hidden_size")
    remarks = (
        "Each step multiplies what is remembered by exp(-exp(time_decay)), a trained number for "
        "each channel; the token itself counts exp(time_first) instead.",
        "Keys, values and gates mix each token with the one before it.",
    )
    return [use(config, "decay", None, place="memory of each channel", remarks=remarks)]


_PERCEPTRON = _borders("hidden states of each perceptron", "between the layers of each perceptron")

READERS: dict[str, Reader] = {
    "data2vec-audio": _data2vec,
    "hubert": _hubert,
    "omniasr_audio": _omniasr,
    "sew": _sew,
    "sew-d": _sew,
    "speecht5": _speecht5,
    "unispeech": _wav2vec2,
    "unispeech-sat": _wav2vec2,
    "wav2vec2": _wav2vec2,
    "wav2vec2-conformer": _wav2vec2,
    "wavlm": _wav2vec2,
    "cvt": _cvt,
    "florence_vision": _borders("hidden states", "before each attention and each perceptron"),
    "glpn": _PERCEPTRON,
    "pvt_v2": _PERCEPTRON,
    "segformer": _PERCEPTRON,
    "minimax": _minimax,
    "rwkv": _rwkv,
}
