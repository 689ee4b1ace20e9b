"""Where the names of the reference lead."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from posenc.study.reference import docstrings, public
from posenc.study.reference.public import Object

_FOLDER = "../reference/"


class Addresses:
    """The place of every name, by what is written and by where it is defined.

    Args:
        members: by page, the public objects by the name they are called by.
        modules: the page of each module.
    """

    def __init__(
        self, members: Mapping[str, Mapping[str, Object]], modules: Mapping[str, str]
    ) -> None:
        self.modules = modules
        self.places: dict[str, str] = dict(modules)
        self.paths: dict[str, str] = {}
        for page, objects in members.items():
            for called, one in objects.items():
                self._add(page, called, one)
                for name, member in public.own(one).items():
                    self._add(page, f"{called}.{name}", member)

    def _add(self, page: str, called: str, one: Object) -> None:
        place = f"{page}#{called}"
        self.places[called.removeprefix("posenc.")] = place
        self.paths.setdefault(one.path, place)

    def of_path(self, path: str) -> str | None:
        """The address of what is defined at a path such as posenc.rotary.Rotary."""
        # A field may have the name of a module, and then seems to be what its type is part of.
        short = ".".join(["posenc", *path.split(".")[-2:]])
        place = self.paths.get(path) or self.paths.get(short)
        return f"{_FOLDER}{place}" if place else None

    def linked(self, name: str, *, within: str, page: str, but: Collection[str]) -> str:
        """A name between backticks as HTML, with a link if the reader would ask where it leads.

        Args:
            name: what stands between the backticks.
            within: what the words are about, whose own names come first.
            page: where they stand.
            but: names that are no more than arguments.
        """
        shown, asked = docstrings.plain(name), name.partition("(")[0]
        if asked in but:
            return shown
        if asked.startswith("posenc."):
            tried = [asked.removeprefix("posenc.")]
        else:
            tried = [f"{within}.{asked}".removeprefix("posenc."), f"{page}.{asked}"]
            tried += [asked] if asked not in self.modules else []  # it may be any other word
        place = next((self.places[each] for each in tried if each in self.places), None)
        return f'<a href="{_FOLDER}{place}">{shown}</a>' if place else shown
