"""Masks of ALiBi and T5 on a CPU: made by the fused loops where they may be, else by the spec."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from posenc import _checks, alibi, attention, distances, t5
from posenc.torch.loops import kinds, plain


def alibi_mask(
    spec: alibi.Alibi, queries: Tensor, keys: Tensor, dtype: torch.dtype | None
) -> Tensor:
    """`spec.bias`, in one pass over its memory.

    Example:
        >>> alibi_mask(alibi.Alibi(heads=1), torch.tensor([2]), torch.arange(3), None)[0, 0]
        tensor([-0.0078, -0.0039,  0.0000])
    """
    like = kinds().get(dtype or torch.float32) if plain(queries, keys) else None
    if like is None or dtype == torch.float64:
        return spec.bias(queries, keys, dtype=dtype)
    from posenc.kernels import biases

    slopes = np.asarray(spec.slopes, dtype=np.float64)
    rows, mask = _rows(queries, keys, spec.heads, dtype or torch.float32, torch.float64)
    biases.alibi(
        *rows,
        slopes,
        mask.data_ptr(),
        like=like,
        direction=biases.DIRECTIONS[spec.direction],
        threads=torch.get_num_threads(),
    )
    return mask


def t5_mask(
    spec: t5.T5, queries: Tensor, keys: Tensor, table: Tensor, dtype: torch.dtype | None
) -> Tensor:
    """`spec.bias` of a table that gets no gradient, in one pass over its memory.

    Example:
        >>> table = torch.arange(32.0)[:, None]
        >>> t5_mask(t5.T5(heads=1), torch.tensor([2]), torch.arange(3), table, None)[0, 0]
        tensor([2., 1., 0.])
    """
    like = kinds().get(dtype or torch.float32) if plain(queries, keys, table) else None
    far = spec.edges[-1]  # all that is further shares a bucket
    trained = table.requires_grad and torch.is_grad_enabled()
    # Values for all distances up to there are no help if they are more than the mask has.
    if like is None or trained or far > queries.shape[-1:].numel() * keys.shape[-1:].numel():
        return spec.bias(queries, keys, table=table, dtype=dtype)
    from posenc.kernels import biases

    attention.check_weight("table", table, spec.weights["table"], like=queries)
    mask_dtype = dtype or torch.float32
    buckets = _buckets(spec.edges, spec.bidirectional)
    values = table.detach()[buckets].T.to(mask_dtype).contiguous()
    bits = values.view(_INTEGERS[values.element_size()]).numpy()
    rows, mask = _rows(queries, keys, spec.heads, mask_dtype, torch.int64)
    biases.by_distance(
        *rows,
        bits.view(like.dtype),
        mask.data_ptr(),
        like=like,
        threads=torch.get_num_threads(),
    )
    return mask


@lru_cache(maxsize=2)
def _buckets(edges: tuple[int, ...], bidirectional: bool) -> Tensor:
    """The bucket of each distance up to the first that all further ones share one with."""
    distance = torch.arange(-edges[-1], edges[-1] + 1)
    return t5.bucket(distance, edges, bidirectional=bidirectional)


_INTEGERS = {2: torch.int16, 4: torch.int32, 8: torch.int64}


def _rows(
    queries: Tensor, keys: Tensor, heads: int, dtype: torch.dtype, work: torch.dtype
) -> tuple[tuple[np.ndarray, np.ndarray], Tensor]:
    """Positions as (batch, tokens) in the dtype `work`, and memory for the mask."""
    distances.check_axes(queries, keys)
    _checks.integer_positions("query_positions", queries)
    _checks.integer_positions("key_positions", keys)
    batch = torch.broadcast_shapes(queries.shape[:-1], keys.shape[:-1])
    rows = [
        positions.expand(*batch, positions.shape[-1]).reshape(batch.numel(), positions.shape[-1])
        for positions in (queries, keys)
    ]
    one, other = (row.to(work).contiguous().numpy() for row in rows)
    mask = torch.empty((*batch, heads, queries.shape[-1], keys.shape[-1]), dtype=dtype)
    return (one, other), mask
