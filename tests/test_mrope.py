"""M-RoPE with images in the text: text alone would hide every fault."""

import dataclasses
import types

import numpy as np
import pytest
from hypothesis import given, strategies as st

from frameworks import numpy
from posenc import Linear, Rotary
from posenc.by_parts import Yarn
from posenc.mrope import MRotary, positions_of

QWEN2 = MRotary(rotary=Rotary(dim=128, base=1e6), sections=(16, 24, 24))
QWEN3 = MRotary(rotary=Rotary(dim=128, base=5e6), sections=(24, 20, 20), order="interleaved")
ERNIE = MRotary(
    rotary=Rotary(dim=128, base=5e5, layout="interleaved"), sections=(20, 22, 22), order="time_last"
)
QWEN3_5 = MRotary(
    rotary=Rotary(dim=256, rotary_dim=64, base=1e7), sections=(11, 11, 10), order="interleaved"
)
GLM = MRotary(rotary=Rotary(dim=128, rotary_dim=64, layout="interleaved"), sections=(8, 12, 12))
MIXED = [3, (2, 3), 1, (4, 1, 2), 2]  # text, an image, text, a video, text
TOKEN = np.asarray([5, 9, 13])

small = st.builds(
    MRotary,
    rotary=st.builds(
        Rotary,
        dim=st.just(20),
        layout=st.sampled_from(["half", "interleaved"]),
        rotary_dim=st.just(16),
        scaling=st.sampled_from([None, Linear(factor=2.0)]),
    ),
    sections=st.just((4, 2, 2)),
    order=st.sampled_from(["contiguous", "interleaved", "time_last"]),
)


def heads(dim, length, seed=0):
    return np.random.default_rng(seed).normal(size=(2, length, dim))


def test_contiguous_sections(framework):
    assert [QWEN2.pair_axes.index(axis) for axis in range(3)] == [0, 16, 40]
    assert list(QWEN2.pair_axes) == sorted(QWEN2.pair_axes)
    cos, sin = QWEN2.table(framework.array(TOKEN))
    assert framework.is_own(cos)
    # (5, 9, 13) with base 1e6, from the formula of Qwen2-VL in float64.
    known = {0: 5.0, 15: 0.1962094879, 16: 0.2846049894, 39: 0.0019860607, 40: 0.0023117632}
    pairs, angle = list(known), list(known.values())
    np.testing.assert_allclose(numpy(cos)[pairs], np.cos(angle), rtol=0, atol=framework.exact)
    np.testing.assert_allclose(numpy(sin)[pairs], np.sin(angle), rtol=0, atol=framework.exact)
    assert float(sin[63]) == pytest.approx(1.61322e-05, rel=1e-5)


def test_interleaved_sections():
    rows, columns = range(1, 59, 3), range(2, 60, 3)
    want = [1 if k in rows else 2 if k in columns else 0 for k in range(64)]
    assert list(QWEN3.pair_axes) == want
    assert QWEN3.pair_axes[:8] == (0, 1, 2, 0, 1, 2, 0, 1)
    assert QWEN3.pair_axes[56:] == (2, 0, 1, 2, 0, 0, 0, 0)
    cos, _ = QWEN3.table(TOKEN)
    known = [5, 7.0724698238, 8.0278738556, 2.4263630595]
    np.testing.assert_allclose(cos[:4], np.cos(known), rtol=0, atol=6e-8)


def test_other_models_sections():
    assert QWEN3_5.pair_axes == (*(0, 1, 2) * 10, 0, 1)
    assert ERNIE.pair_axes == (*(1, 2) * 22, *(0,) * 20)
    # Pairs that do not come out even: time would have 11 of 32, rows and columns 11 and 10.
    with pytest.raises(ValueError, match=r"`sections` must come out even.*\(8, 12, 12\).*\(11, 11"):
        MRotary(rotary=Rotary(dim=64), sections=(8, 12, 12), order="interleaved")


