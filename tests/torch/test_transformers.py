"""Ours in tiny models of transformers: the same numbers before, with and after, and no trace."""

import copy
import dataclasses
import io
import pickle
import types

import pytest
import torch
import transformers
from transformers.models.auto.modeling_auto import MODEL_MAPPING

import oracles
import posenc
from oracles import tiny
from oracles.tiny_cases import CASES, Case
from posenc.torch.transformers import Replacement, groups, replace, tables, turns, ways

FAMILIES = (
    "cohere",
    "deepseek_v3",
    "falcon",
    "gemma2",
    "gemma3_text",
    "glm",
    "gpt_neox",
    "gptj",
    "llama",
    "llama4_text",
    "mistral",
    "phi3",
    "qwen2",
    "qwen2_vl_text",
    "smollm3",
    "stablelm",
)
"""Those that turn, or tell layers apart, each in another way, and the most loaded ones."""

MORE = {
    "codegen": Case(changes={"n_embd": 64, "n_layer": 2, "n_head": 4, "rotary_dim": 8}),
    "falcon": Case(without=("head_dim",)),
    "gptj": Case(changes={"n_embd": 64, "n_layer": 2, "n_head": 4, "rotary_dim": 8}),
}
"""Model types that run on text, which need no tiny network elsewhere."""

EVERY = {**CASES, **{name: (name, case) for name, case in MORE.items()}}

REFUSED = {
    "deepseek_v4-79": "no rotary encoding for main layers",
    "olmo_hybrid-83": "must have a rotary module",
    "olmo_hybrid-84": "must have a rotary module",
}
"""Settings under which no layer turns, or none by a table that the model makes nevertheless."""

TOKENS = torch.tensor([[3, 4, 5, 6, 7, 8, 9, 10, 11, 12], [13, 14, 15, 3, 4, 6, 5, 7, 9, 8]])

LLAMA = {
    "vocab_size": 48,
    "hidden_size": 64,
    "intermediate_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 256,
}


def network(name):
    """A tiny network with random weights, and what it is given beside tokens."""
    model_type, case = EVERY[name]
    settings = tiny.shrunk(model_type, case.changes)
    settings = {key: value for key, value in settings.items() if key not in case.without}
    if "kv_lora_rank" in settings or model_type == "unlimited_ocr_text":
        settings["num_key_value_heads"] = settings["num_attention_heads"]
    model = built(model_type, settings, case.network)
    case.prepare(model)
    return model, case.inputs()


def built(model_type, settings, name=""):
    config = oracles.built(model_type, **settings)
    cls = getattr(oracles.modeling(model_type), name) if name else MODEL_MAPPING[type(config)]
    return random(cls._from_config(config, attn_implementation="eager"))


def random(model):
    torch.manual_seed(0)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn(parameter.shape) * 0.2)
    return model.eval()


def llama(**settings):
    config = transformers.LlamaConfig(**{**LLAMA, **settings})
    return random(transformers.LlamaForCausalLM(config))


def states(model, inputs, **more):
    with torch.no_grad():
        return model(**{"input_ids": TOKENS, **inputs, **more})[0]


def alike(one, two):
    return float((one - two).abs().max()) <= 1e-5 * max(1.0, float(two.abs().max()))


def padded():
    """The first row begins with three tokens of padding."""
    mask = torch.ones_like(TOKENS)
    mask[0, :3] = 0
    return {"attention_mask": mask, "position_ids": (mask.cumsum(-1) - 1).clamp(min=0)}


CALLS = {
    "from 0": dict,
    "left padding": padded,
    "far": lambda: {"position_ids": torch.arange(100, 110)[None].expand(2, -1)},
    "packed": lambda: {"position_ids": torch.tensor([[0, 1, 2, 3, 0, 1, 2, 3, 4, 5]] * 2)},
}


@pytest.mark.parametrize("name", FAMILIES)
def test_same_numbers(name):
    model, inputs = network(name)
    before = {call: states(model, inputs, **given()) for call, given in CALLS.items()}
    keys = list(model.state_dict())

    with replace(model, precision="float32") as replaced:
        within = {call: states(model, inputs, **given()) for call, given in CALLS.items()}
        assert list(model.state_dict()) == keys
        assert "posenc turns" in repr(replaced)

    after = {call: states(model, inputs, **given()) for call, given in CALLS.items()}
    assert all(alike(within[call], before[call]) for call in CALLS)
    assert all(torch.equal(after[call], before[call]) for call in CALLS)


