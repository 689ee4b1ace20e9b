"""Golden content as a file: JSON text, or NumPy's NPZ; the same content gives the same bytes."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from posenc.goldens.content import Content, array, flat


def write(path: Path, content: Content) -> None:
    """Write content in the form that the end of `path` names."""
    path.write_bytes(_form(path).dump(content))


def read(path: Path) -> Any:
    """The content of a file, not checked yet.

    Raises:
        ValueError: `path` has another end, or the file cannot be read as what its end says.
        OSError: the file cannot be read.
    """
    form, data = _form(path), path.read_bytes()
    try:
        return form.load(data)
    except Exception as error:  # whatever a damaged file makes the readers stumble over
        raise ValueError(f"{path.name} cannot be read as {path.suffix}: {error}.") from error


def to_json(content: Content) -> str:
    """Content as JSON text, one number a line."""
    return json.dumps(content, indent=1, allow_nan=False) + "\n"


# In an NPZ these parts are arrays of their own, and all others one JSON text named header.
_ARRAYS = ("weights", "float64", "float32")
_TIMES = (1980, 1, 1, 0, 0, 0)  # the earliest a zip file can name, so that bytes never differ


def _to_npz(content: Content) -> bytes:
    small = {name: part for name, part in content.items() if name not in _ARRAYS}
    members = {"header": np.asarray(json.dumps(small))}
    for kind in _ARRAYS:
        members |= {f"{kind}/{name}": array(data) for name, data in content[kind].items()}
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, values in members.items():
            info = zipfile.ZipInfo(f"{name}.npy", _TIMES)
            info.create_system = 3  # the same on Windows as on Unix
            with archive.open(info, "w") as member:
                np.lib.format.write_array(member, values, allow_pickle=False)
    return file.getvalue()


def _from_npz(data: bytes) -> Any:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {}
        for name in archive.namelist():
            with archive.open(name) as member:
                values = np.lib.format.read_array(member, allow_pickle=False)
                members[name.removesuffix(".npy")] = values
    content = json.loads(str(members.pop("header"))) | {kind: {} for kind in _ARRAYS}
    for name, values in members.items():
        kind, _, name = name.partition("/")
        content[kind][name] = flat(values)
    return content


class _Form(NamedTuple):
    dump: Callable[[Content], bytes]
    load: Callable[[bytes], Any]


_FORMS = {
    ".json": _Form(lambda content: to_json(content).encode(), json.loads),
    ".npz": _Form(_to_npz, _from_npz),
}


def _form(path: Path) -> _Form:
    if path.suffix not in _FORMS:
        raise ValueError(f"`path` must end in {' or '.join(_FORMS)}; got {path.name!r}.")
    return _FORMS[path.suffix]
