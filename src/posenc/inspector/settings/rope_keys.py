"""Keys inside rotary settings that their rope type never looks at."""

from __future__ import annotations

from posenc.inspector.settings.config import Config

LENGTH = "original_max_position_embeddings"
KEYS: dict[str, frozenset[str]] = {
    "default": frozenset(),
    "axial": frozenset(),
    "linear": frozenset({"factor"}),
    "dynamic": frozenset({"factor", "alpha"}),
    "proportional": frozenset({"factor"}),
    "llama3": frozenset({"factor", LENGTH, "low_freq_factor", "high_freq_factor"}),
    "yarn": frozenset(
        {
            "factor",
            LENGTH,
            "attention_factor",
            "beta_fast",
            "beta_slow",
            "mscale",
            "mscale_all_dim",
            "truncate",
        }
    ),
    "longrope": frozenset({"short_factor", "long_factor", LENGTH, "attention_factor", "factor"}),
}
"""The keys that each rope type looks at, beside the common ones."""

COMMON = frozenset({"rope_type", "type", "rope_theta", "partial_rotary_factor"})
"""Keys that any rope type may have beside its own."""

ELSEWHERE = frozenset(
    {
        "mrope_section",
        "mrope_interleaved",
        "xdrope_section",
        "llama_4_scaling_beta",
        "max_position_embeddings",
        "finetuned",
        "short_mscale",
        "long_mscale",
    }
)
"""Keys that other readers look at, or that say nothing about numbers."""

MEANT = {
    "attn_factor": "attention_factor",
    "mscale_factor": "mscale",
    "scale": "factor",
    "scaling_factor": "factor",
    "original_max_position_embedding": "original_max_position_embeddings",
    "original_context_length": "original_max_position_embeddings",
    "low_frequency_factor": "low_freq_factor",
    "high_frequency_factor": "high_freq_factor",
    "short_factors": "short_factor",
    "long_factors": "long_factor",
    "theta": "rope_theta",
    "base": "rope_theta",
}
"""Words of other programs, and the key that transformers reads instead."""


def find(inner: Config, kind: str) -> None:
    """Put down every key inside the rotary settings that this rope type never looks at."""
    known = COMMON | KEYS[kind] | ELSEWHERE
    for key, value in inner.data.items():
        if key in known or (key == "factor" and kind == "default"):
            continue  # a factor without a type has a finding of its own
        inner.find(
            "warning",
            "unknown-key",
            key,
            value,
            f"is never read by rope_type {kind!r}, so it changes nothing.",
            _cure(inner, key, kind),
        )


def _cure(inner: Config, key: str, kind: str) -> str:
    if inner.has(MEANT.get(key, key)) and key in MEANT:
        return f"Delete it; `{MEANT[key]}` is there too, and that one counts."
    if key in MEANT:
        return f"Spell it `{MEANT[key]}`."
    if owners := [name for name, keys in KEYS.items() if key in keys]:
        return f"Delete it; it belongs to rope_type {' and '.join(owners)}."
    if not KEYS[kind]:
        return "Delete it."
    return f"Delete it, or correct its spelling: {', '.join(sorted(KEYS[kind]))}."
