"""Biases by distance: what settings say, what they only seem to say, and known confusions."""

from __future__ import annotations

import math

import numpy as np
import pytest

from posenc.inspector import read_settings
from posenc.inspector.report import stack
from posenc.inspector.report.context import at_length
from posenc.inspector.report.effects import effects

KINDS = {
    "ALiBi",
    "T5 buckets",
    "Shaw",
    "Transformer-XL",
    "DeBERTa",
    "relative logits",
    "pairwise",
    "box relation",
    "clamped table",
    "Swin table",
    "continuous bias",
    "decomposed",
}


def read(model_type, **settings):
    """The reading, and those of its encodings that bias by distance."""
    reading = read_settings({"model_type": model_type, **settings})
    return reading, [use for use in reading.uses if use.kind in KINDS]


def codes(reading):
    return {finding.code for finding in reading.findings}


def told(use, words):
    return any(words in remark for remark in use.remarks)


# ALiBi


@pytest.mark.parametrize(
    ("heads", "slopes"),
    [
        (1, [2**-8]),
        (2, [0.0625, 0.00390625]),
        (3, [0.0625, 0.00390625, 0.25]),
        (6, [0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125]),
        (8, [2**-h for h in range(1, 9)]),
        (12, [*(2**-h for h in range(1, 9)), *(2 ** -(h - 0.5) for h in range(1, 5))]),
    ],
)
@pytest.mark.parametrize(("model_type", "key"), [("bloom", "n_head"), ("mpt", "n_heads")])
def test_slopes_begin_at_the_steepest_and_keep_the_order_of_the_checkpoints(
    model_type, key, heads, slopes
) -> None:
    _, (use,) = read(model_type, **{key: heads}, hidden_size=heads * 8)

    np.testing.assert_allclose(use.encoding.slopes, slopes, rtol=1e-15)


def test_a_decoding_step_sees_the_distances_of_its_own_place() -> None:
    _, (use,) = read("bloom")

    row = use.encoding.bias(np.asarray([3]), np.arange(4))[0, 0]

    np.testing.assert_array_equal(row, [-1.5, -1.0, -0.5, 0.0])


def test_the_positive_form_is_the_same_to_the_softmax() -> None:
    _, (use,) = read("bloom")
    ours = np.exp(use.encoding.bias(np.asarray([2]), np.arange(3))[:, 0].astype(np.float64))
    theirs = np.exp(np.asarray(use.encoding.slopes)[:, None] * np.arange(3))

    np.testing.assert_allclose(
        ours / ours.sum(-1, keepdims=True), theirs / theirs.sum(-1, keepdims=True), rtol=1e-7
    )
    assert told(use, "slope times the position of the key")


def test_remembered_tokens_stand_before_the_text() -> None:
    _, (use,) = read("bloom")

    bias = use.encoding.bias(np.arange(2) + 2, np.arange(4))[0]

    np.testing.assert_array_equal(bias, [[-1.0, -0.5, 0.0, -np.inf], [-1.5, -1.0, -0.5, 0.0]])


def test_bias_and_slopes_of_twelve_heads_stay_in_float32() -> None:
    _, (use,) = read("bloom", n_head=12, hidden_size=96)

    bias = use.encoding.bias(np.asarray([2047]), np.arange(2048))

    assert bias.dtype == np.float32
    assert len(np.unique(bias[8, 0])) == 2048


def test_bloom_counts_what_the_mask_keeps_and_mpt_does_not() -> None:
    _, (bloom,) = read("bloom")
    _, (mpt,) = read("mpt")

    assert told(bloom, "tokens that the mask keeps")
    assert not told(mpt, "tokens that the mask keeps")


def test_falcon_has_alibi_only_where_its_switch_is_on() -> None:
    _, off = read("falcon")
    _, (on,) = read("falcon", alibi=True, hidden_size=64, num_attention_heads=4)

    assert off == []
    assert on.encoding.factor == 4.0
    assert told(on, "bfloat16")
    (alibi,) = (value for value in on.values if value.name == "head_dim")
    assert (alibi.origin, alibi.value) == ("fallback", 16)


