"""Known wrong versions of encodings, kept to recognise and to teach them."""

from posenc.mistakes.catalogue import MISTAKES
from posenc.mistakes.made import change, named, numbers, of
from posenc.mistakes.mistake import Mistake

__all__ = ["MISTAKES", "Mistake", "change", "named", "numbers", "of"]
