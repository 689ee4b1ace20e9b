"""Frequencies against mpmath to 30 digits, and the float32 twin against PyTorch."""

import copy
import pickle

import mpmath
import numpy as np
import pytest
from hypothesis import given, strategies as st

from posenc import frequencies


def exact(frequency):
    return mpmath.mpf(float(frequency)) + mpmath.mpf(frequency.tail)


@given(
    st.integers(1, 300), st.floats(1e-3, 1e12, allow_subnormal=False) | st.sampled_from([1e4, 5e5])
)
def test_to_thirty_digits(dim, base):
    got = frequencies.geometric(dim, base)
    assert len(got) == (dim + 1) // 2
    with mpmath.workdps(60):
        for k, frequency in enumerate(got):
            want = mpmath.mpf(base) ** (-mpmath.mpf(2 * k) / dim)
            assert float(want) == frequency
            assert abs(exact(frequency) - want) <= want * mpmath.mpf(10) ** -30


@given(st.integers(4, 200), st.floats(2, 1e9))
def test_endpoint_spacing_ends_at_the_base(dim, base):
    got = frequencies.geometric(dim, base, spacing="endpoint")
    assert len(got) == dim // 2
    assert got[0] == 1
    np.testing.assert_allclose(got[-1], 1 / base, rtol=1e-15)
    ratios = np.divide(got[1:], got[:-1])
    np.testing.assert_allclose(ratios, ratios[0], rtol=1e-12)


def test_check_values():
    # Vaswani et al. 2017, section 3.5, d = 512; computed in 50 digits.
    got = frequencies.geometric(512)
    np.testing.assert_allclose([got[1], got[255]], [0.964661619911, 1.03663293e-4], rtol=1e-8)
    # tensor2tensor's timescales against the paper's, d = 8.
    got = frequencies.geometric(8, spacing="endpoint")
    np.testing.assert_allclose(got, [1, 0.0464159, 0.00215443, 1e-4], rtol=1e-5)


def test_wavelengths():
    got = frequencies.wavelengths((*frequencies.geometric(512), 0.0))
    np.testing.assert_allclose(got[0], 2 * np.pi)
    np.testing.assert_allclose(got[255], 60611.4772, rtol=1e-8)
    assert got[256] == np.inf


def test_a_frequency_is_a_float_that_travels():
    frequency = frequencies.geometric(6)[1]
    assert isinstance(frequency, float)
    assert frequency.tail != 0
    for twin in (pickle.loads(pickle.dumps(frequency)), copy.deepcopy(frequency)):
        assert (twin, twin.tail) == (frequency, frequency.tail)
    assert type(frequency / 2) is float


@pytest.mark.parametrize("base", [1e4, 5e5, 1e6, 150_000.0])
@pytest.mark.parametrize("dim", [32, 64, 96, 128])
def test_float32_is_transformers_own(dim, base):
    import torch

    # transformers 5.24.0, modeling_llama.py, compute_default_rope_parameters.
    want = 1.0 / (base ** (torch.arange(0, dim, 2, dtype=torch.float) / dim))
    got = frequencies.geometric_float32(dim, base, torch_rounding=True)
    np.testing.assert_array_equal(np.asarray(got, np.float32), want.numpy())
    nearest = np.asarray(frequencies.geometric_float32(dim, base), np.float32)
    np.testing.assert_array_max_ulp(nearest, want.numpy(), maxulp=1)


def test_errors():
    with pytest.raises(ValueError, match="`dim` must be at least 1; got dim=0"):
        frequencies.geometric(0)
    with pytest.raises(TypeError, match="`dim` must be an integer; got True"):
        frequencies.geometric(True)
    with pytest.raises(ValueError, match="`base` must be greater than 0; got base=-1"):
        frequencies.geometric(4, -1)
    with pytest.raises(ValueError, match="`spacing` must be one of 'paper', 'endpoint'"):
        frequencies.geometric(4, spacing="log")
