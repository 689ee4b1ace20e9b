"""Python of a page: run when the site is built, so that what it prints can stand below it."""

from __future__ import annotations

import functools
import io
from typing import Any


class Session:
    """The programs of one page, run one after the other with the same names."""

    def __init__(self) -> None:
        self._printed = io.StringIO()
        # Only these programs print here: the server that builds the site prints elsewhere.
        self._names: dict[str, Any] = {
            "__name__": "page",
            "print": functools.partial(print, file=self._printed),
        }

    def run(self, code: str) -> str:
        """What a program prints.

        Raises:
            ValueError: it fails; says how.
        Example:
            >>> Session().run("print(2 + 3)")
            '5\\n'
        """
        self._printed.seek(0)
        self._printed.truncate()
        try:
            exec(compile(code, "<page>", "exec"), self._names)
        except Exception as error:
            raise ValueError(f"{type(error).__name__}: {error}") from error
        return self._printed.getvalue()
