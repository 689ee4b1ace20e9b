"""The rotary module and the turning of each model type against what posenc read."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import torch

from oracles import Outcome, built, config_class, difference, modeling, read
from posenc import DynamicNTK, LongRope
from posenc.inspector import Use
from posenc.inspector.families.turning import (
    by_kind,
    latent,
    mixed_heads,
    own_tables,
    rotary,
    some_layers,
)

SCHEMES = (rotary, own_tables, latent, by_kind, some_layers, mixed_heads)
TYPES = sorted({model_type for scheme in SCHEMES for model_type in scheme.READERS})

TURNS: Mapping[str, str] = {
    **dict.fromkeys(
        "axk1 axk2 bailing_hybrid deepseek_v3 deepseek_v32 dots3_note_text glm4_moe_lite "
        "glm_moe_dsa longcat_flash mistral4 mistral_large4_text sarvam_mla youtu".split(),
        "apply_rotary_pos_emb_interleave",
    ),
    "deepseek_v2": "apply_rotary_emb",
    "llama4_text": "apply_rotary_emb",
}
"""The function that turns queries and keys, where it is not apply_rotary_pos_emb."""

SWITCHES: Mapping[str, dict[str, Any]] = {
    "bamba": {"attn_layer_indices": [9, 18, 27]},
    "esm": {"position_embedding_type": "rotary"},
    "glm4_moe": {"head_dim": 128},
    "granitemoehybrid": {
        "position_embedding_type": "rope",
        "num_hidden_layers": 3,
        "layer_types": ["linear_attention", "full_attention", "linear_attention"],
    },
    "lfm2_moe": {"num_hidden_layers": 2, "layer_types": ["conv", "full_attention"]},
    "seamless_m4t": {"position_embeddings_type": "rotary"},
    "wav2vec2-bert": {"position_embeddings_type": "rotary"},
    "wav2vec2-conformer": {"position_embeddings_type": "rotary"},
    "zamba2": {"use_mem_rope": True},
}
"""Settings without which a model type does not turn, or turns an odd width."""


DOUBLE = ("roformer",)
"""Model types whose own tables are made in float64."""


def compare(model_type: str, *, near: bool = True, **changes: Any) -> list[Outcome]:
    """Every use of a rotary encoding in a model type, against its own module.

    Args:
        model_type: which.
        near: at near positions too, not only at the thresholds.
        changes: settings other than the defaults.
    """
    changes = SWITCHES.get(model_type, {}) | changes
    config = built(model_type, **changes)
    uses = [use for use in read(model_type, **changes).parts[0].uses if use.kind == "rotary"]
    if not uses:
        raise AssertionError(f"{model_type}: nothing read that turns")
    return [_outcome(model_type, config, use, near) for use in uses]


def _outcome(model_type: str, config: Any, use: Use, near: bool) -> Outcome:
    places = positions(use, near)
    largest = 0.0
    for position, theirs in zip(places, _theirs(model_type, config, use, places), strict=True):
        mine = ours(model_type, use, position, theirs.shape[-1])
        largest = max(largest, difference(mine, theirs))
    rule = type(use.encoding.scaling).__name__ if use.encoding.scaling else "plain"
    return Outcome(
        kind=f"rotary, {rule}" if use.encoding.scaling else "rotary",
        layout=use.encoding.layout,
        how=f"basis vectors turned by its own module at {len(places)} positions to {places[-1]:,}",
        difference=largest,
    )


def positions(use: Use, near: bool) -> list[int]:
    """Near positions, those around every threshold, and the last one the model is meant for."""
    last = (use.length or 4096) - 1
    places = {0, 1, 2, 7, 63, 1000, last - 1, last} if near else {1000, last}
    if use.original_length:
        places |= {use.original_length + step for step in (-2, -1, 0)}
    return sorted(place for place in places if 0 <= place <= last)


def ours(model_type: str, use: Use, position: int, width: int) -> torch.Tensor:
    """Basis vectors of the last `width` features of a head, turned by the encoding read."""
    dim = use.encoding.dim
    x = torch.eye(max(width, dim))
    turned = use.encoding.rotate(
        x[:, None, -dim:],  # as many heads as basis vectors, one token
        torch.tensor([-position if use.inverse else position]),
        length=position + 1,
        precision="exact" if model_type in DOUBLE else "float32",
    )[:, 0]
    if use.written == "half":
        turned = torch.cat([turned[:, 0::2], turned[:, 1::2]], dim=-1)
    return torch.cat([x[:, :-dim], turned], dim=-1)[:width, :width]


def _theirs(model_type: str, config: Any, use: Use, places: list[int]) -> list[torch.Tensor]:
    """Basis vectors turned by the model's own code, at one position after the other."""
    if model_type in SPECIAL:
        return [SPECIAL[model_type](model_type, config, use, place) for place in places]
    if isinstance(use.encoding.scaling, DynamicNTK | LongRope):  # the longest position counts
        return [_turned(model_type, config, use, [place])[0] for place in places]
    return list(_turned(model_type, config, use, places))


