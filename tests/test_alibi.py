"""ALiBi against the authors' rule, the models that use it, and exact fractions."""

import dataclasses
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, strategies as st

from frameworks import numpy
from posenc import positions
from posenc.alibi import Alibi, nearness, slopes
from tracing import check_any_length, check_traced

# ofirpress/attention_with_linear_biases (commit 4b92f28), get_slopes.
PUBLISHED = {
    1: [0.00390625],
    2: [0.0625, 0.00390625],
    3: [0.0625, 0.00390625, 0.25],
    4: [0.25, 0.0625, 0.015625, 0.00390625],
    6: [0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125],
    8: [0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625],
    12: [
        *(0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625),
        *(0.707106781187, 0.353553390593, 0.176776695297, 0.088388347648),
    ],
}
# google-deepmind/randomized_positional_encodings (commit e8c6474), without the slope.
DEEPMIND_4 = [[0, -1, -2, -3], [-0.5, 0, -1, -2], [-1.5, -0.5, 0, -1], [-2.5, -1.5, -0.5, 0]]
FAR = 2**31 - 1

directions = st.sampled_from(["causal", "symmetric", "asymmetric"])
specs = st.builds(
    Alibi,
    heads=st.integers(1, 40),
    rule=st.sampled_from(["paper", "plain"]),
    direction=directions,
    factor=st.sampled_from([1.0, 1.5, 4.0]),
    exponent=st.sampled_from([8.0, 6.0, 3.7]),
)
rows = st.lists(st.integers(0, 5_000), min_size=1, max_size=8)


def authors_slopes(heads, exponent=8):
    """The rule as the authors tell it: a set for a power of two, then every other of the next."""

    def power_of_two(count):
        return [mpmath.mpf(2) ** (-mpmath.mpf(exponent) * h / count) for h in range(1, count + 1)]

    below = 1
    while 2 * below <= heads:
        below *= 2
    return power_of_two(below) + power_of_two(2 * below)[0::2][: heads - below]


def softmax(scores):
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


@pytest.mark.parametrize("heads", PUBLISHED)
def test_published_slopes(heads):
    np.testing.assert_allclose(Alibi(heads=heads).slopes, PUBLISHED[heads], rtol=1e-11)
    assert all(isinstance(slope, float) for slope in Alibi(heads=heads).slopes)


def test_slopes_of_20_heads():
    got = Alibi(heads=20).slopes
    assert got[:16] == Alibi(heads=16).slopes
    want = [0.840896415254, 0.594603557501, 0.420448207627, 0.297301778751]
    np.testing.assert_allclose(got[16:], want, rtol=1e-11)


@pytest.mark.parametrize("exponent", [8.0, 5.5])
def test_slopes_of_1_to_64_heads(exponent):
    for heads in range(1, 65):
        want = [float(slope) for slope in authors_slopes(heads, exponent)]
        np.testing.assert_allclose(Alibi(heads=heads, exponent=exponent).slopes, want, rtol=1e-15)


def test_plain_slopes():
    got = Alibi(heads=12, rule="plain").slopes
    np.testing.assert_allclose(got, [2 ** (-8 * h / 12) for h in range(1, 13)], rtol=1e-15)
    np.testing.assert_allclose(got[0], 0.629960524947, rtol=1e-11)
    assert Alibi(heads=16, rule="plain").slopes == Alibi(heads=16).slopes


def test_slopes_of_bloom_and_mpt():
    import torch
    from transformers.models.bloom.modeling_bloom import build_alibi_tensor
    from transformers.models.mpt.modeling_mpt import build_mpt_alibi_tensor

    for heads in range(1, 65):
        bloom = build_alibi_tensor(torch.ones(1, 2, dtype=torch.int64), heads, torch.float32)
        np.testing.assert_allclose(Alibi(heads=heads).slopes, bloom[:, 0, 1], rtol=1e-6)
        for exponent in 8, 6:
            mpt = build_mpt_alibi_tensor(heads, 2, alibi_bias_max=exponent)
            want = Alibi(heads=heads, exponent=float(exponent)).slopes
            np.testing.assert_allclose(want, -mpt[:, 0, 0], rtol=1e-6)


