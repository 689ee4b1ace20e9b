"""Sinusoidal vectors: widths that no class fills, switches, and where counting starts."""

from __future__ import annotations

import numpy as np
import pytest

from posenc.inspector import read_settings

KINDS = {"sinusoidal", "sinusoidal grid", "sinusoidal boxes", "Fourier features"}


def read(model_type, **settings):
    return read_settings({"model_type": model_type, **settings})


def waves(reading):
    return [use for use in reading.uses if use.kind in KINDS]


def told(reading):
    return {(finding.severity, finding.code, finding.key) for finding in reading.findings}


def value(use, name):
    return next(value.value for value in use.values if value.name == name)


# Widths


@pytest.mark.parametrize("model_type", ["pegasus_x", "videoprism_text_model"])
def test_an_odd_width_leaves_half_a_pair(model_type) -> None:
    reading = read(model_type, hidden_size=63)

    assert {(severity, code) for severity, code, _ in told(reading)} == {("error", "odd-width")}
    assert waves(reading) == []


def test_marian_cuts_its_last_cosine_off() -> None:
    (use,) = waves(read("marian", d_model=63))

    assert use.encoding.encode(np.arange(3)).shape == (3, 63)


@pytest.mark.parametrize(
    ("model_type", "settings", "key"),
    [
        ("fun_asr_nano_encoder", {"num_stacked_frames": 40_000}, "num_mel_bins"),
        ("patchtst", {"positional_encoding_type": "sincos", "context_length": 2**40},
         "context_length"),
        ("detr", {"position_embedding_type": "trained"}, "position_embedding_type"),
        ("rt_detr", {"encoder_hidden_dim": 30}, "encoder_hidden_dim"),
    ],
)  # fmt: skip
def test_what_makes_no_vectors_is_an_error_at_its_key(model_type, settings, key) -> None:
    reading = read(model_type, **settings)

    assert ("error", "absurd-value", key) in told(reading)


# Where counting starts


@pytest.mark.parametrize("padding", [0, 1, 5])
def test_fairseq_counts_from_behind_the_row_of_padding(padding) -> None:
    (use,) = waves(read("m2m_100", pad_token_id=padding))

    assert use.encoding.offset == padding + 1


@pytest.mark.parametrize("model_type", ["speech_to_text", "speecht5"])
def test_a_mask_read_as_tokens_skips_the_wrong_frames(model_type) -> None:
    assert read(model_type).sound
    assert told(read(model_type, pad_token_id=0)) >= {("warning", "padding-id", "pad_token_id")}


@pytest.mark.parametrize(("again", "start"), [(10, 20), (4, 26), (None, 20)])
def test_the_decoder_of_autoformer_starts_before_its_encoder_ends(again, start) -> None:
    _, decoder = waves(
        read("autoformer", context_length=30, prediction_length=7, label_length=again)
    )

    assert decoder.first_position == start


def test_a_context_of_no_length_is_as_long_as_the_prediction() -> None:
    encoder, decoder = waves(read("informer", context_length=0, prediction_length=7))

    assert encoder.original_length == 14
    assert decoder.first_position == 7


# Switches


@pytest.mark.parametrize(
    ("model_type", "switch", "kinds"),
    [
        ("timesfm", "use_positional_embedding", {"none"}),
        ("patchtsmixer", "use_positional_encoding", {"none"}),
        ("distilbert", "sinusoidal_pos_embds", {"learned"}),
    ],
)
def test_a_switch_says_what_is_there_instead(model_type, switch, kinds) -> None:
    assert {use.kind for use in read(model_type, **{switch: False}).uses} == kinds


@pytest.mark.parametrize("model_type", ["rt_detr", "omdet-turbo"])
def test_a_fixed_size_leaves_positions_out(model_type) -> None:
    found = told(read(model_type, eval_size=[640, 640]))

    assert ("warning", "positions-off", "eval_size") in found


def test_detr_trains_rows_and_columns_if_told_so() -> None:
    reading = read("detr", position_embedding_type="learned", d_model=64)

    (use,) = [use for use in reading.uses if use.kind == "learned rows and columns"]
    assert use.encoding.widths == (32, 32)
    assert waves(reading) == []


# Bases and scales


def test_a_timescale_other_than_1_divides_positions() -> None:
    (use,) = waves(
        read("timesfm", use_positional_embedding=True, min_timescale=2, max_timescale=200)
    )

    assert use.encoding.base == 100
    assert any("multiplied by min_timescale, 2" in remark for remark in use.remarks)


def test_rows_and_columns_of_dab_detr_may_have_temperatures_of_their_own() -> None:
    alike = read("dab-detr", temperature_height=30, temperature_width=30)
    apart = read("dab-detr", temperature_height=30, temperature_width=40)

    assert [use.encoding.base for use in waves(alike)] == [30, 10_000]
    assert [use.encoding.base for use in waves(apart)] == [30, 40, 10_000]


def test_the_table_of_patchtst_is_brought_to_mean_0_and_deviation_of_a_tenth() -> None:
    reading = read(
        "patchtst",
        positional_encoding_type="sincos",
        context_length=40,
        patch_length=4,
        patch_stride=4,
        d_model=16,
    )

    (use,) = waves(reading)
    rows = use.encoding.encode(np.arange(use.original_length)).astype(np.float64)
    table = (rows - value(use, "vector_mean")) * value(use, "vector_scale")
    assert table.mean() == pytest.approx(0, abs=1e-7)
    assert table.std(ddof=1) == pytest.approx(0.1, rel=1e-6)


@pytest.mark.parametrize(
    ("model_type", "settings"),
    [
        ("pi0", {"min_period": 5e-324}),
        ("timesfm", {"min_timescale": 5e-324, "use_positional_embedding": True}),
    ],
)
def test_scales_whose_share_is_no_number_are_refused_where_they_stand(model_type, settings) -> None:
    reading = read_settings({"model_type": model_type, **settings})

    (finding,) = (item for item in reading.findings if item.code == "absurd-value")
    assert finding.key == next(iter(settings))
    assert "inf" not in finding.why
