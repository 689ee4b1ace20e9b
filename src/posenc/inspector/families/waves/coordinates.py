"""Places in numbers: Fourier features of points, waves of box corners, and trained MLPs."""

from __future__ import annotations

import functools
from collections.abc import Callable

from posenc import FourierFeatures, SinusoidalAxes
from posenc.inspector.families.shared import fitted, whole
from posenc.inspector.families.tables import patch_grids
from posenc.inspector.reading import Use
from posenc.inspector.settings.config import Config

_SAM = (
    "Coordinates are (x, y) from 0 to 1, made 2 x - 1 and 2 y - 1; prompts are in pixels and get "
    "0.5 first, image cells are middles: (i + 0.5) / n.",
    "The matrix is drawn once and stands in the checkpoint, one column a frequency there.",
    "Image and prompts share one matrix.",
)
_TRAINED = "Nothing but trained weights: {}."


def _use(config: Config, kind: str, place: str, encoding: object, *remarks: str) -> Use:
    values = tuple(config.taken)
    return Use(kind=kind, place=place, encoding=encoding, values=values, remarks=remarks)


def _fourier(config: Config, key: str, dim: int, scale: float, place: str) -> Use:
    make = functools.partial(FourierFeatures, axes=2, first="sin")
    return _use(
        config, "Fourier features", place, fitted(config, key, make, dim=dim, scale=scale), *_SAM
    )


def _sam(config: Config) -> list[Use]:
    """Width and scale stand in the settings of the vision tower."""
    vision = config.part("vision_config", f"{config.model_type}_vision_model")
    dim = 2 * whole(vision, "num_pos_feats")
    # The class overwrites `scale`, whatever the settings say.
    scale = whole(vision, "hidden_size") // 2
    vision.derive("scale", scale, "hidden_size")
    return [_fourier(vision, "num_pos_feats", dim, float(scale), "image features and prompts")]


def _prompts(config: Config) -> list[Use]:
    scale = config.number("scale", above=0)
    if scale is None:
        scale = patch_grids.assumed(config, "scale", 1.0)
    dim = whole(config, "hidden_size")
    return [_fourier(config, "hidden_size", dim, scale, "image features and prompts")]


def _sam_prompts(config: Config) -> list[Use]:
    """The matrix is that of the image; only its shape is known here."""
    encoding = fitted(
        config,
        "hidden_size",
        FourierFeatures,
        dim=whole(config, "hidden_size"),
        axes=2,
        first="sin",
    )
    remark = "How large its numbers are stands in the settings of the vision tower."
    return [_use(config, "Fourier features", "prompts", encoding, *_SAM, remark)]


def _perceiver(config: Config) -> list[Use]:
    """Each task's network has bands for the resolution it was trained at."""
    networks = (
        ("image pixels of the network for classification by Fourier features", (224, 224)),
        ("feature maps of the network for classification by convolution", (56, 56)),
        ("pixels of the network for optical flow", None),
    )
    uses = []
    for place, resolution in networks:
        own = config.fresh()
        bands = patch_grids.assumed(own, "bands", 64)
        if resolution is None:
            resolution = patch_grids.sides(own, "train_size")
        patch_grids.assumed(own, "resolution", resolution)
        uses.append(
            _use(
                own,
                "Fourier features",
                place,
                FourierFeatures(dim=4 * bands, axes=2, first="sin"),
                "The matrix is fixed: for each axis, rows first, `bands` frequencies from 1/2 to "
                "resolution / 4 turns, evenly spaced.",
                "Coordinates run from -1 to 1, both ends included, and stand before the features.",
            )
        )
    return uses


def _bros(config: Config) -> list[Use]:
    """Differences of box corners, in the attention scores."""
    corners = whole(config, "dim_bbox")
    share = whole(config, "hidden_size") // 4 // corners
    config.derive("dim", share * corners, "hidden_size", "dim_bbox")
    scale = config.number("bbox_scale", required=True)
    fields = {"dim": share * corners, "axes": tuple(range(corners))}
    return [
        _use(
            config,
            "sinusoidal boxes",
            "attention scores",
            fitted(config, "dim_bbox", SinusoidalAxes, **fields),
            f"Positions: corners of the key's box minus those of the query's, times {scale:g}.",
            "A trained matrix makes vectors as wide as a head of them, the same for all heads and "
            "layers; each is multiplied with the query and added to the score.",
        )
    ]


def _boxes_mlp(inner: Callable[[int], tuple[int, ...]]) -> Callable[[Config], list[Use]]:
    """The boxes that queries look at, through a trained MLP."""

    def read(config: Config) -> list[Use]:
        corners = 4 if config.get("num_coords") is None else whole(config, "num_coords")
        width = whole(config, "d_model")
        layers = (corners, *inner(width), width)
        config.derive("layers", layers, "d_model")
        remark = _TRAINED.format(f"{' -> '.join(map(str, layers))} features, from boxes of 0 to 1")
        return [_use(config, "coordinate MLP", "object queries", None, remark)]

    return read


_TWICE = _boxes_mlp(lambda width: (2 * width,))


def _omdet_turbo(config: Config) -> list[Use]:
    width = whole(config, "decoder_hidden_dim")
    layers = config.derive("layers", (4, 2 * width, width), "decoder_hidden_dim")
    remark = _TRAINED.format(f"{' -> '.join(map(str, layers))} features, from boxes of 0 to 1")
    return [_use(config, "coordinate MLP", "object queries", None, remark)]


def _superglue(config: Config) -> list[Use]:
    key = "keypoint_encoder_sizes"
    inner = config.integers(key) or patch_grids.assumed(config, key, (32, 64, 128, 256))
    layers = (3, *inner, whole(config, "hidden_size"))
    config.derive("layers", layers, key, "hidden_size")
    remark = _TRAINED.format(
        f"{' -> '.join(map(str, layers))} features, from x, y and score of a keypoint"
    )
    centred = "x and y count from the middle of the image, divided by 0.7 times its longer side."
    return [_use(config, "coordinate MLP", "keypoint descriptors", None, remark, centred)]


READERS: dict[str, Callable[[Config], list[Use]]] = {
    "bros": _bros,
    "d_fine": _TWICE,
    "deimv2": _boxes_mlp(lambda width: (width, width)),
    "edgetam_prompt_encoder": _prompts,
    "edgetam_video_prompt_encoder": _prompts,
    "omdet-turbo": _omdet_turbo,
    "perceiver": _perceiver,
    "pp_doclayout_v2": _TWICE,
    "pp_doclayout_v3": _TWICE,
    "pp_doclayout_v4": _TWICE,
    "rt_detr": _TWICE,
    "rt_detr_v2": _TWICE,
    "sam": _sam,
    "sam2_prompt_encoder": _prompts,
    "sam2_video_prompt_encoder": _prompts,
    "sam3_tracker_prompt_encoder": _prompts,
    "sam3_tracker_video_prompt_encoder": _prompts,
    "sam_hq": _sam,
    "sam_hq_prompt_encoder": _sam_prompts,
    "sam_prompt_encoder": _sam_prompts,
    "superglue": _superglue,
}
