"""What follows from measured numbers: bars at their bounds, and where others are faster."""

import json

import pytest
from known import result, row, timing


def bars(*timings):
    return {(bar.ours, bar.other): (bar.got, bar.reached) for bar in result(*timings).bars()}


@pytest.mark.parametrize("operation", ["turn", "gradient"])
def test_bars_of_turning(operation):
    rows = (
        row("posenc, in place", 1.25),
        row("posenc, into out", 1.75),
        row("transformers", 10.0),
        row("transformers compiled", 4.0),
    )
    assert bars(timing(operation, 4096, *rows)) == {
        ("posenc, in place", "copies"): (1.25, True),
        ("posenc, into out", "copies"): (1.75, False),
        ("posenc, in place", "transformers"): (8.0, True),
        ("posenc, in place", "transformers compiled"): (3.2, False),
    }


def test_a_bar_is_reached_at_its_bound():
    assert bars(timing("turn", 4096, row("posenc, in place", 1.3)))["posenc, in place", "copies"][1]


def test_bars_of_a_decoding_step_and_of_tables():
    rows = (row("posenc module", 20.0), row("transformers", 15.0))
    assert bars(timing("turn", 1, *rows)) == {("posenc module", "transformers"): (0.75, False)}
    assert bars(timing("step", 1, *rows)) == {("posenc module", "transformers"): (0.75, False)}
    tables = (row("posenc module", 3.0), row("NumPy, float64", 21.0))
    assert bars(timing("table", 4096, *tables, layout=None)) == {
        ("posenc module", "NumPy, float64"): (7.0, True)
    }


def test_nothing_is_promised_elsewhere():
    rows = (row("posenc, in place", 9.0), row("transformers", 1.0))
    assert not bars(timing("turn", 512, *rows), timing("turn", 4096, *rows, layout="interleaved"))
    assert not bars(timing("turn", 4096, row("transformers", 1.0)))


def test_where_others_are_faster():
    """Than our fastest way, and than ours that leaves queries and keys as they are."""
    rows = (
        row("posenc, in place", 1.0, around=0.1),
        row("posenc, new memory", 3.0, around=0.1),
        row("posenc formula", 9.0, around=0.1),
        row("quick", 0.5, around=0.1),
        row("middling", 2.0, around=0.1),
        row("about the same", 0.95, around=0.1),
        row("slow", 4.0, around=0.1),
    )
    found = [(r.name, r.ours, r.times) for r in result(timing("turn", 512, *rows)).faster()]
    assert found == [
        ("quick", "posenc, in place", 2.0),
        ("quick", "posenc, new memory", 6.0),
        ("middling", "posenc, new memory", 1.5),
        ("about the same", "posenc, new memory", pytest.approx(3.0 / 0.95)),
    ]
    assert result(timing("turn", 512, *rows[:3])).faster() == []


def test_plain_data():
    rows = (row("posenc, in place", 1.25, around=0.05, memory=0.0), row("transformers", 10.0))
    whole = result(timing("turn", 4096, *rows, failed={"timm": "ImportError: no"}))
    data = json.loads(json.dumps(whole.to_data(), allow_nan=False))
    assert sorted(data) == sorted(
        "machine versions settings complete timings accuracy truth bars".split()
    )
    (one,) = data["timings"]
    assert one["case"] == dict(operation="turn", length=4096, dtype="float32", layout="half")
    assert one["copy"] == dict(median=1e-3, low=1e-3, high=1e-3)
    assert one["failed"] == {"timm": "ImportError: no"}
    assert one["rows"][0] == dict(
        name="posenc, in place",
        seconds=pytest.approx(dict(median=1.25e-3, low=1.2e-3, high=1.3e-3)),
        copies=dict(median=1.25, low=1.2, high=1.3),
        rounds=5,
        memory=0.0,
    )
    assert data["bars"][0]["case"] == one["case"]
    assert data["bars"][0]["reached"]
