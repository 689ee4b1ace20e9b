"""Rules that slow some rotary pairs and keep others, by how often they turn: YaRN and its kin."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from posenc import _checks
from posenc.frequencies import constant, divided


@dataclass(frozen=True, kw_only=True)
class NTKByParts:
    """NTK-by-parts: pairs that turn often within the original length stay, rare ones slow.

    turns = original_length * frequency[k] / (2 pi)
    keep  = clip((turns - beta_slow) / (beta_fast - beta_slow), 0, 1)
    (1 - keep) * frequency[k] / factor + keep * frequency[k]

    This is the rule as it was published. YaRN's code, and so every model trained with it, goes
    straight from index to index instead of from turn to turn: take `Yarn` for those.

    Args:
        factor: how many times longer the text may get.
        original_length: the length the model was trained for; see `scaling.Scaling`.
        beta_fast: pairs that turn at least this often within it stay; beta in the paper.
        beta_slow: pairs that turn at most this often are divided by `factor`; alpha there.
    Raises:
        TypeError: a field has the wrong type.
        ValueError: `factor` or `original_length` is below 1, or the betas are out of order.
    Example:
        >>> rule = NTKByParts(factor=4.0, original_length=4096)
        >>> rule.scale((1.0, 0.001), dim=4, base=1e6)
        (1.0, 0.00025)

    Source: Peng et al. 2023, arXiv:2309.00071, section 3.2.
    """

    factor: float
    original_length: int | None = None
    beta_fast: float = 32.0
    beta_slow: float = 1.0

    table_factor = 1.0

    def __post_init__(self) -> None:
        _checks.at_least("factor", self.factor, 1.0)
        if self.original_length is not None:
            _checks.integer("original_length", self.original_length, at_least=1)
        _in_order("beta_slow", self.beta_slow, "beta_fast", self.beta_fast)

    def scale(
        self, frequencies: Sequence[Any], *, dim: int, base: float, length: int | None = None
    ) -> tuple[Any, ...]:
        """Each frequency unchanged, divided by `factor`, or in between."""
        return ntk_by_parts(
            frequencies,
            factor=self.factor,
            original_length=_checks.trained_length(self),
            beta_fast=self.beta_fast,
            beta_slow=self.beta_slow,
        )


@dataclass(frozen=True, kw_only=True)
class Llama3:
    """Llama 3's rule: NTK-by-parts with other limits.

    `NTKByParts` with beta_slow = low_frequency_factor and beta_fast = high_frequency_factor

    Args:
        factor: how many times longer the text may get.
        original_length: the length the model was trained for; see `scaling.Scaling`.
        low_frequency_factor: pairs that turn less often than this within it are divided by
            `factor`; low_freq_factor in configs.
        high_frequency_factor: pairs that turn more often stay. Equal to the other in Llama 4
            Scout: then no pair lies in between.
    Raises:
        TypeError: a field has the wrong type.
        ValueError: `factor` or `original_length` is below 1, or the factors are out of order.
    Example:
        >>> Llama3(factor=8.0, original_length=8192).scale((1.0, 0.0001), dim=4, base=1e8)
        (1.0, 1.25e-05)

    Source: meta-llama/llama-models, models/llama3/model.py, apply_scaling.
    """

    factor: float
    original_length: int | None = None
    low_frequency_factor: float = 1.0
    high_frequency_factor: float = 4.0

    table_factor = 1.0

    def __post_init__(self) -> None:
        _checks.at_least("factor", self.factor, 1.0)
        if self.original_length is not None:
            _checks.integer("original_length", self.original_length, at_least=1)
        low, high = self.low_frequency_factor, self.high_frequency_factor
        _in_order("low_frequency_factor", low, "high_frequency_factor", high)

    def scale(
        self, frequencies: Sequence[Any], *, dim: int, base: float, length: int | None = None
    ) -> tuple[Any, ...]:
        """Each frequency unchanged, divided by `factor`, or in between."""
        return ntk_by_parts(
            frequencies,
            factor=self.factor,
            original_length=_checks.trained_length(self),
            beta_fast=self.high_frequency_factor,
            beta_slow=self.low_frequency_factor,
        )


def ntk_by_parts(
    frequencies: Sequence[Any],
    *,
    factor: float,
    original_length: int,
    beta_fast: float = 32.0,
    beta_slow: float = 1.0,
) -> tuple[Any, ...]:
    """Divide pairs that turn less than `beta_slow` times in the original length by `factor`.

    Pairs that turn more than `beta_fast` times stay; between the two the change is linear in the
    number of turns.

    Args:
        frequencies: one a pair; see `Scaling.scale`.
        factor: how many times slower rare pairs turn.
        original_length: the length the model was trained for.
        beta_fast: see `NTKByParts`.
        beta_slow: see `NTKByParts`.
    Returns:
        As many numbers, of the same kind; those that stay are the same objects.
    Raises:
        TypeError: an argument has the wrong type.
        ValueError: a number is too small, or the betas are out of order.
    Example:
        >>> ntk_by_parts((1.0, 0.001), factor=4.0, original_length=4096)
        (1.0, 0.00025)

    Source: Peng et al. 2023, arXiv:2309.00071, section 3.2; written as in transformers 5.24.0,
    modeling_rope_utils.py, _compute_llama3_parameters.
    """
    _checks.positive("factor", factor)
    _checks.integer("original_length", original_length, at_least=1)
    _in_order("beta_slow", beta_slow, "beta_fast", beta_fast)
    scaled = []
    for frequency in frequencies:
        # PyTorch divides a number by a tensor as the tensor's reciprocal times the number.
        wavelength = 1 / frequency * math.tau if frequency else math.inf
        if wavelength > original_length / beta_slow:
            scaled.append(divided(frequency, factor))
        elif wavelength < original_length / beta_fast or beta_fast == beta_slow:
            scaled.append(frequency)
        else:
            turns = 1 / wavelength * original_length
            keep = (turns - beta_slow) / (beta_fast - beta_slow)
            scaled.append((1 - keep) * frequency / factor + keep * frequency)
    return tuple(scaled)


@dataclass(frozen=True, kw_only=True)
class Yarn:
    """YaRN as everyone runs it: parts cut by index, and a factor for cos and sin.

    index(turns) = dim * ln(original_length / (2 pi turns)) / (2 ln base)
    low, high    = index(beta_fast), index(beta_slow), clipped to 0 ... dim - 1
    slow         = clip((k - low) / (high - low), 0, 1)
    slow * frequency[k] / factor + (1 - slow) * frequency[k]

    table_factor   = m(mscale) / m(mscale_all_dim), where m(a) = 0.1 a ln(factor) + 1
    softmax_factor   = m(mscale_all_dim) ** 2

    Args:
        factor: how many times longer the text may get.
        original_length: the length the model was trained for, before YaRN; see
            `scaling.Scaling`.
        beta_fast: pairs that turn at least this often within it stay.
        beta_slow: pairs that turn at most this often are divided by `factor`.
        truncate: widen low and high to whole indices; gpt-oss does not.
        attention_factor: `table_factor` itself, where a config gives one.
        mscale: weight of ln(factor) in the factor of cos and sin.
        mscale_all_dim: weight of ln(factor) that goes into the softmax scale instead, where it
            also reaches features that do not turn. DeepSeek-V3 sets both to 1. Transformers
            ignores either one without the other; DeepSeek's own code, like this, does not.
    Raises:
        TypeError: a field has the wrong type.
        ValueError: a number is too small, or the betas are out of order.
    Example:
        >>> rule = Yarn(factor=16.0, original_length=4096)
        >>> round(rule.table_factor, 6)
        1.277259
        >>> rule.scale((1.0, 0.001), dim=4, base=1e6)
        (1.0, 6.25e-05)

    Source: Peng et al. 2023, arXiv:2309.00071, section 3.4; jquesnelle/yarn,
    scaled_rope/LlamaYaRNScaledRotaryEmbedding.py; deepseek-ai/DeepSeek-V2,
    modeling_deepseek.py, DeepseekV2YarnRotaryEmbedding.
    """

    factor: float
    original_length: int | None = None
    beta_fast: float = 32.0
    beta_slow: float = 1.0
    truncate: bool = True
    attention_factor: float | None = None
    mscale: float = 1.0
    mscale_all_dim: float = 0.0

    def __post_init__(self) -> None:
        _checks.at_least("factor", self.factor, 1.0)
        if self.original_length is not None:
            _checks.integer("original_length", self.original_length, at_least=1)
        _in_order("beta_slow", self.beta_slow, "beta_fast", self.beta_fast)
        _checks.boolean("truncate", self.truncate)
        if self.attention_factor is not None:
            _checks.positive("attention_factor", self.attention_factor)
        _checks.at_least("mscale", self.mscale, 0.0)
        _checks.at_least("mscale_all_dim", self.mscale_all_dim, 0.0)

    @property
    def table_factor(self) -> float:
        """The multiplier of cos and sin; scores get its square."""
        if self.attention_factor is not None:
            return self.attention_factor
        return yarn_mscale(self.factor, self.mscale) / yarn_mscale(self.factor, self.mscale_all_dim)

    @property
    def softmax_factor(self) -> float:
        """The multiplier of the softmax scale, for the model to apply; 1 but for DeepSeek's."""
        return yarn_mscale(self.factor, self.mscale_all_dim) ** 2

    def scale(
        self, frequencies: Sequence[Any], *, dim: int, base: float, length: int | None = None
    ) -> tuple[Any, ...]:
        """Each frequency unchanged, divided by `factor`, or in between."""
        low, high = yarn_range(
            dim=dim,
            base=base,
            original_length=_checks.trained_length(self),
            beta_fast=self.beta_fast,
            beta_slow=self.beta_slow,
            truncate=self.truncate,
        )
        return yarn(frequencies, factor=self.factor, low=low, high=high)


