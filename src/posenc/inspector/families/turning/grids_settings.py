"""What readers of grids share: the base, and whether the axes can share the width of a head."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from posenc.axial import AxialRotary
from posenc.inspector.families import shared
from posenc.inspector.reading import Use
from posenc.inspector.settings.checks import LARGEST
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
    fields = {"head_dim": head_dim, "first_position": first_position, "remarks": remarks}
    return shared.use(config, KIND, encoding, place=place, **fields)


def check_width(config: Config, dim: int, multiple: int, key: str) -> None:
    """Refuse features that the axes cannot share in pairs."""
    if dim < multiple or dim % multiple:
        config.refuse(
            "absurd-value", key, config.get(key),
            f"makes {dim} features turn; it must be a multiple of {multiple}, so that each axis "
            "takes an equal number of pairs.",
            "Put the model's own value there.",
        )  # fmt: skip


def share(config: Config, width: int, factor: float) -> int:
    """So many of a width's features as partial_rotary_factor says."""
    key = "partial_rotary_factor"
    if width * factor > LARGEST:
        config.refuse(
            "absurd-value", key, factor, f"must not make more than {LARGEST:,} features turn.",
            "Put the model's own value there.",
        )  # fmt: skip
    return int(width * factor)


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
            return place.number(key, name=name, above=0, required=True)
    value = config.number(key, name=name, above=0)
    if value is None:
        value = config.assume(name or key, _class_wide(config)[key], key)
    return value


def _class_wide(config: Config) -> Mapping[str, Any]:
    facts = config.facts
    return {"rope_theta": facts.get("theta"), "partial_rotary_factor": facts.get("share")}
