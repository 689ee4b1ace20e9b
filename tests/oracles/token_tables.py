"""Trained tables of positions: the models' own lookups, with their own weights, against posenc's.

A model runs only until it has looked into its table: a hook on the table ends the run there. So
what is compared is what the model's own code asks for, padding and all.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from oracles import Outcome, built, config_class, difference, modeling, read
from posenc import positions
from posenc.inspector import Use

SMALL = {
    "vocab_size": 64,
    "num_hidden_layers": 0,
    "encoder_layers": 0,
    "decoder_layers": 0,
    "attention_types": [],
    "n_layer": 0,
}
CHANGED = {"max_position_embeddings": 37, "hidden_size": 48, "pad_token_id": 5}


Arrays = Iterator[tuple[Any, Any]]
"""Pairs of arrays that must be equal: posenc's, and the model's."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """One table of a model type, and how its own code looks into it.

    Args:
        owner: the class that holds the table; by default named after the config class.
        table: where it is in its owner.
        place: the `Use` that tells of it.
        counts: which tokens get a number: "all", those of other "ids" than the padding's, or
            those of the "mask".
        padding: the id of padding; `pad_token_id` by default.
        changes: settings of the second comparison, besides `CHANGED`.
        small: settings that make the rest of the owner small.
        call: what runs the owner on token ids and their mask.
        part: the sub-config that all this is about.
        home: the model type in whose file the owner is, where it is another one's.
        off: settings that switch the table off.
        ends: whether a text that is too long is an error.
    """

    owner: str = ""
    table: str = "position_embeddings"
    place: str = "token embeddings"
    counts: str = "all"
    padding: int | None = None
    changes: dict[str, Any] = field(default_factory=dict)
    small: dict[str, Any] = field(default_factory=dict)
    call: Callable[[Any, torch.Tensor, torch.Tensor], Any] = lambda owner, ids, mask: owner(ids)
    part: str = ""
    home: str = ""
    off: dict[str, Any] = field(default_factory=dict)
    ends: bool = True


class Looked(Exception):
    """A model has looked into the table; what it found."""


def looked_up(owner: torch.nn.Module, table: str, run: Callable[[], Any]) -> np.ndarray:
    """What a run of a model takes from one of its tables."""

    def stop(module: Any, inputs: Any, found: Any) -> None:
        raise Looked(found[0] if isinstance(found, tuple) else found)

    handle = owner.get_submodule(table).register_forward_hook(stop)
    try:
        with torch.no_grad():
            run()
    except Looked as looked:
        return looked.args[0].detach().numpy()
    finally:
        handle.remove()
    raise AssertionError(f"the model never looked into {table}")


def refuses(run: Callable[[], Any]) -> bool:
    """Whether a run ends in an error about a position that is too far."""
    try:
        run()
    except (IndexError, RuntimeError, ValueError):
        return True
    return False


def settings_of(model_type: str, case: Case, *, changed: bool) -> dict[str, Any]:
    """Settings for both sides, as far as the model's config class knows them."""
    whole = config_class(model_type)()
    known = getattr(whole, case.part) if case.part else whole
    wanted = {**SMALL, **(CHANGED if changed else {})}
    wanted = {
        key: value
        for key, value in wanted.items()
        if key in known.to_dict() or key in known.attribute_map
    }
    wanted |= case.small | (case.changes if changed else {})
    return {case.part: wanted} if case.part else wanted


def owner_of(model_type: str, case: Case, settings: dict[str, Any]) -> tuple[Any, Any]:
    """The part of the model that holds the table, built by its own class, and its config."""
    config = built(model_type, **settings)
    config = getattr(config, case.part) if case.part else config
    name = case.owner or type(config).__name__.removesuffix("Config") + "Embeddings"
    found = getattr(modeling(case.home or model_type), name)(config)
    return found.eval(), config


def found_use(model_type: str, case: Case, settings: dict[str, Any]) -> Use:
    """What posenc reads about the table."""
    (use,) = uses(model_type, case, settings)
    return use


def uses(model_type: str, case: Case, settings: dict[str, Any]) -> list[Use]:
    """The uses of trained tables in the place of a case."""
    return [
        use
        for part in read(model_type, **settings).parts
        for use in part.uses
        if use.kind == "learned" and use.place == case.place and part.name in ("", case.part)
    ]


def numbered(case: Case, ids: torch.Tensor, mask: torch.Tensor, padding: int) -> np.ndarray:
    """Where the tokens stand, as the remarks of the reading say."""
    if case.counts == "all":
        return np.broadcast_to(positions.count(ids.shape[1]), tuple(ids.shape))
    counted = mask if case.counts == "mask" else ids.ne(padding)
    return positions.from_mask(counted.numpy().astype(bool), padding=-1)


