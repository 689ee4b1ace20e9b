"""A GGUF header walked once, so that no number in it is believed before the file can hold it.

gguf's own reader loops over the counts that a file declares and slices what it finds there: a
few bytes may claim 2**60 keys. This walk decodes nothing but counts and lengths, and remembers
which values (the tokenizer's words) nobody asks about, because decoding those takes seconds.
"""

from __future__ import annotations

import mmap
import os
import stat
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NoReturn

VERSIONS = (2, 3)

_STRING, _ARRAY = 8, 9
_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
_SMALLEST = {_STRING: 8, _ARRAY: 12} | _SIZES
_ENTRY, _TENSOR = 13, 24  # bytes of the smallest key with its value, and of the smallest tensor
_KEPT = 1024  # numbers of an array worth decoding: one a layer; llama.cpp allows 512 layers
_NAME = 65_535  # bytes of a key; longer strings are not worth decoding either
_DEPTH = 4

# What a header may cost, in words of a tokenizer to pass over (about 0.1 microseconds each); a
# real one has under a million of them, 100 keys and 2000 tensors.
_BUDGET = 4_000_000
_COST = {"keys": 100, "tensors": 100, "arrays": 10, "numbers": 50, "words": 1}
_DIMENSIONS = 8  # ggml has 4

_AGAIN = "download or convert the file again"


@dataclass(frozen=True, kw_only=True)
class Header:
    """What the walk found.

    Args:
        skipped: where each value begins that is not worth decoding, and where it ends.
        size: bytes in the file.
        data: where the data of the tensors begins, at the earliest.
        last: how far into that data the last tensor begins.
    """

    skipped: Mapping[int, int]
    size: int
    data: int
    last: int

    @property
    def whole(self) -> bool:
        """Whether the file is long enough for all its tensors to begin in it."""
        return self.data + self.last <= self.size


def refuse(path: os.PathLike[str] | str, why: str, cure: str) -> NoReturn:
    """Say in one sentence that a file cannot be read, why, and what to do."""
    raise ValueError(f"{os.fspath(path)} cannot be read as GGUF: {why}; {cure}.")


def walk(path: os.PathLike[str] | str) -> Header:
    """Check every count and length of a header against the size of its file.

    Raises:
        OSError: there is no such file, or it may not be read.
        ValueError: it is no GGUF file of a version that is read, or its header is cut off or
            claims more than it can hold.
    """
    found = os.stat(path)
    if not stat.S_ISREG(found.st_mode):
        refuse(path, "it is not a file", "name the .gguf file itself")
    with open(path, "rb") as file:
        start = file.read(8)
        if start[:4] != b"GGUF":
            refuse(path, f"it begins with {start[:4]!r}, not with b'GGUF'", "name a .gguf file")
        if len(start) < 8:
            refuse(path, "it ends after its first word", _AGAIN)
        order = _byte_order(path, start[4:])
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return _Walk(path=path, data=data, order=order).header()


def _byte_order(path: os.PathLike[str] | str, version: bytes) -> str:
    """ "<" or ">", whichever makes the version a small number."""
    little, big = int.from_bytes(version, "little"), int.from_bytes(version, "big")
    if little in VERSIONS or big in VERSIONS:
        return "<" if little in VERSIONS else ">"
    number = min(little, big)
    cure = "convert the model again" if number == 1 else "update posenc and gguf"
    refuse(path, f"it is of version {number}, where versions 2 and 3 are read", cure)


@dataclass
class _Walk:
    path: os.PathLike[str] | str
    data: mmap.mmap
    order: str
    at: int = 8
    budget: int = _BUDGET
    skipped: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.long = struct.Struct(self.order + "Q").unpack_from
        self.short = struct.Struct(self.order + "I").unpack_from

    def header(self) -> Header:
        try:
            tensors, entries = self.number(self.long, 8), self.number(self.long, 8)
            self.fits(entries, _ENTRY, "keys")
            self.fits(tensors, _TENSOR, "tensors")
            for _ in range(entries):
                self.name()
                self.entry(self.number(self.short, 4))
            last = max([self.tensor() for _ in range(tensors)], default=0)
        except (struct.error, IndexError, OverflowError):
            self.cut_off()
        return Header(skipped=self.skipped, size=len(self.data), data=self.at, last=last)

    def number(self, unpack: Callable[..., tuple[int, ...]], size: int) -> int:
        value = unpack(self.data, self.at)[0]
        self.at += size
        return value

    def move(self, count: int) -> None:
        self.at += count
        if self.at > len(self.data):
            self.cut_off()

    def fits(self, count: int, size: int, what: str) -> None:
        """Refuse a count that the rest of the file cannot hold, or that takes too long."""
        left = len(self.data) - self.at
        if count * size > left:
            why = f"at byte {self.at} it claims {count} {what}, but has {left} bytes left"
            refuse(self.path, why, _AGAIN)
        self.spend(count, what)

    def spend(self, count: int, what: str) -> None:
        self.budget -= count * _COST[what]
        if self.budget < 0:
            why = f"its header has more {what} than any model, {count} at byte {self.at}"
            refuse(self.path, why, "check where the file comes from")

    def name(self) -> None:
        length = self.number(self.long, 8)
        if length > _NAME:
            why = f"at byte {self.at} it claims a name of {length} bytes"
            refuse(self.path, why, _AGAIN)
        self.move(length)

    def entry(self, kind: int) -> None:
        """Move past a value; remember where it ends if it is one that nobody needs."""
        start = self.at
        if kind == _ARRAY:
            inner, count = self.array(depth=1)
            needed = inner in _SIZES and count <= _KEPT
            self.spend(count if needed else 0, "numbers")
        elif kind == _STRING:
            length = self.number(self.long, 8)
            self.move(length)
            needed = length <= _NAME
        elif kind in _SIZES:
            self.move(_SIZES[kind])
            needed = True
        else:
            refuse(self.path, f"at byte {self.at} stands a value of unknown type {kind}", _AGAIN)
        if not needed:
            self.skipped[start] = self.at

    def array(self, depth: int) -> tuple[int, int]:
        """Move past an array; the type of its items and how many they are."""
        kind, count = self.number(self.short, 4), self.number(self.long, 8)
        if kind not in _SMALLEST:
            refuse(self.path, f"at byte {self.at} stands an array of unknown type {kind}", _AGAIN)
        if kind in _SIZES:
            self.move(count * _SIZES[kind])
            return kind, count
        self.fits(count, _SMALLEST[kind], "words" if kind == _STRING else "arrays")
        if kind == _STRING:
            self.texts(count)
            return kind, count
        if depth == _DEPTH:
            why = f"at byte {self.at} arrays lie more than {_DEPTH} deep in each other"
            refuse(self.path, why, "check where the file comes from")
        for _ in range(count):
            self.array(depth + 1)
        return kind, count

    def texts(self, count: int) -> None:
        # All that costs time in a real file happens here: half a million words and merges.
        data, unpack, at = self.data, self.long, self.at
        for _ in range(count):
            at += 8 + unpack(data, at)[0]
        self.at = at
        self.move(0)

    def tensor(self) -> int:
        """Move past the description of a tensor; where its data begins."""
        self.name()
        dimensions = self.number(self.short, 4)
        if dimensions > _DIMENSIONS:
            refuse(self.path, f"at byte {self.at} it claims {dimensions} dimensions", _AGAIN)
        self.move(8 * dimensions + 4)
        return self.number(self.long, 8)

    def cut_off(self) -> NoReturn:
        refuse(self.path, f"its header goes on beyond its {len(self.data)} bytes", _AGAIN)
