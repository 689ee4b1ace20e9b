"""Two models beside each other, and one with another scaling."""

import dataclasses
import json

import pytest
from readings import BERT, DEEPSEEK, DYNAMIC, GEMMA, LLAMA, LLAMA4, QWEN, reading, rotary

from posenc import Linear, MRotary, Rotary, Sinusoidal, Yarn
from posenc.inspector.reading import Use
from posenc.inspector.report import answer
from posenc.inspector.report.comparison import compare
from posenc.inspector.report.what_if import rescaled


def differences(match):
    return {row.name: (row.one, row.other) for row in match.differences}


@pytest.mark.parametrize("model", [LLAMA, GEMMA, LLAMA4, BERT])
def test_a_model_is_the_same_as_itself(model):
    assert compare(model, model, context=100_000).same
    shown = [line.text for line in answer.beside(model, model).lines]
    assert shown.count("              the same") == len(model.uses)


def test_rows_that_differ_and_the_largest_difference():
    (match,) = compare(LLAMA, QWEN).matches
    rows = differences(match)
    assert rows["base"] == ("500,000", "1,000,000")
    assert rows["attention"] == (None, "x1.138629 on cos and sin, so x1.296477 on scores")
    assert "pairing" not in rows
    assert not match.equal
    ratios = [
        max(a, b) / min(a, b)
        for a, b in zip(
            LLAMA.uses[0].encoding.frequencies, QWEN.uses[0].encoding.frequencies, strict=True
        )
    ]
    pair = ratios.index(max(ratios))
    assert match.frequencies.startswith("pairs 1-63 differ, by a factor of up to ")
    assert match.frequencies.endswith(f" (pair {pair})")
    assert match.largest == pytest.approx(1 - 1 / max(ratios))


def test_pairs_that_differ_alike_are_named_together():
    bare = reading("qwen2", rotary(Rotary(dim=128, base=1e6), length=32_768))
    (match,) = compare(bare, QWEN).matches
    assert match.frequencies == "pairs 24-63 differ, by a factor of up to 4 (pairs 40-63)"


def test_equal_encodings_may_still_differ():
    softer = dataclasses.replace(LLAMA.uses[0], softmax_factor=2.0)
    (match,) = compare(LLAMA, reading("llama", softer)).matches
    assert match.equal
    assert not match.same
    assert list(differences(match)) == ["softmax"]


def test_uses_find_each_other_whatever_their_order():
    one, other = GEMMA.uses
    turned = reading("gemma3_text", other, one)
    assert all(match.equal for match in compare(GEMMA, turned).matches)


def test_layers_of_one_kind_stand_for_the_first_of_two_kinds():
    first, only = compare(LLAMA, GEMMA).matches
    assert "base" in differences(first)
    assert differences(only)["only here"][0] is None
    shown = [line.text for line in answer.beside(LLAMA, GEMMA).lines]
    assert "  only here   - none" in shown
    assert compare(GEMMA, LLAMA).matches[1].differences[0].other is None


def test_two_kinds_in_the_same_place_stand_for_each_other():
    waves = Use(kind="sinusoidal", place="token embeddings", encoding=Sinusoidal(dim=768))
    (match,) = compare(BERT, reading("marian", waves)).matches
    assert differences(match)["kind"] == ("learned", "sinusoidal")


def test_settings_that_both_have():
    values = LLAMA.uses[0].values
    seed = dataclasses.replace(values[1], name="seed", value=1)
    one = reading("llama", dataclasses.replace(LLAMA.uses[0], values=(seed,)))
    other_seed = dataclasses.replace(seed, value=2)
    other = reading("llama", dataclasses.replace(LLAMA.uses[0], values=(other_seed,)))
    assert differences(compare(one, other).matches[0]) == {"seed": ("1", "2")}


def test_what_if_fills_in_the_length_and_says_so():
    bare = reading("qwen2", rotary(Rotary(dim=128, base=1e6), length=32_768))
    changed, filled = rescaled(bare, "yarn:factor=4")
    assert changed.uses[0].encoding == Rotary(
        dim=128, base=1e6, scaling=Yarn(factor=4, original_length=32_768)
    )
    assert changed.uses[0].length == 131_072
    assert filled == ("original_length=32768 was taken from the model",)
    said = answer.with_scaling(bare, "yarn:factor=4", context=100_000)
    shown = [line.text for line in said.lines]
    assert "+ qwen2.json with yarn:factor=4: qwen2" in shown
    assert "              + yarn: pairs 0-23 kept, 24-39 blended, 40-63 divided by 4" in shown
    assert "              - pairs 40-63 turn up to 3.05 times as far as in training" in shown
    assert "              + no pair turns farther than in training" in shown
    assert filled[0] in shown
    json.dumps(said.data, allow_nan=False)


