"""Tiny models with random weights, watched while they run: which layers turn, and how."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

import torch
from transformers import AttentionInterface
from transformers.masking_utils import AttentionMaskInterface, eager_mask
from transformers.models.auto.modeling_auto import MODEL_MAPPING

from oracles import built, config_class, modeling
from posenc.inspector.config import facts

IMPLEMENTATION = "watched"
COSINES = ("cos", "freqs_cis", "freqs_ci")
STATES = ("hidden_states", "x")

SMALL: Mapping[str, Any] = {
    "hidden_size": 64,
    "intermediate_size": 32,
    "num_hidden_layers": 7,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "vocab_size": 48,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "max_position_embeddings": 256,
    "sliding_window": 4,
    "moe_intermediate_size": 16,
    "shared_expert_intermediate_size": 16,
    "num_experts": 4,
    "num_local_experts": 4,
    "n_routed_experts": 4,
    "num_experts_per_tok": 2,
    "n_shared_experts": 1,
    "kv_lora_rank": 16,
    "q_lora_rank": 24,
    "qk_nope_head_dim": 10,
    "qk_rope_head_dim": 8,
    "v_head_dim": 12,
    "index_n_heads": 2,
    "index_head_dim": 16,
    "index_topk": 64,
    "linear_key_head_dim": 8,
    "linear_value_head_dim": 8,
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
    "mamba_d_head": 16,
    "mamba_n_heads": 8,
    "mamba_d_state": 8,
    "mamba_chunk_size": 8,
    "mamba_headdim": 16,
    "chunk_size": 8,
    "global_head_dim": 32,
    "n_group": 1,
    "topk_group": 1,
}
"""Numbers for a tiny model, for each key that a model type has."""


@dataclass(kw_only=True)
class Layer:
    """What was seen in one layer.

    Args:
        entered: the hidden states that it was given, each time that it ran.
        tables: cosines that were given to a function that turns.
        queries: what went into attention, (heads, tokens, features).
        keys: likewise.
        scalings: what multiplied the scores.
    """

    entered: list[torch.Tensor] = field(default_factory=list)
    tables: list[torch.Tensor] = field(default_factory=list)
    queries: list[torch.Tensor] = field(default_factory=list)
    keys: list[torch.Tensor] = field(default_factory=list)
    scalings: list[float] = field(default_factory=list)


class Watch:
    """Notes what each layer gives to the functions that turn and to attention.

    Args:
        stack: the layers.
        before: what an earlier run noted: every layer is given the hidden states that it had then,
            so that a difference in one layer is not carried into the next.
    """

    def __init__(self, stack: Sequence[torch.nn.Module], before: Sequence[Layer] = ()) -> None:
        self.stack = stack
        self.before = before
        self.layers = [Layer() for _ in stack]
        self.active: Layer | None = None

    @contextmanager
    def running(self, module: Any, functions: Sequence[str]) -> Iterator[None]:
        """Watch all layers and these functions of a module of transformers."""
        with ExitStack() as cleaning:
            for index, layer in enumerate(self.stack):
                hook = layer.register_forward_pre_hook(self._enter(index), with_kwargs=True)
                cleaning.callback(hook.remove)
                cleaning.callback(layer.register_forward_hook(self._leave).remove)
            for function in functions:
                wrapped = self._turning(getattr(module, function))
                cleaning.enter_context(mock.patch.object(module, function, wrapped))
            AttentionInterface.register(IMPLEMENTATION, self._attend)
            yield

    def _enter(self, index: int) -> Callable[..., Any]:
        def hook(_: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            self.active = self.layers[index]
            key = next((name for name in STATES if name in kwargs), "")
            self.active.entered.append(kwargs[key] if key else args[0])
            if not self.before:
                return None
            given = self.before[index].entered[len(self.active.entered) - 1]
            return (args, {**kwargs, key: given}) if key else ((given, *args[1:]), kwargs)

        return hook

    def _leave(self, *_: Any) -> None:
        self.active = None

    def _turning(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function that turns, noting the cosines that it is given."""
        signature = inspect.signature(function)

        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            given = signature.bind(*args, **kwargs).arguments
            table = next(given[name] for name in COSINES if name in given)
            if self.active is not None:
                self.active.tables.append(table.real if table.is_complex() else table)
            return function(*args, **kwargs)

        return wrapped

    def _attend(
        self, module: Any, query: Any, key: Any, value: Any, attention_mask: Any = None, **more: Any
    ) -> Any:
        """Attention itself, noting what it is given."""
        scaling = more.get("scaling")
        scaling = query.shape[-1] ** -0.5 if scaling is None else scaling
        if self.active is not None:
            self.active.queries.append(query[0])
            self.active.keys.append(key[0])
            self.active.scalings.append(scaling)
        groups = query.shape[1] // key.shape[1]
        key, value = (x.repeat_interleave(groups, 1) for x in (key, value))
        scores = query @ key.mT * scaling
        if isinstance(attention_mask, torch.Tensor) and attention_mask.ndim == 4:
            scores = scores + attention_mask[..., : key.shape[-2]]
        return (scores.softmax(-1).to(value.dtype) @ value).transpose(1, 2).contiguous(), None


def shrunk(model_type: str, **changes: Any) -> dict[str, Any]:
    """Settings of a tiny model of this type."""
    about = facts()[model_type]
    known = about["defaults"].keys() | about.get("aliases", {}).keys()
    known |= vars(config_class(model_type)).keys()
    return {key: value for key, value in SMALL.items() if key in known} | changes


def network(model_type: str, settings: Mapping[str, Any], name: str = "") -> Any:
    """The network of a model type, with random weights that no initialisation made alike."""
    config = built(model_type, **settings)
    cls = getattr(modeling(model_type), name) if name else MODEL_MAPPING[type(config)]
    torch.manual_seed(0)
    found = cls._from_config(config, attn_implementation=IMPLEMENTATION)
    with torch.no_grad():
        for parameter in found.parameters():
            parameter.copy_(torch.randn(parameter.shape) * 0.2)
    return found.eval()


def turning_functions(module: Any) -> list[str]:
    """The functions of a module of transformers that turn by cosines given to them."""
    return [
        name
        for name, value in vars(module).items()
        if inspect.isfunction(value)
        and value.__module__ == module.__name__
        and set(COSINES) & inspect.signature(value).parameters.keys()
        and "rotary" in name
    ]


AttentionInterface.register(IMPLEMENTATION, Watch._attend)
AttentionMaskInterface.register(IMPLEMENTATION, eager_mask)
