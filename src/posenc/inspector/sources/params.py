"""params.json: the settings beside weights as Meta and Mistral publish them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from posenc.by_parts import Llama3
from posenc.inspector.reading import Finding, Part, Reading, Use
from posenc.inspector.settings.config import Config, Unfit
from posenc.inspector.settings.parts import worst_first
from posenc.query_scaling import Temperature
from posenc.rotary import Rotary

_OTHER_POSITIONS = {
    "vision_args": "its vision tower has positions of its own",
    "vision_encoder": "its vision tower has positions of its own",
    "vision_chunk_size": "its vision tower has positions of its own",
    "yarn": "it slows the rotary pairs for longer texts",
    "rope_scaling": "it slows the rotary pairs for longer texts",
    "llama_4_scaling": "it multiplies queries by their position",
    "qk_rope_head_dim": "only that many features of a head turn",
}
# Factor and high_frequency_factor stand in the code of Meta, not in the file:
# meta-llama/llama-models, models/llama3/model.py, apply_scaling; models/llama4/args.py, ModelArgs.
_SLOWED = {"llama": (8.0, 4.0), "llama4": (16.0, 1.0)}
_TRAINED_FOR = 8192
_REORDERED = (
    "The files of Hugging Face for the same model have the rows of its query and key weights "
    "reordered, and turn half pairs.",
)
_MOST_LAYERS = 10_000


def fits(settings: Mapping[str, Any]) -> bool:
    """Whether settings are those of a params.json: they call the width `dim`."""
    return "dim" in settings and "n_heads" in settings and "hidden_size" not in settings


def read_params(
    settings: Mapping[str, Any], source: str = "settings", *, findings: Iterable[Finding] = ()
) -> Reading:
    """What a model does with positions, from its settings as they stand in params.json.

    Its weights turn interleaved pairs.

    Args:
        settings: what the file holds.
        source: what to call it.
        findings: what was odd about the text itself; kept with the others.
    """
    config = Config(settings, findings=list(findings))
    try:
        uses = _uses(config)
    except Unfit as unfit:
        uses = ()
        config.findings.append(unfit.finding)
    for key in _OTHER_POSITIONS.keys() & settings.keys():
        config.find(
            "warning",
            "not-read",
            key,
            settings[key],
            f"{_OTHER_POSITIONS[key].capitalize()}, which is not read from a params.json.",
            "Read the config.json of the same model from the Hugging Face Hub.",
        )
    family = _family(settings)
    return Reading(
        source=source,
        model_type=family,
        parts=(Part(name="", model_type=family, uses=uses),),
        findings=worst_first(config.findings),
    )


def _family(settings: Mapping[str, Any]) -> str:
    """llama4 has settings that no other has; the others differ in nothing that matters here."""
    return "llama4" if {"nope_layer_interval", "moe_args"} & settings.keys() else "llama"


def _uses(config: Config) -> tuple[Use, ...]:
    layers = config.integer("n_layers", required=True) or 0
    if layers > _MOST_LAYERS:
        config.refuse(
            "absurd-value",
            "n_layers",
            layers,
            f"must be at most {_MOST_LAYERS:,}.",
            "Put the model's own value there.",
        )
    every = config.integer("nope_layer_interval")
    plain = tuple(range(every - 1, layers, every)) if every else ()
    rotary = _rotary(config, tuple(layer for layer in range(layers) if layer not in plain))
    return (rotary, _no_positions(config.fresh(), plain)) if plain else (rotary,)


def _rotary(config: Config, layers: tuple[int, ...]) -> Use:
    head_dim = config.integer("head_dim", at_least=2) or _head_dim(config)
    if head_dim % 2:
        config.refuse(
            "odd-width",
            "head_dim",
            head_dim,
            "must be even, because features turn in pairs.",
            "Put the model's own numbers there.",
        )
    base = config.number("rope_theta", name="base", above=0.0) or _base(config)
    scaling = _scaling(config) if config.flag("use_scaled_rope") else None
    return Use(
        kind="rotary",
        place="queries and keys",
        encoding=Rotary(dim=head_dim, base=base, layout="interleaved", scaling=scaling),
        layers=layers,
        head_dim=head_dim,
        original_length=scaling.original_length if scaling else None,
        values=tuple(config.taken),
        remarks=_REORDERED if _family(config.data) == "llama" else (),
    )


def _head_dim(config: Config) -> int:
    dim = config.integer("dim", required=True) or 0
    heads = config.integer("n_heads", required=True) or 1
    if dim % heads:
        config.refuse(
            "uneven-heads",
            "dim",
            dim,
            f"must be a multiple of `n_heads`, {heads}, which share it.",
            "Put the model's own numbers there.",
        )
    return config.derive("head_dim", dim // heads, "dim", "n_heads")


def _base(config: Config) -> float:
    """The base where the file names none, as those of Llama 1, Llama 2 and Mistral 7B v0.1."""
    config.find(
        "warning",
        "missing-key",
        "rope_theta",
        None,
        "It is missing, so 10,000 is taken, with which Llama 1, Llama 2 and Mistral 7B v0.1 were "
        "trained; newer code of Meta takes 500,000 and of Mistral 1,000,000.",
        "Add `rope_theta`, with the value the model was trained with.",
    )
    config.assume("base", 10_000.0, "rope_theta")
    return 10_000.0


def _scaling(config: Config) -> Llama3:
    factor, high_frequency_factor = _SLOWED[_family(config.data)]
    if _family(config.data) == "llama" and not config.has("rope_scaling_factor"):
        config.find(
            "note",
            "factor-not-in-file",
            "use_scaled_rope",
            True,
            f"It names no factor; Meta's code divides by {factor:g}, while the files of Hugging "
            "Face say 32 for Llama 3.2 with 1 and 3 billion parameters.",
            "For those, read config.json from the Hugging Face Hub.",
        )
    config.assume("original_length", _TRAINED_FOR, "use_scaled_rope")
    return Llama3(
        factor=_number(config, "rope_scaling_factor", factor, at_least=1.0),
        original_length=_TRAINED_FOR,
        high_frequency_factor=_number(
            config, "rope_high_freq_factor", high_frequency_factor, at_least=1.0
        ),
    )


def _no_positions(config: Config, layers: tuple[int, ...]) -> Use:
    """Every so many layers of Llama 4 turn nothing, and may scale their queries instead."""
    config.integer("nope_layer_interval")
    scaled = None
    if config.flag("attn_temperature_tuning"):
        length = _number(config, "floor_scale", 8192.0, at_least=1.0)
        strength = _number(config, "attn_scale", 0.1, at_least=0.0)
        scaled = Temperature(length=int(length), strength=strength)
    return Use(
        kind="none",
        place="queries and keys",
        layers=layers,
        query_scaling=scaled,
        values=tuple(config.taken),
    )


def _number(config: Config, key: str, assumed: float, *, at_least: float) -> float:
    """A number of the file, or what the code assumes in its place."""
    given = config.number(key, at_least=at_least)
    if given is None:
        config.assume(key, assumed, key)
    return assumed if given is None else given