def test_mpt_adds_alibi_whatever_its_switch_says() -> None:
    reading, (use,) = read("mpt", attn_config={"alibi": False, "alibi_bias_max": 16})

    assert codes(reading) == {"unread-key"}
    assert reading.findings[0].key == "attn_config.alibi"
    assert use.encoding.exponent == 16.0


def test_mpt_has_no_bias_beyond_its_length() -> None:
    _, (mpt,) = read("mpt", max_seq_len=512)
    _, (bloom,) = read("bloom")

    assert (mpt.length, mpt.ends) == (512, True)
    assert not bloom.ends
    assert [row.name for row in at_length(mpt, 513)] == ["end"]
    assert [row.name for row in at_length(mpt, 512)] == ["penalty"]


def test_mpt_scales_its_scores_as_it_says() -> None:
    _, (use,) = read("mpt", attn_config={"softmax_scale": 0.5}, d_model=64, n_heads=4)

    assert use.softmax_factor == 2.0


def test_slopes_that_float32_cannot_hold_are_refused() -> None:
    reading, uses = read("mpt", attn_config={"alibi_bias_max": 300})

    assert uses == []
    assert reading.findings[0].key == "attn_config.alibi_bias_max"


# T5 buckets


def test_buckets_of_the_encoder_are_those_of_every_report() -> None:
    _, (encoder, _) = read("t5")
    back = np.asarray([-1, 0, 1, 7, 8, -8, -11, -12, -16, -64, -90, -91, -128, 128])

    rows = encoder.encoding.bucket(np.asarray([0]), back)[0]

    np.testing.assert_array_equal(rows, [1, 0, 17, 23, 24, 8, 8, 9, 10, 14, 14, 15, 15, 31])


def test_buckets_of_the_decoder_never_see_keys_ahead() -> None:
    _, (_, decoder) = read("t5")
    back = np.asarray([5, -1, -15, -16, -18, -19, -112, -113, -999])

    rows = decoder.encoding.bucket(np.asarray([0]), back)[0]

    np.testing.assert_array_equal(rows, [0, 1, 15, 16, 16, 17, 30, 31, 31])


def test_the_bias_of_the_last_query_is_the_last_row() -> None:
    _, (_, decoder) = read("t5")
    weights = decoder.encoding.initial_weights()

    whole = decoder.encoding.bias(np.arange(5), np.arange(5), **weights)
    last = decoder.encoding.bias(np.asarray([4]), np.arange(5), **weights)

    np.testing.assert_array_equal(last[:, 0], whole[:, -1])


def test_t5_has_two_tables_and_none_across() -> None:
    _, uses = read("t5")

    assert [use.place for use in uses] == ["encoder attention scores", "decoder attention scores"]
    assert sum(math.prod(use.encoding.weights["table"]) for use in uses) == 32 * 8 * 2
    assert told(uses[1], "from decoder to encoder has no positions")
    assert told(uses[0], "The first layer of the stack owns the table")


def test_every_layer_of_umt5_has_a_table() -> None:
    _, uses = read("umt5")

    assert all(told(use, "Every layer has a table of its own") for use in uses)


def test_t5_does_not_divide_by_the_root_of_the_width() -> None:
    _, (encoder, _) = read("t5")
    score = 64 / math.sqrt(encoder.head_dim) * encoder.softmax_factor  # of q = k = 64 ones

    assert score == 64.0
    assert told(encoder, "scale=1")


def test_the_decoder_may_be_shallower() -> None:
    _, (encoder, decoder) = read("t5", num_layers=8, num_decoder_layers=3)
    _, (_, equal) = read("t5", num_layers=8)

    assert (len(encoder.layers), len(decoder.layers), len(equal.layers)) == (8, 3, 8)


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        ({"relative_attention_num_buckets": 31}, "relative_attention_num_buckets"),
        ({"relative_attention_num_buckets": "32"}, "relative_attention_num_buckets"),
        ({"relative_attention_max_distance": 4}, "relative_attention_num_buckets"),
        ({"num_heads": 0}, "heads"),
        ({"num_heads": True}, "heads"),
    ],
)
def test_buckets_that_cannot_be_are_one_error(settings, key) -> None:
    reading, uses = read("t5", **settings)

    assert uses == []
    (finding,) = reading.findings
    assert finding.key.endswith(key)
    assert finding.severity == "error"