def yarn(frequencies: Sequence[Any], *, factor: float, low: float, high: float) -> tuple[Any, ...]:
    """Keep frequencies up to index `low`, divide those from index `high` on by `factor`.

    Between the two the change is linear in the index.

    Args:
        frequencies: one a pair; see `Scaling.scale`.
        factor: how many times slower the slow pairs turn.
        low: the index up to which frequencies stay, whole or not; see `yarn_range`.
        high: the index from which on they are divided.
    Returns:
        As many numbers, of the same kind; those that stay are the same objects.
    Raises:
        TypeError: `factor`, `low` or `high` is no number.
        ValueError: `factor` is not above 0, or `high` is below `low`.
    Example:
        >>> yarn((1.0, 1.0, 1.0), factor=4.0, low=0, high=2)
        (1.0, 0.625, 0.25)

    Source: transformers 5.24.0, modeling_rope_utils.py, _compute_yarn_parameters.
    """
    _checks.positive("factor", factor)
    _checks.number("low", low)
    _checks.at_least("high", high, low)
    width = high - low or 0.001  # the published code's guard: a step instead of a ramp
    scaled = []
    for k, frequency in enumerate(frequencies):
        slow = (constant(k, like=frequencies) - low) / width
        if slow <= 0:
            scaled.append(frequency)
        elif slow >= 1:
            scaled.append(divided(frequency, factor, rounded_once=True))
        else:
            keep = 1 - slow
            scaled.append(
                divided(frequency, factor, rounded_once=True) * (1 - keep) + frequency * keep
            )
    return tuple(scaled)


