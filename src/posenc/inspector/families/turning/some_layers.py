"""Only some layers turn, or not all by the same table: Llama 4, SmolLM3, Cohere 2, ..."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from posenc.inspector.families.turning.rotary import (
    HALF,
    INTERLEAVED,
    still,
    unturned,
    use,
    with_layers,
)
from posenc.inspector.reading import Use
from posenc.inspector.settings import layers, rope
from posenc.inspector.settings.config import Config
from posenc.inspector.settings.rope import Dialect
from posenc.query_scaling import Temperature

Reader = Callable[[Config], list[Use]]


def some(dialect: Dialect, turns: Callable[[Config], tuple[bool, ...]], why: str) -> Reader:
    """A reader of models that turn in some layers only, all of those alike."""

    def read(config: Config) -> list[Use]:
        turning = turns(config)
        kinds = layers.layer_types(config)
        encoding = rope.rotary(config, rope.flat(config), dialect, rope.head_dim(config))
        on = tuple(i for i, turned in enumerate(turning) if turned)
        off = tuple(i for i, turned in enumerate(turning) if not turned)
        linear = tuple(i for i in off if kinds and kinds[i] == "linear_attention")
        off = tuple(i for i in off if i not in linear)
        found = [use(config, encoding, layers=on)] if on else []
        found += unturned(config, kinds) if linear else []
        return [*found, still(off, "", why)] if off else found

    return read


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
        length = config.number("floor_scale", above=0.0, required=True)
        strength = config.number("attn_scale", at_least=0.0, required=True)
        scaling = Temperature(length=int(length), strength=strength)
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
        "it must be true or false, and is read as true; transformers refuses it.",
        "Write true.",
    )
    return True


def _base_each(switch_only: bool) -> Reader:
    """A base for each layer; 0 means that it does not turn."""

    def read(config: Config) -> list[Use]:
        count = layers.count(config)
        bases = config.numbers("layer_rope_theta")
        if bases is None:
            base = rope.find_base(config, rope.flat(config), HALF)
            bases = _muse_bases(count, base) if switch_only else (base,) * count
        layers.one_each(config, "layer_rope_theta", bases)
        found = []
        for base in dict.fromkeys(bool(base) if switch_only else base for base in bases):
            where = tuple(
                i for i, own in enumerate(bases) if (bool(own) if switch_only else own) == base
            )
            if not base:
                found.append(still(where, "", "layer_rope_theta is 0 for these."))
                continue
            settings = rope.flat(config)
            if not switch_only:
                settings.inner.data = {**settings.inner.data, "rope_theta": base}
            encoding = rope.rotary(config, settings, HALF, rope.head_dim(config))
            found.append(use(config, encoding, layers=where))
        return found

    return read


def _muse_bases(count: int, base: float) -> tuple[float, ...]:
    return tuple(0.0 if (count - 1 - i) % 4 == 0 else base for i in range(count))


def _molmo2(config: Config) -> list[Use]:
    """Molmo 2: the scaling reaches the layers of rope_scaling_layers only."""
    encoding = rope.rotary(config, rope.flat(config), HALF, rope.head_dim(config))
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
    crossing = (3, 8, 13, 18, 23, 28, 33, 38) if crossing is None else crossing
    encoding = rope.rotary(config, rope.flat(config), HALF, rope.head_dim(config))
    turning = tuple(i for i in range(count) if i not in crossing)
    why = "Cross attention looks at the picture and does not turn."
    return [
        use(config, encoding, layers=turning),
        still(tuple(i for i in crossing if i < count), "cross_attention", why),
    ]


_ONLY_SLIDING = "Only layers with a sliding window turn."

_EVERY: dict[str, Reader] = {
    **dict.fromkeys(("afmoe", "flint", "lara_mini"), some(HALF, _sliding, _ONLY_SLIDING)),
    "cohere2": some(INTERLEAVED, _sliding, _ONLY_SLIDING),
    "cohere2_moe": some(INTERLEAVED, _cohere_moe, _ONLY_SLIDING),
    **dict.fromkeys(
        ("exaone4", "exaone_moe", "kolibri1"), some(HALF, _sliding_if_any, _ONLY_SLIDING)
    ),
    "smollm3": some(HALF, _no_rope_layers, "no_rope_layers is 0 for these."),
    "llama4_text": _llama4,
    **dict.fromkeys(("granite_swa", "granitemoe_swa"), _base_each(switch_only=False)),
    **dict.fromkeys(("muse_glimmer_text", "muse_spark_text"), _base_each(switch_only=True)),
    "molmo2_text": _molmo2,
    "mllama_text_model": _mllama,
}
READERS = {model_type: with_layers(reader) for model_type, reader in _EVERY.items()}
