"""Rules that slow the turning of rotary pairs, so that longer texts stay in familiar angles.

Each rule is a function from frequencies to frequencies, and a dataclass that holds its settings.
Three numbers go by the name of attention factor elsewhere. Here `table_factor` multiplies cos and
sin, so that scores get its square (a rule's field `attention_factor` sets it); `mscale` and
`mscale_all_dim` are weights in YaRN's formula for it; `softmax_factor` multiplies the softmax
scale.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from posenc import _checks
from posenc.frequencies import Float32Frequency, constant, divided, geometric_like


@runtime_checkable
class Scaling(Protocol):
    """What every rule offers: new frequencies from old ones, and a factor for cos and sin."""

    @property
    def table_factor(self) -> float:
        """The multiplier of cos and sin."""
        ...

    @property
    def original_length(self) -> int | None:
        """The length the model was trained for, where the rule needs one.

        A rule may be made without it, for `posenc.torch.transformers.replace` to fill in from the
        settings of a model; it scales nothing before.
        """
        ...

    def scale(
        self, frequencies: Sequence[Any], *, dim: int, base: float, length: int | None = None
    ) -> tuple[Any, ...]:
        """The frequencies under this rule.

        Args:
            frequencies: one a pair, Python floats; or `frequencies.Float32Frequency`, which the
                rule then scales in float32, operation for operation as transformers does.
            dim: the width in their exponent.
            base: the base they were made with.
            length: tokens in the whole text. Only DynamicNTK and LongRope look at it; without
                it they act as within the original length.
        Returns:
            As many numbers of the same kind. Those that the rule leaves alone are the same
            objects; those it only divides keep their 32 digits.
        Raises:
            ValueError: the rule needs an `original_length` and has none.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class Linear:
    """Position interpolation: every pair turns `factor` times slower.

    frequency[k] / factor

    Args:
        factor: how many times longer the text may get.
    Raises:
        TypeError: `factor` is no number.
        ValueError: `factor` is below 1.
    Example:
        >>> Linear(factor=4.0).scale((1.0, 0.5), dim=4, base=4.0)
        (0.25, 0.125)

    Source: Chen et al. 2023, arXiv:2306.15595, section 2.3.
    """

    factor: float

    table_factor = 1.0
    original_length = None

    def __post_init__(self) -> None:
        _checks.at_least("factor", self.factor, 1.0)

    def scale(
        self, frequencies: Sequence[Any], *, dim: int, base: float, length: int | None = None
    ) -> tuple[Any, ...]:
        """Every frequency divided by `factor`."""
        return linear(frequencies, factor=self.factor)


def linear(frequencies: Sequence[Any], *, factor: float) -> tuple[Any, ...]:
    """Divide every frequency by `factor`.

    Args:
        frequencies: one a pair; see `Scaling.scale`.
        factor: how many times slower every pair turns.
    Returns:
        As many numbers, of the same kind.
    Raises:
        TypeError: `factor` is no number.
        ValueError: `factor` is not above 0.
    Example:
        >>> linear((1.0, 0.5), factor=2.0)
        (0.5, 0.25)

    Source: Chen et al. 2023, arXiv:2306.15595, section 2.3.
    """
    _checks.positive("factor", factor)
    return tuple(divided(frequency, factor) for frequency in frequencies)


@dataclass(frozen=True, kw_only=True)
class NTK:
    """NTK-aware: a larger base. The fastest pair stays, the slowest turns `factor` times slower.

    base * factor ** (dim / (dim - 2))

    Args:
        factor: how much slower the slowest pair turns; Hunyuan's configs call it alpha. Pairs in
            between slow less, so the text may get less than `factor` times longer.
    Raises:
        TypeError: `factor` is no number.
        ValueError: `factor` is below 1.
    Example:
        >>> [round(w, 6) for w in NTK(factor=4.0).scale((1.0, 0.1, 0.01), dim=6, base=1000.0)]
        [1.0, 0.05, 0.0025]

    Source: bloc97, June 2023; Peng et al. 2023, arXiv:2309.00071, section 3.1.
    """

    factor: float

    table_factor = 1.0
    original_length = None

    def __post_init__(self) -> None:
        _checks.at_least("factor", self.factor, 1.0)

    def scale(
        self, frequencies: Sequence[Any], *, dim: int, base: float, length: int | None = None
    ) -> tuple[Any, ...]:
        """The frequencies of the larger base."""
        return ntk(frequencies, dim=dim, base=base, factor=self.factor)