def test_weights_of_bloom_with_padding():
    import torch
    from transformers.models.bloom.modeling_bloom import build_alibi_tensor

    mask = np.asarray([[0, 0, 1, 1, 1], [1, 1, 1, 1, 1], [1, 1, 1, 0, 0]])
    scores = np.random.default_rng(0).normal(size=(3, 12, 5, 5))
    masked = np.where(mask[:, None, None, :] == 1, scores, -np.inf)
    places = positions.from_mask(mask)
    got = softmax(masked + Alibi(heads=12).bias(places, places))
    bloom = build_alibi_tensor(torch.from_numpy(mask), 12, torch.float32)
    causal = np.where(np.tri(5) == 1, 0, -np.inf)
    want = softmax(np.maximum(masked + numpy(bloom).reshape(3, 12, 1, 5) + causal, -1e30))
    real = mask[:, None, :, None] == 1
    np.testing.assert_allclose(np.where(real, got, 0), np.where(real, want, 0), atol=1e-6)


def test_weights_of_mpt():
    from transformers.models.mpt.modeling_mpt import build_mpt_alibi_tensor

    scores = np.random.default_rng(0).normal(size=(12, 9, 9))
    got = softmax(scores + Alibi(heads=12).bias(np.arange(9), np.arange(9)))
    causal = np.where(np.tri(9) == 1, 0, -np.inf)
    want = softmax(scores + numpy(build_mpt_alibi_tensor(12, 9)) + causal)
    np.testing.assert_allclose(got, want, atol=1e-6)


def test_a_constant_for_each_row_does_not_matter():
    # Printed biases of other libraries rise from 0 where ours rise to 0.
    ours = Alibi(heads=1).bias(np.asarray([2]), np.arange(3))[0, 0]
    theirs = np.arange(3) * np.float32(2**-8)
    assert not np.array_equal(ours, theirs)
    np.testing.assert_allclose(softmax(ours), softmax(theirs), rtol=1e-6)


def test_deepmind(framework):
    spec = Alibi(heads=3, direction="asymmetric")
    got = spec.bias(framework.array(range(4)), framework.array(range(4)))
    assert framework.is_own(got)
    assert got.dtype == framework.xp.float32
    want = np.asarray(spec.slopes)[:, None, None] * np.asarray(DEEPMIND_4)
    np.testing.assert_allclose(numpy(got), want, rtol=2e-7)


def test_causal(framework):
    got = Alibi(heads=8).bias(framework.array([3, 0]), framework.array(range(5)))
    inf = np.inf
    want = [[-1.5, -1, -0.5, 0, -inf], [0, -inf, -inf, -inf, -inf]]
    np.testing.assert_array_equal(numpy(got)[0], want)
    assert not np.any(np.signbit(numpy(got)) & (numpy(got) == 0))


def test_far_positions(framework):
    keys = [0, 1, 2**24 + 1, 2**30 + 1, FAR - 257, FAR - 256, FAR]
    for heads in 12, 8:
        spec = Alibi(heads=heads, rule="plain", direction="symmetric")
        got = spec.bias(framework.array([FAR, 3]), framework.array(keys))
        gaps = [[abs(i - j) for j in keys] for i in (FAR, 3)]
        want = [[[float(-Fraction(s) * d) for d in row] for row in gaps] for s in spec.slopes]
        # Without float64 distance, slope and product are rounded to float32, one after the other.
        rtol = 1.8e-7 if framework.name == "jax" else 6e-8
        np.testing.assert_allclose(numpy(got), want, rtol=rtol)


def test_half_precision_comes_last():
    import torch

    places = torch.arange(600)
    bias = Alibi(heads=8).bias(places, places)
    got = Alibi(heads=8).bias(places, places, dtype=torch.bfloat16)
    assert torch.equal(got, bias.to(torch.bfloat16))
    # One step counts near the query, wherever it stands: slope times position would lose it.
    assert got[0, 599, 596:].tolist() == [-1.5, -1, -0.5, 0]
    # In bfloat16 itself 256 and 257 tokens are the same: give float32 to a kernel.
    assert bias[0, 300, 44] != bias[0, 300, 43]
    assert got[0, 300, 44] == got[0, 300, 43]


