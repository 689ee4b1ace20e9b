"""A few recent tables and masks, found again by the values of the positions they were made from."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

import torch

Tensors = tuple[torch.Tensor, ...]


class Cache:
    """The most recent results of a function of settings and tensors.

    All layers of a model ask for the same table, so it is made once and found by the others. On
    the CPU it is found by value: whatever was written into the positions since, the answer is
    right. Elsewhere looking at values would wait for the device, so there it is found by the
    tensor itself and PyTorch's count of its changes; what a hand-written kernel writes into
    positions is not counted and needs a new tensor. Trained weights can change without being
    counted (`parameter.data.copy_`), so what is made of them elsewhere is not kept.

    It belongs to no module and keeps no lock: a change replaces all entries at once, so threads
    and forked processes see old ones or new ones, and at worst make a table twice.

    Args:
        entries: how many results are kept at most.
        size: how many bytes they have at most. A larger result is made anew each time.
    Example:
        >>> cache, positions = Cache(entries=2, size=1 << 20), torch.arange(4)
        >>> one, = cache.get("squares", (positions,), lambda: (positions**2,))
        >>> two, = cache.get("squares", (torch.arange(4),), lambda: (positions**2,))
        >>> one is two
        True
    """

    def __init__(self, *, entries: int, size: int) -> None:
        self.entries = entries
        self.size = size
        self._kept: tuple[_Entry, ...] = ()

    def get(
        self, settings: Hashable, tensors: Tensors, make: Callable[[], Tensors]
    ) -> tuple[torch.Tensor, ...]:
        """What `make()` returns, or returned for equal settings and tensors.

        Args:
            settings: everything besides `tensors` that the result depends on.
            tensors: the positions, masks and weights that it depends on.
            make: the function; it runs outside inference mode, so that what a run of inference
                leaves here serves a later step of training.
        Returns:
            Tensors that others read too: to be read only, or given away as `copy_on_write`. A
            write that PyTorch counts is noticed, and the next call makes them anew. While
            PyTorch traces or transforms, and where gradients flow to `tensors`, they are fresh
            and nothing is kept.
        """
        if not _keepable(tensors):
            return make()
        settings = (settings, *map(_queue, tensors))  # so of as many tensors
        entries = self._kept
        for entry in entries:
            if entry.settings == settings and entry.made_from(tensors):
                if not entry.intact():
                    break
                if entry is not entries[0]:
                    self._keep(entry)
                return entry.result
        with torch.inference_mode(False), torch.no_grad():
            inputs = tuple(map(_seen, tensors))  # before `make`: a write meanwhile must show
            result = make()
        self._keep(_Entry(settings, inputs, result))
        return result

    def clear(self) -> None:
        """Forget everything."""
        self._kept = ()

    def _keep(self, entry: _Entry) -> None:
        """`entry` first, then the others from new to old as long as there is room."""
        room, kept = self.size, []
        others = (other for other in self._kept if other is not entry and other.intact())
        for candidate in (entry, *others):
            room -= candidate.size
            if room < 0 or len(kept) == self.entries:
                break
            kept.append(candidate)
        self._kept = tuple(kept)


def copy_on_write(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor of the same values that shares memory until one of the two is written to.

    Some kernels ask for memory to write where they only read, and so make the copy: fit for
    tables, not for masks. While PyTorch traces or transforms, it is `tensor` itself.

    Example:
        >>> kept = torch.zeros(2)
        >>> copy_on_write(kept).add_(1.0), kept
        (tensor([1., 1.]), tensor([0., 0.]))
    """
    private: Any = torch
    return private._lazy_clone(tensor) if at_work(tensor) else tensor


class _Entry:
    """A result and what it was made of. (Loops: asked in each layer, where `all(...)` shows.)"""

    def __init__(
        self, settings: Hashable, inputs: tuple[_Copy | _Mark, ...], result: Tensors
    ) -> None:
        self.settings = settings
        self.inputs = inputs
        self.result = result
        self.versions = [tensor._version for tensor in result]
        copies = [seen.tensor for seen in inputs if isinstance(seen, _Copy)]
        self.size = sum(tensor.nbytes for tensor in (*result, *copies))  # bytes

    def made_from(self, tensors: Tensors) -> bool:
        """Whether these are the same inputs; there are as many."""
        for seen, tensor in zip(self.inputs, tensors):  # noqa: B905, SIM110
            if not seen.same(tensor):
                return False
        return True

    def intact(self) -> bool:
        """Whether nobody has written into the result."""
        for tensor, version in zip(self.result, self.versions):  # noqa: B905
            if tensor._version != version:
                return False
        return True


@dataclass(frozen=True)
class _Copy:
    """A tensor on the CPU as it was; others come with other settings (see `_queue`)."""

    tensor: torch.Tensor

    def same(self, other: torch.Tensor) -> bool:
        mine = self.tensor
        return mine.dtype == other.dtype and torch.equal(mine, other)


@dataclass(frozen=True)
class _Mark:
    """A tensor elsewhere, and how often it had changed."""

    tensor: weakref.ref[torch.Tensor]
    version: int

    def same(self, other: torch.Tensor) -> bool:
        return self.tensor() is other and self.version == other._version


def _seen(tensor: torch.Tensor) -> _Copy | _Mark:
    if tensor.is_cpu:
        return _Copy(tensor.detach().clone())
    return _Mark(weakref.ref(tensor), tensor._version)


def _keepable(tensors: Tensors) -> bool:
    """Whether a result can be kept: no trace, no transformation, no gradient, changes show."""
    if not at_work(*tensors):
        return False
    grad = torch.is_grad_enabled()
    for tensor in tensors:
        if grad and tensor.requires_grad:
            return False
        if not tensor.is_cpu and _unseen(tensor):
            return False
    return True


def _unseen(tensor: torch.Tensor) -> bool:
    """Whether a tensor of another device could change without being noticed."""
    return (
        isinstance(tensor, torch.nn.Parameter)
        or tensor.is_inference()  # does not count its changes
        # A captured graph is to compute again at each replay, from what then stands in memory.
        or (tensor.is_cuda and torch.cuda.is_current_stream_capturing())
    )


def at_work(*tensors: Any) -> bool:
    """Whether PyTorch computes with these tensors now: no trace, transformation or stand-in."""
    if torch.compiler.is_compiling():
        return False
    for tensor in tensors:  # a loop: asked for each token of each layer, `all(...)` shows
        if type(tensor) not in _OWN:
            return False
    return (
        _private._get_tracing_state() is None
        and _private._functorch.maybe_current_level() is None
        and _private._len_torch_dispatch_stack() == 0
        and _private._len_torch_function_stack() == 0
    )


_OWN = frozenset((torch.Tensor, torch.nn.Parameter))
_private: Any = torch._C


def _queue(tensor: torch.Tensor) -> Any:
    """Where the work on a tensor is queued: another stream would not wait for the result."""
    return torch.cuda.current_stream(tensor.device) if tensor.is_cuda else tensor.device