def test_longt5_tells_its_two_encoders_apart() -> None:
    _, local = read("longt5")
    _, both = read("longt5", encoder_attention_type="transient-global")
    reading, none = read("longt5", encoder_attention_type="block")

    assert (len(local), len(both), none) == (2, 3, [])
    assert reading.findings[0].key == "encoder_attention_type"
    assert told(local[0], "more than 127 tokens away")


def test_mpnet_sorts_into_32_buckets_whatever_it_says() -> None:
    reading, (use,) = read("mpnet", relative_attention_num_buckets=16)

    assert use.encoding.buckets == 32
    assert (reading.findings[0].severity, reading.findings[0].code) == ("error", "unread-key")


def test_udop_takes_its_biases_from_a_list() -> None:
    _, uses = read("udop", relative_bias_args=[{"type": "vertical", "max_distance": 50}])
    broken, left = read("udop", relative_bias_args=[{"type": "diagonal"}])

    assert [use.encoding.max_distance for use in uses] == [50, 128]
    (value,) = (value for value in uses[0].values if value.name == "max_distance")
    assert (value.key, value.origin) == ("relative_bias_args[0].max_distance", "file")
    assert broken.findings[0].key == "relative_bias_args[0].type"
    assert left == []


@pytest.mark.parametrize("model_type", ["layoutlmv2", "layoutlmv3"])
def test_layoutlm_honours_both_switches(model_type) -> None:
    _, both = read(model_type)
    _, text = read(model_type, has_spatial_attention_bias=False)
    _, boxes = read(model_type, has_relative_attention_bias=False)

    assert (len(both), len(text)) == (3, 1)
    # The third version drops the boxes along with the text.
    assert len(boxes) == {"layoutlmv2": 2, "layoutlmv3": 0}[model_type]


# Vectors


def test_conformers_have_the_scheme_that_their_word_picks() -> None:
    assert [use.kind for use in read("wav2vec2-bert")[1]] == ["Shaw"]
    relative = read("wav2vec2-bert", position_embeddings_type="relative")[1]
    assert [use.kind for use in relative] == ["Transformer-XL"]
    assert read("wav2vec2-bert", position_embeddings_type="rotary")[1] == []
    assert read("wav2vec2-conformer", position_embeddings_type="rotary")[1] == []
    assert read("wav2vec2-conformer", position_embeddings_type=None)[1] == []
    assert read("seamless_m4t_v2", position_embeddings_type="relative")[1] == []


def test_deberta_needs_its_switch_and_its_terms() -> None:
    assert read("deberta")[1] == []
    assert read("deberta", relative_attention=True)[1] == []
    _, (use,) = read("deberta", relative_attention=True, pos_att_type="C2P|p2c")

    assert use.encoding.terms == ("c2p", "p2c")
    assert use.encoding.max_distance == 512  # -1 means max_position_embeddings
    assert use.softmax_factor == pytest.approx(3**-0.5)


def test_deberta_refuses_terms_and_buckets_that_cannot_be() -> None:
    on = {"relative_attention": True, "pos_att_type": ["c2p"]}
    unknown, _ = read("deberta-v2", relative_attention=True, pos_att_type=["p2p"])
    crowded, _ = read("deberta-v2", **on, max_relative_positions=8, position_buckets=256)

    assert unknown.findings[0].key == "pos_att_type"
    assert crowded.findings[0].key == "position_buckets"


def test_inkling_tells_its_layers_apart() -> None:
    _, (near, far) = read("inkling_text", num_hidden_layers=7, local_layer_ids=[0, 2])

    assert (near.layers, far.layers) == ((0, 2), (1, 3, 4, 5, 6))
    assert (near.encoding.max_distance, far.encoding.max_distance) == (512, 1024)


