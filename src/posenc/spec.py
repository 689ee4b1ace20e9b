"""The encodings we know; each as plain data, to JSON and back, and from a short text."""

from __future__ import annotations

import ast
import dataclasses
import difflib
import json
from collections.abc import Mapping
from typing import Any

from posenc import by_parts, longrope, scaling
from posenc.alibi import Alibi
from posenc.axes import LearnedAxes, SinusoidalAxes
from posenc.axial import AxialRotary
from posenc.bipe import Bipe
from posenc.cope import Cope
from posenc.deberta import Deberta
from posenc.decomposed import Decomposed
from posenc.fire import Fire
from posenc.fourier import FourierFeatures, Nerf
from posenc.kerple import Kerple
from posenc.learned import Learned
from posenc.mixed import MixedRotary
from posenc.mrope import MRotary
from posenc.position_maps import DualChunk, Rerope, SelfExtend
from posenc.query_scaling import LogN, Temperature
from posenc.rotary import Rotary
from posenc.sandwich import Sandwich
from posenc.shaw import Shaw
from posenc.sinusoidal import Sinusoidal
from posenc.swin import Swin, SwinV2
from posenc.t5 import T5
from posenc.transformer_xl import TransformerXL
from posenc.xpos import XPos

ENCODINGS: dict[str, type] = {
    "sinusoidal": Sinusoidal,
    "learned": Learned,
    "sinusoidal_axes": SinusoidalAxes,
    "learned_axes": LearnedAxes,
    "fourier_features": FourierFeatures,
    "nerf": Nerf,
    "rotary": Rotary,
    "xpos": XPos,
    "axial_rotary": AxialRotary,
    "mixed_rotary": MixedRotary,
    "m_rotary": MRotary,
    "bipe": Bipe,
    "alibi": Alibi,
    "t5": T5,
    "kerple": Kerple,
    "fire": Fire,
    "sandwich": Sandwich,
    "swin": Swin,
    "swin_v2": SwinV2,
    "shaw": Shaw,
    "transformer_xl": TransformerXL,
    "deberta": Deberta,
    "cope": Cope,
    "decomposed": Decomposed,
}
"""Every encoding by the name it has in data, in the command and in the explorer."""

SCALINGS: dict[str, type] = {
    "linear": scaling.Linear,
    "ntk": scaling.NTK,
    "ntk_by_parts": by_parts.NTKByParts,
    "dynamic_ntk": scaling.DynamicNTK,
    "yarn": by_parts.Yarn,
    "llama3": by_parts.Llama3,
    "longrope": longrope.LongRope,
    "proportional": scaling.Proportional,
}
"""Every rule for the `scaling` of a rotary encoding, by name."""

ADJUSTMENTS: dict[str, type] = {
    "self_extend": SelfExtend,
    "rerope": Rerope,
    "dual_chunk": DualChunk,
    "log_n": LogN,
    "temperature": Temperature,
}
"""What maps the distances, or scales the queries, of another encoding, by name."""

