"""Sinusoidal vectors of what is cut in pieces: time series, images in one row, videos."""

from __future__ import annotations

import dataclasses
import math

from posenc.inspector.families.shared import Reader, use
from posenc.inspector.families.waves import wave_tables
from posenc.inspector.reading import Use
from posenc.inspector.settings.config import Config
from posenc.sinusoidal import Sinusoidal

_MOST_PATCHES = 2**30  # beyond, the angles in sums of sines lose their digits


def _values(config: Config) -> list[Use]:
    """One table for both sides; the decoder starts where the encoder ends, Autoformer's before."""
    past, future = _context(config)
    rows = config.derive("original_length", past + future, "context_length", "prediction_length")
    encoder = wave_tables.table(config, "encoder value embeddings", wave_tables.MARIAN)
    encoder = dataclasses.replace(encoder, original_length=rows)
    start = past
    if config.model_type == "autoformer":
        again = config.integer("label_length", at_least=0)
        start -= config.assume("label_length", 10) if again is None else again
    decoder = dataclasses.replace(
        encoder,
        place="decoder value embeddings",
        first_position=start,
        values=tuple(config.taken),
    )
    return [encoder, decoder]


def _context(config: Config) -> tuple[int, int]:
    """How many steps are given, and how many are to come."""
    future = config.integer("prediction_length", required=True)
    past = config.integer("context_length", at_least=0)
    if past is None or (past == 0 and config.model_type != "autoformer"):
        past = config.derive("context_length", future, "prediction_length")
    return past, future


def _patchtst(config: Config) -> list[Use]:
    """Patches of a series, with a row for a class token before them if it has one."""
    if config.word("positional_encoding_type") != "sincos":
        return []
    return [_standardised(config, before=int(config.flag("use_cls_token")))]


def _patchtsmixer(config: Config) -> list[Use]:
    """Patches of a series, with positions only if they are asked for."""
    if not config.flag("use_positional_encoding"):
        remark = "use_positional_encoding is false: trained weights mix each patch by its place."
        return [wave_tables.unencoded(config, "patch embeddings", remark)]
    if config.word("positional_encoding_type") != "sincos":
        return []
    return [_standardised(config, before=0)]


def _standardised(config: Config, *, before: int) -> Use:
    """A table brought to mean 0 and standard deviation 0.1, all its numbers together.

    Args:
        before: rows before that of the first patch; the class token's.
    """
    keys = ("context_length", "patch_length", "patch_stride")
    steps, patch, stride = (config.integer(key, required=True) for key in keys)
    patches = config.derive("original_length", max(steps - patch, 0) // stride + 1, *keys)
    if patches > _MOST_PATCHES:
        why = f"must leave at most {_MOST_PATCHES} patches; it leaves {patches}."
        config.refuse("absurd-value", keys[0], steps, why, "Put the model's own length there.")
    table = wave_tables.table(config, "patch embeddings", wave_tables.PAPER, offset=before)
    rows = before + patches
    mean, numbers = _mean(table.encoding, rows), rows * table.encoding.dim
    # Each pair adds sin^2 + cos^2 = 1 to the sum of squares in each row.
    deviation = math.sqrt((numbers / 2 - numbers * mean**2) / (numbers - 1))
    config.derive("vector_mean", mean, *keys)
    config.derive("vector_scale", 0.1 / deviation, *keys)
    remark = "The mean of the whole table is taken off, and the rest scaled to deviate by 0.1."
    token = ("The class token stands at -1, row 0.",) if before else ()
    return dataclasses.replace(
        table, original_length=patches, values=tuple(config.taken), remarks=(remark, *token)
    )


def _mean(encoding: Sinusoidal, rows: int) -> float:
    """The mean of the first rows, without making them.

    sum over p < n of sin(p f) = sin(n f / 2) / sin(f / 2) * sin((n - 1) f / 2); cos likewise
    """
    total = 0.0
    for frequency in encoding.frequencies:
        middle = (rows - 1) * frequency / 2
        stretch = math.sin(rows * frequency / 2) / math.sin(frequency / 2)
        total += stretch * (math.sin(middle) + math.cos(middle))
    return total / (rows * encoding.dim)


def _timesfm(config: Config) -> list[Use]:
    """Patches of a series, counted from the first that is not padding."""
    if not config.flag("use_positional_embedding"):
        remark = "use_positional_embedding is false: only the causal mask tells patches apart."
        return [wave_tables.unencoded(config, "patch embeddings", remark)]
    scale = config.number("min_timescale", name="position_scale", above=0.0, required=True)
    longest = config.number("max_timescale", above=0.0, required=True)
    base = wave_tables.ratio(config, longest, scale, "max_timescale", "min_timescale")
    table = wave_tables.table(config, "patch embeddings", wave_tables.WHISPER)
    encoding = wave_tables.encoding(
        config, "hidden_size", wave_tables.WHISPER, dim=table.encoding.dim, base=base
    )
    counted = "The first patch that is not padding stands at 0."
    scaled = f"Positions are multiplied by min_timescale, {scale:g}, instead of divided by it."
    remarks = (counted,) if scale == 1 else (counted, scaled)
    return [dataclasses.replace(table, encoding=encoding, remarks=remarks)]


def _videomae(config: Config) -> list[Use]:
    """Tubelets of a video, in the encoder and in the decoder that pre-trains it."""
    decoder = "pre-training decoder tubelet embeddings"
    return [
        _tubelets(config, "tubelet embeddings", "hidden_size"),
        _tubelets(config.fresh(), decoder, "decoder_hidden_size"),
    ]


def _tubelets(config: Config, place: str, width: str) -> Use:
    keys = ("image_size", "patch_size", "num_frames", "tubelet_size")
    image, patch, frames, tubelet = (config.integer(key, required=True) for key in keys)
    count = (image // patch) ** 2 * (frames // tubelet)
    rows = config.derive("original_length", count, *keys)
    remark = "Tubelets are counted in one row: time by time, row by row."
    table = wave_tables.table(
        config, place, wave_tables.PAPER_TRIMMED, width=width, remarks=(remark,)
    )
    return dataclasses.replace(table, original_length=rows)


def _zoedepth(config: Config) -> list[Use]:
    """Patches of the coarsest features; only a model of several depth ranges looks at them."""
    ranges = config.get("bin_configurations")
    if not isinstance(ranges, list | tuple) or len(ranges) < 2:
        return []
    remark = "A vector of zeros goes before the patches and takes position 0."
    width = "patch_transformer_hidden_size"
    return [
        wave_tables.table(
            config, "patch embeddings", wave_tables.HALF, width=width, remarks=(remark,)
        )
    ]


def _florence2(config: Config) -> list[Use]:
    """Frames of a video, of which there is never more than one."""
    vision = config.part("vision_config", "florence_vision")
    widths = vision.integers("embed_dim", name="dims", required=True)
    width = vision.derive("dim", widths[-1], "embed_dim")
    return [
        use(
            vision,
            "sinusoidal",
            wave_tables.encoding(vision, "embed_dim", wave_tables.PAPER, dim=width),
            place="image features, by frame",
            original_length=vision.integer("max_temporal_embeddings", name="original_length"),
            remarks=("Only the vector of position 0 is ever added: an image is one frame.",),
        )
    ]


READERS: dict[str, Reader] = {
    **dict.fromkeys(("autoformer", "informer", "time_series_transformer"), _values),
    "florence2": _florence2,
    "patchtsmixer": _patchtsmixer,
    "patchtst": _patchtst,
    "timesfm": _timesfm,
    "videomae": _videomae,
    "zoedepth": _zoedepth,
}
