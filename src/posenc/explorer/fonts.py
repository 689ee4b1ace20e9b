"""The font of the formulas, cut down to the signs that they are made of."""

from __future__ import annotations

import functools
import html
import io
import re
import unicodedata
from collections.abc import Iterable
from importlib import metadata

from fontTools import subset

# A browser writes a letter that stands alone with the slanted sign of mathematics: x as U+1D465.
_ITALIC = (range(0x1D434, 0x1D468), range(0x1D6E2, 0x1D71C))
_SLANTED = {"h": "\u210e"} | {
    unicodedata.normalize("NFKC", chr(code)): chr(code) for codes in _ITALIC for code in codes
}
_ROOT = "\u221a"  # drawn where <msqrt> stands
_NAMES = [*range(7), 13, 14]  # of the font, and its licence


@functools.cache
def maths(signs: str) -> bytes:
    """STIX Two Math as WOFF, with no more than these signs and the pieces that stretch them.

    The font comes with ziamath, under the SIL Open Font License, which lets anyone cut it down as
    long as the licence in its `name` table stays.

    Args:
        signs: what is to be written.
    Returns:
        The file; tens of kilobytes instead of one and a half megabytes.
    Example:
        >>> maths("x")[:4]
        b'wOFF'
    """
    # Not through importlib.resources, which would import ziamath and what it draws with.
    path = metadata.distribution("ziamath").locate_file("ziamath/fonts/STIXTwoMath-Regular.ttf")
    options = subset.Options(flavor="woff", layout_features=["*"], name_IDs=_NAMES)
    with subset.load_font(str(path), options) as font:
        cutter = subset.Subsetter(options)
        cutter.populate(text=signs)
        cutter.subset(font)
        written = io.BytesIO()
        subset.save_font(font, written, options)
    return written.getvalue()


def signs(formulas: Iterable[str]) -> str:
    r"""Every sign that formulas in MathML need, once.

    Example:
        >>> signs(["<math><mi>x</mi><mo>&#x0003C;</mo><mn>2</mn></math>"])
        '2<x\u221a\U0001d465'
    """
    text = html.unescape(re.sub("<[^>]*>", "", "".join(formulas)))
    return "".join(sorted({*text, *(_SLANTED.get(sign, sign) for sign in text), _ROOT}))
