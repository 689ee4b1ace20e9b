"""Contextual positions against plain loops, a worked example, and their own laws."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from frameworks import numpy
from posenc.cope import Cope
from tracing import check_any_length, check_gradients, check_traced, normal

specs = st.builds(
    Cope,
    dim=st.integers(1, 4),
    length=st.integers(1, 6),
    gate=st.sampled_from(["scaled", "raw"]),
)

# Worked out in float64 with the formula of Golovneva et al. 2024 and the scales of
# facebookresearch/RAM, projects/cope/src/cope/context_position.py, row 3 of 4.
Q = [[1, 0], [0, 1], [1, 1], [0.5, -1]]
K = [[1, 1], [0, 2], [-1, 0], [2, 0.5]]
E = [[0.1, -0.2], [0.3, 0.4], [-0.5, 0.6]]
COUNTS = [1.608091316653, 1.195570317493, 1.0, 0.587479000840]
RAW_COUNTS = [1.496743590820, 1.119202922022, 1.0, 0.622459331202]
LOGITS = [-0.788321382042, -1.673963716289, -0.530330085890, 0.322624893241]


def loops(spec, queries, keys, visible, embeddings):
    """The counts and the score term, pair by pair, for (heads, tokens, dim)."""
    counts = np.zeros((len(queries), *visible.shape))
    term = np.zeros_like(counts)
    for h, i, j in np.ndindex(*counts.shape):
        for t in range(j, visible.shape[1]):
            if visible[i, t]:
                logit = queries[h, i] @ keys[h, t]
                if spec.gate == "scaled":
                    logit /= math.sqrt(spec.dim)
                counts[h, i, j] += 1 / (1 + math.exp(-logit))
        counts[h, i, j] = min(counts[h, i, j], spec.length - 1)
        low, high = math.floor(counts[h, i, j]), math.ceil(counts[h, i, j])
        share = counts[h, i, j] - low
        vector = share * embeddings[high] + (1 - share) * embeddings[low]
        term[h, i, j] = queries[h, i] @ vector / math.sqrt(spec.dim)
    return counts, term


def test_a_row_by_hand(framework):
    spec, at = Cope(dim=2, length=3), framework.array(np.arange(4))
    q, k, e = (framework.array(np.asarray(x, float)) for x in ([Q], [K], E))
    got = spec.count(q, k, at, at)
    assert framework.is_own(got)
    np.testing.assert_allclose(numpy(got)[0, 3], COUNTS, rtol=0, atol=5e-7)
    raw = Cope(dim=2, length=3, gate="raw").count(q, k, at, at)
    np.testing.assert_allclose(numpy(raw)[0, 3], RAW_COUNTS, rtol=0, atol=5e-7)
    term = numpy(spec.score_term(q, k, at, at, embeddings=e))[0]
    content = np.asarray(Q) @ np.asarray(K).T * spec.scale
    np.testing.assert_allclose((content + term)[3], LOGITS, rtol=0, atol=5e-7)


@given(specs, st.integers(1, 3), st.integers(1, 5), st.integers(0, 3))
def test_scores_are_the_papers(spec, heads, queries, cached):
    at, keys_at = np.arange(cached, cached + queries), np.arange(cached + queries)
    shapes = [(heads, tokens, spec.dim) for tokens in (queries, cached + queries)]
    q, k, e = normal(*shapes, (spec.length, spec.dim))
    counts, term = loops(spec, q, k, keys_at <= at[:, None], e)
    np.testing.assert_allclose(spec.count(q, k, at, keys_at), counts, rtol=0, atol=1e-12)
    got = spec.score_term(q, k, at, keys_at, embeddings=e)
    np.testing.assert_allclose(got, term, rtol=0, atol=1e-12)


def test_padding_is_not_counted():
    # Rows of 3 and 5 real tokens; padding on the right has position 0, so it looks visible.
    spec = Cope(dim=2, length=9)
    q, k, e = normal((2, 1, 5, 2), (2, 1, 5, 2), (9, 2))
    at = np.asarray([[0, 1, 2, 0, 0], np.arange(5)])
    real = np.asarray([[1, 1, 1, 0, 0], [1] * 5], bool)[:, None, None, :]
    got = spec.score_term(q, k, at, at, embeddings=e, mask=real)
    for row, length in (0, 3), (1, 5):
        one = at[row, :length]
        want = spec.score_term(q[row, :, :length], k[row, :, :length], one, one, embeddings=e)
        np.testing.assert_allclose(got[row, :, :length, :length], want, rtol=0, atol=1e-12)
    unmasked = spec.count(q, k, at, at)
    assert np.abs(unmasked[0, 0, 0, 0] - spec.count(q, k, at, at, mask=real)[0, 0, 0, 0]) > 0.05


@given(st.integers(1, 12))
def test_open_gates_count_tokens(length):
    spec, at = Cope(dim=1, length=length + 1), np.arange(length)
    wide = np.full((1, length, 1), 100.0)
    counts = spec.count(wide, wide, at, at)[0]
    back = at[:, None] - at
    np.testing.assert_allclose(counts, np.where(back >= 0, back + 1, 0), rtol=0, atol=1e-12)


def test_a_count_stops_at_the_last_embedding():
    spec, at = Cope(dim=1, length=3), np.arange(5)
    wide = np.full((1, 5, 1), 100.0)
    assert spec.count(wide, wide, at, at)[0, 4].tolist() == [2, 2, 2, 2, 1]
    e = np.asarray([[0.0], [1.0], [7.0]])
    term = spec.score_term(wide, wide, at, at, embeddings=e)[0, 4]
    np.testing.assert_allclose(term, [700, 700, 700, 700, 100])


def test_a_decoding_step_is_the_last_row():
    spec, at = Cope(dim=4, length=9), np.arange(7)
    q, k, e = normal((3, 7, 4), (3, 7, 4), (9, 4))
    step = spec.score_term(q[:, 6:], k, at[6:], at, embeddings=e)
    whole = spec.score_term(q, k, at, at, embeddings=e)
    np.testing.assert_allclose(step, whole[:, 6:], rtol=0, atol=1e-14)


def test_every_framework(framework):
    spec, at = Cope(dim=4, length=4), np.arange(6)
    q, k, e = normal((2, 3, 6, 4), (2, 3, 6, 4), (4, 4))
    mask = np.asarray([[1, 1, 0, 1, 1, 1], [1] * 6], bool)[:, None, None, :]
    got = spec.score_term(
        framework.array(q, "float32"),
        framework.array(k, "float32"),
        framework.array(at),
        framework.array(at),
        embeddings=framework.array(e, "float32"),
        mask=framework.array(mask),
    )
    assert framework.is_own(got)
    assert got.dtype == framework.xp.float32
    visible = (at <= at[:, None]) & mask[:, 0]
    want = [loops(spec, q[row], k[row], visible[row], e)[1] for row in (0, 1)]
    np.testing.assert_allclose(numpy(got), want, rtol=0, atol=1e-5)


def test_bfloat16_counts_in_float32():
    import torch

    spec, at = Cope(dim=1, length=1025), torch.arange(600)
    x = torch.full((1, 600, 1), 100.0).bfloat16()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        counts = spec.count(x, x, at[-1:].repeat(600), at)[0, -1]
    assert counts.dtype == torch.float32
    assert torch.equal(counts, torch.arange(600.0, 0, -1))  # bfloat16 has no 257
    ramp = torch.arange(1025.0)[:, None].bfloat16()
    assert spec.score_term(x, x, at, at, embeddings=ramp).dtype == torch.bfloat16


def test_initial_weights():
    spec = Cope(dim=8, length=65)
    (e,) = spec.initial_weights().values()
    assert e.shape == spec.weights["embeddings"] == (65, 8)
    assert e.dtype == np.float32
    assert not e.any()


def test_traced():
    spec, at = Cope(dim=2, length=4), np.arange(5)
    q, k, e = normal((1, 3, 5, 2), (1, 3, 5, 2), (4, 2))

    def term(q, k, e, at):
        return spec.score_term(q, k, at, at, embeddings=e)

    floats = [array.astype(np.float32) for array in (q, k, e)]
    check_traced(term, *floats, at)
    check_any_length(term, *floats, at, axes=(2, 2, None, 0))


def test_gradients():
    # Counts depend on queries and keys too, so both get a slope through the interpolation.
    spec = Cope(dim=2, length=4)

    def term(q, k, e):
        import jax.numpy as jnp
        import torch

        at = (torch if isinstance(q, torch.Tensor) else jnp).asarray([0, 1, 2])
        return spec.score_term(q, k, at, at, embeddings=e)

    check_gradients(term, *normal((1, 3, 2), (1, 3, 2), (4, 2)))


def test_errors():
    spec, at = Cope(dim=2, length=4), np.arange(3)
    x, e = np.ones((1, 3, 2)), np.ones((4, 2))
    with pytest.raises(ValueError, match=r"`length` must be at least 1"):
        Cope(dim=2, length=0)
    with pytest.raises(ValueError, match=r"`gate` must be one of 'scaled', 'raw'"):
        Cope(dim=2, length=4, gate="hard")
    with pytest.raises(ValueError, match=r"`embeddings` must have shape \(4, 2\).*got \(2, 4\)"):
        spec.score_term(x, x, at, at, embeddings=e.T)
    with pytest.raises(TypeError, match=r"`mask` must hold booleans; got int64"):
        spec.score_term(x, x, at, at, embeddings=e, mask=np.ones(3, int))
    with pytest.raises(ValueError, match=r"`keys` must have shape"):
        spec.score_term(x, x[..., :1], at, at, embeddings=e)
