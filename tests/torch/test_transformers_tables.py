"""Trained tables of positions in models of transformers, looked up and resampled by posenc."""

import copy

import pytest
import torch
import transformers

from posenc import learned
from posenc.torch.transformers import replace_table

TOKENS = torch.arange(3, 11)[None]

SMALL = {
    "vocab_size": 32,
    "hidden_size": 16,
    "intermediate_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
}
DISTIL = {"vocab_size": 32, "dim": 16, "hidden_dim": 16, "n_layers": 1, "n_heads": 2}
GPT2 = {"vocab_size": 32, "n_embd": 16, "n_layer": 1, "n_head": 2}
CLIP = {**SMALL, "image_size": 8, "patch_size": 4}

CONFIGS = {
    "bert": transformers.BertConfig(**SMALL, max_position_embeddings=12),
    "distilbert": transformers.DistilBertConfig(**DISTIL, max_position_embeddings=12),
    "gpt2": transformers.GPT2Config(**GPT2, n_positions=12),
    "roberta": transformers.RobertaConfig(**SMALL, max_position_embeddings=14),
}


def network(name):
    torch.manual_seed(0)
    return transformers.AutoModel.from_config(CONFIGS[name]).eval()


def states(model, tokens=TOKENS):
    with torch.no_grad():
        return model(tokens).last_hidden_state


def table(model):
    (found,) = [m for n, m in model.named_modules() if "position_emb" in n or n.endswith("wpe")]
    return found


@pytest.mark.parametrize("name", sorted(CONFIGS))
def test_same_numbers(name):
    model = network(name)
    before, keys, weight = states(model), list(model.state_dict()), table(model).weight

    with replace_table(model) as replaced:
        assert torch.equal(states(model), before)
        assert list(model.state_dict()) == keys
        assert table(model).weight is weight
        assert "learned:length=12,dim=16" in repr(replaced)
        assert "Learned(length=12, dim=16" in repr(table(model))
        assert torch.equal(states(copy.deepcopy(model)), before)

    assert torch.equal(states(model), before)
    assert type(table(model)) is torch.nn.Embedding


@pytest.mark.parametrize("name", sorted(CONFIGS))
def test_longer_than_it_was(name):
    model = network(name)
    long = torch.arange(3, 27)[None]
    before, rows = states(model), table(model).weight.detach()

    with replace_table(model, length=24) as replaced:
        assert states(model, long).isfinite().all()
        assert "now  learned:length=24,dim=16" in repr(replaced)
        assert "resampled" in repr(replaced)
        offset = len(rows) - 12
        new = table(model).weight.detach()
        assert torch.equal(new[: offset + 1], rows[: offset + 1])  # padding, and the first token
        assert torch.allclose(new[-1], rows[-1])
        options = {"old": (12,), "new": (24,), "method": "linear", "corners": "aligned"}
        assert torch.equal(new, learned.resample(rows, **options, prefix=offset))

    assert torch.equal(states(model), before)
    with pytest.raises((IndexError, RuntimeError, ValueError)):
        states(model, long)


def test_shorter_than_it_was():
    model = network("bert")
    with replace_table(model, length=8, method="cubic", corners="half_pixel"):
        assert states(model).isfinite().all()
        assert model.embeddings.position_ids.tolist() == [list(range(8))]
    assert model.embeddings.position_ids.tolist() == [list(range(12))]


def test_beyond_the_table():
    model = network("gpt2")
    with replace_table(model), pytest.raises(ValueError, match="must lie within 0 .. 11"):
        states(model, torch.arange(3, 16)[None])


def test_padding_row_learns_nothing():
    model = network("roberta")
    padded = torch.tensor([[1, 1, 5, 6, 7]])  # 1 is padding
    model(padded).last_hidden_state.square().sum().backward()
    before = table(model).weight.grad.clone()
    model.zero_grad()
    with replace_table(model):
        model(padded).last_hidden_state.square().sum().backward()
        assert torch.allclose(table(model).weight.grad, before)
    assert not before[1].any()
    assert before[2].any()


def test_half_precision_is_kept():
    model = network("bert").to(torch.bfloat16)
    with replace_table(model, length=24):
        assert table(model).weight.dtype == torch.bfloat16
        assert states(model, torch.arange(3, 27)[None]).dtype == torch.bfloat16


def test_model_without_memory_yet():
    with torch.device("meta"):
        model = transformers.BertModel(CONFIGS["bert"])
    replace_table(model)
    assert table(model).weight.is_meta


def test_what_is_refused():
    with pytest.raises(TypeError, match="`model` must be a model of transformers"):
        replace_table({})
    for model in (torch.nn.Embedding(12, 16), transformers.LlamaModel(llama())):
        with pytest.raises(ValueError, match="but the model has none"):
            replace_table(model)
    model = network("bert")
    with pytest.raises(ValueError, match="among embeddings.position_embeddings; got 'other'"):
        replace_table(model, name="other")
    with replace_table(model), pytest.raises(ValueError, match="Positions.*more than look up"):
        replace_table(model)
    model.embeddings.position_embeddings.max_norm = 1.0
    with pytest.raises(ValueError, match="more than look up rows"):
        replace_table(model)
    opt = transformers.OPTConfig(**{**OPT, "max_position_embeddings": 12})
    with pytest.raises(ValueError, match="OPTLearnedPositionalEmbedding.*more than look up"):
        replace_table(transformers.OPTModel(opt))
    model = network("bert")
    model.embeddings.position_embeddings.register_forward_hook(lambda *args: args[-1] * 2)
    with pytest.raises(ValueError, match="gives other rows"):
        replace_table(model)


def test_one_of_several_tables():
    config = transformers.EncoderDecoderConfig.from_encoder_decoder_configs(
        transformers.BertConfig(**SMALL, max_position_embeddings=12),
        transformers.BertConfig(**SMALL, max_position_embeddings=12),
    )
    model = transformers.EncoderDecoderModel(config)
    names = "decoder.bert.embeddings.position_embeddings, encoder.embeddings.position_embeddings"
    with pytest.raises(ValueError, match=f"among {names}; got None"):
        replace_table(model)
    with replace_table(model, name="encoder.embeddings.position_embeddings", length=24):
        assert model.encoder.embeddings.position_embeddings.num_embeddings == 24
        assert model.decoder.bert.embeddings.position_embeddings.num_embeddings == 12


def llama():
    return transformers.LlamaConfig(**SMALL)


OPT = {
    "vocab_size": 32,
    "hidden_size": 16,
    "ffn_dim": 16,
    "word_embed_proj_dim": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
}
