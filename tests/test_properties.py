"""Properties against closed forms in 50 digits, the literature's numbers and known encodings."""

import dataclasses
import json

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from posenc import Sinusoidal, spec
from posenc.properties import check

EVERYTHING = [
    "sinusoidal:dim=16",
    "sinusoidal:dim=5,odd=trim",
    "learned:length=40,dim=8",
    "learned:length=3,dim=8",
    "sinusoidal_axes:dim=16",
    "learned_axes:lengths=[6,6],widths=[4,4]",
    "fourier_features:dim=8,axes=2,scale=1.0",
    "nerf:octaves=3",
    "rotary:dim=16",
    "rotary:dim=16,rotary_dim=4",
    "rotary:dim=16,scaling=yarn(factor=4,original_length=4096)",
    "xpos:dim=16",
    "axial_rotary:dim=16",
    "mixed_rotary:dim=8,heads=3",
    "m_rotary:rotary=rotary(dim=16),sections=[2,3,3]",
    "alibi:heads=6",
    "alibi:heads=6,direction=asymmetric",
    "t5:heads=2",
    "fire:heads=2",
    "sandwich:heads=4,dim=32",
    "swin:heads=2,window=[5,5]",
    "swin_v2:heads=2,window=[5,5]",
    "shaw:dim=8,max_distance=4",
    "cope:dim=8,length=4",
]


def row(text, name, **settings):
    return check(spec.parse(text), **settings)[name]


