"""What a user has in hand: a file, a folder, standard input, settings, or a name on the hub."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from posenc.inspector.reading import Finding, Reading
from posenc.inspector.settings.parts import read_settings
from posenc.inspector.sources import hub, json_text, params, weights

_GGUF = b"GGUF"
_LATER_PART = re.compile(r"-(?!00001)\d{5}-of-\d{5}\.gguf$")


def read(source: Any) -> Reading:
    """Which positions a model uses, from its own files.

    Args:
        source: one of

            - a path of config.json, of Meta's or Mistral's params.json, or of a GGUF file;
            - a folder that holds one of them; weights beside it, in safetensors, are compared
              with what the settings say, by the shapes in their headers;
            - "-": the same JSON from standard input;
            - settings as a mapping, or a config object of transformers;
            - a name on the Hugging Face Hub, "org/name" or "org/name@revision", where no file or
              folder has that name.
    Returns:
        The encodings at work, where their numbers came from, and what is odd about them.
    Raises:
        TypeError: `source` is none of these.
        ValueError: what it holds cannot be read as settings of a model.
        OSError: there is nothing, or it may not be opened, or the hub cannot be reached.
        ModuleNotFoundError: a GGUF file or a name on the hub needs an extra that is missing.
    Example:
        >>> reading = read({"model_type": "llama", "rope_theta": 500000.0})
        >>> reading
        <Reading of settings: llama, 1 encoding, 0 findings>
        >>> reading.uses[0].encoding.base
        500000.0
    """
    if isinstance(source, Mapping):
        return _from_settings(json_text.plain(source, "settings"))
    if isinstance(source, str | os.PathLike):
        return _from_name(os.fspath(source))
    # What save_pretrained writes: to_dict adds what every config class has, used or not.
    written = getattr(source, "to_diff_dict", None) or getattr(source, "to_dict", None)
    if written is None or isinstance(source, type):
        raise TypeError(
            "`source` must be a path, a name on the hub, settings as a mapping or a config object "
            f"of transformers (model.config for a model); got {type(source).__name__}."
        )
    return _from_settings(json_text.plain(written(), "settings"))


def _from_settings(
    settings: Mapping[str, Any], findings: Iterable[Finding] = (), source: str = "settings"
) -> Reading:
    reader = params.read_params if params.fits(settings) else read_settings
    return reader(settings, source, findings=findings)


def _from_name(name: str) -> Reading:
    if name == "-":
        text = json_text.bounded(sys.stdin.buffer.read(json_text.LARGEST + 1), "standard input")
        return _from_json(text, "standard input")
    if name and _exists(Path(name)):
        return _from_folder(Path(name)) if os.path.isdir(name) else _from_file(Path(name))
    if hub.is_name(name):
        config = hub.config_file(name)
        return weights.compared(_from_file(config, source=name), config.parent)
    if name.lstrip().startswith("{"):
        raise ValueError("JSON is read from a file or, as `-`, from standard input; got its text.")
    raise FileNotFoundError(
        f"{name!r} is no file or folder here, and cannot be a name on the Hugging Face Hub, which "
        f"is org/name or org/name@revision."
    )


def _exists(path: Path) -> bool:
    """Whether something has that name, be it a link that leads nowhere."""
    try:
        path.lstat()
    except PermissionError:
        raise
    except (OSError, ValueError):
        return False
    return True


def _from_file(path: Path, *, source: str = "") -> Reading:
    if path.suffix == ".safetensors":
        raise ValueError(
            f"{path} holds weights and no settings; give the folder in which config.json stands "
            f"beside it."
        )
    if _is_gguf(path):
        return _from_gguf(path)
    return _from_json(json_text.content(path), source or str(path))


def _from_gguf(path: Path) -> Reading:
    from posenc.inspector.sources import gguf_files  # the gguf package takes a while

    return gguf_files.read_gguf(path)


def _is_gguf(path: Path) -> bool:
    if not path.is_file():  # a pipe would wait for its writer
        return False
    with path.open("rb") as file:
        return file.read(len(_GGUF)) == _GGUF


def _from_json(text: bytes, source: str) -> Reading:
    settings, findings = json_text.settings(text, source)
    return _from_settings(settings, findings, source)


def _from_folder(folder: Path) -> Reading:
    for name in ("config.json", "params.json"):
        if _exists(folder / name):
            text = json_text.content(folder / name)
            return weights.compared(_from_json(text, str(folder / name)), folder)
    files = [path for path in sorted(folder.glob("*.gguf")) if not _LATER_PART.search(path.name)]
    if len(files) == 1:
        return _from_gguf(files[0])
    if files:
        names = ", ".join(path.name for path in files[:8])
        raise ValueError(f"{folder} holds several GGUF files; give one of them: {names}.")
    if _exists(folder / "adapter_config.json"):
        raise ValueError(
            f"{folder} holds an adapter, which has the positions of its base model: give the "
            f"`base_model_name_or_path` that stands in adapter_config.json."
        )
    raise FileNotFoundError(
        f"{folder} holds no config.json, no params.json and no GGUF file, which are where the "
        f"settings of a model stand."
    )
