"""Which encoding made a table, and is a known mistake in it?"""

from posenc.identification.identity import Guess, Identity
from posenc.identification.match import identify

__all__ = ["Guess", "Identity", "identify"]
