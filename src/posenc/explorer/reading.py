"""A file that a visitor drops on the page, read by the inspector."""

from __future__ import annotations

import dataclasses
import tempfile
from pathlib import Path
from typing import Any

import posenc
from posenc.explorer.rooms.stretch import uses
from posenc.inspector.reading import Finding, Reading
from posenc.inspector.report.effect import printable, shortened
from posenc.inspector.sources.gguf_files.header import walk

TEXT = 1 << 20
"""Bytes of settings as JSON; the largest published ones are just below."""
HEADER = 1 << 25
"""Bytes of a GGUF file that are looked at; a header with the words of a tokenizer needs half."""

_USES, _FINDINGS, _NAME = 24, 40, 80  # that are shown, and characters of a name


class TooLarge(ValueError):
    """There are more bytes than are read."""


def read(body: bytes, *, name: str = "", size: int = 0) -> dict[str, Any]:
    """Which positions a model uses, from the bytes of its config.json or of its GGUF file.

    Args:
        body: the whole config, or the first `HEADER` bytes of a GGUF file.
        name: of the file; "" for a text that was pasted.
        size: bytes that the file has, where `body` is only its beginning.
    Returns:
        source, model      what was read, and what it calls the model
        uses               of encodings, see `stretch.uses.described`
        left               how many more there are
        findings           severity, key, value, why and cure of each
    Raises:
        TooLarge: a config that is none, or more than the beginning of a GGUF file.
        ValueError: it is neither; or something in it cannot be.
    Example:
        >>> read(b'{"model_type": "llama"}')["uses"][0]["settings"]
        {'encoding': 'rotary', 'dim': 128, 'original_length': 2048, 'wanted': 8192}
    """
    name = printable(name.replace("\\", "/").rpartition("/")[2], _NAME) or "The pasted text"
    if name.lower().endswith(".safetensors"):
        raise ValueError(
            f"{name} holds weights, and no settings stand in it; drop the config.json beside it."
        )
    _refuse_large(body, name)
    reading = _read(body, name, max(size, len(body)))
    found = [(part, use) for part in reading.parts for use in part.uses]
    return {
        "source": name,
        "model": printable(reading.model_type, _NAME),
        "uses": [uses.described(part, use) for part, use in found[:_USES]],
        "left": max(len(found) - _USES, 0),
        "findings": [_finding(finding) for finding in reading.findings[:_FINDINGS]],
    }


def _refuse_large(body: bytes, name: str) -> None:
    if body[:4] == b"GGUF":
        if len(body) > HEADER:
            raise TooLarge(
                f"{name} came with more than {HEADER >> 20} MiB, and only so many bytes of a GGUF "
                "file are read; send its first ones."
            )
    elif len(body) > TEXT:
        raise TooLarge(
            f"{name} is no GGUF file and has more than {TEXT >> 20} MiB, which no config has; drop "
            "the config.json of the model."
        )


def _read(body: bytes, name: str, size: int) -> Reading:
    """By way of a file, because the inspector maps GGUF headers into memory."""
    with tempfile.TemporaryDirectory(prefix="posenc-") as folder:
        path = Path(folder) / "settings"
        path.write_bytes(body)
        try:
            reading = (
                _whole(posenc.read(path), path, size) if size > len(body) else posenc.read(path)
            )
        except ModuleNotFoundError as error:
            raise ValueError(f"{name} was not read: {error}.") from error
        except ValueError as error:
            message = str(error).replace(str(path), name)
            if size > len(body):
                message += (
                    f" Of its {size:,} bytes the page sends the first {len(body):,}; "
                    "`posenc inspect` reads all."
                )
            raise ValueError(message) from error
    return dataclasses.replace(reading, source=name)


def _whole(reading: Reading, path: Path, size: int) -> Reading:
    """Without the finding that the file is cut off, if only its beginning was sent."""
    header = walk(path)
    if header.data + header.last > size:
        return reading
    left = tuple(finding for finding in reading.findings if finding.code != "truncated-file")
    return dataclasses.replace(reading, findings=left)


def _finding(finding: Finding) -> dict[str, str]:
    return {
        "severity": finding.severity,
        "key": printable(finding.key),
        "value": "" if finding.value is None else shortened(finding.value),
        "why": finding.why,
        "cure": finding.cure,
    }
