"""Grids that vision towers turn by: what the report's row on slow pairs rests on."""

from __future__ import annotations

import pytest

from posenc.inspector import read_settings
from posenc.inspector.report.effects import effects
from posenc.inspector.report.facts import grid, value


def turning(model_type, **settings):
    reading = read_settings({"model_type": model_type, **settings})
    return [use for use in reading.uses if use.kind == "axial rotary"]


def rows(use):
    return {row.name: row.sentence for row in effects(use)}


@pytest.mark.parametrize(
    ("model_type", "settings", "sides"),
    [
        ("pixtral", {}, (64, 64)),
        ("pixtral", {"image_size": 512, "patch_size": 32}, (16, 16)),
        ("mlcd", {}, (24, 24)),
        ("llama4_vision_model", {}, (32, 32)),
        ("muse_spark_vision", {}, ()),  # its windows keep the coordinates of the image
        ("kimi_k25_vision", {}, ()),  # its table is made for a grid, its turning for none
        ("qwen2_vl_vision", {}, ()),  # images of any size
        ("qwen3_vl_vision", {}, ()),
        ("dinov3_vit", {}, ()),  # coordinates from -1 to 1 are no cells
    ],
)
def test_a_grid_is_told_where_settings_make_one(model_type, settings, sides) -> None:
    (use,) = turning(model_type, **settings)

    assert grid(use) == sides
    assert ("slow pairs" in rows(use)) == bool(sides)


def test_the_sides_of_pixtral_are_what_its_slow_pairs_are_told_by() -> None:
    (use,) = turning("pixtral")

    assert rows(use)["slow pairs"].endswith("never finish a turn within 64 cells, the longest side")
    stated = next(item for item in use.values if item.name == "grid")
    assert (stated.origin, stated.key) == ("fallback", "image_size and patch_size")


def test_a_size_that_leaves_no_patch_takes_no_turning_away() -> None:
    reading = read_settings({"model_type": "mlcd", "image_size": 8})

    assert [finding.key for finding in reading.findings] == ["image_size"]
    (use,) = reading.uses
    assert use.encoding is not None
    assert grid(use) == ()


def test_windows_of_sam_3_are_grids_of_their_own() -> None:
    windowed, whole = turning("sam3_vit_model", image_size=[1120, 1008])

    assert (grid(windowed), grid(whole)) == ((24, 24), (72, 80))
    assert "24 cells" in rows(windowed)["slow pairs"]
    assert "slow pairs" not in rows(whole)  # its coordinates are shrunk


@pytest.mark.parametrize("model_type", ["sam2_video", "edgetam_video", "sam3_tracker_video"])
def test_the_memory_of_sam_has_rows_and_columns(model_type) -> None:
    (use,) = (
        use
        for use in turning(model_type, memory_attention_rope_feat_sizes=[32, 48])
        if "memory" in use.place
    )

    assert grid(use) == (48, 32)
    assert value(use, "memory_attention_rope_feat_sizes") == (32, 48)
