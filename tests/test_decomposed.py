"""Decomposed biases against plain loops, transformers' SAM, and PyTorch's interpolation."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from frameworks import numpy
from posenc import positions
from posenc.decomposed import Decomposed, resize
from tracing import check_any_length, check_gradients, check_traced, normal

sides = st.integers(1, 5)
grids = st.tuples(sides, sides)
specs = st.builds(Decomposed, dim=st.integers(1, 4), grid=grids, key_grid=st.none() | grids)


def draw(spec, *heads):
    """Random queries and weights, and the cells of both grids."""
    cells = positions.grid(*spec.grid), positions.grid(*(spec.key_grid or spec.grid))
    queries, *weights = normal((*heads, len(cells[0]), spec.dim), *spec.weights.values())
    return queries, *cells, dict(zip(spec.weights, weights, strict=True))


def sam():
    """SAM's attention, from which its bias can be asked for any pair of grids."""
    from transformers import SamVisionConfig
    from transformers.models.sam.modeling_sam import SamVisionAttention

    config = SamVisionConfig(hidden_size=12, num_attention_heads=3)
    return SamVisionAttention(config, window_size=4)


@given(specs, st.integers(1, 3))
def test_scores_are_the_formula(spec, heads):
    queries, cells, key_cells, weights = draw(spec, heads)
    sizes = list(zip(spec.grid, spec.key_grid or spec.grid, strict=True))
    got = spec.score_term(queries, cells, key_cells, **weights)
    for i, j in np.ndindex(len(cells), len(key_cells)):
        want = 0
        for axis, table in enumerate((weights["rows"], weights["columns"])):
            q, k = sizes[axis]
            # get_rel_pos of MViTv2, with whole numbers: the coarser grid is stretched.
            if q >= k:
                row = cells[i, axis] + math.floor((k - 1 - key_cells[j, axis]) * q / k + 1e-9)
            else:
                row = math.floor(cells[i, axis] * k / q + 1e-9) + k - 1 - key_cells[j, axis]
            want = want + queries[:, i] @ table[row]
        np.testing.assert_allclose(got[:, i, j], want, rtol=0, atol=1e-12)


@pytest.mark.parametrize("grid", [(4, 4), (2, 5), (3, 1)])
@pytest.mark.parametrize("key_grid", [None, (4, 6), (2, 2), (1, 1)])
def test_sam(grid, key_grid):
    import torch

    spec, other = Decomposed(dim=4, grid=grid, key_grid=key_grid), key_grid or grid
    queries, _, _, weights = draw(spec, 3)
    queries, rows, columns = map(torch.asarray, (queries, weights["rows"], weights["columns"]))
    cells, key_cells = (positions.grid(*sizes, like=queries) for sizes in (grid, other))
    want = sam().get_decomposed_rel_pos(queries, rows, columns, grid, other)
    got = spec.score_term(queries, cells, key_cells, rows=rows, columns=columns)
    torch.testing.assert_close(got, want.flatten(3).flatten(1, 2), rtol=0, atol=1e-12)


def test_sam_on_another_grid_than_the_trained_one():
    import torch

    spec = Decomposed(dim=4, grid=(6, 3))
    queries, rows, columns = map(torch.asarray, normal((3, 18, 4), (7, 4), (7, 4)))
    want = sam().get_decomposed_rel_pos(queries, rows, columns, (6, 3), (6, 3))
    cells = positions.grid(6, 3, like=queries)
    got = spec.score_term(queries, cells, cells, rows=resize(rows, 11), columns=resize(columns, 5))
    torch.testing.assert_close(got, want.flatten(3).flatten(1, 2), rtol=0, atol=1e-12)


@given(st.integers(1, 30), st.integers(1, 60))
def test_resize_is_linear_interpolation(rows, length):
    import torch

    (table,) = normal((rows, 3))
    source = torch.asarray(table).T[None]
    want = torch.nn.functional.interpolate(source, size=length, mode="linear")[0].T
    got = resize(table, length)
    np.testing.assert_allclose(got, want.numpy(), rtol=0, atol=1e-12)
    if rows == length:
        np.testing.assert_array_equal(got, table)


def test_a_grid_that_is_not_square():
    spec = Decomposed(dim=1, grid=(2, 3))
    cells = positions.grid(2, 3)
    rows, columns = np.asarray([[10.0], [20], [30]]), np.arange(5.0)[:, None]
    got = spec.score_term(np.ones((1, 6, 1)), cells, cells, rows=rows, columns=columns)[0]
    # From the first cell: same row and two rows back; columns 2, 1, 0 of the table.
    assert got[0].tolist() == [22, 21, 20, 12, 11, 10]
    assert got[5].tolist() == [34, 33, 32, 24, 23, 22]


def test_some_cells_only():
    spec = Decomposed(dim=4, grid=(3, 4))
    queries, cells, _, weights = draw(spec, 2, 3)
    kept = [0, 5, 11]
    got = spec.score_term(queries[..., kept, :], cells[kept], cells[kept], **weights)
    whole = spec.score_term(queries, cells, cells, **weights)
    np.testing.assert_allclose(got, whole[..., kept, :][..., kept], rtol=0, atol=1e-14)


