"""Heads of which another part turns in another kind of layer: DeepSeek-V4, Dots 3 Note."""

from __future__ import annotations

from collections.abc import Callable

from posenc.inspector.families.turning.latent import MIXED
from posenc.inspector.families.turning.rotary import INTERLEAVED, use
from posenc.inspector.reading import Use
from posenc.inspector.settings import layers, rope
from posenc.inspector.settings.config import Config
from posenc.inspector.settings.rope import Settings

SLIDING = layers.SLIDING


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


READERS: dict[str, Callable[[Config], list[Use]]] = {
    "deepseek_v4": _deepseek_v4,
    "dots3_note_text": _dots3,
}
