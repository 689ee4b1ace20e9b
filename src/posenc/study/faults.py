"""What is wrong with the content. A build collects all faults, then fails with the whole list."""

from __future__ import annotations


class Faults(Exception):
    """The content is not fit to be shown.

    Args:
        found: each fault as one line: where, what, and what to do.
    """

    def __init__(self, found: list[str]) -> None:
        super().__init__(f"{len(found)} faults in the content:\n" + "\n".join(found))
        self.found = found
