"""The rotary modules of a loaded model, found and proved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch

from posenc import AxialRotary, MRotary, Rotary
from posenc.inspector import read_settings
from posenc.torch.transformers import tables
from posenc.torch.transformers.tables import Found, Table


@dataclass(kw_only=True)
class Group:
    """What one model of transformers holds, be it the whole or the language model in it.

    Args:
        tables: its rotary modules.
        modules: all its modules, by name.
        ways: in words, how each function turns and how many modules call it.
        left: in words, what is left as it was.
        refused: why each of its rotary modules that are left is left.
    """

    tables: list[Found] = field(default_factory=list)
    modules: list[tuple[str, torch.nn.Module]] = field(default_factory=list)
    ways: Counter[str] = field(default_factory=Counter)
    left: list[str] = field(default_factory=list)
    refused: list[ValueError] = field(default_factory=list)


def proved(model: torch.nn.Module) -> list[Group]:
    """The groups of a model with rotary modules, each of which was proved or is left."""
    groups: dict[str, Group] = {}
    for name, module, owner in owned(model):
        if isinstance(module, Table):
            raise ValueError(f"`model` has ours at {name} already: undo that replacement first.")
        groups.setdefault(owner, Group()).modules.append((name, module))
    for owner, group in groups.items():
        _prove(group, model.get_submodule(owner))
    found = [group for group in groups.values() if group.tables or group.refused]
    if any(group.tables for group in found):
        return found
    if found:
        raise found[0].refused[0]
    raise ValueError(
        "`model` must have a rotary module that is asked for a table by `position_ids`; "
        f"{type(model).__name__} has none."
    )


def owned(model: torch.nn.Module) -> Iterator[tuple[str, torch.nn.Module, str]]:
    """Each module with its name and that of the innermost model of transformers around it."""
    from transformers import PreTrainedModel

    owners: dict[str, str] = {}
    for name, module in model.named_modules():
        above = owners.get(name.rpartition(".")[0]) if name else None
        if isinstance(module, PreTrainedModel):
            above = name
        if above is not None:
            owners[name] = above
            yield name, module, above


def _prove(group: Group, owner: Any) -> None:
    """Prove the rotary modules of a group; one may be left that no layer needs, or of pictures."""
    modules = [(name, module) for name, module in group.modules if tables.takes_positions(module)]
    if not modules:
        return
    uses = read_settings(owner.config.to_dict()).uses
    uses = [use for use in uses if isinstance(use.encoding, Rotary | MRotary | AxialRotary)]
    for name, module in modules:
        try:
            group.tables.append(tables.prove(name, module, owner.config, uses))
        except tables.Differs as error:
            group.refused.append(error)
            group.left.append(f"{name} is left as it was: no layer has its table")
    met = [id(use) for table in group.tables for use in table.uses.values()]
    text = [use for use in uses if not isinstance(use.encoding, AxialRotary)]
    if group.refused and not all(id(use) in met for use in text):
        raise group.refused[0]
