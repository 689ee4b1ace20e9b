"""Transformer-XL's relative attention against plain loops, its relative shift, and XLNet."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from frameworks import numpy
from posenc.transformer_xl import TransformerXL
from tracing import check_any_length, check_gradients, check_traced, normal

specs = st.builds(
    TransformerXL,
    heads=st.integers(1, 3),
    dim=st.integers(1, 4),
    model_dim=st.integers(1, 3).map(lambda half: 2 * half),
    max_distance=st.integers(0, 6),
    ahead=st.none() | st.integers(0, 3),
)
places = st.lists(st.integers(0, 12), min_size=1, max_size=4).map(np.asarray)


def draw(spec, queries, keys, *batch):
    """Random queries, keys and weights."""
    shapes = [(*batch, spec.heads, tokens, spec.dim) for tokens in (queries, keys)]
    q, k, *weights = normal(*shapes, *spec.weights.values())
    return q, k, dict(zip(spec.weights, weights, strict=True))


def sinusoid(spec, distance):
    rates = [spec.base ** (-2 * k / spec.model_dim) for k in range(spec.model_dim // 2)]
    angles = [distance * rate for rate in rates]
    return np.asarray([*map(math.sin, angles), *map(math.cos, angles)])


def loops(spec, queries, keys, at, keys_at, weights):
    """Terms b, c and d of the paper, pair by pair, for (heads, tokens, dim)."""
    ahead = spec.max_distance if spec.ahead is None else spec.ahead
    term = np.zeros((spec.heads, len(at), len(keys_at)))
    for h, i, j in np.ndindex(*term.shape):
        distance = max(-ahead, min(spec.max_distance, at[i] - keys_at[j]))
        projected = weights["projection"] @ sinusoid(spec, distance)
        projected = projected[h * spec.dim : (h + 1) * spec.dim]
        term[h, i, j] = weights["content_bias"][h] @ keys[h, j]
        term[h, i, j] += (queries[h, i] + weights["position_bias"][h]) @ projected
    return term / math.sqrt(spec.dim)


def test_a_pair_by_hand():
    # q = (1, 2, 3, 4), k = (.5, -1, 0, 2), u = .1, v = -.1, W = I, distance 3: in float64.
    spec = TransformerXL(heads=1, dim=4, model_dim=4, max_distance=3)
    q, k = np.asarray([[[1.0, 2.0, 3.0, 4.0]]]), np.asarray([[[0.5, -1.0, 0.0, 2.0]]])
    got = spec.score_term(
        q,
        k,
        np.asarray([3]),
        np.asarray([0]),
        projection=np.eye(4),
        content_bias=np.full((1, 4), 0.1),
        position_bias=np.full((1, 4), -0.1),
    )
    logit = got[0, 0, 0] + (0.5 - 2 + 8) / 2
    np.testing.assert_allclose(logit, 3.930633174559, rtol=0, atol=1e-12)


@given(specs, places, places)
def test_scores_are_the_papers(spec, at, keys_at):
    q, k, weights = draw(spec, len(at), len(keys_at))
    got = spec.score_term(q, k, at, keys_at, **weights)
    want = loops(spec, q, k, at, keys_at, weights)
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-12)


@given(specs, places, places, st.integers(-100, 10**9))
def test_a_common_shift_changes_nothing(spec, at, keys_at, steps):
    q, k, weights = draw(spec, len(at), len(keys_at))
    np.testing.assert_array_equal(
        spec.score_term(q, k, at, keys_at, **weights),
        spec.score_term(q, k, at + steps, keys_at + steps, **weights),
    )


def test_the_relative_shift_agrees_below_the_diagonal():
    # Appendix B of the paper: scores by distance, then pad, reshape, drop a row, reshape.
    spec = TransformerXL(heads=1, dim=4, model_dim=6, max_distance=9)
    q, _, weights = draw(spec, 3, 5)
    vectors = [weights["projection"] @ sinusoid(spec, distance) for distance in range(4, -1, -1)]
    by_distance = (q[0] + weights["position_bias"]) @ np.asarray(vectors).T
    padded = np.concatenate([np.zeros((3, 1)), by_distance], axis=1)
    shifted = padded.reshape(6, 3)[1:].reshape(3, 5) * spec.scale
    got = spec.score_term(q, np.zeros((1, 5, 4)), np.arange(2, 5), np.arange(5), **weights)[0]
    causal = np.arange(2, 5)[:, None] >= np.arange(5)
    np.testing.assert_allclose(got[causal], shifted[causal], rtol=0, atol=1e-12)
    assert np.abs(got - shifted)[~causal].min() > 1e-3  # the trick leaves garbage there


def test_xlnet():
    import torch
    from transformers import XLNetConfig, XLNetModel

    config = XLNetConfig(vocab_size=8, d_model=12, n_layer=1, n_head=3, d_inner=8)
    model = XLNetModel(config).eval()
    attention = model.layer[0].rel_attn
    with torch.no_grad():
        for weight in attention.parameters():
            weight.normal_()
        past, length = 4, 5
        queries, keys = torch.randn(length, 2, 3, 4), torch.randn(past + length, 2, 3, 4)
        vectors = model.relative_positional_encoding(length, past + length, bsz=2)
        vectors = torch.einsum("ibh,hnd->ibnd", vectors, attention.r)
        _, want = attention.rel_attn_core(queries, keys, keys, vectors, output_attentions=True)
        spec = TransformerXL(heads=3, dim=4, model_dim=12, max_distance=9)
        q, k = queries.permute(1, 2, 0, 3), keys.permute(1, 2, 0, 3)
        term = spec.score_term(
            q,
            k,
            torch.arange(past, past + length),
            torch.arange(past + length),
            projection=attention.r.reshape(12, 12).T,
            content_bias=attention.r_w_bias,
            position_bias=attention.r_r_bias,
        )
    got = torch.softmax(q @ k.mT * spec.scale + term, -1).permute(2, 3, 0, 1)
    torch.testing.assert_close(got, want, rtol=0, atol=1e-5)


def test_farther_keys_stand_at_the_longest_distance():
    spec = TransformerXL(heads=1, dim=2, model_dim=4, max_distance=3, ahead=0)
    q, _, weights = draw(spec, 1, 1)
    keys_at = np.asarray([0, 6, 7, 8, 10, 11, 20])
    got = spec.score_term(q, np.zeros((1, 7, 2)), np.asarray([10]), keys_at, **weights)[0, 0]
    assert got[0] == got[1] == got[2] != got[3]
    assert got[4] == got[5] == got[6] != got[3]


def test_every_framework(framework):
    spec = TransformerXL(heads=3, dim=4, model_dim=8, max_distance=16)
    q, k, weights = draw(spec, 2, 5, 2)
    at, keys_at = np.asarray([9, 1]), np.asarray([4, 0, 9, 11, 1])
    got = spec.score_term(
        framework.array(q, "float32"),
        framework.array(k, "float32"),
        framework.array(at),
        framework.array(keys_at),
        **{name: framework.array(weight, "float32") for name, weight in weights.items()},
    )
    assert framework.is_own(got)
    assert got.dtype == framework.xp.float32
    want = [loops(spec, q[row], k[row], at, keys_at, weights) for row in (0, 1)]
    np.testing.assert_allclose(numpy(got), want, rtol=0, atol=1e-5)


def test_rows_of_their_own():
    spec = TransformerXL(heads=2, dim=3, model_dim=4, max_distance=4)
    q, k, weights = draw(spec, 5, 5, 2)
    at = np.asarray([[0, 0, 0, 1, 2], np.arange(5)])
    got = spec.score_term(q, k, at, at, **weights)
    for row in 0, 1:
        one = spec.score_term(q[row], k[row], at[row], at[row], **weights)
        np.testing.assert_allclose(got[row], one, rtol=0, atol=1e-12)


def test_a_decoding_step_is_the_last_row():
    spec = TransformerXL(heads=3, dim=4, model_dim=8, max_distance=4, ahead=0)
    q, k, weights = draw(spec, 7, 7)
    at = np.arange(7)
    step = spec.score_term(q[:, 6:], k, at[6:], at, **weights)
    whole = spec.score_term(q, k, at, at, **weights)
    np.testing.assert_allclose(step, whole[:, 6:], rtol=0, atol=1e-14)


def test_initial_weights():
    spec = TransformerXL(heads=4, dim=8, model_dim=64, max_distance=9)
    weights = spec.initial_weights()
    assert {name: array.shape for name, array in weights.items()} == spec.weights
    assert {array.dtype for array in weights.values()} == {np.dtype("float32")}
    assert abs(weights["projection"].std() - 0.02) < 1e-3
    assert not np.array_equal(weights["content_bias"], weights["position_bias"])


def test_traced():
    spec = TransformerXL(heads=2, dim=3, model_dim=4, max_distance=4)
    q, k, weights = draw(spec, 5, 5, 1)
    names, at = list(weights), np.arange(5)

    def term(q, k, *weights_and_at):
        *weights, at = weights_and_at
        return spec.score_term(q, k, at, at, **dict(zip(names, weights, strict=True)))

    floats = [array.astype(np.float32) for array in (q, k, *weights.values())]
    check_traced(term, *floats, at)
    check_any_length(term, *floats, at, axes=(2, 2, None, None, None, 0))


def test_gradients():
    spec = TransformerXL(heads=2, dim=1, model_dim=2, max_distance=4)
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

    spec, at = TransformerXL(heads=1, dim=8, model_dim=8, max_distance=600), torch.arange(600)
    x = torch.randn(1, 600, 8).bfloat16()
    weights = {name: torch.asarray(array) for name, array in spec.initial_weights().items()}
    got = spec.score_term(x, x, at, at, **weights)
    want = spec.score_term(x.float(), x.float(), at, at, **weights)
    assert got.dtype == torch.bfloat16
    assert torch.equal(got, want.bfloat16())


def test_errors():
    spec, at = TransformerXL(heads=2, dim=2, model_dim=4, max_distance=4), np.arange(3)
    q, k, weights = draw(spec, 3, 3)
    with pytest.raises(ValueError, match=r"`model_dim` must be even.*model_dim=5"):
        TransformerXL(heads=2, dim=2, model_dim=5, max_distance=4)
    with pytest.raises(ValueError, match=r"`ahead` must be at least 0"):
        TransformerXL(heads=2, dim=2, model_dim=4, max_distance=4, ahead=-1)
    with pytest.raises(ValueError, match=r"`keys` must have shape \(\*batch, 2, tokens, 2\)"):
        spec.score_term(q, k[:1], at, at, **weights)
    with pytest.raises(ValueError, match=r"`keys` must have one position for each of its 3 tokens"):
        spec.score_term(q, k, at, at[:2], **weights)
    with pytest.raises(ValueError, match=r"`projection` must have shape \(4, 4\)"):
        spec.score_term(q, k, at, at, **weights | {"projection": np.ones((4, 6))})
    with pytest.raises(TypeError, match=r"`position_bias` must be given: .*shape \(2, 2\)"):
        spec.score_term(q, k, at, at, **weights | {"position_bias": None})
