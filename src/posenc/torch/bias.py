"""What is added to attention scores, in the language of each attention: mask, score_mod, slopes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

import torch

from posenc import alibi, fire, kerple, sandwich, swin, t5
from posenc.torch import flex, masks
from posenc.torch.cache import Cache
from posenc.torch.encoding import Encoding

MASKS = Cache(entries=8, size=1 << 30)
"""The latest masks of all modules; `MASKS.clear()` frees them."""


class Bias(Encoding):
    """A bias of posenc as a module: for scaled_dot_product_attention and for flex_attention.

    The mask is kept for the next layer, so a model of any depth makes it once for each set of
    positions; see `posenc.torch.cache` for what counts as the same.
    """

    scale: ClassVar[float | None] = None
    """`scale` of scaled_dot_product_attention and flex_attention: None is their own default,
    1 / sqrt(head width)."""
    axes: ClassVar[int] = 0
    """How many axes a position itself has: none where it is a number."""

    def forward(
        self,
        query_positions: torch.Tensor,
        key_positions: torch.Tensor,
        *,
        keep: torch.Tensor | None = None,
        dtype: torch.dtype | None = None,
    ) -> torch.Tensor:
        """The mask for scaled_dot_product_attention, to be given with scale=module.scale.

        Args:
            query_positions: where the queries stand, (*batch, queries). A decoding step has one.
            key_positions: where the keys stand, (*batch, keys), cached ones first.
            keep: which keys may be seen (True), for padding (batch, keys), for packing and other
                masks (batch, queries, keys); batch may be 1, and there are as many batch axes
                as positions have, but at least one. A single row may be (keys,).
            dtype: of the result, that of the queries; float32 by default. The cast to it is the
                last step.
        Returns:
            (*batch, heads, queries, keys); minus infinity where a key is hidden. Equal calls
            share it (a copy for each layer would cost as much as its attention), so clone it
            before you write into it. A write is noticed: the next call makes the mask anew.
        Raises:
            TypeError: positions are no integers, or `keep` holds no booleans.
            ValueError: positions or `keep` do not fit, or a position lies beyond 2**31.
        Example:
            >>> mask = Alibi(heads=8)(torch.tensor([3]), torch.arange(4))
            >>> mask[0]
            tensor([[-1.5000, -1.0000, -0.5000,  0.0000]])
            >>> q, k = torch.ones(1, 8, 1, 16), torch.ones(1, 8, 4, 16)
            >>> torch.nn.functional.scaled_dot_product_attention(q, k, k, attn_mask=mask).shape
            torch.Size([1, 8, 1, 16])
        """
        weights = self.trained
        given, visible = (query_positions, key_positions), None
        if keep is not None:
            visible = _visible(keep, *given, axes=self.axes)
            given = (*given, keep)

        def make() -> tuple[torch.Tensor, ...]:
            with flex.full_precision(query_positions):
                mask = self._mask(query_positions, key_positions, dtype)
            return (mask if visible is None else torch.where(visible, mask, -math.inf),)

        (mask,) = MASKS.get((self.spec, dtype), (*given, *weights.values()), make)
        return mask

    def score_mod(
        self,
        query_positions: torch.Tensor | None = None,
        key_positions: torch.Tensor | None = None,
    ) -> Callable[..., torch.Tensor]:
        """The bias as a function for flex_attention, which makes no mask at all.

        flex_attention(q, k, v, score_mod=module.score_mod(), scale=module.scale). A causal bias
        hides keys by itself; `block_mask` besides saves the work on them, and hides padding.

        Args:
            query_positions: where the queries stand, (queries,) or (batch, queries); by default
                each at its index. A decoding step needs them.
            key_positions: where the keys stand, (keys,) or (batch, keys); likewise.
        Returns:
            A function of (score, batch, head, query index, key index).
        Raises:
            TypeError: positions are no integers.
            ValueError: positions have another number of axes.
        Example:
            >>> add = Alibi(heads=8).score_mod(query_positions=torch.tensor([3]))
            >>> none, second = torch.tensor(0), torch.tensor(1)
            >>> add(torch.tensor(0.25), none, second, none, second)
            tensor(-0.2500)
        """
        score = self._score()
        query_place = self._place("query_positions", query_positions)
        key_place = self._place("key_positions", key_positions)

        def modify(
            value: torch.Tensor,
            batch: torch.Tensor,
            head: torch.Tensor,
            query: torch.Tensor,
            key: torch.Tensor,
        ) -> torch.Tensor:
            return value + score(query_place(batch, query), key_place(batch, key), head)

        return modify

    def _mask(
        self, queries: torch.Tensor, keys: torch.Tensor, dtype: torch.dtype | None
    ) -> torch.Tensor:
        """The bias of all heads, queries and keys."""
        return self.spec.bias(queries, keys, **self.trained, dtype=dtype)

    def _score(self) -> flex.Score:
        """The bias of one pair and head."""
        weights = self.trained
        return lambda query, key, head: self.spec.score(query, key, head, **weights)

    def _place(self, name: str, positions: torch.Tensor | None) -> flex.Place:
        """Where a token stands."""
        return flex.place(name, positions)


class Alibi(Bias):
    """ALiBi as a module; arguments as `posenc.Alibi` takes them.

    Example:
        >>> Alibi(heads=4)
        Alibi(Alibi(heads=4, rule='paper', direction='causal', factor=1.0, exponent=8.0))
    """

    kind = alibi.Alibi

    def _mask(
        self, queries: torch.Tensor, keys: torch.Tensor, dtype: torch.dtype | None
    ) -> torch.Tensor:
        return masks.alibi_mask(self.spec, queries, keys, dtype)

    def slopes(self, device: Any = None) -> torch.Tensor:
        """`alibi_slopes` of flash-attention.

        It adds -slope * |i + keys - queries - j| to the score of query i and key j: so the last
        query stands at the last key, and direction="causal" needs causal=True besides.

        Args:
            device: of the result.
        Returns:
            (heads,), float32, which flash-attention asks for whatever the dtype of the queries.
        Raises:
            ValueError: direction="asymmetric": its half token cannot be said in slopes.
        Example:
            >>> Alibi(heads=2).slopes()
            tensor([0.0625, 0.0039])
        """
        if self.spec.direction == "asymmetric":
            raise ValueError(
                "`direction` must be 'causal' or 'symmetric' for flash-attention, because it "
                "multiplies slopes with whole distances; got direction='asymmetric'."
            )
        return torch.tensor(self.spec.slopes, dtype=torch.float32, device=device)


class T5(Bias):
    """T5's buckets as a module; arguments as `posenc.T5` takes them.

    T5 does not divide scores by sqrt(head width), so `scale` is 1. A stack of layers shares one
    module: encoder and decoder have one each.

    Example:
        >>> code = T5(heads=4)
        >>> code.table.shape, code.scale
        (torch.Size([32, 4]), 1.0)
    """

    kind = t5.T5
    scale = 1.0

    def _mask(
        self, queries: torch.Tensor, keys: torch.Tensor, dtype: torch.dtype | None
    ) -> torch.Tensor:
        return masks.t5_mask(self.spec, queries, keys, self.get_parameter("table"), dtype)


class Kerple(Bias):
    """KERPLE as a module; arguments as `posenc.Kerple` takes them.

    Example:
        >>> sorted(Kerple(heads=4).state_dict())
        ['r1', 'r2']
    """

    kind = kerple.Kerple


class Fire(Bias):
    """FIRE as a module; arguments as `posenc.Fire` takes them.

    Example:
        >>> Fire(heads=4)(torch.arange(5), torch.arange(7)).shape
        torch.Size([4, 5, 7])
    """

    kind = fire.Fire

    def _score(self) -> flex.Score:
        return flex.fire_score(self.spec, self.trained)


class Sandwich(Bias):
    """Sandwich as a module; arguments as `posenc.Sandwich` takes them.

    Example:
        >>> Sandwich(heads=4)(torch.tensor([9]), torch.arange(10)).shape
        torch.Size([4, 1, 10])
    """

    kind = sandwich.Sandwich

    def _score(self) -> flex.Score:
        return flex.sandwich_score(self.spec)


class _Window(Bias):
    """A bias for the cells of a window, whose positions are rows and columns."""

    axes = 1

    def _score(self) -> flex.Score:
        return flex.window_score(self.spec, self.trained)

    def _place(self, name: str, positions: torch.Tensor | None) -> flex.Place:
        return flex.cell_place(name, positions, columns=self.spec.window[1])


class Swin(_Window):
    """Swin's table as a module; arguments as `posenc.Swin` takes them.

    Positions are rows and columns, (..., tokens, 2). `score_mod` takes tokens for the cells of
    the window in raster order where none are given.

    Example:
        >>> from posenc import positions
        >>> cells = positions.grid(2, 3, like=torch.empty(0))
        >>> Swin(heads=4, window=(2, 3))(cells, cells).shape
        torch.Size([4, 6, 6])
    """

    kind = swin.Swin


class SwinV2(_Window):
    """Swin V2's network as a module; arguments as `posenc.SwinV2` takes them.

    Positions are as for `Swin`. Its scores are cosine similarities times exp(logit scale): give
    the attention normalised queries and keys, one of them times that factor, and scale=1.

    Example:
        >>> from posenc import positions
        >>> cells = positions.grid(2, 3, like=torch.empty(0))
        >>> SwinV2(heads=4, window=(2, 3))(cells, cells).shape
        torch.Size([4, 6, 6])
    """

    kind = swin.SwinV2
    scale = 1.0


def _visible(
    keep: torch.Tensor, query_positions: torch.Tensor, key_positions: torch.Tensor, *, axes: int
) -> torch.Tensor:
    """`keep` with an axis for heads, and one for queries where it has none."""
    if not isinstance(keep, torch.Tensor) or keep.dtype != torch.bool:
        came = getattr(keep, "dtype", type(keep).__name__)
        raise TypeError(f"`keep` must hold booleans, True where a key may be seen; got {came}.")
    *query_rows, queries = query_positions.shape[: query_positions.ndim - axes]
    *key_rows, keys = key_positions.shape[: key_positions.ndim - axes]
    rows = max(len(query_rows), len(key_rows), 1)
    if keep.ndim == rows + 1 or keep.ndim == rows == 1:
        fits, visible = keep.shape[-1] == keys, keep[..., None, None, :]
    else:
        fits = keep.ndim == rows + 2 and tuple(keep.shape[-2:]) == (queries, keys)
        visible = keep[..., None, :, :] if fits else keep
    for given in query_rows, key_rows:
        pairs = zip(reversed(visible.shape[:-3]), reversed(given), strict=False)
        # No `in`: torch.compile answers it wrongly for sizes that are symbols.
        fits = fits and all(one == other or one == 1 or other == 1 for one, other in pairs)
    if not fits:
        raise ValueError(
            "`keep` must have shape (*batch, keys) for padding or (*batch, queries, keys), with "
            f"{rows} batch axes; got {tuple(keep.shape)} for query positions of shape "
            f"{tuple(query_positions.shape)} and key positions of shape "
            f"{tuple(key_positions.shape)}. One mask for all rows is keep[None]."
        )
    return visible
