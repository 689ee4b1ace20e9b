"""Trained frequencies that mix row and column."""

import dataclasses
import math

import numpy as np
import pytest

from frameworks import numpy
from posenc import grids, positions
from posenc.axial import AxialRotary
from posenc.mixed import MixedRotary

SPEC = MixedRotary(dim=8, heads=3)
# naver-ai/rope-vit (ce85c2e), self-attn/rope_self_attn.py, head of 8, direction 0.3: the
# frequencies of column and row, and the angles at column 2, row 1.
COLUMN = [0.9553364891, 0.3021039238, -0.2955202067, -0.0934516948]
ROW = [0.2955202067, 0.0934516948, 0.9553364891, 0.3021039238]
ANGLES = [2.2061931849, 0.6976595423, 0.3642960758, 0.1152005342]


def heads(*shape):
    return np.random.default_rng(0).normal(size=shape)


def test_known_angles(framework):
    spec = MixedRotary(dim=8, heads=1)
    frequencies = framework.array(np.asarray([[COLUMN], [ROW]]), "float32")
    cos, sin = spec.table(framework.array([[1, 2]]), frequencies=frequencies)
    assert framework.is_own(cos)
    assert cos.shape == (1, 1, 4)
    # The frequencies above have ten digits; as float32 they are off by 3e-8 each.
    np.testing.assert_allclose(numpy(cos)[0, 0], np.cos(ANGLES), rtol=0, atol=3e-7)
    np.testing.assert_allclose(numpy(sin)[0, 0], np.sin(ANGLES), rtol=0, atol=3e-7)


def test_first_frequencies_cross():
    weights = SPEC.initial_weights()["frequencies"]
    assert weights.dtype == np.float32
    assert weights.shape == SPEC.weights["frequencies"]
    column, row = weights
    np.testing.assert_allclose(np.hypot(column, row), [[1, 10**-0.5] * 2] * 3, atol=1e-6)
    direction = np.arctan2(row, column)
    np.testing.assert_allclose(direction[:, 0], direction[:, 1], atol=1e-6)
    np.testing.assert_allclose(
        (direction[:, 2:] - direction[:, :2]) % math.tau, math.pi / 2, atol=1e-6
    )
    assert len(set(direction[:, 0].round(3))) == 3  # every head its own


def test_axial_turning_is_a_special_case():
    """A head that mixes nothing is AxialRotary, whose frequencies are the same."""
    axial = AxialRotary(dim=8, axes=(1, 0), base=100.0, layout="interleaved")
    column, row = axial.frequencies
    mixed = np.asarray([[[*column, 0, 0]], [[0, 0, *row]]])
    x, cells = heads(2, 1, 15, 8), positions.grid(3, 5)
    got = MixedRotary(dim=8, heads=1).rotate(x, cells, frequencies=mixed)
    np.testing.assert_allclose(got, axial.rotate(x, cells), rtol=0, atol=1e-13)
    row_first = MixedRotary(dim=8, heads=1, axes=(0, 1), layout="half")
    axial = dataclasses.replace(axial, axes=(0, 1), layout="half")
    got = row_first.rotate(x, cells, frequencies=mixed)
    np.testing.assert_allclose(got, axial.rotate(x, cells), rtol=0, atol=1e-13)


def test_norm_is_kept_and_scores_depend_on_the_displacement():
    frequencies = SPEC.initial_weights()["frequencies"].astype(np.float64)
    x, cells = heads(3, 2, 8), np.asarray([[3, 1], [0, 4]])
    got = SPEC.rotate(x, cells, frequencies=frequencies)
    np.testing.assert_allclose(np.sum(got**2, -1), np.sum(x**2, -1), rtol=1e-12)
    back = SPEC.rotate(got, cells, frequencies=frequencies, inverse=True)
    np.testing.assert_allclose(back, x, rtol=0, atol=1e-12)
    moved = SPEC.rotate(x, cells + np.asarray([[5, 9]]), frequencies=frequencies)
    scores, after = (np.sum(t[:, 0] * t[:, 1], -1) for t in (got, moved))
    np.testing.assert_allclose(after, scores, rtol=0, atol=1e-12)
    assert np.abs(scores - np.sum(x[:, 0] * x[:, 1], -1)).min() > 0.1


def test_images_of_their_own():
    frequencies = SPEC.initial_weights()["frequencies"]
    x = heads(2, 3, 4, 8)
    cells = np.stack([positions.grid(1, 4), positions.grid(2, 2)])
    got = SPEC.rotate(x, cells, frequencies=frequencies)
    for one, own, image in zip(x, cells, got, strict=True):
        np.testing.assert_array_equal(SPEC.rotate(one, own, frequencies=frequencies), image)
    same = np.stack([cells[1]] * 2)
    np.testing.assert_array_equal(
        SPEC.rotate(x, cells[1], frequencies=frequencies),
        SPEC.rotate(x, same, frequencies=frequencies),
    )


def test_half_precision_and_centres():
    import torch

    frequencies = torch.tensor(SPEC.initial_weights()["frequencies"])
    x = torch.tensor(heads(3, 15, 8)).to(torch.bfloat16)
    cells = grids.centres(3, 5, like=x)
    got = SPEC.rotate(x, cells, frequencies=frequencies)
    want = SPEC.rotate(x.float(), cells, frequencies=frequencies)
    assert torch.equal(got, want.to(torch.bfloat16))


def test_gradients_reach_the_frequencies():
    import jax
    import torch

    weights, x, cells = SPEC.initial_weights()["frequencies"], heads(3, 15, 8), positions.grid(3, 5)
    frequencies = torch.tensor(weights, requires_grad=True)
    rotate = torch.compile(SPEC.rotate, backend="eager", fullgraph=True)
    rotate(torch.tensor(x), torch.tensor(cells), frequencies=frequencies).sum().backward()
    got = jax.jit(jax.grad(lambda f, x, p: SPEC.rotate(x, p, frequencies=f).sum()))
    assert frequencies.grad is not None
    assert frequencies.grad.abs().min() > 1e-3
    # Sums of 15 derivatives of up to a few hundred in float32.
    np.testing.assert_allclose(got(weights, x, cells), frequencies.grad, rtol=0, atol=1e-3)


def test_errors():
    weights = SPEC.initial_weights()
    with pytest.raises(ValueError, match=r"`dim` must be a multiple of 4"):
        MixedRotary(dim=6, heads=1)
    with pytest.raises(ValueError, match=r"`axes` must be \(0, 1\) or \(1, 0\)"):
        MixedRotary(dim=8, heads=1, axes=(0, 1, 2))
    with pytest.raises(ValueError, match=r"`frequencies` must have shape \(2, 3, 4\).*\(2, 3, 2\)"):
        SPEC.rotate(
            heads(3, 4, 8), positions.grid(2, 2), frequencies=weights["frequencies"][..., :2]
        )
    with pytest.raises(TypeError, match=r"`frequencies` must hold floating-point numbers; got int"):
        SPEC.table(positions.grid(2, 2), frequencies=np.ones((2, 3, 4), dtype=int))
    with pytest.raises(ValueError, match=r"`x` must have shape \(\*batch, 3 heads, length, 8\)"):
        SPEC.rotate(heads(2, 4, 8), positions.grid(2, 2), **weights)
    with pytest.raises(ValueError, match=r"`positions` must have shape \(\*batch, length, 2\)"):
        SPEC.table(np.asarray([1, 2]), **weights)
