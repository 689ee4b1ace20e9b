"""Learned positions of images that take more than one table: row and column, frame, stage, tile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from posenc import Learned, LearnedAxes, Sinusoidal
from posenc.inspector.families.shared import fitted, whole
from posenc.inspector.families.tables import patch_grids
from posenc.inspector.families.tables.patches import Table, learned_grid
from posenc.inspector.reading import Use
from posenc.inspector.settings.config import Config


def _use(config: Config, kind: str, place: str, encoding: object, *remarks: str) -> Use:
    values = tuple(config.taken)
    return Use(kind=kind, place=place, encoding=encoding, values=values, remarks=remarks)


def _mgp_str(config: Config) -> list[Use]:
    """One row for the class token, and a second one, never used, where a teacher was distilled."""
    prefix = 2 if config.fresh().flag("distilled") else 1
    remark = "Row 0 is that of the class token."
    uses = learned_grid(config, Table(types="", prefix=prefix, remarks=(remark,)))
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
    return learned_grid(config, Table(types=""))


def _row_too_many(config: Config) -> list[Use]:
    """Swin's kin keep a row for a class token that they do not have."""
    table = Table(types="", prefix=1, switch="use_absolute_embeddings", width="embed_dim")
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
        types="",
        resized="bicubic",
        prefix=1,
        suffix="num_detection_tokens",
        oblong=True,
        remarks=("Row 0 is for the class token; the last rows are for the detection tokens.",),
    )
    uses = learned_grid(config.fresh(), table)
    if config.flag("use_mid_position_embeddings"):
        later = learned_grid(config, table, "what enters later layers")[0]
        layers = tuple(range(1, whole(config, "num_hidden_layers")))
        remark = "Each of these layers has a table of its own."
        uses.append(replace(later, layers=layers, remarks=(*later.remarks, remark)))
    return uses


