"""What a known mistake makes of a picture: the same numbers, got wrong."""

from __future__ import annotations

from typing import Any

import numpy as np

from posenc import mistakes
from posenc.explorer.recipes import arrays, pairs, weights
from posenc.explorer.recipes.spans import Span
from posenc.mistakes import Mistake
from posenc.rotary import Rotary
from posenc.t5 import T5

MOST = 1 << 24
"""Numbers in the matrices of a wrong rotary encoding, which are whole."""


def find(code: Any, name: str | None) -> Mistake | None:
    """The mistake of this name, if it is made in this encoding; None for None.

    Raises:
        ValueError: it is not.
    """
    if name is None:
        return None
    own = {mistake.name: mistake for mistake in mistakes.of(code)}
    if name not in own:
        raise ValueError(
            f"`mistake` must be one that is made in {type(code).__name__} with these settings: "
            f"{', '.join(own) or 'there is none'}; got {name!r}."
        )
    return own[name]


def numbers(code: Any, span: Span, mistake: Mistake) -> np.ndarray:
    """One picture, float32, as `posenc.explorer.recipes.numbers` has the right one.

    Raises:
        ValueError: the matrices of a rotary encoding would be too large.
    """
    return _picture(code, span, _made(code, span, mistake))


def array(code: Any, span: Span, mistake: Mistake) -> dict[str, Any]:
    """The same as a recipe.

    Where features do not turn as the pairs of a rotary encoding, its picture does not say all. Then
    `crossed` does: `partners`, for each feature the one that it is mixed with; and in each row of
    its array [cos | sin] of each feature, which becomes cos times itself + sin times its partner.

    Raises:
        ValueError: see `numbers`.
    """
    wrong = _made(code, span, mistake)
    found = arrays.of(_picture(code, span, wrong))
    if isinstance(code, Rotary) and not _turns_pairs(code, wrong):
        found["crossed"] = _crossed(wrong)
    return found


def _made(code: Any, span: Span, mistake: Mistake) -> np.ndarray:
    """What `posenc.mistakes` makes of the positions."""
    positions = np.arange(span.start, span.start + span.count)
    if isinstance(code, Rotary) and code.dim**2 * span.count > MOST:
        raise ValueError(
            f"`count` must be at most {MOST // code.dim**2} to draw a mistake in a rotary "
            f"encoding of {code.dim} features; got count={span.count}."
        )
    with np.errstate(invalid="ignore"):  # the sine of an overflow is no number, as said below
        wrong = mistakes.numbers(code, positions, mistake)
    if np.isnan(wrong).any():
        raise ValueError(
            f"with the mistake {mistake.name!r} nothing is left at position {positions[-1]}: "
            "float16 ends at 65504, and the sine of infinity is no number. Look nearer."
        )
    return wrong


def _picture(code: Any, span: Span, wrong: np.ndarray) -> np.ndarray:
    if isinstance(code, Rotary):
        wrong = _cosines_and_sines(code, wrong)
    elif isinstance(code, T5):
        wrong = weights.made_up(code)["table"][wrong.astype(int), span.head]
    elif wrong.ndim == 3:
        wrong = wrong[span.head]
    return wrong.astype(np.float32)


def _cosines_and_sines(code: Rotary, matrices: np.ndarray) -> np.ndarray:
    """What becomes of a query with 1 in the first place of every pair: [first | second places].

    Turned rightly it is [cos | sin] of each pair.
    """
    first, second = np.transpose(pairs.turning(code)["partners"])
    turned = np.sum(matrices[:, :, first], axis=-1)
    return np.concatenate([turned[:, first], turned[:, second]], axis=-1)


def _turns_pairs(code: Rotary, matrices: np.ndarray) -> bool:
    """Whether every pair turns by one angle, and nothing else is mixed with it."""
    first, second = np.transpose(pairs.turning(code)["partners"])
    cos, sin = matrices[:, first, first], matrices[:, second, first]
    turning = np.tile(np.eye(code.dim), (len(matrices), 1, 1))
    turning[:, first, first], turning[:, first, second] = cos, -sin
    turning[:, second, first], turning[:, second, second] = sin, cos
    return np.array_equal(turning, matrices)


def _crossed(matrices: np.ndarray) -> dict[str, Any]:
    """Matrices in which each feature is mixed with one other at most."""
    features = np.arange(matrices.shape[-1])
    mixed = np.abs(matrices).sum(axis=0)
    mixed[features, features] = 0.0
    partners = np.where(mixed.any(axis=-1), mixed.argmax(axis=-1), features)
    sin = np.where(partners == features, 0.0, matrices[:, features, partners])
    both = np.concatenate([matrices[:, features, features], sin], axis=-1)
    return {"partners": partners.tolist(), **arrays.of(both)}
