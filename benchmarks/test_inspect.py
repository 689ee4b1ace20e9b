"""How long a person waits for `posenc inspect`, Python's own start included.

make bench
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

CONFIG = Path(__file__).parent.parent / "docs" / "examples" / "llama-3.1-8b.json"


def run(*words: str) -> None:
    subprocess.run([sys.executable, *words], check=True, capture_output=True)


def test_python_starts_and_imports_numpy(benchmark) -> None:
    benchmark(run, "-c", "import numpy")


def test_inspect(benchmark) -> None:
    benchmark(run, "-m", "posenc", "inspect", str(CONFIG))


def test_inspect_json(benchmark) -> None:
    benchmark(run, "-m", "posenc", "inspect", str(CONFIG), "--json")


@pytest.mark.parametrize("megabytes", [1, 10])
def test_inspect_a_large_config(benchmark, tmp_path, megabytes) -> None:
    """A config may carry a label for every class of a classifier."""
    settings = json.loads(CONFIG.read_text("utf-8"))
    labels = {str(number): "x" * 40 for number in range(megabytes * 20_000)}
    path = tmp_path / "config.json"
    path.write_text(json.dumps(settings | {"id2label": labels}), encoding="utf-8")

    benchmark(run, "-m", "posenc", "inspect", str(path))
