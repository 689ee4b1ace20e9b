"""Speech encoders biased by distance: Shaw's vectors, Transformer-XL's, and a clamped table."""

from __future__ import annotations

import functools

from posenc.inspector.families.shared import Reader, fitted, head_dim, layers, use
from posenc.inspector.reading import Use
from posenc.inspector.settings.config import Config
from posenc.shaw import Shaw
from posenc.transformer_xl import TransformerXL

_TURNED = "The table begins with keys far ahead and ends with keys far behind: turn it round."
_OWN_TABLE = "Every layer has a table of its own, and all its heads share it."
_INTERLEAVED = (
    "Sine and cosine of a frequency stand side by side, so here the even columns of the "
    "projection come first, then the odd ones."
)


def _conformer(
    config: Config,
    *,
    place: str = "attention scores",
    heads: str = "num_attention_heads",
    depth: str = "num_hidden_layers",
    schemes: tuple[str, ...] = ("relative",),
) -> list[Use]:
    """wav2vec 2 and its kin, where `position_embeddings_type` picks the scheme."""
    scheme = config.word("position_embeddings_type")
    if scheme not in schemes:
        return []
    if scheme == "relative":
        return [_relative(config, place=place, heads=heads, depth=depth)]
    width = head_dim(config, heads)
    left = config.integer(
        "left_max_position_embeddings", name="max_distance", at_least=0, required=True
    )
    right = config.integer("right_max_position_embeddings", name="ahead", at_least=0, required=True)
    encoding = Shaw(dim=width, max_distance=left, ahead=right, values=False)
    numbers = layers(config, depth)
    return [
        use(
            config,
            "Shaw",
            encoding,
            place=place,
            head_dim=width,
            layers=numbers,
            remarks=(_OWN_TABLE,),
        )
    ]


def _relative(
    config: Config,
    *,
    place: str = "attention scores",
    heads: str = "num_attention_heads",
    own: str = "",
    depth: str = "num_hidden_layers",
    length: str = "max_source_positions",
    remarks: tuple[str, ...] = (),
) -> Use:
    """Transformer-XL as conformers have it: biases u and v, both sides, interleaved vectors."""
    width = head_dim(config, heads, own=own)
    longest = config.integer(length, name="length", required=True)
    encoding = fitted(
        config,
        "hidden_size",
        TransformerXL,
        heads=config.integer(heads, name="heads", required=True),
        dim=width,
        model_dim=config.integer("hidden_size", required=True),
        max_distance=longest - 1,
    )
    return use(
        config,
        "Transformer-XL",
        encoding,
        place=place,
        head_dim=width,
        length=longest,
        layers=layers(config, depth),
        remarks=(_INTERLEAVED, *remarks),
    )


def _parakeet(config: Config) -> list[Use]:
    return [_relative(config, own="head_dim", length="max_position_embeddings")]


def _fastspeech2(config: Config) -> list[Use]:
    """Encoder and decoder, with tables that grow when a text is longer than 5000."""
    width = config.integer("hidden_size", required=True)
    scaled = f"The input is multiplied by the square root of the model's width, {width}, first."
    return [
        _relative(
            config.fresh(),
            place=f"{side} attention scores",
            heads=f"{side}_num_attention_heads",
            depth=f"{side}_layers",
            remarks=(scaled,),
        )
        for side in ("encoder", "decoder")
    ]


def _gemma(config: Config, *, prefix: str = "", keys: str = "") -> list[Use]:
    """The audio towers of Gemma 3n and 4: chunks that see a few frames besides themselves."""
    heads, width = f"{prefix}num_attention_heads", config.integer("hidden_size", required=True)
    left = config.integer(f"{prefix}attention_context_left", required=True)
    right = config.integer(f"{prefix}attention_context_right", at_least=0, required=True)
    each, half = head_dim(config, heads), width // 2
    encoding = fitted(
        config,
        "hidden_size",
        TransformerXL,
        heads=config.integer(heads, name="heads", required=True),
        dim=each,
        model_dim=width,
        max_distance=left - 1,
        ahead=right,
        base=10_000.0 ** (half / max(half - 1, 1)),
    )
    remarks = (
        "There is no content bias and no position bias: both are 0.",
        "Queries are scaled before they meet keys and vectors (by softplus(per_dim_scale) / "
        "softplus(0) / sqrt(dim)), so the sum is not divided again; then it is capped by tanh.",
        "The slowest wave has 10,000 for its timescale, so the base here is a little more.",
        f"A frame sees {left - 1} frames behind it and {right} ahead.",
        *([keys] if keys else []),
    )
    numbers = layers(config, f"{prefix}num_hidden_layers")
    return [use(config, "Transformer-XL", encoding, head_dim=each, layers=numbers, remarks=remarks)]


