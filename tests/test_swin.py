"""Biases of windows against plain loops and transformers' Swin and Swin V2."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from frameworks import numpy
from posenc import positions
from posenc.swin import Swin, SwinV2, log_spaced
from tracing import check_any_length, check_gradients, check_traced, normal

windows = st.tuples(st.integers(1, 4), st.integers(1, 4))
heads = st.integers(1, 3)


def draw(spec):
    return dict(zip(spec.weights, normal(*spec.weights.values()), strict=True))


def test_index_of_the_authors_window(framework):
    cells = positions.grid(7, 7, like=framework.array([0]))
    index = numpy(Swin(heads=1, window=(7, 7)).index(cells, cells))
    got = [index[pair] for pair in ((0, 0), (0, 1), (1, 0), (7, 0), (0, 48), (48, 0))]
    assert got == [84, 83, 85, 97, 0, 168]


@given(windows, heads)
def test_bias_of_every_pair(window, heads):
    spec, cells = Swin(heads=heads, window=window), positions.grid(*window)
    table = draw(spec)["table"].astype(np.float32)
    pixels = table.reshape(2 * window[0] - 1, 2 * window[1] - 1, heads)
    got = spec.bias(cells, cells, table=table)
    for i, (row, column) in enumerate(cells):
        for j, (key_row, key_column) in enumerate(cells):
            pixel = pixels[row - key_row + window[0] - 1, column - key_column + window[1] - 1]
            np.testing.assert_array_equal(got[:, i, j], pixel)


def test_transformers_swin():
    import torch
    from transformers.models.swin.modeling_swin import SwinRelativePositionBias

    for window in (7, 7), (2, 5), (3, 1):
        module = SwinRelativePositionBias(3, window)
        torch.nn.init.normal_(module.relative_position_bias_table)
        cells = positions.grid(*window, like=torch.zeros(1))
        table = module.relative_position_bias_table
        got = Swin(heads=3, window=window).bias(cells, cells, table=table)
        torch.testing.assert_close(got[None], module(), rtol=0, atol=0)


@pytest.mark.parametrize("trained", [0, 4])
def test_transformers_swin_v2(trained):
    import torch
    from transformers import Swinv2Config
    from transformers.models.swinv2.modeling_swinv2 import Swinv2SelfAttention

    torch.manual_seed(0)
    module = Swinv2SelfAttention(Swinv2Config(), 6, 3, 8, [trained, trained])
    module.eval()
    network = module.continuous_position_bias_mlp
    with torch.no_grad():
        for weight in network.parameters():
            weight.normal_()
        module.key.weight.zero_()  # no content: the scores are the bias alone
        _, probabilities = module(torch.randn(1, 64, 6), output_attentions=True)
        spec = SwinV2(
            heads=3, window=(8, 8), trained_window=(trained, trained) if trained else None
        )
        cells = positions.grid(8, 8, like=torch.zeros(1))
        bias = spec.bias(
            cells,
            cells,
            hidden_weight=network[0].weight,
            hidden_bias=network[0].bias,
            output_weight=network[2].weight,
        )
    torch.testing.assert_close(torch.softmax(bias, -1), probabilities[0], rtol=1e-4, atol=1e-6)


def test_coordinates():
    # microsoft/Swin-Transformer, models/swin_transformer_v2.py, in float64.
    want = [0, 0.366511891184, 0.572069011333, 0.715613796110]
    want += [0.826015765602, 0.915744643207, 0.991334930489, 1.056641667147]
    np.testing.assert_allclose(log_spaced(8, trained=8)[7:], want, rtol=0, atol=1e-12)
    assert math.isclose(log_spaced(16, trained=8)[-1], 1.393776588238, abs_tol=1e-12)
    assert log_spaced(1, trained=1) == (0.0,)
    for size in 1, 5:
        coordinates = log_spaced(size, trained=4)
        np.testing.assert_array_equal(coordinates, -np.asarray(coordinates)[::-1])


@given(windows, heads)
def test_bias_of_every_pair_in_v2(window, heads):
    spec = SwinV2(heads=heads, window=window, hidden=3, trained_window=(4, 8))
    cells, weights = positions.grid(*window), draw(spec)
    got = spec.bias(cells, cells, **weights, dtype=np.float64)
    for i, j in np.ndindex(len(cells), len(cells)):
        scaled = 8 * (cells[i] - cells[j]) / [3, 7]
        t = np.sign(scaled) * np.log2(1 + np.abs(scaled)) / np.log2(8)
        hidden = np.maximum(weights["hidden_weight"] @ t + weights["hidden_bias"], 0)
        want = 16 / (1 + np.exp(-(weights["output_weight"] @ hidden)))
        np.testing.assert_allclose(got[:, i, j], want, rtol=0, atol=1e-12)


def test_an_untrained_network_gives_eight():
    spec, cells = SwinV2(heads=2, window=(2, 3)), positions.grid(2, 3)
    weights = spec.initial_weights() | {"output_weight": np.zeros((2, 512), np.float32)}
    np.testing.assert_array_equal(spec.bias(cells, cells, **weights), np.full((2, 6, 6), 8.0))


@pytest.mark.parametrize(
    "spec", [Swin(heads=3, window=(2, 5)), SwinV2(heads=3, window=(2, 5), hidden=8)]
)
def test_every_framework(framework, spec):
    cells = np.asarray([[1, 4], [0, 0], [1, 2]])
    weights = draw(spec)
    want = spec.bias(cells, cells[:2], **weights, dtype=np.float64)
    given = {name: framework.array(array, "float32") for name, array in weights.items()}
    got = spec.bias(framework.array(cells), framework.array(cells[:2]), **given)
    assert framework.is_own(got)
    assert got.dtype == framework.xp.float32
    np.testing.assert_allclose(numpy(got), want, rtol=0, atol=1e-5)


def test_only_offsets_count():
    spec, cells = Swin(heads=2, window=(2, 3)), positions.grid(2, 3)
    table = spec.initial_weights()["table"]
    far = spec.bias(cells + [70, 90], cells + [70, 90], table=table)
    np.testing.assert_array_equal(far, spec.bias(cells, cells, table=table))
    rows = np.stack([cells, cells[::-1]])
    batch = spec.bias(rows, rows, table=table)
    assert batch.shape == (2, 2, 6, 6)
    np.testing.assert_array_equal(batch[1], far[:, ::-1, ::-1])


def test_an_offset_outside_is_refused_or_nan():
    import jax

    spec, cells = Swin(heads=1, window=(2, 3)), positions.grid(3, 3)
    table = spec.initial_weights()["table"]
    with pytest.raises(ValueError, match=r"less than 2 rows and 3 columns.*18 do not"):
        spec.bias(cells, cells, table=table)
    got = jax.jit(lambda cells: spec.bias(cells, cells, table=jax.numpy.asarray(table)))(
        cells.astype(np.int32)
    )
    outside = np.abs(cells[:, None, 0] - cells[None, :, 0]) == 2
    np.testing.assert_array_equal(np.isnan(np.asarray(got)[0]), outside)


@pytest.mark.parametrize("cls", [Swin, SwinV2])
def test_initial_weights(cls):
    spec = cls(heads=3, window=(7, 9))
    weights = spec.initial_weights()
    assert {name: array.shape for name, array in weights.items()} == spec.weights
    assert {array.dtype for array in weights.values()} == {np.dtype("float32")}
    for name, array in weights.items():
        assert abs(array.std() - (0 if name == "hidden_bias" else 0.02)) < 2e-3


@pytest.mark.parametrize("spec", [Swin(heads=3, window=(2, 3)), SwinV2(heads=3, window=(2, 3))])
def test_traced(spec):
    names = list(spec.weights)

    def bias(cells, *weights):
        return spec.bias(cells, cells, **dict(zip(names, weights, strict=True)))

    weights = spec.initial_weights(5)
    arrays = positions.grid(2, 3), *(weights[name] for name in names)
    check_traced(bias, *arrays)
    check_any_length(bias, *arrays, axes=(0, *[None] * len(names)))


@pytest.mark.parametrize(
    "spec", [Swin(heads=1, window=(1, 2)), SwinV2(heads=1, window=(2, 2), hidden=3)]
)
def test_gradients(spec):
    def bias(*weights):
        import jax.numpy as jnp
        import torch

        xp = torch if isinstance(weights[0], torch.Tensor) else jnp
        cells = xp.asarray(positions.grid(*spec.window).tolist())
        given = dict(zip(spec.weights, weights, strict=True))
        return spec.bias(cells, cells, **given, dtype=weights[0].dtype)

    check_gradients(bias, *draw(spec).values())


def test_errors():
    cells = positions.grid(2, 2)
    with pytest.raises(TypeError, match=r"`window` must be a tuple of two integers.*got 7"):
        Swin(heads=1, window=7)
    with pytest.raises(ValueError, match=r"`window` must have at least one row.*got \(0, 7\)"):
        Swin(heads=1, window=(0, 7))
    with pytest.raises(TypeError, match=r"`trained_window` must be a tuple"):
        SwinV2(heads=1, window=(2, 2), trained_window=[2, 2])
    spec = Swin(heads=2, window=(2, 2))
    with pytest.raises(ValueError, match=r"`table` must have shape \(9, 2\).*got \(2, 9\)"):
        spec.bias(cells, cells, table=np.ones((2, 9)))
    with pytest.raises(ValueError, match=r"`query_positions` must give row and column.*got \(4,\)"):
        spec.bias(np.arange(4), cells, table=np.ones((9, 2)))
    with pytest.raises(TypeError, match=r"must be integers"):
        spec.bias(cells * 1.0, cells, table=np.ones((9, 2)))
