"""Heads of which another part turns in another kind of layer: DeepSeek-V4, Dots 3 Note."""

from __future__ import annotations

from dataclasses import replace

from posenc.inspector.families.shared import Reader
from posenc.inspector.families.turning.latent import MIXED
from posenc.inspector.families.turning.uses import INTERLEAVED, use
from posenc.inspector.reading import Use
from posenc.inspector.settings import layers, rope, rope_spellings
from posenc.inspector.settings.config import Config
from posenc.inspector.settings.rope_spellings import Settings

SLIDING = layers.SLIDING
_LABELS = ("main", "compress")
"""What DeepSeek-V4 calls the settings of layers with a window, and of all others."""


def _deepseek_v4(config: Config) -> list[Use]:
    """DeepSeek-V4: the last features of a head turn, with a base of their own where compressed."""
    config.get("qk_rope_head_dim")  # saved files have it beside the share; the share wins
    kinds = tuple("main" if kind == SLIDING else "compress" for kind in layers.layer_types(config))
    return [
        _deepseek_v4_kind(config.fresh(), layers.where(kinds, label), label)
        for label in _LABELS
        if label in kinds
    ]


def _deepseek_v4_kind(config: Config, where: tuple[int, ...], label: str) -> Use:
    width = config.integer("head_dim", required=True)
    settings = _deepseek_v4_settings(config, label)
    turned = int(width * _deepseek_v4_share(config, settings.inner, width))
    # The turned features are looked at alone, and all of those turn.
    settings = replace(settings, inner=settings.inner.without("partial_rotary_factor"))
    remark = (
        "The last features of a head turn; keys are values too, so the output of attention "
        "is turned back."
    )
    return use(
        config,
        rope.rotary(config, settings, INTERLEAVED, turned),
        layers=where,
        layer_type=label,
        head_dim=width,
        first=width - turned,
        remarks=(remark,),
    )


def _deepseek_v4_share(config: Config, inner: Config, width: int) -> float:
    """The share of a head that turns: inside, beside, of the widths, or what the class assumes."""
    key = "partial_rotary_factor"
    for settings in (inner, config):
        share = settings.number(key, name="share that turns", above=0.0)
        if share is not None:
            return share
    if config.has("qk_rope_head_dim"):
        turned = config.integer("qk_rope_head_dim", at_least=2)
        if turned is not None:
            return turned / width
    return config.assume("share that turns", config.facts["rope"]["main"][key], key)


def _deepseek_v4_settings(config: Config, label: str) -> Settings:
    """What stands for a label; without labels all of it is meant for the compressed layers."""
    outer = rope_spellings.given(config)
    base = None
    if label in outer.data:
        inner = outer.inside(label)
    else:
        key = {"main": "rope_theta", "compress": "compress_rope_theta"}[label]
        base = config.number(key, name="base", above=0.0, required=True)
        inner = config.empty() if label == "main" else outer.without(*_LABELS, "rope_theta")
    if label == "compress" and "yarn" in (inner.get("rope_type"), inner.get("type")):
        inner = inner.assuming(attention_factor=1.0)
    return Settings(inner=inner, outer=config.empty(), old_base=base, flat=False)


def _dots3(config: Config) -> list[Use]:
    """Dots 3 Note: latent attention whose heads, base and turned width differ by kind of layer."""
    kinds = layers.layer_types(config)
    return [_dots3_kind(config.fresh(), kinds, kind) for kind in dict.fromkeys(kinds)]


def _dots3_kind(config: Config, kinds: tuple[str, ...], kind: str) -> Use:
    where = layers.where(kinds, kind)
    still, turned = _dots3_widths(config, where[0], sliding=kind == SLIDING)
    outer = rope_spellings.given(config)
    inner = outer.inside(kind) if kind in outer.data else outer
    # The share is that of the widths, whatever the file says.
    inner = inner.without(*kinds, "partial_rotary_factor")
    key = "swa_rope_theta" if kind == SLIDING and not outer.data else "rope_theta"
    base = config.number(key, name="base", above=0.0)
    if base is None and key == "swa_rope_theta":
        base = 50_000.0
    settings = Settings(inner=inner, outer=config.empty(), base=base, flat=False)
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


READERS: dict[str, Reader] = {
    "deepseek_v4": _deepseek_v4,
    "dots3_note_text": _dots3,
}
