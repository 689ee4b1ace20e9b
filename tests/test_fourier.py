"""Fourier features and NeRF's encoding against mpmath, the published codes' numbers, and SAM."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, strategies as st

from frameworks import numpy
from posenc.fourier import FourierFeatures, Nerf
from tracing import check_any_length, check_gradients, check_traced, normal

nerfs = st.builds(
    Nerf,
    octaves=st.integers(1, 10),
    axes=st.integers(1, 3),
    pi=st.booleans(),
    include_input=st.booleans(),
    grouping=st.sampled_from(["frequency", "axis"]),
)


def test_features_by_hand(framework):
    # B v = (1/4, -7/8, 5/4) turns.
    matrix = framework.array([[1.0, 0.0], [0.5, -2.0], [3.0, 1.0]])
    point = framework.array([0.25, 0.5])
    half = math.sqrt(0.5)
    for first, want in ("cos", [0, half, 0, 1, half, 1]), ("sin", [1, half, 1, 0, half, 0]):
        got = FourierFeatures(dim=6, axes=2, first=first).encode(point, matrix=matrix)
        assert framework.is_own(got)
        assert got.dtype == framework.xp.float32
        np.testing.assert_allclose(numpy(got), want, rtol=0, atol=framework.exact)


def test_features_against_mpmath():
    spec = FourierFeatures(dim=64, axes=3, scale=30.0)
    matrix = spec.initial_weights()["matrix"]
    points = np.random.default_rng(1).random((4, 5, 3))
    got = spec.encode(points, matrix=matrix)
    assert got.shape == (4, 5, 64)
    for at in np.ndindex(4, 5):
        with mpmath.workdps(40):
            turns = [mpmath.fdot(map(float, row), map(float, points[at])) for row in matrix]
            want = [float(mpmath.cospi(2 * t)) for t in turns]
            want += [float(mpmath.sinpi(2 * t)) for t in turns]
        np.testing.assert_allclose(got[at], want, rtol=0, atol=6e-8)


def test_sams_prompt_encoder():
    import torch
    from transformers import SamPromptEncoderConfig
    from transformers.models.sam.modeling_sam import SamPositionalEmbedding

    class Config(SamPromptEncoderConfig):
        num_pos_feats, scale = 16, 8.0

    module = SamPositionalEmbedding(Config())
    points = torch.rand(2, 3, 4, 2)
    spec = FourierFeatures(dim=32, axes=2, first="sin")
    got = spec.encode(2 * points - 1, matrix=module.positional_embedding.T)
    # SAM multiplies in float32: at 20 turns or so its angles are off by 1e-5.
    torch.testing.assert_close(got, module(points), rtol=0, atol=5e-5)


def test_autocast_rounds_no_coordinate():
    import torch

    spec = FourierFeatures(dim=32, axes=2, scale=10.0)
    matrix = torch.asarray(spec.initial_weights()["matrix"])
    points = torch.rand(50, 2)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        got = spec.encode(points, matrix=matrix)
    assert torch.equal(got, spec.encode(points, matrix=matrix))


def test_the_matrix_is_the_same_for_the_same_seed():
    spec = FourierFeatures(dim=1024, axes=2, scale=10.0)
    one, same, other = (spec.initial_weights(seed)["matrix"] for seed in (4, 4, 5))
    assert one.shape == spec.weights["matrix"] == (512, 2)
    assert one.dtype == np.float32
    np.testing.assert_array_equal(one, same)
    assert np.abs(one - other).min() > 0
    assert 9.5 < one.std() < 10.5


def test_nerf_like_the_code(framework):
    # bmild/nerf, run_nerf_helpers.py, 4 frequencies, in float64.
    got = numpy(Nerf(octaves=4).encode(framework.array([0.1, 0.2, 0.3])))
    assert got.shape == (27,)
    first = [0.1, 0.2, 0.3, 0.0998334166, 0.1986693308, 0.2955202067]
    first += [0.9950041653, 0.9800665778, 0.9553364891]
    last = [0.7173560909, 0.9995736030, 0.6754631806, 0.6967067093, -0.0291995223, -0.7373937155]
    atol = 8 * 6e-8  # 8 x is as coarse as x in float32
    np.testing.assert_allclose(got[:9], first, rtol=0, atol=atol)
    np.testing.assert_allclose(got[21:], last, rtol=0, atol=atol)


def test_nerf_like_the_paper(framework):
    spec = Nerf(octaves=4, axes=1, pi=True, include_input=False, grouping="axis")
    want = [0.3090169944, 0.9510565163, 0.5877852523, 0.8090169944]
    want += [0.9510565163, 0.3090169944, 0.5877852523, -0.8090169944]
    got = numpy(spec.encode(framework.array([0.1])))
    np.testing.assert_allclose(got, want, rtol=0, atol=8 * math.pi * 6e-8)


@given(nerfs, st.floats(-30, 30, width=32), st.integers(0, 3))
def test_every_feature_of_nerf(spec, start, rows):
    points = start + np.arange(rows * spec.axes, dtype=np.float64).reshape(rows, spec.axes) / 7
    got = spec.encode(points, dtype=np.float64)
    assert got.shape == (rows, spec.dim)
    octaves = range(spec.octaves)
    if spec.grouping == "frequency":
        order = [(a, k, s) for k in octaves for s in (0, 1) for a in range(spec.axes)]
    else:
        order = [(a, k, s) for a in range(spec.axes) for k in octaves for s in (0, 1)]
    for point, features in zip(points, got, strict=True):
        want = list(point) if spec.include_input else []
        with mpmath.workdps(40):
            for axis, k, second in order:
                angle = 2**k * float(point[axis]) * (mpmath.pi if spec.pi else mpmath.mpf(1))
                want.append(float(mpmath.cos(angle) if second else mpmath.sin(angle)))
        np.testing.assert_allclose(features, want, rtol=0, atol=1e-13)


@pytest.mark.parametrize("pi", [False, True])
def test_traced(pi):
    (points,) = normal((4, 3))
    points = points.astype(np.float32)
    check_traced(Nerf(octaves=4, pi=pi).encode, points)
    check_any_length(Nerf(octaves=4, pi=pi).encode, points, axes=(0,))
    spec = FourierFeatures(dim=8, axes=3)
    matrix = spec.initial_weights()["matrix"]
    check_traced(lambda points, matrix: spec.encode(points, matrix=matrix), points, matrix)


@pytest.mark.parametrize("pi", [False, True])
def test_gradients(pi):
    (points,) = normal((2, 2))
    spec = FourierFeatures(dim=4, axes=2)

    def encode(points, matrix):
        return spec.encode(points, matrix=matrix, dtype=points.dtype)

    check_gradients(encode, points, spec.initial_weights()["matrix"])
    nerf = Nerf(octaves=3, axes=2, pi=pi)
    check_gradients(lambda points: nerf.encode(points, dtype=points.dtype), points)


def test_gradient_without_float64():
    import jax

    spec = Nerf(octaves=6, axes=1, include_input=False)
    got = jax.jacobian(spec.encode)(jax.numpy.asarray([0.3]))[:, 0]
    want = [f(2**k * 0.3) * 2**k for k in range(6) for f in (np.cos, lambda x: -np.sin(x))]
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-4)


def test_half_precision_comes_last():
    import torch

    points = torch.rand(5, 3)
    spec = Nerf(octaves=10)
    got = spec.encode(points, dtype=torch.bfloat16)
    assert torch.equal(got, spec.encode(points).bfloat16())
    with pytest.raises(TypeError, match="half precision"):
        spec.encode(points.bfloat16())


def test_errors():
    with pytest.raises(ValueError, match=r"`dim` must be even"):
        FourierFeatures(dim=5, axes=2)
    with pytest.raises(ValueError, match=r"`scale` must be greater than 0"):
        FourierFeatures(dim=4, axes=2, scale=0.0)
    with pytest.raises(ValueError, match=r"`first` must be one of 'cos', 'sin'"):
        FourierFeatures(dim=4, axes=2, first="tan")
    with pytest.raises(ValueError, match=r"`grouping` must be one of"):
        Nerf(octaves=4, grouping="code")
    with pytest.raises(TypeError, match=r"`pi` must be True or False"):
        Nerf(octaves=4, pi=3.14)
    with pytest.raises(ValueError, match=r"3 coordinates \(`axes`\) on the last axis.*\(4, 2\)"):
        Nerf(octaves=4).encode(np.zeros((4, 2)))
    with pytest.raises(ValueError, match=r"`coordinates` must be finite"):
        Nerf(octaves=4).encode(np.asarray([0, 0, np.nan]))
    spec = FourierFeatures(dim=4, axes=2)
    with pytest.raises(ValueError, match=r"`matrix` must have shape \(2, 2\).*got \(2, 3\)"):
        spec.encode(np.zeros(2), matrix=np.zeros((2, 3)))
    with pytest.raises(TypeError, match=r"`matrix` must be given"):
        spec.encode(np.zeros(2), matrix=None)
