"""A report as a person reads it, and as a program does."""

import dataclasses
import json
import re

import pytest
from readings import ALL, DEEPSEEK, GEMMA, LLAMA, LLAMA4, QWEN, T5_SMALL, VIT, reading

from posenc import Alibi
from posenc.inspector import read_settings
from posenc.inspector.reading import Finding, Reading, Use, Value
from posenc.inspector.report import lines as report, picture
from posenc.inspector.report.comparison import compare


@pytest.mark.parametrize("name", ALL)
def test_no_line_is_wider_than_a_terminal(name):
    for context in (None, 40_000):
        for every_value in (False, True):
            shown = report.text(ALL[name], context=context, every_value=every_value)
            assert max(map(len, shown.splitlines())) <= 80


def test_a_report_from_top_to_bottom():
    assert report.text(LLAMA, context=131_073).splitlines() == [
        "llama.json: llama",
        "",
        "rotary on queries and keys",
        "  layers      all 32",
        "  pairing     half: feature k turns with k + 64",
        "  head        128 wide, all of it turns: 64 pairs",
        "  base        500,000 (rope_theta)",
        "  scaling     llama3: pairs 0-28 kept, 29-34 blended, 35-63 divided by 8",
        "  wavelengths one turn takes 6.283 to 20,473,564 tokens",
        "  length      trained for 8,192 tokens, stretched to 131,072 (16 times)",
        "  slow pairs  pairs 35-63 (29 of 64) never finish a turn within 8,192 tokens",
        "  angles      at 131,072 pairs 35-63 turn up to 2 times as far as in training",
        "  in bfloat16 positions: 1,409 of 131,072 would stay apart, up to 256 tokens",
        "              off; frequencies: 20 of 64 pairs off by a quarter turn or more",
        "  in float32  the last angles are off by up to 0.006 radians",
        "  values      1 from the file; head_dim=128 from hidden_size and",
        "              num_attention_heads; defaults of the class: layers=32",
        "  at 131,073 tokens",
        "    length    beyond the 131,072 tokens it is stretched to (1 more)",
        "    angles    pairs 35-63 turn up to 2 times as far as in training",
        "    positions 1,409 of 131,073 would stay apart in bfloat16",
        "",
        "nothing odd was found",
    ]


def test_findings_come_last_each_with_its_cure():
    shown = report.lines(GEMMA)
    assert [line.text for line in shown[-7:]] == [
        "1 error, 1 note",
        "  error       rope_scaling.factor = -4",
        "              must be at least 1.",
        "              Put the model's own value there.",
        "  note        rope_theta",
        "              the class takes 10000.",
        "              Check that.",
    ]
    assert [line.role for line in shown[-7:]] == ["title", "error", "", "", "note", "", ""]


def test_every_value_says_where_it_stood():
    shown = report.text(LLAMA, every_value=True)
    assert "base = 500,000 (rope_theta)" in shown
    assert "head_dim = 128 (made from hidden_size and num_attention_heads)" in shown
    assert "layers = 32 (default of num_hidden_layers)" in shown


def test_the_base_says_whether_it_was_read():
    def base(origin):
        value = Value(name="base", value=1e4, origin=origin, key="rope_theta")
        (use,) = LLAMA.uses
        shown = report.text(reading("llama", dataclasses.replace(use, values=(value,))))
        return re.search("  base .*", shown)[0]

    assert base("file") == "  base        500,000 (rope_theta)"
    assert base("default") == "  base        500,000 (default of rope_theta)"
    assert base("fallback") == "  base        500,000 (made from rope_theta)"
    assert "  base        1,000,000\n" in report.text(QWEN)


def test_remarks_and_layers_without_positions():
    assert "  remark      All heads share the turned part of the key." in report.text(DEEPSEEK)
    shown = report.text(LLAMA4, context=40_000)
    assert "no encoding on queries and keys\n  layers      every 4th: 3, 7, ..., 47" in shown
    assert "queries   the last one is multiplied by 1.160944" in shown
    alike = report.text(Reading(source="x", model_type="y", parts=DEEPSEEK.parts * 1))
    assert "as above" not in alike


def test_many_uses_of_one_kind_are_summed_up():
    decays = [
        Use(
            kind="decay",
            place="attention scores",
            layer_type="linear_attention",
            encoding=Alibi(heads=heads),
            layers=(layer,),
        )
        for layer, heads in zip(range(1, 12, 2), (2, 4, 8, 16, 32, 64), strict=True)
    ]
    shown = report.text(reading("minimax", *decays))
    assert shown.count("decay on attention scores (linear_attention)") == 2
    assert "\n... and 4 more like it, layers 3, 5, 7, 9: --json has every number\n" in shown
    assert "head 1" in shown
    assert "head 63" in shown
    assert "more like it" not in report.text(reading("minimax", *decays[:3]))


def test_what_nobody_can_read_is_called_so():
    timm = Use(kind="unknown", place="features", remarks=("timm builds it.",))
    assert "\nunknown encoding on features\n" in report.text(reading("timm_wrapper", timm))


def test_a_long_title_is_broken_as_other_lines_are():
    use = dataclasses.replace(LLAMA.uses[0], place="queries and keys " + "of a network " * 6)
    assert max(map(len, report.text(reading("llama", use)).splitlines())) <= 80
    shown = report.compared(compare(reading("llama", use), LLAMA))
    assert max(len(line.text) for line in shown) <= 80


