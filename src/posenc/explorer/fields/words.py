"""What controls are called, and the options of those that are no number."""

from __future__ import annotations

from typing import Any

from posenc.explorer.fields.place import Place

NONE = "none"
"""The option under which a field holds None."""

NAMES = {
    "bipe.inter.dim": "head_dim",
    "short_factors.first": "short_first",
    "short_factors.last": "short_last",
    "long_factors.first": "long_first",
    "long_factors.last": "long_last",
}
"""Keys in the address, where the name of the field would stand for two things."""

HIDDEN = {
    "attention_factor",  # `mscale` says the same in a way that follows the factor
    "eps",
    "m_rotary.rotary.exponent",
    "m_rotary.rotary.rotary_dim",
    "sinusoidal_axes.widths",
    "axial_rotary.widths",
    "proportional.factor",
}
"""Fields without a control, by the keys of `Place`: they stay as they are at first."""

KINDS = {
    "scaling": (
        NONE,
        "linear",
        "ntk",
        "dynamic_ntk",
        "ntk_by_parts",
        "yarn",
        "llama3",
        "longrope",
        "proportional",
    ),
    "intra": ("sinusoidal", "learned"),
    "inter": ("rotary", "alibi"),
}
"""The encodings or rules that a field may hold."""

KIND_NAMES = {
    "ntk": "NTK",
    "dynamic_ntk": "dynamic NTK",
    "ntk_by_parts": "NTK by parts",
    "yarn": "YaRN",
    "llama3": "Llama 3",
    "longrope": "LongRoPE",
    "alibi": "ALiBi",
}
"""What the page calls them, where that is not their name in data."""

WHEN = {
    "rotary.exponent": {"rotary_dim": ["16", "32", "64"]},
    "bias_factor": {"inter": ["alibi"]},
}
"""Fields that do nothing unless another control has one of these values."""

ONLY = {"intra": ("dim", "length"), "inter": ("dim", "heads")}
"""The fields with a control, of encodings inside another one."""

FIRST: dict[str, Any] = {
    "factor": 4.0,
    "original_length": 4096,
    "beta_fast": 32.0,
    "beta_slow": 1.0,
    "truncate": "true",
    "mscale": 1.0,
    "mscale_all_dim": 0.0,
    "low_frequency_factor": 1.0,
    "high_frequency_factor": 4.0,
    "fraction": 0.25,
    "short_first": 1.0,
    "short_last": 1.0,
    "long_first": 1.0,
    "long_last": 4.0,
    "dynamic": "false",
    "length": 64,
    "heads": 8,
}
"""What a control shows at first, where the encoding at first has no such field."""

LABELS = {
    "dim": "Head width",
    "sinusoidal.dim": "Features",
    "learned.dim": "Features",
    "sinusoidal_axes.dim": "Features",
    "fourier_features.dim": "Features",
    "sandwich.dim": "Features of a vector",
    "model_dim": "Features of a vector",
    "rotary_dim": "Features that turn",
    "length": "Rows of the table",
    "lengths": "Rows of the tables",
    "widths": "Features of the tables",
    "odd": "Odd number of features",
    "first": "First in a pair",
    "sandwich.start": "First term",
    "axes": "Order of axes",
    "fourier_features.axes": "Axes",
    "nerf.axes": "Axes",
    "rest": "Features left over",
    "pi": "Times pi",
    "include_input": "Coordinates first",
    "scale_base": "Distance of the fading",
    "intra": "Within a segment",
    "inter": "From segment to segment",
    "intra_length": "Positions of a segment",
    "bias_factor": "Factor of the bias",
    "max_distance": "Largest distance",
    "ahead": "Largest distance ahead",
    "bidirectional": "Keys ahead",
    "values": "Values too",
    "width": "Hidden units",
    "hidden": "Hidden units",
    "grid": "Query grid",
    "p2c_index": "Row of the third term",
    "original_length": "Trained length",
    "beta_fast": "Fast from",
    "beta_slow": "Slow up to",
    "low_frequency_factor": "Slow up to",
    "high_frequency_factor": "Fast from",
    "truncate": "Whole indices",
    "mscale": "Weight of the factor",
    "mscale_all_dim": "Weight in the softmax",
    "fraction": "Pairs that turn",
    "short_factors.first": "Short texts, fastest pair",
    "short_factors.last": "Short texts, slowest pair",
    "long_factors.first": "Long texts, fastest pair",
    "long_factors.last": "Long texts, slowest pair",
    "dynamic": "Long list grows in",
}
"""What the page calls a field; else its own name with a capital and spaces."""


def name(place: Place) -> str:
    """The key of a field in the address."""
    return place.find(NAMES) or place.field


def label(place: Place) -> str:
    """What the page calls a field."""
    return place.find(LABELS) or place.field.replace("_", " ").capitalize()


def hidden(place: Place) -> bool:
    """Whether a field has no control."""
    inside = ONLY.get(place.path[0])
    if inside is not None and len(place.path) > 1 and place.field not in inside:
        return True
    return not HIDDEN.isdisjoint(place.keys)
