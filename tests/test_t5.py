"""T5's buckets against transformers and the formula in 60 digits; its bias against T5Attention."""

import mpmath
import numpy as np
import pytest
from hypothesis import given, strategies as st

from frameworks import numpy
from posenc import t5
from posenc.t5 import T5
from tracing import check_any_length, check_traced

# tensorflow/mesh (commit da90793), _relative_position_bucket: key minus query, and its bucket.
BIDIRECTIONAL = {
    **{0: 0, -1: 1, 1: 17, 7: 23, 8: 24, -8: 8, -11: 8, -12: 9, -15: 9, -16: 10, -32: 12},
    **{-63: 13, -64: 14, -90: 14, -91: 15, -127: 15, -128: 15, 128: 31, 10**9: 31, -(10**9): 15},
}
CAUSAL = {
    **{0: 0, 1: 0, 5: 0, 10**9: 0, -1: 1, -15: 15, -16: 16, -18: 16, -19: 17, -21: 18, -24: 19},
    **{-32: 21, -64: 26, -112: 30, -113: 31, -(10**9): 31},
}
FIRST_BIDIRECTIONAL = [*range(8), 8, 12, 16, 23, 32, 46, 64, 91]
FIRST_CAUSAL = [*range(16), 16, 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113]

specs = st.builds(
    T5,
    heads=st.integers(1, 5),
    buckets=st.integers(2, 20).map(lambda half: 2 * half),
    max_distance=st.integers(21, 2_000),
    bidirectional=st.booleans(),
)
rows = st.lists(st.integers(0, 5_000), min_size=1, max_size=6)


def table_of(spec, framework):
    return framework.array(spec.initial_weights()["table"], "float32")


def test_published_buckets(framework):
    for bidirectional, published in (True, BIDIRECTIONAL), (False, CAUSAL):
        keys = framework.array([10**9 + gap for gap in published])
        spec = T5(heads=1, bidirectional=bidirectional)
        got = spec.bucket(framework.array([10**9]), keys)
        assert framework.is_own(got)
        assert dict(zip(published, numpy(got)[0].tolist(), strict=True)) == published


def test_first_distances():
    assert list(T5(heads=1).edges) == FIRST_BIDIRECTIONAL
    assert list(T5(heads=1, bidirectional=False).edges) == FIRST_CAUSAL


@pytest.mark.parametrize("bidirectional", [True, False])
@pytest.mark.parametrize(
    ("buckets", "max_distance"),
    [
        *[(32, 128), (64, 256), (320, 800), (512, 2048)],  # T5, LayoutLM, WavLM, CPM-Ant
        *[(4, 20), (6, 9), (10, 1_000), (22, 100), (36, 127), (100, 5_000), (128, 256)],
    ],
)
def test_buckets_of_transformers(buckets, max_distance, bidirectional):
    import torch
    from transformers.models.t5.modeling_t5 import T5Attention

    if max_distance <= buckets // 2:
        max_distance = buckets
    gaps = torch.arange(-2000, 2001)
    want = T5Attention._relative_position_bucket(
        gaps, bidirectional=bidirectional, num_buckets=buckets, max_distance=max_distance
    )
    spec = T5(heads=1, buckets=buckets, max_distance=max_distance, bidirectional=bidirectional)
    got = spec.bucket(torch.asarray([2000]), gaps + 2000)
    np.testing.assert_array_equal(numpy(got)[0], numpy(want))


@given(st.integers(2, 40), st.integers(1, 3_000))
def test_edges_are_those_of_the_formula(side, further):
    exact, wide = side // 2, side - side // 2
    max_distance = exact + further
    got = t5.edges(side, max_distance)
    with mpmath.workdps(60):
        ratio = mpmath.mpf(max_distance) / exact
        ends = [exact * ratio ** (mpmath.mpf(step) / wide) for step in range(wide)]
        wants = [int(mpmath.ceil(end - mpmath.mpf(10) ** -40)) for end in ends]
    assert got == (*range(exact), *wants)


def test_where_float32_rounds_into_the_next_bucket():
    # 12 * (889 / 12) ** (11 / 12) = 621.0002...: distance 621 lies before the edge.
    with mpmath.workdps(30):
        edge = 12 * (mpmath.mpf(889) / 12) ** (mpmath.mpf(11) / 12)
    assert 621 < edge < 621.001
    spec = T5(heads=1, buckets=24, max_distance=889, bidirectional=False)
    assert spec.bucket(np.asarray([622]), np.asarray([1, 0])).tolist() == [[22, 23]]


@given(specs, rows, rows)
def test_bucket_is_the_last_edge_reached(spec, queries, keys):
    got = spec.bucket(np.asarray(queries), np.asarray(keys))
    for i, query in enumerate(queries):
        for j, key in enumerate(keys):
            far = abs(query - key) if spec.bidirectional else max(query - key, 0)
            want = max(b for b, edge in enumerate(spec.edges) if edge <= far)
            if spec.bidirectional and key > query:
                want += spec.buckets // 2
            assert got[i, j] == want


