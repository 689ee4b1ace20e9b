"""Trained tables with a row for each patch of an image: which model types keep which."""

from __future__ import annotations

import functools

from posenc.inspector.families import patch_grids
from posenc.inspector.families.shared import Reader
from posenc.inspector.families.tables.patch_tables import CLASS, Table, learned_grid

_UNUSED = "Row 0 was that of a class token which the model no longer has: it is never added."
_NO_PREFIX = "Class and register tokens get no position: no row is theirs."
_MERGED = "Patches come block by block (spatial_merge_size each way), not row by row."
_REGISTERS = "Register tokens are put in afterwards and get no position."


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
        remarks=(CLASS,),
    ),
    Table(types="clipseg_vision_model dinov2", resized="bicubic", prefix=1, remarks=(CLASS,)),
    Table(
        types="beit data2vec-vision internvl_vision qianfan_ocr_vision",
        resized="bicubic",
        prefix=1,
        switch="use_absolute_position_embeddings",
        remarks=(CLASS,),
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
        remarks=(CLASS,),
    ),
    Table(
        types="dinov2_with_registers",
        resized="bicubic, antialiased",
        prefix=1,
        remarks=(CLASS, _REGISTERS),
    ),
    Table(
        types="rf_detr_dinov2 unlimited_ocr_vision_encoder",
        resized="bicubic, antialiased",
        prefix=1,
        remarks=(CLASS,),
    ),
    Table(
        types="tipsv2_vision_model",
        resized="bilinear, antialiased",
        prefix=1,
        remarks=(CLASS, _REGISTERS),
    ),
    Table(types="dpt", resized="bilinear", prefix=1, remarks=(CLASS,)),
    Table(
        types="vilt",
        resized="bilinear, corners aligned",
        prefix=1,
        remarks=(
            CLASS,
            "Each image is resized for its own rows and columns of whole patches, by its mask; "
            "padding gets zeros.",
        ),
    ),
    Table(
        types="timesformer",
        resized="nearest",
        prefix=1,
        remarks=(CLASS, "Every frame gets the same rows; the class token stands once, before."),
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
        remarks=(CLASS,),
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
            CLASS,
            "Tubelets are counted frame by frame; interpolate_pos_encoding=True takes all of "
            "them for one square image.",
        ),
    ),
)

READERS: dict[str, Reader] = {
    model_type: functools.partial(learned_grid, table=table)
    for table in _TABLES
    for model_type in table.types.split()
}
