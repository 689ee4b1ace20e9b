"""The command as a user meets it: answers, files, exit statuses, one line for what is wrong."""

import json
import re
import subprocess
import sys

import numpy as np
import pytest

from posenc import Sinusoidal
from posenc.__main__ import main


@pytest.fixture
def posenc(monkeypatch, capsys, tmp_path):
    """Run the command in this process, in an empty folder; gives status, output, errors."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["posenc", *map(str, words)])
        with pytest.raises(SystemExit) as stopped:
            main()
        shown = capsys.readouterr()
        return stopped.value.code or 0, shown.out, shown.err

    return run


def test_table_formats(posenc, tmp_path):
    want = Sinusoidal(dim=4).encode(np.asarray([0, 1, 2, 100]))
    words = ("table", "sinusoidal:dim=4", "--positions", "0:3,100", "--format")
    status, out, _ = posenc(*words, "csv")
    got = [line.split(",")[1:] for line in out.strip().splitlines()[1:]]
    np.testing.assert_array_equal(np.asarray(got, np.float32), want)
    assert status == 0
    values = json.loads(posenc(*words, "json")[1])["values"]
    np.testing.assert_array_equal(np.asarray(values, np.float32), want)
    assert posenc(*words, "npy", "-o", "t.npy")[0] == 0
    np.testing.assert_array_equal(np.load(tmp_path / "t.npy"), want)
    assert "0.9093  -0.4161   0.0200   0.9998" in posenc(*words, "text")[1]


def test_plot_writes_a_picture(posenc, tmp_path):
    for name in ("a.png", "a.svg"):
        status, out, _ = posenc("plot", "rotary:dim=16", "--picture", "decay", "-o", name)
        assert (status, out) == (0, f"wrote {name}\n")
        assert (tmp_path / name).stat().st_size > 5_000


def test_explain(posenc):
    status, out, _ = posenc("explain", "sinusoidal:dim=4", "--position", 2)
    assert status == 0
    for digits in ("0.9093", "-0.4161", "0.0200", "0.9998", "0.1411", "-0.9900"):
        assert digits in out
    assert json.loads(posenc("explain", "sinusoidal:dim=4", "--json")[1])["steps"]


def test_check(posenc):
    status, out, _ = posenc("check", "rotary:dim=128", "--length", 4096)
    assert status == 0
    assert "18 of 64" in out
    json.loads(posenc("check", "sinusoidal:dim=64", "--json")[1])


def test_identify_says_so_by_its_exit_status(posenc, tmp_path):
    positions = np.arange(64)[:, None]
    angle = positions / 10_000 ** (np.arange(0, 32, 2) / 32)
    right = np.stack([np.sin(angle), np.cos(angle)], -1).reshape(64, 32)
    np.save(tmp_path / "right.npy", right)
    status, out, _ = posenc("identify", "right.npy")
    assert status == 0
    assert "sinusoidal:dim=32\n" in out
    wrong = positions / 10_000 ** (np.arange(32) / 32)  # the index is not halved
    wrong = np.where(np.arange(32) % 2, np.cos(wrong), np.sin(wrong))
    np.save(tmp_path / "wrong.npy", wrong)
    status, out, _ = posenc("identify", "wrong.npy")
    assert status == 1
    assert "exponent" in out


def test_golden_verifies_what_it_wrote(posenc, tmp_path):
    assert posenc("golden", "rotary:dim=8", "-o", "rope.json")[0] == 0
    assert posenc("golden", "--verify", "rope.json")[0] == 0
    path = tmp_path / "rope.json"
    path.write_text(path.read_text().replace("0x1.0", "0x1.8", 1))
    status, out, err = posenc("golden", "--verify", "rope.json")
    assert (status, out) == (2, "")
    assert "checksum" in err


@pytest.mark.parametrize("command", ["explain", "table", "plot", "check", "identify", "golden"])
def test_help_has_an_example_that_fits(posenc, command):
    status, out, _ = posenc(command, "--help")
    assert status == 0
    assert f"Example: posenc {command}" in out
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["table", "sinusoidal:dim=7"], "`dim` must be even.* 6 and 8"),
        (["table", "nope:dim=4"], "'kind' must be one of sinusoidal, learned"),
        (["table", "sinusoidal:dim="], "cannot read the encoding"),
        (["table", "sinusoidal:dim=4", "-p", "one"], "--positions must be"),
        (["table", "sinusoidal:dim=4", "-p", "0:5000000"], "at most 1,000,000"),
        (["table", "sinusoidal:dim=4", "-p", "0:5:0"], "--positions must be.*got '0:5:0'"),
        (["table", "sinusoidal:dim=4", "-f", "xml"], "--format must be one of text"),
        (["table", "sinusoidal:dim=4", "-f", "npy"], "add --output NAME.npy"),
        (["table", "sinusoidal:dim=4", "-o", "no/such/folder/t.txt"], "No such file"),
        (["table", "sinusoidal:dim=4", "-p", "2147483648"], r"within 2\*\*31"),
        (["plot", "sinusoidal:dim=4", "-o", "a.gif"], "must end in .png, .svg or .pdf"),
        (["plot", "sinusoidal:dim=4", "--picture", "x"], "`picture` must be one of"),
        (["explain", "sinusoidal:dim=4", "-p", "two"], "--position"),
        (["identify", "missing.npy"], "missing.npy"),
        (["golden"], "either an ENCODING or --verify"),
        (["golden", "--verify", "missing.json"], "missing.json"),
        (["table", "alibi:heads=8", "-p", "0:100000"], "at most 50,000,000"),
        (["table", "sinusoidal:dim=4096", "-p", "0:999999"], "at most 50,000,000"),
        (["table", "xpos:dim=8"], "XPos has one for each role"),
        (["table", "t5:heads=8"], "bias without trained weights.*got T5"),
        (["plot", "alibi:heads=8", "-n", "100000"], "`length` must be at most 4096"),
        (["table", "sinusoidal:dim=4", "-p", "0:1000000000"], "at most 1,000,000 numbers"),
        (["table", "sinusoidal:dim=4", "-p", "0:" + "9" * 30], r"within 2\*\*31 of 0"),
        (["explain", "sinusoidal:dim=1000000000000"], "`dim` must be at most 16,384 here"),
        (["check", "m_rotary:rotary=rotary(dim=100000)"], "`dim` must be at most 16,384 here"),
        (["golden", "alibi:heads=100000"], "`heads` must be at most 1,024 here"),
        (["explain", "sinusoidal:dim=4", "--digits", "1000"], "--digits"),
        (["tabel"], "No such command 'tabel'"),
        (["table"], "Missing argument 'ENCODING'"),
        (["explore", "--port", "99999"], "port"),
    ],
)
def test_bad_input_is_one_line_and_status_two(posenc, words, message):
    status, out, err = posenc(*words)
    assert (status, out) == (2, "")
    assert re.search(message, err), err
    assert err.startswith("posenc: ")
    assert len(err.splitlines()) == 1


def test_no_words_give_the_help(posenc):
    status, out, err = posenc()
    assert status == 2
    assert "explain" in out + err
    assert "posenc: " not in err


def test_as_a_program():
    run = subprocess.run(
        [sys.executable, "-m", "posenc", "--version"], capture_output=True, text=True, check=True
    )
    assert re.fullmatch(r"\d+\.\d+\.\d+\n", run.stdout)
