"""What readers of sinusoidal vectors share: how classes lay them out, and one use of them."""

from __future__ import annotations

import dataclasses
from typing import TypeVar

from posenc.inspector.reading import Use, Value
from posenc.inspector.settings.config import Config
from posenc.sinusoidal import Sinusoidal

T = TypeVar("T")

# One of each way to lay a vector out; the width is still to come.
PAPER = Sinusoidal(dim=2)
PAPER_TRIMMED = Sinusoidal(dim=2, odd="trim")
HALF = Sinusoidal(dim=2, layout="half")
MARIAN = Sinusoidal(dim=2, layout="half", odd="trim")
WHISPER = Sinusoidal(dim=2, layout="half", spacing="endpoint")
FAIRSEQ = Sinusoidal(dim=2, layout="half", spacing="endpoint", odd="pad")
MUSICGEN = Sinusoidal(dim=2, layout="half", spacing="endpoint", first="cos", odd="pad")
COSINES = Sinusoidal(dim=2, layout="half", first="cos")

_WIDEST = 2**20  # a wider table would take minutes to lay out


def use(
    config: Config,
    place: str,
    like: Sinusoidal,
    *,
    width: str = "hidden_size",
    length: str = "",
    offset: int = 0,
    remarks: tuple[str, ...] = (),
) -> Use:
    """A table laid out like another one, as wide and long as the settings under these keys."""
    dim = config.integer(width, name="dim", required=True) or 0
    return Use(
        kind="sinusoidal",
        place=place,
        encoding=encoding(config, width, like, dim=dim, offset=offset),
        original_length=config.integer(length, name="original_length") if length else None,
        values=tuple(config.taken),
        remarks=remarks,
    )


def encoding(
    config: Config,
    key: str,
    like: Sinusoidal,
    *,
    dim: int,
    base: float = 10_000.0,
    offset: int = 0,
) -> Sinusoidal:
    """An encoding laid out like another one; what no class could build is refused.

    Args:
        key: the setting that its width comes from.
    """
    if dim % 2 and like.odd == "refuse":
        why = "must be even, because its class fills pairs of features."
        config.refuse("odd-width", key, dim, why, "Take an even number.")
    if not 2 <= dim <= _WIDEST:
        why = f"must lie between 2 and {_WIDEST}."
        config.refuse("absurd-value", key, dim, why, "Put the width of the embeddings there.")
    try:
        return dataclasses.replace(like, dim=dim, base=base, offset=offset)
    except ValueError as error:
        why = f"comes with settings that no table can have: {error}"
        config.refuse("absurd-value", key, dim, why, "Put the model's own values there.")


def assumed(config: Config, name: str, value: T) -> T:
    """A value that stands in the code of the model's class, where no setting changes it."""
    config.taken.append(Value(name=name, value=value, origin="default", key=""))
    return value


def part(config: Config, key: str, model_type: str) -> Config:
    """The settings of a sub-config; what the class gives it where the file has none."""
    inner = config.part(key, model_type)
    if config.mapping(key) is None:
        inner.data = config.facts["parts"][key].get("given", {})
    return inner


def unencoded(config: Config, place: str, remark: str) -> Use:
    """No position signal here, because a setting switches it off."""
    return Use(kind="none", place=place, values=tuple(config.taken), remarks=(remark,))
