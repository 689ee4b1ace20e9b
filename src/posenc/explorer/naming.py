"""A table that a visitor drops or pastes on the page, read from bytes and named."""

from __future__ import annotations

from typing import Any

import numpy as np

import posenc
from posenc import spec
from posenc.explorer import fields, loading
from posenc.explorer.recipes import arrays, constructor
from posenc.identification import Guess, Identity
from posenc.inspector.report.effect import printable

MOST = 1 << 24
"""Bytes of a table that are read."""

_NAME = 80  # characters of a name
_WIDEST = 1 << 13  # numbers in a row
_ROWS = 1024  # of a table with two axes that are looked at
SHOWN = 128
"""Rows and columns of the picture of a table."""


class TooLarge(ValueError):
    """There are more bytes than are read."""


def read(body: bytes, *, name: str = "") -> dict[str, Any]:
    """Which encoding made a table, from the bytes of a .npy file, a CSV file or a pasted text.

    Args:
        body: the whole of it.
        name: of the file; "" for a text that was pasted.
    Returns:
        See `named`; and `source`, what was read.
    Raises:
        TooLarge: there are more bytes than `MOST`.
        ValueError: it is no table of numbers; the message says why, and what to do.
    Example:
        >>> rows = posenc.Sinusoidal(dim=4).encode(np.arange(20)).tolist()
        >>> read(str(rows).encode())["best"]["text"]
        'sinusoidal:dim=4'
    """
    source = printable(name.replace("\\", "/").rpartition("/")[2], _NAME) or "The pasted text"
    if len(body) > MOST:
        raise TooLarge(
            f"{source} has more than {MOST >> 20} MiB, and only so much is read here: a few "
            "hundred rows are enough, or take the command posenc identify."
        )
    try:
        values, notes = loading.load(body)
        found = named(values)
    except ValueError as error:
        raise ValueError(f"{source} {_sentence(error)}") from None
    return {"source": source} | found | {"notes": [*notes, *found["notes"]]}


def named(values: np.ndarray) -> dict[str, Any]:
    """What `posenc.identify` says of a table, ready for JSON.

    Returns:
        shape        of the table
        verdict      "none", "unknown", "right", "harmless" or "wrong"
        words        that in one or two sentences
        best         of the best guess what `described` gives, or None
        runner_up    of the next one, or None
        notes        sentences about what the table cannot tell
        picture      its beginning, as a recipe; of several tables the first
    Raises:
        ValueError: it is no table of numbers.
    """
    seen, notes = _seen(values)
    found = posenc.identify(seen)
    verdict = _verdict(found)
    return {
        "shape": list(values.shape),
        "verdict": verdict,
        "words": _words(found, verdict),
        "best": described(found.best) if found.best else None,
        "runner_up": described(found.runner_up) if found.runner_up else None,
        "notes": [*notes, *found.notes],
        "picture": _picture(seen),
    }


def described(guess: Guess) -> dict[str, Any]:
    """A guess in words and numbers, and how the page can show it.

    Returns:
        text, python         of the encoding
        form, scale, note    see `Guess`
        residual             what is left over, as a part of how far the numbers spread
        mistake              what is said of the mistake in it, or None
        settings             what the page must be set to to show it; None where it cannot
        told                 then why not, else ""
    """
    data = spec.to_data(guess.spec)
    settings, told = None, ""
    try:
        settings = {"encoding": data["kind"], **fields.values(data)}
    except ValueError as error:
        told = f"The page has no settings for it: {printable(str(error), 200)}"
    if settings and guess.mistake:
        settings["mistake"] = guess.mistake.name
    return guess.to_data() | {
        "text": spec.to_text(guess.spec),
        "python": constructor.constructor(guess.spec),
        "settings": settings,
        "told": told,
    }


def _verdict(found: Identity) -> str:
    if found.best is None:
        return "none"
    if not found.known:
        return "unknown"
    return found.best.mistake.severity if found.best.mistake else "right"


def _words(found: Identity, verdict: str) -> str:
    best = found.best
    if best is None:
        return "No known encoding has a table of this form."
    if verdict == "unknown":
        return (
            f"No known encoding. The closest, {spec.to_text(best.spec)}, leaves "
            f"{best.residual:.0%} of the numbers' spread unexplained, as with trained tables and "
            "with noise."
        )
    if best.mistake is None:
        return "Recognised, and no known mistake is in it."
    if verdict == "harmless":
        return (
            f"Harmless by itself: “{best.mistake.name}”. A model trained with it loses nothing; "
            "weights that were trained without it may not fit."
        )
    return f"A real bug: “{best.mistake.name}”."


def _seen(values: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """The part of a table that is looked at, so that an answer takes seconds and not minutes."""
    values = np.squeeze(values)
    if values.dtype.kind in "fc" and (missing := int(np.isnan(values).sum())):
        raise ValueError(
            f"holds NaN in {missing:,} of {values.size:,} places, and no encoding does. Look where "
            "it was made: half precision overflows, and minus infinity less itself is NaN."
        )
    if values.ndim >= 2 and values.shape[-1] > _WIDEST:
        raise ValueError(
            f"has {values.shape[-1]:,} numbers in a row, more than any table of positions. Rows "
            "must be positions: transpose it, or cut it into rows."
        )
    if values.ndim == 2 and len(values) > _ROWS:
        return values[:_ROWS], [f"Of its {len(values):,} rows the first {_ROWS:,} were looked at."]
    return values, []


def _picture(values: np.ndarray) -> dict[str, Any]:
    flat = np.atleast_2d(values if values.dtype.kind != "c" else np.real(values))
    while flat.ndim > 2:
        flat = flat[0]
    part = flat[:SHOWN, :SHOWN].astype(np.float64)
    part = np.where(part < -1e30, -np.inf, part)
    return arrays.of(part.astype(np.float32))


def _sentence(error: Exception) -> str:
    """A message of the library, without the name of an argument that no visitor knows."""
    message = str(error)
    if message.startswith("`table` "):
        return f"{message.removeprefix('`table` ').removesuffix('.')}. {loading.CURE}"
    return message
