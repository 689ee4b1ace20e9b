"""The how-tos: every piece of Python in them runs, in order, and its own checks hold."""

import re

import pytest

from posenc.study import sources

PAGES = {page.name: page for page in sources.every("howto")}
SLOW = {"hugging-face"}
"""Those that take more than a second or two."""

_PYTHON = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def named(name):
    return pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else [])


@pytest.mark.parametrize("name", [named(name) for name in PAGES])
def test_a_page_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": name}
    for at, code in enumerate(_PYTHON.findall(PAGES[name].body), start=1):
        exec(compile(code, f"{name}, block {at}", "exec"), names)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_checks_itself_and_leads_on(name):
    body = PAGES[name].body
    steps, check = body.split("## What to check", 1)
    assert any("assert " in code for code in _PYTHON.findall(check))
    for scheme in ("lesson:", "formula:", "room:"):
        assert f"]({scheme}" in body
    assert _PYTHON.search(steps)


def test_no_page_is_missed():
    assert set(PAGES) >= SLOW
    assert len(PAGES) == 9


@pytest.mark.parametrize("name", PAGES)
def test_no_line_runs_out_of_its_box(name):
    lines = [line for code in _PYTHON.findall(PAGES[name].body) for line in code.splitlines()]
    assert max(map(len, lines)) <= 100
