"""Rows and columns of grids that are not square, and cells that are not on them."""

import numpy as np
import pytest

from frameworks import numpy
from posenc import cells, positions


def test_offsets(framework):
    tokens = positions.grid(2, 3, like=framework.array([0]))
    rows, columns = cells.offsets(tokens, tokens)
    assert framework.is_own(rows)
    assert numpy(rows)[4].tolist() == [1, 1, 1, 0, 0, 0]
    assert numpy(columns)[4].tolist() == [1, 0, -1, 1, 0, -1]


def test_outside_is_refused_where_it_can_be_seen():
    cells.refuse_outside(np.asarray([True, True]), "all must be inside")
    cells.refuse_outside(np.asarray([], bool), "all must be inside")
    with pytest.raises(ValueError, match=r"all must be inside; 2 do not\."):
        cells.refuse_outside(np.asarray([[True, False], [False, True]]), "all must be inside")


@pytest.mark.parametrize("grid", [7, [7, 7], (7,), (7, 7.0), (True, 7)])
def test_a_grid_is_two_integers(grid):
    with pytest.raises(TypeError, match=r"`window` must be a tuple of two integers"):
        cells.check_size("window", grid)


def test_positions_need_two_coordinates():
    with pytest.raises(ValueError, match=r"`keys` must give row and column.*got \(4, 3\)"):
        cells.check_positions("keys", np.zeros((4, 3), int))
    with pytest.raises(ValueError, match=r"got \(2,\)"):
        cells.check_positions("keys", np.zeros(2, int))
