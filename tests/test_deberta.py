"""DeBERTa's disentangled attention against plain loops, whole numbers, and transformers."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

from frameworks import numpy
from posenc.deberta import Deberta, bucket
from tracing import check_any_length, check_gradients, check_traced, normal

specs = st.builds(
    Deberta,
    heads=st.integers(1, 3),
    dim=st.integers(1, 4),
    max_distance=st.integers(8, 20),
    buckets=st.sampled_from([None, 2, 4, 6, 8]),
    terms=st.sampled_from([("c2p", "p2c"), ("c2p",), ("p2c",)]),
    p2c_index=st.sampled_from(["code", "paper"]),
)
places = st.lists(st.integers(0, 30), min_size=1, max_size=4).map(np.asarray)


def draw(spec, queries, keys, *batch):
    """Random queries, keys and weights."""
    shapes = [(*batch, spec.heads, tokens, spec.dim) for tokens in (queries, keys)]
    q, k, *weights = normal(*shapes, *spec.weights.values())
    return q, k, dict(zip(spec.weights, weights, strict=True))


def row(spec, distance):
    """D of the paper, or with the buckets of version 2, whose ceiling is found in integers."""
    if spec.buckets is None:
        span = spec.max_distance
        return max(0, min(2 * span - 1, distance + span))
    return spec.buckets + whole_bucket(distance, spec.buckets, spec.max_distance)


def whole_bucket(distance, buckets, max_distance):
    middle, last = buckets // 2, max_distance - 1
    size = min(abs(distance), last)
    if size > middle:
        # The smallest n with (last / middle) ** n >= (size / middle) ** (middle - 1).
        steps = next(
            n
            for n in range(middle)
            if last**n * middle ** (middle - 1) >= size ** (middle - 1) * middle**n
        )
        size = middle + steps
    return size if distance > 0 else -size


def loops(spec, queries, keys, at, keys_at, weights):
    """The position terms, pair by pair, for (heads, tokens, dim)."""
    term = np.zeros((spec.heads, len(at), len(keys_at)))
    for h, i, j in np.ndindex(*term.shape):
        back = int(at[i] - keys_at[j])
        if "c2p" in spec.terms:
            term[h, i, j] += queries[h, i] @ weights["position_keys"][h, row(spec, back)]
        if "p2c" in spec.terms:
            back = back if spec.p2c_index == "code" else -back
            term[h, i, j] += keys[h, j] @ weights["position_queries"][h, row(spec, back)]
    return term / math.sqrt(spec.dim * (1 + len(spec.terms)))


def test_index(framework):
    # i - j from -6 to 6, with the formula of He et al. 2020, section 3.1.
    got = Deberta(heads=1, dim=1, max_distance=4).index(
        framework.array([6]), framework.array(np.arange(13))
    )
    assert numpy(got)[0, ::-1].tolist() == [0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 7, 7, 7]


def test_buckets_of_versions_2_and_3(framework):
    spec = Deberta(heads=1, dim=1, buckets=256)
    keys_at = [127, 128, 129, 200, 256, 300, 511, -511, 512, -512, 10**6]
    got = spec.index(framework.array([0]), framework.array(np.asarray(keys_at)))
    want = [127, 128, 129, 169, 192, 207, 255, -255, 255, -255, 255]
    assert numpy(256 - got)[0].tolist() == want


def test_transformers_has_the_same_buckets():
    import torch
    from transformers.models.deberta_v2.modeling_deberta_v2 import make_log_bucket_position

    for buckets, last in (256, 512), (32, 128), (64, 4096):
        distance = torch.arange(1 - last, last)
        want = make_log_bucket_position(distance, buckets, last).long().tolist()
        got = [bucket(r, buckets=buckets, max_distance=last) for r in distance.tolist()]
        assert got == want


@given(st.integers(1, 40), st.integers(3, 2000), st.data())
def test_buckets_are_right_at_every_edge(half, max_distance, data):
    assume(half < max_distance - 1)
    distance = data.draw(st.integers(-max_distance - 5, max_distance + 5))
    got = bucket(distance, buckets=2 * half, max_distance=max_distance)
    assert got == whole_bucket(distance, 2 * half, max_distance)


@given(specs)
def test_rows_never_fall_and_are_all_there(spec):
    assert list(spec.row_of) == sorted(spec.row_of)
    assert spec.row_of[0] >= 0
    assert spec.row_of[-1] == spec.index(np.asarray([10**6]), np.asarray([0]))[0, 0]
    assert all(shape[1] > spec.row_of[-1] for shape in spec.weights.values())


@given(specs, places, places)
def test_scores_are_the_formula(spec, at, keys_at):
    q, k, weights = draw(spec, len(at), len(keys_at))
    got = spec.score_term(q, k, at, keys_at, **weights)
    want = loops(spec, q, k, at, keys_at, weights)
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-12)


@given(specs, places, places, st.integers(-100, 10**9))
def test_a_common_shift_changes_nothing(spec, at, keys_at, steps):
    np.testing.assert_array_equal(spec.index(at, keys_at), spec.index(at + steps, keys_at + steps))


@pytest.mark.parametrize("buckets", [None, 8])
@pytest.mark.parametrize("kinds", [("c2p", "p2c"), ("c2p",), ("p2c",)])
def test_transformers(buckets, kinds):
    import torch
    from transformers import DebertaV2Config
    from transformers.models.deberta_v2.modeling_deberta_v2 import DisentangledSelfAttention

    config = DebertaV2Config(
        hidden_size=12,
        num_attention_heads=3,
        relative_attention=True,
        max_relative_positions=16,
        position_buckets=-1 if buckets is None else buckets,
        pos_att_type=list(kinds),
        hidden_dropout_prob=0.0,
    )
    module = DisentangledSelfAttention(config).eval()
    spec = Deberta(heads=3, dim=4, max_distance=16, buckets=buckets, terms=kinds)
    with torch.no_grad():
        for weight in module.parameters():
            weight.normal_()
        q, k = torch.randn(2, 3, 14, 4), torch.randn(2, 3, 14, 4)
        table = torch.randn(2 * (buckets or 16), 12)
        want = module.disentangled_attention_bias(
            q.flatten(0, 1), k.flatten(0, 1), None, table, 1 + len(kinds)
        )

        def heads(name):
            return getattr(module, name)(table).reshape(-1, 3, 4).transpose(0, 1)

        projected = {"c2p": ("position_keys", "pos_key_proj")}
        projected["p2c"] = ("position_queries", "pos_query_proj")
        weights = {name: heads(source) for name, source in map(projected.get, kinds)}
        got = spec.score_term(q, k, torch.arange(14), torch.arange(14), **weights)
    torch.testing.assert_close(got.flatten(0, 1), want, rtol=0, atol=1e-5)


def test_paper_and_code_differ_in_the_third_term_only():
    code, paper = (Deberta(heads=1, dim=2, max_distance=4, p2c_index=x) for x in ("code", "paper"))
    q, k, weights = draw(code, 4, 4)
    at = np.arange(4)  # so that no distance reaches max_distance, whose rows have no mirror
    got = [spec.score_term(q, k, at, at, **weights) for spec in (code, paper)]
    assert np.abs(got[0] - got[1]).max() > 0.1
    mirrored = weights | {"position_queries": weights["position_queries"][:, [0, *range(7, 0, -1)]]}
    again = paper.score_term(q, k, at, at, **mirrored)
    np.testing.assert_allclose(again, got[0], rtol=0, atol=1e-12)


def test_every_framework(framework):
    spec = Deberta(heads=3, dim=4, max_distance=16, buckets=8)
    q, k, weights = draw(spec, 2, 4, 2)
    at, keys_at = np.asarray([9, 1]), np.asarray([4, 0, 29, 1])
    got = spec.score_term(
        framework.array(q, "float32"),
        framework.array(k, "float32"),
        framework.array(at),
        framework.array(keys_at),
        **{name: framework.array(weight, "float32") for name, weight in weights.items()},
    )
    assert framework.is_own(got)
    assert got.dtype == framework.xp.float32
    want = [loops(spec, q[batch], k[batch], at, keys_at, weights) for batch in (0, 1)]
    np.testing.assert_allclose(numpy(got), want, rtol=0, atol=1e-5)


def test_rows_of_their_own():
    spec = Deberta(heads=2, dim=3, max_distance=4)
    q, k, weights = draw(spec, 5, 5, 2)
    at = np.asarray([[0, 0, 0, 1, 2], np.arange(5)])
    got = spec.score_term(q, k, at, at, **weights)
    for batch in 0, 1:
        one = spec.score_term(q[batch], k[batch], at[batch], at[batch], **weights)
        np.testing.assert_allclose(got[batch], one, rtol=0, atol=1e-12)


def test_a_decoding_step_is_the_last_row():
    spec = Deberta(heads=3, dim=4, max_distance=8, buckets=4)
    q, k, weights = draw(spec, 12, 12)
    at = np.arange(12)
    step = spec.score_term(q[:, 11:], k, at[11:], at, **weights)
    whole = spec.score_term(q, k, at, at, **weights)
    np.testing.assert_allclose(step, whole[:, 11:], rtol=0, atol=1e-14)


def test_scale_counts_the_terms():
    assert Deberta(heads=1, dim=12).scale == 1 / 6
    assert Deberta(heads=1, dim=8, terms=("c2p",)).scale == 1 / 4


def test_initial_weights():
    spec = Deberta(heads=4, dim=8, buckets=256)
    weights = spec.initial_weights()
    assert {name: array.shape for name, array in weights.items()} == spec.weights
    assert spec.weights["position_keys"] == (4, 512, 8)
    assert {array.dtype for array in weights.values()} == {np.dtype("float32")}
    assert abs(weights["position_keys"].std() - 0.02) < 1e-3
    assert not np.array_equal(*weights.values())


def test_traced():
    spec = Deberta(heads=2, dim=3, max_distance=8, buckets=4)
    q, k, weights = draw(spec, 5, 5, 1)
    at = np.arange(5)

    def term(q, k, position_keys, position_queries, at):
        weights = {"position_keys": position_keys, "position_queries": position_queries}
        return spec.score_term(q, k, at, at, **weights)

    floats = [array.astype(np.float32) for array in (q, k, *weights.values())]
    check_traced(term, *floats, at)
    check_any_length(term, *floats, at, axes=(2, 2, None, None, 0))


def test_gradients():
    spec = Deberta(heads=1, dim=2, max_distance=2)
    q, k, weights = draw(spec, 2, 3)

    def term(q, k, *weights):
        import jax.numpy as jnp
        import torch

        xp = torch if isinstance(q, torch.Tensor) else jnp
        given = dict(zip(spec.weights, weights, strict=True))
        return spec.score_term(q, k, xp.asarray([1, 5]), xp.asarray([0, 1, 2]), **given)

    check_gradients(term, q, k, *weights.values())


def test_half_precision_is_computed_in_float32():
    import torch

    spec, at = Deberta(heads=1, dim=8, max_distance=300), torch.arange(300)
    x = torch.randn(1, 300, 8).bfloat16()
    weights = {name: torch.asarray(array) for name, array in spec.initial_weights().items()}
    got = spec.score_term(x, x, at, at, **weights)
    want = spec.score_term(x.float(), x.float(), at, at, **weights)
    assert got.dtype == torch.bfloat16
    assert torch.equal(got, want.bfloat16())


def test_errors():
    spec, at = Deberta(heads=2, dim=2, max_distance=4), np.arange(3)
    q, k, weights = draw(spec, 3, 3)
    with pytest.raises(ValueError, match=r"`buckets` must be a multiple of 2"):
        Deberta(heads=1, dim=1, buckets=7)
    with pytest.raises(
        ValueError, match=r"`buckets` must be less than .*buckets=8, max_distance=5"
    ):
        Deberta(heads=1, dim=1, buckets=8, max_distance=5)
    with pytest.raises(ValueError, match=r"`terms` must be one of \('c2p', 'p2c'\)"):
        Deberta(heads=1, dim=1, terms=("p2p",))
    with pytest.raises(ValueError, match=r"`p2c_index` must be one of 'code', 'paper'"):
        Deberta(heads=1, dim=1, p2c_index="book")
    with pytest.raises(TypeError, match=r"`position_queries` must be given"):
        spec.score_term(q, k, at, at, position_keys=weights["position_keys"])
    with pytest.raises(ValueError, match=r"`position_keys` must have shape \(2, 8, 2\)"):
        spec.score_term(q, k, at, at, **weights | {"position_keys": np.ones((2, 8, 3))})
    with pytest.raises(ValueError, match=r"`queries` must have shape \(\*batch, 2, tokens, 2\)"):
        spec.score_term(q[:1], k, at, at, **weights)