def test_a_part_has_a_heading_where_there_are_several():
    text_part, vision_part = GEMMA.parts[0], VIT.parts[0]
    named = Reading(
        source="gemma3.json",
        model_type="gemma3",
        parts=(
            type(text_part)(name="text_config", model_type="gemma3_text", uses=text_part.uses),
            type(vision_part)(name="vision_config", model_type="siglip", uses=vision_part.uses),
        ),
    )
    shown = report.text(named)
    assert "\n\ntext_config: gemma3_text\n\nrotary on" in shown
    assert "\n\nvision_config: siglip\n\nlearned grid on" in shown
    assert "no encoding of positions was found" in report.text(
        Reading(source="x.json", model_type="mamba", parts=())
    )
    broken = Reading(source="x.json", model_type="llama", parts=(), findings=GEMMA.findings)
    assert "\nthese settings give no encoding, because of what is wrong below\n" in report.text(
        broken
    )


def test_a_hostile_file_plays_no_tricks_on_the_terminal():
    key = "rope\x1b[31m\n\ud800" + "x" * 10_000
    odd = Finding(
        severity="warning", code="unknown-key", key=key, value={key: [key]}, why=key, cure="No."
    )
    shown = report.text(Reading(source=key, model_type="x\r", parts=(), findings=(odd,)))
    assert all(sign.isprintable() or sign == "\n" for sign in shown)
    assert len(shown) < 6000
    assert "rope\\x1b[31m\\n\\ud800" in shown


@pytest.mark.parametrize("name", ALL)
def test_data_is_strict_json_and_holds_the_effects(name):
    data = json.loads(json.dumps(report.data(ALL[name], context=5000), allow_nan=False))
    for use in data["parts"][0]["uses"]:
        assert use["context"]["length"] == 5000
        assert use["effects"] or use["kind"] == "none"
    assert data["sound"] is ALL[name].sound


def test_data_has_the_numbers_behind_the_sentences():
    (use,) = report.data(LLAMA)["parts"][0]["uses"]
    assert use["effects"]["slow pairs"]["pairs"] == list(range(35, 64))
    assert use["effects"]["scaling"]["rule"]["kind"] == "llama3"
    assert use["encoding"]["kind"] == "rotary"
    assert "context" not in use


def test_the_picture_shows_each_encoding_once_and_every_length():
    axes = picture.figure(GEMMA).axes[0]
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == [
        "rotary: queries and keys sliding_attention",
        "rotary: queries and keys full_attention",
        "  without its scaling",
    ]
    words = [text.get_text() for text in picture.figure(LLAMA).axes[0].texts]
    assert words == ["trained for 8,192", "stretched to 131,072"]
    curve, unscaled = picture.figure(LLAMA).axes[0].lines[:2]
    assert curve.get_ydata()[-1] == pytest.approx(8 * unscaled.get_ydata()[-1])
    with pytest.raises(ValueError, match=r"pairs that turn .* t5.json has none"):
        picture.figure(T5_SMALL)


def test_a_picture_of_two_models_and_of_a_number_of_tokens():
    axes = picture.figure(LLAMA, QWEN, context=200_000).axes[0]
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == [
        "llama.json, rotary: queries and keys",
        "  without its scaling",
        "qwen2.json, rotary: queries and keys",
        "  without its scaling",
    ]
    words = [text.get_text() for text in axes.texts]
    assert words == [
        "trained for 8,192",
        "trained for 32,768",
        "stretched to 131,072",
        "asked for 200,000",
    ]
    title = "pairs above a line never finish a turn within that length"
    assert [text.get_text() for text in axes.figure.texts] == [title]
    far = dataclasses.replace(LLAMA, source="/models" * 50 + "/llama.json")
    legend = picture.figure(far, QWEN).axes[0].get_legend().get_texts()
    assert legend[0].get_text().endswith("/models/llama.json, rotary: queries and keys")
    assert max(len(text.get_text()) for text in legend) <= 80
    assert picture.figure(LLAMA, T5_SMALL).axes[0].lines  # one of them is enough
    with pytest.raises(ValueError, match=r"t5.json and vit.json have none"):
        picture.figure(T5_SMALL, VIT)


def test_lengths_that_lie_close_are_named_apart():
    axes = picture.figure(QWEN, context=40_000).axes[0]
    trained, asked, stretched = axes.texts
    assert (trained.xy, asked.xy, stretched.xy) == ((0, 32_768), (0, 40_000), (0, 131_072))
    # The lower one hangs below its line.
    assert [text.get_va() for text in axes.texts] == ["top", "baseline", "baseline"]
    crowd = picture.figure(QWEN, LLAMA, context=9000).axes[0].texts
    assert [text.get_va() for text in crowd] == ["top", "baseline", "baseline", "baseline"]
    three = dataclasses.replace(LLAMA.uses[0], length=12_000)
    crowd = picture.figure(reading("llama", three), context=10_000).axes[0].texts
    assert [(text.get_va(), text.xy[0]) for text in crowd] == [
        ("top", 0),
        ("top", 0.25),
        ("baseline", 0),
    ]


def test_a_name_with_dollar_signs_is_no_formula(tmp_path):
    odd = Reading(source="$x$_{y.json", model_type="llama", parts=LLAMA.parts)
    picture.figure(odd).savefig(tmp_path / "odd.svg")
    assert re.search(r"\$x\$_\{y", (tmp_path / "odd.svg").read_text())


def test_what_no_setting_changes_is_no_default():
    tower = read_settings({"model_type": "llama4_vision_model"})
    shown = " ".join(report.text(tower).split())
    assert "defaults of the class: image_size=448, patch_size=14, hidden_size=768" in shown
    assert 'fixed by the class: prefix_rows=0, suffix_rows=1, resized="fixed"' in shown
    every = report.text(tower, every_value=True)
    assert "suffix_rows = 1 (fixed by the class)" in every
    assert "(default of )" not in every
