"""Ours in tiny vision towers of transformers: the same numbers before, with and after."""

import pytest
import torch
import transformers

import posenc
from oracles import grids
from posenc.torch.transformers import replace, tables

DIFFERENT = ("kimi_k25_vision", "minimax_m3_vl_vision", "pixtral", "qwen2_5_vl_vision")
"""Those that turn, or order their axes, each in another way, and the most loaded one."""

REFUSED = {
    "gemma4_vision": r"encoder\.rotary_emb \(Gemma4Vision.* it returns no table of AxialRotary",
    "muse_glimmer_vision": r"rotary_emb \(MuseGlimmerVision.*its own table is",
    "muse_spark_vision": r"rotary_emb \(MuseSparkVision.*its own table is",
}
"""Those whose tables have a form of their own, or hold columns before rows."""

OWN_CODE = ("lfm3_vl_vision",)
"""Those whose attention stands in another model of transformers than their table."""


def tower(model_type):
    """A tiny network with random weights, and pictures for it."""
    network = random(grids._tower(model_type, **grids._small(model_type)))
    network.set_attn_implementation("eager")
    patches, others = grids._TOWERS[model_type].get("inputs", grids._flat)(network.config, 4, 6)
    return network, torch.randn(patches.shape), others


def random(network):
    torch.manual_seed(0)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.copy_(torch.randn(parameter.shape) * 0.2)
    return network.eval()


def states(network, patches, others):
    with torch.no_grad():
        return network(patches, **others)[0]


def alike(one, two):
    return float((one - two).abs().max()) <= 1e-5 * max(1.0, float(two.abs().max()))


def same_numbers(model_type):
    """Whether they are, and what was replaced."""
    network, patches, others = tower(model_type)
    before = states(network, patches, others)
    with replace(network) as replaced:
        within, said = states(network, patches, others), repr(replaced)
        assert any(isinstance(part, tables.Table) for part in network.modules())
    assert alike(within, before)
    assert torch.equal(states(network, patches, others), before)
    return said


@pytest.mark.parametrize("model_type", DIFFERENT)
def test_same_numbers(model_type):
    assert "posenc turns, layout half" in same_numbers(model_type)


@pytest.mark.slow
@pytest.mark.parametrize("model_type", sorted(grids._TOWERS.keys() - REFUSED.keys()))
def test_same_numbers_in_every_tower(model_type):
    said = same_numbers(model_type)
    assert ("own code" in said) == (model_type in OWN_CODE)


@pytest.mark.parametrize("model_type", sorted(REFUSED))
def test_refused_towers(model_type):
    network, _, _ = tower(model_type)
    with pytest.raises(ValueError, match=REFUSED[model_type]):
        replace(network)
    assert not any("forward" in vars(part) for part in network.modules())


def test_a_tower_whose_table_is_another_is_refused():
    network, _, _ = tower("qwen2_5_vl_vision")
    network.rotary_pos_emb.inv_freq.mul_(1.001)
    with pytest.raises(ValueError, match=r"rotary_pos_emb \(Qwen2_5_VLVision.*its own table is"):
        replace(network)


def with_eyes():
    """A tiny Qwen2.5-VL, and text with a picture for it."""
    text = {
        "vocab_size": 48,
        "hidden_size": 64,
        "intermediate_size": 32,
        "num_hidden_layers": 1,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 256,
        "bos_token_id": 1,
        "eos_token_id": 2,
        "rope_parameters": {
            "rope_type": "default",
            "rope_theta": 10_000.0,
            "mrope_section": [2, 3, 3],
        },
    }
    vision = {
        "depth": 1,
        "hidden_size": 32,
        "intermediate_size": 16,
        "num_heads": 2,
        "out_hidden_size": 64,
        "patch_size": 4,
    }
    config = transformers.Qwen2_5_VLConfig(
        text_config=text,
        vision_config=vision,
        image_token_id=40,
        video_token_id=41,
        vision_start_token_id=42,
        vision_end_token_id=43,
    )
    tokens = torch.tensor([[3, 4, 42, *[40] * 6, 43, 5, 6]])
    given = {
        "input_ids": tokens,
        "mm_token_type_ids": (tokens == 40).int(),
        "pixel_values": torch.randn(24, 3 * 2 * 4**2),
        "image_grid_thw": torch.tensor([[1, 4, 6]]),
    }
    cls = transformers.Qwen2_5_VLForConditionalGeneration
    return random(cls._from_config(config, attn_implementation="eager")), given


def logits(model, given):
    with torch.no_grad():
        return model(**given).logits


def test_text_and_pictures():
    model, given = with_eyes()
    before = logits(model, given)
    with replace(model) as replaced:
        assert alike(logits(model, given), before)
        assert "model.visual.rotary_pos_emb" in repr(replaced)
        assert "model.language_model.rotary_emb" in repr(replaced)
    assert torch.equal(logits(model, given), before)


@pytest.mark.parametrize("scaling", [posenc.Yarn(factor=4.0), {"": posenc.Yarn(factor=4.0)}])
def test_a_scaling_is_for_text(scaling):
    model, given = with_eyes()
    before = logits(model, given)
    picture = given["pixel_values"], {"grid_thw": given["image_grid_thw"]}
    seen = states(model.model.visual, *picture)
    with replace(model, scaling=scaling) as replaced:
        assert repr(replaced).count("scaling=yarn(factor=4.0,original_length=256)") == 1
        assert not alike(logits(model, given), before)
        assert alike(states(model.model.visual, *picture), seen)


def test_a_tower_with_a_table_of_its_own_does_not_keep_ours_from_the_text():
    model, given = with_eyes()
    model.model.visual.rotary_pos_emb.inv_freq.mul_(1.001)
    before = logits(model, given)
    with replace(model) as replaced:
        assert "model.visual.rotary_pos_emb is left as it was" in repr(replaced)
        assert alike(logits(model, given), before)
