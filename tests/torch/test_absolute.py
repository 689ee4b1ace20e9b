"""Vectors added to embeddings: what comes out of forward is judged, in every dtype."""

import copy
import pickle

import numpy as np
import pytest
import torch

import posenc
from frameworks import numpy
from posenc import positions
from posenc.torch import absolute
from posenc.torch.absolute import (
    FourierFeatures,
    Learned,
    LearnedAxes,
    Nerf,
    Sinusoidal,
    SinusoidalAxes,
)

TEXT = {
    "sinusoidal": lambda **own: Sinusoidal(dim=8, **own),
    "sinusoidal_fairseq": lambda **own: Sinusoidal(
        dim=9, layout="half", spacing="endpoint", offset=2, odd="pad", **own
    ),
    "learned": lambda **own: Learned(length=12, dim=8, offset=2, **own),
}
IMAGES = {
    "sinusoidal_axes": lambda **own: SinusoidalAxes(dim=8, axes=(1, 0), **own),
    "learned_axes": lambda **own: LearnedAxes(lengths=(3, 4), widths=(4, 4), **own),
    "fourier_features": lambda **own: FourierFeatures(dim=8, axes=2, **own),
    "nerf": lambda **own: Nerf(octaves=2, axes=2, **own),
}
ALL = sorted(TEXT | IMAGES)
TRACED = [  # the others are among the slow tests
    pytest.param(name, marks=[] if name in ("learned", "sinusoidal") else pytest.mark.slow)
    for name in ALL
]
TRAINED = ["learned", "learned_axes"]


@pytest.fixture(autouse=True)
def _nothing_kept():
    absolute._VECTORS.clear()
    torch.manual_seed(0)


def make(name, **own):
    return (TEXT | IMAGES)[name](**own)


def places(name, length=12):
    if name in IMAGES:
        return positions.grid(3, 4, like=torch.zeros(0))[:length].clone()
    return torch.arange(length)


def width(module):
    return module.spec.dim


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("name", ALL)
def test_the_sum_is_rounded_once(name, dtype):
    module, tokens = make(name), places(name)
    weights = {key: numpy(value) for key, value in module.state_dict().items()}
    x = torch.randn(2, 12, width(module)).to(dtype)
    before = x.clone()
    got = module(x, tokens).detach()
    assert got.dtype == dtype
    assert torch.equal(x, before)
    vectors = module.spec.encode(numpy(tokens), **weights, dtype=np.float64)
    exact = x.double() + torch.asarray(vectors)
    torch.testing.assert_close(got, exact.to(dtype), rtol=torch.finfo(dtype).eps, atol=2e-7)
    if dtype in (torch.bfloat16, torch.float16):
        twice = x + torch.asarray(vectors).to(dtype)
        error, other = (float((y.double() - exact).abs().sum()) for y in (got, twice))
        assert error < other


def test_an_input_of_integers_is_not_cut_to_integers():
    got = Sinusoidal(dim=8)(torch.zeros(1, 5, 8, dtype=torch.int64), torch.arange(5))
    assert got.dtype == torch.float32
    np.testing.assert_allclose(got[0, 1, 0], 0.841471, atol=5e-7)


