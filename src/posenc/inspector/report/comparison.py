"""Two models beside each other: which rows of their reports are not the same."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import chain
from typing import Any

from posenc import evaluation, spec as specs
from posenc.inspector.reading import Part, Reading, Use
from posenc.inspector.report.context import at_length
from posenc.inspector.report.effect import number, ranges, shortened
from posenc.inspector.report.effects import effects
from posenc.inspector.report.stack import layers
from posenc.inspector.report.turning import rotary_of


@dataclass(frozen=True, kw_only=True)
class Difference:
    """A row that is not the same in two models; None where one has no such row."""

    name: str
    one: str | None
    other: str | None


@dataclass(frozen=True, kw_only=True)
class Match:
    """Two uses that stand for each other, one in each model; None where one has no such use.

    Args:
        title: what they are.
        equal: whether posenc has the same encoding for both.
        frequencies: how far their frequencies are apart, in words; "" where they are the same.
        largest: the largest difference of two frequencies, in shares of the larger one.
        differences: rows that are not the same.
    """

    title: str
    equal: bool
    frequencies: str = ""
    largest: float = 0.0
    differences: tuple[Difference, ...] = ()

    @property
    def same(self) -> bool:
        """Whether nothing at all differs."""
        return self.equal and not self.differences


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Two models beside each other.

    Args:
        one: what was read first.
        other: what was read second.
        matches: each use of either model, once.
    """

    one: str
    other: str
    matches: tuple[Match, ...]

    @property
    def same(self) -> bool:
        """Whether both do the same with positions, by the same settings."""
        return all(match.same for match in self.matches)

    def to_data(self) -> dict[str, Any]:
        """All of it as plain data, ready for JSON."""
        return asdict(self) | {"same": self.same}


def compare(one: Reading, other: Reading, *, context: int | None = None) -> Comparison:
    """What two models do differently with positions.

    Args:
        one: the first.
        other: the second.
        context: also compare what happens at so many tokens.
    Example:
        >>> from posenc import Rotary
        >>> def model(base):
        ...     use = Use(kind="rotary", place="queries", encoding=Rotary(dim=8, base=base))
        ...     part = Part(name="", model_type="llama", uses=(use,))
        ...     return Reading(source="a", model_type="llama", parts=(part,))
        >>> compare(model(1e4), model(1e4)).same
        True
        >>> compare(model(1e4), model(1e6)).matches[0].differences[0]
        Difference(name='base', one='10,000', other='1,000,000')
    """
    matches = tuple(_match(pair, context) for pair in _matched(one, other))
    return Comparison(one=_named(one), other=_named(other), matches=matches)


_Placed = tuple[Part, Use]
_Pair = tuple[_Placed | None, _Placed | None]
# From the surest way to tell that two uses stand for each other to the loosest.
_KEYS: tuple[Callable[[_Placed], Any], ...] = (
    lambda placed: (placed[0].name, placed[1].kind, placed[1].place, placed[1].layer_type),
    lambda placed: (placed[1].kind, placed[1].place, placed[1].layer_type),
    lambda placed: (placed[1].kind, placed[1].place),
    lambda placed: placed[1].place,
)


def _matched(one: Reading, other: Reading) -> list[_Pair]:
    """Uses that stand for each other, in the order of the first model, then what is left."""
    firsts, seconds = _placed(one), _placed(other)
    partner: dict[int, _Placed] = {}
    for key in _KEYS:
        for i, first in enumerate(firsts):
            fits = [second for second in seconds if key(second) == key(first)]
            if i not in partner and fits:
                partner[i] = fits[0]
                seconds.remove(fits[0])
    pairs = [(first, partner.get(i)) for i, first in enumerate(firsts)]
    return [*pairs, *((None, second) for second in seconds)]


def _placed(reading: Reading) -> list[_Placed]:
    return [(part, use) for part in reading.parts for use in part.uses]


