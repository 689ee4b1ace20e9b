"""Ours put into a loaded model in one call."""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping
from typing import Any

import torch

from posenc import _checks, spec
from posenc.inspector import Use
from posenc.rotary import Precision
from posenc.torch.transformers import rules, turns
from posenc.torch.transformers.groups import Group, proved
from posenc.torch.transformers.rules import Rule
from posenc.torch.transformers.tables import Found, Table
from posenc.torch.transformers.undo import Edit, Replacement
from posenc.torch.transformers.ways import Way


def replace(
    model: torch.nn.Module,
    *,
    scaling: Rule | Mapping[str, Rule] = rules.KEEP,
    precision: Precision = "exact",
) -> Replacement:
    """Let posenc make the rotary tables of a loaded Hugging Face model, and turn by them.

    Queries and keys of half precision are then turned in float32 and rounded once.

    Args:
        model: any model of transformers, or part of one, whose rotary modules are asked for a
            table by `position_ids`: Llama and most others, and most towers for pictures, which a
            scaling never touches. Its class and other models are not touched.
        scaling: another rule, for example posenc.Yarn(factor=4.0), or the text "yarn:factor=4".
            An `original_length` that it lacks comes from the model's settings. None for no
            rule at all; a dict by layer type, {"full_attention": "linear:factor=8"}, where
            only some layers shall have it. By default layers with a window keep what they have.
            The length that dynamic NTK and LongRoPE look at is the last position of each call,
            plus 1; transformers remembers the longest call until a short one comes.
        precision: "exact", or "float32" for the tables of transformers, bit for bit; those of
            pictures are always exact.
    Returns:
        What was replaced; `undo()`, or leaving its `with` block, takes it out.
    Raises:
        TypeError: `model` is no model of transformers.
        ValueError: nothing in it turns in a way that can be replaced, a module or function does
            something else than its settings say, or the scaling does not fit.

    Source: transformers 5.24.0, models/*/modeling_*.py.
    """
    if not isinstance(model, torch.nn.Module):
        raise TypeError(f"`model` must be a model of transformers; got {type(model).__name__}.")
    _checks.one_of("precision", precision, ("exact", "float32"))
    groups = proved(model)
    found = [table for group in groups for table in group.tables]
    changed = dict(zip(map(id, found), rules.scaled(found, scaling), strict=True))
    lines: list[str] = []
    edits: list[Edit] = []
    for group in groups:
        turned = list(_turned(group)) if group.tables else []
        for table in group.tables:
            ours = Table(table, changed[id(table)], precision, rounded=not turned)
            edits.append((*_place(model, table.name), ours))
            lines += _said(table, ours)
        edits += turned
        edits += _softmax(group, changed, turned)
        lines += [text.replace("#", str(count)) for text, count in group.ways.items()]
        lines += group.left
    return Replacement(model, lines, edits)


def _place(model: torch.nn.Module, name: str) -> tuple[torch.nn.Module, str]:
    parent, _, attribute = name.rpartition(".")
    return model.get_submodule(parent), attribute


def _turned(group: Group) -> Iterator[Edit]:
    """Every method of a group that turns, with ours bound to its module."""
    names = ", ".join(table.name for table in group.tables)
    forms = {table.form for table in group.tables}
    if len(forms) > 1:
        raise ValueError(f"cannot replace {names}, because they return tables in several forms.")
    (form,) = forms
    classes: dict[type, tuple[dict[str, Way], dict[str, Any]]] = {}
    for name, module in group.modules:
        cls = type(module)
        if cls not in classes:
            classes[cls] = turns.replaced(name, cls, form)
        ways, methods = classes[cls]
        for function, way in ways.items():
            _same_way_round(group, function, way)
            group.ways[f"{function} of # {cls.__name__}: posenc turns, {way}"] += 1
        for method, function in methods.items():
            if method in vars(module):
                raise ValueError(
                    f"cannot replace `{method}` of {name}, because something else replaced it "
                    "before. Undo that first. Nothing was changed."
                )
            yield module, method, types.MethodType(function, module)
    if not group.ways:
        group.left.append("queries and keys are turned by the model's own code")


def _same_way_round(group: Group, function: str, way: Way) -> None:
    """Refuse a function that turns forwards where the settings say backwards, or the reverse."""
    for table in group.tables:
        for use in table.uses.values():
            if use.inverse != (table.form.inverse != way.inverse):
                raise ValueError(
                    f"cannot replace {table.name}, because {function} turns by its table in "
                    "another direction than its settings say. Nothing was changed."
                )


def _softmax(
    group: Group, changed: Mapping[int, Mapping[str, Use]], turned: list[Edit]
) -> list[Edit]:
    """The softmax scale of the modules that turn, where the new rule has another factor for it."""
    ratios = {
        changed[id(table)][kind].softmax_factor / use.softmax_factor
        for table in group.tables
        for kind, use in table.uses.items()
    }
    if ratios <= {1.0}:
        return []
    modules: list[Any] = list({id(module): module for module, _, _ in turned}.values())
    if len(ratios) > 1 or not modules or not all(hasattr(m, "scaling") for m in modules):
        raise ValueError(
            f"`scaling` changes the softmax scale by {sorted(ratios)}, and "
            f"{group.tables[0].name} stands in a model with no one `scaling` to change."
        )
    (ratio,) = ratios
    return [(module, "scaling", module.scaling * ratio) for module in modules]


def _said(found: Found, ours: Table) -> Iterator[str]:
    """A rotary module before and after, in words."""
    for kind, use in found.uses.items():
        named = f", {use.layer_type}" if use.layer_type else ""
        yield f"{found.name}{named}, {_layers(use.layers)}:"
        was, now = spec.to_text(use.encoding), spec.to_text(ours.uses[kind].encoding)
        yield from [f"  {was}"] if was == now else [f"  was  {was}", f"  now  {now}"]


def _layers(layers: tuple[int, ...]) -> str:
    """Layers in words: runs of neighbours as first-last."""
    runs: list[list[int]] = []
    for layer in layers:
        if runs and layer == runs[-1][1] + 1:
            runs[-1][1] = layer
        else:
            runs.append([layer, layer])
    words = [str(a) if a == b else f"{a}-{b}" for a, b in runs]
    return f"layers {', '.join(words)}" if words else "all layers"