@given(specs, rows, rows, st.integers(0, 10**9))
def test_only_the_distance_counts(spec, queries, keys, shift):
    queries, keys = np.asarray(queries), np.asarray(keys)
    table = spec.initial_weights()["table"]
    got = spec.bias(queries + shift, keys + shift, table=table)
    np.testing.assert_array_equal(got, spec.bias(queries, keys, table=table))
    assert spec.bucket(queries, keys).max() < spec.buckets


def test_bias_looks_up_the_table(framework):
    spec = T5(heads=3)
    queries, keys = np.asarray([[0, 7], [300, 50]]), np.asarray([0, 1, 2, 90])
    table = table_of(spec, framework)
    got = spec.bias(framework.array(queries), framework.array(keys), table=table)
    assert framework.is_own(got)
    assert got.dtype == framework.xp.float32
    rows = spec.bucket(queries, keys)
    np.testing.assert_array_equal(numpy(got), np.moveaxis(numpy(table)[rows], -1, 1))


@given(specs)
def test_a_decoding_step_is_the_last_row(spec):
    places, weights = np.arange(30), spec.initial_weights()
    full, step = (spec.bias(queries, places, **weights) for queries in (places, places[-1:]))
    np.testing.assert_array_equal(step, full[:, -1:])


def test_padding_on_the_left_changes_nothing():
    spec, row = T5(heads=3, bidirectional=False), np.asarray([0, 0, 0, 1, 2])
    weights = spec.initial_weights()
    padded = spec.bias(row[None], row[None], **weights)
    np.testing.assert_array_equal(
        padded[0, :, 2:, 2:], spec.bias(np.arange(3), np.arange(3), **weights)
    )


@pytest.mark.parametrize("decoder", [False, True])
def test_bias_of_transformers(decoder):
    import torch
    from transformers import T5Config
    from transformers.models.t5.modeling_t5 import T5Attention

    config = T5Config(d_model=16, d_kv=4, num_heads=4, is_decoder=decoder, dropout_rate=0.0)
    theirs = T5Attention(config, has_relative_attention_bias=True, layer_idx=0).eval()
    spec = T5(heads=4, bidirectional=not decoder)
    table = theirs.relative_attention_bias.weight
    for queries, keys, seen in (150, 150, 0), (7, 200, 0), (1, 140, 139):
        places = torch.arange(seen, seen + queries)
        got = spec.bias(places, torch.arange(keys), table=table)
        want = theirs.compute_bias(queries, keys, past_seen_tokens=seen)
        torch.testing.assert_close(got[None], want, rtol=0, atol=0)


def test_scores_are_not_divided():
    import torch
    from transformers import T5Config
    from transformers.models.t5.modeling_t5 import T5Attention

    torch.manual_seed(0)
    config = T5Config(d_model=16, d_kv=64, num_heads=4, dropout_rate=0.0)
    theirs = T5Attention(config, has_relative_attention_bias=True, layer_idx=0).eval()
    for weight in theirs.parameters():
        torch.nn.init.normal_(weight, std=0.5)
    x = torch.randn(2, 9, 16)
    want = theirs(x)[0]

    q, k, v = (
        layer(x).reshape(2, 9, 4, 64).transpose(1, 2) for layer in (theirs.q, theirs.k, theirs.v)
    )
    places = torch.arange(9)
    bias = T5(heads=4).bias(places, places, table=theirs.relative_attention_bias.weight)
    mixed = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=bias, scale=1)
    got = theirs.o(mixed.transpose(1, 2).reshape(2, 9, 256))
    torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("bidirectional", [True, False])
def test_gradients_count_the_uses_of_a_bucket(bidirectional):
    import jax
    import torch

    spec = T5(heads=2, bidirectional=bidirectional)
    table, places = spec.initial_weights()["table"], np.arange(40)
    want = np.bincount(spec.bucket(places, places).ravel(), minlength=32)
    leaf = torch.tensor(table, requires_grad=True)
    spec.bias(torch.arange(40), torch.arange(40), table=leaf).sum().backward()
    np.testing.assert_array_equal(leaf.grad, np.stack([want, want], 1))

    def total(table):
        return spec.bias(jax.numpy.arange(40), jax.numpy.arange(40), table=table).sum()

    got = jax.grad(total)(jax.numpy.asarray(table))
    np.testing.assert_array_equal(got, np.stack([want, want], 1))


def test_score_is_bias(framework):
    queries, keys = framework.array([[500], [0]]), framework.array([[0, 490, 501, 9_000]])
    heads = framework.array(np.arange(3)[:, None, None])
    for bidirectional in True, False:
        spec = T5(heads=3, buckets=12, max_distance=600, bidirectional=bidirectional)
        table = table_of(spec, framework)
        got = spec.score(queries, keys, heads, table=table)
        assert got.dtype == framework.xp.float32
        want = spec.bias(queries[:, 0], keys[0, :], table=table)
        np.testing.assert_array_equal(numpy(got), numpy(want))


