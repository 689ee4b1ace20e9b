"""A page to play with: every picture of an encoding, drawn from the library's own numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any


def serve(*, port: int = 8765, open_browser: bool = False, beside: Sequence[Any] = ()) -> None:
    """Serve the explorer on http://127.0.0.1 until Ctrl-C, for this machine only.

    Args:
        port: the port to listen on; 0 takes a free one. The address is printed.
        open_browser: also open the page in the default browser.
        beside: Starlette routes of what else stands on the site.
    Raises:
        ModuleNotFoundError: the extra `explore` is not installed.
        ValueError: `port` is no port.
        OSError: the port is in use or not allowed.
    """
    with needed("posenc explore", "explore"):
        from posenc.explorer import server
    server.serve(port=port, open_browser=open_browser, beside=beside)


def export(
    target: str | Path,
    *,
    beside: Callable[[], Mapping[str, bytes]] = dict,
    progress: Callable[[str], None] = lambda words: None,
) -> int:
    """Write the explorer as files that need no posenc, no server of their own and no network.

    The files hold a few values of each setting, and offer no others.

    Args:
        target: a name that ends in .html for one file, which opens from disk; any other for a
            folder of files for any web host. An earlier export there is replaced.
        beside: gives what else belongs into a folder, by its place there.
        progress: called with words for what is being written.
    Returns:
        Bytes written.
    Raises:
        ModuleNotFoundError: the extra `explore` is not installed.
        ValueError: something else than an export stands at `target`.
        OSError: it cannot be written.
    """
    with needed("posenc export", "explore"):
        from posenc.explorer.copies import writing
    return writing.export(Path(target), beside=beside, progress=progress)


def widget(encoding: Any, room: str = "table") -> Any:
    """A room of the explorer in a notebook: Jupyter, marimo, and what else knows anywidget.

    While the kernel runs, the room shows every setting and reads files, as the page of `posenc
    explore` does. A notebook that was saved with the state of its widgets (in JupyterLab a setting)
    shows without a kernel what the room began with.

    Args:
        encoding: any encoding of posenc, or its short text, such as "rotary:dim=64".
        room: one of the rooms of the explorer: "table", "waves", "clock", ...
    Returns:
        The widget, which the notebook shows. Its `settings` are those chosen in it, as behind # in
        the address of the page; set to others, the room follows.
    Raises:
        ModuleNotFoundError: the extra `widget` is not installed.
        ValueError: there is no such room, or it does not show the encoding.
    Example:
        >>> posenc.widget(posenc.Rotary(dim=64), room="waves")  # doctest: +SKIP
    """
    with needed("posenc.widget", "widget"):
        from posenc.explorer import notebook
    return notebook.RoomWidget.of(encoding, room)


@contextmanager
def needed(what: str, extra: str) -> Iterator[None]:
    """Says which extra to install where an import inside fails."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"{what} needs {error.name}: pip install 'posenc[{extra}]'", name=error.name
        ) from error
