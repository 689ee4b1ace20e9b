"""Sinusoidal vectors of rows and columns counted from 0: patches of images and feature maps."""

from __future__ import annotations

from posenc.inspector.families import patch_grids
from posenc.inspector.families.shared import Reader, use
from posenc.inspector.families.waves import wave_tables
from posenc.inspector.families.waves.wave_tables import IMAGE_FEATURES
from posenc.inspector.reading import Use
from posenc.inspector.settings.config import Config


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
    base = wave_tables.temperature(config, "positional_encoding_temperature", 10_000.0)
    encoding = wave_tables.grid(config, "encoder_hidden_dim", base=base)
    _left_out(config)
    remark = "Rows and columns count from 0, on each of the feature maps in encode_proj_layers."
    return [use(config, "sinusoidal grid", encoding, place=IMAGE_FEATURES, remarks=(remark,))]


def _omdet_turbo(config: Config) -> list[Use]:
    base = wave_tables.temperature(config, "positional_encoding_temperature", 10_000.0)
    encoding = wave_tables.grid(config, "encoder_hidden_dim", base=base, axes=(1, 0))
    _left_out(config)
    remark = (
        "The vectors are made column by column but added row by row: on a map of `rows` x columns, "
        "feature n gets the vector of row n % rows and column n // rows."
    )
    return [use(config, "sinusoidal grid", encoding, place=IMAGE_FEATURES, remarks=(remark,))]


def _aimv2(config: Config) -> list[Use]:
    if not config.flag("is_native"):
        return []
    encoding = wave_tables.grid(config, "hidden_size", axes=(1, 0))
    return [use(config, "sinusoidal grid", encoding, place="patch embeddings")]


def _vit_mae(config: Config) -> list[Use]:
    """Fixed at the start, kept in the checkpoint, never trained."""
    remarks = (
        "The table is part of the checkpoint: row 0, for the class token, is zeros; then the grid "
        "row by row.",
        "Other sizes, when asked for with interpolate_pos_encoding=True, stretch this table by "
        "learned.resample(method='cubic') instead of evaluating anew.",
    )
    widths = {
        "patch embeddings": "hidden_size",
        "patch embeddings of the decoder": "decoder_hidden_size",
    }
    uses = []
    for place, width in widths.items():
        own = config.fresh()
        patch_grids.over("image_size")(own)
        encoding = wave_tables.grid(own, width, axes=(1, 0))
        uses.append(use(own, "sinusoidal grid", encoding, place=place, remarks=remarks))
    return uses


def _granite_docling(config: Config) -> list[Use]:
    """The connector adds waves to each tile's image tokens."""
    cells = patch_grids.over("image_size")(config)[0]
    factor, fine = config.integer("scale_factor", required=True), config.flag("use_fine_route")
    uses = []
    for path, by in (("coarse", factor), ("fine", factor // 2))[: 2 if fine else 1]:
        own = config.fresh()
        encoding = wave_tables.grid(own, "out_hidden_size", axes=(1, 0))
        side = own.derive("side", cells // max(by, 1), "image_size", "patch_size", "scale_factor")
        where = f"image tokens of the {path} path"
        remark = f"Each tile has {side} x {side} tokens, counted from 0."
        uses.append(use(own, "sinusoidal grid", encoding, place=where, remarks=(remark,)))
    return uses


READERS: dict[str, Reader] = {
    "aimv2_vision_model": _aimv2,
    "d_fine": _rt_detr,
    "deimv2": _rt_detr,
    "granite_docling_vision": _granite_docling,
    "omdet-turbo": _omdet_turbo,
    "pp_doclayout_v2": _rt_detr,
    "pp_doclayout_v3": _rt_detr,
    "pp_doclayout_v4": _rt_detr,
    "rt_detr": _rt_detr,
    "rt_detr_v2": _rt_detr,
    "vit_mae": _vit_mae,
}
