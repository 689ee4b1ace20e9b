"""Sandwich against sums of cosines by mpmath, and against the sinusoidal vectors it comes from."""

import mpmath
import numpy as np
import pytest
from hypothesis import given, strategies as st

from frameworks import numpy
from posenc import Sinusoidal
from posenc.sandwich import Sandwich
from tracing import check_any_length, check_traced

GAPS = [0, 1, 10, 100, 1000]
# NVIDIA/NeMo (commit 000b931), sandwich_relative_position_embedding.py, in float64: width 128,
# the first of 8 heads. Then the same with terms counted from 0.
FROM_1 = [0, -1.446618505101, -19.340906072426, -33.318914170380, -53.389646778802]
FROM_0 = [0, -1.906316194232, -21.179977101503, -33.456545298509, -53.822271867789]

specs = st.builds(
    Sandwich,
    heads=st.integers(1, 5),
    dim=st.integers(1, 6).map(lambda half: 2 * half),
    start=st.sampled_from([0, 1]),
    base=st.sampled_from([100.0, 10_000.0, 500_000.0]),
    direction=st.sampled_from(["causal", "symmetric"]),
)
rows = st.lists(st.integers(0, 5_000), min_size=1, max_size=4)


def truth(spec, gap):
    """The formula in 50 digits, a number for each head."""
    with mpmath.workdps(50):
        terms = range(spec.start, spec.start + spec.dim // 2)
        turning = [mpmath.mpf(spec.base) ** (-mpmath.mpf(2 * k) / spec.dim) for k in terms]
        total = sum(mpmath.cos(gap * w) for w in turning) - spec.dim // 2
        return [float(total * spec.heads / (8 * h)) for h in range(1, spec.heads + 1)]


def error_of(framework):
    """float32 rounds the sum of 64 terms to 4e-6, and adds up the errors of a product."""
    return 5e-5 if framework.name == "jax" else 5e-6


def test_published(framework):
    keys = framework.array([1000 - gap for gap in GAPS] + [1001])
    for start, want in (1, FROM_1), (0, FROM_0):
        got = Sandwich(heads=8, start=start).bias(framework.array([1000]), keys)
        assert framework.is_own(got)
        assert got.dtype == framework.xp.float32
        atol = error_of(framework)
        np.testing.assert_allclose(numpy(got)[0, 0], [*want, -np.inf], rtol=0, atol=atol)
        np.testing.assert_allclose(numpy(got)[7, 0, :5], np.asarray(want) / 8, rtol=0, atol=atol)
        assert numpy(got)[0, 0, 0] == 0
        assert not np.signbit(numpy(got)[0, 0, 0])


@given(specs, rows, rows)
def test_definition(spec, queries, keys):
    got = spec.bias(np.asarray(queries), np.asarray(keys), dtype=np.float64)
    for i, query in enumerate(queries):
        for j, key in enumerate(keys):
            want = truth(spec, query - key)
            if key > query and spec.direction == "causal":
                want = [-np.inf] * spec.heads
            np.testing.assert_allclose(got[:, i, j], want, rtol=1e-12, atol=1e-13)


def test_far_positions(framework):
    far = 2**31 - 1
    spec, keys = Sandwich(heads=8), [far, far - 1, far - 100, 2**24 + 1, 0]
    got = spec.bias(framework.array([far]), framework.array(keys))
    want = [truth(spec, far - key)[0] for key in keys]
    np.testing.assert_allclose(numpy(got)[0, 0], want, rtol=0, atol=error_of(framework))


def test_product_of_sinusoidal_vectors():
    places = np.arange(50)
    vectors = Sinusoidal(dim=64).encode(places, dtype=np.float64)
    spec = Sandwich(heads=8, dim=64, start=0, direction="symmetric")
    got = spec.bias(places, places, dtype=np.float64)
    np.testing.assert_allclose(got[0], vectors @ vectors.T - 32, rtol=0, atol=1e-12)


@given(specs)
def test_divisors(spec):
    bias = spec.bias(np.asarray([20]), np.arange(20), dtype=np.float64)
    assert (np.diff(spec.divisors) > 0).all()
    assert spec.divisors[-1] == 8
    np.testing.assert_allclose(
        bias * np.asarray(spec.divisors)[:, None, None], np.broadcast_to(8 * bias[-1], bias.shape)
    )


@given(specs)
def test_terms(spec):
    assert len(spec.frequencies) == spec.dim // 2
    if spec.start == 1:
        assert spec.frequencies[-1] == 1 / spec.base
    else:
        assert spec.frequencies[0] == 1


@given(specs, rows, rows, st.integers(0, 10**9))
def test_only_the_distance_counts(spec, queries, keys, shift):
    queries, keys = np.asarray(queries), np.asarray(keys)
    np.testing.assert_allclose(
        spec.bias(queries + shift, keys + shift), spec.bias(queries, keys), rtol=2e-7, atol=1e-12
    )


@given(specs, rows)
def test_nothing_at_distance_0_and_less_elsewhere(spec, keys):
    bias = spec.bias(np.asarray(keys), np.asarray(keys))
    same = np.asarray(keys)[:, None] == np.asarray(keys)[None, :]
    assert (bias[:, same] == 0).all()
    assert (bias[:, ~same] < 0).all()


@given(specs)
def test_a_decoding_step_is_the_last_row(spec):
    places = np.arange(20)
    full, step = spec.bias(places, places), spec.bias(places[-1:], places)
    assert step.shape == (spec.heads, 1, 20)
    # A product of matrices may add up in another order for one row.
    np.testing.assert_allclose(step, full[:, -1:], rtol=2e-7)


def test_rows_of_their_own(framework):
    spec, rows = Sandwich(heads=3), np.asarray([[0, 0, 0, 1, 2], [5, 6, 7, 8, 9]])
    got = spec.bias(framework.array(rows), framework.array(rows))
    assert got.shape == (2, 3, 5, 5)
    atol = error_of(framework)
    for row, own in zip(rows, numpy(got), strict=True):
        np.testing.assert_allclose(own, spec.bias(row, row), rtol=0, atol=atol)
    alone = spec.bias(np.arange(3), np.arange(3))
    np.testing.assert_allclose(numpy(got)[0, :, 2:, 2:], alone, rtol=0, atol=atol)
    shared = spec.bias(framework.array(rows[:, -1:]), framework.array(range(5)))
    assert shared.shape == (2, 3, 1, 5)


def test_half_precision_comes_last():
    import torch

    spec, places = Sandwich(heads=2), torch.arange(300)
    got = spec.bias(places, places, dtype=torch.bfloat16)
    assert torch.equal(got, spec.bias(places, places).to(torch.bfloat16))


def test_traced():
    import jax

    spec, queries, keys = Sandwich(heads=3, dim=16), np.arange(7), np.arange(5)
    check_traced(spec.bias, queries, keys)
    check_any_length(spec.bias, queries, queries, axes=(0, 0))
    rows = jax.numpy.arange(10).reshape(2, 5)
    assert jax.vmap(spec.bias)(rows, rows).shape == (2, 3, 5, 5)


def test_errors():
    with pytest.raises(ValueError, match=r"`dim` must be even.*dim=7"):
        Sandwich(heads=1, dim=7)
    with pytest.raises(ValueError, match=r"`start` must be one of 0, 1; got start=2"):
        Sandwich(heads=1, start=2)
    with pytest.raises(ValueError, match=r"`base` must be greater than 0"):
        Sandwich(heads=1, base=0.0)
    with pytest.raises(ValueError, match=r"`direction` must be one of"):
        Sandwich(heads=1, direction="both")
    with pytest.raises(TypeError, match=r"`key_positions` must be integers"):
        Sandwich(heads=1).bias(np.arange(2), np.arange(2.0))