@pytest.mark.parametrize("backend", ["eager", pytest.param("inductor", marks=pytest.mark.slow)])
def test_flex_attention(backend):
    import torch
    from torch.nn.attention.flex_attention import flex_attention

    spec, places = T5(heads=3), torch.arange(16)
    table = torch.tensor(spec.initial_weights()["table"])
    torch.manual_seed(0)
    q, k, v = torch.randn(3, 1, 3, 16, 8)
    fused = torch.compile(flex_attention, fullgraph=True, backend=backend)

    def modified(score, batch, head, query, key):
        return score + spec.score(query, key, head, table=table)

    got = fused(q, k, v, score_mod=modified, scale=1.0)
    bias = spec.bias(places, places, table=table)
    want = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=bias, scale=1)
    torch.testing.assert_close(got, want, rtol=0, atol=2e-6)


def test_traced():
    import jax

    spec, queries, keys = T5(heads=3), np.arange(40), np.arange(50)
    table = spec.initial_weights()["table"]

    def bias(queries, keys, table):
        return spec.bias(queries, keys, table=table)

    check_traced(bias, queries, keys, table, atol=0)
    check_traced(spec.bucket, queries, keys, atol=0)
    check_any_length(bias, queries, queries, table, axes=(0, 0, None))
    check_any_length(bias, queries[-1:], keys, table, axes=(None, 0, None))
    rows = jax.numpy.arange(80).reshape(2, 40)
    got = jax.vmap(spec.bucket)(rows, rows)
    np.testing.assert_array_equal(got[1], spec.bucket(queries, queries))


def test_initial_weights():
    spec = T5(heads=16)
    assert {name: array.shape for name, array in spec.initial_weights().items()} == spec.weights
    table = spec.initial_weights(seed=1)["table"]
    assert table.dtype == np.float32
    assert not np.array_equal(table, spec.initial_weights(seed=2)["table"])
    # Uniform with variance 2 / (32 + 16): Glorot and Bengio's.
    np.testing.assert_allclose(np.abs(table).max(), (6 / 48) ** 0.5, rtol=0.02)
    np.testing.assert_allclose(table.var(), 2 / 48, rtol=0.1)


def test_half_precision_comes_last():
    import torch

    spec, places = T5(heads=2), torch.arange(300)
    table = torch.tensor(spec.initial_weights()["table"])
    got = spec.bias(places, places, table=table, dtype=torch.bfloat16)
    assert torch.equal(got, spec.bias(places, places, table=table).to(torch.bfloat16))
    assert spec.bias(places, places, table=table.to(torch.bfloat16)).dtype == torch.float32


def test_errors():
    with pytest.raises(ValueError, match=r"`buckets` must be a multiple of 2, because half.*33"):
        T5(heads=1, buckets=33)
    assert len(T5(heads=1, buckets=33, bidirectional=False).edges) == 33
    with pytest.raises(ValueError, match=r"`buckets` must be at least 4"):
        T5(heads=1, buckets=2)
    with pytest.raises(ValueError, match=r"`max_distance` must be greater than 8.*got max_d.*=8"):
        T5(heads=1, max_distance=8)
    with pytest.raises(TypeError, match=r"`bidirectional` must be True or False"):
        T5(heads=1, bidirectional="yes")
    one = np.arange(1)
    with pytest.raises(ValueError, match=r"`table` must have shape \(32, 4\), .*; got \(4, 32\)"):
        T5(heads=4).bias(one, one, table=np.zeros((4, 32)))
    with pytest.raises(TypeError, match=r"`table` must hold floating-point numbers; got int64"):
        T5(heads=4).bias(one, one, table=np.zeros((32, 4), dtype=int))
    with pytest.raises(TypeError, match=r"`key_positions` must be integers"):
        T5(heads=4).bucket(one, np.arange(1.0))


def test_heads_that_there_are_not(framework):
    spec, at = T5(heads=2), framework.array([3])
    table = table_of(spec, framework)
    for bad in -1, 2:
        with pytest.raises(
            ValueError, match=rf"`head` must lie within 0 \.\. 1.*from {bad} to {bad}"
        ):
            spec.score(at, at, framework.array([bad]), table=table)
    for bad, kind in (True, "bool"), (1.0, "float"):
        with pytest.raises(TypeError, match=rf"`head` must hold integers; got .*{kind}"):
            spec.score(at, at, framework.array([bad]), table=table)


def test_heads_in_small_integers(framework):
    spec, at = T5(heads=2), framework.array([3, 3])
    table = table_of(spec, framework)
    got = spec.score(at, at - 1, framework.array([1, 0], "uint8"), table=table)
    want = spec.score(at, at - 1, framework.array([1, 0]), table=table)
    np.testing.assert_array_equal(numpy(got), numpy(want))


def test_torch_vmap():
    import torch

    spec = T5(heads=3)
    table = torch.from_numpy(spec.initial_weights()["table"])
    rows = torch.arange(10).reshape(2, 5)
    got = torch.vmap(lambda row: spec.bias(row, row, table=table))(rows)
    torch.testing.assert_close(got, spec.bias(rows, rows, table=table))
