"""Squeezed distances against the papers' pictures, plain loops, and the released codes' steps."""

import jax
import numpy as np
import pytest
from hypothesis import given, strategies as st

from frameworks import numpy
from posenc.position_maps import DualChunk, Rerope, SelfExtend
from tracing import check_any_length, check_traced

maps = st.one_of(
    st.builds(SelfExtend, group=st.integers(1, 5), window=st.integers(1, 9)),
    st.builds(Rerope, window=st.integers(1, 9), leak=st.none() | st.floats(1, 8)),
    st.builds(
        lambda chunk, more: DualChunk(chunk=chunk, cap=chunk + more), *[st.integers(1, 6)] * 2
    ),
)
places = st.integers(0, 50)


def distance(spec, query, key):
    return numpy(spec.distances(np.asarray([query]), np.asarray([key])))[0, 0]


def test_self_extend(framework):
    # Groups of 4 beyond 8 tokens, keys 0 to 20 seen from 20: worked out by hand.
    got = SelfExtend(group=4, window=8).distances(
        framework.array([20]), framework.array(np.arange(21))
    )
    assert framework.is_own(got)
    want = [11, 11, 11, 11, 10, 10, 10, 10, 9, 9, 9, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]
    assert numpy(got)[0].tolist() == want


@given(st.integers(1, 5), st.integers(1, 9), places, places)
def test_self_extend_pair_by_pair(group, window, query, key):
    far = query // group - key // group + window - window // group
    want = query - key if query - key < window else far
    assert distance(SelfExtend(group=group, window=window), query, key) == want


def test_self_extend_reaches_as_far_as_it_says():
    spec = SelfExtend(group=4, window=1024)  # trained on 4096 tokens
    assert distance(spec, 13311, 0) == 4095
    assert distance(spec, 13312, 0) == 4096


def test_rerope(framework):
    keys_at = framework.array(np.asarray([13, 12, 8, 0, 20]))
    at = framework.array([20])
    got = Rerope(window=8).distances(at, keys_at)
    assert "int" in str(got.dtype)
    assert numpy(got)[0].tolist() == [7, 8, 8, 8, 0]
    leaky = Rerope(window=8, leak=4.0).distances(at, keys_at)
    assert framework.is_own(leaky)
    assert numpy(leaky)[0].tolist() == [7, 8, 9, 11, 0]


def test_dual_chunk(framework):
    # An et al. 2024, section 3, with chunks of 6 and a model trained on 10 tokens.
    spec, keys_at = DualChunk(chunk=6, cap=9), framework.array(np.arange(13))
    got = numpy(spec.distances(framework.array([6, 11, 12]), keys_at))
    assert got[0, :7].tolist() == [6, 5, 4, 3, 2, 1, 0]
    assert got[1, :12].tolist() == [9, 8, 7, 6, 5, 4, 5, 4, 3, 2, 1, 0]
    assert got[2].tolist() == [9, 8, 7, 6, 5, 4, 6, 5, 4, 3, 2, 1, 0]


def test_dual_chunk_like_the_released_code():
    # Keys stand at their place in the chunk; three tables of query places, one a kind of chunk.
    spec, length = DualChunk.released(64), 200
    chunk_len, chunk_size = spec.chunk, spec.cap
    assert (chunk_len, chunk_size) == (44, 48)
    at = np.arange(length)
    q_intra, k = at % chunk_len, at % chunk_len
    q_succ = np.minimum(at % chunk_len + chunk_len, chunk_size)
    q_inter = np.full(length, min(chunk_len - 1 + chunk_len, chunk_size))
    back = at[:, None] // chunk_len - at // chunk_len
    want = np.where(
        back == 0, q_intra[:, None], np.where(back == 1, q_succ[:, None], q_inter[:, None])
    )
    causal = at[:, None] >= at
    np.testing.assert_array_equal(spec.distances(at, at)[causal], (want - k)[causal])


def test_dual_chunk_constants():
    assert DualChunk.paper(4096) == DualChunk(chunk=3072, cap=4095)
    assert DualChunk.released(4096) == DualChunk(chunk=2816, cap=3072)


@given(maps, places)
def test_near_keys_and_keys_ahead_keep_their_distance(spec, query):
    near = spec.chunk - 1 if isinstance(spec, DualChunk) else spec.window - 1
    if isinstance(spec, DualChunk):
        near = query % spec.chunk
    for key in range(max(query - near, 0), query + 12):
        assert distance(spec, query, key) == query - key


@given(maps, places, places)
def test_no_distance_grows(spec, query, back):
    assert distance(spec, query + back, query) <= back + (
        # From an odd place a group's border may lie one token nearer.
        1 if isinstance(spec, SelfExtend) else 0
    )


@given(st.integers(1, 6), st.integers(1, 6), places, places)
def test_dual_chunk_never_exceeds_its_cap(chunk, more, query, back):
    spec = DualChunk(chunk=chunk, cap=chunk + more)
    assert 0 <= distance(spec, query + back, query) <= spec.cap


@given(maps, st.lists(places, min_size=1, max_size=4), st.lists(places, min_size=1, max_size=4))
def test_a_decoding_step_is_its_row(spec, at, keys_at):
    at, keys_at = np.asarray(at), np.asarray(keys_at)
    whole = spec.distances(at, keys_at)
    for i, place in enumerate(at):
        np.testing.assert_array_equal(spec.distances(place[None], keys_at)[0], whole[i])
    rows = spec.distances(np.stack([at, at + 1]), keys_at)
    np.testing.assert_array_equal(rows[0], whole)


@pytest.mark.parametrize(
    "spec",
    [SelfExtend(group=2, window=4), Rerope(window=3, leak=2.0), DualChunk(chunk=3, cap=5)],
)
def test_traced(spec):
    check_traced(lambda at: spec.distances(at[4:], at), np.arange(12), atol=0)
    check_any_length(lambda at: spec.distances(at, at), np.arange(12), axes=(0,))
    at = jax.numpy.arange(24).reshape(2, 12)
    rows = jax.vmap(spec.distances)(at, at)
    np.testing.assert_array_equal(rows, spec.distances(at, at))


def test_unsigned_positions():
    at = np.asarray([250, 3], np.uint8)
    assert SelfExtend(group=2, window=4).distances(at, at).tolist() == [[0, 126], [-247, 0]]
    assert DualChunk(chunk=200, cap=220).distances(at, at).tolist() == [[0, 217], [-247, 0]]


def test_errors():
    with pytest.raises(ValueError, match=r"`group` must be at least 1"):
        SelfExtend(group=0, window=8)
    with pytest.raises(ValueError, match=r"`leak` must be at least 1.0"):
        Rerope(window=8, leak=0.5)
    with pytest.raises(ValueError, match=r"`cap` must be at least `chunk`.*chunk=6, cap=5"):
        DualChunk(chunk=6, cap=5)
    with pytest.raises(ValueError, match=r"`length` must be at least 4"):
        DualChunk.paper(3)
    with pytest.raises(TypeError, match=r"`key_positions` must be integers"):
        Rerope(window=8).distances(np.arange(3), np.arange(3.0))
