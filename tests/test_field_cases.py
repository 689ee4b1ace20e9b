"""What went wrong in other code, one small test a report, where no file of its own has it.

The reports are public. Numbers come from the formulas, written out here in NumPy or mpmath.
"""

import importlib
import math

import mpmath
import numpy as np
import pytest

from posenc import frequencies, positions, precision
from posenc.alibi import Alibi
from posenc.axial import AxialRotary
from posenc.cope import Cope
from posenc.learned import Learned, resample
from posenc.mixed import MixedRotary
from posenc.rotary import Rotary, rotate
from posenc.scaling import DynamicNTK
from posenc.sinusoidal import Sinusoidal
from posenc.t5 import T5
from posenc.xpos import XPos


def random(*shape):
    return np.random.default_rng(0).standard_normal(shape)


def attention(q, k, v):
    weights = np.exp(q @ k.T)
    return weights / weights.sum(-1, keepdims=True) @ v


# Turning.


def test_turned_values_carry_the_position_into_the_result():
    # lucidrains/x-transformers#182: queries and keys turn, values do not.
    spec, (q, k, v) = Rotary(dim=8), random(3, 4, 8)
    alone = attention(
        spec.rotate(q[:1], np.asarray([7])), spec.rotate(k[:1], np.asarray([7])), v[:1]
    )
    np.testing.assert_array_equal(alone, v[:1])
    near, far = np.arange(4), np.arange(1000, 1004)
    same, moved = (
        [attention(spec.rotate(q, p), spec.rotate(k, p), values(p)) for p in (near, far)]
        for values in (lambda p: v, lambda p: spec.rotate(v, p))
    )
    np.testing.assert_allclose(same[0], same[1], rtol=0, atol=1e-11)
    assert np.abs(moved[0] - moved[1]).max() > 0.1


def test_padding_a_table_with_ones_is_no_rotation():
    # vllm-project/vllm#55204: cos 1 and sin 0 leave a pair; 1 and 1 turn it by 45 degrees, longer.
    one = np.ones(1)
    x = np.asarray([1.0, 0.0])
    for layout in "half", "interleaved":
        assert rotate(x, one, 0 * one, layout=layout).tolist() == [1, 0]
        got = rotate(x, one, one, layout=layout)
        assert got.tolist() == [1, 1]
        np.testing.assert_allclose(np.linalg.norm(got), 1.414214, atol=5e-7)


def test_layers_of_two_bases_take_turns():
    # vllm-project/vllm#29111: sliding-window layers had the base of the others.
    place = np.asarray([100])
    for base, angle in (1e4, 1.0), (1e6, 0.1), (1e4, 1.0):
        cos, sin = Rotary(dim=4, base=base).table(place)
        want = [math.cos(angle), math.sin(angle)]
        np.testing.assert_allclose([cos[0, 1], sin[0, 1]], want, rtol=0, atol=6e-8)


def test_a_table_holds_each_pair_once():
    # pytorch/torchtitan#4111, ml-explore/mlx#360: one table for every layer, half as wide.
    spec, place = Rotary(dim=128), np.arange(1024)
    cos, sin = spec.table(place)
    assert cos.nbytes + sin.nbytes == 128 * 1024 * 4
    for x in random(3, 1024, 128).astype(np.float32):
        np.testing.assert_array_equal(rotate(x, cos, sin, layout="half"), spec.rotate(x, place))


# Low precision.


def test_the_angle_of_a_reduced_table():
    # EleutherAI/gpt-neox#1003: pair 1 of 16 at 1857; float16 makes 1044.27 radians 1045.
    spec = Rotary(dim=32)
    angle = 1857 * spec.frequencies[1]
    np.testing.assert_allclose(angle, 1044.2678, rtol=0, atol=5e-5)
    reduced = precision.rounded(1857 * precision.rounded(spec.frequencies[1], "float16"), "float16")
    assert reduced == 1045
    cos, _ = spec.table(np.asarray([1857]), dtype=np.float16)
    assert cos[0, 1] == np.float16(math.cos(angle))
    assert abs(float(cos[0, 1]) - math.cos(reduced)) > 0.5


