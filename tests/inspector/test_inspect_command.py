"""posenc inspect as a user meets it."""

import json
import re
import subprocess
import sys

import pytest
from readings import BERT, GEMMA, LLAMA, QWEN

import posenc
from posenc.__main__ import main

MODELS = {"llama.json": LLAMA, "qwen.json": QWEN, "gemma.json": GEMMA, "bert.json": BERT}


@pytest.fixture
def inspect(monkeypatch, capsys, tmp_path):
    """Run the command in this process on readings made by hand; gives status, output, errors."""

    def read(source):
        if source not in MODELS:
            raise ValueError(f"{source} is no model.")
        return MODELS[source]

    monkeypatch.setattr(posenc, "read", read, raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["posenc", "inspect", *map(str, words)])
        with pytest.raises(SystemExit) as stopped:
            main()
        shown = capsys.readouterr()
        return stopped.value.code or 0, shown.out, shown.err

    return run


def test_status_says_whether_something_is_wrong(inspect):
    status, out, err = inspect("llama.json")
    assert (status, err) == (0, "")
    assert "29-34 blended" in out
    assert "\033" not in out
    assert inspect("gemma.json")[0] == 1
    status, out, err = inspect("nothing.json")
    assert (status, out, err) == (2, "", "posenc: nothing.json is no model.\n")


def test_context(inspect):
    assert "beyond 512 tokens there is no row" in inspect("bert.json", "--context", 600)[1]
    status, _, err = inspect("bert.json", "--context", 0)
    assert status == 2
    assert "--context" in err
    assert inspect("bert.json", "--context", "40,000") == inspect("bert.json", "-c", "40_000")
    for odd in ("40k", "1.5", "-4", 2**31 + 1, "9" * 5000):
        status, out, err = inspect("bert.json", f"--context={odd}")
        assert (status, out) == (2, "")
        assert err.startswith("posenc: --context must be a number of tokens from 1 to 2,147,483,6")
        assert len(err) < 200


def test_what_if(inspect):
    status, out, _ = inspect("qwen.json", "--scaling", "none", "-c", 65_536)
    assert status == 0
    assert "- yarn: pairs 0-23 kept" in out
    assert "+ pairs 40-63 turn up to 2 times as far as in training" in out
    assert inspect("qwen.json", "--scaling", "yarm:factor=4")[0] == 2


def test_diff(inspect):
    status, out, _ = inspect("llama.json", "--diff", "qwen.json")
    assert status == 1
    assert out.startswith("- llama.json: llama\n+ qwen2.json: qwen2\n")
    assert inspect("llama.json", "--diff", "llama.json")[0] == 0
    both = inspect("llama.json", "--diff", "qwen.json", "--scaling", "none")
    assert both[0] == 2
    assert "two questions" in both[2]
    for more in (("--diff", "qwen.json"), ("--scaling", "none")):
        status, out, err = inspect("llama.json", "--all", *more)
        assert (status, out) == (2, "")
        assert "--all is about one model as it is" in err


@pytest.mark.parametrize("words", [(), ("--diff", "qwen.json"), ("--scaling", "none")])
def test_json_is_all_there_is_on_standard_output(inspect, words):
    _, out, _ = inspect("llama.json", "--json", "--plot", "waves.png", *words)
    json.loads(out, parse_constant=pytest.fail)


def test_every_value(inspect):
    assert "base = 500,000 (rope_theta)" in inspect("llama.json", "--all")[1]


def test_plot(inspect, tmp_path):
    status, out, err = inspect("llama.json", "--plot", "waves.svg")
    assert (status, err) == (0, "wrote waves.svg\n")
    assert "rotary on queries and keys" in out
    assert (tmp_path / "waves.svg").stat().st_size > 5_000
    inspect("llama.json", "--plot", "two.svg", "--diff", "qwen.json", "-c", 200_000)
    assert (tmp_path / "two.svg").stat().st_size > (tmp_path / "waves.svg").stat().st_size
    inspect("qwen.json", "--plot", "one.svg", "--scaling", "none")
    assert "qwen2.json with none" in (tmp_path / "one.svg").read_text()
    status, out, err = inspect("nothing.json", "--plot", "waves.txt")
    assert (status, out) == (2, "")
    assert "--plot must end in .png" in err


def test_colour_on_a_terminal_only(inspect, monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    coloured = inspect("gemma.json")[1]
    assert "\033[31m\033[1m  error       rope_scaling.factor = -4" in coloured
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\033" not in inspect("gemma.json")[1]


def test_help_has_an_example_that_fits(inspect):
    status, out, _ = inspect("--help")
    assert status == 0
    assert "Example: posenc inspect config.json --context 40000" in out
    assert max(map(len, out.splitlines())) <= 80
    assert re.search(r"--context +-c +N +What happens at N tokens", out)
    assert re.search(r"--scaling +RULE ", out)
    assert "int range" not in out


def test_what_is_not_needed_is_not_loaded(tmp_path):
    config = tmp_path / "config.json"
    config.write_text('{"model_type": "llama", "rope_theta": 10000.0}')
    code = (
        "import sys; from posenc.__main__ import main\n"
        f"sys.argv = ['posenc', 'inspect', {str(config)!r}]\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "slow = {'torch', 'scipy', 'matplotlib', 'transformers', 'huggingface_hub', 'jax'}\n"
        "print(sorted(slow & set(sys.modules)), file=sys.stderr)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stderr == "[]\n"
    assert "rotary on queries and keys" in run.stdout
