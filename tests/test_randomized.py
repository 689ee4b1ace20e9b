"""Randomized positions: drawn once, in order, never twice."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from frameworks import numpy
from posenc.alibi import Alibi
from posenc.randomized import draw
from posenc.rotary import Rotary


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 10**6))
def test_a_draw_rises_and_stays_below_the_limit(length, spare, seed):
    limit = max(length + spare, 1)
    got = draw(length, limit=limit, seed=seed)
    assert got.shape == (length,)
    assert got.dtype == np.int64
    assert (np.diff(got) > 0).all()
    assert all(0 <= position < limit for position in got)


def test_drawing_all_is_counting():
    assert draw(9, limit=9, seed=3).tolist() == list(range(9))


def test_every_position_is_as_likely():
    generator = np.random.default_rng(0)
    counts = np.zeros(10)
    for _ in range(4000):
        counts[draw(3, limit=10, seed=generator)] += 1
    # 1200 expected, standard deviation sqrt(4000 * 0.3 * 0.7) = 29.
    np.testing.assert_allclose(counts, 1200, rtol=0, atol=4 * 29)


def test_seeds_and_generators():
    one, same, other = (draw(40, limit=2048, seed=seed).tolist() for seed in (1, 1, 2))
    assert one == same != other
    generator = np.random.default_rng(1)
    assert draw(40, limit=2048, seed=generator).tolist() == one
    assert draw(40, limit=2048, seed=generator).tolist() != one


def test_like(framework):
    got = draw(5, limit=2048, seed=0, like=framework.array([0.0]))
    assert framework.is_own(got)
    assert "int" in str(got.dtype)
    np.testing.assert_array_equal(numpy(got), draw(5, limit=2048, seed=0))


def test_positions_of_any_encoding():
    # One draw for queries and keys: (3, 10, 11, 40).
    drawn = np.asarray([3, 10, 11, 40])
    bias = Alibi(heads=8, direction="symmetric").bias(drawn, drawn)[0] * -2
    assert bias[0].tolist() == [0, 7, 8, 37]
    assert bias[2].tolist() == [8, 1, 0, 29]
    rope, x = Rotary(dim=8), np.ones((4, 8))
    turned = rope.rotate(x, drawn)
    apart = rope.rotate(x[:1], np.asarray([29]))
    np.testing.assert_allclose(turned[3] @ turned[2], apart[0] @ x[0], rtol=0, atol=1e-6)


def test_errors():
    with pytest.raises(ValueError, match=r"no position is drawn twice; got length=5, limit=4"):
        draw(5, limit=4, seed=0)
    with pytest.raises(ValueError, match=r"`length` must be at least 0"):
        draw(-1, limit=4, seed=0)
    with pytest.raises(TypeError, match=r"`limit` must be an integer"):
        draw(1, limit=4.0, seed=0)
