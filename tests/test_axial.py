"""Turning on grids that are not square, against the models' own code run alive."""

import dataclasses
import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, strategies as st

from frameworks import numpy
from posenc import Rotary, grids, positions
from posenc.axial import AxialRotary

X = np.arange(1.0, 9.0)
# Computed in float64 from the formulas of the named files: head of 8, row 1, column 2.
PIXTRAL = AxialRotary(dim=8, layout="interleaved", spectrum="dealt")
KNOWN = {
    # mistralai/mistral-inference (2557e12), rope.py.
    "pixtral": (
        PIXTRAL,
        [
            *(-1.1426396637, 1.9220755965, 2.9598506679, 4.0297995017),
            *(3.7083169044, 6.873746121, 6.9839860107, 8.0139839907),
        ],
    ),
    # transformers 5.24.0, models/pixtral.
    "pixtral, half": (
        dataclasses.replace(PIXTRAL, layout="half"),
        [
            *(-3.6670526182, 1.9399010008, 1.549514418, 3.9839920107),
            *(3.5429825141, 6.0196996692, 7.4564740373, 8.0079839947),
        ],
    ),
    # baaivision/EVA (5623d08), EVA-02/asuka/rope.py.
    "eva-02": (
        AxialRotary(dim=8, layout="interleaved"),
        [
            *(-1.1426396637, 1.9220755965, 2.9598506679, 4.0297995017),
            *(-7.5365187437, 2.0496061148, 6.8386107131, 8.1383907202),
        ],
    ),
    # transformers 5.24.0, models/qwen2_vl.
    "qwen2-vl vision": (
        AxialRotary(dim=8),
        [
            *(-3.6670526182, 1.9399010008, -7.6135224974, 3.8392106931),
            *(3.5429825141, 6.0196996692, -0.1851355754, 8.0783947201),
        ],
    ),
    # transformers 5.24.0, models/gemma4.
    "gemma 4 vision": (
        AxialRotary(dim=8, base=100.0, layout="axis_half"),
        [
            *(-1.9841106486, 1.590674664, 2.4623779024, 4.1796834944),
            *(-8.4458161705, 4.2910448207, 1.6334592783, 9.0325486075),
        ],
    ),
    # naver-ai/rope-vit (ce85c2e), models/vit_rope.py.
    "rope-vit": (
        AxialRotary(dim=8, axes=(1, 0), base=100.0, layout="interleaved"),
        [
            *(-2.2347416902, 0.0770037537, 2.1455224103, 4.5162743038),
            *(-2.3473143795, 7.4491687592, 6.1663618238, 8.6588672388),
        ],
    ),
}
DINOV3 = AxialRotary(dim=8, base=100.0, scale=math.tau)

specs = st.builds(
    AxialRotary,
    dim=st.integers(1, 4).map(lambda pairs: 12 * pairs),
    axes=st.sampled_from([(0, 1), (1, 0), (0, 1, 2), (2, 0, 1)]),
    base=st.sampled_from([100.0, 10_000.0]),
    layout=st.sampled_from(["half", "interleaved"]),
    order=st.sampled_from(["contiguous", "alternating"]),
    spectrum=st.sampled_from(["own", "dealt"]),
    scale=st.sampled_from([1.0, 0.5]),
) | st.builds(
    AxialRotary,
    dim=st.integers(1, 4).map(lambda pairs: 12 * pairs),
    axes=st.sampled_from([(0, 1), (1, 0), (2, 0, 1)]),
    layout=st.just("axis_half"),
)
near = st.permutations(range(40))


def heads(dim, length, seed=0):
    return np.random.default_rng(seed).normal(size=(2, length, dim))


def half_turned(x, cos, sin):
    """What Hugging Face's vision towers do with a table that holds every cosine twice."""
    import torch

    one, other = x.chunk(2, -1)
    return x * cos + torch.cat([-other, one], -1) * sin


def pairwise_turned(x, cos, sin):
    import torch

    return x * cos + torch.stack([-x[..., 1::2], x[..., 0::2]], -1).flatten(-2) * sin


@pytest.mark.parametrize("name", KNOWN)
def test_known_values(name):
    spec, want = KNOWN[name]
    got = spec.rotate(X, np.asarray([1, 2]))
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-9)
    swapped = spec.rotate(X, np.asarray([2, 1]))
    assert not np.allclose(swapped, want, atol=0.1)


