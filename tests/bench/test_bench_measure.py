"""Rounds by a clock that the test turns, and memory of a known size."""

import gc
import sys

import numpy as np
import pytest

from posenc.bench import measure


class Machine:
    """A clock, and calls that take their time on it; `pace` slows all that happens."""

    def __init__(self):
        self.now, self.pace, self.called = 0.0, 1.0, []

    def clock(self):
        return self.now

    def call(self, name, seconds):
        def run():
            self.called.append(name)
            self.now += seconds * self.pace

        return run


def test_spread_is_median_and_quartiles():
    values = [7.0, 1.0, 100.0, 3.0, 5.0]
    assert (
        measure.spread(values) == (5.0, 3.0, 7.0) == tuple(np.quantile(values, [0.5, 0.25, 0.75]))
    )
    assert measure.spread([2.0]) == (2.0, 2.0, 2.0)


def test_every_round_begins_with_the_next():
    machine = Machine()
    calls = {name: machine.call(name, 0.5) for name in "abc"}
    measure.rounds(calls, seconds=0, at_least=4, clock=machine.clock)
    assert "".join(machine.called)[3:] == "abcbcacababc"


def test_a_slow_round_slows_all_alike():
    """Ratios stay what they are while the machine halves its pace from round to round."""
    machine = Machine()

    def call(name, seconds):
        run = machine.call(name, seconds)

        def slower():
            machine.pace = 2 ** (len(machine.called) // 2)
            run()

        return slower

    calls = {"copy": call("copy", 0.25), "other": call("other", 0.75)}
    taken = measure.rounds(calls, seconds=0, at_least=5, clock=machine.clock)
    assert taken["copy"] == [0.5, 1.0, 2.0, 4.0, 8.0]
    assert taken["other"] == [3 * seconds for seconds in taken["copy"]]


def test_rounds_go_on_as_long_as_there_is_time():
    machine = Machine()
    taken = measure.rounds({"a": machine.call("a", 0.5)}, seconds=10, clock=machine.clock)
    assert taken == {"a": [0.5] * 20}


def test_a_short_call_is_repeated_until_the_clock_sees_it():
    machine = Machine()
    taken = measure.rounds({"a": machine.call("a", 1e-6)}, seconds=0, clock=machine.clock)
    assert taken["a"] == pytest.approx([1e-6] * 3)
    assert 3 * 1_000 < len(machine.called) < 10 * 2_000


def test_a_clock_that_sees_no_single_call():
    machine = Machine()
    calls = {"a": machine.call("a", 3e-6)}
    taken = measure.rounds(calls, seconds=0, clock=lambda: round(machine.now, 4))
    assert taken["a"] == pytest.approx([3e-6] * 3, rel=0.1)


@pytest.mark.parametrize("collecting", [True, False])
def test_garbage_is_left_alone_meanwhile_and_collected_as_before(collecting):
    seen = []

    def call():
        seen.append(gc.isenabled())
        if len(seen) == 3:
            raise KeyboardInterrupt

    before = gc.isenabled()
    (gc.enable if collecting else gc.disable)()
    try:
        with pytest.raises(KeyboardInterrupt):
            measure.rounds({"a": call}, seconds=0, clock=iter(range(100)).__next__)
        assert gc.isenabled() == collecting
    finally:
        (gc.enable if before else gc.disable)()
    assert not any(seen[1:])


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the peak of memory")
class TestPeakMemory:
    size = 1 << 25

    def test_what_is_returned_and_what_is_dropped_both_count(self):
        returned = measure.peak_memory(lambda: np.ones(self.size, np.uint8))
        dropped = measure.peak_memory(lambda: np.ones(self.size, np.uint8).sum())
        for peak in (returned, dropped):
            assert 0.97 * self.size < peak < 1.1 * self.size

    def test_what_was_there_does_not(self):
        larger = np.ones(4 * self.size, np.uint8)
        del larger
        there = np.ones(self.size, np.uint8)
        assert measure.peak_memory(lambda: np.multiply(there, 3, out=there)) < 0.1 * self.size


def test_peak_memory_elsewhere(monkeypatch, tmp_path):
    monkeypatch.setattr(measure, "Path", lambda name: tmp_path / "absent" / name[1:])
    assert measure.peak_memory(lambda: None) is None
