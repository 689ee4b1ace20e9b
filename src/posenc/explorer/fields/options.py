"""The options of choices: what they are called, and what they put into the data."""

from __future__ import annotations

from typing import Any

from posenc.explorer.fields import words
from posenc.explorer.fields.place import Place
from posenc.explorer.recipes import ends

Option = dict[str, Any]


def option(value: str, data: Any, hint: str = "", *, label: str | None = None) -> Option:
    """One option: its text in the address, what it puts into the data, and its words."""
    return {"value": value, "label": label or value, "hint": hint, "data": data}


def plain(data: Any, hint: str) -> Option:
    """The option of a word, a number or a switch."""
    if isinstance(data, bool):
        return option(str(data).lower(), data, hint, label="yes" if data else "no")
    return option(str(data), data, hint, label=str(data).replace("_", " "))


def counts(none: str, *numbers: int, hint: str = "") -> list[Option]:
    """Options of a number that may be left out: `none` says what that means."""
    return [option("none", None, hint, label=none)] + [option(str(n), n) for n in numbers]


def sizes(*every: tuple[int, ...], sign: str = " × ") -> list[Option]:
    """Options of a few numbers that belong together."""
    return [
        option("x".join(map(str, size)), list(size), label=sign.join(map(str, size)))
        for size in every
    ]


def section(*pairs: int, hint: str) -> Option:
    """One way to share out the pairs of a head among time, row and column."""
    return sizes(pairs, sign=" + ")[0] | {"hint": hint}


def _none(label: str, hint: str = "") -> Option:
    return option("none", None, hint, label=label)


_ORDERS = [
    option("0,1", [0, 1], "the first share follows the row", label="row, column"),
    option("1,0", [1, 0], "the first share follows the column", label="column, row"),
]

CHOICES: dict[str, list[Option]] = {
    "rotary_dim": counts("all", 16, 32, 64, hint="every feature of the head turns"),
    "axes": _ORDERS,
    "fourier_features.axes": [option("1", 1, "a line"), option("2", 2, "a plane")],
    "nerf.axes": [option("1", 1, "a line"), option("2", 2, "a plane")],
    "lengths": sizes((16, 16), (32, 32), (64, 64)),
    "widths": sizes((32, 32), (16, 48), (48, 16), sign=" + "),
    "m_rotary.rotary.dim": [
        option("64", 64, "32 pairs to share out"),
        option("128", 128, "64 pairs to share out"),
    ],
    "window": sizes((4, 4), (7, 7), (8, 8), (7, 14)),
    "trained_window": [
        _none("the same", "the network meets the window it was trained for"),
        *sizes((4, 4), (8, 8), (16, 16)),
    ],
    "grid": sizes((4, 4), (8, 8), (14, 14), (4, 8)),
    "key_grid": [_none("the same", "keys are not pooled"), *sizes((4, 4), (2, 4), (2, 2))],
    "ahead": counts("as behind", 0, 1, 2, 4, 8, hint="both sides alike"),
    "intra_length": counts("all", 4, 8, 16, 1024, hint="every position of a segment counts"),
    "deberta.buckets": counts("none", 4, 8, 16, hint="one row for each distance"),
    "terms": [
        option("both", ["c2p", "p2c"], "content meets position, and position content"),
        option("c2p", ["c2p"], "queries meet the position of keys"),
        option("p2c", ["p2c"], "keys meet the position of queries"),
    ],
}
"""Options of fields whose type does not tell them, by the keys of `Place`."""

SECTIONS: dict[str, tuple[str, list[Option]]] = {
    "64": (
        "sections",
        [
            section(12, 10, 10, hint="nearly the shares of Qwen3-VL"),
            section(8, 12, 12, hint="the shares of Qwen2-VL"),
            section(10, 11, 11, hint="the shares of ERNIE 4.5 VL"),
            section(11, 11, 10, hint="as in Qwen3.5"),
        ],
    ),
    "128": (
        "wide_sections",
        [
            section(24, 20, 20, hint="as in Qwen3-VL"),
            section(16, 24, 24, hint="as in Qwen2-VL"),
            section(20, 22, 22, hint="as in ERNIE 4.5 VL"),
        ],
    ),
}
"""How the pairs of a head are shared out, by its width: the name of the control, and options."""