def ntk(frequencies: Sequence[Any], *, dim: int, base: float, factor: float) -> tuple[Any, ...]:
    """As many frequencies as are given, of the base that slows the slowest pair by `factor`.

    Args:
        frequencies: one a pair; see `Scaling.scale`.
        dim: the width in their exponent.
        base: the base they were made with.
        factor: how many times slower the slowest pair turns.
    Returns:
        As many numbers, of the same kind.
    Raises:
        TypeError: `factor` is no number.
        ValueError: `factor` is not above 0.
    Example:
        >>> [round(w, 6) for w in ntk((1.0, 0.01), dim=4, base=10_000.0, factor=2.0)]
        [1.0, 0.005]

    Source: Peng et al. 2023, arXiv:2309.00071, section 3.1.
    """
    return geometric_like(frequencies, dim=dim, base=ntk_base(base, dim=dim, factor=factor))


def ntk_base(base: float, *, dim: int, factor: float) -> float:
    """The base under which the slowest of dim / 2 pairs turns `factor` times slower.

    base * factor ** (dim / (dim - 2))

    Args:
        base: the one to enlarge.
        dim: the width in the exponent of the frequencies.
        factor: how many times slower the slowest pair turns.
    Returns:
        The larger base, a Python float.
    Raises:
        TypeError: `factor` is no number.
        ValueError: `factor` is not above 0.
    Example:
        >>> round(ntk_base(10_000.0, dim=128, factor=4.0), 6)
        40889.942432

    Source: Peng et al. 2023, arXiv:2309.00071, section 3.1.
    """
    single = type(factor) is np.float32  # the growth that DynamicNTK takes in float32
    _checks.positive("factor", float(factor) if single else factor)
    if dim == 2:  # the only pair is the fastest one, which turns alike under every base
        return base
    power = float(factor) ** (dim / (dim - 2))
    # PyTorch takes the power of a single float32 in float64 and rounds it once.
    return float(base * (np.float32(power) if single else power))


@dataclass(frozen=True, kw_only=True)
class DynamicNTK:
    """NTK with a factor that grows with the text; up to the original length nothing changes.

    base * (factor * length / original_length - (factor - 1)) ** (dim / (dim - 2))

    Each longer text slows every pair but the fastest, so a cached key that was turned for a
    shorter one no longer fits: cache keys unturned, or turn them back and again.

    Args:
        original_length: up to here nothing changes; transformers' max_position_embeddings. See
            `Scaling`.
        factor: 1 is the YaRN paper's form, which grows by length / original_length. Transformers'
            "dynamic" grows `factor` times as fast.
    Raises:
        TypeError: `original_length` is no integer, or `factor` no number.
        ValueError: `original_length` or `factor` is below 1.
    Example:
        >>> rule = DynamicNTK(original_length=100)
        >>> rule.scale((1.0, 0.01), dim=4, base=10_000.0, length=100)
        (1.0, 0.01)
        >>> [round(w, 6) for w in rule.scale((1.0, 0.01), dim=4, base=10_000.0, length=200)]
        [1.0, 0.005]

    Source: emozilla, June 2023; Peng et al. 2023, arXiv:2309.00071, section 3.3; transformers
    5.24.0, modeling_rope_utils.py, _compute_dynamic_ntk_parameters.
    """

    original_length: int | None = None
    factor: float = 1.0

    table_factor = 1.0

    def __post_init__(self) -> None:
        if self.original_length is not None:
            _checks.integer("original_length", self.original_length, at_least=1)
        _checks.at_least("factor", self.factor, 1.0)

    def scale(
        self, frequencies: Sequence[Any], *, dim: int, base: float, length: int | None = None
    ) -> tuple[Any, ...]:
        """The frequencies of the base that `length` asks for."""
        if length is not None:
            _checks.integer("length", length, at_least=0)
        original = _checks.trained_length(self)
        if length is None or length <= original:
            return tuple(frequencies)
        tokens = constant(length, like=frequencies)
        growth = dynamic_factor(tokens, original_length=original, factor=self.factor)
        return ntk(frequencies, dim=dim, base=base, factor=growth)


