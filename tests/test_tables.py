"""Tables read back number for number, with their names, in every format."""

import csv
import io
import json

import numpy as np
import pytest

from posenc import Rotary, Sinusoidal, spec, tables
from posenc.__main__ import main

POSITIONS = np.asarray([0, 7, 131_072])
ENCODING = Sinusoidal(dim=6)


def test_csv_reads_back_equal():
    lines = list(csv.reader(io.StringIO(tables.to_csv(tables.table(ENCODING, POSITIONS)))))
    assert lines[0] == ["position", "0", "1", "2", "3", "4", "5"]
    assert [int(line[0]) for line in lines[1:]] == POSITIONS.tolist()
    got = np.asarray([line[1:] for line in lines[1:]], dtype=np.float32)
    np.testing.assert_array_equal(got, ENCODING.encode(POSITIONS))


def test_json_reads_back_equal():
    whole = json.loads(tables.to_json(tables.table(Rotary(dim=4), POSITIONS)))
    assert whole["axes"] == {"position": POSITIONS.tolist()}
    assert whole["columns"] == ["cos 0", "cos 1", "sin 0", "sin 1"]
    want = np.concatenate(Rotary(dim=4).table(POSITIONS), axis=-1)
    np.testing.assert_array_equal(np.asarray(whole["values"], np.float32), want)


def test_npy_reads_back_equal():
    got = np.load(io.BytesIO(tables.to_npy(tables.table(ENCODING, POSITIONS))))
    np.testing.assert_array_equal(got, ENCODING.encode(POSITIONS))


@pytest.mark.parametrize("width", [40, 80, 120])
def test_text_keeps_to_its_width_and_says_what_it_leaves_out(width):
    text = tables.text(tables.table(Sinusoidal(dim=64), POSITIONS), width=width)
    *lines, last = text.splitlines()
    assert max(map(len, lines)) <= width
    shown = len(lines[0].split()) - 1
    assert f"{64 - shown} more columns" in last
    np.testing.assert_allclose(
        [float(word) for word in lines[2].split()[1:]],
        Sinusoidal(dim=64).encode(POSITIONS)[1, :shown],
        rtol=0,
        atol=5.1e-5,  # four decimals
    )


def test_no_positions_give_a_header_alone():
    assert tables.to_csv(tables.table(ENCODING, POSITIONS[:0])) == "position,0,1,2,3,4,5\n"


def test_a_bias_is_named_by_heads_queries_and_keys():
    alibi = spec.parse("alibi:heads=2")
    made = tables.table(alibi, POSITIONS)
    assert made.columns == ("key 0", "key 7", "key 131072")
    assert made.axes == (("head", (0, 1)), ("query", (0, 7, 131_072)))
    np.testing.assert_array_equal(made.values, alibi.bias(POSITIONS, POSITIONS))
    assert made.values.dtype == np.float32


def test_segments_are_no_positions(monkeypatch, capsys):
    text = "bipe:intra=sinusoidal(dim=4),inter=rotary(dim=4)"
    with pytest.raises(TypeError, match=r"`encoding` must depend on positions alone.*two parts"):
        tables.table(spec.parse(text), POSITIONS)
    monkeypatch.setattr("sys.argv", ["posenc", "table", text, "--positions", "0:3"])
    with pytest.raises(SystemExit) as stopped:
        main()
    out, err = capsys.readouterr()
    assert stopped.value.code
    assert out == ""
    assert "take its two parts, `intra` and `inter`" in " ".join(err.split())