def test_every_library(framework):
    spec, want = KNOWN["gemma 4 vision"]
    cell = framework.array([[0, 0], [1, 2]])
    x = framework.array(np.stack([X, X]), "float32")
    got = spec.rotate(x, cell)
    assert framework.is_own(got)
    assert got.dtype == framework.xp.float32
    # Values up to 9.4: eight times as coarse as the promise for 1.
    np.testing.assert_allclose(numpy(got), [X, want], rtol=0, atol=10 * framework.exact)
    cos, sin = PIXTRAL.table(cell)
    angle = np.asarray([1.0, 0.01, 2 * 0.1, 2 * 0.001])
    np.testing.assert_allclose(numpy(cos)[1], np.cos(angle), rtol=0, atol=framework.exact)
    np.testing.assert_allclose(numpy(sin)[1], np.sin(angle), rtol=0, atol=framework.exact)


def test_eva_scale():
    # Trained on 16 x 16, used on 24 x 24: the second step is 2/3 of a trained one.
    spec = AxialRotary(dim=8, layout="interleaved", scale=16 / 24)
    got = spec.rotate(X, np.asarray([1, 23]))
    want = AxialRotary(dim=8, layout="interleaved").rotate(X, np.asarray([1, 23]) * (16 / 24))
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-13)


def test_dinov3():
    # facebookresearch/dinov3 (6876159): grid 3 x 4, cell (1, 2) is (0, 0.25), periods 1 and 10.
    centres = grids.centres(3, 4)
    want = [1, 2, -7, 2.6992776421, 5, 6, 3, 8.5272445849]
    np.testing.assert_allclose(DINOV3.rotate(X, centres[6]), want, rtol=0, atol=1e-9)
    cos, sin = DINOV3.table(centres[3])  # cell (0, 3)
    angle = [-4.1887902048, -0.4188790205, 4.7123889804, 0.4712388980]
    np.testing.assert_allclose(np.stack([cos, sin]), [np.cos(angle), np.sin(angle)], atol=6e-8)
    wide = AxialRotary(dim=64, base=100.0, scale=math.tau)
    assert math.tau / wide.frequencies[1][-1] == pytest.approx(74.9894209332)


def test_as_dinov3():
    import torch
    from transformers import DINOv3ViTConfig
    from transformers.models.dinov3_vit import modeling_dinov3_vit

    config = DINOv3ViTConfig(hidden_size=48, num_attention_heads=3, patch_size=16, rope_theta=100.0)
    module = modeling_dinov3_vit.DINOv3ViTRopePositionEmbedding(config).eval()
    cos, sin = module(torch.zeros(1, 3, 3 * 16, 5 * 16))
    q = torch.tensor(heads(16, 4 + 15), dtype=torch.float32)
    want, _ = modeling_dinov3_vit.apply_rotary_pos_emb(q[None], q[None], cos, sin)
    spec = AxialRotary(dim=16, base=100.0, scale=math.tau)
    # The class token and three registers stand at 0, where nothing turns.
    cells = torch.cat([torch.zeros(4, 2), grids.centres(3, 5, like=q)])
    # Hugging Face forms angles of up to 2 pi in float32: 5e-7, times values up to 4.
    torch.testing.assert_close(spec.rotate(q, cells), want[0], rtol=0, atol=4e-6)


def vision_table(family, config, cells):
    """The cosines and sines of one of Hugging Face's vision towers."""
    import importlib

    import torch

    name, cls = family
    modeling = importlib.import_module(f"transformers.models.{name}.modeling_{name}")
    module = getattr(modeling, cls)(config)
    return module(torch.zeros(1), torch.tensor(cells))