@pytest.mark.parametrize("cast", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("first", [256, 2048, 70_000])
def test_neighbours_stay_apart_in_half_precision(cast, first):
    """bfloat16 has no 257, float16 no 2049 and nothing above 65504."""
    module = Sinusoidal(dim=64).to(cast)
    tokens = torch.tensor([first, first + 1])
    got = module(torch.zeros(1, 2, 64, dtype=cast), tokens)
    want = posenc.Sinusoidal(dim=64).encode(numpy(tokens), dtype=np.float64)
    np.testing.assert_allclose(numpy(got[0]), want, atol=2e-3 if cast == torch.float16 else 4e-3)
    assert not torch.equal(got[:, 0], got[:, 1])


def test_positions_in_half_precision_are_refused():
    with pytest.raises(TypeError, match="`positions` must not be in half precision"):
        Sinusoidal(dim=4)(torch.zeros(1, 2, 4), torch.arange(2.0).half())


def test_autocast_does_not_round_positions():
    x, tokens = torch.zeros(1, 2, 64), torch.tensor([2048, 2049])
    want = Sinusoidal(dim=64)(x, tokens)
    absolute._VECTORS.clear()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        got = Sinusoidal(dim=64)(x, tokens)
    torch.testing.assert_close(got, want, rtol=0, atol=0)


def test_real_positions():
    got = Sinusoidal(dim=16).encode(torch.tensor([1234.5678], dtype=torch.float64))
    want = posenc.Sinusoidal(dim=16).encode(np.asarray([1234.5678]), dtype=np.float64)
    np.testing.assert_allclose(got, want, atol=6e-8)


@pytest.mark.parametrize(
    ("options", "want"),
    [
        ({}, [0.841471, 0.540302, 0.010000, 0.999950]),
        ({"layout": "half", "spacing": "endpoint"}, [0.841471, 0.000100, 0.540302, 1.000000]),
    ],
)
def test_published_rows(options, want):
    np.testing.assert_allclose(
        Sinusoidal(dim=4, **options).encode(torch.tensor([1]))[0], want, atol=5e-7
    )


def test_flip_sin_to_cos():
    sin, cos = Sinusoidal(dim=8, layout="half").encode(torch.tensor([1]))[0].chunk(2)
    flipped = Sinusoidal(dim=8, layout="half", first="cos").encode(torch.tensor([1]))[0]
    assert torch.equal(flipped, torch.cat([cos, sin]))
    np.testing.assert_allclose(sin**2 + cos**2, 1.0, atol=1e-6)


def test_a_grid_that_is_not_square():
    code, cells = SinusoidalAxes(dim=8, axes=(0, 1)), places("sinusoidal_axes")
    got = code(torch.zeros(1, 12, 8), cells)[0].unflatten(0, (3, 4))
    assert torch.equal(got[2, 0, :4], got[2, 3, :4])  # the first half tells the row
    assert torch.equal(got[0, 3, 4:], got[2, 3, 4:])  # the second the column
    image = code(torch.zeros(1, 3, 4, 8), cells.unflatten(0, (3, 4))[None])[0]
    assert torch.equal(image, got)


def test_kept_patches_keep_their_cells():
    code, kept = SinusoidalAxes(dim=8), torch.tensor([[0, 5, 11], [3, 4, 5]])
    cells = places("sinusoidal_axes")
    got = code(torch.zeros(2, 3, 8), cells[kept])
    want = code(torch.zeros(2, 12, 8), cells)
    torch.testing.assert_close(got, want.gather(1, kept[..., None].expand(-1, -1, 8)))


# --- steps, padding, packing ---


@pytest.mark.parametrize("name", ALL)
def test_steps_give_what_the_full_pass_gives(name):
    module, tokens = make(name), places(name)
    x = torch.randn(2, 12, width(module))
    full = module(x, tokens)
    for step in range(12):
        one = slice(step, step + 1)
        assert torch.equal(module(x[:, one], tokens[one]), full[:, one])


def test_padding_and_packing():
    module, x = Sinusoidal(dim=8), torch.randn(2, 5, 8)
    mask = torch.tensor([[0, 0, 1, 1, 1], [1, 1, 1, 1, 1]])
    got = module(x, positions.from_mask(mask))
    torch.testing.assert_close(got[0, 2:], module(x[:1, 2:], torch.arange(3))[0], rtol=0, atol=0)
    torch.testing.assert_close(got[1:], module(x[1:], torch.arange(5)), rtol=0, atol=0)
    packed = torch.tensor([[0, 1, 2, 0, 1]])
    vectors = module(torch.zeros(1, 5, 8), packed)[0]
    assert torch.equal(vectors[3:], vectors[:2])


def test_roberta_rows():
    module = Learned(length=512, dim=4, offset=2)
    assert module.table.shape == (514, 4)
    got = module(torch.zeros(1, 3, 4), torch.arange(3))
    assert torch.equal(got[0], module.table[2:5])
    assert torch.equal(module.encode(torch.tensor([-1])), module.table[1:2])


@pytest.mark.parametrize("position", [12, -3, 10**6])
def test_beyond_a_trained_table(position):
    module = make("learned")
    with pytest.raises(
        ValueError, match=r"`positions` must lie within -2 .. 11, because the table"
    ):
        module(torch.zeros(1, 1, 8), torch.tensor([position]))
    fused = torch.compile(module, fullgraph=True, backend="eager")
    assert fused(torch.zeros(1, 1, 8), torch.tensor([position])).isnan().all()


def test_beyond_a_trained_grid():
    with pytest.raises(ValueError, match=r"`positions\[..., 1\]` must lie within 0 .. 3"):
        make("learned_axes")(torch.zeros(1, 1, 8), torch.tensor([[0, 4]]))


@pytest.mark.parametrize("shape", [(2,), (5, 2), (2, 1, 5), (3, 5), (), (2, 4)])
def test_positions_that_do_not_fit_are_refused(shape):
    with pytest.raises(ValueError, match=r"`positions` must have shape \(length\) or"):
        Sinusoidal(dim=8)(torch.zeros(2, 5, 8), torch.zeros(shape).long())


def test_coordinates_that_do_not_fit_are_refused():
    code = SinusoidalAxes(dim=8)
    with pytest.raises(ValueError, match=r"`positions` must have shape \(length, axes\) or"):
        code(torch.zeros(2, 5, 8), torch.zeros(4, 2).long())
    with pytest.raises(ValueError, match="`positions` must have 2 coordinates"):
        code(torch.zeros(2, 5, 8), torch.zeros(5, 3).long())


def test_embeddings_of_another_width_are_refused():
    with pytest.raises(ValueError, match=r"`x` must have its 8 features"):
        Sinusoidal(dim=8)(torch.zeros(2, 5, 9), torch.arange(5))


# --- what is kept ---


@pytest.mark.parametrize("name", ["sinusoidal", "sinusoidal_axes"])
def test_vectors_are_made_once_and_never_handed_out(name, monkeypatch):
    module, tokens, made = make(name), places(name), []
    encode = type(module.spec).encode
    monkeypatch.setattr(
        type(module.spec), "encode", lambda *a, **o: made.append(1) or encode(*a, **o)
    )
    x = torch.zeros(1, 12, 8)
    want = module(x, tokens)
    for _ in range(3):
        module(x, tokens).zero_()
        module.encode(tokens, dtype=torch.float32).zero_()
        module.encode(tokens, dtype=torch.float32).numpy()[:] = 7.0
    assert torch.equal(module(x, tokens), want)
    assert len(made) == 1


def test_half_precision_leaves_no_trace_for_others():
    tokens, module = torch.tensor([256, 257]), Sinusoidal(dim=64)
    want = module(torch.zeros(1, 2, 64), tokens)
    absolute._VECTORS.clear()
    assert module.encode(tokens, dtype=torch.bfloat16).dtype == torch.bfloat16
    module(torch.zeros(1, 2, 64).bfloat16(), tokens)
    assert torch.equal(module(torch.zeros(1, 2, 64), tokens), want)


def test_two_bases_share_nothing():
    tokens = torch.arange(9)
    one, other = (Sinusoidal(dim=8, base=base).encode(tokens) for base in (1e4, 5e5))
    assert not torch.equal(one, other)
    want = posenc.Sinusoidal(dim=8, base=5e5).encode(numpy(tokens))
    np.testing.assert_allclose(other, want, atol=6e-8)


def test_growing_and_shrinking_lengths():
    module = Sinusoidal(dim=8)
    rows = [module.encode(torch.arange(length)) for length in (4, 9, 4, 5000)]
    assert torch.equal(rows[1][:4], rows[0])
    assert torch.equal(rows[2], rows[0])
    assert torch.equal(rows[3][:9], rows[1])


def test_inference_then_training():
    module, tokens = Sinusoidal(dim=8), torch.arange(5)
    x = torch.zeros(1, 5, 8, requires_grad=True)
    with torch.inference_mode():
        module(x, tokens)
        module.encode(tokens)
    (module(x, tokens) * module.encode(tokens)).sum().backward()
    assert x.grad.shape == x.shape


# --- training, loading, casting, copying, exporting ---


@pytest.mark.parametrize("name", ALL)
def test_gradients(name):
    module, tokens = make(name).double(), places(name, 3)
    x = torch.randn(1, 3, width(module), dtype=torch.float64, requires_grad=True)
    torch.autograd.gradcheck(lambda x: module(x, tokens), x)
    torch.autograd.gradgradcheck(lambda x: module(x, tokens), x)
    parameters = [p for p in module.parameters() if p.requires_grad]
    assert bool(parameters) == (name in TRAINED)
    for parameter in parameters:
        module(x, tokens).square().sum().backward()
        assert parameter.grad.abs().sum() > 0


@pytest.mark.parametrize("name", TRAINED)
def test_training_changes_the_vectors(name):
    module, tokens = make(name), places(name)
    optimiser = torch.optim.SGD(module.parameters(), lr=0.5)
    x, seen = torch.randn(2, 12, 8), []
    for _ in range(3):
        out = module(x, tokens)
        seen.append(out.detach().clone())
        out.square().mean().backward()
        optimiser.step()
        optimiser.zero_grad()
    assert not torch.equal(seen[0], seen[1])
    assert not torch.equal(seen[1], seen[2])


def test_the_fourier_matrix_is_saved_and_not_trained():
    module = make("fourier_features")
    assert list(module.state_dict()) == ["matrix"]
    assert not module.matrix.requires_grad
    assert not make("fourier_features", device="meta").matrix.requires_grad


@pytest.mark.parametrize("name", ALL)
def test_built_on_meta_and_loaded(name):
    want, tokens = make(name), places(name)
    module = make(name, device="meta").to_empty(device="cpu")
    module.load_state_dict(want.state_dict())
    x = torch.randn(1, 12, width(want))
    torch.testing.assert_close(module(x, tokens), want(x, tokens), rtol=0, atol=0)
    assert sorted(want.state_dict()) == sorted(getattr(want.spec, "weights", {}))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
@pytest.mark.parametrize("name", ALL)
def test_cast_modules(name, dtype):
    module, tokens = make(name), places(name)
    weights = {key: value.to(dtype).double() for key, value in module.state_dict().items()}
    want = module.spec.encode(tokens, **weights, dtype=torch.float64)
    got = module.to(dtype)(torch.zeros(1, 12, width(module)), tokens)
    torch.testing.assert_close(got[0].double(), want, rtol=0, atol=2e-6)


@pytest.mark.parametrize("name", ALL)
def test_copies(name):
    module, tokens = make(name), places(name)
    want = module.encode(tokens)
    for other in copy.deepcopy(module), pickle.loads(pickle.dumps(module)):
        assert torch.equal(other.encode(tokens), want)


@pytest.mark.parametrize("name", TRACED)
def test_compiled_once_for_all_lengths(name):
    module, compiles = make(name), []

    def counting(graph, inputs):
        compiles.append(graph)
        return graph.forward

    torch._dynamo.reset()
    fused = torch.compile(module, fullgraph=True, dynamic=True, backend=counting)
    for length in 12, 7, 6:
        x, tokens = torch.randn(2, length, width(module)), places(name, length)
        torch.testing.assert_close(fused(x, tokens), module(x, tokens), rtol=0, atol=1e-6)
    assert len(compiles) == 1


@pytest.mark.parametrize("name", TRACED)
def test_exported_for_all_lengths(name):
    module, tokens = make(name), places(name, 8)
    length = torch.export.Dim("length", min=2, max=1 << 20)
    example = torch.randn(2, 8, width(module)), tokens
    program = torch.export.export(module, example, dynamic_shapes=({1: length}, {0: length}))
    x, tokens = torch.randn(2, 12, width(module)), places(name)
    torch.testing.assert_close(program.module()(x, tokens), module(x, tokens), rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", ALL)
def test_vmap_over_rows(name):
    module = make(name)
    x, rows = torch.randn(2, 12, width(module)), torch.stack([places(name)] * 2)
    torch.testing.assert_close(torch.vmap(module)(x, rows), module(x, rows), rtol=0, atol=1e-6)
