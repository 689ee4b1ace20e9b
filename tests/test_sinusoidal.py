"""Sinusoidal vectors against mpmath, the papers' numbers, and their own laws."""

import mpmath
import numpy as np
import pytest
from hypothesis import given, strategies as st

from frameworks import numpy
from posenc import Sinusoidal
from posenc.sinusoidal import encode

# Computed from the formula of Vaswani et al. 2017, section 3.5, in 50 digits, by truth() below.
PAPER_8_AT_10 = [
    *(-0.544021110889, -0.839071529076, 0.841470984808, 0.540302305868),
    *(0.099833416647, 0.995004165278, 0.009999833334, 0.999950000417),
]
# tensor2tensor's get_timing_signal_1d (commit bafdc1b6), position 10.
TENSOR2TENSOR_8_AT_10 = [
    *(-0.544021110889, 0.447670834719, 0.021542680272, 0.000999999833),
    *(-0.839071529076, 0.894198425263, 0.999767929535, 0.999999500000),
]
TENSOR2TENSOR_7_AT_10 = [
    *(-0.544021110889, 0.099833416647, 0.000999999833),
    *(-0.839071529076, 0.995004165278, 0.9999995, 0),
]

specs = st.builds(
    Sinusoidal,
    dim=st.integers(1, 20).map(lambda half: 2 * half),
    base=st.sampled_from([100.0, 10_000.0, 500_000.0]),
    layout=st.sampled_from(["interleaved", "half"]),
    spacing=st.sampled_from(["paper", "endpoint"]),
    first=st.sampled_from(["sin", "cos"]),
    offset=st.integers(0, 3),
)
near = st.integers(0, 10_000)


def truth(dim, base, position):
    """The paper's formula, feature by feature, in 50 digits."""
    with mpmath.workdps(50):
        angles = [position / mpmath.mpf(base) ** (mpmath.mpf(k - k % 2) / dim) for k in range(dim)]
        return [float(mpmath.cos(a) if k % 2 else mpmath.sin(a)) for k, a in enumerate(angles)]


def test_paper(framework):
    got = Sinusoidal(dim=8).encode(framework.array([10, 0]))
    assert framework.is_own(got)
    assert got.dtype == framework.xp.float32
    np.testing.assert_allclose(
        numpy(got), [PAPER_8_AT_10, [0, 1] * 4], rtol=0, atol=framework.exact
    )


@pytest.mark.parametrize("dim", [2, 6, 64, 256])
@pytest.mark.parametrize("base", [1e4, 5e5, 1e6])
def test_far_positions(framework, dim, base):
    positions = [0, 1, 2**10 - 1, 131_072, 2**24 + 1, 2**30, 2**31 - 2, 2**31 - 1]
    got = Sinusoidal(dim=dim, base=base).encode(framework.array(positions))
    want = [truth(dim, base, position) for position in positions]
    np.testing.assert_allclose(numpy(got), want, rtol=0, atol=framework.exact)


def test_tensor2tensor(framework):
    like = {"layout": "half", "spacing": "endpoint"}
    ten = framework.array([10])
    for dim, want in (8, TENSOR2TENSOR_8_AT_10), (7, TENSOR2TENSOR_7_AT_10):
        got = Sinusoidal(dim=dim, odd="pad", **like).encode(ten)
        np.testing.assert_allclose(numpy(got), [want], rtol=0, atol=framework.exact)


def test_odd_width_drops_the_last_cosine(framework):
    got = Sinusoidal(dim=3, odd="trim").encode(framework.array([1]))
    np.testing.assert_allclose(numpy(got), [[0.841471, 0.540302, 0.002154]], atol=5e-7)
    # Marian: ceil(5 / 2) sines, then floor(5 / 2) cosines.
    got = numpy(Sinusoidal(dim=5, odd="trim", layout="half").encode(framework.array([1])))
    assert got.shape == (1, 5)
    np.testing.assert_allclose(got[0, [0, 3]], [np.sin(1), np.cos(1)], atol=1e-7)


@pytest.mark.parametrize("dim", [2, 3])
def test_two_features_with_endpoint_spacing(dim):
    # fairseq divides by zero here.
    got = Sinusoidal(dim=dim, spacing="endpoint", odd="pad").encode(np.asarray([1]))
    np.testing.assert_allclose(got[0, :2], [np.sin(1), np.cos(1)], atol=1e-7)


def test_offset_is_fairseqs_padding_shift(framework):
    got = Sinusoidal(dim=8, layout="half", spacing="endpoint", offset=2).encode(
        framework.array([0])
    )
    want = [0.909297426826, 0.092698500779, 0.004308856047, 0.000199999999]
    np.testing.assert_allclose(numpy(got)[0, :4], want, rtol=0, atol=framework.exact)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int32"])
def test_offset_does_not_wrap_narrow_integers(framework, dtype):
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    # What an int32 can hold with the offset is all that stays within 2**31.
    ends = [low + 3, high - 2] if dtype == "int32" else [low, high]
    for offset in 2, -2:
        got = Sinusoidal(dim=4, offset=offset).encode(framework.array(ends, dtype))
        want = [truth(4, 10_000.0, end + offset) for end in ends]
        np.testing.assert_allclose(numpy(got), want, rtol=0, atol=framework.exact)