@pytest.mark.parametrize("name", ["gemma3_text", "glm", "gptj", "llama", "smollm3"])
def test_same_numbers_with_a_cache(name):
    model, inputs = network(name)

    def in_steps():
        with torch.no_grad():
            first = model(input_ids=TOKENS[:, :7], use_cache=True, **inputs)
            return model(input_ids=TOKENS[:, 7:], cache=first.past_key_values, **inputs)[0]

    before = in_steps()
    with replace(model):
        assert alike(in_steps(), before)
        assert alike(in_steps(), states(model, inputs)[:, 7:])


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(EVERY) - set(REFUSED)))
def test_same_numbers_in_every_model_type(name):
    model, inputs = network(name)
    calls = [
        {"input_ids": TOKENS[:1, :9], "position_ids": torch.arange(start, start + 9)[None]}
        for start in (0, 100)
    ]
    before = [states(model, inputs, **given) for given in calls]

    with replace(model, precision="float32") as replaced:
        within = [states(model, inputs, **given) for given in calls]

    after = [states(model, inputs, **given) for given in calls]
    assert "own code" not in repr(replaced)
    assert all(map(alike, within, before))
    assert all(map(torch.equal, after, before))


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_refused_settings(name):
    model, _ = network(name)
    with pytest.raises(ValueError, match=REFUSED[name]):
        replace(model)


@pytest.mark.parametrize("attention", ["eager", "sdpa"])
def test_same_tokens_are_generated(attention):
    model = llama()
    model.set_attn_implementation(attention)
    before = model.generate(TOKENS, max_new_tokens=20, do_sample=False, pad_token_id=0)
    with replace(model):
        within = model.generate(TOKENS, max_new_tokens=20, do_sample=False, pad_token_id=0)
    assert torch.equal(within, before)


def turned_by_ours(model, monkeypatch):
    """How often our function turns in one call of a model."""
    calls = []
    monkeypatch.setattr(ways, "rotate", lambda x, *_, **__: calls.append(1) or x)
    states(model, {})
    monkeypatch.undo()
    return len(calls)


def test_ours_turns_in_this_model_and_in_no_other(monkeypatch):
    model, other = llama(), llama()
    module = transformers.models.llama.modeling_llama
    forward, function = module.LlamaAttention.forward, module.apply_rotary_pos_emb

    replaced = replace(model)

    assert turned_by_ours(model, monkeypatch) == 4  # queries and keys of two layers
    assert turned_by_ours(other, monkeypatch) == 0
    assert module.LlamaAttention.forward is forward
    assert module.apply_rotary_pos_emb is function
    replaced.undo()
    assert turned_by_ours(model, monkeypatch) == 0
    assert not any("forward" in vars(part) for part in model.modules())
    assert not any(isinstance(part, tables.Table) for part in model.modules())


def test_a_copy_has_ours_for_itself(monkeypatch):
    model = llama()
    before = states(model, {})
    replaced = replace(model, precision="float32")
    copied = copy.deepcopy(model)
    replaced.undo()
    assert turned_by_ours(copied, monkeypatch) == 4
    assert turned_by_ours(model, monkeypatch) == 0
    with torch.no_grad():
        model.model.layers[0].self_attn.q_proj.weight.zero_()
    assert alike(states(copied, {}), before)


@pytest.mark.parametrize("undone", [False, True])
def test_pickle(undone):
    model = llama()
    before = states(model, {})
    replaced = replace(model)
    if undone:
        replaced.undo()
    again = pickle.loads(pickle.dumps(model))
    assert alike(states(again, {}), before)
    file = io.BytesIO()
    torch.save(model, file)
    file.seek(0)
    assert alike(states(torch.load(file, weights_only=False), {}), before)


def test_save_pretrained_writes_the_same_weights(tmp_path):
    model = llama()
    before = states(model, {})
    with replace(model):
        model.save_pretrained(tmp_path)
    again = transformers.LlamaForCausalLM.from_pretrained(tmp_path).eval()
    assert torch.equal(states(again, {}), before)


def operators(model):
    """Of the one graph that torch.compile makes of a model: its operators, and the result."""
    found = []

    def backend(graph, _):
        found.append([str(node.target) for node in graph.graph.nodes])
        return graph.forward

    torch._dynamo.reset()
    result = states(torch.compile(model, backend=backend, fullgraph=True), {})
    (names,) = found
    return names, result


