"""Distances squeezed so that long texts show a trained rotary model no distance it never met.

Each map gives the distance that a query and a key should be turned apart instead of their own.
Keys ahead of the query, which a causal mask hides, keep their own distance.

A map that treats near and far keys apart needs two score matrices (DualChunk: three), chosen
pair by pair before one softmax; keys must be cached before they are turned.
"""

from __future__ import annotations

from dataclasses import dataclass

from posenc import _arrays, _checks, distances
from posenc._arrays import Array, Float, Int


@dataclass(frozen=True, kw_only=True)
class SelfExtend:
    """Self-Extend: near keys keep their distance, far ones share one by groups.

    distance = i - j                                                   below `window`
    distance = i // group - j // group + window - window // group      from `window` on

    A model trained on L tokens reaches (L - window) * group + window.

    Args:
        group: how many far positions share one.
        window: from which distance on keys are far. Make it a multiple of `group`: the authors'
            code divides it without rounding, and would place keys between whole positions.
    Raises:
        TypeError: a field is no integer.
        ValueError: a field is below 1.
    Example:
        >>> import numpy as np
        >>> spec = SelfExtend(group=4, window=8)
        >>> spec.distances(np.asarray([20]), np.arange(21))[0].tolist()
        [11, 11, 11, 11, 10, 10, 10, 10, 9, 9, 9, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]

    Source: Jin et al. 2024, arXiv:2401.01325, section 3; datamllab/LongLM,
    self_extend_patch/Llama.py.
    """

    group: int
    window: int

    def __post_init__(self) -> None:
        _checks.integer("group", self.group, at_least=1)
        _checks.integer("window", self.window, at_least=1)

    def distances(
        self,
        query_positions: Int[Array, "*#batch queries"],
        key_positions: Int[Array, "*#batch keys"],
    ) -> Int[Array, "*batch queries keys"]:
        """The distance at which each query should see each key.

        Args:
            query_positions: where the queries stand, (*batch, queries).
            key_positions: where the keys stand, (*batch, keys).
        Returns:
            (*batch, queries, keys), integers.
        Raises:
            TypeError: positions are no arrays of integers.
            ValueError: positions do not fit each other, or one lies beyond 2**31.
        """
        near = distances.between(query_positions, key_positions)
        far = distances.between(
            _arrays.signed(query_positions) // self.group,
            _arrays.signed(key_positions) // self.group,
        )
        far = far + self.window - self.window // self.group
        return _arrays.namespace(near).where(near < self.window, near, far)


@dataclass(frozen=True, kw_only=True)
class Rerope:
    """Rectified RoPE: distances grow up to a window and then stop, or leak on slowly.

    distance = min(i - j, window)                            leak=None
    distance = i - j below `window`, then window + (i - j - window) / leak

    Args:
        window: the distance at which the growth stops.
        leak: how many tokens beyond the window count as one more (Leaky ReRoPE), or None.
    Raises:
        TypeError: a field has the wrong type.
        ValueError: `window` or `leak` is below 1.
    Example:
        >>> import numpy as np
        >>> spec, keys = Rerope(window=8, leak=4.0), np.asarray([13, 12, 8, 0])
        >>> spec.distances(np.asarray([20]), keys).tolist()
        [[7.0, 8.0, 9.0, 11.0]]

    Source: Su 2023, kexue.fm/archives/9708; bojone/rerope, rerope_patch.py and
    leaky_rerope_patch.py.
    """

    window: int
    leak: float | None = None

    def __post_init__(self) -> None:
        _checks.integer("window", self.window, at_least=1)
        if self.leak is not None:
            _checks.at_least("leak", self.leak, 1.0)

    def distances(
        self,
        query_positions: Int[Array, "*#batch queries"],
        key_positions: Int[Array, "*#batch keys"],
    ) -> Int[Array, "*batch queries keys"] | Float[Array, "*batch queries keys"]:
        """The distance at which each query should see each key.

        Args:
            query_positions: where the queries stand, (*batch, queries).
            key_positions: where the keys stand, (*batch, keys).
        Returns:
            (*batch, queries, keys); integers, or with a leak floats: float64 where the device
            has it, else float32.
        Raises:
            TypeError: positions are no arrays of integers.
            ValueError: positions do not fit each other, or one lies beyond 2**31.
        """
        distance = distances.between(query_positions, key_positions)
        xp = _arrays.namespace(distance)
        near = xp.where(distance < self.window, distance, self.window)
        if self.leak is None:
            return near
        wide = _arrays.widest_float(distance)
        return xp.astype(near, wide) + xp.astype(distance - near, wide) / self.leak


