"""What the page needs to draw an encoding: a few exact numbers instead of a table, or the table.

A recipe holds every number that a method is made of, exact through JSON. The page multiplies,
adds, takes sines and looks up; it knows no method.
"""

from posenc.explorer.recipes.limits import FARTHEST, LARGEST, ROWS, built, read
from posenc.explorer.recipes.made import recipe, table

__all__ = ["FARTHEST", "LARGEST", "ROWS", "built", "read", "recipe", "table"]
