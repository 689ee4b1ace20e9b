"""A model's trained position table looked up by posenc, and resampled to another length."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import torch

from posenc import Learned, spec
from posenc.inspector import read_settings
from posenc.learned import Corners, Method, resample
from posenc.torch.transformers.groups import owned
from posenc.torch.transformers.undo import Edit, Replacement

COUNTED = ("position_ids", "token_type_ids")
"""Buffers beside a table that are as long as it is."""


class Positions(torch.nn.Embedding):
    """A trained table in the place of the model's own, under the same name in its state_dict.

    A position outside the table is an error that says so; where positions cannot be looked at, NaN.

    Args:
        encoding: which positions it has.
        weight: its rows.
        padding_idx: the row that learns nothing, if there is one.
    """

    def __init__(
        self, encoding: Learned, weight: torch.Tensor, padding_idx: int | None = None
    ) -> None:
        super().__init__(*weight.shape, padding_idx=padding_idx, _weight=weight)
        if isinstance(weight, torch.nn.Parameter):
            self.weight = weight  # the very one that an optimizer has
        self.spec = encoding

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """The rows of these numbers, which the model counts from the first row of all."""
        vectors = self.spec.encode(input - self.spec.offset, table=self.weight)
        if self.padding_idx is None:
            return vectors
        return torch.where((input == self.padding_idx)[..., None], vectors.detach(), vectors)

    def extra_repr(self) -> str:
        """The encoding, for print(model)."""
        return repr(self.spec)


def replace_table(
    model: torch.nn.Module,
    *,
    length: int | None = None,
    name: str | None = None,
    method: Method = "linear",
    corners: Corners = "aligned",
) -> Replacement:
    """Let posenc look up the trained positions of a loaded model, for another length if wanted.

    Args:
        model: a model of transformers with a table for its tokens: BERT, RoBERTa, GPT-2, ...
        length: resample the table to so many positions; padding rows before them are kept.
        name: which table, where the model has several.
        method: see `posenc.learned.resample`.
        corners: see `posenc.learned.resample`.
    Returns:
        What was replaced; `undo()`, or leaving its `with` block, takes it out.
    Raises:
        TypeError: `model` is no model.
        ValueError: there is no such table, or several and no `name`, or it does something else
            than its settings say.
    Example:
        >>> import transformers
        >>> config = transformers.BertConfig(
        ...     vocab_size=32, hidden_size=16, intermediate_size=16, num_hidden_layers=1,
        ...     num_attention_heads=2, max_position_embeddings=8)
        >>> model, tokens = transformers.BertModel(config).eval(), torch.ones(1, 16, dtype=int)
        >>> with replace_table(model, length=16) as replaced:
        ...     print(replaced)
        ...     print(model(tokens).last_hidden_state.shape)
        <Replacement in BertModel
          embeddings.position_embeddings:
            was  learned:length=8,dim=16
            now  learned:length=16,dim=16, resampled>
        torch.Size([1, 16, 16])

    Source: Dosovitskiy et al. 2020, arXiv:2010.11929, section 3.2, for images.
    """
    if not isinstance(model, torch.nn.Module):
        raise TypeError(f"`model` must be a model of transformers; got {type(model).__name__}.")
    place, module, was = _chosen(model, name)
    _prove(place, module, was)
    now, weight = was, module.weight
    if length is not None and length != was.length:
        now = dataclasses.replace(was, length=length)
        rows = resample(
            weight.detach(),
            old=(was.length,),
            new=(length,),
            method=method,
            corners=corners,
            prefix=was.offset,
        )
        weight = torch.nn.Parameter(rows, requires_grad=weight.requires_grad)
    parent, _, attribute = place.rpartition(".")
    around = model.get_submodule(parent)
    edits: list[Edit] = [(around, attribute, Positions(now, weight, module.padding_idx))]
    edits += _counted(around, module.num_embeddings, weight.shape[0])
    return Replacement(model, _said(place, was, now), edits)


def _chosen(model: torch.nn.Module, name: str | None) -> tuple[str, torch.nn.Embedding, Learned]:
    """The one table of a model, or that of a name."""
    found = {place: (module, encoding) for place, module, encoding in _tables(model)}
    if name is None and len(found) == 1:
        (name,) = found
    if name not in found:
        several = f"among {', '.join(sorted(found))}" if found else "but the model has none"
        raise ValueError(
            f"`name` must be that of a trained table of positions, {several}; got {name!r}."
        )
    return name, *found[name]


def _tables(model: torch.nn.Module) -> Iterator[tuple[str, torch.nn.Embedding, Learned]]:
    """Each table for tokens that the settings speak of: its name, itself, and the encoding."""
    encodings: dict[str, list[Learned]] = {}
    for name, module, owner in owned(model):
        if owner not in encodings:
            config: Any = model.get_submodule(owner).config
            uses = read_settings(config.to_dict()).uses
            encodings[owner] = [u.encoding for u in uses if isinstance(u.encoding, Learned)]
        last = name.rpartition(".")[2]
        if isinstance(module, torch.nn.Embedding) and ("pos" in last or last == "wpe"):
            for encoding in encodings[owner]:
                if tuple(module.weight.shape) == encoding.weights["table"]:
                    yield name, module, encoding
                    break


def _prove(name: str, module: torch.nn.Embedding, encoding: Learned) -> None:
    """Refuse a table that does more than look up its rows, and one that is ours already."""
    if type(module) is not torch.nn.Embedding or module.max_norm is not None:
        raise ValueError(
            f"cannot replace {name} ({type(module).__name__}), because it does more than look up "
            "rows. Nothing was changed."
        )
    if module.weight.is_meta:
        return
    rows = torch.arange(module.num_embeddings, device=module.weight.device)
    with torch.no_grad():
        theirs, ours = module(rows), Positions(encoding, module.weight)(rows)
    if not torch.equal(theirs, ours):
        raise ValueError(
            f"cannot replace {name} ({type(module).__name__}), because it gives other rows than "
            f"{encoding}, which its settings say. Nothing was changed."
        )


def _counted(around: torch.nn.Module, before: int, after: int) -> Iterator[Edit]:
    """Buffers beside the table that count its rows, or are as long, for its new length."""
    for name, buffer in around.named_buffers(recurse=False):
        if name in COUNTED and buffer.shape[-1] == before != after:
            row = buffer.new_zeros(after)
            if name == "position_ids":
                row = torch.arange(after, dtype=buffer.dtype, device=buffer.device)
            yield around, name, row.expand(*buffer.shape[:-1], after)


def _said(name: str, was: Learned, now: Learned) -> list[str]:
    if was == now:
        return [f"{name}: {spec.to_text(was)}"]
    lengths = [f"  was  {spec.to_text(was)}", f"  now  {spec.to_text(now)}, resampled"]
    return [f"{name}:", *lengths]
