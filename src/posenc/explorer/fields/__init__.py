"""The fields of every encoding as settings that a visitor can change."""

from __future__ import annotations

from posenc.explorer.fields.controls import controls
from posenc.explorer.fields.needs import needed
from posenc.explorer.fields.settings import data, values

__all__ = ["controls", "data", "needed", "values"]
