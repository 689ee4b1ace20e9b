"""Exported to ONNX: judged by the standard's reference evaluator and by onnxruntime."""

import ml_dtypes
import numpy as np
import pytest
import torch

import posenc
from posenc.torch import AxialRotary, MixedRotary, MRotary, Rotary, XPos, onnx as ours

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

# The exporter warns of its own parts, and that two axes share one name.
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore:# The axis name")

# Two roundings of float32 (6e-8 each) of products up to 4; one of half precision.
TOLERANCE = {torch.float32: 1e-6, torch.float16: 2e-3, torch.bfloat16: 2e-2}


class Model(torch.nn.Module):
    def __init__(self, rope):
        super().__init__()
        self.rope = rope

    def forward(self, q, k, positions):
        return self.rope(q, k, positions)


def numbers(*shape, dtype=torch.float32, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def queries(rope, length, dtype):
    sizes = (2, 4, length) if rope.length_axis == -2 else (2, length, 4)
    return numbers(*sizes, 16, dtype=dtype), numbers(*sizes, 16, dtype=dtype, seed=1)


def exported(rope, positions, dtype=torch.float32, *, opset=23, ask=True):
    """A program of 6 tokens, to be run on any number of them."""
    model = Model(rope).eval().to(dtype)
    q, k = queries(rope, 6, dtype)
    length = torch.export.Dim("length", min=2, max=1 << 20)
    tokens, last = {4 + rope.length_axis: length}, {len(positions.shape) - 1: length}
    if not isinstance(rope, Rotary | XPos):
        last = {len(positions.shape) - 2: length}

    def export():
        return torch.onnx.export(
            model,
            (q, k, positions),
            dynamo=True,
            opset_version=opset,
            dynamic_shapes=(tokens, tokens, last),
            verbose=False,
        )

    if not ask:
        return model, export().model_proto
    with ours.rotary_embedding():
        return model, export().model_proto


def names(program):
    return [node.op_type for node in program.graph.node]


def array(tensor):
    if tensor.dtype == torch.bfloat16:
        return tensor.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return tensor.numpy()


def runs(program, *tensors):
    """What the reference evaluator makes of it, and onnxruntime where it takes the dtype."""
    feed = {i.name: array(t) for i, t in zip(program.graph.input, tensors, strict=True)}
    yield onnx.reference.ReferenceEvaluator(program).run(None, feed)
    if tensors[0].dtype != torch.bfloat16:  # of which its Python interface makes no input
        session = onnxruntime.InferenceSession(
            program.SerializeToString(), providers=["CPUExecutionProvider"]
        )
        yield session.run(None, feed)


def check(model, program, positions, dtype):
    onnx.checker.check_model(program, full_check=True)
    q, k = queries(model.rope, 9, dtype)
    with torch.no_grad():
        want = model(q, k, positions)
    for got in runs(program, q, k, positions):
        for one, other in zip(got, want, strict=True):
            error = np.abs(one.astype(np.float32) - other.float().numpy()).max()
            assert error <= TOLERANCE[dtype], error
            if dtype != torch.float32:  # turned in float32: few are rounded to the other side
                assert np.mean(one.astype(np.float32) != other.float().numpy()) < 0.02


slow = pytest.mark.slow
ROTARIES = {
    "half": Rotary(dim=16),
    "length_first": Rotary(dim=16, rotary_dim=8, length_axis=-3),
    "partial": Rotary(dim=16, rotary_dim=6, layout="interleaved"),
    "yarn": Rotary(dim=16, scaling=posenc.Yarn(factor=4.0, original_length=64)),
}


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("half", torch.float16),
        *(
            pytest.param(name, dtype, marks=slow)
            for name in sorted(ROTARIES)
            for dtype in (torch.float32, torch.bfloat16, torch.float16)
            if (name, dtype) != ("half", torch.float16)
        ),
    ],
    ids=str,
)
def test_one_node_for_each_turn(name, dtype):
    """Field case 31: a halved model at far positions. Frequencies stay float64 in the file."""
    rope = ROTARIES[name]
    model, program = exported(rope, torch.arange(6), dtype)
    assert names(program).count("RotaryEmbedding") == 2
    assert names(program).count("Cos") == 1  # one table for both
    kinds = {tensor.data_type for tensor in program.graph.initializer if tensor.dims}
    assert onnx.TensorProto.DOUBLE in kinds
    assert not kinds & {onnx.TensorProto.FLOAT16, onnx.TensorProto.BFLOAT16}
    for start in 0, 1_000, 100_000:
        check(model, program, torch.arange(start, start + 9), dtype)
    if name == "half":
        check_angle(program, dtype)


