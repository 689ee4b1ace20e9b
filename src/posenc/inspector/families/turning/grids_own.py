"""Rotary embeddings on grids of model types that need a reader of their own."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from posenc.axial import AxialRotary
from posenc.inspector.families.turning import grids_settings
from posenc.inspector.reading import Use
from posenc.inspector.settings.config import Config, facts
from posenc.mixed import MixedRotary


def _centred(config: Config, *, rope_type: str | None = None) -> list[Use]:
    """DINOv3 and kin: each image, whatever its size, spans [-1, 1] on both axes."""
    dim = grids_settings.head_dim(config)
    grids_settings.check_width(config, dim, 4, "hidden_size")
    if rope_type is None:
        base = config.number("rope_theta", name="base", above=0, required=True) or 0.0
    else:
        base = grids_settings.base(config, rope_type)
    return [
        grids_settings.use(
            config,
            AxialRotary(dim=dim, base=base, scale=math.tau),
            head_dim=dim,
            remarks=(
                "Coordinates are the centres of the patches, from -1 to 1 on both axes: "
                "posenc.grids.centres(rows, columns).",
                "The class token and the registers, which come first, are not turned.",
                "In training, coordinates may be shifted and stretched at random (pos_embed_*).",
            ),
        )
    ]


def _sam3_tower(config: Config) -> list[Use]:
    """SAM 3: most layers turn within a window, the others over an image shrunk to one."""
    layers = range(grids_settings.whole(config, "num_hidden_layers"))
    wide = config.integers("global_attn_indexes", at_least=0)
    if wide is None:
        wide = grids_settings.assumed(config, "global_attn_indexes", _SAM3_GLOBAL_LAYERS)
    window = grids_settings.whole(config, "window_size")
    shared = config.taken.copy()
    windowed = _sam3_use(
        config, 1.0, f"Coordinates are those within a window of {window} x {window} patches."
    )
    config.taken = shared
    columns, rows = _sam3_grid(config)
    scale = config.derive("scale", window / columns, "window_size", "image_size", "patch_size")
    whole = _sam3_use(config, scale, f"The grid has {rows} rows and {columns} columns.")
    kinds = {
        "windowed": (windowed, tuple(n for n in layers if n not in wide)),
        "global": (whole, tuple(n for n in layers if n in wide)),
    }
    return [
        replace(use, layers=chosen, layer_type=layer_type)
        for layer_type, (use, chosen) in kinds.items()
        if chosen
    ]


_SAM3_GLOBAL_LAYERS = (7, 15, 23, 31)  # transformers, Sam3ViTConfig


def _sam3_use(config: Config, scale: float, remark: str) -> Use:
    dim = config.integer("head_dim") or grids_settings.head_dim(config)
    grids_settings.check_width(config, dim, 4, "hidden_size")
    encoding = AxialRotary(
        dim=dim,
        axes=(1, 0),
        base=grids_settings.base(config),
        layout="interleaved",
        scale=scale,
    )
    return grids_settings.use(config, encoding, head_dim=dim, remarks=(remark,))


def _sam3_grid(config: Config) -> tuple[int, int]:
    """Columns and rows of patches; where a size is a pair, it is (width, height)."""
    (width, height), (across, down) = (_sides(config, key) for key in ("image_size", "patch_size"))
    if width < across or height < down:
        config.refuse(
            "absurd-value", "patch_size", config.get("patch_size"),
            f"is larger than image_size={config.get('image_size')}.",
            "Put the model's own sizes there.",
        )  # fmt: skip
    return width // across, height // down


def _sides(config: Config, key: str) -> tuple[int, ...]:
    if not isinstance(config.get(key), list | tuple):
        return (grids_settings.whole(config, key),) * 2
    sides = config.integers(key) or ()
    if len(sides) != 2:
        config.refuse(
            "absurd-value", key, sides, "must be a number, or two.",
            "Put the model's own sizes there.",
        )  # fmt: skip
    grids_settings.check_size(config, max(sides), key)
    return sides


def _memory(config: Config, *, remarks: tuple[str, ...]) -> list[Use]:
    """The attention of a video's frame to itself and to the frames remembered."""
    keys = tuple(
        f"memory_attention_{key}"
        for key in ("hidden_size", "downsample_rate", "num_attention_heads")
    )
    width, rate, heads = (grids_settings.whole(config, key) for key in keys)
    dim = config.derive("head_dim", width // (rate * heads), *keys)
    grids_settings.check_width(config, dim, 4, keys[0])
    # The older spelling wins, because the class sets it last.
    older = config.number("memory_attention_rope_theta", name="base", above=0)
    encoding = AxialRotary(
        dim=dim, axes=(1, 0), base=older or grids_settings.base(config), layout="interleaved"
    )
    place = "queries and keys of the memory attention"
    return [grids_settings.use(config, encoding, place=place, head_dim=dim, remarks=remarks)]


_POINTERS = "Object pointers, which are the last keys, are not turned."
_SAME_GRID = (
    "The grid has memory_attention_rope_feat_sizes columns and rows; each remembered frame turns "
    "as the present one does.",
    _POINTERS,
)
_TWO_GRIDS = (
    "The grid has memory_attention_rope_feat_sizes columns and rows, but remembered frames have "
    "memory_attention_rope_k_sizes, counted from 0 and not stretched to match.",
    "Of each remembered frame only the last keys, its grid, are turned.",
    _POINTERS,
)


def _neomme(config: Config) -> list[Use]:
    """NeoMME: text and images share the layers; each kind of layer has a base of its own."""
    count = grids_settings.whole(config, "num_hidden_layers")
    types = config.words("layer_types") or config.derive(
        "layer_types",
        tuple(
            "full_attention" if n % 6 == 5 or n == count - 1 else "sliding_attention"
            for n in range(count)
        ),
        "num_hidden_layers",
    )
    shared = config.taken
    uses = []
    for layer_type in dict.fromkeys(types):
        config.taken = shared.copy()
        layers = tuple(n for n, kind in enumerate(types) if kind == layer_type)
        uses.append(replace(_neomme_use(config, layer_type), layers=layers, layer_type=layer_type))
    return uses


def _neomme_use(config: Config, layer_type: str) -> Use:
    dim = grids_settings.whole(config, "head_dim")
    base, factor = _neomme_parameters(config, layer_type)
    turned = config.derive("rotary_dim", int(dim * factor), "head_dim", "partial_rotary_factor")
    grids_settings.check_width(config, turned, 4, "head_dim")
    encoding = AxialRotary(
        dim=dim,
        base=base,
        order="alternating",
        spectrum="dealt",
        widths=(turned // 2, turned // 2),
        rest="leave",
    )
    remark = "Text tokens have the same number on both axes."
    return grids_settings.use(config, encoding, head_dim=dim, remarks=(remark,))


def _neomme_parameters(config: Config, layer_type: str) -> tuple[float, float]:
    """The base and the share of a head that turns, in layers of one kind."""
    assumed = config.facts["rope"].get(layer_type)
    if assumed is None:
        config.refuse(
            "absurd-value", "layer_types", layer_type, "is no kind of layer of this model.",
            f"Use {' or '.join(config.facts['rope'])}.",
        )  # fmt: skip
    rotary = config.inside("rope_parameters").inside(layer_type)
    grids_settings.check_type(rotary, "default")
    if rotary.has("rope_theta"):
        base = rotary.number("rope_theta", name="base", above=0, required=True)
    else:
        base = config.number("rope_theta", name="base", above=0)
    if base is None:
        base = grids_settings.assumed(config, "base", assumed["rope_theta"], "rope_theta")
    key = "partial_rotary_factor"
    factor = rotary.number(key, above=0)
    if factor is None:
        factor = grids_settings.assumed(config, key, assumed[key])
    if factor > 1:
        rotary.refuse(
            "absurd-value", key, factor, "must be at most 1.", "Put the model's own value there."
        )
    return base, factor


def _loftr(config: Config) -> list[Use]:
    """EfficientLoFTR: turns the whole width of a layer, before it is cut into heads."""
    dim = config.integer("head_dim") or grids_settings.head_dim(config)
    width = grids_settings.whole(config, "hidden_size")
    grids_settings.check_width(config, width, 4, "hidden_size")
    grids_settings.check_size(config, dim, "head_dim")
    factor = grids_settings.parameter(config, "partial_rotary_factor")
    grids_settings.check_size(config, dim * factor, "partial_rotary_factor")
    if 2 * int(dim * factor) != width:
        config.refuse(
            "absurd-value", "partial_rotary_factor", factor,
            f"must make half of hidden_size={width} from head_dim={dim}.",
            "Leave it out, or put the model's own value there.",
        )  # fmt: skip
    encoding = AxialRotary(
        dim=width,
        base=grids_settings.base(config, "default"),
        layout="interleaved",
        order="alternating",
    )
    remarks = (
        "Queries, and keys, of all heads are turned side by side, as one vector.",
        "The grid is that of the aggregated features (q_aggregation_stride).",
        "Only self-attention turns; cross-attention has no positions.",
    )
    place = "queries and keys of the self-attention"
    return [grids_settings.use(config, encoding, place=place, first_position=1, remarks=remarks)]


def _lightglue(config: Config) -> list[Use]:
    """LightGlue: angles are a trained linear map of where a keypoint lies."""
    dim = grids_settings.head_dim(config, "descriptor_dim")
    grids_settings.check_width(config, dim, 4, "descriptor_dim")
    heads = grids_settings.whole(config, "num_attention_heads")
    return [
        Use(
            kind="learned rotary",
            place="queries and keys of the self-attention",
            encoding=MixedRotary(dim=dim, heads=heads),
            head_dim=dim,
            values=tuple(config.taken),
            remarks=(
                "All heads share their frequencies, which are the columns of the weight of "
                "positional_encoder.projector: the first for the column, the second for the row.",
                "Keypoints are counted from the middle of the image, in halves of its longer side.",
            ),
        )
    ]


def _music(config: Config) -> list[Use]:
    """Music Flamingo: audio features turn by the seconds at which they sound."""
    named = (config.mapping("audio_config") or {}).get("model_type")
    audio = config.part(
        "audio_config", str(named) if named in facts() else "audioflamingo3_encoder"
    )
    width = grids_settings.whole(audio, "hidden_size")
    config.taken += audio.taken
    factor = grids_settings.parameter(config, "partial_rotary_factor")
    grids_settings.check_size(config, width * factor, "partial_rotary_factor")
    share = config.derive(
        "rotary_dim", int(width * factor), "audio_config.hidden_size", "partial_rotary_factor"
    )
    if share < 2 or share % 2 or 2 * share > width:
        config.refuse(
            "absurd-value", "partial_rotary_factor", factor,
            f"must make an even number from hidden_size={width}, and at most half of it.",
            "Leave it out, or put the model's own value there.",
        )  # fmt: skip
    base = grids_settings.base(config, "default")
    encoding = AxialRotary(
        dim=width, base=base, layout="interleaved", widths=(share, share), rest="leave"
    )
    remark = (
        f"Coordinates are -2 pi t w / {base:g} and -(2 pi)^2 t i / {base:g}, for feature i of "
        "window w, which sounds at t seconds."
    )
    return [grids_settings.use(config, encoding, place="audio features", remarks=(remark,))]


def _vjepa2(config: Config) -> list[Use]:
    """V-JEPA 2: frame, row and column act on a third of a head each, by no rotation."""
    remark = (
        "Its pairs are (2k, 2k + 1), but its angles lie as for pairs (k, k + half of the share): "
        "the two of a pair turn by different angles, so lengths change, and no encoding of posenc "
        "says the same."
    )
    uses = []
    for prefix, place in ("", "the encoder"), ("pred_", "the predictor"):
        own = config.fresh()
        dim = grids_settings.head_dim(own, f"{prefix}hidden_size", f"{prefix}num_attention_heads")
        place = f"{grids_settings.PLACE} of {place}"
        uses.append(grids_settings.use(own, None, place=place, head_dim=dim, remarks=(remark,)))
    return uses


def _esmfold2(config: Config) -> list[Use]:
    """ESMFold2: atoms turn by where they lie in space, and by their residue."""
    remark = (
        "Coordinates are x, y, z and the number of the residue; space has one base "
        "(spatial_rope_base_frequency), the residue another (uid_rope_base_frequency), and "
        "AxialRotary has but one."
    )
    place = f"{grids_settings.PLACE} of atoms"
    return [grids_settings.use(config, None, place=place, remarks=(remark,))]


READERS: dict[str, Callable[[Config], list[Use]]] = {
    "dinov3_vit": _centred,
    "sapiens2": _centred,
    "eomt_dinov3": partial(_centred, rope_type="default"),
    "sam3_vit_model": _sam3_tower,
    "sam2_video": partial(_memory, remarks=_SAME_GRID),
    "sam3_tracker_video": partial(_memory, remarks=_SAME_GRID),
    "edgetam_video": partial(_memory, remarks=_TWO_GRIDS),
    "neomme": _neomme,
    "efficientloftr": _loftr,
    "lightglue": _lightglue,
    "musicflamingo": _music,
    "vjepa2": _vjepa2,
    "esmfold2": _esmfold2,
}
