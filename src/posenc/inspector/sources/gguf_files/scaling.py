"""How the scaling keys of a GGUF file slow rotary pairs, with llama.cpp's defaults behind them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from posenc.by_parts import Yarn, yarn_mscale
from posenc.inspector.settings.config import Config
from posenc.inspector.sources.gguf_files.architectures import BETA_FAST, DEEPSEEK
from posenc.scaling import Linear

TYPES = ("none", "linear", "yarn", "longrope")


@dataclass(frozen=True, kw_only=True)
class Stretch:
    """The scaling keys of a file, with llama.cpp's defaults for those that are missing.

    Args:
        factor: how many times slower pairs turn.
        original_length: the length the model was trained for.
        extrapolation: how far YaRN's ramp counts: 1 for YaRN, 0 for every other rule.
        beta_fast: see `posenc.Yarn`.
        beta_slow: see `posenc.Yarn`.
        mscales: the two weights of `posenc.Yarn`, where the model scales its softmax by them.
        table_factor: what multiplies cos and sin.
    """

    factor: float = 1.0
    original_length: int | None = None
    extrapolation: float = 0.0
    beta_fast: float = 32.0
    beta_slow: float = 1.0
    mscales: tuple[float, float] | None = None
    table_factor: float = 1.0


def stretch(config: Config) -> Stretch:
    """Read the scaling keys."""
    kind, factor = config.word("rope.scaling.type", name="scaling"), _factor(config)
    if kind is not None and kind not in TYPES:
        config.refuse(
            "unknown-scaling", "rope.scaling.type", kind,
            f"is none of {', '.join(TYPES)}, and llama.cpp refuses to load the file.",
            "Convert the model again.",
        )  # fmt: skip
    factor = 1.0 if kind == "none" else factor
    weight = config.number("rope.scaling.yarn_ext_factor")
    if weight is None or weight < 0:
        weight = 1.0 if kind == "yarn" else 0.0
    mscales = _mscales(config)
    fast = _beta(config, "fast", BETA_FAST.get(config.path, 32.0))
    slow = _beta(config, "slow", 1.0)
    if fast < slow:
        config.refuse(
            "swapped-betas", "rope.scaling.yarn_beta_fast", fast,
            f"must be at least yarn_beta_slow = {slow:g}, because it counts the turns of faster "
            "pairs.",
            "Swap the two.",
        )  # fmt: skip
    return Stretch(
        factor=factor,
        original_length=_original_length(config, needed=weight != 0 and factor != 1),
        extrapolation=weight,
        beta_fast=fast,
        beta_slow=slow,
        mscales=mscales if config.path in DEEPSEEK else None,
        table_factor=_table_factor(config, natural(factor, mscales) if weight else None),
    )


def natural(factor: float, mscales: tuple[float, float] | None) -> float:
    """YaRN's own factor for cos and sin."""
    if factor <= 1:
        return 1.0
    own, everywhere = mscales or (1.0, 0.0)
    return yarn_mscale(factor, own) / yarn_mscale(factor, everywhere)


def named(how: Stretch) -> Linear | Yarn | None:
    """The rule that is just this, where there is one with a name."""
    if how.factor < 1:
        return None
    if how.extrapolation == 0 and how.table_factor == 1:
        return Linear(factor=how.factor)
    if how.extrapolation != 1 or how.original_length is None:
        return None
    own, everywhere = how.mscales or (1.0, 0.0)
    usual = math.isclose(how.table_factor, natural(how.factor, how.mscales))
    return Yarn(
        factor=how.factor,
        original_length=how.original_length,
        beta_fast=how.beta_fast,
        beta_slow=how.beta_slow,
        attention_factor=None if usual else how.table_factor,
        mscale=own,
        mscale_all_dim=everywhere,
    )


def _factor(config: Config) -> float:
    """How many times slower, from the key of today or the one of 2023."""
    now, then = "rope.scaling.factor", "rope.scale_linear"
    factor = config.number(now, name="factor", at_least=0.0)
    old = config.number(then, name="factor", at_least=0.0)
    if factor is None:
        factor = old
    elif old is not None and factor != old:
        config.find(
            "warning", "doubled-key", then, old,
            f"disagrees with `{config.at(now)}` = {factor:g}, and llama.cpp reads only that.",
            "Remove the old key.",
        )  # fmt: skip
    return factor or 1.0  # llama.cpp takes 0 for 1


def _original_length(config: Config, *, needed: bool) -> int | None:
    """The length before stretching; llama.cpp takes the context where YaRN lacks it."""
    key = "rope.scaling.original_context_length"
    length = config.integer(key, name="original_length", at_least=2)
    if length is not None or not needed:
        return length
    context = config.integer("context_length", name="original_length", at_least=2, required=True)
    config.find(
        "warning", "missing-key", key, None,
        f"is missing, so llama.cpp cuts YaRN's parts for the whole context of {context} tokens; "
        "where that is stretched already, pairs that should be slowed are not.",
        "Write the length that the model was trained for.",
    )  # fmt: skip
    return context


def _beta(config: Config, which: str, default: float) -> float:
    given = config.number(f"rope.scaling.yarn_beta_{which}", name=f"beta_{which}", above=0.0)
    return default if given is None else given


def _mscales(config: Config) -> tuple[float, float] | None:
    """YaRN's two weights; the file has one of them, and llama.cpp settles the other."""
    stored = config.number("rope.scaling.yarn_log_multiplier", at_least=0.0)
    if not stored:
        return None
    if config.path not in DEEPSEEK:
        return 1.0, stored
    everywhere = round(10 * stored, 6)
    # DeepSeek-V2's weights are equal; where one is 1, the other is too.
    return (everywhere if config.path == "deepseek2" else 1.0), everywhere


def _table_factor(config: Config, computed: float | None) -> float:
    """What multiplies cos and sin.

    Since December 2025 llama.cpp computes YaRN's factor, whatever yarn_attn_factor says;
    attn_factor multiplies either.
    """
    key = "rope.scaling.yarn_attn_factor"
    given = config.number(key, above=0.0)
    times = config.number("rope.scaling.attn_factor", name="attention_factor", above=0.0)
    if computed is not None:
        if given is not None and not math.isclose(given, computed, rel_tol=1e-3):
            config.find(
                "warning", "attention-factor", key, given,
                f"does nothing: llama.cpp computes YaRN's factor itself, {computed:.6g} here.",
                "Write rope.scaling.attn_factor, which multiplies it, if the model needs another.",
            )  # fmt: skip
        given = computed
    return (1.0 if given is None else given) * (1.0 if times is None else times)
