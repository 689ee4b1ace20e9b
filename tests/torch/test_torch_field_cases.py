"""Probes from public bug reports that the other tests of posenc.torch do not hold already.

The queries and keys that come out are judged, by angles written out here in NumPy. Biases and
vectors are in test_field_biases.py.
"""

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

import posenc
from posenc import _arrays, positions
from posenc.torch import (
    T5,
    Alibi,
    AxialRotary,
    Fire,
    Kerple,
    MixedRotary,
    MRotary,
    Rotary,
    Sandwich,
    Sinusoidal,
    SinusoidalAxes,
    XPos,
    rotary,
    turning,
)


@pytest.fixture(autouse=True)
def _no_tables_of_other_tests():
    rotary._TABLES.clear()


def numbers(*shape, dtype=torch.float32, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def truth(x, place):
    """Halves of `x` (..., length, dim) as pairs, turned in float64."""
    one, other = np.split(x.double().numpy(), 2, axis=-1)
    half = one.shape[-1]
    angle = np.asarray(place, dtype=np.float64)[:, None] * 10_000.0 ** (-np.arange(half) / half)
    cos, sin = np.cos(angle), np.sin(angle)
    return np.concatenate([one * cos - other * sin, other * cos + one * sin], axis=-1)


def check(got, x, place):
    """Half a unit in the last place, and what float32 adds to numbers below 8."""
    assert got.dtype == x.dtype
    rounding = torch.finfo(x.dtype).eps / 2 if x.dtype != torch.float32 else 0
    np.testing.assert_allclose(got.double(), truth(x, place), rtol=rounding, atol=1e-6)


# Low precision.


@pytest.mark.parametrize(
    ("dim", "first", "length", "dtype"),
    [
        (32, 0, 2048, torch.float16),
        (64, 32_767, 3, torch.float16),
        (128, 0, 4096, torch.bfloat16),
    ],
)
def test_a_cast_model_turns_by_whole_angles(dim, first, length, dtype):
    """EleutherAI/gpt-neox#1003, Modalities/modalities#462: tables or frequencies were cast.

    NVIDIA/Megatron-LM#535: positions were, and float16 has no 32,769.
    """
    q, k = (numbers(1, heads, length, dim, dtype=dtype) for heads in (2, 1))
    place = torch.arange(first, first + length)
    for got, x in zip(Rotary(dim=dim).to(dtype)(q, k, place), (q, k), strict=True):
        check(got, x, place)


LONGROPE = posenc.LongRope(
    short_factors=(1.0,) * 8, long_factors=(4.0,) * 8, original_length=64, factor=64.0
)


@pytest.mark.parametrize("cast", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize(
    "scaling",
    [
        None,
        posenc.Linear(factor=2.0),
        posenc.DynamicNTK(factor=2.0, original_length=64),
        posenc.Llama3(factor=8.0, original_length=64),
        LONGROPE,
        posenc.Yarn(factor=64.0, original_length=64),
    ],
    ids=lambda rule: type(rule).__name__,
)
def test_a_longer_table_after_the_model_was_cast(scaling, cast):
    """huggingface/transformers#29496, #35608: it was made of what had been cast before."""
    x, place = numbers(1, 2, 4096, 16), torch.arange(4096)
    used = Rotary(dim=16, scaling=scaling)
    used.rotate(x[:, :, :8], place[:8], length=8)
    got = used.to(cast).rotate(x, place, length=4096)
    rotary._TABLES.clear()
    assert torch.equal(got, Rotary(dim=16, scaling=scaling).rotate(x, place, length=4096))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_real_coordinate(dtype):
    """wfondrie/depthcharge#82: masses such as 1234.5678."""
    x, place = numbers(1, 1, 2, 64), torch.tensor([1234.5678, -0.25], dtype=dtype)
    check(Rotary(dim=64).rotate(x, place), x, place)


GRID = positions.grid(2, 3, like=torch.ones(1))
LINE = torch.arange(6)
TURNING = {
    "axial": (AxialRotary(dim=16), GRID),
    "m_rotary": (MRotary(rotary=posenc.Rotary(dim=16), sections=(2, 3, 3)), GRID[:, [0, 0, 1]]),
    "mixed": (MixedRotary(dim=16, heads=3), GRID),
    "rotary": (Rotary(dim=16), LINE),
    "xpos": (XPos(dim=16), LINE),
}
ADDED = {"axes": (SinusoidalAxes(dim=16), GRID), "sinusoidal": (Sinusoidal(dim=16), LINE)}
BIASES = {
    "alibi": Alibi(heads=3),
    "fire": Fire(heads=3),
    "kerple": Kerple(heads=3),
    "sandwich": Sandwich(heads=3),
    "t5": T5(heads=3),
}


def result(name):
    """What a model would take from the module of that name."""
    if name in BIASES:
        return BIASES[name](LINE, LINE)
    module, place = (TURNING | ADDED)[name]
    x = numbers(2, 3, 6, 16)
    return torch.cat(module(x, x, place)) if name in TURNING else module(x[:, 0], place)


class Watch(TorchDispatchMode):
    """Every operator that runs, and every dtype that comes out."""

    def __init__(self):
        super().__init__()
        self.names, self.dtypes = set(), set()

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        out = function(*args, **(kwargs or {}))
        self.names.add(function.overloadpacket.__name__)
        every = out if isinstance(out, tuple | list) else [out]
        self.dtypes |= {one.dtype for one in every if isinstance(one, torch.Tensor)}
        return out


@pytest.mark.parametrize("name", sorted(TURNING | ADDED))
def test_angles_come_from_no_matrix_product_and_no_complex_number(name):
    """huggingface/transformers#48428: TF32 rounds the positions that enter a product of matrices.

    facebookresearch/sam2#186: complex numbers cannot be exported.
    """
    with Watch() as watch:
        result(name)
    assert "cos" in watch.names
    assert not watch.names & {"addmm", "baddbmm", "bmm", "convolution", "dot", "mm", "mv"}
    assert not any(dtype.is_complex for dtype in watch.dtypes)


@pytest.mark.parametrize("name", sorted(TURNING | ADDED | BIASES))
def test_a_device_without_float64(name, monkeypatch):
    """huggingface/diffusers#12432: tables in float64 crash on Apple's GPUs."""
    want = result(name)
    monkeypatch.setattr(_arrays, "has_float64", lambda x: False)
    rotary._TABLES.clear()
    with Watch() as watch:
        got = result(name)
    assert "cos" in watch.names or name in BIASES
    assert torch.float64 not in watch.dtypes
    torch.testing.assert_close(got, want, rtol=1e-6, atol=2e-6)


# Caches and tables.


@pytest.mark.parametrize("length", [4, 8, 14])
def test_lengths_in_any_order(length):
    """facebookresearch/xformers#728, karpathy/nanochat#520: longer, shorter, beyond what was."""
    module, x = Rotary(dim=16), torch.ones(1, 1, 20, 16)
    whole = module.rotate(x, torch.arange(20))
    part = module.rotate(x[:, :, :length], torch.arange(6, 6 + length))
    assert torch.equal(part, whole[:, :, 6 : 6 + length])


def test_few_lengths_in_turn_are_made_once(monkeypatch):
    """facebookresearch/xformers#728: each change of length made a table anew; a few are kept."""
    made, original = [], Rotary._make
    monkeypatch.setattr(Rotary, "_make", lambda *rest: made.append(1) or original(*rest))
    for length in (8, 4, 8, 4):
        Rotary(dim=16).rotate(torch.ones(1, 1, length, 16), torch.arange(length))
    assert len(made) == 2


def test_forty_layers_hold_one_table(monkeypatch):
    """pytorch/torchtitan#4111: 2.7 GB where 67 MB would do, each layer had its own."""
    seen, original = set(), turning.rotate

    def rotate(x, cos, sin, **options):
        seen.update((cos.data_ptr(), sin.data_ptr()))
        return original(x, cos, sin, **options)

    monkeypatch.setattr(turning, "rotate", rotate)
    q, k = torch.ones(1, 2, 1024, 128), torch.ones(1, 1, 1024, 128)
    for _ in range(40):
        Rotary(dim=128)(q, k, torch.arange(1024))
    assert len(seen) == 2
    kept = [part for entry in rotary._TABLES._kept for part in entry.result]
    assert sum(part.nbytes for part in kept) == 128 * 1024 * 4


def test_text_after_an_image():
    """Blaizzy/mlx-vlm#1621: after 3 words and an image of 2 x 3 text goes on at 6, not at 9."""
    from posenc.mrope import positions_of

    module = MRotary(rotary=posenc.Rotary(dim=16), sections=(2, 3, 3))
    ids = positions_of([3, (2, 3), 2], like=torch.ones(1))
    assert ids[-2:].tolist() == [[6, 6, 6], [7, 7, 7]]
    x = torch.ones(1, 2, len(ids), 16)
    whole = module.rotate(x, ids)
    step = module.rotate(x[:, :, -1:], torch.tensor([[7, 7, 7]]))
    assert torch.equal(step, whole[:, :, -1:])
    check(step, x[:, :, -1:], [7])  # three equal axes turn as a line does


def test_layers_that_share_a_cache():
    """ml-explore/mlx-lm#1702: the layers of a step stand at one place, the next step at another."""
    layers, place = [Rotary(dim=16) for _ in range(3)], torch.tensor([12])
    for step in range(3):
        for number, layer in enumerate(layers):
            x = numbers(1, 1, 1, 16, seed=number)
            check(layer.rotate(x, place), x, [12 + step])
        place += 1  # in place, as serving counts


@pytest.mark.parametrize("heads", [1, 2])
@pytest.mark.parametrize("length_axis", [-2, -3])
def test_heads_cut_out_of_one_projection(heads, length_axis):
    """linkedin/Liger-Kernel#342: strides lie where there is one head, and its keys stayed.

    lucidrains/rotary-embedding-torch#31: the caller's tensor was written to.
    """
    module, place = Rotary(dim=16, length_axis=length_axis), torch.arange(7, 12)
    projected = numbers(2, 5, (4 + 2 * heads) * 16)
    before = projected.clone()
    q, k, _ = (
        part.unflatten(-1, (-1, 16)).transpose(1, 2)  # (batch, heads, length, dim)
        for part in projected.split([64, heads * 16, heads * 16], dim=-1)
    )
    swap = length_axis == -3
    given = [x.transpose(1, 2) if swap else x for x in (q, k)]
    for got, x in zip(module(*given, place), (q, k), strict=True):
        check(got.transpose(1, 2) if swap else got, x, place)
    assert torch.equal(projected, before)
    want = truth(k, place)
    module.rotate_(given[1], place)
    np.testing.assert_allclose(k, want, rtol=0, atol=1e-6)
    keys = slice(64, 64 + heads * 16)
    before[..., keys] = projected[..., keys]
    assert torch.equal(projected, before)


# Rows.


@pytest.mark.parametrize("scaling", [None, posenc.DynamicNTK(factor=2.0, original_length=5)])
def test_rows_with_different_padding(scaling):
    """huggingface/transformers#22161, OpenNMT/CTranslate2#1372: alone or in a padded batch.

    Two tokens of padding make no text longer than the 5 that dynamic NTK was trained for.
    """
    module = Rotary(dim=16, scaling=scaling)
    mask = torch.tensor([[0, 0, 1, 1, 1, 1, 1], [1, 1, 1, 1, 0, 0, 0]])
    q, k = numbers(2, 4, 7, 16), numbers(2, 1, 7, 16, seed=1)
    turned = module(q, k, positions.from_mask(mask))
    for got, x in zip(turned, (q, k), strict=True):
        check(got[0, :, 2:], x[0, :, 2:], range(5))
        check(got[1, :, :4], x[1, :, :4], range(4))


def test_packed_samples():
    """huggingface/nanoVLM#201: samples of 101 and 201 tokens count from 0 each."""
    ids = positions.packed([101, 201], like=torch.ones(1))
    assert ids[[100, 101, -1]].tolist() == [100, 0, 200]
    x = numbers(1, 1, 302, 16)
    check(Rotary(dim=16).rotate(x, ids), x, [*range(101), *range(201)])


def test_a_share_of_packed_samples():
    """NVIDIA/Megatron-LM#5243: two samples of 4 on 2 processes; rank 0 has rows 0, 3, 4, 7."""
    rows = positions.shard([4, 4], rank=0, ranks=2, like=torch.ones(1))
    assert rows.tolist() == [0, 3, 4, 7]
    x, ids = numbers(1, 2, 8, 16), positions.packed([4, 4], like=torch.ones(1))
    check(Rotary(dim=16).rotate(x[:, :, rows], ids[rows]), x[:, :, rows], [0, 3, 0, 3])
