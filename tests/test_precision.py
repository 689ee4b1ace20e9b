"""Rounding to narrow formats against the libraries that have them."""

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, strategies as st

from posenc import precision

NUMPY = {
    "float32": np.float32,
    "float16": np.float16,
    "bfloat16": ml_dtypes.bfloat16,
    "float8_e4m3fn": ml_dtypes.float8_e4m3fn,
    "float8_e5m2": ml_dtypes.float8_e5m2,
}


@pytest.mark.parametrize("name", precision.FORMATS)
@given(st.lists(st.floats(-400, 400, width=32), min_size=1, max_size=50))
def test_as_the_libraries_round(name, values):
    want = np.asarray(values, np.float32).astype(NUMPY[name]).astype(np.float64)
    np.testing.assert_array_equal(precision.rounded(values, name), want)


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_every_number_of_a_format_stays(name):
    bits = np.arange(2**16, dtype=np.uint16)
    exponents = 0x7C00 if name == "float16" else 0x7F80
    held = bits[(bits & exponents) != exponents].view(NUMPY[name]).astype(np.float64)
    np.testing.assert_array_equal(precision.rounded(held, name), held)


def test_too_small_and_too_large():
    got = precision.rounded([2.0**-25, 2.0**-24 * 1.5, 65_519.0, 65_520.0, -1e6], "float16")
    np.testing.assert_array_equal(got, [0, 2.0**-23, 65_504, np.inf, -np.inf])
    with pytest.raises(ValueError, match=r"`name` must be one of 'float32', .*got name='half'"):
        precision.rounded(1.0, "half")
