"""What readers of grids share: the base, the width of a head, and whether axes can share it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from posenc.axial import AxialRotary
from posenc.inspector.reading import Use, Value
from posenc.inspector.settings.config import Config

KIND = "axial rotary"
PLACE = "queries and keys"


def use(
    config: Config,
    encoding: AxialRotary | None,
    *,
    place: str = PLACE,
    head_dim: int | None = None,
    first_position: int = 0,
    remarks: tuple[str, ...] = (),
) -> Use:
    """A reading of an encoding on a grid, resting on all that was taken from the settings."""
    return Use(
        kind=KIND,
        place=place,
        encoding=encoding,
        head_dim=head_dim,
        first_position=first_position,
        values=tuple(config.taken),
        remarks=remarks,
    )


def head_dim(config: Config, width: str = "hidden_size", heads: str = "num_attention_heads") -> int:
    """Features of a head: an equal share of the width of the layer."""
    all_features, count = whole(config, width), whole(config, heads)
    if all_features % count:
        config.refuse(
            "absurd-value", width, all_features, f"must be a multiple of {heads}={count}.",
            "Put the model's own values there.",
        )  # fmt: skip
    return config.derive("head_dim", all_features // count, width, heads)


def check_width(config: Config, dim: int, multiple: int, key: str) -> None:
    """Refuse features that the axes cannot share in pairs."""
    check_size(config, dim, key)
    if dim < multiple or dim % multiple:
        config.refuse(
            "absurd-value", key, config.get(key),
            f"makes {dim} features turn; it must be a multiple of {multiple}, so that each axis "
            "takes an equal number of pairs.",
            "Put the model's own value there.",
        )  # fmt: skip


def check_size(config: Config, size: float, key: str) -> None:
    """Refuse what no model has, before anything of that size is made."""
    if size > _LARGEST:
        config.refuse(
            "absurd-value", key, config.get(key), f"must not make more than {_LARGEST}.",
            "Put the model's own value there.",
        )  # fmt: skip


_LARGEST = 65_536  # features, layers, or cells of a side


def whole(config: Config, key: str) -> int:
    """A whole number that nothing can stand in for."""
    value = config.integer(key, required=True) or 0
    check_size(config, value, key)
    return value


def base(config: Config, rope_type: str = "axial") -> float:
    """The base of the frequencies, of rotary settings that name the kind `rope_type` or none."""
    check_type(settings(config), rope_type)
    return parameter(config, "rope_theta", name="base")


def check_type(rotary: Config, rope_type: str) -> None:
    """Refuse rotary settings of another kind; "default" means that of the model."""
    key = "rope_type" if "rope_type" in rotary.data else "type"
    given = rotary.word(key)
    if given not in (None, "default", rope_type):
        rotary.refuse(
            "unfit-scaling", key, given, f"must be {rope_type!r}: no other kind is read on a grid.",
            f"Write {rope_type!r}, or leave it out.",
        )  # fmt: skip


def settings(config: Config) -> Config:
    """The rotary settings: rope_scaling, the older name, where it holds any, or rope_parameters."""
    key = "rope_scaling" if config.mapping("rope_scaling") else "rope_parameters"
    return config.inside(key)


def parameter(config: Config, key: str, *, name: str = "") -> float:
    """A rotary setting above 0: of the rotary settings, or beside them, or of the class."""
    for place in (settings(config), config):
        if place.has(key):
            return place.number(key, name=name, above=0, required=True) or 0.0
    value = config.number(key, name=name, above=0)
    if value is None:
        value = assumed(config, name or key, _class_wide(config)[key], key)
    return value


def assumed(config: Config, name: str, value: Any, key: str = "") -> Any:
    """Remember a value that the model's class brings along, and return it."""
    config.taken.append(Value(name=name, value=value, origin="default", key=config.at(key or name)))
    return value


def _class_wide(config: Config) -> Mapping[str, Any]:
    facts = config.facts
    return {"rope_theta": facts.get("theta"), "partial_rotary_factor": facts.get("share")}
