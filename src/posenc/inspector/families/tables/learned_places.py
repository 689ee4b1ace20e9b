"""Trained tables of object queries, frames of a video, pieces of a series, pixels and chunks."""

from __future__ import annotations

import math
from dataclasses import replace

from posenc.axes import LearnedAxes
from posenc.inspector.families.tables.learned_tables import (
    ROWS,
    Reader,
    Table,
    absurd,
    tables,
    use,
    whole,
)
from posenc.inspector.reading import Use
from posenc.inspector.settings.config import Config
from posenc.learned import Learned

QUERIES = Table(place="object queries", rows="num_queries")


def _deformable_detr(config: Config) -> list[Use]:
    """Position and content of a query in one row; with two stages both come from the encoder."""
    if config.flag("two_stage"):
        return []
    length = whole(config, "num_queries", name="length")
    dim = config.derive("dim", 2 * whole(config, "hidden_size"), "d_model")
    remark = "The first half of a vector is the position of the query, the second its content."
    encoding = Learned(length=length, dim=dim)
    return [use("object queries", encoding, config, length=length, remarks=(remark,))]


def _grounding_dino(config: Config) -> list[Use]:
    """Queries start from the table, unless two stages take them from what the encoder found."""
    if config.flag("two_stage") and not config.flag("embedding_init_target"):
        return []
    remark = "The queries start as these vectors; their positions are made from their boxes."
    (found,) = tables(ROWS, replace(QUERIES, remarks=(remark,)))(config)
    return [replace(found, values=(*found.values, *config.taken))]


def _reference_points(config: Config) -> list[Use]:
    """A box for each query, in as many groups as train side by side."""
    length = whole(config, "num_queries", name="length")
    rows = config.derive("rows", length * whole(config, "group_detr"), "num_queries", "group_detr")
    remarks = (
        "A vector is x, y, width, height: how the box that the encoder proposed is moved.",
        "All groups of queries train; only the first num_queries rows are used after that.",
    )
    encoding = Learned(length=rows, dim=4)
    return [
        use("reference points of object queries", encoding, config, length=length, remarks=remarks)
    ]


def _git(config: Config) -> list[Use]:
    """A vector for each of several frames, in the width of the vision tower."""
    length = config.integer("num_image_with_embedding", name="length")
    if length is None:
        return []
    vision = config.part("vision_config", "git_vision_model")
    encoding = Learned(length=length, dim=whole(vision, "hidden_size", name="dim"))
    remark = "Each frame has one vector, added to all of its patches."
    return [use("frames", encoding, config, vision, length=length, remarks=(remark,))]


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


def _reformer(config: Config) -> list[Use]:
    """A row is two halves from two small tables, the position folded into rows and columns."""
    if not config.flag("axial_pos_embds"):
        return tables(ROWS, Table())(config)
    lengths = config.integers("axial_pos_shape", name="lengths", required=True) or ()
    widths = config.integers("axial_pos_embds_dim", name="widths", required=True) or ()
    dim = whole(config, "hidden_size", name="dim")
    if len(lengths) != len(widths) or sum(widths) != dim:
        absurd(
            config, "axial_pos_embds_dim", list(widths),
            f"must have {len(lengths)} numbers that sum to hidden_size={dim}.",
        )  # fmt: skip
    encoding = LearnedAxes(lengths=lengths, widths=widths, axes=tuple(range(len(lengths))))
    length = min(math.prod(lengths), whole(config, "max_position_embeddings"))
    remarks = (
        "Position p is cell p of a grid of these lengths, in raster order: posenc.grids.unravel.",
        "Training takes no other length than the product of the lengths.",
    )
    return [
        use(
            "token embeddings",
            encoding,
            config,
            length=length,
            kind="learned axial",
            remarks=remarks,
        )
    ]


