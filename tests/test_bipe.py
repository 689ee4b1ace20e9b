"""Two levels of position: segments, the encodings of each level, and the released code's ids."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from frameworks import numpy
from posenc.alibi import Alibi
from posenc.bipe import Bipe, segments
from posenc.learned import Learned
from posenc.rotary import Rotary
from posenc.sinusoidal import Sinusoidal
from tracing import check_any_length, check_traced, normal

rows = st.lists(st.booleans(), min_size=1, max_size=12)


def test_segments(framework):
    # "A b. c. d" with the full stops at 2 and 4, and a row that begins with one.
    ends = [[0, 0, 1, 0, 1, 0], [1, 0, 0, 0, 0, 1]]
    want = [[0, 0, 0, 1, 1, 2], [0, 1, 1, 1, 1, 1]]
    for values in ends, np.asarray(ends, bool):
        got = segments(framework.array(values))
        assert framework.is_own(got)
        assert numpy(got).tolist() == want


@given(rows)
def test_both_levels_are_get_bilevel_ids(ends):
    # zhenyuhe00/BiPE counts on along the row: a token after an end opens the next segment.
    number, within, inter, intra = 0, 0, [], []
    for end in ends:
        inter.append(number)
        intra.append(min(within, 4))
        number, within = (number + 1, 0) if end else (number, within + 1)
    got = segments(np.asarray(ends))
    assert got.tolist() == inter
    spec = Bipe(intra=Sinusoidal(dim=4), inter=Rotary(dim=4), intra_length=5)
    want = Sinusoidal(dim=4).encode(np.asarray(intra))
    np.testing.assert_array_equal(spec.encode(got), want)


def test_learned_within_rotary_between(framework):
    spec = Bipe(intra=Learned(length=3, dim=4), inter=Rotary(dim=4), intra_length=3)
    assert spec.weights == {"table": (3, 4)}
    table = spec.initial_weights()["table"]
    np.testing.assert_array_equal(table, Learned(length=3, dim=4).initial_weights()["table"])
    where = np.asarray([0, 0, 0, 0, 1, 1])
    got = spec.encode(framework.array(where), table=framework.array(table))
    assert framework.is_own(got)
    np.testing.assert_allclose(numpy(got), table[[0, 1, 2, 2, 0, 1]], rtol=0, atol=0)
    x = framework.array(np.ones((6, 4)), "float32")
    turned = numpy(spec.rotate(x, framework.array(where)))
    want = Rotary(dim=4).rotate(np.ones((6, 4), np.float32), where)
    np.testing.assert_allclose(turned, want, rtol=0, atol=3e-7)


def test_alibi_between():
    spec = Bipe(intra=Sinusoidal(dim=4), inter=Alibi(heads=12), bias_factor=96.0)
    where = np.asarray([0, 0, 1, 2])
    got = spec.bias(where[3:], where)
    assert got.dtype == np.float32
    # The released slopes: ALiBi's times 96, per segment.
    slopes = np.asarray(Alibi(heads=12).slopes) * 96
    want = -slopes[:, None, None] * np.asarray([[2, 2, 1, 0]])
    np.testing.assert_allclose(got, want, rtol=1e-7)
    rows = np.stack([where, where])
    assert spec.bias(rows, rows).shape == (2, 12, 4, 4)
    assert spec.weights == {}
    assert spec.initial_weights() == {}


def test_traced():
    ends = np.asarray([0, 0, 1, 0, 1, 0])
    spec = Bipe(intra=Learned(length=8, dim=4), inter=Rotary(dim=4))
    (x,), table = normal((6, 4)), spec.initial_weights()["table"]

    def both(ends, table, x):
        where = segments(ends)
        return spec.rotate(x + spec.encode(where, table=table), where)

    arrays = ends, table, x.astype(np.float32)
    check_traced(both, *arrays)
    check_any_length(both, *arrays, axes=(0, None, 0))


def test_errors():
    spec = Bipe(intra=Sinusoidal(dim=4), inter=Rotary(dim=4))
    where = np.asarray([0, 0, 1])
    with pytest.raises(TypeError, match=r"`intra` must be an absolute encoding.*got Rotary"):
        Bipe(intra=Rotary(dim=4), inter=Rotary(dim=4))
    with pytest.raises(TypeError, match=r"`inter` must be a rotary encoding or a bias.*Sinusoidal"):
        Bipe(intra=Sinusoidal(dim=4), inter=Sinusoidal(dim=4))
    with pytest.raises(ValueError, match=r"`intra_length` must be at least 1"):
        Bipe(intra=Sinusoidal(dim=4), inter=Rotary(dim=4), intra_length=0)
    with pytest.raises(ValueError, match=r"`bias_factor` must be greater than 0"):
        Bipe(intra=Sinusoidal(dim=4), inter=Alibi(heads=4), bias_factor=0.0)
    with pytest.raises(TypeError, match=r"an encoding with `bias` for this; got Rotary"):
        spec.bias(where, where)
    with pytest.raises(TypeError, match=r"`segments` must be integers"):
        spec.rotate(np.ones((3, 4)), where * 1.0)
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'table'"):
        spec.encode(where, table=np.ones((3, 4)))
    with pytest.raises(TypeError, match=r"`ends` must hold booleans or integers; got float64"):
        segments(np.zeros(3))
