"""The fused turning equals the formula bit for bit, whatever the shape, the strides, the dtype."""

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, strategies as st

from posenc import kernels, rotary
from posenc.kernels import threads as shared

LAYOUTS = ("half", "interleaved")
DTYPES = ("float16", "float32", "float64", "bfloat16")


def numbers(shape, dtype, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype_of(dtype))


def dtype_of(name):
    return ml_dtypes.bfloat16 if name == "bfloat16" else np.dtype(name)


def angles(shape, dtype="float32", seed=1):
    angle = np.random.default_rng(seed).uniform(0, 9, shape)
    work = "float64" if dtype == "float64" else "float32"
    return np.cos(angle).astype(work), np.sin(angle).astype(work)


def formula(x, cos, sin, layout):
    """In float32 as PyTorch computes it: NumPy knows no bfloat16."""
    wide = x.astype(np.float64 if x.dtype == np.float64 else np.float32)
    return rotary.turned(wide, cos, sin, layout=layout).astype(x.dtype)


@st.composite
def inputs(draw):
    """Any axes, table broadcast along any of them, partial turning, odd numbers of everything."""
    axes = draw(st.lists(st.integers(0, 5), min_size=1, max_size=4))
    half, rest = draw(st.integers(1, 40)), draw(st.integers(0, 5))
    if draw(st.booleans()):
        tokens = axes[-1:]
    else:
        tokens = [n if draw(st.booleans()) else 1 for n in axes]
    return (*axes, 2 * half + rest), (*tokens, half)


class TestEqualsFormula:
    @pytest.mark.parametrize("layout", LAYOUTS)
    @pytest.mark.parametrize("dtype", DTYPES)
    @given(shapes=inputs())
    def test_any_shape(self, dtype, layout, shapes):
        shape, table = shapes
        x, (cos, sin) = numbers(shape, dtype), angles(table, dtype)
        before = x.copy()
        got = kernels.rotate(x, cos, sin, layout=layout)
        assert got.dtype == x.dtype
        np.testing.assert_array_equal(got, formula(x, cos, sin, layout))
        np.testing.assert_array_equal(x, before)
        out = np.empty_like(x)
        assert kernels.rotate(x, cos, sin, layout=layout, out=out) is out
        np.testing.assert_array_equal(out, got)
        assert kernels.rotate(x, cos, sin, layout=layout, out=x) is x
        np.testing.assert_array_equal(x, got)

    @pytest.mark.parametrize("threads", [1, 2])
    @pytest.mark.parametrize("tokens", [3071, 3072, 3073, 4095, 4096, 4097])
    def test_around_a_tile(self, tokens, threads, monkeypatch):
        """4,096 positions at most, and for two threads here a quarter of 3 x 4,096."""
        monkeypatch.setattr(shared, "count", lambda: threads)
        x, (cos, sin) = numbers((2, 3, tokens, 10), "float32"), angles((2, 1, tokens, 4))
        got = kernels.rotate(x, cos, sin, layout="half")
        np.testing.assert_array_equal(got, formula(x, cos, sin, "half"))

    @pytest.mark.parametrize("layout", LAYOUTS)
    @pytest.mark.parametrize("order", [(0, 2, 1, 3), (1, 0, 2, 3), (2, 1, 0, 3)])
    def test_strides(self, order, layout):
        """Axes in another order in memory, and rows cut out of wider ones, as of fused QKV."""
        wide = numbers((4, 5, 6, 24), "float32").transpose(order)
        x, out = wide[..., 3:19], np.zeros_like(wide)[..., 5:21]
        cos, sin = angles((1, x.shape[1], 1, 7))
        kernels.rotate(x, cos, sin, layout=layout, out=out)
        np.testing.assert_array_equal(out, formula(x, cos, sin, layout))
        want, before = formula(x, cos, sin, layout), wide.copy()
        kernels.rotate(x, cos, sin, layout=layout, out=x)
        np.testing.assert_array_equal(x, want)
        np.testing.assert_array_equal(wide[..., :3], before[..., :3])
        np.testing.assert_array_equal(wide[..., 19:], before[..., 19:])

    @pytest.mark.parametrize("threads", [1, 2, 3, 7])
    @pytest.mark.parametrize("dtype", DTYPES)
    def test_any_number_of_threads(self, dtype, threads, monkeypatch):
        """Heads one after another in memory, and side by side."""
        monkeypatch.setattr(shared, "count", lambda: threads)
        x, (cos, sin) = numbers((3, 5, 700, 64), dtype), angles((3, 1, 700, 32), dtype)
        want = formula(x, cos, sin, "half")
        np.testing.assert_array_equal(kernels.rotate(x, cos, sin, layout="half"), want)
        swapped = np.ascontiguousarray(x.swapaxes(1, 2)).swapaxes(1, 2)
        np.testing.assert_array_equal(kernels.rotate(swapped, cos, sin, layout="half"), want)

    @pytest.mark.parametrize("layout", LAYOUTS)
    @pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
    def test_every_half_precision_number(self, dtype, layout):
        """Infinities, NaN, subnormals, both zeros: rounded as PyTorch rounds."""
        import torch

        x = np.arange(2**16, dtype=np.uint16).view(dtype_of(dtype)).reshape(-1, 2)
        cos, sin = angles((len(x), 1))
        with np.errstate(invalid="ignore"):
            got = kernels.rotate(x, cos, sin, layout=layout).view(np.uint16)
        tensor = torch.from_numpy(x.view(np.int16)).view(getattr(torch, dtype))
        table = (torch.from_numpy(part) for part in (cos, sin))
        want = rotary.turned(tensor, *table, layout=layout)
        nan = want.isnan().numpy()
        want = want.view(torch.int16).numpy().view(np.uint16)
        np.testing.assert_array_equal(got[~nan], want[~nan])
        assert np.isnan(got.view(dtype_of(dtype)).astype(np.float32)[nan]).all()


