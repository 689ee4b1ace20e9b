"""Masks for scaled_dot_product_attention: the attention's output is judged, not the mask alone."""

import copy
import pickle

import numpy as np
import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention as attend

import posenc
from frameworks import numpy
from posenc import positions
from posenc.torch.bias import MASKS, T5, Alibi, Fire, Kerple, Sandwich, Swin, SwinV2

TEXT = {
    "alibi": lambda **own: Alibi(heads=3, **own),
    "alibi_symmetric": lambda **own: Alibi(heads=3, direction="symmetric", **own),
    "fire": lambda **own: Fire(heads=3, width=3, threshold=4.5, **own),
    "kerple": lambda **own: Kerple(heads=3, **own),
    "kerple_power": lambda **own: Kerple(heads=3, form="power", **own),
    "sandwich": lambda **own: Sandwich(heads=3, **own),
    "t5": lambda **own: T5(heads=3, **own),
    "t5_decoder": lambda **own: T5(heads=3, bidirectional=False, **own),
}
IMAGES = {
    "swin": lambda **own: Swin(heads=3, window=(2, 5), **own),
    "swin_v2": lambda **own: SwinV2(heads=3, window=(2, 5), hidden=4, **own),
}
TRACED = [  # the others are among the slow tests
    pytest.param(name, marks=[] if name in ("swin", "t5") else pytest.mark.slow)
    for name in sorted(TEXT | IMAGES)
]
TRAINED = ["fire", "kerple", "kerple_power", "swin", "swin_v2", "t5"]


@pytest.fixture(autouse=True)
def _nothing_kept():
    MASKS.clear()
    torch.manual_seed(0)


def make(name, **own):
    return (TEXT | IMAGES)[name](**own)


def places(name, length=10):
    if name in IMAGES:
        return positions.grid(2, 5, like=torch.zeros(0))[:length].clone()
    return torch.arange(length)


def vectors(*shape, heads=3, dim=8):
    """Queries, keys and values: (batch, heads, tokens, dim) each."""
    return torch.randn(3, shape[0], heads, shape[1], dim)


def by_hand(q, k, v, bias, scale):
    """Attention in float64, term by term."""
    scores = q.double() @ k.double().mT * (q.shape[-1] ** -0.5 if scale is None else scale)
    return (scores + bias.double()).softmax(-1) @ v.double()


@pytest.mark.parametrize("name", sorted(TEXT | IMAGES))
def test_attention_with_the_mask_is_attention_with_the_formula(name):
    module, tokens = make(name), places(name)
    q, k, v = vectors(2, 10)
    with torch.no_grad():
        got = attend(q, k, v, attn_mask=module(tokens, tokens), scale=module.scale)
    weights = {key: numpy(value) for key, value in module.state_dict().items()}
    bias = module.spec.bias(numpy(tokens), numpy(tokens), **weights)
    want = by_hand(q, k, v, torch.asarray(bias), module.scale)
    torch.testing.assert_close(got, want.float(), rtol=0, atol=2e-6)


