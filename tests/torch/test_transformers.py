"""posenc inside loaded Hugging Face models: the same numbers before and after, and undone."""

import pytest
import torch
import transformers

import posenc.torch.transformers

SMALL = {
    "vocab_size": 50,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": 64,
}
GROUPED = SMALL | {"num_key_value_heads": 2}
FAMILIES = {
    "gpt_neox": (SMALL, {}),
    "llama": (GROUPED, {}),
    "mistral": (GROUPED, {}),
    "qwen2": (GROUPED, {}),
    "stablelm": (GROUPED, {}),
}


def tiny(kind):
    sizes, more = FAMILIES[kind]
    torch.manual_seed(0)
    config = transformers.AutoConfig.for_model(kind, **sizes, **more)
    return transformers.AutoModelForCausalLM.from_config(config).eval()


@torch.no_grad()
def outputs(model):
    """From position 0, padded on the left, packed, and continued on a cache."""
    tokens = torch.randint(50, (2, 12), generator=torch.Generator().manual_seed(1))
    mask = torch.ones_like(tokens)
    mask[1, :3] = 0
    rows = posenc.positions.from_mask(mask)
    packed = posenc.positions.packed([7, 5], like=tokens)[None].expand(2, -1)
    cached = model(tokens[:, :8], use_cache=True).past_key_values
    return [
        model(tokens).logits,
        model(tokens, attention_mask=mask, position_ids=rows).logits[:, 3:],
        model(tokens, position_ids=packed).logits,
        model(tokens[:, 8:], cache=cached).logits,
    ]


@pytest.mark.parametrize("kind", sorted(FAMILIES))
def test_same_logits_and_back(kind):
    model = tiny(kind)
    before = outputs(model)
    replaced = posenc.torch.transformers.replace(model)
    for got, want in zip(outputs(model), before, strict=True):
        torch.testing.assert_close(got, want, rtol=0, atol=1e-5)
    replaced.undo()
    for got, want in zip(outputs(model), before, strict=True):
        assert torch.equal(got, want)


def test_posenc_is_what_runs(monkeypatch):
    model, calls = tiny("llama"), []
    from posenc.kernels import turning

    replaced = posenc.torch.transformers.replace(model)
    original = turning.turn
    monkeypatch.setattr(turning, "turn", lambda *x, **o: calls.append(1) or original(*x, **o))
    with torch.no_grad():
        model(torch.arange(5)[None])
        inside = len(calls)
        replaced.undo()
        model(torch.arange(5)[None])
    assert inside == len(calls) == 2 * 2  # q and k of two layers


def test_another_scaling_without_its_config():
    """As if the settings had asked for it: a second model of the same weights is the judge."""
    model, settings = tiny("llama"), dict(FAMILIES["llama"][0])
    config = transformers.LlamaConfig(
        **settings,
        rope_parameters={
            "rope_type": "yarn",
            "rope_theta": 10_000.0,
            "factor": 4.0,
            "original_max_position_embeddings": 64,
        },
    )
    judge = transformers.LlamaForCausalLM(config).eval()
    judge.load_state_dict(model.state_dict())
    before = outputs(model)
    with posenc.torch.transformers.replace(model, scaling="yarn:factor=4") as replaced:
        assert "yarn" in repr(replaced)
        for got, want in zip(outputs(model), outputs(judge), strict=True):
            torch.testing.assert_close(got, want, rtol=0, atol=1e-5)
        assert (outputs(model)[0] - before[0]).abs().max() > 1e-4
    assert torch.equal(outputs(model)[0], before[0])


def test_another_model_of_the_class_is_left_alone():
    model, other = tiny("llama"), tiny("llama")
    forward = type(other.model.layers[0].self_attn).forward
    with posenc.torch.transformers.replace(model):
        assert type(other.model.layers[0].self_attn).forward is forward
        assert type(other.model.rotary_emb).__module__.startswith("transformers.")


def test_a_model_that_turns_nothing_is_refused():
    config = transformers.GPT2Config(vocab_size=50, n_embd=32, n_layer=1, n_head=2, n_positions=32)
    model = transformers.GPT2LMHeadModel(config)
    with pytest.raises((TypeError, ValueError), match=r"gpt2|GPT2"):
        posenc.torch.transformers.replace(model)
