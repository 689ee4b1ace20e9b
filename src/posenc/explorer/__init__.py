"""A page to play with: every picture of an encoding, drawn from the library's own numbers."""

from __future__ import annotations


def serve(*, port: int = 8765, open_browser: bool = False) -> None:
    """Serve the explorer on http://127.0.0.1 until Ctrl-C, for this machine only.

    Args:
        port: the port to listen on; 0 takes a free one. The address is printed.
        open_browser: also open the page in the default browser.
    Raises:
        ModuleNotFoundError: the extra `explore` is not installed.
        ValueError: `port` is no port.
        OSError: the port is in use or not allowed.
    """
    try:
        from posenc.explorer import server
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"posenc explore needs {error.name}: pip install 'posenc[explore]'", name=error.name
        ) from error
    server.serve(port=port, open_browser=open_browser)