@given(specs, rows, rows)
def test_definition(spec, queries, keys):
    got = spec.bias(np.asarray(queries), np.asarray(keys), dtype=np.float64)
    for h, slope in enumerate(spec.slopes):
        for i, query in enumerate(queries):
            for j, key in enumerate(keys):
                want = -slope * abs(query - key)
                if key > query and spec.direction == "causal":
                    want = -np.inf
                if key < query and spec.direction == "asymmetric":
                    want += slope / 2
                assert got[h, i, j] == pytest.approx(want, rel=1e-14)


@given(specs, rows)
def test_nothing_at_distance_0_and_never_rising(spec, keys):
    keys = np.sort(np.asarray(keys))
    behind = spec.bias(keys[-1:], keys)
    assert (behind[:, 0, -1] == 0).all()
    assert (np.diff(behind) >= 0).all()
    ahead = spec.bias(keys[:1], keys)
    assert (ahead[:, 0, 1:] <= ahead[:, 0, :-1]).all()


@given(specs, rows, rows, st.integers(0, 10**9))
def test_only_the_distance_counts(spec, queries, keys, shift):
    queries, keys = np.asarray(queries), np.asarray(keys)
    np.testing.assert_array_equal(
        spec.bias(queries, keys), spec.bias(queries + shift, keys + shift)
    )


@given(st.integers(1, 64), rows)
def test_later_heads_look_further(heads, keys):
    got = Alibi(heads=heads, rule="plain").bias(np.asarray([5_000]), np.asarray(keys))
    assert (np.diff(got, axis=0) >= 0).all()


@given(specs)
def test_symmetric_is_symmetric(spec):
    spec = dataclasses.replace(spec, direction="symmetric")
    bias = spec.bias(np.arange(7), np.arange(7))
    np.testing.assert_array_equal(bias, np.swapaxes(bias, 1, 2))


@given(specs, st.floats(1, 64))
def test_factor_divides_slopes(spec, factor):
    whole = dataclasses.replace(spec, factor=1.0).slopes
    longer = dataclasses.replace(spec, factor=factor).slopes
    np.testing.assert_allclose(longer, np.asarray(whole) / factor, rtol=1e-15)


def test_a_decoding_step_is_the_last_row(framework):
    spec, places = Alibi(heads=6), framework.array(range(5))
    full, step = spec.bias(places, places), spec.bias(places[-1:], places)
    assert step.shape == (6, 1, 5)
    np.testing.assert_array_equal(numpy(step), numpy(full)[:, -1:])
    np.testing.assert_array_equal(numpy(step)[0], [[-1, -0.75, -0.5, -0.25, 0]])


def test_keys_from_an_earlier_segment():
    # With a memory of two tokens, the distance of query i and key j is 2 + i - j.
    got = Alibi(heads=8).bias(positions.count(2, offset=2), positions.count(4))[0]
    np.testing.assert_array_equal(got, [[-1, -0.5, 0, -np.inf], [-1.5, -1, -0.5, 0]])


def test_rows_of_their_own(framework):
    spec = Alibi(heads=6)
    rows = np.asarray([[0, 0, 0, 1, 2], [0, 1, 2, 3, 4]])  # padded on the left, and not
    got = spec.bias(framework.array(rows), framework.array(rows))
    assert got.shape == (2, 6, 5, 5)
    for row, own in zip(rows, numpy(got), strict=True):
        np.testing.assert_array_equal(own, spec.bias(row, row))
    # Real tokens of a padded row see what they would see alone.
    np.testing.assert_array_equal(numpy(got)[0, :, 2:, 2:], spec.bias(np.arange(3), np.arange(3)))
    shared = spec.bias(framework.array(rows[:, -1:]), framework.array(range(5)))
    assert shared.shape == (2, 6, 1, 5)


def test_score_is_bias(framework):
    queries, keys = framework.array([[5], [0], [70]]), framework.array([[0, 5, 68, 100, 7]])
    heads = framework.array(np.arange(13)[:, None, None])
    for rule, direction in ("paper", "causal"), ("plain", "symmetric"), ("paper", "asymmetric"):
        spec = Alibi(heads=13, rule=rule, direction=direction, factor=1.5, exponent=7.0)
        got = spec.score(queries, keys, heads)
        assert got.dtype == framework.xp.float32
        want = spec.bias(queries[:, 0], keys[0, :])
        np.testing.assert_allclose(numpy(got), numpy(want), rtol=5e-7)