def test_phases_of_bfloat16_frequencies():
    # Modalities/modalities#462: off by 5 radians at position 4095, where 0.01 is asked for.
    import torch

    w = np.asarray(frequencies.geometric(128))
    off = np.abs(precision.rounded(w, "bfloat16") - w).max()
    at = np.asarray([255, 512, 1024, 2048, 4095, 8191])
    np.testing.assert_allclose(at * off, [0.312, 0.626, 1.253, 2.505, 5.009, 10.02], atol=6e-3)
    spec, place = Rotary(dim=128), torch.arange(4096)
    unit = torch.zeros(4096, 128, dtype=torch.bfloat16)
    unit[:, :64] = 1
    turned = spec.rotate(unit, place).double().numpy()
    phase = np.arctan2(turned[:, 64:], turned[:, :64])
    gap = phase - np.arange(4096)[:, None] * w
    # The result is bfloat16, half a unit of 2**-8 on either side; the angle is not.
    assert np.abs(np.remainder(gap + np.pi, 2 * np.pi) - np.pi).max() < 1e-2


def test_a_real_coordinate_keeps_its_digits():
    # wfondrie/depthcharge#82: masses such as 1234.5678.
    got = Sinusoidal(dim=64).encode(np.asarray([1234.5678]))[0]
    with mpmath.workdps(50):
        angles = [
            mpmath.mpf(1234.5678) / mpmath.mpf(10_000) ** (k / mpmath.mpf(32)) for k in range(32)
        ]
        want = [float(f(a)) for a in angles for f in (mpmath.sin, mpmath.cos)]
    np.testing.assert_allclose(got, want, rtol=0, atol=6e-8)


def test_a_call_leaves_no_trace():
    # sgl-project/sglang#33117 and huggingface/transformers#29496: the cache went to bfloat16. A
    # result that is written to, or made in half precision, or longer, changes no later one.
    import torch

    place = torch.arange(64)
    for call in (
        lambda p, **like: Rotary(dim=16).table(p, **like)[0],
        lambda p, **like: Sinusoidal(dim=16).encode(p, **like),
        lambda p, **like: XPos(dim=16).table(p, role="key", **like)[0],
        lambda p, **like: Alibi(heads=6, direction="symmetric").bias(p, p, **like),
    ):
        first = call(place)
        want = first.clone()
        first.zero_()
        call(torch.arange(128), dtype=torch.bfloat16)
        got = call(place)
        assert got.dtype == torch.float32
        assert torch.equal(got, want)


def test_an_exported_half_precision_model_keeps_its_angles():
    # openvinotoolkit/openvino#35674: frequencies went to float16; facebookresearch/sam2#186:
    # complex numbers cannot be exported.
    import torch

    class Turn(torch.nn.Module):
        def forward(self, x, place):
            return Rotary(dim=64).rotate(x, place)

    x, place = torch.ones(8, 64, dtype=torch.float16), torch.arange(1000, 1008)
    program = torch.export.export(Turn().half(), (x, place))
    for node in program.graph.nodes:
        value = node.meta.get("val")
        assert not (isinstance(value, torch.Tensor) and value.is_complex())
    angles = np.arange(1000, 1008)[:, None] * np.asarray(frequencies.geometric(64))
    cos, sin = np.cos(angles), np.sin(angles)
    want = np.concatenate([cos - sin, cos + sin], axis=-1)
    # Values up to 1.5: half a unit of float16 there is 2**-11.
    np.testing.assert_allclose(program.module()(x, place), want, rtol=0, atol=2**-11 + 1e-6)


# Positions, caches and tables.


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_a_longer_table_starts_with_the_shorter_one(library):
    # facebookresearch/xformers#728: lengths 8, 4 and 8 again.
    xp = importlib.import_module(library)
    for call in (
        lambda p: Rotary(dim=16).table(p)[1],
        lambda p: XPos(dim=16).table(p, role="query")[1],
        lambda p: Sinusoidal(dim=16).encode(p),
    ):
        long, *others = (np.asarray(call(xp.arange(length))) for length in (100, 8, 4, 8))
        for rows in others:
            np.testing.assert_array_equal(rows, long[: len(rows)])


def test_start_and_length_are_checked_together():
    # karpathy/nanochat#520: 4 tokens fit a table of 8, but not from position 6 on.
    spec, table = Learned(length=8, dim=2), random(8, 2)
    assert spec.encode(positions.count(4, offset=4), table=table).shape == (4, 2)
    with pytest.raises(ValueError, match=r"`positions` must lie within 0 .. 7.*from 6 to 9"):
        spec.encode(positions.count(4, offset=6), table=table)


