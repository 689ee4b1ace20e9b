"""Rotary embeddings of vision towers: patches turn by row and column, some by frame as well.

Coordinates are (row, column) or (frame, row, column), whatever order a model keeps them in: its
order is in the `axes` of the encoding.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from posenc.axial import AxialRotary
from posenc.inspector.families import patch_grids
from posenc.inspector.families.shared import Reader, head_dim
from posenc.inspector.families.turning import grids_settings
from posenc.inspector.reading import Use
from posenc.inspector.settings.config import Config

_BLOCKS = (
    "Patches come block by block, spatial_merge_size x spatial_merge_size each, in raster order "
    "inside a block and of the blocks; each keeps its own coordinates."
)
_WINDOWS = "Patches are sorted into windows (window_size); each keeps its own coordinates."
_MUSE_WINDOWS = (
    "Patches are sorted into windows of pos_emb_height x pos_emb_height; each keeps its own "
    "coordinates."
)
_FRAMES = "All frames of a video have the same coordinates."


@dataclass(frozen=True, kw_only=True)
class _Tower:
    """What the type of a vision tower settles, whatever its settings say.

    Args:
        fields: of its AxialRotary, besides `dim` and `base`.
        multiple: of how many features a head must consist, besides those it may leave.
        width: the key of the width of its layers.
        first_position: row and column of the first patch.
        remarks: for the reading.
    """

    fields: Mapping[str, Any] = field(default_factory=dict)
    multiple: int = 4
    width: str = "hidden_size"
    first_position: int = 0
    remarks: tuple[str, ...] = ()


_BLOCKWISE = _Tower(remarks=(_BLOCKS, _FRAMES))
_WINDOWED = _Tower(remarks=(_BLOCKS, _WINDOWS, _FRAMES))
_MUSE = _Tower(fields={"axes": (1, 0)}, first_position=1, remarks=(_MUSE_WINDOWS, _FRAMES))
_MLCD = _Tower(
    remarks=(
        "The class token, which comes first, turns by trained angles: the weight class_pos_emb, "
        "one a pair.",
    )
)

_TOWERS: dict[str, _Tower] = {
    "cohere_compass_vision": _BLOCKWISE,
    "dots3_note_vision_encoder": _BLOCKWISE,
    "ernie4_5_vl_moe_vision": _BLOCKWISE,
    "exaone4_5_vision": _WINDOWED,
    "gemma4_vision": _Tower(
        fields={"axes": (1, 0), "layout": "axis_half"},
        remarks=("Padding stands at -1 on both axes.",),
    ),
    "glm4v_moe_vision": _BLOCKWISE,
    "glm4v_vision": _BLOCKWISE,
    "glm5_next_vision": _BLOCKWISE,
    "glm_ocr_vision": _BLOCKWISE,
    "inkling2_vision": _Tower(
        fields={"axes": (1, 0), "layout": "interleaved"},
        first_position=1,
        remarks=(_BLOCKS, "The class token, which comes first, is not turned."),
    ),
    "kimi_k25_vision": _Tower(fields={"axes": (1, 0), "order": "alternating"}, remarks=(_FRAMES,)),
    "lfm3_vl_vision": _BLOCKWISE,
    "llama4_vision_model": _Tower(
        fields={"axes": (1, 0), "layout": "interleaved"},
        first_position=1,
        remarks=("The class token, which comes last, is not turned.",),
    ),
    "minimax_m3_vl_vision": _Tower(
        fields={"axes": (0, 1, 2), "rest": "leave"},
        multiple=6,
        remarks=(_BLOCKS, "Coordinates are (frame, row, column)."),
    ),
    "mlcd": _MLCD,
    "mlcd_vision_model": _MLCD,
    "muse_glimmer_vision": _MUSE,
    "muse_spark_vision": _MUSE,
    "paddleocr_vl_vision": _Tower(remarks=(_FRAMES,)),
    "pixtral": _Tower(fields={"spectrum": "dealt"}),
    "qwen2_5_omni_vision_encoder": _WINDOWED,
    "qwen2_5_vl_vision": _WINDOWED,
    # Its hidden_size is the width of the language model behind it.
    "qwen2_vl_vision": replace(_BLOCKWISE, width="embed_dim"),
    "qwen3_5_moe_vision": _BLOCKWISE,
    "qwen3_5_vision": _BLOCKWISE,
    "qwen3_omni_moe_vision_encoder": _BLOCKWISE,
    "qwen3_vl_moe_vision": _BLOCKWISE,
    "qwen3_vl_vision": _BLOCKWISE,
    "qwen4_exp_vision": _BLOCKWISE,
    "step3p5_vision": _Tower(fields={"axes": (1, 0)}),
    "video_llama_3_vision": _Tower(
        remarks=(
            "Patches come block by block, and each image or video brings the side of its blocks "
            "(merge_sizes); each patch keeps its own coordinates.",
            _FRAMES,
        )
    ),
}


def _tower(config: Config, *, tower: _Tower) -> list[Use]:
    """A vision tower that turns the heads of all its layers alike."""
    dim = head_dim(config, width=tower.width, own="head_dim")
    left = dim % tower.multiple if tower.fields.get("rest") == "leave" else 0
    grids_settings.check_width(config, dim - left, tower.multiple, tower.width)
    encoding = AxialRotary(dim=dim, base=grids_settings.base(config), **tower.fields)
    patch_grids.stated(config)
    return [
        grids_settings.use(
            config,
            encoding,
            head_dim=dim,
            first_position=tower.first_position,
            remarks=tower.remarks,
        )
    ]


READERS: dict[str, Reader] = {
    model_type: partial(_tower, tower=tower) for model_type, tower in _TOWERS.items()
}
