"""Sines and cosines of rows and columns, and of the sides of boxes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace

from posenc import LearnedAxes, Sinusoidal, SinusoidalAxes
from posenc.inspector.families.shared import fitted, whole
from posenc.inspector.families.tables import patch_grids
from posenc.inspector.reading import Use
from posenc.inspector.settings.config import Config

_COUNTED = (
    "Positions: grids.from_mask(mask), which counts cells that are not padding from 1, divides by "
    "the last count + 1e-6 and multiplies by 2 pi."
)
_HALVES = (
    "Positions: grids.from_mask(mask, shift=-0.5): middles of the cells that are not padding, "
    "divided by their count + 1e-6, times 2 pi."
)
_BOXES = (
    "Positions: (x, y, width, height) of the box, each from 0 to 1, times 2 pi; y comes before x."
)
_POINTS = "Positions: (x, y) of the box's centre, each from 0 to 1, times 2 pi; y comes before x."
_PROJECTED = "A trained MLP makes the vectors that are added to the queries from these."
_WIDTHS = {"memory_encoder_output_channels": 64}
"""What the config classes of SAM 2 and its kin assume."""
_FEATURES = "queries and keys of image features"


def _use(config: Config, kind: str, place: str, encoding: object, *remarks: str) -> Use:
    values = tuple(config.taken)
    return Use(kind=kind, place=place, encoding=encoding, values=values, remarks=remarks)


def _waves(config: Config, key: str, **fields: object) -> SinusoidalAxes:
    """A spec as wide as the setting `key` says."""
    dim = config.integer(key)
    if dim is None and key in _WIDTHS:
        dim = patch_grids.assumed(config, key, _WIDTHS[key])
    return fitted(config, key, SinusoidalAxes, dim=dim or whole(config, key), **fields)


def _temperature(config: Config, key: str, assumed: float) -> float:
    base = config.number(key, name="base", above=0)
    return patch_grids.assumed(config, "base", assumed) if base is None else base


def detr_grid(
    config: Config,
    width: str,
    *remarks: str,
    temperature: str = "",
    place: str = _FEATURES,
) -> Use:
    """Row, then column, each with its sines and cosines in turn."""
    base = _temperature(config, temperature, 20.0) if temperature else 10_000.0
    encoding = _waves(config, width, base=base, layout="interleaved")
    return _use(config, "sinusoidal grid", place, encoding, *(remarks or (_COUNTED,)))


def boxes(config: Config, width: str, sides: int, *remarks: str) -> Use:
    """Half the model's width for each side of the box that a query looks at."""
    share = whole(config, width) // 2
    axes = (1, 0, 2, 3)[:sides]
    fields = {"dim": sides * share, "axes": axes, "layout": "interleaved"}
    encoding = fitted(config, width, SinusoidalAxes, **fields)
    where = _BOXES if sides == 4 else _POINTS
    return _use(config, "sinusoidal boxes", "object queries", encoding, where, *remarks)


def _detr(config: Config, where: str, temperature: str = "") -> list[Use]:
    """Fixed waves, or with another setting trained rows and columns."""
    kind = config.word("position_embedding_type", required=True)
    if kind == "sine":
        return [detr_grid(config, "hidden_size", where, temperature=temperature)]
    if kind != "learned":
        config.refuse(
            "absurd-value", "position_embedding_type", kind, "must be sine or learned.",
            "Put the model's own word there.",
        )  # fmt: skip
    share = whole(config, "hidden_size") // 2
    fields = {"lengths": (50, 50), "widths": (share, share), "axes": (1, 0)}
    patch_grids.assumed(config, "lengths", (50, 50))
    encoding = fitted(config, "hidden_size", LearnedAxes, **fields)
    remark = "Columns first, then rows, both counted from 0; padding counts as well."
    return [_use(config, "learned rows and columns", _FEATURES, encoding, remark)]


def _conditional_detr(config: Config) -> list[Use]:
    remark = "Every layer but the first multiplies them by a trained function of its input."
    queries = boxes(config.fresh(), "hidden_size", 2, remark)
    return [*_detr(config, _COUNTED), queries]