def token_ids(length: int, padding: int) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Ids and masks of two texts: full ones, then with padding left, right and in between."""
    random = np.random.default_rng(3)
    ids = random.integers(6, 60, (2, length))
    yield torch.as_tensor(ids), torch.ones(2, length, dtype=torch.long)
    mask = np.ones((2, length), np.int64)
    mask[0, :3] = mask[1, -2:] = mask[1, 5] = 0
    yield torch.as_tensor(np.where(mask, ids, padding)), torch.as_tensor(mask)


def compare(model_type: str, case: Case, *, changed: bool) -> float:
    """The largest difference of one table of a model type."""
    settings = settings_of(model_type, case, changed=changed)
    owner, config = owner_of(model_type, case, settings)
    use = found_use(model_type, case, settings)
    weight = owner.get_submodule(case.table).weight
    torch.manual_seed(0)
    with torch.no_grad():
        weight.normal_()
    table = weight.detach().numpy()
    if case.padding is None:
        padding = getattr(config, "pad_token_id", None)
        padding = 0 if padding is None else padding
    else:
        padding = case.padding
    worst = 0.0
    for ids, mask in token_ids(use.length, padding):
        run = functools.partial(case.call, owner, ids, mask)
        ours = use.encoding.encode(numbered(case, ids, mask, padding), table=table)
        theirs = looked_up(owner, case.table, run)
        worst = max(worst, difference(ours, np.broadcast_to(theirs, ours.shape)))
    check_end(case, owner, use, table)
    return worst


def check_end(case: Case, owner: Any, use: Use, table: np.ndarray) -> None:
    """One token more than the table knows is an error on both sides."""
    ids = torch.full((1, use.length + 1), 7)
    if not refuses(lambda: use.encoding.encode(np.asarray(use.encoding.length), table=table)):
        raise AssertionError("posenc knows a position beyond the last row")
    end = refuses(lambda: run_out(case, owner, ids))
    if end != case.ends:
        raise AssertionError(f"the model {'refuses' if end else 'takes'} {ids.shape[1]} tokens")


def run_out(case: Case, owner: Any, ids: torch.Tensor) -> None:
    """A run that is not an error if the model gets as far as its table's rows."""
    run = functools.partial(case.call, owner, ids, torch.ones_like(ids))
    found = looked_up(owner, case.table, run)
    if found.shape[-2] != ids.shape[1]:
        raise ValueError("fewer rows than tokens")


def check_off(model_type: str, case: Case) -> None:
    """Nothing is read where a switch is off."""
    if case.off and uses(model_type, case, case.off):
        raise AssertionError(f"{case.off} switches the table of {case.place} off")


def check(model_type: str, cases: tuple[Case, ...]) -> list[Outcome]:
    """All tables of a model type, with the settings of its class and with others."""
    for case in cases:
        check_off(model_type, case)
    return [
        Outcome(
            kind="learned",
            layout="",
            how="all rows its own code looks up, with padding, and one token too many; "
            + ("changed sizes" if changed else "sizes of its class"),
            difference=compare(model_type, case, changed=changed),
        )
        for case in cases
        for changed in (False, True)
    ]


def the_use(model_type: str, place: str, kind: str = "learned", **changes: Any) -> Use:
    """What posenc reads about one place of a model."""
    found = [use for use in read(model_type, **changes) if (use.kind, use.place) == (kind, place)]
    (use,) = found
    return use


def filled(parameter: torch.Tensor, seed: int = 0) -> np.ndarray:
    """Random numbers, put into a trained array of a model and handed to posenc as well."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        parameter.copy_(torch.randn(parameter.shape, generator=generator))
    return parameter.detach().numpy().copy()


def emptied(*modules: torch.nn.Module) -> None:
    """No other embeddings in the sum: their weights become 0."""
    with torch.no_grad():
        for module in modules:
            for parameter in module.parameters():
                parameter.zero_()


def given_to(module: torch.nn.Module, run: Callable[[], Any]) -> np.ndarray:
    """What a run of a model hands to one of its modules."""

    class Given(Exception):
        """Reached."""

    def stop(module: Any, inputs: Any) -> None:
        raise Given(inputs[0])

    handle = module.register_forward_pre_hook(stop)
    try:
        with torch.no_grad():
            run()
    except Given as given:
        return given.args[0].detach().numpy()
    finally:
        handle.remove()
    raise AssertionError("the model never got there")


def outcome(how: str, *changes: Any, kind: str = "learned") -> Callable[[Callable], Callable]:
    """A check from a function that yields pairs of arrays, for each of several settings."""

    def wrap(pairs: Callable[..., Arrays]) -> Callable[..., list[Outcome]]:
        @functools.wraps(pairs)
        def check(*args: Any) -> list[Outcome]:
            return [
                Outcome(
                    kind=kind,
                    layout="",
                    how=how + (f", {', '.join(change)} changed" if change else ""),
                    difference=max(difference(*pair) for pair in pairs(*args, **change)),
                )
                for change in changes
            ]

        return check

    return wrap
