"""Rotary embeddings by places that need a reader: centred patches, keypoints, seconds, atoms."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

from posenc.axial import AxialRotary
from posenc.inspector.families.shared import Reader, head_dim, use
from posenc.inspector.families.turning import grids_settings
from posenc.inspector.reading import Use
from posenc.inspector.settings.config import Config, facts
from posenc.mixed import MixedRotary


def _centred(config: Config, *, rope_type: str | None = None) -> list[Use]:
    """DINOv3 and kin: each image, whatever its size, spans [-1, 1] on both axes."""
    dim = head_dim(config)
    grids_settings.check_width(config, dim, 4, "hidden_size")
    if rope_type is None:
        base = config.number("rope_theta", name="base", above=0, required=True)
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


def _neomme(config: Config) -> list[Use]:
    """NeoMME: text and images share the layers; each kind of layer has a base of its own."""
    count = config.integer("num_hidden_layers", required=True)
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
    dim = config.integer("head_dim", required=True)
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
        base = config.assume("base", assumed["rope_theta"], "rope_theta")
    key = "partial_rotary_factor"
    factor = rotary.number(key, above=0)
    if factor is None:
        factor = config.assume(key, assumed[key], key)
    if factor > 1:
        rotary.refuse(
            "absurd-value", key, factor, "must be at most 1.", "Put the model's own value there."
        )
    return base, factor


def _loftr(config: Config) -> list[Use]:
    """EfficientLoFTR: turns the whole width of a layer, before it is cut into heads."""
    dim = head_dim(config, own="head_dim")
    width = config.integer("hidden_size", required=True)
    grids_settings.check_width(config, width, 4, "hidden_size")
    factor = grids_settings.parameter(config, "partial_rotary_factor")
    if 2 * grids_settings.share(config, dim, factor) != width:
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
    dim = head_dim(config, width="descriptor_dim")
    grids_settings.check_width(config, dim, 4, "descriptor_dim")
    heads = config.integer("num_attention_heads", required=True)
    place = "queries and keys of the self-attention"
    remarks = (
        "All heads share their frequencies, which are the columns of the weight of "
        "positional_encoder.projector: the first for the column, the second for the row.",
        "Keypoints are counted from the middle of the image, in halves of its longer side.",
    )
    encoding = MixedRotary(dim=dim, heads=heads)
    return [use(config, "learned rotary", encoding, place=place, head_dim=dim, remarks=remarks)]


def _music(config: Config) -> list[Use]:
    """Music Flamingo: audio features turn by the seconds at which they sound."""
    named = (config.mapping("audio_config") or {}).get("model_type")
    audio = config.part(
        "audio_config",
        named if isinstance(named, str) and named in facts() else "audioflamingo3_encoder",
    )
    width = audio.integer("hidden_size", required=True)
    config.taken += audio.taken
    factor = grids_settings.parameter(config, "partial_rotary_factor")
    share = config.derive(
        "rotary_dim",
        grids_settings.share(config, width, factor),
        "audio_config.hidden_size",
        "partial_rotary_factor",
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
        dim = head_dim(own, f"{prefix}num_attention_heads", width=f"{prefix}hidden_size")
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


READERS: dict[str, Reader] = {
    "dinov3_vit": _centred,
    "sapiens2": _centred,
    "eomt_dinov3": partial(_centred, rope_type="default"),
    "neomme": _neomme,
    "efficientloftr": _loftr,
    "lightglue": _lightglue,
    "musicflamingo": _music,
    "vjepa2": _vjepa2,
    "esmfold2": _esmfold2,
}
