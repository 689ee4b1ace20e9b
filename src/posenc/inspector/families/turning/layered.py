"""Queries and keys turned otherwise in some layers, or in some not at all: Gemma 3, Llama 4, ..."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from posenc.inspector.families.turning.latent import MIXED
from posenc.inspector.families.turning.rotary import (
    HALF,
    INTERLEAVED,
    SHARE,
    unturned,
    use,
    with_layers,
)
from posenc.inspector.reading import Use
from posenc.inspector.settings import layers, rope
from posenc.inspector.settings.config import Config
from posenc.inspector.settings.rope import Dialect, Settings
from posenc.query_scaling import Temperature

Reader = Callable[[Config], list[Use]]
FULL, SLIDING = layers.FULL, layers.SLIDING


@dataclass(frozen=True, kw_only=True)
class Kinds:
    """How a model type spells settings that differ by kind of layer.

    Args:
        dialect: as for models whose layers are alike.
        old_bases: for each kind, the key of its base in the old spelling.
        old_scaling: the kinds that an old rope_scaling reaches.
        global_width: whether layers that look at the whole text have heads of their own width.
    """

    dialect: Dialect = HALF
    old_bases: Mapping[str, str] = field(default_factory=dict)
    old_scaling: tuple[str, ...] = ()
    global_width: bool = False


def by_kind(spelling: Kinds) -> Reader:
    """A reader of models with rotary settings for each kind of layer."""

    def read(config: Config) -> list[Use]:
        kinds = layers.layer_types(config)
        found = [_of_kind(config.fresh(), spelling, kinds, kind) for kind in dict.fromkeys(kinds)]
        return [use for use in found if use is not None]

    return read


def _of_kind(config: Config, spelling: Kinds, kinds: tuple[str, ...], kind: str) -> Use | None:
    where = layers.where(kinds, kind)
    layers.count(config)
    if kind in ("conv", "linear_attention"):
        return unturned(config, kinds)[0]
    settings = _settings(config, spelling, kind)
    if settings is None:
        return _still(where, kind, "The settings of this kind of layer are null.")
    width = _global_width(config, where) if spelling.global_width and kind == FULL else None
    width = rope.head_dim(config) if width is None else width
    dialect = replace(spelling.dialect, base=spelling.old_bases.get(kind) or "rope_theta")
    encoding = rope.rotary(config, settings, dialect, width)
    return use(config, encoding, layers=where, layer_type=kind, written=spelling.dialect.written)


def _settings(config: Config, spelling: Kinds, kind: str) -> Settings | None:
    """What stands for a kind of layer; None where null does, so that it does not turn."""
    outer = config.inside("rope_parameters")
    if not spelling.old_bases:
        _refuse_old(config)
    assumed = config.facts.get("rope", {}).get(kind, {})
    if kind in outer.data:
        if outer.data[kind] is None and not spelling.old_bases:
            return None
        inner = outer.inside(kind)
    else:
        inner = outer.inside(kind)
        if outer.data and not spelling.old_bases:
            outer.refuse(
                "missing-key",
                kind,
                None,
                "is missing, and this model type has rotary settings for each kind of layer.",
                f"Put the settings of its {kind} layers there.",
            )
        if assumed is None:
            return None
        if not spelling.old_bases:
            inner.defaults = assumed
    _flat_keys(outer, spelling)
    if kind in spelling.old_scaling and config.mapping("rope_scaling"):
        old = config.inside("rope_scaling")
        if inner.data and inner.data != {"rope_type": "default"}:
            _both_spellings(config, inner, old)
        old.data = {"rope_type": "default", **inner.data, **old.data}
        inner = old
    old, assumed = _old_base(config, spelling, kind, inner)
    return Settings(inner=inner, outer=outer, base=assumed, old_base=old, flat=False)


def _refuse_old(config: Config) -> None:
    """Newer model types have no old spelling: what they make of it is a model that fails."""
    if config.get("rope_scaling"):
        config.refuse(
            "unknown-key",
            "rope_scaling",
            config.get("rope_scaling"),
            "is the old spelling, which this model type does not have; transformers fails on it.",
            "Write `rope_parameters`, with settings for each kind of layer.",
        )
    if config.has("rope_scaling") and config.model_type not in ("dory", "lfm3", "ultrabert"):
        config.find(
            "warning",
            "unknown-key",
            "rope_scaling",
            config.get("rope_scaling"),
            "this model type does not have the old spelling: transformers takes it for all rotary "
            "settings and fails.",
            "Delete it.",
        )


def _both_spellings(config: Config, inner: Config, old: Config) -> None:
    config.find(
        "warning",
        "doubled-key",
        "rope_scaling",
        dict(old.data),
        f"`{inner.path}` says something too, and where they disagree rope_scaling wins.",
        "Keep one of the two; new files have rope_parameters.",
    )


def _old_base(
    config: Config, spelling: Kinds, kind: str, inner: Config
) -> tuple[float | None, float | None]:
    """The base of a kind of layer under its old key, and what the class assumes for it."""
    key = spelling.old_bases.get(kind)
    if key is None:
        return None, None
    inside = inner.get("rope_theta")
    if inside is None and config.has(key):
        return config.number(key, name="base", above=0.0), None
    beside = config.get(key) if config.has(key) else None
    if beside is not None and beside != inside:
        config.find(
            "warning",
            "doubled-key",
            key,
            beside,
            f"`{inner.at('rope_theta')}` says {inside}, and that one wins.",
            "Keep one of the two, with the base the model was trained with.",
        )
    return None, config.facts["rope"][kind]["rope_theta"]


def _flat_keys(outer: Config, spelling: Kinds) -> None:
    flat = [key for key, value in outer.data.items() if not isinstance(value, Mapping | None)]
    for key in flat:
        if key != "truncate" and outer.data[key] not in (None, "default"):
            outer.find(
                "warning",
                "unread-key",
                key,
                outer.data[key],
                "this model type has rotary settings for each kind of layer and reads only those.",
                "Put it inside the kinds of layers that it is meant for.",
            )


def _global_width(config: Config, where: tuple[int, ...]) -> int:
    """The width of heads in layers that look at the whole text: Gemma 4 and kin."""
    if config.get("per_layer_config") is not None:
        widths = {layers.own(config, layer).integer("head_dim", at_least=2) for layer in where}
        if len(widths) > 1:
            config.refuse(
                "unfit-settings",
                "per_layer_config",
                None,
                "gives layers of one kind heads of several widths.",
                "Give all layers that look at the whole text the same head_dim.",
            )
        return widths.pop() or rope.head_dim(config)
    width = config.integer("global_head_dim", name="head_dim", at_least=2)
    if width is None:
        config.assume("head_dim", 512, "global_head_dim")
    return 512 if width is None else width


def _still(where: tuple[int, ...], kind: str, why: str, scaling: object = None) -> Use:
    """Layers whose queries and keys do not turn (NoPE)."""
    return Use(
        kind="none",
        place="queries and keys",
        layers=where,
        layer_type=kind,
        query_scaling=scaling,
        remarks=(why,),
    )


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
        return [*found, _still(off, "", why)] if off else found

    return read


def _sliding(config: Config) -> tuple[bool, ...]:
    """Only layers with a sliding window turn."""
    return tuple(kind == SLIDING for kind in layers.layer_types(config))


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
                found.append(_still(where, "", "layer_rope_theta is 0 for these."))
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
    scaled = tuple(range(count)) if scaled is None else scaled
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
        _still(tuple(i for i in crossing if i < count), "cross_attention", why),
    ]


def _beam(config: Config) -> list[Use]:
    why = "Queries are multiplied by (1 + (position + 1) / 2048) ** 0.1 instead."
    return [
        replace(one, remarks=(*one.remarks, why)) if one.kind == "none" else one
        for one in by_kind(Kinds())(config)
    ]


def _step3p5(config: Config) -> list[Use]:
    """Step 3.5: a base and a share for each layer, of which the first of each kind counts."""
    kinds = layers.layer_types(config)
    return [_step3p5_kind(config.fresh(), kinds, kind) for kind in dict.fromkeys(kinds)]


def _step3p5_kind(config: Config, kinds: tuple[str, ...], kind: str) -> Use:
    outer = config.inside("rope_parameters")
    where = layers.where(kinds, kind)
    if all(isinstance(outer.data.get(own), Mapping) for own in kinds):
        inner, base = outer.inside(kind), None
    else:
        inner = config.inside("rope_scaling" if kind == FULL else "")
        inner.data = {"rope_type": "default"} | _first_of(config, where[0]) | dict(inner.data)
        base = None
    settings = Settings(inner=inner, outer=outer, base=base, flat=False)
    encoding = rope.rotary(config, settings, SHARE, rope.head_dim(config))
    return use(config, encoding, layers=where, layer_type=kind)


def _first_of(config: Config, layer: int) -> dict[str, float]:
    """The base and the share of a layer, of lists or of one number for all."""
    chosen = {}
    for key, inside in (
        ("rope_theta", "rope_theta"),
        ("partial_rotary_factors", "partial_rotary_factor"),
    ):
        given = config.get(key)
        if isinstance(given, list):
            chosen[inside] = (config.numbers(key) or ())[layer]
        elif given is not None:
            chosen[inside] = config.number(key, above=0.0)
    return chosen


def _ultrabert(config: Config) -> list[Use]:
    """UltraBERT: an old rope_theta lists a base for each layer; the last of each kind counts."""
    if config.get("rope_parameters") is not None or config.get("rope_theta") is None:
        return by_kind(Kinds())(config)
    bases = config.numbers("rope_theta", name="base", required=True)
    kinds = layers.layer_types(config)
    of_kind = dict(zip(kinds, bases, strict=False))
    config.data = {
        **config.data,
        "rope_parameters": {kind: {"rope_theta": base} for kind, base in of_kind.items()},
    }
    return by_kind(Kinds())(config)


def _deepseek_v4(config: Config) -> list[Use]:
    """DeepSeek-V4: the last features of a head turn, with a base of their own where compressed."""
    width = config.integer("head_dim", required=True)
    config.get("qk_rope_head_dim")  # saved files have it beside the share; the share wins
    kinds = layers.layer_types(config)
    found = []
    for label, chosen in (
        ("main", tuple(i for i, kind in enumerate(kinds) if kind == SLIDING)),
        ("compress", tuple(i for i, kind in enumerate(kinds) if kind != SLIDING)),
    ):
        if not chosen:
            continue
        own = config.fresh()
        settings = _deepseek_v4_settings(own, label)
        share = settings.inner.number("partial_rotary_factor", name="share that turns", above=0.0)
        share = _deepseek_v4_share(own, width) if share is None else share
        settings.inner.data = {**settings.inner.data, "partial_rotary_factor": None}
        turned = int(width * share)
        encoding = rope.rotary(own, settings, INTERLEAVED, turned)
        remarks = (
            "The last features of a head turn; keys are values too, so the output of attention "
            "is turned back.",
        )
        found.append(
            use(
                own,
                encoding,
                layers=chosen,
                layer_type=label,
                head_dim=width,
                first=width - turned,
                remarks=remarks,
            )
        )
    return found


def _deepseek_v4_share(config: Config, width: int) -> float:
    share = config.number("partial_rotary_factor", name="share that turns", above=0.0)
    if share is not None:
        return share
    turned = (
        config.integer("qk_rope_head_dim", at_least=2) if config.has("qk_rope_head_dim") else None
    )
    if turned is not None:
        return turned / width
    share = config.facts["rope"]["main"]["partial_rotary_factor"]
    config.assume("share that turns", share, "partial_rotary_factor")
    return share


def _deepseek_v4_settings(config: Config, label: str) -> Settings:
    outer = rope.given(config)
    if label in outer.data:
        inner = outer.inside(label)
    elif label == "compress":
        inner = outer
    else:
        inner = config.fresh().inside("")
        inner.taken = config.taken
    key = {"main": "rope_theta", "compress": "compress_rope_theta"}[label]
    data = {name: value for name, value in inner.data.items() if name not in ("main", "compress")}
    if label not in outer.data:
        base = config.number(key, name="base", above=0.0, required=True)
        data = {**data, "rope_theta": base}
    if label == "compress" and "yarn" in (data.get("rope_type"), data.get("type")):
        data.setdefault("attention_factor", 1.0)
    inner.data = data
    return Settings(inner=inner, outer=config.inside(""), flat=False)


def _dots3(config: Config) -> list[Use]:
    """Dots 3 Note: latent attention whose heads, base and turned width differ by kind of layer."""
    kinds = layers.layer_types(config)
    return [_dots3_kind(config.fresh(), kinds, kind) for kind in dict.fromkeys(kinds)]


def _dots3_kind(config: Config, kinds: tuple[str, ...], kind: str) -> Use:
    where = layers.where(kinds, kind)
    still, turned = _dots3_widths(config, where[0], sliding=kind == SLIDING)
    outer = rope.given(config)
    inner = outer.inside(kind) if kind in outer.data else outer
    # The share is that of the widths, whatever the file says.
    skipped = {*kinds, "partial_rotary_factor"}
    inner.data = {key: value for key, value in inner.data.items() if key not in skipped}
    inner.defaults = {}
    key, base = ("swa_rope_theta", 50_000.0) if kind == SLIDING else ("rope_theta", None)
    key = key if not outer.data else "rope_theta"
    base = config.number(key, name="base", above=0.0) or (None if outer.data else base)
    settings = Settings(inner=inner, outer=config.inside(""), base=base, flat=False)
    encoding = rope.rotary(config, settings, MIXED, turned)
    return use(
        config,
        encoding,
        layers=where,
        layer_type=kind,
        head_dim=still + turned,
        first=still,
        written=MIXED.written,
    )


def _dots3_widths(config: Config, layer: int, *, sliding: bool) -> tuple[int, int]:
    """Features of a head that stay, and that turn: of one layer, of its kind, or of all."""
    if sliding and config.get("per_layer_config") is None:
        still = config.integer("swa_qk_nope_head_dim", at_least=0)
        still = 192 if still is None else still
        whole = config.integer("swa_head_dim", at_least=2) or 256
        return still, config.integer("swa_qk_rope_head_dim", at_least=2) or whole - still
    own = layers.own(config, layer)
    still = own.integer("qk_nope_head_dim", at_least=0)
    turned = own.integer("qk_rope_head_dim", at_least=2)
    if still is None:
        still = config.integer("qk_nope_head_dim", at_least=0, required=True)
    if turned is None:
        turned = config.integer("qk_rope_head_dim", at_least=2, required=True)
    return still, turned


GEMMA3 = Kinds(old_bases={FULL: "rope_theta", SLIDING: "rope_local_base_freq"}, old_scaling=(FULL,))
MODERNBERT = Kinds(
    old_bases={FULL: "global_rope_theta", SLIDING: "local_rope_theta"},
    old_scaling=(FULL, SLIDING),
)
OLMO3 = Kinds(old_bases={FULL: "rope_theta", SLIDING: ""}, old_scaling=(FULL,))
_ONLY_SLIDING = "Only layers with a sliding window turn."

_EVERY: dict[str, Reader] = {
    **dict.fromkeys(
        ("gemma3_text", "gemma3n_text", "t5gemma2_text", "t5gemma2_decoder"), by_kind(GEMMA3)
    ),
    **dict.fromkeys(("modernbert", "modernbert-decoder"), by_kind(MODERNBERT)),
    "olmo3": by_kind(OLMO3),
    **dict.fromkeys(
        ("gemma4_text", "gemma4_unified_text", "diffusion_gemma_text", "embedding_gemma2_text"),
        by_kind(Kinds(global_width=True)),
    ),
    **dict.fromkeys(("dory", "lfm3"), by_kind(Kinds())),
    "ultrabert": _ultrabert,
    **dict.fromkeys(("laguna", "mellum", "zaya"), by_kind(Kinds(dialect=SHARE))),
    "mimo_v2_flash": by_kind(Kinds(dialect=replace(SHARE, share=0.334))),
    "step3p5": _step3p5,
    "beam": _beam,
    "deepseek_v4": _deepseek_v4,
    "dots3_note_text": _dots3,
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
    "idefics": some(HALF, lambda config: (True,) * layers.count(config), ""),
}

READERS = {model_type: with_layers(reader) for model_type, reader in _EVERY.items()}
