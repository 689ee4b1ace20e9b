"""The M-RoPE module of each model type, at positions whose axes differ."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import torch

from oracles import Outcome, built, difference, modeling, read
from oracles.rotary import rotary_module, takes_kind
from posenc.inspector import Use
from posenc.inspector.families.turning import multimodal

NEEDED: Mapping[str, dict[str, Any]] = {
    "cohere_compass_text": {
        "rope_parameters": {
            "full_attention": {
                "rope_type": "default",
                "rope_theta": 50_000.0,
                "mrope_section": [24, 20, 20],
            }
        }
    },
    "glm4v_moe_text": {"head_dim": 128, "partial_rotary_factor": 0.5},
    "glm4v_text": {"partial_rotary_factor": 0.5},
    "glm_image_text": {"partial_rotary_factor": 0.5},
    "hunyuan_vl_text": {
        "head_dim": 128,
        "rope_parameters": {
            "rope_type": "xdrope",
            "factor": 1.0,
            "alpha": 1000.0,
            "mrope_section": [16] * 4,
        },
    },
    "qwen3_omni_moe_text": {"head_dim": 128},
    "qwen3_omni_moe_talker_text": {"head_dim": 128},
}
"""Settings without which the defaults of a model type do not fit together."""

NOT_YET = {
    "hunyuan_vl_text": "In pictures the two features of a pair follow different axes, which is no "
    "rotation; text is reproduced.",
}

PLACES = [(0, 0, 0), (1, 1, 1), (5, 3, 7), (5, 4, 2), (900, 31, 8), (4095, 4095, 4095)]
"""Time, row and column: text, and cells of a picture that is not square."""


def compare(model_type: str, **changes: Any) -> list[Outcome]:
    """Every use of M-RoPE in a model type, against its own module."""
    changes = NEEDED.get(model_type, {}) | changes
    config = built(model_type, **changes)
    uses = [use for use in read(model_type, **changes).parts[0].uses if use.kind == "M-RoPE"]
    if not uses:
        raise AssertionError(f"{model_type}: nothing read that turns")
    return [_outcome(model_type, config, use) for use in uses]


def _outcome(model_type: str, config: Any, use: Use) -> Outcome:
    text_only = model_type == "hunyuan_vl_text"
    places = [(p, p, p) for p, *_ in PLACES] if text_only else PLACES
    largest = 0.0
    for place in places:
        ours, theirs = _ours(use, place), _theirs(model_type, config, use, place)
        largest = max(largest, difference(ours, theirs))
    rotary = getattr(use.encoding, "rotary", use.encoding)
    return Outcome(
        kind="M-RoPE",
        layout=rotary.layout,
        how="basis vectors turned by its own module at "
        + ("text positions" if text_only else f"{len(places)} places, axes differing"),
        difference=largest,
    )


def _ours(use: Use, place: tuple[int, ...]) -> torch.Tensor:
    dim = getattr(use.encoding, "rotary", use.encoding).dim
    many = torch.tensor(place) if hasattr(use.encoding, "rotary") else torch.tensor(place[0])
    positions = many.expand(dim, *many.shape)
    return use.encoding.rotate(
        torch.eye(dim), positions, length=max(place) + 1, precision="float32"
    )


def _theirs(model_type: str, config: Any, use: Use, place: tuple[int, ...]) -> torch.Tensor:
    rotary = getattr(use.encoding, "rotary", use.encoding)
    x = torch.eye(rotary.dim)[None, None]
    module = rotary_module(model_type, config)
    axes = len(place) if model_type != "hunyuan_vl_text" else 4
    ids = torch.tensor((*place, place[0])[:axes])[:, None, None].expand(axes, 1, rotary.dim)
    kind = (use.layer_type,) if use.layer_type and takes_kind(module) else ()
    apply = modeling(model_type).apply_rotary_pos_emb
    return apply(x, x, *module(x, ids, *kind)[:2])[0][0, 0].detach()


CHECKS: dict[str, Callable[[], list[Outcome]]] = {
    model_type: partial(compare, model_type) for model_type in multimodal.READERS
}