def test_as_qwen2_vl_and_pixtral_and_kimi():
    import torch
    from transformers import PixtralVisionConfig, Qwen2VLConfig
    from transformers.models.kimi_k25.configuration_kimi_k25 import Kimi_K25VisionConfig

    axial = {"rope_type": "axial", "rope_theta": 10_000.0}
    wide = {"hidden_size": 32, "num_attention_heads": 2, "rope_parameters": axial}
    qwen = Qwen2VLConfig().vision_config
    qwen.embed_dim, qwen.num_heads, qwen.num_attention_heads = 32, 2, 2
    families = [
        (("qwen2_vl", "Qwen2VLVisionRotaryEmbedding"), qwen, AxialRotary(dim=16)),
        (
            ("pixtral", "PixtralVisionRotaryEmbedding"),
            PixtralVisionConfig(**wide),
            AxialRotary(dim=16, spectrum="dealt"),
        ),
        (
            ("kimi_k25", "Kimi_K25VisionRotaryEmbedding"),
            Kimi_K25VisionConfig(**wide),
            AxialRotary(dim=16, axes=(1, 0), order="alternating"),
        ),
    ]
    cells = positions.grid(3, 5)
    q = torch.tensor(heads(16, 15), dtype=torch.float32)
    for family, config, spec in families:
        cos, sin = vision_table(family, config, cells)
        got = spec.rotate(q, torch.tensor(cells))
        torch.testing.assert_close(got, half_turned(q, cos, sin), rtol=0, atol=2e-6)


def test_as_gemma4():
    import torch
    from transformers.models.gemma4 import modeling_gemma4
    from transformers.models.gemma4.configuration_gemma4 import Gemma4VisionConfig

    config = Gemma4VisionConfig(hidden_size=32, num_attention_heads=2, head_dim=16)
    module = modeling_gemma4.Gemma4VisionRotaryEmbedding(config)
    cells = torch.tensor(positions.grid(3, 5))
    q = torch.tensor(heads(16, 15), dtype=torch.float32)
    cos, sin = module(q, cells[None])
    want = modeling_gemma4.apply_multidimensional_rope(
        q[None].transpose(1, 2), cos, sin, cells[None], unsqueeze_dim=2
    )
    spec = AxialRotary(dim=16, base=100.0, layout="axis_half")
    got = spec.rotate(q, cells)
    torch.testing.assert_close(got, want.transpose(1, 2)[0], rtol=0, atol=2e-6)


def test_as_llama4():
    import torch
    from transformers.models.llama4 import modeling_llama4
    from transformers.models.llama4.configuration_llama4 import Llama4VisionConfig

    config = Llama4VisionConfig(hidden_size=32, num_attention_heads=2, image_size=56, patch_size=14)
    turns = modeling_llama4.Llama4VisionRotaryEmbedding(config)(torch.zeros(1))
    q = torch.tensor(heads(16, 17), dtype=torch.float32)
    want, _ = modeling_llama4.vision_apply_rotary_emb(
        q.transpose(0, 1)[None], q.transpose(0, 1)[None], turns
    )
    # The module knows square grids only; the class token comes last and does not turn.
    spec = AxialRotary(dim=16, axes=(1, 0), layout="interleaved")
    cells = torch.cat(
        [torch.tensor(positions.grid(4, 4)) + 1, torch.zeros(1, 2, dtype=torch.int64)]
    )
    torch.testing.assert_close(spec.rotate(q, cells), want[0].transpose(0, 1), rtol=0, atol=2e-6)


def test_as_minimax_m3():
    import torch
    from transformers.models.minimax_m3_vl import modeling_minimax_m3_vl
    from transformers.models.minimax_m3_vl.configuration_minimax_m3_vl import (
        MiniMaxM3VLVisionConfig,
    )

    config = MiniMaxM3VLVisionConfig(hidden_size=40, num_attention_heads=2)
    module = modeling_minimax_m3_vl.MiniMaxM3VLVisionRotaryEmbedding(config)
    cells = torch.tensor(positions.grid(2, 3, 4))
    q = torch.tensor(heads(20, 24), dtype=torch.float32)
    cos, sin = module(q, cells)
    want, _ = modeling_minimax_m3_vl.apply_rotary_pos_emb_vision(
        q.transpose(0, 1), q.transpose(0, 1), cos, sin
    )
    spec = AxialRotary(dim=20, axes=(0, 1, 2), rest="leave")
    assert sum(spec.shares) == 18
    got = spec.rotate(q, cells)
    torch.testing.assert_close(got, want.transpose(0, 1), rtol=0, atol=2e-6)
    assert torch.equal(got[..., 18:], q[..., 18:])


def test_as_rotary_embedding_torch():
    import torch
    from rotary_embedding_torch import RotaryEmbedding, apply_rotary_emb

    module = RotaryEmbedding(dim=8, theta=100.0, cache_if_possible=False)
    angles = module.get_axial_freqs(3, 5).reshape(15, 16)
    q = torch.tensor(heads(16, 15), dtype=torch.float32)
    spec = AxialRotary(dim=16, base=100.0, layout="interleaved")
    got = spec.rotate(q, torch.tensor(positions.grid(3, 5)))
    torch.testing.assert_close(got, apply_rotary_emb(angles, q), rtol=0, atol=2e-6)


