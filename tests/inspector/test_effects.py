"""What encodings do in a model: effective numbers against formulas written out here."""

import dataclasses
import json
import math

import numpy as np
import pytest
import torch
from readings import (
    ALL,
    BERT,
    BLOOM,
    DEEPSEEK,
    DYNAMIC,
    GEMMA,
    LLAMA,
    LLAMA4,
    PHI,
    QWEN,
    ROBERTA,
    T5_SMALL,
    VIT,
    reading,
    rotary,
)

from posenc import (
    NTK,
    AxialRotary,
    Deberta,
    Decomposed,
    DynamicNTK,
    FourierFeatures,
    LearnedAxes,
    LogN,
    MixedRotary,
    MRotary,
    NTKByParts,
    Proportional,
    Rotary,
    Sinusoidal,
    Swin,
    TransformerXL,
    Yarn,
)
from posenc.inspector import read_settings
from posenc.inspector.reading import Use, Value
from posenc.inspector.report import narrow, stack
from posenc.inspector.report.context import at_length
from posenc.inspector.report.effects import effects
from posenc.inspector.report.turning import base_of, unseen


def rows(use):
    return {effect.name: effect for effect in effects(use)}


def there(use, length):
    return {effect.name: effect for effect in at_length(use, length)}


def runs(use):
    regimes = rows(use)["scaling"].data["regimes"]
    return [[(run["first"], run["last"]) for run in regime["runs"]] for regime in regimes]


