"""The reference of the public names: what each takes and gives, as its docstring says."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from posenc.study.reference import entries, public
from posenc.study.reference.addresses import Addresses
from posenc.study.reference.public import TOPICS

__all__ = ["TOPICS", "Reference", "reference"]


@dataclass(frozen=True, kw_only=True)
class Reference:
    """Every public name, once.

    Args:
        pages: what stands on each page, by the page's name: its title, its words, its entries.
        places: the address of each name from the folder of the pages, by the name as it is
            written in a program without "posenc." in front: "Rotary", "torch.rotate".
    """

    pages: Mapping[str, Mapping[str, Any]]
    places: Mapping[str, str]


@functools.cache
def reference() -> Reference:
    """The reference, read from the library's own files."""
    root = public.library()
    topics = {topic.name: topic for group in TOPICS.values() for topic in group}
    members = {name: public.members(topic, root) for name, topic in topics.items()}
    modules = {module: topic.name for topic in topics.values() for module in topic.modules}
    addresses = Addresses(members, modules)
    pages = {
        name: {
            "title": topic.title or f"posenc.{topic.modules[0]}",
            "extra": topic.extra,
            "words": entries.words(root[topic.modules[0]], addresses, within="", page=name),
            "entries": [
                entries.entry(called, one, addresses) for called, one in members[name].items()
            ],
        }
        for name, topic in topics.items()
    }
    return Reference(pages=pages, places=addresses.places)
