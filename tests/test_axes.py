"""Vectors of grids against the models' own code run alive, on grids that are not square."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, strategies as st

from frameworks import numpy
from posenc import Sinusoidal, grids, positions
from posenc.axes import LearnedAxes, SinusoidalAxes

MAE = SinusoidalAxes(dim=8, axes=(1, 0))
# Formulas of facebookresearch/mae (commit efb2a80), util/pos_embed.py, and google-research/
# big_vision (0127fb6), models/vit.py, in float64: 2 rows, 3 columns, cell (1, 2).
MAE_8 = [
    *(0.909297426826, 0.019998666693, -0.416146836547, 0.999800006666),
    *(0.841470984808, 0.009999833334, 0.540302305868, 0.999950000417),
]
BIG_VISION_8 = [
    *(0.909297426826, 0.0002, -0.416146836547, 0.99999998),
    *(0.841470984808, 0.0001, 0.540302305868, 0.999999995),
]
# facebookresearch/detr (29901c5), models/position_encoding.py: 2 rows, 3 columns, cell (0, 1).
DETR_8 = {
    "normalised": [
        *(1.5708e-06, -1.0, 0.0314107434, 0.9995065609),
        *(-0.8660247057, -0.5000012092, 0.0418756398, 0.9991228307),
    ],
    "middle": [
        *(1.0, 7.854e-07, 0.0157073095, 0.9998766326),
        *(1.0472e-06, -1.0, 0.0314107486, 0.9995065607),
    ],
    "counted": [
        *(0.8414709848, 0.5403023059, 0.0099998333, 0.9999500004),
        *(0.9092974268, -0.4161468365, 0.0199986667, 0.9998000067),
    ],
}
# positional-encodings 6.0.3: cell (1, 0, 1) of width 8, where the third axis falls off the end.
PACKAGE_8 = [0.8414709848, 0.5403023059, 0.0099998333, 0.9999500004, 0, 1, 0, 1]

specs = st.builds(
    SinusoidalAxes,
    dim=st.integers(1, 6).map(lambda pairs: 12 * pairs),
    axes=st.sampled_from([(0, 1), (1, 0), (0, 1, 2), (2, 0, 1)]),
    base=st.sampled_from([20.0, 10_000.0]),
    layout=st.sampled_from(["half", "interleaved", "axis_half"]),
    spacing=st.sampled_from(["paper", "endpoint"]),
)


def test_mae(framework):
    got = MAE.encode(positions.grid(2, 3, like=framework.array([0])))
    assert framework.is_own(got)
    assert got.dtype == framework.xp.float32
    np.testing.assert_allclose(numpy(got)[5], MAE_8, rtol=0, atol=framework.exact)


def test_big_vision():
    got = dataclasses.replace(MAE, spacing="endpoint").encode(positions.grid(2, 3))
    np.testing.assert_allclose(got[5], BIG_VISION_8, rtol=0, atol=6e-8)


def test_as_vit_mae_and_rt_detr():
    import torch
    from transformers.models.rt_detr.modeling_rt_detr import build_2d_sinusoidal_position_embedding

    want = build_2d_sinusoidal_position_embedding(3, 4, 16, temperature=100.0)
    spec = SinusoidalAxes(dim=16, base=100.0)
    got = spec.encode(positions.grid(3, 4, like=torch.zeros(1)))
    torch.testing.assert_close(got, want, rtol=0, atol=1e-7)
    # transformers, models/vit_mae: the halves are swapped, because the original has them so.
    column_first = dataclasses.replace(spec, axes=(1, 0))
    got = column_first.encode(positions.grid(3, 4, like=torch.zeros(1)))
    torch.testing.assert_close(got, torch.cat([want[:, 8:], want[:, :8]], -1), rtol=0, atol=1e-7)


def test_timm_order():
    # timm 1.0.31, build_sincos2d_pos_embed: sin of rows, sin of columns, then the cosines.
    got = SinusoidalAxes(dim=8, layout="half").encode(positions.grid(3, 4))
    row, column = positions.grid(3, 4).T[..., None] * np.asarray([1.0, 0.01])
    want = [np.sin(row), np.sin(column), np.cos(row), np.cos(column)]
    np.testing.assert_allclose(got, np.concatenate(want, -1), rtol=0, atol=6e-8)
    assert not np.allclose(got, SinusoidalAxes(dim=8).encode(positions.grid(3, 4)))


def test_tensor2tensor_pads_with_zeros():
    # common_attention.py, add_timing_signal_nd (bafdc1b6): 11 channels, 2 axes, 2 timescales.
    spec = SinusoidalAxes(dim=11, spacing="endpoint", rest="leave")
    got = spec.encode(np.asarray([[2, 5]]))
    waves = [np.sin([2, 2e-4]), np.cos([2, 2e-4]), np.sin([5, 5e-4]), np.cos([5, 5e-4])]
    np.testing.assert_allclose(got[0], [*np.concatenate(waves), 0, 0, 0], rtol=0, atol=6e-8)


def test_positional_encodings_package():
    spec = SinusoidalAxes(dim=8, axes=(0, 1, 2), layout="interleaved", rest="trim")
    for third in 1, 7:
        got = spec.encode(np.asarray([1, 0, third]))
        np.testing.assert_allclose(got, PACKAGE_8, rtol=0, atol=6e-8)
    six = dataclasses.replace(spec, dim=6).encode(np.asarray([1, 2, 3]))
    waves = [f(k) for k in (1, 2, 3) for f in (np.sin, np.cos)]
    np.testing.assert_allclose(six, waves, rtol=0, atol=6e-8)


@pytest.mark.parametrize("dim", [1, 3, 5, 169])
@pytest.mark.parametrize("axes", [(0,), (0, 1), (1, 0, 2)])
def test_odd_channel_counts_are_cut_to_measure(dim, axes):
    # https://github.com/tatp22/multidim-positional-encoding/issues/3
    spec = SinusoidalAxes(dim=dim, axes=axes, layout="interleaved", rest="trim")
    cells = positions.grid(*range(2, 2 + len(axes)))
    whole = dataclasses.replace(spec, dim=sum(spec.shares), rest="refuse").encode(cells)
    np.testing.assert_array_equal(spec.encode(cells), whole[:, :dim])


def detr(name, height, width, mask=None):
    """The table of Hugging Face's module: (batch, rows, columns, 2 * 6)."""
    import torch
    from transformers.models.deformable_detr import modeling_deformable_detr
    from transformers.models.detr import modeling_detr

    module = {
        "normalised": modeling_detr.DetrSinePositionEmbedding(6, normalize=True),
        "middle": modeling_deformable_detr.DeformableDetrSinePositionEmbedding(6, normalize=True),
        "counted": modeling_detr.DetrSinePositionEmbedding(6),
    }[name]
    shape = torch.Size((1 if mask is None else len(mask), 12, height, width))
    return module(shape, "cpu", torch.float32, mask).permute(0, 2, 3, 1)


