"""Guesses about matrices of queries and keys: ALiBi, T5 and T5's bucket numbers."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from posenc import mistakes
from posenc.alibi import Alibi
from posenc.identification.identity import Guess
from posenc.identification.single import alibi_guess
from posenc.identification.trial import compared
from posenc.t5 import T5

_MOST = 2**21  # numbers that are compared
_MASK = -5e3  # the steepest slope, 1 by mistake, falls to minus the length: 1448 at most


def guesses(bias: np.ndarray) -> list[Guess]:
    """Guesses about a bias, in no order.

    Args:
        bias: (heads, length, length); minus infinity, or a number as low as no bias, is a mask.
    """
    heads, length, keys = bias.shape
    if length != keys or length < 3:
        return []
    length = min(length, int((_MOST / heads) ** 0.5))
    bias = bias[:, :length, :length]
    seen = bias > _MASK
    return [*_alibi(bias, seen), *_t5(bias, seen), *_buckets(bias)]


def row_guesses(rows: np.ndarray) -> Iterator[Guess]:
    """Guesses about one row a head, as BLOOM and MPT make it: the bias of the last query.

    Args:
        rows: (heads, keys).
    """
    heads, keys = rows.shape
    encoding, sign = Alibi(heads=heads), mistakes.named("sign of the bias")
    moved = mistakes.named("rows moved by a constant")
    for mistake in (None, *(m for m in mistakes.of(encoding) if m.step == "slopes" and m != sign)):
        slopes = np.asarray(encoding.slopes)
        slopes = slopes if mistake is None else mistake.wrong(slopes, encoding)
        for distances, other in ((np.arange(keys)[::-1], mistake), (-np.arange(keys), moved)):
            residual, scale = compared(rows, -slopes[:, None] * distances)
            if scale > 0 and (mistake is None or other is mistake):
                yield alibi_guess(encoding, "bias of the last query", residual, other, scale)


def _alibi(bias: np.ndarray, seen: np.ndarray) -> Iterator[Guess]:
    heads, length, _ = bias.shape
    ahead = np.triu(np.ones((length, length), dtype=bool), 1)
    masked = not np.any(bias[seen & ahead])
    for direction in ("causal",) if masked else ("symmetric", "asymmetric", "causal"):
        encoding = Alibi(heads=heads, direction=direction)
        for mistake in (None, *mistakes.of(encoding)):
            made = mistakes.numbers(encoding, np.arange(length), mistake)
            both = seen & np.isfinite(made)
            residual, scale = compared(bias[both], made[both])
            if scale > 0:
                yield alibi_guess(encoding, "bias", residual, mistake, scale)


def _t5(bias: np.ndarray, seen: np.ndarray) -> Iterator[Guess]:
    """T5 by what its biases share: all pairs of one bucket have the same one."""
    heads, length, _ = bias.shape
    total = np.std(bias[seen])
    if len(np.unique(bias[0][seen[0]])) < 6:
        return
    for encoding in _t5_settings(heads):
        bucket = mistakes.numbers(encoding, np.arange(length)).astype(int)
        used = len(np.unique(bucket))
        distances = 2 * length - 1 if encoding.bidirectional else length
        if distances < used + 4:
            continue  # hardly a bucket with two distances: any bias of the gap would fit
        left = [_within(head[mask], bucket[mask]) for head, mask in zip(bias, seen, strict=True)]
        residual = float(np.sqrt(np.mean(left)) / total)
        # Finer buckets would fit as well: the coarsest that fit are believed.
        yield Guess(spec=encoding, form="bias", residual=residual, oddity=2 + used)


def _within(values: np.ndarray, bucket: np.ndarray) -> float:
    """The variance of values around the mean of their bucket."""
    count = np.maximum(np.bincount(bucket), 1)
    means = np.bincount(bucket, weights=values) / count
    return float(np.mean((values - means[bucket]) ** 2))


def _buckets(bias: np.ndarray) -> Iterator[Guess]:
    if len(bias) > 1 or not np.array_equal(bias, np.rint(bias)) or bias.min() < 0:
        return
    for encoding in _t5_settings(1):
        for mistake in (None, *mistakes.of(encoding)):
            made = mistakes.numbers(encoding, np.arange(bias.shape[1]), mistake)
            residual = np.sqrt(np.sum((bias[0] - made) ** 2) / (np.sum(bias**2) or 1.0))
            yield Guess(
                spec=encoding,
                form="bucket numbers",
                residual=float(residual),
                mistake=mistake,
                oddity=int(mistake is not None),
            )


def _t5_settings(heads: int) -> Iterator[T5]:
    """Settings that published models have, the most common ones first."""
    for far, buckets, both in itertools.product((128, 256, 64, 800), (32, 64, 320), (True, False)):
        if far > buckets // 2:
            yield T5(heads=heads, buckets=buckets, max_distance=far, bidirectional=both)
