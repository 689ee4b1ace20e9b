"""JSON from anywhere as settings: bounded in size and depth, with doubled keys found."""

from __future__ import annotations

import json
import reprlib
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from posenc.inspector.reading import Finding

LARGEST = 16 * 2**20
"""Bytes that settings may have; the largest published ones have about one million."""
LARGEST_COUNT = 2**18
"""Values that settings may have; a hundred thousand names of classes are well below."""
_DEEPEST = 64  # mappings and lists inside each other
_LONGEST_NUMBER = 10_000  # bits; Python refuses to write, and to read from JSON, many more
_DOUBLED = 20  # findings of doubled keys; a text with more is broken anyhow


def content(path: Path, *, most: int = LARGEST) -> bytes:
    """The bytes of a file, if it is one, and of a size that is worth opening.

    Raises:
        OSError: it is not there, or may not be read.
        ValueError: it is a folder, a pipe or a device, or too large.
    """
    found = path.stat()
    if not stat.S_ISREG(found.st_mode):
        kind = "a folder" if stat.S_ISDIR(found.st_mode) else "a pipe or a device"
        raise ValueError(
            f"{path} is {kind}, and a file was looked for; settings from a pipe are read as `-`."
        )
    with path.open("rb") as file:
        return bounded(file.read(most + 1) if found.st_size <= most else None, str(path), most)


def bounded(read: bytes | None, source: str, most: int = LARGEST) -> bytes:
    """What was read, unless it is more than `most` bytes, or None because more were announced."""
    if read is None or len(read) > most:
        raise ValueError(
            f"{source} is larger than {most // 2**20} MB, which no settings are; give the "
            f"model's config.json, its .gguf file or its folder."
        )
    return read


def settings(
    text: bytes, source: str, *, most: int = LARGEST_COUNT
) -> tuple[dict[str, Any], list[Finding]]:
    """The JSON object that a text holds, and its doubled keys.

    NaN and Infinity are let through: what they stand for is judged where it is used.

    Raises:
        ValueError: the text is no UTF-8, no JSON, no object, nested too deeply or holds too much.
    """
    if sum(map(text.count, (b",", b"[", b"{"))) > most:  # before it takes a hundred times as much
        raise _too_many(source, most)
    doubled = False

    def note_doubled(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal doubled
        made = dict(pairs)
        if len(made) == len(pairs):
            return made
        doubled = True
        return _Doubled(pairs)

    try:
        value = json.loads(text.decode("utf-8-sig"), object_pairs_hook=note_doubled)
        if b"\\ud" in text.lower():  # half of a pair of surrogates cannot be printed
            json.dumps(value, ensure_ascii=False).encode()
    except (UnicodeDecodeError, UnicodeEncodeError) as error:
        raise ValueError(f"{source} is not text in UTF-8: {error.reason}.") from error
    except RecursionError:
        raise _too_deep(source) from None
    except ValueError as error:
        raise ValueError(
            f"{source} is neither JSON nor GGUF: {error}. Give the model's config.json, its .gguf "
            f"file or its folder."
        ) from error
    if not isinstance(value, dict):
        raise ValueError(
            f"{source} must hold a JSON object, {{...}}, as config.json does; it holds "
            f"{_KINDS[type(value)]}."
        )
    _refuse_depth(value, source)
    return value, _doubled(value, "")[:_DOUBLED] if doubled else []


def plain(given: Mapping[Any, Any], source: str) -> dict[str, Any]:
    """Settings as dicts, lists and plain values, whatever mappings and arrays they came in.

    What JSON has no word for becomes its text, as it does where transformers saves it.

    Raises:
        ValueError: they are nested too deeply, hold themselves, or hold too much.
    """
    left = LARGEST_COUNT

    def copy(value: Any, depth: int) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            raise _too_many(source, LARGEST_COUNT)
        if isinstance(value, int) and value.bit_length() > _LONGEST_NUMBER:
            raise ValueError(f"{source}: a number of thousands of digits is none of a model.")
        if value is None or isinstance(value, str | int | float):
            return value
        if depth > _DEEPEST:
            raise _too_deep(source)
        if isinstance(value, Mapping):
            return {str(key): copy(item, depth + 1) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [copy(item, depth + 1) for item in value]
        if hasattr(value, "tolist"):  # numbers and arrays of NumPy, tensors
            return copy(value.tolist(), depth + 1)
        return str(value)

    return copy(given, 0)


def _refuse_depth(value: Any, source: str) -> None:
    """Raise where dicts and lists are nested too deeply; level by level, as it must be quick."""
    level = [value]
    for _ in range(_DEEPEST):
        level = [
            item
            for outer in level
            for item in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(item, dict | list)
        ]
        if not level:
            return
    raise _too_deep(source)


class _Doubled(dict[str, Any]):
    """A JSON object that has a key more than once, with all its pairs."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.pairs = pairs


def _doubled(value: Any, path: str) -> list[Finding]:
    """What there is to say about each key that stands more than once, here or further inside."""
    if isinstance(value, list):
        return [finding for item in value for finding in _doubled(item, path)]
    if not isinstance(value, dict):
        return []
    seen: dict[str, list[Any]] = {}
    for key, item in value.pairs if isinstance(value, _Doubled) else value.items():
        seen.setdefault(key, []).append(item)
    findings: list[Finding] = []
    for key, items in seen.items():
        inner = f"{path}.{key}" if path else key
        findings += _doubled(items[-1], inner)
        if len(items) > 1:
            findings.append(_finding(inner, items))
    return findings


def _finding(key: str, values: list[Any]) -> Finding:
    if all(value == values[-1] for value in values):
        return Finding(
            severity="note",
            code="doubled-key",
            key=key,
            value=values[-1],
            why=f"It stands {len(values)} times, each time with the same value.",
            cure="Keep one of them.",
        )
    shown = ", ".join(reprlib.repr(value) for value in values[:4])
    return Finding(
        severity="error",
        code="doubled-key",
        key=key,
        value=values[-1],
        why=f"It stands {len(values)} times with different values ({shown}), and programs differ "
        "in which one they take; Python takes the last.",
        cure="Keep the one that the model was trained with.",
    )


def _too_deep(source: str) -> ValueError:
    return ValueError(
        f"{source} is nested more than {_DEEPEST} levels deep, which no settings are; "
        f"give the config.json that came with the model."
    )


def _too_many(source: str, most: int) -> ValueError:
    return ValueError(
        f"{source} may not hold more than {most:,} values, which no settings do; give the "
        f"config.json that came with the model."
    )


_KINDS = {
    list: "a list",
    str: "a string",
    int: "a number",
    float: "a number",
    bool: "true or false",
    type(None): "null",
}
