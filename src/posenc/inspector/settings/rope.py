"""Rotary settings, old spelling or new, as one rotary encoding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from posenc.inspector.settings import lengths, scalings
from posenc.inspector.settings.config import Config
from posenc.rotary import Layout, Rotary


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """How a model type spells its rotary settings, and which of them it obeys.

    Args:
        layout: which features are a pair.
        written: pairs in the order in which they are written back, where that is another.
        base: the key of the base in the old spelling, beside rope_scaling.
        base_inside: whether the settings inside rope_parameters or rope_scaling may give it.
        partial: the key of the share of a head that turns, in the old spelling.
        obeys_partial: whether plain rotation obeys that share; scaled rotation always does.
        names: rope types under other names, as this model type knows them.
        kinds: the rope types that this model type accepts, where it does not accept all.
        share: the share that turns where plain rotary settings of a kind of layer lack it.
    """

    layout: Layout = "half"
    written: Layout | None = None
    base: str = "rope_theta"
    base_inside: bool = True
    partial: str = "partial_rotary_factor"
    obeys_partial: bool = False
    names: Mapping[str, str] = field(default_factory=dict)
    kinds: tuple[str, ...] = ()
    share: float | None = None


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Where the rotary settings of some layers stand.

    Args:
        inner: what stands in rope_parameters or rope_scaling for these layers.
        outer: what stands in the whole of it; the same where layers are not told apart.
        base: the base, where no setting gives one.
        old_base: the base in the old spelling; it counts where `inner` has none.
        flat: whether settings beside rope_scaling are looked at.
    """

    inner: Config
    outer: Config
    base: float | None = None
    old_base: float | None = None
    flat: bool = True


def flat(config: Config) -> Settings:
    """The rotary settings of a model whose layers all turn alike."""
    inner = chosen(config)
    return Settings(inner=inner, outer=inner)


def chosen(config: Config) -> Config:
    """The rotary settings of a model whose layers all turn alike."""
    inner = given(config)
    kinds = [key for key in ("full_attention", "sliding_attention") if key in inner.data]
    if kinds and "layer_types" in config.defaults and config.model_type not in INDEXED:
        inner.refuse(
            "unknown-key",
            kinds[0],
            inner.data[kinds[0]],
            "is a kind of layer, and the layers of this model type all turn alike.",
            "Take what stands inside it out.",
        )
    return inner


def given(config: Config) -> Config:
    """What stands in rope_scaling, if there is something, else in rope_parameters."""
    old, new = config.mapping("rope_scaling"), config.mapping("rope_parameters")
    if old and config.model_type in UNREAD_SCALING:
        config.find(
            "warning",
            "unread-key",
            "rope_scaling",
            dict(old),
            "this model type reads rope_parameters only, so nothing is scaled.",
            "Move it to `rope_parameters`, with the base inside.",
        )
        old = None
    if old and new and old != new:
        config.find(
            "warning",
            "doubled-key",
            "rope_scaling",
            dict(old),
            "`rope_parameters` says something else, and rope_scaling wins.",
            "Keep one of the two; new files have rope_parameters.",
        )
    inner = config.inside("rope_scaling" if old else "rope_parameters")
    if not inner.data:
        inner.defaults = config.facts.get("rope", {})
    return inner


INDEXED = (
    "axk2",
    "deepseek_v32",
    "glm_moe_dsa",
    "hy_v4",
    "hy_v4_vl_text",
    "minimax_m3_vl_text",
    "mistral_large4_text",
    "unlimited_ocr_text",
)
"""Model types to whose layers these names mean nothing."""

UNREAD_SCALING = ("cohere2_moe",)
"""Model types whose class stores rope_scaling and never looks at it."""


