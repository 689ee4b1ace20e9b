"""A model's settings, its class's assumptions behind them, and a memory of where values stood."""

from __future__ import annotations

import copy
import functools
import json
from collections.abc import Callable, Iterable, Mapping
from importlib import resources
from typing import Any, Literal, NoReturn, TypeVar, overload

from posenc.inspector.reading import Finding, Origin, Severity, Value
from posenc.inspector.settings import checks

T = TypeVar("T")

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
    aliases of keys, parts, and what its rotary settings assume (`theta`, `share`, `rope`).

    Written by tools/model_defaults.py.
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
        self.laid: Mapping[str, Value] = {}

    def fresh(self) -> Config:
        """The same settings, with nothing taken yet: one for each use of an encoding."""
        return self.taking(())

    def taking(self, values: Iterable[Value]) -> Config:
        """The same settings, with these values taken: for one of several uses that share them."""
        same = copy.copy(self)
        same.taken = list(values)
        return same

    def overlaid(self, *values: Value) -> Config:
        """The same settings, with these values where their names stand, whatever the file has
        there; they keep the origin that they bring. What is taken is taken here too.
        """
        same = copy.copy(self)
        same.laid = {**self.laid, **{value.name: value for value in values}}
        same.data = {**self.data, **{value.name: value.value for value in values}}
        return same

    def assuming(self, **defaults: Any) -> Config:
        """The same settings, with what the model's code assumes where its class says nothing."""
        same = copy.copy(self)
        same.defaults = {**defaults, **self.defaults}
        return same

    def without(self, *keys: str) -> Config:
        """The same settings, less some keys and their defaults; what is taken is taken here too."""
        same = copy.copy(self)
        same.data = {key: value for key, value in self.data.items() if key not in keys}
        same.defaults = {key: value for key, value in self.defaults.items() if key not in keys}
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

    def inside(self, key: str, *, defaults: Mapping[str, Any] | None = None) -> Config:
        """A mapping among the settings, such as rope_scaling; its values are taken here too.

        Args:
            key: where it stands.
            defaults: what the model's class assumes inside it.
        """
        inner = self._like(self.mapping(key) or {}, "", self.at(key))
        inner.defaults = defaults or {}
        inner.taken = self.taken
        return inner

    def empty(self) -> Config:
        """Settings that say nothing, for where a model type looks at none."""
        nothing = self._like({}, "", self.path)
        nothing.taken = self.taken
        return nothing

    def at(self, key: str) -> str:
        """Where a key of these settings stands in the file."""
        if key in self.laid:
            return self.laid[key].key
        return f"{self.path}.{key}" if self.path else key

    def has(self, key: str) -> bool:
        """Whether the file itself has the key, under its own name or an alias."""
        return self._name(key) is not None

    def origin(self, key: str) -> Origin:
        """Where the value of a key comes from, if it has one."""
        name = self._name(key)
        if name is None:
            return "default"
        return self.laid[name].origin if name in self.laid else "file"

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
        return self._taken(key, lambda value: checks.integer(key, value, at_least), name, required)

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
        return self._taken(key, lambda value: checks.number(value, above, at_least), name, required)

    @overload
    def word(self, key: str, *, name: str = ..., required: Literal[True]) -> str: ...
    @overload
    def word(self, key: str, *, name: str = ..., required: Literal[False] = ...) -> str | None: ...
    def word(self, key: str, *, name: str = "", required: bool = False) -> str | None:
        """A string, or None where there is none."""
        return self._taken(key, checks.word, name, required)

    def flag(self, key: str, *, name: str = "") -> bool:
        """True or false; what is missing is false. 0 and 1 pass as well."""
        return bool(self._taken(key, checks.flag, name, required=False))

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
        return self._taken(key, checks.numbers, name, required)

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
            found = checks.integers(key, value, at_least)
            if required and not found:
                raise ValueError("must not be empty")
            return found

        return self._taken(key, check, name, required)

    @overload
    def words(self, key: str, *, name: str = ..., required: Literal[True]) -> tuple[str, ...]: ...
    @overload
    def words(
        self, key: str, *, name: str = ..., required: Literal[False] = ...
    ) -> tuple[str, ...] | None: ...
    def words(self, key: str, *, name: str = "", required: bool = False) -> tuple[str, ...] | None:
        """A list of strings as a tuple, or None where there is none."""
        return self._taken(key, checks.words, name, required)

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
                self._missing(key)
            return None
        found = self._name(key)
        try:
            value = check(value)
        except (TypeError, ValueError) as error:
            code = "wrong-type" if isinstance(error, TypeError) else "absurd-value"
            self.refuse(code, found or key, value, f"{error}.", "Put the model's own value there.")
        self._take(
            Value(name=name or key, value=value, origin=self.origin(key), key=self.at(found or key))
        )
        return value

    def _missing(self, key: str) -> NoReturn:
        self.refuse(
            "missing-key",
            key,
            None,
            "is missing, and nothing can stand in for it.",
            f"Add `{key}`, with the value the model was trained with.",
        )

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
