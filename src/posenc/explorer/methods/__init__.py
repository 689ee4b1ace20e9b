"""What the page says of every encoding: words, formulas, facts, and what it shows first."""

from __future__ import annotations

from posenc.explorer.methods import absolute, bias, rotary, terms, windows
from posenc.explorer.methods.method import QUESTIONS, STEPS, Method

__all__ = ["GROUPS", "METHODS", "QUESTIONS", "STEPS", "Method"]

METHODS: dict[str, Method] = {
    "sinusoidal": absolute.SINUSOIDAL,
    "learned": absolute.LEARNED,
    "sinusoidal_axes": absolute.SINUSOIDAL_AXES,
    "learned_axes": absolute.LEARNED_AXES,
    "fourier_features": absolute.FOURIER_FEATURES,
    "nerf": absolute.NERF,
    "rotary": rotary.ROTARY,
    "xpos": rotary.XPOS,
    "axial_rotary": rotary.AXIAL_ROTARY,
    "mixed_rotary": rotary.MIXED_ROTARY,
    "m_rotary": rotary.M_ROTARY,
    "bipe": rotary.BIPE,
    "alibi": bias.ALIBI,
    "t5": bias.T5_BIAS,
    "kerple": bias.KERPLE,
    "fire": bias.FIRE,
    "sandwich": bias.SANDWICH,
    "swin": windows.SWIN,
    "swin_v2": windows.SWIN_V2,
    "shaw": terms.SHAW,
    "transformer_xl": terms.TRANSFORMER_XL,
    "deberta": terms.DEBERTA,
    "cope": terms.COPE,
    "decomposed": terms.DECOMPOSED,
}
"""Every encoding of `posenc.spec.ENCODINGS`, in the order in which they are best learned."""

GROUPS: dict[str, tuple[str, ...]] = {
    "Added to embeddings": (
        "sinusoidal",
        "learned",
        "sinusoidal_axes",
        "learned_axes",
        "fourier_features",
        "nerf",
    ),
    "Turns queries and keys": (
        "rotary",
        "xpos",
        "axial_rotary",
        "mixed_rotary",
        "m_rotary",
        "bipe",
    ),
    "Added to scores": ("alibi", "t5", "kerple", "fire", "sandwich", "swin", "swin_v2"),
    "Part of the scores": ("shaw", "transformer_xl", "deberta", "cope", "decomposed"),
}
"""The same, in the same order, by what they do to a Transformer."""
