"""Every code block of the README runs, and says what the README says it does."""

import contextlib
import doctest
import io
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from posenc import spec

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", README, flags=re.DOTALL)
COMMANDS = [
    line.removeprefix("$ ")
    for language, text in BLOCKS
    if language == "console"
    for line in text.splitlines()
    if line.startswith("$ ")
]


def test_every_block_is_of_a_kind_that_is_run():
    assert {language for language, _ in BLOCKS} == {"console", "python"}
    assert all(c.split()[0] in ("posenc", "make", "pip") for c in COMMANDS)


def test_python_blocks(monkeypatch):
    """In order, sharing names, as a reader would type them."""
    monkeypatch.chdir(ROOT)
    python = [text for language, text in BLOCKS if language == "python"]
    assert all(text.startswith(">>> ") for text in python)
    session = doctest.DocTestParser().get_doctest("\n".join(python), {}, "README", "README.md", 0)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    runner.run(session)
    assert runner.summarize() == (0, len(session.examples))


@pytest.mark.parametrize("command", [c for c in COMMANDS if c.startswith("posenc")])
def test_posenc_commands(command, tmp_path, monkeypatch):
    from posenc.__main__ import main

    shutil.copytree(ROOT / "docs" / "examples", tmp_path / "docs" / "examples")
    monkeypatch.chdir(tmp_path)
    if "explore" in command:
        command += " --help"
    monkeypatch.setattr(sys, "argv", shlex.split(command))
    out = io.StringIO()
    with contextlib.redirect_stdout(out), pytest.raises(SystemExit) as stopped:
        main()
    differs = 1 if "--diff" in command else 0  # status 1 says that two models differ
    assert (stopped.value.code or 0) == differs
    shown = _shown_after(command)
    if shown:
        assert shown in out.getvalue()


def _shown_after(command):
    """What the README shows below a command, up to the next one or an ellipsis."""
    for language, text in BLOCKS:
        if language == "console" and f"$ {command}\n" in text:
            below = text.split(f"$ {command}\n", 1)[1]
            return re.split(r"^(?:\$ |\.\.\.)", below, flags=re.MULTILINE)[0].strip("\n")
    return ""


@pytest.mark.parametrize("command", [c for c in COMMANDS if c.startswith("make")])
def test_make_commands_are_tasks(command):
    run = subprocess.run(
        [*shlex.split(command), "--dry-run"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("command", [c for c in COMMANDS if c.startswith("pip")])
def test_pip_commands(command):
    offline = ["--dry-run", "--no-deps", "--no-index", "--no-build-isolation"]
    run = subprocess.run(
        [sys.executable, "-m", *shlex.split(command), *offline],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert "does not provide the extra" not in run.stderr


def test_every_encoding_stands_in_the_table():
    for name, cls in spec.ENCODINGS.items():
        assert f"`{cls.__name__}`" in README, f"the README's table lacks {name}"
    for cls in spec.SCALINGS.values():
        assert f"`{cls.__name__}`" in README


def test_pictures_exist():
    for path in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", README):
        assert (ROOT / path).is_file()
