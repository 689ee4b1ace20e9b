"""An encoding worked through by hand, step by step, as data and as text."""

from posenc.explanations.explanation import Explanation, Line, Step
from posenc.explanations.families import explain

__all__ = ["Explanation", "Line", "Step", "explain"]