def test_compiled():
    model = llama(num_hidden_layers=1)
    before = states(model, {})
    with replace(model):
        names, within = operators(model)
    assert sum("posenc.turn" in name for name in names) == 2  # queries and keys
    assert alike(within, before)


def test_compiled_before_it_is_replaced():
    model = llama(num_hidden_layers=1)
    torch._dynamo.reset()
    compiled = torch.compile(model, backend="eager", fullgraph=True)
    before = states(compiled, {})
    with replace(compiled, scaling="linear:factor=4"):
        assert torch.equal(states(compiled, {}), states(model, {}))
        assert not alike(states(compiled, {}), before)
    assert torch.equal(states(compiled, {}), before)


def test_gradients_with_checkpoints():
    model = llama().train()

    def gradients():
        model.zero_grad()
        model(TOKENS, labels=TOKENS).loss.backward()
        return [parameter.grad.clone() for parameter in model.parameters()]

    before = gradients()
    model.activation_checkpointing_enable()
    with replace(model):
        within = gradients()
    assert all(alike(one, two) for one, two in zip(within, before, strict=True))


def rope(rule, **more):
    return {"rope_parameters": {"rope_type": rule, "rope_theta": 10_000.0, **more}}


YARN = rope("yarn", factor=4.0, original_max_position_embeddings=256)
LLAMA3 = rope(
    "llama3",
    factor=8.0,
    original_max_position_embeddings=256,
    low_freq_factor=1.0,
    high_freq_factor=4.0,
)
SHORT_FACTORS = tuple(1.0 + 0.1 * k for k in range(8))
LONG_FACTORS = tuple(1.0 + k for k in range(8))
LONG = rope(
    "longrope",
    short_factor=list(SHORT_FACTORS),
    long_factor=list(LONG_FACTORS),
    original_max_position_embeddings=64,
    factor=4.0,
)
LONG_ROPE = posenc.LongRope(
    short_factors=SHORT_FACTORS, long_factors=LONG_FACTORS, original_length=64, factor=4.0
)


@pytest.mark.parametrize(
    ("rule", "settings", "start"),
    [
        ("yarn:factor=4", YARN, 240),
        (posenc.Yarn(factor=4.0, original_length=256), YARN, 240),
        (posenc.Yarn(factor=4.0), YARN, 240),
        ("linear:factor=3", rope("linear", factor=3.0), 240),
        ("llama3:factor=8", LLAMA3, 240),
        (posenc.Llama3(factor=8.0), LLAMA3, 240),
        ("dynamic_ntk:factor=4", rope("dynamic", factor=4.0), 247),
        (posenc.DynamicNTK(factor=4.0), rope("dynamic", factor=4.0), 400),
        ("dynamic_ntk:factor=4", rope("dynamic", factor=4.0), 400),
        (LONG_ROPE, LONG, 20),
        (LONG_ROPE, LONG, 120),
    ],
)
def test_another_scaling_as_if_the_settings_said_so(rule, settings, start):
    judge, model = llama(**settings), llama()
    before = states(model, {})
    where = {"position_ids": torch.arange(start, start + 10)[None]}

    with replace(model, scaling=rule, precision="float32"):
        assert alike(states(model, where), states(judge, where))
        assert not alike(states(model, where), before)
    with replace(judge, scaling=None, precision="float32"):
        assert alike(states(judge, where), states(model, where))
    assert torch.equal(states(model, {}), before)


@pytest.mark.parametrize(
    "rule",
    [
        posenc.Yarn(factor=4.0, truncate=False),
        posenc.NTKByParts(factor=4.0),
        dataclasses.replace(LONG_ROPE, original_length=None),
    ],
)
def test_a_rule_takes_the_length_of_its_model(rule):
    model = llama()
    for scaling in (rule, {"": rule}):
        with replace(model, scaling=scaling) as replaced:
            found = model.model.rotary_emb.uses[""].encoding.scaling
            assert "original_length=256" in repr(replaced)
        assert found == dataclasses.replace(rule, original_length=256)
    stretched = llama(**rope("yarn", factor=4.0, original_max_position_embeddings=64))
    with replace(stretched, scaling=rule):
        found = stretched.model.rotary_emb.uses[""].encoding.scaling
    assert found == dataclasses.replace(rule, original_length=64)


