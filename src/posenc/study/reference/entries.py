"""An entry of the reference for each public name."""

from __future__ import annotations

from dataclasses import dataclass

from posenc.study.reference import docstrings, public, signatures
from posenc.study.reference.addresses import Addresses
from posenc.study.reference.public import Object


@dataclass(frozen=True, kw_only=True)
class Entry:
    """What is said about one name, as HTML.

    Args:
        called: the name as a program writes it.
        id: of its place in the page.
        kind: "class", "function", "property" or "value".
        signature: with links.
        sentence: the first sentence.
        body: the rest of its words.
        values: of a class, fields and properties that are only read.
        methods: of a class, what can be called.
        inherited: by the class where they are told, methods with their addresses.
    """

    called: str
    id: str
    kind: str
    signature: str
    sentence: str
    body: str
    values: tuple[Entry, ...] = ()
    methods: tuple[Entry, ...] = ()
    inherited: dict[str, dict[str, str]]


def entry(called: str, one: Object, addresses: Addresses, *, within: str = "") -> Entry:
    """The entry of a class, a function or a value, with those of what is inside of it.

    Args:
        called: its name.
        one: as griffe reads it.
        addresses: where other names lead.
        within: the class that it belongs to.
    """
    whole = f"{within}.{called}" if within else called
    inside = [
        entry(name, member, addresses, within=called) for name, member in public.own(one).items()
    ]
    sentence, body = words(one, addresses, within=within or called)
    return Entry(
        called=called,
        id=whole,
        kind=_kind(one),
        signature=_signature(called, one, addresses),
        sentence=sentence,
        body=body,
        values=tuple(each for each in inside if each.kind != "function"),
        methods=tuple(each for each in inside if each.kind == "function"),
        inherited=_inherited(one, addresses),
    )


def words(one: Object, addresses: Addresses, *, within: str, page: str = "") -> tuple[str, str]:
    """The first sentence of a docstring, and the rest of it.

    Args:
        one: whose docstring it is.
        addresses: where names between backticks lead.
        within: the class whose names come first.
        page: where the words stand; by default, where `one` does.
    """
    page = page or addresses.paths[one.path].partition("#")[0]
    arguments = {each.name for each in one.parameters} if not _is_value(one) else set()

    def code(name: str) -> str:
        return addresses.linked(name, within=within, page=page, but=arguments)

    return docstrings.written(one.docstring.value if one.docstring else "", code)


def _is_value(one: Object) -> bool:
    return one.is_attribute or one.is_module


def _kind(one: Object) -> str:
    if one.is_attribute:
        return "property" if "property" in one.labels else "value"
    return one.kind.value


def _signature(called: str, one: Object, addresses: Addresses) -> str:
    if one.is_class:
        return signatures.of_class(called, public.arguments(one), addresses.of_path)
    if one.is_function:
        return signatures.of_function(called, one, addresses.of_path)
    return signatures.of_attribute(called, one, addresses.of_path)


def _inherited(one: Object, addresses: Addresses) -> dict[str, dict[str, str]]:
    """What a class has from others that have entries, for those who look for it here."""
    own = public.own(one)
    found = {}
    for base in public.bases(one):
        names = {
            name: addresses.paths[member.path]
            for name, member in public.own(base).items()
            if base.path in addresses.paths and name not in own
        }
        if names:
            found[base.name] = names
    return found
