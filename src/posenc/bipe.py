"""Two levels of position: where in its segment a token stands, and in which segment (BiPE)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from posenc import _arrays, _checks, attention, positions
from posenc._arrays import Array, Bool, Float, Int


@dataclass(frozen=True, kw_only=True)
class Bipe:
    """Bilevel positional encoding: the place in a segment, and the number of the segment.

    embeddings + intra.encode(position within the segment)
    inter.rotate(queries, segment), or scores + inter.bias(segment, segment)

    Segments are sentences: see `segments`. Every method takes the segment of each token.

    Args:
        intra: an absolute encoding; the authors learn a table.
        inter: a rotary encoding or a bias.
        intra_length: how many positions of a segment are told apart, the last one standing for
            all further ones (1024 in the released models); None for all.
        bias_factor: what `inter.bias` is multiplied with; 96 in the released BiPE-ALiBi, because
            segments are fewer than tokens.
    Raises:
        TypeError: a field has the wrong type.
        ValueError: a field has no valid value.
    Example:
        >>> from posenc import Rotary, Sinusoidal
        >>> spec = Bipe(intra=Sinusoidal(dim=8), inter=Rotary(dim=4))
        >>> spec.encode(np.asarray([0, 0, 0, 1, 1])).shape
        (5, 8)

    Source: He et al. 2024, arXiv:2401.16421, section 3; zhenyuhe00/BiPE,
    my_modeling_llama_bipe_rope.py and my_modeling_llama_bipe_alibi.py.
    """

    intra: Any
    inter: Any
    intra_length: int | None = None
    bias_factor: float = 1.0

    def __post_init__(self) -> None:
        if not hasattr(self.intra, "encode"):
            raise TypeError(
                "`intra` must be an absolute encoding, for example Sinusoidal(dim=512); "
                f"got {self.intra!r}."
            )
        if not hasattr(self.inter, "rotate") and not hasattr(self.inter, "bias"):
            raise TypeError(
                "`inter` must be a rotary encoding or a bias, for example Rotary(dim=64); "
                f"got {self.inter!r}."
            )
        if self.intra_length is not None:
            _checks.integer("intra_length", self.intra_length, at_least=1)
        _checks.positive("bias_factor", self.bias_factor)

    @property
    def weights(self) -> dict[str, tuple[int, ...]]:
        """The trained arrays of `intra`: name and shape."""
        return getattr(self.intra, "weights", {})

    def initial_weights(self, seed: int = 0) -> dict[str, np.ndarray]:
        """Fresh arrays for `intra`."""
        return self.intra.initial_weights(seed) if self.weights else {}

    def encode(
        self, segments: Int[Array, "*rows length"], *, dtype: Any = None, **weights: Array
    ) -> Float[Array, "*rows length dim"]:
        """The vector of each token's position within its segment, added to its embedding.

        Args:
            segments: the number of the segment of each token, whole rows. A decoding step that
                has but the last token knows its position and asks `intra` itself.
            dtype: of the result; float32 by default.
            weights: the arrays that `weights` tells, by name.
        Returns:
            Shape of `segments` with one more axis of features.
        Raises:
            TypeError: `segments` is no array of integers, or weights are missing or unknown.
        Example:
            >>> from posenc import Rotary, Sinusoidal
            >>> spec = Bipe(intra=Sinusoidal(dim=4), inter=Rotary(dim=4))
            >>> vectors = spec.encode(np.asarray([0, 0, 0, 1, 1]))
            >>> bool((vectors[3:] == vectors[:2]).all())
            True

        Source: He et al. 2024, arXiv:2401.16421, section 3.2.
        """
        _checks.integer_positions("segments", segments)
        within = positions.from_documents(segments)
        if self.intra_length is not None:
            last = self.intra_length - 1
            within = _arrays.namespace(within).where(within < last, within, last)
        return self.intra.encode(within, dtype=dtype, **weights)

    def rotate(
        self, x: Float[Array, "*batch dim"], segments: Int[Array, "*tokens"]
    ) -> Float[Array, "*batch dim"]:
        """Queries or keys, turned to the segments of their tokens.

        Args:
            x: queries or keys, features last.
            segments: the number of the segment of each token, shaped like the positions that
                `inter.rotate` takes.
        Returns:
            Shape and dtype of `x`.
        Raises:
            TypeError: `inter` is a bias, `x` no floating-point array or `segments` no integers.
            ValueError: `segments` does not fit `x`.
        Example:
            >>> from posenc import Rotary, Sinusoidal
            >>> spec = Bipe(intra=Sinusoidal(dim=4), inter=Rotary(dim=4))
            >>> turned = spec.rotate(np.ones((3, 4)), np.asarray([0, 0, 1]))
            >>> bool((turned[0] == turned[1]).all()), bool((turned[1] == turned[2]).all())
            (True, False)
        """
        _can(self.inter, "rotate")
        _checks.integer_positions("segments", segments)
        return self.inter.rotate(x, segments)

    def bias(
        self,
        query_segments: Int[Array, "*#batch queries"],
        key_segments: Int[Array, "*#batch keys"],
        *,
        dtype: Any = None,
    ) -> Float[Array, "*batch heads queries keys"]:
        """What to add to the scores. It hides no key of the query's own segment.

        Args:
            query_segments: the number of the segment of each query, (*batch, queries).
            key_segments: the number of the segment of each key, (*batch, keys).
            dtype: of the result; float32 by default. The cast to it is the last step.
        Returns:
            (*batch, heads, queries, keys).
        Raises:
            TypeError: `inter` is a rotary encoding, or segments are no integers.
            ValueError: segments do not fit each other.
        Example:
            >>> from posenc import Sinusoidal
            >>> from posenc.alibi import Alibi
            >>> spec = Bipe(intra=Sinusoidal(dim=4), inter=Alibi(heads=8), bias_factor=96.0)
            >>> spec.bias(np.asarray([2]), np.asarray([0, 1, 1, 2]))[0].tolist()
            [[-96.0, -48.0, -48.0, 0.0]]
        """
        _can(self.inter, "bias")
        xp = _arrays.namespace(query_segments)
        wide = _arrays.widest_float(query_segments)
        bias = self.inter.bias(query_segments, key_segments, dtype=wide) * self.bias_factor
        return xp.astype(bias, xp.float32 if dtype is None else dtype)


def segments(
    ends: Bool[Array, "*rows length"] | Int[Array, "*rows length"],
) -> Int[Array, "*rows length"]:
    """The number of the segment of each token, from the tokens that end one.

    segment = number of ends before the token; an end still belongs to the segment it ends

    Args:
        ends: true or 1 at full stops, line feeds or whatever ends a segment.
    Returns:
        Shape of `ends`, integers from 0 on.
    Raises:
        TypeError: `ends` holds neither booleans nor integers.
    Example:
        >>> segments(np.asarray([0, 0, 1, 0, 1, 0])).tolist()
        [0, 0, 0, 1, 1, 2]

    Source: zhenyuhe00/BiPE, my_modeling_llama_bipe_rope.py, get_bilevel_ids.
    """
    _arrays.namespace(ends)
    if not (_arrays.is_bool(ends) or _arrays.is_integer(ends)):
        raise TypeError(f"`ends` must hold booleans or integers; got {ends.dtype}.")
    counts = attention.whole(ends if _arrays.is_bool(ends) else ends != 0)
    return _arrays.running_sum(counts) - counts


def _can(inter: Any, method: str) -> None:
    if not hasattr(inter, method):
        raise TypeError(
            f"`inter` must be an encoding with `{method}` for this; got {type(inter).__name__}."
        )
