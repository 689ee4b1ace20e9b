"""Words of the command turned into what they mean, or one sentence that says what is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from posenc import spec

# More would keep the command busy for minutes, or fill the memory; the library has no such bounds.
_MOST = {"dim": 16_384, "model_dim": 16_384, "heads": 1_024, "octaves": 1_024}


def encoding(text: str) -> Any:
    """The encoding that a text describes, if it is of a size to work with here."""
    data = spec.read(text)
    _modest(data)
    return spec.from_data(data)


def _modest(data: Any) -> None:
    if not isinstance(data, dict):
        return
    for name, value in data.items():
        _modest(value)
        if isinstance(value, int) and value > _MOST.get(name, value):
            raise ValueError(f"`{name}` must be at most {_MOST[name]:,} here; got {value:,}.")


def positions(text: str) -> np.ndarray:
    """Positions from "5", "0:8", "0:64:2" and such, separated by commas."""
    found: list[int] = []
    for part in text.split(","):
        try:
            numbers = [int(number) for number in part.split(":")]
        except ValueError:
            numbers = []
        if not 1 <= len(numbers) <= 3 or numbers[2:] == [0]:
            raise ValueError(
                f"--positions must be single ones and ranges, for example 5 or 0:8 or 0:64:2,100; "
                f"got {part!r}."
            )
        if any(abs(number) >= 2**31 for number in numbers):
            raise ValueError(f"--positions must lie within 2**31 of 0; got {part!r}.")
        wanted = numbers if len(numbers) == 1 else range(*numbers)
        if len(found) + len(wanted) > 1_000_000:
            raise ValueError(
                f"--positions must be at most 1,000,000 numbers; got more in {part!r}."
            )
        found.extend(wanted)
    return np.asarray(found, dtype=np.int64)


def tokens(text: str) -> int:
    """A number of tokens, as people write it: 40000, 40,000 or 40_000."""
    digits = text.replace(",", "").replace("_", "")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 10) or not (
        1 <= int(digits) <= 2**31
    ):
        raise ValueError(
            f"--context must be a number of tokens from 1 to {2**31:,}, for example 40000; "
            f"got {text[:40]!r}."
        )
    return int(digits)


def check_picture(option: str, file: Path) -> None:
    """Refuse a picture of a kind that cannot be drawn."""
    if file.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise ValueError(f"{option} must end in .png, .svg or .pdf; got {file.name!r}.")
