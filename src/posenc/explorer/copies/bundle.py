"""The files of the page put together: modules that need no server, and links that need none."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from posenc.explorer.copies import packing

STATIC = Path(__file__).parents[1] / "static"

_IMPORT = re.compile(r'''(from |import )"(\.[^"]+)"''')
_COMMENT = re.compile(r"^ *(//[^\n]*|/\*.*?\*/)\n", re.MULTILINE | re.DOTALL)  # on lines of its own
_WORKER = re.compile(
    r"""new Worker\(new URL\("([^"]+)", import\.meta\.url\), \{ type: "module" \}\)"""
)
_LINK = re.compile(r'''(href|src)="(/[^"]*)"''')


def modules(*entries: str) -> list[list[str]]:
    """Modules of the page with all that they import, each after those that it imports.

    A worker comes as one script of the classic kind: browsers start no others from disk.

    Args:
        entries: paths in static/, such as "rooms/table.js".
    Returns:
        [path, source] of each, without comments; in the source the address of another module is
        "module:" with its path, which whoever loads them replaces.
    Raises:
        ValueError: modules import one another in a circle.
    Example:
        >>> [path for path, _ in modules("worker.js")]
        ['kernel.js', 'worker.js']
    """
    done: dict[str, str] = {}
    for entry in entries:
        _add(entry, done, ())
    return [[path, source] for path, source in done.items()]


def _add(path: str, done: dict[str, str], waiting: tuple[str, ...]) -> None:
    if path in waiting:
        raise ValueError(f"modules import one another: {' -> '.join([*waiting, path])}.")
    if path in done:
        return
    source = (STATIC / path).read_text()
    for _, address in _IMPORT.findall(source):
        _add(_beside(path, address), done, (*waiting, path))
    for address in _WORKER.findall(source):
        done[_beside(path, address)] = alone(_beside(path, address))
    source = _COMMENT.sub("", source)
    source = _IMPORT.sub(lambda found: f'{found[1]}"module:{_beside(path, found[2])}"', source)
    done[path] = _WORKER.sub(
        lambda found: f'new Worker("module:{_beside(path, found[1])}")', source
    )


def alone(entry: str) -> str:
    """A module and all that it imports as one script without imports; no two may share a name.

    Example:
        >>> "import {" in alone("single.js")
        False
    """
    done: dict[str, str] = {}
    _add(entry, done, ())
    whole = "\n".join(done.values())
    return re.sub(r"^import .*$", "", re.sub(r"^export ", "", whole, flags=re.M), flags=re.M)


def _beside(path: str, address: str) -> str:
    return (STATIC / path).parent.joinpath(address).resolve().relative_to(STATIC).as_posix()


def linked(page: str, address: Callable[[str], str]) -> str:
    """A page with every address of this server replaced.

    Example:
        >>> linked('<a href="/table">', lambda path: f".{path}.html")
        '<a href="./table.html">'
    """
    return _LINK.sub(lambda found: f'{found[1]}="{address(found[2])}"', page)


def body(page: str) -> str:
    """What stands in the body of a page, without what is for browsers that run no script."""
    inner = page.partition("<body>")[2].rpartition("</body>")[0]
    return re.sub(r"<noscript>.*?</noscript>", "", inner, flags=re.DOTALL).strip()


def data(content: Any) -> str:
    """Data as the content of a script element.

    Example:
        >>> data({"a": "</script>"})
        '{"a":"\\\\u003c/script>"}'
    """
    return packing.text(content).replace("<", "\\u003c")


def script(source: str) -> str:
    """A text as the content of an inline script, which a "</script>" in it must not end.

    Example:
        >>> script("</script>")
        '<\\\\/script>'
    """
    return source.replace("</", "<\\/")
