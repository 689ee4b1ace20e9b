"""What an encoding keeps, computed: bounded, distinct, relative, decaying, ..."""

from posenc.properties.board import Board, Property
from posenc.properties.looks import check

__all__ = ["Board", "Property", "check"]
