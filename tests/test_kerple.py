"""KERPLE against mpmath and ALiBi, and its gradients against derivatives in closed form."""

import dataclasses

import mpmath
import numpy as np
import pytest
from hypothesis import given, strategies as st

from frameworks import numpy
from posenc.alibi import Alibi
from posenc.kerple import Kerple, within
from tracing import check_any_length, check_traced

GAPS = [0, 1, 10, 100, 1000]
# The formulas of Chi et al. 2022, arXiv:2205.09921, in float64: r1 = 1 and r2 = 0.5 for "log",
# r1 = r2 = 0.5 for "power".
LOG = [0, -0.405465108108, -1.791759469228, -3.931825632724, -6.216606101085]
POWER = [0, -0.5, -1.581138830084, -5, -15.811388300842]

specs = st.builds(
    Kerple,
    heads=st.just(3),
    form=st.sampled_from(["log", "power"]),
    direction=st.sampled_from(["causal", "symmetric"]),
)
seeds = st.integers(0, 1_000)
rows = st.lists(st.integers(0, 5_000), min_size=1, max_size=8)


def truth(form, gap, r1, r2):
    """The formula in 50 digits, with the bounds that the authors clip to."""
    with mpmath.workdps(50):
        r1, r2 = max(mpmath.mpf(r1), mpmath.mpf("0.01")), max(mpmath.mpf(r2), mpmath.mpf("0.01"))
        if form == "log":
            return -r1 * mpmath.log(1 + r2 * gap)
        return -r1 * mpmath.mpf(gap) ** min(r2, 2) if gap else mpmath.mpf(0)


def weights_of(framework, r1, r2, dtype="float32"):
    return {"r1": framework.array(r1, dtype), "r2": framework.array(r2, dtype)}


def test_published(framework):
    keys = framework.array([1000 - gap for gap in GAPS] + [1001])
    for form, r1, want in ("log", 1.0, LOG), ("power", 0.5, POWER):
        weights = weights_of(framework, [r1], [0.5])
        got = Kerple(heads=1, form=form).bias(framework.array([1000]), keys, **weights)
        assert framework.is_own(got)
        assert got.dtype == framework.xp.float32
        np.testing.assert_allclose(numpy(got)[0, 0], [*want, -np.inf], rtol=3e-7)
        assert not np.signbit(numpy(got)[0, 0, 0])


@given(specs, seeds, rows, rows)
def test_definition(spec, seed, queries, keys):
    weights = spec.initial_weights(seed)
    got = spec.bias(np.asarray(queries), np.asarray(keys), **weights)
    for h, (r1, r2) in enumerate(zip(weights["r1"], weights["r2"], strict=True)):
        for i, query in enumerate(queries):
            for j, key in enumerate(keys):
                want = float(truth(spec.form, abs(query - key), float(r1), float(r2)))
                if key > query and spec.direction == "causal":
                    want = -np.inf
                # A power in float32 is good to one unit in 2**-22 of its logarithm.
                assert got[h, i, j] == pytest.approx(want, rel=2e-6)


def test_far_positions(framework):
    far = 2**31 - 1
    queries, keys = framework.array([far]), framework.array([0, 2**24 + 1, far - 2**20, far])
    for form in "log", "power":
        weights = weights_of(framework, [0.7], [1.3])
        got = Kerple(heads=1, form=form).bias(queries, keys, **weights)
        r1, r2 = float(np.float32(0.7)), float(np.float32(1.3))
        want = [float(truth(form, far - int(key), r1, r2)) for key in numpy(keys)]
        np.testing.assert_allclose(numpy(got)[0, 0], want, rtol=3e-6)


@given(specs, seeds, rows)
def test_nothing_at_distance_0_and_never_rising(spec, seed, keys):
    keys, weights = np.sort(np.asarray(keys)), spec.initial_weights(seed)
    behind = spec.bias(keys[-1:], keys, **weights)
    assert (behind[:, 0, -1] == 0).all()
    assert (np.diff(behind) >= 0).all()
    ahead = spec.bias(keys[:1], keys, **weights)
    assert (ahead[:, 0, 1:] <= ahead[:, 0, :-1]).all()


@given(specs, seeds, rows, rows, st.integers(0, 10**9))
def test_only_the_distance_counts(spec, seed, queries, keys, shift):
    queries, keys, weights = np.asarray(queries), np.asarray(keys), spec.initial_weights(seed)
    np.testing.assert_array_equal(
        spec.bias(queries + shift, keys + shift, **weights), spec.bias(queries, keys, **weights)
    )


@pytest.mark.parametrize("direction", ["causal", "symmetric"])
def test_power_1_is_alibi(direction):
    alibi, places = Alibi(heads=12, direction=direction), np.arange(300)
    slopes = np.maximum(np.asarray(alibi.slopes, np.float32), 0.01)
    spec = Kerple(heads=12, form="power", direction=direction)
    got = spec.bias(places, places, r1=slopes, r2=np.ones(12, np.float32))
    want = alibi.bias(places, places)
    steep = np.asarray(alibi.slopes) > 0.01
    np.testing.assert_allclose(got[steep], want[steep], rtol=3e-7)


