"""The files of the page put together: modules that need no server, and links that need none."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

STATIC = Path(__file__).parent / "static"

_LONG = 400  # characters of a string that is worth a place of its own

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
        entries: paths in static/, such as "main.js".
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
        done[_beside(path, address)] = _alone(_beside(path, address))
    source = _COMMENT.sub("", source)
    source = _IMPORT.sub(lambda found: f'{found[1]}"module:{_beside(path, found[2])}"', source)
    done[path] = _WORKER.sub(
        lambda found: f'new Worker("module:{_beside(path, found[1])}")', source
    )


def _alone(entry: str) -> str:
    """A module and all that it imports as one classic script; no two may share a name."""
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


def pooled(data: Any) -> list[Any]:
    """Data as [strings, text]: as JSON in which every long string stands once.

    In the text an object {"long": n} stands for strings[n].

    Example:
        >>> strings, text = pooled(["x" * 400, "x" * 400, "y"])
        >>> [len(one) for one in strings], text
        ([400], '[{"long":0},{"long":0},"y"]')
    """
    strings: dict[str, int] = {}

    def short(part: Any) -> Any:
        if isinstance(part, Mapping):
            return {name: short(value) for name, value in part.items()}
        if isinstance(part, list | tuple):
            return [short(value) for value in part]
        if isinstance(part, str) and len(part) >= _LONG:
            return {"long": strings.setdefault(part, len(strings))}
        return part

    written = text(short(data))
    return [list(strings), written]


def text(data: Any) -> str:
    """Data as short JSON."""
    return json.dumps(data, separators=(",", ":"), allow_nan=False)


def data(content: Any) -> str:
    """Data as the content of a script element.

    Example:
        >>> data({"a": "</script>"})
        '{"a":"\\\\u003c/script>"}'
    """
    return text(content).replace("<", "\\u003c")


def packed(data: Any) -> str:
    """Data as JSON, packed with gzip, as base64; the same data give the same text.

    Example:
        >>> import base64, gzip
        >>> gzip.decompress(base64.b64decode(packed({"a": 1})))
        b'{"a":1}'
    """
    return base64.b64encode(gzip.compress(text(data).encode(), 9, mtime=0)).decode()


def script(source: str) -> str:
    """A text as the content of an inline script, which a "</script>" in it must not end.

    Example:
        >>> script("</script>")
        '<\\\\/script>'
    """
    return source.replace("</", "<\\/")