@dataclass(frozen=True, kw_only=True)
class DualChunk:
    """Dual chunk attention: exact within a chunk and close to its border, capped beyond.

    distance = i - j                                     j in the chunk of i
    distance = min(chunk + i % chunk, cap) - j % chunk   j in the chunk before
    distance = cap - j % chunk                           j farther back

    Distances do not fall steadily with j: each far chunk repeats the same ones.

    Args:
        chunk: tokens a chunk has.
        cap: the longest distance there is, at least `chunk`.
    Raises:
        TypeError: a field is no integer.
        ValueError: `chunk` is below 1, or `cap` below `chunk`.
    Example:
        >>> import numpy as np
        >>> spec = DualChunk(chunk=6, cap=9)
        >>> spec.distances(np.asarray([12]), np.arange(13))[0].tolist()
        [9, 8, 7, 6, 5, 4, 6, 5, 4, 3, 2, 1, 0]

    Source: An et al. 2024, arXiv:2402.17463, section 3; HKUNLP/ChunkLlama,
    chunkllama_attn_replace.py.
    """

    chunk: int
    cap: int

    def __post_init__(self) -> None:
        _checks.integer("chunk", self.chunk, at_least=1)
        _checks.integer("cap", self.cap, at_least=1)
        if self.cap < self.chunk:
            raise ValueError(
                "`cap` must be at least `chunk`, because the first token of a chunk stands that "
                f"far from the chunk before; got chunk={self.chunk}, cap={self.cap}."
            )

    @classmethod
    def paper(cls, length: int) -> DualChunk:
        """The constants of the paper for a model trained on `length` tokens.

        Example:
            >>> DualChunk.paper(4096)
            DualChunk(chunk=3072, cap=4095)

        Source: An et al. 2024, arXiv:2402.17463, section 3.
        """
        _checks.integer("length", length, at_least=4)
        return cls(chunk=3 * length // 4, cap=length - 1)

    @classmethod
    def released(cls, length: int) -> DualChunk:
        """The constants of the released code for a model trained on `length` tokens.

        Its first version had chunks of 5/8 of the length, later ones 11/16, as here.

        Example:
            >>> DualChunk.released(4096)
            DualChunk(chunk=2816, cap=3072)

        Source: HKUNLP/ChunkLlama, chunkllama_attn_replace.py, replace_with_chunkllama.
        """
        _checks.integer("length", length, at_least=4)
        cap = 3 * length // 4
        return cls(chunk=cap - length // 16, cap=cap)

    def distances(
        self,
        query_positions: Int[Array, "*#batch queries"],
        key_positions: Int[Array, "*#batch keys"],
    ) -> Int[Array, "*batch queries keys"]:
        """The distance at which each query should see each key.

        Args:
            query_positions: where the queries stand, (*batch, queries).
            key_positions: where the keys stand, (*batch, keys).
        Returns:
            (*batch, queries, keys), integers.
        Raises:
            TypeError: positions are no arrays of integers.
            ValueError: positions do not fit each other, or one lies beyond 2**31.
        """
        distance = distances.between(query_positions, key_positions)
        xp = _arrays.namespace(distance)
        queries, keys = _arrays.signed(query_positions), _arrays.signed(key_positions)
        chunks_back = distances.between(queries // self.chunk, keys // self.chunk)
        reach = xp.clip(self.chunk + queries % self.chunk, None, self.cap)
        reach = xp.where(chunks_back == 1, reach[..., :, None], self.cap)
        return xp.where(chunks_back < 1, distance, reach - (keys % self.chunk)[..., None, :])