@pytest.mark.parametrize("backend", ["eager", pytest.param("inductor", marks=pytest.mark.slow)])
def test_flex_attention(backend):
    import torch
    from torch.nn.attention.flex_attention import flex_attention

    spec, places = Alibi(heads=6), torch.arange(16)
    torch.manual_seed(0)
    q, k, v = torch.randn(3, 1, 6, 16, 8)
    fused = torch.compile(flex_attention, fullgraph=True, backend=backend)
    got = fused(q, k, v, score_mod=lambda score, b, h, i, j: score + spec.score(i, j, h))
    want = torch.nn.functional.scaled_dot_product_attention(
        q, k, v, attn_mask=spec.bias(places, places)
    )
    torch.testing.assert_close(got, want, rtol=0, atol=2e-6)


def test_traced():
    import jax

    queries, keys = np.arange(7), np.arange(5)
    for direction in "causal", "symmetric", "asymmetric":
        check_traced(Alibi(heads=6, direction=direction).bias, queries, keys)
    check_any_length(Alibi(heads=6).bias, queries, queries, axes=(0, 0))
    check_any_length(Alibi(heads=6).bias, queries[-1:], keys, axes=(None, 0))
    rows = jax.numpy.arange(10).reshape(2, 5)
    assert jax.vmap(Alibi(heads=6).bias)(rows, rows).shape == (2, 6, 5, 5)


def test_errors():
    with pytest.raises(ValueError, match=r"`heads` must be at least 1; got heads=0"):
        Alibi(heads=0)
    with pytest.raises(TypeError, match=r"`heads` must be an integer"):
        Alibi(heads=8.0)
    with pytest.raises(ValueError, match=r"`rule` must be one of 'paper', 'plain'"):
        Alibi(heads=8, rule="naive")
    with pytest.raises(ValueError, match=r"`direction` must be one of 'causal'"):
        Alibi(heads=8, direction="left")
    with pytest.raises(ValueError, match=r"`factor` must be at least 1"):
        Alibi(heads=8, factor=0.5)
    with pytest.raises(ValueError, match=r"`exponent` must be greater than 0"):
        Alibi(heads=8, exponent=0.0)
    with pytest.raises(ValueError, match=r"slopes of at least 2\*\*-126.*exponent=127"):
        Alibi(heads=8, exponent=127.0)
    with pytest.raises(TypeError, match=r"`query_positions` must be integers"):
        Alibi(heads=8).bias(np.arange(3.0), np.arange(3))
    with pytest.raises(TypeError, match=r"`head` must hold integers; got float64"):
        Alibi(heads=8).score(np.asarray(1), np.asarray(1), np.asarray(0.0))
    with pytest.raises(TypeError, match=r"got int\. Wrap plain numbers"):
        Alibi(heads=8).score(np.asarray(1), np.asarray(1), 0)
    with pytest.raises(ValueError, match=r"`rule` must be one of 'paper', 'plain'"):
        slopes(6, rule="nonsense")
    with pytest.raises(ValueError, match=r"`direction` must be one of 'causal'"):
        nearness(np.asarray(1), direction="bogus", dtype=np.float32)


def test_heads_that_there_are_not(framework):
    spec, at = Alibi(heads=2), framework.array([3])
    for bad in -1, 2:
        with pytest.raises(
            ValueError, match=rf"`head` must lie within 0 \.\. 1.*from {bad} to {bad}"
        ):
            spec.score(at, at, framework.array([bad]))
    for bad, kind in (True, "bool"), (1.0, "float"):
        with pytest.raises(TypeError, match=rf"`head` must hold integers; got .*{kind}"):
            spec.score(at, at, framework.array([bad]))


def test_heads_in_small_integers(framework):
    spec, at = Alibi(heads=2), framework.array([3, 3])
    got = spec.score(at, at - 1, framework.array([1, 0], "uint8"))
    want = spec.score(at, at - 1, framework.array([1, 0]))
    np.testing.assert_array_equal(numpy(got), numpy(want))
