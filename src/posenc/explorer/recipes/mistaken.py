"""What a known mistake makes of a picture: the same numbers, got wrong."""

from __future__ import annotations

from typing import Any

import numpy as np

from posenc import mistakes
from posenc.explorer.recipes import pairs, weights
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
    positions = np.arange(span.start, span.start + span.count)
    if isinstance(code, Rotary) and code.dim**2 * span.count > MOST:
        raise ValueError(
            f"`count` must be at most {MOST // code.dim**2} to draw a mistake in a rotary "
            f"encoding of {code.dim} features; got count={span.count}."
        )
    wrong = mistakes.numbers(code, positions, mistake)
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
