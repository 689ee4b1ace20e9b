"""Words and tables of a result with known numbers: 80 columns, nothing left out."""

import pytest
from known import result, row, timing

from posenc.bench import contestants, figure, markdown, picture, text
from posenc.bench.result import Accuracy

WIDEST = (
    row("posenc, in place", 0.981, around=0.031, memory=0.0),
    row("rotary-embedding-torch", 12_345.6, around=1_234.5, memory=12.3),
    row("transformers compiled", 123.4, around=9.6, memory=2.0),
    row("transformers", 45.67, around=0.1, memory=2.8),
)
ACCURACY = (
    Accuracy(name="posenc module", dtype="float32", errors={1_000: 3e-8, 10_000_000: 3.1e-8}),
    Accuracy(name="torchtune", dtype="float32", errors={1_000: 5e-5, 10_000_000: None}),
    Accuracy(name="posenc module", dtype="bfloat16", errors={1_000: 2e-3, 10_000_000: 2e-3}),
)


@pytest.fixture
def whole():
    timings = [
        timing(operation, length, *WIDEST, dtype="bfloat16", layout=layout)
        for operation in ("turn", "gradient")
        for layout in ("half", "interleaved")
        for length in (1, 512, 4096, 32_768)
    ]
    failed = timing("step", 1, *WIDEST, failed={"x-transformers": "ImportError: " + 30 * "no, "})
    return result(*timings, failed, accuracy=ACCURACY)


def test_no_line_is_wider_than_80_columns(whole):
    lines = text(whole).splitlines()
    assert max(map(len, lines)) <= 80
    assert max(map(len, lines)) > 70  # the fixture tries its width


def test_a_table_of_lengths(whole):
    lines = text(whole).splitlines()
    title = "turn queries and keys (32 + 8 heads of 128), bfloat16, pairs half"
    start = lines.index(title)
    words = [line.split() for line in lines[start + 1 : start + 7]]
    assert words[0] == ["length", "1", "512", "4,096", "32,768", "memory"]
    assert words[1][-9:] == ["0.98", "±0.03"] * 4 + ["0.00"]
    assert words[2][-9:] == ["12k", "±1.2k"] * 4 + ["12.30"]
    assert words[3][-3:] == ["123", "±9.60", "2.00"]
    assert words[5] == ["one", "copy", *["1", "ms"] * 4]


def test_bars_say_what_was_promised_and_got(whole):
    lines = [" ".join(line.split()) for line in text(whole).splitlines()]
    assert "turn bfloat16 4,096 in place at most 1.3 copies 0.981 reached" in lines
    assert "gradient bfloat16 4,096 in place 8 x transformers 46.6 reached" in lines
    assert "turn bfloat16 1 in place 1 x transformers 46.6 reached" in lines


def test_errors_and_who_does_not_reach_so_far(whole):
    lines = [" ".join(line.split()) for line in text(whole).splitlines()]
    assert "largest error of a turned pair (1, 0), bfloat16, against mpmath" in lines
    assert "position 1e3 1e7" in lines
    assert "torchtune 5.0e-05 -" in lines
    assert lines.count("Those who turn by the cosines and sines of another are not shown.") == 2


def test_who_failed_and_who_is_missing(whole):
    shown = text(whole)
    assert "could not be measured\n  x-transformers: ImportError: no, no," in shown
    assert "posenc 0.1.0, torch 2.13.0. Not installed: timm." in shown
    assert "2 cores, 2 threads, 8 GiB" in shown


def test_what_somebody_says_again_and_again_is_told_once():
    failed = {"torchtune": "ImportError: no torchao"}
    timings = [timing("turn", length, row("timm", 2.0), failed=failed) for length in (1, 4096)]
    accuracy = Accuracy(
        name="torchtune", dtype="bfloat16", errors={1_000: None}, failed="ImportError: no torchao"
    )
    said = "torchtune: ImportError: no torchao (turn float32 1 and 2 more)"
    assert text(result(*timings, accuracy=(accuracy,))).count("torchao") == 1
    assert said in text(result(*timings, accuracy=(accuracy,)))
    alone = text(result(accuracy=(accuracy,)))
    assert "torchtune: ImportError: no torchao (accuracy bfloat16)" in alone