def dynamic_factor(length: float, *, original_length: int, factor: float = 1.0) -> float:
    """The factor that dynamic NTK gives to `ntk` for a text of `length` tokens; never below 1.

    factor * length / original_length - (factor - 1)

    Args:
        length: tokens in the whole text, cached ones included.
        original_length: up to here the factor is 1.
        factor: how fast it grows beyond; see `DynamicNTK`.
    Returns:
        The factor, of the kind of `length`: a float, or a NumPy float32.
    Example:
        >>> dynamic_factor(8192, original_length=4096, factor=2.0)
        3.0
        >>> dynamic_factor(512, original_length=4096, factor=2.0)
        1.0

    Source: transformers 5.24.0, modeling_rope_utils.py, _compute_dynamic_ntk_parameters.
    """
    return max(factor * length / original_length - (factor - 1), 1.0)


@dataclass(frozen=True, kw_only=True)
class Proportional:
    """p-RoPE: only the fastest pairs turn, the others carry no position at all.

    frequency[k] / factor     for k < int(fraction * dim // 2)
    0                         for the others

    Unlike `Rotary(rotary_dim=...)` this keeps the width in the exponent, and with it which
    features are a pair.

    Args:
        fraction: of the pairs that turn: 1 is plain RoPE, 0 is none. Gemma 4's global layers
            take 0.25; partial_rotary_factor in configs.
        factor: how many times slower they turn.
    Raises:
        TypeError: a field is no number.
        ValueError: `fraction` lies outside 0 ... 1, or `factor` is below 1.
    Example:
        >>> Proportional(fraction=0.5).scale((1.0, 0.1, 0.01, 0.001), dim=8, base=10_000.0)
        (1.0, 0.1, 0.0, 0.0)

    Source: Barbero et al. 2024, arXiv:2410.06205, appendix D; google-deepmind/gemma,
    gemma/gm/math/_positional_embeddings.py; the factor: transformers 5.24.0,
    modeling_rope_utils.py, _compute_proportional_rope_parameters.
    """

    fraction: float
    factor: float = 1.0

    table_factor = 1.0
    original_length = None

    def __post_init__(self) -> None:
        _checks.at_least("fraction", self.fraction, 0.0)
        if self.fraction > 1:
            raise ValueError(
                "`fraction` must be at most 1, because it counts pairs of one head; "
                f"got fraction={self.fraction}."
            )
        _checks.at_least("factor", self.factor, 1.0)

    def scale(
        self, frequencies: Sequence[Any], *, dim: int, base: float, length: int | None = None
    ) -> tuple[Any, ...]:
        """The fastest frequencies divided by `factor`, the others zero."""
        turning = int(self.fraction * dim // 2)
        # Made anew, for in float32 it matters how many powers PyTorch takes at once.
        if turning and isinstance(frequencies[0], Float32Frequency):
            fast = geometric_like(frequencies[:turning], dim=dim, base=base)
            frequencies = (*fast, *frequencies[turning:])
        return proportional(frequencies, turning=turning, factor=self.factor)


def proportional(
    frequencies: Sequence[Any], *, turning: int, factor: float = 1.0
) -> tuple[Any, ...]:
    """Divide the first `turning` frequencies by `factor`, and set the others to zero.

    Args:
        frequencies: one a pair; see `Scaling.scale`.
        turning: how many of them, the fastest ones, still turn.
        factor: how many times slower they turn.
    Returns:
        As many numbers, of the same kind.
    Raises:
        TypeError: `turning` is no integer, or `factor` no number.
        ValueError: `turning` is below 0, or `factor` not above 0.
    Example:
        >>> proportional((1.0, 0.1, 0.01), turning=2)
        (1.0, 0.1, 0.0)

    Source: Barbero et al. 2024, arXiv:2410.06205, appendix D.
    """
    _checks.integer("turning", turning, at_least=0)
    _checks.positive("factor", factor)
    return tuple(divided(w, factor) if k < turning else 0.0 for k, w in enumerate(frequencies))
