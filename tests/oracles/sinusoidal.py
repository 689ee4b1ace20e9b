"""Sinusoidal tables: whole tables of real models of one layer, and their forward calls."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from oracles import Outcome, built, difference, modeling, read, wave_cases, wave_forwards
from oracles.wave_cases import Case
from oracles.wave_forwards import compared, vectors
from posenc.inspector.reading import Reading, Use

IDS = ((7, 2, 8, 9, 2, 10), (2, 2, 7, 7, 8, 9), (7, 8, 9, 7, 8, 9))
"""Three texts; 2 stands for padding."""

LABELS = {"label_length": 7}
"""How many given values Autoformer's decoder reads again; others do not look."""


def network(model_type: str, case: Case, changes: dict[str, Any]) -> Any:
    """A real model, small all over but in what is compared."""
    return getattr(modeling(model_type), case.network)(built(model_type, **changes)).eval()


def submodule(model: Any, path: str) -> Any:
    """What stands at a path in a model."""
    return functools.reduce(getattr, path.split("."), model)


def use_at(reading: Reading, start: str) -> Use:
    """The sinusoidal use whose place starts like this."""
    waves = [use for use in reading.uses if use.kind == "sinusoidal"]
    return next(use for use in waves if use.place.startswith(start))


def tensor(module: Any) -> np.ndarray:
    """The table of a module, or the module itself where it is a tensor."""
    names = ("weights", "weight", "positional_embedding", "position_enc", "pe")
    found = next((getattr(module, name) for name in names if hasattr(module, name)), module)
    return np.atleast_2d(np.squeeze(found.detach().numpy()))


def tables(model_type: str, case: Case, *, grows: bool = False) -> list[Outcome]:
    """The table of each use, all rows that a token can take, at two settings."""
    outcomes = []
    for changes in (case.shallow, {**case.shallow, **case.small}):
        model, reading = network(model_type, case, changes), read(model_type, **changes)
        for start, path in case.paths:
            use = use_at(reading, start)
            theirs = tensor(submodule(model, path))[use.encoding.offset :]
            rows = np.arange(len(theirs) if grows else use.original_length)
            how = f"all {len(rows)} rows of its table"
            if case.exact:
                gap = difference(vectors(use, rows), theirs)
                outcome = Outcome(
                    kind=use.kind, layout=use.encoding.layout, how=how, difference=gap
                )
            else:
                outcome = compared(use, rows, theirs, how)
            outcomes.append(outcome)
    return outcomes


def padded(model_type: str, case: Case) -> list[Outcome]:
    """The table, and texts with padding in front and between, through its own position ids."""
    changes = {**case.shallow, **case.small}
    model, reading = network(model_type, case, changes), read(model_type, **changes)
    outcomes = tables(model_type, case, grows=True)
    for start, path in case.paths:
        use = use_at(reading, start)
        outcomes.append(_padded_outcome(use, submodule(model, path)))
    return outcomes


def _padded_outcome(use: Use, module: Any) -> Outcome:
    padding = use.encoding.offset - 1
    ids = np.where(np.asarray(IDS) == 2, padding, np.asarray(IDS) + padding)
    kept = ids != padding
    counted = vectors(use, np.cumsum(kept, axis=1) - 1)
    gap = difference(counted * kept[..., None], module(torch.tensor(ids)).detach().numpy())
    if "inputs_embeds" in inspect.signature(module.forward).parameters:
        theirs = module(inputs_embeds=torch.zeros(1, 7, use.encoding.dim))[0].detach().numpy()
        gap = max(gap, difference(vectors(use, np.arange(7)), theirs))
    how = "texts with padding through its own position ids"
    return Outcome(kind=use.kind, layout=use.encoding.layout, how=how, difference=gap)


def series(model_type: str, case: Case) -> list[Outcome]:
    """The tables, and where the decoder starts when it is called."""
    outcomes = tables(model_type, case)
    for changes in (case.shallow, {**case.shallow, **case.small}, {**case.shallow, **LABELS}):
        decoder = network(model_type, case, changes).decoder
        starts: list[int] = []
        decoder.embed_positions.register_forward_pre_hook(
            lambda _, positional, named, starts=starts: starts.append(named["cache_length"]),
            with_kwargs=True,
        )
        values = torch.zeros(1, 4, decoder.config.feature_size)
        decoder(inputs_embeds=values, **({"trend": values} if model_type == "autoformer" else {}))
        use = use_at(read(model_type, **changes), "decoder")
        gap = difference([use.first_position], starts)
        how = "where the decoder starts when it is called"
        outcomes.append(Outcome(kind=use.kind, layout="half", how=how, difference=gap))
    return outcomes


CHECKS: dict[str, Callable[[], list[Outcome]]] = {
    **{
        model_type: functools.partial(tables, model_type, case)
        for model_type, case in wave_cases.TABLES.items()
    },
    **{
        model_type: functools.partial(padded, model_type, case)
        for model_type, case in wave_cases.PADDED.items()
    },
    **{
        model_type: functools.partial(series, model_type, wave_cases.TABLES[model_type])
        for model_type in ("autoformer", "informer", "time_series_transformer")
    },
    **wave_forwards.CHECKS,
}
