"""Positions that queries and keys have a say in, as modules around the formulas' own functions."""

from __future__ import annotations

import torch

from posenc import bipe, cope, deberta, decomposed, shaw, transformer_xl
from posenc.torch.absolute import Absolute
from posenc.torch.encoding import Encoding


class Content(Encoding):
    """A score term that depends on queries and keys too.

    It goes with queries @ keys^T * scale, so scaled_dot_product_attention takes it as `attn_mask`
    with scale=module.scale. Keys to be hidden are filled with minus infinity after.
    """

    @property
    def scale(self) -> float:
        """The multiplier of queries . keys that the term goes with."""
        return self.spec.scale

    def forward(
        self,
        queries: torch.Tensor,
        keys: torch.Tensor,
        query_positions: torch.Tensor,
        key_positions: torch.Tensor,
        *,
        dtype: torch.dtype | None = None,
    ) -> torch.Tensor:
        """What to add to queries @ keys^T * scale.

        Args:
            queries: (*batch, heads, queries, dim).
            keys: (*batch, heads, keys, dim), as many heads as queries.
            query_positions: where the queries stand, (queries,) or (*batch, queries).
            key_positions: where the keys stand, (keys,) or (*batch, keys).
            dtype: of the result; that of `queries` by default.
        Returns:
            (*batch, heads, queries, keys).
        Raises:
            TypeError: vectors hold no floats, or positions no integers.
            ValueError: shapes do not fit each other.
        """
        places = query_positions, key_positions
        return self.spec.score_term(queries, keys, *places, **self.trained, dtype=dtype)


class TransformerXL(Content):
    """Transformer-XL's terms as a module; arguments as `posenc.TransformerXL` takes them.

    Example:
        >>> code = TransformerXL(heads=2, dim=4, model_dim=8, max_distance=16)
        >>> x, tokens = torch.randn(1, 2, 3, 4), torch.arange(3)
        >>> term = code(x, x, tokens, tokens)
        >>> attend = torch.nn.functional.scaled_dot_product_attention
        >>> attend(x, x, x, attn_mask=term, scale=code.scale).shape
        torch.Size([1, 2, 3, 4])
    """

    kind = transformer_xl.TransformerXL


class Deberta(Content):
    """Disentangled attention as a module; arguments as `posenc.Deberta` takes them.

    Example:
        >>> code, x = Deberta(heads=2, dim=4, max_distance=8), torch.randn(1, 2, 3, 4)
        >>> code(x, x, torch.arange(3), torch.arange(3)).shape
        torch.Size([1, 2, 3, 3])
    """

    kind = deberta.Deberta


class Cope(Content):
    """CoPE as a module; arguments as `posenc.Cope` takes them.

    Example:
        >>> code, x = Cope(dim=4, length=8), torch.randn(1, 2, 3, 4)
        >>> code(x, x, torch.arange(3), torch.arange(3)).shape
        torch.Size([1, 2, 3, 3])
    """

    kind = cope.Cope

    def forward(
        self,
        queries: torch.Tensor,
        keys: torch.Tensor,
        query_positions: torch.Tensor,
        key_positions: torch.Tensor,
        *,
        mask: torch.Tensor | None = None,
        dtype: torch.dtype | None = None,
    ) -> torch.Tensor:
        """What to add to queries @ keys^T * scale; the causal mask is still to be applied.

        Args:
            queries: (*batch, heads, queries, dim).
            keys: (*batch, heads, keys, dim), in the order of their positions.
            query_positions: where the queries stand, (queries,) or (*batch, queries).
            key_positions: where the keys stand, (keys,) or (*batch, keys).
            mask: true where a query may see a key, broadcastable to the result: padding and
                other documents must not be counted.
            dtype: of the result; that of `queries` by default.
        Returns:
            (*batch, heads, queries, keys).
        """
        places = query_positions, key_positions
        return self.spec.score_term(queries, keys, *places, **self.trained, mask=mask, dtype=dtype)


