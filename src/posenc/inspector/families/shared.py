"""What the readers of several schemes ask of a model's settings."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from posenc.inspector.reading import Use
from posenc.inspector.settings.config import Config

T = TypeVar("T")
Reader = Callable[[Config], list[Use]]


def use(
    config: Config,
    kind: str,
    encoding: Any,
    *,
    place: str = "attention scores",
    remarks: Iterable[str] = (),
    **fields: Any,
) -> Use:
    """An encoding at work, resting on all that `config` was asked for.

    Args:
        config: the settings it was read from.
        kind: the field's name for the scheme.
        encoding: as posenc has it, or None.
        place: what it acts on.
        remarks: what else a port would get wrong.
        fields: others of Use.
    """
    return Use(
        kind=kind,
        place=place,
        encoding=encoding,
        values=tuple(config.taken),
        remarks=tuple(remarks),
        **fields,
    )


def fitted(config: Config, key: str, make: Callable[..., T], **fields: Any) -> T:
    """An encoding, or an error about `key` where the model's numbers make none."""
    try:
        return make(**fields)
    except (TypeError, ValueError) as error:
        why = f"does not fit: {error}"
        config.refuse("absurd-value", key, config.get(key), why, "Put the model's own numbers.")


def every(*readers: Reader) -> Reader:
    """What all of these readers find in the same settings."""
    return lambda config: [found for reader in readers for found in reader(config.fresh())]


def layers(config: Config, *keys: str) -> tuple[int, ...]:
    """The numbers of as many layers as the first of `keys` says that says something."""
    for key in keys or ("num_hidden_layers",):
        count = config.integer(key, name="layers", at_least=0)
        if count is not None:
            return tuple(range(count))
    return ()


def head_dim(
    config: Config,
    heads_key: str = "num_attention_heads",
    *,
    width: str = "hidden_size",
    own: str = "",
) -> int:
    """The width of a head: what `own` says, or an even share of the layer's width."""
    features = config.integer(own, name="head_dim") if own else None
    if features is not None:
        return features
    heads = config.integer(heads_key, name="heads", required=True)
    hidden = config.integer(width, required=True)
    if hidden % heads:
        why = f"must divide the model's width, {width}={hidden}."
        config.refuse("absurd-value", heads_key, heads, why, "Put the model's own value there.")
    return config.derive("head_dim", hidden // heads, width, heads_key)
