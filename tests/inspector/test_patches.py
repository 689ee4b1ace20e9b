"""Trained tables of patches: grids that make none, tables that cannot run, and how others fit."""

from __future__ import annotations

import pytest

from posenc import Learned
from posenc.inspector import read_settings


def read(model_type, **settings):
    return read_settings({"model_type": model_type, **settings})


def tables(reading):
    return [use for use in reading.uses if use.kind == "learned grid"]


def told(reading):
    return {(finding.severity, finding.code, finding.key) for finding in reading.findings}


def remarks(use):
    return " ".join(use.remarks)


# Grids


@pytest.mark.parametrize(
    ("image", "patch", "rows"),
    [(32, 8, 17), ([24, 40], 8, 16), ([24, 40], [12, 8], 11), (39, 8, 17)],
)
def test_a_row_for_each_whole_patch_and_one_for_the_class_token(image, patch, rows) -> None:
    (use,) = tables(read("vit", image_size=image, patch_size=patch, hidden_size=48))

    assert use.encoding == Learned(length=rows, dim=48)
    assert use.original_length == rows


def test_an_image_that_is_no_square_cannot_be_resized_later() -> None:
    reading = read("vit", image_size=[24, 40], patch_size=8)

    assert told(reading) == {("warning", "grid-not-square", "image_size")}


@pytest.mark.parametrize("model_type", ["eomt", "yolos"])
def test_one_size_only_or_a_rule_for_oblong_grids_needs_no_warning(model_type) -> None:
    assert read(model_type, image_size=[64, 96], patch_size=16).sound


@pytest.mark.parametrize(
    ("model_type", "settings", "code", "key"),
    [
        ("vit", {"image_size": 8, "patch_size": 16}, "absurd-value", "image_size"),
        ("vit", {"image_size": [8, 8, 8]}, "wrong-type", "image_size"),
        ("vit", {"image_size": []}, "absurd-value", "image_size"),
        ("siglip2_vision_model", {"num_patches": 255}, "absurd-value", "num_patches"),
        ("vivit", {"tubelet_size": [2, 16]}, "wrong-type", "tubelet_size"),
        (
            "audio-spectrogram-transformer", {"max_length": 10}, "absurd-value", "patch_size",
        ),
        ("hunyuan_vl_vision", {"interpolate_mode": "area"}, "absurd-value", "interpolate_mode"),
        ("pvt", {"hidden_sizes": [64, 128]}, "wrong-type", "hidden_sizes"),
        ("granite4_vision", {"downsample_rate": "half"}, "wrong-type", "downsample_rate"),
    ],
)  # fmt: skip
def test_what_makes_no_grid_is_an_error_at_its_key(model_type, settings, code, key) -> None:
    reading = read(model_type, **settings)

    assert ("error", code, key) in told(reading)
    assert all(part.model_type != model_type for part in reading.parts)


def test_the_height_stands_for_both_sides_where_a_model_resizes_by_it() -> None:
    reading = read("muse_spark_vision", pos_emb_height=6, pos_emb_width=5)

    assert told(reading) == {("warning", "grid-not-square", "pos_emb_width")}
    assert tables(reading)[0].encoding.length == 30


# Tables with a row amiss


@pytest.mark.parametrize("model_type", ["donut-swin", "maskformer-swin", "swin2sr", "swinv2"])
def test_a_row_for_a_class_token_that_is_not_there_cannot_be_added(model_type) -> None:
    found = told(read(model_type, use_absolute_embeddings=True))

    assert ("error", "cannot-run", "use_absolute_embeddings") in found
    assert not any(code == "cannot-run" for _, code, _ in told(read(model_type)))


def test_swin_itself_adds_its_table() -> None:
    (use,) = tables(read("swin", use_absolute_embeddings=True))

    assert use.encoding.length == 56**2
    assert tables(read("swin")) == []


def test_a_second_special_row_makes_mgp_str_too_long_for_its_tokens() -> None:
    plain, distilled = read("mgp-str"), read("mgp-str", distilled=True)

    assert tables(distilled)[0].encoding.length == tables(plain)[0].encoding.length + 1
    assert told(distilled) == {("warning", "cannot-run", "distilled")}


# Several tables, and switches


def test_each_stage_of_pvt_has_a_table_and_the_last_a_class_token() -> None:
    uses = tables(read("pvt", image_size=64))

    assert [use.encoding.length for use in uses] == [16**2, 8**2, 4**2, 2**2 + 1]
    assert [use.encoding.dim for use in uses] == [64, 128, 320, 512]
    assert "class token" in remarks(uses[-1])


def test_yolos_has_more_tables_for_later_layers() -> None:
    reading = read("yolos", num_hidden_layers=4, use_mid_position_embeddings=True)

    first, later = tables(reading)
    assert later.layers == (1, 2, 3)
    assert later.encoding == first.encoding
    assert len(tables(read("yolos", use_mid_position_embeddings=False))) == 1


def test_the_word_for_resizing_comes_from_the_settings() -> None:
    (cubic,) = tables(read("hunyuan_vl_vision", interpolate_mode="bicubic"))
    (linear,) = tables(read("hunyuan_vl_vision", interpolate_mode="bilinear"))

    assert "method='cubic'" in remarks(cubic)
    assert "method='linear'" in remarks(linear)


@pytest.mark.parametrize(
    ("model_type", "switch"),
    [("sam_vision_model", "use_abs_pos"), ("beit", "use_absolute_position_embeddings")],
)
def test_a_table_that_is_switched_off_is_not_there(model_type, switch) -> None:
    assert len(tables(read(model_type, **{switch: True}))) == 1
    assert tables(read(model_type, **{switch: False})) == []
