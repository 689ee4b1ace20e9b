"""Trained tables of patches that need a reader: one a stage, layer, tile or frame, or amiss."""

from __future__ import annotations

from dataclasses import replace

from posenc import Learned, Sinusoidal
from posenc.inspector.families import patch_grids
from posenc.inspector.families.shared import Reader, fitted, use
from posenc.inspector.families.tables.patch_tables import CLASS, RESIZED, Table, learned_grid
from posenc.inspector.reading import Use
from posenc.inspector.settings.config import Config


def _mgp_str(config: Config) -> list[Use]:
    """One row for the class token, and a second one, never used, where a teacher was distilled."""
    prefix = 2 if config.fresh().flag("distilled") else 1
    uses = learned_grid(config, Table(prefix=prefix, remarks=(CLASS,)))
    if prefix == 2:
        config.find(
            "warning", "cannot-run", "distilled", True,
            "makes a table of one row more than there are tokens, and adding it fails.",
            "Set it to false.",
        )  # fmt: skip
    return uses


def _aimv2(config: Config) -> list[Use]:
    if config.flag("is_native"):
        return []
    return learned_grid(config, Table())


def _row_too_many(config: Config) -> list[Use]:
    """Swin's kin keep a row for a class token that they do not have."""
    table = Table(prefix=1, switch="use_absolute_embeddings", width="embed_dim")
    uses = learned_grid(config, table)
    if uses:
        config.find(
            "error", "cannot-run", "use_absolute_embeddings", True,
            "makes a table of one row more than there are patches, and adding it fails.",
            "Set it to false: the model knows positions from its window tables.",
        )  # fmt: skip
    return uses


def _yolos(config: Config) -> list[Use]:
    """A table for the embeddings, and with some settings one for each later layer."""
    table = Table(
        resized="bicubic",
        prefix=1,
        suffix="num_detection_tokens",
        oblong=True,
        remarks=("Row 0 is for the class token; the last rows are for the detection tokens.",),
    )
    uses = learned_grid(config.fresh(), table)
    if config.flag("use_mid_position_embeddings"):
        later = learned_grid(config, table, "what enters later layers")[0]
        layers = tuple(range(1, config.integer("num_hidden_layers", required=True)))
        remark = "Each of these layers has a table of its own."
        uses.append(replace(later, layers=layers, remarks=(*later.remarks, remark)))
    return uses


