"""How other libraries turn queries and keys."""

from __future__ import annotations

from typing import Any

from posenc import rotary
from posenc.bench.contestant import Contestant


class _Transformers(Contestant):
    """What Llama does in Hugging Face transformers, and most of its models."""

    name = "transformers"
    needs = "transformers"
    tabulates = True
    layouts = ("half",)

    def __init__(self, rope: rotary.Rotary) -> None:
        super().__init__(rope)
        from transformers.models.llama import modeling_llama
        from transformers.models.llama.configuration_llama import LlamaConfig

        parameters = {"rope_type": "default", "rope_theta": rope.base}
        config = LlamaConfig(head_dim=rope.dim, rope_parameters=parameters)
        self._rotary = modeling_llama.LlamaRotaryEmbedding(config)
        self._apply: Any = modeling_llama.apply_rotary_pos_emb

    def table(self, positions: Any, like: Any) -> Any:
        return self._rotary(like, positions[None])

    def turn(self, q: Any, k: Any, table: Any) -> Any:
        return self._apply(q, k, *table)


class _TransformersCompiled(_Transformers):
    """The same under torch.compile, for this one shape: the most that a compiler can know."""

    name = "transformers compiled"
    tabulates = False
    judged = False

    def __init__(self, rope: rotary.Rotary) -> None:
        super().__init__(rope)
        import torch

        torch.compiler.reset()  # else the eighth shape would silently run eagerly
        self._apply = torch.compile(self._apply, dynamic=False)


class _RotaryEmbeddingTorch(Contestant):
    """rotary-embedding-torch: keeps angles, and takes their cosine and sine in every call."""

    name = "rotary-embedding-torch"
    needs = "rotary_embedding_torch"
    layouts = ("interleaved",)

    def __init__(self, rope: rotary.Rotary) -> None:
        super().__init__(rope)
        from rotary_embedding_torch import RotaryEmbedding

        self._module = RotaryEmbedding(dim=rope.dim, theta=int(rope.base))

    def table(self, positions: Any, like: Any) -> Any:
        return int(positions[0])

    def turn(self, q: Any, k: Any, table: Any) -> Any:
        return tuple(self._module.rotate_queries_or_keys(x, offset=table) for x in (q, k))


class _XTransformers(Contestant):
    """x-transformers: angles once, their cosine and sine in every call."""

    name = "x-transformers"
    needs = "x_transformers"
    layouts = ("interleaved",)

    def __init__(self, rope: rotary.Rotary) -> None:
        super().__init__(rope)
        from x_transformers import x_transformers  # pyright: ignore[reportMissingImports]

        self._module = x_transformers.RotaryEmbedding(rope.dim, base=rope.base)
        self._apply = x_transformers.apply_rotary_pos_emb

    def table(self, positions: Any, like: Any) -> Any:
        return self._module(positions)

    def turn(self, q: Any, k: Any, table: Any) -> Any:
        return self._apply(q, *table), self._apply(k, *table)


class _Torchtune(Contestant):
    """torchtune: a table of all positions that a model may meet, and rows of it."""

    name = "torchtune"
    needs = "torchtune"
    layouts = ("interleaved",)
    tokens_first = True
    longest = 2**17  # what its Llama 3.1 has a table for

    def __init__(self, rope: rotary.Rotary) -> None:
        super().__init__(rope)
        from torchtune.modules import (  # pyright: ignore[reportMissingImports]
            RotaryPositionalEmbeddings,
        )

        self._module = RotaryPositionalEmbeddings(rope.dim, self.longest, base=rope.base)

    def table(self, positions: Any, like: Any) -> Any:
        return positions[None]

    def turn(self, q: Any, k: Any, table: Any) -> Any:
        return self._module(q, input_pos=table), self._module(k, input_pos=table)


class _Timm(Contestant):
    """timm: the turn alone, since its tables are for pictures.

    The table has the dtype of what is turned, as in a model that was cast: so it is fastest.
    """

    name = "timm"
    needs = "timm"
    judged = False

    def __init__(self, rope: rotary.Rotary) -> None:
        super().__init__(rope)
        from timm.layers import apply_rot_embed_cat  # pyright: ignore[reportMissingImports]

        self._apply = apply_rot_embed_cat

    def table(self, positions: Any, like: Any) -> Any:
        import torch

        cos, sin = self.rope.table(positions)
        if self.rope.layout == "half":
            parts = sin, sin, cos, cos
        else:
            parts = (part.repeat_interleave(2, -1) for part in (sin, cos))
        return torch.cat(tuple(parts), -1).to(like.dtype)

    def turn(self, q: Any, k: Any, table: Any) -> Any:
        half = self.rope.layout == "half"
        return self._apply(q, table, half=half), self._apply(k, table, half=half)


LIBRARIES: tuple[type[Contestant], ...] = (
    _Transformers,
    _TransformersCompiled,
    _RotaryEmbeddingTorch,
    _XTransformers,
    _Torchtune,
    _Timm,
)
"""As reports list them, installed or not."""
