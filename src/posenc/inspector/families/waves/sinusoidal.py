"""Sinusoidal vectors added to tokens of text and frames of sound."""

from __future__ import annotations

import dataclasses

from posenc.inspector.families.shared import Reader, use
from posenc.inspector.families.waves import wave_tables
from posenc.inspector.reading import Use
from posenc.inspector.settings.config import Config
from posenc.sinusoidal import Sinusoidal

_TOKENS = "token embeddings"
_BOTH_SIDES = "encoder and decoder token embeddings"
_FRAMES = "frame embeddings"

_PADDING = "Padding is no position: it is skipped in counting, and its own vector is zero."
_EMBEDS = "Given embeddings instead of ids, it counts every token, padding as well."
_FROZEN = "The table is frozen, but saved: a checkpoint can bring another one."
_CHECKPOINT = (
    "The table is a frozen weight that only the checkpoint fills: it is Whisper's where the "
    "encoder was trained from Whisper's."
)
_WINDOW = "Positions start again at 0 in every window of 2 * n_window mel frames."
_GAIN = "A trained number (`alpha`) multiplies the vectors before they are added."
_COMPUTED = "Angles have the dtype of the activations: bfloat16 rounds those above 256 to even."


def _table(
    place: str,
    like: Sinusoidal,
    *remarks: str,
    length: str = "max_position_embeddings",
) -> Reader:
    """A reader of types with one table, whose first row is the first token's."""
    return lambda config: [wave_tables.table(config, place, like, length=length, remarks=remarks)]


def _frames(place: str, remark: str) -> Reader:
    """A reader of types with Whisper's table."""
    return _table(place, wave_tables.WHISPER, remark, length="max_source_positions")


def _padded(
    config: Config,
    place: str,
    *remarks: str,
    padding: str = "pad_token_id",
    length: str = "max_position_embeddings",
) -> Use:
    """fairseq's table, where the first token stands behind the row of padding."""
    row = config.integer(padding, name="padding", at_least=0, required=True)
    offset = config.derive("offset", row + 1, padding)
    return wave_tables.table(
        config, place, wave_tables.FAIRSEQ, length=length, offset=offset, remarks=remarks
    )


def _fairseq(place: str) -> Reader:
    """A reader of types with fairseq's table that count over ids or embeddings."""
    return lambda config: [_padded(config, place, _PADDING, _EMBEDS)]


def _fsmt(config: Config) -> list[Use]:
    return [_padded(config, _BOTH_SIDES, _PADDING)]


def _trocr(config: Config) -> list[Use]:
    if config.flag("use_learned_position_embeddings"):
        return []
    return [_padded(config, "decoder token embeddings", _PADDING)]


def _seamless(config: Config) -> list[Use]:
    return [_seamless_text(config), _units(config.fresh(), _PADDING, _EMBEDS)]


def _seamless_v2(config: Config) -> list[Use]:
    counted = "Characters and units are counted from the first, padding as well."
    return [_seamless_text(config), _units(config.fresh(), counted, _GAIN)]


def _seamless_text(config: Config) -> Use:
    return _padded(config, "text encoder and decoder token embeddings", _PADDING, _EMBEDS)


def _units(config: Config, *remarks: str) -> Use:
    """The table of the decoder that turns text into units of speech."""
    padding, length = "t2u_pad_token_id", "t2u_max_position_embeddings"
    return _padded(config, "unit decoder embeddings", *remarks, padding=padding, length=length)


def _speech_to_text(config: Config) -> list[Use]:
    _mask_as_tokens(config.fresh())
    source, target = "max_source_positions", "max_target_positions"
    return [
        _padded(config, "encoder frame embeddings", _PADDING, length=source),
        _padded(config.fresh(), "decoder token embeddings", _PADDING, length=target),
    ]


def _speecht5(config: Config) -> list[Use]:
    _mask_as_tokens(config.fresh())
    return [
        _padded(config, "speech encoder frame embeddings", _PADDING, length="max_speech_positions"),
        *_scaled("text encoder token embeddings", "max_text_positions")(config.fresh()),
        _padded(
            config.fresh(), "text decoder token embeddings", _PADDING, length="max_text_positions"
        ),
        *_scaled("speech decoder frame embeddings", "max_speech_positions")(config.fresh()),
    ]


def _scaled(place: str, length: str) -> Reader:
    return _table(place, wave_tables.PAPER, _GAIN, length=length)


def _mask_as_tokens(config: Config) -> None:
    """These encoders count over a padding mask (0 kept, 1 padding) as if it were token ids."""
    padding = config.integer("pad_token_id", at_least=0)
    if padding not in (None, 1):
        config.find(
            "warning",
            "padding-id",
            "pad_token_id",
            padding,
            "should be 1: the encoder compares its padding mask, 0 or 1, with it, and with "
            "another number it skips the wrong frames or none.",
            "Set it to 1, or do not pad the audio.",
        )