def _pvt(config: Config) -> list[Use]:
    """A table for each stage; only the last stage has a class token."""
    stages = whole(config, "num_encoder_blocks")
    widths, patches = _lists(config, stages, "hidden_sizes", "patch_sizes")
    uses = []
    for stage, (width, patch) in enumerate(zip(widths, patches, strict=True)):
        settings = config.fresh()
        image = whole(settings, "image_size") // (1 if stage == 0 else 2 ** (stage + 1))
        cells = max(image // patch, 1)
        keys = "image_size", "patch_sizes"
        settings.derive("grid", (cells, cells), *keys)
        prefix = int(stage == stages - 1)
        patch_grids.assumed(settings, "prefix_rows", prefix)
        patch_grids.assumed(settings, "resized", "fixed")
        uses.append(
            _use(
                settings,
                "learned grid",
                f"patch embeddings of stage {stage + 1}",
                Learned(length=cells**2 + prefix, dim=width),
                "There is no rule for other sizes: images must be as large as the settings say.",
                *(["Row 0 is that of the class token."] if prefix else []),
            )
        )
    return uses


def _lists(config: Config, length: int, *keys: str) -> list[tuple[int, ...]]:
    """Settings with a whole number for each stage."""
    lists = []
    for key in keys:
        numbers = config.integers(key, required=True) or ()
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
    table = Table(types="", resized="bicubic", asked=True, grid=grid, width="embed_dim")
    uses = learned_grid(config.fresh(), table)
    width = config.integer("decoder_hidden_size")
    if width is None:
        return uses
    stride, pools = patch_grids.sides(config, "query_stride"), whole(config, "num_query_pool")

    def pooled(config: Config) -> patch_grids.Grid:
        cells = [max(n // s**pools, 1) for n, s in zip(grid(config), stride, strict=True)]
        return config.derive("grid", tuple(cells), "image_size", "patch_stride", "query_stride")

    decoder = Table(types="", grid=pooled, width="decoder_hidden_size")
    return [*uses, *learned_grid(config, decoder, "patch embeddings of the decoder")]


def _mllama(config: Config) -> list[Use]:
    """A table for patches shared by all tiles, and tables for tiles by aspect ratio."""
    uses = learned_grid(
        config.fresh(),
        Table(
            types="",
            prefix=1,
            remarks=(
                "Row 0 is that of the class token.",
                "Multiplied by 1 - tanh(gate); every tile gets the same rows.",
            ),
        ),
    )
    tiles, width = whole(config, "max_num_tiles"), whole(config, "hidden_size")
    ratios = config.get("supported_aspect_ratios")
    if not isinstance(ratios, list | tuple):
        ratios = range(8)
        patch_grids.assumed(config, "aspect_ratios", 8)
    else:
        config.derive("aspect_ratios", len(ratios), "supported_aspect_ratios")
    lengths = len(ratios) + 1, tiles
    whole_tile = (uses[0].encoding.length) * width
    by_ratio = (
        "Row 0 is for padding; an aspect ratio's number in the list of supported ones counts "
        "from 1."
    )
    place = "patch embeddings of each tile"
    return [
        *uses,
        _use(
            config,
            "learned tiles",
            place,
            Learned(length=lengths[0] * tiles, dim=whole_tile),
            f"Row {tiles} * ratio + tile holds a vector for each token of it; times tanh(gate).",
            by_ratio,
        ),
        *(
            _use(
                config,
                "learned tiles",
                f"{place}, {when} the layers",
                Learned(length=lengths[0] * tiles, dim=width),
                f"Row {tiles} * ratio + tile is added to each token of it; times tanh(gate).",
                by_ratio,
            )
            for when in ("before", "after")
        ),
    ]


def _sam2_hiera(config: Config) -> list[Use]:
    """A small table stretched over the image, plus one repeated in every window."""

    def first_window(config: Config) -> patch_grids.Grid:
        key = "window_size_per_stage"
        side = (config.integers(key) or patch_grids.assumed(config, key, (8, 4, 14, 7)))[0]
        return config.derive("grid", (side, side), key)

    def whole_image(config: Config) -> patch_grids.Grid:
        key = "window_positional_embedding_background_size"
        if config.get(key) is None:
            return patch_grids.assumed(config, "grid", (7, 7))
        return config.derive("grid", patch_grids.sides(config, key), key)

    added = "The two tables are added."
    stretched = Table(types="", resized="bicubic", oblong=True, grid=whole_image, remarks=(added,))
    repeated = Table(types="", resized="tiled", grid=first_window, remarks=(added,))
    return [*learned_grid(config.fresh(), stretched), *learned_grid(config, repeated)]


def _kimi(config: Config) -> list[Use]:
    """A trained grid, and fixed waves that tell the frames of a video apart."""
    table = Table(types="", resized="bicubic", oblong=True, grid=patch_grids.height_width)
    uses = learned_grid(config.fresh(), table)
    frames = whole(config, "pos_emb_time")
    encoding = fitted(
        config, "hidden_size", Sinusoidal, dim=whole(config, "hidden_size"), layout="half"
    )
    waves = _use(
        config,
        "sinusoidal",
        "patch embeddings of a video's frames",
        encoding,
        "Frames count from 0; an image, or a video of one frame, gets none.",
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
        return config.derive("grid", (whole(config, "num_frames"),), "num_frames")

    resized = "bilinear, antialiased"
    spatial = Table(types="", resized=resized, asked=True, grid=frame)
    temporal = Table(types="", resized=resized, asked=True, grid=frames)
    return [
        *learned_grid(config.fresh(), spatial),
        *learned_grid(config, temporal, "frame embeddings of each patch"),
    ]


def _granite4(config: Config) -> list[Use]:
    """A table for the patches of one window, in the projector."""
    rate = config.word("downsample_rate", required=True) or ""
    _, _, side = rate.partition("/")
    if not side.strip().isdigit() or int(side) < 1:
        config.refuse(
            "wrong-type", "downsample_rate", rate, "must be a fraction such as 4/8.",
            "Write the sides of the windows of queries and of keys.",
        )  # fmt: skip
    width = whole(config.part("vision_config", "clip_vision_model"), "hidden_size")
    config.derive("window", (int(side), int(side)), "downsample_rate")
    config.derive("hidden_size", width, "vision_config.hidden_size")
    return [
        _use(
            config,
            "learned grid",
            "image features inside each window of the projector",
            Learned(length=int(side) ** 2, dim=width),
            "Every window, and every projector, counts its own cells; each projector has a table.",
        )
    ]


def _row_column(
    config: Config, lengths: tuple[str, str], widths: tuple[str, str], *remarks: str
) -> list[Use]:
    """A table for rows and one for columns, whose vectors are added."""
    encoding = LearnedAxes(
        lengths=(whole(config, lengths[0]), whole(config, lengths[1])),
        widths=(whole(config, widths[0]), whole(config, widths[1])),
        combine="add",
    )
    return [_use(config, "learned rows and columns", "patch embeddings", encoding, *remarks)]


def _by_id(length: str) -> Callable[[Config], list[Use]]:
    """Tables looked up by row and column numbers that come with the patches."""

    def read(config: Config) -> list[Use]:
        return _row_column(
            config,
            (length, length),
            ("hidden_size", "hidden_size"),
            "The first two numbers of each flattened patch are its row and column, counted from 1; "
            "0 is padding.",
        )

    return read


def _gemma4(length: str, width: str) -> Callable[[Config], list[Use]]:
    """Tables looked up by (column, row)."""

    def read(config: Config) -> list[Use]:
        return _row_column(
            config,
            (length, length),
            (width, width),
            "Positions come as (column, row): axis_0 is the table of columns.",
            "Padding patches, at -1, get zeros.",
        )

    return read


def _tvp(config: Config) -> list[Use]:
    return _row_column(
        config,
        ("max_grid_row_position_embeddings", "max_grid_col_position_embeddings"),
        ("hidden_size", "hidden_size"),
        "Added to the mean of the frames, before a layer norm.",
        "Larger grids, when asked for with interpolate_pos_encoding=True: the sum is stretched by "
        "learned.resample(method='cubic').",
    )


def _florence2(config: Config) -> list[Use]:
    """Columns first, then rows, in the projector."""
    vision = config.part("vision_config", "florence_vision")
    length = whole(vision, "max_position_embeddings")
    width = (vision.integers("embed_dim", required=True) or (2,))[-1]
    widths = width - width // 2, width // 2
    fields = {"lengths": (length, length), "widths": widths, "axes": (1, 0)}
    encoding = fitted(vision, "embed_dim", LearnedAxes, **fields)
    return [_use(vision, "learned rows and columns", "image features", encoding)]


READERS: dict[str, Callable[[Config], list[Use]]] = {
    "aimv2_vision_model": _aimv2,
    "donut-swin": _row_too_many,
    "florence2": _florence2,
    "gemma4_unified_vision": _gemma4("mm_posemb_size", "mm_embed_dim"),
    "gemma4_vision": _gemma4("position_embedding_size", "hidden_size"),
    "granite4_vision": _granite4,
    "hiera": _hiera,
    "kimi_k25_vision": _kimi,
    "kosmos_2_5_vision_model": _by_id("max_num_patches"),
    "maskformer-swin": _row_too_many,
    "mgp-str": _mgp_str,
    "mllama_vision_model": _mllama,
    "pix2struct_vision_model": _by_id("seq_len"),
    "pvt": _pvt,
    "sam2_hiera_det_model": _sam2_hiera,
    "swin2sr": _row_too_many,
    "swinv2": _row_too_many,
    "tvp": _tvp,
    "videoprism_vision_model": _videoprism,
    "yolos": _yolos,
}