def test_dynamic_ntk_remembers_no_longer_text():
    model = llama()
    short = {"position_ids": torch.arange(290, 300)[None]}
    long = {"position_ids": torch.arange(390, 400)[None]}
    with replace(model, scaling="dynamic_ntk:factor=4"):
        before = states(model, short)
        states(model, long)
        assert torch.equal(states(model, short), before)


def test_layers_with_a_window_keep_their_turning():
    model, _ = network("gemma3_text")
    with replace(model, scaling="linear:factor=8"):
        found = {kind: use.encoding.scaling for kind, use in model.rotary_emb.uses.items()}
    assert found == {"full_attention": posenc.Linear(factor=8), "sliding_attention": None}
    with replace(model, scaling={"sliding_attention": "linear:factor=8"}):
        found = {kind: use.encoding.scaling for kind, use in model.rotary_emb.uses.items()}
    assert found == {"full_attention": None, "sliding_attention": posenc.Linear(factor=8)}


def test_softmax_scale_follows_the_rule():
    settings = tiny.shrunk("deepseek_v3", {"num_key_value_heads": 4, "num_hidden_layers": 2})
    deep = {"factor": 4.0, "mscale": 0.8, "mscale_all_dim": 1.2}
    lengths = {"original_max_position_embeddings": 64}
    judge = built("deepseek_v3", settings | rope("yarn", **deep, **lengths))
    model = built("deepseek_v3", settings)
    scale = model.layers[0].self_attn.scaling

    with replace(model, scaling=posenc.Yarn(**deep, original_length=64), precision="float32"):
        assert alike(states(model, {}), states(judge, {}))
        assert model.layers[0].self_attn.scaling == pytest.approx(judge.layers[0].self_attn.scaling)
    assert model.layers[0].self_attn.scaling == scale
    with replace(judge, scaling=None, precision="float32"):
        assert alike(states(judge, {}), states(model, {}))


def test_what_it_says():
    model, _ = network("gemma3_text")
    replaced = replace(model, scaling={"full_attention": "yarn:factor=4"})
    assert repr(replaced).splitlines() == [
        "<Replacement in Gemma3TextModel",
        "  rotary_emb, full_attention, layers 5:",
        "    was  rotary:dim=16,base=1000000.0",
        "    now  rotary:dim=16,base=1000000.0,scaling=yarn(factor=4,original_length=256)",
        "  rotary_emb, sliding_attention, layers 0-4, 6:",
        "    rotary:dim=16",
        "  apply_rotary_pos_emb of 7 Gemma3Attention: posenc turns, layout half>",
    ]
    assert "Rotary(dim=16, base=1000000.0" in repr(model)
    replaced.undo()
    replaced.undo()
    assert repr(replaced) == "<Replacement in Gemma3TextModel\n  undone>"


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_is_turned_in_float32(dtype):
    model = llama().to(dtype)  # which narrows its frequencies, too
    ids = torch.arange(200, 210)[None]
    with replace(model):
        cos, sin = model.model.rotary_emb(torch.zeros(1, 10, 8, dtype=dtype), ids)
        forward = model.model.layers[0].self_attn.forward.__func__
        turn = forward.__wrapped__.__globals__["apply_rotary_pos_emb"]
        logits = states(model, {})
    exact, _ = posenc.Rotary(dim=16).table(ids)
    assert cos.dtype == sin.dtype == torch.float32
    assert (cos[..., :8] - exact).abs().max() <= 6e-8
    q, k = torch.randn(2, 1, 2, 10, 16).to(dtype)
    turned = turn(q, k, cos, sin)
    wide = posenc.Rotary(dim=16).rotate(torch.stack([q, k]).float(), ids[0]).to(dtype)
    assert all(map(torch.equal, turned, wide))
    assert logits.dtype == dtype
    assert logits.isfinite().all()


def test_model_without_memory_yet():
    with torch.device("meta"):
        model = transformers.LlamaForCausalLM(transformers.LlamaConfig(**LLAMA)).eval()
    judge = llama()
    replace(model)
    model.to_empty(device="cpu")
    model.load_state_dict(judge.state_dict())
    assert alike(states(model, {}), states(judge, {}))


def test_another_table_is_refused():
    model = llama()
    model.model.rotary_emb.inv_freq.mul_(1.001)
    before = states(model, {})
    with pytest.raises(ValueError, match=r"model\.rotary_emb \(LlamaRotaryEmb.*its own table"):
        replace(model)
    assert torch.equal(states(model, {}), before)
    assert not any("forward" in vars(part) for part in model.modules())


