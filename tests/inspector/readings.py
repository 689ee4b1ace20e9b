"""Readings made by hand, as the files of well-known models give them."""

from posenc import (
    T5,
    Alibi,
    DynamicNTK,
    Learned,
    Linear,
    Llama3,
    LongRope,
    Rotary,
    Yarn,
)
from posenc.inspector.reading import Finding, Part, Reading, Use, Value
from posenc.query_scaling import Temperature

HEADS = "queries and keys"


def rotary(encoding, layers=range(32), **more):
    more = {"head_dim": encoding.dim} | more
    return Use(kind="rotary", place=HEADS, encoding=encoding, layers=tuple(layers), **more)


def reading(name, *uses, findings=()):
    part = Part(name="", model_type=name, uses=uses)
    return Reading(source=f"{name}.json", model_type=name, parts=(part,), findings=findings)


LLAMA = reading(
    "llama",
    rotary(
        Rotary(dim=128, base=5e5, scaling=Llama3(factor=8.0, original_length=8192)),
        original_length=8192,
        length=131_072,
        values=(
            Value(name="base", value=5e5, origin="file", key="rope_theta"),
            Value(
                name="head_dim",
                value=128,
                origin="fallback",
                key="hidden_size and num_attention_heads",
            ),
            Value(name="layers", value=32, origin="default", key="num_hidden_layers"),
        ),
    ),
)
QWEN = reading(
    "qwen2",
    rotary(
        Rotary(dim=128, base=1e6, scaling=Yarn(factor=4.0, original_length=32_768)),
        original_length=32_768,
        length=131_072,
    ),
)
DEEPSEEK = reading(
    "deepseek_v3",
    rotary(
        Rotary(
            dim=64,
            layout="interleaved",
            scaling=Yarn(factor=40.0, original_length=4096, mscale_all_dim=1.0),
        ),
        head_dim=192,
        first=128,
        written="half",
        original_length=4096,
        length=163_840,
        softmax_factor=Yarn(factor=40.0, original_length=4096, mscale_all_dim=1.0).softmax_factor,
        remarks=("All heads share the turned part of the key.",),
    ),
)
PHI = reading(
    "phi3",
    rotary(
        Rotary(
            dim=8,
            scaling=LongRope(
                short_factors=(1.0, 1.0, 1.1, 1.2),
                long_factors=(1.5, 3.0, 20.0, 64.0),
                original_length=4096,
                factor=32.0,
            ),
        ),
        original_length=4096,
        length=131_072,
    ),
)
DYNAMIC = reading(
    "internlm2",
    rotary(
        Rotary(dim=128, scaling=DynamicNTK(original_length=4096, factor=2.0)),
        original_length=4096,
        length=4096,
    ),
)
_WINDOW = Value(name="sliding_window", value=1024, origin="file", key="sliding_window")
GEMMA = reading(
    "gemma3_text",
    rotary(
        Rotary(dim=128),
        (layer for layer in range(34) if layer % 6 != 5),
        layer_type="sliding_attention",
        original_length=131_072,
        length=131_072,
        values=(_WINDOW,),
    ),
    rotary(
        Rotary(dim=128, base=1e6, scaling=Linear(factor=8.0)),
        range(5, 34, 6),
        layer_type="full_attention",
        length=131_072,
    ),
    findings=(
        Finding(
            severity="error",
            code="negative",
            key="rope_scaling.factor",
            value=-4,
            why="must be at least 1.",
            cure="Put the model's own value there.",
        ),
        Finding(
            severity="note",
            code="missing",
            key="rope_theta",
            value=None,
            why="the class takes 10000.",
            cure="Check that.",
        ),
    ),
)
LLAMA4 = reading(
    "llama4_text",
    rotary(
        Rotary(dim=128, base=5e5, layout="interleaved"),
        (layer for layer in range(48) if layer % 4 != 3),
        length=8192,
    ),
    Use(
        kind="none",
        place=HEADS,
        layers=tuple(range(3, 48, 4)),
        query_scaling=Temperature(length=8192),
    ),
)
BERT = reading(
    "bert", Use(kind="learned", place="token embeddings", encoding=Learned(length=512, dim=768))
)
ROBERTA = reading(
    "roberta",
    Use(kind="learned", place="token embeddings", encoding=Learned(length=512, dim=768, offset=2)),
)
VIT = reading(
    "vit", Use(kind="learned grid", place="patch embeddings", encoding=Learned(length=197, dim=768))
)
T5_SMALL = reading(
    "t5",
    Use(kind="T5 buckets", place="encoder attention scores", encoding=T5(heads=8)),
    Use(
        kind="T5 buckets",
        place="decoder attention scores",
        encoding=T5(heads=8, bidirectional=False),
    ),
)
BLOOM = reading(
    "bloom",
    Use(kind="ALiBi", place="attention scores", encoding=Alibi(heads=112), original_length=2048),
)

ALL = {name.lower(): value for name, value in list(globals().items()) if isinstance(value, Reading)}
