"""The study site as files for a folder that any web host can serve."""

from __future__ import annotations

import re

from posenc.study import site

_LINK = re.compile(r'((?:href|data-room)=")\.\./([^"#]*)')


def files() -> dict[str, bytes]:
    """Every file of the site by its place in the folder."""
    built = site.built()
    pages = {place(address): _page(text).encode() for address, text in built.pages.items()}
    static = {f"study/{file.name}": file.read_bytes() for file in (site.HERE / "static").iterdir()}
    return pages | dict(built.files) | static | {"study/maths.woff": site.font()}


def place(address: str) -> str:
    """Where a page stands in the folder.

    Example:
        >>> [place(address) for address in ("", "learn/", "learn/rotary", "cards/posenc.txt")]
        ['index.html', 'learn/index.html', 'learn/rotary.html', 'cards/posenc.txt']
    """
    if not address or address.endswith("/"):
        return f"{address}index.html"
    return address if "." in address.rpartition("/")[2] else f"{address}.html"


def _page(text: str) -> str:
    linked = _LINK.sub(lambda found: f"{found[1]}../{place(found[2])}", text)
    return linked.replace('<body class="study"', '<body class="study" data-suffix=".html"')