def test_another_turn_is_refused(monkeypatch):
    module = transformers.models.llama.modeling_llama

    def longer(q, k, cos, sin, unsqueeze_dim=1):
        q, k = theirs(q, k, cos, sin, unsqueeze_dim)
        return q, 1.01 * k

    theirs = module.apply_rotary_pos_emb
    monkeypatch.setattr(module, "apply_rotary_pos_emb", longer)
    with pytest.raises(ValueError, match=r"layers\.0\.self_attn \(LlamaAttention.forward, apply"):
        replace(llama())
    monkeypatch.setattr(module, "apply_rotary_pos_emb", lambda q, cos, sin, k: None)
    with pytest.raises(ValueError, match=r"does not know: \(q, cos, sin, k\)"):
        replace(llama())


def test_turning_backwards_is_refused(monkeypatch):
    module = transformers.models.llama.modeling_llama

    def backwards(q, k, cos, sin, unsqueeze_dim=1):
        return theirs(q, k, cos, -sin, unsqueeze_dim)

    theirs = module.apply_rotary_pos_emb
    monkeypatch.setattr(module, "apply_rotary_pos_emb", backwards)
    with pytest.raises(ValueError, match="another direction"):
        replace(llama())


@pytest.mark.parametrize("kind", ["bert", "gpt2"])
def test_a_model_that_turns_nothing_is_refused(kind):
    config = transformers.AutoConfig.for_model(kind, num_hidden_layers=1, vocab_size=8)
    with torch.device("meta"):
        model = transformers.AutoModel.from_config(config)
    with pytest.raises(ValueError, match=f"must have a rotary module .* {type(model).__name__}"):
        replace(model)


def test_wrong_arguments_are_refused():
    model = llama()
    for wrong in (LLAMA, model.config, None):
        with pytest.raises(TypeError, match="`model` must be a model of transformers"):
            replace(wrong)
    with pytest.raises(ValueError, match="must have a rotary module .* Linear has none"):
        replace(torch.nn.Linear(2, 2))
    with pytest.raises(ValueError, match="precision"):
        replace(model, precision="half")
    with pytest.raises(ValueError, match="`scaling` must be none or one of linear"):
        replace(model, scaling="alibi:heads=2")
    with pytest.raises(TypeError, match="`scaling` must be a rule"):
        replace(model, scaling=4.0)
    with pytest.raises(ValueError, match=r"layer types among \[''\]; got \['full_attention'\]"):
        replace(model, scaling={"full_attention": "yarn:factor=4"})


def test_what_others_put_in_is_left_alone():
    model = llama()
    attention = model.model.layers[1].self_attn
    with replace(model), pytest.raises(ValueError, match="ours at model.rotary_emb already"):
        replace(model)
    attention.forward = types.MethodType(type(attention).forward, attention)
    with pytest.raises(ValueError, match="`forward` of model.layers.1.self_attn"):
        replace(model)
    del attention.forward
    replaced = replace(model)
    attention.forward = types.MethodType(type(attention).forward, attention)
    with pytest.raises(RuntimeError, match="`forward` of LlamaAttention was replaced again since"):
        replaced.undo()
    assert isinstance(model.model.rotary_emb, tables.Table)


def test_part_of_a_larger_model():
    model = llama()
    with replace(torch.nn.ModuleDict({"language": model})) as replaced:
        assert "language.model.rotary_emb" in repr(replaced)
    with replace(model.model) as replaced:
        assert isinstance(replaced, Replacement)
        assert isinstance(model.model.rotary_emb, tables.Table)


def test_small_things():
    assert len({str(way) for way in ways.WAYS}) == len(ways.WAYS) / 2  # axes are not said
    assert list(turns.turning(transformers.LlamaModel)) == []
    assert list(groups.owned(torch.nn.Linear(2, 2))) == []


def test_proving_does_not_disturb_the_models_own_module():
    model = llama(**rope("dynamic", factor=4.0))
    states(model, {"position_ids": torch.arange(400, 410)[None]})
    frequencies = model.model.rotary_emb.inv_freq.clone()
    replace(model).undo()
    assert torch.equal(model.model.rotary_emb.inv_freq, frequencies)
    assert not torch.equal(frequencies, model.model.rotary_emb.original_inv_freq)