def test_wan_and_flux_shares():
    wan = AxialRotary(dim=64, axes=(0, 1, 2), layout="interleaved", rest="first")
    assert wan.shares == (24, 20, 20)
    assert [len(turning) for turning in wan.frequencies] == [12, 10, 10]
    flux = AxialRotary(dim=128, axes=(0, 1, 2), layout="interleaved", widths=(16, 56, 56))
    x = heads(128, 1)
    got = flux.rotate(x, np.asarray([[5, 1, 2]]))
    blocks = [(slice(0, 16), 5), (slice(16, 72), 1), (slice(72, 128), 2)]
    for block, coordinate in blocks:
        one = Rotary(dim=x[..., block].shape[-1], layout="interleaved")
        want = one.rotate(x[..., block], np.asarray([coordinate]))
        np.testing.assert_allclose(got[..., block], want, rtol=0, atol=1e-15)


@pytest.mark.parametrize("layout", ["half", "interleaved", "axis_half"])
def test_what_no_axis_turns_stays(layout):
    spec = AxialRotary(dim=11, widths=(2, 6), rest="leave", layout=layout)
    x = heads(11, 15)
    got = spec.rotate(x, positions.grid(3, 5) + 1)
    np.testing.assert_array_equal(got[..., 8:], x[..., 8:])
    assert (got[..., :8] != x[..., :8]).all()


@given(specs, near)
def test_norm_is_kept_and_the_origin_does_not_turn(spec, coordinates):
    count = len(spec.axes)
    x = heads(spec.dim, 2)
    cells = np.asarray([coordinates[:count], [0] * count])
    got = spec.rotate(x, cells)
    np.testing.assert_allclose(np.sum(got**2, -1), np.sum(x**2, -1), rtol=1e-12)
    np.testing.assert_array_equal(got[:, 1], x[:, 1])
    np.testing.assert_allclose(spec.rotate(got, cells, inverse=True), x, rtol=0, atol=1e-12)


@given(specs, near, near, near)
def test_scores_depend_on_the_displacement(spec, query, key, step):
    count = len(spec.axes)
    q, k = heads(spec.dim, 1), heads(spec.dim, 1, seed=1)
    query, key, step = (np.asarray([c[:count]]) for c in (query, key, step))
    score = np.sum(spec.rotate(q, query) * spec.rotate(k, key), -1)
    moved = np.sum(spec.rotate(q, query + step) * spec.rotate(k, key + step), -1)
    np.testing.assert_allclose(moved, score, rtol=0, atol=1e-11)


@given(specs, near, near)
def test_every_pair_turns_with_one_axis(spec, here, there):
    """Moving along one axis changes as many pairs as that axis has, and no others."""
    count = len(spec.axes)
    here, there = np.asarray(here[:count]) + 1, np.asarray(there[:count]) + 50
    changed = 0
    for axis, share in zip(spec.axes, spec.shares, strict=True):
        moved = here.copy()
        moved[axis] = there[axis]
        before, after = spec.table(here), spec.table(moved)
        pairs = np.any(np.stack(before) != np.stack(after), axis=0)
        assert pairs.sum() == share // 2
        changed = changed + pairs.astype(int)
    np.testing.assert_array_equal(changed, 1)


def test_alternating_is_a_permutation_of_blocks():
    blocks = AxialRotary(dim=16, layout="interleaved")
    alternating = dataclasses.replace(blocks, order="alternating")
    order = [0, 4, 1, 5, 2, 6, 3, 7]
    for one, other in zip(blocks.table(X[:2]), alternating.table(X[:2]), strict=True):
        np.testing.assert_array_equal(one[order], other)
    # The two ways to deal out the head's frequencies make one plain rotary table.
    dealt = dataclasses.replace(alternating, spectrum="dealt")
    same = np.asarray([7, 7])
    for one, other in zip(dealt.table(same), Rotary(dim=16).table(same[:1]), strict=True):
        np.testing.assert_array_equal(one, other[0])


