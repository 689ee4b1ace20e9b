"""A run from case to result, and the contestants in it: each turns as the formula does."""

import builtins
import functools
import sys

import numpy as np
import pytest
import torch

from posenc import Rotary, bench
from posenc.bench import accuracy, cases, contestants, operations, ours, running
from posenc.bench.cases import Case
from posenc.bench.contestant import found
from posenc.bench.operations import Work

LAYOUTS = ("half", "interleaved")


def test_every_operation_runs(small):
    told = []
    result = bench.run(bench.Settings(seconds=0), progress=told.append)
    assert result.complete
    assert [t.case.operation for t in result.timings] == [c.operation for c in cases.full()]
    assert sorted(operations.OPERATIONS) == sorted({t.case.operation for t in result.timings})
    assert told == [
        *(f"{i} of 7: {case.name}" for i, case in enumerate(cases.full(), 1)),
        "errors at far positions",
    ]
    for timing in result.timings:
        assert not timing.failed
        assert any(row.name.startswith("posenc") for row in timing.rows)
        assert all(row.rounds == 3 and row.seconds.median > 0 for row in timing.rows)
    assert "posenc, in place" in bench.text(result)
    assert {row.dtype for row in result.accuracy} == {"float32", "bfloat16"}


def test_ratios_are_taken_within_rounds(monkeypatch):
    """A clock that tells 1 s for each copy and 3 s for each call, ten times as much later."""
    now = [0.0]

    def takes(seconds):
        def call():
            now[0] += seconds * (1 if now[0] < 12 else 10)

        return call

    work = Work(size=8, copy=takes(1), ways={"three": lambda: takes(3)})
    fake = operations.Operation("", lambda case: work)
    monkeypatch.setitem(operations.OPERATIONS, "turn", fake)
    case = Case(operation="turn", length=2)
    timing = running.time_case(case, seconds=0, clock=lambda: now[0])
    (row,) = timing.rows
    assert row.copies == (3.0, 3.0, 3.0)
    assert (row.rounds, row.memory) == (3, None)


def test_one_who_breaks_is_reported_and_the_others_measured(small, monkeypatch):
    class Broken(ours._Formula):
        name = "broken"

        def __init__(self, rope):
            raise ImportError("\n    no torchao\n    see the manual")

    monkeypatch.setattr(contestants, "_ALL", (Broken, ours._Formula))
    near = functools.partial(accuracy.measure, positions=(1_000,))
    monkeypatch.setattr(accuracy, "measure", near)
    result = bench.run(bench.Settings(seconds=0))
    assert result.complete
    turn = result.timings[0]
    assert turn.failed == {"broken": "ImportError: no torchao"}
    assert [row.name for row in turn.rows] == ["posenc formula"]
    failed = {(row.name, row.dtype): row.failed for row in result.accuracy}
    assert failed["broken", "bfloat16"] == "ImportError: no torchao"
    assert failed["posenc formula", "bfloat16"] is None


def test_the_least_of_some_peaks_of_memory_is_told(monkeypatch):
    """What an allocator happens to keep is nothing that a call needs."""
    peaks = iter(
        [3 * running._VISIBLE, 2 * running._VISIBLE, 5 * running._VISIBLE, None, None, None]
    )
    monkeypatch.setattr(running.measure, "peak_memory", lambda call: next(peaks))
    assert running._memory(print, running._VISIBLE) == 2
    assert running._memory(print, running._VISIBLE) is None
    assert running._memory(print, running._VISIBLE - 1) is None


def test_ctrl_c_keeps_what_is_there(small):
    told = []

    def progress(words):
        told.append(words)
        if words.startswith("2 of"):
            raise KeyboardInterrupt

    result = bench.run(bench.Settings(seconds=0), progress=progress)
    assert not result.complete
    assert [timing.case.operation for timing in result.timings] == ["turn"]
    assert told[-1] == "stopped"