def head_dim(config: Config) -> int:
    """Features of a head: head_dim, else hidden_size over num_attention_heads."""
    if (width := config.integer("head_dim")) is not None:
        return width
    hidden = config.integer("hidden_size", required=True)
    heads = config.integer("num_attention_heads", required=True)
    if hidden % heads:
        config.find(
            "warning",
            "unfit-settings",
            "hidden_size",
            hidden,
            f"it is no multiple of the {heads} heads, which many model types refuse; heads of "
            f"{hidden // heads} features leave {hidden % heads} of them out.",
            "Give `head_dim`, or correct one of the two.",
        )
    return config.derive("head_dim", hidden // heads, "hidden_size", "num_attention_heads")


def rotary(
    config: Config,
    settings: Settings,
    dialect: Dialect,
    width: int,
    *,
    width_key: str = "head_dim",
) -> Rotary:
    """The rotary encoding that these settings ask for, in heads of `width` features."""
    kind = rope_type(config, settings, dialect)
    share = partial(config, settings, dialect)
    if share is None and kind in PLAIN and dialect.share is not None:
        share = dialect.share
        config.assume("share that turns", share, dialect.partial)
    share = 1.0 if share is None else share
    base = find_base(config, settings, dialect)
    turned = width
    if kind != "proportional" and (kind not in PLAIN or dialect.obeys_partial):
        turned = int(width * share)
    elif kind in PLAIN and share != 1.0:
        _unread_share(config, dialect, share)
    rule = scalings.read(
        kind, lengths.Given(config=config, settings=settings, turned=turned, share=share)
    )
    if turned % 2 and turned == width:
        config.refuse(
            "odd-width",
            width_key,
            width,
            "must be even, because features turn in pairs.",
            "Give the width the model was trained with.",
        )
    if turned % 2:
        # Transformers takes the odd width as the exponent's and turns one feature more.
        base, turned = base ** ((turned + 1) / turned), turned + 1
        config.find(
            "warning",
            "odd-width",
            dialect.partial,
            share,
            f"it makes an odd width of {turned - 1}, of which transformers turns {turned}.",
            "Take a share that makes an even number of features.",
        )
    if not 2 <= turned <= width:
        config.refuse(
            "absurd-value",
            dialect.partial,
            share,
            f"must let 2 to {width} features of a head turn; it lets {turned}.",
            "Give the share of the head that turns, for example 0.5.",
        )
    return Rotary(
        dim=width,
        base=base,
        layout=dialect.layout,
        rotary_dim=None if turned == width else turned,
        scaling=rule,
    )


PLAIN = ("default", "axial")
"""Rope types that change no frequency."""


def rope_type(config: Config, settings: Settings, dialect: Dialect) -> str:
    """The word that names the scaling: rope_type, else type, else default."""
    inner = settings.inner
    new, old = inner.word("rope_type"), inner.word("type")
    kind, other = (dialect.names.get(word or "", word) for word in (new, old))
    if kind and other and kind != other:
        inner.find(
            "warning",
            "doubled-key",
            "type",
            old,
            f"rope_type is {new!r} for this model type, and rope_type wins.",
            "Write `rope_type` instead of `type`.",
        )
    kind = kind or other or "default"
    if kind == "default" and inner.has("factor"):
        inner.find(
            "warning",
            "factor-without-type",
            "factor",
            inner.data["factor"],
            "no rope_type tells what to do with it, so nothing is scaled.",
            'Add "rope_type", for example "linear" or "yarn".',
        )
    if dialect.kinds and kind not in dialect.kinds:
        inner.refuse(
            "unknown-rope-type",
            "rope_type" if inner.has("rope_type") else "type",
            kind,
            f"must be {' or '.join(dialect.kinds)}, the only ones this model type knows.",
            "Take one of those.",
        )
    return kind


def partial(config: Config, settings: Settings, dialect: Dialect) -> float | None:
    """The share of a head that turns, where the file or the model's class says it."""
    share = settings.inner.number("partial_rotary_factor", name="share that turns", above=0.0)
    if share is None and settings.flat:
        share = config.number(dialect.partial, name="share that turns", above=0.0)
    if share is None and settings.flat:
        share = config.facts.get("share")
        if share is not None:
            config.assume("share that turns", share, dialect.partial)
    if share is not None and share > 1:
        config.refuse(
            "absurd-value",
            dialect.partial,
            share,
            "must be at most 1: it is the share of a head that turns.",
            "Give the share of the head that turns, for example 0.5.",
        )
    return share


def find_base(config: Config, settings: Settings, dialect: Dialect) -> float:
    """The base: inside, else under its old name, else what the model's class assumes."""
    inside = None
    if dialect.base_inside:
        inside = settings.inner.number("rope_theta", name="base", above=0.0)
    if not settings.flat:
        beside = None
    elif inside is None:
        beside = config.number(dialect.base, name="base", above=0.0)
    else:
        beside = config.get(dialect.base) if config.has(dialect.base) else None
    if inside is not None and beside is not None and beside != inside:
        config.find(
            "warning",
            "doubled-key",
            dialect.base,
            beside,
            f"`{settings.inner.at('rope_theta')}` says {inside:,.10g}, and that one wins.",
            "Keep one of the two, with the base the model was trained with.",
        )
    found = inside if inside is not None else beside
    found = settings.old_base if found is None else found
    if found is not None:
        return found
    base = settings.base if settings.base is not None else config.facts.get("theta")
    if not isinstance(base, int | float):
        base = 10_000.0
    config.assume("base", base, dialect.base)
    severity = "warning" if config.has("rope_parameters") else "note"
    config.find(
        severity,
        "base-missing",
        dialect.base,
        None,
        f"the file gives no base, so the model's class takes {base:,.10g}.",
        "Check that against the model card; a base that is lost breaks the model at every length.",
    )
    return base


def _unread_share(config: Config, dialect: Dialect, share: float) -> None:
    config.find(
        "warning",
        "unread-key",
        dialect.partial,
        share,
        "this model type turns whole heads, whatever it says, unless the rotation is scaled.",
        "Delete it, or check whether the weights belong to another model type.",
    )