def _patches(config: Config) -> int:
    """How many pieces a series is cut into."""
    context, patch = whole(config, "context_length"), whole(config, "patch_length")
    stride = whole(config, "patch_stride")
    number = (max(context, patch) - patch) // stride + 1
    return config.derive("patches", number, "context_length", "patch_length", "patch_stride")


def _patchtst(config: Config) -> list[Use]:
    """Pieces of a series; the class token, where there is one, is row 0."""
    if config.word("positional_encoding_type") != "random":
        return []
    offset = int(config.flag("use_cls_token"))
    length, dim = _patches(config), whole(config, "d_model", name="dim")
    remarks = ("The class token stands at -1, row 0.",) if offset else ()
    encoding = Learned(length=length, dim=dim, offset=offset)
    return [use("patches of a series", encoding, config, length=length, remarks=remarks)]


def _patchtsmixer(config: Config) -> list[Use]:
    trained = config.word("positional_encoding_type") == "random"
    if not (config.flag("use_positional_encoding") and trained):
        return []
    length = _patches(config)
    encoding = Learned(length=length, dim=whole(config, "d_model", name="dim"))
    return [use("patches of a series", encoding, config, length=length)]


def _perceiver(config: Config) -> list[Use]:
    """Pixels of PerceiverForImageClassificationLearned; the width stands in its code."""
    size = whole(config, "image_size")
    length = config.derive("length", size * size, "image_size")
    remarks = (
        "PerceiverForImageClassificationLearned only: pixel (row, column) is position "
        "row * image_size + column, and its vector stands behind that of the pixel.",
    )
    return [use("pixels", Learned(length=length, dim=256), config, length=length, remarks=remarks)]


# What DeepSeek-V4 calls its layers, by the number that older files have for them.
_HEAVY, _SPARSE = "heavily_compressed_attention", "compressed_sparse_attention"
_MOST_LAYERS = 10_000
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
    rates.defaults = {} if rates.data else {layer_type: assumed}
    rate = config.integer(old_key, name="length") or whole(rates, layer_type, name="length")
    dim = config.derive("dim", parts * whole(config, width), width)
    types = _deepseek_layers(config)
    place = (
        "gates of the compressor" if width == "head_dim" else "gates of the indexer's compressor"
    )
    remarks = (
        "A token stands at its position modulo the length; the vector is added to the gates "
        "before the softmax over a chunk.",
    )
    found = use(place, Learned(length=rate, dim=dim), config, length=rate, remarks=remarks)
    layers = tuple(layer for layer, kind in enumerate(types) if kind == layer_type)
    return replace(found, layers=layers, layer_type=layer_type)


def _deepseek_layers(config: Config) -> tuple[str, ...]:
    named = config.words("layer_types")
    if named is not None:
        return named
    numbered = config.integers("compress_ratios", at_least=0)
    if numbered is not None:
        return tuple(_DEEPSEEK_LAYERS.get(number, "") for number in numbered)
    number = whole(config, "num_hidden_layers")
    if number > _MOST_LAYERS:
        absurd(config, "num_hidden_layers", number, f"is more than {_MOST_LAYERS} layers.")
    layers = range(number)
    return tuple(_SPARSE if layer >= 2 and layer % 2 else _HEAVY for layer in layers)


READERS: dict[str, Reader] = {
    **dict.fromkeys(
        ("conditional_detr", "detr", "mask2former", "table-transformer"), tables(ROWS, QUERIES)
    ),
    **dict.fromkeys(("grounding-dino", "mm-grounding-dino"), _grounding_dino),
    **dict.fromkeys(("lw_detr", "rf_detr"), _reference_points),
    "deepseek_v4": _deepseek_v4,
    "deformable_detr": _deformable_detr,
    "git": _git,
    "oneformer": tables(
        ROWS, replace(QUERIES, remarks=("The last query is the place of the task token.",))
    ),
    "patchtsmixer": _patchtsmixer,
    "patchtst": _patchtst,
    "perceiver": _perceiver,
    "reformer": _reformer,
    "timesformer": _timesformer,
    "xclip": _xclip,
}