def check_angle(program, dtype):
    """Cosine and sine themselves: of 1,000 radians, to half a unit of the dtype's last digit."""
    q = torch.zeros(2, 4, 2, 16, dtype=dtype)
    q[..., 0] = 1
    for turned, _ in runs(program, q, q, torch.tensor([1_000, 1_001])):
        got = turned[0, 0, 0, [0, 8]].astype(np.float64)
        want = np.cos(1_000.0), np.sin(1_000.0)
        np.testing.assert_allclose(got, want, atol=torch.finfo(dtype).eps / 2)


@slow
def test_a_row_of_positions_for_each_text():
    model, program = exported(Rotary(dim=16), torch.arange(12).reshape(2, 6))
    assert names(program).count("RotaryEmbedding") == 2
    check(model, program, torch.stack([torch.arange(9), torch.arange(9) - 2]), torch.float32)


@slow
@pytest.mark.parametrize(
    ("rope", "positions", "nodes"),
    [
        (AxialRotary(dim=16), posenc.positions.grid(3, 3, like=torch.ones(1)), 2),
        (
            AxialRotary(dim=16, layout="axis_half"),
            posenc.positions.grid(3, 3, like=torch.ones(1)),
            4,
        ),
        (
            MRotary(rotary=posenc.Rotary(dim=16), sections=(2, 3, 3)),
            torch.arange(27).reshape(9, 3),
            2,
        ),
        # Each head has angles of its own, which the operator has no place for.
        (MixedRotary(dim=16, heads=4), posenc.positions.grid(3, 3, like=torch.ones(1)), 0),
        (XPos(dim=16), torch.arange(9), 2),
    ],
    ids=["axial", "axis_half", "m_rotary", "mixed", "xpos"],
)
def test_other_rotaries(rope, positions, nodes):
    model, program = exported(rope, positions[:6])
    assert names(program).count("RotaryEmbedding") == nodes
    check(model, program, positions, torch.float32)


@slow
@pytest.mark.parametrize("opset", [18, 23])
def test_unasked_it_is_plain_arithmetic_for_every_opset(opset):
    model, program = exported(Rotary(dim=16), torch.arange(6), opset=opset, ask=False)
    assert "RotaryEmbedding" not in names(program)
    check(model, program, torch.arange(100_000, 100_009), torch.float32)


@pytest.mark.parametrize(
    "x",
    [numbers(6, 16), numbers(2, 4, 6, 16).double(), numbers(2, 4, 6, 17)],
    ids=["2", "64", "17"],
)
def test_what_does_not_fit_stays_plain(x):
    rope = Rotary(dim=x.shape[-1], rotary_dim=8)

    class Turn(torch.nn.Module):
        def forward(self, x):
            return rope.rotate(x, torch.arange(6))

    with ours.rotary_embedding():
        program = torch.export.export(Turn(), (x,))
    assert not any("onnx" in str(node.target) for node in program.graph.nodes)
    torch.testing.assert_close(program.module()(x), rope.rotate(x, torch.arange(6)))


def test_asked_for_only_within_the_block():
    rope = Rotary(dim=16)
    q = numbers(2, 4, 6, 16)
    with ours.rotary_embedding():
        with ours.rotary_embedding():
            pass
        assert torch.equal(
            rope.rotate(q, torch.arange(6)), Rotary(dim=16).rotate(q, torch.arange(6))
        )
        asked = torch.export.export(Model(rope), (q, q, torch.arange(6)))
    after = torch.export.export(Model(rope), (q, q, torch.arange(6)))
    found = [
        sum("RotaryEmbedding" in str(node.target) for node in program.graph.nodes)
        for program in (asked, after)
    ]
    assert found == [2, 0]
    with pytest.raises(ZeroDivisionError), ours.rotary_embedding():
        1 / 0  # noqa: B018
    assert not ours._asked
