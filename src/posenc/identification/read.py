"""Tables from files and from any library's arrays, as float64 NumPy arrays."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

# Columns that name rows: those of `posenc table`, and the one that pandas leaves without a name.
_LABELS = ("position", "head", "query", "")
_SHOWN = 12  # names in an error
_MOST = 2**26  # numbers; of a longer table the first rows are looked at
_LARGEST = 1e30  # so that squares and their sums are finite


class Reading(NamedTuple):
    """A table, and what there is to say about how it was read."""

    values: np.ndarray
    notes: tuple[str, ...] = ()


def read(source: Any, *, tensor: str | None = None) -> Reading:
    """A table from a file or an array.

    Args:
        source: the path of a .npy, .csv or .safetensors file; an array of any library; or rows
            of numbers. Complex numbers, cosine + i sine, are taken apart.
        tensor: which one of a .safetensors file.
    Returns:
        Values in float64, without axes of size 1; complex numbers become two tables, cosines and
        sines. A note where the first row of a .csv file was taken for a header.
    Raises:
        ModuleNotFoundError: safetensors is not installed.
        FileNotFoundError: there is no such file.
        ValueError: the file cannot be read, or what it holds is no table of numbers.
    Example:
        >>> read([[1, 2], [3, 4]]).values.tolist()
        [[1.0, 2.0], [3.0, 4.0]]
    """
    if isinstance(source, str | os.PathLike):
        values, notes = _from_file(Path(source), tensor)
    elif tensor is not None:
        raise ValueError("`tensor` names a tensor of a .safetensors file; `table` is no file.")
    else:
        values, notes = Reading(_from_array(source))
    if values.dtype.kind not in "biufc":
        raise ValueError(f"`table` must hold numbers; got {values.dtype}.")
    values = _not_too_many(np.squeeze(values))
    if values.dtype.kind == "c":
        values = np.stack([np.real(values), np.imag(values)])
    values = values.astype(np.float64)
    if values.size < 2 or values.ndim > 3:
        raise ValueError(
            "`table` must have one to three axes with more than one entry; got shape "
            f"{tuple(values.shape)} without axes of size 1."
        )
    if not np.all(values < _LARGEST):  # NaN is not
        raise ValueError(
            f"`table` must hold numbers below {_LARGEST:.0e}, or minus infinity where a bias is "
            "masked; got NaN or more."
        )
    return Reading(np.where(values < -_LARGEST, -np.inf, values), notes)


def _not_too_many(values: np.ndarray) -> np.ndarray:
    """The first rows of a long table."""
    if values.size <= _MOST:
        return values
    if values.ndim != 2:
        raise ValueError(
            f"`table` must have at most {_MOST:,} numbers; got shape {tuple(values.shape)}. The "
            "first few hundred rows are enough."
        )
    return values[: max(_MOST // values.shape[1], 1)]


def _from_array(source: Any) -> np.ndarray:
    if hasattr(source, "detach"):  # a PyTorch tensor; NumPy has no bfloat16
        source = source.detach().cpu()
        source = source.float() if "bfloat16" in str(source.dtype) else source.numpy()
    elif "bfloat16" in str(getattr(source, "dtype", "")):
        source = source.astype("float32")
    try:
        return np.asarray(source)
    except ValueError as error:  # rows of different length
        raise ValueError(f"`table` must be a table of numbers; {error}.") from error


def _from_file(path: Path, tensor: str | None) -> Reading:
    readers: dict[str, Callable[[Path], Reading]] = {
        ".npy": _npy,
        ".csv": _csv,
        ".safetensors": lambda path: _safetensors(path, tensor),
    }
    if path.is_dir():
        raise ValueError(
            f"`table` must be a file in {', '.join(readers)}; got the directory '{path}'."
        )
    if path.suffix not in readers:
        raise ValueError(f"`table` must be a file in {', '.join(readers)}; got {path.name!r}.")
    if tensor is not None and path.suffix != ".safetensors":
        raise ValueError(f"`tensor` names a tensor of a .safetensors file; got {path.name!r}.")
    try:
        return readers[path.suffix](path)
    except (ValueError, EOFError, csv.Error) as error:
        raise ValueError(f"cannot read {path.name}: {error}") from error


def _npy(path: Path) -> Reading:
    try:
        # Mapped, so that a header which promises more than the file holds allocates nothing.
        values = np.load(path, mmap_mode="r", allow_pickle=False)
    except ValueError as error:
        if not any(word in str(error) for word in ("pickle", "Python objects")):
            raise
        # NumPy's own words, which explain how to load objects all the same, are left out.
        raise ValueError(
            "it holds Python objects or no array at all, and objects are never loaded, since "
            "they can run code. Save an array of numbers with numpy.save."
        ) from None
    if not isinstance(values, np.ndarray):
        raise ValueError("it is an archive, not an array.")
    return Reading(values)


def _csv(path: Path) -> Reading:
    """Rows of numbers; a header and the columns that name rows are dropped."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        lines = [(line.line_num, row) for line in [csv.reader(file)] for row in line if row]
    if not lines:
        raise ValueError("it is empty.")
    counted = _is_counted([row for _, row in lines])
    header = lines.pop(0)[1] if counted or not _is_number(lines[0][1][0]) else []
    labels = sum(name.strip() in _LABELS for name in header)
    if not lines:
        raise ValueError("it has a header and no rows.")
    width = len(lines[0][1])
    for number, row in lines:
        if len(row) != width:
            raise ValueError(f"line {number} has {len(row)} entries, the first row {width}.")
        if bad := [entry for entry in row if not _is_number(entry)]:
            raise ValueError(f"line {number} holds {bad[0][:40]!r}, which is no number.")
    rows = np.asarray([row for _, row in lines], dtype=np.float64)
    values = rows[:, labels:]
    if "head" in header:
        values = values.reshape(len(np.unique(rows[:, header.index("head")])), -1, values.shape[1])
    notes = ("The first row numbers the columns and was taken for a header.",) if counted else ()
    return Reading(values, notes)


