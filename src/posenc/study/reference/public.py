"""What is public, where it is written about, and what it is called: read without importing it.

griffe reads the source, so that the pages of `posenc.torch` need no PyTorch and every signature
shows its shapes as they are written.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import griffe

import posenc
from posenc.explorer.methods import GROUPS, METHODS

Object = Any
"""A module, class, function or attribute of griffe; they have no common type worth naming."""


@dataclass(frozen=True, kw_only=True)
class Topic:
    """What one page of the reference is about.

    Args:
        name: the last part of the page's address.
        modules: whose names stand on it, without "posenc." in front.
        title: what it is called; the first module by default.
        extra: what must be installed to use it.
    """

    name: str
    modules: tuple[str, ...]
    title: str = ""
    extra: str = ""


def _encodings(kinds: tuple[str, ...]) -> tuple[Topic, ...]:
    """A page for each file that has encodings."""
    titles: dict[str, list[str]] = {}
    for kind in kinds:
        made = type(METHODS[kind].encoding)
        titles.setdefault(made.__module__.removeprefix("posenc."), []).append(made.__name__)
    return tuple(
        Topic(name=module, modules=(module,), title=", ".join(names))
        for module, names in titles.items()
    )


TOPICS: dict[str, tuple[Topic, ...]] = {
    **{group: _encodings(kinds) for group, kinds in GROUPS.items()},
    "Texts longer than trained": (
        Topic(name="scaling", modules=("scaling", "by_parts", "longrope"), title="Scaling rules"),
        Topic(name="position_maps", modules=("position_maps",), title="Position maps"),
        Topic(name="query_scaling", modules=("query_scaling",), title="Scaled queries"),
        Topic(name="randomized", modules=("randomized",)),
    ),
    "Positions, layouts, settings": tuple(
        Topic(name=module, modules=(module,))
        for module in ("positions", "grids", "convert", "spec")
    ),
    "Look, check, recognise": (
        Topic(name="explanations", modules=("explanations",), title="explain"),
        Topic(name="properties", modules=("properties",), title="check"),
        Topic(name="identification", modules=("identification",), title="identify"),
        Topic(name="goldens", modules=("goldens",), title="golden"),
        Topic(name="mistakes", modules=("mistakes",)),
        Topic(name="inspector", modules=("inspector",), title="read"),
        Topic(name="plot", modules=("plot",), extra="plot"),
        Topic(name="explorer", modules=("explorer",), title="explorer and widget", extra="explore"),
    ),
    "PyTorch and Hugging Face": (
        Topic(name="torch", modules=("torch",), extra="torch"),
        Topic(name="torch-transformers", modules=("torch.transformers",), extra="torch"),
        Topic(name="torch-onnx", modules=("torch.onnx",), extra="torch"),
    ),
}


def library() -> Object:
    """The whole of posenc as griffe reads it; nothing of it runs."""
    return griffe.load(
        "posenc",
        search_paths=[Path(posenc.__file__).parents[1]],
        allow_inspection=False,
        resolve_aliases=True,
    )


def members(topic: Topic, root: Object) -> dict[str, Object]:
    """The objects of a page by their names: those of `posenc` itself first, then classes."""
    found = {}
    for name in topic.modules:
        for member in _of_module(root[name]):
            found[_called(member, root[name], root)] = member
    for member in [*found.values()]:
        for base in bases(member):
            if base not in found.values() and not base.name.startswith("_"):
                found[base.path] = base
    order = ("class", "function", "attribute")

    def place(one: tuple[str, Object]) -> tuple[bool, int]:
        called, member = one
        return called.count(".") > 1, order.index(member.kind.value)

    return dict(sorted(found.items(), key=place))


def bases(member: Object) -> list[Object]:
    """The classes of posenc that a class takes its methods from, the nearest first."""
    return member.mro() if member.is_class else []


def own(one: Object) -> dict[str, Object]:
    """What a class says itself: public methods, properties and values that have words.

    What it has from a class with an underscore counts as its own: nobody reads about that one.
    """
    hidden = [base for base in bases(one) if base.name.startswith("_")]
    found: dict[str, Object] = {}
    for part in (one, *hidden) if one.is_class else ():
        for name, member in part.members.items():
            hides = name.startswith("_") or member.is_alias or member.is_class
            if member.docstring and not hides:
                found.setdefault(name, member)
    return found


def arguments(one: Object) -> list[Any]:
    """The arguments of a class; a module of PyTorch has its encoding's, then its options."""
    if not one.path.startswith("posenc.torch."):
        return list(one.parameters)
    wrapped = one.members.get("kind")
    encoding = None
    if wrapped is not None and wrapped.value is not None:
        encoding = one.modules_collection[wrapped.value.canonical_path]
    found = {each.name: each for each in encoding.parameters} if encoding else {}
    for part in (one, *bases(one)):
        given = part.members["__init__"].parameters if "__init__" in part.members else ()
        found |= {each.name: each for each in given if each.name not in found}
    fields = found.pop("fields", None)
    return [*found.values(), *([fields] if fields and not encoding else [])]


def _of_module(module: Object) -> Iterator[Object]:
    """What a module offers: what it lists or, of a plain file, what it says enough about."""
    if module.exports is not None:
        yield from (_target(module[name]) for name in module.exports)
        return
    for name, member in module.members.items():
        if name.startswith("_"):
            continue
        if member.is_alias:
            if module.is_init_module and member.target_path.startswith(f"{module.path}."):
                yield _target(member)
        elif not member.is_module and _told(member):
            yield member


def _target(member: Object) -> Object:
    return member.final_target if member.is_alias else member


def _told(member: Object) -> bool:
    """Whether a name of a file is meant for others, as its words show."""
    words = member.docstring.value if member.docstring else ""
    if member.is_function:
        return "Args:\n" in words or "Example:\n" in words
    if member.is_attribute:
        return bool(words) or str(member.value).startswith("Literal[")
    return bool(words)


def _called(member: Object, module: Object, root: Object) -> str:
    """The shortest name that an importing program can write."""
    offered = root.members.get(member.name)
    if member.name in posenc.__all__ and offered is not None and _target(offered) is member:
        return f"posenc.{member.name}"
    return f"{module.path}.{member.name}"
