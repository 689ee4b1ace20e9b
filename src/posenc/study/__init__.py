"""Lessons, formula pages, quizzes and cards, whose every number is worked out by the library."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from posenc import explorer


def serve(*, port: int = 8765, open_browser: bool = False) -> None:
    """Serve the lessons beside the explorer; see `posenc.explorer.serve`.

    Args:
        port: the port to listen on; 0 takes a free one.
        open_browser: also open the page in the default browser.
    Raises:
        ModuleNotFoundError: the extra `explore` is not installed.
        ValueError: `port` is no port.
        OSError: the port is in use or not allowed.
    """
    with explorer.needed("posenc explore", "explore"):
        from posenc.study import served, site
    # The pages take some seconds, in which a visitor may already look at the rooms.
    threading.Thread(target=site.built, daemon=True).start()
    explorer.serve(port=port, open_browser=open_browser, beside=served.routes())


def export(target: str | Path, *, progress: Callable[[str], None] = lambda words: None) -> int:
    """Write the explorer and, into a folder, the lessons; see `posenc.explorer.export`.

    Args:
        target: a name that ends in .html for the explorer in one file; any other for a folder.
        progress: called with words for what is being written.
    Returns:
        Bytes written.
    Raises:
        ModuleNotFoundError: the extra `explore` is not installed.
        ValueError: something else than an export stands at `target`.
        OSError: it cannot be written.
    """
    with explorer.needed("posenc export", "explore"):
        from posenc.study import copied
    return explorer.export(target, beside=copied.files, progress=progress)