MODELS = {
    "qwen2_vl.Qwen2VLRotaryEmbedding": QWEN2,
    "qwen3_vl.Qwen3VLTextRotaryEmbedding": QWEN3,
    "qwen3_5.Qwen3_5TextRotaryEmbedding": QWEN3_5,
    "glm4v.Glm4vTextRotaryEmbedding": GLM,
    "ernie4_5_vl_moe.Ernie4_5_VLMoeTextRotaryEmbedding": ERNIE,
}


def hugging_face(name, spec, ids):
    """Queries, and the same turned by Hugging Face's own modules, for ids of shape (length, 3)."""
    import importlib

    import torch

    module, cls = name.split(".")
    modeling = importlib.import_module(f"transformers.models.{module}.modeling_{module}")
    text, sections = spec.rotary, list(spec.sections)
    # As much of a config as the modules read. ERNIE's sections are (row, column, time).
    config = types.SimpleNamespace(
        max_position_embeddings=4096,
        head_dim=text.dim,
        rope_parameters={
            "rope_type": "default",
            "rope_theta": text.base,
            "partial_rotary_factor": text.turned / text.dim,
            "mrope_section": sections[1:] + sections[:1] if spec is ERNIE else sections,
        },
    )
    q = torch.tensor(heads(text.dim, len(ids)), dtype=torch.float32)
    cos, sin = getattr(modeling, cls)(config)(q, torch.tensor(ids.T[:, None]))
    return q, modeling.apply_rotary_pos_emb(q[None], q[None], cos, sin)[0][0]


@pytest.mark.parametrize("name", MODELS)
def test_as_hugging_face(name):
    import torch

    spec, ids = MODELS[name], positions_of([3, (9, 14), 1, (4, 5, 6), 2])
    q, want = hugging_face(name, spec, ids)
    # Angles of up to 37 in float32 are off by 2e-6, times values up to 4.
    torch.testing.assert_close(spec.rotate(q, torch.tensor(ids)), want, rtol=0, atol=2e-5)
    got = spec.rotate(q, torch.tensor(ids), precision="float32")
    torch.testing.assert_close(got, want, rtol=0, atol=1e-6)
    # The image must matter, or this says nothing.
    text = spec.rotary.rotate(q, torch.tensor(ids[:, 0]))
    assert (text - want).abs().max() > 0.1


def vl_ids(segments, merge=2):
    """Ids by Hugging Face's get_rope_index for a sequence of such segments, (length, 3)."""
    import torch
    from transformers.models.qwen2_vl.modeling_qwen2_vl import Qwen2VLModel

    kinds, images, videos = [], [], []
    for segment in segments:
        if isinstance(segment, int):
            kinds += [0] * segment
            continue
        frames, rows, columns = segment if len(segment) == 3 else (1, *segment)
        kinds += [len(segment) - 1] * (frames * rows * columns)
        sizes = images if len(segment) == 2 else videos
        sizes.append([frames, rows * merge, columns * merge])
    model = types.SimpleNamespace(
        config=types.SimpleNamespace(vision_config=types.SimpleNamespace(spatial_merge_size=merge))
    )
    model.get_vision_position_ids = types.MethodType(Qwen2VLModel.get_vision_position_ids, model)
    ids, deltas = Qwen2VLModel.get_rope_index(
        model,  # pyright: ignore
        torch.zeros((1, len(kinds)), dtype=torch.int64),
        torch.tensor([kinds]),
        torch.tensor(images) if images else None,
        torch.tensor(videos) if videos else None,
    )
    return ids[:, 0].T.numpy(), int(deltas)