def _deformable_detr(config: Config) -> list[Use]:
    uses = _detr(config.fresh(), _HALVES)
    if not config.flag("two_stage"):
        return uses
    share = whole(config, "hidden_size") // 2
    fields = {"dim": 4 * share, "axes": (0, 1, 2, 3), "layout": "interleaved"}
    encoding = fitted(config, "hidden_size", SinusoidalAxes, **fields)
    where = "Positions: sigmoid of (x, y, width, height) of the box, times 2 pi; x comes first."
    return [*uses, _use(config, "sinusoidal boxes", "object queries", encoding, where, _PROJECTED)]


def _grounding_dino(config: Config) -> list[Use]:
    grid = _detr(config.fresh(), _COUNTED, "positional_embedding_temperature")
    sides = whole(config, "query_dim")
    return [*grid, boxes(config, "hidden_size", 4 if sides == 4 else 2, _PROJECTED)]


def _dab_detr(config: Config) -> list[Use]:
    """Rows and columns may have temperatures of their own."""
    queries = boxes(config.fresh(), "hidden_size", 4, _PROJECTED)
    scale = config.fresh().number("sine_position_embedding_scale", above=0)
    scaled = () if scale is None else (_COUNTED.replace("2 pi", f"{scale:g}"),)
    row, column = (
        _temperature(config.fresh(), f"temperature_{side}", 20.0) for side in ("height", "width")
    )
    if row == column:
        grid = detr_grid(config, "hidden_size", *scaled, temperature="temperature_height")
        return [grid, queries]
    halves = []
    for axis, side, half in ("rows", "height", "first"), ("columns", "width", "second"):
        own = config.fresh()
        base, dim = _temperature(own, f"temperature_{side}", 20.0), whole(own, "hidden_size") // 2
        encoding = fitted(own, "hidden_size", Sinusoidal, dim=dim, base=base)
        where = f"{_FEATURES}, {half} half: {axis}"
        halves.append(_use(own, "sinusoidal", where, encoding, *(scaled or (_COUNTED,))))
    return [*halves, queries]


def _lw_detr(config: Config) -> list[Use]:
    return [boxes(config, "d_model", 4, _PROJECTED)]


def _reader(*makes: Callable[[Config], Use]) -> Callable[[Config], list[Use]]:
    return lambda config: [make(config.fresh()) for make in makes]


def _grid(width: str, place: str = _FEATURES) -> Callable[[Config], Use]:
    return functools.partial(detr_grid, width=width, place=place)


def _maskformer(config: Config) -> list[Use]:
    """As wide as the decoder, whose settings are a part of their own."""
    return [detr_grid(config.part("decoder_config", "detr"), "hidden_size")]


def _sam3_decoder(config: Config) -> list[Use]:
    return [boxes(config, "hidden_size", 4, _PROJECTED)]


def _sam3_geometry(config: Config) -> list[Use]:
    """The centres of boxes; their sizes follow as they are."""
    centre = boxes(config, "hidden_size", 2, "Height and width of a box follow, as plain numbers.")
    return [replace(centre, place="box prompts")]


def _left_out(config: Config) -> None:
    """A setting that was meant to save time switches positions off."""
    if config.get("eval_size") is not None:
        config.find(
            "warning", "positions-off", "eval_size", config.get("eval_size"),
            "makes transformers leave these positions out unless the model is training.",
            "Set it to null.",
        )  # fmt: skip


def _rt_detr(config: Config) -> list[Use]:
    """[sin | cos] of the row, then of the column, from 0."""
    base = _temperature(config, "positional_encoding_temperature", 10_000.0)
    encoding = _waves(config, "encoder_hidden_dim", base=base)
    _left_out(config)
    remark = "Rows and columns count from 0, on each of the feature maps in encode_proj_layers."
    return [_use(config, "sinusoidal grid", _FEATURES, encoding, remark)]


def _omdet_turbo(config: Config) -> list[Use]:
    base = _temperature(config, "positional_encoding_temperature", 10_000.0)
    encoding = _waves(config, "encoder_hidden_dim", base=base, axes=(1, 0))
    _left_out(config)
    remark = (
        "The vectors are made column by column but added row by row: on a map of `rows` x columns, "
        "feature n gets the vector of row n % rows and column n // rows."
    )
    return [_use(config, "sinusoidal grid", _FEATURES, encoding, remark)]


