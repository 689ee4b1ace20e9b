"""The way from a table to its identity."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from posenc import mistakes
from posenc.identification import biases, order, single, turned, waves
from posenc.identification.forms import forms, rotary_forms
from posenc.identification.identity import KNOWN, Guess, Identity, ranked
from posenc.identification.read import read


def identify(table: Any, *, tensor: str | None = None) -> Identity:
    """Find the encoding that made a table, and the known mistake in it if there is one.

    Recognised are position vectors (one row a position); rotary tables: cosines, sines, both
    side by side or as a pair, complex numbers, one a pair or repeated for the features; what a
    rotary function makes of the identity matrix at each position; frequencies and ALiBi slopes;
    ALiBi biases, T5 biases and T5 bucket numbers, one matrix a head or one alone. The base is
    fitted, so it may be any number.

    Args:
        table: an array of any library, or the path of a .npy, .csv or .safetensors file. Axes of
            size 1 do not count.
        tensor: which tensor of a .safetensors file, where there are several.
    Returns:
        The best guess, the runner-up and how well they fit. A random or trained table is said to
        be no known encoding; about one whose entries are all equal nothing is guessed.
    Raises:
        ModuleNotFoundError: safetensors is not installed.
        FileNotFoundError: there is no such file.
        ValueError: a file cannot be read, or there is no table of numbers in it.
    Example:
        >>> from posenc import Sinusoidal
        >>> answer = identify(Sinusoidal(dim=16, base=500.0, layout="half").encode(np.arange(50)))
        >>> answer.best.spec.base, answer.best.spec.layout, answer.right
        (500.0, 'half', True)
    """
    values, notes = read(table, tensor=tensor)
    if np.all(values == values.flat[0]):
        notes += ("All entries are equal, so no encoding can be told.",)
        return Identity(shape=values.shape, best=None, notes=notes)
    best, *others = ranked(_guesses(values)) or [None]
    runner_up = next((guess for guess in others if guess.spec != best.spec), None)
    found = Identity(shape=values.shape, best=best, runner_up=runner_up, notes=notes)
    if found.known and runner_up and _same_numbers(best, runner_up):
        notes += ("The runner-up makes the same numbers: the table cannot tell which was meant.",)
    return dataclasses.replace(found, notes=notes)


def _same_numbers(best: Guess, other: Guess) -> bool:
    """Whether encodings of two kinds leave the same residual, as [cos | sin] has two readings."""
    return type(best.spec) is not type(other.spec) and math.isclose(best.residual, other.residual)


def _guesses(values: np.ndarray) -> list[Guess]:
    """Guesses from the likely forms; from unlikely ones only where no likely one fits."""
    if values.ndim == 1:
        return single.guesses(values)
    if values.min() < -1e8:  # a mask: only a bias has one
        return biases.guesses(values.reshape(-1, *values.shape[-2:]))
    if values.ndim == 3:
        tables = [(table, rotary_forms(table.shape[1])) for table in _pairs(values)]
        found = [guess for table, known in tables for guess in waves.guesses(table, known)]
        return found + biases.guesses(values) + turned.guesses(values)
    known = forms(values.shape[1])
    found = waves.guesses(values, known) + biases.guesses(values[None])
    found += biases.row_guesses(values)
    if _fits(found) or not waves.is_flat(values):
        return found
    found += [_transposed(guess) for guess in waves.guesses(values.T, forms(len(values)))]
    return found if _fits(found) else found + order.guesses(values, known)


def _fits(found: list[Guess]) -> bool:
    return any(guess.residual < KNOWN for guess in found)


def _pairs(values: np.ndarray) -> list[np.ndarray]:
    """Cosines and sines that lie behind each other, or of which each pair lies side by side."""
    pairs = [values] if len(values) == 2 else []
    pairs += [np.moveaxis(values, -1, 0)] if values.shape[-1] == 2 else []
    return [np.concatenate([cosines, sines], axis=-1) for cosines, sines in pairs]


def _transposed(guess: Guess) -> Guess:
    if guess.mistake is not None:
        return guess
    return dataclasses.replace(guess, mistake=mistakes.named("transposed"), oddity=1)
