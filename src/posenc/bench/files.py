"""A result in files: words, data and a picture, by what the name ends in."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

from posenc.bench import picture, report
from posenc.bench.contestant import found
from posenc.bench.result import Result
from posenc.bench.running import Settings

_PICTURES = (".png", ".svg", ".pdf")
_ENDINGS = (".md", ".txt", ".json", *_PICTURES)


def check_files(settings: Settings, files: Sequence[Path]) -> None:
    """Refuse now what could not be written after minutes of measuring.

    Args:
        settings: of the run to come.
        files: where its result is to go.
    Raises:
        ModuleNotFoundError: a picture is wanted and matplotlib is not installed.
        ValueError: a name ends in something else, its folder is missing, or a picture would be
            empty.
    """
    for file in files:
        if file.suffix.lower() not in _ENDINGS:
            raise ValueError(f"--output must end in {', '.join(_ENDINGS)}; got {file.name!r}.")
        if not file.parent.is_dir():
            raise ValueError(f"--output must lie in a folder that is there; got {str(file)!r}.")
    if not any(_is_picture(file) for file in files):
        return
    if not found("matplotlib"):
        raise ModuleNotFoundError("a picture needs matplotlib: pip install 'posenc[plot]'")
    if not any(case.operation == "turn" for case in settings.cases):
        raise ValueError(
            "--output must not be a picture where nothing is turned, because it shows the turning; "
            f"got only={settings.only!r}."
        )


def write(result: Result, files: Sequence[Path]) -> list[Path]:
    """Write a result; a page shows the first picture written beside it.

    Args:
        result: of a run.
        files: names that `check_files` let pass.
    Returns:
        Those that were written: no picture of a run that was stopped before anything was turned.
    """
    turned = any(timing.case.operation == "turn" for timing in result.timings)
    written = [file for file in files if turned or not _is_picture(file)]
    pictures = [file for file in written if _is_picture(file)]
    for file in written:
        if _is_picture(file):
            picture.figure(result).savefig(file)
        else:
            file.write_text(_text(result, file, pictures[:1]), encoding="utf-8")
    return written


def _text(result: Result, file: Path, pictures: Sequence[Path]) -> str:
    match file.suffix.lower():
        case ".json":
            return json.dumps(result.to_data(), indent=2, allow_nan=False) + "\n"
        case ".txt":
            return report.text(result) + "\n"
    places = [Path(os.path.relpath(shown, file.parent)).as_posix() for shown in pictures]
    return report.markdown(result, picture=places[0] if places else None)


def _is_picture(file: Path) -> bool:
    return file.suffix.lower() in _PICTURES
