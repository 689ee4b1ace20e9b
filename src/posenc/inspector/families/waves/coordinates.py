"""Places in numbers: Fourier features of points, waves of box corners, and trained MLPs."""

from __future__ import annotations

import functools
from collections.abc import Callable

from posenc import FourierFeatures, SinusoidalAxes
from posenc.inspector.families import patch_grids
from posenc.inspector.families.shared import Reader, fitted, use
from posenc.inspector.reading import Use
from posenc.inspector.settings.config import Config

_SAM = (
    "Coordinates are (x, y) from 0 to 1, made 2 x - 1 and 2 y - 1; prompts are in pixels and get "
    "0.5 first, image cells are middles: (i + 0.5) / n.",
    "The matrix is drawn once and stands in the checkpoint, one column a frequency there.",
    "Image and prompts share one matrix.",
)


def _fourier(config: Config, key: str, dim: int, scale: float, place: str) -> Use:
    make = functools.partial(FourierFeatures, axes=2, first="sin")
    encoding = fitted(config, key, make, dim=dim, scale=scale)
    return use(config, "Fourier features", encoding, place=place, remarks=_SAM)


def _sam(config: Config) -> list[Use]:
    """Width and scale stand in the settings of the vision tower."""
    vision = config.part("vision_config", f"{config.model_type}_vision_model")
    dim = 2 * vision.integer("num_pos_feats", required=True)
    # The class overwrites `scale`, whatever the settings say.
    scale = vision.integer("hidden_size", required=True) // 2
    vision.derive("scale", scale, "hidden_size")
    return [_fourier(vision, "num_pos_feats", dim, float(scale), "image features and prompts")]


def _prompts(config: Config) -> list[Use]:
    scale = config.number("scale", above=0)
    if scale is None:
        scale = config.assume("scale", 1.0)
    dim = config.integer("hidden_size", required=True)
    return [_fourier(config, "hidden_size", dim, scale, "image features and prompts")]


def _sam_prompts(config: Config) -> list[Use]:
    """The matrix is that of the image; only its shape is known here."""
    encoding = fitted(
        config,
        "hidden_size",
        FourierFeatures,
        dim=config.integer("hidden_size", required=True),
        axes=2,
        first="sin",
    )
    remark = "How large its numbers are stands in the settings of the vision tower."
    remarks = (*_SAM, remark)
    return [use(config, "Fourier features", encoding, place="prompts", remarks=remarks)]


def _perceiver(config: Config) -> list[Use]:
    """Each task's network has bands for the resolution it was trained at."""
    networks = (
        ("image pixels of the network for classification by Fourier features", (224, 224)),
        ("feature maps of the network for classification by convolution", (56, 56)),
        ("pixels of the network for optical flow", None),
    )
    remarks = (
        "The matrix is fixed: for each axis, rows first, `bands` frequencies from 1/2 to "
        "resolution / 4 turns, evenly spaced. Nothing is drawn, so the encoding's `scale` says "
        "nothing here.",
        "Coordinates run from -1 to 1, both ends included, and stand before the features.",
    )
    uses = []
    for place, resolution in networks:
        own = config.fresh()
        encoding = FourierFeatures(dim=4 * own.assume("bands", 64), axes=2, first="sin")
        if resolution is None:
            own.derive("resolution", patch_grids.sides(own, "train_size"), "train_size")
        else:
            own.assume("resolution", resolution)
        uses.append(use(own, "Fourier features", encoding, place=place, remarks=remarks))
    return uses


def _bros(config: Config) -> list[Use]:
    """Differences of box corners, in the attention scores."""
    corners = config.integer("dim_bbox", required=True)
    share = config.integer("hidden_size", required=True) // 4 // corners
    config.derive("dim", share * corners, "hidden_size", "dim_bbox")
    scale = config.number("bbox_scale", required=True)
    fields = {"dim": share * corners, "axes": tuple(range(corners))}
    encoding = fitted(config, "dim_bbox", SinusoidalAxes, **fields)
    remarks = (
        f"Positions: corners of the key's box minus those of the query's, times {scale:g}.",
        "A trained matrix makes vectors as wide as a head of them, the same for all heads and "
        "layers; each is multiplied with the query and added to the score.",
    )
    return [use(config, "sinusoidal boxes", encoding, remarks=remarks)]


def _boxes_mlp(inner: Callable[[int], tuple[int, ...]], key: str = "d_model") -> Reader:
    """The boxes that queries look at, through a trained MLP."""

    def read(config: Config) -> list[Use]:
        corners = config.integer("num_coords") or 4
        width = config.integer(key, required=True)
        layers = config.derive("layers", (corners, *inner(width), width), key)
        return [_mlp(config, "object queries", layers, "boxes of 0 to 1")]

    return read


_TWICE = _boxes_mlp(lambda width: (2 * width,))


def _superglue(config: Config) -> list[Use]:
    key = "keypoint_encoder_sizes"
    inner = config.integers(key) or config.assume(key, (32, 64, 128, 256))
    layers = 3, *inner, config.integer("hidden_size", required=True)
    config.derive("layers", layers, key, "hidden_size")
    centred = "x and y count from the middle of the image, divided by 0.7 times its longer side."
    return [_mlp(config, "keypoint descriptors", layers, "x, y and score of a keypoint", centred)]


def _mlp(config: Config, place: str, layers: tuple[int, ...], given: str, *remarks: str) -> Use:
    trained = (
        f"Nothing but trained weights: {' -> '.join(map(str, layers))} features, from {given}."
    )
    return use(config, "coordinate MLP", None, place=place, remarks=(trained, *remarks))


READERS: dict[str, Reader] = {
    "bros": _bros,
    "d_fine": _TWICE,
    "deimv2": _boxes_mlp(lambda width: (width, width)),
    "edgetam_prompt_encoder": _prompts,
    "edgetam_video_prompt_encoder": _prompts,
    "omdet-turbo": _boxes_mlp(lambda width: (2 * width,), "decoder_hidden_dim"),
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
