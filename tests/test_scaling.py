"""Scaling rules against mpmath, the papers' numbers, transformers, and their own laws."""

import dataclasses
import functools
import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, strategies as st

from frameworks import numpy
from posenc import Rotary, frequencies, spec as specs
from posenc.by_parts import (
    Llama3,
    NTKByParts,
    Yarn,
    ntk_by_parts,
    yarn,
    yarn_mscale,
    yarn_range,
)
from posenc.longrope import LongRope, longrope
from posenc.scaling import (
    NTK,
    DynamicNTK,
    Linear,
    Proportional,
    linear,
    ntk,
    ntk_base,
    proportional,
)

# MiniCPM4's long_factor begins with a number below 1; the others rise as in Phi-3's lists.
RISING = tuple(0.9977997200264581 + 0.51 * k for k in range(64))
LONGROPE = LongRope(short_factors=(1.0,) * 64, long_factors=RISING, original_length=4096, factor=32)

# One of each rule, for heads of 128: with the lengths of Llama 2, Llama 3.1 and Gemma 3.
RULES = {
    "linear": Linear(factor=3.0),
    "ntk": NTK(factor=4.0),
    "dynamic": DynamicNTK(original_length=4096, factor=2.0),
    "by parts": NTKByParts(factor=16.0, original_length=4096),
    "yarn": Yarn(factor=16.0, original_length=4096),
    "untruncated": Yarn(factor=7.0, original_length=4096, truncate=False),
    "llama3": Llama3(factor=8.0, original_length=8192),
    "longrope": LONGROPE,
    "proportional": Proportional(fraction=0.25, factor=3.0),
}
each_rule = pytest.mark.parametrize("rule", RULES.values(), ids=RULES.keys())


# The formulas once more, in 50 digits.


