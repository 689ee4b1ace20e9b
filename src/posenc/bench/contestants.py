"""Those who turn queries and keys: posenc's own ways, and other libraries where installed."""

from __future__ import annotations

import importlib.util
from abc import ABC, abstractmethod
from typing import Any, ClassVar

from posenc import rotary
from posenc.bench.measure import Call


class Contestant(ABC):
    """One way to turn queries and keys, for a head of `dim` features.

    A model computes `table` once for all its layers, and each layer calls `turn`.

    Args:
        rope: what to compute; base and layout are those of the case.
    """

    name: ClassVar[str]
    needs: ClassVar[str]
    """The package to import."""
    layouts: ClassVar[tuple[rotary.Layout, ...]] = ("half", "interleaved")
    tokens_first: ClassVar[bool] = False
    """Whether it wants (batch, length, heads, dim) instead of (batch, heads, length, dim)."""
    tabulates: ClassVar[bool] = False
    """Whether `table` makes cosines and sines, anew in each call."""
    longest: ClassVar[int] = 2**31
    """The last position that it has a table for."""
    judged: ClassVar[bool] = True
    """Whether its cosines and sines are its own, and not those of another contestant."""

    def __init__(self, rope: rotary.Rotary) -> None:
        self.rope = rope

    def table(self, positions: Any, like: Any) -> Any:
        """What to compute once for all layers, of positions one after another."""
        return self.rope.table(positions)

    @abstractmethod
    def turn(self, q: Any, k: Any, table: Any) -> Any:
        """Turned queries and keys."""

    def gradient(self, q: Any, k: Any, table: Any) -> Call:
        """The backward pass, ready to be called again and again."""
        import torch

        leaves = q.detach().requires_grad_(), k.detach().requires_grad_()
        turned = self.turn(leaves[0], leaves[1], table)
        gradients = (q, k)  # any numbers of the right shape
        return lambda: torch.autograd.grad(turned, leaves, gradients, retain_graph=True)


class _Kernel(Contestant):
    """The fused loops."""

    needs = "numba"
    judged = False

    def __init__(self, rope: rotary.Rotary) -> None:
        super().__init__(rope)
        self._module = module(rope)

    def table(self, positions: Any, like: Any) -> Any:
        return self._module.table(positions)


class _Fresh(_Kernel):
    """The kernel, its result in new memory."""

    name = "posenc, new memory"

    def turn(self, q: Any, k: Any, table: Any) -> Any:
        from posenc.torch import turning

        layout = self.rope.layout
        return turning.rotate(q, *table, layout=layout), turning.rotate(k, *table, layout=layout)


class _InPlace(_Kernel):
    """The kernel, over the memory of queries and keys."""

    name = "posenc, in place"

    def turn(self, q: Any, k: Any, table: Any) -> Any:
        from posenc.torch import turning

        layout = self.rope.layout
        return turning.rotate_(q, *table, layout=layout), turning.rotate_(k, *table, layout=layout)

    def gradient(self, q: Any, k: Any, table: Any) -> Call:
        """A gradient is turned back; its own memory may be used."""
        back = _back(table)
        return lambda: self.turn(q, k, back)


class _IntoOut(_Kernel):
    """The kernel, its result in memory that is there."""

    name = "posenc, into out"

    def __init__(self, rope: rotary.Rotary) -> None:
        super().__init__(rope)
        self._out: tuple[Any, Any] | None = None

    def turn(self, q: Any, k: Any, table: Any) -> Any:
        import torch

        from posenc.torch import turning

        if self._out is None:
            self._out = torch.empty_like(q), torch.empty_like(k)
        return tuple(
            turning.rotate(x, *table, layout=self.rope.layout, out=out)
            for x, out in zip((q, k), self._out, strict=True)
        )

    def gradient(self, q: Any, k: Any, table: Any) -> Call:
        """A gradient is turned back."""
        back = _back(table)
        return lambda: self.turn(q, k, back)


class _Module(Contestant):
    """The module, which keeps tables by the values of positions."""

    name = "posenc module"
    needs = "numba"

    def __init__(self, rope: rotary.Rotary) -> None:
        super().__init__(rope)
        self._module = module(rope)

    def table(self, positions: Any, like: Any) -> Any:
        return positions

    def turn(self, q: Any, k: Any, table: Any) -> Any:
        return self._module(q, k, table)


class _Formula(Contestant):
    """The formula, as NumPy, JAX and compiled models run it."""

    name = "posenc formula"
    needs = "torch"

    def turn(self, q: Any, k: Any, table: Any) -> Any:
        layout = self.rope.layout
        return rotary.turned(q, *table, layout=layout), rotary.turned(k, *table, layout=layout)


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
    """torchtune: a table of all positions, and rows of it."""

    name = "torchtune"
    needs = "torchtune"
    layouts = ("interleaved",)
    tokens_first = True
    longest = 2**18

    def __init__(self, rope: rotary.Rotary) -> None:
        super().__init__(rope)
        from torchtune.modules import (  # pyright: ignore[reportMissingImports]
            RotaryPositionalEmbeddings,
        )

        self._made = RotaryPositionalEmbeddings
        self._module: Any = None

    def table(self, positions: Any, like: Any) -> Any:
        last = int(positions[-1])
        if self._module is None or self._module.max_seq_len <= last:
            self._module = self._made(self.rope.dim, max_seq_len=last + 1, base=self.rope.base)
            self._module.rope_init()
        return positions[None]

    def turn(self, q: Any, k: Any, table: Any) -> Any:
        return self._module(q, input_pos=table), self._module(k, input_pos=table)


class _Timm(Contestant):
    """timm: the turn alone, since its tables are for pictures."""

    name = "timm"
    needs = "timm"
    layouts = ("interleaved",)
    judged = False

    def table(self, positions: Any, like: Any) -> Any:
        import torch

        cos, sin = (part.repeat_interleave(2, -1) for part in self.rope.table(positions))
        return torch.cat((sin, cos), -1).to(like.dtype)

    def turn(self, q: Any, k: Any, table: Any) -> Any:
        from timm.layers import apply_rot_embed_cat  # pyright: ignore[reportMissingImports]

        return apply_rot_embed_cat(q, table), apply_rot_embed_cat(k, table)


_ALL = (
    _InPlace,
    _IntoOut,
    _Fresh,
    _Module,
    _Formula,
    _Transformers,
    _TransformersCompiled,
    _RotaryEmbeddingTorch,
    _XTransformers,
    _Torchtune,
    _Timm,
)


def installed(layout: rotary.Layout) -> list[type[Contestant]]:
    """Those who can take part here, and turn pairs of this layout."""
    return [kind for kind in _ALL if layout in kind.layouts and found(kind.needs)]


def module(rope: rotary.Rotary) -> Any:
    """The module of posenc.torch."""
    from posenc.torch.rotary import Rotary

    return Rotary(dim=rope.dim, base=rope.base, layout=rope.layout)


def found(package: str) -> bool:
    """Whether a package can be imported."""
    return importlib.util.find_spec(package) is not None


def _back(table: Any) -> Any:
    cos, sin = table
    return cos, -sin
