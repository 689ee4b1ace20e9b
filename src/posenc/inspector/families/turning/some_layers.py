"""Only some layers turn, or not all by the same table: Llama 4, SmolLM3, Cohere 2, ..."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from posenc.inspector.families.shared import Reader
from posenc.inspector.families.turning.uses import (
    HALF,
    INTERLEAVED,
    still,
    unturned,
    use,
    with_layers,
)
from posenc.inspector.reading import Use, Value
from posenc.inspector.settings import layers, rope, rope_spellings
from posenc.inspector.settings.config import Config
from posenc.inspector.settings.rope_spellings import Dialect
from posenc.query_scaling import Temperature


def some(dialect: Dialect, turns: Callable[[Config], tuple[bool, ...]], why: str) -> Reader:
    """A reader of models that turn in some layers only, all of those alike."""

    def read(config: Config) -> list[Use]:
        turning = turns(config)
        kinds = layers.layer_types(config)
        encoding = rope.rotary(config, rope_spellings.flat(config), dialect, rope.head_dim(config))
        on = tuple(i for i, turned in enumerate(turning) if turned)
        attending = set(layers.turning(config, kinds))
        off = tuple(i for i, turned in enumerate(turning) if not turned and i in attending)
        return [use(config, encoding, layers=on), *unturned(config, kinds), still(off, "", why)]

    return with_layers(read)


def _sliding(config: Config) -> tuple[bool, ...]:
    """Only layers with a sliding window turn."""
    return tuple(kind == layers.SLIDING for kind in layers.layer_types(config))


def _sliding_if_any(config: Config) -> tuple[bool, ...]:
    """Only layers with a sliding window turn, or all where there is no window."""
    if config.get("sliding_window") is None:
        return (True,) * layers.count(config)
    return _sliding(config)


def _cohere_moe(config: Config) -> tuple[bool, ...]:
    """Layers with a sliding window, and the dense first ones where each of those looks far."""
    prefix = config.integer("first_k_dense_replace", at_least=0) or 0
    kinds = config.words("mlp_layer_types") or ("dense",) * prefix
    far = config.integer("prefix_dense_sliding_window_pattern") == 1
    dense = [far and kind == "dense" for kind in kinds]
    dense += [False] * layers.count(config)
    return tuple(turned or dense[i] for i, turned in enumerate(_sliding(config)))


def _no_rope_layers(config: Config) -> tuple[bool, ...]:
    """In spite of its name, a 1 in no_rope_layers means that the layer turns."""
    given = config.integers("no_rope_layers", at_least=0)
    count = layers.count(config)
    if given is None or (not given and config.model_type == "llama4_text"):
        step = config.integer("no_rope_layer_interval", required=True)
        return tuple((i + 1) % step != 0 for i in range(count))
    layers.one_each(config, "no_rope_layers", given)
    return tuple(bool(turned) for turned in given)


def _llama4(config: Config) -> list[Use]:
    """Llama 4: layers that do not turn grow their queries by a temperature."""
    found = some(INTERLEAVED, _no_rope_layers, "no_rope_layers is 0 for these.")(config)
    scaling = None
    if _tuned(config):
        length = config.integer("floor_scale", required=True)
        if length >= 2**31:
            why = "must be below 2**31: it counts tokens."
            config.refuse("absurd-value", "floor_scale", length, why, "Give the model's own.")
        strength = config.number("attn_scale", at_least=0.0, required=True)
        scaling = Temperature(length=length, strength=strength)
    remarks = ("Queries and keys are normalised after turning.",)
    return [
        replace(one, query_scaling=scaling)
        if one.kind == "none"
        else replace(one, remarks=remarks if config.flag("use_qk_norm") else ())
        for one in found
    ]


def _tuned(config: Config) -> bool:
    """Whether queries grow; the first release of Llama 4 Scout says 4 where it means true."""
    key = "attn_temperature_tuning"
    if config.get(key) != 4:
        return config.flag(key)
    config.find(
        "warning",
        "wrong-type",
        key,
        4,
        "must be true or false, and is read as true; transformers refuses it.",
        "Write true.",
    )
    return True


def _base_each(config: Config) -> list[Use]:
    """Granite with windows: a base for each layer; 0 means that it does not turn."""
    bases = config.numbers("layer_rope_theta")
    if bases is None:
        settings = rope_spellings.flat(config)
        encoding = rope.rotary(config, settings, HALF, rope.head_dim(config))
        return [use(config, encoding, layers=layers.every(config))]
    layers.one_each(config, "layer_rope_theta", bases)
    found = []
    for base in dict.fromkeys(bases):
        where = tuple(i for i, other in enumerate(bases) if other == base)
        own = config.taking(config.taken)
        found.append(_of_base(own, where, base) if base else still(where, "", _BASE_IS_0))
    return found


def _of_base(config: Config, where: tuple[int, ...], base: float) -> Use:
    key = "layer_rope_theta"
    own = Value(name="rope_theta", value=base, origin=config.origin(key), key=config.at(key))
    settings = rope_spellings.flat(config)
    settings = replace(settings, inner=settings.inner.overlaid(own))
    encoding = rope.rotary(config, settings, HALF, rope.head_dim(config))
    return use(config, encoding, layers=where)


def _zero_or_base(config: Config) -> tuple[bool, ...]:
    """Muse: a 0 in layer_rope_theta stops a layer; other numbers there change no base."""
    bases = config.numbers("layer_rope_theta")
    if bases is None:
        count = layers.count(config)
        return tuple((count - 1 - i) % 4 != 0 for i in range(count))
    layers.one_each(config, "layer_rope_theta", bases)
    return tuple(bool(base) for base in bases)


def _molmo2(config: Config) -> list[Use]:
    """Molmo 2: the scaling reaches the layers of rope_scaling_layers only."""
    encoding = rope.rotary(config, rope_spellings.flat(config), HALF, rope.head_dim(config))
    count = layers.count(config)
    scaled = config.integers("rope_scaling_layers", at_least=0)
    scaled = tuple(range(count)) if scaled is None else tuple(dict.fromkeys(scaled))
    plain = tuple(i for i in range(count) if i not in scaled)
    return [
        use(config, encoding, layers=scaled),
        use(config, replace(encoding, scaling=None), layers=plain),
    ]


def _mllama(config: Config) -> list[Use]:
    """Llama 3.2 Vision: layers that look at the picture do not turn."""
    count = layers.count(config)
    crossing = config.integers("cross_attention_layers", at_least=0)
    if crossing is None:
        default = (3, 8, 13, 18, 23, 28, 33, 38)
        crossing = config.assume("cross_attention_layers", default, "cross_attention_layers")
    encoding = rope.rotary(config, rope_spellings.flat(config), HALF, rope.head_dim(config))
    crossing = tuple(dict.fromkeys(crossing))
    turning = tuple(i for i in range(count) if i not in crossing)
    why = "Cross attention looks at the picture and does not turn."
    return [
        use(config, encoding, layers=turning),
        still(tuple(i for i in crossing if i < count), "cross_attention", why),
    ]


_ONLY_SLIDING = "Only layers with a sliding window turn."
_BASE_IS_0 = "layer_rope_theta is 0 for these."

_EVERY: dict[str, Reader] = {
    **dict.fromkeys(("afmoe", "flint", "lara_mini"), some(HALF, _sliding, _ONLY_SLIDING)),
    "cohere2": some(INTERLEAVED, _sliding, _ONLY_SLIDING),
    "cohere2_moe": some(INTERLEAVED, _cohere_moe, _ONLY_SLIDING),
    **dict.fromkeys(
        ("exaone4", "exaone_moe", "kolibri1"), some(HALF, _sliding_if_any, _ONLY_SLIDING)
    ),
    "smollm3": some(HALF, _no_rope_layers, "no_rope_layers is 0 for these."),
    "llama4_text": _llama4,
    **dict.fromkeys(("granite_swa", "granitemoe_swa"), _base_each),
    **dict.fromkeys(
        ("muse_glimmer_text", "muse_spark_text"), some(HALF, _zero_or_base, _BASE_IS_0)
    ),
    "molmo2_text": _molmo2,
    "mllama_text_model": _mllama,
}
READERS = {model_type: with_layers(reader) for model_type, reader in _EVERY.items()}