@given(specs, seeds)
def test_a_decoding_step_is_the_last_row(spec, seed):
    places, weights = np.arange(5), spec.initial_weights(seed)
    full = spec.bias(places, places, **weights)
    np.testing.assert_array_equal(spec.bias(places[-1:], places, **weights), full[:, -1:])


def test_rows_of_their_own(framework):
    spec, rows = Kerple(heads=3, form="power"), np.asarray([[0, 0, 0, 1, 2], [0, 1, 2, 3, 4]])
    weights = spec.initial_weights()
    got = spec.bias(
        framework.array(rows), framework.array(rows), **weights_of(framework, *weights.values())
    )
    assert got.shape == (2, 3, 5, 5)
    for row, own in zip(rows, numpy(got), strict=True):
        np.testing.assert_allclose(own, spec.bias(row, row, **weights), rtol=1e-6)
    alone = spec.bias(np.arange(3), np.arange(3), **weights)
    np.testing.assert_allclose(numpy(got)[0, :, 2:, 2:], alone, rtol=1e-6)


def test_weights_out_of_bounds_act_as_the_bounds():
    queries, keys = np.asarray([9]), np.asarray([9, 8, 5])
    given = {"r1": np.asarray([-3.0, 0.005, 1.0]), "r2": np.asarray([0.0, -1.0, 7.0])}
    for form, high in ("log", 7.0), ("power", 2.0):
        spec = Kerple(heads=3, form=form)
        got = spec.bias(queries, keys, **given)
        kept = {"r1": np.asarray([0.01, 0.01, 1.0]), "r2": np.asarray([0.01, 0.01, high])}
        np.testing.assert_array_equal(got, spec.bias(queries, keys, **kept))


def derivatives(form, gaps, r1, r2):
    """Of the sum of the biases with respect to r1 and r2, in closed form and 30 digits."""
    with mpmath.workdps(30):
        far = [mpmath.mpf(int(gap)) for gap in gaps if gap > 0]
        if form == "log":
            one = -sum(mpmath.log(1 + r2 * gap) for gap in far)
            return float(one), float(-r1 * sum(gap / (1 + r2 * gap) for gap in far))
        one = -sum(gap**r2 for gap in far)
        return float(one), float(-r1 * sum(gap**r2 * mpmath.log(gap) for gap in far))


@pytest.mark.parametrize("form", ["log", "power"])
@pytest.mark.parametrize("direction", ["causal", "symmetric"])
def test_gradients(form, direction):
    import jax
    import torch

    spec, places = Kerple(heads=2, form=form, direction=direction), np.arange(6)
    gaps = (places[:, None] - places[None, :]).ravel()
    gaps = abs(gaps) if direction == "symmetric" else gaps
    # The second head is out of bounds: clipped, but not cut off from its gradient.
    r1, r2 = np.asarray([0.5, -0.2], np.float32), np.asarray([0.25, 0.001], np.float32)
    want = [derivatives(form, gaps, 0.5, 0.25), derivatives(form, gaps, 0.01, 0.01)]

    leaves = [torch.tensor(array, requires_grad=True) for array in (r1, r2)]
    bias = spec.bias(torch.arange(6), torch.arange(6), r1=leaves[0], r2=leaves[1])
    torch.where(torch.isfinite(bias), bias, 0.0).sum().backward()
    np.testing.assert_allclose(np.stack([leaf.grad for leaf in leaves], 1), want, rtol=2e-6)

    def total(r1, r2):
        xp = jax.numpy
        bias = spec.bias(xp.arange(6), xp.arange(6), r1=r1, r2=r2)
        return xp.sum(xp.where(xp.isfinite(bias), bias, 0.0))

    got = jax.grad(total, argnums=(0, 1))(jax.numpy.asarray(r1), jax.numpy.asarray(r2))
    np.testing.assert_allclose(np.stack(got, 1), want, rtol=2e-6)


