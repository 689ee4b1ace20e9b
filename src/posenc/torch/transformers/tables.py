"""The module in the place of a model's rotary module, proved against it before it is put in."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from posenc import AxialRotary, DynamicNTK, LongRope, MRotary
from posenc.inspector import Use
from posenc.rotary import Precision
from posenc.torch.cache import Cache
from posenc.torch.transformers import forms
from posenc.torch.transformers.forms import Form

NEAR = (0, 1, 2, 7, 63)
"""Positions at which tables are compared, beside the last one that the model is meant for."""

_TABLES = Cache(entries=8, size=128 << 20)


@dataclass(frozen=True, kw_only=True)
class Found:
    """A rotary module of a model, and what it was proved to compute.

    Args:
        name: where it stands in the model.
        module: itself.
        config: the settings that it was made from.
        uses: the encoding of each layer type.
        form: how it returns them.
    """

    name: str
    module: torch.nn.Module
    config: Any
    uses: Mapping[str, Use]
    form: Form


class Table(torch.nn.Module):
    """Cosines and sines from posenc, returned as the model's own module returned its own.

    They are float32 at least, also where the model is bfloat16: the function that turns rounds
    once, after turning.

    Args:
        found: the model's own module.
        uses: the encoding of each layer type; of the type "" where the model tells none apart.
        precision: see `posenc.Rotary.table`.
        rounded: whether to cast them to the model's dtype as its own module did, because its own
            code turns with them.
    """

    def __init__(
        self,
        found: Found,
        uses: Mapping[str, Use],
        precision: Precision,
        *,
        rounded: bool = False,
    ) -> None:
        super().__init__()
        for name, value in vars(found.module).items():
            if not name.startswith("_"):  # models look at its layer_types, or at its config
                setattr(self, name, value)
        self.uses = dict(uses)
        self.form = found.form
        self.precision: Precision = precision
        self.rounded = rounded

    def forward(
        self, x: torch.Tensor, position_ids: torch.Tensor, layer_type: str | None = None
    ) -> Any:
        """The table of these positions; `x` gives device and dtype only."""
        use = self.uses[layer_type or ""]
        positions = position_ids.to(x.device)
        dtype = torch.promote_types(x.dtype, torch.float32)
        length = length_of(use, positions)

        def make() -> tuple[torch.Tensor, ...]:
            cos, sin = pairs(use, positions, length, self.precision, dtype)
            if self.rounded and self.form.spread != "complex":
                cos, sin = cos.to(x.dtype), sin.to(x.dtype)
            given = self.form.give(cos, sin)
            return given if isinstance(given, tuple) else (given,)

        settings = (use.encoding, length, self.precision, self.form, self.rounded, x.dtype)
        given = _TABLES.get(settings, (positions,), make)
        return given[0] if self.form.spread == "complex" else given

    def extra_repr(self) -> str:
        """The encodings, for print(model)."""
        return ", ".join(repr(use.encoding) for use in self.uses.values())


def length_of(use: Use, positions: torch.Tensor) -> int | None:
    """The last position and 1 more, for rules that look at the length."""
    rotary = use.encoding.rotary if isinstance(use.encoding, MRotary) else use.encoding
    if not isinstance(getattr(rotary, "scaling", None), DynamicNTK | LongRope):
        return None
    return int(positions.max()) + 1 if positions.numel() else 0


def pairs(
    use: Use,
    positions: torch.Tensor,
    length: int | None,
    precision: Precision,
    dtype: torch.dtype,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Cosine and sine of each pair at position_ids of shape (batch, tokens), or as axes want them.

    For `MRotary` there may be one array for each axis, (axes, batch, tokens); for `AxialRotary` the
    coordinates stand last, (tokens, axes), and are so small that every precision is exact.

    Example:
        >>> from posenc import Rotary
        >>> ids = torch.arange(6).reshape(2, 3)
        >>> use = Use(kind="rotary", place="queries and keys", encoding=Rotary(dim=8))
        >>> pairs(use, ids, None, "exact", torch.float32)[0].shape
        torch.Size([2, 3, 4])
    """
    if isinstance(use.encoding, AxialRotary):
        return use.encoding.table(positions, dtype=dtype)
    if isinstance(use.encoding, MRotary):
        axes = len(use.encoding.sections)
        if positions.ndim == 2:
            positions = positions.expand(axes, *positions.shape)
        positions = positions[-axes:].movedim(0, -1)
    return use.encoding.table(positions, length=length, precision=precision, dtype=dtype)


class Differs(ValueError):
    """A rotary module computes no table that its settings say."""


def takes_positions(module: torch.nn.Module) -> bool:
    """Whether this is a rotary module that is asked for a table by position_ids."""
    if "Rotary" not in type(module).__name__ or isinstance(module, Table):
        return False
    asked = list(inspect.signature(type(module).forward).parameters)[1:]
    return asked[1:2] == ["position_ids"] and asked[2:] in ([], ["layer_type"])


