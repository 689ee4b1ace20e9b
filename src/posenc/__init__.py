"""Positional encodings for Transformers: every encoding, exact, fast, explained.

The names below are loaded when they are first used, so that importing posenc costs next to
nothing and opens neither PyTorch nor JAX.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from posenc import (
        convert as convert,
        positions as positions,
        randomized as randomized,
        scaling as scaling,
        spec as spec,
    )
    from posenc.alibi import Alibi as Alibi
    from posenc.axes import LearnedAxes as LearnedAxes, SinusoidalAxes as SinusoidalAxes
    from posenc.axial import AxialRotary as AxialRotary
    from posenc.bipe import Bipe as Bipe
    from posenc.by_parts import Llama3 as Llama3, NTKByParts as NTKByParts, Yarn as Yarn
    from posenc.cope import Cope as Cope
    from posenc.deberta import Deberta as Deberta
    from posenc.decomposed import Decomposed as Decomposed
    from posenc.explanations import Explanation as Explanation, explain as explain
    from posenc.explorer import widget as widget
    from posenc.fire import Fire as Fire
    from posenc.fourier import FourierFeatures as FourierFeatures, Nerf as Nerf
    from posenc.goldens import Golden as Golden, golden as golden
    from posenc.identification import identify as identify
    from posenc.inspector import read as read
    from posenc.kerple import Kerple as Kerple
    from posenc.learned import Learned as Learned
    from posenc.longrope import LongRope as LongRope
    from posenc.mixed import MixedRotary as MixedRotary
    from posenc.mrope import MRotary as MRotary
    from posenc.position_maps import (
        DualChunk as DualChunk,
        Rerope as Rerope,
        SelfExtend as SelfExtend,
    )
    from posenc.properties import check as check
    from posenc.query_scaling import LogN as LogN, Temperature as Temperature
    from posenc.rotary import Rotary as Rotary
    from posenc.sandwich import Sandwich as Sandwich
    from posenc.scaling import (
        NTK as NTK,
        DynamicNTK as DynamicNTK,
        Linear as Linear,
        Proportional as Proportional,
    )
    from posenc.shaw import Shaw as Shaw
    from posenc.sinusoidal import Sinusoidal as Sinusoidal
    from posenc.swin import Swin as Swin, SwinV2 as SwinV2
    from posenc.t5 import T5 as T5
    from posenc.transformer_xl import TransformerXL as TransformerXL
    from posenc.xpos import XPos as XPos

__version__ = "0.1.0"

_HOMES = {
    "alibi": ("Alibi",),
    "axes": (
        "LearnedAxes",
        "SinusoidalAxes",
    ),
    "axial": ("AxialRotary",),
    "bipe": ("Bipe",),
    "by_parts": (
        "Llama3",
        "NTKByParts",
        "Yarn",
    ),
    "cope": ("Cope",),
    "deberta": ("Deberta",),
    "decomposed": ("Decomposed",),
    "explanations": (
        "Explanation",
        "explain",
    ),
    "explorer": ("widget",),
    "fire": ("Fire",),
    "fourier": (
        "FourierFeatures",
        "Nerf",
    ),
    "goldens": (
        "Golden",
        "golden",
    ),
    "identification": ("identify",),
    "inspector": ("read",),
    "kerple": ("Kerple",),
    "learned": ("Learned",),
    "longrope": ("LongRope",),
    "mixed": ("MixedRotary",),
    "mrope": ("MRotary",),
    "position_maps": (
        "DualChunk",
        "Rerope",
        "SelfExtend",
    ),
    "properties": ("check",),
    "query_scaling": (
        "LogN",
        "Temperature",
    ),
    "rotary": ("Rotary",),
    "sandwich": ("Sandwich",),
    "scaling": (
        "DynamicNTK",
        "Linear",
        "NTK",
        "Proportional",
    ),
    "shaw": ("Shaw",),
    "sinusoidal": ("Sinusoidal",),
    "swin": (
        "Swin",
        "SwinV2",
    ),
    "t5": ("T5",),
    "transformer_xl": ("TransformerXL",),
    "xpos": ("XPos",),
}
_MODULES = ("convert", "positions", "randomized", "scaling", "spec")
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = ["__version__", *_HOME, *_MODULES]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"posenc.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'posenc' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"posenc.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME, *_MODULES})