@pytest.mark.parametrize("form", ["log", "power"])
def test_second_derivatives(form):
    import torch

    spec, places = Kerple(heads=2, form=form, direction="symmetric"), torch.arange(4)

    def bias(r1, r2):
        return spec.bias(places, places, r1=r1, r2=r2, dtype=torch.float64)

    leaves = torch.tensor([[0.5, 1.2], [0.25, 1.0]], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradgradcheck(bias, tuple(leaves))


def test_within_passes_gradients():
    import torch

    x = torch.tensor([-5.0, 0.3, 5.0], requires_grad=True)
    y = within(x, 0.0, 1.0)
    assert y.tolist() == [0, x[1], 1]
    (y * torch.tensor([1.0, 2.0, 3.0])).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [1, 2, 3]


def test_score_is_bias(framework):
    queries, keys = framework.array([[5], [0], [70]]), framework.array([[0, 5, 68, 100, 7]])
    heads = framework.array(np.arange(3)[:, None, None])
    for form, direction in ("log", "causal"), ("power", "symmetric"):
        spec = Kerple(heads=3, form=form, direction=direction)
        weights = weights_of(framework, *spec.initial_weights().values())
        got = spec.score(queries, keys, heads, **weights)
        assert got.dtype == framework.xp.float32
        want = spec.bias(queries[:, 0], keys[0, :], **weights)
        np.testing.assert_allclose(numpy(got), numpy(want), rtol=1e-6)


@pytest.mark.parametrize(
    ("backend", "form"),
    [
        ("eager", "log"),
        pytest.param("inductor", "log", marks=pytest.mark.slow),
        pytest.param("inductor", "power", marks=pytest.mark.slow),
    ],
)
def test_flex_attention(backend, form):
    import torch
    from torch.nn.attention.flex_attention import flex_attention

    spec, places = Kerple(heads=3, form=form), torch.arange(16)
    weights = {name: torch.tensor(array) for name, array in spec.initial_weights().items()}
    torch.manual_seed(0)
    q, k, v = torch.randn(3, 1, 3, 16, 8)
    fused = torch.compile(flex_attention, fullgraph=True, backend=backend)

    def modified(score, batch, head, query, key):
        return score + spec.score(query, key, head, **weights)

    got = fused(q, k, v, score_mod=modified)
    bias = spec.bias(places, places, **weights)
    want = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=bias)
    torch.testing.assert_close(got, want, rtol=0, atol=2e-6)


@pytest.mark.parametrize("form", ["log", "power"])
def test_traced(form):
    spec, queries, keys = Kerple(heads=3, form=form), np.arange(7), np.arange(5)
    r1, r2 = spec.initial_weights().values()

    def bias(queries, keys, r1, r2):
        return spec.bias(queries, keys, r1=r1, r2=r2)

    check_traced(bias, queries, keys, r1, r2)
    check_any_length(bias, queries, queries, r1, r2, axes=(0, 0, None, None))


def test_initial_weights():
    for form, high in ("log", (2, 1)), ("power", (1, 2)):
        spec = Kerple(heads=2_000, form=form)
        drawn = spec.initial_weights(seed=3)
        assert {name: array.shape for name, array in drawn.items()} == spec.weights
        for array, top in zip(drawn.values(), high, strict=True):
            assert array.dtype == np.float32
            assert array.min() >= 0
            assert top * 0.99 < array.max() <= top
            np.testing.assert_allclose(array.mean(), top / 2, rtol=0.05)


def test_half_precision_comes_last():
    import torch

    spec, places = Kerple(heads=2, form="power"), torch.arange(300)
    weights = {name: torch.tensor(array) for name, array in spec.initial_weights().items()}
    got = spec.bias(places, places, **weights, dtype=torch.bfloat16)
    assert torch.equal(got, spec.bias(places, places, **weights).to(torch.bfloat16))
    half = {name: array.to(torch.bfloat16) for name, array in weights.items()}
    rounded = {name: array.float() for name, array in half.items()}
    want = spec.bias(places, places, **rounded)
    assert torch.equal(spec.bias(places, places, **half), want)


def test_errors():
    spec, one = Kerple(heads=2), np.arange(1)
    with pytest.raises(ValueError, match=r"`form` must be one of 'log', 'power'"):
        dataclasses.replace(spec, form="linear")
    with pytest.raises(ValueError, match=r"`direction` must be one of 'causal', 'symmetric'"):
        dataclasses.replace(spec, direction="both")
    with pytest.raises(ValueError, match=r"`r2` must have shape \(2,\), .*; got \(3,\)"):
        spec.bias(one, one, r1=np.ones(2), r2=np.ones(3))
    with pytest.raises(TypeError, match=r"`r1` must hold floating-point numbers; got int64"):
        spec.bias(one, one, r1=np.ones(2, int), r2=np.ones(2))


def test_heads_that_there_are_not(framework):
    spec, at = Kerple(heads=2), framework.array([3])
    weights = weights_of(framework, [0.5, 0.7], [0.5, 1.0])
    for bad in -1, 2:
        with pytest.raises(
            ValueError, match=rf"`head` must lie within 0 \.\. 1.*from {bad} to {bad}"
        ):
            spec.score(at, at, framework.array([bad]), **weights)
    for bad, kind in (True, "bool"), (1.0, "float"):
        with pytest.raises(TypeError, match=rf"`head` must hold integers; got .*{kind}"):
            spec.score(at, at, framework.array([bad]), **weights)


def test_heads_in_small_integers(framework):
    spec, at = Kerple(heads=2), framework.array([3, 3])
    weights = weights_of(framework, [0.5, 0.7], [0.5, 1.0])
    got = spec.score(at, at - 1, framework.array([1, 0], "uint8"), **weights)
    want = spec.score(at, at - 1, framework.array([1, 0]), **weights)
    np.testing.assert_array_equal(numpy(got), numpy(want))