def test_dynamic_ntk_forgets_a_longer_text():
    # transformers 5.24.0 keeps 0.2395 for a text of just the original length.
    spec = Rotary(dim=16, scaling=DynamicNTK(original_length=16, factor=2.0))
    short, middle, long = (16, 0.316228), (24, 0.286414), (64, 0.239478)
    for length, want in short, middle, long, middle, short:
        np.testing.assert_allclose(spec.frequencies_at(length)[1], want, rtol=0, atol=5e-6)


def test_trained_frequencies_are_read_anew():
    # naver-ai/rope-vit#14: a table made once does not follow the optimiser.
    import torch

    spec, cells = MixedRotary(dim=8, heads=1), torch.tensor(positions.grid(2, 3))
    trained = torch.tensor(spec.initial_weights()["frequencies"], requires_grad=True)
    optimiser, seen = torch.optim.SGD([trained], lr=0.1), []
    for _ in range(3):
        cos, sin = spec.table(cells, frequencies=trained)
        assert all(not torch.equal(cos, before) for before in seen)
        seen.append(cos.detach())
        optimiser.zero_grad()
        (cos.sum() + sin.sum()).backward()
        optimiser.step()


# Biases.


def test_slopes_in_float16_lose_the_bias():
    # Dao-AILab/flash-attention#845; heads that are no power of two have slopes that are none.
    spec, keys = Alibi(heads=12), np.arange(1001)
    got = spec.bias(np.asarray([1000]), keys, dtype=np.float16)[:, 0]
    exact = np.asarray(spec.slopes)[:, None] * (keys - 1000.0)
    np.testing.assert_array_equal(got, exact.astype(np.float16))
    early = np.asarray(spec.slopes, dtype=np.float16)[:, None] * (keys - 1000).astype(np.float16)
    assert np.any(early != got)


def test_t5_has_two_tables_for_all_layers():
    # huggingface/transformers#13397: one for the encoder, one for the decoder, none across.
    both = [T5(heads=12, bidirectional=way).weights for way in (True, False)]
    assert both == [{"table": (32, 12)}] * 2


# Sinusoids and grids.


def test_two_layouts_of_four_features():
    # tatp22/multidim-positional-encoding#20: values changed with a release.
    one = np.asarray([1])
    got = Sinusoidal(dim=4).encode(one)
    np.testing.assert_allclose(got, [[0.841471, 0.540302, 0.010000, 0.999950]], atol=5e-7)
    got = Sinusoidal(dim=4, layout="half", spacing="endpoint").encode(one)
    np.testing.assert_allclose(got, [[0.841471, 0.000100, 0.540302, 1.000000]], atol=5e-7)


def test_time_steps_with_the_cosine_first():
    # flashinfer-ai/flashinfer#3819: flip_sin_to_cos gives [cos | sin], and once is enough.
    w = 10_000.0 ** (-np.arange(4) / 4)
    got = Sinusoidal(dim=8, layout="half", first="cos").encode(np.asarray([1]))[0]
    np.testing.assert_allclose(got, [*np.cos(w), *np.sin(w)], rtol=0, atol=6e-8)


def test_resampling_does_not_swap_rows_and_columns():
    # pytorch/torchtitan#4244: a table of row + 10 column stays one; two swaps cancel on squares.
    row, column = np.indices((2, 5)).reshape(2, 10)
    table = np.stack([row, 10.0 * column], axis=-1)
    got = resample(table, old=(2, 5), new=(3, 9), method="linear", corners="aligned")
    row, column = np.indices((3, 9)).reshape(2, 27)
    np.testing.assert_allclose(got, np.stack([row / 2, 5 * column], axis=-1), rtol=0, atol=1e-13)


def test_wavelengths_longer_than_the_grid():
    # facebookresearch/vggt-omega#35: base 100 on 37 cells, 9 of 16 pairs finish no turn.
    for turning in AxialRotary(dim=64, base=100.0).frequencies:
        got = np.asarray(frequencies.wavelengths(turning))
        np.testing.assert_allclose(got, 2 * np.pi * 100 ** (np.arange(16) / 16), rtol=1e-14)
        assert np.sum(got > 37) == 9


# Check values of the formulas, each computed in float64 or wider.


