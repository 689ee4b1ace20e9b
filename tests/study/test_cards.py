"""Cards as Anki takes them: with ids that stay."""

import csv
import io
import json
import sqlite3
import zipfile

from posenc.study.practice import cards

CARDS = [
    {"id": "c-1", "lesson": "signs", "front": 'a "quote"', "back": "<math></math>\tand a tab"},
    {"id": "c-2", "lesson": "rotary", "front": "two", "back": "lines\nof text"},
]


def test_text():
    written = cards.anki_text(CARDS)
    head = [line for line in written.splitlines() if line.startswith("#")]
    assert head == [
        "#separator:tab",
        "#html:true",
        "#guid column:1",
        "#tags column:4",
        "#deck:posenc",
    ]
    body = io.StringIO(written.split("#deck:posenc\n")[1])
    rows = list(csv.reader(body, delimiter="\t"))
    assert rows == [[card["id"], card["front"], card["back"], card["lesson"]] for card in CARDS]


def test_deck(tmp_path):
    deck = cards.anki_deck(CARDS)
    assert cards.anki_deck(CARDS) == deck
    with zipfile.ZipFile(io.BytesIO(deck)) as packed:
        packed.extract("collection.anki2", tmp_path)
    with sqlite3.connect(tmp_path / "collection.anki2") as deck:
        notes = deck.execute("select guid, flds, tags from notes").fetchall()
        [[decks]] = deck.execute("select decks from col").fetchall()
    assert [note[0] for note in notes] == ["c-1", "c-2"]
    assert notes[0][1].split("\x1f") == [CARDS[0]["front"], CARDS[0]["back"]]
    assert notes[1][2].split() == ["rotary"]
    assert "posenc" in {each["name"] for each in json.loads(decks).values()}