DETR = {"normalised": {}, "middle": {"shift": -0.5}, "counted": {"scale": None}}


@pytest.mark.parametrize("name", DETR)
def test_detr(name):
    cells = grids.from_mask(np.ones((2, 3), dtype=bool), **DETR[name])
    got = SinusoidalAxes(dim=8, layout="interleaved").encode(cells)
    np.testing.assert_allclose(got[0, 1], DETR_8[name], rtol=0, atol=6e-8)


@pytest.mark.parametrize("name", DETR)
def test_as_detr(name):
    import torch

    spec = SinusoidalAxes(dim=12, layout="interleaved")
    full = torch.ones((1, 3, 5), dtype=torch.bool)
    padded = torch.zeros((2, 3, 5), dtype=torch.bool)
    padded[0, :2, :4] = True
    padded[1, :, :3] = True
    for mask in full, padded:
        got = spec.encode(grids.from_mask(mask, **DETR[name]))
        want = detr(name, 3, 5, mask)
        # Hugging Face computes coordinates up to 2 pi and their quotients in float32.
        torch.testing.assert_close(got[mask], want[mask], rtol=0, atol=2e-6)
    torch.testing.assert_close(detr(name, 3, 5), detr(name, 3, 5, full))


def test_without_a_mask_detr_counts_from_one():
    counted = grids.from_mask(np.ones((3, 5), dtype=int), scale=None)
    np.testing.assert_array_equal(counted.reshape(15, 2), positions.grid(3, 5) + 1)


