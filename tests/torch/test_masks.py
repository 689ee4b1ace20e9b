"""Masks of the fused loops are those of the specs, bit for bit."""

import pytest
import torch
from hypothesis import given, strategies as st

from posenc import T5, Alibi, positions
from posenc.torch import masks

DTYPES = (None, torch.bfloat16, torch.float16, torch.float32)


def tokens(data, *batch):
    values = st.integers(-(2**31) + 1, 2**31 - 1) | st.integers(0, 200)
    count = data.draw(st.integers(0, 5) | st.integers(12, 18))
    rows = data.draw(st.lists(values, min_size=count, max_size=count))
    return torch.tensor(rows, dtype=torch.int64).expand(*batch, count)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
class TestEqualsSpec:
    @pytest.mark.parametrize("direction", ["causal", "symmetric", "asymmetric"])
    @given(
        heads=st.integers(1, 13), batch=st.sampled_from([(), (1,), (3,), (2, 3)]), data=st.data()
    )
    def test_alibi(self, dtype, direction, heads, batch, data):
        spec = Alibi(heads=heads, direction=direction)
        queries, keys = tokens(data, *batch), tokens(data)
        got, want = (f(queries, keys, dtype=dtype) for f in (self.of(spec), spec.bias))
        assert got.dtype == want.dtype
        torch.testing.assert_close(got, want, rtol=0, atol=0)
        assert not torch.signbit(got[got == 0]).any()

    def of(self, spec):
        return lambda queries, keys, dtype: masks.alibi_mask(spec, queries, keys, dtype)

    @pytest.mark.parametrize("stored", [torch.float32, torch.bfloat16, torch.float64])
    @pytest.mark.parametrize("bidirectional", [True, False])
    @given(
        heads=st.integers(1, 5),
        max_distance=st.integers(9, 300),
        batch=st.sampled_from([(), (1,), (3,), (2, 3)]),
        data=st.data(),
    )
    def test_t5(self, dtype, stored, bidirectional, heads, max_distance, batch, data):
        spec = T5(heads=heads, buckets=16, max_distance=max_distance, bidirectional=bidirectional)
        table = torch.randn(16, heads, generator=torch.Generator().manual_seed(0)).to(stored)
        queries, keys = tokens(data), tokens(data, *batch)
        got = masks.t5_mask(spec, queries, keys, table, dtype)
        want = spec.bias(queries, keys, table=table, dtype=dtype)
        assert got.dtype == want.dtype
        torch.testing.assert_close(got, want, rtol=0, atol=0)


def test_large_and_in_threads():
    before = torch.get_num_threads()
    queries = torch.stack([torch.arange(300), positions.packed([200, 100], like=torch.ones(1))])
    try:
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            alibi, t5 = Alibi(heads=6), T5(heads=6)
            table = torch.randn(32, 6)
            torch.testing.assert_close(
                masks.alibi_mask(alibi, queries, queries, None),
                alibi.bias(queries, queries),
                rtol=0,
                atol=0,
            )
            torch.testing.assert_close(
                masks.t5_mask(t5, queries, queries, table, None),
                t5.bias(queries, queries, table=table),
                rtol=0,
                atol=0,
            )
    finally:
        torch.set_num_threads(before)


def test_a_trained_table_gets_its_gradient():
    spec, table = T5(heads=2), torch.randn(32, 2, requires_grad=True)
    masks.t5_mask(spec, torch.arange(5), torch.arange(7), table, None).sum().backward()
    assert table.grad.abs().sum() == 5 * 7 * 2


def test_the_loops_are_what_runs(monkeypatch):
    from posenc.kernels import biases

    calls = []
    monkeypatch.setattr(biases, "alibi", lambda *rest, **options: calls.append("alibi"))
    monkeypatch.setattr(biases, "by_distance", lambda *rest, **options: calls.append("t5"))
    far = T5(heads=2).edges[-1]
    masks.alibi_mask(Alibi(heads=2), torch.arange(3), torch.arange(3), None)
    for keys in far - 1, far, far + 1:  # from `far` on a value for each distance is worth while
        masks.t5_mask(T5(heads=2), torch.arange(1), torch.arange(keys), torch.ones(32, 2), None)
    assert calls == ["alibi", "t5", "t5"]


def test_a_far_last_bucket_costs_no_memory():
    spec, table = T5(heads=2, max_distance=2**40), torch.randn(32, 2)
    got = masks.t5_mask(spec, torch.arange(3), torch.arange(3), table, None)
    assert torch.equal(got, spec.bias(torch.arange(3), torch.arange(3), table=table))


@pytest.mark.parametrize(
    ("queries", "keys", "error", "message"),
    [
        (torch.ones(3), torch.arange(3), TypeError, "must be integers"),
        (torch.arange(3), torch.tensor(1), ValueError, "tokens on the last axis"),
        (torch.zeros(2, 3).long(), torch.zeros(4, 3).long(), ValueError, "axes before the last"),
        (torch.arange(3), torch.tensor([2**31]), ValueError, "within 2\\*\\*31"),
    ],
)
def test_refused_as_by_the_specs(queries, keys, error, message):
    with pytest.raises(error, match=message):
        masks.alibi_mask(Alibi(heads=2), queries, keys, None)
    with pytest.raises(error, match=message):
        masks.t5_mask(T5(heads=2), queries, keys, torch.ones(32, 2), None)