_KINDS = ENCODINGS | SCALINGS | ADJUSTMENTS
_NAMES = {cls: name for name, cls in _KINDS.items()}


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
    kind = data.get("kind")
    if not isinstance(kind, str) or kind not in _KINDS:
        near = difflib.get_close_matches(str(kind), _KINDS, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise ValueError(f"'kind' must be one of {', '.join(_KINDS)}; got {kind!r}.{hint}")
    fields = {f.name: f for f in dataclasses.fields(_KINDS[kind]) if f.init}
    given = {name: value for name, value in data.items() if name != "kind"}
    if unknown := [name for name in given if name not in fields]:
        raise ValueError(
            f"{kind} has no field {', '.join(map(repr, unknown))}; its fields are "
            f"{', '.join(fields)}."
        )
    if missing := [name for name, f in fields.items() if _required(f) and name not in given]:
        raise ValueError(f"{kind} needs {', '.join(map(repr, missing))}, which the data lacks.")
    return _KINDS[kind](**{name: _rich(value, name) for name, value in given.items()})


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
        TypeError: the JSON is no object, or a field has the wrong type.
        ValueError: `text` is no JSON, or describes no valid spec.
    Example:
        >>> from_json('{"kind": "linear", "factor": 4.0}')
        Linear(factor=4.0)
    """
    return from_data(_read_json(text))


def parse(text: str) -> Any:
    """An encoding or scaling from the short text of the command, or from JSON.

    kind:field=value,field=value      a nested one stands in round brackets

    Numbers, true, false, none, words and lists in square brackets are values; a word needs no
    quotes.

    Args:
        text: for example "sinusoidal:dim=4,base=10000", or JSON if it begins with a brace.
    Returns:
        The encoding or scaling.
    Raises:
        ValueError: `text` cannot be read, or describes no valid spec.
        TypeError: a field has the wrong type.
    Example:
        >>> parse("rotary:dim=8,layout=interleaved,scaling=linear(factor=4)").scaling
        Linear(factor=4)
    """
    return from_data(read(text))


def read(text: str) -> Any:
    """The plain data in the short text of the command, or in JSON; nothing is built yet.

    Raises:
        ValueError: `text` cannot be read.
    Example:
        >>> read("sinusoidal:dim=4,layout=half")
        {'kind': 'sinusoidal', 'dim': 4, 'layout': 'half'}
    """
    if text.lstrip().startswith("{"):
        return _read_json(text)
    kind, _, fields = text.strip().partition(":")
    call = text.strip() if "(" in kind else f"{kind or '?'}({fields})"
    try:
        return _value(ast.parse(call, mode="eval").body)
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise ValueError(
            f"cannot read the encoding {_shown(text)}: write kind:field=value,field=value, for "
            "example sinusoidal:dim=4,base=10000 or rotary:dim=128,scaling=linear(factor=4)."
        ) from error


def to_text(spec: Any) -> str:
    """An encoding or scaling as the short text that `parse` reads; defaults are left out.

    Example:
        >>> to_text(Rotary(dim=8, scaling=scaling.Linear(factor=4.0)))
        'rotary:dim=8,scaling=linear(factor=4.0)'
    """
    kind, _, rest = _call(spec).partition("(")
    return f"{kind}:{rest[:-1]}"


def _call(spec: Any) -> str:
    """kind(field=value, ...) with the fields that differ from their defaults."""
    words = [
        f"{field.name}={_word(getattr(spec, field.name))}"
        for field in dataclasses.fields(spec)
        if field.init and getattr(spec, field.name) != field.default
    ]
    return f"{to_data(spec)['kind']}({','.join(words)})"


def _word(value: Any) -> str:
    if dataclasses.is_dataclass(value):
        return _call(value)
    if isinstance(value, tuple):
        return f"[{','.join(map(_word, value))}]"
    if isinstance(value, str):
        return value
    # Of a float64 of NumPy, which is a float, repr says its name too.
    return repr(float(value) if isinstance(value, float) else value).lower()


def _read_json(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_once)
    except (ValueError, SyntaxError) as error:
        raise ValueError(f"a spec must be JSON; {error}.") from error
    except RecursionError as error:
        raise ValueError("a spec must be JSON; this one is nested too deeply.") from error


def _value(node: ast.expr) -> Any:
    """A value of the short text as plain data; anything else than a value is a SyntaxError."""
    match node:
        case ast.Constant(value=bool() | int() | float() | str() | None as value):
            return value
        case ast.Name(id=name):
            return {"true": True, "false": False, "none": None}.get(name.lower(), name)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return -value
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return [_value(item) for item in items]
        case ast.Call(func=ast.Name(id=kind), args=[], keywords=keywords):
            return _once([("kind", kind), *((word.arg, _value(word.value)) for word in keywords)])
    raise SyntaxError(ast.unparse(node))


def _once(pairs: list[tuple[Any, Any]]) -> dict[str, Any]:
    """A dict of fields that each come once: of two that disagree, none may win silently."""
    names = [name for name, _ in pairs]
    if doubled := [name for name in names if names.count(name) > 1]:
        raise SyntaxError(f"{doubled[0]!r} stands there twice")
    return dict(pairs)


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")


def _required(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        return to_data(value)
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


def _rich(value: Any, name: str) -> Any:
    """The value of a field; errors of a nested encoding name the way to the field in it."""
    if isinstance(value, list | tuple):
        return tuple(_rich(item, f"{name}[{k}]") for k, item in enumerate(value))
    if not isinstance(value, Mapping):
        return value
    try:
        return from_data(value)
    except (TypeError, ValueError) as error:
        why = str(error)
        told = f"`{name}.{why[1:]}" if why.startswith("`") else f"`{name}`: {why}"
        raise type(error)(told) from error