def plain(dim, base):
    return [mpmath.mpf(base) ** (-mpmath.mpf(2 * k) / dim) for k in range(dim // 2)]


def clip(x):
    return min(max(x, mpmath.mpf(0)), mpmath.mpf(1))


def mixed(w, factor, keep):
    return w * keep + w / factor * (1 - keep)


def truth_linear(rule, w, dim, base, length):
    return [x / rule.factor for x in w]


def truth_ntk(rule, w, dim, base, length):
    # The base's factor is s ** (d / (d - 2)), so pair k slows by s ** (2 k / (d - 2)).
    return [x / mpmath.mpf(rule.factor) ** (mpmath.mpf(2 * k) / (dim - 2)) for k, x in enumerate(w)]


def truth_dynamic(rule, w, dim, base, length):
    stretch = max(mpmath.mpf(length or 0) / rule.original_length, 1)
    return truth_ntk(NTK(factor=float(1 + rule.factor * (stretch - 1))), w, dim, base, length)


def truth_by_turns(rule, w, dim, base, length):
    slow, fast = (
        (rule.beta_slow, rule.beta_fast)
        if isinstance(rule, NTKByParts)
        else (rule.low_frequency_factor, rule.high_frequency_factor)
    )
    turns = [rule.original_length * x / (2 * mpmath.pi) for x in w]
    keep = [clip((r - slow) / (fast - slow)) for r in turns]
    return [mixed(x, rule.factor, g) for x, g in zip(w, keep, strict=True)]


def truth_yarn(rule, w, dim, base, length):
    def index(turns):  # where base ** (-2 k / dim) * original_length = 2 pi turns
        return mpmath.log(rule.original_length / (2 * mpmath.pi * turns), base) * dim / 2

    low, high = index(rule.beta_fast), index(rule.beta_slow)
    if rule.truncate:
        low, high = mpmath.floor(low), mpmath.ceil(high)
    low, high = max(low, 0), min(high, dim - 1)
    keep = [1 - clip((k - low) / (high - low)) for k in range(dim // 2)]
    return [mixed(x, rule.factor, g) for x, g in zip(w, keep, strict=True)]


def truth_longrope(rule, w, dim, base, length):
    long = length is not None and length > rule.original_length
    factors = rule.long_factors if long else rule.short_factors
    return [x / f for x, f in zip(w, factors, strict=True)]


def truth_proportional(rule, w, dim, base, length):
    live = int(rule.fraction * dim // 2)
    return [x / rule.factor if k < live else mpmath.mpf(0) for k, x in enumerate(w)]


TRUTHS = {
    Linear: truth_linear,
    NTK: truth_ntk,
    DynamicNTK: truth_dynamic,
    NTKByParts: truth_by_turns,
    Llama3: truth_by_turns,
    Yarn: truth_yarn,
    LongRope: truth_longrope,
    Proportional: truth_proportional,
}


def truth(rule, dim, base, length=None):
    with mpmath.workdps(50):
        return TRUTHS[type(rule)](rule, plain(dim, base), dim, base, length)


def scaled(rule, dim=128, base=10_000.0, length=None):
    return rule.scale(frequencies.geometric(dim, base), dim=dim, base=base, length=length)


def ratios(rule, dim=128, base=10_000.0, length=None):
    return np.divide(scaled(rule, dim, base, length), frequencies.geometric(dim, base))


@each_rule
@pytest.mark.parametrize("base", [1e4, 5e5])
@pytest.mark.parametrize("length", [None, 2048, 4095, 4096, 4097, 131_072])
def test_whole_arrays(rule, base, length):
    got = scaled(rule, base=base, length=length)
    want = [float(w) for w in truth(rule, 128, base, length)]
    # A ramp from logarithms and a blend make about a dozen roundings of float64.
    np.testing.assert_allclose(got, want, rtol=2e-15)


@pytest.mark.parametrize("name", ["linear", "longrope", "proportional"])
def test_what_is_only_divided_keeps_its_digits(name):
    rule = RULES[name]
    got = scaled(rule, length=5000)
    with mpmath.workdps(50):
        for frequency, want in zip(got, truth(rule, 128, 10_000.0, 5000), strict=True):
            exact = mpmath.mpf(float(frequency)) + mpmath.mpf(getattr(frequency, "tail", 0.0))
            assert abs(exact - want) <= want * mpmath.mpf(10) ** -30


@each_rule
def test_exact_at_far_positions(framework, rule):
    positions = [0, 1, 131_072, 2**24 + 1, 2**31 - 1]
    spec = Rotary(dim=128, base=500_000.0, scaling=rule)
    cos, sin = spec.table(framework.array(positions), length=131_072)
    with mpmath.workdps(50):
        angles = np.outer(positions, truth(rule, 128, 500_000.0, 131_072))
        want_cos = np.vectorize(lambda a: float(mpmath.cos(a)))(angles) * rule.table_factor
        want_sin = np.vectorize(lambda a: float(mpmath.sin(a)))(angles) * rule.table_factor
    # The factor adds a rounding of float32, and makes the error larger with the value.
    atol = framework.exact * rule.table_factor + (rule.table_factor != 1) * 2**-24 * 1.3
    np.testing.assert_allclose(numpy(cos), want_cos, rtol=0, atol=atol)
    np.testing.assert_allclose(numpy(sin), want_sin, rtol=0, atol=atol)


# The papers' numbers. Each was computed from the formula named, in float64 or 50 digits.


def test_position_interpolation():
    # Chen et al. 2023, section 2.3, d = 128, s = 4.
    got = scaled(Linear(factor=4.0))
    np.testing.assert_allclose(got[0], 0.25, rtol=0)
    np.testing.assert_allclose(got[1], 0.216491080840, rtol=1e-11)
    np.testing.assert_allclose(got[63], 2.886954961724e-05, rtol=1e-11)


def test_ntk():
    # YaRN paper, equation 16.
    bases = [ntk_base(10_000.0, dim=d, factor=s) for d, s in ((128, 4.0), (128, 2.0), (64, 8.0))]
    np.testing.assert_allclose(bases, [40889.942432, 20221.261690, 85550.375886], rtol=1e-10)
    got = scaled(NTK(factor=4.0))
    assert got[0] == 1
    np.testing.assert_allclose(got[1], 0.847117185151, rtol=1e-11)
    np.testing.assert_allclose(got[32], 4.945289840680e-03, rtol=1e-11)
    np.testing.assert_allclose(got[63], 2.886954961724e-05, rtol=1e-11)


@pytest.mark.parametrize(
    ("original", "length", "factor", "base"),
    [
        (4096, 8192, 2.0, 30527.736749),
        (4096, 16384, 2.0, 72195.860087),
        (4096, 8192, 1.0, 20221.261690),  # the YaRN paper's form, length / original length
        (2048, 4096, 2.0, 30527.74),
        (2048, 8192, 2.0, 72195.86),
        (2048, 1024, 2.0, 10_000),  # vllm-project/vllm#5093: half the length is no scaling
        (2048, 512, 2.0, 10_000),  # vllm-project/vllm#52665: the bracket would be negative
        (2048, 2048, 2.0, 10_000),
    ],
)
def test_dynamic_ntk(original, length, factor, base):
    got = scaled(DynamicNTK(original_length=original, factor=factor), length=length)
    np.testing.assert_allclose(got, frequencies.geometric(128, base), rtol=2e-7)


def test_yarn():
    # YaRN paper with Llama 2's numbers, and jquesnelle/yarn's cut by index.
    assert yarn_range(dim=128, base=1e4, original_length=4096) == (20, 46)
    raw = yarn_range(dim=128, base=1e4, original_length=4096, truncate=False)
    np.testing.assert_allclose(raw, [20.944481620636, 45.026881273755], rtol=1e-12)
    got = np.asarray(scaled(Yarn(factor=16.0, original_length=4096)))
    want = [5.623413251903e-02, 4.694085999796e-02, 4.600435467850e-03, 1.517716047318e-04]
    np.testing.assert_allclose(got[[20, 21, 33, 45]], want, rtol=1e-11)
    np.testing.assert_allclose(got[63], 7.217387404309e-06, rtol=1e-11)
    got = ratios(Yarn(factor=16.0, original_length=4096))
    np.testing.assert_allclose(
        got[[20, 21, 33, 45, 63]], [1, 0.963942307692, 0.53125, 0.098557692308, 0.0625], rtol=1e-11
    )


def test_ntk_by_parts_is_not_yarn():
    # YaRN paper, equations 17 to 20: linear in turns. The two differ most at pair 38.
    rule = NTKByParts(factor=16.0, original_length=4096)
    got, cut = ratios(rule), ratios(Yarn(factor=16.0, original_length=4096))
    want = [0.992298802647, 0.202980132258, 0.062617218307]
    np.testing.assert_allclose(got[[21, 33, 45]], want, rtol=1e-11)
    gap = np.abs(got - cut) / cut
    assert gap.argmax() == 38
    np.testing.assert_allclose(gap.max(), 0.671, atol=5e-4)


@pytest.mark.parametrize(
    ("dim", "base", "length", "raw"),
    [
        (128, 1e4, 4096, (20.9445, 45.0269)),
        (128, 1e6, 32768, (23.5959, 39.6509)),
        (64, 150_000, 4096, (8.0928, 17.3980)),
        (64, 1e4, 4096, (10.472240810318, 22.513440636877)),  # DeepSeek-V3
    ],
)
def test_yarn_range(dim, base, length, raw):
    # Also pytorch/torchtitan#3787: beta_fast gives the low index, beta_slow the high one.
    made = {"dim": dim, "base": base, "original_length": length}
    np.testing.assert_allclose(yarn_range(**made, truncate=False), raw, atol=5e-5)
    assert yarn_range(**made) == (math.floor(raw[0]), math.ceil(raw[1]))


def test_gpt_oss_does_not_truncate():
    # openai/gpt-oss, gpt_oss/torch/model.py.
    rule = Yarn(factor=32.0, original_length=4096, truncate=False)
    made = {"dim": 64, "base": 150_000}
    got = ratios(rule, **made)[[8, 9, 12, 17, 18]]
    want = [1, 0.905551095604, 0.593227252501, 0.072687513995, 0.03125]
    np.testing.assert_allclose(got, want, rtol=1e-11)
    got = np.asarray(scaled(rule, **made))[[9, 31]]
    np.testing.assert_allclose(got, [3.170569618466e-02, 3.023511428119e-07], rtol=1e-11)
    np.testing.assert_allclose(rule.table_factor, 1.346573590280, rtol=1e-12)
    cut = ratios(dataclasses.replace(rule, truncate=True), **made)
    np.testing.assert_allclose((cut / ratios(rule, **made)).max(), 1.76, atol=5e-3)


def test_yarn_clips_at_dim():
    # keras-team/keras-hub#2981 clipped at dim / 2 - 1, which changes these frequencies.
    assert yarn_range(dim=16, base=10.0, original_length=4096, beta_fast=256) == (3, 15)
    got = ratios(Yarn(factor=4.0, original_length=4096, beta_fast=256), dim=16, base=10.0)
    np.testing.assert_allclose(got, 1 - 0.75 * np.maximum(np.arange(8) - 3, 0) / 12, rtol=1e-15)


def test_yarn_where_every_pair_is_on_one_side():
    # A base of 10: even the slowest pair turns more than 32 times, so nothing is scaled.
    rule = Yarn(factor=4.0, original_length=2**20)
    assert scaled(rule, dim=16, base=10.0) == frequencies.geometric(16, 10.0)
    # No pair turns even once: all but the first are divided.
    got = ratios(Yarn(factor=4.0, original_length=4), dim=16)
    np.testing.assert_array_equal(got, [1] + [0.25] * 7)
    # Both ends at one index: a step there.
    got = yarn((1.0,) * 5, factor=4.0, low=2, high=2)
    np.testing.assert_array_equal(got, [1, 1, 1, 0.25, 0.25])


def test_multipliers_of_yarn():
    # YaRN paper, section 3.4.
    got = [yarn_mscale(s) for s in (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 40.0, 64.0, 128.0)]
    want = [1, 1.069314718056, 1.138629436112, 1.207944154168, 1.277258872224, 1.346573590280]
    np.testing.assert_allclose(got[:6], want, rtol=1e-12)
    np.testing.assert_allclose(got[6:], [1.368888, 1.415888, 1.485203], rtol=5e-7)
    # vllm-project/vllm#48623: both weights 1 leave cos and sin alone.
    rule = Yarn(factor=16.0, original_length=4096, mscale=1.0, mscale_all_dim=1.0)
    assert rule.table_factor == 1
    np.testing.assert_allclose(rule.softmax_factor, 1.277258872224**2, rtol=1e-11)
    # A given factor is the factor of cos and sin, and says nothing about the softmax.
    rule = dataclasses.replace(rule, attention_factor=0.5)
    assert rule.table_factor == 0.5
    np.testing.assert_allclose(rule.softmax_factor, 1.277258872224**2, rtol=1e-11)
    # A derived factor follows the setting it is derived from.
    rule = dataclasses.replace(Yarn(factor=16.0, original_length=4096), factor=4.0)
    np.testing.assert_allclose(rule.table_factor, 1.138629436112, rtol=1e-12)
    assert rule.softmax_factor == 1


def test_deepseek():
    # deepseek-ai/DeepSeek-V3, inference/model.py: 128 + 64 features a head, 64 of them turn.
    v3 = Yarn(factor=40.0, original_length=4096, mscale=1.0, mscale_all_dim=1.0)
    assert v3.table_factor == 1
    np.testing.assert_allclose(v3.softmax_factor, 1.873854207093, rtol=1e-12)
    np.testing.assert_allclose(192**-0.5 * v3.softmax_factor, 0.135233778861, rtol=1e-11)
    v2 = Yarn(factor=40.0, original_length=4096, mscale=0.707, mscale_all_dim=0.707)
    np.testing.assert_allclose(math.sqrt(v2.softmax_factor), 1.260803777406, rtol=1e-12)
    np.testing.assert_allclose(192**-0.5 * v2.softmax_factor, 0.114721386793, rtol=1e-11)
    apart = Yarn(factor=40.0, original_length=4096, mscale=1.0, mscale_all_dim=0.8)
    np.testing.assert_allclose(apart.table_factor, 1.056966256753, rtol=1e-12)


def test_llama3():
    # meta-llama/llama-models, models/llama3/model.py; pair 31 is ggml-org/llama.cpp#8676.
    rule = Llama3(factor=8.0, original_length=8192)
    got = ratios(rule, base=500_000.0)
    assert set(got[:29]) == {1}
    assert set(got[35:]) == {0.125}
    divisors = [1.2075, 1.5534, 2.0263, 2.6945, 3.6843, 5.2573]
    np.testing.assert_allclose(1 / got[29:35], divisors, rtol=5e-5)
    want = [0.828168411837, 0.643743133128, 0.190210743641]
    np.testing.assert_allclose(got[[29, 30, 34]], want, rtol=1e-11)
    got = np.asarray(scaled(rule, base=500_000.0))
    np.testing.assert_allclose(got[[29, 63]], [2.166570763503e-03, 3.068925988915e-07], rtol=1e-11)
    # Llama 3.2 1B; felafax/felafax#59 left the rule out.
    got = ratios(Llama3(factor=32.0, original_length=8192), dim=64, base=500_000.0)
    assert set(got[:15]) == {1}
    assert set(got[18:]) == {1 / 32}
    want = [0.605572754534, 0.303742523752, 0.103447609031]
    np.testing.assert_allclose(got[15:18], want, rtol=1e-11)


def test_llama4_scout_has_no_middle():
    # meta-llama/llama-models, models/llama4/args.py: both factors are 1.
    rule = Llama3(factor=16.0, original_length=8192, high_frequency_factor=1.0)
    np.testing.assert_array_equal(ratios(rule, base=500_000.0), [1] * 35 + [0.0625] * 29)
    # A pair that turns just once within the original length lies on neither side, and stays.
    rule = dataclasses.replace(rule, original_length=1)
    got = rule.scale((2 * math.pi,), dim=2, base=2.0)
    assert got == (2 * math.pi,)


def test_llama3_is_ntk_by_parts():
    llama = Llama3(factor=8.0, original_length=8192)
    parts = NTKByParts(factor=8.0, original_length=8192, beta_fast=4.0, beta_slow=1.0)
    assert scaled(llama, base=500_000.0) == scaled(parts, base=500_000.0)


def test_longrope():
    # Ding et al. 2024, and microsoft/LongRoPE, rope/longrope.py.
    rule = LongRope(
        short_factors=(1.0,) * 4,
        long_factors=(1.0, 1.5, 4.0, 16.0),
        original_length=4096,
        factor=16,
    )
    got = scaled(rule, dim=8, length=65_536)
    np.testing.assert_allclose(got, [1, 0.1 / 1.5, 0.0025, 6.25e-5], rtol=1e-15)
    factors = [(32.0, 4096), (8.0, 4096), (32.0, 8192), (1.0, 4096)]
    made = [dataclasses.replace(rule, factor=s, original_length=n) for s, n in factors]
    want = [1.190238071424, 1.118033988750, 1.176696810829, 1]
    np.testing.assert_allclose([each.table_factor for each in made], want, rtol=1e-12)
    assert dataclasses.replace(rule, attention_factor=1.25).table_factor == 1.25
    # The dynamic form: at twice the length a fifteenth of the way to sixteen times.
    grown = dataclasses.replace(rule, dynamic=True)
    got = 1 / ratios(grown, dim=8, length=8192)
    np.testing.assert_allclose(got, [1, 1 + 1 / 30, 1.2, 2], rtol=1e-14)
    np.testing.assert_allclose(
        scaled(grown, dim=8, length=65_536), scaled(rule, dim=8, length=65_536), rtol=1e-15
    )


def test_longrope_switches_after_the_original_length():
    # unslothai/unsloth#10681: 4096 tokens are still short.
    short, long = scaled(LONGROPE, length=4096), scaled(LONGROPE, length=4097)
    assert scaled(LONGROPE) == scaled(LONGROPE, length=4095) == short == frequencies.geometric(128)
    np.testing.assert_allclose(np.divide(short, long), RISING, rtol=1e-15)


def test_proportional():
    # Barbero et al. 2024, appendix D, and google-deepmind/gemma's numbers.
    rule = Proportional(fraction=0.25)
    got = np.asarray(scaled(rule, dim=512, base=1e6))
    assert np.count_nonzero(got) == 64
    np.testing.assert_allclose(got[[1, 63]], [0.9474635, 0.033376246943], rtol=1e-7)
    # Not partial turning, whose width in the exponent is that of the features that turn.
    head = scaled(rule, dim=256)
    partial = Rotary(dim=256, rotary_dim=64).frequencies
    assert np.count_nonzero(head) == len(partial) == 32
    np.testing.assert_allclose([head[1], head[31]], [0.930572, 0.107461], rtol=5e-6)
    np.testing.assert_allclose([partial[1], partial[31]], [0.749894, 1.3335e-4], rtol=2e-5)
    assert scaled(Proportional(fraction=1.0)) == frequencies.geometric(128)
    assert set(scaled(Proportional(fraction=0.0))) == {0}


def test_proportional_turns_pairs_across_the_whole_head(framework):
    # labscommunity/cascadia#69 compared tables only; here are turned features.
    spec = Rotary(dim=8, layout="half", scaling=Proportional(fraction=0.5))
    assert spec.frequencies == (1, 0.1, 0, 0)
    x = framework.array([[1.0, 2, 3, 4, 5, 6, 7, 8]], "float32")
    got = spec.rotate(x, framework.array([3]))
    want = [-1.695592536900, 0.137551738283, 3, 4, -4.808842474942, 6.323059348076, 7, 8]
    np.testing.assert_allclose(numpy(got)[0], want, rtol=0, atol=2e-6)


# Alive: every rule of transformers, whole arrays, at both sides of the original length.


def told(kind, original=4096, **parameters):
    return {"rope_type": kind, "original_max_position_embeddings": original} | parameters


PHI3 = {
    "short_factor": tuple(1 + k / 100 for k in range(48)),
    "long_factor": tuple(1.05 + k for k in range(48)),
}


@pytest.mark.parametrize(
    ("rule", "head", "base", "parameters"),
    [
        (Linear(factor=8.0), 256, 1e6, {"rope_type": "linear", "factor": 8.0}),
        (
            DynamicNTK(original_length=131_072, factor=3.0),
            *(128, 1e4, {"rope_type": "dynamic", "factor": 3.0}),
        ),
        (
            Yarn(factor=4.0, original_length=32_768),
            *(128, 1e6, told("yarn", 32_768, factor=4.0)),
        ),
        (
            Yarn(factor=32.0, original_length=4096, mscale=1.0, mscale_all_dim=0.8),
            *(64, 1e4, told("yarn", factor=32.0, mscale=1.0, mscale_all_dim=0.8)),
        ),
        (
            Yarn(factor=32.0, original_length=4096, truncate=False, attention_factor=1.5),
            *(64, 150_000.0, told("yarn", factor=32.0, truncate=False, attention_factor=1.5)),
        ),
        (
            Yarn(factor=32.0, original_length=4096, beta_fast=256.0, beta_slow=0.5),
            *(16, 10.0, told("yarn", factor=32.0, beta_fast=256.0, beta_slow=0.5)),
        ),
        (
            Llama3(factor=8.0, original_length=8192),
            *(128, 5e5),
            told("llama3", 8192, factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0),
        ),
        (
            LongRope(
                short_factors=PHI3["short_factor"],
                long_factors=PHI3["long_factor"],
                original_length=4096,
                factor=32.0,
            ),
            *(96, 1e4),
            told("longrope", factor=32.0, **{name: list(f) for name, f in PHI3.items()}),
        ),
        (
            Proportional(fraction=0.25),
            *(512, 1e6, {"rope_type": "proportional", "partial_rotary_factor": 0.25}),
        ),
    ],
    ids=lambda value: type(value).__name__ if hasattr(value, "scale") else None,
)
def test_transformers(rule, head, base, parameters):
    from transformers import LlamaConfig
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

    config = LlamaConfig(
        hidden_size=head,
        num_attention_heads=1,
        head_dim=head,
        max_position_embeddings=131_072,
        rope_parameters={"rope_theta": base, **parameters},
    )
    original = rule.original_length or 8192
    for length in (1, original - 1, original, original + 1, 2 * original):
        want, factor = ROPE_INIT_FUNCTIONS[parameters["rope_type"]](config, seq_len=length)
        # Theirs is in float32: about four roundings, and a ramp that doubles what it is given.
        np.testing.assert_allclose(scaled(rule, head, base, length), want, rtol=8 * 2**-24)
        assert rule.table_factor == pytest.approx(factor, rel=1e-15)


def test_transformers_deepseek_softmax():
    from transformers.models.deepseek_v3.modeling_deepseek_v3 import yarn_apply_mscale

    for mscale in (1.0, 0.707):
        rule = Yarn(factor=40.0, original_length=4096, mscale=mscale, mscale_all_dim=mscale)
        config = {"rope_type": "yarn", "factor": 40.0, "mscale_all_dim": mscale}
        want = yarn_apply_mscale(config, 192**-0.5)
        np.testing.assert_allclose(192**-0.5 * rule.softmax_factor, want, rtol=1e-15)


def test_other_libraries_ntk():
    from rotary_embedding_torch import RotaryEmbedding

    theirs = RotaryEmbedding(dim=64, theta_rescale_factor=8.0).freqs.detach()
    np.testing.assert_allclose(scaled(NTK(factor=8.0), dim=64), theirs, rtol=4 * 2**-24)


# Laws.

shapes = st.tuples(st.integers(2, 40).map(lambda half: 2 * half), st.sampled_from([1e3, 1e4, 5e5]))
factors = st.floats(1, 64)
lengths = st.integers(256, 65_536)


@st.composite
def rules(draw, factor=factors):
    """Every rule that takes a factor, with the factors drawn."""
    times, original = draw(factor), draw(lengths)
    slow, fast = sorted(draw(st.tuples(st.floats(0.25, 40), st.floats(0.25, 40))))
    made = {"factor": times, "original_length": original}
    return draw(
        st.sampled_from(
            [
                Linear(factor=times),
                NTK(factor=times),
                NTKByParts(**made, beta_fast=fast, beta_slow=slow),
                Yarn(**made, beta_fast=fast, beta_slow=slow),
                Yarn(**made, truncate=False),
                Llama3(**made, high_frequency_factor=fast, low_frequency_factor=slow),
                Proportional(fraction=1.0, factor=times),
                DynamicNTK(original_length=original, factor=times),
            ]
        )
    )


@given(shapes, rules(factor=st.just(1.0)))
def test_factor_one_changes_nothing(shape, rule):
    got, want = scaled(rule, *shape), frequencies.geometric(*shape)
    np.testing.assert_allclose(got, want, rtol=3e-16)
    assert rule.table_factor == 1


@given(shapes, rules(), st.none() | st.integers(0, 1 << 20))
def test_no_pair_gets_faster_or_overtakes(shape, rule, length):
    got, want = np.asarray(scaled(rule, *shape, length)), frequencies.geometric(*shape)
    grown = rule.factor * max((length or 0) / (rule.original_length or 1), 1)
    most = grown if isinstance(rule, DynamicNTK) else rule.factor
    assert (got <= np.multiply(want, 1 + 1e-14)).all()
    assert (got >= np.divide(want, most) * (1 - 1e-12)).all()
    assert (np.diff(got) < 0).all()


@given(st.integers(16, 40).map(lambda half: 2 * half), factors)
def test_yarn_leaves_the_fastest_and_divides_the_slowest(dim, factor):
    rule = Yarn(factor=factor, original_length=4096)
    plain, got = frequencies.geometric(dim), scaled(rule, dim)
    assert got[0] is not None
    assert got[0] == plain[0] == 1
    assert got[-1] == frequencies.divided(plain[-1], factor)
    assert frequencies.divided(plain[-1], factor).tail == got[-1].tail


@given(shapes, factors, lengths, st.integers(0, 1 << 17))
def test_dynamic_depends_on_the_length_alone(shape, factor, original, length):
    rule = DynamicNTK(original_length=original, factor=factor)
    plain = frequencies.geometric(*shape)
    got = rule.scale(plain, dim=shape[0], base=shape[1], length=length)
    if length <= original:
        assert all(one is other for one, other in zip(got, plain, strict=True))
    else:
        # transformers' module remembers the longest text it saw; a function cannot.
        rule.scale(plain, dim=shape[0], base=shape[1], length=2 * length)
        assert got == rule.scale(plain, dim=shape[0], base=shape[1], length=length)
        assert got[0] == 1
        assert (np.asarray(got)[1:] < np.asarray(plain)[1:]).all()


@each_rule
def test_unchanged_frequencies_keep_their_digits(rule):
    plain = frequencies.geometric(128)
    for got, was in zip(rule.scale(plain, dim=128, base=10_000.0), plain, strict=True):
        assert isinstance(got, float)
        assert got != was or got.tail == was.tail


def test_growing_text_with_turned_keys():
    # huggingface/transformers#25104: keys cached under another base. Turned back and again, a
    # key made step by step is the one that a single pass makes.
    spec = Rotary(dim=16, scaling=DynamicNTK(original_length=16, factor=2.0))
    x = np.random.default_rng(0).standard_normal((24, 16))
    whole = spec.rotate(x, np.arange(24), length=24)
    keys = x[:0]
    for length in range(1, 25):
        positions = np.arange(length)
        keys = spec.rotate(keys, positions[:-1], length=length - 1, inverse=True)
        keys = spec.rotate(np.concatenate([keys, x[length - 1 : length]]), positions, length=length)
    np.testing.assert_allclose(keys, whole, rtol=0, atol=1e-5)
    stale = spec.rotate(x[:16], np.arange(16), length=16)
    assert np.abs(stale - whole[:16]).max() > 0.1


@each_rule
def test_rotary_undoes_the_factor(rule):
    spec = Rotary(dim=128, scaling=rule)
    x = np.random.default_rng(0).standard_normal((5, 128))
    turned = spec.rotate(x, np.arange(5), length=5000)
    np.testing.assert_allclose(
        np.linalg.norm(turned, axis=-1), np.linalg.norm(x, axis=-1) * rule.table_factor, rtol=1e-12
    )
    back = spec.rotate(turned, np.arange(5), length=5000, inverse=True)
    np.testing.assert_allclose(back, x, rtol=0, atol=1e-12)


@each_rule
def test_pairs_that_stand_still_or_turn_without_end(rule):
    strange = (math.inf, *frequencies.geometric(128)[1:62], 0.0, 0.0)
    for length in (None, 5000):
        got = rule.scale(strange, dim=128, base=10_000.0, length=length)
        assert len(got) == 64
        assert not any(math.isnan(w) for w in got)


def test_a_single_pair():
    # transformers divides by zero here.
    for rule in (NTK(factor=4.0), DynamicNTK(original_length=8)):
        assert scaled(rule, dim=2, length=100) == (1.0,)
    assert Rotary(dim=2, scaling=Yarn(factor=4.0, original_length=4096)).frequencies == (1.0,)


def test_only_some_features_turn():
    # The width in the exponent stays the head's, and the rule sees the pairs that turn.
    spec = Rotary(dim=128, rotary_dim=32, exponent="head", scaling=NTK(factor=4.0))
    assert spec.frequencies == scaled(NTK(factor=4.0))[:16]
    spec = Rotary(dim=128, rotary_dim=32, scaling=NTK(factor=4.0))
    assert spec.frequencies == scaled(NTK(factor=4.0), dim=32)


def test_compiled_for_each_length_and_each_spec():
    import torch

    torch.compiler.reset()
    dynamic = Rotary(dim=16, scaling=DynamicNTK(original_length=8, factor=2.0))
    longrope = LongRope(
        short_factors=(1.0,) * 8, long_factors=(2.0,) * 8, original_length=8, factor=4.0
    )

    def turn(spec, x):
        length = x.shape[-2]
        return spec.rotate(x, torch.arange(length), length=length)

    compiled = torch.compile(turn, fullgraph=True, backend="eager")
    for length in (9, 10):
        x = torch.ones(length, 16)
        for spec in (dynamic, Rotary(dim=16, base=500.0, scaling=longrope)):
            assert torch.equal(compiled(spec, x), turn(spec, x))


def test_jit():
    import jax

    x = jax.numpy.ones((9, 16), dtype=jax.numpy.float32)
    spec = Rotary(dim=16, scaling=DynamicNTK(original_length=8))
    want = spec.rotate(x, jax.numpy.arange(9), length=9)
    got = jax.jit(lambda x, p: spec.rotate(x, p, length=9))(x, jax.numpy.arange(9))
    np.testing.assert_allclose(got, want, rtol=0, atol=2**-22)  # XLA may fuse x cos - y sin


# Errors.


@pytest.mark.parametrize("make", [Linear, NTK, functools.partial(Proportional, fraction=1.0)])
def test_factor_errors(make):
    factor_errors(make)


@pytest.mark.parametrize("make", [DynamicNTK, NTKByParts, Llama3, Yarn])
def test_length_errors(make):
    factor_errors(functools.partial(make, original_length=4096))
    with pytest.raises(TypeError, match=r"`original_length` must be an integer; got 4096.0"):
        make(factor=4.0, original_length=4096.0)
    with pytest.raises(ValueError, match=r"`original_length` must be at least 1; got.*=0"):
        make(factor=4.0, original_length=0)


@pytest.mark.parametrize(
    "rule",
    [
        DynamicNTK(factor=4.0),
        NTKByParts(factor=4.0),
        Llama3(factor=4.0),
        Yarn(factor=4.0),
        LongRope(short_factors=(1.0,) * 4, long_factors=(2.0,) * 4, factor=4.0),
        LongRope(
            short_factors=(1.0,) * 4, long_factors=(2.0,) * 4, factor=4.0, attention_factor=1.5
        ),
    ],
)
def test_rules_that_wait_for_a_length(rule):
    name = type(rule).__name__
    missing = (
        rf"{name} needs `original_length`, because .* trained for; got None\. "
        rf"Write {name}\(original_length=4096"
    )
    for length in (None, 1, 8192):
        with pytest.raises(ValueError, match=missing):
            scaled(rule, dim=8, length=length)
    with pytest.raises(ValueError, match=missing):
        Rotary(dim=8, scaling=rule)
    assert specs.from_json(specs.to_json(rule)) == rule
    assert specs.parse(specs.to_text(rule)) == rule
    assert "original_length" not in specs.to_text(rule)
    known = dataclasses.replace(rule, original_length=4096)
    assert Rotary(dim=8, scaling=known).scaling == known
    assert specs.parse(specs.to_text(known)) == known


def test_the_factor_of_longrope_waits_for_a_length():
    rule = LongRope(short_factors=(1.0,), long_factors=(2.0,), factor=4.0)
    with pytest.raises(ValueError, match=r"LongRope needs `original_length`"):
        _ = rule.table_factor
    assert dataclasses.replace(rule, attention_factor=1.5).table_factor == 1.5
    assert Yarn(factor=16.0).table_factor == pytest.approx(1.277258872224)


def factor_errors(make):
    with pytest.raises(ValueError, match=r"`factor` must be at least 1.0; got factor=0.5"):
        make(factor=0.5)
    with pytest.raises(ValueError, match=r"`factor` must be finite; got factor=nan"):
        make(factor=math.nan)
    with pytest.raises(TypeError, match=r"`factor` must be a number; got None"):
        make(factor=None)


def test_order_errors():
    with pytest.raises(
        ValueError, match=r"`beta_fast` must be at least `beta_slow`.*beta_fast=1.*beta_slow=32"
    ):
        Yarn(factor=4.0, original_length=4096, beta_fast=1, beta_slow=32)
    with pytest.raises(ValueError, match=r"`beta_fast` must be at least `beta_slow`"):
        NTKByParts(factor=4.0, original_length=4096, beta_fast=0.5)
    with pytest.raises(ValueError, match=r"`high_frequency_factor` must be at least `low_freq"):
        Llama3(factor=4.0, original_length=4096, low_frequency_factor=5.0)
    with pytest.raises(ValueError, match=r"`beta_slow` must be greater than 0; got beta_slow=0"):
        Yarn(factor=4.0, original_length=4096, beta_slow=0)


def test_yarn_errors():
    make = functools.partial(Yarn, factor=4.0, original_length=4096)
    with pytest.raises(ValueError, match=r"`attention_factor` must be greater than 0"):
        make(attention_factor=0)
    with pytest.raises(TypeError, match=r"`truncate` must be True or False; got 1"):
        make(truncate=1)
    with pytest.raises(ValueError, match=r"`mscale` must be at least 0.0"):
        make(mscale=-1)
    with pytest.raises(ValueError, match=r"`mscale_all_dim` must be finite"):
        make(mscale_all_dim=math.inf)
    with pytest.raises(ValueError, match=r"`base` must be greater than 1 for YaRN.*base=1"):
        Rotary(dim=8, base=1.0, scaling=make())


def test_longrope_errors():
    make = functools.partial(
        LongRope, short_factors=(1.0, 1.0), long_factors=(1.0, 2.0), original_length=8, factor=4.0
    )
    with pytest.raises(TypeError, match=r"`long_factors` must be a tuple of numbers; got \[1.0"):
        make(long_factors=[1.0, 2.0])
    with pytest.raises(ValueError, match=r"`long_factors\[1\]` must be greater than 0; got.*=0"):
        make(long_factors=(1.0, 0))
    with pytest.raises(ValueError, match=r"`short_factors\[0\]` must be finite; got.*=nan"):
        make(short_factors=(math.nan, 1.0))
    with pytest.raises(ValueError, match=r"both have one number a pair; got 2 and 3"):
        make(long_factors=(1.0, 2.0, 3.0))
    with pytest.raises(ValueError, match=r"`factors` must have one number a pair.*2 for 4 pairs"):
        Rotary(dim=8, scaling=make())
    with pytest.raises(ValueError, match=r"`original_length` must be at least 2"):
        make(original_length=1)
    with pytest.raises(ValueError, match=r"`factor` must be greater than 1 with dynamic=True"):
        make(factor=1, dynamic=True)
    with pytest.raises(ValueError, match=r"`attention_factor` must be greater than 0"):
        make(attention_factor=-1.0)
    factor_errors(make)


def test_proportional_errors():
    with pytest.raises(ValueError, match=r"`fraction` must be at most 1.*fraction=1.5"):
        Proportional(fraction=1.5)
    with pytest.raises(ValueError, match=r"`fraction` must be at least 0.0"):
        Proportional(fraction=-0.1)


@pytest.mark.parametrize("rule", [RULES["dynamic"], LONGROPE])
def test_length_must_count_tokens(rule):
    for length in (5000.5, math.nan, True):
        with pytest.raises(TypeError, match=r"`length` must be an integer"):
            scaled(rule, length=length)
    with pytest.raises(ValueError, match=r"`length` must be at least 0; got length=-1"):
        scaled(rule, length=-1)


@pytest.mark.parametrize(
    "rule",
    [
        linear,
        functools.partial(ntk, dim=4, base=10_000.0),
        functools.partial(proportional, turning=1),
        functools.partial(ntk_by_parts, original_length=4096),
        functools.partial(yarn, low=0, high=1),
    ],
)
def test_functions_refuse_factors_too(rule):
    for bad in 0, -2.0:
        with pytest.raises(ValueError, match=r"`factor` must be greater than 0"):
            rule((1.0, 0.01), factor=bad)
    with pytest.raises(TypeError, match=r"`factor` must be a number; got '2'"):
        rule((1.0, 0.01), factor="2")


def test_function_errors():
    with pytest.raises(ValueError, match=r"`beta_slow` must be greater than 0"):
        ntk_by_parts((1.0,), factor=2.0, original_length=10, beta_slow=0)
    with pytest.raises(ValueError, match=r"`beta_fast` must be at least `beta_slow`"):
        yarn_range(dim=8, base=1e4, original_length=10, beta_fast=1.0, beta_slow=2.0)
    with pytest.raises(ValueError, match=r"`high` must be at least 2"):
        yarn((1.0,), factor=2.0, low=2, high=1)
    with pytest.raises(ValueError, match=r"`factor` must be greater than 0"):
        yarn_mscale(0.0)
    with pytest.raises(ValueError, match=r"`factors\[1\]` must be greater than 0"):
        longrope((1.0, 0.5), factors=(1.0, 0.0))
    with pytest.raises(TypeError, match=r"`turning` must be an integer"):
        proportional((1.0,), turning=0.5)
