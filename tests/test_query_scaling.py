"""Query factors against mpmath and transformers, at every threshold."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, strategies as st

from frameworks import numpy
from posenc.query_scaling import LogN, Temperature
from tracing import check_any_length, check_traced

far = st.integers(0, 2**31 - 1)


def test_log_n(framework):
    # bojone/rerope, rerope_patch.py: ln(8192) / ln(4096) = 13/12.
    got = LogN(original_length=4096).scale(framework.array([0, 4094, 4095, 4096, 8191]))
    assert framework.is_own(got)
    assert got.dtype == framework.xp.float32
    want = [1, 1, 1, math.log(4097) / math.log(4096), 13 / 12]
    np.testing.assert_allclose(numpy(got), want, rtol=0, atol=1.2e-7)


def test_llama_4(framework):
    positions = framework.array([8190, 8191, 16383, 65535, 999999])
    want = [1, 1.069314718056, 1.109861228867, 1.219722457734, 1.481218435537]
    got = Temperature(length=8192).scale(positions)
    assert framework.is_own(got)
    np.testing.assert_allclose(numpy(got), want, rtol=0, atol=1.2e-7)
    ministral = numpy(Temperature(length=8192, offset=0).scale(positions))
    np.testing.assert_allclose(ministral[1], 1, rtol=0, atol=0)
    np.testing.assert_allclose(ministral[2], want[1], rtol=0, atol=1.2e-7)


def test_transformers_ministral_3():
    import torch
    from transformers.models.ministral3.modeling_ministral3 import get_llama_4_attn_scale

    positions = torch.arange(0, 70_000, 7)[None]
    want = get_llama_4_attn_scale(positions, 0.1, 16_384)[0, 0, :, 0]
    got = Temperature(length=16_384, offset=0).scale(positions)[0]
    torch.testing.assert_close(got, want, rtol=0, atol=1.2e-7)


@given(far, st.integers(2, 10**6))
def test_log_n_against_mpmath(position, length):
    got = LogN(original_length=length).scale(np.asarray([position]), dtype=np.float64)[0]
    want = max(mpmath.mpf(1), mpmath.log(position + 1) / mpmath.log(length))
    assert abs(got - float(want)) < 1e-13


@given(far, st.integers(1, 10**6), st.sampled_from([0, 1]))
def test_temperature_steps_exactly(position, length, offset):
    # float32 counts: near 2**24 and beyond it steps too early or too late.
    spec = Temperature(length=length, strength=1.0, offset=offset)
    got = spec.scale(np.asarray([position], np.int32), dtype=np.float64)[0]
    want = 1 + math.log(1 + (position + offset) // length)
    assert abs(got - want) < 1e-13


@pytest.mark.parametrize("spec", [LogN(original_length=16), Temperature(length=16, offset=0)])
def test_a_factor_never_falls(spec):
    factors = spec.scale(np.arange(500))
    assert factors[0] == 1
    assert (np.diff(factors) >= 0).all()
    assert factors[-1] > 1


@pytest.mark.parametrize("spec", [LogN(original_length=16), Temperature(length=16)])
def test_shapes_and_padding(spec):
    got = spec.scale(np.asarray([[-1, -7, 0], [40, 41, 42]]))
    assert got.shape == (2, 3)
    assert got[0].tolist() == [1, 1, 1]
    np.testing.assert_array_equal(spec.scale(np.asarray([42])), got[1, 2:])


@pytest.mark.parametrize("spec", [LogN(original_length=16), Temperature(length=16)])
def test_traced(spec):
    check_traced(spec.scale, np.arange(0, 100, 7), atol=2.4e-7)
    check_any_length(spec.scale, np.arange(0, 100, 7), axes=(0,))


def test_half_precision_comes_last():
    import torch

    positions, spec = torch.arange(8000, 8400), Temperature(length=8192)
    got = spec.scale(positions, dtype=torch.bfloat16)
    assert torch.equal(got, spec.scale(positions).bfloat16())
    assert (got[:191] == 1).all()
    assert (got[191:] > 1).all()


def test_errors():
    with pytest.raises(ValueError, match=r"`original_length` must be at least 2"):
        LogN(original_length=1)
    with pytest.raises(ValueError, match=r"`length` must be at least 1"):
        Temperature(length=0)
    with pytest.raises(ValueError, match=r"`strength` must be at least 0"):
        Temperature(length=8, strength=-0.1)
    with pytest.raises(ValueError, match=r"`offset` must be one of 0, 1"):
        Temperature(length=8, offset=2)
    with pytest.raises(TypeError, match=r"`query_positions` must be integers.*float64"):
        LogN(original_length=8).scale(np.arange(3.0))
