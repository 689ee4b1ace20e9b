"""Tiny networks with random weights, watched while they run: which layers turn what, and how."""

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
from posenc.inspector.settings.config import facts

IMPLEMENTATION = "watched"
"""What transformers calls the attention function that watches."""

COSINES = ("cos", "freqs_cis", "freqs_ci")
"""What functions that turn call the cosines, or the complex numbers, that they are given."""

SMALL: Mapping[str, Any] = {
    "hidden_size": 64,
    "intermediate_size": 32,
    "num_hidden_layers": 7,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "global_head_dim": 32,
    "vocab_size": 48,
    "vocab_size_per_layer_input": 48,
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
    "n_group": 1,
    "topk_group": 1,
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
    "chunk_size": 8,
}
"""Numbers for a tiny network, for each key that a model type has."""


@dataclass(kw_only=True)
class Layer:
    """What was seen in one layer, in every call.

    Args:
        entered: the hidden states that it was given.
        tables: the cosines that it gave to a function that turns.
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
        before: what an earlier run noted. Every layer is given the hidden states that it had
            then, so that only its own positions make a difference.
    """

    def __init__(self, stack: Sequence[torch.nn.Module], before: Sequence[Layer] = ()) -> None:
        self.stack = stack
        self.before = before
        self.layers = [Layer() for _ in stack]
        self.active: Layer | None = None

    @contextmanager
    def running(self, module: Any) -> Iterator[None]:
        """Watch the layers, the functions of a module that turn, and attention."""
        with ExitStack() as cleaning:
            for index, layer in enumerate(self.stack):
                hook = layer.register_forward_pre_hook(self._enter(index), with_kwargs=True)
                cleaning.callback(hook.remove)
                cleaning.callback(layer.register_forward_hook(self._leave).remove)
            for name in _turning_functions(module):
                watched = self._turning(getattr(module, name))
                cleaning.enter_context(mock.patch.object(module, name, watched))
            AttentionInterface.register(IMPLEMENTATION, self._attend)
            yield

    def _enter(self, index: int) -> Callable[..., Any]:
        def hook(_: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            self.active = seen = self.layers[index]
            named = "hidden_states" in kwargs
            seen.entered.append(kwargs["hidden_states"] if named else args[0])
            if not self.before:
                return None
            given = self.before[index].entered[len(seen.entered) - 1]
            return (
                (args, kwargs | {"hidden_states": given}) if named else ((given, *args[1:]), kwargs)
            )

        return hook

    def _leave(self, *_: Any) -> None:
        self.active = None

    def _turning(self, function: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(function)

        @functools.wraps(function)
        def watched(*args: Any, **kwargs: Any) -> Any:
            given = signature.bind(*args, **kwargs).arguments
            table = next(given[name] for name in COSINES if name in given)
            if self.active is not None:
                self.active.tables.append(table.real if table.is_complex() else table)
            return function(*args, **kwargs)

        return watched

    def _attend(
        self,
        module: Any,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        attention_mask: Any = None,
        scaling: float | None = None,
        **_: Any,
    ) -> tuple[torch.Tensor, None]:
        """Attention, without what no layer needs in order to run: softcaps, sinks, dropout."""
        scaling = query.shape[-1] ** -0.5 if scaling is None else scaling
        if self.active is not None:
            self.active.queries.append(query[0])
            self.active.keys.append(key[0])
            self.active.scalings.append(scaling)
        groups = query.shape[1] // key.shape[1]
        key, value = (x.repeat_interleave(groups, 1) for x in (key, value))
        scores = query @ key.mT * scaling
        if isinstance(attention_mask, torch.Tensor):
            scores = scores + attention_mask[..., : key.shape[-2]]
        return (scores.softmax(-1) @ value).transpose(1, 2).contiguous(), None


def _turning_functions(module: Any) -> list[str]:
    return [
        name
        for name, value in vars(module).items()
        if inspect.isfunction(value)
        and value.__module__ == module.__name__
        and "rotary" in name
        and set(COSINES) & inspect.signature(value).parameters.keys()
    ]


def shrunk(model_type: str, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of a tiny network of this type, with some changes."""
    about = facts()[model_type]
    known = about["defaults"].keys() | about.get("aliases", {}).keys()
    known |= vars(config_class(model_type)).keys()
    return {key: value for key, value in SMALL.items() if key in known} | dict(changes)


def network(model_type: str, settings: Mapping[str, Any], name: str = "") -> Any:
    """The network of a model type, or its class of that name, with weights that differ."""
    config = built(model_type, **settings)
    cls = getattr(modeling(model_type), name) if name else MODEL_MAPPING[type(config)]
    torch.manual_seed(0)
    found = cls._from_config(config, attn_implementation=IMPLEMENTATION)
    with torch.no_grad():
        for parameter in found.parameters():
            parameter.copy_(torch.randn(parameter.shape) * 0.2)
    return found.eval()


def decoder(network: Any) -> torch.nn.ModuleList:
    """The outermost list of layers."""
    lists = [
        (name.count("."), module)
        for name, module in network.named_modules()
        if isinstance(module, torch.nn.ModuleList) and name.split(".")[-1] in ("layers", "layer")
    ]
    return min(lists, key=lambda item: item[0])[1]


def watch(
    network: Any, stack: Sequence[torch.nn.Module], shift: int, **inputs: Any
) -> tuple[list[Layer], list[Layer]]:
    """What the layers do with tokens from position 0 on, and with the same from `shift` on."""
    runs: list[list[Layer]] = [[]]
    for start in (0, shift):
        watching = Watch(stack, runs[-1])
        ids = inputs["input_ids"]
        positions = torch.arange(start, start + ids.shape[1])[None]
        with watching.running(inspect.getmodule(type(network))), torch.no_grad():
            network(**inputs | {"position_ids": positions})
        runs.append(watching.layers)
    return runs[1], runs[2]


AttentionInterface.register(IMPLEMENTATION, lambda *_, **__: (None, None))
AttentionMaskInterface.register(IMPLEMENTATION, eager_mask)
