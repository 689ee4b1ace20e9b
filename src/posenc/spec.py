"""The encodings we know; each as plain data, to JSON and back, and from a short text."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

from posenc import scaling
from posenc.rotary import Rotary
from posenc.sinusoidal import Sinusoidal

ENCODINGS: dict[str, type] = {
    "sinusoidal": Sinusoidal,
    "rotary": Rotary,
}
"""Every encoding by the name it has in data, in the command and in the explorer."""

SCALINGS: dict[str, type] = {
    "linear": scaling.Linear,
}
"""Every rule for the `scaling` of a rotary encoding, by name."""

_NAMES = {cls: name for name, cls in {**ENCODINGS, **SCALINGS}.items()}


def to_data(spec: Any) -> dict[str, Any]:
    """An encoding or scaling as plain data: its kind, then every field.

    Args:
        spec: an encoding, for example Sinusoidal(dim=4), or a scaling.
    Returns:
        A dict of strings, numbers, booleans, None, lists and such dicts: ready for JSON.
    Raises:
        TypeError: `spec` is none of the encodings and scalings that posenc knows.
    Example:
        >>> to_data(scaling.Linear(factor=4.0))
        {'kind': 'linear', 'factor': 4.0}
    """
    if type(spec) not in _NAMES:
        raise TypeError(
            f"`spec` must be an encoding or a scaling of posenc; got {type(spec).__name__}."
        )
    fields = {f.name: getattr(spec, f.name) for f in dataclasses.fields(spec) if f.init}
    return {"kind": _NAMES[type(spec)]} | {name: _plain(value) for name, value in fields.items()}


def from_data(data: Mapping[str, Any]) -> Any:
    """The encoding or scaling that `to_data` described.

    Args:
        data: a mapping with "kind" and the fields of that kind; fields left out take their
            defaults where they have one.
    Returns:
        The encoding or scaling.
    Raises:
        TypeError: `data` is no mapping, or a field has the wrong type.
        ValueError: the kind is unknown, a field is unknown or missing, or a value is not valid.
    Example:
        >>> from_data({"kind": "sinusoidal", "dim": 4})
        Sinusoidal(dim=4, base=10000.0, layout='interleaved', spacing='paper', first='sin',
                   offset=0, odd='refuse')
    """
    if not isinstance(data, Mapping):
        raise TypeError(f"a spec must be a mapping with a 'kind'; got {type(data).__name__}.")
    known = ENCODINGS | SCALINGS
    kind = data.get("kind")
    if not isinstance(kind, str) or kind not in known:
        raise ValueError(f"'kind' must be one of {', '.join(known)}; got {kind!r}.")
    fields = {f.name: f for f in dataclasses.fields(known[kind]) if f.init}
    given = {name: value for name, value in data.items() if name != "kind"}
    if unknown := [name for name in given if name not in fields]:
        raise ValueError(
            f"{kind} has no field {', '.join(map(repr, unknown))}; its fields are "
            f"{', '.join(fields)}."
        )
    if missing := [name for name, f in fields.items() if _required(f) and name not in given]:
        raise ValueError(f"{kind} needs {', '.join(map(repr, missing))}, which the data lacks.")
    return known[kind](**{name: _rich(value) for name, value in given.items()})


def to_json(spec: Any, *, indent: int | None = None) -> str:
    """An encoding or scaling as JSON text.

    Example:
        >>> to_json(scaling.Linear(factor=4.0))
        '{"kind": "linear", "factor": 4.0}'
    """
    return json.dumps(to_data(spec), indent=indent, allow_nan=False)


def from_json(text: str) -> Any:
    """The encoding or scaling that `to_json` wrote.

    Raises:
        ValueError: `text` is no JSON, or describes no valid spec.
    Example:
        >>> from_json('{"kind": "linear", "factor": 4.0}')
        Linear(factor=4.0)
    """
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"a spec must be JSON; {error}.") from error
    return from_data(data)


def _required(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        return to_data(value)
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


def _rich(value: Any) -> Any:
    if isinstance(value, Mapping):
        return from_data(value)
    return tuple(_rich(item) for item in value) if isinstance(value, list | tuple) else value
