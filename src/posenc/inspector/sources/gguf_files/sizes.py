"""The sizes of a GGUF model's rotary embedding: heads, how much of them turns, the base."""

from __future__ import annotations

from posenc.inspector.reading import Value
from posenc.inspector.settings.config import Config
from posenc.inspector.sources.gguf_files.architectures import ALPHA, HALVED_WHERE_FULL, WHOLE_HEAD
from posenc.inspector.sources.gguf_files.layers import Alike
from posenc.scaling import ntk_base

_MOST = 65_536  # features of a head, or heads
_FROM = ("embedding_length", "attention.head_count")  # what llama.cpp makes the width of a head of


def head_dim(config: Config, alike: Alike) -> int:
    """Features of a head: as the file says, or what is left of the width for each head."""
    latent, sliding = ["attention.key_length_mla"], ["attention.key_length_swa"]
    for key in (sliding if alike.sliding else []) + latent + ["attention.key_length"]:
        own = config.integer(key, name="head_dim", at_least=2)
        if own is not None:
            return _bounded(config, key, own)
    width = config.integer("embedding_length", required=True) or 0
    heads = head_count(config)
    if width % heads:
        config.refuse(
            "unfit-heads", "attention.head_count", heads,
            f"must divide `{config.at('embedding_length')}` = {width}.",
            "Write attention.key_length.",
        )  # fmt: skip
    _bounded(config, "embedding_length", width // heads)
    return config.derive("head_dim", width // heads, *_FROM)


def head_count(config: Config) -> int:
    """Query heads of a layer that has attention."""
    key, count = "attention.head_count", 0
    if isinstance(config.get(key), list):
        count = max(config.integers(key, at_least=0) or (0,))
    else:
        count = config.integer(key, required=True) or 0
    if count < 1:
        config.refuse(
            "absurd-value", key, count, "says that no layer has attention.",
            "Put the model's own value there.",
        )  # fmt: skip
    return _bounded(config, key, count)


def _bounded(config: Config, key: str, value: int) -> int:
    """Refuse sizes that no model has, before tables are made of them."""
    if value > _MOST:
        config.refuse(
            "absurd-value", key, value, f"asks for more than {_MOST}.",
            "Put the model's own value there.",
        )  # fmt: skip
    return value


def turning(config: Config, alike: Alike, head: int) -> int:
    """Features that turn."""
    key, width = "rope.dimension_count", None
    if alike.sliding and config.has("rope.dimension_count_swa"):
        key = "rope.dimension_count_swa"
    width = config.integer(key, name="rotary_dim", at_least=2)
    if width is None:
        whole = ("attention.key_length",) if config.has("attention.key_length") else _FROM
        width = config.derive("rotary_dim", head, *whole)
    if config.path in HALVED_WHERE_FULL and not alike.sliding:
        width = config.derive("rotary_dim", width // 2, key)
    if width % 2 or width > head:
        config.refuse(
            "unfit-width", key, width,
            f"must be even and at most {head}, because that many features of a head turn in pairs.",
            "Convert the model again.",
        )  # fmt: skip
    if config.path in WHOLE_HEAD and width != head:
        config.find(
            "error", "unfit-width", key, width,
            f"is not the width of a head, {head}, and llama.cpp refuses to load such a file of "
            f"{config.path}.",
            "Convert the model again.",
        )  # fmt: skip
    return width


def base(config: Config, alike: Alike, head: int) -> float:
    """The base of the frequencies; sliding layers may have their own."""
    own = config.number("rope.freq_base_swa", name="base", above=0.0) if alike.sliding else None
    if own is not None:
        return own
    if alike.sliding and alike.pattern is not None and alike.pattern.base is not None:
        value = alike.pattern.base
        key = config.at("rope.freq_base_swa")
        config.taken.append(Value(name="base", value=value, origin="default", key=key))
        return value
    found = config.number("rope.freq_base", name="base", above=0.0) or 0.0
    _base_missing(config)
    alpha = config.number("rope.scaling.alpha", above=0.0) if config.path in ALPHA else None
    if alpha is not None:
        larger = ntk_base(found, dim=head, factor=alpha)
        return config.derive("base", larger, "rope.freq_base", "rope.scaling.alpha")
    return found


def _base_missing(config: Config) -> None:
    """10,000 was every model's base once; with a long context it is a key that got lost."""
    if config.has("rope.freq_base"):
        return
    context = config.get("context_length")
    short = isinstance(context, int) and context <= 8192
    config.find(
        "note" if short else "warning", "missing-key", "rope.freq_base", None,
        f"is missing, so llama.cpp takes 10000, for a context of {context} tokens.",
        "Compare rope_theta in the config.json of the original.",
    )  # fmt: skip
