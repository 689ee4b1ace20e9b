"""The shapes in the signatures are true: every example runs with jaxtyping checking them."""

import subprocess
import sys
from pathlib import Path

import pytest

# An int where a float stands is fine (PEP 484), as everywhere in Python.
CHECKER = "beartype.beartype(conf=beartype.BeartypeConf(is_pep484_tower=True))"


@pytest.mark.slow
def test_examples_keep_to_the_shapes_of_their_signatures():
    root = Path(__file__).parent.parent
    run = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "--quiet", "--no-header", "-p", "no:cacheprovider"),
            f"--jaxtyping-packages=posenc,{CHECKER}",
            str(root / "src"),
        ],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-4000:]
