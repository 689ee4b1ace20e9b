"""Learned tables with a row for each patch of an image, and how they fit other images."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass

from posenc import Learned
from posenc.inspector.families.tables import patch_grids
from posenc.inspector.reading import Use
from posenc.inspector.settings.config import Config

_RESIZED = {
    "fixed": "There is no rule for other sizes: images must be as large as the settings say.",
    "bicubic": "Other sizes: learned.resample(method='cubic').",
    "bicubic, antialiased": "Other sizes: learned.resample(method='cubic', antialias=True).",
    "bilinear": "Other sizes: learned.resample(method='linear').",
    "bilinear, antialiased": "Other sizes: learned.resample(method='linear', antialias=True).",
    "bilinear, corners aligned": (
        "Every size, by learned.resample(method='linear', corners='aligned')."
    ),
    "bilinear, zero border": (
        "Every size, by bilinear sampling at half-pixel centres where the cells beyond the border "
        "are zeros, so outer patches of larger images fade (grid_sample, padding_mode='zeros')."
    ),
    "bilinear, cropped": (
        "Other sizes: learned.resample(method='linear') to a square as long as the longer side, "
        "of which the upper left rectangle is kept, not squeezed."
    ),
    "nearest": (
        "Other sizes: cell i of n takes row or column floor(i * side / n) of the trained grid, "
        "and nothing is blended; at a few sizes float32 rounding picks a neighbour."
    ),
    "tiled": "Larger sizes: the trained grid is repeated like tiles, not stretched.",
    "bicubic, size + 0.1": (
        "Other sizes: bicubic with the scale factor (size + 0.1) / side, so each sampled place is "
        "a little off that of learned.resample."
    ),
    "bilinear, size + 0.1": (
        "Other sizes: bilinear with the scale factor (size + 0.1) / side along each axis that "
        "changes, so each sampled place is a little off that of learned.resample."
    ),
}
"""What each word for the resizing means."""

_ASKED = "That happens only when asked for with interpolate_pos_encoding=True."
_CLASS = "Row 0 is that of the class token."
_UNUSED = "Row 0 was that of a class token which the model no longer has: it is never added."
_NO_PREFIX = "Class and register tokens get no position: no row is theirs."
_MERGED = "Patches come block by block (spatial_merge_size each way), not row by row."
_REGISTERS = "Register tokens are put in afterwards and get no position."


@dataclass(frozen=True, kw_only=True)
class Table:
    """How some model types keep a row for each patch.

    Args:
        types: their names, with spaces between.
        resized: what happens at other image sizes: a key of the words above.
        grid: reads the grid of patches from the settings.
        prefix: rows before those of the patches; a word is the setting that says how many.
        suffix: rows after them, likewise.
        oblong: whether the trained grid may be resized when it is no square.
        asked: whether the table is resized only on request.
        switch: the setting that must be true for the table to exist.
        width: the setting with the features of a row.
        method: the setting whose word goes into the braces of `resized`.
        remarks: what else a port would get wrong.
    """

    types: str
    resized: str = "fixed"
    grid: Callable[[Config], patch_grids.Grid] = patch_grids.over("image_size")
    prefix: int | str = 0
    suffix: int | str = 0
    oblong: bool = False
    asked: bool = False
    switch: str = ""
    width: str = "hidden_size"
    method: str = ""
    remarks: tuple[str, ...] = ()


def learned_grid(config: Config, table: Table, place: str = "patch embeddings") -> list[Use]:
    """The use of a table, or nothing where it is switched off."""
    if table.switch and not config.flag(table.switch):
        return []
    grid = table.grid(config)
    prefix = _rows(config, "prefix_rows", table.prefix)
    suffix = _rows(config, "suffix_rows", table.suffix)
    resized = _resizing(config, table)
    if resized != "fixed" and not table.oblong and len(set(grid)) > 1:
        config.find(
            "warning", "grid-not-square", "image_size", config.get("image_size"),
            f"makes a grid of {grid}, but the model resizes its table as if that were a square.",
            "Keep height and width equal, or all images as large as this.",
        )  # fmt: skip
    rows = prefix + math.prod(grid) + suffix
    asked = (_ASKED,) if table.asked else ()
    return [
        Use(
            kind="learned grid",
            place=place,
            encoding=Learned(length=rows, dim=config.integer(table.width, required=True) or 0),
            original_length=rows,
            values=tuple(config.taken),
            remarks=(_RESIZED[resized], *asked, *table.remarks),
        )
    ]


def _rows(config: Config, name: str, rows: int | str) -> int:
    """How many rows are not for patches, where the settings or the model's code say it."""
    if isinstance(rows, str):
        return config.integer(rows, name=name, at_least=0, required=True) or 0
    patch_grids.assumed(config, name, rows)
    return rows