def test_threads_are_used_and_given_back(small):
    before = torch.get_num_threads()
    result = bench.run(bench.Settings(only="table", threads=1, seconds=0))
    assert result.machine["threads"] == 1
    assert torch.get_num_threads() == before


@pytest.mark.parametrize(
    ("only", "count"),
    [("turn half", 12), ("bfloat16, 4096", 4), ("step", 6), ("accuracy", 0), ("", 54), (None, 54)],
)
def test_only(only, count):
    settings = bench.Settings(only=only)
    assert len(settings.cases) == count
    assert settings.accuracy == (only in ("accuracy", "", None))


def test_the_full_run_has_what_the_quick_one_has():
    assert set(cases.quick()) <= set(cases.full())
    for settings in (bench.Settings(), bench.Settings(quick=True)):
        lengths = {c.length for c in settings.cases if c.operation == "turn"}
        assert {1, 4096} <= lengths


@pytest.mark.parametrize(
    ("settings", "error", "said"),
    [
        ({"only": "turns"}, ValueError, "`only` must be words of a case .* got 'turns'"),
        ({"threads": 0}, ValueError, "`threads` must be at least 1"),
        ({"threads": 1.5}, TypeError, "`threads` must be an integer"),
    ],
)
def test_settings_that_do_not_work(settings, error, said):
    with pytest.raises(error, match=said):
        bench.Settings(**settings)


def test_without_torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'posenc\[torch\]'"):
        bench.run(bench.Settings())


def test_importing_it_loads_no_torch(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("posenc.bench")]:
        monkeypatch.delitem(sys.modules, name)
    imported, real = set(), builtins.__import__

    def watched(name, *rest):
        imported.add(name.partition(".")[0])
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", watched)
    import posenc.bench  # noqa: F401

    assert "posenc" in imported
    assert not imported & {"torch", "numba", "transformers", "matplotlib", "mpmath"}


# As the packages that are not installed here do it: argument for argument, only shorter.
TORCHTUNE = """
import torch

class RotaryPositionalEmbeddings(torch.nn.Module):
    def __init__(self, dim, max_seq_len=4096, base=10_000):
        super().__init__()
        turns = base ** -(torch.arange(0, dim, 2).float() / dim)
        angle = torch.arange(max_seq_len)[:, None] * turns
        self.cache = torch.polar(torch.ones_like(angle), angle)

    def forward(self, x, *, input_pos):
        turned = torch.view_as_complex(x.double().reshape(*x.shape[:-1], -1, 2))
        return torch.view_as_real(turned * self.cache[input_pos][:, :, None]).flatten(3).to(x.dtype)
"""
TIMM = """
import torch

def apply_rot_embed_cat(x, emb, half=False):
    sin, cos = emb.chunk(2, -1)
    first, second = x.chunk(2, -1) if half else (x[..., ::2], x[..., 1::2])
    other = torch.cat([-second, first], -1) if half else torch.stack([-second, first], -1)
    return x * cos + other.reshape(x.shape) * sin
"""
X_TRANSFORMERS = """
import torch

class RotaryEmbedding(torch.nn.Module):
    def __init__(self, dim, base=10_000):
        super().__init__()
        self.turns = base ** -(torch.arange(0, dim, 2).double() / dim)

    def forward(self, t):
        return (t[None, :, None] * self.turns).repeat_interleave(2, -1), 1.0

def apply_rotary_pos_emb(t, freqs, scale=1):
    freqs = freqs[:, None, -t.shape[-2]:]
    other = torch.stack([-t[..., 1::2], t[..., ::2]], -1).reshape(t.shape)
    return ((t * freqs.cos() + other * freqs.sin()) * scale).to(t.dtype)
"""


@pytest.fixture
def everybody(monkeypatch, tmp_path):
    """Stand-ins for what is not installed, so that all contestants take part."""
    sources = {
        "torchtune/modules.py": TORCHTUNE,
        "timm/layers.py": TIMM,
        "x_transformers/x_transformers.py": X_TRANSFORMERS,
    }
    absent = {place: s for place, s in sources.items() if not found(place.partition("/")[0])}
    for place, source in absent.items():
        file = tmp_path / place
        file.parent.mkdir()
        (file.parent / "__init__.py").touch()
        file.write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    yield
    for module in list(sys.modules):
        if any(place.startswith(f"{module.partition('.')[0]}/") for place in absent):
            del sys.modules[module]


