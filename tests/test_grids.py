"""Coordinates of grids that are not square, and widths that do not divide."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from frameworks import numpy
from posenc import grids, positions


def test_raster_order():
    # Three rows of four: y is 0 0 0 0 1 1 1 1 2 2 2 2, x is 0 1 2 3 0 1 2 3 0 1 2 3.
    rows, columns = grids.unravel(np.arange(12), 3, 4).T
    assert rows.tolist() == [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]
    assert columns.tolist() == [0, 1, 2, 3] * 3


@given(st.lists(st.integers(1, 5), min_size=1, max_size=4))
def test_unravel_undoes_the_raster(sizes):
    cells = positions.grid(*sizes)
    np.testing.assert_array_equal(grids.unravel(np.arange(len(cells)), *sizes), cells)


def test_unravel(framework):
    cells = framework.array(np.asarray([[0, 5], [11, 12]]))
    got = grids.unravel(cells, 3, 4)
    assert framework.is_own(got)
    # Cell 12 is one row beyond the grid, not one of its own cells.
    assert numpy(got).tolist() == [[[0, 0], [1, 1]], [[2, 3], [3, 0]]]
    small = framework.array(np.asarray([255]), "uint8")
    assert numpy(grids.unravel(small, 2, 300)).tolist() == [[0, 255]]


def test_centres(framework):
    got = grids.centres(3, 4, like=framework.array([0]))
    assert framework.is_own(got)
    want = [[(i + 0.5) / 3 * 2 - 1, (j + 0.5) / 4 * 2 - 1] for i in range(3) for j in range(4)]
    np.testing.assert_allclose(numpy(got), want, rtol=0, atol=1e-7)
    np.testing.assert_allclose(grids.centres(3, 4), want, rtol=0, atol=1e-15)
    assert grids.centres(1, 1).tolist() == [[0.0, 0.0]]


def test_counts_of_a_padded_image(framework):
    mask = np.zeros((2, 3, 5), dtype=int)
    mask[0, :2, :4] = 1
    mask[1, :, :3] = 1
    got = numpy(grids.from_mask(framework.array(mask), scale=None))
    np.testing.assert_array_equal(got, np.stack([mask.cumsum(1), mask.cumsum(2)], -1))
    got = numpy(grids.from_mask(framework.array(mask.astype(bool)), scale=None))
    assert got[0, :, :, 0].tolist() == [[1, 1, 1, 1, 0], [2, 2, 2, 2, 0], [2, 2, 2, 2, 0]]
    assert got[0, :, :, 1].tolist() == [[1, 2, 3, 4, 4], [1, 2, 3, 4, 4], [0, 0, 0, 0, 0]]


def test_normalised_by_what_is_not_padding(framework):
    mask = framework.array(np.asarray([[1, 1, 1, 0], [1, 1, 1, 0]]))
    got = numpy(grids.from_mask(mask, scale=1.0))
    np.testing.assert_allclose(got[:, :3, 0], [[0.5] * 3, [1.0] * 3], atol=1e-6)
    np.testing.assert_allclose(got[:, :3, 1], [[1 / 3, 2 / 3, 1]] * 2, atol=1e-6)
    middle = numpy(grids.from_mask(mask, scale=1.0, shift=-0.5))
    np.testing.assert_allclose(middle[:, :3, 0], [[0.25] * 3, [0.75] * 3], atol=1e-6)
    np.testing.assert_allclose(middle[:, :3, 1], [[1 / 6, 0.5, 5 / 6]] * 2, atol=1e-6)


def test_from_mask_is_traced():
    import jax
    import torch

    mask = np.asarray([[1, 1, 1, 0], [1, 1, 1, 0], [0, 0, 0, 0]])
    want = grids.from_mask(mask)
    np.testing.assert_allclose(jax.jit(grids.from_mask)(mask), want, atol=1e-6)
    compiled = torch.compile(grids.from_mask, backend="eager", fullgraph=True)
    np.testing.assert_allclose(compiled(torch.tensor(mask)).numpy(), want, atol=1e-12)


@given(st.integers(1, 200), st.integers(1, 4), st.sampled_from(["first", "leave", "trim"]))
def test_shares_are_even(dim, axes, rest):
    if rest != "trim" and (dim < 2 * axes or (rest == "first" and dim % 2)):
        with pytest.raises(ValueError, match="`dim` must be"):
            grids.split(dim, axes, rest=rest)
        return
    shares = grids.split(dim, axes, rest=rest)
    assert len(shares) == axes
    assert all(share % 2 == 0 and share >= 2 for share in shares)
    assert len(set(shares[1:])) <= 1
    left = dim - sum(shares)
    assert {"first": left == 0, "leave": 0 <= left < 2 * axes, "trim": -2 * axes < left <= 0}[rest]


def test_one_function_owns_the_split():
    # https://github.com/huggingface/diffusers/issues/12538; a head of 128 hides the fault.
    assert grids.split(64, 3, rest="first") == (24, 20, 20)
    assert grids.split(128, 3, rest="first") == (44, 42, 42)
    assert grids.split(80, 3, rest="leave") == (26, 26, 26)  # MiniMax M3: 78 of 80
    assert grids.split(64, 2) == (32, 32)


@pytest.mark.parametrize(
    ("dim", "axes", "near"), [(6, 2, "4 and 8"), (8, 3, "6 and 12"), (9, 1, "8 and 10")]
)
def test_widths_that_do_not_divide_are_refused(dim, axes, near):
    # https://github.com/wzlxjtu/PositionalEncoding2D/issues/5
    with pytest.raises(ValueError, match=rf"`dim` must be a multiple of {2 * axes}.*{near}"):
        grids.split(dim, axes)


def test_given_widths_are_checked():
    assert grids.split(128, 3, widths=(16, 56, 56)) == (16, 56, 56)
    assert grids.split(10, 2, widths=(4, 2), rest="leave") == (4, 2)
    assert grids.split(5, 2, widths=(4, 4), rest="trim") == (4, 4)
    for dim, widths, rest in [
        (10, (4, 4), "refuse"),
        (6, (4, 4), "refuse"),
        (6, (4, 4), "leave"),
        (10, (4, 4), "trim"),
        (10, (4, 4), "first"),
    ]:
        with pytest.raises(ValueError, match=rf"`widths` must add up to dim={dim}.*\(4, 4\).*8"):
            grids.split(dim, 2, widths=widths, rest=rest)
    with pytest.raises(ValueError, match=r"`widths` must be even"):
        grids.split(8, 2, widths=(3, 5))
    with pytest.raises(ValueError, match=r"`widths` must be a tuple of 2 integers"):
        grids.split(8, 2, widths=(8,))


def test_errors():
    with pytest.raises(ValueError, match=r"`sizes` must name at least one axis"):
        grids.centres()
    with pytest.raises(ValueError, match=r"`sizes` must be at least 1"):
        grids.centres(3, 0)
    with pytest.raises(TypeError, match=r"`cells` must be integers"):
        grids.unravel(np.asarray([1.5]), 2, 3)
    with pytest.raises(TypeError, match=r"`mask` must hold booleans or integers"):
        grids.from_mask(np.ones((2, 3)))
    with pytest.raises(ValueError, match=r"`mask` must have rows and columns"):
        grids.from_mask(np.ones(3, dtype=bool))
    with pytest.raises(ValueError, match=r"`scale` must be greater than 0"):
        grids.from_mask(np.ones((2, 3), dtype=bool), scale=0.0)
    with pytest.raises(ValueError, match=r"`shift` must be 0 for plain counts"):
        grids.from_mask(np.ones((2, 3), dtype=bool), scale=None, shift=-0.5)
    with pytest.raises(ValueError, match=r"`axes` must be .*row.*column.*got \(0, 0\)"):
        grids.check_axes((0, 0))
    with pytest.raises(ValueError, match=r"`axes` must be"):
        grids.check_axes([0, 1])  # pyright: ignore
    with pytest.raises(ValueError, match=r"`positions` must have 2 coordinates.*shape \(12,\)"):
        grids.check_coordinates(np.arange(12), 2)