@given(specs, st.permutations(range(50)))
def test_each_share_is_a_one_dimensional_code(spec, coordinates):
    """Against Sinusoidal, which has tests of its own; every axis has another coordinate."""
    cell = np.asarray(coordinates)[: len(spec.axes)]
    got = spec.encode(cell)
    one = Sinusoidal(
        dim=spec.shares[0],
        base=spec.base,
        spacing=spec.spacing,
        layout="interleaved" if spec.layout == "interleaved" else "half",
    )
    shares = [one.encode(cell[axis]) for axis in spec.axes]
    if spec.layout == "half":
        shares = np.asarray(shares).reshape(len(shares), 2, -1).swapaxes(0, 1).ravel()
    np.testing.assert_array_equal(got, np.ravel(shares))


@given(specs)
def test_length_is_constant(spec):
    cells = positions.grid(*(3, 4, 2)[: len(spec.axes)])
    squares = np.sum(spec.encode(cells, dtype=np.float64) ** 2, axis=-1)
    np.testing.assert_allclose(squares, spec.dim / 2)


def test_widths_of_their_own():
    # V-JEPA's 3-D table gives half of the features to time.
    spec = SinusoidalAxes(dim=16, axes=(0, 1, 2), widths=(8, 4, 4))
    assert [len(turning) for turning in spec.frequencies] == [4, 2, 2]
    got = spec.encode(np.asarray([3, 1, 2]))
    parts = [(3, 8), (1, 4), (2, 4)]
    want = [Sinusoidal(dim=w, layout="half").encode(np.asarray(c)) for c, w in parts]
    np.testing.assert_array_equal(got, np.concatenate(want))


def test_positions_of_any_shape():
    assert MAE.encode(np.zeros((5, 0, 2), dtype=int)).shape == (5, 0, 8)
    batch = np.asarray([[[5, 0], [2, 9]], [[9, 9], [0, 0]]])
    np.testing.assert_array_equal(MAE.encode(batch)[0, 1], MAE.encode(batch[0, 1]))


def test_traced():
    import jax
    import torch

    cells = positions.grid(3, 4)
    for spec in MAE, dataclasses.replace(MAE, dim=11, layout="half", rest="leave"):
        want = spec.encode(cells)
        np.testing.assert_allclose(jax.jit(spec.encode)(cells), want, rtol=0, atol=1.2e-7)
        compiled = torch.compile(spec.encode, backend="eager", fullgraph=True)
        np.testing.assert_allclose(compiled(torch.tensor(cells)).numpy(), want, rtol=0, atol=6e-8)


def test_sinusoidal_errors():
    with pytest.raises(ValueError, match=r"`dim` must be a multiple of 4.*dim=6.*4 and 8"):
        SinusoidalAxes(dim=6)
    with pytest.raises(ValueError, match=r"`dim` must be a multiple of 6.*dim=8.*6 and 12"):
        SinusoidalAxes(dim=8, axes=(0, 1, 2))
    with pytest.raises(ValueError, match=r"`layout` must be one of 'half', 'interleaved'"):
        SinusoidalAxes(dim=8, layout="sin_cos")  # pyright: ignore
    with pytest.raises(ValueError, match=r"2 coordinates on its last axis.*shape \(3, 4\)"):
        MAE.encode(np.zeros((3, 4), dtype=int))
    with pytest.raises(TypeError, match=r"half precision"):
        MAE.encode(np.zeros((3, 2), dtype=np.float16))


# Learned