def test_beside_each_other_lines_hang_under_their_words():
    said = answer.beside(GEMMA, QWEN, context=40_000)
    shown = [line.text for line in said.lines]
    row = next(i for i, line in enumerate(shown) if line.startswith("  slow pairs"))
    assert shown[row : row + 4] == [
        "  slow pairs  - pairs 36-63 (28 of 64) never finish a turn within a window of",
        "                1,024 tokens",
        "              + pairs 40-63 (24 of 64) never finish a turn within 32,768 tokens",
        shown[row + 3],
    ]
    assert all(len(line) <= 80 for line in shown)
    assert not any("what if" in line for line in shown)  # advice is no difference


def test_a_long_path_stays_beside_its_sign():
    far = dataclasses.replace(LLAMA, source="/models" * 20 + "/llama.json")
    shown = [line.text for line in answer.beside(far, QWEN).lines]
    assert shown[:2] == [f"- {far.source}:", "  llama"]
    assert shown[2] == "+ qwen2.json: qwen2"


def test_what_if_keeps_a_length_that_is_given():
    changed, filled = rescaled(LLAMA, "yarn:factor=2,original_length=4096")
    assert changed.uses[0].encoding.scaling.original_length == 4096
    assert filled == ()
    assert (changed.uses[0].original_length, changed.uses[0].length) == (4096, 8192)


def test_what_if_reaches_every_plain_rotary_encoding_and_no_other():
    changed, filled = rescaled(GEMMA, "linear:factor=2")
    # No distance grows in layers with a window.
    assert [use.encoding.scaling for use in changed] == [None, Linear(factor=2)]
    assert filled[0] == (
        "layers with a window of 1,024 tokens keep their turning: no distance there grows"
    )
    shown = answer.with_scaling(GEMMA, "yarn:factor=4,original_length=10000").lines
    assert max(len(line.text) for line in shown) <= 80
    wide = [
        dataclasses.replace(use, values=(dataclasses.replace(window, value=100_000),))
        for use in GEMMA.uses[:1]
        for window in use.values
    ]
    shown = answer.with_scaling(reading("gemma", *wide, GEMMA.uses[1]), "linear:factor=2").lines
    assert max(len(line.text) for line in shown) <= 80
    only, filled = rescaled(reading("mistral", GEMMA.uses[0]), "linear:factor=2")
    assert only.uses[0].encoding.scaling == Linear(factor=2)
    assert filled == ()
    mixed = MRotary(rotary=Rotary(dim=16), sections=(2, 3, 3))
    images = reading("vl", Use(kind="M-RoPE", place="heads", encoding=mixed, length=64))
    (use,) = rescaled(images, "linear:factor=2")[0].uses
    assert use.encoding == MRotary(
        rotary=Rotary(dim=16, scaling=Linear(factor=2)), sections=(2, 3, 3)
    )
    assert use.length == 128
    assert rescaled(LLAMA4, "none")[0].uses[1] == LLAMA4.uses[1]


def test_what_if_in_place_of_a_rule_that_names_no_length():
    # Linear 8 reached 131,072 tokens: without it they are 16,384.
    changed, filled = rescaled(reading("gemma", GEMMA.uses[1]), "linear:factor=2")
    (use,) = changed.uses
    assert (use.original_length, use.length) == (16_384, 32_768)
    assert filled == ("16,384 tokens before the model's own linear, which stretches by 8",)
    (bare,) = rescaled(reading("gemma", GEMMA.uses[1]), "none")[0].uses
    assert bare.length == 16_384


def test_what_if_without_scaling_takes_its_softmax_factor_too():
    (use,) = rescaled(DEEPSEEK, "none")[0].uses
    assert use.encoding.scaling is None
    assert use.softmax_factor == pytest.approx(1.0)
    assert use.length == 4096
    assert rescaled(DYNAMIC, "none")[0].uses[0].encoding.scaling is None


@pytest.mark.parametrize(
    ("model", "rule", "message"),
    [
        (LLAMA, "yarm:factor=4", "none or one of linear.*yarn:factor=4; got 'yarm'"),
        (LLAMA, "yarn:factr=4", "has no field 'factr'"),
        (LLAMA, "yarn", "yarn needs 'factor'"),
        (LLAMA, "rotary:dim=8", "none or one of"),
        (BERT, "yarn:factor=4", "rotary encoding, and this one has none"),
        (reading("x", rotary(Rotary(dim=8))), "yarn:factor=4", "add it, as in yarn:original_len"),
    ],
)
def test_what_cannot_be_tried(model, rule, message):
    with pytest.raises(ValueError, match=message):
        rescaled(model, rule)
