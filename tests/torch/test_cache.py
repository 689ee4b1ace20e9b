"""A kept table is found by the values it was made from, and nobody's writing reaches it."""

import threading

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from posenc.torch.cache import Cache, copy_on_write


@pytest.fixture
def cache():
    return Cache(entries=3, size=1 << 20)


class Counted:
    """A function to be kept, which counts how often it ran."""

    def __init__(self):
        self.runs = 0

    def __call__(self, cache, *tensors, settings=""):
        def make():
            self.runs += 1
            return (tensors[0] * 2.0,)

        return cache.get(settings, tensors, make)[0]


def test_found_by_value(cache):
    double = Counted()
    one = double(cache, torch.arange(4))
    assert double(cache, torch.arange(4)) is one
    assert double.runs == 1
    assert len(cache._kept) == 1


@pytest.mark.parametrize("other", [torch.arange(1, 5), torch.arange(5), torch.arange(4).int()])
def test_other_values_lengths_and_dtypes_are_others(cache, other):
    double = Counted()
    double(cache, torch.arange(4))
    torch.testing.assert_close(double(cache, other), other * 2.0, rtol=0, atol=0)
    assert double.runs == 2


def test_settings_and_number_of_tensors_count(cache):
    double, tokens = Counted(), torch.arange(4)
    double(cache, tokens)
    double(cache, tokens, settings="b")
    double(cache, tokens, tokens)
    assert double.runs == 3


def test_positions_changed_in_place_by_any_way(cache):
    double, tokens = Counted(), torch.arange(4)
    double(cache, tokens)
    tokens += 1
    assert double(cache, tokens).tolist() == [2.0, 4.0, 6.0, 8.0]
    tokens.data.add_(1)
    assert double(cache, tokens).tolist() == [4.0, 6.0, 8.0, 10.0]
    tokens.numpy()[0] = 100
    assert double(cache, tokens)[0] == 200.0
    assert double.runs == 4


def test_a_copy_may_be_written_into(cache):
    double, tokens = Counted(), torch.arange(4)
    first, second = (copy_on_write(double(cache, tokens)) for _ in range(2))
    first.zero_()
    second[1:].add_(100.0)
    first.numpy()[:] = 7.0
    assert double(cache, tokens).tolist() == [0.0, 2.0, 4.0, 6.0]
    assert second.tolist() == [0.0, 102.0, 104.0, 106.0]
    assert double.runs == 1


def test_a_copy_costs_no_memory_until_written(cache):
    copy = copy_on_write(Counted()(cache, torch.arange(4)))
    assert torch._C._is_cow_tensor(copy)
    copy + 1
    assert torch._C._is_cow_tensor(copy)
    copy.zero_()
    assert not torch._C._is_cow_tensor(copy)


def _zero(tensor):
    tensor.zero_()


def _zero_in_inference_mode(tensor):
    with torch.inference_mode():
        tensor.zero_()


def _zero_a_view(tensor):
    tensor[1:].zero_()


def _zero_past_autograd(tensor):
    tensor.detach().zero_()


def _zero_by_out(tensor):
    torch.mul(tensor, 0.0, out=tensor)


@pytest.mark.parametrize(
    "write", [_zero, _zero_a_view, _zero_by_out, _zero_in_inference_mode, _zero_past_autograd]
)
def test_a_write_into_what_is_shared_is_noticed(cache, write):
    double = Counted()
    write(double(cache, torch.arange(4)))
    assert double(cache, torch.arange(4)).tolist() == [0.0, 2.0, 4.0, 6.0]
    assert double.runs == 2
    assert len(cache._kept) == 1


def test_the_latest_entries_stay():
    cache, double = Cache(entries=2, size=1 << 20), Counted()
    for start in 0, 1, 0, 2:  # the second 0 makes 1 the oldest
        double(cache, torch.arange(start, start + 4))
    assert double.runs == 3
    double(cache, torch.arange(4))
    assert double.runs == 3
    double(cache, torch.arange(1, 5))
    assert double.runs == 4


