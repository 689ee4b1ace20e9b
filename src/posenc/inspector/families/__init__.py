"""How each model type encodes positions: one reader for each scheme that a type has."""

from __future__ import annotations

from collections.abc import Callable

from posenc.inspector.config import Config
from posenc.inspector.families import (
    convolution,
    coordinates,
    grids,
    image_waves,
    latent,
    layered,
    learned,
    multimodal,
    none,
    patches,
    relative,
    rotary,
    several_tables,
    sinusoidal,
    windows,
)
from posenc.inspector.reading import Use

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
