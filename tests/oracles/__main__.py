"""Write docs/models.md: what posenc reads for every model type, and how far it was compared.

make models
"""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from oracles import coverage

TARGET = Path(__file__).parent.parent.parent / "docs" / "models.md"


def main() -> None:
    """Run every comparison, and write the table."""
    types = coverage.checked_types()
    outcomes = {}
    with ProcessPoolExecutor(2) as pool:
        for done, (model_type, found) in enumerate(pool.map(_outcomes, types), start=1):
            outcomes[model_type] = found
            if sys.stderr.isatty():
                print(f"\r{done} of {len(types)} model types", end="", file=sys.stderr)
    TARGET.write_text(coverage.page(outcomes), encoding="utf-8")
    print(f"wrote {TARGET.name}")


def _outcomes(model_type: str) -> tuple[str, list[coverage.Outcome]]:
    return model_type, coverage.outcomes(model_type)


if __name__ == "__main__":
    main()