def test_bytes_are_bounded():
    tokens = torch.arange(100)
    one = 100 * 4 + 100 * 8  # the result in float32 and the copy of the positions
    cache, double = Cache(entries=9, size=2 * one), Counted()
    for start in range(3):
        double(cache, tokens + start)
    assert sum(entry.size for entry in cache._kept) == 2 * one
    double(cache, torch.arange(1000))
    assert double.runs == 4
    double(cache, torch.arange(1000))
    assert double.runs == 5  # too large to be kept


def test_made_outside_inference_mode(cache):
    double = Counted()
    with torch.inference_mode():
        assert not double(cache, torch.arange(4)).is_inference()
    weight = torch.ones(4, requires_grad=True)
    (weight * double(cache, torch.arange(4))).sum().backward()
    assert weight.grad.tolist() == [0.0, 2.0, 4.0, 6.0]
    assert double.runs == 1


def test_gradients_flow_and_nothing_is_kept(cache):
    double, weight = Counted(), torch.nn.Parameter(torch.ones(2))
    double(cache, weight).sum().backward()
    assert weight.grad.tolist() == [2.0, 2.0]
    with torch.no_grad():
        assert not double(cache, weight).requires_grad
        double(cache, weight)
    assert double.runs == 2
    assert double(cache, weight).requires_grad


def test_weights_changed_behind_the_count_of_changes(cache):
    double, weight = Counted(), torch.nn.Parameter(torch.ones(2))
    with torch.no_grad():
        double(cache, weight)
        weight.data.mul_(3.0)  # as moving averages of weights do
        assert double(cache, weight).tolist() == [6.0, 6.0]


def test_elsewhere_found_by_tensor_and_version(cache):
    """The meta device stands for one whose values cannot be looked at."""
    double, tokens = Counted(), torch.arange(4, device="meta")
    one = double(cache, tokens)
    assert double(cache, tokens) is one
    tokens.add_(1)
    double(cache, tokens)
    assert double.runs == 2
    double(cache, torch.arange(4, device="meta"))
    assert double.runs == 3
    double(cache, torch.arange(4))
    assert double.runs == 4
    with torch.no_grad():
        weight = torch.nn.Parameter(torch.ones(2, device="meta"))
        double(cache, weight)
        double(cache, weight)
    assert double.runs == 6
    with torch.inference_mode():
        tokens = torch.arange(4, device="meta")
        double(cache, tokens)
        double(cache, tokens)
    assert double.runs == 8


def test_a_tensor_that_died_is_nobody(cache):
    double = Counted()
    for _ in range(5):  # each may get the address of the one before
        double(cache, torch.arange(4, device="meta"))
    assert double.runs == 5


@pytest.mark.parametrize(
    "transform", ["vmap", "make_fx", "fake", "dispatch", "function", "compile"]
)
def test_nothing_is_kept_while_pytorch_traces_or_transforms(cache, transform):
    double, rows = Counted(), torch.arange(8.0).reshape(2, 4)

    def copied(tokens):
        return copy_on_write(double(cache, tokens)) + 0

    if transform == "vmap":
        torch.testing.assert_close(torch.vmap(copied)(rows), rows * 2)
    elif transform == "make_fx":
        torch.fx.experimental.proxy_tensor.make_fx(copied)(rows)
    elif transform == "fake":
        with torch._subclasses.FakeTensorMode() as mode:
            copied(mode.from_tensor(rows))
    elif transform == "dispatch":
        with FlopCounterMode(display=False):
            copied(rows)
    elif transform == "function":
        with torch.device("cpu"):
            copied(rows)
    else:
        compiled = torch.compile(copied, fullgraph=True, backend="eager")
        torch.testing.assert_close(compiled(rows), rows * 2)
    assert cache._kept == ()


def test_threads_each_get_their_own_answer():
    cache, wrong = Cache(entries=2, size=1 << 20), []

    def work(start):
        double = Counted()
        for step in range(200):
            tokens = torch.arange(4) + (start + step) % 5
            got = copy_on_write(double(cache, tokens))
            if not torch.equal(got, tokens * 2.0):
                wrong.append(start)
            got.zero_()

    threads = [threading.Thread(target=work, args=(start,)) for start in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert len(cache._kept) <= 2


def test_clear(cache):
    double = Counted()
    double(cache, torch.arange(4))
    cache.clear()
    double(cache, torch.arange(4))
    assert double.runs == 2
