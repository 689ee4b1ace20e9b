"""`posenc bench` as a user meets it: words, files, exit statuses."""

import json
import sys

import pytest

from posenc import bench
from posenc.__main__ import main


@pytest.fixture
def posenc(monkeypatch, capsys, tmp_path, small):
    """Run the command in this process, in an empty folder; gives status, output, errors."""
    monkeypatch.chdir(tmp_path)

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["posenc", "bench", *map(str, words)])
        with pytest.raises(SystemExit) as stopped:
            main()
        shown = capsys.readouterr()
        return stopped.value.code or 0, shown.out, shown.err

    real = bench.Settings
    monkeypatch.setattr(bench, "Settings", lambda **given: real(seconds=0, **given))
    return run


def test_words_for_a_person_data_for_a_program(posenc):
    status, out, _ = posenc("--only", "table")
    assert status == 0
    assert "make 64 cosines and sines for each position, float32" in out
    assert max(map(len, out.splitlines())) <= 80
    status, out, _ = posenc("--only", "table", "--threads", 1, "--json")
    assert status == 0
    assert json.loads(out)["machine"]["threads"] == 1


def test_files(posenc, tmp_path):
    (tmp_path / "images").mkdir()
    names = ["page.md", "data.json", "words.txt", "images/a.svg", "b.PNG"]
    status, out, err = posenc("--only", "turn", *(w for name in names for w in ("-o", name)))
    assert status == 0
    assert err.split() == [word for name in names for word in ("wrote", name)]
    assert "(images/a.svg)" in (tmp_path / "page.md").read_text()
    assert json.loads((tmp_path / "data.json").read_text())["complete"]
    assert (tmp_path / "words.txt").read_text() == out
    assert (tmp_path / "images" / "a.svg").read_text().startswith("<?xml")
    assert (tmp_path / "b.PNG").read_bytes().startswith(b"\x89PNG")


def test_stopped(posenc, monkeypatch, tmp_path):
    def stop(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("posenc.bench.running.time_case", stop)
    status, out, err = posenc("-o", "page.md", "-o", "picture.svg")
    assert status == 130
    assert "Stopped before the end" in out
    assert "wrote page.md" in err
    assert "picture.svg" not in err
    assert not (tmp_path / "picture.svg").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--only", "nothing"), "posenc: `only` must be words of a case"),
        (("--threads", "0"), "posenc: `threads` must be at least 1"),
        (("-o", "speed.doc"), "posenc: --output must end in .md, .txt, .json, .png, .svg, .pdf"),
        (("-o", "absent/a.md"), "posenc: --output must lie in a folder that is there"),
        (("-o", "a.svg", "--only", "table"), "posenc: --output must not be a picture where"),
    ],
)
def test_what_cannot_work_is_said_before_anything_is_measured(posenc, monkeypatch, words, said):
    monkeypatch.setattr(bench, "run", None)
    status, out, err = posenc(*words)
    assert (status, out) == (2, "")
    assert err.startswith(said)
    assert len(err.splitlines()) == 1


def test_without_matplotlib(posenc, monkeypatch):
    monkeypatch.setattr(bench, "run", None)
    monkeypatch.setattr("posenc.bench.files.found", lambda package: False)
    status, _, err = posenc("-o", "a.png")
    assert status == 2
    assert err == "posenc: a picture needs matplotlib: pip install 'posenc[plot]'\n"