def waves(base, dim):
    return [math.tau * base ** (2 * k / dim) for k in range(dim // 2)]


def test_yarn_in_effective_numbers():
    said = rows(QWEN.uses[0])
    assert said["scaling"].sentence == "yarn: pairs 0-23 kept, 24-39 blended, 40-63 divided by 4"
    assert said["attention"].data["factor"] == pytest.approx(0.1 * math.log(4) + 1)
    assert "x1.138629 on cos and sin, so x1.296477 on scores" in said["attention"].sentence


def test_llama3_in_effective_numbers():
    kept = sum(wave < 8192 / 4 for wave in waves(5e5, 128))
    slow = sum(wave > 8192 for wave in waves(5e5, 128))
    said = rows(LLAMA.uses[0])
    assert runs(LLAMA.uses[0]) == [[(0, kept - 1), (kept, 63 - slow), (64 - slow, 63)]]
    assert said["slow pairs"].data["pairs"] == list(range(64 - slow, 64))
    last = 8 * waves(5e5, 128)[-1]
    assert said["wavelengths"].data["last"] == pytest.approx(last)
    assert said["wavelengths"].sentence == f"one turn takes 6.283 to {round(last):,} tokens"
    assert said["length"].sentence == "trained for 8,192 tokens, stretched to 131,072 (16 times)"
    # Sixteen times the tokens at an eighth of the speed.
    assert said["angles"].data["times"] == pytest.approx(2.0)


def test_a_head_of_which_a_part_turns():
    said = rows(DEEPSEEK.uses[0])
    assert said["head"].sentence == "192 wide, features 128-191 turn: 32 pairs"
    assert "written back as half" in said["pairing"].sentence
    factor = (0.1 * math.log(40) + 1) ** 2
    assert said["softmax"].data == pytest.approx(
        {"factor": factor, "together": factor / math.sqrt(192)}
    )
    assert said["softmax"].sentence == (
        "all scores x1.873854, besides 1 / sqrt(192): x0.1352338 together"
    )
    partial = Rotary(dim=64, rotary_dim=16, exponent="head")
    head = rows(reading("x", rotary(partial)).uses[0])["head"].sentence
    assert head == "64 wide, features 0-15 turn: 8 pairs; frequencies as for 64 features"


def test_longrope_has_two_regimes():
    said = rows(PHI.uses[0])
    assert said["scaling"].sentence == (
        "longrope: up to 4,096 tokens pairs 0-1 kept, 2-3 divided by 1.1 to 1.2; "
        "beyond every pair divided by 1.5 to 64"
    )
    assert said["attention"].data["factor"] == pytest.approx(
        math.sqrt(1 + math.log(32) / math.log(4096))
    )


def test_ntk_is_a_larger_base():
    (regime,) = rows(rotary(Rotary(dim=128, scaling=NTK(factor=4.0))))["scaling"].data["regimes"]
    assert regime["base"] == pytest.approx(10_000 * 4 ** (128 / 126))
    assert regime["runs"][-1]["divided_by"][1] == pytest.approx(4.0)
    assert "base" not in rows(QWEN.uses[0])["scaling"].data["regimes"][0]


def test_pairs_that_stand_still():
    said = rows(rotary(Rotary(dim=16, scaling=Proportional(fraction=0.25)), length=100))
    assert said["scaling"].sentence == "proportional: pairs 0-1 kept, 2-7 stopped"
    assert "pairs 2-7 do not turn at all" in said["wavelengths"].sentence
    assert said["slow pairs"].data["pairs"] == []
    # The rule belongs to the model: it was trained with it, whatever it is trained for.
    gemma4 = rotary(Rotary(dim=16, scaling=Proportional(fraction=0.25)), original_length=6)
    assert rows(gemma4)["slow pairs"].data["pairs"] == [0, 1]


def test_any_rule_is_put_into_words():
    published = Rotary(dim=64, base=1e4, scaling=NTKByParts(factor=2.0, original_length=2048))
    assert rows(rotary(published))["scaling"].sentence.startswith("ntk by parts: pairs 0-")
    growing = rows(DYNAMIC.uses[0])["scaling"].sentence
    assert growing.startswith("dynamic ntk: up to 4,096 tokens every pair kept; at 8,192 pair 0")
    assert rows(GEMMA.uses[1])["scaling"].sentence == "linear: every pair divided by 8"


def test_within_a_window_distances_are_short():
    local = rows(GEMMA.uses[0])
    slow = [k for k, wave in enumerate(waves(1e4, 128)) if wave > 1024]
    assert local["slow pairs"].data["pairs"] == slow
    assert "a window of 1,024 tokens" in local["slow pairs"].sentence
    assert local["window"].data == {"tokens": 1024}
    assert list(there(GEMMA.uses[0], 200_000)) == ["window"]
    # Turning is by distance: a frequency that is off by e is off by 1,023 e at most here.
    off = narrow.frequency_errors(Rotary(dim=128).frequencies, 1024)
    assert local["in bfloat16"].data["pairs_lost"] == sum(error > math.pi / 2 for error in off) == 0
    assert "no pair off by a quarter turn or more" in local["in bfloat16"].sentence
    assert "angles" in there(GEMMA.uses[0], 1024)
    # A window of cells is another thing.
    cells = Use(kind="Swin table", place="scores", encoding=Swin(heads=2, window=(7, 5)))
    assert rows(cells)["cells"].sentence == "windows of 7 x 5, 2 heads"
    assert rows(cells)["trained"].data == {"table": [13 * 9, 2]}


@pytest.mark.parametrize("length", [1, 2, 256, 257, 258, 259, 600, 1025, 4097, 40_000, 131_073])
def test_bfloat16_as_pytorch_rounds_it(length):
    exact = torch.arange(length, dtype=torch.float64)
    narrow_ = exact.to(torch.bfloat16).double()
    assert narrow.distinct(length) == len(torch.unique(narrow_))
    assert narrow.position_error(length) == int((narrow_ - exact).abs().max())


def test_narrow_angles_as_pytorch_forms_them():
    length, turning = 131_072, Rotary(dim=128, base=5e5).frequencies
    exact = torch.tensor(turning, dtype=torch.float64)
    rounded = exact.to(torch.bfloat16).double()
    errors = ((rounded - exact) * (length - 1)).abs()
    np.testing.assert_allclose(narrow.frequency_errors(turning, length), errors, rtol=1e-12)
    assert narrow.lost(narrow.frequency_errors(turning, length)) == int((errors > 1.5708).sum())
    last = torch.arange(length - 256, length, dtype=torch.float64)[:, None]
    single = (last.float() * exact.float()).double() - last * exact
    assert narrow.float32_error(turning, length) == pytest.approx(float(single.abs().max()))
    said = rows(LLAMA.uses[0])
    assert said["in bfloat16"].data["distinct_positions"] == narrow.distinct(length)
    assert said["in float32"].data["length"] == length


def test_tables_and_biases():
    assert rows(BERT.uses[0])["table"].data == {
        "rows": 512,
        "usable": 512,
        "offset": 0,
        "width": 768,
    }
    assert rows(ROBERTA.uses[0])["table"].data["rows"] == 514
    assert "token 0 takes row 2, so 512 tokens" in rows(ROBERTA.uses[0])["table"].sentence
    assert rows(VIT.uses[0])["table"].sentence == "197 rows of 768 features"
    encoder, decoder = (rows(use)["buckets"].sentence for use in T5_SMALL.uses)
    assert encoder == (
        "16 for each side: distances below 8 have one each, all from 91 on share the last"
    )
    assert decoder.startswith("32 for keys behind: distances below 16 have one each, all from 113")
    slopes = rows(BLOOM.uses[0])["slopes"].data
    assert slopes["first"] == pytest.approx(2 ** (-8 / 64))
    assert slopes["last"] == pytest.approx(2 ** (-8 * 47.5 / 64))
    assert slopes["flattest"] == 2**-8
    assert slopes["all"] == list(BLOOM.uses[0].encoding.slopes)


def test_a_grid_of_rows_says_which_cells_they_are_for():
    def table(grid, before, after):
        values = (
            Value(name="grid", value=grid, origin="fallback", key="image_size"),
            Value(name="prefix_rows", value=before, origin="default", key=""),
            Value(name="suffix_rows", value=after, origin="default", key=""),
        )
        return rows(dataclasses.replace(VIT.uses[0], values=values))["table"]

    assert table([14, 14], 1, 0).sentence == "197 rows of 768 features: 1 first, then 14 x 14 cells"
    assert table([15, 13], 0, 2).sentence == "197 rows of 768 features: 15 x 13 cells, then 2"
    assert table([14, 14], 1, 0).data["grid"] == [14, 14]
    assert table([14, 14], 0, 0).sentence == "197 rows of 768 features"
    assert table("odd", 0, 0).sentence == "197 rows of 768 features"


def test_a_turning_grid_against_its_sides():
    grid = Value(name="grid", value=[24, 16], origin="file", key="image_size")
    pixtral = AxialRotary(dim=64)
    use = Use(kind="axial rotary", place="queries and keys", encoding=pixtral, values=(grid,))
    slow = sum(wave > 24 for wave in waves(1e4, 32))
    assert rows(use)["slow pairs"].data == {"pairs": slow, "of": 16, "cells": 24}
    assert rows(use)["slow pairs"].sentence == (
        f"{slow} of the 16 of an axis never finish a turn within 24 cells, the longest side"
    )
    assert rows(use)["head"].sentence == "64 wide, all of it turns: 32 pairs"
    tiny = dataclasses.replace(grid, value=[1200, 60_000])
    assert rows(dataclasses.replace(use, values=(tiny,)))["slow pairs"].sentence == (
        "none: every pair finishes a turn within 60,000 cells, the longest side"
    )
    # Coordinates from -1 to 1 are no cells.
    dinov3 = AxialRotary(dim=64, base=100.0, scale=math.tau)
    said = rows(dataclasses.replace(use, encoding=dinov3))
    assert "slow pairs" not in said
    assert said["wavelengths"].sentence == "one turn takes 1 to 74.99 of the coordinate's own units"


def test_what_is_drawn_or_trained_has_words_too():
    sam = rows(Use(kind="Fourier features", place="p", encoding=FourierFeatures(dim=256, axes=2)))
    assert sam["layout"].sentence == "all cos, then all sin; 256 features of 2 coordinates"
    assert sam["matrix"].sentence == "128 x 2, saved with the model: turns for each coordinate"
    *_, flow = read_settings({"model_type": "perceiver", "train_size": [64, 96]})
    assert flow.place == "pixels of the network for optical flow"
    assert ("resolution", (64, 96), "train_size") in {
        (value.name, value.value, value.key) for value in flow.values
    }
    assert rows(flow)["matrix"].sentence == (
        "128 x 2, fixed, as the remark says: turns for each coordinate"
    )
    assert "scale" not in rows(flow)["matrix"].data  # nothing is drawn
    mixed = rows(Use(kind="learned rotary", place="q", encoding=MixedRotary(dim=64, heads=4)))
    assert mixed["pairing"].sentence.startswith("interleaved: features 2k and 2k + 1")
    assert mixed["frequencies"].data == {"shape": [2, 4, 32]}
    bias = rows(Use(kind="decomposed", place="scores", encoding=Decomposed(dim=64, grid=(14, 12))))
    assert bias["cells"].sentence == "14 x 12 queries and keys"
    assert bias["tables"].sentence == "a row a distance: rows 27 x 64, columns 23 x 64"
    pooled = Decomposed(dim=64, grid=(14, 12), key_grid=(7, 6))
    assert rows(Use(kind="decomposed", place="scores", encoding=pooled))["cells"].sentence == (
        "14 x 12 queries, 7 x 6 keys"
    )


def test_where_distances_stop_to_count():
    small = Use(kind="DeBERTa", place="attention scores", encoding=Deberta(heads=2, dim=8))
    for buckets in (None, 256):
        use = dataclasses.replace(
            small, encoding=dataclasses.replace(small.encoding, buckets=buckets)
        )
        rows_of = [
            int(use.encoding.index(np.asarray([d]), np.asarray([0]))[0, 0]) for d in range(9999)
        ]
        last = rows_of.index(rows_of[-1])
        assert rows(use)["distances"].data["alike_from"] == last
        assert f"all from {last} behind on look alike" in rows(use)["distances"].sentence
        assert there(use, 2000)["distances"].data["last"] == last
    xl = TransformerXL(heads=2, dim=4, model_dim=512, max_distance=64, ahead=8)
    use = Use(kind="Transformer-XL", place="attention scores", encoding=xl)
    # Nothing here says whether the model itself stops there.
    assert rows(use)["distances"].sentence == (
        "a wave vector each, reckoned here up to 64 behind and 8 ahead"
    )
    assert rows(use)["base"].data["base"] == 10_000
    assert rows(use)["wavelengths"].data["last"] == pytest.approx(waves(1e4, 512)[-1])
    assert there(use, 66)["distances"].sentence == (
        "up to 65: farther than the 64 that are reckoned here"
    )


def test_tables_of_one_shape_are_counted():
    def tables(lengths, widths):
        encoding = LearnedAxes(lengths=lengths, widths=widths, axes=tuple(range(len(lengths))))
        return rows(Use(kind="learned layout", place="p", encoding=encoding))["tables"]

    same = tables(lengths=(64, 64, 64), widths=(16, 16, 16))
    assert same.sentence == "3 of 64 x 16, one an axis, their rows side by side"
    other = tables(lengths=(64, 32), widths=(16, 48))
    assert other.sentence == "64 x 16 and 32 x 48, one an axis, their rows side by side"


def test_rows_that_are_not_for_tokens():
    detr = dataclasses.replace(BERT.uses[0], place="object queries")
    assert rows(detr)["table"].sentence == "512 rows of 768 features"
    assert not there(detr, 40_000)
    canine = dataclasses.replace(BERT.uses[0], place="characters")
    assert rows(canine)["table"].sentence == (
        "512 rows of 768 features, one a character; a longer text has no row"
    )
    assert rows(BERT.uses[0])["table"].sentence == (
        "512 rows of 768 features, one a token; a longer text has no row"
    )
    boxes = dataclasses.replace(T5_SMALL.uses[0], place="attention scores, left edges")
    assert not there(boxes, 40_000)


def test_where_counting_starts():
    first = dataclasses.replace(BERT.uses[0], first_position=1)
    assert rows(first)["start"].sentence == "the first position is 1"
    waves_ = Use(kind="sinusoidal", place="tokens", encoding=Sinusoidal(dim=8, offset=2))
    assert rows(waves_)["start"].sentence == "the first position is 2"
    both = dataclasses.replace(waves_, first_position=1)
    assert rows(both)["start"].data == {"position": 3}


def test_grids_and_waves():
    axial = rows(Use(kind="axial rotary", place="patches", encoding=AxialRotary(dim=80)))
    assert axial["features"].data == {"axes": [0, 1], "shares": [40, 40], "width": 80}
    assert axial["wavelengths"].sentence.endswith("steps")
    mixed = MRotary(rotary=Rotary(dim=128, base=1e6), sections=(16, 24, 24))
    said = rows(Use(kind="M-RoPE", place="queries and keys", encoding=mixed, length=32_768))
    assert said["axes"].sentence == (
        "pairs 0-15 for time, 16-39 for rows, 40-63 for columns (contiguous)"
    )
    assert said["axes"].data["pairs"] == [
        list(range(16)),
        list(range(16, 40)),
        list(range(40, 64)),
    ]
    dealt = MRotary(rotary=Rotary(dim=128, base=5e6), sections=(24, 20, 20), order="interleaved")
    assert rows(Use(kind="M-RoPE", place="queries and keys", encoding=dealt))["axes"].sentence == (
        "24 pairs for time, 20 for rows, 20 for columns (interleaved)"
    )
    assert len(said["slow pairs"].data["pairs"]) == sum(w > 32_768 for w in waves(1e6, 128))
    whisper = Sinusoidal(dim=384, layout="half", spacing="endpoint")
    said = rows(Use(kind="sinusoidal", place="frames", encoding=whisper, length=1500))
    assert said["wavelengths"].data["last"] == pytest.approx(math.tau * 10_000)
    assert said["wavelengths"].sentence == "one turn takes 6.283 to 62,832 frames"
    assert said["length"].sentence == "meant for 1,500 frames"
    assert not there(Use(kind="sinusoidal", place="frames", encoding=whisper, length=1500), 4000)
    assert said["layout"].sentence == "half: all sin, then all cos; 384 features"


def test_beyond_a_table_there_is_no_row():
    assert there(BERT.uses[0], 512)["table"].data["fits"]
    beyond = there(BERT.uses[0], 513)["table"]
    assert not beyond.data["fits"]
    assert beyond.sentence == "too long: beyond 512 tokens there is no row, but an index error"
    assert there(ROBERTA.uses[0], 512)["table"].data["fits"]
    assert not there(VIT.uses[0], 513)  # cells are no tokens


def test_beyond_the_trained_length_some_angles_are_new():
    bare = rotary(Rotary(dim=128, base=1e6), length=32_768)
    assert there(bare, 32_768)["angles"].data["pairs"] == []
    angles = there(bare, 65_536)["angles"].data
    assert angles["pairs"] == [k for k, wave in enumerate(waves(1e6, 128)) if wave > 32_768]
    assert angles["times"] == pytest.approx(2.0)
    assert there(bare, 65_537)["what if"].sentence == (
        "--scaling yarn:factor=3 shows what slowing them would change"
    )
    assert "what if" not in there(bare, 32_768)
    tiny = there(rotary(Rotary(dim=128, base=1e6), length=33), 40_000)
    assert "turn up to 1,212 times as far" in tiny["angles"].sentence
    assert "what if" not in tiny  # no rule carries that far
    # Factor 4 carries four times as far, and not one token farther.
    assert there(QWEN.uses[0], 131_072)["angles"].data["pairs"] == []
    assert there(QWEN.uses[0], 131_073)["angles"].data["pairs"] == list(range(40, 64))


def test_how_long_a_text_is_beside_what_the_model_is_for():
    def length(use, tokens):
        return there(use, tokens)["length"].sentence

    assert length(LLAMA.uses[0], 8192) == "within the 8,192 tokens it was trained for"
    assert length(LLAMA.uses[0], 8193) == (
        "beyond the 8,192 tokens it was trained for, within the 131,072 it is stretched to"
    )
    assert length(LLAMA.uses[0], 131_072).endswith("within the 131,072 it is stretched to")
    assert length(LLAMA.uses[0], 200_000) == (
        "beyond the 131,072 tokens it is stretched to (68,928 more)"
    )
    bare = rotary(Rotary(dim=128, base=1e6), length=32_768)
    assert length(bare, 40_000) == "beyond the 32,768 tokens it is meant for (7,232 more)"
    assert there(bare, 40_000)["length"].data == {"length": 40_000, "for": 32_768, "within": False}
    assert "what if" not in there(QWEN.uses[0], 200_000)


def test_a_pair_that_went_around_has_seen_every_angle():
    turning = (1.0, math.tau / 100, math.tau / 101, 0.0)
    assert unseen(turning, 200, trained=turning, trained_length=100) == {2: pytest.approx(2.0)}


def test_rules_that_look_at_the_length():
    base = there(DYNAMIC.uses[0], 8192)["scaling"].data["base"]
    assert base == pytest.approx(10_000 * (2 * 8192 / 4096 - 1) ** (128 / 126))
    assert there(DYNAMIC.uses[0], 4096)["scaling"].sentence == (
        "nothing changes up to 4,096 tokens"
    )
    assert "cache" not in there(DYNAMIC.uses[0], 4096)
    assert "cache" in there(DYNAMIC.uses[0], 4097)
    assert there(PHI.uses[0], 4096)["scaling"].sentence.startswith("the short factors; from 4,097")
    assert there(PHI.uses[0], 4097)["scaling"].sentence.startswith("the long factors")
    plain = rotary(Rotary(dim=128, scaling=DynamicNTK(original_length=4096)), length=4096)
    assert there(plain, 8192)["scaling"].data["base"] == pytest.approx(1e4 * 2 ** (128 / 126))


def test_far_keys_of_biases():
    penalty = there(BLOOM.uses[0], 1025)["penalty"]
    assert penalty.data["flattest"] == 4.0
    assert penalty.data["steepest"] == pytest.approx(1024 * 2 ** (-8 * 0.5 / 64))
    assert "the most in training" not in penalty.sentence
    assert (
        "2,048 tokens were the most in training" in there(BLOOM.uses[0], 2049)["penalty"].sentence
    )
    encoder = T5_SMALL.uses[0]
    assert there(encoder, 92)["distances"].sentence.startswith("no two distances")
    assert there(encoder, 1000)["distances"].sentence.startswith("distances 91 to 999 share")


def test_queries_that_grow():
    none = LLAMA4.uses[1]
    assert rows(none)["queries"].data["kind"] == "temperature"
    assert rows(none)["queries"].sentence == (
        "times 1 + 0.1 ln(1 + steps), one step every 8,192 tokens from position 8,191 on"
    )
    qwen1 = Use(kind="none", place="queries", query_scaling=LogN(original_length=2048))
    assert rows(qwen1)["queries"].sentence == "times ln(tokens so far) / ln(2,048) beyond 2,048"
    factor = there(none, 40_000)["queries"].data["factor"]
    assert factor == pytest.approx(1 + 0.1 * math.log(1 + 40_000 // 8192))


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("length", [1, 2, 4096, 2**31])
def test_every_length_has_an_answer(name, length):
    for use in ALL[name]:
        for effect in at_length(use, length):
            assert effect.sentence


def test_layers_in_words():
    assert stack.in_words(range(32), 32) == "all 32"
    assert stack.in_words(range(32), None) == "0-31"
    assert stack.in_words([3], 8) == "3 (1 of 8)"
    assert stack.in_words(range(3, 48, 4), 48) == "every 4th: 3, 7, ..., 47 (12 of 48)"
    local = [layer for layer in range(62) if layer % 6 != 5]
    assert stack.in_words(local, 62) == "all but every 6th: 0-4, 6-10, ..., 60-61 (52 of 62)"
    odd = [0, 1, 5, 6, 7, 20, 30, 31]
    assert stack.in_words(odd, 40) == "0-1, 5-7, 20, 30-31 (8 of 40)"
    assert stack.in_words(range(0, 22, 2), 40) == "0, 2, ..., 20 (11 of 40)"
    part = GEMMA.parts[0]
    assert [stack.layers(part, use) for use in part.uses] == [
        "all but every 6th: 0-4, 6-10, ..., 30-33 (29 of 34)",
        "every 6th: 5, 11, ..., 29 (5 of 34)",
    ]


@pytest.mark.parametrize("base", [5e-324, 1e-300, 1e300, 1e308])
def test_bases_that_no_model_has_make_no_numbers_that_json_lacks(base, recwarn):
    use = rotary(Rotary(dim=64, base=base), length=4096)
    json.dumps([effect.data for effect in effects(use)], allow_nan=False)
    assert all("inf" not in effect.sentence for effect in effects(use))
    assert not recwarn.list


def test_no_base_gives_frequencies_beyond_all_numbers():
    slowed = Rotary(dim=128, base=1e308, scaling=Yarn(factor=4.0, original_length=2048))
    assert base_of(slowed) is None