class TestPublicFunction:
    def test_large_numpy_arrays_take_it_by_themselves(self, monkeypatch):
        calls = []
        monkeypatch.setattr(
            rotary.kernels, "rotate", lambda x, *rest, **options: calls.append(x) or x
        )
        large, small = numbers((600, 512), "float32"), numbers((60, 512), "float32")
        for x in large, small, large[:, ::-1], large.astype(np.longdouble):
            rotary.rotate(x, *angles((len(x), 256)), layout="half")
        assert len(calls) == 1
        assert calls[0] is large

    def test_without_numba_the_formula_does_it(self, monkeypatch):
        monkeypatch.setattr(kernels.arrays, "available", lambda: False)
        x, (cos, sin) = numbers((600, 512), "float32"), angles((600, 256))
        got = rotary.rotate(x, cos, sin, layout="half")
        np.testing.assert_array_equal(got, formula(x, cos, sin, "half"))

    def test_large_is_bit_for_bit_what_small_is(self):
        """A row must not depend on how many others there are."""
        x, (cos, sin) = numbers((600, 512), "float32"), angles((600, 256))
        whole = rotary.rotate(x, cos, sin, layout="half")
        part = rotary.rotate(x[7:9], cos[7:9], sin[7:9], layout="half")
        np.testing.assert_array_equal(whole[7:9], part)


class TestRefused:
    x = numbers((4, 6), "float32")

    @pytest.mark.parametrize(
        ("change", "error", "message"),
        [
            ({"layout": "pairs"}, ValueError, "`layout` must be one of"),
            ({"x": x.astype(int)}, TypeError, "floating-point"),
            ({"x": x.astype(np.longdouble)}, TypeError, "float32, float64, float16 or bfloat16"),
            ({"x": x[:, ::-1]}, ValueError, "side by side in memory"),
            ({"cos": np.ones((4, 5))}, ValueError, "same shape"),
            ({"out": np.empty((4, 7), np.float32)}, ValueError, "`out` must have the shape"),
            ({"out": np.empty((4, 6))}, ValueError, "`out` must have the shape and dtype"),
            ({"out": x.T.copy().T}, ValueError, "side by side in memory"),
            ({"out": np.broadcast_to(np.float32(0), (4, 6))}, ValueError, "side by side|writeable"),
        ],
    )
    def test_what_does_not_fit(self, change, error, message):
        cos, sin = angles((4, 3))
        given = {"x": self.x, "cos": cos, "sin": sin, "layout": "half"} | change
        x, cos, sin = (given.pop(name) for name in ("x", "cos", "sin"))
        with pytest.raises(error, match=message):
            kernels.rotate(x, cos, sin, **given)

    def test_overlapping_memory(self):
        memory = np.zeros((5, 6), np.float32)
        with pytest.raises(ValueError, match="share no memory"):
            kernels.rotate(memory[1:], *angles((4, 3)), layout="half", out=memory[:-1])