def test_vits_without_a_window_has_no_vectors() -> None:
    assert read("vits", window_size=None)[1] == []


def test_esmfold_is_read_only_where_the_model_folds() -> None:
    assert read("esm")[1] == []
    _, (use,) = read("esm", is_folding_model=True)

    assert (use.encoding.max_distance, use.encoding.dim) == (32, 128)


def test_gemma4_warns_where_its_distances_are_shifted() -> None:
    assert read("gemma4_audio")[0].sound
    assert codes(read("gemma4_audio", attention_chunk_size=20)[0]) == {"shifted-distances"}


def test_granite_refuses_blocks_longer_than_its_table() -> None:
    reading, uses = read("granite_speech_encoder", context_size=600)

    assert uses == []
    assert reading.findings[0].key == "context_size"


@pytest.mark.parametrize(
    "model_type",
    ["granite_speech_encoder", "granite_speech_plus_encoder", "granite_speech5_encoder"],
)
def test_no_distance_leaves_a_block_of_granite_however_long_the_text(model_type) -> None:
    _, (use,) = read(model_type, context_size=150)

    (distances,) = (row for row in effects(use) if row.name == "distances")
    assert distances.sentence.endswith("blocks of 150 hold none beyond 149")
    assert distances.data["farthest"] == 149
    (far,) = at_length(use, 40_000)
    assert far.sentence == "none beyond 149, however long the text is: blocks of 150 stand alone"
    (near,) = at_length(use, 100)
    assert near.data["farthest"] == 99


@pytest.mark.parametrize(
    ("settings", "deep", "keys"),
    [
        ({}, 12, "block_sizes"),
        ({"block_sizes": [2, 3], "block_repeats": [2, 1]}, 7, "block_sizes and block_repeats"),
    ],
)
def test_funnel_has_as_many_layers_as_its_blocks(settings, deep, keys) -> None:
    reading, (use,) = read("funnel", **settings)

    (depth,) = (value for value in use.values if value.name == "layers")
    assert (depth.value, depth.origin, depth.key) == (deep, "fallback", keys)
    assert stack.layers(reading.parts[0], use) == f"all {deep}"


def test_heads_must_divide_the_width() -> None:
    reading, uses = read("wav2vec2-bert", hidden_size=1000, num_attention_heads=16)

    assert uses == []
    assert "must divide the model's width" in reading.findings[0].why


# Windows


def test_beit_has_tables_only_where_switched_on() -> None:
    assert read("beit")[1] == []
    _, both = read("beit", use_relative_position_bias=True, use_shared_relative_position_bias=True)

    assert len(both) == 2
    assert both[0].encoding.window == (14, 14)


def test_beit_on_oblong_images_is_scrambled_by_transformers() -> None:
    reading, (use,) = read("beit", use_relative_position_bias=True, image_size=[224, 448])

    assert use.encoding.window == (14, 28)
    assert codes(reading) == {"scrambled-table"}


def test_sam_and_vitdet_honour_their_switches() -> None:
    assert read("sam_vision_model", use_rel_pos=False)[1] == []
    assert read("vitdet")[1] == []
    settings = {"window_size": 4, "window_block_indices": [0, 2], "num_hidden_layers": 4}
    _, (window, whole) = read("vitdet", use_relative_position_embeddings=True, **settings)

    assert (window.layers, whole.layers) == ((0, 2), (1, 3))
    assert (window.encoding.grid, whole.encoding.grid) == ((4, 4), (14, 14))


def test_swin_stages_need_heads_and_depths() -> None:
    reading, uses = read("swin", num_heads=[3, 6, 12])

    assert uses == []
    assert codes(reading) == {"wrong-length"}


def test_swin_layers_are_counted_through() -> None:
    _, uses = read("swin")

    assert [use.layers for use in uses][2:] == [(4, 5, 6, 7, 8, 9), (10, 11)]
