"""DETR and its kin: waves of rows and columns by a padding mask, and of the boxes of queries."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace

from posenc import LearnedAxes, Sinusoidal, SinusoidalAxes
from posenc.inspector.families.shared import Reader, fitted, use
from posenc.inspector.families.waves import wave_tables
from posenc.inspector.families.waves.wave_tables import IMAGE_FEATURES
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


def _waves(
    config: Config,
    width: str,
    *remarks: str,
    temperature: str = "",
    place: str = IMAGE_FEATURES,
) -> Use:
    """Row, then column, each with its sines and cosines in turn."""
    base = wave_tables.temperature(config, temperature, 20.0) if temperature else 10_000.0
    encoding = wave_tables.grid(config, width, base=base, layout="interleaved")
    return use(config, "sinusoidal grid", encoding, place=place, remarks=remarks or (_COUNTED,))


def _boxes(config: Config, width: str, sides: int, *remarks: str) -> Use:
    """Half the model's width for each side of the box that a query looks at."""
    share = config.integer(width, required=True) // 2
    axes = (1, 0, 2, 3)[:sides]
    fields = {"dim": sides * share, "axes": axes, "layout": "interleaved"}
    encoding = fitted(config, width, SinusoidalAxes, **fields)
    where = _BOXES if sides == 4 else _POINTS
    return use(
        config,
        "sinusoidal boxes",
        encoding,
        place="object queries",
        remarks=(where, *remarks),
    )


def _detr(config: Config, where: str, temperature: str = "") -> list[Use]:
    """Fixed waves, or with another setting trained rows and columns."""
    kind = config.word("position_embedding_type", required=True)
    if kind == "sine":
        return [_waves(config, "hidden_size", where, temperature=temperature)]
    if kind != "learned":
        config.refuse(
            "absurd-value", "position_embedding_type", kind, "must be sine or learned.",
            "Put the model's own word there.",
        )  # fmt: skip
    share = config.integer("hidden_size", required=True) // 2
    fields = {"lengths": (50, 50), "widths": (share, share), "axes": (1, 0)}
    config.assume("lengths", (50, 50))
    encoding = fitted(config, "hidden_size", LearnedAxes, **fields)
    remark = "Columns first, then rows, both counted from 0; padding counts as well."
    return [
        use(
            config,
            "learned rows and columns",
            encoding,
            place=IMAGE_FEATURES,
            remarks=(remark,),
        )
    ]


def _conditional_detr(config: Config) -> list[Use]:
    remark = "Every layer but the first multiplies them by a trained function of its input."
    queries = _boxes(config.fresh(), "hidden_size", 2, remark)
    return [*_detr(config, _COUNTED), queries]


def _deformable_detr(config: Config) -> list[Use]:
    uses = _detr(config.fresh(), _HALVES)
    if not config.flag("two_stage"):
        return uses
    share = config.integer("hidden_size", required=True) // 2
    fields = {"dim": 4 * share, "axes": (0, 1, 2, 3), "layout": "interleaved"}
    encoding = fitted(config, "hidden_size", SinusoidalAxes, **fields)
    where = "Positions: sigmoid of (x, y, width, height) of the box, times 2 pi; x comes first."
    return [
        *uses,
        use(
            config,
            "sinusoidal boxes",
            encoding,
            place="object queries",
            remarks=(where, _PROJECTED),
        ),
    ]


def _grounding_dino(config: Config) -> list[Use]:
    grid = _detr(config.fresh(), _COUNTED, "positional_embedding_temperature")
    sides = config.integer("query_dim", required=True)
    return [*grid, _boxes(config, "hidden_size", 4 if sides == 4 else 2, _PROJECTED)]


