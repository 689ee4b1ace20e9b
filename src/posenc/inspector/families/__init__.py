"""How each model type encodes positions: one reader for each scheme that a type has."""

from __future__ import annotations

from collections.abc import Callable

from posenc.inspector.families import convolution, none
from posenc.inspector.families.biases import relative, windows
from posenc.inspector.families.tables import learned, patches, several_tables
from posenc.inspector.families.turning import grids, latent, layered, multimodal, rotary
from posenc.inspector.families.waves import coordinates, image_waves, sinusoidal
from posenc.inspector.reading import Use
from posenc.inspector.settings.config import Config

Reader = Callable[[Config], list[Use]]

_SCHEMES = (
    rotary,
    latent,
    layered,
    multimodal,
    grids,
    learned,
    sinusoidal,
    relative,
    patches,
    several_tables,
    image_waves,
    coordinates,
    windows,
    convolution,
    none,
)


def readers(model_type: str) -> tuple[Reader, ...]:
    """The readers of a model type, one for each scheme it has; none for unknown types."""
    return tuple(scheme.READERS[model_type] for scheme in _SCHEMES if model_type in scheme.READERS)
