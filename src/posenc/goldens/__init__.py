"""Golden vectors: an encoding's numbers with all their digits, to test a port against."""

from posenc.goldens.vectors import Golden, golden

__all__ = ["Golden", "golden"]
