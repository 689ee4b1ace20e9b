"""Where each token stands: counted, offset, from a mask, packed, after a cache, on a grid.

Every function gives an integer array. Its library and device are those of the array it was made
from, or of `like`; NumPy where there is neither.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from posenc import _arrays, _checks
from posenc._arrays import Array, Bool, Int


def count(length: int, *, offset: int = 0, like: Array | None = None) -> Int[Array, " length"]:
    """The positions of one plain sequence: offset, offset + 1, ...

    Args:
        length: how many tokens.
        offset: the position of the first one; for a decoding step, the number of cached tokens.
        like: an array whose library and device the result takes; NumPy without it.
    Returns:
        Shape (length,), integers.
    Raises:
        TypeError: `length` or `offset` is no integer.
        ValueError: `length` is negative.
    Example:
        >>> count(3, offset=5).tolist()
        [5, 6, 7]
    """
    _checks.integer("length", length, at_least=0)
    _checks.integer("offset", offset)
    return _integers(np.arange(offset, offset + length), like)


def from_mask(
    mask: Bool[Array, "*rows length"] | Int[Array, "*rows length"],
    *,
    start: int = 0,
    padding: int = 0,
) -> Int[Array, "*rows length"]:
    """Positions that count real tokens only, for rows padded on the left, the right or between.

    positions = start + (number of real tokens before), at real tokens; `padding` elsewhere

    Args:
        mask: true or 1 at real tokens, false or 0 at padding.
        start: the position of the first real token. fairseq and RoBERTa start at
            padding_idx + 1.
        padding: the position that padding gets. fairseq and RoBERTa use padding_idx.
    Returns:
        Shape of `mask`, integers.
    Raises:
        TypeError: `mask` holds neither booleans nor integers.
        ValueError: `mask` has no axis, or holds another number than 0 and 1.
    Example:
        >>> from_mask(np.asarray([[0, 0, 1, 1, 1], [1, 1, 1, 0, 0]])).tolist()
        [[0, 0, 0, 1, 2], [0, 1, 2, 0, 0]]

    Source: fairseq, fairseq/utils.py, make_positions.
    """
    xp = _arrays.namespace(mask)
    if not (_arrays.is_bool(mask) or _arrays.is_integer(mask)):
        raise TypeError(f"`mask` must hold booleans or integers; got {mask.dtype}.")
    _has_tokens("mask", mask)
    _checks.integer("start", start)
    _checks.integer("padding", padding)
    real = mask if _arrays.is_bool(mask) else _ones(mask)
    counted = _arrays.running_sum(xp.astype(real, _arrays.widest_integer(mask)))
    return xp.where(real, counted - 1 + start, padding)


def _ones(mask: Array) -> Array:
    """Where a mask of numbers is 1; others than 0 and 1 are refused where they can be seen."""
    xp = _arrays.namespace(mask)
    if _arrays.readable(mask) and bool(xp.any((mask != 0) & (mask != 1))):
        raise ValueError(
            "`mask` must hold 0 and 1, and not the large negative numbers that are added to scores."
        )
    return mask != 0


def packed(lengths: Sequence[int], *, like: Array | None = None) -> Int[Array, " total"]:
    """Positions of documents laid end to end, each counted from 0.

    Args:
        lengths: how many tokens each document has, in order, as Python integers: of an array,
            its tolist().
        like: an array whose library and device the result takes; NumPy without it.
    Returns:
        Shape (sum of lengths,), integers.
    Raises:
        TypeError: a length is no integer.
        ValueError: a length is negative.
    Example:
        >>> packed([3, 2]).tolist()
        [0, 1, 2, 0, 1]
    """
    for length in lengths:
        _checks.integer("lengths", length, at_least=0)
    return _integers([p for length in lengths for p in range(length)], like)


def from_documents(documents: Int[Array, "*rows length"]) -> Int[Array, "*rows length"]:
    """Positions within each document, from the number of the document each token belongs to.

    A new document starts wherever the number differs from the one before it.

    Args:
        documents: one integer a token, equal for neighbours of the same document.
    Returns:
        Shape of `documents`, integers counting from 0 in each document.
    Raises:
        TypeError: `documents` holds no integers.
        ValueError: `documents` has no axis.
    Example:
        >>> from_documents(np.asarray([7, 7, 7, 2, 2, 9])).tolist()
        [0, 1, 2, 0, 1, 0]
    """
    xp = _arrays.namespace(documents)
    if not _arrays.is_integer(documents):
        raise TypeError(f"`documents` must hold integers; got {documents.dtype}.")
    _has_tokens("documents", documents)
    dtype, device = _arrays.widest_integer(documents), _arrays.device(documents)
    column = xp.arange(documents.shape[-1], dtype=dtype, device=device)
    starts = (column == 0) | (documents != xp.roll(documents, 1, axis=-1))
    # Laid end to end and numbered, the tokens of a document are found by its number: they begin
    # where the number first comes. (A running maximum would do, but the array API has none.)
    number = _arrays.running_sum(xp.reshape(xp.astype(starts, dtype), (-1,)))
    index = xp.arange(number.shape[0], dtype=dtype, device=device)
    within = index - xp.searchsorted(number, number, side="left")
    return xp.reshape(xp.astype(within, dtype), documents.shape)


def shard(
    lengths: Sequence[int],
    *,
    rank: int,
    ranks: int,
    order: Literal["zigzag", "contiguous"] = "zigzag",
    like: Array | None = None,
) -> Int[Array, " share"]:
    """Which tokens one process gets, when documents are spread over several along their length.

    zigzag: pieces `rank` and 2 ranks - 1 - rank of the 2 ranks pieces of each document, which
    gives every process the same work under a causal mask
    contiguous: piece `rank` of the `ranks` pieces of each document

    The rows pick tokens, labels and positions alike: `packed(lengths)[rows]` where each document
    counts from 0. Laid end to end, the rows of all processes are a permutation; its argsort puts
    gathered results back in order.

    Args:
        lengths: how many tokens each document has, padding included, in order: [length] for one
            text, or for a pack that is cut without regard to its documents.
        rank: which process, from 0.
        ranks: how many there are.
        order: "zigzag" or "contiguous".
        like: an array whose library and device the result takes; NumPy without it.
    Returns:
        Shape (sum of lengths / ranks,), integers: rows of the pack.
    Raises:
        TypeError: a number is no integer.
        ValueError: a length cannot be cut into equal pieces, `rank` is none of them, or `order`
            is unknown.
    Example:
        >>> shard([4, 4], rank=0, ranks=2).tolist()
        [0, 3, 4, 7]
        >>> shard([8], rank=1, ranks=2, order="contiguous").tolist()
        [4, 5, 6, 7]

    Source: Megatron-LM, megatron/core/utils.py, get_batch_on_this_cp_rank.
    """
    _checks.integer("ranks", ranks, at_least=1)
    _checks.integer("rank", rank, at_least=0)
    if rank >= ranks:
        raise ValueError(f"`rank` must be below {ranks} (`ranks`); got rank={rank}.")
    _checks.one_of("order", order, ("zigzag", "contiguous"))
    pieces = 2 * ranks if order == "zigzag" else ranks
    own = (rank, pieces - 1 - rank) if order == "zigzag" else (rank,)
    rows, start = [], 0
    for length in lengths:
        _checks.integer("lengths", length, at_least=0)
        if length % pieces:
            raise ValueError(
                f"`lengths` must be multiples of {pieces}, because each document is cut into so "
                f"many equal pieces; got {length}. Pad it."
            )
        size = length // pieces
        rows += [start + piece * size + i for piece in own for i in range(size)]
        start += length
    return _integers(rows, like)


def after_cache(cached: Int[Array, "*rows"], length: int) -> Int[Array, "*rows length"]:
    """Positions of new tokens when each row has its own number of cached ones.

    positions[..., i] = cached + i

    Args:
        cached: how many tokens each row has already seen, any shape.
        length: how many new tokens each row gets.
    Returns:
        Shape of `cached` with one more axis, integers.
    Raises:
        TypeError: `cached` holds no integers, or `length` is none.
        ValueError: `length` is negative.
    Example:
        >>> after_cache(np.asarray([6, 2]), 3).tolist()
        [[6, 7, 8], [2, 3, 4]]
    """
    _checks.integer_positions("cached", cached)
    _checks.integer("length", length, at_least=0)
    xp, dtype = _arrays.namespace(cached), _arrays.widest_integer(cached)
    steps = xp.arange(length, dtype=dtype, device=_arrays.device(cached))
    return xp.astype(cached, dtype)[..., None] + steps


def grid(*sizes: int, like: Array | None = None) -> Int[Array, "cells axes"]:
    """Coordinates of every cell of a grid in raster order: the last axis runs fastest.

    For an image give rows, then columns: cell (row, column) stands at row * columns + column.

    Args:
        sizes: how many steps each axis has, the slowest first.
        like: an array whose library and device the result takes; NumPy without it.
    Returns:
        Shape (product of sizes, number of axes), integers.
    Raises:
        TypeError: a size is no integer.
        ValueError: a size is negative, or there is none.
    Example:
        >>> grid(2, 3).tolist()
        [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]
    """
    if not sizes:
        raise ValueError("`sizes` must name at least one axis, for example grid(rows, columns).")
    for size in sizes:
        _checks.integer("sizes", size, at_least=0)
    return _integers(np.indices(sizes).reshape(len(sizes), math.prod(sizes)).T, like)


def _has_tokens(name: str, x: Array) -> None:
    if x.ndim == 0:
        raise ValueError(f"`{name}` must have an axis of tokens; got a single number.")


def _integers(values: Any, like: Array | None) -> Array:
    if like is None:
        return np.asarray(values, dtype=np.int64)
    values = np.asarray(values, dtype=np.int64)
    return _arrays.constant(values, like=like, dtype=_arrays.widest_integer(like))