def _turned(model_type: str, config: Any, use: Use, places: list[int]) -> torch.Tensor:
    """The same by its own module and function, as most models have them; one matrix a place."""
    width = _width_of_function(model_type, use)
    x = torch.eye(width)[None, :, None].expand(1, width, len(places), width)
    ids = torch.tensor(places)[None]
    module = rotary_module(model_type, config)
    kind = (use.layer_type,) if use.layer_type and takes_kind(module) else ()
    table = module(x, ids, *kind)
    apply = getattr(modeling(model_type), TURNS.get(model_type, "apply_rotary_pos_emb"))
    if "cos" in list(inspect.signature(apply).parameters)[:2]:
        turned = apply(x, *table)
    elif isinstance(table, torch.Tensor):
        turned = apply(x, x, table)
    else:
        turned = apply(x, x, *table[:2])
    return _first(turned)[0].transpose(0, 1).detach()


def _width_of_function(model_type: str, use: Use) -> int:
    """How many features of a head the model gives to the function that turns."""
    if model_type in ("phi", "persimmon", "stablelm"):
        return use.encoding.turned
    return use.head_dim if model_type == "deepseek_v4" else use.encoding.dim


def rotary_module(model_type: str, config: Any) -> torch.nn.Module:
    """A model type's own module for cosine and sine."""
    return rotary_class(model_type)(config)


def rotary_class(model_type: str) -> type[torch.nn.Module]:
    """The class of that module: the one whose config is of this model type's class."""
    found = [
        value
        for name, value in vars(modeling(model_type)).items()
        if inspect.isclass(value)
        and issubclass(value, torch.nn.Module)
        and "Rotary" in name
        and hasattr(value, "forward")
    ]
    own = [cls for cls in found if _config_name(cls) == config_class(model_type).__name__]
    named = own or [cls for cls in found if "Vision" not in cls.__name__]
    if not named:
        raise AssertionError(f"{model_type}: no rotary module in {modeling(model_type).__name__}")
    return named[0]


def takes_kind(module: torch.nn.Module) -> bool:
    """Whether the module has a table for each kind of layer."""
    return "layer_type" in inspect.signature(type(module).forward).parameters


def _config_name(cls: type) -> str:
    parameter = inspect.signature(cls.__init__).parameters.get("config")
    return getattr(getattr(parameter, "annotation", None), "__name__", str(parameter)).split(".")[
        -1
    ]


def _first(turned: Any) -> torch.Tensor:
    return turned[0] if isinstance(turned, tuple) else turned


def _complex_by_token(model_type: str, config: Any, use: Use, position: int) -> torch.Tensor:
    """Llama 4: complex numbers, heads after tokens."""
    width = use.encoding.dim
    x = torch.eye(width)[None, :, None]
    table = rotary_module(model_type, config)(x, torch.full((1, width), position))
    return modeling(model_type).apply_rotary_emb(x, x, table)[0].reshape(width, width)


