"""How each model type encodes positions: one reader for each scheme that a type has."""

from __future__ import annotations

from posenc.inspector.families import convolution, none
from posenc.inspector.families.biases import (
    alibi,
    buckets,
    distance_vectors,
    page_buckets,
    speech_distances,
    windows,
)
from posenc.inspector.families.shared import Reader
from posenc.inspector.families.tables import (
    boxes,
    patches,
    patches_own,
    pieces,
    queries,
    rows_columns,
    tokens,
)
from posenc.inspector.families.turning import (
    by_kind,
    grids,
    grids_own,
    grids_sam,
    latent,
    mixed_heads,
    multimodal,
    own_tables,
    rotary,
    some_layers,
)
from posenc.inspector.families.waves import (
    coordinates,
    detr,
    image_waves,
    pieces as wave_pieces,
    sinusoidal,
    times,
)

_SCHEMES = (
    rotary,
    own_tables,
    latent,
    by_kind,
    some_layers,
    mixed_heads,
    multimodal,
    grids,
    grids_own,
    grids_sam,
    tokens,
    boxes,
    queries,
    pieces,
    sinusoidal,
    wave_pieces,
    times,
    alibi,
    buckets,
    page_buckets,
    distance_vectors,
    speech_distances,
    patches,
    patches_own,
    rows_columns,
    image_waves,
    detr,
    coordinates,
    windows,
    convolution,
    none,
)


def readers(model_type: str) -> tuple[Reader, ...]:
    """The readers of a model type, one for each scheme it has; none for unknown types."""
    return tuple(scheme.READERS[model_type] for scheme in _SCHEMES if model_type in scheme.READERS)
