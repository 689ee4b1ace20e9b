"""Rotary settings for each kind of layer: Gemma 3 and 4, ModernBERT, OLMo 3, ..."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NoReturn

from posenc.inspector.families.shared import Reader
from posenc.inspector.families.turning.uses import HALF, SHARE, still, unturned, use, with_layers
from posenc.inspector.reading import Use, Value
from posenc.inspector.settings import layers, rope
from posenc.inspector.settings.config import Config
from posenc.inspector.settings.rope_spellings import Dialect, Settings

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
        return [_of_kind(config.fresh(), spelling, kinds, kind) for kind in dict.fromkeys(kinds)]

    return read


def _of_kind(config: Config, spelling: Kinds, kinds: tuple[str, ...], kind: str) -> Use:
    where = layers.where(kinds, kind)
    layers.count(config)  # so that it stands among the values
    if kind in layers.UNTURNED:
        return next(use for use in unturned(config, kinds) if use.layer_type == kind)
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
    if spelling.old_bases:
        inner = outer.inside(kind)
    else:
        _refuse_old(config)
        assumed = config.facts.get("rope", {}).get(kind, {})
        if kind not in outer.data and outer.data:
            _refuse_without(outer, kind)
        if outer.data.get(kind, assumed) is None:
            return None
        inner = outer.inside(kind, defaults=None if kind in outer.data else assumed)
    _unread_flat_keys(outer)
    if kind in spelling.old_scaling and config.mapping("rope_scaling"):
        inner = _over(config, config.inside("rope_scaling"), inner)
    old, base = _old_base(config, spelling, kind, inner)
    return Settings(inner=inner, outer=outer, base=base, old_base=old, flat=False)


def _refuse_without(outer: Config, kind: str) -> NoReturn:
    outer.refuse(
        "missing-key",
        kind,
        None,
        "is missing, and this model type has rotary settings for each kind of layer.",
        f"Put the settings of its {kind} layers there.",
    )


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
            "is the old spelling, which this model type does not have: transformers takes it for "
            "all rotary settings and fails.",
            "Delete it.",
        )


def _over(config: Config, old: Config, new: Config) -> Config:
    """The old spelling, with the new one behind it."""
    if new.data and new.data != {"rope_type": "default"}:
        config.find(
            "warning",
            "doubled-key",
            "rope_scaling",
            dict(old.data),
            f"stands beside `{new.path}`, and wins where they disagree.",
            "Keep one of the two; new files have rope_parameters.",
        )
    behind = (
        Value(name=key, value=value, origin="file", key=new.at(key))
        for key, value in new.data.items()
        if key not in old.data
    )
    return old.overlaid(*behind).assuming(rope_type="default")


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
            f"contradicts `{inner.at('rope_theta')}`, which is {inside:,.10g} and wins.",
            "Keep one of the two, with the base the model was trained with.",
        )
    return None, config.facts["rope"][kind]["rope_theta"]


def _unread_flat_keys(outer: Config) -> None:
    flat = [key for key, value in outer.data.items() if not isinstance(value, Mapping | None)]
    for key in flat:
        if key != "truncate" and outer.data[key] not in (None, "default"):
            outer.find(
                "warning",
                "unread-key",
                key,
                outer.data[key],
                "is never read: this model type reads rotary settings of each kind of layer only.",
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
        inner = outer.inside(kind)
    else:
        inner = config.inside("rope_scaling") if kind == FULL else config.empty()
        behind = (own for own in _step3p5_layer(config, where[0]) if own.name not in inner.data)
        inner = inner.overlaid(*behind).assuming(rope_type="default")
    settings = Settings(inner=inner, outer=outer, flat=False)
    encoding = rope.rotary(config, settings, SHARE, rope.head_dim(config))
    return use(config, encoding, layers=where, layer_type=kind)


def _step3p5_layer(config: Config, layer: int) -> Iterator[Value]:
    """The base and the share of a layer, of lists or of one number for all."""
    for key, name in (
        ("rope_theta", "rope_theta"),
        ("partial_rotary_factors", "partial_rotary_factor"),
    ):
        given = config.get(key)
        if isinstance(given, list):
            given = (config.numbers(key) or ())[layer]
        elif given is not None:
            given = config.number(key, above=0.0)
        if given is not None:
            yield Value(name=name, value=given, origin=config.origin(key), key=config.at(key))


def _ultrabert(config: Config) -> list[Use]:
    """UltraBERT: an old rope_theta lists a base for each layer; the last of each kind counts."""
    if config.get("rope_parameters") is not None or config.get("rope_theta") is None:
        return by_kind(Kinds())(config)
    _refuse_old(config)
    bases = config.numbers("rope_theta", required=True)
    kinds = layers.layer_types(config)
    last = dict(zip(kinds, bases, strict=False))
    found = []
    for kind in dict.fromkeys(kinds):
        own = config.taking(config.taken)
        if kind not in last:
            _refuse_without(own.inside("rope_parameters"), kind)
        base = own.derive("base", last[kind], "rope_theta", "layer_types")
        settings = Settings(inner=own.empty(), outer=own.empty(), old_base=base, flat=False)
        encoding = rope.rotary(own, settings, HALF, rope.head_dim(own))
        found.append(use(own, encoding, layers=layers.where(kinds, kind), layer_type=kind))
    return found


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
