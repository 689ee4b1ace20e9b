"""Probes from public bug reports: biases and vectors, where no other test holds them already."""

import numpy as np
import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention as attend

from posenc import positions
from posenc.torch import T5, Alibi, Fire, Kerple, Learned, Rotary, Sandwich, Sinusoidal

RELATIVE = {
    "alibi": Alibi(heads=3),
    "kerple": Kerple(heads=3),
    "sandwich": Sandwich(heads=3),
    "t5": T5(heads=3, bidirectional=False),
}
BIASES = RELATIVE | {"fire": Fire(heads=3)}


def vectors(length, *, seed=0):
    """Queries, keys and values of two texts and three heads."""
    return torch.randn(3, 2, 3, length, 8, generator=torch.Generator().manual_seed(seed))


# Biases.


@pytest.mark.parametrize("name", sorted(BIASES))
def test_a_dropped_key_leaves_the_others(name):
    """NVIDIA/kvpress#31: a compressed cache; key 2 of 6 is hidden, or not there at all."""
    module, (q, k, v) = BIASES[name], vectors(6)
    last, kept = torch.tensor([5]), torch.tensor([0, 1, 3, 4, 5])
    keep = (torch.arange(6) != 2)[None]
    hidden = module(last, torch.arange(6), keep=keep)
    want = attend(q[:, :, 5:], k, v, attn_mask=hidden, scale=module.scale)
    mask = module(last, kept)
    got = attend(q[:, :, 5:], k[:, :, kept], v[:, :, kept], attn_mask=mask, scale=module.scale)
    torch.testing.assert_close(got, want, rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", sorted(RELATIVE))
def test_relative_positions_need_no_shift_under_padding(name):
    """huggingface/transformers#17866: mask [0, 0, 1, 1], and every token at its index."""
    module, (q, k, v) = RELATIVE[name], vectors(4)
    keep, index = torch.tensor([[0, 0, 1, 1]]).bool(), torch.arange(4)
    got = attend(q, k, v, attn_mask=module(index, index, keep=keep), scale=module.scale)
    alone = attend(
        *(x[:, :, 2:] for x in (q, k, v)),
        attn_mask=module(index[:2], index[:2]),
        scale=module.scale,
    )
    torch.testing.assert_close(got[:, :, 2:], alone, rtol=0, atol=1e-6)


@pytest.mark.parametrize("heads", [1, 2, 3, 6])
def test_slopes_of_few_heads(heads):
    """ofirpress/attention_with_linear_biases#17: no power of two, and the order counts."""
    want = {
        1: [2**-8],
        2: [2**-4, 2**-8],
        3: [2**-4, 2**-8, 2**-2],
        6: [2**-2, 2**-4, 2**-6, 2**-8, 2**-1, 2**-3],
    }[heads]
    module = Alibi(heads=heads)
    assert module.slopes().tolist() == want
    assert module(torch.tensor([1]), torch.tensor([0])).flatten().tolist() == [-m for m in want]


def test_stacks_share_one_table_each():
    """huggingface/transformers#13397: encoder and decoder have a table, no layer has its own."""
    encoder, decoder = T5(heads=12), T5(heads=12, bidirectional=False)
    layers = [torch.nn.ModuleDict({"bias": bias}) for bias in [encoder] * 6 + [decoder] * 6]
    model = torch.nn.ModuleList(layers)
    assert sum(parameter.numel() for parameter in model.parameters()) == 2 * 32 * 12


# Vectors.


def test_start_and_length_are_checked_together():
    """karpathy/nanochat#520: 4 tokens fit a table of 8, but not from position 6 on."""
    module, x = Learned(length=8, dim=4), torch.zeros(1, 4, 4)
    assert torch.equal(module(x, torch.arange(4, 8))[0], module.table[4:])
    with pytest.raises(ValueError, match=r"`positions` must lie within 0 .. 7.*from 6 to 9"):
        module(x, torch.arange(6, 10))


def test_a_learned_table_and_padding():
    """huggingface/transformers#22161: learned positions are not relative, so the index is wrong."""
    module, x = Learned(length=8, dim=4), torch.randn(1, 5, 4)
    alone = module(x[:, 2:], torch.arange(3))
    padded = module(x, positions.from_mask(torch.tensor([[0, 0, 1, 1, 1]])))
    assert torch.equal(padded[:, 2:], alone)


# Export.


class Model(torch.nn.Module):
    """Several ways of giving positions, in one attention."""

    def __init__(self):
        super().__init__()
        self.learned, self.sinusoidal = Learned(length=64, dim=24), Sinusoidal(dim=24)
        self.rope = Rotary(dim=8)
        self.biases = torch.nn.ModuleList([Alibi(heads=3), T5(heads=3)])

    def forward(self, x, tokens):
        x = self.sinusoidal(self.learned(x, tokens), tokens)
        heads = x.unflatten(-1, (3, 8)).transpose(1, 2)
        q, k = self.rope(heads, heads, tokens)
        return attend(q, k, heads, attn_mask=sum(bias(tokens, tokens) for bias in self.biases))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore:# The axis name")
@pytest.mark.parametrize("opset", [17, 18])
def test_a_model_as_onnx(opset):
    """lucidrains/x-transformers#212: a model with these encodings could not be exported.

    facebookresearch/sam2#186: at opset 17, which PyTorch makes from 18 where that can be.
    """
    onnxruntime = pytest.importorskip("onnxruntime")
    model, length = Model().eval(), torch.export.Dim("length", min=2, max=64)
    program = torch.onnx.export(
        model,
        (torch.randn(2, 6, 24), torch.arange(6)),
        dynamo=True,
        opset_version=opset,
        dynamic_shapes=({1: length}, {0: length}),
        verbose=False,
    ).model_proto
    assert program.opset_import[0].version == opset
    session = onnxruntime.InferenceSession(
        program.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    x, tokens = torch.randn(2, 9, 24), torch.arange(40, 49)
    given = zip(program.graph.input, (x, tokens), strict=True)
    (got,) = session.run(None, {name.name: tensor.numpy() for name, tensor in given})
    np.testing.assert_allclose(got, model(x, tokens).detach(), rtol=0, atol=5e-6)
