"""The explorer as files: a folder for any web host, or one file that opens from disk."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from posenc import __version__
from posenc.explorer import page
from posenc.explorer.copies import bundle, held, packing, shelves, single
from posenc.explorer.methods import METHODS
from posenc.explorer.rooms import ROOMS

Progress = Callable[[str], None]

_MADE = '<meta name="generator" content="posenc '
_POLICY = (
    "default-src 'self'; img-src 'self' blob: data:; base-uri 'none'; form-action 'none'; "
    "object-src 'none'"
)


def export(
    target: Path,
    *,
    beside: Callable[[], Mapping[str, bytes]] = dict,
    progress: Progress = lambda _: None,
) -> int:
    """Write the explorer to a folder, or to one file if the name ends in .html.

    Args:
        target: the folder or the file; an earlier export there is replaced.
        beside: gives what else belongs into a folder, by its place there.
        progress: called with words for what is being made.
    Returns:
        Bytes written.
    Raises:
        ValueError: something else than an export stands at `target`.
        OSError: it cannot be written.
    """
    one = target.suffix.lower() in (".html", ".htm")
    _refuse_others(target, one)
    target.parent.mkdir(parents=True, exist_ok=True)
    # Beside the target, so that a half-made export never stands in its place.
    with tempfile.TemporaryDirectory(prefix=".posenc-", dir=target.parent) as place:
        made = Path(place) / "made"
        if one:
            made.write_text(_file(progress))
        else:
            _write_folder(made, beside(), progress)
        if target.exists():
            target.rename(Path(place) / "before")
        made.rename(target)
    every = target.rglob("*") if target.is_dir() else [target]
    return sum(path.stat().st_size for path in every if path.is_file())


def _refuse_others(target: Path, one: bool) -> None:
    if not target.exists() or (target.is_dir() and not one and not any(target.iterdir())):
        return
    if target.is_dir() == one:
        kind = "a folder" if one else "a file"
        raise ValueError(f"{target} is {kind}; choose another name.")
    first = target if one else target / "index.html"
    if not first.is_file() or _MADE not in first.read_text(errors="replace")[:1000]:
        raise ValueError(f"{target} is not an export, and stays as it is; choose another name.")


def _file(progress: Progress) -> str:
    every = {}
    for kind in METHODS:
        progress(f"numbers of {kind}")
        every[kind] = shelves.shelf(kind, ROOMS)
    progress("the file")
    return single.page({"kind": "file"}, {name: held.content(name) for name in ROOMS}, every)


def _write_folder(folder: Path, beside: Mapping[str, bytes], progress: Progress) -> None:
    unused = shutil.ignore_patterns("single.js", "widget.js")
    shutil.copytree(bundle.STATIC, folder / "static", ignore=unused)
    (folder / "static" / "maths.woff").write_bytes(page.font())
    (folder / "data").mkdir()
    for kind in METHODS:
        progress(f"numbers of {kind}")
        text = packing.text(packing.pooled(shelves.shelf(kind, ROOMS)))
        (folder / "data" / f"{kind}.json").write_text(text)
    for name in ("", *ROOMS):
        progress(f"page {name or 'index'}")
        shown = page.html(name, held.content(name) if name else {}, lessons=bool(beside))
        (folder / _address(f"/{name}")).write_text(_folder_page(shown))
    for place, content in beside.items():
        _write(folder / place, content)


def _write(file: Path, content: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)


def _folder_page(shown: str) -> str:
    return bundle.linked(shown, _address).replace(
        '<meta charset="utf-8">',
        f"""<meta charset="utf-8">
  {_MADE}{__version__}">
  <meta http-equiv="Content-Security-Policy" content="{_POLICY}">
  <script type="application/json" id="baked">{{"kind": "folder"}}</script>
  <script src="static/disk.js"></script>""",
        1,
    )


def _address(path: str) -> str:
    """Where a page or a file of the server stands in the folder."""
    if path.startswith("/static/"):
        return path[1:]
    if path.endswith("/") and path != "/":
        return f"{path[1:]}index.html"
    return f"{path[1:] or 'index'}.html"
