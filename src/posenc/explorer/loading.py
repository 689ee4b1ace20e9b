"""A table of numbers from the bytes of a file or of a pasted text."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import math
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from posenc.identification.read import read as read_table

CURE = "Save an array of numbers with numpy.save, or rows of numbers as CSV."


def load(body: bytes) -> tuple[np.ndarray, tuple[str, ...]]:
    """A .npy file, a CSV file, or rows of numbers as people paste them.

    Args:
        body: the whole of it.
    Returns:
        The numbers, and sentences about how they were read.
    Raises:
        ValueError: it is no table of numbers. The message goes on after the name of the file.
    Example:
        >>> load(b"[[1, 2], [3, 4]]")[0].tolist()
        [[1, 2], [3, 4]]
    """
    return _npy(body) if body[:6] == b"\x93NUMPY" else _text(body)


def _npy(body: bytes) -> tuple[np.ndarray, tuple[str, ...]]:
    """A .npy file. No object in it is ever loaded, and its header allocates nothing."""
    stream = io.BytesIO(body)
    try:
        version = np.lib.format.read_magic(stream)
        reader = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }[version]
        shape, by_columns, dtype = reader(stream)
    except Exception:  # NumPy takes a header for Python, which can fail in any way
        raise ValueError(f"begins as a .npy file, but its header cannot be read. {CURE}") from None
    if dtype.hasobject:
        raise ValueError(
            f"holds Python objects, which are never loaded, since they can run code. {CURE}"
        )
    if dtype.kind not in "biufc":
        raise ValueError(
            f"holds {dtype}, which are no numbers. {CURE} Of bfloat16, convert to float32 before."
        )
    if any(type(size) is not int or size < 0 for size in shape):
        raise ValueError(f"has the shape {shape}, which no array has. {CURE}")
    start, count = stream.tell(), math.prod(shape)
    needed, there = count * dtype.itemsize, len(body) - start
    if needed > there:
        raise ValueError(
            f"promises {count:,} numbers ({needed:,} bytes) and holds {there:,} bytes: it is cut "
            "off. Copy or save it again."
        )
    values = np.frombuffer(body, dtype, count, start)
    return values.reshape(shape, order="F" if by_columns else "C"), ()


def _text(body: bytes) -> tuple[np.ndarray, tuple[str, ...]]:
    """Rows of numbers: CSV with or without a header, a list of lists, or what NumPy prints."""
    if body[:2] == b"PK":
        raise ValueError(f"is an archive, as .npz and .pt files are, and not one table. {CURE}")
    try:
        text = body.decode("utf-8-sig").strip()
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise ValueError(f"is neither a .npy file nor text. {CURE}")
    if not text:
        raise ValueError(f"is empty. {CURE}")
    if "..." in text:
        raise ValueError(
            "leaves numbers out where it says “...”. Print all of them, or save the array with "
            "numpy.save."
        )
    if "[" in text:
        with contextlib.suppress(ValueError, RecursionError):
            return np.asarray(json.loads(text)), ()
    return _rows(list(_cells(text)))


def _cells(text: str) -> Iterator[list[str]]:
    """The cells of each line, set apart by commas, semicolons, tabs or blanks."""
    if "[" in text:  # rows as NumPy prints them, several lines each
        for row in re.findall(r"\[([^\[\]]*)\]", text):
            yield re.split(r"[\s,]+", row.strip(" ,\n"))
        return
    lines = text.splitlines()
    delimiter = next((sign for sign in ",;\t" if sign in lines[0]), None)
    if delimiter is None:
        yield from (line.split() for line in lines)
    else:
        try:
            yield from csv.reader(lines, delimiter=delimiter)
        except csv.Error as error:
            raise ValueError(f"is no CSV: {error}. {CURE}") from None


def _rows(lines: list[list[str]]) -> tuple[np.ndarray, tuple[str, ...]]:
    """By way of a file, whose headers and names of rows `posenc.identify` knows."""
    with tempfile.TemporaryDirectory(prefix="posenc-") as folder:
        path = Path(folder) / "table.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(lines)
        try:
            return read_table(path)
        except ValueError as error:
            said = str(error).removeprefix(f"cannot read {path.name}: ").removeprefix("`table` ")
            raise ValueError(f"is no table of numbers: {said} {CURE}") from None