def test_every_framework(framework):
    spec = Decomposed(dim=4, grid=(3, 2), key_grid=(2, 4))
    queries, cells, key_cells, weights = draw(spec, 2, 3)
    got = spec.score_term(
        framework.array(queries, "float32"),
        framework.array(cells),
        framework.array(key_cells),
        **{name: framework.array(weight, "float32") for name, weight in weights.items()},
    )
    assert framework.is_own(got)
    assert got.dtype == framework.xp.float32
    want = spec.score_term(queries, cells, key_cells, **weights)
    np.testing.assert_allclose(numpy(got), want, rtol=0, atol=1e-5)
    small = resize(framework.array(weights["rows"], "float32"), 3)
    assert framework.is_own(small)
    np.testing.assert_allclose(numpy(small), resize(weights["rows"], 3), rtol=0, atol=1e-6)


def test_unsigned_coordinates():
    spec = Decomposed(dim=1, grid=(100, 1))
    cells = np.stack([np.arange(100), np.zeros(100)], -1).astype(np.uint8)
    ramp = np.arange(199.0)[:, None]
    got = spec.score_term(np.ones((1, 100, 1)), cells, cells, rows=ramp, columns=np.zeros((1, 1)))
    assert got[0, 99, 0] == 198
    assert got[0, 0, 99] == 0


def test_a_cell_outside_is_refused_or_nan():
    import jax

    spec = Decomposed(dim=2, grid=(2, 2))
    queries, cells, _, weights = draw(spec, 1)
    beyond = cells + np.asarray([1, 0])
    with pytest.raises(ValueError, match=r"`key_positions` must run from 0 to 1.*2 do not"):
        spec.score_term(queries, cells, beyond, **weights)
    with pytest.raises(ValueError, match=r"`query_positions` must run from 0 to 1"):
        spec.score_term(queries, -beyond, cells, **weights)
    narrow = [array.astype(np.float32) for array in (queries, *weights.values())]

    def term(queries, rows, columns, key_cells):
        mine = jax.numpy.asarray(cells.astype(np.int32))
        return spec.score_term(queries, mine, key_cells, rows=rows, columns=columns)

    got = np.asarray(jax.jit(term)(*narrow, beyond.astype(np.int32)))
    assert np.isnan(got[0]).all(axis=0).tolist() == [False, False, True, True]
    assert not np.isnan(got[0, :, :2]).any()


def test_initial_weights():
    spec = Decomposed(dim=8, grid=(14, 10), key_grid=(7, 20))
    weights = spec.initial_weights()
    assert {name: array.shape for name, array in weights.items()} == spec.weights
    assert spec.weights == {"rows": (27, 8), "columns": (39, 8)}
    assert {array.dtype for array in weights.values()} == {np.dtype("float32")}


def test_traced():
    spec = Decomposed(dim=2, grid=(2, 3))
    queries, cells, _, weights = draw(spec, 1, 2)

    def term(queries, rows, columns, cells):
        return spec.score_term(queries, cells, cells, rows=rows, columns=resize(columns, 5))

    floats = [array.astype(np.float32) for array in (queries, *weights.values())]
    check_traced(term, *floats, cells)
    check_any_length(term, *floats, cells, axes=(2, None, None, 0))


def test_gradients():
    spec = Decomposed(dim=2, grid=(1, 3))
    queries, cells, _, weights = draw(spec, 1)

    def term(queries, rows, columns):
        import jax.numpy as jnp
        import torch

        places = (torch if isinstance(queries, torch.Tensor) else jnp).asarray(cells.tolist())
        columns = resize(columns, 5)
        return spec.score_term(queries, places, places, rows=rows, columns=columns)

    check_gradients(term, queries, weights["rows"], weights["columns"][:3])


def test_errors():
    spec = Decomposed(dim=2, grid=(2, 2))
    queries, cells, _, weights = draw(spec, 1)
    with pytest.raises(TypeError, match=r"`grid` must be a tuple of two integers"):
        Decomposed(dim=2, grid=14)
    with pytest.raises(ValueError, match=r"`key_grid` must have at least one row"):
        Decomposed(dim=2, grid=(2, 2), key_grid=(2, 0))
    with pytest.raises(ValueError, match=r"`rows` must have shape \(3, 2\).*got \(5, 2\)"):
        spec.score_term(queries, cells, cells, **weights | {"rows": np.ones((5, 2))})
    with pytest.raises(ValueError, match=r"`queries` must have one position for each of its 4"):
        spec.score_term(queries, cells[:3], cells, **weights)
    with pytest.raises(ValueError, match=r"`key_positions` must have one row of tokens"):
        spec.score_term(queries, cells, np.stack([cells, cells]), **weights)
    with pytest.raises(TypeError, match=r"`key_positions` must be integers"):
        spec.score_term(queries, cells, cells * 1.0, **weights)
    with pytest.raises(ValueError, match=r"`length` must be at least 1"):
        resize(np.ones((3, 2)), 0)
    with pytest.raises(ValueError, match=r"`table` must have shape \(offsets, dim\)"):
        resize(np.ones(3), 2)
