"""How each operation is got ready: what is copied beside it, and who does it how."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from posenc import alibi, kernels, rotary, t5
from posenc.bench import contestants, ours
from posenc.bench.cases import BASE, DIM, HEADS, KEY_HEADS, LAYERS, Case
from posenc.bench.contestant import Contestant, found
from posenc.bench.measure import Call

Ways = dict[str, Callable[[], Call]]


class Work(NamedTuple):
    """A case ready to be measured.

    size    bytes that a copy reads
    copy    copies as many, into memory that is there
    ways    by name, how to get each contestant's call ready
    """

    size: int
    copy: Call
    ways: Ways


class Operation(NamedTuple):
    """What a table of the report is about, and how to get one of its cases ready."""

    title: str
    prepare: Callable[[Case], Work]


def _turning(prepare: Callable[[Contestant, Any, Any], Call], case: Case) -> Work:
    import torch

    rope = _rope(case)
    random = torch.Generator().manual_seed(0)
    q, k = (
        torch.randn(1, heads, case.length, DIM, generator=random).to(getattr(torch, case.dtype))
        for heads in (HEADS, KEY_HEADS)
    )
    q_copy, k_copy = torch.empty_like(q), torch.empty_like(k)
    ways: Ways = {
        kind.name: lambda kind=kind: prepare(
            kind(rope), _as_it_likes(kind, q), _as_it_likes(kind, k)
        )
        for kind in contestants.installed(rope.layout)
    }
    return Work(q.nbytes + k.nbytes, lambda: (q_copy.copy_(q), k_copy.copy_(k)), ways)


def _rope(case: Case) -> rotary.Rotary:
    return rotary.Rotary(dim=DIM, base=BASE, layout=case.layout or "half")


def _as_it_likes(kind: type[Contestant], x: Any) -> Any:
    """The same memory, seen as (batch, length, heads, dim) by those who want that."""
    return x.view(1, x.shape[2], x.shape[1], DIM) if kind.tokens_first else x


def _turn(contestant: Contestant, q: Any, k: Any) -> Call:
    table = contestant.table(_positions(contestant, q), q)
    return _without_gradients(lambda: contestant.turn(q, k, table))


def _gradient(contestant: Contestant, q: Any, k: Any) -> Call:
    return contestant.gradient(q, k, contestant.table(_positions(contestant, q), q))


def _step(contestant: Contestant, q: Any, k: Any) -> Call:
    """The next token through all layers: at positions never seen, so that no cache can help."""
    import torch

    positions = itertools.cycle(range(1_000, 100_000))

    def step() -> None:
        table = contestant.table(torch.tensor([next(positions)]), q)
        for _ in range(LAYERS):
            contestant.turn(q, k, table)

    return _without_gradients(step)


def _positions(contestant: Contestant, q: Any) -> Any:
    import torch

    return torch.arange(q.shape[1 if contestant.tokens_first else 2])


def _without_gradients(call: Call) -> Call:
    import torch

    return torch.no_grad()(call)


def _table(case: Case) -> Work:
    import torch

    rope = _rope(case)
    positions = torch.arange(case.length)
    table = torch.zeros(2, case.length, DIM // 2)
    other = torch.empty_like(table)
    ways: Ways = {
        "posenc module": lambda: partial(ours.module(rope).table, positions),
        "posenc formula": lambda: partial(rope.table, positions),
        "posenc formula, float32": lambda: partial(rope.table, positions, precision="float32"),
        "NumPy, float64": lambda: partial(_table_by_hand, rope, positions.numpy()),
    }
    for kind in contestants.installed("half"):
        if kind.tabulates:
            ways[kind.name] = lambda kind=kind: partial(kind(rope).table, positions, table)
    return Work(table.nbytes, lambda: other.copy_(table), ways)


def _table_by_hand(rope: rotary.Rotary, positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What a careful person writes."""
    angle = positions[:, None] * np.asarray(rope.frequencies)
    return np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)


