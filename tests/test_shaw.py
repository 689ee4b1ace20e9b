"""Shaw's relative representations against plain loops, a worked example and wav2vec2-BERT."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from frameworks import numpy
from posenc.shaw import Shaw
from tracing import check_any_length, check_gradients, check_traced, normal

specs = st.builds(
    Shaw,
    dim=st.integers(1, 5),
    max_distance=st.integers(0, 4),
    ahead=st.none() | st.integers(0, 3),
)
places = st.lists(st.integers(0, 12), min_size=1, max_size=5).map(np.asarray)


def loops(spec, queries, at, keys_at, table):
    """The position part of equation 4, pair by pair."""
    ahead = spec.max_distance if spec.ahead is None else spec.ahead
    term = np.zeros((*queries.shape[:-1], len(keys_at)))
    for h, i, j in np.ndindex(*term.shape):
        row = max(-spec.max_distance, min(ahead, keys_at[j] - at[i])) + spec.max_distance
        for d in range(spec.dim):
            term[h, i, j] += queries[h, i, d] * table[row, d] / math.sqrt(spec.dim)
    return term


def test_index(framework):
    at = framework.array(np.arange(4))
    got = Shaw(dim=1, max_distance=2).index(at, at)
    assert numpy(got).tolist() == [[2, 3, 4, 4], [1, 2, 3, 4], [0, 1, 2, 3], [0, 0, 1, 2]]


def test_logits_by_hand(framework):
    # q = (1, 2) at 1 and keys (1, 0), (0, 1), (1, 1), so q . k = 1, 2, 3.
    spec = Shaw(dim=2, max_distance=2)
    table = framework.array([[0.1, 0.0], [0.2, 0.0], [0.0, 0.0], [0.0, 0.3], [0.0, 0.4]])
    term = spec.score_term(
        framework.array([[[1.0, 2.0]]]),
        framework.array([1]),
        framework.array([0, 1, 2]),
        key_table=table,
    )
    assert framework.is_own(term)
    logits = np.asarray([1, 2, 3]) * spec.scale + numpy(term)[0, 0]
    np.testing.assert_allclose(
        logits, [0.848528137424, 1.414213562373, 2.545584412272], rtol=0, atol=5e-7
    )


@given(specs, st.integers(1, 3), places, places)
def test_scores_are_the_papers(spec, heads, at, keys_at):
    queries, table = normal((heads, len(at), spec.dim), spec.weights["key_table"])
    got = spec.score_term(queries, at, keys_at, key_table=table)
    np.testing.assert_allclose(got, loops(spec, queries, at, keys_at, table), rtol=0, atol=1e-12)


@given(specs, st.integers(1, 3), places, places)
def test_values_are_the_papers(spec, heads, at, keys_at):
    shape = (heads, len(at), len(keys_at))
    probabilities, table = normal(shape, spec.weights["value_table"])
    index = spec.index(at, keys_at)
    want = np.zeros((heads, len(at), spec.dim))
    for h, i, j in np.ndindex(*probabilities.shape):
        want[h, i] += probabilities[h, i, j] * table[index[i, j]]
    got = spec.value_term(probabilities, at, keys_at, value_table=table)
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-12)


@given(specs, places, places, st.integers(-100, 10**9))
def test_a_common_shift_changes_nothing(spec, at, keys_at, steps):
    np.testing.assert_array_equal(spec.index(at, keys_at), spec.index(at + steps, keys_at + steps))


def test_every_framework(framework):
    spec = Shaw(dim=4, max_distance=3, ahead=1)
    (queries,), at = normal((2, 3, 6, 4)), np.asarray([0, 5, 1, 2, 9, 9])
    weights = spec.initial_weights()
    got = spec.score_term(
        framework.array(queries, "float32"),
        framework.array(at),
        framework.array(at),
        key_table=framework.array(weights["key_table"]),
    )
    assert framework.is_own(got)
    assert got.dtype == framework.xp.float32
    want = [loops(spec, rows, at, at, weights["key_table"]) for rows in queries]
    np.testing.assert_allclose(numpy(got), want, rtol=0, atol=1e-6)
    values = spec.value_term(
        got,
        framework.array(at),
        framework.array(at),
        value_table=framework.array(weights["value_table"]),
    )
    want = spec.value_term(np.asarray(want), at, at, value_table=weights["value_table"])
    np.testing.assert_allclose(numpy(values), want, rtol=0, atol=1e-6)


def test_rows_of_their_own():
    spec = Shaw(dim=4, max_distance=2)
    weights = spec.initial_weights()
    (queries,), at = normal((2, 3, 5, 4)), np.asarray([[0, 0, 0, 1, 2], np.arange(5)])
    got = spec.score_term(queries, at, at, key_table=weights["key_table"])
    values = spec.value_term(got, at, at, value_table=weights["value_table"])
    for row in 0, 1:
        one = spec.score_term(queries[row], at[row], at[row], key_table=weights["key_table"])
        np.testing.assert_allclose(got[row], one, atol=1e-12)
        one = spec.value_term(one, at[row], at[row], value_table=weights["value_table"])
        np.testing.assert_allclose(values[row], one, atol=1e-12)


def test_a_decoding_step_is_the_last_row():
    spec = Shaw(dim=4, max_distance=2)
    (queries,), at = normal((3, 7, 4)), np.arange(7)
    table = spec.initial_weights()["key_table"]
    whole = spec.score_term(queries, at, at, key_table=table)
    step = spec.score_term(queries[:, 6:], at[6:], at, key_table=table)
    np.testing.assert_allclose(step, whole[:, 6:], rtol=0, atol=1e-15)


def test_wav2vec2_bert():
    import torch
    from transformers.models.wav2vec2_bert.modeling_wav2vec2_bert import (
        _apply_relative_key_position_encoding as reference,
    )

    spec = Shaw(dim=8, max_distance=6, ahead=2, values=False)
    assert list(spec.weights) == ["key_table"]
    module = torch.nn.Module()
    module.distance_embedding = torch.nn.Embedding(9, 8)
    module.left_max_position_embeddings, module.right_max_position_embeddings = 6, 2
    module.scaling = 8**-0.5
    queries = torch.randn(2, 3, 20, 8)
    _, want = reference(module, queries, queries)
    table, at = module.distance_embedding.weight, torch.arange(20)
    got = spec.score_term(queries, at, at, key_table=table)
    torch.testing.assert_close(got, want, rtol=0, atol=1e-6)


def test_initial_weights():
    spec = Shaw(dim=64, max_distance=16)
    weights = spec.initial_weights(3)
    assert {name: array.shape for name, array in weights.items()} == spec.weights
    bound = math.sqrt(6 / (33 + 64))
    for table in weights.values():
        assert table.dtype == np.float32
        assert 0.98 * bound < np.abs(table).max() <= bound
        assert abs(table.mean()) < 0.02
    assert not np.array_equal(weights["key_table"], weights["value_table"])
    np.testing.assert_array_equal(weights["key_table"], spec.initial_weights(3)["key_table"])


def test_traced():
    spec = Shaw(dim=4, max_distance=2)
    weights = spec.initial_weights()
    (queries,), at = normal((1, 3, 5, 4)), np.arange(5)

    def both(queries, table, value_table, at):
        scores = spec.score_term(queries, at, at, key_table=table)
        return spec.value_term(scores, at, at, value_table=value_table)

    arrays = queries.astype(np.float32), weights["key_table"], weights["value_table"], at
    check_traced(both, *arrays)
    check_any_length(both, *arrays, axes=(2, None, None, 0))


def test_each_row_of_a_batch_by_vmap():
    import jax
    import torch

    spec = Shaw(dim=4, max_distance=2)
    table = spec.initial_weights()["key_table"]
    (queries,), at = normal((2, 3, 5, 4)), np.asarray([[0, 0, 0, 1, 2], [0, 1, 2, 3, 4]])
    queries = queries.astype(np.float32)
    want = spec.score_term(queries, at, at, key_table=table)
    got = jax.vmap(lambda x, at: spec.score_term(x, at, at, key_table=jax.numpy.asarray(table)))(
        queries, at.astype(np.int32)
    )
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-6)
    got = torch.vmap(lambda x, at: spec.score_term(x, at, at, key_table=torch.asarray(table)))(
        torch.asarray(queries), torch.asarray(at)
    )
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-6)


def test_goes_into_fused_attention():
    import torch

    spec, at = Shaw(dim=4, max_distance=2, values=False), torch.arange(6)
    table = torch.asarray(spec.initial_weights()["key_table"])
    q, k, v = torch.randn(3, 2, 5, 6, 4)
    term = spec.score_term(q, at, at, key_table=table)
    got = torch.nn.functional.scaled_dot_product_attention(
        q, k, v, attn_mask=term, scale=spec.scale
    )
    keys = k[:, :, None] + table[spec.index(at, at)]  # equation 4 as it stands: a key a pair
    logits = (q[..., None, :] * keys).sum(-1) / 4**0.5
    torch.testing.assert_close(got, torch.softmax(logits, -1) @ v, rtol=0, atol=1e-6)


def test_gradients():
    spec, at = Shaw(dim=2, max_distance=1), [4, 0, 2]

    def both(queries, table, value_table):
        import jax.numpy as jnp
        import torch

        xp = torch if isinstance(queries, torch.Tensor) else jnp
        places = xp.asarray(at)
        scores = spec.score_term(queries, places, places, key_table=table)
        return spec.value_term(scores, places, places, value_table=value_table)

    check_gradients(both, *normal((2, 3, 2), (3, 2), (3, 2)))


def test_half_precision_is_computed_in_float32():
    import torch

    spec, at = Shaw(dim=64, max_distance=4), torch.arange(9)
    table = torch.asarray(spec.initial_weights()["key_table"])
    queries = torch.randn(1, 9, 64).bfloat16()
    got = spec.score_term(queries, at, at, key_table=table.bfloat16())
    want = spec.score_term(queries.float(), at, at, key_table=table.bfloat16().float())
    assert got.dtype == torch.bfloat16
    assert torch.equal(got, want.bfloat16())


def test_unsigned_positions():
    at = np.asarray([3, 0], np.uint8)
    assert Shaw(dim=1, max_distance=2).index(at, at).tolist() == [[2, 0], [4, 2]]


def test_errors():
    spec, at = Shaw(dim=2, max_distance=1), np.arange(3)
    x, table = np.ones((1, 3, 2)), np.ones((3, 2))
    with pytest.raises(ValueError, match=r"`max_distance` must be at least 0; got max_distance=-1"):
        Shaw(dim=2, max_distance=-1)
    with pytest.raises(TypeError, match=r"`ahead` must be an integer"):
        Shaw(dim=2, max_distance=1, ahead=1.0)
    with pytest.raises(TypeError, match=r"`values` must be True or False"):
        Shaw(dim=2, max_distance=1, values=1)
    with pytest.raises(ValueError, match=r"`key_table` must have shape \(3, 2\).*got \(5, 2\)"):
        spec.score_term(x, at, at, key_table=np.ones((5, 2)))
    with pytest.raises(TypeError, match=r"`key_table` must hold floating-point numbers; got int64"):
        spec.score_term(x, at, at, key_table=np.ones((3, 2), int))
    with pytest.raises(ValueError, match=r"`queries` must have shape .*tokens, 2\).*got \(3, 2\)"):
        spec.score_term(x[0], at, at, key_table=table)
    with pytest.raises(ValueError, match=r"one position for each of its 3 tokens.*\(1,\)"):
        spec.score_term(x, at[:1], at, key_table=table)
    with pytest.raises(ValueError, match=r"`key_positions` must have one row.*got shape \(2, 3\)"):
        spec.score_term(x, at, np.stack([at, at]), key_table=table)
    with pytest.raises(TypeError, match=r"`query_positions` must be integers.*float64"):
        spec.score_term(x, at * 1.0, at, key_table=table)
    with pytest.raises(TypeError, match=r"got list, ndarray"):
        spec.score_term(x, [0, 1, 2], at, key_table=table)
    with pytest.raises(ValueError, match=r"`probabilities` must have shape"):
        spec.value_term(np.ones((1, 3, 2)), at, at, value_table=table)
    with pytest.raises(ValueError, match=r"values=False has no value table"):
        Shaw(dim=2, max_distance=1, values=False).value_term(x, at, at, value_table=table)
