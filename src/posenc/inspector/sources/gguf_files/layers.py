"""Which layers of a GGUF model are alike: sliding or full, turned or not, with attention or not."""

from __future__ import annotations

from dataclasses import dataclass

from posenc.inspector.settings.config import Config
from posenc.inspector.sources.gguf_files.architectures import PATTERNS, RECURRENT, SWITCHED, Pattern

_MOST = 4096  # layers; llama.cpp allows 512


@dataclass(frozen=True, kw_only=True)
class Alike:
    """Layers that do the same with positions.

    Args:
        layers: which ones.
        name: "sliding", "full", or "" where a model has one kind only.
        sliding: whether their attention slides over a window.
        turned: whether their queries and keys turn at all.
        pattern: the architecture's pattern, or None.
    """

    layers: tuple[int, ...]
    name: str = ""
    sliding: bool = False
    turned: bool = True
    pattern: Pattern | None = None


def groups(config: Config) -> list[Alike]:
    """The layers with attention, sorted by what they do; the kind of the first layer first."""
    attending = _attending(config)
    switch = "rope.scaling.finetuned"
    if config.path in SWITCHED and config.has(switch) and not config.flag(switch):
        return [Alike(layers=attending, turned=False)]
    pattern = _pattern(config)
    if pattern is None:
        return [Alike(layers=attending)]
    full = _full(config, pattern)
    if full is None:
        return [Alike(layers=attending)]
    found = []
    for kind in dict.fromkeys(layer in full for layer in attending):
        found.append(
            Alike(
                layers=tuple(layer for layer in attending if (layer in full) == kind),
                name="full" if kind and pattern.sliding else "" if kind else pattern.sliding,
                sliding=not kind and bool(pattern.sliding),
                turned=not kind or pattern.turned == "all",
                pattern=pattern,
            )
        )
    return found


def file_of(config: Config) -> Config:
    """The file around the keys of an architecture: for findings about tensors and the like."""
    return Config({}, findings=config.findings, read=config.read)


def depth(config: Config) -> int:
    """How many layers there are."""
    count = config.integer("block_count", name="layers", required=True)
    if count is None or count > _MOST:
        config.refuse(
            "absurd-value", "block_count", count, f"is more than {_MOST}.",
            "Put the model's own value there.",
        )  # fmt: skip
    return count


def _attending(config: Config) -> tuple[int, ...]:
    """Layers with attention: not those of recurrences, which have no heads of keys."""
    count = depth(config)
    every = RECURRENT.get(config.path)
    if every is not None:
        if config.has("full_attention_interval"):
            every = config.integer("full_attention_interval") or every
        return tuple(layer for layer in range(count) if (layer + 1) % every == 0)
    heads = config.get("attention.head_count_kv")
    if not isinstance(heads, list):
        return tuple(range(count))
    listed = config.integers("attention.head_count_kv", at_least=0) or ()
    return tuple(layer for layer in range(count) if layer >= len(listed) or listed[layer] > 0)


def _pattern(config: Config) -> Pattern | None:
    """The architecture's pattern, where this file has it too."""
    pattern = PATTERNS.get(config.path)
    if pattern is None or pattern.depth not in (0, depth(config)):
        return None
    if pattern.when == "always":
        return pattern
    window = config.integer("attention.sliding_window", at_least=0)
    missing = None if pattern.when == "given" else pattern
    return missing if window is None else pattern if window else None


def _full(config: Config, pattern: Pattern) -> set[int] | None:
    """The full layers: as the file lists them, or by its period, or by the architecture's."""
    key, count = "attention.sliding_window_pattern", depth(config)
    listed = config.get(key)
    if isinstance(listed, list):
        if len(listed) != count:
            config.refuse(
                "wrong-length", key, listed,
                f"has {len(listed)} entries for {count} layers.",
                "List for each layer whether it slides.",
            )  # fmt: skip
        return {layer for layer, slides in enumerate(listed) if not slides}
    period = config.integer(key, name="period", at_least=0)
    if period is None:
        period = pattern.period
        if period is None:
            config.find(
                "error", "missing-key", key, None,
                f"is missing, and nothing else says which layers of {config.path} slide.",
                "Convert the model again with a current llama.cpp.",
            )  # fmt: skip
            return None
        config.find(
            "note", "architecture-decides", key, None,
            f"is missing: that every {period}th layer of {config.path} differs follows from the "
            "architecture alone.",
            "Make sure that your program knows it too.",
        )  # fmt: skip
    if period == 0:
        return set()
    first = 0 if pattern.full_first else period - 1
    return set(range(first, count, period))