def _sine_first(model_type: str, config: Any, use: Use, position: int) -> torch.Tensor:
    """GPT-J and CodeGen: a table of [sine | cosine], heads after tokens."""
    module = modeling(model_type)
    width = use.encoding.turned
    table = module.create_sinusoidal_positions(config.max_position_embeddings, config.rotary_dim)
    sin, cos = table[position].expand(1, width, width).chunk(2, dim=-1)
    x = torch.eye(width)[None, :, None]
    turned = torch.eye(use.encoding.dim)
    turned[:width, :width] = module.apply_rotary_pos_emb(x, sin, cos).reshape(width, width)
    return turned


def _roformer(model_type: str, config: Any, use: Use, position: int) -> torch.Tensor:
    module = modeling(model_type)
    width = use.encoding.dim
    table = module.RoFormerSinusoidalPositionalEmbedding(config.max_position_embeddings, width)
    table.weight = torch.nn.Parameter(table.create_weight(), requires_grad=False)
    angles = table((1, width), position_ids=torch.full((1, width), position))
    x = torch.eye(width)[None, None]
    turn = module.RoFormerSelfAttention.apply_rotary_position_embeddings
    return turn(angles[None], x, x)[0].reshape(width, width)


def _clvp(model_type: str, config: Any, use: Use, position: int) -> torch.Tensor:
    module = modeling(model_type)
    angles = module.ClvpRotaryPositionalEmbedding(config)(torch.zeros(1, position + 1, 1))[0]
    width = use.encoding.turned
    x = torch.eye(width)[None, None]
    ids = torch.full((1, width), position)
    turned = torch.eye(use.encoding.dim)
    of_all = module.apply_rotary_pos_emb(x, x, x, angles.cos(), angles.sin(), ids)
    turned[:width, :width] = of_all[0].reshape(width, width)
    return turned


def _conformer(model_type: str, config: Any, use: Use, position: int) -> torch.Tensor:
    """Speech encoders: a method of their attention turns all heads of the hidden states."""
    module = modeling(model_type)
    prefix = {
        "seamless_m4t": "SeamlessM4TConformer",
        "wav2vec2-bert": "Wav2Vec2Bert",
        "wav2vec2-conformer": "Wav2Vec2Conformer",
    }[model_type]
    table = getattr(module, f"{prefix}RotaryPositionalEmbedding")(config)
    width = use.encoding.dim
    attention = types.SimpleNamespace(num_heads=1, head_size=width)
    tables = table(torch.zeros(1, position + 1, width))[:, position:]
    turn = getattr(module, f"{prefix}SelfAttention")._apply_rotary_embedding
    rows = [turn(attention, row[None, None], tables)[0, 0] for row in torch.eye(width)]
    return torch.stack(rows)


def _first_head(model_type: str, config: Any, use: Use, position: int) -> torch.Tensor:
    """Qwen2.5-Omni's DiT has a module and a function beside those of the language model."""
    module = modeling(model_type)
    width = use.encoding.dim
    x = torch.eye(width)[None, None]
    table = module.Qwen2_5OmniDiTRotaryEmbedding(config)(x, torch.full((1, width), position))
    x = module.deinterleave_head_dim(x)
    return module.apply_rotary_pos_emb(x, x, *table)[0].reshape(width, width)


SPECIAL: dict[str, Callable[[str, Any, Use, int], torch.Tensor]] = {
    "clvp_encoder": _clvp,
    "codegen": _sine_first,
    "gptj": _sine_first,
    "llama4_text": _complex_by_token,
    "qwen2_5_omni_dit": _first_head,
    "roformer": _roformer,
    **dict.fromkeys(("seamless_m4t", "wav2vec2-bert", "wav2vec2-conformer"), _conformer),
}
"""Model types that need another way to be asked."""

CHECKS: dict[str, Callable[[], list[Outcome]]] = {
    model_type: partial(compare, model_type) for model_type in TYPES
}
