"""A model's settings, its class's assumptions behind them, and a memory of where values stood."""

from __future__ import annotations

import functools
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from importlib import resources
from typing import Any, Literal, NoReturn, TypeVar, overload

from posenc.inspector.reading import Finding, Severity, Value

T = TypeVar("T")


COUNTS = re.compile("dim|size|head|layer|channel|hidden|model|depth|width|embd")
"""Keys that count features, heads or layers: numbers that lists are made of."""

LARGEST = 65_536
"""The largest such count that is believed, so that a hostile file cannot fill the memory."""

LAYERS = re.compile("layer|depth|repeats")
"""Keys that count layers."""

MOST_LAYERS = 10_000
"""The most layers that are believed; a reading lists them one by one."""

MOST_FINDINGS = 50
"""Findings of one code; a file with more is broken anyhow, and its words must have an end."""


class Unfit(ValueError):
    """A setting that no encoding can be read from; it carries the finding that says so."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(f"`{finding.key}` {finding.why}")
        self.finding = finding


@functools.cache
def facts() -> Mapping[str, Any]:
    """What the config classes of transformers assume: for each model type its class, defaults,
    aliases of keys, parts, and default base (`theta`). Written by tools/model_defaults.py.
    """
    return json.loads(
        (resources.files("posenc.inspector.settings") / "defaults.json").read_text("utf-8")
    )


def keep(findings: list[Finding], finding: Finding) -> None:
    """Put down a finding that is not there yet, unless there are plenty of its kind."""
    alike = [other for other in findings if other.code == finding.code]
    if len(alike) < MOST_FINDINGS and finding not in alike:
        findings.append(finding)


class Config:
    """The settings of one part of a model.

    A key is looked up in the file first, under its own name or the alias that the model's class
    has for it, then among the defaults of that class. A null in the file hides a default, as it
    does in transformers. Every value that is asked for is remembered in `taken`.

    Args:
        data: the settings as they stand in the file.
        model_type: whose defaults and aliases stand behind them; "" for none.
        path: where the settings stand in the file: "text_config", or "" for the whole file.
        findings: where to put findings; shared by all parts of a model.
        read: paths of all settings that somebody asked for; shared likewise.
    """

    def __init__(
        self,
        data: Mapping[str, Any],
        *,
        model_type: str = "",
        path: str = "",
        findings: list[Finding] | None = None,
        read: set[str] | None = None,
    ) -> None:
        self.data = data
        self.model_type = model_type
        self.path = path
        self.findings = [] if findings is None else findings
        self.read = set() if read is None else read
        self.taken: list[Value] = []
        self.facts: Mapping[str, Any] = facts().get(model_type, {}) if model_type else {}
        self.defaults: Mapping[str, Any] = self.facts.get("defaults", {})

    def fresh(self) -> Config:
        """The same settings, with nothing taken yet: one for each use of an encoding."""
        same = self._like(self.data, self.model_type, self.path)
        same.defaults = self.defaults
        return same

    def taking(self, values: Iterable[Value]) -> Config:
        """The same settings, with these values taken: for one of several uses that share them."""
        same = self.fresh()
        same.taken = list(values)
        return same

    def renamed(self, model_type: str) -> Config:
        """The same settings, with the defaults of another model type."""
        return self._like(self.data, model_type, self.path)

    def part(self, key: str, model_type: str) -> Config:
        """The settings of a sub-config, with the defaults of its own model type.

        Where the file has none, it is what the model's class would give it.
        """
        given = self.mapping(key)
        if given is None:
            given = self.facts.get("parts", {}).get(key, {}).get("given", {})
        return self._like(given, model_type, self.at(key))

    def inside(self, key: str) -> Config:
        """A mapping among the settings, such as rope_scaling; its values are taken here too."""
        inner = self._like(self.mapping(key) or {}, "", self.at(key))
        inner.taken = self.taken
        return inner

    def at(self, key: str) -> str:
        """Where a key of these settings stands in the file."""
        return f"{self.path}.{key}" if self.path else key

    def has(self, key: str) -> bool:
        """Whether the file itself has the key, under its own name or an alias."""
        return self._name(key) is not None

    def declares(self, key: str) -> bool:
        """Whether the model's class has the key, read or not."""
        return key in self.defaults or key in self.facts.get("aliases", {})

    def get(self, key: str) -> Any:
        """The value of a key as it stands, or the default of the model's class, or None."""
        name = self._name(key)
        self.read.add(self.at(key))
        if name is not None:
            self.read.add(self.at(name))
            return self.data[name]
        return self.defaults.get(self._alias(key), self.defaults.get(key))

    @overload
    def integer(
        self, key: str, *, name: str = ..., at_least: int = ..., required: Literal[True]
    ) -> int: ...
    @overload
    def integer(
        self, key: str, *, name: str = ..., at_least: int = ..., required: Literal[False] = ...
    ) -> int | None: ...
    def integer(
        self, key: str, *, name: str = "", at_least: int = 1, required: bool = False
    ) -> int | None:
        """A whole number, or None where there is none."""

        def check(value: Any) -> int:
            if isinstance(value, float) and value.is_integer():
                value = int(value)
            if isinstance(value, bool) or not isinstance(value, int):
                raise TypeError("must be a whole number")
            if value < at_least:
                raise ValueError(f"must be at least {at_least}")
            _believable(key, value)
            return value

        return self._taken(key, check, name, required)

    @overload
    def number(
        self,
        key: str,
        *,
        name: str = ...,
        above: float | None = ...,
        at_least: float | None = ...,
        required: Literal[True],
    ) -> float: ...
    @overload
    def number(
        self,
        key: str,
        *,
        name: str = ...,
        above: float | None = ...,
        at_least: float | None = ...,
        required: Literal[False] = ...,
    ) -> float | None: ...
    def number(
        self,
        key: str,
        *,
        name: str = "",
        above: float | None = None,
        at_least: float | None = None,
        required: bool = False,
    ) -> float | None:
        """A finite number, or None where there is none."""

        def check(value: Any) -> float:
            _finite(value)
            if above is not None and value <= above:
                raise ValueError(f"must be greater than {above:g}")
            if at_least is not None and value < at_least:
                raise ValueError(f"must be at least {at_least:g}")
            return float(value)

        return self._taken(key, check, name, required)

    @overload
    def word(self, key: str, *, name: str = ..., required: Literal[True]) -> str: ...
    @overload
    def word(self, key: str, *, name: str = ..., required: Literal[False] = ...) -> str | None: ...
    def word(self, key: str, *, name: str = "", required: bool = False) -> str | None:
        """A string, or None where there is none."""

        def check(value: Any) -> str:
            if not isinstance(value, str):
                raise TypeError("must be a word")
            return value

        return self._taken(key, check, name, required)

    def flag(self, key: str, *, name: str = "") -> bool:
        """True or false; what is missing is false. 0 and 1 pass as well."""

        def check(value: Any) -> bool:
            if not isinstance(value, bool) and value not in (0, 1):
                raise TypeError("must be true or false")
            return bool(value)

        return bool(self._taken(key, check, name, required=False))

    @overload
    def numbers(
        self, key: str, *, name: str = ..., required: Literal[True]
    ) -> tuple[float, ...]: ...
    @overload
    def numbers(
        self, key: str, *, name: str = ..., required: Literal[False] = ...
    ) -> tuple[float, ...] | None: ...
    def numbers(
        self, key: str, *, name: str = "", required: bool = False
    ) -> tuple[float, ...] | None:
        """A list of finite numbers as a tuple, or None where there is none."""

        def check(value: Any) -> tuple[float, ...]:
            for item in _list(value):
                _finite(item)
            return tuple(float(item) for item in value)

        return self._taken(key, check, name, required)

    @overload
    def integers(
        self, key: str, *, name: str = ..., at_least: int = ..., required: Literal[True]
    ) -> tuple[int, ...]: ...
    @overload
    def integers(
        self, key: str, *, name: str = ..., at_least: int = ..., required: Literal[False] = ...
    ) -> tuple[int, ...] | None: ...
    def integers(
        self, key: str, *, name: str = "", at_least: int = 1, required: bool = False
    ) -> tuple[int, ...] | None:
        """A list of whole numbers as a tuple, or None where there is none."""

        def check(value: Any) -> tuple[int, ...]:
            if required and not _list(value):
                raise ValueError("must not be empty")
            for item in _list(value):
                if isinstance(item, bool) or not isinstance(item, int) or item < at_least:
                    raise TypeError(f"must be a list of whole numbers, each at least {at_least}")
                _believable(key, item)
            return tuple(value)

        return self._taken(key, check, name, required)

    @overload
    def words(self, key: str, *, name: str = ..., required: Literal[True]) -> tuple[str, ...]: ...
    @overload
    def words(
        self, key: str, *, name: str = ..., required: Literal[False] = ...
    ) -> tuple[str, ...] | None: ...
    def words(self, key: str, *, name: str = "", required: bool = False) -> tuple[str, ...] | None:
        """A list of strings as a tuple, or None where there is none."""

        def check(value: Any) -> tuple[str, ...]:
            if not all(isinstance(item, str) for item in _list(value)):
                raise TypeError("must be a list of words")
            return tuple(value)

        return self._taken(key, check, name, required)

    def mapping(self, key: str) -> Mapping[str, Any] | None:
        """A mapping as it stands, or None where there is none."""
        value = self.get(key)
        if value is not None and not isinstance(value, Mapping):
            self.refuse("wrong-type", key, value, "must be a mapping.", "Write it in braces: {}.")
        return value

    def derive(self, name: str, value: Any, *keys: str) -> Any:
        """Remember a value that was made from the settings `keys`, and return it."""
        where = " and ".join(self.at(key) for key in keys)
        self._take(Value(name=name, value=value, origin="fallback", key=where))
        return value

    def assume(self, name: str, value: T, key: str = "") -> T:
        """Remember a value that the model's class assumes for a missing key, and return it.

        Without a key it stands in the code of the model, where no setting changes it.
        """
        where = self.at(key) if key else ""
        self._take(Value(name=name, value=value, origin="default", key=where))
        return value

    def find(
        self, severity: Severity, code: str, key: str, value: Any, why: str, cure: str
    ) -> None:
        """Put down a finding about a key of these settings."""
        finding = Finding(
            severity=severity, code=code, key=self.at(key), value=value, why=why, cure=cure
        )
        keep(self.findings, finding)

    def refuse(self, code: str, key: str, value: Any, why: str, cure: str) -> NoReturn:
        """Give up on an encoding, because of a key that it cannot do without."""
        raise Unfit(
            Finding(severity="error", code=code, key=self.at(key), value=value, why=why, cure=cure)
        )

    def _like(self, data: Mapping[str, Any], model_type: str, path: str) -> Config:
        return Config(
            data, model_type=model_type, path=path, findings=self.findings, read=self.read
        )

    def _taken(self, key: str, check: Callable[[Any], T], name: str, required: bool) -> T | None:
        value = self.get(key)
        if value is None:
            if required:
                self.refuse(
                    "missing-key",
                    key,
                    None,
                    "is missing, and nothing can stand in for it.",
                    f"Add `{key}`, with the value the model was trained with.",
                )
            return None
        try:
            value = check(value)
        except (TypeError, ValueError) as error:
            code = "wrong-type" if isinstance(error, TypeError) else "absurd-value"
            named = self._name(key) or key
            self.refuse(code, named, value, f"{error}.", "Put the model's own value there.")
        origin = "default" if self._name(key) is None else "file"
        where = self.at(self._name(key) or key)
        self._take(Value(name=name or key, value=value, origin=origin, key=where))
        return value

    def _take(self, value: Value) -> None:
        if value not in self.taken:
            self.taken.append(value)

    def _alias(self, key: str) -> str:
        return self.facts.get("aliases", {}).get(key, key)

    def _name(self, key: str) -> str | None:
        """The name under which the file has a key, if it has it; aliases win, as their class sets
        them last.
        """
        aliases = self.facts.get("aliases", {})
        own = aliases.get(key, key)
        names = [alias for alias, meant in aliases.items() if meant == own]
        return next((name for name in (*names, own, key) if name in self.data), None)


def _believable(key: str, value: int) -> None:
    """Refuse a whole number that no model has, before something is made that many times."""
    if value >= 2**53:
        raise ValueError("must be below 2**53")
    most = MOST_LAYERS if LAYERS.search(key) else LARGEST
    if value > most and (COUNTS.search(key) or LAYERS.search(key)):
        raise ValueError(f"must be at most {most:,}, more than any model has")


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise TypeError("must be a list")
    return list(value)


def _finite(value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError("must be a number")
    try:
        finite = math.isfinite(value)
    except OverflowError:
        finite = False
    if not finite:
        raise ValueError("must be finite")
