"""How model types spell their rotary settings, where in the file those stand, and what is given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from posenc.inspector.settings.config import Config
from posenc.rotary import Layout


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """How a model type spells its rotary settings, and which of them it obeys.

    Args:
        layout: which features are a pair.
        written: pairs in the order in which they are written back, where that is another.
        base: the key of the base in the old spelling, beside rope_scaling.
        partial: the key of the share of a head that turns, in the old spelling.
        obeys_partial: whether plain rotation obeys that share; scaled rotation always does.
        names: rope types under other names, as this model type knows them.
        kinds: the rope types that this model type accepts, where it does not accept all.
        share: the share that turns where plain rotary settings of a kind of layer lack it.
    """

    layout: Layout = "half"
    written: Layout | None = None
    base: str = "rope_theta"
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


@dataclass(frozen=True, kw_only=True)
class Given:
    """What a rule is read from.

    Args:
        config: the settings of the whole part.
        settings: where the rotary ones stand.
        turned: how many features of a head turn.
        share: which share of the head that is.
    """

    config: Config
    settings: Settings
    turned: int
    share: float

    @property
    def inner(self) -> Config:
        """The rotary settings themselves."""
        return self.settings.inner


def flat(config: Config) -> Settings:
    """The rotary settings of a model whose layers all turn alike."""
    inner = chosen(config)
    return Settings(inner=inner, outer=inner)


def chosen(config: Config) -> Config:
    """The rotary settings of a model whose layers all turn alike."""
    inner = given(config)
    kinds = [key for key in ("full_attention", "sliding_attention") if key in inner.data]
    if kinds and "layer_types" in config.defaults and config.model_type not in FOREIGN_KINDS:
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
            "is never read, so nothing is scaled: this model type reads rope_parameters only.",
            "Move it to `rope_parameters`, with the base inside.",
        )
        old = None
    if old and new and old != new:
        config.find(
            "warning",
            "doubled-key",
            "rope_scaling",
            dict(old),
            "contradicts `rope_parameters`, and wins.",
            "Keep one of the two; new files have rope_parameters.",
        )
    inner = config.inside("rope_scaling" if old else "rope_parameters")
    if not inner.data:
        inner.defaults = config.facts.get("rope", {})
    return inner


FOREIGN_KINDS = (
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
