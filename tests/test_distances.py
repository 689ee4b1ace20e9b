"""Distances against plain loops, at the ends of the range, and with rows of their own."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from frameworks import numpy
from posenc import distances

FAR = 2**31 - 1

rows = st.lists(st.integers(0, FAR), min_size=1, max_size=6)


@given(rows, rows)
def test_query_minus_key(queries, keys):
    got = distances.between(np.asarray(queries), np.asarray(keys))
    assert got.tolist() == [[i - j for j in keys] for i in queries]


def test_every_framework_counts_exactly(framework):
    got = distances.between(framework.array([0, FAR, 2**24 + 1]), framework.array([2**24, FAR]))
    assert framework.is_own(got)
    want = [[-(2**24), -FAR], [FAR - 2**24, 0], [1, 2**24 + 1 - FAR]]
    assert numpy(got).tolist() == want


def test_both_sides_of_zero(framework):
    positions = framework.array([-FAR, FAR])
    if framework.name == "jax":  # int32 is all there is: half as far on each side
        positions = framework.array([-(2**30), 2**30 - 1])
    low, high = (int(p) for p in numpy(positions))
    got = distances.between(positions, positions)
    assert numpy(got).tolist() == [[0, low - high], [high - low, 0]]


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32"])
def test_narrow_integers_do_not_wrap(framework, dtype):
    got = distances.between(framework.array([0], dtype), framework.array([127], dtype))
    assert numpy(got).tolist() == [[-127]]


def test_batch_axes_broadcast(framework):
    queries, keys = np.arange(6).reshape(2, 1, 3), np.arange(20).reshape(5, 4)
    got = distances.between(framework.array(queries), framework.array(keys))
    np.testing.assert_array_equal(numpy(got), queries[..., :, None] - keys[..., None, :])
    assert got.shape == (2, 5, 3, 4)
    nothing = framework.array(np.zeros(0, dtype=int))
    assert distances.between(nothing, framework.array(keys)).shape == (5, 0, 4)


def test_errors():
    with pytest.raises(ValueError, match=r"tokens on the last axis.*\(\) and \(2,\).*\[None\]"):
        distances.between(np.asarray(1), np.arange(2))
    with pytest.raises(ValueError, match=r"rows of one batch; got shapes \(2, 4\) and \(3, 4\)"):
        distances.between(np.zeros((2, 4), int), np.zeros((3, 4), int))
    with pytest.raises(TypeError, match=r"`key_positions` must be integers.*float64"):
        distances.between(np.arange(2), np.arange(2.0))
    with pytest.raises(TypeError, match=r"`query_positions` must be integers.*bool"):
        distances.relative(np.asarray(True), np.asarray(1))
    with pytest.raises(ValueError, match=r"`query_positions`.*2\*\*31.*2147483648"):
        distances.between(np.asarray([2**31]), np.arange(2))
    with pytest.raises(TypeError, match=r"one library.*list, ndarray"):
        distances.between([0, 1], np.arange(2))


def test_keys_ahead_are_hidden(framework):
    bias, distance = framework.array([0.5, 0.5, 0.5]), framework.array([1, 0, -1])
    got = distances.hide_ahead(bias, distance)
    assert got.dtype == bias.dtype
    assert numpy(got).tolist() == [0.5, 0.5, -np.inf]
