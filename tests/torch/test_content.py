"""Modules around content-dependent encodings: the spec's numbers, inside a real attention."""

import copy
import pickle

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention as attend

import posenc
from frameworks import numpy
from posenc import positions
from posenc.torch.content import Bipe, Cope, Deberta, Decomposed, Shaw, TransformerXL

MODULES = {
    "cope": lambda **own: Cope(dim=4, length=8, **own),
    "deberta": lambda **own: Deberta(heads=2, dim=4, max_distance=4, **own),
    "decomposed": lambda **own: Decomposed(dim=4, grid=(2, 5), **own),
    "shaw": lambda **own: Shaw(dim=4, max_distance=3, **own),
    "transformer_xl": lambda **own: TransformerXL(
        heads=2, dim=4, model_dim=8, max_distance=16, **own
    ),
}
OF_QUERIES = ("decomposed", "shaw")


def make(name):
    """With weights of any size: some start as zeros, which would show nothing."""
    torch.manual_seed(1)
    module = MODULES[name]()
    with torch.no_grad():
        for weight in module.parameters():
            weight.uniform_(-1.0, 1.0)
    return module


def arguments(name, length=10):
    torch.manual_seed(0)
    q, k = torch.randn(2, 2, 2, length, 4)
    tokens = torch.arange(length)
    if name == "decomposed":
        tokens = positions.grid(2, 5, like=torch.zeros(0))[:length].clone()
    return (q, tokens, tokens) if name in OF_QUERIES else (q, k, tokens, tokens)


@pytest.mark.parametrize("name", sorted(MODULES))
def test_the_term_is_that_of_the_spec_and_goes_with_its_scale(name):
    module, given = make(name), arguments(name)
    weights = {key: numpy(value) for key, value in module.state_dict().items()}
    weights.pop("value_table", None)
    want = torch.asarray(module.spec.score_term(*map(numpy, given), **weights))
    got = module(*given)
    torch.testing.assert_close(got, want, rtol=0, atol=1e-6)
    q, k = given[0], torch.randn(2, 2, 10, 4)
    out = attend(q, k, k, attn_mask=got, scale=module.scale)
    scores = q @ k.mT * module.spec.scale + want
    torch.testing.assert_close(out, scores.softmax(-1) @ k, rtol=0, atol=2e-6)


@pytest.mark.parametrize("name", sorted(MODULES))
def test_gradients_arrive(name):
    module, given = make(name), arguments(name)
    q = given[0].requires_grad_()
    term = module(q, *given[1:])
    if name == "shaw":
        module.value_term(term.softmax(-1), *given[1:]).square().sum().backward()
    else:
        (term * torch.randn_like(term)).sum().backward()
    assert q.grad.abs().sum() > 0
    for key, parameter in module.named_parameters():
        assert parameter.grad.abs().sum() > 0, key


@pytest.mark.parametrize("name", sorted(MODULES))
def test_loaded_cast_and_copied(name):
    want, given = make(name), arguments(name)
    module = MODULES[name](device="meta").to_empty(device="cpu")
    module.load_state_dict(want.state_dict())
    assert sorted(module.state_dict()) == sorted(want.spec.weights)
    for other in module, copy.deepcopy(want), pickle.loads(pickle.dumps(want)):
        assert torch.equal(other(*given), want(*given))
    vectors = [x.bfloat16() for x in given[:-2]]
    half = module.to(torch.bfloat16)(*vectors, *given[-2:])
    assert half.dtype == torch.bfloat16
    torch.testing.assert_close(half.float(), want(*given), rtol=0, atol=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(MODULES))
def test_compiled(name):
    module, given = make(name), arguments(name)
    torch._dynamo.reset()
    fused = torch.compile(module, fullgraph=True, backend="eager")
    torch.testing.assert_close(fused(*given), module(*given), rtol=0, atol=1e-6)


def test_values_of_shaw():
    module, at = make("shaw"), torch.arange(5)
    probabilities = torch.randn(2, 3, 5, 5).softmax(-1)
    table = numpy(module.value_table)
    want = module.spec.value_term(numpy(probabilities), numpy(at), numpy(at), value_table=table)
    got = module.value_term(probabilities, at, at)
    torch.testing.assert_close(got, torch.asarray(want), rtol=0, atol=1e-6)
    with pytest.raises(ValueError, match="no value table"):
        Shaw(dim=4, max_distance=3, values=False).value_term(probabilities, at, at)


def test_cope_does_not_count_hidden_tokens():
    module, (q, k, at, _) = make("cope"), arguments("cope", 5)
    seen = torch.tensor([0, 1, 3, 4])
    got = module(q, k, at, at, mask=torch.tensor([1, 1, 0, 1, 1]).bool())
    alone = module(q[:, :, seen], k[:, :, seen], seen, seen)
    torch.testing.assert_close(got[:, :, seen][..., seen], alone, rtol=0, atol=1e-6)


SEGMENTS = torch.tensor([[0, 0, 0, 1, 1], [0, 1, 1, 1, 2]])


def test_bipe_turned():
    module = Bipe(intra=posenc.Learned(length=8, dim=4), inter=posenc.Rotary(dim=4))
    x = torch.randn(2, 5, 4)
    table = numpy(module.table)
    want = numpy(x) + module.spec.encode(numpy(SEGMENTS), table=table)
    torch.testing.assert_close(module(x, SEGMENTS), torch.asarray(want), rtol=0, atol=1e-6)
    assert module(x.bfloat16(), SEGMENTS).dtype == torch.bfloat16
    module(x, SEGMENTS).square().sum().backward()
    assert module.table.grad.abs().sum() > 0
    q = torch.randn(2, 3, 5, 4)
    turned = module.spec.rotate(numpy(q), numpy(SEGMENTS)[:, None])
    got = module.rotate(q, SEGMENTS[:, None])
    torch.testing.assert_close(got, torch.asarray(turned), rtol=0, atol=1e-6)
    with pytest.raises(ValueError, match="`positions` must have shape"):
        module(x, SEGMENTS[:, :4])


def test_bipe_biased():
    intra, inter = posenc.Sinusoidal(dim=4), posenc.Alibi(heads=2)
    module = Bipe(intra=intra, inter=inter, bias_factor=96.0)
    want = module.spec.bias(numpy(SEGMENTS), numpy(SEGMENTS))
    got = module.bias(SEGMENTS, SEGMENTS)
    torch.testing.assert_close(got, torch.asarray(want), rtol=0, atol=0)
    assert not module.state_dict()
