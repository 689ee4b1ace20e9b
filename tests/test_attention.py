"""Looking up pair by pair, and the checks that score terms share."""

import numpy as np
import pytest

from frameworks import numpy
from posenc import attention
from tracing import normal


@pytest.mark.parametrize("shape", [(4, 3), (1, 4, 3), (2, 1, 4, 3), (2, 5, 4, 3)])
def test_pick_takes_one_score_a_pair(framework, shape):
    (scores,) = normal((2, 5, 4, 7))
    index = np.random.default_rng(0).integers(0, 7, shape)
    got = attention.pick(framework.array(scores, "float32"), framework.array(index, "int32"))
    assert framework.is_own(got)
    assert got.shape == (2, 5, 4, 3)
    whole = np.broadcast_to(index, got.shape)
    for place in np.ndindex(*got.shape):
        want = scores[(*place[:3], whole[place])]
        np.testing.assert_allclose(numpy(got)[place], want, rtol=1e-6)


def test_rows(framework):
    (table,) = normal((5, 2))
    index = np.asarray([[4, 0, 0], [1, 2, 4]])
    got = attention.rows(framework.array(table, "float32"), framework.array(index))
    np.testing.assert_array_equal(numpy(got), table[index].astype(np.float32))


def test_sigmoid_neither_overflows_nor_loses_its_ends():
    got = attention.sigmoid(np.asarray([-1e4, -2.0, 0.0, 2.0, 1e4]))
    np.testing.assert_allclose(got, [0, 1 / (1 + np.e**2), 0.5, 1 / (1 + np.e**-2), 1], atol=1e-16)


def test_normal_is_the_same_for_the_same_seed():
    one, same, other = (
        attention.normal({"table": (900,)}, std=0.5, seed=seed)["table"] for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(one, same)
    assert (one != other).all()
    assert one.dtype == np.float32
    assert 0.47 < one.std() < 0.53


def test_no_array_repeats_that_of_another_seed():
    first, second = (attention.normal({"a": (9,), "b": (9,)}, std=1.0, seed=s) for s in (0, 1))
    assert (first["a"] != first["b"]).all()
    assert (first["b"] != second["a"]).all()


def test_vectors_and_positions_that_do_not_fit():
    x, at = np.ones((2, 3, 4, 8)), np.arange(4)
    for fits in at, np.stack([at]), np.stack([at, at]):
        attention.check_vectors("keys", x, fits, dim=8, heads=3)
    with pytest.raises(ValueError, match=r"positions of `keys` must have one row.*batch \(2,\)"):
        attention.check_vectors("keys", x, np.stack([at] * 3), dim=8)
    with pytest.raises(ValueError, match=r"positions of `keys` must have one row.*\(2, 3, 4\)"):
        attention.check_vectors("keys", x, np.broadcast_to(at, (2, 3, 4)), dim=8)
    with pytest.raises(ValueError, match=r"`keys` must have shape \(\*batch, 4, tokens, 8\)"):
        attention.check_vectors("keys", x, at, dim=8, heads=4)
    with pytest.raises(TypeError, match=r"`keys` must hold floating-point numbers; got int64"):
        attention.check_vectors("keys", x.astype(int), at, dim=8)


def test_weights_of_another_library():
    import torch

    with pytest.raises(TypeError, match=r"arrays must come from one library.*Tensor, ndarray"):
        attention.check_weight("table", torch.ones(2), (2,), like=np.ones(2))