def _resizing(config: Config, table: Table) -> str:
    """The word for what happens at other sizes."""
    resized = table.resized
    if table.method:
        resized = resized.format(config.word(table.method, required=True))
    if resized not in _RESIZED:
        config.refuse(
            "absurd-value", table.method, config.get(table.method), "cannot resize a grid.",
            "Write bilinear or bicubic.",
        )  # fmt: skip
    patch_grids.assumed(config, "resized", resized)
    return resized


_TABLES = (
    # Class token first, bicubic.
    Table(
        types=(
            "altclip_vision_model blip_2_vision_model blip_vision_model bridgetower_vision_model "
            "chinese_clip_vision_model clip_vision_model flava_image_model git_vision_model "
            "instructblip_vision_model instructblipvideo_vision_model kosmos_2_vision_model "
            "metaclip_2_vision_model owlv2_vision_model owlvit_vision_model vit vit_msn "
            "xclip_vision_model"
        ),
        resized="bicubic",
        prefix=1,
        asked=True,
        remarks=(_CLASS,),
    ),
    Table(types="clipseg_vision_model dinov2", resized="bicubic", prefix=1, remarks=(_CLASS,)),
    Table(
        types="beit data2vec-vision internvl_vision qianfan_ocr_vision",
        resized="bicubic",
        prefix=1,
        switch="use_absolute_position_embeddings",
        remarks=(_CLASS,),
    ),
    Table(
        types="deit",
        resized="bicubic",
        prefix=2,
        asked=True,
        remarks=("Rows 0 and 1 are those of the class and the distillation token.",),
    ),
    Table(
        types="pixio",
        resized="bicubic",
        prefix="n_cls_tokens",
        remarks=("The first rows are those of the class tokens.",),
    ),
    Table(
        types="idefics_vision",
        resized="bicubic, size + 0.1",
        prefix=1,
        asked=True,
        remarks=(_CLASS,),
    ),
    Table(
        types="dinov2_with_registers",
        resized="bicubic, antialiased",
        prefix=1,
        remarks=(_CLASS, _REGISTERS),
    ),
    Table(
        types="rf_detr_dinov2 unlimited_ocr_vision_encoder",
        resized="bicubic, antialiased",
        prefix=1,
        remarks=(_CLASS,),
    ),
    Table(
        types="tipsv2_vision_model",
        resized="bilinear, antialiased",
        prefix=1,
        remarks=(_CLASS, _REGISTERS),
    ),
    Table(types="dpt", resized="bilinear", prefix=1, remarks=(_CLASS,)),
    Table(
        types="vilt",
        resized="bilinear, corners aligned",
        prefix=1,
        remarks=(
            _CLASS,
            "Each image is resized for its own rows and columns of whole patches, by its mask; "
            "padding gets zeros.",
        ),
    ),
    Table(
        types="timesformer",
        resized="nearest",
        prefix=1,
        remarks=(_CLASS, "Every frame gets the same rows; the class token stands once, before."),
    ),
    # No row for a class token.
    Table(
        types="granite_docling_vision groupvit_vision_model ijepa janus_vision_model "
        "siglip_vision_model",
        resized="bicubic",
        asked=True,
    ),
    Table(
        types="swin",
        resized="bicubic",
        asked=True,
        switch="use_absolute_embeddings",
        width="embed_dim",
    ),
    Table(
        types="lw_detr_vit vitdet",
        resized="bicubic",
        grid=patch_grids.over("pretrain_image_size"),
        prefix=1,
        switch="use_absolute_position_embeddings",
        remarks=(_UNUSED,),
    ),
    Table(
        types="seggpt",
        resized="bicubic",
        grid=patch_grids.over("pretrain_image_size"),
        prefix=1,
        remarks=(_UNUSED, "The prompt image gets the same rows as the image."),
    ),
    Table(
        types="deepseek_ocr2_sam_vision_model unlimited_ocr_sam_vision_model",
        resized="bicubic, antialiased",
        switch="use_abs_pos",
    ),
    Table(
        types="glm4v_moe_vision glm4v_vision",
        resized="bicubic",
        remarks=(_MERGED, "Sampled for each patch at half-pixel centres, in float32."),
    ),
    Table(
        types="glm_image_vision",
        resized="bilinear",
        remarks=("Sampled for each patch at half-pixel centres, in float32.",),
    ),
    Table(types="paddleocr_vl_vision step3p5_vision", resized="bilinear"),
    Table(
        types="inkling2_vision",
        resized="bilinear",
        grid=patch_grids.square("posemb_grid_size"),
        remarks=(_MERGED, "The class tokens have a trained vector of their own."),
    ),
    Table(
        types="cosmos3_edge_vision",
        resized="bilinear, antialiased",
        grid=patch_grids.root("num_patches"),
        remarks=(_MERGED,),
    ),
    Table(
        types="siglip2_vision_model",
        resized="bilinear, antialiased",
        grid=patch_grids.root("num_patches"),
        remarks=("Resized in float32 for each image; padding patches repeat the first vector.",),
    ),
    Table(
        types="cohere_compass_vision qwen3_5_moe_vision qwen3_5_vision "
        "qwen3_omni_moe_vision_encoder qwen3_vl_moe_vision qwen3_vl_vision qwen4_exp_vision",
        resized="bilinear, corners aligned",
        grid=patch_grids.root("num_position_embeddings"),
        remarks=(_MERGED, "Every frame of a video gets the same rows."),
    ),
    Table(
        types="muse_glimmer_vision muse_spark_vision",
        resized="bilinear, zero border",
        grid=patch_grids.height_width,
        oblong=True,
    ),
    Table(
        types="hunyuan_vl_vision",
        resized="{}",
        method="interpolate_mode",
        grid=patch_grids.over("max_image_size"),
        prefix=1,
        remarks=(_UNUSED,),
    ),
    Table(
        types="hy_v4_vl_vision",
        resized="{}, size + 0.1",
        method="interpolate_mode",
        grid=patch_grids.over("max_image_size"),
        prefix=1,
        remarks=(_UNUSED,),
    ),
    Table(
        types="radio",
        resized="bilinear, cropped",
        grid=patch_grids.over("max_img_size"),
        remarks=(_NO_PREFIX,),
    ),
    Table(
        types="idefics2_vision idefics3_vision phi4_multimodal_vision smolvlm_vision",
        resized="nearest",
        remarks=("Sizes count the patches of the image itself; padding patches get row 0.",),
    ),
    Table(types="minicpm_ocr_vision minicpmv4_6_vision minicpmv4_7_vision", resized="nearest"),
    Table(types="sam3_vit_model", resized="tiled", grid=patch_grids.over("pretrain_image_size")),
    # One size only.
    Table(
        types="got_ocr2_vision pp_chart2table_vision pp_formulanet_vision sam_hq_vision_model "
        "sam_vision_model slanext_vision",
        switch="use_abs_pos",
    ),
    Table(types="eomt videomt", remarks=(_NO_PREFIX,)),
    Table(types="ovis2_vision"),
    Table(types="molmo2_vision", grid=patch_grids.molmo2),
    Table(
        types="llama4_vision_model",
        suffix=1,
        remarks=("The last row is that of the class token, which stands after the patches.",),
    ),
    Table(
        types="audio-spectrogram-transformer",
        grid=patch_grids.spectrogram,
        prefix=2,
        remarks=(
            "Rows 0 and 1 are those of the class and the distillation token.",
            "Patches overlap; time runs fastest: patch n is frequency n // times, time n % times.",
        ),
    ),
    Table(
        types="layoutlmv3",
        grid=patch_grids.over("input_size"),
        prefix=1,
        switch="visual_embed",
        remarks=(_CLASS,),
    ),
    Table(
        types="vitpose_backbone",
        prefix=1,
        remarks=("Row 0 is added to every patch, on top of its own row.",),
    ),
    Table(
        types="vivit",
        grid=patch_grids.tubelets,
        prefix=1,
        remarks=(
            _CLASS,
            "Tubelets are counted frame by frame; interpolate_pos_encoding=True takes all of "
            "them for one square image.",
        ),
    ),
)

READERS: dict[str, Callable[[Config], list[Use]]] = {
    model_type: functools.partial(learned_grid, table=table)
    for table in _TABLES
    for model_type in table.types.split()
}