def _alibi(case: Case) -> Work:
    import torch

    spec = alibi.Alibi(heads=HEADS)
    positions = torch.arange(case.length)
    slopes = torch.tensor(spec.slopes)[:, None, None]
    ways: Ways = {
        "posenc module": lambda: _module_bias("Alibi", positions),
        "posenc formula": lambda: partial(spec.bias, positions, positions),
        "PyTorch, by hand": lambda: lambda: -slopes * (positions[:, None] - positions).abs(),
    }
    return _bias(case, ways)


def _t5(case: Case) -> Work:
    import torch

    spec = t5.T5(heads=HEADS)
    positions = torch.arange(case.length)
    weights = torch.from_numpy(spec.initial_weights()["table"])
    ways: Ways = {
        "posenc module": lambda: _module_bias("T5", positions),
        "posenc formula": lambda: partial(spec.bias, positions, positions, table=weights),
    }
    if found("transformers"):
        ways["transformers"] = lambda: _t5_of_transformers(case.length)
    return _bias(case, ways)


def _module_bias(kind: str, positions: Any) -> Call:
    """The mask for the first layer; the others find what it made."""
    from posenc.torch import bias

    module = getattr(bias, kind)(heads=HEADS)

    def make() -> Any:
        bias.MASKS.clear()
        return module(positions, positions)

    return _without_gradients(make)


def _t5_of_transformers(length: int) -> Call:
    from transformers.models.t5 import modeling_t5
    from transformers.models.t5.configuration_t5 import T5Config

    config = T5Config(num_heads=HEADS, d_model=HEADS, d_kv=1)
    attention = modeling_t5.T5Attention(config, has_relative_attention_bias=True)
    return _without_gradients(partial(attention.compute_bias, length, length))


def _bias(case: Case, ways: Ways) -> Work:
    import torch

    one = torch.zeros(HEADS, case.length, case.length)
    other = torch.empty_like(one)
    return Work(one.nbytes, lambda: other.copy_(one), ways)


def _numpy(case: Case) -> Work:
    rope = _rope(case)
    random = np.random.default_rng(0)
    both = [
        random.standard_normal((heads, case.length, DIM), dtype=np.float32)
        for heads in (HEADS, KEY_HEADS)
    ]
    copies, outs = ([np.empty_like(x) for x in both] for _ in range(2))
    cos, sin = rope.table(np.arange(case.length))

    def each(turn: Callable[..., Any], given: list[np.ndarray] | None = None) -> Call:
        options = [{} if given is None else {"out": out} for out in given or both]
        return lambda: [
            turn(x, cos, sin, layout=rope.layout, **option)
            for x, option in zip(both, options, strict=True)
        ]

    ways: Ways = {"posenc formula": lambda: each(rotary.turned)}
    if kernels.available():
        ways = {
            "posenc, in place": lambda: each(kernels.rotate, both),
            "posenc, into out": lambda: each(kernels.rotate, outs),
            "posenc, new memory": lambda: each(kernels.rotate),
            **ways,
        }
    return Work(sum(x.nbytes for x in both), lambda: list(map(np.copyto, copies, both)), ways)


_TURNED = f"{HEADS} + {KEY_HEADS} heads of {DIM}"

OPERATIONS = {
    "turn": Operation(f"turn queries and keys ({_TURNED})", partial(_turning, _turn)),
    "gradient": Operation(f"turn gradients back ({_TURNED})", partial(_turning, _gradient)),
    "step": Operation(
        f"one more token through {LAYERS} layers ({_TURNED})", partial(_turning, _step)
    ),
    "table": Operation(f"make {DIM // 2} cosines and sines for each position", _table),
    "alibi": Operation(f"make the ALiBi bias of {HEADS} heads, length x length", _alibi),
    "t5": Operation(f"make the T5 bias of {HEADS} heads, length x length", _t5),
    "numpy": Operation(f"turn NumPy arrays ({_TURNED}); one thread copies", _numpy),
}
"""By the name that `--only` takes."""
