"""The row of biases that one query adds to its scores, key by key."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from posenc import _checks
from posenc.alibi import Alibi
from posenc.explanations import parts
from posenc.explanations.explanation import Explanation, Line, Step
from posenc.t5 import T5


def alibi(
    spec: Alibi,
    *,
    position: int = 4,
    key: int | None = None,
    heads: Sequence[int] | None = None,
) -> Explanation:
    """What a query at `position` adds to its scores: slopes times distances.

    Args:
        spec: the encoding.
        position: of the query.
        key: position of the only key to show; several by default.
        heads: the heads to show; a few by default.
    Returns:
        The explanation; its answers are the biases of each head shown.
    Raises:
        ValueError: `key` lies ahead of the query, where a causal encoding gives minus infinity.
    """
    causal = spec.direction == "causal"
    keys = _keys(position, key, causal=causal)
    shown = parts.chosen("heads", heads, spec.heads)
    rows = spec.bias(np.asarray([position]), np.asarray(keys), dtype=np.float64)[:, 0].tolist()
    near = [_nearness(spec, position, key) for key in keys]
    biases = []
    for head in shown:
        for key, (_, _, distance), bias in zip(keys, near, rows[head], strict=True):
            numbers = (spec.slopes[head], distance)
            biases.append(Line(f"head {head}, key {key}", "-{} * {}", numbers, bias))
    formula = {
        "causal": "distance = query - key; keys ahead are masked",
        "symmetric": "distance = abs(query - key)",
        "asymmetric": "distance = abs(query - key), half a token less for keys behind",
    }[spec.direction]
    return Explanation(
        title=f"The biases of a query at position {position}",
        spec=spec,
        steps=(
            _slopes(spec, shown),
            Step(
                "Distance of each key",
                formula,
                tuple(Line(f"key {key}", *line) for key, line in zip(keys, near, strict=True)),
            ),
            Step("Bias of each key", "bias = -slope * distance", tuple(biases)),
        ),
        answers=tuple(_row(f"head {head}", keys, rows[head]) for head in shown),
        note=parts.left_out("head", shown, spec.heads),
    )


def _keys(position: int, key: int | None, *, causal: bool) -> tuple[int, ...]:
    """The key asked for; or a few up to the query, and the next two where they are seen."""
    if key is not None:
        if causal and key > position:
            raise ValueError(
                "`key` must not lie ahead of the query, because the encoding is causal; got "
                f"key={key}, position={position}."
            )
        return (key,)
    behind = parts.chosen("keys", None, position + 1) if position >= 0 else (position,)
    ahead = (position + 1, position + 2)
    return behind if causal else (*behind, *(key for key in ahead if key <= _checks.LAST_POSITION))


def _row(name: str, keys: Sequence[int], values: Sequence[float]) -> Line:
    where = f"key {keys[0]}" if len(keys) == 1 else f"keys {', '.join(map(str, keys))}"
    return Line(f"{name}, {where}", "", (), tuple(values))


def _nearness(spec: Alibi, query: int, key: int) -> tuple[str, tuple[int, ...], float]:
    """How far a key counts as being: the formula, its numbers, and the result."""
    if spec.direction == "causal":
        return "{} - {}", (query, key), query - key
    if spec.direction == "asymmetric" and key < query:
        return "abs({} - {}) - 0.5", (query, key), query - key - 0.5
    return "abs({} - {})", (query, key), abs(query - key)


def _slopes(spec: Alibi, shown: Sequence[int]) -> Step:
    power = 2 ** (spec.heads.bit_length() - 1)
    whole = spec.heads if spec.rule == "plain" else power
    stretched = spec.factor != 1.0
    lines = []
    for head in shown:
        step = head + 1 if head < whole else head - whole + 0.5
        template, numbers = "2 ** (-{} * {} / {})", (spec.exponent, step, whole)
        if stretched:
            template, numbers = template + " / {}", (*numbers, spec.factor)
        lines.append(Line(f"head {head}", template, numbers, spec.slopes[head]))
    formula = f"slope[h] = 2 ** (-exponent (h + 1) / {whole}){' / factor' if stretched else ''}"
    if whole < spec.heads:
        formula += f"\nfrom head {whole} on with h - {whole} + 1/2 in place of h + 1"
    return Step("Slope of each head", formula, tuple(lines))


def t5(spec: T5, *, position: int | None = None, key: int | None = None) -> Explanation:
    """Which trained bias a query at `position` looks up for keys near and far.

    Args:
        spec: the encoding.
        position: of the query; far enough for every kind of bucket by default.
        key: position of the only key to show; several by default.
    Returns:
        The explanation; its answer is the bucket of each key.
    """
    position = spec.max_distance if position is None else position
    keys = _telling_keys(spec, position) if key is None else (key,)
    buckets = spec.bucket(np.asarray([position]), np.asarray(keys))[0].tolist()
    steps = [_distances(spec, position, keys), _places(spec, position, keys, buckets)]
    if spec.bidirectional:
        steps.append(_sides(spec, position, keys, buckets))
    return Explanation(
        title=f"The buckets of the keys of a query at position {position}",
        spec=spec,
        steps=tuple(steps),
        answers=tuple(Line(f"key {k}", "", (), b) for k, b in zip(keys, buckets, strict=True)),
        note="The bias is a trained number: table[bucket, head].",
    )


def _distance(spec: T5, query: int, key: int) -> int:
    return abs(query - key) if spec.bidirectional else max(query - key, 0)


def _side(spec: T5, query: int, key: int) -> int:
    """The first bucket of the side on which a key stands."""
    return len(spec.edges) if spec.bidirectional and key > query else 0


def _distances(spec: T5, query: int, keys: Sequence[int]) -> Step:
    template = "abs({} - {})" if spec.bidirectional else "max({} - {}, 0)"
    lines = (Line(f"key {k}", template, (query, k), _distance(spec, query, k)) for k in keys)
    formula = f"distance = {template.format('query', 'key')}"
    return Step("Distance of each key", formula, tuple(lines))


def _places(spec: T5, query: int, keys: Sequence[int], buckets: Sequence[int]) -> Step:
    side = len(spec.edges)
    exact = side // 2
    lines = []
    for key, bucket in zip(keys, buckets, strict=True):
        distance = _distance(spec, query, key)
        template, numbers = "{}", (distance,)
        if distance >= exact:
            template = "min({} + trunc(ln({} / {}) / ln({} / {}) * ({} - {})), {} - 1)"
            numbers = (exact, distance, exact, spec.max_distance, exact, side, exact, side)
        place = bucket - _side(spec, query, key)
        lines.append(Line(f"key {key}", template, numbers, place))
    return Step(
        f"Place among the {side} buckets of a side",
        f"below {exact}: place = distance\n"
        f"from {exact} on: place = {exact} + trunc(ln(distance / {exact}) / "
        f"ln(max_distance / {exact}) * ({side} - {exact})), at most {side - 1}",
        tuple(lines),
    )


def _sides(spec: T5, query: int, keys: Sequence[int], buckets: Sequence[int]) -> Step:
    lines = []
    for key, bucket in zip(keys, buckets, strict=True):
        first = _side(spec, query, key)
        lines.append(Line(f"key {key}", "{} + {}", (bucket - first, first), bucket))
    formula = f"bucket = place, {len(spec.edges)} more for keys ahead"
    return Step("Bucket", formula, tuple(lines))


def _telling_keys(spec: T5, position: int) -> tuple[int, ...]:
    """Keys in buckets of one distance, in wider ones and in the last, behind and ahead."""
    exact = len(spec.edges) // 2
    telling = {0, 1, exact - 1, exact + 2, spec.max_distance // 2 - 1, spec.max_distance}
    behind = sorted(position - step for step in telling if 0 <= step <= max(position, 0))
    if not spec.bidirectional:
        return tuple(behind)
    ahead = (position + 1, position + exact + 2)
    return (*behind, *(key for key in ahead if key <= _checks.LAST_POSITION))
