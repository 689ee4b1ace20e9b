"""Conversion between layouts: rows by hand, scores that stay, and living references."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from frameworks import numpy
from posenc import Rotary, Sinusoidal, convert, rotary

LAYOUTS = ("half", "interleaved")
layouts = pytest.mark.parametrize("to", LAYOUTS)
widths = st.integers(1, 12).map(lambda half: 2 * half)


def other(layout):
    return LAYOUTS[1 - LAYOUTS.index(layout)]


def rows(count, width=3):
    """Rows that say where they came from."""
    return np.arange(float(count))[:, None] + np.arange(width) / 10


def random(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


# Orders by hand.


def test_one_head_of_eight():
    # huggingface/transformers#31766: 8 wide, because in a head of 4 both directions agree.
    assert convert.order(8, to="half") == (0, 2, 4, 6, 1, 3, 5, 7)
    assert convert.order(8, to="interleaved") == (0, 4, 1, 5, 2, 6, 3, 7)
    assert convert.order(4, to="half") == convert.order(4, to="interleaved") == (0, 2, 1, 3)
    assert convert.order(8, to="half", rotary_dim=4) == (0, 2, 1, 3, 4, 5, 6, 7)
    assert convert.order(9, to="half", rotary_dim=8) == (0, 2, 4, 6, 1, 3, 5, 7, 8)


def test_two_heads(framework):
    got = convert.features(framework.array(np.arange(16)), dim=8, to="half")
    assert framework.is_own(got)
    np.testing.assert_array_equal(
        numpy(got), [0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15]
    )
    back = convert.features(got, dim=8, to="interleaved")
    np.testing.assert_array_equal(numpy(back), np.arange(16))


def test_key_heads_are_counted_by_their_width():
    # ggml-org/llama.cpp#3018: 4 heads of queries, 2 of keys. As 4 heads, keys would stay.
    got = convert.features(np.arange(8), dim=4, to="half")
    np.testing.assert_array_equal(got, [0, 2, 1, 3, 4, 6, 5, 7])
    np.testing.assert_array_equal(convert.features(np.arange(8), dim=2, to="half"), np.arange(8))


@given(st.integers(1, 3), widths, st.data())
def test_round_trip(heads, dim, data):
    rotary_dim = data.draw(st.none() | st.integers(1, dim // 2).map(lambda half: 2 * half))
    like = {"dim": dim, "rotary_dim": rotary_dim}
    x = rows(heads * dim)
    for to in LAYOUTS:
        there = convert.features(x, to=to, **like)
        back = convert.features(there, to=other(to), **like)
        np.testing.assert_array_equal(back, x)


# What conversion is for: the same model in the other layout.


@layouts
@pytest.mark.parametrize("rotary_dim", [None, 6, 4])
def test_scores_stay(to, rotary_dim):
    trained = Rotary(dim=8, layout=other(to), rotary_dim=rotary_dim)
    runs = dataclasses.replace(trained, layout=to)
    like = {"dim": 8, "to": to, "rotary_dim": rotary_dim}
    # Four heads of queries, two of keys, with biases and the gain of a norm for each feature.
    q, k = random(32, 5), random(16, 5, seed=1)
    q_bias, k_bias = random(32, seed=2), random(16, seed=3)
    q_gain, k_gain = random(8, seed=4), random(8, seed=5)
    x, place = random(7, 5, seed=6), np.arange(7)

    def scores(spec, convert):
        queries = (x @ convert(q).T + convert(q_bias)).reshape(7, 4, 8) * convert(q_gain)
        keys = (x @ convert(k).T + convert(k_bias)).reshape(7, 2, 8) * convert(k_gain)
        queries = spec.rotate(queries, place[:, None])
        keys = spec.rotate(keys, place[:, None])
        return np.einsum("qhd,khd->hqk", queries, np.repeat(keys, 2, axis=1))

    want = scores(trained, lambda array: array)
    got = scores(runs, lambda array: convert.features(array, **like))
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-12)
    wrong = scores(runs, lambda array: array)
    assert np.abs(wrong - want).max() > 0.1


@layouts
def test_turned_features_move_along(to):
    trained, x = Rotary(dim=16, layout=other(to)), random(5, 16)
    runs = dataclasses.replace(trained, layout=to)
    like = {"dim": 16, "to": to, "axis": -1}
    got = runs.rotate(convert.features(x, **like), np.arange(5))
    np.testing.assert_array_equal(got, convert.features(trained.rotate(x, np.arange(5)), **like))


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_any_axis(axis):
    kernel = random(16, 16)
    turned = np.moveaxis(kernel, axis, 0)
    got = convert.features(kernel, dim=8, to="half", axis=axis)
    want = np.moveaxis(convert.features(turned, dim=8, to="half"), 0, axis)
    np.testing.assert_array_equal(got, want)


# Fused projections.


@layouts
@pytest.mark.parametrize(("heads", "kv_heads"), [(6, 2), (3, 3), (4, 1)])
@pytest.mark.parametrize("rotary_dim", [None, 4])
def test_fused(to, heads, kv_heads, rotary_dim):
    like = {"dim": 8, "to": to, "rotary_dim": rotary_dim}
    count = {"heads": heads, "kv_heads": kv_heads}
    q, k, v = (random(n, 8, 5, seed=n) for n in (heads, kv_heads, kv_heads))
    new_q, new_k = (convert.features(x.reshape(-1, 5), **like).reshape(x.shape) for x in (q, k))

    def blocks(q, k, v):
        return np.concatenate([q, k, v]).reshape(-1, 5)

    def groups(q, k, v):
        q = q.reshape(kv_heads, -1, 8, 5)
        return np.concatenate([q, k[:, None], v[:, None]], axis=1).reshape(-1, 5)

    for fuse, function in (blocks, convert.fused_blocks), (groups, convert.fused_groups):
        got = function(fuse(q, k, v), **count, **like)
        np.testing.assert_array_equal(got, fuse(new_q, new_k, v))
        back = function(got, **count, **(like | {"to": other(to)}))
        np.testing.assert_array_equal(back, fuse(q, k, v))
        bias = function(fuse(q, k, v)[:, 0], **count, **like)
        np.testing.assert_array_equal(bias, got[:, 0])


def attention(family):
    """An attention layer of Hugging Face: its module, its fused projection, its tables."""
    from transformers import FalconConfig, GPTNeoXConfig, Phi3Config
    from transformers.models.falcon import modeling_falcon as falcon
    from transformers.models.gpt_neox import modeling_gpt_neox as neox
    from transformers.models.phi3 import modeling_phi3 as phi3

    shape = {"hidden_size": 32, "num_attention_heads": 4}
    if family == "phi3":
        config = Phi3Config(**shape, num_key_value_heads=2, pad_token_id=None)
        layer = phi3.Phi3Attention(config, layer_idx=0)
        return phi3, layer, layer.qkv_proj, phi3.Phi3RotaryEmbedding(config)
    if family == "neox":
        rope = {"rope_theta": 1e4, "rope_type": "default", "partial_rotary_factor": 0.5}
        config = GPTNeoXConfig(**shape, rope_parameters=rope)
        layer = neox.GPTNeoXAttention(config, layer_idx=0)
        return neox, layer, layer.query_key_value, neox.GPTNeoXRotaryEmbedding(config)
    config = FalconConfig(**shape, num_kv_heads=2, new_decoder_architecture=True)
    layer = falcon.FalconAttention(config, layer_idx=0)
    return falcon, layer, layer.query_key_value, falcon.FalconRotaryEmbedding(config)


@pytest.mark.parametrize(
    ("family", "function", "kv_heads", "rotary_dim"),
    [
        ("phi3", convert.fused_blocks, 2, 8),
        ("neox", convert.fused_groups, 4, 4),
        ("falcon", convert.fused_groups, 2, 8),
    ],
)
def test_layers_of_transformers_stay(family, function, kv_heads, rotary_dim, monkeypatch):
    import torch

    torch.manual_seed(0)
    module, layer, projection, table = attention(family)
    hidden, place = torch.randn(1, 5, 32), torch.arange(5)[None]
    inputs = {"hidden_states": hidden, "attention_mask": torch.zeros(1, 1, 5, 5)}
    inputs["position_embeddings"] = table(hidden, place)
    if family == "falcon":
        inputs["alibi"] = None

    def interleaved(q, k, cos, sin):
        cos, sin = (x[:, None, :, : rotary_dim // 2] for x in (cos, sin))
        return (rotary.rotate(x, cos, sin, layout="interleaved") for x in (q, k))

    with torch.no_grad():
        want, *_ = layer.eval()(**inputs)
        monkeypatch.setattr(module, "apply_rotary_pos_emb", interleaved)
        wrong, *_ = layer(**inputs)
        like = {"dim": 8, "to": "interleaved", "rotary_dim": rotary_dim}
        for parameter in projection.parameters():
            parameter.copy_(function(parameter, heads=4, kv_heads=kv_heads, **like))
        got, *_ = layer(**inputs)
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-6)
    assert (wrong - want).abs().max() > 1e-5


def test_transformers_permutes_alike():
    import torch
    from transformers import PermuteForRope

    weight, bias = torch.randn(32, 5), torch.randn(32)
    config = SimpleNamespace(num_attention_heads=4)
    for inverse, to in (False, "half"), (True, "interleaved"):
        theirs = PermuteForRope(inverse=inverse)
        for x in weight, bias:
            want = theirs.convert({"q": x}, ["q"], ["q"], config)["q"]
            assert torch.equal(convert.features(x, dim=8, to=to), want)


def test_transformers_reads_gguf_keys_alike():
    from transformers.modeling_gguf_pytorch_utils import LlamaTensorProcessor

    reader = LlamaTensorProcessor({"num_attention_heads": 4, "num_key_value_heads": 2})
    for name, count in ("blk.0.attn_q.weight", 4), ("blk.0.attn_k.weight", 2):
        x = random(8 * count, 5)
        want = reader.process(x, name).weights
        np.testing.assert_array_equal(convert.features(x, dim=8, to="half"), want)


# Tables.


@pytest.mark.parametrize(
    ("dim", "odd"), [(8, "refuse"), (8, "trim"), (8, "pad"), (7, "trim"), (7, "pad"), (1, "trim")]
)
@layouts
def test_sinusoidal_tables(framework, dim, odd, to):
    one = Sinusoidal(dim=dim, odd=odd, layout=other(to)).encode(framework.array(np.arange(5)))
    want = Sinusoidal(dim=dim, odd=odd, layout=to).encode(framework.array(np.arange(5)))
    np.testing.assert_array_equal(numpy(convert.table(one, to=to, odd=odd)), numpy(want))


def test_doubled_tables():
    cos, _ = Rotary(dim=8).table(np.arange(5))
    got = convert.table(np.concatenate([cos, cos], axis=-1), to="interleaved")
    np.testing.assert_array_equal(got, np.repeat(cos, 2, axis=-1))


# Libraries.


def test_dtype_and_gradient():
    import torch

    x = torch.randn(16, 3, dtype=torch.bfloat16, requires_grad=True)
    y = convert.features(x, dim=8, to="half")
    assert y.dtype == torch.bfloat16
    y[1].sum().backward()
    assert x.grad[:, 0].nonzero().tolist() == [[2]]
    small = torch.arange(8, dtype=torch.int8)
    assert convert.features(small, dim=8, to="half").dtype == torch.int8


def test_traced():
    import jax
    import jax.numpy as jnp
    import torch

    def turn(x):
        return convert.fused_groups(x, dim=4, heads=2, kv_heads=1, to="half")

    want = turn(np.arange(16.0))
    np.testing.assert_array_equal(jax.jit(turn)(jnp.arange(16.0)), want)
    compiled = torch.compile(turn, fullgraph=True, backend="eager")
    np.testing.assert_array_equal(compiled(torch.arange(16.0)), want)


# What is refused.


def test_errors():
    with pytest.raises(ValueError, match=r"whole heads.*axis 0; got 12.*8 does not divide"):
        convert.features(np.arange(12), dim=8, to="half")
    with pytest.raises(ValueError, match=r"`to` must be one of 'half', 'interleaved'; got to='hf'"):
        convert.features(np.arange(8), dim=8, to="hf")
    with pytest.raises(ValueError, match=r"`dim` must be even.*dim=7"):
        convert.features(np.arange(14), dim=7, to="half")
    with pytest.raises(ValueError, match=r"`rotary_dim` must be even.*rotary_dim=3"):
        convert.features(np.arange(8), dim=8, to="half", rotary_dim=3)
    with pytest.raises(ValueError, match=r"`rotary_dim` must not exceed `dim`.*10, dim=8"):
        convert.features(np.arange(8), dim=8, to="half", rotary_dim=10)
    with pytest.raises(TypeError, match=r"`dim` must be an integer"):
        convert.features(np.arange(8), dim=8.0, to="half")
    with pytest.raises(ValueError, match=r"`axis` must be an axis of `x`; got 1 for shape \(8,\)"):
        convert.features(np.arange(8), dim=8, to="half", axis=1)
    with pytest.raises(TypeError, match=r"got list"):
        convert.features([0, 1, 2, 3], dim=4, to="half")
    with pytest.raises(ValueError, match=r"even width.*'trim' or 'pad'.*got width 7"):
        convert.table(np.zeros((2, 7)), to="half")
    with pytest.raises(ValueError, match=r"`odd` must be one of"):
        convert.table(np.zeros((2, 7)), to="half", odd="drop")


@pytest.mark.parametrize("function", [convert.fused_blocks, convert.fused_groups])
def test_fused_errors(function):
    with pytest.raises(ValueError, match=r"\(heads \+ 2 kv_heads\) \* dim = 64 rows; got 48"):
        function(np.arange(48), dim=8, heads=4, kv_heads=2, to="half")
    with pytest.raises(ValueError, match=r"`heads` must be a multiple of 2.*nearest.*4 and 6"):
        function(np.arange(72), dim=8, heads=5, kv_heads=2, to="half")
    with pytest.raises(ValueError, match=r"`kv_heads` must be at least 1"):
        function(np.arange(64), dim=8, heads=4, kv_heads=0, to="half")
    with pytest.raises(ValueError, match=r"`axis` must be an axis of `x`.*shape \(\)"):
        function(np.asarray(1.0), dim=8, heads=1, kv_heads=1, to="half")
