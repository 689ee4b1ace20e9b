"""What is measured: which operations, at which lengths, in which dtypes and layouts."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from posenc.rotary import Layout

HEADS, KEY_HEADS, DIM, BASE, LAYERS = 32, 8, 128, 10_000.0, 32
"""A model of the size of Llama 3 8B or Mistral 7B."""

LENGTHS = (1, 512, 4096, 32_768)
DTYPES = ("float32", "bfloat16", "float16")
LAYOUTS: tuple[Layout, ...] = ("half", "interleaved")


@dataclass(frozen=True, kw_only=True)
class Case:
    """One operation at one size; its results stand beside each other.

    Args:
        operation: a key of `operations.OPERATIONS`.
        length: tokens.
        dtype: of what is worked on.
        layout: which features are a pair; None where nothing turns.
    """

    operation: str
    length: int
    dtype: str = "float32"
    layout: Layout | None = None

    @property
    def name(self) -> str:
        """What `--only` looks at."""
        words = (self.operation, self.dtype, self.layout, f"length {self.length}")
        return ", ".join(word for word in words if word)


def full() -> Iterator[Case]:
    """Everything: some minutes. The longest is for the dtype that models run in, mostly."""
    for operation, lengths in (("turn", LENGTHS), ("gradient", LENGTHS[1:]), ("step", (1,))):
        for layout, dtype in itertools.product(LAYOUTS, DTYPES):
            whole = dtype == "bfloat16" or (operation, layout) == ("turn", "half")
            for length in lengths if whole else [n for n in lengths if n < LENGTHS[-1]]:
                yield Case(operation=operation, length=length, dtype=dtype, layout=layout)
    for length in LENGTHS:
        yield Case(operation="table", length=length)
    for operation in ("alibi", "t5"):
        for length in (128, 1024):
            yield Case(operation=operation, length=length)
    for layout in LAYOUTS:
        for length in LENGTHS[1:3]:
            yield Case(operation="numpy", length=length, layout=layout)


def quick() -> Iterator[Case]:
    """What the bars are about, and once what only turns interleaved pairs: about a minute."""
    for operation, lengths in (("turn", (1, 4096)), ("gradient", (4096,)), ("step", (1,))):
        for dtype in DTYPES[:2]:
            for length in lengths:
                yield Case(operation=operation, length=length, dtype=dtype, layout="half")
    for dtype in DTYPES[:2]:
        yield Case(operation="turn", length=4096, dtype=dtype, layout="interleaved")
    yield Case(operation="table", length=4096)
