"""An encoding's numbers with a name for each row and column, as text, CSV, JSON or NPY."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from posenc import evaluation


@dataclass(frozen=True)
class Table:
    """Numbers with names: `values` of any shape, its last axis named by `columns`.

    Args:
        values: float32; (positions, features), or (heads, queries, keys) of a bias.
        columns: a name for each entry of the last axis.
        axes: for each other axis its name and the names along it.
    """

    values: np.ndarray
    columns: tuple[str, ...]
    axes: tuple[tuple[str, tuple[int, ...]], ...]

    def lines(self) -> Iterator[tuple[tuple[int, ...], np.ndarray]]:
        """Each row of numbers with its names, one an axis."""
        for index in np.ndindex(self.values.shape[:-1]):
            names = tuple(names[i] for (_, names), i in zip(self.axes, index, strict=True))
            yield names, self.values[index]


def table(encoding: Any, positions: np.ndarray) -> Table:
    """The numbers of an encoding at some positions, named.

    Args:
        encoding: an encoding that needs no trained weights.
        positions: shape (length,), integers; for a bias both the queries and the keys.
    Returns:
        The table; float32.
    Raises:
        TypeError: `encoding` needs more than positions.
        ValueError: a position lies beyond 2**31, or there would be too many numbers.
    Example:
        >>> from posenc import Rotary
        >>> table(Rotary(dim=4), np.asarray([0, 7])).columns
        ('cos 0', 'cos 1', 'sin 0', 'sin 1')
    """
    where = tuple(int(position) for position in positions)
    family = evaluation.positional(encoding)
    if family == "bias":
        values = evaluation.bias(encoding, positions, positions).astype(np.float32)
        heads = tuple(range(len(values)))
        keys = tuple(f"key {key}" for key in where)
        return Table(values, keys, (("head", heads), ("query", where)))
    values = evaluation.rows(encoding, positions).astype(np.float32)
    width = values.shape[-1]
    if family == "rotary":
        names = [f"{part} {pair}" for part in ("cos", "sin") for pair in range(width // 2)]
    else:
        names = [str(feature) for feature in range(width)]
    return Table(values, tuple(names), (("position", where),))


def text(table: Table, *, width: int = 80) -> str:
    """Columns of four decimals, as many as fit, and a word on those that do not.

    Example:
        >>> from posenc import Sinusoidal
        >>> print(text(table(Sinusoidal(dim=4), np.asarray([0, 2]))))
        position        0        1        2        3
               0   0.0000   1.0000   0.0000   1.0000
               2   0.9093  -0.4161   0.0200   0.9998
    """
    cell = max(9, *(len(name) + 2 for name in table.columns)) if table.columns else 9
    names = [name for name, _ in table.axes]
    lead = max(8, *(len(str(n)) + 1 for _, along in table.axes for n in along), 0)
    fits = max((width - lead * len(names)) // cell, 1)
    shown, left = table.columns[:fits], len(table.columns) - fits
    lines = ["".join(n.rjust(lead) for n in names) + "".join(n.rjust(cell) for n in shown)]
    for labels, row in table.lines():
        cells = "".join(f"{value:{cell}.4f}" for value in row[:fits])
        lines.append("".join(str(label).rjust(lead) for label in labels) + cells)
    if left > 0:
        lines.append(f"... and {left} more columns: --format csv, json or npy has them all.")
    return "\n".join(lines)


def to_csv(table: Table) -> str:
    """Comma-separated values with a header; each number is the shortest that reads back equal.

    Example:
        >>> from posenc import Sinusoidal
        >>> print(to_csv(table(Sinusoidal(dim=2), np.asarray([1]))).strip())
        position,0,1
        1,0.84147096,0.5403023
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*(name for name, _ in table.axes), *table.columns])
    writer.writerows([*labels, *map(str, row)] for labels, row in table.lines())
    return out.getvalue()


def to_json(table: Table) -> str:
    """An object with axes, columns and values; minus infinity, which JSON lacks, is null.

    Each number is the float32 written as the double that equals it.

    Example:
        >>> from posenc import Sinusoidal
        >>> to_json(table(Sinusoidal(dim=2), np.asarray([0])))
        '{"axes": {"position": [0]}, "columns": ["0", "1"], "values": [[0.0, 1.0]]}'
    """
    values = table.values.astype(object)
    values[~np.isfinite(table.values)] = None
    whole = {"axes": dict(table.axes), "columns": table.columns, "values": values.tolist()}
    return json.dumps(whole, allow_nan=False)


def to_npy(table: Table) -> bytes:
    """The values alone, as a .npy file."""
    out = io.BytesIO()
    np.save(out, table.values)
    return out.getvalue()


FORMATS: dict[str, Callable[[Table], str | bytes]] = {
    "text": text,
    "csv": to_csv,
    "json": to_json,
    "npy": to_npy,
}
"""How a table can be written, by name."""