def closest_neighbours(dim, base=10_000):
    """The distance of position 1 from position 0: 2 sin(w / 2) for each pair, in 50 digits."""
    with mpmath.workdps(50):
        turns = [mpmath.mpf(base) ** (-mpmath.mpf(2 * k) / dim) for k in range(dim // 2)]
        return float(mpmath.sqrt(sum((2 * mpmath.sin(w / 2)) ** 2 for w in turns)))


def test_closest_positions_are_neighbours():
    for dim in (64, 512):
        found = row(f"sinusoidal:dim={dim}", "distinct")
        assert found.holds
        assert f"0 and 1, {closest_neighbours(dim):.7g} apart" in found.sentence
        np.testing.assert_allclose(found.value, closest_neighbours(dim), rtol=1e-12)
    # Twice the square root of 64 less the sum of cosines, at a difference of 1.
    assert row("rotary:dim=64", "distinct").value == pytest.approx(1.4718480, abs=5e-8)


def test_closest_positions_of_one_pair_are_nearly_whole_turns_apart():
    # 710 is 113 turns and 6.0289e-5.
    found = row("sinusoidal:dim=2", "distinct", within=1000)
    with mpmath.workdps(50):
        assert found.value == pytest.approx(float(2 * mpmath.sin(mpmath.mpf(355))) * -1, rel=1e-8)
    assert "0 and 710" in found.sentence


@pytest.mark.slow
@pytest.mark.parametrize(("dim", "gap", "distance"), [(4, 13_823, 0.0076762), (8, 6283, 0.1859770)])
def test_closest_of_twenty_thousand(dim, gap, distance):
    found = row(f"sinusoidal:dim={dim}", "distinct", within=20_000)
    assert f"0 and {gap}," in found.sentence
    assert found.value == pytest.approx(distance, abs=5e-8)
    with mpmath.workdps(50):
        turns = [mpmath.mpf(10_000) ** (-mpmath.mpf(2 * k) / dim) for k in range(dim // 2)]
        want = mpmath.sqrt(sum((2 * mpmath.sin(w * gap / 2)) ** 2 for w in turns))
    assert found.value == pytest.approx(float(want), rel=1e-8)


def test_blocks_find_the_same_pair_as_all_distances_at_once():
    from posenc.properties.looks import _closest

    rows = np.random.default_rng(0).normal(size=(700, 5))
    rows[613] = rows[290] + 1e-5
    everything = np.linalg.norm(rows[:, None] - rows, axis=-1) + np.eye(700) * 9
    one, other, distance = _closest(rows)
    assert (one, other) == (290, 613)
    assert distance == pytest.approx(everything.min())


def test_decay_is_not_monotone():
    # d = 64: 244 of the 511 steps rise; counted here from the closed form.
    turns = 10_000.0 ** (-np.arange(32) / 32)
    curve = np.cos(np.arange(512)[:, None] * turns).sum(axis=-1)
    rises = np.diff(curve) > 0
    found = row("sinusoidal:dim=64", "decays")
    assert (found.holds, found.value) == (False, 244.0)
    assert found.value == rises.sum()
    assert f"first from {rises.argmax()} to {rises.argmax() + 1}" in found.sentence
    assert row("rotary:dim=64", "decays").value == 244.0
    assert row("rotary:dim=64,layout=interleaved", "decays").value == 244.0
    assert row("alibi:heads=12", "decays").holds


@pytest.mark.parametrize(
    ("text", "length", "unfinished", "first"),
    [
        ("rotary:dim=128", 2048, 23, 41),
        ("rotary:dim=128", 4096, 18, 46),
        ("rotary:dim=128,base=500000", 8192, 29, 35),
        ("rotary:dim=64,base=150000", 4096, 14, 18),
        ("sinusoidal:dim=128", 2048, 23, 41),
    ],
)
def test_pairs_that_finish_no_turn(text, length, unfinished, first):
    found = row(text, "finishes every turn", length=length, within=8)
    assert (found.holds, found.value) == (False, unfinished)
    assert f"from pair {first} on" in found.sentence


def test_turns_at_the_threshold():
    # The slower of two pairs needs 2 pi 100 = 628.3 positions.
    assert row("rotary:dim=4", "finishes every turn", length=628).holds is False
    assert row("rotary:dim=4", "finishes every turn", length=629).holds is True
    assert row("rotary:dim=4", "finishes every turn").holds is None


# Last distance before sum over k of cos(m w_k) first falls below 0, recomputed from the formula of
# Men et al. 2024, arXiv:2405.14591, section 4.
@pytest.mark.parametrize(
    ("dim", "base", "last"),
    [
        *[(128, 100, 58), (128, 500, 170), (128, 1000, 360), (128, 10_000, 1706)],
        *[(128, 20_000, 2665), (128, 50_000, 5305), (128, 500_000, 18_437)],
        *[(32, 10_000, 473), (32, 2000, 235), (32, 500, 102), (32, 100, 27), (32, 10, 4)],
    ],
)
def test_base_bounds_context(dim, base, last):
    text = f"rotary:dim={dim},base={base}"
    assert row(text, "base bounds context", within=8).value == last
    assert row(text, "base bounds context", within=8).holds is None
    assert row(text, "base bounds context", length=last, within=8).holds is True
    assert row(text, "base bounds context", length=last + 1, within=8).holds is False


def test_shift_and_gap():
    for text in ("sinusoidal:dim=64", "rotary:dim=32", "xpos:dim=16", "sinusoidal:dim=9,odd=pad"):
        assert row(text, "shift is linear").value < 1e-6
        assert row(text, "relative").value < 1e-12
    # A sine without its cosine can be moved only as far as a line goes: by w of its own pair.
    trimmed = row("sinusoidal:dim=5,odd=trim", "shift is linear")
    assert not trimmed.holds
    assert trimmed.value > 1e-4
    assert not row("sinusoidal:dim=5,odd=trim", "relative").holds
    learned = check(spec.parse("learned:length=512,dim=32"))
    # Twice as many rows as features: random rows are explained by half, sqrt(1/2) is left.
    assert learned["shift is linear"].value == pytest.approx(0.5**0.5, abs=0.1)
    assert not learned["relative"].holds
    few = row("learned:length=30,dim=32", "shift is linear")
    assert few.holds is None
    assert "29 moves" in few.sentence


def test_direction():
    assert not row("sinusoidal:dim=32", "tells direction").holds
    assert not row("alibi:heads=8,direction=symmetric", "tells direction").holds
    assert row("alibi:heads=8,direction=asymmetric", "tells direction").holds
    assert "masked" in row("alibi:heads=8", "tells direction").sentence
    assert row("rotary:dim=32", "tells direction").holds
    assert row("t5:heads=2", "tells direction").holds


def test_bounded():
    assert row("sinusoidal:dim=16", "bounded").value == pytest.approx(1, abs=1e-3)
    assert row("sandwich:heads=8,dim=128", "bounded").holds
    assert row("t5:heads=2", "bounded").holds
    # The steepest of eight slopes is 1/2, at a distance near 2**31.
    alibi = row("alibi:heads=8", "bounded")
    assert not alibi.holds
    assert alibi.value == pytest.approx(2**30, rel=0.05)
    assert not row("xpos:dim=16", "bounded").holds
    scaled = row("rotary:dim=16,scaling=yarn(factor=4,original_length=4096)", "bounded")
    assert scaled.value == pytest.approx(0.1 * np.log(4) + 1, rel=1e-3)


def test_defined_beyond():
    assert row("sinusoidal:dim=16", "defined beyond").holds
    learned = row("learned:length=40,dim=8", "defined beyond")
    assert (learned.holds, learned.value) == (False, 40)
    assert "Position 40 is the first" in learned.sentence
    assert row("learned:length=40,dim=8", "defined beyond", length=30).holds
    assert row("swin:heads=2,window=[7,7]", "defined beyond").value == 7


def test_what_half_precision_loses():
    vectors = check(Sinusoidal(dim=64), within=4097)
    assert vectors["numbers in half"].holds
    # Every slope of eight heads is a power of two, so the bias has as many digits as the distance.
    alibi = row("alibi:heads=8", "numbers in half", within=2100)
    assert not alibi.holds
    assert alibi.value == 24
    for words in ("bfloat16 merges 256 and 257", "float16 merges 2048 and 2049"):
        assert words in alibi.sentence
    positions = vectors["positions in half"].sentence
    assert "bfloat16 turns 257 into 256, float16 turns 2049 into 2048" in positions
    # Distances that share a bucket are the same before any cast: that is not half precision's.
    assert row("t5:heads=2", "numbers in half").holds
    assert "8 and 9, which are the same" in row("t5:heads=2", "distinct").sentence


@settings(max_examples=15)
@given(
    st.builds(
        Sinusoidal,
        dim=st.integers(1, 12).map(lambda half: 2 * half),
        base=st.floats(2, 1e6),
        layout=st.sampled_from(["interleaved", "half"]),
        spacing=st.sampled_from(["paper", "endpoint"]),
    )
)
def test_laws_of_sinusoidal_vectors(encoding):
    board = check(encoding, within=64)
    assert board["bounded"].holds
    assert board["distinct"].holds
    assert board["shift is linear"].holds
    assert board["relative"].holds
    assert not board["tells direction"].holds
    assert board["defined beyond"].holds


@pytest.mark.parametrize("text", EVERYTHING)
def test_every_encoding_has_a_board(text):
    board = check(spec.parse(text), within=48)
    names = [property.name for property in board]
    assert names == [property.name for property in check(Sinusoidal(dim=4))]
    assert max(map(len, str(board).splitlines())) <= 80
    for property in board:
        assert property.sentence.endswith(".")
        assert property.name in str(board)
        assert property == board[property.name]
        if property.holds is None:
            assert "because" in property.sentence or "length=..." in property.sentence
    data = json.loads(json.dumps(board.to_data(), allow_nan=False))
    assert data["spec"] == spec.to_data(board.spec)
    assert data["properties"][0]["name"] == "bounded"
    assert [entry["holds"] for entry in data["properties"]] == [p.holds for p in board]


def test_where_nothing_applies():
    for text, words in (
        ("shaw:dim=8,max_distance=4", "more than positions"),
        ("bipe:intra=sinusoidal(dim=8),inter=alibi(heads=2)", "more than positions"),
        ("learned:length=3,dim=8", "only 3 positions"),
    ):
        board = check(spec.parse(text))
        assert {property.holds for property in board} == {None}
        assert words in board["bounded"].sentence
    assert row("alibi:heads=8", "shift is linear").holds is None
    assert row("sinusoidal:dim=2048", "shift is linear", within=8).holds is None


def test_an_error_at_position_0_is_no_end_of_the_positions(monkeypatch):
    def broken(*_, **__):
        raise ValueError("a bug")

    monkeypatch.setattr(Sinusoidal, "encode", broken)
    with pytest.raises(ValueError, match="a bug"):
        check(Sinusoidal(dim=4))


def test_printed_board():
    text = str(check(spec.parse("t5:heads=4"), within=16))
    assert text.startswith("t5:heads=4\nTrained arrays as they are before training.\n")
    assert "\nno  distinct              Closest among 16 distances: 8 and 9" in text
    assert "\n-   shift is linear       Does not apply, because" in text


def test_errors():
    with pytest.raises(TypeError, match=r"must be an encoding of posenc.*got int"):
        check(7)
    with pytest.raises(ValueError, match=r"`length` must be at least 1; got length=0"):
        check(Sinusoidal(dim=4), length=0)
    with pytest.raises(TypeError, match=r"`within` must be an integer"):
        check(Sinusoidal(dim=4), within=8.0)
    with pytest.raises(ValueError, match=r"`name` must be one of 'bounded', 'distinct'"):
        check(Sinusoidal(dim=4))["beauty"]
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'spec'"):
        check(Sinusoidal(dim=4)).spec = None
