"""What was put into a model, so that it can be taken out again."""

from __future__ import annotations

from typing import Any

import torch

_ABSENT = object()

Edit = tuple[torch.nn.Module, str, Any]
"""A module, the name of an attribute, and what it shall be."""


class Replacement:
    """What was put into a model, layer by layer; printed, it says so. A context manager.

    Args:
        model: the model.
        lines: what was replaced, in words.
        edits: each module, the name of an attribute, and what it is now.
    """

    def __init__(self, model: torch.nn.Module, lines: list[str], edits: list[Edit]) -> None:
        self.model = model
        self._lines = lines
        self._before = [(m, name, _own(m, name), after) for m, name, after in edits]
        for module, name, after in edits:
            setattr(module, name, after)

    def undo(self) -> None:
        """Give the model back what it had; a second time changes nothing.

        Raises:
            RuntimeError: something else was put into the same places since.
        """
        for module, name, _, after in self._before:
            if _own(module, name) is not after:
                raise RuntimeError(
                    f"cannot undo: `{name}` of {type(module).__name__} was replaced again since, "
                    "by something else. Undo that first."
                )
        for module, name, before, _ in self._before:
            if before is _ABSENT:
                delattr(module, name)
            else:
                setattr(module, name, before)
        self._before = []

    def __enter__(self) -> Replacement:
        return self

    def __exit__(self, *_: object) -> None:
        self.undo()

    def __repr__(self) -> str:
        lines = self._lines if self._before else ["undone"]
        return f"<Replacement in {type(self.model).__name__}\n  " + "\n  ".join(lines) + ">"


def _own(module: torch.nn.Module, name: str) -> Any:
    """An attribute of this very module, not of its class."""
    for held in (vars(module), module._modules, module._parameters, module._buffers):
        if name in held:
            return held[name]
    return _ABSENT