class _OfQueries(Content):
    """A score term that asks queries only."""

    def forward(  # pyright: ignore[reportIncompatibleMethodOverride]
        self,
        queries: torch.Tensor,
        query_positions: torch.Tensor,
        key_positions: torch.Tensor,
        *,
        dtype: torch.dtype | None = None,
    ) -> torch.Tensor:
        """What to add to queries @ keys^T * scale.

        Args:
            queries: (*batch, heads, queries, dim).
            query_positions: where the queries stand, (queries,) or (*batch, queries); on grids
                with row and column on one more axis.
            key_positions: where the keys stand, likewise.
            dtype: of the result; that of `queries` by default.
        Returns:
            (*batch, heads, queries, keys).
        Raises:
            TypeError: `queries` holds no floats, or positions no integers.
            ValueError: shapes do not fit each other.
        """
        places = query_positions, key_positions
        return self.spec.score_term(queries, *places, **self._of_scores(), dtype=dtype)

    def _of_scores(self) -> dict[str, torch.Tensor]:
        return self.trained


class Shaw(_OfQueries):
    """Relative position representations as a module; arguments as `posenc.Shaw` takes them.

    Example:
        >>> code, x = Shaw(dim=4, max_distance=2), torch.randn(1, 2, 3, 4)
        >>> probabilities = code(x, torch.arange(3), torch.arange(3)).softmax(-1)
        >>> code.value_term(probabilities, torch.arange(3), torch.arange(3)).shape
        torch.Size([1, 2, 3, 4])
    """

    kind = shaw.Shaw

    def value_term(
        self,
        probabilities: torch.Tensor,
        query_positions: torch.Tensor,
        key_positions: torch.Tensor,
        *,
        dtype: torch.dtype | None = None,
    ) -> torch.Tensor:
        """What to add to probabilities @ values.

        Args:
            probabilities: the softmax over keys, (*batch, heads, queries, keys).
            query_positions: where the queries stand, (queries,) or (*batch, queries).
            key_positions: where the keys stand, (keys,) or (*batch, keys).
            dtype: of the result; that of `probabilities` by default.
        Returns:
            (*batch, heads, queries, dim).
        Raises:
            ValueError: shapes do not fit each other, or the module has values=False.
        """
        table, places = self.trained.get("value_table"), (query_positions, key_positions)
        return self.spec.value_term(probabilities, *places, value_table=table, dtype=dtype)

    def _of_scores(self) -> dict[str, torch.Tensor]:
        return {"key_table": self.trained["key_table"]}


class Decomposed(_OfQueries):
    """Decomposed relative positions as a module; arguments as `posenc.Decomposed` takes them.

    Example:
        >>> from posenc import positions
        >>> code, cells = Decomposed(dim=4, grid=(2, 3)), positions.grid(2, 3, like=torch.zeros(0))
        >>> code(torch.randn(1, 2, 6, 4), cells, cells).shape
        torch.Size([1, 2, 6, 6])
    """

    kind = decomposed.Decomposed


class Bipe(Absolute):
    """Two levels of position as a module; arguments as `posenc.Bipe` takes them.

    Every method takes the number of the segment of each token in place of a position, as
    `posenc.bipe.segments` counts them.

    Example:
        >>> import posenc
        >>> code = Bipe(intra=posenc.Learned(length=8, dim=4), inter=posenc.Rotary(dim=2))
        >>> segments = torch.tensor([0, 0, 1])
        >>> code(torch.zeros(1, 3, 4), segments).shape
        torch.Size([1, 3, 4])
        >>> code.rotate(torch.randn(1, 2, 3, 2), segments).shape
        torch.Size([1, 2, 3, 2])
    """

    kind = bipe.Bipe

    @property
    def _dim(self) -> int:
        return self.spec.intra.dim

    def rotate(self, x: torch.Tensor, segments: torch.Tensor) -> torch.Tensor:
        """Queries or keys turned to their segments; see `posenc.Bipe.rotate`."""
        return self.spec.rotate(x, segments)

    def bias(
        self,
        query_segments: torch.Tensor,
        key_segments: torch.Tensor,
        *,
        dtype: torch.dtype | None = None,
    ) -> torch.Tensor:
        """What to add to the scores; see `posenc.Bipe.bias`."""
        return self.spec.bias(query_segments, key_segments, dtype=dtype)