def test_offset_may_not_lead_out_of_range(framework):
    far = framework.array([2**31 - 1], "int32")
    with pytest.raises(
        ValueError, match=r"within -2147483647 \.\. 2147483645.*offset=2.*2147483647"
    ):
        Sinusoidal(dim=4, offset=2).encode(far)
    with pytest.raises(ValueError, match=r"within -2147483645 \.\. 2147483647.*offset=-2"):
        Sinusoidal(dim=4, offset=-2).encode(-far)


def test_where_it_cannot_be_seen_that_becomes_nan():
    import jax

    positions = jax.numpy.asarray([2**31 - 1, 5, 2**31 - 3])
    got = numpy(jax.jit(Sinusoidal(dim=4, offset=2).encode)(positions))
    assert np.isnan(got).all(axis=-1).tolist() == [True, False, False]


@given(specs, near)
def test_length_is_constant(spec, position):
    vector = spec.encode(np.asarray(position), dtype=np.float64)
    np.testing.assert_allclose(np.sum(vector**2), spec.dim / 2)


@given(specs, near, st.integers(-5_000, 5_000))
def test_shift_is_a_matrix(spec, position, steps):
    matrix = spec.shift(np.asarray(steps), dtype=np.float64)
    moved = matrix @ spec.encode(np.asarray(position), dtype=np.float64)
    want = spec.encode(np.asarray(position + steps), dtype=np.float64)
    np.testing.assert_allclose(moved, want, rtol=0, atol=1e-12)
    np.testing.assert_allclose(matrix @ matrix.T, np.eye(spec.dim), rtol=0, atol=1e-12)


@given(specs, near, st.integers(-5_000, 5_000))
def test_similarity_depends_on_the_gap(spec, position, gap):
    one, other = spec.encode(np.asarray([position, position + gap]), dtype=np.float64)
    got = spec.similarity(np.asarray(gap), dtype=np.float64)
    np.testing.assert_allclose(got, one @ other, rtol=0, atol=1e-10)


@given(specs)
def test_layouts_are_permutations(spec):
    import dataclasses

    half = dataclasses.replace(spec, layout="half").encode(np.arange(5))
    interleaved = dataclasses.replace(spec, layout="interleaved").encode(np.arange(5))
    np.testing.assert_array_equal(
        half, np.concatenate([interleaved[:, 0::2], interleaved[:, 1::2]], 1)
    )


def test_positions_of_any_shape(framework):
    spec = Sinusoidal(dim=6)
    got = spec.encode(framework.array([[5, 0], [2, 9], [9, 9]]))
    assert got.shape == (3, 2, 6)
    one = spec.encode(framework.array(9))
    np.testing.assert_array_equal(numpy(got)[2, 1], numpy(one))
    assert spec.encode(framework.array(np.zeros((0, 2), dtype=int))).shape == (0, 2, 6)


def test_errors():
    with pytest.raises(ValueError, match=r"`dim` must be even.*dim=7.*6 and 8"):
        Sinusoidal(dim=7)
    with pytest.raises(TypeError, match=r"`dim` must be an integer"):
        Sinusoidal(dim=8.0)
    with pytest.raises(ValueError, match=r"`base` must be finite"):
        Sinusoidal(dim=8, base=float("nan"))
    with pytest.raises(ValueError, match=r"`layout` must be one of 'interleaved', 'half'"):
        Sinusoidal(dim=8, layout="neox")
    with pytest.raises(TypeError, match=r"got list"):
        Sinusoidal(dim=8).encode([0, 1])
    with pytest.raises(ValueError, match=r"2\*\*31.*2147483648"):
        Sinusoidal(dim=8).encode(np.asarray([2**31]))
    with pytest.raises(ValueError, match=r"sine without its cosine"):
        Sinusoidal(dim=7, odd="trim").shift(np.asarray(1))
    with pytest.raises(ValueError, match=r"`offset` must lie within 2\*\*31 of 0.*2147483648"):
        Sinusoidal(dim=8, offset=2**31)
    zero, turning = np.asarray([0]), (1.0, 0.5)
    with pytest.raises(ValueError, match=r"`layout` must be one of 'interleaved', 'half'"):
        encode(zero, turning, width=4, layout="neox")
    with pytest.raises(ValueError, match=r"`first` must be one of 'sin', 'cos'"):
        encode(zero, turning, width=4, layout="half", first="tan")
    for width in 2, 6:
        with pytest.raises(ValueError, match=r"`width` must be one of 3, 4, 5"):
            encode(zero, turning, width=width, layout="half")


def test_half_precision_comes_last():
    import torch

    positions = torch.arange(300)
    got = Sinusoidal(dim=8).encode(positions, dtype=torch.bfloat16)
    want = Sinusoidal(dim=8).encode(positions).to(torch.bfloat16)
    assert torch.equal(got, want)
    assert not torch.equal(got[256], got[257])
    with pytest.raises(TypeError, match="half precision"):
        Sinusoidal(dim=8).encode(positions.to(torch.bfloat16))