def _xglm(config: Config) -> list[Use]:
    offset = config.assume("offset", 2)
    padding = config.integer("pad_token_id", name="padding", at_least=0) or 0
    zeroed = f"Row {padding} of the table is zero, so the token at {padding - offset} has none."
    remarks = (zeroed,) if padding >= offset else ()
    length = "max_position_embeddings"
    return [
        wave_tables.table(
            config, _TOKENS, wave_tables.FAIRSEQ, length=length, offset=offset, remarks=remarks
        )
    ]


def _canary(config: Config) -> list[Use]:
    table = wave_tables.table(config, _TOKENS, wave_tables.HALF, length="max_position_embeddings")
    scale = config.derive("vector_scale", table.encoding.dim**-0.5, "hidden_size")
    remark = f"The vectors are multiplied by {scale:g}, 1 / sqrt(hidden_size), before adding."
    return [dataclasses.replace(table, values=tuple(config.taken), remarks=(remark,))]


def _fun_asr(config: Config) -> list[Use]:
    bins = config.integer("num_mel_bins", required=True)
    stacked = config.integer("num_stacked_frames", required=True)
    keys = ("num_mel_bins", "num_stacked_frames")
    dim = config.derive("dim", bins * stacked, *keys)
    offset = config.assume("offset", 1)
    encoding = wave_tables.encoding(config, keys[0], wave_tables.WHISPER, dim=dim, offset=offset)
    rows = _rows_from_1(config)
    remarks = ("Row 0 is never used: the first frame stands at 1.",)
    return [
        use(
            config,
            "sinusoidal",
            encoding,
            place="stacked mel frames",
            original_length=rows,
            remarks=remarks,
        )
    ]


def _rows_from_1(config: Config) -> int | None:
    rows = config.integer("max_position_embeddings")
    return rows and config.derive("original_length", rows - 1, "max_position_embeddings")


def _switched(switch: str) -> Reader:
    """A reader of types whose learned table a switch fills with sinusoids."""

    def read(config: Config) -> list[Use]:
        if not config.flag(switch):
            return []
        length = "max_position_embeddings"
        return [
            wave_tables.table(
                config, _TOKENS, wave_tables.PAPER_TRIMMED, length=length, remarks=(_FROZEN,)
            )
        ]

    return read


READERS: dict[str, Reader] = {
    # [sin | cos], the paper's frequencies
    "ctrl": _table(_TOKENS, wave_tables.MARIAN),
    "marian": _table(_BOTH_SIDES, wave_tables.MARIAN),
    "pegasus": _table(_BOTH_SIDES, wave_tables.MARIAN),
    "videoprism_text_model": _table(_TOKENS, wave_tables.HALF),
    "canary_decoder": _canary,
    # [sin | cos], frequencies that end at 1 / base, counted from behind the row of padding
    "fsmt": _fsmt,
    "kosmos_2_text_model": _fairseq(_TOKENS),
    "kosmos_2_5_text_model": _fairseq(_TOKENS),
    "m2m_100": _fairseq(_BOTH_SIDES),
    "nllb-moe": _fairseq(_BOTH_SIDES),
    "seamless_m4t": _seamless,
    "seamless_m4t_v2": _seamless_v2,
    "speech_to_text": _speech_to_text,
    "speecht5": _speecht5,
    "trocr": _trocr,
    # the same frequencies, counted from a fixed number
    "fun_asr_nano_encoder": _fun_asr,
    "pegasus_x": _table(_BOTH_SIDES, wave_tables.WHISPER, _COMPUTED),
    "tipsv2_text_model": _table(_TOKENS, wave_tables.FAIRSEQ),
    "xglm": _xglm,
    "whisper": _frames("encoder frame embeddings", _FROZEN),
    "audioflamingo3_encoder": _frames(_FRAMES, _CHECKPOINT),
    "moss_transcribe_diarize_audio": _frames(_FRAMES, _CHECKPOINT),
    "qwen2_audio_encoder": _frames(_FRAMES, _CHECKPOINT),
    "voxtral_encoder": _frames(_FRAMES, _CHECKPOINT),
    "qwen2_5_omni_audio_encoder": _frames(_FRAMES, _WINDOW),
    "qwen3_omni_moe_audio_encoder": _frames(_FRAMES, _WINDOW),
    "qwen3_asr_encoder": _table(_FRAMES, wave_tables.WHISPER, _WINDOW),
    # [cos | sin]
    "musicgen_decoder": _table(_TOKENS, wave_tables.MUSICGEN),
    "musicgen_melody_decoder": _table(_TOKENS, wave_tables.MUSICGEN),
    # sin, cos, sin, cos
    "distilbert": _switched("sinusoidal_pos_embds"),
    "flaubert": _switched("sinusoidal_embeddings"),
    "xlm": _switched("sinusoidal_embeddings"),
}
