"""From settings to the data of a spec and back, by the rule that the browser follows too."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from posenc import spec
from posenc.explorer.fields import options
from posenc.explorer.fields.controls import Control, made as known
from posenc.explorer.methods import METHODS
from posenc.explorer.recipes import built, ends


def data(kind: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """The data of the encoding that settings describe; nothing is built or checked yet.

    Begin with the data of the encoding as it is at first. Then, control by control in their
    order: pass over those whose `when` does not hold, and put the value at `path`, for a choice
    the `data` of its option.

    Args:
        kind: one of `posenc.spec.ENCODINGS`.
        values: settings by the name of their control; those left out have their default.
    Returns:
        As `recipes.built` takes it: `posenc.spec` data with the lists of LongRoPE by their ends.
    Raises:
        KeyError: there is no such encoding, or a choice has no such option.
    Example:
        >>> data("alibi", {"heads": 12, "rule": "plain"})["rule"]
        'plain'
        >>> data("rotary", {"scaling": "linear"})["scaling"]
        {'kind': 'linear', 'factor': 4.0}
    """
    every = known(kind)
    settings = {control["name"]: control["default"] for control in every} | dict(values)
    made = spec.to_data(METHODS[kind].encoding)
    for control in every:
        if active(control, settings):
            *path, last = control["path"]
            _at(made, path)[last] = _meant(control, settings[control["name"]])
    return made


def values(described: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that describe an encoding: what the function `data` takes to give it again.

    Args:
        described: data as `posenc.spec.to_data` gives it; fields left out have their defaults.
    Returns:
        The settings that differ from their defaults, by the name of their control.
    Raises:
        TypeError: `described` is no valid encoding.
        ValueError: likewise; or it is beyond what the controls can describe.
    Example:
        >>> values({"kind": "rotary", "dim": 64, "scaling": {"kind": "yarn", "factor": 8.0,
        ...     "original_length": 8192}})
        {'scaling': 'yarn', 'factor': 8.0, 'original_length': 8192}
    """
    encoding = spec.from_data(described)
    full = ends.ends(spec.to_data(encoding))
    if full["kind"] not in METHODS:
        raise ValueError(f"{type(encoding).__name__} is no encoding, so there are no controls.")
    every = known(full["kind"])
    settings = {control["name"]: control["default"] for control in every}
    for control in every:
        if active(control, settings):
            *path, last = control["path"]
            settings[control["name"]] = _shown(control, _at(full, path)[last])
    if built(data(full["kind"], settings)) != encoding:
        raise ValueError(f"the controls of the page do not reach every field of {encoding!r}.")
    return {
        control["name"]: settings[control["name"]]
        for control in every
        if settings[control["name"]] != control["default"]
    }


def active(control: Control, settings: Mapping[str, Any]) -> bool:
    """Whether a control counts under the other settings."""
    return all(settings[name] in meant for name, meant in control.get("when", {}).items())


def _at(data: Any, path: list[str]) -> Any:
    for name in path:
        data = data[name]
    return data


def _meant(control: Control, value: Any) -> Any:
    if "options" not in control:
        return value
    by_value = {option["value"]: option["data"] for option in control["options"]}
    return copy.deepcopy(by_value[value])


def _shown(control: Control, held: Any) -> Any:
    """The value of a control for what the data holds at its path."""
    if "options" in control:
        fitting = [one["value"] for one in control["options"] if options.means(one, held)]
    else:
        fitting = [held] if held is not None and control["min"] <= held <= control["max"] else []
    if not fitting:
        raise ValueError(f"{control['label']} cannot be set to {held!r} on the page.")
    return fitting[0]
