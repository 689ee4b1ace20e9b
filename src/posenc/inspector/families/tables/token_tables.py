"""How a table of absolute positions is read: its size, its switch, and which row a token takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from posenc.inspector.families.shared import Reader, use
from posenc.inspector.reading import Use
from posenc.inspector.settings.config import Config
from posenc.learned import Learned


@dataclass(frozen=True, kw_only=True)
class Rule:
    """How a token finds its row.

    Args:
        offset: the row of the first token; None where it is the one after `pad_token_id`.
        spare: whether the rows before it come on top of those that the setting counts.
        remarks: what a port would get wrong.
    """

    offset: int | None = 0
    spare: bool = False
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Table:
    """Where the size of a table stands in the settings.

    Args:
        place: what its vectors are added to.
        rows: the setting that counts its rows.
        dim: the settings with the width of a vector; the first that is there holds.
        only_if: a setting, and the value without which the model has no such table.
        assumed: defaults of a config class that transformers knows by no model type.
        remarks: what a port would get wrong.
    """

    place: str = "token embeddings"
    rows: str = "max_position_embeddings"
    dim: tuple[str, ...] = ("hidden_size",)
    only_if: tuple[str, bool | str] | None = None
    assumed: Mapping[str, Any] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()


def absurd(config: Config, key: str, value: Any, why: str) -> NoReturn:
    """Give up on a table, because of a setting that no table can have."""
    config.refuse("absurd-value", key, value, why, "Put the model's own value there.")


def tables(rule: Rule, *tables: Table) -> Reader:
    """A reader of tables that are counted alike; those that are switched off are left out."""
    return lambda config: [
        found for table in tables if (found := _read(config.fresh(), rule, table)) is not None
    ]


def _read(config: Config, rule: Rule, table: Table) -> Use | None:
    config = config.assuming(**table.assumed)
    if table.only_if is None:
        _mention_relative(config)
    elif not _holds(config, *table.only_if):
        return None
    encoding = _sized(config, rule, table)
    remarks = (*table.remarks, *rule.remarks)
    return use(
        config, "learned", encoding, place=table.place, length=encoding.length, remarks=remarks
    )


def _holds(config: Config, key: str, wanted: bool | str) -> bool:
    """Whether a setting has the value that switches a table on."""
    return (config.flag(key) if isinstance(wanted, bool) else config.word(key)) == wanted


def _sized(config: Config, rule: Rule, table: Table) -> Learned:
    """A table whose setting counts the tokens, or the rows with those that lie before them."""
    dim = _width(config, *table.dim)
    offset, named = rule.offset, ()
    if offset is None:
        named = ("pad_token_id",)
        padding = config.integer("pad_token_id", at_least=0, required=True)
        offset = config.derive("offset", padding + 1, "pad_token_id")
    if rule.spare or not offset:
        return Learned(
            length=config.integer(table.rows, name="length", required=True), dim=dim, offset=offset
        )
    rows = config.integer(table.rows, name="rows", required=True)
    if rows <= offset:
        absurd(
            config, table.rows, rows,
            f"leaves no row for a token, because the first {offset} are not for tokens.",
        )  # fmt: skip
    length = config.derive("length", rows - offset, table.rows, *named)
    return Learned(length=length, dim=dim, offset=offset)


def _width(config: Config, *keys: str) -> int:
    """The features of a vector, from the first of `keys` that has a number."""
    *others, last = keys
    for key in others:
        if (width := config.integer(key, name="dim")) is not None:
            return width
    return config.integer(last, name="dim", required=True)


def _mention_relative(config: Config) -> None:
    """Warn of settings that older releases answered with relative positions instead."""
    kind = config.get("position_embedding_type")
    if str(kind).startswith("relative"):
        config.find(
            "warning", "ignored-setting", "position_embedding_type", kind,
            "is read by transformers 4 only; from release 5 on the model adds its table of "
            "absolute positions, which such weights were not trained with.",
            "Use these weights with transformers 4, or train them anew.",
        )  # fmt: skip


_ALL = "Padding is counted like any token where no position_ids are given."
_FROM_VECTORS = "Given vectors instead of ids, the model counts every token, padding too."

ROWS = Rule()
EVERY_TOKEN = Rule(remarks=(_ALL,))
TWO_SPARE_ROWS = Rule(
    offset=2,
    spare=True,
    remarks=("Two rows lie before that of the first token.", _ALL),
)
FROM_MASK = Rule(
    offset=2,
    spare=True,
    remarks=("Only tokens of the attention mask are counted; padding stands at -1, row 1.",),
)
AFTER_PADDING = Rule(
    offset=None,
    remarks=(
        "Only tokens whose id is not pad_token_id are counted; padding stands at -1, the row with "
        "the number pad_token_id.",
        _FROM_VECTORS,
    ),
)
AFTER_ROW_ONE = Rule(
    offset=2,
    remarks=(
        "Only tokens whose id is not 1 are counted, whatever pad_token_id says; those with id 1 "
        "stand at -1, row 1.",
        _FROM_VECTORS,
    ),
)
CLAMPED = Rule(
    offset=None,
    remarks=(
        "Padding is counted like any token: no mask reaches the table.",
        "Tokens beyond the last row all take the last row, where posenc refuses them.",
    ),
)
