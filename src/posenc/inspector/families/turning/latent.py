"""Latent attention (MLA): a head is [what does not turn | what turns], the turned key is shared."""

from __future__ import annotations

from dataclasses import replace

from posenc.by_parts import yarn_mscale
from posenc.inspector.families.shared import Reader
from posenc.inspector.families.turning.rotary import temperature
from posenc.inspector.families.turning.uses import unturned, use, with_layers
from posenc.inspector.reading import Use, Value
from posenc.inspector.settings import layers, rope, rope_spellings
from posenc.inspector.settings.config import Config
from posenc.inspector.settings.rope_spellings import Dialect, Settings

MIXED = Dialect(layout="interleaved", written="half")
_TRAINED_SCALE = (
    "Queries are multiplied by a * ln(position + 1) + b, two trained numbers for each head; before "
    "training by 1."
)
_SHARED_KEY = "A head is [not turned | turned]; the turned part of the key is one for all heads."


def widths(config: Config) -> tuple[int, int]:
    """How many features of a head stay as they are, and how many turn."""
    turned = config.integer("qk_rope_head_dim", name="rotary_dim", at_least=2, required=True)
    return config.integer("qk_nope_head_dim", name="first turned feature", at_least=0) or 0, turned


def _latent(config: Config, dialect: Dialect) -> Use:
    still, turned = widths(config)
    encoding = rope.rotary(
        config, rope_spellings.flat(config), dialect, turned, width_key="qk_rope_head_dim"
    )
    kinds = layers.layer_types(config)
    return use(
        config,
        encoding,
        layers=layers.turning(config, kinds),
        head_dim=still + turned,
        first=still,
        written=dialect.written,
        remarks=(_SHARED_KEY,),
    )


def softmax_factor(config: Config) -> float:
    """What mscale_all_dim adds to the softmax scale: its square, for any scaled rope type."""
    inner = rope_spellings.chosen(config)
    kind = inner.get("rope_type") or inner.get("type") or "default"
    weight = inner.number("mscale_all_dim")
    factor = inner.number("factor", above=0.0)
    if kind == "default" or not weight or factor is None:
        return 1.0
    return yarn_mscale(factor, weight) ** 2


def read(dialect: Dialect) -> Reader:
    """A reader of models with latent attention."""

    def latent(config: Config) -> list[Use]:
        found = replace(_latent(config, dialect), softmax_factor=softmax_factor(config))
        return [found, *unturned(config, layers.layer_types(config))]

    return latent


def _by_switch(config: Config) -> list[Use]:
    """DeepSeek-V3 and kin: pairs side by side, unless rope_interleave is false."""
    given = config.get("rope_interleave")
    dialect = Dialect() if given is False else MIXED
    config.flag("rope_interleave", name="interleaved pairs")
    return read(dialect)(config)


def _sarvam(config: Config) -> list[Use]:
    return read(replace(MIXED, names={"deepseek_yarn": "yarn"}))(config)


def _mistral4(config: Config) -> list[Use]:
    """Mistral 4: the share of the head that turns is taken of both its parts together."""
    still, turned = widths(config)
    inner = rope_spellings.chosen(config)
    shared = _with_share(config, inner, turned / (still + turned))
    settings = Settings(inner=shared, outer=shared)
    whole = rope.rotary(config, settings, MIXED, still + turned)
    if whole.turned != turned:
        inner.refuse(
            "missing-key",
            "partial_rotary_factor",
            None,
            f"must say that {turned} of the {still + turned} features of a head turn, in "
            "rope_parameters with a rope_type that obeys it, such as yarn.",
            f"Write `rope_parameters` with partial_rotary_factor {turned / (still + turned):g}.",
        )
    found = use(
        config,
        replace(whole, dim=whole.turned, rotary_dim=None),
        layers=layers.every(config),
        head_dim=still + turned,
        first=still,
        written=MIXED.written,
        remarks=(_SHARED_KEY,),
        softmax_factor=softmax_factor(config),
        query_scaling=temperature(config),
    )
    return [found]


def _with_share(config: Config, inner: Config, share: float) -> Config:
    """The rotary settings; the class adds the share of the widths, except to the old spelling."""
    if "partial_rotary_factor" in {**inner.data, **inner.defaults}:
        return inner
    return inner.overlaid(
        Value(
            name="partial_rotary_factor",
            value=1.0 if config.get("rope_scaling") else share,
            origin="fallback",
            key=f"{config.at('qk_rope_head_dim')} and {config.at('qk_nope_head_dim')}",
        )
    )


def _mistral_large4(config: Config) -> list[Use]:
    """A trained multiplier for each frequency, and layers without rotation."""
    found = _latent(config, MIXED)
    count = layers.count(config)
    turning = config.integers("no_rope_layers", at_least=0)
    if turning is None:
        step = config.integer("no_rope_layer_interval") or 4
        turning = tuple(int((i + 1) % step != 0) for i in range(count))
    layers.one_each(config, "no_rope_layers", turning)
    kinds = tuple("turned" if on else "full_attention" for on in turning)
    remark = (
        "A trained number alpha for each pair multiplies its frequency by exp(alpha): the "
        "frequencies here are those before training."
    )
    found = replace(
        found,
        layers=layers.where(kinds, "turned"),
        remarks=(*found.remarks, remark, _TRAINED_SCALE),
        softmax_factor=softmax_factor(config),
    )
    still = Use(
        kind="none",
        place="queries and keys",
        layers=layers.where(kinds, "full_attention"),
        softmax_factor=softmax_factor(config),
        remarks=(
            "no_rope_layers is 0 for these: their heads have no turned features.",
            _TRAINED_SCALE,
        ),
    )
    return [found, still]


def _attention_twice(config: Config) -> list[Use]:
    """LongCat: each of num_layers blocks attends twice."""
    (found,) = read(MIXED)(config)
    if config.has("num_hidden_layers"):
        return [found]
    blocks = config.integer("num_layers", name="blocks", at_least=0) or 0
    return [replace(found, layers=tuple(range(2 * blocks)), values=tuple(config.taken))]


READERS: dict[str, Reader] = {
    **dict.fromkeys(("deepseek_v3", "axk1", "glm4_moe_lite", "youtu"), _by_switch),
    **dict.fromkeys(("axk2", "bailing_hybrid", "deepseek_v32", "glm_moe_dsa"), read(MIXED)),
    "deepseek_v2": read(Dialect(layout="interleaved")),
    **dict.fromkeys(("minicpm3", "hy_v4"), read(Dialect())),
    "longcat_flash": _attention_twice,
    "sarvam_mla": _sarvam,
    "mistral4": _mistral4,
    "mistral_large4_text": with_layers(_mistral_large4),
}
