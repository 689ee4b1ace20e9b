"""FIRE against its formula in float64 and a PyTorch network with the same weights."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from frameworks import numpy
from posenc import fire
from posenc.fire import Fire
from tracing import check_any_length, check_traced

# Query, key, and what the network reads with c = 0.1 and threshold 512: mcleish7/arithmetic
# (commit 86022a5), cramming/architectures/embeddings.py, in float64.
READ = [
    *[(10, 0, 0.175254752891), (10, 9, 0.024098146076), (511, 0, 0.999514916403)],
    *[(512, 0, 0.999999747161), (1023, 1022, 0.020551447110), (4095, 3584, 0.656958172219)],
]

specs = st.builds(
    Fire,
    heads=st.integers(1, 4),
    width=st.integers(1, 6),
    threshold=st.sampled_from([8.0, 512.0]),
    direction=st.sampled_from(["causal", "symmetric"]),
)
seeds = st.integers(0, 1_000)
rows = st.lists(st.integers(0, 2_000), min_size=1, max_size=6)


def truth(spec, weights, query, key):
    """The formula for one query and key: a list with a number for each head."""

    def psi(x):
        return math.log(abs(float(weights["c"])) * x + 1)

    threshold = abs(float(weights["multiplier"])) * spec.threshold
    x = psi(abs(query - key)) / (psi(max(query, threshold)) + spec.eps)
    hidden = [
        max(0.0, x * float(w) + float(b))
        for w, b in zip(weights["weight_in"], weights["bias_in"], strict=True)
    ]
    return [
        sum(float(w) * h for w, h in zip(row, hidden, strict=True)) + float(b)
        for row, b in zip(weights["weight_out"], weights["bias_out"], strict=True)
    ]


def weights_of(spec, framework, seed=0):
    drawn = spec.initial_weights(seed)
    return {name: framework.array(array, "float32") for name, array in drawn.items()}


def test_published(framework):
    queries, keys, want = np.asarray(READ).T
    gaps = framework.array((queries - keys).astype(int))
    queries = framework.array(queries.astype(int))
    c, threshold = framework.array(0.1, "float32"), framework.array(512.0, "float32")
    got = fire.squeezed(gaps, queries, c=c, threshold=threshold, eps=1e-6)
    assert framework.is_own(got)
    np.testing.assert_allclose(numpy(got), want, rtol=3e-7)


@given(specs, seeds, rows, rows)
def test_definition(spec, seed, queries, keys):
    weights = spec.initial_weights(seed)
    weights["multiplier"] = np.asarray(-0.7, np.float32)
    got = spec.bias(np.asarray(queries), np.asarray(keys), **weights)
    for i, query in enumerate(queries):
        for j, key in enumerate(keys):
            want = truth(spec, weights, query, key)
            if key > query and spec.direction == "causal":
                want = [-math.inf] * spec.heads
            np.testing.assert_allclose(got[:, i, j], want, rtol=1e-5, atol=1e-6)


def test_every_framework(framework):
    spec = Fire(heads=3)
    queries, keys = np.asarray([[0, 7], [3_000, 50]]), np.asarray([0, 1, 2, 90])
    got = spec.bias(framework.array(queries), framework.array(keys), **weights_of(spec, framework))
    assert framework.is_own(got)
    assert got.dtype == framework.xp.float32
    want = spec.bias(queries, keys, **spec.initial_weights())
    np.testing.assert_allclose(numpy(got), want, rtol=1e-5, atol=1e-6)


def test_network_of_pytorch():
    import torch

    torch.manual_seed(0)
    network = torch.nn.Sequential(torch.nn.Linear(1, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4))
    weights = {
        **{"weight_in": network[0].weight[:, 0], "bias_in": network[0].bias},
        **{"weight_out": network[2].weight, "bias_out": network[2].bias},
    }
    c, places = torch.tensor(0.1), torch.arange(700)
    got = Fire(heads=4, direction="symmetric").bias(
        places, places, c=c, multiplier=torch.tensor(1.0), **weights
    )
    # mcleish7/arithmetic, cramming/architectures/embeddings.py, FIRE.forward, in our words.
    gaps = (places[:, None] - places[None, :]).float()
    furthest = torch.clamp(places.float(), min=512)[:, None]
    x = torch.log((c * gaps).abs() + 1) / (torch.log(c * furthest + 1) + 1e-6)
    want = network(x[..., None]).permute(2, 0, 1)
    torch.testing.assert_close(got, want, rtol=1e-5, atol=1e-6)


def test_depends_on_where_the_query_stands():
    spec = Fire(heads=2, threshold=16.0)
    weights = spec.initial_weights()
    near = spec.bias(np.asarray([5, 9, 16]), np.asarray([5, 9, 16]), **weights)
    np.testing.assert_array_equal(near[:, 0, 0], near[:, 2, 2])
    four_apart = spec.bias(np.asarray([8, 16]), np.asarray([4, 12]), **weights)
    np.testing.assert_array_equal(four_apart[:, 0, 0], four_apart[:, 1, 1])
    beyond = spec.bias(np.asarray([8, 17]), np.asarray([4, 13]), **weights)
    assert (beyond[:, 0, 0] != beyond[:, 1, 1]).all()


@given(specs, seeds, st.integers(0, 5_000))
def test_what_the_network_reads_stays_within_0_and_1(spec, seed, query):
    c, threshold = np.asarray(0.1), np.asarray(spec.threshold)
    keys = np.arange(0, query + 1, 7)
    read = fire.squeezed(query - keys, np.asarray(query), c=c, threshold=threshold, eps=spec.eps)
    assert (read >= 0).all()
    assert (read < 1).all()
    assert (np.diff(read) < 0).all()


@given(specs, seeds)
def test_a_decoding_step_is_the_last_row(spec, seed):
    places, weights = np.arange(20), spec.initial_weights(seed)
    full = spec.bias(places, places, **weights)
    step = spec.bias(places[-1:], places, **weights)
    # A product of matrices may add up in another order for one row.
    np.testing.assert_allclose(step, full[:, -1:], rtol=1e-5, atol=1e-6)


def test_rows_of_their_own():
    spec, rows = Fire(heads=3, threshold=2.0), np.asarray([[0, 0, 0, 1, 2], [5, 6, 7, 8, 9]])
    weights = spec.initial_weights()
    got = spec.bias(rows, rows, **weights)
    assert got.shape == (2, 3, 5, 5)
    for row, own in zip(rows, got, strict=True):
        np.testing.assert_allclose(own, spec.bias(row, row, **weights), rtol=1e-5, atol=1e-7)
    alone = spec.bias(np.arange(3), np.arange(3), **weights)
    np.testing.assert_allclose(got[0, :, 2:, 2:], alone, rtol=1e-5, atol=1e-7)


def test_gradients_reach_every_weight():
    import jax
    import torch

    spec, places = Fire(heads=2, threshold=4.0), np.arange(9)
    weights = spec.initial_weights()
    mixing = np.random.default_rng(0).normal(size=(2, 9, 9)).astype(np.float32)
    mixing *= np.tri(9, dtype=np.float32)

    leaves = {name: torch.tensor(array, requires_grad=True) for name, array in weights.items()}
    bias = spec.bias(torch.arange(9), torch.arange(9), **leaves)
    (torch.where(torch.isfinite(bias), bias, 0.0) * torch.from_numpy(mixing)).sum().backward()

    def total(weights):
        xp = jax.numpy
        bias = spec.bias(xp.asarray(places), xp.asarray(places), **weights)
        return xp.sum(xp.where(xp.isfinite(bias), bias, 0.0) * mixing)

    theirs = {name: jax.numpy.asarray(array) for name, array in weights.items()}
    got = jax.grad(total)(theirs)

    def at(name, step):
        moved = {n: array.astype(np.float64) for n, array in weights.items()}
        moved[name] = moved[name] + step
        bias = spec.bias(places, places, **moved, dtype=np.float64)
        return (np.where(np.isfinite(bias), bias, 0) * mixing).sum()

    for name, leaf in leaves.items():
        assert leaf.grad is not None
        np.testing.assert_allclose(got[name], leaf.grad, rtol=1e-4, atol=1e-5)
        slope = (at(name, 1e-6) - at(name, -1e-6)) / 2e-6  # all entries of an array together
        np.testing.assert_allclose(leaf.grad.sum(), slope, rtol=1e-3, atol=1e-4)
        assert abs(slope) > 1e-3


def test_traced():
    spec, queries, keys = Fire(heads=3), np.arange(7), np.arange(5)
    arrays = tuple(spec.initial_weights().values())

    def bias(queries, keys, *arrays):
        return spec.bias(queries, keys, **dict(zip(spec.weights, arrays, strict=True)))

    check_traced(bias, queries, keys, *arrays)
    check_any_length(bias, queries, queries, *arrays, axes=(0, 0, *[None] * 6))


def test_initial_weights():
    spec = Fire(heads=300, width=100)
    drawn = spec.initial_weights(seed=1)
    assert {name: array.shape for name, array in drawn.items()} == spec.weights
    assert all(array.dtype == np.float32 for array in drawn.values())
    assert float(drawn["c"]) == np.float32(0.1)
    assert float(drawn["multiplier"]) == 1
    # torch.nn.Linear: uniform within the inverse root of the inputs of a layer.
    for name, bound in {"weight_in": 1, "bias_in": 1, "weight_out": 0.1, "bias_out": 0.1}.items():
        assert 0.9 * bound < np.abs(drawn[name]).max() <= bound


def test_errors():
    with pytest.raises(ValueError, match=r"`threshold` must be greater than 0"):
        Fire(heads=1, threshold=0.0)
    with pytest.raises(ValueError, match=r"`eps` must be greater than 0"):
        Fire(heads=1, eps=0.0)
    with pytest.raises(ValueError, match=r"`width` must be at least 1"):
        Fire(heads=1, width=0)
    with pytest.raises(ValueError, match=r"`direction` must be one of"):
        Fire(heads=1, direction="bidirectional")
    spec, one = Fire(heads=2), np.arange(1)
    weights = spec.initial_weights()
    with pytest.raises(ValueError, match=r"`weight_in` must have shape \(32,\), .*; got \(32, 1\)"):
        spec.bias(one, one, **weights | {"weight_in": weights["weight_in"][:, None]})
    with pytest.raises(TypeError, match=r"`c` must hold floating-point numbers; got int64"):
        spec.bias(one, one, **weights | {"c": np.asarray(1)})
    with pytest.raises(TypeError, match=r"`query_positions` must be integers"):
        spec.bias(np.arange(1.0), one, **weights)


def test_torch_vmap():
    import torch

    spec = Fire(heads=3)
    weights = {name: torch.from_numpy(array) for name, array in spec.initial_weights().items()}
    rows = torch.arange(10).reshape(2, 5)
    got = torch.vmap(lambda row: spec.bias(row, row, **weights))(rows)
    torch.testing.assert_close(got, spec.bias(rows, rows, **weights))
