"""Put posenc into a loaded Hugging Face model, give it another scaling, and take it out again.

>>> import posenc.torch.transformers, torch, transformers
>>> config = transformers.LlamaConfig(
...     vocab_size=32, hidden_size=32, intermediate_size=32, num_hidden_layers=2,
...     num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=64)
>>> model = transformers.LlamaForCausalLM(config).eval()
>>> tokens = torch.arange(12)[None]
>>> before = model(tokens).logits
>>> with posenc.torch.transformers.replace(model):    # the same model, its positions by posenc
...     bool(torch.allclose(model(tokens).logits, before, atol=1e-5))
True
>>> replaced = posenc.torch.transformers.replace(model, scaling=posenc.Yarn(factor=4.0))
>>> replaced
<Replacement in LlamaForCausalLM
  model.rotary_emb, layers 0-1:
    was  rotary:dim=8
    now  rotary:dim=8,scaling=yarn(factor=4.0,original_length=64)
  apply_rotary_pos_emb of 2 LlamaAttention: posenc turns, layout half>
>>> replaced.undo()
>>> bool((model(tokens).logits == before).all())
True

Nothing is put in before it has proved itself on this very model: our table against the table of
the model's own module, our turn against its own function. Where they differ, or where the model
does something else, nothing is changed and the error says which module it was.
"""

from posenc.torch.transformers.learned import replace_table as replace_table
from posenc.torch.transformers.rotary import replace as replace
from posenc.torch.transformers.undo import Replacement as Replacement