def test_memory_is_that_at_the_greatest_length_or_none():
    timings = [
        timing("turn", 512, row("timm", 2.0, memory=7.5), row("torchtune", 3.0, memory=9.5)),
        timing("turn", 4096, row("timm", 2.0, memory=8.5), failed={"torchtune": "MemoryError"}),
    ]
    lines = [line.split() for line in text(result(*timings)).splitlines()]
    assert ["timm", "2.00", "±0.00", "2.00", "±0.00", "8.50"] in lines
    assert ["torchtune", "3.00", "±0.00", "-"] in lines


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.004, "0.00"),
        (9.994, "9.99"),
        (9.995, "10.0"),
        (99.94, "99.9"),
        (99.95, "100"),
        (999.4, "999"),
        (999.6, "1.0k"),
        (9_949, "9.9k"),
        (9_950, "10k"),
        (999_499, "999k"),
        (2e6, "2e+06"),
    ],
)
def test_numbers_are_short(value, shown):
    seen = text(result(timing("turn", 1, row("posenc module", value))))
    assert f"posenc module  {shown} ±0.00" in seen


def test_a_busy_machine_is_named(whole):
    assert "busy" not in text(whole)
    whole.machine["load"] = 1.72
    assert "Other programs were busy (load 1.7 before the start)" in " ".join(text(whole).split())
    whole.machine["load"] = None  # some systems do not tell
    assert "busy" not in text(whole)


def test_where_others_are_faster():
    rows = (row("posenc, in place", 3.0), row("timm", 2.0))
    said = "turn float32 4,096 interleaved: timm is 1.5 x as fast as posenc, in place"
    slower = result(timing("turn", 4096, row("posenc, in place", 3.0), row("timm", 4.0)))
    both = result(*slower.timings, timing("turn", 4096, *rows, layout="interleaved"))
    assert said in text(both)
    assert f"- {said}" in markdown(both)
    assert "where others are faster\n  nowhere in this run" in text(slower)


def test_a_run_that_was_stopped_says_so(whole):
    stopped = result(*whole.timings[:2], complete=False)
    for shown in (text(stopped), markdown(stopped)):
        assert "Stopped before the end" in shown
        assert "nowhere in this run" not in shown
    assert "Stopped" not in text(whole)
    assert "Stopped" in text(result(complete=False))


def test_the_page(whole):
    page = markdown(whole, picture="images/speed.svg")
    assert page.startswith("# How fast posenc is\n")
    assert "(images/speed.svg)" in page
    assert "](" not in markdown(whole)
    assert "| torchtune | 5.0e-05 | - |" in page
    rows = [line for line in page.splitlines() if line.startswith("|")]
    assert all(line.endswith(" |") for line in rows)
    for block in page.split("\n\n"):
        if block.startswith("|"):
            assert len({line.count("|") for line in block.splitlines()}) == 1


def test_the_picture_has_a_panel_for_each_dtype_and_layout(whole):
    drawing = figure(whole)
    assert [axes.get_title() for axes in drawing.axes] == [
        "bfloat16, pairs half",
        "bfloat16, pairs interleaved",
    ]
    lines = [line for line in drawing.axes[0].lines if len(line.get_xdata()) == 4]
    assert [list(line.get_xdata()) for line in lines] == [[1, 512, 4096, 32_768]] * len(WIDEST)
    assert lines[0].get_ydata()[0] == 0.981
    assert len({line.get_color() for line in lines}) == len(WIDEST)
    ticks = [tick.get_text() for tick in drawing.axes[1].get_xticklabels()]
    assert ticks == ["1", "512", "4,096", "32,768"]
    assert len(set(picture._COLOURS)) >= len(contestants._ALL)


def test_no_picture_of_nothing():
    with pytest.raises(ValueError, match="a run in which queries and keys are turned"):
        figure(result(timing("table", 512, row("posenc module", 1.0))))