def test_kept_patches():
    # https://github.com/huggingface/pytorch-image-models/issues/2549
    x, kept = heads(8, 12), np.asarray([0, 5, 11])
    spec = AxialRotary(dim=8)
    whole = spec.rotate(x, positions.grid(3, 4))
    got = spec.rotate(x[:, kept], grids.unravel(kept, 3, 4))
    np.testing.assert_array_equal(got, whole[:, kept])


def test_images_of_their_own():
    x = np.random.default_rng(0).normal(size=(2, 3, 4, 8))  # batch, heads, length, dim
    cells = np.stack([positions.grid(1, 4), positions.grid(2, 2)])
    spec = AxialRotary(dim=8)
    got = spec.rotate(x, cells[:, None])
    for one, own, image in zip(x, cells, got, strict=True):
        np.testing.assert_array_equal(spec.rotate(one, own), image)
    with pytest.raises(ValueError, match=r"`positions` must have one axis for tokens"):
        spec.rotate(x, cells)


def test_half_precision_turns_in_float32():
    import torch

    x = torch.randn(5, 8, generator=torch.Generator().manual_seed(0)).to(torch.bfloat16)
    cells = torch.tensor([[0, 257], [256, 1], [3, 3], [257, 256], [0, 0]])
    for layout in "half", "interleaved", "axis_half":
        spec = AxialRotary(dim=8, layout=layout)
        got = spec.rotate(x, cells)
        assert got.dtype == torch.bfloat16
        assert torch.equal(got, spec.rotate(x.float(), cells).to(torch.bfloat16))
    with pytest.raises(TypeError, match="half precision"):
        spec.rotate(x, cells.to(torch.bfloat16))


def test_traced():
    import jax
    import torch

    x, cells = heads(12, 15).astype(np.float32), positions.grid(3, 5)
    for spec in (
        AxialRotary(dim=12, widths=(4, 6), rest="leave", layout="axis_half"),
        AxialRotary(dim=12, order="alternating", spectrum="dealt"),
    ):
        want = spec.rotate(x, cells)
        np.testing.assert_allclose(jax.jit(spec.rotate)(x, cells), want, rtol=0, atol=1e-6)
        compiled = torch.compile(spec.rotate, backend="eager", fullgraph=True)
        got = compiled(torch.tensor(x), torch.tensor(cells))
        np.testing.assert_allclose(got.numpy(), want, rtol=0, atol=1e-6)


def test_errors():
    with pytest.raises(ValueError, match=r"`dim` must be a multiple of 4.*dim=6.*4 and 8"):
        AxialRotary(dim=6)
    with pytest.raises(ValueError, match=r"`axes` must be a tuple"):
        AxialRotary(dim=8, axes=(1, 2))
    with pytest.raises(ValueError, match=r"`order` must be 'contiguous' for layout='axis_half'"):
        AxialRotary(dim=8, layout="axis_half", order="alternating")
    with pytest.raises(ValueError, match=r"`widths` must be equal for spectrum='dealt'.*\(4, 8\)"):
        AxialRotary(dim=12, widths=(4, 8), spectrum="dealt")
    with pytest.raises(ValueError, match=r"`rest` must be one of 'refuse', 'first', 'leave'"):
        AxialRotary(dim=8, rest="trim")  # pyright: ignore
    spec = AxialRotary(dim=8)
    with pytest.raises(ValueError, match=r"`positions` must have 2 coordinates.*\(12,\)"):
        spec.rotate(heads(8, 12), np.arange(12))
    with pytest.raises(ValueError, match=r"`x` must have its 8 features"):
        spec.rotate(heads(16, 12), positions.grid(3, 4))
    with pytest.raises(ValueError, match=r"`positions` must have one axis for tokens"):
        spec.rotate(heads(8, 12), positions.grid(2, 4))


def test_scaled_coordinates_stay_exact_far_out(framework):
    spec = AxialRotary(dim=8, scale=16 / 24)
    far = [[1000, 2**24 + 1], [2**31 - 1, 2**30]]
    cos, sin = spec.table(framework.array(far))
    with mpmath.workdps(50):
        scale = mpmath.mpf(16 / 24)
        turning = [scale * mpmath.mpf(spec.base) ** (-mpmath.mpf(2 * k) / 4) for k in range(2)]
        angle = [[p * w for p in row for w in turning] for row in far]
        for got, function in (cos, mpmath.cos), (sin, mpmath.sin):
            want = [[float(function(a)) for a in row] for row in angle]
            np.testing.assert_allclose(numpy(got), want, rtol=0, atol=framework.exact)