def turning(kind, layout, q, k):
    """A contestant's turn and gradient, in the shape of `q` and `k` whatever it likes."""
    given = [x.transpose(1, 2).contiguous() if kind.tokens_first else x.clone() for x in (q, k)]
    turned = operations._turn(kind(Rotary(dim=128, layout=layout)), *given)()
    turned = [x.clone() for x in turned]
    given = [x.transpose(1, 2).contiguous() if kind.tokens_first else x.clone() for x in (q, k)]
    back = operations._gradient(kind(Rotary(dim=128, layout=layout)), *given)()
    both = [*turned, *back]
    return [x.transpose(1, 2) if kind.tokens_first else x for x in both]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_everybody_computes_the_same(everybody, layout):
    spec, positions = Rotary(dim=128, layout=layout), torch.arange(6)
    q, k = (torch.randn(1, heads, 6, 128, dtype=torch.float32) for heads in (4, 2))
    want = [spec.rotate(x, positions) for x in (q, k)]
    want += [spec.rotate(x, positions, inverse=True) for x in (q, k)]
    kinds = [kind for kind in contestants.installed(layout) if "compiled" not in kind.name]
    names = {kind.name for kind in kinds}
    others = {
        "half": {"transformers", "timm"},
        "interleaved": {"rotary-embedding-torch", "x-transformers", "torchtune", "timm"},
    }
    assert {name for name in names if not name.startswith("posenc")} == others[layout]
    for kind in kinds:
        for got, true in zip(turning(kind, layout, q, k), want, strict=True):
            np.testing.assert_allclose(got.detach(), true, atol=2e-6, err_msg=kind.name)


@pytest.mark.slow
def test_the_compiled_one_computes_the_same_and_compiles_each_shape_anew():
    (kind,) = (kind for kind in contestants.installed("half") if "compiled" in kind.name)
    spec = Rotary(dim=128)
    for length in range(2, 5):
        q, k = torch.randn(1, 4, length, 128), torch.randn(1, 2, length, 128)
        got = turning(kind, "half", q, k)
        np.testing.assert_allclose(got[0], spec.rotate(q, torch.arange(length)), atol=2e-6)
        np.testing.assert_allclose(
            got[3], spec.rotate(k, torch.arange(length), inverse=True), atol=2e-6
        )


def test_a_step_makes_no_table_of_all_positions(everybody, monkeypatch):
    """torchtune's is made once for a model, however far a text goes on."""
    from torchtune.modules import RotaryPositionalEmbeddings

    made, real = [], RotaryPositionalEmbeddings.__init__

    def counted(self, *given, **named):
        made.append(given)
        real(self, *given, **named)

    monkeypatch.setattr(RotaryPositionalEmbeddings, "__init__", counted)
    (kind,) = (k for k in contestants.installed("interleaved") if k.name == "torchtune")
    q, k = torch.ones(1, 1, 32, 128), torch.ones(1, 1, 8, 128)
    step = operations._step(kind(Rotary(dim=128, layout="interleaved")), q, k)
    step()
    step()
    assert len(made) == 1


def test_a_step_never_sees_the_same_position_twice():
    seen = []

    class Watched(ours._Formula):
        def table(self, positions, like):
            seen.append(int(positions[0]))
            return super().table(positions, like)

        def turn(self, q, k, table):
            seen.append("layer")
            return super().turn(q, k, table)

    q, k = torch.ones(1, 32, 1, 128), torch.ones(1, 8, 1, 128)
    step = operations._step(Watched(Rotary(dim=128)), q, k)
    step()
    step()
    assert seen == [1_000, *["layer"] * 32, 1_001, *["layer"] * 32]