def test_block_of_a_shift():
    # Vaswani et al. 2017, section 3.5: the transpose of RoPE's turn, as the sine comes first.
    spec = Sinusoidal(dim=8)
    one, three, four, five, seven = (
        spec.shift(np.asarray(steps), dtype=np.float64) for steps in (1, 3, 4, 5, 7)
    )
    want = [[0.283662185463, -0.958924274663], [0.958924274663, 0.283662185463]]
    np.testing.assert_allclose(five[:2, :2], want, rtol=0, atol=1e-12)
    assert np.count_nonzero(one) == 16
    np.testing.assert_allclose(three @ four, seven, rtol=0, atol=5e-16)
    here, there = spec.encode(np.asarray([37, 42]), dtype=np.float64)
    np.testing.assert_allclose(five @ here, there, rtol=0, atol=5e-16)


GAPS = [0, 1, 10, 100, 1000, 2, 5, 50]


@pytest.mark.parametrize(
    ("dim", "want"),
    [
        (
            8,
            [
                *(4, 3.5352559716, 1.6961849425, 1.5585538144, 1.1259287254),
                *(2.5637177480, 3.1599825078, 3.1249610362),
            ],
        ),
        (
            64,
            [
                *(32, 30.9168316616, 21.0516288246, 17.8746687851, 8.9259667499),
                *(28.3038620041, 23.5039708104, 15.6737969555),
            ],
        ),
        (512, [256, 249.1020978274, 173.7897249237, 111.9502086486, 44.9716048445]),
    ],
)
def test_products_by_gap(dim, want):
    spec, gaps = Sinusoidal(dim=dim), np.asarray(GAPS[: len(want)])
    np.testing.assert_allclose(spec.similarity(gaps, dtype=np.float64), want, rtol=0, atol=1e-10)
    here, there = (spec.encode(p, dtype=np.float64) for p in (np.asarray([123]), 123 + gaps))
    np.testing.assert_allclose(there @ here[0], want, rtol=0, atol=1e-10)
    if dim == 512:
        np.testing.assert_allclose(np.linalg.norm(there[1] - here[0]), 3.714270365129, rtol=1e-12)


def test_sines_then_cosines():
    # kimiyoung/transformer-xl, pytorch/mem_transformer.py: the paper's columns in another order.
    got = Sinusoidal(dim=4, layout="half").encode(np.asarray([3]), dtype=np.float64)
    want = [[0.14112000806, 0.02999550020, -0.98999249660, 0.99955003375]]
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-11)


def test_whisper():
    # openai/whisper, whisper/model.py, sinusoids; no table of the paper's spacing will do.
    spec, place = Sinusoidal(dim=384, layout="half", spacing="endpoint"), np.arange(1500)
    got = spec.encode(place, dtype=np.float64)
    want = [0.841470984808, 0.815112010444, 0.540302305868, 0.579303383754, 0.999999995]
    np.testing.assert_allclose(got[1, [0, 1, 192, 193, 383]], want, rtol=0, atol=1e-12)
    other = Sinusoidal(dim=384, layout="half").encode(place, dtype=np.float64)
    np.testing.assert_allclose(np.abs(got - other).max(), 1.9805, rtol=0, atol=5e-5)


def test_wavelengths_at_both_ends_of_llama_3s_middle():
    # 8192 / 4 and 8192 / 1 tokens: pairs 29 to 34 lie between.
    got = frequencies.wavelengths(frequencies.geometric(128, 500_000.0))
    np.testing.assert_allclose([got[28], got[35]], [1956.497265545, 8218.718194051], rtol=1e-12)
    assert [k for k, wave in enumerate(got) if 2048 <= wave <= 8192] == [29, 30, 31, 32, 33, 34]


@pytest.mark.parametrize(
    ("gate", "gates"),
    [
        ("scaled", [0.412520999160, 0.195570317493, 0.412520999160, 0.587479000840]),
        ("raw", [1 / (1 + math.exp(-x)) for x in (-0.5, -2.0, -0.5, 0.5)]),
    ],
)
def test_gates_of_cope(gate, gates):
    # Golovneva et al. 2024, section 4: what a key adds to the count is its gate.
    q = np.asarray([[1, 0], [0, 1], [1, 1], [0.5, -1]])
    k = np.asarray([[1, 1], [0, 2], [-1, 0], [2, 0.5]])
    at = np.arange(4)
    counts = Cope(dim=2, length=9, gate=gate).count(q[None], k[None], at, at)[0, 3]
    np.testing.assert_allclose(-np.diff(counts, append=0), gates, rtol=0, atol=1e-12)