def test_ids_of_text_and_an_image():
    # 3 text, image of 2 x 3 after merging, 2 text: text goes on at 3 + max(2, 3).
    want = [
        *((0, 0, 0), (1, 1, 1), (2, 2, 2)),
        *((3, 3, 3), (3, 3, 4), (3, 3, 5), (3, 4, 3), (3, 4, 4), (3, 4, 5)),
        *((6, 6, 6), (7, 7, 7)),
    ]
    for advance in "all", "space":
        got = positions_of([3, (2, 3), 2], advance=advance)
        assert list(map(tuple, got.tolist())) == want
    ids, delta = vl_ids([3, (2, 3), 2])
    assert ids.tolist() == list(map(list, want))
    assert delta == -3 == got.max() + 1 - len(got)


segment = (
    st.integers(1, 4)
    | st.tuples(st.integers(1, 3), st.integers(1, 3))
    | st.tuples(st.integers(1, 5), st.integers(1, 3), st.integers(1, 3))
)


@given(st.lists(segment, min_size=1, max_size=5))
def test_ids_as_hugging_face(segments):
    # Neighbours of one kind would be one group there.
    segments = [part for between in segments for part in (between, 1)]
    got = positions_of(segments, advance="space")
    ids, delta = vl_ids(segments)
    np.testing.assert_array_equal(got, ids)
    assert delta == got.max() + 1 - len(got)


def test_times_of_frames():
    # Qwen2.5-VL: int(frame * seconds per grid * tokens per second), here 1.0 and 25.
    got = positions_of([2, ((0, 25, 50), 1, 2), 1])
    assert got[2:-1].tolist() == [
        *([2, 2, 2], [2, 2, 3]),
        *([27, 2, 2], [27, 2, 3]),
        *([52, 2, 2], [52, 2, 3]),
    ]
    assert got[-1].tolist() == [53] * 3
    assert positions_of([2, ((0, 25, 50), 1, 2), 1], advance="space")[-1].tolist() == [4] * 3


def test_ids_start_anywhere_and_take_a_library(framework):
    got = positions_of([1, (1, 2)], start=5, like=framework.array([0.5]))
    assert framework.is_own(got)
    assert numpy(got).tolist() == [[5, 5, 5], [6, 6, 6], [6, 6, 7]]
    assert positions_of([]).shape == (0, 3)
    assert positions_of([0, 2]).tolist() == [[0] * 3, [1] * 3]
    whole = positions_of([3, (2, 3), 2])
    rest = positions_of([2], start=int(whole[:9].max()) + 1)
    np.testing.assert_array_equal(whole[9:], rest)


@given(small, st.integers(0, 50))
def test_text_is_plain_rotary(spec, start):
    x = heads(20, 3)
    got = spec.rotate(x, positions_of([3], start=start))
    want = spec.rotary.rotate(x, np.arange(start, start + 3))
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-13)


@given(small)
def test_each_axis_turns_its_section_and_no_more(spec):
    cos, sin = spec.table(np.zeros((1, 3), dtype=int))
    for axis, section in enumerate(spec.sections):
        moved = np.zeros((1, 3), dtype=int)
        moved[0, axis] = 2
        changed = np.any(np.stack(spec.table(moved)) != np.stack([cos, sin]), axis=0)
        assert changed.sum() == section
    x = heads(20, 1)
    # https://github.com/AI-Hypercomputer/maxtext/issues/4616: features beyond rotary_dim stay.
    np.testing.assert_array_equal(spec.rotate(x, moved)[..., 16:], x[..., 16:])


@given(small)
def test_norm_and_inverse(spec):
    ids = positions_of(MIXED)
    x = heads(20, len(ids))
    got = spec.rotate(x, ids)
    np.testing.assert_allclose(np.sum(got**2, -1), np.sum(x**2, -1), rtol=1e-12)
    np.testing.assert_allclose(spec.rotate(got, ids, inverse=True), x, rtol=0, atol=1e-12)