def _pvt(config: Config) -> list[Use]:
    """A table for each stage; only the last stage has a class token."""
    stages = config.integer("num_encoder_blocks", required=True)
    widths, patches = _lists(config, stages, "hidden_sizes", "patch_sizes")
    uses = []
    for stage, (width, patch) in enumerate(zip(widths, patches, strict=True)):
        settings = config.fresh()
        shrunk = 1 if stage == 0 else 2 ** (stage + 1)
        cells = max(settings.integer("image_size", required=True) // shrunk // patch, 1)
        keys = "image_size", "patch_sizes"
        settings.derive("grid", (cells, cells), *keys)
        prefix = int(stage == stages - 1)
        settings.assume("prefix_rows", prefix)
        settings.assume("resized", "fixed")
        uses.append(
            use(
                settings,
                "learned grid",
                Learned(length=cells**2 + prefix, dim=width),
                place=f"patch embeddings of stage {stage + 1}",
                remarks=(
                    RESIZED["fixed"],
                    *([CLASS] if prefix else []),
                ),
            )
        )
    return uses


def _lists(config: Config, length: int, *keys: str) -> list[tuple[int, ...]]:
    """Settings with a whole number for each stage."""
    lists = []
    for key in keys:
        numbers = config.integers(key, required=True)
        if len(numbers) < length:
            config.refuse(
                "wrong-type", key, list(numbers), f"must have {length} numbers, one a stage.",
                "Put the model's own list there.",
            )  # fmt: skip
        lists.append(numbers[:length])
    return lists


def _hiera(config: Config) -> list[Use]:
    """The encoder's table, and that of the decoder which was trained with it."""
    grid = patch_grids.over("image_size", "patch_stride")
    table = Table(resized="bicubic", asked=True, grid=grid, width="embed_dim")
    uses = learned_grid(config.fresh(), table)
    width = config.integer("decoder_hidden_size")
    if width is None:
        return uses
    stride = patch_grids.sides(config, "query_stride")
    pools = config.integer("num_query_pool", required=True)

    def pooled(config: Config) -> patch_grids.Grid:
        cells = [max(n // s**pools, 1) for n, s in zip(grid(config), stride, strict=True)]
        return config.derive("grid", tuple(cells), "image_size", "patch_stride", "query_stride")

    decoder = Table(grid=pooled, width="decoder_hidden_size")
    return [*uses, *learned_grid(config, decoder, "patch embeddings of the decoder")]


def _mllama(config: Config) -> list[Use]:
    """A table for patches shared by all tiles, and tables for tiles by aspect ratio."""
    remarks = (CLASS, "Multiplied by 1 - tanh(gate); every tile gets the same rows.")
    uses = learned_grid(config.fresh(), Table(prefix=1, remarks=remarks))
    tiles = config.integer("max_num_tiles", required=True)
    width = config.integer("hidden_size", required=True)
    rows = (_aspect_ratios(config) + 1) * tiles
    place = "patch embeddings of each tile"
    row = f"Row {tiles} * ratio + tile"
    whole = f"{row} holds a vector for each token of it; times tanh(gate)."
    one = f"{row} is added to each token of it; times tanh(gate)."
    whole_tile = Learned(length=rows, dim=uses[0].encoding.length * width)
    of_tiles = [(whole_tile, place, whole)] + [
        (Learned(length=rows, dim=width), f"{place}, {when} the layers", one)
        for when in ("before", "after")
    ]
    return uses + [
        use(config, "learned tiles", encoding, place=where, remarks=(remark, _BY_RATIO))
        for encoding, where, remark in of_tiles
    ]


_BY_RATIO = (
    "Row 0 is for padding; an aspect ratio's number in the list of supported ones counts from 1."
)


def _aspect_ratios(config: Config) -> int:
    ratios = config.get("supported_aspect_ratios")
    if isinstance(ratios, list | tuple):
        return config.derive("aspect_ratios", len(ratios), "supported_aspect_ratios")
    return config.assume("aspect_ratios", 8)


def _sam2_hiera(config: Config) -> list[Use]:
    """A small table stretched over the image, plus one repeated in every window."""

    def first_window(config: Config) -> patch_grids.Grid:
        key = "window_size_per_stage"
        side = (config.integers(key) or config.assume(key, (8, 4, 14, 7)))[0]
        return config.derive("grid", (side, side), key)

    def whole_image(config: Config) -> patch_grids.Grid:
        key = "window_positional_embedding_background_size"
        if config.get(key) is None:
            return config.assume("grid", (7, 7))
        return config.derive("grid", patch_grids.sides(config, key), key)

    added = "The two tables are added."
    stretched = Table(resized="bicubic", oblong=True, grid=whole_image, remarks=(added,))
    repeated = Table(resized="tiled", grid=first_window, remarks=(added,))
    return [*learned_grid(config.fresh(), stretched), *learned_grid(config, repeated)]


def _kimi(config: Config) -> list[Use]:
    """A trained grid, and fixed waves that tell the frames of a video apart."""
    table = Table(resized="bicubic", oblong=True, grid=patch_grids.height_width)
    uses = learned_grid(config.fresh(), table)
    frames = config.integer("pos_emb_time", required=True)
    encoding = fitted(
        config,
        "hidden_size",
        Sinusoidal,
        dim=config.integer("hidden_size", required=True),
        layout="half",
    )
    waves = use(
        config,
        "sinusoidal",
        encoding,
        place="patch embeddings of a video's frames",
        remarks=("Frames count from 0; an image, or a video of one frame, gets none.",),
    )
    return [*uses, replace(waves, original_length=frames, length=frames)]


def _videoprism(config: Config) -> list[Use]:
    """A table for the patches of a frame, and one for the frames."""

    def frame(config: Config) -> patch_grids.Grid:
        parts = patch_grids.tubelet(config)[1:]
        pairs = zip(patch_grids.sides(config, "image_size"), parts, strict=True)
        cells = tuple(max(size // part, 1) for size, part in pairs)
        return config.derive("grid", cells, "image_size", "tubelet_size")

    def frames(config: Config) -> patch_grids.Grid:
        return config.derive("grid", (config.integer("num_frames", required=True),), "num_frames")

    resized = "bilinear, antialiased"
    spatial = Table(resized=resized, asked=True, grid=frame)
    temporal = Table(resized=resized, asked=True, grid=frames)
    return [
        *learned_grid(config.fresh(), spatial),
        *learned_grid(config, temporal, "frame embeddings of each patch"),
    ]


def _granite4(config: Config) -> list[Use]:
    """A table for the patches of one window, in the projector."""
    rate = config.word("downsample_rate", required=True)
    _, _, side = rate.partition("/")
    if not side.strip().isdigit() or int(side) < 1:
        config.refuse(
            "wrong-type", "downsample_rate", rate, "must be a fraction such as 4/8.",
            "Write the sides of the windows of queries and of keys.",
        )  # fmt: skip
    width = config.part("vision_config", "clip_vision_model").integer("hidden_size", required=True)
    config.derive("window", (int(side), int(side)), "downsample_rate")
    config.derive("hidden_size", width, "vision_config.hidden_size")
    return [
        use(
            config,
            "learned grid",
            Learned(length=int(side) ** 2, dim=width),
            place="image features inside each window of the projector",
            remarks=(
                "Every window, and every projector, counts its own cells; each projector has a "
                "table.",
            ),
        )
    ]


READERS: dict[str, Reader] = {
    "aimv2_vision_model": _aimv2,
    "donut-swin": _row_too_many,
    "granite4_vision": _granite4,
    "hiera": _hiera,
    "kimi_k25_vision": _kimi,
    "maskformer-swin": _row_too_many,
    "mgp-str": _mgp_str,
    "mllama_vision_model": _mllama,
    "pvt": _pvt,
    "sam2_hiera_det_model": _sam2_hiera,
    "swin2sr": _row_too_many,
    "swinv2": _row_too_many,
    "videoprism_vision_model": _videoprism,
    "yolos": _yolos,
}
