"""What encodings do in a model: effective numbers against formulas written out here."""

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
    DynamicNTK,
    MRotary,
    NTKByParts,
    Proportional,
    Rotary,
    Sinusoidal,
    Swin,
)
from posenc.inspector.reading import Use
from posenc.inspector.report import narrow, stack
from posenc.inspector.report.context import at_length
from posenc.inspector.report.effects import effects
from posenc.inspector.report.turning import unseen


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
    assert said["softmax"].data["factor"] == pytest.approx((0.1 * math.log(40) + 1) ** 2)
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


def test_grids_and_waves():
    axial = rows(Use(kind="axial rotary", place="patches", encoding=AxialRotary(dim=80)))
    assert axial["features"].data == {"axes": [0, 1], "shares": [40, 40], "width": 80}
    assert axial["wavelengths"].sentence.endswith("steps")
    mixed = MRotary(rotary=Rotary(dim=128, base=1e6), sections=(16, 24, 24))
    said = rows(Use(kind="M-RoPE", place="queries and keys", encoding=mixed, length=32_768))
    assert said["axes"].sentence == "pairs: 16 for time, 24 for rows, 24 for columns; contiguous"
    assert len(said["slow pairs"].data["pairs"]) == sum(w > 32_768 for w in waves(1e6, 128))
    whisper = Sinusoidal(dim=384, layout="half", spacing="endpoint")
    said = rows(Use(kind="sinusoidal", place="frames", encoding=whisper, length=1500))
    assert said["wavelengths"].data["last"] == pytest.approx(math.tau * 10_000)
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
    # Factor 4 carries four times as far, and not one token farther.
    assert there(QWEN.uses[0], 131_072)["angles"].data["pairs"] == []
    assert there(QWEN.uses[0], 131_073)["angles"].data["pairs"] == list(range(40, 64))


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