def _gemma4(config: Config) -> list[Use]:
    chunk = config.integer("attention_chunk_size", required=True)
    behind = config.integer("attention_context_left", required=True) - 1
    ahead = config.integer("attention_context_right", at_least=0, required=True)
    if (chunk + behind + ahead) // 2 != behind or ahead:
        why = (
            "makes distances wrong: the model numbers its vectors down from half of all frames "
            f"in sight, {(chunk + behind + ahead) // 2}, to 0, and looks {behind} behind."
        )
        cure = "Keep attention_context_left one more than the chunk, and nothing to the right."
        config.find("warning", "shifted-distances", "attention_chunk_size", chunk, why, cure)
    keys = "Keys are multiplied by ln(1 + e) / ln 2, which the vectors of the distances are not."
    return _gemma(config.fresh(), keys=keys)


def _vits(config: Config) -> list[Use]:
    window = config.integer("window_size", name="window", at_least=0)
    if not window:
        return []
    width = head_dim(config)
    remarks = (
        f"Keys more than {window} tokens away have no vector: the tables here have a row of zeros "
        "more at either end than emb_rel_k and emb_rel_v.",
        "Every layer has tables of its own, for keys and for values.",
    )
    encoding = Shaw(dim=width, max_distance=window + 1)
    place = "encoder keys and values"
    numbers = layers(config)
    return [
        use(config, "Shaw", encoding, place=place, head_dim=width, layers=numbers, remarks=remarks)
    ]


def _speecht5(config: Config) -> list[Use]:
    width = head_dim(config, "encoder_attention_heads")
    far = config.integer("encoder_max_relative_position", name="ahead", required=True)
    remarks = (
        _TURNED,
        f"Its {2 * far} rows reach {far} ahead, but only {far - 1} behind.",
        "All layers and heads of the encoder share one table; the decoder has none.",
    )
    encoding = Shaw(dim=width, max_distance=far - 1, ahead=far, values=False)
    place = "encoder attention scores"
    numbers = layers(config, "encoder_layers")
    return [
        use(config, "Shaw", encoding, place=place, head_dim=width, layers=numbers, remarks=remarks)
    ]


def _granite(config: Config, *, own: str, far: str) -> list[Use]:
    width = head_dim(config, own=own)
    block = config.integer("context_size", name="block", required=True)
    farthest = config.integer(far, name="max_distance", required=True)
    if block > farthest:
        why = f"must not be more than {far}, {farthest}: the table has no rows for such distances."
        cure = "Put the model's own value there."
        config.refuse("absurd-value", "context_size", block, why, cure)
    remarks = (
        _TURNED,
        f"Blocks of {block} frames see nothing but themselves, so no distance reaches {block}.",
        _OWN_TABLE,
    )
    encoding = Shaw(dim=width, max_distance=farthest, values=False)
    return [use(config, "Shaw", encoding, head_dim=width, layers=layers(config), remarks=remarks)]


def _clamped(config: Config) -> list[Use]:
    """Phi-4's audio tower: a number for each distance up to a limit, then the last one again."""
    config.integer("num_attention_heads", name="heads", required=True)
    far = config.integer("bias_max_distance", name="max_distance", required=True)
    row = "|key - query|" if config.flag("bias_symmetric") else f"key - query + {far}"
    remarks = (
        "posenc has no table with a number for every single distance: those of T5 widen.",
        f"The row of a pair is {row}, with key - query held between -{far} and {far - 1}.",
        "All layers share one table.",
    )
    return [
        use(config, "clamped table", None, layers=layers(config, "num_blocks"), remarks=remarks)
    ]


_SEAMLESS = functools.partial(
    _conformer,
    place="speech encoder attention scores",
    heads="speech_encoder_attention_heads",
    depth="speech_encoder_layers",
)

READERS: dict[str, Reader] = {
    "wav2vec2-conformer": _conformer,
    "wav2vec2-bert": functools.partial(_conformer, schemes=("relative", "relative_key")),
    "seamless_m4t": _SEAMLESS,
    "seamless_m4t_v2": functools.partial(_SEAMLESS, schemes=("relative_key",)),
    **dict.fromkeys(("parakeet_encoder", "nemotron_asr_streaming_encoder"), _parakeet),
    "fastspeech2_conformer": _fastspeech2,
    "gemma3n_audio": functools.partial(_gemma, prefix="conf_"),
    "gemma4_audio": _gemma4,
    "phi4_multimodal_audio": _clamped,
    "vits": _vits,
    "speecht5": _speecht5,
    **dict.fromkeys(
        ("granite_speech_encoder", "granite_speech_plus_encoder"),
        functools.partial(_granite, own="dim_head", far="max_pos_emb"),
    ),
    "granite_speech5_encoder": functools.partial(
        _granite, own="head_dim", far="max_position_embeddings"
    ),
}
