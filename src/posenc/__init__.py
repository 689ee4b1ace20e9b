"""Positional encodings for Transformers: every encoding, exact, fast, explained."""

from posenc.rotary import Rotary
from posenc.scaling import Linear
from posenc.sinusoidal import Sinusoidal

__all__ = ["Linear", "Rotary", "Sinusoidal"]
