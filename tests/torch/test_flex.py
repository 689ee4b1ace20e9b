"""score_mod for flex_attention gives what the mask gives, at any positions."""

import copy

import mpmath
import numpy as np
import pytest
import torch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention
from torch.nn.functional import scaled_dot_product_attention as attend

from posenc import positions
from posenc.torch.bias import T5, Alibi, Fire, Kerple, Sandwich, Swin, SwinV2

TEXT = {
    "alibi": Alibi(heads=3),
    "alibi_asymmetric": Alibi(heads=3, direction="asymmetric"),
    "fire": Fire(heads=3, width=4, threshold=4.5),
    "kerple": Kerple(heads=3),
    "kerple_power": Kerple(heads=3, form="power", direction="symmetric"),
    "sandwich": Sandwich(heads=3),
    "sandwich_symmetric": Sandwich(heads=3, dim=16, start=0, direction="symmetric"),
    "t5": T5(heads=3),
    "t5_decoder": T5(heads=3, bidirectional=False),
}
IMAGES = {"swin": Swin(heads=3, window=(2, 5)), "swin_v2": SwinV2(heads=3, window=(2, 5), hidden=8)}
MODULES = TEXT | IMAGES


def grid(rows, columns):
    return positions.grid(rows, columns, like=torch.zeros(0))


@pytest.fixture(autouse=True)
def _same_numbers():
    torch.manual_seed(0)
    torch._dynamo.reset()


def all_pairs(module, queries, keys, *, batch=1):
    """score_mod on scores of 0, for every row, head, query and key."""
    modify = module.score_mod(queries, keys)
    count = [x.shape[-2 if module.axes else -1] for x in (queries, keys)]
    axes = (torch.arange(n) for n in (batch, module.spec.heads, *count))
    return modify(torch.tensor(0.0), *torch.meshgrid(*axes, indexing="ij"))


@pytest.mark.parametrize("name", sorted(TEXT))
def test_any_positions(name):
    module = TEXT[name]
    queries, keys = torch.tensor([70, 3, 900]), torch.tensor([0, 3, 64, 900, 5])
    got = all_pairs(module, queries, keys)[0]
    torch.testing.assert_close(got, module(queries, keys), rtol=2e-6, atol=2e-5)


@pytest.mark.parametrize("name", sorted(TEXT))
def test_rows_of_their_own(name):
    module = TEXT[name]
    queries, keys = torch.tensor([[70, 3], [1, 2]]), torch.tensor([[0, 3, 64], [7, 0, 1]])
    got = all_pairs(module, queries, keys, batch=2)
    torch.testing.assert_close(got, module(queries, keys), rtol=2e-6, atol=2e-5)