def _is_counted(rows: list[list[str]]) -> bool:
    """Whether the first row numbers the columns from 0 or from 1, as pandas writes it.

    Two columns stay, since 0,1 is also the sine and the cosine of position 0, and so does a square
    of whole numbers, since distances and bucket numbers begin in this way too.
    """
    first, rest = [cell.strip() for cell in rows[0]], rows[1:]
    counts = [[str(start + column) for column in range(len(first))] for start in (0, 1)]
    if len(first) < 3 or first not in counts or not rest or len(rest[0]) != len(first):
        return False
    return len(rows) != len(first) or not all(c.strip().isdigit() for row in rest for c in row)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _safetensors(path: Path, tensor: str | None) -> Reading:
    try:
        from safetensors import SafetensorError, safe_open
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "reading .safetensors needs safetensors: pip install 'posenc[safetensors]'"
        ) from error
    try:
        with safe_open(path, framework="numpy") as file:
            name = _chosen(list(file.keys()), tensor)
            if file.get_slice(name).get_dtype() == "BF16":
                return Reading(_bfloat16(path, name))
            return Reading(file.get_tensor(name))
    except (SafetensorError, AttributeError, TypeError) as error:
        raise ValueError(f"{error}.") from error


def _chosen(names: Sequence[str], tensor: str | None) -> str:
    """The tensor asked for, or the only one; those that may be a table are listed first."""
    asked = names if tensor is None else [name for name in names if name == tensor]
    if len(asked) == 1:
        return asked[0]
    likely = ("pos", "rot", "freq", "bias", "alibi", "pe")
    names = sorted(names, key=lambda name: not any(part in name for part in likely))
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    got = "" if tensor is None else f"; got {tensor!r}"
    raise ValueError(f"`tensor` must be one of {', '.join(names[:_SHOWN])}{more}{got}.")


def _bfloat16(path: Path, name: str) -> np.ndarray:
    """A bfloat16 tensor, for which NumPy has no dtype: its bits are the upper half of float32."""
    with path.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        entry = json.loads(file.read(size))[name]
        start, end = entry["data_offsets"]
        file.seek(8 + size + start)
        bits = np.frombuffer(file.read(end - start), dtype="<u2")
    return (bits.astype(np.uint32) << 16).view(np.float32).reshape(entry["shape"])
