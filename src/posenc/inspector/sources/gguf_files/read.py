"""A GGUF file in, what the model in it does with positions out: its metadata, and no weights.

Values are read by the `gguf` package, after header.py has made sure that the file can hold
what it claims. Keys are told apart by llama.cpp's meaning: it is what runs these files.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from posenc.inspector.reading import Part, Reading
from posenc.inspector.settings.config import Config
from posenc.inspector.sources.gguf_files import findings, other, rotary
from posenc.inspector.sources.gguf_files.architectures import NOT_MODELS
from posenc.inspector.sources.gguf_files.divisors import LONG, SHORT, WHOLE
from posenc.inspector.sources.gguf_files.header import Header, refuse, walk
from posenc.inspector.sources.gguf_files.other import POSITIONS

_ORDER = {"error": 0, "warning": 1, "note": 2}
_DIVISORS = (WHOLE, SHORT, LONG)
_MOST_DIVISORS = 65_536

Path = os.PathLike[str] | str


def read_gguf(path: Path) -> Reading:
    """What a model does with positions, from the metadata of its GGUF file.

    Args:
        path: of the file; of the first one, where a model is split.
    Returns:
        As for a config file; keys are in full: "llama.rope.freq_base".
    Raises:
        ImportError: the gguf package is missing.
        OSError: there is no such file, or it may not be read.
        ValueError: it is no GGUF file, it is broken, or there is no model in it.
    """
    header = walk(path)
    file = _decode(path, header)
    architecture = _architecture(path, file.keys)
    config = Config(_own_keys(file.keys, architecture), path=architecture)
    config.defaults = rotary.DEFAULTS
    uses = other.uses(config, file.tensors)
    if uses is None:
        uses = rotary.uses(config, file.tensors)
    uses = findings.complete(config, uses, file.tensors, whole=header.whole)
    worst_first = sorted(config.findings, key=lambda finding: _ORDER[finding.severity])
    return Reading(
        source=os.fspath(path),
        model_type=architecture,
        parts=(Part(name="", model_type=architecture, uses=tuple(uses)),),
        findings=tuple(worst_first),
    )


@dataclass(frozen=True, kw_only=True)
class _File:
    """Keys with their values, and of the tensors that matter: divisors, or a shape."""

    keys: Mapping[str, Any]
    tensors: Mapping[str, tuple[float, ...]]


def _decode(path: Path, header: Header) -> _File:
    try:
        import gguf
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "reading GGUF files needs gguf: pip install 'posenc[gguf]'"
        ) from error

    class Reader(gguf.GGUFReader):
        """gguf's reader, which passes over what nobody asks for.

        It decodes half a million words one by one, which takes seconds, and maps every tensor,
        also those of types that it does not know yet. Without these two methods it would read
        the same, only slower.
        """

        def _get_field_parts(self, orig_offs: int, raw_type: int) -> Any:
            end = header.skipped.get(orig_offs)
            if end is None:
                return super()._get_field_parts(orig_offs, raw_type)
            return end - orig_offs, [], [], []

        def _build_tensors(self, start_offs: int, fields: list[Any]) -> None:
            shapes = {field.name: field.parts[3].tolist() for field in fields}
            self.table = tuple(reversed(shapes.get(POSITIONS, [])))  # ggml: columns first
            super()._build_tensors(start_offs, [f for f in fields if f.name in _DIVISORS])

    try:
        reader = Reader(path)
        keys = {name: _value(field) for name, field in reader.fields.items()}
        tensors = {tensor.name: _numbers(tensor) for tensor in reader.tensors}
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        why = error.args[0] if isinstance(error, KeyError) else error
        refuse(path, str(why), "convert the model again")
    if reader.table:
        tensors[POSITIONS] = reader.table
    return _File(keys=keys, tensors=tensors)


def _value(field: Any) -> Any:
    """A value as Python has it; None for one that was passed over.

    Floats of 32 bits become the shortest number that they stand for, as the author wrote it:
    1e-05, not 9.999999747378752e-06.
    """
    if not field.types:
        return None
    value = field.contents()
    if not field.data or str(field.parts[field.data[-1]].dtype.name) != "float32":
        return value
    parts = [float(str(field.parts[index][0])) for index in field.data]
    return parts if isinstance(value, list) else parts[0]


def _numbers(tensor: Any) -> tuple[float, ...]:
    """The numbers of a small tensor."""
    if tensor.data.dtype.kind != "f" or tensor.data.size > _MOST_DIVISORS:
        raise ValueError(
            f"the tensor {tensor.name} has {tensor.n_elements} numbers of type "
            f"{tensor.tensor_type.name}, where a few floats belong"
        )
    return tuple(tensor.data.ravel().astype("float64").tolist())


def _architecture(path: Path, keys: Mapping[str, Any]) -> str:
    """What the file calls its model."""
    if keys.get("split.no"):
        why = f"it is part {keys['split.no'] + 1} of a split model"
        refuse(path, why, "name the first part, which has the settings")
    kind = keys.get("general.type", "model")
    if kind != "model":
        refuse(path, f"it holds no model but: {kind}", "name the file of the model itself")
    architecture = keys.get("general.architecture")
    if not isinstance(architecture, str) or not architecture:
        refuse(path, "it has no general.architecture", "convert the model again")
    if architecture in NOT_MODELS:
        refuse(path, f"it holds {NOT_MODELS[architecture]}", "name the file of the model itself")
    return architecture


def _own_keys(keys: Mapping[str, Any], architecture: str) -> dict[str, Any]:
    start = f"{architecture}."
    return {
        name.removeprefix(start): value
        for name, value in keys.items()
        if name.startswith(start) and value is not None
    }
