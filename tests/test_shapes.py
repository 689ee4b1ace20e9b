"""The shapes in the signatures are true: every example runs with jaxtyping checking them."""

import subprocess
import sys
from pathlib import Path

import pytest

# An int where a float stands is fine (PEP 484), as everywhere in Python.
CHECKER = "beartype.beartype(conf=beartype.BeartypeConf(is_pep484_tower=True))"


# Numba cannot compile what the checker wraps, so the formulas run in place of the fused loops.
WITHOUT_NUMBA = (
    "import sys, pytest; sys.modules['numba'] = None; sys.exit(pytest.main(sys.argv[1:]))"
)


@pytest.mark.slow
def test_examples_keep_to_the_shapes_of_their_signatures():
    root = Path(__file__).parent.parent
    run = subprocess.run(
        [
            *(sys.executable, "-c", WITHOUT_NUMBA, "--quiet", "--no-header"),
            *("-p", "no:cacheprovider", f"--ignore={root / 'src' / 'posenc' / 'kernels'}"),
            f"--jaxtyping-packages=posenc,{CHECKER}",
            str(root / "src"),
        ],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-4000:]
