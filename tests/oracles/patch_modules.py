"""How to ask a model's own module what it adds to patches, and posenc what it says about them.

Every other parameter of the module is set to zero, so what comes out is the position alone.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from oracles import Outcome, built, difference, read
from posenc import learned
from posenc.inspector import Use

_TABLE = re.compile(
    r"(embeddings\.|embedder\.)?(pos_embed|(position|positional|absolute_position)_embeddings?"
    r"(_vlm|_table)?)(\.weight)?"
)


def use_of(model_type: str, kind: str = "learned grid", **changes: Any) -> Use:
    """The one use of this kind that posenc reads in a part's own settings."""
    part = read(model_type, **changes).parts[0]
    uses = [use for use in part.uses if use.kind == kind]
    if len(uses) != 1:
        raise AssertionError(f"{model_type}: {len(uses)} uses of kind {kind!r}")
    return uses[0]


def value(use: Use, name: str) -> Any:
    """A setting that the use rests on."""
    return next(item.value for item in use.values if item.name == name)


def table_of(module: torch.nn.Module) -> torch.nn.Parameter:
    """The one parameter that is a table of positions."""
    found = [item for name, item in module.named_parameters() if _TABLE.fullmatch(name)]
    if len(found) != 1:
        raise AssertionError([name for name, _ in module.named_parameters()])
    return found[0]


def only_positions(module: torch.nn.Module) -> np.ndarray:
    """Zero everything but the table; give it random numbers, and return it with one row a row."""
    module.eval()
    table = table_of(module)
    random = 0.1 * torch.randn(table.shape, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.zero_()
        table.copy_(random)
    return random.reshape(-1, rows_and_width(table)[1]).numpy()


def rows_and_width(table: torch.Tensor) -> tuple[int, int]:
    """How many vectors a table holds, and how long they are."""
    return table.numel() // table.shape[-1], table.shape[-1]


def cells(use: Use, table: np.ndarray, grid: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """What posenc says about the rows outside the grid, and about every cell of another grid."""
    rows = use.encoding.encode(np.arange(use.encoding.length), table=table)
    names = [item.name for item in use.values]
    last = value(use, "suffix_rows") if "suffix_rows" in names else 0
    first = value(use, "prefix_rows") if "prefix_rows" in names else 0
    inner = rows[first : len(rows) - last]
    outer = np.concatenate([rows[:first], rows[len(rows) - last :]])
    old = value(use, "grid")
    return outer, _RESIZE[value(use, "resized")](inner, old, grid)


def _fixed(table: np.ndarray, old: tuple[int, ...], new: tuple[int, ...]) -> np.ndarray:
    if old != new:
        raise AssertionError(f"{new} asked of a table of the fixed size {old}")
    return table


def _resampled(**options: Any) -> Callable[..., np.ndarray]:
    return lambda table, old, new: learned.resample(table, old=old, new=new, **options)


def _picked(place: Callable[[int, int, int], int]) -> Callable[..., np.ndarray]:
    """Each new cell is one old one."""

    def resize(table: np.ndarray, old: tuple[int, int], new: tuple[int, int]) -> np.ndarray:
        grid = table.reshape(*old, -1)
        rows, columns = ([place(i, a, b) for i in range(b)] for a, b in zip(old, new, strict=True))
        return grid[np.ix_(rows, columns)].reshape(-1, grid.shape[-1])

    return resize


def _cropped(table: np.ndarray, old: tuple[int, int], new: tuple[int, int]) -> np.ndarray:
    square = (max(new), max(new))
    grid = learned.resample(table, old=old, new=square, method="linear").reshape(*square, -1)
    return grid[: new[0], : new[1]].reshape(-1, grid.shape[-1])


def _linear(x: np.ndarray) -> np.ndarray:
    return np.maximum(1 - np.abs(x), 0)


def _cubic(x: np.ndarray, a: float = -0.75) -> np.ndarray:
    x = np.abs(x)
    near = (a + 2) * x**3 - (a + 3) * x**2 + 1
    return np.where(x <= 1, near, np.where(x < 2, a * (x**3 - 5 * x**2 + 8 * x - 4), 0))


def _by_matrices(matrix: Callable[[int, int], np.ndarray]) -> Callable[..., np.ndarray]:
    """One matrix an axis, from the old number of cells and the new one."""

    def resize(table: np.ndarray, old: tuple[int, int], new: tuple[int, int]) -> np.ndarray:
        if old == new:
            return table
        grid = table.reshape(*old, -1).astype(np.float64)
        rows, columns = (matrix(a, b) for a, b in zip(old, new, strict=True))
        return np.einsum("ia,jb,abd->ijd", rows, columns, grid).reshape(-1, grid.shape[-1])

    return resize


def _zero_border(old: int, new: int) -> np.ndarray:
    centre = (np.arange(new) + 0.5) * old / new - 0.5
    return _linear(np.arange(old) - centre[:, None])


def _scaled(kernel: Callable[[np.ndarray], np.ndarray], old: int, new: int) -> np.ndarray:
    """Cells sampled with the factor (new + 0.1) / old; beyond the ends the outer ones go on."""
    if kernel is _linear and old == new:  # PyTorch does not move an axis that keeps its size
        return np.eye(old)
    centre = (np.arange(new) + 0.5) * old / (new + 0.1) - 0.5
    wide = kernel(np.arange(-3, old + 3) - centre[:, None])
    wide[:, 3] += wide[:, :3].sum(1)
    wide[:, -4] += wide[:, -3:].sum(1)
    return wide[:, 3:-3]


_RESIZE: dict[str, Callable[..., np.ndarray]] = {
    "fixed": _fixed,
    "bicubic": _resampled(method="cubic"),
    "bicubic, antialiased": _resampled(method="cubic", antialias=True),
    "bilinear": _resampled(method="linear"),
    "bilinear, antialiased": _resampled(method="linear", antialias=True),
    "bilinear, corners aligned": _resampled(method="linear", corners="aligned"),
    "bilinear, zero border": _by_matrices(_zero_border),
    "bilinear, cropped": _cropped,
    "nearest": _picked(lambda i, old, new: i * old // new),
    "tiled": _picked(lambda i, old, new: i % old),
    "bicubic, size + 0.1": _by_matrices(functools.partial(_scaled, _cubic)),
    "bilinear, size + 0.1": _by_matrices(functools.partial(_scaled, _linear)),
}


def default_shape(model_type: str, cls: type[torch.nn.Module], **changes: Any) -> Outcome:
    """Rows and width of the table at default numbers, built without memory."""
    config = built(model_type, **changes)
    with torch.device("meta"):
        module = cls(config)
    ours = use_of(model_type, **changes).encoding.weights["table"]
    return Outcome(
        kind="learned grid",
        layout="",
        how="rows and width of its table at default numbers",
        difference=difference(ours, rows_and_width(table_of(module))),
    )
