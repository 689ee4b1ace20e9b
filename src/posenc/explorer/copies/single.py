"""One file with everything inside: rooms, modules, styles, font and numbers."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping
from typing import Any

from posenc import __version__
from posenc.explorer import page as pages
from posenc.explorer.copies import bundle, packing


def page(
    copy: Mapping[str, Any],
    rooms: Mapping[str, Any],
    shelves: Mapping[str, Any],
    *,
    extra: str = "",
) -> str:
    """A page that needs nothing but itself.

    Args:
        copy: what kind of copy it is, for its script: `kind` "file", or "notebook" with the `room`
            that it shows and its `settings`.
        rooms: the content of each room by name, see `page.content`.
        shelves: its numbers by the kind of encoding, see `shelves.shelf`.
        extra: rules of style for this page alone.
    Returns:
        HTML. Its Content-Security-Policy lets it ask nobody for anything.
    """
    scripts = {name: bundle.script(bundle.alone(name)) for name in ("theme.js", "single.js")}
    icon = _base64((bundle.STATIC / "icon.svg").read_bytes())
    style = _style("style.css") + _font() + extra
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="generator" content="posenc {__version__}">
<meta http-equiv="Content-Security-Policy" content="{_policy(scripts.values(), style)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>posenc explorer</title>
<link rel="icon" href="data:image/svg+xml;base64,{icon}">
<style>{style}</style>
<script>{scripts["theme.js"]}</script>
<script type="application/json" id="baked">{bundle.data(copy)}</script>
<script type="text/plain" id="program">{packing.packed(_program(copy, rooms))}</script>
<script type="text/plain" id="numbers">{packing.packed(shelves)}</script>
</head>
<body>
<noscript><p>This page is drawn by a script that this browser does not run.</p></noscript>
<script type="module">{scripts["single.js"]}</script>
</body>
</html>
"""


def _program(copy: Mapping[str, Any], rooms: Mapping[str, Any]) -> dict[str, Any]:
    shown = {name: _room(name, content) for name, content in rooms.items()}
    entries = [f"rooms/{name}.js" for name in rooms]
    if copy["kind"] == "file":
        shown[""] = _room("", {})
        entries.append("front.js")
    return {"rooms": shown, "modules": bundle.modules(*entries)}


def _room(name: str, content: Mapping[str, Any]) -> dict[str, Any]:
    whole = bundle.linked(pages.html(name, dict(content)), _address)
    title = re.search("<title>(.*?)</title>", whole)
    made: dict[str, Any] = {"title": title[1] if title else "", "body": bundle.body(whole)}
    if not name:
        return made
    return made | {"content": content, "style": _style(f"{name}.css")}


def _address(path: str) -> str:
    return f"#room={path[1:]}"


def _style(name: str) -> str:
    """A stylesheet without its comments and indents; "" where there is none."""
    file = bundle.STATIC / name
    text = re.sub(r"/\*.*?\*/", "", file.read_text() if file.exists() else "", flags=re.DOTALL)
    return re.sub(r"\s+", " ", text).strip()


def _font() -> str:
    inside = f"data:font/woff;base64,{_base64(pages.font())}"
    return _style("maths.css").replace("maths.woff", inside)


def _policy(scripts: Any, style: str) -> str:
    sums = " ".join(_source(script) for script in scripts)
    return (
        f"default-src 'none'; script-src {sums} blob:; worker-src blob:; "
        f"style-src {_source(style)}; font-src data:; img-src data: blob:; base-uri 'none'; "
        "form-action 'none'"
    )


def _source(text: str) -> str:
    """An inline script or style as a policy names it."""
    return f"'sha256-{_base64(hashlib.sha256(text.encode()).digest())}'"


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()
