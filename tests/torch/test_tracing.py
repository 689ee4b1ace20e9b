"""Compiled, exported, transformed: without a break, without a program per length, same numbers."""

import subprocess
import sys
import textwrap

import pytest
import torch
from torch._dynamo.testing import CompileCounterWithBackend
from torch.autograd import forward_ad
from torch.utils.checkpoint import checkpoint

import posenc
from posenc.torch import AxialRotary, MixedRotary, MRotary, Rotary, XPos, loops, rotary, turning

HEADS, DIM = 4, 16


def numbers(*shape, dtype=torch.float32, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def on_a_line(length):
    return torch.arange(length) + 1_000


def on_a_grid(length):
    return torch.stack([torch.arange(length) // 3, torch.arange(length) % 3], dim=-1)


def in_a_video(length):
    return torch.stack([torch.arange(length), *on_a_grid(length).unbind(-1)], dim=-1)


MODULES = {
    "axial": (AxialRotary(dim=DIM), on_a_grid),
    "axis_half": (AxialRotary(dim=DIM, layout="axis_half"), on_a_grid),
    "yarn": (
        Rotary(dim=DIM, scaling=posenc.Yarn(factor=4.0, original_length=64)),
        on_a_line,
    ),
    "m_rotary": (MRotary(rotary=posenc.Rotary(dim=DIM), sections=(2, 3, 3)), in_a_video),
    "mixed": (MixedRotary(dim=DIM, heads=HEADS), on_a_grid),
    "partial": (Rotary(dim=DIM, rotary_dim=6, layout="interleaved"), on_a_line),
    "rotary": (Rotary(dim=DIM), on_a_line),
    "xpos": (XPos(dim=DIM), on_a_line),
}

modules = pytest.mark.parametrize(
    "name",
    [
        name if name == "rotary" else pytest.param(name, marks=pytest.mark.slow)
        for name in sorted(MODULES)
    ],
)
layouts = pytest.mark.parametrize("layout", ["half", "interleaved"])
pairs = pytest.mark.parametrize("half", [3, 8], ids=["partial", "full"])


@pytest.fixture(autouse=True)
def _start_anew():
    torch._dynamo.reset()
    rotary._TABLES.clear()
    yield
    torch._dynamo.reset()


def inputs(place, length, dtype=torch.float32):
    q, k = (numbers(2, HEADS, length, DIM, dtype=dtype, seed=seed) for seed in (0, 1))
    return q, k, place(length)


def close(got, want, atol=1e-6):
    # The formula and the loop round a sum of two products in float32; xPos doubles a few times.
    torch.testing.assert_close(got, want, rtol=1e-6, atol=atol)


class TestCompiled:
    @modules
    def test_one_program_for_all_lengths(self, name):
        """PyTorch's own rules: one for the first length, one for any other, one for length 1."""
        rope, place = MODULES[name]
        counter = CompileCounterWithBackend("aot_eager")
        compiled = torch.compile(rope, fullgraph=True, backend=counter)
        for length, programs in (5, 1), (7, 2), (9, 2), (1, 3), (1_025, 3), (3, 3), (1, 3):
            given = inputs(place, length)
            close(compiled(*given), rope(*given), atol=1e-5)
            assert counter.frame_count == programs, length

    @pytest.mark.slow
    def test_marked_dynamic_it_is_one_from_the_start(self):
        rope, place = MODULES["rotary"]
        counter = CompileCounterWithBackend("aot_eager")
        compiled = torch.compile(rope, fullgraph=True, backend=counter, dynamic=True)
        compiled(*inputs(place, 5))
        first = counter.frame_count  # PyTorch may begin anew within the first call
        for length in 7, 9, 1_025:
            compiled(*inputs(place, length))
        assert counter.frame_count == first

    def test_decoding_is_one_program(self):
        """A step of one token: its position is a number in a tensor, nothing is compiled anew."""
        rope = Rotary(dim=DIM)
        counter = CompileCounterWithBackend("aot_eager")
        compiled = torch.compile(rope, fullgraph=True, backend=counter)
        for position in range(5, 12):
            q, k, _ = inputs(on_a_line, 1)
            where = torch.tensor([position])
            close(compiled(q, k, where), rope(q, k, where))
        assert counter.frame_count == 1

    @modules
    @pytest.mark.parametrize(
        "dtype",
        [pytest.param(torch.float32, marks=pytest.mark.slow), torch.bfloat16],
        ids=str,
    )
    def test_gradients(self, name, dtype):
        rope, place = MODULES[name]
        compiled = torch.compile(rope, fullgraph=True, backend="aot_eager")
        found = []
        for call in rope, compiled:
            q, k, positions = inputs(place, 6, dtype)
            q, k = q.requires_grad_(), k.requires_grad_()
            rope.zero_grad()
            one, other = call(q, k, positions)
            (one * other).float().cumsum(-1).sum().backward()
            assert q.grad.dtype == dtype
            found.append([q.grad, k.grad, *(p.grad.clone() for p in rope.parameters())])
        last_digit = 1e-5 if dtype == torch.float32 else 2e-2
        for one, other in zip(*found, strict=True):
            torch.testing.assert_close(one, other, rtol=last_digit, atol=100 * last_digit)

    def test_in_place_and_out(self):
        rope, place = MODULES["rotary"]
        q, _, positions = inputs(place, 6)
        want = rope.rotate(q, positions)

        def turn(x, out):
            rope.rotate(x, positions, out=out)
            return rope.rotate_(x, positions)

        compiled = torch.compile(turn, fullgraph=True, backend="aot_eager")
        x, out = q.clone(), torch.empty_like(q)
        assert compiled(x, out) is x
        close([x, out], [want, want])

    def test_the_fused_loop_is_in_the_graph(self):
        seen = []

        def backend(graph, _):
            seen.extend(str(node.target) for node in graph.graph.nodes)
            return graph

        rope, place = MODULES["rotary"]
        torch.compile(rope, fullgraph=True, backend=backend)(*inputs(place, 6))
        assert seen.count("posenc.turn") == 2

    @pytest.mark.slow
    @pytest.mark.parametrize("length", [None, 5, 200])
    def test_a_length_that_the_scaling_looks_at(self, length):
        rope = Rotary(dim=DIM, scaling=posenc.DynamicNTK(factor=2.0, original_length=64))
        compiled = torch.compile(rope, fullgraph=True, backend="aot_eager")
        q, k, _ = inputs(on_a_line, 6)
        close(
            compiled(q, k, torch.arange(6), length=length),
            rope(q, k, torch.arange(6), length=length),
        )

    @pytest.mark.slow
    def test_compiled_before_anything_else_ran(self):
        """Nothing that an eager call leaves behind is needed, and nothing warns."""
        script = """
            import torch, posenc.torch
            rope = posenc.torch.Rotary(dim=8)
            x, place = torch.ones(1, 2, 3, 8), torch.arange(3)
            got, _ = torch.compile(rope, fullgraph=True, backend="aot_eager")(x, x, place)
            assert torch.equal(got, rope.rotate(x, place))
        """
        python(script, "-W", "error", "-W", "ignore::DeprecationWarning")

    @pytest.mark.slow
    def test_checkpointed_within_a_compiled_model(self):
        rope = Rotary(dim=DIM)

        def block(x, positions):
            return rope.rotate(x, positions).square()

        def model(x, positions):
            return checkpoint(block, x, positions, use_reentrant=False).sum()

        found = []
        for call in model, torch.compile(model, fullgraph=True, backend="aot_eager"):
            x, _, positions = inputs(on_a_line, 6)
            x.requires_grad_()
            call(x, positions).backward()
            found.append(x.grad)
        close(*found, atol=1e-5)

    @pytest.mark.slow
    @modules
    def test_inductor(self, name):
        rope, place = MODULES[name]
        compiled = torch.compile(rope, fullgraph=True)
        for dtype in torch.float32, torch.bfloat16:
            for length in 5, 7, 1:
                given = inputs(place, length, dtype)
                last_digit = 1e-5 if dtype == torch.float32 else 2e-2
                close(compiled(*given), rope(*given), atol=last_digit)


class TestGenerated:
    """What Inductor makes of the formula: turning reads and writes each number once."""

    @pytest.mark.slow
    @layouts
    @pairs
    @pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
    def test_the_formula_is_one_kernel(self, layout, half, dtype, monkeypatch):
        from torch._inductor import metrics
        from torch._inductor.utils import run_and_get_code

        # As on a GPU: no fused loop, and what is joined is computed where it is written.
        monkeypatch.setattr(loops, "kinds", dict)
        metrics.reset()
        q = numbers(2, HEADS, 64, DIM, dtype=dtype)
        cos, sin = Rotary(dim=2 * half).table(torch.arange(64))
        compiled = torch.compile(turning.rotate, fullgraph=True)
        with torch._inductor.config.patch(force_pointwise_cat=True):
            got, (code,) = run_and_get_code(compiled, q, cos, sin, layout=layout)
        close(got, turning.rotate(q, cos, sin, layout=layout), atol=2e-2)
        assert metrics.generated_kernel_count == 1
        assert code.count("= empty_strided_cpu(") == 1  # the result, and no temporary


@pytest.mark.filterwarnings("ignore:.isinstance.treespec")  # of PyTorch's own copying
class TestExported:
    @modules
    def test_other_lengths(self, name):
        rope, place = MODULES[name]
        program = exported(rope, place)
        for length in 2, 9, 1_025:
            given = inputs(place, length)
            close(program.module()(*given), rope(*given), atol=1e-5)

    @modules
    def test_core_operators_only(self, name):
        rope, place = MODULES[name]
        program = exported(rope, place).run_decompositions()
        calls = [node.target for node in program.graph.nodes if node.op == "call_function"]
        assert calls
        for call in calls:
            space = getattr(call, "namespace", "python")
            assert space in ("aten", "python", "_operator"), call

    @pytest.mark.slow
    def test_runs_where_posenc_is_not(self, tmp_path):
        rope, place = MODULES["rotary"]
        path, given = tmp_path / "rope.pt2", inputs(place, 9)
        torch.export.save(exported(rope, place), path)
        torch.save((given, rope(*given)), tmp_path / "case.pt")
        script = f"""
            import sys, torch
            sys.modules["posenc"] = None
            given, want = torch.load({str(tmp_path / "case.pt")!r})
            got = torch.export.load({str(path)!r}).module()(*given)
            torch.testing.assert_close(got, want, rtol=0, atol=1e-6)
            assert sys.modules["posenc"] is None
        """
        python(script)

    def test_frequencies_stay_wide_in_a_halved_model(self):
        """Field case 31: a frequency in half precision is off by a turn at position 1,000."""
        rope = Rotary(dim=DIM).half()
        program = exported(rope, on_a_line, torch.float16)
        q = torch.zeros(2, HEADS, 2, DIM, dtype=torch.float16)
        q[..., 0] = 1
        got, _ = program.module()(q, q, torch.tensor([1_000, 100_000]))
        want = torch.tensor([1_000.0, 100_000.0], dtype=torch.float64)
        torch.testing.assert_close(got[0, 0, :, 0], want.cos().half(), rtol=0, atol=1e-3)
        torch.testing.assert_close(got[0, 0, :, 8], want.sin().half(), rtol=0, atol=1e-3)
        constants = program.constants.values()
        assert all(c.dtype != torch.float16 for c in constants if isinstance(c, torch.Tensor))

    def test_traced_to_a_graph(self):
        from torch.fx.experimental.proxy_tensor import make_fx

        rope, place = MODULES["partial"]
        given = inputs(place, 6)
        for mode in "real", "fake", "symbolic":
            graph = make_fx(rope, tracing_mode=mode)(*given)
            close(graph(*given), rope(*given))

    def test_fake_tensors_have_no_memory_to_touch(self):
        from torch._subclasses.fake_tensor import FakeTensorMode

        for name in sorted(MODULES):
            rope, place = MODULES[name]
            if name != "mixed":  # whose parameter is real
                with FakeTensorMode() as mode:
                    given = [mode.from_tensor(tensor) for tensor in inputs(place, 6)]
                    q, k = rope(*given)
                    assert q.shape == k.shape == given[0].shape

    @pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::torch.jit.TracerWarning")
    def test_torchscript_trace(self):
        rope, place = MODULES["rotary"]
        traced = torch.jit.trace(rope, inputs(place, 6), check_trace=False)
        given = inputs(place, 9)
        close(traced(*given), rope(*given))


class TestOperator:
    @layouts
    @pytest.mark.parametrize(
        "dtype",
        [torch.float32, pytest.param(torch.bfloat16, marks=pytest.mark.slow)],
        ids=str,
    )
    def test_registered_right(self, layout, dtype):
        cos, sin = Rotary(dim=DIM).table(torch.arange(6))
        for x in numbers(2, HEADS, 6, DIM, dtype=dtype), numbers(2, 6, HEADS, DIM).transpose(1, 2):
            arguments = (x.requires_grad_(), cos, sin, layout == "interleaved")
            torch.library.opcheck(torch.ops.posenc.turn, arguments)


class TestTransformed:
    @modules
    def test_vmap_over_rows(self, name):
        rope, place = MODULES[name]
        q, k, positions = inputs(place, 6)
        want = rope(q, k, positions)
        mapped = torch.func.vmap(lambda q, k: rope(q[None], k[None], positions))(q, k)
        close([one[:, 0] for one in mapped], list(want), atol=1e-5)

    def test_vmap_over_positions(self):
        rope = Rotary(dim=DIM)
        q = numbers(3, HEADS, 6, DIM)
        rows = torch.arange(18).reshape(3, 6)
        turn = torch.func.vmap(lambda x, where: rope.rotate(x, where))
        close(turn(q, rows), rope.rotate(q, rows))
        close(torch.func.vmap(turn)(q[None], rows[None])[0], rope.rotate(q, rows))

    @layouts
    @pairs
    def test_gradient_of_each_row(self, layout, half):
        rope = Rotary(dim=DIM, rotary_dim=2 * half, layout=layout)
        q, positions = numbers(3, HEADS, 6, DIM), torch.arange(6)

        def loss(x):
            return rope.rotate(x, positions).cumsum(-1).square().sum()

        each = torch.func.vmap(torch.func.grad(loss))(q)
        leaf = q.clone().requires_grad_()
        loss(leaf).backward()
        close(each, leaf.grad, atol=1e-4)

    @layouts
    @pairs
    def test_jacobians_and_hessians(self, layout, half):
        rope = Rotary(dim=DIM, rotary_dim=2 * half, layout=layout)
        x, positions = numbers(2, DIM, dtype=torch.float64), torch.tensor([3, 100_000])

        def turn(x):
            return rope.rotate(x, positions)

        back, ahead = torch.func.jacrev(turn)(x), torch.func.jacfwd(turn)(x)
        close(back, ahead)
        square = back.reshape(2 * DIM, 2 * DIM)
        close(square @ square.T, torch.eye(2 * DIM, dtype=torch.float64))
        hessian = torch.func.hessian(lambda x: turn(x).pow(3).sum())(x)
        assert hessian.isfinite().all()
        assert hessian.abs().max() > 1

    def test_forward_mode(self):
        rope, positions = Rotary(dim=DIM), torch.arange(6)
        x, direction = numbers(6, DIM), numbers(6, DIM, seed=1)
        with forward_ad.dual_level():
            turned = rope.rotate(forward_ad.make_dual(x, direction), positions)
            got = forward_ad.unpack_dual(turned).tangent
        close(got, rope.rotate(direction, positions))

    @layouts
    @pairs
    @pytest.mark.parametrize("inverse", [False, True])
    def test_gradcheck(self, layout, half, inverse):
        rope = Rotary(dim=DIM, rotary_dim=2 * half, layout=layout)
        x = numbers(2, 3, DIM, dtype=torch.float64).requires_grad_()

        def turn(x):
            return rope.rotate(x, torch.arange(3), inverse=inverse)

        assert torch.autograd.gradcheck(turn, x, check_forward_ad=True, check_batched_grad=True)
        assert torch.autograd.gradgradcheck(turn, x)

    def test_functional_call_with_other_weights(self):
        rope, place = MODULES["mixed"]
        given = inputs(place, 6)
        other = MixedRotary(dim=DIM, heads=HEADS)
        got = torch.func.functional_call(rope, dict(other.named_parameters()), given)
        close(got, other(*given))

    def test_autocast_leaves_angles_alone(self):
        rope, place = MODULES["rotary"]
        given = inputs(place, 6)
        want = rope(*given)
        rotary._TABLES.clear()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            close(rope(*given), want)
            compiled = torch.compile(rope, fullgraph=True, backend="aot_eager")
            close(compiled(*given), want)

    @pytest.mark.slow
    def test_inference_first_then_training_compiled(self):
        rope, place = MODULES["rotary"]
        compiled = torch.compile(rope, fullgraph=True, backend="aot_eager")
        with torch.inference_mode():
            compiled(*inputs(place, 6))
        q, k, positions = inputs(place, 6)
        one, _ = compiled(q.requires_grad_(), k, positions)
        one.sum().backward()
        assert q.grad.abs().max() > 0


def exported(rope, place, dtype=torch.float32):
    length = torch.export.Dim("length", min=2, max=1 << 20)
    shapes = ({2: length}, {2: length}, {0: length})
    given = inputs(place, 6, dtype)
    return torch.export.export(rope, given, dynamic_shapes=shapes)


def python(script, *options):
    done = subprocess.run(
        [sys.executable, *options, "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
