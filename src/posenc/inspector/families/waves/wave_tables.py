"""How sinusoidal vectors are read: their layout in the class, their width, length and base."""

from __future__ import annotations

import dataclasses
import math
from functools import partial
from typing import Any

from posenc.axes import SinusoidalAxes
from posenc.inspector.families.shared import fitted, use
from posenc.inspector.reading import Use
from posenc.inspector.settings.checks import LARGEST
from posenc.inspector.settings.config import Config
from posenc.sinusoidal import Sinusoidal

# One of each way to lay a vector out; the width is still to come.
PAPER = Sinusoidal(dim=2)
PAPER_TRIMMED = Sinusoidal(dim=2, odd="trim")
HALF = Sinusoidal(dim=2, layout="half")
MARIAN = Sinusoidal(dim=2, layout="half", odd="trim")
WHISPER = Sinusoidal(dim=2, layout="half", spacing="endpoint")
FAIRSEQ = Sinusoidal(dim=2, layout="half", spacing="endpoint", odd="pad")
MUSICGEN = Sinusoidal(dim=2, layout="half", spacing="endpoint", first="cos", odd="pad")
COSINES = Sinusoidal(dim=2, layout="half", first="cos")

IMAGE_FEATURES = "queries and keys of image features"


def table(
    config: Config,
    place: str,
    like: Sinusoidal,
    *,
    width: str = "hidden_size",
    length: str = "",
    offset: int = 0,
    remarks: tuple[str, ...] = (),
) -> Use:
    """A table laid out like another one, as wide and long as the settings under these keys."""
    dim = config.integer(width, name="dim", required=True)
    vectors = encoding(config, width, like, dim=dim, offset=offset)
    rows = config.integer(length, name="original_length") if length else None
    return use(config, "sinusoidal", vectors, place=place, original_length=rows, remarks=remarks)


def encoding(
    config: Config,
    key: str,
    like: Sinusoidal,
    *,
    dim: int,
    base: float = 10_000.0,
    offset: int = 0,
) -> Sinusoidal:
    """An encoding laid out like another one; what no class could build is refused.

    Args:
        config: the settings that a finding is about.
        key: the setting that its width comes from.
        like: the other one.
        dim: features of a vector.
        base: of the wavelengths.
        offset: rows before that of the first position.
    """
    if dim % 2 and like.odd == "refuse":
        why = "must be even, because its class fills pairs of features."
        config.refuse("odd-width", key, dim, why, "Take an even number.")
    if not 2 <= dim <= LARGEST:
        why = f"must lie between 2 and {LARGEST:,}."
        config.refuse("absurd-value", key, dim, why, "Put the width of the embeddings there.")
    return fitted(
        config, key, partial(dataclasses.replace, like), dim=dim, base=base, offset=offset
    )


def grid(config: Config, key: str, **fields: Any) -> SinusoidalAxes:
    """Waves of rows and columns, side by side, as wide as the setting `key` says."""
    dim = config.integer(key, required=True)
    return fitted(config, key, SinusoidalAxes, dim=dim, **fields)


def temperature(config: Config, key: str, assumed: float) -> float:
    """The base of the wavelengths, which DETR's kin call a temperature."""
    base = config.number(key, name="base", above=0)
    return config.assume("base", assumed) if base is None else base


def ratio(config: Config, longest: float, shortest: float, *keys: str) -> float:
    """The base that is one setting over another; `keys` name both, the divided one first."""
    base = longest / shortest
    if not 0 < base < math.inf:
        why = f"must be a number that divides {keys[0]} = {longest:g}."
        config.refuse("absurd-value", keys[1], shortest, why, "Put the model's own value there.")
    return config.derive("base", base, *keys)


def unencoded(config: Config, place: str, remark: str) -> Use:
    """No position signal here, because a setting switches it off."""
    return use(config, "none", None, place=place, remarks=(remark,))
