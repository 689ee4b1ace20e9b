"""Sequences, heads and rows spread over processes: bit for bit what one process makes."""

import contextlib
import datetime
import json
import multiprocessing
import traceback

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

import posenc
import posenc.torch
from posenc.torch import AxialRotary, MixedRotary, MRotary, Rotary, XPos
from posenc.torch.absolute import Learned
from posenc.torch.bias import T5, Alibi

ROWS, HEADS, LENGTH, DIM = 4, 4, 8, 16
GRID = posenc.positions.grid(2, 4, like=torch.ones(1))
SECTIONED = torch.arange(3 * LENGTH).reshape(LENGTH, 3)
MODULES = {
    "axial": (lambda: AxialRotary(dim=DIM), GRID),
    "axis_half": (lambda: AxialRotary(dim=DIM, layout="axis_half"), GRID),
    "m_rotary": (
        lambda: MRotary(rotary=posenc.Rotary(dim=DIM), sections=(2, 3, 3)),
        SECTIONED,
    ),
    "mixed": (lambda: MixedRotary(dim=DIM, heads=HEADS), GRID),
    "partial": (
        lambda: Rotary(dim=DIM, rotary_dim=6, layout="interleaved"),
        torch.arange(LENGTH) + 1_000,
    ),
    "rotary": (lambda: Rotary(dim=DIM), torch.arange(LENGTH) + 100_000),
    "xpos": (lambda: XPos(dim=DIM), torch.arange(LENGTH)),
}


