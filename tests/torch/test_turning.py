"""Tensors turned by the fused loop, the operator or the formula: always the formula's answer."""

import numpy as np
import pytest
import torch
from hypothesis import given, strategies as st

from posenc import kernels, rotary
from posenc.torch import loops, rotate, rotate_

LAYOUTS = ("half", "interleaved")
DTYPES = (torch.bfloat16, torch.float16, torch.float32, torch.float64)


def numbers(*shape, dtype=torch.float32, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def table(*shape, dtype=torch.float32, seed=1):
    angle = torch.rand(shape, generator=torch.Generator().manual_seed(seed)) * 9
    wide = torch.float64 if dtype == torch.float64 else torch.float32
    return angle.cos().to(wide), angle.sin().to(wide)


def same(got, want):
    assert got.dtype == want.dtype
    torch.testing.assert_close(got, want, rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
class TestEqualsFormula:
    @given(
        axes=st.lists(st.integers(0, 4), min_size=1, max_size=4),
        half=st.integers(1, 20),
        rest=st.integers(0, 3),
        data=st.data(),
    )
    def test_any_shape(self, layout, dtype, axes, half, rest, data):
        kept = data.draw(st.lists(st.booleans(), min_size=len(axes), max_size=len(axes)))
        tokens = [n if keep else 1 for n, keep in zip(axes, kept, strict=True)]
        x = numbers(*axes, 2 * half + rest, dtype=dtype)
        cos, sin = table(*tokens, half, dtype=dtype)
        before, want = x.clone(), rotary.turned(x, cos, sin, layout=layout)
        same(rotate(x, cos, sin, layout=layout), want)
        same(x, before)
        out = torch.empty_like(x)
        assert rotate(x, cos, sin, layout=layout, out=out) is out
        same(out, want)
        assert rotate_(x, cos, sin, layout=layout) is x
        same(x, want)

    def test_strides(self, layout, dtype):
        """Heads and tokens swapped in memory, rows cut out of wider ones, a table expanded."""
        wide = numbers(2, 7, 3, 20, dtype=dtype).transpose(1, 2)
        x = wide[..., 1:17]
        cos, sin = table(7, 8, dtype=dtype)
        want = rotary.turned(x, cos, sin, layout=layout)
        same(rotate(x, cos, sin, layout=layout), want)
        expanded = cos.expand(2, 3, 7, 8), sin.expand(2, 3, 7, 8)
        same(rotate(x, *expanded, layout=layout), want)
        same(rotate(x, cos.double(), sin.double(), layout=layout), want)
        strided = x.mT.contiguous().mT  # features far apart: not for the loop
        same(rotate(strided, cos, sin, layout=layout), want)
        same(rotate_(strided, cos, sin, layout=layout), want)
        before = wide.clone()
        rotate_(x, cos, sin, layout=layout)
        same(x, want)
        same(wide[..., :1], before[..., :1])
        same(wide[..., 17:], before[..., 17:])

    def test_without_numba(self, layout, dtype, monkeypatch):
        monkeypatch.setattr(loops, "kinds", dict)
        x, (cos, sin) = numbers(2, 3, 5, 10, dtype=dtype), table(5, 4, dtype=dtype)
        want = rotary.turned(x, cos, sin, layout=layout)
        same(rotate(x, cos, sin, layout=layout), want)
        same(rotate(x, cos, sin, layout=layout, out=torch.empty_like(x)), want)
        same(rotate_(x.clone(), cos, sin, layout=layout), want)

    def test_gradient_is_turned_back(self, layout, dtype):
        x = numbers(2, 3, 5, 10, dtype=dtype).requires_grad_()
        cos, sin = table(5, 4, dtype=dtype)
        flow = numbers(2, 3, 5, 10, dtype=dtype, seed=3)
        rotate(x, cos, sin, layout=layout).backward(flow)
        same(x.grad, rotary.turned(flow, cos, -sin, layout=layout))
        x.grad = None
        rotate_(x * 1, cos, sin, layout=layout).backward(flow)
        same(x.grad, rotary.turned(flow, cos, -sin, layout=layout))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("turn", ["rotate", "rotate_"])
def test_first_and_second_derivative(turn, layout):
    cos, sin = table(5, 3, dtype=torch.float64)
    x = numbers(2, 5, 8, dtype=torch.float64).requires_grad_()

    def turned(x):
        if turn == "rotate":
            return rotate(x, cos, sin, layout=layout) ** 2
        return rotate_(x * 1, cos, sin, layout=layout) ** 2

    assert torch.autograd.gradcheck(turned, x)
    assert torch.autograd.gradgradcheck(turned, x)


def test_gradient_of_a_sum():
    """Its gradient is expanded: all its numbers are one number in memory."""
    x, (cos, sin) = numbers(3, 5, 8).requires_grad_(), table(5, 4)
    rotate(x, cos, sin, layout="half").sum().backward()
    same(x.grad, rotary.turned(torch.ones(3, 5, 8), cos, -sin, layout="half"))


def test_trained_angles_get_gradients():
    angle = torch.rand(5, 4, dtype=torch.float64, requires_grad=True)
    x = numbers(2, 5, 8, dtype=torch.float64)

    def turned(angle):
        return rotate(x, angle.cos(), angle.sin(), layout="interleaved")

    assert torch.autograd.gradcheck(turned, angle)
    with pytest.raises(NotImplementedError, match="no gradient for cos"):
        torch.ops.posenc.turn(x, angle.cos(), angle.sin(), True)


class TestMemory:
    def test_writing_is_seen_by_autograd(self):
        """What was saved for a gradient and then turned in place must not be used silently."""
        x, (cos, sin) = numbers(5, 8).requires_grad_(), table(5, 4)
        for write in (
            lambda y: rotate_(y, cos, sin, layout="half"),
            lambda y: rotate(numbers(5, 8), cos, sin, layout="half", out=y),
        ):
            y = x * 1
            loss = (y * y).sum()
            with torch.no_grad():
                write(y)
            with pytest.raises(RuntimeError, match="modified by an inplace operation"):
                loss.backward()

    def test_leaf_is_refused_in_place(self):
        x, (cos, sin) = numbers(5, 8).requires_grad_(), table(5, 4)
        with pytest.raises(RuntimeError, match="leaf Variable"):
            rotate_(x, cos, sin, layout="half")
        with torch.no_grad():
            rotate_(x, cos, sin, layout="half")

    def test_expanded_is_refused_in_place(self):
        x, (cos, sin) = numbers(1, 8).expand(5, 8), table(5, 4)
        same(rotate(x, cos, sin, layout="half"), rotary.turned(x, cos, sin, layout="half"))
        with pytest.raises(ValueError, match=r"expanded to turn in place.*x\.clone"):
            rotate_(x, cos, sin, layout="half")

    def test_out_beside_gradients_is_refused(self):
        x, (cos, sin) = numbers(5, 8).requires_grad_(), table(5, 4)
        with pytest.raises(RuntimeError, match="`out` must not be given where gradients"):
            rotate(x, cos, sin, layout="half", out=torch.empty(5, 8))
        with torch.no_grad():
            rotate(x, cos, sin, layout="half", out=torch.empty(5, 8))

    def test_overlapping_out_is_refused(self):
        memory, (cos, sin) = numbers(6, 8), table(5, 4)
        with pytest.raises(ValueError, match="share no memory"):
            rotate(memory[1:], cos, sin, layout="half", out=memory[:-1])

    def test_interleaved_views_do_not_overlap_in_time(self):
        """q and k as halves of one fused tensor: each in place, the other untouched."""
        fused, (cos, sin) = numbers(2, 5, 3, 16), table(1, 5, 1, 4)
        q, k = fused.split(8, dim=-1)
        want_q, want_k = (rotary.turned(x, cos, sin, layout="half") for x in (q, k))
        rotate_(q, cos, sin, layout="half")
        rotate_(k, cos, sin, layout="half")
        same(fused, torch.cat([want_q, want_k], dim=-1))

    def test_inference_tensors(self):
        with torch.inference_mode():
            x, (cos, sin) = numbers(5, 8), table(5, 4)
            want = rotary.turned(x, cos, sin, layout="half")
            same(rotate(x, cos, sin, layout="half"), want)
            same(rotate_(x, cos, sin, layout="half"), want)

    def test_no_temporary(self):
        """Turning in place and into `out` asks for no memory at all."""
        x, (cos, sin) = numbers(4, 500, 64), table(500, 32)
        out = torch.empty_like(x)
        rotate_(x, cos, sin, layout="half")
        with torch.profiler.profile(profile_memory=True) as profile:
            rotate_(x, cos, sin, layout="half")
            rotate(x, cos, sin, layout="half", out=out)
        assert all(event.self_cpu_memory_usage <= 0 for event in profile.events())


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"layout": "pairs"}, ValueError, "`layout` must be one of"),
        ({"x": torch.ones(5, 8, dtype=torch.int64)}, TypeError, "floating-point"),
        ({"x": np.ones((5, 8))}, TypeError, "one library"),
        ({"x": torch.ones(5, 6)}, ValueError, "half as many entries"),
        ({"sin": torch.ones(5, 3)}, ValueError, "same shape"),
        ({"x": torch.ones(4, 8)}, ValueError, "one axis for tokens"),
        ({"out": torch.ones(5, 9)}, ValueError, "`out` must have the shape and dtype"),
        ({"out": torch.ones(5, 8).double()}, ValueError, "`out` must have the shape and dtype"),
    ],
)
def test_refused(change, error, message):
    cos, sin = table(5, 4)
    given = {"x": torch.ones(5, 8), "cos": cos, "sin": sin, "layout": "half"} | change
    x, cos, sin = (given.pop(name) for name in ("x", "cos", "sin"))
    with pytest.raises(error, match=message):
        rotate(x, cos, sin, **given)


