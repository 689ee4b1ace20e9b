"""Flashcards: in the page, as text for Anki, as a deck of Anki, and on paper."""

from __future__ import annotations

import csv
import io
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import genanki

from posenc.study.writing.text import Page, inline

KINDS = ("definition", "symbol", "picture", "number", "mistake", "evidence", "cloze")
_DECK = 1_710_221_517  # drawn once; Anki knows decks and note types by such numbers
_MODEL = 1_652_904_388
_TIME = 1_700_000_000.0


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


def anki_deck(cards: Sequence[Mapping[str, Any]]) -> bytes:
    """The cards as a deck of Anki, an .apkg file; the same bytes for the same cards."""
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
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "posenc.apkg"
        genanki.Package(deck).write_to_file(file, timestamp=_TIME)
        return _without_times(file)


def _without_times(file: Path) -> bytes:
    """A zip file whose members all have the earliest time that zip knows."""
    written = io.BytesIO()
    with zipfile.ZipFile(file) as found, zipfile.ZipFile(written, "w") as made:
        for name in found.namelist():
            member = zipfile.ZipInfo(name)
            member.compress_type = zipfile.ZIP_DEFLATED
            made.writestr(member, found.read(name))
    return written.getvalue()