def _aimv2(config: Config) -> list[Use]:
    if not config.flag("is_native"):
        return []
    encoding = _waves(config, "hidden_size", axes=(1, 0))
    return [_use(config, "sinusoidal grid", "patch embeddings", encoding)]


def _vit_mae(config: Config) -> list[Use]:
    """Fixed at the start, kept in the checkpoint, never trained."""
    uses = []
    for width, place in ("hidden_size", "patch embeddings"), ("decoder_hidden_size", "decoder"):
        own = config.fresh()
        patch_grids.over("image_size")(own)
        where = place if width == "hidden_size" else "patch embeddings of the decoder"
        encoding = _waves(own, width, axes=(1, 0))
        uses.append(
            _use(
                own,
                "sinusoidal grid",
                where,
                encoding,
                "The table is part of the checkpoint: row 0, for the class token, is zeros; then "
                "the grid row by row.",
                "Other sizes, when asked for with interpolate_pos_encoding=True, stretch this "
                "table by learned.resample(method='cubic') instead of evaluating anew.",
            )
        )
    return uses


def _granite_docling(config: Config) -> list[Use]:
    """The connector adds waves to each tile's image tokens."""
    cells = patch_grids.over("image_size")(config)[0]
    factor, fine = whole(config, "scale_factor"), config.flag("use_fine_route")
    uses = []
    for path, by in (("coarse", factor), ("fine", factor // 2))[: 2 if fine else 1]:
        own = config.fresh()
        encoding = _waves(own, "out_hidden_size", axes=(1, 0))
        side = own.derive("side", cells // max(by, 1), "image_size", "patch_size", "scale_factor")
        where = f"image tokens of the {path} path"
        remark = f"Each tile has {side} x {side} tokens, counted from 0."
        uses.append(_use(own, "sinusoidal grid", where, encoding, remark))
    return uses


READERS: dict[str, Callable[[Config], list[Use]]] = {
    "aimv2_vision_model": _aimv2,
    "conditional_detr": _conditional_detr,
    "d_fine": _rt_detr,
    "dab-detr": _dab_detr,
    "deformable_detr": _deformable_detr,
    "deimv2": _rt_detr,
    "detr": functools.partial(_detr, where=_COUNTED),
    "edgetam_video": _reader(
        _grid("memory_encoder_output_channels", "memory features"),
        _grid("perceiver_resampler_hidden_size", "memory latents of the perceiver"),
    ),
    "edgetam_vision_model": _reader(_grid("fpn_hidden_size")),
    "granite_docling_vision": _granite_docling,
    "grounding-dino": _grounding_dino,
    "lw_detr": _lw_detr,
    "mask2former": _reader(
        _grid("feature_size", "queries and keys of the pixel decoder"),
        _grid("hidden_dim", "image features, for the object queries"),
    ),
    "maskformer": _maskformer,
    "mm-grounding-dino": _grounding_dino,
    "omdet-turbo": _omdet_turbo,
    "oneformer": _reader(
        _grid("conv_dim", "queries and keys of the pixel decoder"),
        _grid("hidden_dim", "image features, for the object queries"),
    ),
    "pp_doclayout_v2": _rt_detr,
    "pp_doclayout_v3": _rt_detr,
    "pp_doclayout_v4": _rt_detr,
    "rf_detr": _lw_detr,
    "rt_detr": _rt_detr,
    "rt_detr_v2": _rt_detr,
    "sam2_video": _reader(_grid("memory_encoder_output_channels", "memory features")),
    "sam2_vision_model": _reader(_grid("fpn_hidden_size")),
    "sam3_detr_decoder": _sam3_decoder,
    "sam3_geometry_encoder": _sam3_geometry,
    "sam3_lite_text_detr_decoder": _sam3_decoder,
    "sam3_lite_text_geometry_encoder": _sam3_geometry,
    "sam3_tracker_video": _reader(_grid("memory_encoder_output_channels", "memory features")),
    "sam3_vision_model": _reader(_grid("fpn_hidden_size")),
    "table-transformer": functools.partial(_detr, where=_COUNTED),
    "vit_mae": _vit_mae,
}