def numbers(*shape, dtype=torch.float32, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def same(got, want):
    torch.testing.assert_close(got, want, rtol=0, atol=0)


def turned(module, positions, q, k):
    """q and k turned, and the gradients of what they are multiplied with."""
    q, k = q.detach().requires_grad_(), k.detach().requires_grad_()
    out = module(q, k, positions)
    torch.autograd.backward(out, [torch.full_like(one, 0.7) + one.detach() for one in out])
    return [*(one.detach() for one in out), q.grad, k.grad]


def made(name):
    torch.manual_seed(0)
    make, positions = MODULES[name]
    return make(), positions


# What every process does. The name of a function is the name of its check.


def plain_parts(mesh, order, dtype):
    """Each process holds rows of its own and their positions; nothing is a DTensor."""
    rank, ranks = mesh.get_rank(), mesh.size()
    for lengths in [2 * LENGTH], [LENGTH, 2 * LENGTH]:
        place = posenc.positions.packed(lengths, like=torch.ones(1))
        rows = posenc.positions.shard(lengths, rank=rank, ranks=ranks, order=order, like=place)
        q, k = (numbers(2, heads, sum(lengths), DIM, dtype=dtype, seed=heads) for heads in (4, 2))
        rope = Rotary(dim=DIM)
        whole = turned(rope, place, q, k)
        part = turned(rope, place[rows], q[:, :, rows], k[:, :, rows])
        for one, other in zip(part, whole, strict=True):
            same(one, other[:, :, rows])


def contiguous_sequence(mesh):
    plain_parts(mesh, "contiguous", torch.float32)


def zigzag_sequence(mesh):
    plain_parts(mesh, "zigzag", torch.bfloat16)


def plain_heads(mesh):
    rank, ranks = mesh.get_rank(), mesh.size()
    rope, positions = made("rotary")
    q, k = numbers(ROWS, HEADS, LENGTH, DIM), numbers(ROWS, HEADS, LENGTH, DIM, seed=1)
    whole = turned(rope, positions, q, k)
    part = turned(rope, positions, q.chunk(ranks, 1)[rank], k.chunk(ranks, 1)[rank])
    for one, other in zip(part, whole, strict=True):
        same(one, other.chunk(ranks, 1)[rank])


def biased_queries(mesh):
    """Sharded queries against all keys: rows of the mask follow positions, not indices."""
    rank, ranks = mesh.get_rank(), mesh.size()
    keys = torch.arange(16)
    rows = posenc.positions.shard([16], rank=rank, ranks=ranks, like=keys)
    for bias in Alibi(heads=3), T5(heads=3, bidirectional=False), T5(heads=3, max_distance=10):
        torch.manual_seed(0)
        bias.reset_parameters()
        same(bias(keys[rows], keys), bias(keys, keys)[:, rows])


def spread(x, mesh, placements):
    from torch.distributed.tensor import distribute_tensor

    return distribute_tensor(x, mesh, placements)


def all_of(tensors):
    from torch.distributed.tensor import DTensor

    assert all(isinstance(tensor, DTensor) for tensor in tensors)
    return [tensor.full_tensor() for tensor in tensors]


class Words(TorchDispatchMode):
    """Counts what the processes say to each other."""

    def __init__(self):
        super().__init__()
        self.spoken = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        name = function.overloadpacket.__name__
        kinds = ("all_", "broadcast", "gather", "reduce", "scatter", "send", "recv")
        self.spoken += "c10d" in function.namespace and name.startswith(kinds)
        return function(*args, **(kwargs or {}))


def dtensors(mesh, axis, *, names=tuple(MODULES)):
    from torch.distributed.tensor import Shard

    for name in names:
        rope, positions = made(name)
        for rows in positions, positions.expand(ROWS, *positions.shape).clone():
            q, k = numbers(ROWS, HEADS, LENGTH, DIM), numbers(ROWS, HEADS, LENGTH, DIM, seed=1)
            whole = turned(rope, rows, q, k)
            rope.zero_grad()
            q, k = (spread(x, mesh, [Shard(axis)]) for x in (q, k))
            with Words() as words:
                turned(rope, rows, q, k)
            # Only a trained array's gradient is gathered: once for q, once for k.
            assert words.spoken == (2 if name == "mixed" else 0), name
            part = turned(rope, rows, q, k)
            assert all(one.placements == q.placements for one in part)
            for one, other in zip(all_of(part), whole, strict=True):
                same(one, other)


def dtensor_rows(mesh):
    dtensors(mesh, 0)


def dtensor_heads(mesh):
    dtensors(mesh, 1)


def dtensor_length(mesh):
    dtensors(mesh, -2)


def dtensor_whole(mesh):
    from torch.distributed.tensor import Replicate

    rope, positions = made("rotary")
    q = numbers(ROWS, HEADS, LENGTH, DIM)
    got = rope.rotate(spread(q, mesh, [Replicate()]), positions)
    same(got.to_local(), rope.rotate(q, positions))


def uneven_parts(mesh):
    """5 tokens for 2 or 4 processes: the last of 4 has none."""
    from torch.distributed.tensor import Shard

    rope, positions = Rotary(dim=DIM), torch.tensor([[7, 8, 9, 10, 11], [0, 0, 0, 1, 2]])
    q = numbers(2, 3, 5, DIM)
    for axis in 0, 1, 2:
        part = rope.rotate(spread(q, mesh, [Shard(axis)]), positions)
        assert part.shape == q.shape
        same(part.full_tensor(), rope.rotate(q, positions))


def length_before_heads(mesh):
    """(batch, length, heads, dim), and the packed rows (tokens, heads, dim), also transposed."""
    from torch.distributed.tensor import Shard

    for name in MODULES:
        make, positions = MODULES[name]
        torch.manual_seed(0)
        first = make()
        rope = type(first)(**posenc.torch.encoding.fields(first.spec), length_axis=-3)
        rope.load_state_dict(first.state_dict())
        options = {"role": "key"} if name == "xpos" else {}
        for x in (
            numbers(2, LENGTH, HEADS, DIM),
            numbers(2, HEADS, LENGTH, DIM).mT.reshape(2, HEADS, DIM, LENGTH).permute(0, 3, 1, 2),
            numbers(LENGTH, HEADS, DIM),
        ):
            for axis in -2, -3:
                got = rope.rotate(spread(x, mesh, [Shard(x.ndim + axis)]), positions, **options)
                want = rope.rotate(x, positions, **options)
                same(got.full_tensor(), want)
                assert got.is_contiguous() == got.to_local().is_contiguous()


def positions_of_every_axis(mesh):
    from torch.distributed.tensor import Shard

    rope, q = Rotary(dim=DIM), numbers(2, HEADS, LENGTH, DIM)
    for shape in (2, HEADS, LENGTH), (2, 1, LENGTH), (1, HEADS, 1), (1, 1, LENGTH):
        positions = torch.arange(torch.Size(shape).numel()).reshape(shape)
        for axis in 0, 1, 2:
            got = rope.rotate(spread(q, mesh, [Shard(axis)]), positions)
            same(got.full_tensor(), rope.rotate(q, positions))


def positions_as_dtensor(mesh):
    from torch.distributed.tensor import Replicate, Shard

    rope, q = Rotary(dim=DIM), numbers(2, HEADS, LENGTH, DIM)
    positions = torch.arange(2 * LENGTH).reshape(2, LENGTH)
    for placement in Shard(0), Shard(1), Replicate():
        for axis in 0, 1, 2:
            where = spread(positions, mesh, [placement])
            got = rope.rotate(spread(q, mesh, [Shard(axis)]), where)
            same(got.full_tensor(), rope.rotate(q, positions))


def in_place_out_and_back(mesh):
    from torch.distributed.tensor import Replicate, Shard

    rope, positions = made("rotary")
    q = numbers(ROWS, HEADS, LENGTH, DIM)
    want = rope.rotate(q, positions)
    part = spread(q, mesh, [Shard(2)])
    out = torch.empty_like(part)
    assert rope.rotate(part, positions, out=out) is out
    same(out.full_tensor(), want)
    same(part.full_tensor(), q)
    version = part._version
    assert rope.rotate_(part, positions) is part
    assert part._version > version
    same(part.full_tensor(), want)
    same(
        rope.rotate(part, positions, inverse=True).full_tensor(),
        rope.rotate(want, positions, inverse=True),
    )
    leaf = spread(q, mesh, [Shard(2)]).requires_grad_()
    plain_leaf = q.clone().requires_grad_()
    for start in leaf, plain_leaf:
        rope.rotate_(start * 2, positions).sum().backward()
    same(leaf.grad.full_tensor(), plain_leaf.grad)
    with pytest.raises(TypeError, match=r"`out` must be a DTensor"):
        rope.rotate(part, positions, out=torch.empty(part.shape))
    with pytest.raises(ValueError, match=r"`out` must be spread as `x`"):
        rope.rotate(part, positions, out=spread(q, mesh, [Replicate()]))


def trained_frequencies(mesh):
    """The gradient of a trained array is the whole one in every process, plain or a DTensor."""
    from torch.distributed.tensor import Shard, distribute_module

    q = numbers(ROWS, HEADS, LENGTH, DIM)
    for axis in 0, 1, 2:
        for everywhere in False, True:
            rope, positions = made("mixed")
            rope.rotate(q, positions).square().cumsum(-1).sum().backward()
            want = rope.frequencies.grad
            rope, positions = made("mixed")
            rope = distribute_module(rope, mesh) if everywhere else rope
            part = rope.rotate(spread(q, mesh, [Shard(axis)]), positions)
            part.square().cumsum(-1).sum().backward()
            got = rope.frequencies.grad
            got = got.full_tensor() if everywhere else got
            # Summed in another order; a missing or doubled part would be off by all of itself.
            torch.testing.assert_close(got, want, rtol=1e-5, atol=1e-4)


def what_is_refused(mesh):
    from torch.distributed.tensor import DTensor, Partial, Shard

    rope, q, positions = Rotary(dim=DIM), numbers(2, HEADS, LENGTH, DIM), torch.arange(LENGTH)
    with pytest.raises(ValueError, match=r"must not be spread along its features"):
        rope.rotate(spread(q, mesh, [Shard(3)]), positions)
    with pytest.raises(ValueError, match=r"must be spread by Shard or Replicate"):
        rope.rotate(DTensor.from_local(q, mesh, [Partial()]), positions)
    part = spread(q, mesh, [Shard(2)])
    with pytest.raises(ValueError, match=r"`positions` must be those of the whole `x`"):
        rope(part, part, positions[: LENGTH // mesh.size()])
    with pytest.raises(ValueError, match=r"`x` must have its 16 features"):
        rope.rotate(part[..., :8], positions)
    for call in rope.rotate, rope.rotate_, lambda x, where: rope(x, x, where):
        with pytest.raises(TypeError, match=r"`positions` must be a plain tensor where `x` is one"):
            call(q, spread(positions, mesh, [Shard(0)]))


def two_axes_of_processes(mesh):
    """Rows over one axis of a mesh, heads or length over the other; length over both."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import Replicate, Shard

    plane = init_device_mesh("cpu", (2, mesh.size() // 2))
    for name in MODULES:
        rope, positions = made(name)
        rows = positions.expand(ROWS, *positions.shape).clone()
        q, k = numbers(ROWS, HEADS, LENGTH, DIM), numbers(ROWS, HEADS, LENGTH, DIM, seed=1)
        whole = turned(rope, rows, q, k)
        for placements in (
            [Shard(0), Shard(1)],
            [Shard(0), Shard(2)],
            [Shard(2), Shard(2)],
            [Replicate(), Shard(2)],
        ):
            part = turned(rope, rows, *(spread(x, plane, placements) for x in (q, k)))
            for one, other in zip(all_of(part), whole, strict=True):
                same(one, other)


def compiled(mesh):
    from torch.distributed.tensor import Shard

    for name in "rotary", "axial", "xpos":
        rope, positions = made(name)
        q, k = numbers(ROWS, HEADS, LENGTH, DIM), numbers(ROWS, HEADS, LENGTH, DIM, seed=1)
        whole = turned(rope, positions, q, k)
        call = torch.compile(rope, fullgraph=True, backend="aot_eager")
        part = turned(call, positions, *(spread(x, mesh, [Shard(2)]) for x in (q, k)))
        for one, other in zip(all_of(part), whole, strict=True):
            torch.testing.assert_close(one, other, rtol=0, atol=1e-6)


class Tiny(torch.nn.Module):
    """A model with one encoding of every kind: learned table, turning, trained bias."""

    def __init__(self):
        super().__init__()
        self.words = torch.nn.Embedding(11, 2 * DIM)
        self.place = Learned(dim=2 * DIM, length=LENGTH)
        self.qkv = torch.nn.Linear(2 * DIM, 6 * DIM)
        self.rope = Rotary(dim=DIM)
        self.bias = T5(heads=2)

    def forward(self, tokens, positions):
        x = self.place(self.words(tokens), positions)
        shape = (*tokens.shape, 3, 2, DIM)
        q, k, v = self.qkv(x).reshape(shape).permute(2, 0, 3, 1, 4)
        q, k = self.rope(q, k, positions)
        mask = self.bias(positions, positions)
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)


def fully_sharded(mesh):
    """FSDP2 of a model built on meta and filled from a state dict, as large models are."""
    from torch.distributed.checkpoint.state_dict import StateDictOptions, set_model_state_dict
    from torch.distributed.fsdp import fully_shard

    tokens = torch.randint(11, (2, LENGTH), generator=torch.Generator().manual_seed(0))
    positions = torch.arange(LENGTH)
    torch.manual_seed(0)
    one = Tiny()
    want = one(tokens, positions)
    want.square().sum().backward()
    with torch.device("meta"):
        model = Tiny()
    for part in model.place, model.qkv, model.bias, model:
        fully_shard(part, mesh=mesh)
    model.to_empty(device="cpu")
    options = StateDictOptions(full_state_dict=True)
    state = {name: value.clone() for name, value in one.state_dict().items()}
    set_model_state_dict(model, state, options=options)
    assert not any("rope" in name for name in state)
    got = model(tokens, positions)
    same(got, want)
    got.square().sum().backward()
    for (name, mine), (_, whole) in zip(
        model.named_parameters(), one.named_parameters(), strict=True
    ):
        # Every process saw the same rows, so the mean of their gradients is the whole one.
        torch.testing.assert_close(mine.grad.full_tensor(), whole.grad, msg=name)


CHECKS = [
    biased_queries,
    contiguous_sequence,
    dtensor_heads,
    dtensor_length,
    dtensor_rows,
    dtensor_whole,
    fully_sharded,
    in_place_out_and_back,
    length_before_heads,
    plain_heads,
    positions_as_dtensor,
    positions_of_every_axis,
    trained_frequencies,
    two_axes_of_processes,
    uneven_parts,
    what_is_refused,
    zigzag_sequence,
]


def run(rank, ranks, folder, names):
    """One process: every check in turn, what went wrong into a file."""
    import torch.distributed as dist

    torch.set_num_threads(1)
    dist.init_process_group(
        "gloo",
        init_method=f"file://{folder}/store",
        rank=rank,
        world_size=ranks,
        timeout=datetime.timedelta(seconds=60),
    )
    wrong = {}
    mesh = dist.init_device_mesh("cpu", (ranks,))
    for name in names:
        try:
            globals()[name](mesh)
        except Exception:
            wrong[name] = traceback.format_exc()
    (folder / f"{rank}.json").write_text(json.dumps(wrong))
    with contextlib.suppress(Exception):
        dist.destroy_process_group()


def outcomes_of(ranks, folder, names):
    """What went wrong in `ranks` processes, by the name of the check."""
    context = multiprocessing.get_context("spawn")
    processes = [
        context.Process(target=run, args=(rank, ranks, folder, names), daemon=True)
        for rank in range(ranks)
    ]
    for process in processes:
        process.start()
    try:
        for process in processes:
            process.join(timeout=240)
        assert [process.exitcode for process in processes] == [0] * ranks
    finally:
        for process in processes:
            process.kill()
            process.join()
    return [json.loads((folder / f"{rank}.json").read_text()) for rank in range(ranks)]


NAMES = [check.__name__ for check in CHECKS]


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    return outcomes_of(2, tmp_path_factory.mktemp("two"), NAMES)


@pytest.fixture(scope="module")
def four(tmp_path_factory):
    return outcomes_of(4, tmp_path_factory.mktemp("four"), [*NAMES, "compiled"])


def check_all(outcomes, name):
    for rank, wrong in enumerate(outcomes):
        assert name not in wrong, f"in process {rank}:\n{wrong[name]}"


@pytest.mark.parametrize("name", NAMES)
def test_two_processes(two, name):
    check_all(two, name)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*NAMES, "compiled"])
def test_four_processes(four, name):
    check_all(four, name)
