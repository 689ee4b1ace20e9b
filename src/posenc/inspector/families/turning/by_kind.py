"""Rotary settings for each kind of layer: Gemma 3 and 4, ModernBERT, OLMo 3, ..."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from posenc.inspector.families.turning.rotary import (
    HALF,
    SHARE,
    still,
    unturned,
    use,
    with_layers,
)
from posenc.inspector.reading import Use
from posenc.inspector.settings import layers, rope
from posenc.inspector.settings.config import Config
from posenc.inspector.settings.rope import Dialect, Settings

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
        return still(where, kind, "The settings of this kind of layer are null.")
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
            f"`{inner.at('rope_theta')}` says {inside:,.10g}, and that one wins.",
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


GEMMA3 = Kinds(old_bases={FULL: "rope_theta", SLIDING: "rope_local_base_freq"}, old_scaling=(FULL,))
MODERNBERT = Kinds(
    old_bases={FULL: "global_rope_theta", SLIDING: "local_rope_theta"},
    old_scaling=(FULL, SLIDING),
)
OLMO3 = Kinds(old_bases={FULL: "rope_theta", SLIDING: ""}, old_scaling=(FULL,))

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
    **dict.fromkeys(("laguna", "mellum", "zaya"), by_kind(Kinds(dialect=SHARE))),
    "mimo_v2_flash": by_kind(Kinds(dialect=replace(SHARE, share=0.334))),
    "beam": _beam,
    "step3p5": _step3p5,
    "ultrabert": _ultrabert,
}
READERS = {model_type: with_layers(reader) for model_type, reader in _EVERY.items()}
