"""Rotary embedding of text with images and video in it (M-RoPE): pairs follow time, row or column.

Each token has three positions (time, row, column), on the last axis: shape (..., 3). Hugging Face
keeps them first, (3, batch, length); numpy.moveaxis(ids, 0, -1) is the way from there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from posenc import _arrays, _checks, grids, positions, rotary
from posenc._arrays import Array, Float, Int, Num

Order = Literal["contiguous", "interleaved", "time_last"]
Advance = Literal["all", "space"]
Segment = int | tuple[Any, ...]


@dataclass(frozen=True, kw_only=True)
class MRotary:
    """Multimodal rotary embedding: a rotary one whose pairs follow different axes.

    angle = position[axis of pair k] * frequency[k]

    Text has the same position on every axis, so there it equals `rotary`; nothing that is tried
    on text alone tells whether the sections are right.

    | as in | sections | order | rotary |
    | --- | --- | --- | --- |
    | Qwen2-VL, Qwen2.5-VL | (16, 24, 24) | "contiguous" | dim=128, base=1e6 |
    | Qwen3-VL | (24, 20, 20) | "interleaved" | dim=128, base=5e6 |
    | Qwen3.5 | (11, 11, 10) | "interleaved" | dim=256, rotary_dim=64 |
    | GLM-4.1V | (8, 12, 12) | "contiguous" | dim=128, rotary_dim=64, layout="interleaved" |
    | ERNIE 4.5 VL | (20, 22, 22) | "time_last" | dim=128, layout="interleaved" |

    Args:
        rotary: the embedding as it is for text: width, base, layout, scaling.
        sections: how many pairs follow each axis, time first. They add up to the pairs that turn.
        order: "contiguous" (the fastest pairs follow time, then come row and column),
            "interleaved" (time, row, column, time, ...; what is left follows time) or
            "time_last" (row, column, row, ..., and the slowest pairs follow time).
    Raises:
        TypeError: a field has the wrong type.
        ValueError: `sections` does not fit `rotary`, or cannot be laid out in that order.
    Example:
        >>> spec = MRotary(rotary=rotary.Rotary(dim=16), sections=(2, 3, 3))
        >>> spec.pair_axes
        (0, 0, 1, 1, 1, 2, 2, 2)
        >>> q = np.ones((4, 6, 16), dtype=np.float32)    # heads, length, dim
        >>> spec.rotate(q, positions_of([2, (1, 3), 1])).shape
        (4, 6, 16)

    Source: Wang et al. 2024, arXiv:2409.12191, section 2.1; transformers 5.24.0,
    models/qwen2_vl, qwen3_vl, ernie4_5_vl_moe.
    """

    rotary: rotary.Rotary
    sections: tuple[int, ...]
    order: Order = "contiguous"
    pair_axes: tuple[int, ...] = field(init=False, repr=False, compare=False)
    """The axis that each pair follows."""

    def __post_init__(self) -> None:
        if not isinstance(self.rotary, rotary.Rotary):
            raise TypeError(
                f"`rotary` must be the encoding of plain text, for example Rotary(dim=128, "
                f"base=1e6); got {self.rotary!r}."
            )
        if not isinstance(self.sections, tuple) or not self.sections:
            raise TypeError(f"`sections` must be a tuple of integers; got {self.sections!r}.")
        for section in self.sections:
            _checks.integer("sections", section, at_least=1)
        pairs = self.rotary.turned // 2
        if sum(self.sections) != pairs:
            raise ValueError(
                f"`sections` must add up to {pairs}, the pairs of `rotary` that turn; got "
                f"{self.sections}, which add up to {sum(self.sections)}."
            )
        _checks.one_of("order", self.order, _ORDERS)
        axes = _ORDERS[self.order](self.sections)
        counts = tuple(axes.count(axis) for axis in range(len(self.sections)))
        if counts != self.sections:
            raise ValueError(
                f"`sections` must come out even for order={self.order!r}; got {self.sections}, "
                f"of which the axes would have {counts} pairs."
            )
        object.__setattr__(self, "pair_axes", axes)

    def table(
        self,
        positions: Num[Array, "*tokens axes"],
        *,
        length: int | None = None,
        precision: rotary.Precision = "exact",
        dtype: Any = None,
    ) -> tuple[Float[Array, "*tokens half"], Float[Array, "*tokens half"]]:
        """Cosine and sine for each position and pair, times the attention factor.

        Args:
            positions: (time, row, column) of each token, any shape with these on the last axis;
                integers, float32 or float64.
            length: see `Rotary.table`.
            precision: see `Rotary.table`.
            dtype: of the result; float32 by default. The cast to it is the last step.
        Returns:
            Two arrays: shape of `positions` with one entry a pair in place of the axes.
        Raises:
            TypeError: `positions` is no array of positions.
            ValueError: `positions` has another number of axes, or one lies beyond 2**31.
        Example:
            >>> spec = MRotary(rotary=rotary.Rotary(dim=8), sections=(1, 1, 2))
            >>> cos, sin = spec.table(positions_of([3, (2, 3)]))
            >>> cos.shape
            (9, 4)

        Source: Wang et al. 2024, arXiv:2409.12191, section 2.1.
        """
        grids.check_coordinates(positions, len(self.sections))
        xp = _arrays.namespace(positions)
        every = self.rotary.table(positions, length=length, precision=precision, dtype=dtype)
        followed = [[axis == own for own in self.pair_axes] for axis in range(len(self.sections))]
        followed = _arrays.constant(followed, like=positions, dtype=xp.bool)
        cos, sin = (xp.sum(xp.where(followed, of_all, 0.0), axis=-2) for of_all in every)
        return cos, sin

    def rotate(
        self,
        x: Float[Array, "*batch dim"],
        positions: Num[Array, "*tokens axes"],
        *,
        length: int | None = None,
        precision: rotary.Precision = "exact",
        inverse: bool = False,
    ) -> Float[Array, "*batch dim"]:
        """Queries or keys, turned to their positions.

        Args:
            x: queries or keys, features last.
            positions: (time, row, column) of each token: shape (length, 3), or with all the
                axes that `x` has before its features, each equal or 1: (batch, 1, length, 3)
                for rows of their own in (batch, heads, length, dim).
            length: see `Rotary.table`.
            precision: see `Rotary.table`.
            inverse: turn back, so that rotate(rotate(x), inverse=True) is x.
        Returns:
            Shape and dtype of `x`. bfloat16 and float16 are turned in float32, rounded once.
        Raises:
            TypeError: `x` is no floating-point array, or `positions` none of its library.
            ValueError: `x` has no `dim` features, or `positions` does not fit it.
        Example:
            >>> spec = MRotary(rotary=rotary.Rotary(dim=8), sections=(1, 1, 2))
            >>> x = np.ones((2, 5, 3, 8))    # batch, heads, length, dim
            >>> rows = np.stack([positions_of([3]), positions_of([1, (1, 2)])])
            >>> spec.rotate(x, rows[:, None]).shape
            (2, 5, 3, 8)

        Source: Wang et al. 2024, arXiv:2409.12191, section 2.1.
        """
        _checks.features(x, self.rotary.dim)
        grids.check_coordinates(positions, len(self.sections))
        _checks.tokens_fit("positions", positions[..., 0], x)
        cos, sin = self.table(
            positions, length=length, precision=precision, dtype=_arrays.working_dtype(x)
        )
        if inverse:
            square = self.rotary.attention_factor**2  # see Rotary.rotate
            cos, sin = cos / square, -sin / square
        return rotary.rotate(x, cos, sin, layout=self.rotary.layout)


def _contiguous(sections: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(axis for axis, pairs in enumerate(sections) for _ in range(pairs))


def _interleaved(sections: tuple[int, ...]) -> tuple[int, ...]:
    """The axes take turns until the pairs of one are used up; time takes its turns then."""
    count = len(sections)
    turns = ((k % count, k // count) for k in range(sum(sections)))
    return tuple(axis if turn < sections[axis] else 0 for axis, turn in turns)


def _time_last(sections: tuple[int, ...]) -> tuple[int, ...]:
    time, *space = sections
    return tuple(1 + k % len(space) for k in range(sum(space))) + (0,) * time


_ORDERS = {"contiguous": _contiguous, "interleaved": _interleaved, "time_last": _time_last}


def positions_of(
    segments: Sequence[Segment],
    *,
    start: int = 0,
    advance: Advance = "all",
    like: Array | None = None,
) -> Int[Array, "tokens 3"]:
    """(time, row, column) of every token of a text with images and video in it.

    text that starts at s:      (s, s, s), (s + 1, s + 1, s + 1), ...
    image or video at s:        (s + time of the frame, s + row, s + column) in raster order
    what comes after it:        s = largest position so far + 1      advance="all"
                                s = s + max(rows, columns)           advance="space"

    Decoding goes on at the largest position + 1, which is less than the number of tokens.

    Args:
        segments: in order: a number of text tokens, (rows, columns) of an image, or (frames,
            rows, columns) of a video; grids as the language model sees them, after merging.
            In place of `frames`, the time of each frame: Qwen2.5-VL spaces them by seconds per
            grid times tokens per second, rounded down.
        start: the position of the first token.
        advance: where a segment starts after an image or video: "all" is the paper's rule;
            "space" does not look at time (transformers 5). They differ for long videos only.
        like: an array whose library and device the result takes; NumPy without it.
    Returns:
        Shape (tokens, 3), integers.
    Raises:
        TypeError: a segment is neither a number nor a tuple, or a size is no integer.
        ValueError: a size is not valid, or `advance` unknown.
    Example:
        >>> positions_of([1, (2, 3), 1]).T.tolist()
        [[0, 1, 1, 1, 1, 1, 1, 4], [0, 1, 1, 1, 2, 2, 2, 4], [0, 1, 2, 3, 1, 2, 3, 4]]
        >>> positions_of([((0, 50), 1, 2)]).T.tolist()
        [[0, 0, 50, 50], [0, 0, 0, 0], [0, 1, 0, 1]]

    Source: Wang et al. 2024, arXiv:2409.12191, section 2.1; times: Bai et al. 2025,
    arXiv:2502.13923, section 2.1.3; "space": transformers 5.24.0, models/qwen2_vl, get_rope_index.
    """
    _checks.integer("start", start)
    _checks.one_of("advance", advance, ("all", "space"))
    every = [np.zeros((0, 3), dtype=np.int64)]
    for segment in segments:
        cells, extent = _cells(segment)
        every.append(start + cells)
        if advance == "all":
            extent = int(cells.max(initial=-1)) + 1
        start += extent
    ids = np.concatenate(every)
    if like is None:
        return ids
    return _arrays.constant(ids, like=like, dtype=_arrays.widest_integer(like))


def _cells(segment: Segment) -> tuple[np.ndarray, int]:
    """The positions of a segment that starts at 0, and its length as text or its longer side."""
    if not isinstance(segment, tuple):
        return np.repeat(positions.count(segment)[:, None], 3, axis=1), segment
    if len(segment) not in (2, 3):
        raise ValueError(
            "`segments` must hold numbers of text tokens, (rows, columns) of images and (frames, "
            f"rows, columns) of videos; got {segment!r}."
        )
    frames, rows, columns = segment if len(segment) == 3 else (1, *segment)
    times = positions.count(frames).tolist() if isinstance(frames, int) else list(frames)
    for time in times:
        _checks.integer("frames", time, at_least=0)
    cells = positions.grid(len(times), rows, columns)
    cells[:, 0] = np.asarray(times, dtype=np.int64)[cells[:, 0]]
    return cells, max(rows, columns)