def yarn_range(
    *,
    dim: int,
    base: float,
    original_length: int,
    beta_fast: float = 32.0,
    beta_slow: float = 1.0,
    truncate: bool = True,
) -> tuple[float, float]:
    """The indices between which YaRN goes over from unchanged frequencies to divided ones.

    Args:
        dim: the width in the exponent of the frequencies.
        base: the base they were made with.
        original_length: the length the model was trained for.
        beta_fast: see `Yarn`.
        beta_slow: see `Yarn`.
        truncate: widen to whole indices.
    Returns:
        The lower index and the upper one, within 0 ... dim - 1.
    Raises:
        TypeError: an argument has the wrong type.
        ValueError: a number is too small, the betas are out of order, or `base` is not above 1.
    Example:
        >>> yarn_range(dim=128, base=10_000.0, original_length=4096)
        (20, 46)

    Source: transformers 5.24.0, modeling_rope_utils.py, _compute_yarn_parameters.
    """
    _checks.integer("dim", dim, at_least=1)
    _checks.integer("original_length", original_length, at_least=1)
    _in_order("beta_slow", beta_slow, "beta_fast", beta_fast)
    if base <= 1:
        raise ValueError(
            "`base` must be greater than 1 for YaRN, because it cuts where frequencies fall below "
            f"a number of turns; got base={base}."
        )

    def index(turns: float) -> float:
        return dim * math.log(original_length / (turns * math.tau)) / (2 * math.log(base))

    low, high = index(beta_fast), index(beta_slow)
    if truncate:
        low, high = math.floor(low), math.ceil(high)
    # The last index is dim / 2 - 1. The code that models were trained with clips to dim - 1.
    return min(max(low, 0), dim - 1), min(max(high, 0), dim - 1)


def yarn_mscale(factor: float, weight: float = 1.0) -> float:
    """0.1 * weight * ln(factor) + 1: how much sharper attention must be in a longer text.

    Args:
        factor: how many times longer the text may get.
        weight: of the logarithm; `mscale` and `mscale_all_dim` in `Yarn`.
    Returns:
        A Python float; 1 where `factor` is 1 or `weight` 0.
    Raises:
        TypeError: an argument is no number.
        ValueError: `factor` is not above 0.
    Example:
        >>> round(yarn_mscale(40.0, 0.707), 6)
        1.260804

    Source: Peng et al. 2023, arXiv:2309.00071, section 3.4; DeepSeek-V2, modeling_deepseek.py,
    yarn_get_mscale.
    """
    _checks.positive("factor", factor)
    _checks.number("weight", weight)
    return 0.1 * weight * math.log(factor) + 1.0


def _in_order(low_name: str, low: float, high_name: str, high: float) -> None:
    _checks.positive(low_name, low)
    _checks.positive(high_name, high)
    if high < low:
        raise ValueError(
            f"`{high_name}` must be at least `{low_name}`, because it counts the turns of faster "
            f"pairs; got {high_name}={high}, {low_name}={low}."
        )