def _dab_detr(config: Config) -> list[Use]:
    """Rows and columns may have temperatures of their own."""
    queries = _boxes(config.fresh(), "hidden_size", 4, _PROJECTED)
    scale = config.fresh().number("sine_position_embedding_scale", above=0)
    scaled = () if scale is None else (_COUNTED.replace("2 pi", f"{scale:g}"),)
    row, column = (
        wave_tables.temperature(config.fresh(), f"temperature_{side}", 20.0)
        for side in ("height", "width")
    )
    if row == column:
        grid = _waves(config, "hidden_size", *scaled, temperature="temperature_height")
        return [grid, queries]
    halves = []
    for axis, side, half in ("rows", "height", "first"), ("columns", "width", "second"):
        own = config.fresh()
        base = wave_tables.temperature(own, f"temperature_{side}", 20.0)
        dim = own.integer("hidden_size", required=True) // 2
        encoding = fitted(own, "hidden_size", Sinusoidal, dim=dim, base=base)
        where = f"{IMAGE_FEATURES}, {half} half: {axis}"
        halves.append(use(own, "sinusoidal", encoding, place=where, remarks=scaled or (_COUNTED,)))
    return [*halves, queries]


def _queries(config: Config, width: str) -> list[Use]:
    """Boxes of object queries alone: the grid has waves of another kind, or none."""
    return [_boxes(config, width, 4, _PROJECTED)]


def _reader(*makes: Callable[[Config], Use]) -> Reader:
    return lambda config: [make(config.fresh()) for make in makes]


def _grid(width: str, place: str = IMAGE_FEATURES) -> Callable[[Config], Use]:
    return functools.partial(_waves, width=width, place=place)


def _maskformer(config: Config) -> list[Use]:
    """As wide as the decoder, whose settings are a part of their own."""
    return [_waves(config.part("decoder_config", "detr"), "hidden_size")]


def _sam3_geometry(config: Config) -> list[Use]:
    """The centres of boxes; their sizes follow as they are."""
    centre = _boxes(config, "hidden_size", 2, "Height and width of a box follow, as plain numbers.")
    return [replace(centre, place="box prompts")]


def _memory(config: Config) -> Use:
    """The remembered frames of a video; SAM 2 and its kin assume their width."""
    config = config.assuming(memory_encoder_output_channels=64)
    return _waves(config, "memory_encoder_output_channels", place="memory features")


READERS: dict[str, Reader] = {
    "conditional_detr": _conditional_detr,
    "dab-detr": _dab_detr,
    "deformable_detr": _deformable_detr,
    "detr": functools.partial(_detr, where=_COUNTED),
    "edgetam_video": _reader(
        _memory,
        _grid("perceiver_resampler_hidden_size", "memory latents of the perceiver"),
    ),
    "edgetam_vision_model": _reader(_grid("fpn_hidden_size")),
    "grounding-dino": _grounding_dino,
    "lw_detr": functools.partial(_queries, width="d_model"),
    "mask2former": _reader(
        _grid("feature_size", "queries and keys of the pixel decoder"),
        _grid("hidden_dim", "image features, for the object queries"),
    ),
    "maskformer": _maskformer,
    "mm-grounding-dino": _grounding_dino,
    "oneformer": _reader(
        _grid("conv_dim", "queries and keys of the pixel decoder"),
        _grid("hidden_dim", "image features, for the object queries"),
    ),
    "rf_detr": functools.partial(_queries, width="d_model"),
    "sam2_video": _reader(_memory),
    "sam2_vision_model": _reader(_grid("fpn_hidden_size")),
    "sam3_detr_decoder": functools.partial(_queries, width="hidden_size"),
    "sam3_geometry_encoder": _sam3_geometry,
    "sam3_lite_text_detr_decoder": functools.partial(_queries, width="hidden_size"),
    "sam3_lite_text_geometry_encoder": _sam3_geometry,
    "sam3_tracker_video": _reader(_memory),
    "sam3_vision_model": _reader(_grid("fpn_hidden_size")),
    "table-transformer": functools.partial(_detr, where=_COUNTED),
}
