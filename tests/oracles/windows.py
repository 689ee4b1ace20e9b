"""The models' own window biases, against tables of the same weights looked up by posenc."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from oracles import Outcome, built, modeling
from oracles.attention import array, hidden, outcome, own, random
from posenc import positions


def _cells(rows: int, columns: int) -> np.ndarray:
    return positions.grid(rows, columns)


def _swin(model_type: str, name: str) -> Callable[[], list[Outcome]]:
    """Each stage of the default and of another window; scores through the attention itself."""

    def check() -> list[Outcome]:
        outcomes = []
        key = "num_attention_heads" if model_type == "clap_audio_model" else "num_heads"
        for changes in ({}, {"window_size": 5, key: [6, 12], "depths": [1, 3]}):
            for use in own(model_type, "Swin table", **changes):
                side, heads = use.encoding.window[0], use.encoding.heads
                table, theirs = _table(model_type, name, heads, side)
                cells = _cells(side, side)
                ours = use.encoding.bias(cells, cells, table=table)
                how = f"{name}, {heads} heads, window {side}"
                outcomes.append(outcome(use, how, ours, theirs))
        return outcomes

    return check


def _table(model_type: str, name: str, heads: int, side: int) -> tuple[np.ndarray, np.ndarray]:
    """The weights and what the model makes of them: (heads, cells, cells)."""
    code = modeling(model_type)
    if model_type == "swin":
        module = random(code.SwinRelativePositionBias(heads, (side, side)))
        return array(module.relative_position_bias_table), array(module())[0]
    config = built(model_type)
    module = random(getattr(code, name)(config, heads * 2, heads, side))
    table = array(module.relative_position_bias_table)
    index = array(module.relative_position_index)
    return table, np.moveaxis(table[index], -1, 0)


def _continuous(model_type: str, name: str) -> Callable[[], list[Outcome]]:
    """The bias that the whole attention adds: with no queries nothing else is left."""

    def check() -> list[Outcome]:
        outcomes = []
        cases: list[dict[str, Any]] = [{}, {"image_size": 48, "window_size": 5}]
        if model_type == "swinv2":
            cases.append(
                {"window_size": 12, "image_size": 192, "pretrained_window_sizes": [8, 8, 8, 6]}
            )
        for changes in cases:
            config = built(model_type, **changes)
            uses = own(model_type, "continuous bias", **changes)
            for stage, use in enumerate(uses):
                outcomes.append(_one_continuous(model_type, name, config, use, stage))
            outcomes.append(_sizes(model_type, config, uses))
        return outcomes

    return check


def _one_continuous(model_type: str, name: str, config: Any, use: Any, stage: int) -> Outcome:
    code = use.encoding
    trained = [getattr(config, "pretrained_window_sizes", [0] * 9)[stage]] * 2
    module = getattr(modeling(model_type), name)
    module = random(module(config, code.heads * 2, code.heads, list(code.window), trained))
    with torch.no_grad():
        module.query.weight.zero_()
        if module.query.bias is not None:
            module.query.bias.zero_()
    module = module.double()  # biases reach 16, too large for probabilities in float32
    cells = _cells(*code.window)
    _, theirs = module(hidden(1, len(cells), code.heads * 2).double(), output_attentions=True)
    network = module.continuous_position_bias_mlp
    bias = code.bias(
        cells,
        cells,
        hidden_weight=array(network[0].weight),
        hidden_bias=array(network[0].bias),
        output_weight=array(network[2].weight),
        dtype=np.float64,
    )
    ours = np.exp(bias - bias.max(axis=-1, keepdims=True))
    ours = ours / ours.sum(axis=-1, keepdims=True)
    how = f"probabilities of {name} with queries of 0, {code.heads} heads, window {code.window}"
    return outcome(use, how, ours, array(theirs)[0])


def _sizes(model_type: str, config: Any, uses: list[Any]) -> Outcome:
    """The windows that the layers of the whole network are built with."""
    code = modeling(model_type)
    side = config.image_size // config.patch_size
    windows = []
    for stage, use in enumerate(uses):
        known = {}
        if model_type == "swinv2":
            known = {"pretrained_window_size": config.pretrained_window_sizes[stage]}
        left = side >> stage if model_type == "swinv2" else side
        layer = getattr(code, "Swinv2Layer" if known else "Swin2SRLayer")
        made = layer(config, use.encoding.heads * 2, (left, left), use.encoding.heads, **known)
        windows.append(made.window_size)
    ours = [use.encoding.window[0] for use in uses]
    return outcome(uses[0], f"window of each stage, image {config.image_size}", ours, windows)


def _beit(model_type: str, name: str) -> Callable[[], list[Outcome]]:
    def check() -> list[Outcome]:
        outcomes = []
        for switch, heads, size in (
            ("use_relative_position_bias", 12, 112),
            ("use_shared_relative_position_bias", 6, 80),
        ):
            changes = {switch: True, "num_attention_heads": heads, "hidden_size": heads * 4}
            changes["image_size"] = size
            config = built(model_type, **changes)
            (use,) = own(model_type, "Swin table", **changes)
            module = getattr(modeling(model_type), name)
            module = random(
                module(config)
                if model_type == "beit"
                else module(config, window_size=(size // 16, size // 16))
            )
            cells = _cells(*use.encoding.window)
            table = array(module.relative_position_bias_table)
            ours = np.zeros((heads, len(cells) + 1, len(cells) + 1), np.float32)
            ours[:, 1:, 1:] = use.encoding.bias(cells, cells, table=table[:-3])
            ours[:, 0, :], ours[:, :, 0] = table[-3][:, None], table[-2][:, None]
            ours[:, 0, 0] = table[-1]
            theirs = array(module(use.encoding.window))[0]
            outcomes.append(outcome(use, f"{name}, {heads} heads, {size} pixels", ours, theirs))
        return outcomes

    return check


def _levit() -> list[Outcome]:
    code, outcomes = modeling("levit"), []
    for changes in ({}, {"image_size": 144, "num_attention_heads": [6, 12, 3]}):
        config = built("levit", **changes)
        encoder = random(code.LevitEncoder(config))
        modules = [
            module
            for module in encoder.modules()
            if isinstance(module, code.LevitAttention | code.LevitAttentionSubsample)
        ]
        for use in own("levit", "Swin table", **changes):
            spread, side = use.encoding, use.encoding.window[0]
            step = use.layer_type.startswith("step")
            found = [m for m in modules if m.len_points == side * side]
            found = [m for m in found if isinstance(m, code.LevitAttentionSubsample) == step]
            offsets = np.abs(np.arange(1 - side, side))
            rows = offsets[:, None] * side + offsets
            table = array(found[0].attention_biases).T[rows.ravel()]
            cells = _cells(side, side)
            asking = _cells((side + 1) // 2, (side + 1) // 2) * 2 if step else cells
            ours = spread.bias(asking, cells, table=table)
            theirs = array(found[0].get_attention_biases("cpu"))
            how = f"biases of LevitEncoder, {use.layer_type}, {side} x {side}, {spread.heads} heads"
            outcomes.append(outcome(use, how, ours, theirs))
    return outcomes


_BORROWED = {"pp_chart2table_vision": "got_ocr2_vision"}
"""Whose networks a model type without networks of its own runs."""


def _decomposed(
    model_type: str, name: str, *, flag: str = "use_rel_pos", size: Any = 96
) -> Callable[[], list[Outcome]]:
    """Layers on the whole image and in windows; SegGPT also on an image that is not square."""

    def check() -> list[Outcome]:
        changes = {
            "image_size": size,
            "patch_size": 16,
            "hidden_size": 48,
            "num_attention_heads": 6,
            flag: True,
        }
        if model_type != "seggpt":
            changes["window_size"] = 4
        if model_type == "vitdet":
            changes["window_block_indices"] = [0, 3]
        config = built(model_type, **changes)
        return [
            _one_decomposed(model_type, name, config, use)
            for use in own(model_type, "decomposed", **changes)
        ]

    return check


def _one_decomposed(model_type: str, name: str, config: Any, use: Any) -> Outcome:
    code = modeling(_BORROWED.get(model_type, model_type))
    rows, columns = use.encoding.grid
    window = use.encoding.grid[0] if use.layer_type == "window" else 0
    if model_type == "seggpt":
        module = random(getattr(code, name)(config))
    elif model_type == "vitdet":
        module = random(getattr(code, name)(config, input_size=use.encoding.grid))
    else:
        module = random(getattr(code, name)(config, window))
    q = hidden(6, rows * columns, 8)
    grid = (rows, columns)
    if model_type == "vitdet":
        nothing = torch.zeros(6, rows * columns, rows * columns)
        theirs = code.add_decomposed_relative_positions(
            nothing, q, module.rel_pos_h, module.rel_pos_w, grid, grid
        )
    else:
        theirs = _added(module, q, grid)
    cells = _cells(rows, columns)
    ours = use.encoding.score_term(
        array(q), cells, cells, rows=array(module.rel_pos_h), columns=array(module.rel_pos_w)
    )
    how = f"decomposed positions of {name}, {rows} x {columns}, {use.layer_type}"
    return outcome(use, how, ours, array(theirs).reshape(ours.shape))


def _added(module: Any, q: torch.Tensor, grid: tuple[int, int]) -> torch.Tensor:
    tables = module.rel_pos_h, module.rel_pos_w
    if hasattr(module, "get_decomposed_rel_pos"):
        return module.get_decomposed_rel_pos(q, *tables, grid, grid)
    nothing = torch.zeros(q.shape[0], q.shape[1], q.shape[1])
    return module.add_decomposed_rel_pos(nothing, q, *tables, grid, grid)


CHECKS: dict[str, Callable[[], list[Outcome]]] = {
    "swin": _swin("swin", "SwinRelativePositionBias"),
    "donut-swin": _swin("donut-swin", "DonutSwinSelfAttention"),
    "maskformer-swin": _swin("maskformer-swin", "MaskFormerSwinSelfAttention"),
    "clap_audio_model": _swin("clap_audio_model", "ClapAudioSelfAttention"),
    "swinv2": _continuous("swinv2", "Swinv2SelfAttention"),
    "swin2sr": _continuous("swin2sr", "Swin2SRSelfAttention"),
    "beit": _beit("beit", "BeitRelativePositionBias"),
    "data2vec-vision": _beit("data2vec-vision", "Data2VecVisionRelativePositionBias"),
    "levit": _levit,
    "sam_vision_model": _decomposed("sam_vision_model", "SamVisionAttention"),
    "sam_hq_vision_model": _decomposed("sam_hq_vision_model", "SamHQVisionAttention"),
    "got_ocr2_vision": _decomposed("got_ocr2_vision", "GotOcr2VisionAttention"),
    "deepseek_ocr2_sam_vision_model": _decomposed(
        "deepseek_ocr2_sam_vision_model", "DeepseekOcr2SamVisionAttention"
    ),
    "unlimited_ocr_sam_vision_model": _decomposed(
        "unlimited_ocr_sam_vision_model", "UnlimitedOcrSamVisionAttention"
    ),
    "pp_chart2table_vision": _decomposed("pp_chart2table_vision", "GotOcr2VisionAttention"),
    "pp_formulanet_vision": _decomposed("pp_formulanet_vision", "PPFormulaNetVisionAttention"),
    "slanext_vision": _decomposed("slanext_vision", "SLANeXtVisionAttention"),
    "seggpt": _decomposed(
        "seggpt", "SegGptAttention", flag="use_relative_position_embeddings", size=[96, 48]
    ),
    "vitdet": _decomposed(
        "vitdet", "VitDetAttention", flag="use_relative_position_embeddings", size=[96, 64]
    ),
}

NOT_YET: dict[str, str] = {
    "dinat": "its attention is computed by the library natten, which transformers does not hold.",
}
"""Model types that could not be compared, and why."""
