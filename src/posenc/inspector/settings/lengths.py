"""How long a text the model was trained for, how long it is meant for, and the factor between."""

from __future__ import annotations

import math

from posenc.inspector.settings.rope_spellings import Given


def factor(given: Given) -> float:
    """How many times longer the text may get, as the settings say."""
    factor = given.inner.number("factor", required=True, above=0.0)
    if factor < 1:
        given.inner.refuse(
            "absurd-value",
            "factor",
            factor,
            "must be at least 1: it says how many times longer the text may get.",
            f"Perhaps {1 / factor:g} was meant." if factor > 1e-3 else "Give the model's own.",
        )
    return factor


def stretch(given: Given, original: int) -> float:
    """The factor, or where it is missing the length it is meant for over the original one."""
    if given.inner.get("factor") is not None:
        return factor(given)
    length = given.config.integer("max_position_embeddings", required=True)
    return given.config.derive(
        "factor",
        length / original,
        "max_position_embeddings",
        "original_max_position_embeddings",
    )


def original_length(given: Given) -> int:
    """The length the model was trained for, before any stretching."""
    key = "original_max_position_embeddings"
    config, inner = given.config, given.inner
    inside = inner.integer(key, name="original_length")
    beside = None
    if given.settings.flat:
        beside = config.integer(key, name="original_length")
    if inside is not None and beside is not None and inside != beside:
        inner.find(
            "warning",
            "doubled-key",
            key,
            inside,
            f"contradicts `{config.at(key)}`, which is {beside:,}"
            + ("" if config.has(key) else " by default")
            + " and wins.",
            f"Write the length the model was trained for as `{config.at(key)}`.",
        )
    if (found := beside if beside is not None else inside) is not None:
        return found
    length = config.integer("max_position_embeddings", required=True)
    config.derive("original_length", length, "max_position_embeddings")
    inner.find(
        "warning",
        "missing-key",
        key,
        None,
        f"is missing, so max_position_embeddings, {length:,}, stands in for it; if that is "
        "already the stretched length, it is scaled twice.",
        f"Add `{key}`, with the length the model was trained for.",
    )
    return length


def compare(given: Given, factor: float, original: int) -> None:
    """A factor that is not the longest length over the original one deserves a word."""
    length = given.config.get("max_position_embeddings")
    if not isinstance(length, int) or length <= original:
        return
    if not math.isclose(length / original, factor, rel_tol=1e-9):
        given.inner.find(
            "warning",
            "factor-against-lengths",
            "factor",
            factor,
            f"is not max_position_embeddings over the original length, {length:,} / {original:,} = "
            f"{length / original:g}; the factor {factor:g} is what counts.",
            f"Make them agree: factor {length / original:g}, or a length of "
            f"{factor * original:,.0f}.",
        )
