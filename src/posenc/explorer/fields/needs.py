"""Which settings a known mistake needs, where it is not made in an encoding as it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from posenc import mistakes, spec
from posenc.explorer.fields import settings as setting
from posenc.explorer.fields.controls import Control, made as known
from posenc.explorer.recipes import built
from posenc.mistakes import Mistake

Settings = dict[str, Any]

_NEAR = 8
"""Values of a number that are tried."""


def idle(encoding: Any) -> list[Mistake]:
    """The mistakes of this kind of encoding that are not made in it as it is."""
    made = mistakes.of(encoding)
    return [one for one in mistakes.MISTAKES if type(encoding) in one.kinds and one not in made]


def needed(encoding: Any, mistake: Mistake) -> Settings | None:
    """The fewest changes of the settings of an encoding under which a mistake is made in it.

    Args:
        encoding: one of the kinds in which the mistake is made.
        mistake: one that is not made in it as it is.
    Returns:
        New settings by the name of their control; None where no change of one setting does it,
        neither from the present settings nor from the first ones.
    Example:
        >>> from posenc import Rotary
        >>> needed(Rotary(dim=64), mistakes.named("YaRN ramp reversed"))
        {'scaling': 'yarn'}
    """
    kind = spec.to_data(encoding)["kind"]
    try:
        present = setting.values(spec.to_data(encoding))
    except ValueError:
        return None  # it is beyond the form
    for start in (present, {}):
        for changed in _changed(kind, start):
            if _made(kind, changed, mistake):
                return _fewest(kind, present, changed, mistake)
    return None


def words(kind: str, changes: Mapping[str, Any]) -> str:
    """Settings as one would say them.

    Example:
        >>> words("rotary", {"scaling": "yarn"})
        'Scaling to YaRN'
    """
    controls = {control["name"]: control for control in known(kind)}
    return " and ".join(
        f"{controls[name]['label']} to {_value(controls[name], value)}"
        for name, value in changes.items()
    )


def _value(control: Control, value: Any) -> str:
    labels = {option["value"]: option["label"] for option in control.get("options", ())}
    return str(labels.get(value, value))


def _changed(kind: str, start: Settings) -> Iterator[Settings]:
    """Settings with one of them changed, to its first value or to those near the present one."""
    usual = {control["name"]: control["default"] for control in known(kind)}
    every = usual | start
    active = [control for control in known(kind) if setting.active(control, every)]
    for control in sorted(active, key=lambda one: "options" not in one):  # choices first
        name = control["name"]
        for value in _values(control, every[name]):
            yield start | {name: value}


def _values(control: Control, present: Any) -> list[Any]:
    if "options" in control:
        return [option["value"] for option in control["options"] if option["value"] != present]
    low, high, step = control["min"], control["max"], control["step"]
    stops = control.get("stops") or range(low, high + 1, step)
    near = sorted(stops, key=lambda stop: abs(stop - present))
    return [value for value in (control["default"], *near[:_NEAR]) if value != present]


def _made(kind: str, settings: Settings, mistake: Mistake) -> bool:
    try:
        return mistake in mistakes.of(built(setting.data(kind, settings)))
    except ValueError:
        return False  # two settings that exclude each other


def _fewest(kind: str, present: Settings, found: Settings, mistake: Mistake) -> Settings:
    """The changes that lead from the present settings to others, without those it does not take."""
    usual = {control["name"]: control["default"] for control in known(kind)}
    now, then = usual | present, usual | found
    changes = {name: then[name] for name in usual if then[name] != now[name]}
    for name in list(changes):
        fewer = {other: value for other, value in changes.items() if other != name}
        if _made(kind, present | fewer, mistake):
            changes = fewer
    return changes
