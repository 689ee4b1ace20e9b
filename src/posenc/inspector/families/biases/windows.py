"""Attention within image windows, biased by row and column: Swin, BEiT, LeViT, NAT, SAM."""

from __future__ import annotations

import functools

from posenc.decomposed import Decomposed
from posenc.inspector.families import patch_grids
from posenc.inspector.families.shared import Reader, fitted, head_dim, layers, use
from posenc.inspector.reading import Use
from posenc.inspector.settings.config import Config
from posenc.swin import Swin, SwinV2

_grid = patch_grids.over("image_size")


def _stages(config: Config) -> list[tuple[int, tuple[int, ...]]]:
    """For each stage its heads and its layers, counted through the whole network."""
    heads = config.integers("num_attention_heads", name="heads", required=True)
    depths = config.integers("depths", required=True)
    if len(heads) != len(depths):
        why = f"must have as many stages as depths, {len(depths)}."
        cure = "Put the model's own list there."
        config.refuse("wrong-length", "num_attention_heads", list(heads), why, cure)
    starts = [sum(depths[:stage]) for stage in range(len(depths))]
    return [
        (count, tuple(range(start, start + depth)))
        for count, start, depth in zip(heads, starts, depths, strict=True)
    ]


def _stage_config(config: Config) -> Config:
    """One for each stage, which remembers what was asked for all of them."""
    own = config.fresh()
    own.taken += config.taken
    return own


def _swin(config: Config) -> list[Use]:
    stages, side = _stages(config), config.integer("window_size", name="window", required=True)
    remarks = ("Every layer has a table of its own; every second one moves its windows by half.",)
    return [
        use(
            config,
            "Swin table",
            Swin(heads=heads, window=(side, side)),
            layers=numbers,
            layer_type=f"stage {stage}",
            remarks=remarks,
        )
        for stage, (heads, numbers) in enumerate(stages)
    ]


def _swin_v2(config: Config, *, pooled: bool) -> list[Use]:
    """Swin 2, whose windows are no larger than what is left of the image in their stage."""
    stages, side = _stages(config), config.integer("window_size", name="window", required=True)
    rows = _grid(config)[0]
    trained = config.integers("pretrained_window_sizes", name="trained_window", at_least=0)
    trained = trained or (0,) * len(stages)
    if pooled and len(trained) < len(stages):
        why = f"must have one number for each of {len(stages)} stages."
        cure = "Put the model's own list there."
        config.refuse("wrong-length", "pretrained_window_sizes", list(trained), why, cure)
    remarks = (
        "Added to cosine similarities times exp(min(logit_scale, ln 100)), which are not divided "
        "by the square root of the head's width.",
        "Every layer has a network of its own (continuous_position_bias_mlp).",
    )
    uses = []
    for stage, (heads, numbers) in enumerate(stages):
        window = min(side, max(rows >> stage, 1) if pooled else rows)
        known = trained[stage] if pooled else 0
        encoding = SwinV2(
            heads=heads,
            window=(window, window),
            trained_window=(known, known) if known else None,
        )
        uses.append(
            use(
                config,
                "continuous bias",
                encoding,
                layers=numbers,
                layer_type=f"stage {stage}",
                remarks=remarks,
            )
        )
    return uses


def _beit(config: Config) -> list[Use]:
    """BEiT: a table for each layer, or one for all of them, or both, added up."""
    owners = {
        "use_relative_position_bias": "Every layer has a table of its own.",
        "use_shared_relative_position_bias": "All layers share one table.",
    }
    uses = []
    for switch, owner in owners.items():
        own = config.fresh()
        if own.flag(switch):
            uses.append(_beit_table(own, owner))
    return uses


def _beit_table(config: Config, owner: str) -> Use:
    heads, grid = config.integer("num_attention_heads", name="heads", required=True), _grid(config)
    if grid[0] != grid[1]:
        why = (
            "is no square: transformers then reads the table as columns by rows and stretches it, "
            "so that biases belong to other offsets than those of the published code."
        )
        cure = "Give images as high as wide, or turn the table before it is looked up."
        config.find("warning", "scrambled-table", "image_size", list(grid), why, cure)
    remarks = (
        owner,
        "Three rows follow: for the class token as query, for the class token as key, and for "
        "both. It stands before all patches.",
        "For images of another size the table is stretched bilinearly.",
    )
    encoding = Swin(heads=heads, window=grid)
    return use(config, "Swin table", encoding, layers=layers(config), remarks=remarks)