def _match(pair: _Pair, context: int | None) -> Match:
    first, second = pair
    if first is None or second is None:
        (_, only), *_ = filter(None, pair)
        absent = Difference(name="only here", one=_there(first), other=_there(second))
        return Match(title=title(only), equal=False, differences=(absent,))
    one, other = first[1], second[1]
    words, largest = _apart(one, other)
    rows, others = _rows(first, context), _rows(second, context)
    differences = [
        Difference(name=name, one=rows.get(name), other=others.get(name))
        for name in dict.fromkeys([*max(rows, others, key=len), *rows, *others])
        if rows.get(name) != others.get(name)
    ]
    told = {row.name for row in differences}
    differences += [row for row in _settings(one, other) if row.name not in told]
    return Match(
        title=title(one),
        equal=one.encoding == other.encoding,
        frequencies=words,
        largest=largest,
        differences=tuple(differences),
    )


def title(use: Use) -> str:
    """What a use is called in a report."""
    what = {"none": "no encoding", "unknown": "unknown encoding"}.get(use.kind, use.kind)
    return f"{what} on {use.place}" + (f" ({use.layer_type})" if use.layer_type else "")


def _there(placed: _Placed | None) -> str | None:
    if placed is None:
        return None
    encoding = placed[1].encoding
    return title(placed[1]) if encoding is None else specs.to_text(encoding)


def _rows(placed: _Placed, context: int | None) -> Mapping[str, str]:
    """What is compared of a use: a sentence for each name."""
    part, use = placed
    rows = {"kind": use.kind, "place": use.place, "layers": layers(part, use)}
    rows |= {effect.name: effect.sentence for effect in effects(use)}
    if context is not None:
        rows |= {
            f"{effect.name} at {number(context)}": effect.sentence
            for effect in at_length(use, context)
            if effect.name != "what if"  # advice is no difference
        }
    return rows | {"remarks": " ".join(use.remarks)}


def _settings(one: Use, other: Use) -> Iterator[Difference]:
    """Values that both models have and that differ; what follows from them stands in the rows."""
    firsts = {value.name: shortened(value.value) for value in one.values}
    seconds = {value.name: shortened(value.value) for value in other.values}
    for name in firsts:
        if firsts[name] != seconds.get(name, firsts[name]):
            yield Difference(name=name, one=firsts[name], other=seconds[name])


def _apart(one: Use, other: Use) -> tuple[str, float]:
    """How far the frequencies of two uses are apart, in words and as a share of the larger."""
    firsts, seconds = list(_frequencies(one)), list(_frequencies(other))
    if firsts == seconds:
        return "", 0.0
    if len(firsts) != len(seconds):
        return f"{len(firsts)} pairs against {len(seconds)}", 1.0
    shares = [
        abs(a - b) / max(abs(a), abs(b)) if a != b else 0.0
        for a, b in zip(firsts, seconds, strict=True)
    ]
    most = max(shares)
    differ = [k for k, share in enumerate(shares) if share]
    # Float64 tells pairs apart that a rule divides by the same factor.
    alike = [k for k in differ if math.isclose(shares[k], most, rel_tol=1e-9)]
    named = f"pair{'s' * (len(alike) > 1)} {ranges(alike)}"
    how = f"by a factor of up to {number(_ratio(firsts[alike[0]], seconds[alike[0]]))} ({named})"
    if most == 1:
        how = f"of which {named} turn{'s' * (len(alike) == 1)} in one of them only"
    verb = "differs" if len(differ) == 1 else "differ"
    return f"pair{'s' * (len(differ) > 1)} {ranges(differ)} {verb}, {how}", float(most)


def _ratio(one: float, other: float) -> float:
    low, high = sorted((abs(one), abs(other)))
    return float(f"{high / low:.12g}") if low else math.inf


def _frequencies(use: Use) -> Iterator[float]:
    """Of every pair, those of all axes one after the other."""
    spec = rotary_of(use.encoding)
    if spec is not None:
        yield from spec.frequencies_at(use.length)
    elif use.encoding is not None:
        turning = evaluation.frequencies(use.encoding)
        axes = [one if isinstance(one, tuple) else (one,) for one in turning]
        yield from chain.from_iterable(axes)


def _named(reading: Reading) -> str:
    return f"{reading.source}: {reading.model_type or 'no model type'}"
