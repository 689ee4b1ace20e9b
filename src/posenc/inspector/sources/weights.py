"""Tables and frequencies that lie in the weights, against what the settings say about them."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from posenc.inspector.reading import Finding, Reading, Severity, Use
from posenc.inspector.settings.parts import worst_first
from posenc.inspector.sources import json_text
from posenc.learned import Learned
from posenc.t5 import T5

# What transformers calls its tables, in all its models.
_TABLES = {
    Learned: re.compile(r"(^|\.)(wpe|\w*pos\w*emb\w*|\w*emb\w*_pos\w*)(\.weight)?$"),
    T5: re.compile(r"(^|\.)(\w*relative_attention_bias|rel_attn_embed)\.weight$"),
}
_FREQUENCIES = re.compile(r"(^|\.)inv_freq$")
_OF_INTEREST = (*_TABLES.values(), _FREQUENCIES)

_LOADS_FREQUENCIES = frozenset(
    ("clvp", "clvp_encoder", "esm", "evolla", "seamless_m4t", "wav2vec2-conformer")
)
"""Model types that take the frequencies of the weights; all others compute them anew."""

_LARGEST_INDEX = 64 * 2**20  # bytes
_MOST_TENSORS = 2**20
_POINTER = b"version https://git-lfs"
# The relative rounding of a number stored in each dtype, and a little more for float32 powers.
_ROUNDING = {"F64": 1e-6, "F32": 1e-6, "F16": 2.0**-11, "BF16": 2.0**-8}


class Tensor(NamedTuple):
    """What the header of a safetensors file says about a tensor."""

    file: Path
    name: str
    shape: tuple[int, ...]
    dtype: str


def compared(reading: Reading, folder: Path) -> Reading:
    """A reading, with what the weights in a folder say against it.

    Only headers are read, and the numbers of `inv_freq`, which are a few hundred bytes.
    """
    findings: list[Finding] = []
    tensors = [tensor for file in _files(folder, findings) for tensor in _tensors(file, findings)]
    for family, pattern in _TABLES.items():
        tables = [tensor for tensor in tensors if pattern.search(tensor.name)]
        uses = [use for use in reading.uses if isinstance(use.encoding, family)]
        findings += _against(uses, tables)
    stored = [tensor for tensor in tensors if _FREQUENCIES.search(tensor.name)]
    findings += _frequencies(reading, stored)
    return dataclasses.replace(reading, findings=worst_first([*reading.findings, *findings]))


def _files(folder: Path, findings: list[Finding]) -> list[Path]:
    """The files with weights: one, or those that the index names for what is looked for."""
    single = folder / "model.safetensors"
    index = folder / "model.safetensors.index.json"
    if single.exists() or not index.exists():
        return [single] if single.exists() else sorted(folder.glob("*.safetensors"))
    try:
        text = json_text.content(index, most=_LARGEST_INDEX)
        found, _ = json_text.settings(text, index.name, most=_MOST_TENSORS)
    except (OSError, ValueError) as error:
        findings += [_unreadable(index, error)]
        return []
    places = found.get("weight_map")
    names = {
        str(file)
        for name, file in (places.items() if isinstance(places, dict) else ())
        if any(pattern.search(name) for pattern in _OF_INTEREST)
    }
    return [folder / name for name in sorted(names) if Path(name).name == name]


def _tensors(file: Path, findings: list[Finding]) -> Iterator[Tensor]:
    """The tensors of a file that may hold positions; what keeps it closed becomes a finding."""
    try:
        from safetensors import SafetensorError, safe_open
    except ModuleNotFoundError:
        note = "safetensors is not installed, so the weights were not compared with the settings."
        findings += [_unread(file, "note", note, "pip install 'posenc[safetensors]'")]
        return
    if not file.is_file():
        note = "It is named in the index and is not there, so its tables were not compared."
        findings += [_unread(file, "note", note, "Download it, if they matter.")]
        return
    try:
        with safe_open(file, framework="numpy") as opened:
            for name in opened.keys():  # noqa: SIM118  it is no dict
                if any(pattern.search(name) for pattern in _OF_INTEREST):
                    tensor = opened.get_slice(name)
                    yield Tensor(file, name, tuple(tensor.get_shape()), tensor.get_dtype())
    except (SafetensorError, OSError, ValueError) as error:
        findings += [_unreadable(file, error)]


def _unreadable(file: Path, error: Exception) -> Finding:
    if _is_pointer(file):
        note = "It is a pointer of Git LFS and no weights, so its tables were not compared."
        return _unread(file, "note", note, "Run `git lfs pull`.")
    if isinstance(error, PermissionError):
        return _unread(file, "note", "It may not be opened here.", "Ask for access to it.")
    why = f"It cannot be read ({str(error).rstrip('.')}), so no program will load it."
    return _unread(file, "error", why, "Download it again.")


def _is_pointer(file: Path) -> bool:
    try:
        with file.open("rb") as opened:
            return opened.read(len(_POINTER)) == _POINTER
    except OSError:
        return False


def _unread(file: Path, severity: Severity, why: str, cure: str) -> Finding:
    return Finding(
        severity=severity,
        code="weights-not-read",
        key=file.name,
        value=None,
        why=why,
        cure=cure,
    )


def _against(uses: list[Use], tables: list[Tensor]) -> Iterator[Finding]:
    """Tables that the settings ask for and the weights have in another shape.

    A shape that both have settles both. What is left of one side belongs to what is left of the
    other where the rows or the width agree.
    """
    shapes = {_matrix(table.shape) for table in tables}
    wanted = {use.encoding.weights["table"] for use in uses}
    left = [table for table in tables if _matrix(table.shape) not in wanted]
    for use in uses:
        rows, width = use.encoding.weights["table"]
        if (rows, width) in shapes:
            continue
        near = (table for table in left if _agree(_matrix(table.shape), (rows, width)))
        if (table := next(near, None)) is not None:
            yield _other_shape(use, table)


def _matrix(shape: tuple[int, ...]) -> tuple[int, int]:
    """Rows and width of a table that may be laid out as a grid, or in a batch of one."""
    return math.prod(shape[:-1]), shape[-1] if shape else 1


def _agree(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[0] == other[0] or one[1] == other[1]


def _other_shape(use: Use, table: Tensor) -> Finding:
    wanted, found = use.encoding.weights["table"], _matrix(table.shape)
    axis = 0 if wanted[0] != found[0] else 1
    # Rows below the first token's are extra: the settings do not count them.
    extra = getattr(use.encoding, "offset", 0) if axis == 0 else 0
    keys = [value.key for value in use.values if value.value == wanted[axis] - extra]
    return Finding(
        severity="error",
        code="table-shape",
        key=keys[0] if keys else table.name,
        value=wanted[axis] - extra,
        why=f"The settings make a table of {_by(wanted)} for {use.place}, and "
        f"`{table.name}` in {table.file.name} has {_by(found)}, so transformers refuses to load "
        "it.",
        cure=f"Put {found[axis] - extra:,} there, which the weights were trained with.",
    )


def _frequencies(reading: Reading, stored: list[Tensor]) -> Iterator[Finding]:
    """Frequencies in the weights: used by few model types, evidence in all others."""
    if not stored:
        return
    types = {reading.model_type, *(part.model_type for part in reading.parts)}
    used = bool(types & _LOADS_FREQUENCIES)
    tensor = stored[0]  # layers have copies
    expected = list(_expected(reading, math.prod(tensor.shape)))
    if not expected:
        yield _stored(tensor, len(stored), "note", *_STRANGE)
        return
    try:
        values = _values(tensor)
    except ValueError as error:
        yield _unreadable(tensor.file, error)
        return
    rounding = _ROUNDING["F32"] if used else _ROUNDING.get(tensor.dtype, 2.0**-8)
    fits = any(
        len(values) == len(row)  # a complex number is taken apart
        and all(abs(v - e) <= rounding * e + 1e-7 for v, e in zip(values, row, strict=True))
        for row in expected
    )
    if not fits:
        yield _stored(tensor, len(stored), "warning", *(_OTHER_USED if used else _OTHER))
    elif not used:
        yield _stored(tensor, len(stored), "note", *_SAME)


def _values(tensor: Tensor) -> list[float]:
    from posenc.identification import read as tables

    return tables.read(tensor.file, tensor=tensor.name).values.reshape(-1).tolist()


def _expected(reading: Reading, pairs: int) -> Iterator[tuple[float, ...]]:
    """The frequencies of the settings, scaled and not, where so many pairs turn."""
    for use in reading.uses:
        for name in ("frequencies", "unscaled"):
            row = getattr(use.encoding, name, ())
            if len(row) == pairs and all(isinstance(frequency, float) for frequency in row):
                yield row


# What is to be said of frequencies in the weights, and what to do about it.
_SAME = (
    ", as the settings give; transformers computes them anew.",
    "Leave them out, so that no program rounds them.",
)
_OTHER = (
    " that are not those of the settings; transformers computes its own.",
    "Look for a base or a scaling that the settings lost.",
)
_OTHER_USED = (
    " that are not those of the settings, and this model turns by them.",
    "Compare with them, not with the formula.",
)
_STRANGE = (
    ", and nothing in the settings has so many, so they were not compared.",
    "Look which part of the model they belong to.",
)


def _stored(tensor: Tensor, copies: int, severity: Severity, what: str, cure: str) -> Finding:
    often = "once" if copies == 1 else f"{copies} times"
    return Finding(
        severity=severity,
        code="stored-frequencies",
        key=tensor.name,
        value=list(tensor.shape),
        why=f"{tensor.file.name} holds frequencies ({tensor.dtype}, {often}){what}",
        cure=cure,
    )


def _by(shape: tuple[int, ...]) -> str:
    return " x ".join(f"{size:,}" for size in shape)
