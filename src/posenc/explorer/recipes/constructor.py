"""The Python that makes an encoding."""

from __future__ import annotations

import dataclasses
from typing import Any


def constructor(encoding: Any) -> str:
    """The call that makes an encoding, after `import posenc`; defaults are left out.

    Example:
        >>> from posenc import Linear, Rotary
        >>> constructor(Rotary(dim=64, scaling=Linear(factor=4.0)))
        'posenc.Rotary(dim=64, scaling=posenc.Linear(factor=4.0))'
    """
    fields = [
        f"{field.name}={_value(getattr(encoding, field.name))}"
        for field in dataclasses.fields(encoding)
        if field.init and getattr(encoding, field.name) != field.default
    ]
    return f"posenc.{type(encoding).__name__}({', '.join(fields)})"


def _value(value: Any) -> str:
    if dataclasses.is_dataclass(value):
        return constructor(value)
    if isinstance(value, tuple):
        return f"({', '.join(map(_value, value))}{',' * (len(value) == 1)})"
    return repr(value)
