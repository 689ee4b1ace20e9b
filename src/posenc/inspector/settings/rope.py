"""Rotary settings, old spelling or new, as one rotary encoding."""

from __future__ import annotations

import reprlib

from posenc.inspector.settings import scalings
from posenc.inspector.settings.config import Config
from posenc.inspector.settings.rope_spellings import Dialect, Given, Settings
from posenc.rotary import Rotary

PLAIN = ("default", "axial")
"""Rope types that change no frequency."""


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
            f"is no multiple of the {heads} heads, which many model types refuse; heads of "
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
    """The rotary encoding that these settings ask for, in heads of `width` features.

    Args:
        config: the settings of the whole part.
        settings: where the rotary ones stand.
        dialect: how the model type spells them.
        width: features of a head, or of the part of it that is looked at.
        width_key: the setting that gave the width.
    """
    kind = rope_type(config, settings, dialect)
    share = _share(config, settings, dialect, kind)
    base = find_base(config, settings, dialect)
    turned = width
    if kind not in (*PLAIN, "proportional") or (kind in PLAIN and dialect.obeys_partial):
        turned = int(width * share)
    elif kind in PLAIN and share != 1.0:
        _unread_share(config, dialect, share)
    rule = scalings.read(kind, Given(config=config, settings=settings, turned=turned, share=share))
    if turned % 2 and turned == width:
        config.refuse(
            "odd-width",
            width_key,
            width,
            "must be even, because features turn in pairs.",
            "Give the width the model was trained with.",
        )
    if turned % 2:
        _odd_share(config, dialect, share, turned)
        # Transformers takes the odd width as the exponent's and turns one feature more.
        base, turned = base ** ((turned + 1) / turned), turned + 1
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
            f"contradicts rope_type, which is {reprlib.repr(new)} and wins.",
            "Write `rope_type` instead of `type`.",
        )
    kind = kind or other or "default"
    if kind == "default" and inner.has("factor"):
        inner.find(
            "warning",
            "factor-without-type",
            "factor",
            inner.data["factor"],
            "has no rope_type beside it that tells what to do with it, so nothing is scaled.",
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


def _share(config: Config, settings: Settings, dialect: Dialect, kind: str) -> float:
    share = partial(config, settings, dialect)
    if share is None and kind in PLAIN and dialect.share is not None:
        share = config.assume("share that turns", dialect.share, dialect.partial)
    return 1.0 if share is None else share


def find_base(config: Config, settings: Settings, dialect: Dialect) -> float:
    """The base: inside, else under its old name, else what the model's class assumes."""
    inside = settings.inner.number("rope_theta", name="base", above=0.0)
    beside = _base_beside(config, settings, dialect, inside) if settings.flat else None
    for found in (inside, beside, settings.old_base):
        if found is not None:
            return found
    return _assumed_base(config, settings, dialect)


def _base_beside(
    config: Config, settings: Settings, dialect: Dialect, inside: float | None
) -> float | None:
    """The base in the old spelling; a word about it where another one inside hides it."""
    if inside is None:
        return config.number(dialect.base, name="base", above=0.0)
    beside = config.get(dialect.base) if config.has(dialect.base) else None
    if beside is not None and beside != inside:
        config.find(
            "warning",
            "doubled-key",
            dialect.base,
            beside,
            f"contradicts `{settings.inner.at('rope_theta')}`, which is {inside:,.10g} and wins.",
            "Keep one of the two, with the base the model was trained with.",
        )
    return None


def _assumed_base(config: Config, settings: Settings, dialect: Dialect) -> float:
    base = settings.base if settings.base is not None else config.facts.get("theta")
    if not isinstance(base, int | float):
        base = 10_000.0
    config.assume("base", base, dialect.base)
    config.find(
        "warning" if config.has("rope_parameters") else "note",
        "base-missing",
        dialect.base,
        None,
        f"is missing, so the model's class takes {base:,.10g} as the base.",
        "Check that against the model card; a base that is lost breaks the model at every length.",
    )
    return base


def _odd_share(config: Config, dialect: Dialect, share: float, odd: int) -> None:
    config.find(
        "warning",
        "odd-width",
        dialect.partial,
        share,
        f"makes an odd width of {odd}, of which transformers turns {odd + 1}.",
        "Take a share that makes an even number of features.",
    )


def _unread_share(config: Config, dialect: Dialect, share: float) -> None:
    config.find(
        "warning",
        "unread-key",
        dialect.partial,
        share,
        "is obeyed by scaled rotation only: this model type turns whole heads.",
        "Delete it, or check whether the weights belong to another model type.",
    )
