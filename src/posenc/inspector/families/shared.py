"""What the readers of several schemes ask of a model's settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from posenc.inspector.reading import Use
from posenc.inspector.settings.config import Config

T = TypeVar("T")


def use(config: Config, kind: str, encoding: Any, **fields: Any) -> Use:
    """An encoding at work in attention scores, with all values that `config` was asked for."""
    fields.setdefault("place", "attention scores")
    fields["remarks"] = tuple(fields.get("remarks", ()))
    return Use(kind=kind, encoding=encoding, values=tuple(config.taken), **fields)


def fitted(config: Config, key: str, make: Callable[..., T], **fields: Any) -> T:
    """An encoding, or an error about `key` where the model's numbers make none."""
    try:
        return make(**fields)
    except (TypeError, ValueError) as error:
        why = f"does not fit: {error}"
        config.refuse("absurd-value", key, config.get(key), why, "Put the model's own numbers.")


def assuming(config: Config, **defaults: Any) -> Config:
    """The settings with what the model's code assumes where its config class says nothing."""
    config.defaults = {**defaults, **config.defaults}
    return config


def whole(config: Config, key: str, *, name: str = "", at_least: int = 1) -> int:
    """A whole number that nothing can stand in for."""
    return config.integer(key, name=name, at_least=at_least, required=True) or 0


def layers(config: Config, *keys: str) -> tuple[int, ...]:
    """The numbers of as many layers as the first of `keys` says that says something."""
    for key in keys or ("num_hidden_layers",):
        count = config.integer(key, name="layers", at_least=0)
        if count is not None:
            return tuple(range(count))
    return ()


def head_dim(config: Config, heads_key: str = "num_attention_heads", own: str = "") -> int:
    """The width of a head: what `own` says, or an even share of the model's width."""
    width = config.integer(own, name="head_dim") if own else None
    if width is not None:
        return width
    heads, hidden = whole(config, heads_key, name="heads"), whole(config, "hidden_size")
    if hidden % heads:
        why = f"must divide the model's width, {hidden}."
        config.refuse("absurd-value", heads_key, heads, why, "Put the model's own value there.")
    return config.derive("head_dim", hidden // heads, "hidden_size", heads_key)
