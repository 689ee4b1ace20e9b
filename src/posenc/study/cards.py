"""Flashcards: in the page, as text for Anki, as a deck of Anki, and on paper."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from posenc.study.text import Page, inline

KINDS = ("definition", "symbol", "picture", "number", "mistake", "evidence", "cloze")
_DECK = 1_710_221_517  # drawn once; Anki knows decks and note types by such numbers
_MODEL = 1_652_904_388


def worked(card: Mapping[str, Any], page: Page) -> dict[str, Any]:
    """A card with its numbers worked out; faults go to the page."""
    if card["kind"] not in KINDS:
        page.fault(f"{card['id']}: its kind must be one of {', '.join(KINDS)}.")
    front, back = inline(card["front"], page), inline(card["back"], page)
    if not front or not back:
        page.fault(f"{card['id']}: a card needs a front and a back.")
    return {
        "id": card["id"],
        "kind": card["kind"],
        "lesson": card["file"],
        "front": front,
        "back": back,
    }


def anki_text(cards: Sequence[Mapping[str, Any]]) -> str:
    """The cards as Anki imports them; by their ids a second import updates the first."""
    written = io.StringIO()
    for line in ("separator:tab", "html:true", "guid column:1", "tags column:4", "deck:posenc"):
        written.write(f"#{line}\n")
    lines = csv.writer(written, delimiter="\t", lineterminator="\n")
    lines.writerows([card["id"], card["front"], card["back"], card["lesson"]] for card in cards)
    return written.getvalue()


def anki_deck(cards: Sequence[Mapping[str, Any]], file: Path) -> None:
    """The cards as a deck of Anki.

    Raises:
        ModuleNotFoundError: genanki is not installed.
    """
    try:
        import genanki
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError("a deck of Anki needs genanki: pip install genanki") from error
    model = genanki.Model(
        _MODEL,
        "posenc",
        fields=[{"name": "Front"}, {"name": "Back"}],
        templates=[{"name": "Card", "qfmt": "{{Front}}", "afmt": "{{Front}}<hr>{{Back}}"}],
    )
    deck = genanki.Deck(_DECK, "posenc")
    for card in cards:
        sides = [card["front"], card["back"]]
        deck.add_note(genanki.Note(model, sides, guid=card["id"], tags=[card["lesson"]]))
    genanki.Package(deck).write_to_file(file)
