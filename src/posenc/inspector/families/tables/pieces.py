"""Trained tables of what is cut in pieces: frames, patches of a series, pixels, chunks of text."""

from __future__ import annotations

from dataclasses import replace

from posenc.inspector.families.shared import Reader, use
from posenc.inspector.families.tables.token_tables import ROWS, Table, tables
from posenc.inspector.reading import Use
from posenc.inspector.settings.config import Config
from posenc.learned import Learned


def _git(config: Config) -> list[Use]:
    """A vector for each of several frames, in the width of the vision tower."""
    length = config.integer("num_image_with_embedding", name="length")
    if length is None:
        return []
    vision = config.part("vision_config", "git_vision_model")
    encoding = Learned(length=length, dim=vision.integer("hidden_size", name="dim", required=True))
    config.taken += vision.taken
    remark = "Each frame has one vector, added to all of its patches."
    return [use(config, "learned", encoding, place="frames", length=length, remarks=(remark,))]


def _timesformer(config: Config) -> list[Use]:
    if config.word("attention_type") == "space_only":
        return []
    remark = (
        "Added to every patch of a frame, after the table of the patches; f frames take the rows "
        "floor(frame * num_frames / f)."
    )
    (found,) = tables(ROWS, Table(place="frames", rows="num_frames", remarks=(remark,)))(config)
    return [replace(found, values=(*found.values, *config.taken))]


def _xclip(config: Config) -> list[Use]:
    """The network that joins the frames of a video stands outside both towers."""
    vision = config.part("vision_config", "xclip_vision_model")
    return tables(ROWS, Table(place="frames", rows="num_frames", dim=("mit_hidden_size",)))(vision)


def _patches(config: Config) -> int:
    """How many pieces a series is cut into."""
    context = config.integer("context_length", required=True)
    patch = config.integer("patch_length", required=True)
    stride = config.integer("patch_stride", required=True)
    number = (max(context, patch) - patch) // stride + 1
    return config.derive("patches", number, "context_length", "patch_length", "patch_stride")


def _patchtst(config: Config) -> list[Use]:
    """Pieces of a series; the class token, where there is one, is row 0."""
    if config.word("positional_encoding_type") != "random":
        return []
    offset = int(config.flag("use_cls_token"))
    length, dim = _patches(config), config.integer("d_model", name="dim", required=True)
    remarks = ("The class token stands at -1, row 0.",) if offset else ()
    encoding = Learned(length=length, dim=dim, offset=offset)
    return [
        use(
            config, "learned", encoding, place="patches of a series", length=length, remarks=remarks
        )
    ]


def _patchtsmixer(config: Config) -> list[Use]:
    trained = config.word("positional_encoding_type") == "random"
    if not (config.flag("use_positional_encoding") and trained):
        return []
    length = _patches(config)
    encoding = Learned(length=length, dim=config.integer("d_model", name="dim", required=True))
    return [use(config, "learned", encoding, place="patches of a series", length=length)]


def _perceiver(config: Config) -> list[Use]:
    """Pixels of PerceiverForImageClassificationLearned; the width stands in its code."""
    size = config.integer("image_size", required=True)
    length = config.derive("length", size * size, "image_size")
    remarks = (
        "PerceiverForImageClassificationLearned only: pixel (row, column) is position "
        "row * image_size + column, and its vector stands behind that of the pixel.",
    )
    return [
        use(
            config,
            "learned",
            Learned(length=length, dim=256),
            place="pixels",
            length=length,
            remarks=remarks,
        )
    ]


# What DeepSeek-V4 calls its layers, by the number that older files have for them.
_HEAVY, _SPARSE = "heavily_compressed_attention", "compressed_sparse_attention"
_DEEPSEEK_LAYERS = {0: "sliding_attention", 4: _SPARSE, 128: _HEAVY}


def _deepseek_v4(config: Config) -> list[Use]:
    """Tokens are pooled in chunks; a gate for each place in a chunk weighs them."""
    return [
        _gates(config.fresh(), _HEAVY, "compress_rate_hca", 128, "head_dim", 1),
        _gates(config.fresh(), _SPARSE, "compress_rate_csa", 4, "head_dim", 2),
        _gates(config.fresh(), _SPARSE, "compress_rate_csa", 4, "index_head_dim", 2),
    ]


def _gates(
    config: Config, layer_type: str, old_key: str, assumed: int, width: str, parts: int
) -> Use:
    rates = config.inside("compress_rates")
    if not rates.data:
        rates = rates.assuming(**{layer_type: assumed})
    rate = config.integer(old_key, name="length") or rates.integer(
        layer_type, name="length", required=True
    )
    dim = config.derive("dim", parts * config.integer(width, required=True), width)
    types = _deepseek_layers(config)
    place = (
        "gates of the compressor" if width == "head_dim" else "gates of the indexer's compressor"
    )
    remarks = (
        "A token stands at its position modulo the length; the vector is added to the gates "
        "before the softmax over a chunk.",
    )
    found = use(
        config, "learned", Learned(length=rate, dim=dim), place=place, length=rate, remarks=remarks
    )
    layers = tuple(layer for layer, kind in enumerate(types) if kind == layer_type)
    return replace(found, layers=layers, layer_type=layer_type)


def _deepseek_layers(config: Config) -> tuple[str, ...]:
    named = config.words("layer_types")
    if named is not None:
        return named
    numbered = config.integers("compress_ratios", at_least=0)
    if numbered is not None:
        return tuple(_DEEPSEEK_LAYERS.get(number, "") for number in numbered)
    number = config.integer("num_hidden_layers", required=True)
    layers = range(number)
    return tuple(_SPARSE if layer >= 2 and layer % 2 else _HEAVY for layer in layers)


READERS: dict[str, Reader] = {
    "deepseek_v4": _deepseek_v4,
    "git": _git,
    "patchtsmixer": _patchtsmixer,
    "patchtst": _patchtst,
    "perceiver": _perceiver,
    "timesformer": _timesformer,
    "xclip": _xclip,
}
