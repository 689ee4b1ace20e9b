"""Tables of rotary embedding that rope_parameters never reach: GPT-J, RoFormer, ESM, conformers."""

from __future__ import annotations

from posenc.inspector.families.shared import Reader
from posenc.inspector.families.turning.uses import use
from posenc.inspector.reading import Use
from posenc.inspector.settings import layers, rope
from posenc.inspector.settings.config import Config
from posenc.rotary import Rotary


def _fixed_base(config: Config) -> list[Use]:
    """GPT-J and CodeGen: rotary_dim leading features, base 10000 whatever the file says."""
    hidden = config.integer("hidden_size", required=True)
    heads = config.integer("num_attention_heads", required=True)
    width = config.derive("head_dim", hidden // heads, "hidden_size", "num_attention_heads")
    turned = config.integer("rotary_dim", at_least=2) or width
    config.assume("base", 10_000.0, "rope_theta")
    if config.has("rope_theta"):
        config.find(
            "warning",
            "unread-key",
            "rope_theta",
            config.get("rope_theta"),
            "this model type always takes 10000.",
            "Delete it, or check whether the weights belong to another model type.",
        )
    encoding = Rotary(
        dim=width, rotary_dim=None if turned == width else turned, layout="interleaved"
    )
    remark = "The table ends at max_position_embeddings rows."
    return [use(config, encoding, layers=layers.every(config), ends=True, remarks=(remark,))]


def _roformer(config: Config) -> list[Use]:
    config.assume("base", 10_000.0, "rope_theta")
    encoding = Rotary(dim=rope.head_dim(config), layout="interleaved")
    remarks = ["The table ends at max_position_embeddings rows."]
    if config.flag("rotary_value"):
        remarks.append("Values are turned as well (rotary_value).")
    return [use(config, encoding, layers=layers.every(config), ends=True, remarks=tuple(remarks))]


def _conformer(heads_key: str, layers_key: str) -> Reader:
    """Speech encoders that turn the hidden states before queries and keys are projected."""

    def read(config: Config) -> list[Use]:
        if config.get("position_embeddings_type") != "rotary":
            return []
        hidden = config.integer("hidden_size", required=True)
        heads = config.integer(heads_key, required=True)
        width = config.derive("head_dim", hidden // heads, "hidden_size", heads_key)
        base = config.number("rotary_embedding_base", name="base", above=0.0, required=True)
        turning = tuple(range(config.integer(layers_key, name="layers", at_least=0) or 0))
        remarks = (
            "Hidden states are turned, head by head, before queries and keys are projected.",
            "inv_freq is saved with the weights and wins over the formula.",
        )
        encoding = Rotary(dim=width, base=base)
        return [use(config, encoding, layers=turning, remarks=remarks)]

    return read


def _clvp(config: Config) -> list[Use]:
    if not config.flag("use_rotary_embedding"):
        return []
    width = config.integer("projection_dim", required=True)
    heads = config.integer("num_attention_heads", required=True)
    turned = config.derive(
        "rotary_dim", max(width // (heads * 2), 32), "projection_dim", "num_attention_heads"
    )
    config.assume("base", 10_000.0, "rope_theta")
    hidden = config.integer("hidden_size", required=True)
    dim = config.derive("head_dim", hidden // heads, "hidden_size", "num_attention_heads")
    remarks = (
        "Values are turned as well.",
        "inv_freq is saved with the weights and wins over the formula.",
    )
    encoding = Rotary(dim=dim, rotary_dim=None if turned == dim else turned)
    return [use(config, encoding, layers=layers.every(config), remarks=remarks)]


def _esm(config: Config) -> list[Use]:
    """ESM-2: a base beside everything else; rope_parameters and rope_scaling are never read."""
    if config.get("position_embedding_type") != "rotary":
        return []
    base = config.number("rope_theta", name="base", above=0.0, required=True)
    encoding = Rotary(dim=rope.head_dim(config), base=base)
    return [use(config, encoding, layers=layers.every(config))]


READERS: dict[str, Reader] = {
    **dict.fromkeys(("codegen", "gptj"), _fixed_base),
    "clvp_encoder": _clvp,
    "esm": _esm,
    "roformer": _roformer,
    **dict.fromkeys(
        ("wav2vec2-conformer", "wav2vec2-bert"),
        _conformer("num_attention_heads", "num_hidden_layers"),
    ),
    "seamless_m4t": _conformer("speech_encoder_attention_heads", "speech_encoder_layers"),
}
