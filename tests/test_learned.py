"""Trained tables: rows looked up and never a wrong one; resampled as PyTorch, SciPy and JAX do."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from frameworks import numpy
from posenc import positions
from posenc.learned import Learned, look_up, resample

RAMP = np.arange(16.0)[:, None]  # a 4 x 4 grid that holds 0 .. 15 in raster order

# Resampled by torch 2.13 (interpolate, float64) and scipy 1.17 (ndimage.zoom, order 1).
RAMP_TO_6_FIRST_ROW = {
    ("cubic", "half_pixel", False): [
        *(-0.4340277778, 0.0590277778, 0.8657407407, 1.4398148148, 2.2465277778, 2.7395833333)
    ],
    ("cubic", "half_pixel", True): [
        *(-0.3289473684, 0.1486068111, 0.9035087719, 1.5701754386, 2.3250773994, 2.8026315789)
    ],
    ("linear", "half_pixel", False): [0, 0.5, 1.1666666667, 1.8333333333, 2.5, 3],
    ("linear", "aligned", False): [0, 0.6, 1.2, 1.8, 2.4, 3],
}
RAMP_TO_2 = {
    ("cubic", "half_pixel", False): [2.03125, 4.21875, 10.78125, 12.96875],
    ("cubic", "half_pixel", True): [2.9338842975, 4.7603305785, 10.2396694215, 12.0661157025],
    ("linear", "half_pixel", False): [2.5, 4.5, 10.5, 12.5],
    ("linear", "aligned", False): [0, 3, 12, 15],
}

sides = st.integers(1, 12)
grids = st.tuples(sides, sides)


def random_table(*shape):
    return np.random.default_rng(0).normal(size=shape)


# Looking up


def test_rows(framework):
    table = random_table(5, 3)
    got = Learned(length=5, dim=3).encode(
        framework.array([[4, 0], [2, 2]]), table=framework.array(table, "float32")
    )
    assert framework.is_own(got)
    assert got.dtype == framework.xp.float32
    np.testing.assert_array_equal(numpy(got), table.astype(np.float32)[[[4, 0], [2, 2]]])
    none = np.zeros((0, 2), dtype=int)
    empty = look_up(framework.array(none), framework.array(table, "float32"))
    assert empty.shape == (0, 2, 3)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "uint32"])
def test_positions_in_small_integers(framework, dtype):
    # 127 + 2 does not fit int8, and neither does the number of rows; -2 fits no unsigned one.
    table = random_table(602, 2)
    got = Learned(length=600, dim=2, offset=2).encode(
        framework.array([0, 127, 100], dtype), table=framework.array(table, "float32")
    )
    np.testing.assert_array_equal(numpy(got), table.astype(np.float32)[[2, 129, 102]])


def test_512_tokens_need_514_rows():
    # https://github.com/facebookresearch/fairseq/issues/1187
    spec = Learned(length=512, dim=1, offset=2)
    assert spec.weights == {"table": (514, 1)}
    rows = np.arange(514.0)[:, None]
    assert spec.encode(np.arange(3), table=rows)[:, 0].tolist() == [2, 3, 4]
    assert spec.encode(np.asarray([511]), table=rows).item() == 513
    with pytest.raises(ValueError, match=r"within -2 .. 511.*514 rows.*row 2.*from 0 to 512"):
        spec.encode(np.asarray([0, 512]), table=rows)


def test_padding_takes_the_row_below_the_offset():
    # fairseq: ids [[1, 1, 5, 6, 7], [5, 6, 7, 1, 1]] with padding 1 -> rows as below.
    mask = np.asarray([[0, 0, 1, 1, 1], [1, 1, 1, 0, 0]])
    ids = positions.from_mask(mask, padding=-1)
    got = Learned(length=512, dim=1, offset=2).encode(ids, table=np.arange(514.0)[:, None])
    assert got[..., 0].tolist() == [[1, 1, 2, 3, 4], [2, 3, 4, 1, 1]]


def test_as_opt_and_bart():
    import torch
    from transformers.models.bart.modeling_bart import BartLearnedPositionalEmbedding
    from transformers.models.opt.modeling_opt import OPTLearnedPositionalEmbedding

    spec = Learned(length=10, dim=4, offset=2)
    mask = torch.tensor([[0, 0, 1, 1, 1], [1, 1, 1, 1, 1]])
    opt = OPTLearnedPositionalEmbedding(10, 4)
    got = spec.encode(positions.from_mask(mask, padding=-1), table=opt.weight)
    assert torch.equal(got, opt(mask))
    bart = BartLearnedPositionalEmbedding(10, 4)
    got = spec.encode(torch.arange(5), table=bart.weight)
    assert torch.equal(got, bart(torch.zeros(1, 5))[0])


def test_no_row_is_counted_from_the_end_or_repeated(framework):
    table = framework.array(random_table(8, 2), "float32")
    spec = Learned(length=8, dim=2)
    for outside in 8, 9, -1, 2**31 - 1:
        with pytest.raises(ValueError, match=r"`positions` must lie within 0 .. 7"):
            spec.encode(framework.array([0, outside]), table=table)


def test_outside_rows_are_nan_where_they_cannot_be_seen():
    import jax
    import torch

    table, ids = random_table(8, 2).astype(np.float32), np.asarray([-1, 0, 7, 8, 2**31 - 1])
    want = np.stack([[np.nan] * 2, table[0], table[7], [np.nan] * 2, [np.nan] * 2])
    spec = Learned(length=8, dim=2)
    got = jax.jit(lambda p, t: spec.encode(p, table=t))(ids.astype(np.int32), table)
    np.testing.assert_array_equal(got, want)
    got = jax.vmap(lambda p: spec.encode(p, table=jax.numpy.asarray(table)))(ids.astype(np.int32))
    np.testing.assert_array_equal(got, want)
    compiled = torch.compile(lambda p, t: spec.encode(p, table=t), backend="eager", fullgraph=True)
    got = compiled(torch.tensor(ids), torch.tensor(table))
    np.testing.assert_array_equal(got.numpy(), want)
    # An index that wraps to 0 in 32 bits must not become row 0.
    far = compiled(torch.tensor([0, 2**32, 7, 8, 1]), torch.tensor(table))
    np.testing.assert_array_equal(np.isnan(far.numpy()[:, 0]), [False, True, False, True, False])


def test_gradients_reach_the_table():
    import jax
    import torch

    spec, ids, want = (
        Learned(length=4, dim=2),
        np.asarray([1, 3, 1]),
        [[0, 0], [2, 2], [0, 0], [1, 1]],
    )
    table = torch.zeros(4, 2, requires_grad=True)
    spec.encode(torch.tensor(ids), table=table).sum().backward()
    assert table.grad is not None
    assert table.grad.tolist() == want
    got = jax.grad(lambda t: spec.encode(jax.numpy.asarray(ids), table=t).sum())(np.zeros((4, 2)))
    assert got.tolist() == want


def test_dtype_is_that_of_the_table():
    import torch

    table = torch.randn(4, 2, dtype=torch.bfloat16)
    spec, ids = Learned(length=4, dim=2), torch.arange(4)
    assert torch.equal(spec.encode(ids, table=table), table)
    assert spec.encode(ids, table=table, dtype=torch.float32).dtype == torch.float32


def test_initial_weights():
    spec = Learned(length=500, dim=8, offset=2)
    table = spec.initial_weights()["table"]
    assert table.dtype == np.float32
    assert {"table": table.shape} == spec.weights
    assert not table[:2].any()
    assert abs(table[2:].std() - 0.02) < 1e-3  # 4,000 draws: three standard errors are 7e-4
    assert not np.array_equal(table, spec.initial_weights(1)["table"])
    wider = spec.initial_weights(std=0.2)["table"]
    np.testing.assert_allclose(wider, 10 * table, rtol=1e-6)


def test_look_up_errors():
    spec, table = Learned(length=4, dim=2), np.zeros((4, 2))
    with pytest.raises(TypeError, match=r"`positions` must be integers"):
        spec.encode(np.asarray([0.5]), table=table)
    with pytest.raises(TypeError, match=r"`table` must hold floating-point numbers.*int64"):
        spec.encode(np.asarray([0]), table=np.zeros((4, 2), dtype=int))
    with pytest.raises(ValueError, match=r"`table` must have shape \(6, 2\).*got \(4, 2\)"):
        dataclasses.replace(spec, offset=2).encode(np.asarray([0]), table=table)
    with pytest.raises(TypeError, match=r"arrays must come from one library.*got list, ndarray"):
        spec.encode(np.asarray([0]), table=table.tolist())
    with pytest.raises(ValueError, match=r"`length` must be at least 1"):
        Learned(length=0, dim=2)
    with pytest.raises(ValueError, match=r"`offset` must be at least 0"):
        Learned(length=4, dim=2, offset=-1)


# Resampling


@pytest.mark.parametrize("options", RAMP_TO_6_FIRST_ROW, ids=str)
def test_known_values(framework, options):
    method, corners, antialias = options
    like = {"method": method, "corners": corners, "antialias": antialias, "old": (4, 4)}
    table = framework.array(RAMP, "float32")
    got = resample(table, new=(6, 6), **like)
    assert framework.is_own(got)
    assert got.dtype == framework.xp.float32
    # Values up to 15: a few units in the last place of float32.
    np.testing.assert_allclose(numpy(got)[:6, 0], RAMP_TO_6_FIRST_ROW[options], atol=4e-6)
    got = resample(table, new=(2, 2), **like)
    np.testing.assert_allclose(numpy(got)[:, 0], RAMP_TO_2[options], atol=4e-6)


@given(grids, grids, st.sampled_from(["linear", "cubic"]), st.sampled_from([None, False, True]))
def test_as_torch(old, new, method, antialias):
    """`antialias` None stands for aligned corners."""
    import torch

    table = random_table(old[0] * old[1], 3)
    aligned = antialias is None
    corners = "aligned" if aligned else "half_pixel"
    got = resample(
        table, old=old, new=new, method=method, corners=corners, antialias=bool(antialias)
    )
    image = torch.tensor(table).reshape(1, *old, 3).permute(0, 3, 1, 2)
    want = torch.nn.functional.interpolate(
        image,
        size=new,
        mode={"linear": "bilinear", "cubic": "bicubic"}[method],
        align_corners=aligned,
        antialias=bool(antialias),
    )
    want = want.permute(0, 2, 3, 1).reshape(-1, 3).numpy()
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-13)


@given(grids, grids)
def test_as_scipy(old, new):
    from scipy.ndimage import zoom

    table = random_table(old[0] * old[1], 2)
    got = resample(table, old=old, new=new, method="linear", corners="aligned")
    factors = (*(after / before for before, after in zip(old, new, strict=True)), 1)
    want = zoom(table.reshape(*old, 2), factors, order=1)
    np.testing.assert_allclose(got, want.reshape(-1, 2), rtol=0, atol=1e-13)


@settings(max_examples=8)  # JAX compiles for every shape
@given(grids, grids, st.sampled_from(["linear", "cubic"]))
def test_as_jax(old, new, method):
    import jax

    table = random_table(old[0] * old[1], 2)
    got = resample(table, old=old, new=new, method=method, antialias=True)
    want = jax.image.resize(table.reshape(*old, 2), (*new, 2), method)
    # JAX has float32 only here, and weights that cancel: values up to 3, a few units off.
    np.testing.assert_allclose(got, np.reshape(want, (-1, 2)), rtol=0, atol=5e-6)


@pytest.mark.parametrize("options", RAMP_TO_6_FIRST_ROW, ids=str)
@given(st.tuples(sides, sides, sides), st.tuples(sides, sides, sides))
def test_rows_of_a_constant_table_stay(options, old, new):
    method, corners, antialias = options
    table = np.full((old[0] * old[1] * old[2], 1), 0.7)
    got = resample(table, old=old, new=new, method=method, corners=corners, antialias=antialias)
    assert got.shape == (new[0] * new[1] * new[2], 1)
    np.testing.assert_allclose(got, 0.7, rtol=0, atol=1e-14)


@pytest.mark.parametrize(
    ("old", "new"),
    # https://github.com/facebookresearch/dinov2/pull/378: a factor rounds these one short.
    [(14, 61), (14, 115), (14, 122), (37, 39), (37, 43), (37, 78), (37, 86), (37, 115), (37, 123)],
)
def test_the_target_is_a_size(old, new):
    table = np.zeros((1 + old * old, 1))
    got = resample(table, old=(old, old), new=(new, new - 1), method="cubic", prefix=1)
    assert got.shape == (1 + new * (new - 1), 1)


def test_same_count_but_another_shape_is_resampled():
    # https://github.com/huggingface/pytorch-image-models/pull/2737
    table = random_table(16, 2)
    got = resample(table, old=(2, 8), new=(4, 4), method="linear")
    # Rows 0 and 3 lie beyond the outer centres; columns 2 j and 2 j + 1 are averaged.
    columns = table.reshape(2, 4, 2, 2).mean(axis=2)
    want = np.stack(
        [
            columns[0],
            0.75 * columns[0] + 0.25 * columns[1],
            0.25 * columns[0] + 0.75 * columns[1],
            columns[1],
        ]
    )
    np.testing.assert_allclose(got, want.reshape(16, 2), atol=1e-15)


def test_the_same_size_changes_nothing():
    # https://github.com/huggingface/transformers/issues/32410: 196 patches are 196.
    table = random_table(1 + 196, 2)
    for options in RAMP_TO_6_FIRST_ROW:
        method, corners, antialias = options
        like = {"method": method, "corners": corners, "antialias": antialias}
        assert resample(table, old=(14, 14), new=(14, 14), prefix=1, **like) is table


def test_the_prefix_is_kept_and_axes_before_it_too(framework):
    table = random_table(3, 5 + 12, 2)
    got = resample(
        framework.array(table, "float32"), old=(3, 4), new=(2, 5), method="cubic", prefix=5
    )
    assert got.shape == (3, 5 + 10, 2)
    np.testing.assert_array_equal(numpy(got)[:, :5], table[:, :5].astype(np.float32))
    for whole, one in zip(table, numpy(got), strict=True):
        alone = resample(whole[5:], old=(3, 4), new=(2, 5), method="cubic")
        np.testing.assert_allclose(one[5:], alone, atol=2e-6)


def test_one_axis():
    # https://github.com/facebookresearch/dinov2/issues/468
    ends = np.asarray([[0.0], [1.0]])
    got = resample(ends, old=(2,), new=(4,), method="linear", corners="aligned")
    np.testing.assert_allclose(got[:, 0], [0, 1 / 3, 2 / 3, 1], atol=1e-15)
    got = resample(ends, old=(2,), new=(4,), method="linear")
    np.testing.assert_allclose(got[:, 0], [0, 0.25, 0.75, 1], atol=1e-15)
    long = random_table(2 + 512, 3)
    got = resample(long, old=(512,), new=(777,), method="cubic", prefix=2)
    image = long[2:].reshape(512, 1, 3).repeat(2, axis=1).reshape(1024, 3)
    flat = resample(image, old=(512, 2), new=(777, 2), method="cubic")
    np.testing.assert_allclose(got[2:], flat[::2], atol=1e-14)


def test_half_precision_is_resampled_in_float32():
    import torch

    table = torch.randn(49, 4, generator=torch.Generator().manual_seed(0)).to(torch.bfloat16)
    got = resample(table, old=(7, 7), new=(9, 5), method="cubic")
    want = resample(table.float(), old=(7, 7), new=(9, 5), method="cubic").to(torch.bfloat16)
    assert got.dtype == torch.bfloat16
    assert torch.equal(got, want)


def test_resampling_is_traced():
    import jax
    import torch

    table = random_table(1 + 12, 2).astype(np.float32)
    like = {"old": (3, 4), "new": (5, 2), "method": "cubic", "antialias": True, "prefix": 1}
    want = resample(table, **like)
    jitted = jax.jit(lambda t: resample(t, **like))(table)
    np.testing.assert_allclose(jitted, want, atol=1e-6)
    compiled = torch.compile(lambda t: resample(t, **like), backend="eager", fullgraph=True)
    np.testing.assert_allclose(compiled(torch.tensor(table)).numpy(), want, atol=1e-6)
    grad = jax.grad(lambda t: resample(t, **like).sum())(table)
    np.testing.assert_allclose(grad.sum(), (1 + 10) * 2, rtol=1e-6)  # rows of a matrix sum to 1


def test_resampling_errors():
    table = np.zeros((13, 2))
    with pytest.raises(ValueError, match=r"one row for each of 12 cells and 0 before.*\(13, 2\)"):
        resample(table, old=(3, 4), new=(5, 5), method="cubic")
    with pytest.raises(TypeError, match=r"`old` must be a tuple.*\(rows, columns\).*got 12"):
        resample(table, old=12, new=(5, 5), method="cubic", prefix=1)  # pyright: ignore
    with pytest.raises(TypeError, match=r"`new` must be an integer"):
        resample(table, old=(3, 4), new=(5.0, 5), method="cubic", prefix=1)  # pyright: ignore
    with pytest.raises(ValueError, match=r"`new` must have as many axes as `old`"):
        resample(table, old=(3, 4), new=(5,), method="cubic", prefix=1)
    with pytest.raises(ValueError, match=r"`method` must be one of 'linear', 'cubic'"):
        resample(table, old=(3, 4), new=(5, 5), method="bicubic", prefix=1)  # pyright: ignore
    with pytest.raises(ValueError, match=r"`antialias` must be False with corners='aligned'"):
        resample(
            table,
            old=(3, 4),
            new=(5, 5),
            method="cubic",
            corners="aligned",
            antialias=True,
            prefix=1,
        )
    with pytest.raises(TypeError, match=r"`table` must hold floating-point"):
        resample(np.zeros((12, 2), dtype=int), old=(3, 4), new=(5, 5), method="cubic")