def prove(name: str, module: torch.nn.Module, config: Any, uses: Iterable[Use]) -> Found:
    """Which of these encodings a module computes, and in which form.

    Raises:
        Differs: it computes none of them.
    """
    uses = list(uses)
    own = _judge(module, config)
    kinds = {""}
    if "layer_type" in inspect.signature(type(module).forward).parameters:
        kinds = {use.layer_type for use in uses} | _answered(own)
    proved: dict[str, tuple[Use, Form]] = {}
    for kind in sorted(kinds):
        proved[kind] = _match(
            name, own, kind, [u for u in uses if not kind or u.layer_type == kind]
        )
    found = {form for _, form in proved.values()}
    if len(found) != 1:
        raise Differs(_refusal(name, module, f"its layers hold tables in {len(found)} forms"))
    matched = {kind: use for kind, (use, _) in proved.items()}
    return Found(name=name, module=module, config=config, uses=matched, form=found.pop())


def _answered(own: torch.nn.Module) -> set[str]:
    """The layer types for which a module has a table; none for those that do not turn."""
    answered = set()
    for kind in getattr(own, "layer_types", ()):
        try:
            own(torch.zeros(1, 1, 8), torch.zeros(1, 1, dtype=torch.int64), kind)
        except (AttributeError, KeyError):
            continue
        answered.add(kind)
    return answered


def _judge(module: torch.nn.Module, config: Any) -> torch.nn.Module:
    """A copy of the module to ask, made anew where its numbers were lost to a cast or to meta."""
    if all(b.dtype == torch.float32 and not b.is_meta for b in module.buffers()):
        return copy.deepcopy(module)  # dynamic rules remember the longest text they were asked for
    return type(module)(getattr(module, "config", config))


def _match(name: str, own: torch.nn.Module, kind: str, uses: list[Use]) -> tuple[Use, Form]:
    nearest = f"its settings name no rotary encoding{f' for {kind} layers' * bool(kind)}"
    smallest = float("inf")
    for use in uses:
        for form in forms.every():
            apart = _apart(own, kind, use, form)
            if apart is None:
                if smallest == float("inf"):
                    nearest = f"it returns no table of {use.encoding}"
            elif apart <= 1:
                return use, form
            elif apart < smallest:
                smallest = apart
                nearest = (
                    f"its own table is {apart:.3g} times the rounding of float32 away from "
                    f"{use.encoding}, which its settings say"
                )
    raise Differs(_refusal(name, own, nearest))


def _apart(own: torch.nn.Module, kind: str, use: Use, form: Form) -> float | None:
    """The largest distance of two tables, in units of what float32 may be off."""
    largest = 0.0
    for places in _places(use):
        axes = torch.stack([torch.tensor(places).roll(axis) for axis in range(_axes(use))])
        ids = _ids(use, axes)
        device = next((buffer.device for buffer in own.buffers()), torch.device("cpu"))
        x = torch.zeros(1, len(places), 8, device=device)
        with torch.no_grad():
            theirs = own(x, ids.to(device), *([kind] if kind else []))
            length = length_of(use, ids)
            ours = form.give(*pairs(use, ids.to(device), length, "float32", torch.float32))
        apart = forms.distance(ours, theirs)
        if apart is None:
            return None
        # A position of p is rounded to p * 2**-24 of a turn's radian, and again in the product.
        allowed = 1e-6 + axes.amax(0).to(device) * 2.0**-22
        largest = max(largest, float((apart / allowed).max()))
    return largest


def _ids(use: Use, axes: torch.Tensor) -> torch.Tensor:
    """Coordinates of shape (axes, tokens) as `position_ids`."""
    if isinstance(use.encoding, MRotary):
        return axes[:, None]
    return axes.T if isinstance(use.encoding, AxialRotary) else axes


def _axes(use: Use) -> int:
    """How many coordinates a token has."""
    if isinstance(use.encoding, MRotary):
        return len(use.encoding.sections)
    return len(use.encoding.axes) if isinstance(use.encoding, AxialRotary) else 1


def _places(use: Use) -> list[list[int]]:
    """Positions to ask for, one call after the other; the last of each matters to some rules."""
    last = (use.length or 4096) - 1
    ends = {last} | ({use.original_length - 1} if use.original_length else set())
    first = [0]  # which lets a module forget the longest text that it was asked for before
    return [first, *([*(p for p in NEAR if p < end), end] for end in sorted(ends))]


def _refusal(name: str, module: torch.nn.Module, why: str) -> str:
    return f"cannot replace {name} ({type(module).__name__}), because {why}. Nothing was changed."