HINTS: dict[str, dict[Any, str]] = {
    "layout": {
        "interleaved": "a pair side by side",
        "half": "first members, then second members",
        "axis_half": "first members, then second ones, inside the share of an axis",
    },
    "spacing": {
        "paper": "the slowest pair stops short of 1/b",
        "endpoint": "the slowest pair is exactly 1/b",
    },
    "first": {"sin": "the sine, then the cosine", "cos": "the cosine, then the sine"},
    "odd": {
        "refuse": "only even numbers are taken",
        "trim": "the last cosine is dropped",
        "pad": "a zero stands at the end",
    },
    "exponent": {
        "rotary": "speeds are spread over the features that turn",
        "head": "speeds are spread over the whole head",
    },
    "scaling": {
        "none": "as trained",
        "linear": "position interpolation: every pair slows alike",
        "ntk": "a larger base: the fastest pair stays, the slowest slows in full",
        "dynamic_ntk": "a larger base, growing with the text beyond the trained length",
        "ntk_by_parts": "pairs that turn often stay, rare ones slow",
        "yarn": "by parts, cut from index to index, and sharper scores",
        "llama3": "by parts with other limits",
        "longrope": "a divisor for each pair, found by search: a real model brings its two lists "
        "in its config. Here each list runs evenly from one end to the other",
        "proportional": "the slowest pairs do not turn at all",
    },
    "dynamic": {
        True: "from 1 at the trained length to the whole list at factor times it",
        False: "beyond the trained length the long list counts in full",
    },
    "truncate": {True: "limits are widened to whole pairs", False: "as in gpt-oss"},
    "combine": {
        "concatenate": "vectors of the axes side by side",
        "add": "vectors of the axes summed",
    },
    "rest": {
        "refuse": "only numbers that can be shared are taken",
        "first": "goes to the first axis",
        "leave": "stays without position",
        "trim": "shares are rounded up and the vector is cut",
    },
    "pi": {True: "as in the paper", False: "as in the authors' code"},
    "include_input": {True: "as in the authors' code", False: "as in the paper"},
    "grouping": {
        "frequency": "all sines of a frequency, then its cosines",
        "axis": "all frequencies of a coordinate",
    },
    "axial_rotary.order": {
        "contiguous": "pairs of an axis side by side",
        "alternating": "one pair of each axis in turn",
    },
    "m_rotary.order": {
        "contiguous": "the fastest pairs follow time, then row, then column",
        "interleaved": "time, row, column take turns",
        "time_last": "row and column take turns, the slowest pairs follow time",
    },
    "spectrum": {
        "own": "every axis has all speeds",
        "dealt": "the speeds of the head are dealt out to the axes",
    },
    "intra": {"sinusoidal": "sines and cosines", "learned": "a trained table"},
    "inter": {"rotary": "turns queries and keys", "alibi": "lowers the scores"},
    "rule": {
        "paper": "as in the authors' code",
        "plain": "one formula for any number of heads",
    },
    "direction": {
        "causal": "keys ahead are masked",
        "symmetric": "both sides alike",
        "asymmetric": "behind is half a token nearer",
    },
    "bidirectional": {
        True: "half the buckets are for keys ahead",
        False: "keys ahead share bucket 0 and need a mask",
    },
    "form": {"log": "with the logarithm of distance", "power": "with a power of distance"},
    "start": {0: "the vectors of the first Transformer", 1: "as in NeMo"},
    "values": {True: "a second table is added to values", False: "keys only, as later models do"},
    "p2c_index": {"code": "as in every trained model", "paper": "as the paper writes it"},
    "gate": {"scaled": "as in the authors' code", "raw": "as in the text of the paper"},
}
"""One line for each option of a field, by the keys of `Place`."""


def of(place: Place, choices: tuple[Any, ...]) -> list[Option]:
    """The options of a field; [] where it is no choice.

    Args:
        place: the field.
        choices: what its type says that it may hold; () where it does not say.
    Returns:
        In the order of `CHOICES`, or of `choices`.
    """
    hints = place.find(HINTS) or {}
    return place.find(CHOICES) or [plain(choice, hints.get(choice, "")) for choice in choices]


def of_kinds(place: Place, kinds: tuple[str, ...]) -> list[Option]:
    """The options of a field that holds an encoding or a rule, or nothing."""
    hints = place.find(HINTS) or {}
    return [
        option(
            kind,
            None if kind == words.NONE else _begun(kind),
            hints[kind],
            label=words.KIND_NAMES.get(kind, kind),
        )
        for kind in kinds
    ]


def _begun(kind: str) -> dict[str, Any]:
    """The data of an encoding or rule to which its own controls add the fields."""
    lists = ends.LISTS if kind == "longrope" else ()
    return {"kind": kind} | {name: {} for name in lists}


def means(chosen: Option, data: Any) -> bool:
    """Whether an option is what the data of a spec holds; of an encoding or rule its kind counts.

    Example:
        >>> means(option("ntk", {"kind": "ntk"}), {"kind": "ntk", "factor": 2.0})
        True
    """
    meant = chosen["data"]
    if isinstance(meant, dict):
        return isinstance(data, dict) and meant["kind"] == data["kind"]
    return type(meant) is type(data) and meant == data
