"""Each property, looked at by computing: no encoding is believed anything."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from posenc import _checks, precision
from posenc.frequencies import wavelengths
from posenc.properties.board import Board, Property
from posenc.properties.subject import END, Subject

_MILLION = 2**20
_GROWN = 1.25  # chance moves the largest of 256 sums of waves by less, a logarithm grows by more
_EXACT = 1e-6  # what float64 leaves of a law is below this, what breaks the law is above it
_WIDEST = 1280  # features; fitting a matrix to more takes seconds
_FEWEST = 4  # positions that there must be to compare


def check(encoding: Any, *, length: int | None = None, within: int = 512) -> Board:
    """Compute what an encoding keeps; nothing is taken on trust.

    Trained arrays are taken as they are before training (`initial_weights`). An encoding of
    several axes is moved along all of them alike.

    Args:
        encoding: any encoding of posenc.
        length: tokens the model was trained for; by default what the encoding itself says: the
            length of a learned table, or the original length of a rotary scaling.
        within: positions 0 ... within - 1 are compared with each other.
    Returns:
        A board of properties; `print` shows it, `to_data` is for programs.
    Raises:
        TypeError: `encoding` is none of posenc's, or `length` or `within` no integer.
        ValueError: `length` is below 1, or `within` below 4 or too large to be computed.
    Example:
        >>> from posenc import Sinusoidal
        >>> board = check(Sinusoidal(dim=64))
        >>> board["decays"].holds, board["decays"].value
        (False, 244.0)
    """
    if length is None:
        length = getattr(encoding, "length", None)
        scaling = getattr(getattr(encoding, "rotary", encoding), "scaling", None)
        length = length or getattr(scaling, "original_length", None)
    else:
        _checks.integer("length", length, at_least=1)
    _checks.integer("within", within, at_least=_FEWEST)
    subject = Subject(encoding, length, within)
    return Board(encoding, tuple(_look(name, subject) for name in _LOOKS))


def _look(name: str, subject: Subject) -> Property:
    if subject.family == "other":
        return _not(name, "it takes more than positions to know its scores")
    if subject.within < _FEWEST:
        return _not(name, f"only {subject.within} positions are defined", "Cannot be told")
    return _LOOKS[name](name, subject)


def _not(name: str, why: str, what: str = "Does not apply") -> Property:
    return Property(name, None, None, f"{what}, because {why}.")


def _bounded(name: str, subject: Subject) -> Property:
    """Whether values grow from the first million positions to the last ones below 2**31."""
    near = float(np.abs(subject.near).max())
    if subject.defined < 2 * subject.within:
        return Property(name, True, near, f"No value in {subject.within} rows exceeds {near:.4g}.")
    end = min(_MILLION, subject.defined // 2)
    draw = np.random.default_rng(0)
    near = max(near, float(np.abs(subject.rows(draw.integers(0, end, 256))).max()))
    last = min(subject.defined, END + 1)
    far = float(np.abs(subject.rows(draw.integers(last - last // 4, last, 256))).max())
    unit = _unit(subject).removesuffix("s")
    sentence = f"Largest absolute value: {near:.4g} up to {unit} {end:,}, {far:.4g} beyond."
    return Property(name, far <= _GROWN * near, max(near, far), sentence)


def _distinct(name: str, subject: Subject) -> Property:
    one, other, distance = _closest(subject.near)
    first = f"Closest among {subject.within:,} {_unit(subject)}: {one} and {other}"
    sentence = f"{first}, {distance:.7g} apart."
    if distance == 0:
        sentence = f"{first}, which are the same."
    return Property(name, distance > 0, distance, sentence)


def _closest(rows: np.ndarray) -> tuple[int, int, float]:
    """The first of the pairs of rows that lie nearest to each other, and their distance."""
    squares = np.sum(rows**2, axis=-1)
    scale = float(squares.max()) or 1.0
    best = (math.inf, 0, 1)
    for start in range(0, len(rows), 256):
        block = rows[start : start + 256]
        gaps = squares[start : start + 256, None] + squares[start:] - 2 * block @ rows[start:].T
        gaps[np.tril_indices(len(block), 0, gaps.shape[1])] = math.inf
        gaps = np.round(gaps / scale, 11)  # so that of pairs equally near the first is named
        i, j = divmod(int(gaps.argmin()), gaps.shape[1])
        best = min(best, (float(gaps[i, j]), start + i, start + j))
    _, one, other = best
    return one, other, float(np.linalg.norm(rows[one] - rows[other]))


def _shift(name: str, subject: Subject) -> Property:
    if subject.family == "bias":
        return _not(name, "a bias is added to scores: there is no vector to move")
    width = subject.near.shape[1]
    if width > _WIDEST:
        return _not(name, f"fitting a matrix of {width} x {width} takes long", "Not computed")
    end = subject.defined - 1
    if end < END:
        end = min(end, max(4 * width, subject.within))
    draw = np.random.default_rng(0)
    positions = draw.choice(end, size=min(2 * width, end), replace=False)
    if len(positions) <= width:
        return _not(name, f"{len(positions)} moves of {width} features fit any", "Cannot be told")
    before, after = subject.rows(positions), subject.rows(positions + 1)
    gram = before.T @ before
    gram += 1e-13 * (np.trace(gram) or 1.0) * np.eye(width)  # some columns may never move
    matrix = np.linalg.solve(gram, before.T @ after)
    residual = float(np.linalg.norm(after - before @ matrix) / (np.linalg.norm(after) or 1.0))
    verb = "takes" if residual < _EXACT else "does not take"
    sentence = f"One matrix {verb} every position to the next one (residual {residual:.1e})."
    return Property(name, residual < _EXACT, residual, sentence)


def _relative(name: str, subject: Subject) -> Property:
    gaps = np.arange(min(64, subject.within // 2))
    starts = [s for s in (0, 1, 7, 100, 1000, 10**6) if s + len(gaps) < subject.defined]
    starts = [s for s in starts if subject.defined > END or s < 4 * subject.within]
    scores = np.stack([subject.scores(start + len(gaps), start + gaps) for start in starts])
    residual = _part(np.ptp(scores, axis=0), scores)
    verb = "depends" if residual < _EXACT else "does not depend"
    sentence = f"The score {verb} on the gap alone (residual {residual:.1e})."
    return Property(name, residual < _EXACT, residual, sentence)


def _direction(name: str, subject: Subject) -> Property:
    middle = (subject.within - 1) // 2
    gaps = np.arange(1, min(64, middle) + 1)
    behind, ahead = subject.scores(middle, middle - gaps), subject.scores(middle, middle + gaps)
    if np.any(np.isneginf(ahead)):
        return Property(name, True, 1.0, "Keys ahead of the query are masked.")
    difference = _part(behind - ahead, behind)
    verb = "are alike" if difference < _EXACT else "differ"
    sentence = f"Scores of keys as far behind and ahead {verb} (difference {difference:.1e})."
    return Property(name, difference >= _EXACT, difference, sentence)


def _part(difference: np.ndarray, scores: np.ndarray) -> float:
    """The largest difference, as a part of the largest score."""
    return float(np.abs(difference).max() / (np.abs(scores).max() or 1.0))


def _decays(name: str, subject: Subject) -> Property:
    last = subject.within - 1
    curve = subject.scores(last, last - np.arange(subject.within), alike=True)
    steps = np.diff(curve, axis=-1)
    slack = 1e-12 * np.abs(curve).max()
    rises, falls = np.any(steps > slack, axis=0), bool(np.any(steps < -slack))
    count = int(rises.sum())
    what = "The bias" if subject.family == "bias" else "The score of like vectors"
    sentence = f"{what} stays the same in {len(rises)} steps of distance."
    if falls:
        sentence = f"{what} never rises in {len(rises)} steps of distance."
    if count:
        first = int(rises.argmax())
        sentence = (
            f"{what} rises at {count} of {len(rises)} steps of distance, "
            f"first from {first} to {first + 1}."
        )
    return Property(name, falls and not count, float(count), sentence)


def _beyond(name: str, subject: Subject) -> Property:
    start = subject.length or subject.within
    if subject.defined <= END:
        sentence = f"Position {subject.defined:,} is the first without numbers."
        return Property(name, subject.defined > start, float(subject.defined), sentence)
    sentence = (
        f"All positions up to {END:,} have numbers; whether a model can use them is another matter."
    )
    return Property(name, True, float(subject.defined), sentence)


def _turns(name: str, subject: Subject) -> Property:
    if not subject.frequencies:
        return _not(name, "no pairs of features turn with one axis")
    if subject.length is None:
        return _not(name, "it takes the trained length (length=...)", "Not computed")
    waves = wavelengths(subject.frequencies)
    unfinished = [k for k, wave in enumerate(waves) if wave > subject.length]
    sentence = f"All {len(waves)} pairs make a full turn within {subject.length:,} positions."
    if unfinished:
        sentence = (
            f"{len(unfinished)} of {len(waves)} pairs, from pair {unfinished[0]} on, make no full "
            f"turn within {subject.length:,} positions."
        )
    return Property(name, not unfinished, float(len(unfinished)), sentence)


def _base_bound(name: str, subject: Subject) -> Property:
    if subject.family != "rotary" or not subject.frequencies:
        return _not(name, "it is a law of rotary pairs along one axis")
    end = subject.length or 2**16
    last = _last_favoured(subject.frequencies, end)
    sentence = f"A like key is favoured over a random one up to distance {last:,}"
    if subject.length is None:
        return Property(name, None, float(last), f"{sentence}; length=... tells if that is enough.")
    sentence += ", as far as" if last == end else ", not as far as"
    return Property(name, last == end, float(last), f"{sentence} the trained length {end:,}.")


def _last_favoured(frequencies: tuple[float, ...], end: int) -> int:
    """The last distance m up to `end` before sum over k of cos(m w_k) first falls below 0.

    Source: Men et al. 2024, arXiv:2405.14591, section 4.
    """
    for start in range(0, end + 1, 1024):
        distances = np.arange(start, min(start + 1024, end + 1))
        negative = np.cos(distances[:, None] * np.asarray(frequencies)).sum(axis=-1) < 0
        if negative.any():
            return start + int(negative.argmax()) - 1
    return end


def _half_numbers(name: str, subject: Subject) -> Property:
    """Which narrow formats keep apart what differs, the cast being the last step."""
    rows = subject.near[~_like_next(subject.near)]
    numbers = np.flatnonzero(~_like_next(subject.near))
    kept, lost = [], []
    for format in precision.FORMATS:
        merged = _like_next(precision.rounded(rows, format))
        if merged.any():
            first = int(merged.argmax())
            lost.append(f"{format} merges {numbers[first]} and {numbers[first + 1]}")
        else:
            kept.append(format)
    sentence = f"Neighbouring {_unit(subject)} stay apart in {', '.join(kept) or 'float64 alone'}"
    sentence += f"; {', '.join(lost)}." if lost else "."
    digits = min((precision.FORMATS[format].digits for format in kept), default=53)
    return Property(name, {"float16", "bfloat16"} <= set(kept), float(digits), sentence)


def _half_positions(name: str, subject: Subject) -> Property:
    """What becomes of the positions themselves when they are cast before anything else."""
    words = []
    for format in ("bfloat16", "float16"):
        merged = _like_next(precision.rounded(np.arange(4097), format)[:, None])
        if merged.any():
            words.append(f"{format} turns {merged.argmax() + 1} into {merged.argmax()}")
    sentence = f"Never cast positions: {', '.join(words)}. Cast the finished numbers."
    return Property(name, not words, None, sentence)


def _like_next(rows: np.ndarray) -> np.ndarray:
    """For each row whether it equals the next one."""
    return np.append(np.all(rows[1:] == rows[:-1], axis=-1), False)


def _unit(subject: Subject) -> str:
    return "distances" if subject.family == "bias" else "positions"


_LOOKS = {
    "bounded": _bounded,
    "distinct": _distinct,
    "shift is linear": _shift,
    "relative": _relative,
    "tells direction": _direction,
    "decays": _decays,
    "defined beyond": _beyond,
    "finishes every turn": _turns,
    "base bounds context": _base_bound,
    "numbers in half": _half_numbers,
    "positions in half": _half_positions,
}