def test_reformer():
    import torch
    from transformers import ReformerConfig
    from transformers.models.reformer.modeling_reformer import AxialPositionEmbeddings

    config = ReformerConfig(
        axial_pos_shape=[4, 6], axial_pos_embds_dim=[3, 5], hidden_size=8, hidden_dropout_prob=0.0
    )
    module = AxialPositionEmbeddings(config).eval()
    spec = LearnedAxes(lengths=(4, 6), widths=(3, 5))
    tables = {name: torch.tensor(t) for name, t in spec.initial_weights().items()}
    module.weights[0].data = tables["axis_0"].reshape(4, 1, 3)
    module.weights[1].data = tables["axis_1"].reshape(1, 6, 5)
    ids = torch.tensor([[0, 5, 6, 23], [13, 1, 2, 3]])
    assert torch.equal(spec.encode(grids.unravel(ids, 4, 6), **tables), module(ids))
    with pytest.raises(ValueError, match=r"`positions\[..., 0\]` must lie within 0 .. 3"):
        spec.encode(grids.unravel(torch.tensor([24]), 4, 6), **tables)


def test_reformer_saves_rows():
    spec = LearnedAxes(lengths=(64, 64), widths=(256, 768))
    assert sum(np.prod(shape) for shape in spec.weights.values()) == 65_536
    assert spec.dim == 1024
    tables = spec.initial_weights()
    got = spec.encode(grids.unravel(np.asarray(130), 64, 64), **tables)
    np.testing.assert_array_equal(got, np.append(tables["axis_0"][2], tables["axis_1"][2]))


def test_detr_has_the_column_first():
    import torch
    from transformers.models.detr.modeling_detr import DetrLearnedPositionEmbedding

    module = DetrLearnedPositionEmbedding(4)
    spec = LearnedAxes(lengths=(50, 50), widths=(4, 4), axes=(1, 0))
    tables = {"axis_0": module.row_embeddings.weight, "axis_1": module.column_embeddings.weight}
    got = spec.encode(positions.grid(2, 5, like=module.row_embeddings.weight), **tables)
    want = module(torch.Size((1, 8, 2, 5)), "cpu", torch.float32)[0].flatten(1).T
    assert torch.equal(got, want)


def test_added(framework):
    spec = LearnedAxes(lengths=(2, 3), widths=(4, 4), combine="add")
    rows, columns = np.random.default_rng(0).normal(size=(2, 4)), np.eye(3, 4)
    got = spec.encode(
        positions.grid(2, 3, like=framework.array([0])),
        axis_0=framework.array(rows, "float32"),
        axis_1=framework.array(columns, "float32"),
    )
    assert got.shape == (6, spec.dim)
    want = (rows[:, None] + columns).reshape(6, 4)
    np.testing.assert_allclose(numpy(got), want, rtol=0, atol=2e-7)


def test_learned_is_traced_and_gradients_reach_every_table():
    import jax
    import torch

    spec, cells = LearnedAxes(lengths=(2, 3), widths=(2, 3)), positions.grid(2, 4)
    tables = spec.initial_weights()
    got = jax.jit(lambda p, t: spec.encode(p, **t))(cells, tables)
    assert np.isnan(got[3, 2:]).all()  # column 3 of a table with three
    np.testing.assert_array_equal(got[:3], spec.encode(cells[:3], **tables))
    weights = {name: torch.tensor(t, requires_grad=True) for name, t in tables.items()}
    compiled = torch.compile(lambda p, t: spec.encode(p, **t), backend="eager", fullgraph=True)
    compiled(torch.tensor(cells[[0, 1, 6]]), weights).sum().backward()
    assert [w.grad[:, 0].tolist() for w in weights.values()] == [[2, 1], [1, 1, 1]]


def test_learned_errors():
    spec = LearnedAxes(lengths=(2, 3), widths=(2, 3))
    tables = spec.initial_weights()
    with pytest.raises(TypeError, match=r"needs the tables axis_0, axis_1; got axis_0, columns"):
        spec.encode(np.asarray([[0, 0]]), axis_0=tables["axis_0"], columns=tables["axis_1"])
    with pytest.raises(ValueError, match=r"`axis_1` must have shape \(3, 3\).*got \(2, 2\)"):
        spec.encode(np.asarray([[0, 0]]), axis_0=tables["axis_0"], axis_1=tables["axis_0"])
    with pytest.raises(ValueError, match=r"`widths` must be equal for combine='add'"):
        LearnedAxes(lengths=(2, 3), widths=(2, 3), combine="add")
    with pytest.raises(ValueError, match=r"`lengths` must be a tuple of 2 integers.*got \(5,\)"):
        LearnedAxes(lengths=(5,), widths=(2, 3))