@pytest.mark.parametrize("name", sorted(TEXT))
def test_steps_give_what_the_full_pass_gives(name):
    module, tokens = make(name), torch.arange(10)
    q, k, v = vectors(2, 10)
    causal = torch.ones(10, 10, dtype=torch.bool).tril()[None]
    full = attend(q, k, v, attn_mask=module(tokens, tokens, keep=causal), scale=module.scale)
    for step in 0, 1, 9:
        seen = tokens[: step + 1]
        got = attend(
            q[..., step : step + 1, :],
            k[..., : step + 1, :],
            v[..., : step + 1, :],
            attn_mask=module(tokens[step : step + 1], seen),
            scale=module.scale,
        )
        torch.testing.assert_close(got, full[..., step : step + 1, :], rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", sorted(TEXT))
def test_prefill_in_chunks(name):
    module, tokens = make(name), torch.arange(10)
    full = module(tokens, tokens)
    chunks = [module(tokens[:6], tokens), module(tokens[6:], tokens)]
    torch.testing.assert_close(torch.cat(chunks, -2), full, rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", sorted(TEXT))
def test_left_padding_changes_nothing(name):
    module = make(name)
    q, k, v = vectors(1, 5)
    alone = attend(q, k, v, attn_mask=module(torch.arange(5), torch.arange(5)), scale=module.scale)
    padding = torch.full((3, 1, 3, 3, 8), 1e3)
    q, k, v = torch.cat([padding, torch.stack([q, k, v])], dim=-2)
    keep = torch.tensor([[0, 0, 0, 1, 1, 1, 1, 1]]).bool()
    tokens = positions.from_mask(keep)
    mask = module(tokens, tokens, keep=keep)
    assert mask.shape == (1, 3, 8, 8)
    got = attend(q, k, v, attn_mask=mask, scale=module.scale)
    torch.testing.assert_close(got[..., 3:, :], alone, rtol=0, atol=1e-6)
    assert got.isfinite().all()  # padding attends to nothing at all


@pytest.mark.parametrize("name", sorted(TEXT))
def test_packed_texts_do_not_see_each_other(name):
    module = make(name)
    q, k, v = vectors(1, 8)
    parts = [slice(0, 3), slice(3, 8)]
    document = torch.tensor([[0, 0, 0, 1, 1, 1, 1, 1]])
    tokens = positions.from_documents(document)
    assert tokens.tolist() == [[0, 1, 2, 0, 1, 2, 3, 4]]
    keep = document[:, :, None] == document[:, None, :]
    got = attend(q, k, v, attn_mask=module(tokens, tokens, keep=keep), scale=module.scale)
    for part in parts:
        own = torch.arange(part.stop - part.start)
        alone = attend(
            *(x[..., part, :] for x in (q, k, v)), attn_mask=module(own, own), scale=module.scale
        )
        torch.testing.assert_close(got[..., part, :], alone, rtol=0, atol=1e-6)


def test_rows_of_a_batch_with_different_padding():
    module = Alibi(heads=3)
    q, k, v = vectors(2, 6)
    keep = torch.tensor([[0, 0, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1]]).bool()
    tokens = positions.from_mask(keep)
    got = attend(q, k, v, attn_mask=module(tokens, tokens, keep=keep))
    for row, first in (0, 2), (1, 0):
        own = torch.arange(6 - first)
        alone = attend(
            *(x[row : row + 1, :, first:] for x in (q, k, v)), attn_mask=module(own, own)
        )
        torch.testing.assert_close(got[row : row + 1, :, first:], alone, rtol=0, atol=1e-6)


def test_cross_attention_with_other_lengths():
    module = T5(heads=3)
    q, k, v = vectors(2, 7)
    got = module(torch.arange(4), torch.arange(7))
    want = module.spec.bias(torch.arange(4), torch.arange(7), table=module.table)
    torch.testing.assert_close(got, want, rtol=0, atol=0)
    assert attend(q[:, :, :4], k, v, attn_mask=got, scale=1.0).shape == (2, 3, 4, 8)


def test_one_mask_serves_rows_with_their_own_padding():
    mask = Alibi(heads=3)(
        torch.arange(4), torch.arange(4), keep=torch.tensor([[True] * 4, [False, *[True] * 3]])
    )
    assert mask.shape == (2, 3, 4, 4)
    assert (mask[1, :, :, 0] == -torch.inf).all()
    assert (mask[0, :, :, 0] > -torch.inf).all()


def test_a_single_row_of_padding():
    mask = Alibi(heads=3)(torch.arange(3), torch.arange(3), keep=torch.tensor([False, True, True]))
    assert mask.shape == (3, 3, 3)
    assert (mask[:, :, 0] == -torch.inf).all()


@pytest.mark.parametrize(
    "shape",
    [
        (4, 1),
        (2, 1),
        (2, 4),
        (4,),
        (2, 5),
        (2, 3, 5),
        (3, 4, 5),
        (2, 1, 4, 5),
        (3, 5),
        (2, 3, 4, 5),
        (),
    ],
)
def test_a_keep_that_does_not_fit_is_refused(shape):
    rows = torch.arange(4).expand(2, 4)
    keys = torch.arange(5).expand(2, 5)
    keep = torch.ones(shape, dtype=torch.bool)
    if shape == (2, 5):
        assert Alibi(heads=3)(rows, keys, keep=keep).shape == (2, 3, 4, 5)
        return
    with pytest.raises(ValueError, match=r"`keep` must have shape \(\*batch, keys\).*keep\[None\]"):
        Alibi(heads=3)(rows, keys, keep=keep)


def test_two_axes_are_never_queries_and_keys():
    """(queries, keys) would look like a batch, so it is one only where that fits the positions."""
    keep = torch.ones(4, 5, dtype=torch.bool)
    assert Alibi(heads=3)(torch.arange(4), torch.arange(5), keep=keep).shape == (4, 3, 4, 5)
    assert Alibi(heads=3)(torch.arange(4), torch.arange(5), keep=keep[None]).shape == (1, 3, 4, 5)


def test_keep_of_a_wrong_type_is_refused():
    for keep in (torch.ones(5), torch.ones(5).int(), [True] * 5):
        with pytest.raises(TypeError, match="`keep` must hold booleans, True where"):
            Alibi(heads=3)(torch.arange(5), torch.arange(5), keep=keep)


def test_positions_of_floats_are_refused():
    with pytest.raises(TypeError, match="`query_positions` must be integers"):
        Alibi(heads=3)(torch.arange(5.0), torch.arange(5))


# --- against the libraries that models use ---


def bloom_attention(q, k, v, keep):
    from transformers.models.bloom.modeling_bloom import build_alibi_tensor

    batch, heads, tokens, _ = q.shape
    alibi = build_alibi_tensor(keep.long(), heads, torch.float32).view(batch, heads, 1, tokens)
    hidden = ~(keep[:, None, None, :] & torch.ones(tokens, tokens, dtype=torch.bool).tril())
    return attend(q, k, v, attn_mask=alibi.masked_fill(hidden, -torch.inf))


@pytest.mark.parametrize("heads", [1, 3, 6, 8, 12])
def test_bloom(heads):
    q, k, v = vectors(2, 7, heads=heads)
    keep = torch.tensor([[0, 0, 1, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1, 1]]).bool()
    tokens = positions.from_mask(keep)
    got = attend(q, k, v, attn_mask=Alibi(heads=heads)(tokens, tokens, keep=keep))
    want = bloom_attention(q, k, v, keep)
    for row, first in (0, 2), (1, 0):
        torch.testing.assert_close(got[row, :, first:], want[row, :, first:], rtol=0, atol=2e-6)


@pytest.mark.parametrize("heads", [3, 8, 12])
def test_mpt(heads):
    from transformers.models.mpt.modeling_mpt import build_mpt_alibi_tensor

    q, k, v = vectors(1, 7, heads=heads)
    module, tokens = Alibi(heads=heads, exponent=6.0), torch.arange(7)
    theirs = build_mpt_alibi_tensor(heads, 7, alibi_bias_max=6)
    hidden = ~torch.ones(7, 7, dtype=torch.bool).tril()
    want = attend(q, k, v, attn_mask=theirs[None].masked_fill(hidden, -torch.inf))
    got = attend(q, k, v, attn_mask=module(tokens, tokens))
    torch.testing.assert_close(got, want, rtol=0, atol=2e-6)


@pytest.mark.parametrize("decoder", [False, True])
def test_t5_attention(decoder):
    from transformers import T5Config
    from transformers.models.t5.modeling_t5 import T5Attention

    config = T5Config(d_model=12, d_kv=4, num_heads=3, dropout_rate=0.0, is_decoder=decoder)
    config._attn_implementation = "eager"
    theirs = T5Attention(config, has_relative_attention_bias=True, layer_idx=0).eval()
    ours = T5(heads=3, bidirectional=not decoder)
    ours.load_state_dict({"table": theirs.relative_attention_bias.weight})
    x = torch.randn(2, 150, 12)
    tokens, (q, k, v) = (
        torch.arange(150),
        (project(x) for project in (theirs.q, theirs.k, theirs.v)),
    )
    with torch.no_grad():
        hidden = torch.ones(150, 150).tril() if decoder else torch.ones(150, 150)
        mask = torch.where(hidden.bool(), 0.0, -torch.inf)[None, None]
        want = theirs(x, mask=mask)[0]
        torch.testing.assert_close(
            ours(tokens, tokens), theirs.compute_bias(150, 150)[0], rtol=0, atol=0
        )
        torch.testing.assert_close(
            ours(tokens[149:], tokens),
            theirs.compute_bias(1, 150, past_seen_tokens=149)[0],
            rtol=0,
            atol=0,
        )
        q, k, v = (y.unflatten(-1, (3, 4)).transpose(1, 2) for y in (q, k, v))
        keep = hidden.bool()[None]
        got = attend(q, k, v, attn_mask=ours(tokens, tokens, keep=keep), scale=ours.scale)
        got = theirs.o(got.transpose(1, 2).flatten(-2))
    torch.testing.assert_close(got, want, rtol=0, atol=2e-6)


# --- what people reported ---


def test_the_first_slope_is_a_half_and_the_last_2_to_the_minus_8():
    assert Alibi(heads=8).slopes()[[0, 7]].tolist() == [0.5, 2**-8]


def test_twelve_slopes_are_those_of_eight_and_then_every_second_of_sixteen():
    slopes = Alibi(heads=12).slopes()
    assert slopes[:8].tolist() == Alibi(heads=8).slopes().tolist()
    np.testing.assert_allclose(slopes[8:], [0.707107, 0.353553, 0.176777, 0.088388], atol=5e-7)


def test_slopes_stay_float32():
    module = Alibi(heads=12).half().to(torch.bfloat16)
    slopes = module.slopes(device="cpu")
    assert slopes.dtype == torch.float32
    assert slopes.shape == (12,)
    assert slopes[8] != slopes[8].half()


def flash_bias(slopes, queries, keys):
    """What flash-attention says it adds: -slope * |i + keys - queries - j|."""
    i, j = torch.arange(queries)[:, None], torch.arange(keys)
    return -slopes[:, None, None] * (i + keys - queries - j).abs()


@pytest.mark.parametrize("rule", ["paper", "plain"])
@pytest.mark.parametrize("factor", [1.0, 4.0])
def test_slopes_make_flash_attention_add_the_same(rule, factor):
    module = Alibi(heads=6, direction="symmetric", rule=rule, factor=factor)
    got = flash_bias(module.slopes(), 3, 7)
    want = module(torch.arange(4, 7), torch.arange(7))
    torch.testing.assert_close(got, want, rtol=1e-6, atol=0)


def test_half_a_token_has_no_slope():
    with pytest.raises(ValueError, match="'causal' or 'symmetric' for flash-attention.*half|whole"):
        Alibi(heads=2, direction="asymmetric").slopes()


def test_a_constant_in_each_row_changes_no_output():
    """The authors' rows all read [0, m, 2m, ...]; ours [-2m, -m, 0]."""
    module, tokens = Alibi(heads=3), torch.arange(3)
    q, k, v = vectors(1, 3)
    ours = module(tokens, tokens)
    rows = module.slopes()[:, None, None] * tokens
    theirs = torch.where(ours == -torch.inf, -torch.inf, rows)
    torch.testing.assert_close(
        attend(q, k, v, attn_mask=ours), attend(q, k, v, attn_mask=theirs), rtol=0, atol=1e-6
    )


def test_a_decoding_step_stands_at_the_end():
    m = Alibi(heads=1).slopes()[0]
    bias = Alibi(heads=1)(torch.tensor([3]), torch.arange(4))
    assert bias[0, 0].tolist() == [-3 * m, -2 * m, -m, 0.0]


def test_memories_stand_before_the_text():
    bias = Alibi(heads=1)(torch.arange(2, 4), torch.arange(4))
    torch.testing.assert_close(
        bias[0] / Alibi(heads=1).slopes(),
        torch.tensor([[-2.0, -1.0, 0.0, -torch.inf], [-3.0, -2.0, -1.0, 0.0]]),
    )


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("name", sorted(TEXT))
def test_the_cast_is_the_last_step(name, dtype):
    module = make(name)
    keys = torch.arange(600)
    with torch.no_grad():
        got, wide = module(keys[-1:], keys, dtype=dtype), module(keys[-1:], keys)
    assert got.dtype == dtype
    torch.testing.assert_close(got, wide.to(dtype), rtol=0, atol=0)


def test_bfloat16_merges_distances_only_when_rounded():
    bias = Alibi(heads=8)(torch.tensor([600]), torch.tensor([600 - 256, 600 - 257]))
    assert bias[0, 0].tolist() == [-128.0, -128.5]


@pytest.mark.parametrize("name", TRAINED)
def test_autocast_does_not_round_the_bias(name):
    module, tokens = make(name), places(name)
    want = module(tokens, tokens)
    MASKS.clear()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        got = module(tokens, tokens)
        q = torch.randn(1, 3, 10, 8)
        attend(q, q, q, attn_mask=got, scale=module.scale)
    assert got.dtype == torch.float32
    torch.testing.assert_close(got, want, rtol=0, atol=0)


@pytest.mark.parametrize(
    ("distance", "bucket"),
    [(1, 1), (0, 0), (-1, 17), (-7, 23), (-8, 24), (8, 8), (11, 8), (12, 9), (16, 10), (64, 14)]
    + [(90, 14), (91, 15), (128, 15), (10**6, 15), (-128, 31)],
)
def test_t5_buckets(distance, bucket):
    module = T5(heads=1)
    with torch.no_grad():
        module.table.copy_(torch.arange(32.0)[:, None])
        assert module(torch.tensor([10**6]), torch.tensor([10**6 - distance])).item() == bucket


@pytest.mark.parametrize(
    ("distance", "bucket"),
    [(-5, 0), (1, 1), (15, 15), (16, 16), (18, 16), (19, 17), (112, 30), (113, 31)],
)
def test_t5_decoder_buckets(distance, bucket):
    module = T5(heads=1, bidirectional=False)
    with torch.no_grad():
        module.table.copy_(torch.arange(32.0)[:, None])
        assert module(torch.tensor([500]), torch.tensor([500 - distance])).item() == bucket


def test_t5_scores_are_not_divided():
    module, tokens = T5(heads=1), torch.arange(2)
    with torch.no_grad():
        module.table.zero_()
        module.table[17] = 64.0  # one key ahead, whose own logit is 0: both keys now weigh the same
        q = k = torch.tensor([[1.0] * 64, [0.0] * 64])[None, None]
        v = torch.tensor([[0.0], [1.0]])[None, None]
        got = attend(q, k, v, attn_mask=module(tokens, tokens), scale=module.scale)
    assert got[0, 0, 0].item() == 0.5


def test_t5_has_one_table():
    module = T5(heads=8)
    assert sum(parameter.numel() for parameter in module.parameters()) == 32 * 8


# --- the mask is made once ---


@pytest.mark.parametrize("name", sorted(TEXT | IMAGES))
def test_layers_share_one_mask(name):
    layers, keep = [make(name) for _ in range(3)], torch.ones(1, 10, dtype=torch.bool)
    for layer in layers[1:]:
        layer.load_state_dict(layers[0].state_dict())
    with torch.no_grad():
        masks = [layer(places(name), places(name), keep=keep) for layer in layers]
    assert len({mask.data_ptr() for mask in masks}) == 1


def test_other_settings_share_nothing():
    tokens, keep = torch.arange(10), torch.ones(1, 10, dtype=torch.bool)
    shape = (1, 2, 10, 10)
    masks = [
        Alibi(heads=2)(tokens, tokens),
        Alibi(heads=2, factor=2.0)(tokens, tokens),
        Alibi(heads=2, direction="symmetric")(tokens, tokens),
        Kerple(heads=2, form="power")(tokens, tokens).detach(),
        Alibi(heads=2)(tokens, tokens, keep=keep),
        Alibi(heads=2)(tokens, tokens, keep=keep.logical_not()),
        Alibi(heads=2)(tokens, tokens, dtype=torch.float64),
        Alibi(heads=2)(tokens + 1, tokens),
    ]
    assert len({mask.data_ptr() for mask in masks}) == 8
    assert not torch.equal(masks[0], masks[1])
    assert masks[4].shape == masks[5].shape == shape
    assert (masks[5] == -torch.inf).all()


def test_a_write_into_the_mask_reaches_no_other_call():
    module, tokens = Alibi(heads=3), torch.arange(5)
    want = module(tokens, tokens).clone()
    module(tokens, tokens).zero_()
    torch.testing.assert_close(module(tokens, tokens), want, rtol=0, atol=0)


def test_inference_then_training():
    module, tokens = Alibi(heads=3), torch.arange(5)
    with torch.inference_mode():
        module(tokens, tokens)
    q, k, v = vectors(1, 5).requires_grad_()
    attend(q, k, v, attn_mask=module(tokens, tokens)).sum().backward()


@pytest.mark.parametrize("name", TRAINED)
def test_a_changed_weight_is_seen(name):
    module, tokens = make(name), places(name)
    weight = next(iter(module.parameters()))
    with torch.no_grad():
        first = module(tokens, tokens)
        weight.data.mul_(1.5)
        assert not torch.equal(module(tokens, tokens), first)


# --- training ---


@pytest.mark.parametrize("name", TRAINED)
def test_gradients(name):
    module, tokens = make(name).double(), places(name, 5)
    with torch.no_grad():
        for weight in module.parameters():
            weight.uniform_(0.1, 0.9)  # where no unit of a network stands at its kink
    names, weights = zip(*module.named_parameters(), strict=True)

    def bias(*weights):
        given = dict(zip(names, weights, strict=True))
        return torch.func.functional_call(
            module, given, (tokens, tokens), {"dtype": torch.float64}
        ).clamp(min=-1e3)

    torch.autograd.gradcheck(bias, weights, fast_mode=True)
    torch.autograd.gradgradcheck(bias, weights, fast_mode=True)


@pytest.mark.parametrize("name", TRAINED)
def test_training_changes_the_bias(name):
    module, tokens = make(name), places(name)
    optimiser = torch.optim.SGD(module.parameters(), lr=0.5)
    q, k, v = vectors(1, 10)
    seen = []
    for _ in range(3):
        mask = module(tokens, tokens)
        seen.append(mask.detach().clone())
        attend(q, k, v, attn_mask=mask).square().sum().backward()
        assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in module.parameters())
        optimiser.step()
        optimiser.zero_grad()
    assert not torch.equal(seen[0], seen[1])
    assert not torch.equal(seen[1], seen[2])
    with torch.no_grad():
        assert not torch.equal(module(tokens, tokens), seen[2])


# --- loading, casting, copying, exporting ---


@pytest.mark.parametrize("name", sorted(TEXT | IMAGES))
def test_built_on_meta_and_loaded(name):
    want, tokens = make(name), places(name)
    module = make(name, device="meta")
    assert all(parameter.is_meta for parameter in module.parameters())
    module = module.to_empty(device="cpu")
    module.load_state_dict(want.state_dict())
    torch.testing.assert_close(module(tokens, tokens), want(tokens, tokens), rtol=0, atol=0)
    assert sorted(want.state_dict()) == sorted(getattr(want.spec, "weights", {}))


@pytest.mark.parametrize("name", sorted(TEXT | IMAGES))
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_cast(name, dtype):
    module, tokens = make(name), places(name)
    weights = {key: value.to(dtype).float() for key, value in module.state_dict().items()}
    want = module.spec.bias(tokens, tokens, **weights)
    got = module.to(dtype)(tokens, tokens)
    assert got.dtype == torch.float32
    torch.testing.assert_close(got, want, rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", sorted(TEXT | IMAGES))
def test_copies(name):
    module, tokens = make(name), places(name)
    want = module(tokens, tokens).detach()
    for other in copy.deepcopy(module), pickle.loads(pickle.dumps(module)):
        torch.testing.assert_close(other(tokens, tokens).detach(), want, rtol=0, atol=0)
        assert other.spec == module.spec


@pytest.mark.parametrize("name", TRACED)
def test_compiled_once_for_all_lengths(name):
    module, compiles = make(name), []

    def counting(graph, inputs):
        compiles.append(graph)
        return graph.forward

    torch._dynamo.reset()
    fused = torch.compile(module, fullgraph=True, dynamic=True, backend=counting)
    for length in 10, 7, 6:
        tokens, keep = places(name, length), torch.arange(length)[None] > 1
        got, want = fused(tokens, tokens, keep=keep), module(tokens, tokens, keep=keep)
        torch.testing.assert_close(got, want, rtol=0, atol=1e-6)
    assert len(compiles) == 1


@pytest.mark.parametrize("name", TRACED)
def test_exported_for_all_lengths(name):
    module, tokens = make(name), places(name)
    length = torch.export.Dim("length", min=2, max=1 << 20)
    program = torch.export.export(
        module, (places(name, 8), places(name, 8)), dynamic_shapes=({0: length}, {0: length})
    )
    got = program.module()(tokens, tokens)
    torch.testing.assert_close(got, module(tokens, tokens), rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", sorted(TEXT | IMAGES))
def test_vmap_over_rows(name):
    module, rows = make(name), torch.stack([places(name)] * 2)
    with torch.no_grad():
        got = torch.vmap(lambda row: module(row, row))(rows)
        torch.testing.assert_close(got, module(rows, rows), rtol=0, atol=1e-6)


def test_named_as_the_spec():
    assert repr(T5(heads=2)).startswith("T5(T5(heads=2, buckets=32")
    with pytest.raises(TypeError, match="head_count"):
        Alibi(head_count=3)
    assert isinstance(Swin(heads=2, window=(2, 2)).spec, posenc.Swin)
