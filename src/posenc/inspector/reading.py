"""What was read: a model's parts, the encodings at work in them, and what is odd about them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from posenc import spec

Severity = Literal["error", "warning", "note"]
Origin = Literal["file", "fallback", "default"]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """Something about the settings that whoever uses this model should know.

    Args:
        severity: "error" (the settings cannot mean what they say), "warning" (they probably do
            not do what they seem to), or "note" (good to know).
        code: a short name of the kind of finding, for programs: "unknown-key".
        key: the setting, as a path in the file: "text_config.rope_scaling.factor".
        value: what stands there, or None where nothing does.
        why: why it matters, in one sentence.
        cure: what to do about it, in one sentence.
    Example:
        >>> import posenc
        >>> reading = posenc.read({"model_type": "llama", "rope_scaling": {"type": "linear"}})
        >>> print(reading.findings[0])
        error: rope_scaling.factor is missing, and nothing can stand in for it. Add `factor`, with
        the value the model was trained with.
    """

    severity: Severity
    code: str
    key: str
    value: Any
    why: str
    cure: str

    def __str__(self) -> str:
        return f"{self.severity}: {self.key} {self.why} {self.cure}"


@dataclass(frozen=True, kw_only=True)
class Value:
    """A setting that a reading rests on, and where it came from.

    Args:
        name: what it is, in posenc's terms where it has some: "base".
        value: what the model uses.
        origin: "file" (it stands there), "fallback" (made from other settings) or "default" (the
            model's class assumes it).
        key: the setting or settings, as a path in the file: "rope_scaling.factor".
    Example:
        >>> import posenc
        >>> posenc.read({"model_type": "gpt2", "n_embd": 64}).uses[0].values[0]
        Value(name='dim', value=64, origin='file', key='n_embd')
    """

    name: str
    value: Any
    origin: Origin
    key: str


@dataclass(frozen=True, kw_only=True)
class Use:
    """One encoding at work in one place of a model.

    Args:
        kind: the field's name for the scheme: "rotary", "learned", "T5 buckets", "none", ...
        place: what it acts on: "queries and keys", "token embeddings", "attention scores", ...
        encoding: the encoding as posenc has it; None where no settings could say it, or where
            there is none.
        layers: the layers where it acts, counted from 0; empty where that is not a question.
        layer_type: what the model calls these layers, where it tells kinds apart.
        head_dim: features of a head, where heads are meant.
        first: the first feature of the head that turns.
        written: pairs of turned features in the order in which the model writes them back, where
            that is not the layout of the encoding: "half".
        inverse: whether pairs turn the other way: give the encoding minus the positions.
        first_position: where the first token or cell stands.
        original_length: how many tokens it was trained for, before any stretching.
        length: how many tokens it is meant for now.
        ends: whether a token beyond `length` has no numbers at all, but an index error.
        softmax_factor: what its position encoding multiplies all attention scores with, besides
            the scale that the model has anyway, 1 / sqrt(head_dim) for most.
        query_scaling: what multiplies each query by its position, as posenc has it.
        values: the settings this rests on.
        remarks: what else a port would get wrong, each one sentence.
    Example:
        >>> import posenc
        >>> (use,) = posenc.read({"model_type": "mistral", "rope_theta": 1e6})
        >>> use.kind, use.place, len(use.layers), use.encoding.dim, use.encoding.base
        ('rotary', 'queries and keys', 32, 128, 1000000.0)
    """

    kind: str
    place: str
    encoding: Any = None
    layers: tuple[int, ...] = ()
    layer_type: str = ""
    head_dim: int | None = None
    first: int = 0
    written: str | None = None
    inverse: bool = False
    first_position: int = 0
    original_length: int | None = None
    length: int | None = None
    ends: bool = False
    softmax_factor: float = 1.0
    query_scaling: Any = None
    values: tuple[Value, ...] = ()
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Part:
    """One network of a model: its text tower, its vision tower, ...

    Args:
        name: where its settings stand: "text_config", or "" for the whole file.
        model_type: what the file calls it.
        uses: the encodings at work in it.
    Example:
        >>> import posenc
        >>> [part.name for part in posenc.read({"model_type": "clip"}).parts]
        ['vision_config', 'text_config']
    """

    name: str
    model_type: str
    uses: tuple[Use, ...] = ()


@dataclass(frozen=True, kw_only=True, repr=False)
class Reading:
    """Which positions a model uses, as its own files say.

    Printed, it is the report of `posenc inspect`; iterated over, the uses of all parts.

    Args:
        source: what was read: a path, a hub name, or "settings".
        model_type: what the file calls the model.
        parts: its networks.
        findings: what is odd, worst first.
    Example:
        >>> import posenc
        >>> reading = posenc.read({"model_type": "gpt2"})
        >>> reading
        <Reading of settings: gpt2, 1 encoding, 0 findings>
        >>> [use.encoding for use in reading]
        [Learned(length=1024, dim=768, offset=0)]
    """

    source: str
    model_type: str
    parts: tuple[Part, ...]
    findings: tuple[Finding, ...] = field(default=())

    @property
    def uses(self) -> tuple[Use, ...]:
        """The encodings of all parts."""
        return tuple(use for part in self.parts for use in part.uses)

    @property
    def sound(self) -> bool:
        """Whether no finding is an error or a warning."""
        return all(finding.severity == "note" for finding in self.findings)

    def in_layer(self, index: int) -> tuple[Use, ...]:
        """The encodings at work in one layer, of every part that has so many.

        Args:
            index: which layer, counted from 0.
        Example:
            >>> import posenc
            >>> reading = posenc.read({"model_type": "gemma3_text"})
            >>> [(use.layer_type, use.encoding.base) for use in reading.in_layer(5)]
            [('full_attention', 1000000.0)]
        """
        return tuple(use for use in self.uses if index in use.layers)

    def __iter__(self) -> Iterator[Use]:
        return iter(self.uses)

    def __str__(self) -> str:
        from posenc.inspector.report import lines  # it stands above this module

        return lines.text(self)

    def __repr__(self) -> str:
        counts = (_counted(len(self.uses), "encoding"), _counted(len(self.findings), "finding"))
        named = self.model_type or "no model type"
        return f"<{type(self).__name__} of {self.source}: {named}, {', '.join(counts)}>"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """What a notebook shows: the report."""
        printer.text(str(self))

    def to_data(self) -> dict[str, Any]:
        """All of it as plain data, ready for JSON.

        Returns:
            A dict with the fields of this class; encodings as `posenc.spec.to_data` has them,
            NaN and infinity as words.
        Example:
            >>> import posenc
            >>> data = posenc.read({"model_type": "gpt2"}).to_data()
            >>> data["parts"][0]["uses"][0]["encoding"]["kind"]
            'learned'
        """
        return _plain(self)


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _plain(value: Any) -> Any:
    """Dataclasses as dicts, encodings as their data, tuples as lists, odd floats as words."""
    if type(value) in (*spec.ENCODINGS.values(), *spec.ADJUSTMENTS.values()):
        return spec.to_data(value)
    if hasattr(value, "__dataclass_fields__"):
        return {name: _plain(getattr(value, name)) for name in value.__dataclass_fields__}
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):  # these are no JSON
        return str(value)
    return value