def test_the_loop_is_what_runs(monkeypatch):
    """Else the tests above would compare the formula with itself."""
    from posenc.kernels import turning as loop

    calls = []
    monkeypatch.setattr(loop, "turn", lambda *rest, **options: calls.append(rest[4].dim))
    cos, sin = table(5, 4)
    rotate(numbers(5, 8), cos, sin, layout="half")
    rotate_(numbers(5, 8), cos, sin, layout="half")
    rotate(numbers(5, 8).requires_grad_(), cos, sin, layout="half")
    assert calls == [8, 8, 8]
    assert kernels.available()


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_threads_follow_pytorch(threads):
    x, (cos, sin) = numbers(3, 5, 900, 64), table(3, 1, 900, 32)
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(threads)
        same(rotate(x, cos, sin, layout="half"), rotary.turned(x, cos, sin, layout="half"))
    finally:
        torch.set_num_threads(before)


class Turned(torch.utils.data.Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, item):
        assert torch.get_num_threads() == 1
        return rotate(numbers(4, 900, 64, seed=item), *table(900, 32), layout="half")


def test_in_a_dataloader_worker():
    want = [
        rotary.turned(numbers(4, 900, 64, seed=i), *table(900, 32), layout="half") for i in range(4)
    ]
    rotate(numbers(4, 900, 64), *table(900, 32), layout="half")
    loader = torch.utils.data.DataLoader(
        Turned(), batch_size=None, num_workers=2, multiprocessing_context="spawn"
    )
    for got, wanted in zip(loader, want, strict=True):
        same(got, wanted)
