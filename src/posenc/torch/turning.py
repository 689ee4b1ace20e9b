"""Queries and keys turned on tensors: by the fused loop where it may be used, else the formula.

In eager mode a CPU tensor goes straight to the loop; where gradients are wanted, or torch.compile
looks, it goes there through the operator `torch.ops.posenc.turn`. On other devices, in exported
programs and under vmap, grad and other transforms it is `posenc.rotary.rotate`, which PyTorch can
follow (and on a GPU compiles into one kernel).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from posenc import _arrays, _checks, rotary
from posenc.torch import loops, onnx
from posenc.torch.loops import plain


def rotate(
    x: Tensor, cos: Tensor, sin: Tensor, *, layout: rotary.Layout, out: Tensor | None = None
) -> Tensor:
    """Turn pairs of features by angles given as cosine and sine; features beyond them stay.

    Args:
        x: features last.
        cos: cosine for each pair, float32 or wider: shape (length, half), or as many axes as `x`
            has, each but the last equal or 1.
        sin: sine for each pair, the same shape.
        layout: "half" or "interleaved".
        out: where the result goes, of shape and dtype of `x`; `x` itself turns in place. No
            gradient passes: for that use `rotate_`, or no `out`.
    Returns:
        `out`, or a new tensor of shape and dtype of `x`. bfloat16 and float16 are turned in
        float32 and rounded once. Gradients are exact, also second ones.
    Raises:
        TypeError: `x` is no floating-point tensor.
        ValueError: shapes do not fit, `layout` is unknown, or `out` overlaps `x`.
        RuntimeError: `out` is given and a gradient is wanted.
    Example:
        >>> x = torch.tensor([[1.0, 0.0, 7.0]])
        >>> rotate(x, torch.zeros(1, 1), torch.ones(1, 1), layout="half")
        tensor([[0., 1., 7.]])

    Source: Su et al. 2021, arXiv:2104.09864, section 3.4.2.
    """
    way = _way(x, cos, sin, layout)
    if out is not None:
        return _into(out, x, cos, sin, layout, way)
    if way == "loop":
        return _turn(x, cos, sin, layout == "interleaved")
    if way == "operator":
        return torch.ops.posenc.turn(x, cos, sin, layout == "interleaved")
    if onnx.fits(x, cos):
        return onnx.rotate(x, cos, sin, layout=layout)
    return rotary.turned(x, cos, sin, layout=layout)


def rotate_(x: Tensor, cos: Tensor, sin: Tensor, *, layout: rotary.Layout) -> Tensor:
    """`rotate` in place: each number of `x` is read once and written once.

    Args:
        x: features last; changed. Gradients pass, as through PyTorch's own in-place functions.
        cos: see `rotate`.
        sin: see `rotate`.
        layout: "half" or "interleaved".
    Returns:
        `x`.
    Raises:
        TypeError: see `rotate`.
        ValueError: see `rotate`; or numbers of `x` share memory.
        RuntimeError: `x` is a leaf that wants a gradient.
    Example:
        >>> x = torch.tensor([[1.0, 0.0, 7.0]])
        >>> rotate_(x, torch.zeros(1, 1), torch.ones(1, 1), layout="half") is x
        True

    Source: Su et al. 2021, arXiv:2104.09864, section 3.4.2.
    """
    way = _way(x, cos, sin, layout)
    if way == "loop":
        return _turn_(x, cos, sin, layout == "interleaved")
    if way == "operator" and not torch.compiler.is_compiling():
        return _InPlace.apply(x, cos, sin, layout == "interleaved")
    return x.copy_(rotate(x, cos, sin, layout=layout))


def _into(
    out: Tensor, x: Tensor, cos: Tensor, sin: Tensor, layout: rotary.Layout, way: str
) -> Tensor:
    if torch.is_grad_enabled() and any(t.requires_grad for t in (x, cos, sin, out)):
        raise RuntimeError(
            "`out` must not be given where gradients are wanted, because none pass through it; "
            "leave it out, or use rotate_."
        )
    if out is x:
        return rotate_(x, cos, sin, layout=layout)
    if out.shape != x.shape or out.dtype != x.dtype:
        raise ValueError(
            f"`out` must have the shape and dtype of `x`, {tuple(x.shape)} and {x.dtype}; got "
            f"{tuple(out.shape)} and {out.dtype}."
        )
    if way != "loop" or not plain(out) or not _fits(out):
        return out.copy_(rotate(x, cos, sin, layout=layout))
    if _overlap(x, out):
        raise ValueError("`out` must be `x` itself or share no memory with it.")
    return _written(_run(x, out, cos, sin, layout == "interleaved"))


def _way(x: Tensor, cos: Tensor, sin: Tensor, layout: str) -> str:
    """Whether the formula, the operator or the bare loop turns these, which must fit."""
    if layout not in _LAYOUTS:
        _checks.one_of("layout", layout, _LAYOUTS)
    if not plain(x, cos, sin):
        _checks.pairs_fit(x, cos, sin)
        # A compiled program runs beside posenc; an exported one must run without it.
        compiling = torch.compiler.is_compiling() and not torch.compiler.is_exporting()
        fused = compiling and x.device.type == "cpu" and _fusable(x.dtype)
        return "operator" if fused and not _trained(cos, sin) else "formula"
    _fitting(x.dtype, x.shape, cos.shape, sin.shape)
    if not _fits(x) or _trained(cos, sin):
        return "formula"
    # Batched is what torch.autograd.grad(..., is_grads_batched=True) sends back through the graph.
    private: Any = torch._C
    wanted = x.requires_grad and torch.is_grad_enabled()
    batched = private._functorch.is_legacy_batchedtensor(x)
    return "operator" if wanted or batched else "loop"


_LAYOUTS = ("half", "interleaved")


def _trained(cos: Tensor, sin: Tensor) -> bool:
    return (cos.requires_grad or sin.requires_grad) and torch.is_grad_enabled()


@lru_cache(maxsize=1024)
def _fitting(dtype: torch.dtype, x: torch.Size, cos: torch.Size, sin: torch.Size) -> None:
    """`_checks.pairs_fit`, once for each kind of input."""
    if not dtype.is_floating_point:
        raise TypeError(f"`x` must hold floating-point numbers; got {dtype}.")
    _checks.pair_shapes_fit(tuple(x), tuple(cos), tuple(sin))


def _fits(x: Tensor) -> bool:
    return (
        x.dtype in loops.kinds()
        and (x.stride(-1) == 1 or x.shape[-1] == 1)
        and torch.autograd.forward_ad._current_level < 0
        and not x.is_neg()
    )


@_arrays.not_traced
def _fusable(dtype: torch.dtype) -> bool:
    return dtype in loops.kinds()


def _turn(x: Tensor, cos: Tensor, sin: Tensor, interleaved: bool) -> Tensor:
    return _run(x, torch.empty_like(x), cos, sin, interleaved)


def _turn_(x: Tensor, cos: Tensor, sin: Tensor, interleaved: bool) -> Tensor:
    if any(step == 0 and size > 1 for step, size in zip(x.stride(), x.shape, strict=True)):
        raise ValueError(
            "`x` must not be expanded to turn in place, because its numbers share memory; "
            f"got strides {x.stride()}. x.clone() has its own."
        )
    return _written(_run(x, x, cos, sin, interleaved))


def _run(x: Tensor, out: Tensor, cos: Tensor, sin: Tensor, interleaved: bool) -> Tensor:
    """Let the fused loop turn `x` into `out`."""
    if x.numel() == 0:
        return out
    turning = loops.turning()
    work = torch.float64 if x.dtype == torch.float64 else torch.float32
    cos, sin = _table(cos, work), _table(sin, work)
    turning.turn(
        x.data_ptr(),
        out.data_ptr(),
        cos.data_ptr(),
        sin.data_ptr(),
        turning.plan(x.shape, x.stride(), out.stride(), cos.shape),
        like=loops.kinds()[x.dtype],
        interleaved=interleaved,
        threads=torch.get_num_threads(),
    )
    return out


def _written(out: Tensor) -> Tensor:
    """Tell autograd, which did not see it, that something else stands here now."""
    if not out.is_inference():
        torch.autograd.graph.increment_version(out)
    return out


def _table(part: Tensor, work: torch.dtype) -> Tensor:
    return part if part.dtype == work and part.is_contiguous() else part.to(work).contiguous()


def _overlap(x: Tensor, out: Tensor) -> bool:
    size, start, other = x.element_size(), x.data_ptr(), out.data_ptr()
    return start < other + size * _reach(out.shape, out.stride()) and other < start + size * _reach(
        x.shape, x.stride()
    )


@lru_cache(maxsize=1024)
def _reach(shape: tuple[int, ...], strides: tuple[int, ...]) -> int:
    """How many numbers there are from the first to the last, with those between."""
    if 0 in shape:
        return 0
    return 1 + sum((n - 1) * step for n, step in zip(shape, strides, strict=True))


@torch.library.custom_op(
    "posenc::turn",
    mutates_args=(),
    device_types="cpu",
    schema="(Tensor x, Tensor cos, Tensor sin, bool interleaved) -> Tensor",
)
def _operator(x: Tensor, cos: Tensor, sin: Tensor, interleaved: bool) -> Tensor:
    """Out of place, for autograd and torch.compile."""
    if _fits(x):
        return _turn(x, cos, sin, interleaved)
    layout: rotary.Layout = "interleaved" if interleaved else "half"
    return torch.empty_like(x).copy_(rotary.turned(x, cos, sin, layout=layout))


@_operator.register_fake
def _(x: Tensor, cos: Tensor, sin: Tensor, interleaved: bool) -> Tensor:
    return torch.empty_like(x)


def _save(ctx: Any, inputs: tuple[Tensor, Tensor, Tensor, bool], output: Tensor) -> None:
    _, cos, sin, ctx.interleaved = inputs
    if any(ctx.needs_input_grad[1:3]):
        raise NotImplementedError("posenc::turn has no gradient for cos and sin; use rotate.")
    ctx.save_for_backward(cos, sin)


def _turn_back(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None, None]:
    """The gradient of a rotation is the rotation back."""
    cos, sin = ctx.saved_tensors
    layout: rotary.Layout = "interleaved" if ctx.interleaved else "half"
    return rotate(gradient, cos, -sin, layout=layout), None, None, None


_operator.register_autograd(_turn_back, setup_context=_save)


@_operator.register_vmap
def _(info: Any, in_dims: Any, x: Tensor, cos: Tensor, sin: Tensor, interleaved: bool) -> Any:
    axes = x.ndim - (in_dims[0] is not None)
    x = x.unsqueeze(0) if in_dims[0] is None else x.movedim(in_dims[0], 0)
    cos, sin = (
        _row_of_tables(part, axis, axes)
        for part, axis in zip((cos, sin), in_dims[1:3], strict=True)
    )
    x = x.expand(info.batch_size, *x.shape[1:])
    return torch.ops.posenc.turn(x, cos, sin, interleaved), 0


def _row_of_tables(part: Tensor, axis: int | None, axes: int) -> Tensor:
    """A table with as many axes as `x` and one in front, along which vmap counts."""
    part = part.unsqueeze(0) if axis is None else part.movedim(axis, 0)
    return part.reshape(part.shape[0], *[1] * (axes + 1 - part.ndim), *part.shape[1:])


class _InPlace(torch.autograd.Function):
    """The fused loop in place, where a gradient is wanted."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, cos: Tensor, sin: Tensor, interleaved: bool) -> Tensor:
        ctx.mark_dirty(x)
        ctx.save_for_backward(cos, sin)
        ctx.interleaved = interleaved
        return _turn_(x, cos, sin, interleaved)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None, None]:
        return _turn_back(ctx, *gradients)