def test_yarn():
    """Its attention factor comes in once, and an inverse turn takes it out again."""
    scaled = Rotary(dim=16, scaling=Yarn(factor=4.0, original_length=64))
    assert scaled.attention_factor == pytest.approx(1.138629)
    spec = MRotary(rotary=scaled, sections=(4, 2, 2))
    ids = positions_of(MIXED)
    x = heads(16, len(ids))
    got = spec.rotate(x, ids)
    norms = np.linalg.norm(got, axis=-1) / np.linalg.norm(x, axis=-1)
    np.testing.assert_allclose(norms, scaled.attention_factor)
    np.testing.assert_allclose(spec.rotate(got, ids, inverse=True), x, rtol=0, atol=1e-13)
    np.testing.assert_array_equal(got[:, :3], scaled.rotate(x[:, :3], ids[:3, 0]))


def test_rows_of_their_own():
    spec = MRotary(rotary=Rotary(dim=8), sections=(1, 1, 2))
    x = np.random.default_rng(0).normal(size=(2, 3, 6, 8))
    ids = np.stack([positions_of([(2, 3)]), positions_of([2, (1, 3), 1])])
    got = spec.rotate(x, ids[:, None])
    for one, own, row in zip(x, ids, got, strict=True):
        np.testing.assert_array_equal(spec.rotate(one, own), row)


def test_dtypes():
    import torch

    ids = torch.tensor(positions_of(MIXED))
    x = torch.tensor(heads(128, len(ids))).to(torch.bfloat16)
    got = QWEN2.rotate(x, ids)
    assert got.dtype == torch.bfloat16
    assert torch.equal(got, QWEN2.rotate(x.float(), ids).to(torch.bfloat16))
    cos, sin = QWEN2.table(ids, dtype=torch.float64)
    assert cos.dtype == sin.dtype == torch.float64


def test_traced():
    import jax
    import torch

    spec = dataclasses.replace(
        QWEN3, rotary=dataclasses.replace(QWEN3.rotary, scaling=Linear(factor=4.0))
    )
    ids = positions_of(MIXED)
    x = heads(128, len(ids)).astype(np.float32)
    want = spec.rotate(x, ids)
    np.testing.assert_allclose(jax.jit(spec.rotate)(x, ids), want, rtol=0, atol=2e-6)
    compiled = torch.compile(spec.rotate, backend="eager", fullgraph=True)
    got = compiled(torch.tensor(x), torch.tensor(ids))
    np.testing.assert_allclose(got.numpy(), want, rtol=0, atol=1e-6)


def test_errors():
    # https://github.com/kekzl/imp/pull/1174: 63 for 64 pairs.
    with pytest.raises(ValueError, match=r"`sections` must add up to 64.*add up to 63"):
        MRotary(rotary=Rotary(dim=128), sections=(16, 24, 23))
    with pytest.raises(ValueError, match=r"`sections` must add up to 32"):
        MRotary(rotary=Rotary(dim=128, rotary_dim=64), sections=(16, 24, 24))
    with pytest.raises(TypeError, match=r"`sections` must be a tuple of integers; got \[16"):
        MRotary(rotary=Rotary(dim=128), sections=[16, 24, 24])  # pyright: ignore
    with pytest.raises(TypeError, match=r"`rotary` must be the encoding of plain text"):
        MRotary(rotary=128, sections=(16, 24, 24))  # pyright: ignore
    with pytest.raises(ValueError, match=r"`order` must be one of 'contiguous', 'interleaved'"):
        dataclasses.replace(QWEN2, order="mixed")
    with pytest.raises(ValueError, match=r"`positions` must have 3 coordinates.*shape \(3, 1, 5\)"):
        QWEN2.table(np.zeros((3, 1, 5), dtype=int))
    with pytest.raises(ValueError, match=r"`segments` must hold.*got \(2,\)"):
        positions_of([(2,)])
    with pytest.raises(TypeError, match=r"`frames` must be an integer; got 0.5"):
        positions_of([((0.5,), 1, 1)])
    with pytest.raises(ValueError, match=r"`advance` must be one of 'all', 'space'"):
        positions_of([1], advance="time")  # pyright: ignore