@pytest.mark.parametrize("name", sorted(IMAGES))
def test_cells_of_a_window(name):
    module, cells = IMAGES[name], grid(2, 5)
    want = module(cells, cells)
    torch.testing.assert_close(all_pairs(module, cells, cells)[0], want, rtol=0, atol=1e-6)
    index = torch.meshgrid(*(torch.arange(n) for n in (1, 3, 10, 10)), indexing="ij")
    got = module.score_mod()(torch.tensor(0.0), *index)
    torch.testing.assert_close(got[0], want, rtol=0, atol=1e-6)
    kept = torch.stack([cells[[0, 4, 7]], cells[[9, 2, 5]]])
    got = all_pairs(module, kept, cells.expand(2, 10, 2), batch=2)
    torch.testing.assert_close(got, module(kept, cells), rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", sorted(IMAGES))
def test_beyond_the_window_is_nan(name):
    got = all_pairs(IMAGES[name], torch.tensor([[0, 0]]), torch.tensor([[2, 0], [0, 5], [1, 4]]))
    assert got.isnan().all(1)[0, 0].tolist() == [True, True, False]


@pytest.mark.parametrize("distance", [1, 100, 100_000, 10_000_000])
def test_sandwich_far_away(distance):
    module = Sandwich(heads=1)
    with mpmath.workdps(40):
        frequencies = [mpmath.mpf(10_000) ** (-mpmath.mpf(k) / 64) for k in range(1, 65)]
        want = sum(mpmath.cos(distance * f) - 1 for f in frequencies) / 8
    got = all_pairs(module, torch.tensor([distance]), torch.tensor([0])).item()
    np.testing.assert_allclose(got, float(want), rtol=0, atol=2e-6 + distance * 2**-32)


def eager(*tensors, **options):
    """flex_attention traced but not compiled; called plainly it warns."""
    return torch.compile(flex_attention, fullgraph=True, backend="eager")(*tensors, **options)


def check_attention(flex, module, queries, keys, keep, *, batch=1):
    """flex_attention with score_mod against scaled_dot_product_attention with the mask."""
    wanted = [x.shape[-2 if module.axes else -1] for x in (queries, keys)]
    q = torch.randn(batch, 3, wanted[0], 16)
    k, v = torch.randn(2, batch, 3, wanted[1], 16)
    blocks = None
    if keep is not None:
        blocks = create_block_mask(
            lambda b, h, i, j: keep[b, i, j], batch, None, *wanted, device="cpu"
        )
    with torch.no_grad():
        score_mod = module.score_mod(queries, keys)
        got = flex(q, k, v, score_mod=score_mod, block_mask=blocks, scale=module.scale)
        mask = module(queries, keys, keep=keep)
        want = attend(q, k, v, attn_mask=mask, scale=module.scale)
    torch.testing.assert_close(got, want, rtol=0, atol=5e-6)


@pytest.mark.parametrize("name", ["swin", "t5"])
def test_flex_attention(name):
    tokens = grid(2, 5) if name in IMAGES else torch.arange(10)
    check_attention(eager, MODULES[name], tokens, tokens, None)


def test_flex_attention_left_padded_and_packed():
    document = torch.tensor([[-1, -1, 0, 0, 0, 0, 0, 0], [0, 0, 0, 1, 1, 1, 1, 1]])
    tokens = torch.tensor([[0, 0, 0, 1, 2, 3, 4, 5], [0, 1, 2, 0, 1, 2, 3, 4]])
    keep = (document[:, :, None] == document[:, None, :]) & (document >= 0)[:, None, :]
    check_attention(eager, TEXT["alibi"], tokens, tokens, keep, batch=2)


def test_flex_attention_decodes():
    check_attention(eager, TEXT["t5_decoder"], torch.tensor([[9]]), torch.arange(10), None)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(MODULES))
def test_flex_attention_compiled(name):
    fused = torch.compile(flex_attention, fullgraph=True)
    tokens = grid(2, 5) if name in IMAGES else torch.arange(10)
    check_attention(fused, MODULES[name], tokens, tokens, None)
    check_attention(fused, MODULES[name], tokens[5:], tokens, None)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["alibi", "t5"])
def test_flex_attention_compiled_with_rows_of_their_own(name):
    fused = torch.compile(flex_attention, fullgraph=True)
    document = torch.tensor([[-1] * 50 + [0] * 150, [0] * 70 + [1] * 130])
    tokens = positions.from_documents(document)
    keep = (document[:, :, None] == document[:, None, :]) & (document >= 0)[:, None, :]
    check_attention(fused, TEXT[name], tokens, tokens, keep, batch=2)


@pytest.mark.parametrize("name", ["fire", "kerple", "swin", "swin_v2", "t5"])
def test_gradients_are_those_of_the_mask(name):
    module = MODULES[name]
    tokens = grid(2, 5) if name in IMAGES else torch.arange(10)
    slopes = torch.randn(3, 10, 10)
    gradients = []
    for bias in all_pairs(module, tokens, tokens)[0], module(tokens, tokens):
        loss = (bias.clamp(min=-1e3) * slopes).sum()
        gradients.append(torch.autograd.grad(loss, list(module.parameters())))
    for got, want in zip(*gradients, strict=True):
        assert want.abs().sum() > 0
        torch.testing.assert_close(got, want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", sorted(MODULES))
def test_cast_modules(name):
    module = copy.deepcopy(MODULES[name]).to(torch.bfloat16)
    tokens = grid(2, 5) if name in IMAGES else torch.arange(10)
    got = all_pairs(module, tokens, tokens)[0]
    assert got.dtype == torch.float32
    torch.testing.assert_close(got, module(tokens, tokens), rtol=2e-6, atol=2e-5)


def test_positions_that_do_not_fit_are_refused():
    with pytest.raises(TypeError, match="`query_positions` must be integers"):
        Alibi(heads=2).score_mod(torch.arange(3.0))
    with pytest.raises(ValueError, match=r"`key_positions` must have shape \(tokens,\)"):
        Alibi(heads=2).score_mod(None, torch.zeros(1, 2, 3).long())
    with pytest.raises(ValueError, match="`key_positions` must give row and column"):
        Swin(heads=2, window=(2, 2)).score_mod(None, torch.arange(4))
