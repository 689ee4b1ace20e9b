"""ALiBi: a straight-line penalty on distance, with one slope for each head."""

from __future__ import annotations

import math
from typing import Any

from posenc.alibi import Alibi
from posenc.inspector.families.shared import Reader, fitted, head_dim, layers, use
from posenc.inspector.reading import Use
from posenc.inspector.settings.config import Config

_BY_KEY = (
    "What is added is slope times the position of the key alone, which the softmax cannot tell "
    "from the distance."
)
_MASK_COUNTED = (
    "Positions count the tokens that the mask keeps, and padding stands at 0, so padding on the "
    "left changes nothing."
)


def _bloom(config: Config) -> list[Use]:
    encoding = Alibi(heads=config.integer("num_attention_heads", name="heads", required=True))
    return [_alibi(config, encoding, remarks=(_BY_KEY, _MASK_COUNTED))]


def _falcon(config: Config) -> list[Use]:
    if not config.flag("alibi"):
        return []
    heads = config.integer("num_attention_heads", name="heads", required=True)
    width = head_dim(config)
    remarks = (
        "The bias joins query . key before both are divided by the square root of the head's "
        "width: that root is the `factor` here.",
        "Slopes and products are rounded to bfloat16 whatever the model's dtype, so beyond "
        "position 256 neighbours may share a bias.",
        _BY_KEY,
        _MASK_COUNTED,
    )
    encoding = Alibi(heads=heads, factor=math.sqrt(width))
    return [_alibi(config, encoding, head_dim=width, remarks=remarks)]


def _mpt(config: Config) -> list[Use]:
    heads = config.integer("num_attention_heads", name="heads", required=True)
    width = head_dim(config)
    length = config.integer("max_seq_len", name="length", required=True)
    inner = config.inside("attn_config").assuming(alibi=True, alibi_bias_max=8)
    exponent = inner.number("alibi_bias_max", name="exponent", above=0)
    scale = inner.number("softmax_scale", above=0)
    if inner.get("alibi") is False:
        why = "is not read: transformers adds the ALiBi bias to this model whatever stands there."
        cure = "Expect ALiBi, or run the code that was published with the model."
        inner.find("warning", "unread-key", "alibi", False, why, cure)
    remarks = (
        _BY_KEY,
        "Positions are plain indices: the mask is not counted.",
        f"The bias is made for {length} keys, and longer texts fail.",
    )
    encoding = fitted(inner, "alibi_bias_max", Alibi, heads=heads, exponent=exponent)
    factor = 1.0 if scale is None else scale * math.sqrt(width)
    return [
        _alibi(
            config,
            encoding,
            head_dim=width,
            length=length,
            ends=True,
            softmax_factor=factor,
            remarks=remarks,
        )
    ]


def _alibi(config: Config, encoding: Alibi, **fields: Any) -> Use:
    return use(config, "ALiBi", encoding, layers=layers(config), **fields)


READERS: dict[str, Reader] = {
    "bloom": _bloom,
    "falcon": _falcon,
    "mpt": _mpt,
}