def _levit(config: Config) -> list[Use]:
    """LeViT: an offset counts without its signs; between stages every second cell asks."""
    stages, side = _stages(config), _grid(config)[0]
    hidden = config.integers("hidden_sizes", required=True)
    key_dim = config.integers("key_dim", required=True)[0]
    uses = []
    for stage, (heads, numbers) in enumerate(stages):
        remarks = [
            f"Offsets count without their signs: the model has {side} x {side} numbers a head, by "
            "rows and columns apart, where the table here repeats them.",
        ]
        encoding = Swin(heads=heads, window=(side, side))
        name = f"stage {stage}"
        uses.append(
            use(config, "Swin table", encoding, layers=numbers, layer_type=name, remarks=remarks)
        )
        if stage + 1 < len(stages):
            step = Swin(heads=max(hidden[stage] // key_dim, 1), window=(side, side))
            remarks.append("Queries are the cells in every second row and column.")
            name = f"step to stage {stage + 1}"
            uses.append(use(config, "Swin table", step, layer_type=name, remarks=remarks))
        side = (side - 1) // 2 + 1
    return uses


def _dinat(config: Config) -> list[Use]:
    stages, side = _stages(config), config.integer("kernel_size", name="window", required=True)
    remarks = (
        "The table is indexed by key - query in natten: turn it round by rows and by columns.",
        "Each cell sees the nearest kernel_size x kernel_size cells; with dilation d it sees every "
        "d-th, and offsets count these.",
    )
    return [
        use(
            config,
            "Swin table",
            Swin(heads=heads, window=(side, side)),
            layers=numbers,
            layer_type=f"stage {stage}",
            remarks=remarks,
        )
        for stage, (heads, numbers) in enumerate(stages)
    ]


def _decomposed(
    config: Config, *, switch: str, listed: str = "", windowed: bool = True
) -> list[Use]:
    """SAM and its kin: the layers of `listed` see windows, or all the others do."""
    if not config.flag(switch):
        return []
    every = layers(config)
    side = config.integer("window_size", name="window", at_least=0) if listed else None
    near = set(config.integers(listed, at_least=0) or ()) if listed else set()
    near = (near if windowed else set(every) - near) if side else set()
    uses = []
    for kind, numbers in (
        ("window", tuple(number for number in every if number in near)),
        ("whole image", tuple(number for number in every if number not in near)),
    ):
        if numbers:
            own = _stage_config(config)
            grid = (side or 0, side or 0) if kind == "window" else _grid(own)
            uses.append(_decomposed_layers(own, grid, kind, numbers))
    return uses


def _decomposed_layers(
    config: Config, grid: tuple[int, int], kind: str, numbers: tuple[int, ...]
) -> Use:
    width = head_dim(config)
    remarks = (
        "The queries of these terms are not divided by the square root of the head's width.",
        "Every layer has tables of its own, rel_pos_h and rel_pos_w; for another grid they are "
        "stretched linearly.",
    )
    encoding = fitted(config, "image_size", Decomposed, dim=width, grid=grid)
    return use(
        config,
        "decomposed",
        encoding,
        layers=numbers,
        layer_type=kind,
        head_dim=width,
        remarks=remarks,
    )


_SAM = functools.partial(
    _decomposed, switch="use_rel_pos", listed="global_attn_indexes", windowed=False
)

READERS: dict[str, Reader] = {
    **dict.fromkeys(("swin", "donut-swin", "maskformer-swin", "clap_audio_model"), _swin),
    "swinv2": functools.partial(_swin_v2, pooled=True),
    "swin2sr": functools.partial(_swin_v2, pooled=False),
    **dict.fromkeys(("beit", "data2vec-vision"), _beit),
    "levit": _levit,
    "dinat": _dinat,
    **dict.fromkeys(
        (
            "sam_vision_model",
            "sam_hq_vision_model",
            "got_ocr2_vision",
            "deepseek_ocr2_sam_vision_model",
            "unlimited_ocr_sam_vision_model",
            "pp_chart2table_vision",
            "pp_formulanet_vision",
            "slanext_vision",
        ),
        _SAM,
    ),
    "seggpt": functools.partial(_decomposed, switch="use_relative_position_embeddings"),
    "vitdet": functools.partial(
        _decomposed, switch="use_relative_position_embeddings", listed="window_block_indices"
    ),
}
